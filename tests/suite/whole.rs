//! Sketches of whole keys (`key_bytes`): compared with exact sets of byte strings.

use crate::common::{golden, image as bytes, mix};
use petal::sketch::riblt::ROW;
use petal::{KeyListing, Keys, Mode, OpenOptions, Sketch, Spec, Status, Stream, load_as};
use std::collections::BTreeSet;
use xxhash_rust::xxh3::xxh3_64_with_seed;

type Set = BTreeSet<Vec<u8>>;

fn spec(key_bytes: usize, symbols: u64) -> Spec {
    let words = key_bytes.div_ceil(8) as u64 + 2;
    let mut spec = Spec { kind: Some(ROW.kind), bits: 64 * words * symbols, ..Spec::default() };
    spec.set(ROW.parameter("key_bytes").unwrap(), key_bytes as f64).unwrap();
    spec
}

fn key(key_bytes: usize, i: u64) -> Vec<u8> {
    (0..8).flat_map(|word| mix(8 * i + word).to_le_bytes()).take(key_bytes).collect()
}

fn of(spec: &Spec, keys: &Set) -> Sketch {
    let mut sketch = Sketch::new(spec).unwrap();
    keys.iter().for_each(|key| sketch.insert(key).unwrap());
    sketch
}

fn with(listing: &KeyListing, key_bytes: usize, sign: i64) -> Set {
    assert_eq!(listing.keys.len(), key_bytes * listing.signs.len());
    let listed = listing.keys.chunks(key_bytes).zip(&listing.signs).filter(|(_, there)| **there == sign);
    let listed: Vec<Vec<u8>> = listed.map(|(key, _)| key.to_vec()).collect();
    assert!(listed.is_sorted());
    listed.into_iter().collect()
}

/// Whole keys of every length come back from differences, from sums and from streams.
#[test]
fn whole_keys_are_listed() {
    for key_bytes in 8..=64 {
        let spec = spec(key_bytes, 200);
        let keys = |range: std::ops::Range<u64>| range.map(|i| key(key_bytes, i)).collect::<Set>();
        let (ours, theirs) = (keys(0..500), keys(20..530));
        let (mut first, second) = (of(&spec, &ours), of(&spec, &theirs));
        assert_eq!(first.key_bytes(), key_bytes);
        first.subtract(&second).unwrap();
        let listing = first.list_keys().unwrap();
        assert!(listing.is_complete, "{key_bytes}");
        assert_eq!(with(&listing, key_bytes, 1), keys(0..20));
        assert_eq!(with(&listing, key_bytes, -1), keys(500..530));
        assert!(listing.signs.is_sorted());
        keys(0..20).iter().for_each(|key| first.remove(key).unwrap());
        keys(500..530).iter().for_each(|key| first.insert(key).unwrap());
        assert_eq!(first.statistics().taken, 0);
        first.merge(&of(&spec, &keys(0..9))).unwrap();
        assert_eq!(with(&first.list_keys().unwrap(), key_bytes, 1), keys(0..9));
        // A batch does the same as single keys, and an image gives the sketch back.
        let flat: Vec<u8> = theirs.iter().flatten().copied().collect();
        let offsets: Vec<u64> = (0..=theirs.len()).map(|i| (i * key_bytes) as u64).collect();
        let mut batch = Sketch::new(&spec).unwrap();
        assert_eq!(batch.insert_batch(&Keys::Bytes { bytes: &flat, offsets: &offsets }).keys, theirs.len());
        assert_eq!(bytes(&batch), bytes(&second));
        let offsets: Vec<i32> = offsets.iter().map(|offset| *offset as i32).collect();
        let mut batch = Sketch::new(&spec).unwrap();
        assert_eq!(batch.insert_batch(&Keys::Bytes32 { bytes: &flat, offsets: &offsets }).keys, theirs.len());
        assert_eq!(bytes(&batch), bytes(&second));
        let loaded: Sketch = load_as(&bytes(&second), &OpenOptions::default()).unwrap();
        assert_eq!((bytes(&loaded), loaded.key_bytes()), (bytes(&second), key_bytes));
        // With kept keys, later symbols come from them.
        let few = Spec { bits: spec.bits / 20, ..spec };
        let [mut first, mut second] = [(); 2].map(|()| Sketch::new(&few).unwrap());
        for (sketch, keys) in [(&mut first, &ours), (&mut second, &theirs)] {
            sketch.keep_keys().unwrap();
            for key in keys.iter().chain(keys) {
                sketch.insert(key).unwrap();
            }
            assert_eq!(sketch.kept().unwrap().len(), keys.len() * key_bytes.div_ceil(8));
        }
        let (mut out, mut into) = (Stream::new(&second).unwrap(), Stream::new(&first).unwrap());
        let mut buffer = [0; 3000];
        loop {
            let length = out.write(&second, 20, &mut buffer).unwrap();
            if into.read(&first, &buffer[..length]).unwrap() {
                break;
            }
        }
        let listing = into.list_keys(&first).unwrap();
        assert!(listing.is_complete && out.symbols_written() < 200);
        assert_eq!(with(&listing, key_bytes, 1), keys(0..20));
        assert_eq!(with(&listing, key_bytes, -1), keys(500..530));
        assert_eq!(into.list(&first).unwrap_err().status(), Status::Unsupported);
    }
}

/// Keys of another length are refused, and hashes. Numbers are keys of 8 bytes.
#[test]
fn other_keys_are_refused() {
    let mut sketch = Sketch::new(&spec(16, 30)).unwrap();
    let before = bytes(&sketch);
    for outcome in [sketch.insert(b"short"), sketch.remove(&[1; 17]), sketch.insert_u64(5), sketch.remove_u64(5)] {
        let error = outcome.unwrap_err();
        assert!(error.status() == Status::OutOfRange && error.to_string().contains("have 16 bytes"), "{error}");
    }
    assert!(sketch.insert(b"short").unwrap_err().to_string().contains("a key of 5 bytes"));
    for outcome in [sketch.insert_hash(5), sketch.remove_hash(5)] {
        let error = outcome.unwrap_err();
        assert!(error.status() == Status::Unsupported && error.to_string().contains("key_bytes = 16"), "{error}");
    }
    let taken = sketch.insert_batch(&Keys::Hashes(&[1, 2]));
    assert_eq!((taken.keys, taken.outcome.unwrap_err().status()), (0, Status::Unsupported));
    let taken = sketch.insert_batch(&Keys::U64(&[1, 2]));
    assert_eq!((taken.keys, taken.outcome.unwrap_err().status()), (0, Status::OutOfRange));
    assert_eq!(bytes(&sketch), before);
    // A batch ends at the first key of another length.
    let taken = sketch.insert_batch(&Keys::Bytes { bytes: &[7; 40], offsets: &[0, 16, 24, 40] });
    assert_eq!((taken.keys, taken.outcome.unwrap_err().status()), (1, Status::OutOfRange));
    assert_eq!(with(&sketch.list_keys().unwrap(), 16, 1), BTreeSet::from([vec![7; 16]]));
    assert_eq!(sketch.list().unwrap_err().status(), Status::Unsupported);
    let numbers = Sketch::new(&Spec { kind: Some(ROW.kind), bits: 1920, ..Spec::default() }).unwrap();
    assert_eq!((numbers.list_keys().unwrap_err().status(), numbers.key_bytes()), (Status::Unsupported, 0));
    let mut eight = Sketch::new(&spec(8, 30)).unwrap();
    eight.insert_u64(0x0102_0304_0506_0708).unwrap();
    eight.remove(b"8 bytes.").unwrap();
    let listing = eight.list_keys().unwrap();
    assert_eq!(listing.keys, [*b"8 bytes.", [8, 7, 6, 5, 4, 3, 2, 1]].concat());
    assert_eq!(listing.signs, [-1, 1]);
    // Sketches of other keys do not combine.
    let error = eight.subtract(&Sketch::new(&spec(16, 30)).unwrap()).unwrap_err();
    assert_eq!(error.status(), Status::Incompatible);
    let wrong = |spec: Spec, part: &str| {
        let error = Sketch::new(&spec).unwrap_err();
        assert!(error.status() == Status::OutOfRange && error.to_string().contains(part), "{error}");
    };
    wrong(spec(7, 30), "key_bytes = 7");
    wrong(spec(65, 30), "key_bytes = 65");
    wrong(Spec { bits: 192 * 30 + 64, ..spec(16, 30) }, "is not a multiple of 256 with key_bytes = 16");
}

/// Every symbol that a whole key changes in place is marked before the change, across regions too.
#[test]
fn symbols_across_regions_are_marked() {
    let (folder, spec) = (tempfile::tempdir().unwrap(), spec(50, 2000));
    let path = folder.path().join("sketch");
    Sketch::new(&spec).unwrap().save(&path).unwrap();
    for i in 0..300 {
        let mut sketch: Sketch =
            petal::open_as(&path, &OpenOptions { mode: Mode::Write, ..OpenOptions::default() }).unwrap();
        sketch.insert(&key(50, i)).unwrap();
        sketch.sync().unwrap();
        drop(sketch);
        petal::open_as::<Sketch>(&path, &OpenOptions::default()).unwrap().verify().unwrap();
    }
}

/// The symbols that `docs/format.md` specifies, computed without the library's code.
fn specified(key_bytes: usize, count: usize, changes: &[(Vec<u8>, i64)]) -> Vec<u8> {
    let words = key_bytes.div_ceil(8);
    let mut bytes = vec![0_u8; 8 * (words + 2) * count];
    for (key, times) in changes {
        let hash = xxh3_64_with_seed(key, 42);
        let (mut state, mut index) = (hash, 0_u64);
        while (index as usize) < count {
            let symbol = &mut bytes[8 * (words + 2) * index as usize..][..8 * (words + 2)];
            let (padded, rest) = symbol.split_at_mut(8 * words);
            padded.iter_mut().zip(key).for_each(|(to, from)| *to ^= from);
            rest.iter_mut().zip(hash.to_le_bytes()).for_each(|(to, from)| *to ^= from);
            let sum = i64::from_le_bytes(rest[8..].try_into().unwrap()) + times;
            rest[8..].copy_from_slice(&sum.to_le_bytes());
            state = state.wrapping_mul(0xda94_2042_e4dd_58b5);
            index += ((index as f64 + 1.5) * (2_f64.powi(32) / (state as f64 + 1.0).sqrt() - 1.0)).ceil() as u64;
        }
    }
    bytes.resize(bytes.len().next_multiple_of(64), 0);
    bytes
}

/// Golden images have the bytes of the specification, are written the same today, and open for ever.
#[test]
fn golden_images_are_what_the_format_says() {
    for key_bytes in [8, 16, 33, 64] {
        let spec = Spec { seed: 42, capacity: 10, ..spec(key_bytes, 41) };
        let mut sketch = Sketch::new(&spec).unwrap();
        let mut changes: Vec<(Vec<u8>, i64)> = (0..7).map(|i| (key(key_bytes, i), 1)).collect();
        changes[3].1 = -1;
        for (key, count) in &changes {
            if *count > 0 { sketch.insert(key).unwrap() } else { sketch.remove(key).unwrap() }
        }
        let image = bytes(&sketch);
        let payload = specified(key_bytes, 41, &changes);
        assert_eq!(image[256..256 + payload.len()], payload[..], "{key_bytes} bytes");
        assert_eq!(image[72..80], (key_bytes as u64).to_le_bytes());
        golden::check(&ROW, &format!("riblt-key_bytes_{key_bytes}-layout_1-xxh3.petal"), &image);
        let loaded: Sketch = load_as(&image, &OpenOptions::default()).unwrap();
        let listing = loaded.list_keys().unwrap();
        assert!(listing.is_complete && with(&listing, key_bytes, -1) == BTreeSet::from([key(key_bytes, 3)]));
        assert_eq!(listing.signs.len(), 7);
    }
}

/// With the hash function of the reference, the symbols of keys of 64 bytes are those of the reference.
#[test]
fn symbols_are_those_of_the_reference() {
    use petal::sketch::riblt::symbols::add_all;
    use std::hash::Hasher;
    let (mut hashes, mut keys) = (Vec::new(), Vec::new());
    for i in 0..100_u64 {
        let mut hasher = siphasher::sip::SipHasher24::new_with_keys(567, 890);
        hasher.write(&i.to_le_bytes());
        hasher.write(&[0; 56]);
        hashes.push(hasher.finish());
        keys.extend([i, 0, 0, 0, 0, 0, 0, 0]);
    }
    let mut words = vec![0; 10 * 40];
    let (before, after) = words.split_at_mut(10 * 13);
    add_all(before, 0, &hashes, &keys, 1);
    add_all(after, 13, &hashes, &keys, 1);
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/riblt.txt")).unwrap();
    let mut seen = 0;
    for (line, symbol) in text.lines().filter_map(|line| line.strip_prefix("siphash24")).zip(words.chunks(10)) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let hexadecimal = |field: &str| u64::from_str_radix(field, 16).unwrap();
        assert_eq!(symbol[..1], [hexadecimal(fields[0])]);
        assert_eq!(
            (&symbol[1..8], symbol[8], symbol[9]),
            (&[0; 7][..], hexadecimal(fields[1]), fields[2].parse().unwrap())
        );
        seen += 1;
    }
    assert_eq!(seen, 40);
}
