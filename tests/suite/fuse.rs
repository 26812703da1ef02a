//! The fuse structure: lookups find all keys, for any number of keys, width of cells and hashes, and the payload
//! depends on nothing else.

use crate::common::is_soak;
use crate::common::sets::{Changing, hash, hashes, ordered};
use crate::kernels::Hashes;
use petal::blocks::mixing::{fingerprint, order, scatter};
use petal::contract::Work;
use petal::kinds::fuse;
use petal::kinds::fuse::layout::{ARITIES, Cells, Equations, Fingerprints, MAX_BITS, MIN_BITS, Shape, solve};
use petal::ring::Batch;
use petal::storage::Words;
use petal::{Result, Status};

const NO_LIMIT: u64 = u64::MAX;

/// Cells of `width` bits, of which a key has three.
fn three(width: u32) -> Cells {
    Cells::fewest(3, width)
}

/// As [`three`], in shards that are small enough for a test to have several.
fn in_shards(width: u32) -> Cells {
    Cells { shard_keys: 1 << 16, ..three(width) }
}

/// Cells of `width` bits with each arity.
fn each(width: u32) -> impl Iterator<Item = Cells> {
    ARITIES.map(move |arity| Cells::fewest(arity, width))
}

fn build_with(hashes: &[u64], cells: Cells, memory: u64, threads: usize) -> Result<(Shape, Words)> {
    let mut work = Work { memory, threads, progress: &mut |_, _| true };
    Fingerprints::build(&&ordered(hashes)[..], cells, &mut work)
}

fn build(hashes: &[u64], cells: Cells) -> (Shape, Words) {
    let (shape, words) = build_with(hashes, cells, NO_LIMIT, 1).expect("every set of hashes can be solved");
    assert_eq!(words.shared().len() as u64, shape.words());
    shape.check(words.shared()).expect("what was built is whole");
    (shape, words)
}

/// Builds from hashes, and asserts that each of them is contained.
fn check_found(hashes: &[u64], cells: Cells) -> (Shape, Words) {
    let (shape, words) = build(hashes, cells);
    let filter = Fingerprints::new(shape, words.shared());
    let lost = hashes.iter().filter(|hash| !filter.contains(**hash)).count();
    assert_eq!(lost, 0, "of {} hashes, {cells:?}", hashes.len());
    (shape, words)
}

/// A filter for the rate 2^-r has r bits, and one bit more where equal hashes add more than a ten-thousandth of that
/// rate. The stated rate includes equal hashes in any case.
#[test]
fn a_power_of_two_takes_its_own_bits() {
    let row = petal::registry::find_name("fuse").unwrap();
    let bits_for = |keys, rate| {
        let spec = petal::Spec { kind: Some(row.kind), ..petal::Spec::with_capacity(keys, rate).unwrap() };
        petal::geometry(&spec).map(|geometry| (geometry.words[0] as u32, (row.false_positive_rate)(&geometry, keys)))
    };
    let mut counted = 0;
    for bits in MIN_BITS..MAX_BITS {
        let rate = (-f64::from(bits)).exp2();
        for keys in [1, 1000, 1_000_000, 1_000_000_000] {
            let (taken, exact) = bits_for(keys, rate).unwrap();
            let is_kept = petal::sizing::hash_floor(keys, 64) <= 1e-4 * rate;
            counted += u32::from(!is_kept);
            assert_eq!(taken, if is_kept { bits } else { bits + 1 }, "{keys} keys at 2^-{bits}");
            assert_eq!(exact, petal::sizing::fingerprint_rate(taken, keys));
            assert!(exact <= rate * (1.0 + 1e-4), "{keys} keys at 2^-{bits}: {exact}");
            let told = petal::sizing::fingerprint_rate(bits, keys);
            assert_eq!(bits_for(keys, told).unwrap(), (bits, told), "{keys} keys at what {bits} bits give");
            assert_eq!(bits_for(keys, rate.next_down()).unwrap().0, bits + 1, "{keys} keys below 2^-{bits}");
        }
    }
    assert!(counted > 5, "keys are so many that their hashes count {counted} times");
    let wanted = petal::plan::Request {
        keys: 1_000_000,
        goal: petal::plan::Goal::FalsePositiveRate(petal::sizing::fingerprint_rate(8, 1_000_000)),
        capabilities: petal::Capabilities(0),
        is_static: true,
        universe: 0,
        frequent: 0.0,
        non_members: 0,
        times: 0,
    };
    let proposals = petal::plan::plan(&wanted).unwrap();
    let fit = proposals.iter().find(|proposal| proposal.kind == row.kind).unwrap().outcome.as_ref().unwrap();
    assert!(
        fit.bits_per_key < 9.1 && fit.false_positive_rate == petal::sizing::fingerprint_rate(8, 1_000_000),
        "{fit:?}"
    );
}

/// For any number of keys the arrays are no longer than those of Graf and Lemire. For few and for many keys they are as
/// short as exact solving allows.
#[test]
fn arrays_are_as_short_as_those_of_the_paper_or_shorter() {
    let three = [(10, 48), (100, 192), (1000, 1408), (10_000, 12_800), (100_000, 118_784), (1_000_000, 1_130_496)];
    for (keys, cells) in three.into_iter().chain([(10_000_000, 11_272_192)]) {
        let fuse::sizing::Segments { bits, starts } = fuse::sizing::of_paper(3, keys);
        assert_eq!((starts + 2) << bits, cells);
    }
    // For four cells there is no published table, so the sizes are compared with the formula.
    let four = fuse::sizing::of_paper(4, 1_000_000);
    assert_eq!((four.bits, (four.starts + 3) << four.bits), (12, 1_077_248));
    for arity in ARITIES {
        for keys in (1..=200_000).chain((200_000..=20_000_000).step_by(1009)) {
            let of_paper = fuse::sizing::of_paper(arity, keys);
            let cells = Shape::expected(arity, 8, keys).unwrap().cells();
            assert!(cells <= (of_paper.starts + u64::from(arity) - 1) << of_paper.bits, "{keys} keys of {arity} cells");
            assert!(cells >= keys, "{keys} keys of {arity} cells");
        }
    }
    for (keys, most) in [(10_000, [1.15, 1.11]), (1_000_000, [1.125, 1.07]), (10_000_000, [1.11, 1.06])] {
        for (arity, most) in ARITIES.zip(most) {
            let bits = Shape::expected(arity, 8, keys).unwrap().words() as f64 * 64.0 / keys as f64;
            assert!(bits <= most * 8.0, "{keys} keys of {arity} cells: {bits}");
        }
    }
    let (shape, _) = check_found(&hashes(1, 300_000), in_shards(8));
    assert_eq!(shape.shards(), 5);
}

/// 10^7 keys, built: their arrays have the expected sizes.
#[test]
fn arrays_of_many_keys_are_as_short_as_is_expected() {
    let keys = if is_soak() { 10_000_000 } else { 2_000_000 };
    for arity in ARITIES {
        let (shape, _) = check_found(&hashes(14, keys), Cells::fewest(arity, 8));
        let of_paper = fuse::sizing::of_paper(arity, keys);
        assert!(shape.cells() <= (of_paper.starts + u64::from(arity) - 1) << of_paper.bits, "{shape:?}");
        let expected = Shape::expected(arity, 8, keys).unwrap().cells() as f64;
        assert!((shape.cells() as f64 / expected - 1.0).abs() < 0.001, "{shape:?}, {expected} cells expected");
    }
}

/// Peeling gives each key its own cell, and each key only once.
#[test]
fn peeled_keys_have_cells_of_their_own() {
    let mut x = hashes(2, 20_000);
    x.sort_unstable();
    for cells in each(8).map(|cells| Cells { is_peeled: true, ..cells }) {
        let owned = std::sync::Mutex::new(std::collections::BTreeMap::new());
        let mut work = Work { memory: NO_LIMIT, threads: 1, progress: &mut |_, _| true };
        solve(&&x[..], &Owned(&owned), cells, &mut work).unwrap();
        let owned = owned.into_inner().unwrap();
        assert!(owned.len() == x.len() && owned.values().all(|which| *which < cells.arity as usize));
    }
}

/// Records for each record which of its cells no other record has.
struct Owned<'a>(&'a std::sync::Mutex<std::collections::BTreeMap<u64, usize>>);

impl Equations<u64> for Owned<'_> {
    fn order(&self, record: &u64) -> u64 {
        *record
    }

    fn scatter(&self, record: &u64, seed: u32) -> u64 {
        scatter(*record, seed)
    }

    fn value(&self, record: &u64, _: u64, own: usize) -> u64 {
        assert_eq!(self.0.lock().unwrap().insert(*record, own), None, "a key is assigned once");
        0
    }
}

/// Shards whose ranges were off by one would lose the keys at their ends.
#[test]
fn shards_have_all_of_their_keys() {
    let shards: u64 = 5;
    let width = u64::MAX / shards;
    // Around each border a run of hashes that follow each other, and uniform ones in between.
    let mut x: Vec<u64> = (1..shards).flat_map(|i| (0..40).map(move |j| i * width - 20 + j)).collect();
    x.extend([0, 1, 2, u64::MAX, u64::MAX - 1]);
    x.extend(hashes(7, shards * in_shards(20).shard_keys - 1000));
    x.sort_unstable();
    x.dedup();
    let mut progress = |_, _| true;
    let mut work = Work { memory: NO_LIMIT, threads: 1, progress: &mut progress };
    let (shape, words) = solve(&&x[..], &Numbers, in_shards(20), &mut work).unwrap();
    assert_eq!(shape.shards(), shards);
    let array = petal::kinds::fuse::layout::Array::new(shape, words.shared());
    for x in x {
        assert_eq!(array.value(x, |seed| scatter(x, seed)), Some(Numbers.value(&x, 0, 0)));
    }
}

/// Records that are their own order, with values of any width.
struct Numbers;

impl Equations<u64> for Numbers {
    fn order(&self, record: &u64) -> u64 {
        *record
    }

    fn scatter(&self, record: &u64, seed: u32) -> u64 {
        scatter(*record, seed)
    }

    fn value(&self, record: &u64, _: u64, _: usize) -> u64 {
        record.rotate_left(17) % (1 << 20)
    }
}

/// As [`Numbers`], with all bits of the number.
struct Wide;

impl Equations<u64> for Wide {
    fn order(&self, record: &u64) -> u64 {
        *record
    }

    fn scatter(&self, record: &u64, seed: u32) -> u64 {
        scatter(*record, seed)
    }

    fn value(&self, record: &u64, _: u64, _: usize) -> u64 {
        record.rotate_left(17)
    }
}

#[test]
fn values_of_every_width_come_back() {
    let mut x = hashes(3, 3000);
    x.sort_unstable();
    for width in 1..=64 {
        let mut work = Work { memory: NO_LIMIT, threads: 1, progress: &mut |_, _| true };
        let (shape, words) = solve(&&x[..], &Wide, three(width), &mut work).unwrap();
        let array = petal::kinds::fuse::layout::Array::new(shape, words.shared());
        for x in &x {
            let expected = x.rotate_left(17) & (u64::MAX >> (64 - width));
            assert_eq!(array.value(*x, |seed| scatter(*x, seed)), Some(expected), "width {width}");
        }
    }
    for width in [0, 65] {
        let mut work = Work { memory: NO_LIMIT, threads: 1, progress: &mut |_, _| true };
        assert_eq!(solve(&&x[..], &Wide, three(width), &mut work).err().unwrap().status(), Status::OutOfRange);
    }
}

/// Hashes that lie next to each other: they get more cells, and lookups find them.
#[test]
fn hashes_that_are_not_spread_at_all_build() {
    for count in [3, 100, 1000, 30_000] {
        for spread in [1, 1 << 20, 1 << 44] {
            let mut x: Vec<u64> = (0..count).map(|i| (1 << 63) + i * (spread / count).max(1)).collect();
            x.sort_unstable();
            let mut work = Work { memory: NO_LIMIT, threads: 1, progress: &mut |_, _| true };
            let (shape, words) = solve(&&x[..], &Numbers, three(20), &mut work).unwrap();
            shape.check(words.shared()).unwrap();
            let array = petal::kinds::fuse::layout::Array::new(shape, words.shared());
            let right = |x: &&u64| array.value(**x, |seed| scatter(**x, seed)) == Some(Numbers.value(x, 0, 0));
            assert_eq!(x.iter().filter(right).count() as u64, count, "spread over {spread}");
            assert!(shape.cells() <= 16 * count.max(64), "{} cells for {count} hashes", shape.cells());
        }
    }
}

/// A shard with more keys than two progress reports are apart reports its progress meanwhile.
#[test]
fn progress_is_heard_within_a_shard() {
    let ordered = ordered(&hashes(13, 1_200_000));
    for (threads, cells) in [(1, three(8)), (2, Cells { shard_keys: 600_000, ..three(8) })] {
        let silent = |most: usize| {
            let mut heard = Vec::new();
            let mut progress = |done, _| {
                heard.push(done);
                heard.len() < most
            };
            let mut work = Work { memory: NO_LIMIT, threads, progress: &mut progress };
            let built = Fingerprints::build(&&ordered[..], cells, &mut work);
            (built.err().map(|error| error.status()), heard)
        };
        let (error, heard) = silent(usize::MAX);
        assert_eq!(error, None);
        // Each key is counted, peeled and given its cell; a report comes after 2^20 keys.
        assert!(heard.is_sorted() && heard.len() >= 2 + 3, "{heard:?}");
        // Cancelled before any shard is done.
        let (error, heard) = silent(3);
        assert_eq!((error, heard), (Some(Status::Cancelled), vec![0; 3]), "{threads} threads");
    }
}

#[test]
fn records_that_change_between_passes_are_an_error() {
    let ordered = ordered(&hashes(12, 5000));
    let mut work = Work { memory: NO_LIMIT, threads: 1, progress: &mut |_, _| true };
    assert_eq!(
        Fingerprints::build(&Changing::new(&ordered), three(4), &mut work).err().unwrap().status(),
        Status::Internal
    );
}

#[test]
#[ignore = "slow: make test-all"]
fn the_false_positive_rate_is_two_to_the_minus_bits() {
    let each = [
        (three(2), 1, 1 << 18),
        (three(2), 3000, 1 << 20),
        (three(3), 700, 1 << 20),
        (three(8), 100_000, 1 << 24),
        (three(13), 20_000, 1 << 26),
        (three(16), 10_000, 1 << 27),
        (Cells::fewest(4, 3), 700, 1 << 20),
        (Cells::fewest(4, 8), 100_000, 1 << 24),
        (Cells::fewest(4, 11), 20_000, 1 << 25),
    ];
    for (cells, keys, lookups) in each {
        let (shape, words) = build(&hashes(20, keys), cells);
        let filter = Fingerprints::new(shape, words.shared());
        let found = (0..lookups).filter(|i| filter.contains(hash(21, *i))).count() as f64;
        let rate = petal::sizing::fingerprint_rate(cells.width, keys);
        let (mean, sigma) = (rate * lookups as f64, (rate * (1.0 - rate) * lookups as f64).sqrt());
        assert!((found - mean).abs() < 4.5 * sigma, "{cells:?}, {keys} keys: {found} found, {mean} expected");
    }
}

/// A rate of 2^-32 is too small to be counted. But each byte of what the cells of an absent key give agrees with that
/// of its fingerprint one time in 256, and any two bytes do one time in 65,536, as if they were independent.
#[test]
#[ignore = "slow: make test-all"]
fn long_fingerprints_are_as_good_in_each_part() {
    for arity in ARITIES {
        let (shape, words) = build(&hashes(22, 50_000), Cells::fewest(arity, 32));
        let array = petal::kinds::fuse::layout::Array::new(shape, words.shared());
        let lookups = 1 << 23;
        let (mut one, mut two) = ([0; 4], [0; 6]);
        for i in 0..lookups {
            let x = order(hash(23, i));
            let mut z = 0;
            let value = array.value(x, |seed| {
                z = scatter(x, seed);
                z
            });
            let agree = (value.unwrap() ^ fingerprint(z)).to_le_bytes().map(|byte| byte == 0);
            one.iter_mut().zip(agree).for_each(|(count, agree)| *count += i32::from(agree));
            let pairs = (0..4).flat_map(|i| (0..i).map(move |j| agree[i] && agree[j]));
            two.iter_mut().zip(pairs).for_each(|(count, agree)| *count += i32::from(agree));
        }
        for (counts, rate) in [(&one[..], 1.0 / 256.0), (&two[..], 1.0 / 65_536.0)] {
            let (mean, sigma) = (rate * lookups as f64, (rate * (1.0 - rate) * lookups as f64).sqrt());
            let is_right = |count: &i32| (f64::from(*count) - mean).abs() < 4.5 * sigma;
            assert!(counts.iter().all(is_right), "{arity} cells: {counts:?}, {mean} expected of each");
        }
    }
}

/// Absent keys next to present keys, which agree with these in most bits.
#[test]
fn the_false_positive_rate_of_structured_keys_is_the_same() {
    for (name, there, asked) in [
        ("sequential", (|i| i) as fn(u64) -> u64, (|i| i + 100_000) as fn(u64) -> u64),
        ("one bit apart", |i| hash(1, i), |i| hash(1, i % 100_000) ^ 1 << (i / 100_000 % 64)),
        ("multiples", |i| i << 32, |i| (i << 32) + 1),
    ] {
        let set: Vec<u64> = (0..100_000).map(there).collect();
        let (shape, words) = check_found(&set, three(8));
        let filter = Fingerprints::new(shape, words.shared());
        let lookups = 6_400_000;
        let found = (0..lookups).filter(|i| filter.contains(asked(*i))).count() as f64;
        let rate = petal::sizing::fingerprint_rate(8, 100_000);
        let (mean, sigma) = (rate * lookups as f64, (rate * (1.0 - rate) * lookups as f64).sqrt());
        assert!((found - mean).abs() < 4.5 * sigma, "{name}: {found} found, {mean} expected");
    }
}

#[test]
fn a_forged_directory_is_found_and_harms_nobody() {
    let set = hashes(30, 10_000);
    let (shape, mut words) = build(&set, three(9));
    let entry = (shape.cells() * 9).div_ceil(64) as usize;
    for word in [entry, entry + 1] {
        for bit in 0..64 {
            let seed = word == entry && bit >= 32;
            words.exclusive().unwrap()[word] ^= 1 << bit;
            assert!(shape.check(words.shared()).is_err() || seed, "bit {bit} of word {word}");
            let filter = Fingerprints::new(shape, words.shared());
            let _ = set.iter().filter(|hash| filter.contains(**hash)).count();
            // Single lookups use the entry of the only shard only if the entry is sound.
            let _ = filter.probe().map(|probe| set.iter().filter(|hash| probe.contains(**hash)).count());
            words.exclusive().unwrap()[word] ^= 1 << bit;
        }
    }
    // Too few words, and impossible shapes.
    for length in 0..words.shared().len() {
        assert!(shape.check(&words.shared()[..length]).is_err());
        let _ = Fingerprints::new(shape, &words.shared()[..length]).contains(set[0]);
    }
    for (width, shards, cells) in [(0, 1, 64), (65, 1, 64), (8, 1, 0), (8, 0, 64), (8, 1 << 32, 64)] {
        assert_eq!(Shape::new(3, width, shards, cells), None);
    }
    for arity in [0, 2, 5] {
        assert_eq!(Shape::new(arity, 8, 1, 64), None);
    }
    assert_eq!(Shape::new(3, 64, 1, 1 << 61), None);
}

/// Every instruction set answers a batch as single lookups do: in small payloads and in payloads whose lines are
/// fetched ahead, with one shard and several, and with fingerprints of every length.
#[test]
fn batches_are_single_lookups_with_every_kernel() {
    let payloads = (MIN_BITS..=MAX_BITS).map(|bits| (3000, bits)).chain([(1, 8), (1_200_000, 31), (1_200_000, 32)]);
    for (keys, bits) in payloads {
        let cells = Cells { shard_keys: 1 << 18, ..Cells::fewest(3 + bits % 2, bits) };
        let mut set = hashes(40, keys);
        let (shape, mut words) = build(&set, cells);
        set.truncate(2000);
        set.extend(hashes(41, 2000));
        // The third and fourth directory have wrong places: anywhere, or close to the right ones.
        for forged in [0, u64::MAX, 1 << 32 | 0x1f, 1 << 40 | 1 << 12] {
            let directory = (shape.cells() * u64::from(bits)).div_ceil(64) as usize;
            for (i, word) in words.exclusive().unwrap()[directory..].iter_mut().enumerate() {
                *word ^= hash(42, i as u64) & forged;
            }
            let filter = Fingerprints::new(shape, words.shared());
            let probe = filter.probe();
            assert!(probe.is_some() == (shape.shards() == 1) || forged != 0, "{} shards", shape.shards());
            if let Some(probe) = probe {
                assert!(set.iter().all(|hash| probe.contains(*hash) == filter.contains(*hash)), "{bits} bits");
            }
            for count in [0, 1, 7, 63, 64, 65, 128, set.len()] {
                let expected: Vec<bool> = set[..count].iter().map(|hash| filter.contains(*hash)).collect();
                for instructions in petal::simd::available() {
                    let look_up = |batch: &mut dyn Batch| filter.contains_many(instructions, batch);
                    let found = Hashes::answered(&set[..count], true, look_up);
                    assert!(found == expected, "{instructions:?}, {count} of {keys} keys, {bits} bits");
                }
            }
        }
    }
}
