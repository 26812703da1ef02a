//! The kind riblt: its symbols compared with those of the reference, the number of symbols for a difference, and forged
//! symbols.

use crate::common::{golden, image as bytes, mix};
use crate::sketches::{Random, of, with};
use petal::sketch::riblt::symbols::{Indices, add};
use petal::sketch::riblt::{ROW, sizing};
use petal::{Mode, OpenOptions, Sketch, Spec, Status, load_as, open_in_buffer_as};
use siphasher::sip::SipHasher24;
use std::collections::BTreeSet;
use std::hash::Hasher;
use std::ptr::NonNull;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Words of a symbol.
const SYMBOL: usize = 3;

/// A spec with this number of symbols.
fn symbols(symbols: u64) -> Spec {
    Spec { kind: Some(ROW.kind), bits: 192 * symbols, ..Spec::default() }
}

fn splitmix64(key: u64) -> u64 {
    let mut x = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// With the reference's hash functions each symbol equals the reference's symbol.
#[test]
fn symbols_are_those_of_the_reference() {
    let siphash = |number: u64| {
        let mut key = [0_u8; 64];
        key[..8].copy_from_slice(&number.to_le_bytes());
        let mut hasher = SipHasher24::new_with_keys(567, 890);
        hasher.write(&key);
        hasher.finish()
    };
    let squares: Vec<(u64, u64)> = (1..=200_u64)
        .map(|i| i.wrapping_mul(i).wrapping_mul(2_654_435_761))
        .map(|key| (splitmix64(key), key))
        .collect();
    let counted: Vec<(u64, u64)> = (0..100).map(|i| (siphash(i), i)).collect();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/riblt.txt");
    let text = std::fs::read_to_string(path).unwrap();
    for (name, keys, count) in [("splitmix64", squares, 120), ("siphash24", counted, 40)] {
        let mut words = vec![0; SYMBOL * count];
        keys.iter().for_each(|(hash, key)| {
            add(&mut words, *hash, &[*key], 1);
        });
        let lines = text.lines().filter_map(|line| line.strip_prefix(name)).map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let hexadecimal = |field: &str| u64::from_str_radix(field, 16).unwrap();
            [hexadecimal(fields[0]), hexadecimal(fields[1]), fields[2].parse().unwrap()]
        });
        let mut seen = 0;
        for (i, (expected, symbol)) in lines.zip(words.chunks(SYMBOL)).enumerate() {
            assert_eq!(symbol, expected, "symbol {i} of {name}");
            seen += 1;
        }
        assert_eq!(seen, count);
    }
}

/// Listing fails at most at the rate of the spec, and not far less often, which would take too many symbols.
#[test]
fn listing_fails_at_most_as_often_as_promised() {
    let mut random = Random(32 << 32);
    for (numbers, rate, trials) in [
        (2, 0.1, 4000),
        (3, 0.01, 20_000),
        (5, 0.01, 20_000),
        (10, 0.01, 20_000),
        (30, 0.01, 10_000),
        (30, 0.1, 3000),
        (100, 0.1, 3000),
        (100, 0.01, 6000),
        (1000, 0.05, 500),
    ] {
        let spec = Spec { kind: Some(ROW.kind), ..Spec::with_capacity(numbers, rate).unwrap() };
        let mut sketch = Sketch::new(&spec).unwrap();
        let promised = sketch.expected_failure_rate(numbers);
        assert!(promised <= rate);
        let failed = (0..trials).filter(|_| {
            sketch.clear().unwrap();
            (0..numbers).for_each(|_| sketch.insert_u64(random.next()).unwrap());
            !sketch.list().unwrap().is_complete
        });
        let share = failed.count() as f64 / f64::from(trials);
        let sigma = (promised * (1.0 - promised) / f64::from(trials)).sqrt();
        assert!(share <= promised + 4.5 * sigma, "{numbers} at {rate}: {share}, promised {promised}");
        assert!(share >= promised / 6.0 - 4.5 * sigma, "{numbers} at {rate}: {share}, promised {promised}");
    }
}

/// A thousand random pairs of sets: alike and unlike, equal, empty, one inside the other. Every listed number is right,
/// and the listing says whether it is complete.
#[test]
fn random_pairs_of_sets_are_told_apart() {
    let mut random = Random(33 << 32);
    let (mut complete, mut partial) = (0, 0);
    for round in 0..1000 {
        let (common, ours, theirs) = match round % 5 {
            0 => (500, random.next() % 20, random.next() % 20),
            1 => (10, random.next() % 100, random.next() % 100),
            2 => (300, 0, 0),
            3 => (200, random.next() % 40, 0),
            _ => (0, 0, random.next() % 40),
        };
        let mut draw = |count: u64| (0..count).map(|_| random.next()).collect::<BTreeSet<u64>>();
        let (common, ours, theirs) = (draw(common), draw(ours), draw(theirs));
        let spec = symbols(1 + random.next() % 120);
        let mut first = of(&spec, common.iter().chain(&ours).copied());
        first.subtract(&of(&spec, common.iter().chain(&theirs).copied())).unwrap();
        let listing = first.list().unwrap();
        assert!(with(&listing, 1).is_subset(&ours) && with(&listing, -1).is_subset(&theirs), "round {round}");
        assert_eq!(listing.is_complete, listing.listed.len() == ours.len() + theirs.len(), "round {round}");
        complete += u32::from(listing.is_complete);
        partial += u32::from(!listing.is_complete);
        // Numbers that are inserted and removed leave nothing.
        ours.iter().for_each(|number| first.remove_u64(*number).unwrap());
        theirs.iter().for_each(|number| first.insert_u64(*number).unwrap());
        assert_eq!(first.statistics().taken, 0);
    }
    assert!(complete > 300 && partial > 100, "{complete} {partial}");
}

/// Whatever symbols an image has, listing ends within its bounds. A listing is complete only if the listed numbers add
/// up to the symbols.
#[test]
fn forged_symbols_are_listed_to_an_end() {
    let mut random = Random(34 << 32);
    let spec = symbols(40);
    let image = bytes(&of(&spec, 0..10));
    for round in 0..4000 {
        let mut words: Vec<u64> = image.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
        let hasher = spec.hasher().unwrap();
        for symbol in words[32..32 + 120].chunks_mut(SYMBOL) {
            match (round % 4, random.next() % 4) {
                (0, _) => symbol.iter_mut().for_each(|word| *word = random.next()),
                // The symbol has a single number with its hash, which may belong elsewhere.
                (1, _) | (2, 0) => {
                    let number = random.next() % 50;
                    let count = if random.next().is_multiple_of(2) { 1 } else { u64::MAX };
                    symbol.copy_from_slice(&[number, hasher.hash_u64(number).unwrap(), count]);
                }
                (3, 0) => symbol[2] = symbol[2].wrapping_neg(),
                _ => {}
            }
        }
        let start = NonNull::new(words.as_mut_ptr().cast::<u8>()).unwrap();
        // SAFETY: the words live until the sketch is dropped, and nobody writes to them meanwhile.
        let sketch: Sketch = unsafe { open_in_buffer_as(start, image.len(), &OpenOptions::default()) }.unwrap();
        let listing = sketch.list().unwrap();
        assert!(listing.listed.len() <= 40);
        if listing.is_complete {
            // The symbols are the sums of the listed numbers.
            let mut sums = vec![0; 120];
            for one in &listing.listed {
                add(&mut sums, hasher.hash_u64(one.number).unwrap(), &[one.number], one.sign);
            }
            assert_eq!(sums[..], words[32..152], "round {round}");
        }
    }
}

/// Listing ignores a symbol with a single number that does not belong there.
#[test]
fn numbers_are_listed_from_their_own_symbols_only() {
    let spec = symbols(30);
    let image = bytes(&of(&spec, [42]));
    let mut words: Vec<u64> = image.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
    let hash = spec.hasher().unwrap().hash_u64(42).unwrap();
    let own: BTreeSet<u64> = Indices::of(hash).take_while(|index| *index < 30).collect();
    words[32..122].fill(0);
    let other = (0..30).find(|index| !own.contains(index)).unwrap() as usize;
    words[32 + SYMBOL * other..][..SYMBOL].copy_from_slice(&[42, hash, 1]);
    let start = NonNull::new(words.as_mut_ptr().cast::<u8>()).unwrap();
    // SAFETY: the words live until the sketch is dropped, and nobody writes to them meanwhile.
    let sketch: Sketch = unsafe { open_in_buffer_as(start, image.len(), &OpenOptions::default()) }.unwrap();
    let listing = sketch.list().unwrap();
    assert!(!listing.is_complete && listing.listed.is_empty(), "{listing:?}");
}

/// Every symbol that a number changes in place is marked before the change, across regions too.
#[test]
fn symbols_across_regions_are_marked() {
    let spec = symbols(9000);
    let image = bytes(&of(&spec, []));
    let mut words: Vec<u64> = image.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
    let start = NonNull::new(words.as_mut_ptr().cast::<u8>()).unwrap();
    for number in 0..3000 {
        let options = OpenOptions { mode: Mode::Write, ..OpenOptions::default() };
        // SAFETY: the words outlive both sketches, and nobody else uses them.
        let mut sketch: Sketch = unsafe { open_in_buffer_as(start, image.len(), &options) }.unwrap();
        sketch.insert_u64(number).unwrap();
        sketch.sync().unwrap();
        drop(sketch);
        // SAFETY: the words outlive both sketches, and nobody else uses them.
        let read: Sketch = unsafe { open_in_buffer_as(start, image.len(), &OpenOptions::default()) }.unwrap();
        read.verify().unwrap_or_else(|error| panic!("after {number}: {error}"));
    }
}

/// The symbols that `docs/format.md` specifies, computed without the library's code.
fn specified(count: usize, changes: &[(u64, i64)]) -> Vec<u8> {
    let mut words = vec![0_u64; 3 * count];
    for (number, times) in changes {
        let hash = xxh3_64_with_seed(&number.to_le_bytes(), 42);
        let (mut state, mut index) = (hash, 0_u64);
        while (index as usize) < count {
            let symbol = 3 * index as usize;
            words[symbol] ^= number;
            words[symbol + 1] ^= hash;
            words[symbol + 2] = words[symbol + 2].wrapping_add(*times as u64);
            state = state.wrapping_mul(0xda94_2042_e4dd_58b5);
            index += ((index as f64 + 1.5) * (2_f64.powi(32) / (state as f64 + 1.0).sqrt() - 1.0)).ceil() as u64;
        }
    }
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.resize(bytes.len().next_multiple_of(64), 0);
    bytes
}

/// Golden images have the bytes of the specification, are written the same today, and open for ever.
#[test]
fn golden_images_are_what_the_format_says() {
    for count in [40, 41, 400] {
        let spec = Spec { seed: 42, capacity: 10, ..symbols(count) };
        let mut sketch = Sketch::new(&spec).unwrap();
        let mut changes: Vec<(u64, i64)> = (1..=6).map(|i| (mix(i), 1)).collect();
        changes.push((7, -1));
        changes.push((xxh3_64_with_seed(b"key 0", 42), 1));
        (1..=6).for_each(|i| sketch.insert_u64(mix(i)).unwrap());
        sketch.remove_u64(7).unwrap();
        sketch.insert(b"key 0").unwrap();
        let image = bytes(&sketch);
        let payload = specified(count as usize, &changes);
        assert_eq!(image[256..256 + payload.len()], payload[..], "{count} symbols");
        assert_eq!((image[12..16].to_vec(), image[20]), (257_u32.to_le_bytes().to_vec(), 0));
        golden::check(&ROW, &format!("riblt-symbols_{count}-layout_1-xxh3.petal"), &image);
    }
    let files = golden::files(&ROW);
    assert_eq!(files.len(), 7);
    for (name, image) in files.into_iter().filter(|(name, _)| name.contains("symbols")) {
        let sketch: Sketch = load_as(&image, &OpenOptions::default()).unwrap();
        assert_eq!(bytes(&sketch), image, "{name}");
        let listing = sketch.list().unwrap();
        assert!(listing.is_complete && with(&listing, -1) == BTreeSet::from([7]), "{name}: {listing:?}");
        assert!(with(&listing, 1).contains(&mix(1)) && listing.listed.len() == 8, "{name}");
    }
}

/// Specs and images with an impossible geometry are refused.
#[test]
fn what_cannot_be_is_refused() {
    let wrong = |spec: &Spec, status: Status, part: &str| {
        let error = Sketch::new(spec).unwrap_err();
        assert!(error.status() == status && error.to_string().contains(part), "{error}");
    };
    wrong(&Spec { hash: petal::HashFunction::External, ..symbols(9) }, Status::Contradiction, "hash = external");
    wrong(&Spec { bits: 100, ..symbols(9) }, Status::OutOfRange, "bits = 100");
    wrong(&Spec { bits: 64, ..symbols(9) }, Status::OutOfRange, "64 is not a multiple of 192");
    let mut whole = Spec { bits: 192, ..symbols(9) };
    whole.set(ROW.parameter("key_bytes").unwrap(), 16.0).unwrap();
    wrong(&whole, Status::OutOfRange, "multiple of 256 with key_bytes = 16");
    let error = Sketch::new(&Spec { bits: 64, ..symbols(9) }).unwrap_err();
    assert!(!error.message().contains("key_bytes"), "{error}");
    wrong(&Spec { hashes: 3, ..symbols(9) }, Status::OutOfRange, "hashes = 3");
    let most = Spec { kind: Some(ROW.kind), ..Spec::with_capacity(1 << 57, 0.01).unwrap() };
    wrong(&most, Status::TooLarge, "capacity");
    let image = bytes(&of(&symbols(9), [1]));
    let forgeries = [(64, 191), (64, 192 * 9 + 1), (64, 0), (20, 3)];
    for (field, value) in forgeries.into_iter().chain((72..136).step_by(8).map(|field| (field, 1_u64))) {
        let mut forged = image.clone();
        let width = if field < 40 { 4 } else { 8 };
        forged[field..field + width].copy_from_slice(&value.to_le_bytes()[..width]);
        crate::format::seal(&mut forged);
        let loaded = load_as::<Sketch>(&forged, &OpenOptions::default());
        assert!(loaded.is_err(), "{value} at {field}");
    }
    assert_eq!((sizing::failure(2, 0), sizing::failure(1, 0), sizing::failure(0, 1)), (1.0, 1.0, 0.0));
}
