//! Every kernel that this processor runs, compared with the portable kernel on the same words.

use crate::common::mix;
use crate::common::sets::{Ids, ordered};
use core::sync::atomic::{AtomicU64, Ordering};
use petal::blocks::block_kernel::chain::{FAR, MAX_ARRAYS};
use petal::blocks::mixing::order;
use petal::blocks::{BlockKernel, Chain};
use petal::contract::Work;
use petal::format::Geometry;
use petal::hash::xxh3;
use petal::kinds::blocked::layout::masks;
use petal::kinds::counting::layout::Lines;
use petal::kinds::ribbon::layout::{Fingerprints, Lookup, MAX_BITS, MIN_BITS, Values};
use petal::kinds::{blocked, counting, rocksdb_bloom, split_block};
use petal::ring::{Batch, Few, GROUP, far_from};
use petal::simd::{Instructions, available, choose};
use petal::{Entry, Filter, Image, Kernel, Spec, Status};

/// The `kernel` function of a layout.
type Kernels = fn(Instructions) -> &'static BlockKernel;

/// Keys with one block, and with two blocks. The masks of the latter are those of one half of a key.
const BLOCKED: [Kernels; 2] = [blocked::layout::kernel, blocked::layout::kernel_in_two];

/// The number of words from which every kernel fetches lines ahead.
fn very_far() -> usize {
    4 * far_from()
}

fn atomics(words: &[u64]) -> Vec<AtomicU64> {
    words.iter().map(|word| AtomicU64::new(*word)).collect()
}

/// Hashes that differ in all relevant bits, some of them twice and some extreme.
fn keys(count: usize, seed: u64) -> Vec<u64> {
    let key = |i: usize| match i % 11 {
        3 => mix(seed + i as u64 / 2),
        5 => mix(seed + 1),
        7 => u64::MAX - mix(i as u64) % 3,
        9 => mix(i as u64) % 3,
        _ => mix(seed + i as u64),
    };
    (0..count).map(key).collect()
}

/// A batch of hashes, and its answers.
pub struct Hashes<'a> {
    hashes: &'a [u64],
    next: usize,
    asked: bool,
    /// Whether a key may be refused. Keys after a refused one have no answers.
    may_end: bool,
    answers: Vec<bool>,
}

impl Hashes<'_> {
    /// The answers that `run` gives for a batch of these hashes.
    #[track_caller]
    pub fn answered(hashes: &[u64], asked: bool, run: impl FnOnce(&mut dyn Batch)) -> Vec<bool> {
        let mut batch = Hashes { hashes, next: 0, asked, may_end: false, answers: Vec::new() };
        run(&mut batch);
        assert_eq!(batch.next, hashes.len(), "not all keys were taken");
        assert!(!asked || batch.answers.len() == hashes.len(), "{} keys have answers", batch.answers.len());
        batch.answers
    }
}

impl Batch for Hashes<'_> {
    fn keys(&self) -> usize {
        self.hashes.len()
    }

    fn next(&mut self, hashes: &mut [u64; GROUP]) -> usize {
        let count = GROUP.min(self.hashes.len() - self.next);
        hashes[..count].copy_from_slice(&self.hashes[self.next..self.next + count]);
        // The places after the last hash hold any bits.
        hashes[count..].fill(0x5555_5555_5555_5555);
        self.next += count;
        count
    }

    fn is_asked(&self) -> bool {
        self.asked
    }

    fn answer(&mut self, answers: u64, keys: usize) {
        let is_whole = keys == GROUP || self.answers.len() + keys == self.hashes.len();
        assert!(is_whole || self.may_end, "a group of {keys} keys");
        self.answers.extend((0..keys).map(|i| answers >> i & 1 == 1));
    }
}

/// Compares a kernel with the portable kernel of its layout: in batches, one key at a time, and through shared
/// references.
fn compare(instructions: Instructions, kernels: Kernels, words: usize, masks: &[u16], count: usize) {
    let (kernel, specification) = (kernels(instructions), kernels(Instructions::PORTABLE));
    let name = format!("{:?}, {words} words, {} masks, {count} keys", instructions.kernel(), masks.len());
    let inserted = keys(count, 1);
    let (mut ours, mut theirs, mut unasked) = (vec![0; words], vec![0; words], vec![0; words]);
    let new = Hashes::answered(&inserted, true, |batch| kernel.insert(&mut ours, masks, batch));
    let expected = Hashes::answered(&inserted, true, |batch| specification.insert(&mut theirs, masks, batch));
    assert!(ours == theirs, "{name}: the words differ");
    assert_eq!(new, expected, "{name}");
    Hashes::answered(&inserted, false, |batch| kernel.insert(&mut unasked, masks, batch));
    assert!(ours == unasked, "{name}: the words differ where nobody asks");

    let mut one_by_one = vec![0; words];
    for (key, new) in inserted.iter().zip(&new) {
        assert_eq!(kernel.insert_one(&mut one_by_one, masks, *key), *new, "{name}");
    }
    assert!(ours == one_by_one, "{name}: the words differ one by one");

    let words = atomics(&vec![0; words]);
    for (key, new) in inserted.iter().zip(&new) {
        assert_eq!(kernel.insert_one_shared(&words, masks, *key), *new, "{name}");
    }
    let shared: Vec<u64> = words.iter().map(|word| word.load(Ordering::Relaxed)).collect();
    assert!(ours == shared, "{name}: the words differ where they are shared");

    for keys in [inserted, keys(count, 1 << 40)] {
        let found = Hashes::answered(&keys, true, |batch| kernel.contains(&words, masks, batch));
        let expected = Hashes::answered(&keys, true, |batch| specification.contains(&words, masks, batch));
        assert_eq!(found, expected, "{name}");
        for (key, expected) in keys.iter().zip(expected) {
            assert_eq!(kernel.contains_one(&words, masks, *key), expected, "{name}");
        }
    }
}

/// Compares a kernel's path for few keys, as hashes and as numbers to hash, with the portable kernel's path for many
/// keys.
fn compare_few(instructions: Instructions, kernels: Kernels, words: usize, masks: &[u16], count: usize) {
    let (kernel, specification) = (kernels(instructions), kernels(Instructions::PORTABLE));
    let name = format!("{:?}, {words} words, {} masks, {count} few keys", instructions.kernel(), masks.len());
    let bools = |answers: u64| -> Vec<bool> { (0..count).map(|i| answers >> i & 1 == 1).collect() };
    for flip in [None, Some(xxh3::flip(7))] {
        // Some of the keys that are looked up were not inserted.
        let (inserted, mut asked) = (keys(count, 1), keys(count, 1 << 40));
        asked.iter_mut().step_by(2).zip(&inserted).for_each(|(key, there)| *key = *there);
        let hashed = |keys: &[u64]| -> Vec<u64> {
            keys.iter().map(|key| flip.map_or(*key, |flip| xxh3::hash_u64(flip, *key))).collect()
        };
        let (mut ours, mut theirs, mut unasked) = (vec![0; words], vec![0; words], vec![0; words]);
        let few = Few { keys: &inserted, flip };
        let new = bools(kernel.insert_few(&mut ours, masks, &few, true));
        let insert = |batch: &mut dyn Batch| specification.insert(&mut theirs, masks, batch);
        assert_eq!(new, Hashes::answered(&hashed(&inserted), true, insert), "{name}");
        assert!(ours == theirs, "{name}: the words differ");
        kernel.insert_few(&mut unasked, masks, &few, false);
        assert!(ours == unasked, "{name}: the words differ where nobody asks");

        let words = atomics(&ours);
        let found = bools(kernel.contains_few(&words, masks, &Few { keys: &asked, flip }));
        let contains = |batch: &mut dyn Batch| specification.contains(&words, masks, batch);
        assert_eq!(found, Hashes::answered(&hashed(&asked), true, contains), "{name}");
    }
}

#[test]
fn kernels_take_few_keys_as_the_portable_one_takes_many() {
    for instructions in available() {
        for count in 0..=GROUP {
            for blocks in [1, 2, 3, 17, 1000] {
                compare_few(
                    instructions,
                    split_block::layout::kernel,
                    blocks * split_block::layout::BLOCK_WORDS,
                    &[],
                    count,
                );
                for (hashes, kernels) in [1, 6, 16].into_iter().flat_map(|hashes| BLOCKED.map(|of| (hashes, of))) {
                    let words = blocks * blocked::layout::BLOCK_WORDS;
                    compare_few(instructions, kernels, words, masks(hashes), count);
                }
                for probes in [1, 7, 30].map(rocksdb_bloom::layout::probes) {
                    compare_few(
                        instructions,
                        rocksdb_bloom::layout::kernel,
                        blocks * rocksdb_bloom::layout::BLOCK_WORDS,
                        probes,
                        count,
                    );
                }
            }
        }
        for count in [0, 1, 16, 63, 64] {
            let words = very_far() + 8 * 5;
            compare_few(instructions, split_block::layout::kernel, words, &[], count);
            for kernels in BLOCKED {
                compare_few(instructions, kernels, words, masks(6), count);
            }
            compare_few(instructions, rocksdb_bloom::layout::kernel, words, rocksdb_bloom::layout::probes(6), count);
        }
    }
}

#[test]
fn kernels_do_as_the_portable_one() {
    for instructions in available() {
        println!("{:?}", instructions.kernel());
        for count in (0..=200).chain([511, 512, 513, 777]) {
            // Few blocks are soon full. With many blocks most keys are new.
            for blocks in if count % 10 < 3 { &[1, 2, 3, 17, 1000][..] } else { &[3, 40] } {
                compare(
                    instructions,
                    split_block::layout::kernel,
                    blocks * split_block::layout::BLOCK_WORDS,
                    &[],
                    count,
                );
                for (hashes, kernels) in (1..=16).flat_map(|hashes| BLOCKED.map(|of| (hashes, of))) {
                    compare(instructions, kernels, blocks * blocked::layout::BLOCK_WORDS, masks(hashes), count);
                }
                for probes in [1, 6, 8, 9, 15, 16, 17, 30].map(rocksdb_bloom::layout::probes) {
                    compare(
                        instructions,
                        rocksdb_bloom::layout::kernel,
                        blocks * rocksdb_bloom::layout::BLOCK_WORDS,
                        probes,
                        count,
                    );
                }
            }
        }
        // These filters are so large that kernels fetch lines ahead.
        for count in [0, 1, 3, 16, 63, 64, 65, 127, 128, 129, 191, 192, 193, 500, 777] {
            let words = very_far() + 8 * 5;
            compare(instructions, split_block::layout::kernel, words, &[], count);
            for kernels in BLOCKED {
                compare(instructions, kernels, words, masks(6), count);
            }
            compare(instructions, rocksdb_bloom::layout::kernel, words, rocksdb_bloom::layout::probes(6), count);
        }
    }
}

/// The number of keys in a batch of ribbons.
const LENGTHS: [usize; 8] = [0, 1, 7, 63, 64, 65, 128, 4000];

/// Every kernel finds and reads the rows of ribbons as plain code does, one key at a time and in batches. The payloads
/// are small, or so large that lines are fetched ahead. Filters have one shard or several, and fingerprints of every
/// length. Some payloads are random bits.
#[test]
fn ribbons_are_looked_up_as_by_plain_code() {
    let small = (MIN_BITS..=MAX_BITS).flat_map(|bits| [1, 40, 3000].map(|keys| (keys, bits)));
    for ((keys, bits), width) in small.chain([(300_000, 7), (300_000, 32)]).flat_map(|of| [(of, 64), (of, 128)]) {
        let mut set: Vec<u64> = (0..keys).map(|i| mix(i + 1)).collect();
        let ordered = ordered(&set);
        let mut work = Work { memory: u64::MAX, threads: 1, progress: &mut |_, _| true };
        let (shape, mut words) = Fingerprints::build(&&ordered[..], bits, width, &mut work).unwrap();
        set.truncate(2000);
        set.extend((0..4000 - set.len() as u64).map(|i| mix((1 << 40) + i)));
        for is_forged in [false, true] {
            if is_forged {
                words.exclusive().unwrap().iter_mut().enumerate().for_each(|(i, word)| *word = mix(i as u64));
            }
            let filter = Fingerprints::new(shape, words.shared());
            let expected: Vec<bool> = set.iter().map(|hash| filter.contains(*hash)).collect();
            let set_ordered: Vec<u64> = set.iter().map(|hash| order(*hash)).collect();
            for instructions in available() {
                let name = format!("{instructions:?}, {keys} keys, {bits} bits, width {width}, forged: {is_forged}");
                let lookup = Lookup::new(width, instructions);
                assert!(set.iter().map(|hash| filter.contains_with(&lookup, *hash)).eq(expected.clone()), "{name}");
                for count in LENGTHS {
                    let look_up = |batch: &mut dyn Batch| filter.contains_many(&lookup, batch);
                    let found = Hashes::answered(&set[..count], true, look_up);
                    assert!(found == expected[..count], "{name}, {count} at once");
                    let look_up = |batch: &mut dyn Batch| filter.contains_many_ordered(&lookup, batch);
                    let found = Hashes::answered(&set_ordered[..count], true, look_up);
                    assert!(found == expected[..count], "{name}, {count} ordered at once");
                }
            }
        }
    }
}

/// Maps with ribbons, with values and checks of up to 96 bits together.
#[test]
fn ribbons_of_values_are_looked_up_as_by_plain_code() {
    let lengths = [(0, 0), (1, 0), (5, 3), (8, 8), (9, 0), (20, 12), (31, 2), (40, 24), (33, 32), (64, 1), (64, 32)];
    for ((value_bits, check_bits), width) in lengths.into_iter().flat_map(|of| [(of, 64), (of, 128)]) {
        for count in [1, 90, 20_000] {
            let id = |i: u64| u128::from(mix(i)) << 64 | u128::from(mix(!i));
            let value = |i: u64| mix(i ^ 7) & u64::MAX.checked_shr(64 - value_bits).unwrap_or(0);
            let mut entries: Vec<Entry> = (0..count).map(|i| Entry { id: id(i), value: value(i) }).collect();
            entries.sort_unstable_by_key(|entry| entry.id);
            let mut work = Work { memory: u64::MAX, threads: 1, progress: &mut |_, _| true };
            let (shape, words) = Values::build(&&entries[..], value_bits, check_bits, width, &mut work).unwrap();
            let (map, plain) = (Values::new(shape, words.shared()), Lookup::new(width, Instructions::PORTABLE));
            let ids: Vec<u128> =
                (0..4000).map(|i| id(if i % 2 == 0 { i / 2 % count } else { (1 << 40) + i })).collect();
            let expected: Vec<Option<u64>> = ids.iter().map(|id| map.get(&plain, *id)).collect();
            assert!((0..4000).step_by(2).all(|i| expected[i] == Some(value(i as u64 / 2 % count))));
            for instructions in available() {
                let name = format!("{instructions:?}, {count} keys, {value_bits} and {check_bits} bits, width {width}");
                let lookup = Lookup::new(width, instructions);
                assert!(ids.iter().map(|id| map.get(&lookup, *id)).eq(expected.clone()), "{name}");
                for length in LENGTHS {
                    let found = Ids::answered(&ids[..length], |batch| map.get_many(&lookup, batch));
                    assert!(found == expected[..length], "{name}, {length} at once");
                }
            }
        }
    }
}

/// Compares a kernel of counters with the portable kernel: insertions, removals and counts, one by one and in batches.
fn compare_counters(instructions: Instructions, words: usize, hashes: u32, width: u32, count: usize) {
    let (kernel, specification) =
        (counting::layout::kernel(instructions), counting::layout::kernel(Instructions::PORTABLE));
    let lines = Lines { masks: masks(hashes), width };
    let name = format!("{:?}, {words} words, {hashes} counters of {width} bits, {count} keys", instructions.kernel());
    // Some keys occur so often that their counters reach their maximum.
    let mut inserted = keys(count, 1);
    inserted.extend_from_within(..count / 2);
    inserted.extend(inserted.first().copied().into_iter().cycle().take(1 << width.min(8)));
    let (mut ours, mut theirs, mut one_by_one) = (vec![0; words], vec![0; words], vec![0; words]);
    let new = Hashes::answered(&inserted, true, |batch| kernel.add(&mut ours, lines, batch));
    let expected = Hashes::answered(&inserted, true, |batch| specification.add(&mut theirs, lines, batch));
    assert!(ours == theirs, "{name}: the words differ");
    assert_eq!(new, expected, "{name}");
    for (key, new) in inserted.iter().zip(&new) {
        assert_eq!(kernel.add_one(&mut one_by_one, lines, *key), *new, "{name}");
    }
    assert!(ours == one_by_one, "{name}: the words differ one by one");

    let mut asked = keys(count, 1 << 40);
    asked.extend_from_within(..count / 2);
    asked.extend_from_slice(&inserted[..count]);
    let shared = atomics(&ours);
    let (mut least, mut expected) = (vec![0; asked.len()], vec![0; asked.len()]);
    kernel.least(&shared, lines, &asked, &mut least);
    specification.least(&shared, lines, &asked, &mut expected);
    assert_eq!(least, expected, "{name}");
    let found = Hashes::answered(&asked, true, |batch| kernel.contains(&shared, lines, batch));
    for (i, key) in asked.iter().enumerate() {
        assert_eq!(found[i], least[i] > 0, "{name}");
        assert_eq!(kernel.contains_one(&shared, lines, *key), found[i], "{name}");
        assert_eq!(kernel.least_one(&shared, lines, *key), least[i], "{name}");
    }

    let (mut done, mut expected_done) = (0, 0);
    let removed = Hashes::answered(&asked, true, |batch| done = kernel.subtract(&mut ours, lines, batch));
    let expected =
        Hashes::answered(&asked, true, |batch| expected_done = specification.subtract(&mut theirs, lines, batch));
    assert!(ours == theirs, "{name}: the words differ after removals");
    assert_eq!((&removed, done), (&expected, expected_done), "{name}");
    for (key, removed) in asked.iter().zip(&removed) {
        assert_eq!(kernel.subtract_one(&mut one_by_one, lines, *key), *removed, "{name}");
    }
    assert!(ours == one_by_one, "{name}: the words differ after removals one by one");
}

#[test]
fn kernels_of_counters_do_as_the_portable_one() {
    for instructions in available() {
        for width in [2, 4, 8, 16] {
            for hashes in 1..=16 {
                for (blocks, count) in [(1, 3), (2, 40), (17, 100), (1000, 777)] {
                    compare_counters(instructions, blocks * blocked::layout::BLOCK_WORDS, hashes, width, count);
                }
            }
            for count in [0, 1, 63, 64, 65, 500] {
                compare_counters(instructions, very_far() + 8 * 5, 6, width, count);
            }
        }
    }
}

/// Words of which some are empty, some are full, and the others are filled to different degrees.
fn words(count: usize) -> Vec<AtomicU64> {
    let word = |i: usize| match i % 13 {
        4 => 0,
        9 => u64::MAX,
        2 | 7 => mix(i as u64) & mix(!(i as u64)) & mix(i as u64 + 77),
        _ => mix(i as u64) | mix(!(i as u64)),
    };
    (0..count).map(|i| AtomicU64::new(word(i))).collect()
}

/// The sum of the products of counts over all sets of `chosen` lanes, one set after the other.
fn products(lanes: &[f64], chosen: usize) -> f64 {
    let sets = (0_u32..1 << lanes.len()).filter(|set| set.count_ones() as usize == chosen);
    let of_set =
        |set: u32| (0..lanes.len()).filter(|lane| set >> lane & 1 == 1).map(|lane| lanes[lane]).product::<f64>();
    sets.map(of_set).sum()
}

#[test]
fn kernels_read_the_same_fills() {
    for blocks in [0, 1, 2, 15, 16, 17, 100] {
        let words = words(blocks * blocked::layout::BLOCK_WORDS);
        let counts: Vec<f64> = words
            .iter()
            .map(|word| word.load(Ordering::Relaxed))
            .flat_map(|word| [word as u32, (word >> 32) as u32].map(|lane| f64::from(lane.count_ones())))
            .collect();
        let close = |found: f64, expected: f64| (found - expected).abs() <= 1e-6 * expected;
        let split: f64 = counts.chunks_exact(8).map(|block| block.iter().product::<f64>()).sum();
        let expected: Vec<f64> = (1..=16_usize)
            .map(|hashes| {
                let (more, fewer) = (hashes.div_ceil(2), hashes / 2);
                let block = |block: &[f64]| {
                    let (low, high) = block.split_at(8);
                    products(low, more) * products(high, fewer) + products(low, fewer) * products(high, more)
                };
                counts.chunks_exact(16).map(block).sum()
            })
            .collect();
        for instructions in available() {
            let name = format!("{:?}, {blocks} blocks", instructions.kernel());
            let found = split_block::layout::kernel(instructions).fills(&words, 8);
            assert_eq!(found.ones as f64, counts.iter().sum());
            assert!(close(found.products, split), "{name}");
            assert_eq!(found, split_block::layout::kernel(Instructions::PORTABLE).fills(&words, 8), "{name}");
            for hashes in 1..=rocksdb_bloom::layout::MAX_HASHES {
                let power = |block: &[f64]| (block.iter().sum::<f64>() / 512.0).powi(hashes as i32);
                let found = rocksdb_bloom::layout::kernel(instructions).fills(&words, hashes);
                assert_eq!(found.ones as f64, counts.iter().sum());
                assert!(close(found.products, counts.chunks_exact(16).map(power).sum()), "{name}, {hashes} probes");
                let portable = rocksdb_bloom::layout::kernel(Instructions::PORTABLE).fills(&words, hashes);
                assert_eq!(found, portable, "{name}, {hashes} probes");
            }
            for (hashes, expected) in (1..).zip(&expected) {
                let found = blocked::layout::kernel(instructions).fills(&words, hashes);
                assert_eq!(found.ones as f64, counts.iter().sum());
                assert!(close(found.products, *expected), "{name}, {hashes} hashes");
                assert_eq!(
                    found,
                    blocked::layout::kernel(Instructions::PORTABLE).fills(&words, hashes),
                    "{name}, {hashes} hashes"
                );
            }
        }
    }
}

#[test]
fn a_spec_forces_its_kernel() {
    for kernel in Kernel::ALL {
        let spec = Spec { kernel, ..Spec::default() };
        match choose(kernel) {
            Ok(instructions) => {
                let filter = petal::Filter::new(&spec).unwrap();
                assert_eq!(filter.base().instructions().kernel(), instructions.kernel());
                assert_eq!(filter.base().spec().kernel, instructions.kernel());
                assert_eq!(filter.copy().unwrap().base().instructions().kernel(), instructions.kernel());
            }
            Err(error) => {
                let is_built = match kernel {
                    Kernel::Avx2 => cfg!(feature = "avx2"),
                    Kernel::Avx512 => cfg!(feature = "avx512"),
                    _ => cfg!(feature = "neon"),
                };
                let status = if is_built { Status::Unsupported } else { Status::UnsupportedByBuild };
                assert_eq!(error.status(), status);
                let refusal = petal::Filter::new(&spec).err().unwrap();
                assert_eq!(refusal.status(), status);
                assert!(refusal.message().contains(kernel.name()));
            }
        }
    }
    assert_eq!(Kernel::from_number(99).unwrap_err().status(), Status::UnknownValue);
}

/// A key with two blocks is two keys with one block: its hash, and the mixed hash. Batches and few keys give the same
/// as these two keys, one after the other.
#[test]
fn keys_in_two_blocks_are_two_keys_in_one() {
    for instructions in available() {
        let (one, two) = (blocked::layout::kernel(instructions), blocked::layout::kernel_in_two(instructions));
        for (blocks, count) in
            [1, 2, 3, 40].into_iter().flat_map(|blocks| [1, 31, 32, 33, 64, 65, 300].map(|n| (blocks, n)))
        {
            let (masks, inserted) = (masks(4), keys(count, 1));
            let mut expected = vec![0; blocks * blocked::layout::BLOCK_WORDS];
            let new: Vec<bool> = inserted
                .iter()
                .map(|key| [*key, mix(*key)].map(|key| one.insert_one(&mut expected, masks, key)).contains(&true))
                .collect();
            let mut words = vec![0; expected.len()];
            assert_eq!(Hashes::answered(&inserted, true, |batch| two.insert(&mut words, masks, batch)), new);
            assert_eq!(words, expected, "{blocks} blocks, {count} keys");
            let (words, asked) = (atomics(&words), keys(count, 1 << 40));
            let found = Hashes::answered(&asked, true, |batch| two.contains(&words, masks, batch));
            for (key, found) in asked.iter().zip(found) {
                let both = [*key, mix(*key)].map(|key| one.contains_one(&words, masks, key));
                assert_eq!(found, both == [true; 2], "{blocks} blocks, {count} keys");
            }
        }
    }
}

/// Filters whose number of blocks is no multiple of the kernels' group.
#[test]
fn rates_of_filters_are_means_over_their_blocks() -> petal::Result<()> {
    let of = |row: &petal::Row| petal::Filter::new(&Spec { kind: Some(row.kind), ..Spec::with_capacity(1000, 0.01)? });
    let (mut blocked, mut split) = (of(&petal::kinds::blocked::ROW)?, of(&petal::kinds::split_block::ROW)?);
    for i in 0..1000 {
        blocked.insert_u64(i)?;
        split.insert_u64(i)?;
    }
    let lanes = |filter: &Filter| -> Vec<u32> {
        let words = filter.base().words().shared().iter().map(|word| word.load(Ordering::Relaxed));
        let bits = filter.base().geometry().bits as usize;
        words.flat_map(|word| [word as u32, (word >> 32) as u32]).take(bits / 32).collect()
    };
    let hashes = blocked.base().geometry().hashes;
    let all = lanes(&blocked);
    let rate = |block: &[u32]| petal::kinds::blocked::sizing::from_fill(block.try_into().unwrap(), hashes);
    let mean = all.chunks_exact(16).map(rate).sum::<f64>() / (all.len() / 16) as f64;
    assert!((blocked.false_positive_rate() / mean - 1.0).abs() < 1e-6);
    let all = lanes(&split);
    let rate = |block: &[u32]| petal::kinds::split_block::sizing::from_fill(block.try_into().unwrap());
    let mean = all.chunks_exact(8).map(rate).sum::<f64>() / (all.len() / 8) as f64;
    assert!((split.false_positive_rate() / mean - 1.0).abs() < 1e-6);
    Ok(())
}

/// All kernels of scattered bits fill and look up filters alike. The test takes any number of probes, plain and
/// partitioned, and batches of any length, with answers and without.
#[test]
fn kernels_of_scattered_bits_do_as_single_calls() {
    use petal::blocks::BitLayout;
    use petal::kinds::bloom::layout::Bloom;
    for ((hashes, partitioned), slice) in
        [1, 2, 3, 4, 7, 8, 15, 16, 17, 64].into_iter().flat_map(|k| [(k, 0), (k, 1)]).flat_map(|k| [(k, 64), (k, 1031)])
    {
        let bits = slice * u64::from(hashes);
        let geometry = Geometry { bits, hashes, words: [partitioned, 0, 0, 0, 0, 0, 0, 0], payload_bytes: 0 };
        let plain = Bloom::of(&geometry, Instructions::PORTABLE).unwrap();
        for instructions in available() {
            let layout = Bloom::of(&geometry, instructions).unwrap();
            for count in [0, 1, 7, 8, 9, 63, 64, 65, 200] {
                let name = format!("{:?}: {count} keys, {hashes} probes in {bits} bits", instructions.kernel());
                let mut stored: Vec<u64> = keys(count.min(slice as usize / 2), slice);
                // Some keys come twice, and are new once.
                (5..stored.len()).step_by(5).for_each(|i| stored[i] = stored[i - 3]);
                let mut expected = vec![0; bits.div_ceil(64) as usize];
                let is_new: Vec<bool> = stored.iter().map(|hash| plain.insert(&mut expected, *hash)).collect();
                for asked in [true, false] {
                    let mut words = vec![0; expected.len()];
                    let answers = Hashes::answered(&stored, asked, |batch| layout.insert_many(&mut words, batch));
                    assert_eq!(words, expected, "{name}");
                    assert!(!asked || answers == is_new, "{name}");
                }
                let words = atomics(&expected);
                let mut asked = keys(count, slice + 1);
                for (i, (to, known)) in asked.iter_mut().zip(stored.iter().cycle()).enumerate() {
                    *to = if i % 3 == 0 { *to } else { *known };
                }
                let found: Vec<bool> = asked.iter().map(|hash| plain.contains(&words, *hash)).collect();
                let answers = Hashes::answered(&asked, true, |batch| layout.contains_many(&words, batch));
                assert_eq!(answers, found, "{name}");
            }
        }
    }
}

/// A batch over a bit array that the caches do not hold, whose lines are fetched ahead, answers as single lookups do.
#[test]
fn batches_out_of_cache_do_as_single_calls() {
    use petal::blocks::BitLayout;
    use petal::kinds::bloom::layout::Bloom;
    for (hashes, partitioned) in [(1, 0), (2, 1), (3, 0), (7, 0), (7, 1), (8, 0), (9, 1), (20, 0)] {
        let bits = (64 * very_far() as u64).next_multiple_of(64 * u64::from(hashes));
        let geometry = Geometry { bits, hashes, words: [partitioned, 0, 0, 0, 0, 0, 0, 0], payload_bytes: 0 };
        let stored = keys(1000, bits);
        // Half of all bits are set, so that absent keys end after any probe.
        let mut expected: Vec<u64> = (0..bits / 64).map(mix).collect();
        for instructions in available() {
            let layout = Bloom::of(&geometry, instructions).unwrap();
            for hash in &stored {
                layout.insert(&mut expected, *hash);
            }
            let words = atomics(&expected);
            let asked: Vec<u64> = stored.iter().copied().chain(keys(4000, bits + 1)).collect();
            let found: Vec<bool> = asked.iter().map(|hash| layout.contains(&words, *hash)).collect();
            assert!(found[..stored.len()].iter().all(|found| *found) && found.iter().any(|found| !found));
            let answers = Hashes::answered(&asked, true, |batch| layout.contains_many(&words, batch));
            assert_eq!(answers, found, "{hashes} probes, partitioned {partitioned}");
        }
    }
}

/// A batch over counters of four bits that the caches do not hold answers as single lookups do. Half of the counters
/// are 0.
#[test]
fn batches_of_counters_out_of_cache_do_as_single_calls() {
    use petal::kinds::counting::layout::{CounterLayout, Scattered};
    let words = |i: u64| AtomicU64::new(mix(i) & ((mix(!i) & 0x1111_1111_1111_1111) * 15));
    let words: Vec<AtomicU64> = (0..very_far() as u64 + 3).map(words).collect();
    for hashes in [1, 2, 3, 7, 8, 9, 20] {
        let bits = 64 * words.len() as u64;
        let geometry = Geometry { bits, hashes, words: [4, 0, 0, 0, 0, 0, 0, 0], payload_bytes: 0 };
        let asked = keys(6000, bits);
        for instructions in available() {
            let layout = Scattered::of(&geometry, instructions).unwrap();
            let found: Vec<bool> = asked.iter().map(|hash| layout.contains(&words, *hash)).collect();
            assert!(found.iter().any(|found| !found) && (hashes > 8 || found.iter().any(|found| *found)));
            let answers = Hashes::answered(&asked, true, |batch| layout.contains_many(&words, batch));
            assert_eq!(answers, found, "{hashes} counters");
        }
    }
}

/// All kernels of scattered counters of four bits change and read them alike. With many counters for a key, two of them
/// share a word or are one counter. Some counters reach their maximum.
#[test]
fn kernels_of_scattered_counters_do_as_plain_code() {
    use petal::kinds::counting::layout::{CounterLayout, Scattered};
    for ((hashes, counters), width) in (1..=10)
        .chain([16, 17])
        .flat_map(|k| [(k, 1), (k, 16), (k, 50), (k, 5000)])
        .flat_map(|shape| [(shape, 4), (shape, 3)])
    {
        let words = [width, 0, 0, 0, 0, 0, 0, 0];
        let geometry = Geometry { bits: counters * width, hashes, words, payload_bytes: 0 };
        let plain = Scattered::of(&geometry, Instructions::PORTABLE).unwrap();
        for instructions in available() {
            let layout = Scattered::of(&geometry, instructions).unwrap();
            let name = format!("{:?}: {hashes} of {counters} counters", instructions.kernel());
            let mut words = vec![vec![0; plain.cells().words()]; 4];
            for round in 0..20 {
                // Every second key comes in every round, and one key comes many times in a row.
                let some = (0..70).map(|i| mix(if i % 2 == 0 { i } else { i + 100 * round }));
                let stored: Vec<u64> = some.chain(core::iter::repeat_n(mix(1000 + round), 21)).collect();
                let new: Vec<bool> = stored.iter().map(|hash| plain.add(&mut words[0], *hash)).collect();
                let one: Vec<bool> = stored.iter().map(|hash| layout.add(&mut words[1], *hash)).collect();
                let many = Hashes::answered(&stored, true, |batch| layout.add_many(&mut words[2], batch));
                assert!(one == new && many == new, "{name}");
                Hashes::answered(&stored, false, |batch| layout.add_many(&mut words[3], batch));
                assert!(words.iter().all(|others| *others == words[0]), "{name}");
                let asked: Vec<u64> = (0..130).map(|i| mix(i + 100 * round)).collect();
                let shared = atomics(&words[0]);
                let least: Vec<u64> = asked.iter().map(|hash| plain.least(&shared, *hash)).collect();
                let is_there: Vec<bool> = least.iter().map(|least| *least > 0).collect();
                let answers = Hashes::answered(&asked, true, |batch| layout.contains_many(&shared, batch));
                assert_eq!(answers, is_there, "{name}");
                for (hash, least) in asked.iter().zip(&least) {
                    assert!(layout.least(&shared, *hash) == *least, "{name}");
                    assert!(plain.contains(&shared, *hash) == (*least > 0), "{name}");
                    assert!(layout.contains(&shared, *hash) == (*least > 0), "{name}");
                }
                if round % 3 > 0 {
                    let done: Vec<bool> = asked.iter().map(|hash| plain.subtract(&mut words[0], *hash)).collect();
                    let one: Vec<bool> = asked.iter().map(|hash| layout.subtract(&mut words[1], *hash)).collect();
                    let mut count = 0;
                    let many = Hashes::answered(&asked, true, |batch| {
                        count = layout.subtract_many(&mut words[2], batch);
                    });
                    assert!(one == done && many == done, "{name}");
                    assert_eq!(count, done.iter().filter(|done| **done).count() as u64, "{name}");
                    Hashes::answered(&asked, false, |batch| _ = layout.subtract_many(&mut words[3], batch));
                    assert!(words.iter().all(|others| *others == words[0]), "{name}");
                }
            }
        }
    }
}

/// All kernels of indexes count the bits that rows have in common with a query, and find the rows whose folds are near,
/// as the definitions of both say.
#[test]
fn kernels_of_rows_do_as_their_definitions() {
    use petal::index::layout::{folds, kernel};
    let row = |seed: u64, words: usize| -> Vec<u64> { (0..words as u64).map(|i| mix(seed << 20 | i)).collect() };
    for words in [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 1024] {
        for count in [0, 1, 3, 8] {
            let mut rows: Vec<Vec<u64>> = (0..count).map(|i| row(1 + i, words)).collect();
            rows.extend([vec![u64::MAX; words], vec![0; words]]);
            let all = atomics(&rows.concat());
            for query in [row(99, words), vec![u64::MAX; words], vec![0; words]] {
                let ones = |row: &Vec<u64>| row.iter().zip(&query).map(|(a, b)| (a & b).count_ones()).sum();
                let expected: Vec<u32> = rows.iter().map(ones).collect();
                for instructions in available() {
                    let mut counts = vec![7; rows.len()];
                    (kernel(instructions).common)(&query, &all, &mut counts);
                    assert_eq!(counts, expected, "{:?}: {words} words", instructions.kernel());
                }
            }
        }
    }
    // The fold of `length` words; and all that an image keeps of a fold of `most` words, level by level.
    let folded = |row: &[u64], length: usize| -> Vec<u64> {
        (0..length).map(|j| row.iter().skip(j).step_by(length).fold(0, |sum, word| sum ^ word)).collect()
    };
    let kept = |row: &[u64], most: usize, level: usize| -> Vec<u64> {
        match level {
            0 => folded(row, most.min(2)),
            level if most >= 2 << level => folded(row, 2 << level)[..1 << level].to_vec(),
            _ => Vec::new(),
        }
    };
    for most in [1, 2, 4, 8] {
        let query = row(5, 16);
        let asked: Vec<u64> = (0..3).flat_map(|level| kept(&query, most, level)).collect();
        for blocks in [0, 1, 2, 5] {
            // Rows that differ in some bits, of which folds see all, or in pairs that short folds do not see.
            let rows: Vec<Vec<u64>> = (0..8 * blocks)
                .map(|number| {
                    let mut row = query.clone();
                    for i in 0..mix(number) % [3, 20, 60, 300][number as usize % 4] {
                        let bit = mix(number << 20 | i);
                        let (word, apart) = (bit as usize % 8, [0, 1, 2, 4, 4, 4][(bit >> 8) as usize % 6]);
                        row[word] ^= 1 << (bit >> 58);
                        row[(word + apart) % 8] ^= if apart > 0 { 1 << (bit >> 58) } else { 0 };
                    }
                    row
                })
                .collect();
            let levels: Vec<Vec<AtomicU64>> = (0..3)
                .map(|level| {
                    let of_block = |block: &[Vec<u64>]| -> Vec<u64> {
                        let kept: Vec<_> = block.iter().map(|row| kept(row, most, level)).collect();
                        (0..kept[0].len()).flat_map(|word| kept.iter().map(move |row| row[word])).collect()
                    };
                    atomics(&rows.chunks(8).map(of_block).collect::<Vec<_>>().concat())
                })
                .collect();
            let levels = [&levels[0][..], &levels[1], &levels[2]];
            let differ = |row: &[u64]| -> u32 {
                folded(row, most).iter().zip(folded(&query, most)).map(|(a, b)| (a ^ b).count_ones()).sum()
            };
            let distances: Vec<u32> = rows.iter().map(|row| differ(row)).collect();
            let bounds = distances.iter().flat_map(|distance| [*distance, distance.saturating_sub(1)]);
            for bound in bounds.chain([0, 1, 32, 64 * most as u32]) {
                let near = |place: &u32| distances[*place as usize] <= bound;
                let expected: Vec<u32> = (0..rows.len() as u32).filter(near).collect();
                for instructions in available() {
                    let mut places = vec![0; rows.len()];
                    let found = (kernel(instructions).near)(&asked, &levels, bound, &mut places);
                    assert_eq!(places[..found], expected, "{:?}: {most} words", instructions.kernel());
                }
                for (row, distance) in rows.iter().zip(&distances) {
                    let mut fold = vec![1; most];
                    folds::fold(row, &mut fold);
                    assert!(fold.iter().copied().eq((0..3).flat_map(|level| kept(row, most, level))));
                    assert_eq!(folds::is_near(&asked, |i| fold[i], bound.into()), *distance <= bound);
                }
            }
        }
    }
}

/// Slots and widths of cuckoo filters: buckets that fit into eight bytes wherever they begin, and others.
fn cuckoo_shapes() -> impl Iterator<Item = (u32, u32, u64)> {
    let shapes =
        [(2, vec![4, 13, 28, 29, 31, 32]), (4, vec![4, 7, 8, 9, 12, 13, 14, 15, 16, 17]), (8, vec![4, 5, 7, 8, 9])];
    let widths = |(slots, widths): (u32, Vec<u32>)| widths.into_iter().map(move |width| (slots, width));
    shapes.into_iter().flat_map(widths).flat_map(|(slots, width)| [2, 30, 3000].map(|count| (slots, width, count)))
}

/// All kernels look up cuckoo filters alike, whatever a bucket holds and wherever it begins, in and out of the caches.
#[test]
fn cuckoo_kernels_find_the_same_keys() {
    use petal::kinds::cuckoo::layout::{Buckets, Search, kernel};
    let mut search = Search::new().unwrap();
    for (slots, width, count) in cuckoo_shapes() {
        let buckets = Buckets::new(count, slots, width, false).unwrap();
        let plain = buckets.plain();
        let mut words = vec![0; buckets.bits().div_ceil(64) as usize];
        let inserted = buckets.all_slots() * 9 / 10;
        for i in 0..inserted {
            if plain.insert(&mut words, mix(i), &mut search).is_none() {
                break;
            }
        }
        let far = very_far() - words.len();
        for more in [0, if count == 30 { far } else { 0 }] {
            let words = atomics(&[words.clone(), vec![0; more]].concat());
            for keys in [0, 1, 7, 8, 63, 64, 65, 128, 1000] {
                let hashes: Vec<u64> = (0..keys).map(|i| mix(i * 7 % (2 * inserted))).collect();
                let expected: Vec<bool> = hashes.iter().map(|hash| plain.contains(&words[..], *hash)).collect();
                for instructions in available() {
                    let name = format!("{:?}: {keys} keys, {slots} slots of {width} bits", instructions.kernel());
                    let kernel = kernel(instructions, &buckets);
                    let found =
                        Hashes::answered(&hashes, true, |batch| (kernel.contains_many)(&buckets, &words, batch));
                    assert_eq!(found, expected, "{name}");
                    let one_by_one = hashes.iter().map(|hash| (kernel.contains)(&buckets, &words, *hash));
                    assert!(one_by_one.eq(expected.iter().copied()), "{name}");
                    if keys as usize <= GROUP {
                        let few = Few { keys: &hashes, flip: None };
                        let found = (kernel.contains_few)(&buckets, &words, instructions, &few);
                        let bits = expected.iter().enumerate().fold(0, |all, (i, one)| all | u64::from(*one) << i);
                        let mask = if keys == 64 { u64::MAX } else { (1 << keys) - 1 };
                        assert_eq!(found & mask, bits, "{name}");
                    }
                }
            }
        }
    }
}

/// All kernels change cuckoo filters alike until the filters are full: they write the same bytes and give the same
/// answers.
#[test]
fn cuckoo_kernels_leave_the_same_bytes() {
    use petal::blocks::fingerprint_table::Inserted;
    use petal::kinds::cuckoo::layout::{Buckets, Search, kernel};
    let mut search = Search::new().unwrap();
    for ((slots, width, count), instructions) in
        cuckoo_shapes().flat_map(|shape| available().map(move |instructions| (shape, instructions)))
    {
        let name = format!("{:?}: {count} buckets, {slots} slots of {width} bits", instructions.kernel());
        let buckets = Buckets::new(count, slots, width, false).unwrap();
        let (plain, kernel) = (buckets.plain(), kernel(instructions, &buckets));
        let zeros = vec![0; buckets.bits().div_ceil(64) as usize];
        let (mut words, mut expected) = (zeros.clone(), zeros.clone());
        let (room, mut refused) = (buckets.all_slots(), 0);
        for step in 0..if count == 3000 { 0 } else { 6 * room } {
            let seed = mix(step);
            let hash = mix(seed % (2 * room));
            assert_eq!(buckets.copies(&words[..], hash), plain.copies(&expected[..], hash), "{name}");
            if (seed >> 40) % 4 < if step / room % 3 == 2 { 1 } else { 3 } {
                let is_new = plain.insert(&mut expected, hash, &mut search);
                assert_eq!((kernel.insert)(&buckets, &mut words, hash, &mut search), is_new, "{name}");
                refused += u64::from(is_new.is_none());
            } else {
                assert_eq!(buckets.remove(&mut words, hash), plain.remove(&mut expected, hash), "{name}");
            }
            assert_eq!(words, expected, "{name}");
        }
        assert!(refused > 0 || count == 3000, "{name}");
        // The same keys come in batches; the last batch ends with a key that has no place.
        let (mut words, mut expected) = (zeros.clone(), zeros);
        for start in (0..).step_by(500) {
            let hashes: Vec<u64> = (start..start + 500).map(|i| mix(i / 7 * 8 + i % 7)).collect();
            let mut is_new = Vec::new();
            let refused = hashes.iter().find(|hash| {
                let outcome = plain.insert(&mut expected, **hash, &mut search);
                is_new.extend(outcome);
                outcome.is_none()
            });
            let mut batch = Hashes { hashes: &hashes, next: 0, asked: true, may_end: true, answers: Vec::new() };
            let inserted = (kernel.insert_many)(&buckets, &mut words, &mut batch, &mut search);
            let expected_to = Inserted { keys: is_new.len(), refused: refused.copied() };
            assert_eq!(inserted, expected_to, "{name}");
            assert!(words == expected && batch.answers == is_new, "{name}");
            if refused.is_some() {
                break;
            }
        }
    }
}

/// All kernels look up Golomb-coded sets alike, whatever the lengths of codes and buckets, in and out of the caches.
#[test]
fn golomb_kernels_find_the_same_keys() -> petal::Result<()> {
    use petal::kinds::golomb::ROW;
    use petal::kinds::golomb::layout::{Reader, Shape};
    for (bits, count) in [0.3, 1.0, 2.0, 8.0, 13.0, 16.0, 30.0, 40.0].map(|bits| (bits, 3000)).into_iter().chain([
        (8.0, 0),
        (8.0, 1),
        (40.0, 1),
        (8.0, 40),
        (16.0, 40),
    ]) {
        let rate = f64::exp2(-bits);
        let spec = Spec { kind: Some(ROW.kind), false_positive_rate: rate, capacity: count, ..Spec::default() };
        let mut builder = petal::Builder::new(&spec, petal::BuilderOptions::default())?;
        // A quarter of the range has no numbers, so that there are empty buckets among fuller ones.
        for hash in (0..).map(mix).filter(|hash| mix(*hash) >> 61 > 1).take(count as usize) {
            builder.add_hash(hash)?;
        }
        let filter = builder.finish()?;
        let geometry = *filter.base().geometry();
        let payload: Vec<u64> =
            filter.base().words().shared().iter().map(|word| word.load(Ordering::Relaxed)).collect();
        for more in [0, if count == 40 { very_far() } else { 0 }] {
            let words = atomics(&[payload.clone(), vec![0; more]].concat());
            let Some(shape) = Shape::read(&geometry, &words) else {
                assert_eq!(count, 0);
                continue;
            };
            let reader = Reader::new(&shape, &words);
            for keys in [0, 1, 7, 8, 63, 64, 65, 128, 1000, 8000] {
                let hashes: Vec<u64> = (0..keys).map(|i| mix(i * 7 % (2 * count.max(1)))).collect();
                let expected: Vec<bool> = hashes.iter().map(|hash| reader.contains(*hash)).collect();
                assert!(
                    keys < 1000 || count < 40 || expected.contains(&true) && (bits < 1.0 || expected.contains(&false))
                );
                for instructions in available() {
                    let name = format!("{:?}: {keys} of {count} keys, {bits} bits", instructions.kernel());
                    let found = Hashes::answered(&hashes, true, |batch| reader.contains_many(instructions, batch));
                    assert_eq!(found, expected, "{name}");
                    if keys as usize <= GROUP {
                        let found = reader.contains_few(instructions, &Few { keys: &hashes, flip: None });
                        let bits = expected.iter().enumerate().fold(0, |all, (i, one)| all | u64::from(*one) << i);
                        let mask = if keys == 64 { u64::MAX } else { (1 << keys) - 1 };
                        assert_eq!(found & mask, bits, "{name}");
                    }
                }
            }
        }
    }
    Ok(())
}

/// All kernels look up and fill vector quotient filters alike, whatever a block holds, in and out of the caches.
#[test]
fn vector_quotient_kernels_do_the_same() {
    use petal::blocks::fingerprint_table::FingerprintTable;
    use petal::kinds::vector_quotient::layout::VectorQuotient;
    use petal::kinds::vector_quotient::{ROW, TAG_BITS};
    for (tag_bits, count) in [8, 16].into_iter().flat_map(|width| [(width, 2), (width, 30), (width, 1000)]) {
        let mut spec = petal::Spec { kind: Some(ROW.kind), bits: 512 * count, ..petal::Spec::default() };
        spec.set(&TAG_BITS, tag_bits.into()).unwrap();
        let geometry = petal::geometry(&spec).unwrap();
        let table = |one| VectorQuotient::of(&geometry, one).unwrap().unwrap();
        let mut tables: Vec<_> = available().map(table).collect();
        // The test inserts keys until the filter is full. Some keys are there twice.
        let mut words = vec![vec![0; geometry.payload_bytes as usize / 8]; tables.len()];
        let inserted = tables[0].slots() * 5 / 4;
        for i in 0..inserted {
            let new: Vec<_> =
                tables.iter_mut().zip(&mut words).map(|(table, words)| table.insert(words, mix(i * 7 / 8))).collect();
            assert!(new.iter().all(|one| *one == new[0]));
        }
        assert!(words.iter().all(|one| *one == words[0]));
        let far = very_far() - words[0].len();
        for more in [0, if count == 30 { far } else { 0 }] {
            let words = atomics(&[words[0].clone(), vec![0; more]].concat());
            for keys in [0, 1, 7, 8, 63, 64, 65, 128, 1000] {
                let hashes: Vec<u64> = (0..keys).map(|i| mix(i * 7 % (2 * inserted))).collect();
                let plain = tables.last().unwrap();
                let expected: Vec<bool> = hashes.iter().map(|hash| plain.copies(&words, *hash) > 0).collect();
                for table in &tables {
                    let found = Hashes::answered(&hashes, true, |batch| table.contains_many(&words, batch));
                    assert_eq!(found, expected, "{keys} keys, tags of {tag_bits} bits");
                    assert!(hashes.iter().zip(&expected).all(|(hash, one)| table.contains(&words, *hash) == *one));
                    assert!(hashes.iter().all(|hash| table.copies(&words, *hash) == plain.copies(&words, *hash)));
                    if keys as usize <= GROUP {
                        let found = table.contains_few(&words, &Few { keys: &hashes, flip: None });
                        let bits = expected.iter().enumerate().fold(0, |all, (i, one)| all | u64::from(*one) << i);
                        let mask = if keys == 64 { u64::MAX } else { (1 << keys) - 1 };
                        assert_eq!(found & mask, bits);
                    }
                }
            }
        }
        // The test removes keys until the filter is empty. Each key is removed twice, and some keys are absent.
        for i in 0..2 * inserted {
            let removed: Vec<_> =
                tables.iter().zip(&mut words).map(|(table, words)| table.remove(words, mix(i / 2))).collect();
            assert!(removed.iter().all(|one| *one == removed[0]));
            assert!(i % 16 > 0 || words.iter().all(|one| *one == words[0]));
        }
        assert!(words.iter().all(|one| one.iter().all(|word| *word == 0)));
    }
}

/// All kernels fill and empty quotient filters alike. Clusters have any length, in one block and over several. Runs
/// have counters, and some offsets are too great for a block.
#[test]
fn quotient_kernels_do_the_same() {
    use petal::blocks::runs::{Table, kernels};
    let kernels: Vec<_> = kernels().collect();
    for (slots, bits, spread) in [(64, 2, 1), (256, 7, 1), (4096, 9, 1), (4096, 12, 5), (4096, 8, 64)] {
        let table = Table::new(slots, bits).unwrap();
        let mut words = vec![vec![0; table.payload_bytes() as usize / 8]; kernels.len()];
        // All hashes are small, so that keys crowd in the first slots.
        let hash = |i: u64| mix(i * 7 / 8) / spread;
        for i in 0..table.limit() + 10 {
            let times = if mix(i).is_multiple_of(9) { i % 300 } else { 0 } + 1;
            let new: Vec<_> =
                kernels.iter().zip(&mut words).map(|(one, words)| (one.insert)(table, words, hash(i), times)).collect();
            assert!(new.iter().all(|one| one.as_ref().ok() == new[0].as_ref().ok()));
        }
        assert!(words.iter().all(|one| *one == words[0]));
        let shared = atomics(&words[0]);
        for i in 0..2 * slots {
            let plain = (kernels.last().unwrap().count)(table, &shared, hash(i));
            assert!(kernels.iter().all(|one| (one.count)(table, &shared, hash(i)) == plain));
        }
        // Every other hash may be absent.
        let asked: Vec<u64> = (0..4 * slots).map(|i| if i % 2 == 0 { hash(i) } else { mix(i) }).collect();
        let plain: Vec<bool> =
            asked.iter().map(|hash| (kernels.last().unwrap().contains)(table, &shared, *hash)).collect();
        for one in &kernels {
            assert!(asked.iter().map(|hash| (one.contains)(table, &shared, *hash)).eq(plain.clone()));
            let found = Hashes::answered(&asked, true, |batch| (one.contains_many)(table, &shared, batch));
            assert_eq!(found, plain, "{slots} slots");
        }
        for i in 0..2 * slots {
            let times = [1, 2, u64::MAX][i as usize % 3];
            let hash = hash(i.wrapping_mul(5) % (2 * slots));
            let removed: Vec<_> =
                kernels.iter().zip(&mut words).map(|(one, words)| (one.remove)(table, words, hash, times)).collect();
            assert!(removed.iter().all(|one| *one == removed[0]));
            assert!(i % 256 > 0 || words.iter().all(|one| *one == words[0]));
        }
        for i in 0..2 * slots {
            for (one, words) in kernels.iter().zip(&mut words) {
                (one.remove)(table, words, hash(i), u64::MAX);
            }
        }
        assert!(words.iter().all(|one| one.iter().all(|word| *word == 0)), "{slots} slots");
    }
}

/// All kernels agree about filters that have grown several times, even while some segments are divided and others are
/// not.
#[test]
fn kernels_of_growing_filters_find_the_same_keys() {
    for (kind, widths) in [("taffy", &[10, 14, 15, 16, 20, 27, 28, 31][..]), ("aleph", &[2, 7, 12, 20])] {
        for width in widths {
            let row = petal::registry::find_name(kind).unwrap();
            // Each width has its own keys, because chance decides whether runs go on at the beginning.
            let key = |i: u64| mix(i + ((*width as u64) << 40));
            let mut filters: Vec<Filter> = available()
                .map(|instructions| {
                    let kernel = instructions.kernel();
                    let mut spec = Spec { kind: Some(row.kind), capacity: 300, kernel, ..Spec::default() };
                    spec.set(row.parameter("fingerprint_bits").unwrap(), f64::from(*width)).unwrap();
                    petal::Filter::new(&spec).unwrap()
                })
                .collect();
            let (mut from, mut divided) = (0, 0);
            // The first segment of an Aleph filter has room for 450 keys, so its runs go on at its beginning.
            for (to, is_met) in [(0, false), (200, false), (450, false), (14_000, false), (20_000, true)]
                .into_iter()
                .chain([(37_000, false), (50_000, true), (90_000, false), (100_000, true)])
            {
                let is_dividing = |filter: &Filter| filter.base().geometry().words[5] == 1;
                let mut more: Vec<u64> = (from..to).map(key).collect();
                from = to;
                // The filters grow on until some segments are divided and others are not.
                while !more.is_empty() {
                    for filter in &mut filters {
                        filter.insert_batch(&petal::Keys::Hashes(&more), None).outcome.unwrap();
                    }
                    more.clear();
                    if is_met && !is_dividing(&filters[0]) && from < to + 40_000 {
                        more.extend((from..from + 16).map(key));
                        from += 16;
                    }
                }
                divided += u32::from(is_dividing(&filters[0]));
                let to = from;
                let (plain, others) = filters.split_last().unwrap();
                assert!(others.iter().all(|other| other.equals(plain)), "{kind}, {width} bits, {to} keys");
                for keys in [0, 1, 7, 8, 63, 64, 65, 128, 3000] {
                    // Some of these keys are in the filter.
                    let hashes: Vec<u64> = (0..keys).map(|i| key(i * 41 % (2 * to + 1))).collect();
                    let expected: Vec<u8> = hashes.iter().map(|hash| u8::from(plain.contains_hash(*hash))).collect();
                    for filter in &filters {
                        let mut found = vec![0; hashes.len()];
                        let mut answers = petal::Answers { bytes: Some(&mut found), ..petal::Answers::default() };
                        filter.contains_batch(&petal::Keys::Hashes(&hashes), &mut answers).unwrap();
                        assert_eq!(found, expected, "{kind}, {width} bits, {to} keys, {keys} of a batch");
                        let one_by_one = hashes.iter().map(|hash| u8::from(filter.contains_hash(*hash)));
                        assert!(one_by_one.eq(expected.iter().copied()));
                    }
                }
            }
            assert!(divided >= 2, "{kind}, {width} bits: {divided}");
            // The union with a filter that holds some keys several times.
            for filter in filters.iter_mut().filter(|_| kind == "aleph") {
                let mut other = petal::Filter::new(&filter.base().spec()).unwrap();
                let hashes: Vec<u64> = (0..9000).map(|i| mix((1 << 40) + i % 3500)).collect();
                other.insert_batch(&petal::Keys::Hashes(&hashes), None).outcome.unwrap();
                filter.merge(&other).unwrap();
            }
            let (plain, others) = filters.split_last().unwrap();
            assert!(others.iter().all(|other| other.equals(plain)), "{kind}, {width} bits, united");
        }
    }
}

/// Compares lookups in a chain of arrays with what plain code finds in the arrays. Each array has a number of blocks,
/// and of lanes per key. Lines of ones lie between the arrays, and every lookup in such a line would find its key.
fn compare_chain(instructions: Instructions, arrays: &[(usize, u32)]) {
    let Some(kernel) = blocked::layout::chain::kernel(instructions) else { return };
    let specification = blocked::layout::kernel(Instructions::PORTABLE);
    let (mut words, mut places, mut chain) = (Vec::new(), Vec::new(), None);
    for (i, (blocks, hashes)) in arrays.iter().enumerate() {
        words.extend([u64::MAX; blocked::layout::BLOCK_WORDS]);
        let (start, length) = (words.len(), blocks * blocked::layout::BLOCK_WORDS);
        let masks = masks(*hashes);
        let mut array = vec![0; length];
        // Each array has some of the keys that are asked for. Small arrays have up to 63 other keys as well.
        for key in keys(600, 1).iter().skip(i).step_by(arrays.len() + 1).chain(&keys(*blocks % 64, 77)) {
            specification.insert_one(&mut array, masks, *key);
        }
        words.extend(array);
        let link = (kernel, blocked::layout::BLOCK_WORDS, masks);
        assert!(chain.get_or_insert_with(|| Chain::new(link)).add(start, length, link));
        places.push((start..start + length, masks));
    }
    words.extend([u64::MAX; blocked::layout::BLOCK_WORDS]);
    let (words, chain) = (atomics(&words), chain.unwrap());
    assert_eq!(chain.count(), arrays.len());
    for written in [None, Some(0), Some(arrays.len() / 2), Some(arrays.len() - 1)] {
        let others = places.iter().enumerate().filter(|(i, _)| Some(*i) != written);
        let expected = |key: u64| {
            others.clone().any(|(_, (place, masks))| specification.contains_one(&words[place.clone()], masks, key))
        };
        for count in [0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 200, 511, 512] {
            let mut asked = [0x5555_5555_5555_5555; 512];
            let all = keys(count, 1).into_iter().zip(keys(count, 1 << 40)).enumerate();
            asked.iter_mut().zip(all).for_each(|(to, (i, (key, other)))| *to = if i % 3 == 0 { other } else { key });
            let found = chain.contains(&words, written, (&asked, count));
            for (i, key) in asked[..count].iter().enumerate() {
                let expected = expected(*key);
                let name = format!("{arrays:?} without {written:?}, key {i} of {count}");
                assert_eq!(found[i / GROUP] >> (i % GROUP) & 1 == 1, expected, "{name}");
                assert_eq!(chain.contains_one(&words, written, *key), expected, "{name}, alone");
            }
        }
    }
}

/// A lookup in a chain finds a key if one of its arrays has the key. The test takes every number of lanes, equal or
/// different in neighbouring arrays. The arrays are small ones, arrays whose lines are fetched ahead, or as many as
/// there can be.
#[test]
fn chains_find_what_plain_code_finds_in_one_of_their_arrays() {
    for instructions in available() {
        for hashes in 1..=blocked::layout::MAX_HASHES {
            compare_chain(instructions, &[(3, hashes)]);
            compare_chain(instructions, &[(2, hashes), (5, hashes), (9, hashes)]);
        }
        let all = |growth: usize, step: u32| -> Vec<(usize, u32)> {
            (0..8).map(|i| (3 * growth.pow(i), (5 + step * i / 2).min(blocked::layout::MAX_HASHES))).collect()
        };
        for growth in 2..=4 {
            for step in 0..=3 {
                compare_chain(instructions, &all(growth, step));
            }
        }
        compare_chain(instructions, &[(FAR - 1, 8), (FAR, 8), (FAR + 1, 9), (7, 9), (FAR, 16)]);
        compare_chain(instructions, &[(1, 7); MAX_ARRAYS]);
    }
}

/// A chain refuses a range of words that cannot be one of its arrays.
#[test]
fn chains_refuse_what_is_no_array_of_theirs() {
    for instructions in available() {
        let Some(kernel) = blocked::layout::chain::kernel(instructions) else { continue };
        let link = (kernel, blocked::layout::BLOCK_WORDS, masks(8));
        let mut chain = Chain::new(link);
        assert!(!chain.add(0, 0, link), "no block");
        assert!(!chain.add(0, 64, (kernel, blocked::layout::BLOCK_WORDS, &[])), "no lanes");
        assert!(chain.add(8, 64, link));
        assert!(!chain.add(71, 64, link), "it begins in the one before");
        let words = atomics(&[0; 71]);
        let too_few = std::panic::catch_unwind(|| chain.contains_one(&words, None, 1));
        assert!(too_few.is_err(), "words after the last are read");
    }
}
