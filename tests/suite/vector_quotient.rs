//! The kind `vector_quotient` compared with an exact multiset, and its sizes, rates and refusals.

use crate::common::copies::{self, is_full};
use crate::common::{image, is_soak, mix};
use crate::specification::check;
use petal::blocks::fingerprint_table::FingerprintTable;
use petal::kinds::vector_quotient::layout::{Blocks, VectorQuotient, block};
use petal::kinds::vector_quotient::{self, ROW, TAG_BITS};
use petal::simd::{Instructions, available};
use petal::{Filter, HashFunction, Image, Keys, Secret, Spec, Status};

/// A spec with this number of blocks, and of bits of a tag.
fn spec(blocks: u64, tag_bits: u32) -> Spec {
    let bits = blocks * vector_quotient::sizing::BLOCK_BITS;
    let mut spec = Spec { kind: Some(ROW.kind), bits, hash: HashFunction::External, ..Spec::default() };
    spec.set(&TAG_BITS, tag_bits.into()).unwrap();
    spec
}

/// The two blocks of a fingerprint lead to each other and are never the same, whatever the number of blocks.
#[test]
fn the_other_block_of_the_other_is_the_first() {
    for count in (2..200).step_by(2).chain([1000, 1 << 20, (1 << 33) - 2]) {
        for tag_bits in [8, 16] {
            let blocks = Blocks::new(count, tag_bits).unwrap();
            for i in 0..1000 {
                let place = blocks.place(mix(i));
                assert!(place.fingerprint < vector_quotient::sizing::block(tag_bits).1 << tag_bits);
                assert!(place.block < count && place.other < count && (place.block + place.other) % 2 == 1);
                assert_eq!(blocks.other(place.other, place.fingerprint), place.block);
            }
        }
    }
    assert!(Blocks::new(0, 8).is_none() && Blocks::new(3, 8).is_none() && Blocks::new(2, 12).is_none());
}

/// In one block entries go in and out in any order, and lists of entries are the model. The test looks up every bucket
/// and every tag with every instruction set.
#[test]
fn a_block_is_lists_of_tags() {
    fn walk<const BITS: u32>() {
        let (slots, buckets) = vector_quotient::sizing::block(BITS);
        let mut line = [0; block::WORDS];
        let mut lists = vec![Vec::<u64>::new(); buckets as usize];
        for step in 0..20_000_u64 {
            let seed = mix(step);
            let taken: usize = lists.iter().map(Vec::len).sum();
            assert_eq!(block::taken::<BITS>(&line), taken as u32);
            // At times all entries go into one bucket, the first or the last.
            let bucket = match step / 500 % 4 {
                0 => 0,
                1 => buckets - 1,
                _ => seed % buckets,
            };
            let tag = [seed >> 20 & 3, (1 << BITS) - 1, seed >> 30][(seed >> 8) as usize % 3] & ((1 << BITS) - 1);
            let fingerprint = bucket << BITS | tag;
            let list = &mut lists[bucket as usize];
            if taken < slots as usize && !(seed >> 50).is_multiple_of(3) {
                block::add::<BITS>(&mut line, fingerprint);
                list.push(tag);
            } else {
                let at = list.iter().position(|one| *one == tag);
                assert_eq!(block::take::<BITS, block::Plain>(&mut line, fingerprint), at.is_some());
                at.map(|at| list.remove(at));
            }
            assert!(block::is_sound::<BITS>(&line));
            let all = lists.iter().zip(0..).flat_map(|(list, bucket)| list.iter().map(move |tag| (bucket, *tag)));
            assert!(block::entries::<BITS>(&line).eq(all), "step {step}");
        }
    }
    walk::<8>();
    walk::<16>();
}

/// A table with this number of blocks and an instruction set, and its words.
fn table(blocks: u64, tag_bits: u32, instructions: Instructions) -> (VectorQuotient, Vec<u64>) {
    let geometry = *Filter::new(&spec(blocks, tag_bits)).unwrap().base().geometry();
    (VectorQuotient::of(&geometry, instructions).unwrap().unwrap(), vec![0; geometry.payload_bytes as usize / 8])
}

/// The share of the slots that is filled before the first refusal. In the literature no entry moves, and filling ends
/// at 94.6 and 91.3 % of a million blocks. The capacity promises less, even in the smallest tables.
#[test]
fn tables_take_more_than_they_promise() {
    for (tag_bits, least) in [(8, 0.996), (16, 0.988)] {
        let (mut table, mut words) = table(1 << 15, tag_bits, petal::simd::best());
        let keys = (0..).find(|key| table.insert(&mut words, mix(*key)).is_none()).unwrap();
        let load = keys as f64 / table.slots() as f64;
        assert!((least..1.0).contains(&load), "tags of {tag_bits} bits: full at {load}");
        let trials = if is_soak() { 2000 } else { 20 };
        for capacity in (1..40).map(|i| 20 * i).chain([1000, 3000]) {
            for trial in 0..trials {
                let blocks = vector_quotient::sizing::blocks_for(capacity, tag_bits).unwrap();
                let mut filter = Filter::new(&spec(blocks, tag_bits)).unwrap();
                for key in 0..capacity {
                    assert!(filter.insert_hash(mix(mix(trial) ^ key)).is_ok(), "{key} of {capacity}, trial {trial}");
                }
            }
        }
    }
}

/// Measured rates and sizes agree with the literature at a load of 93 %.
#[test]
fn rates_are_those_of_the_formula() {
    // Each row has tag bits, and the literature's rate and bits per key.
    for (tag_bits, known, bits) in [(8, 0.00436, 11.47), (16, 2.2e-5, 19.66)] {
        let blocks = 1 << 15;
        let mut filter = Filter::new(&spec(blocks, tag_bits)).unwrap();
        let keys = (0.93 * (blocks * vector_quotient::sizing::block(tag_bits).0) as f64) as u64;
        let each = filter.base().geometry().bits as f64 / keys as f64;
        assert!((each / bits - 1.0).abs() < 1e-3, "{each} bits a key");
        let rate = vector_quotient::sizing::false_positive_rate(blocks, tag_bits, keys);
        assert!((rate / known - 1.0).abs() < 0.02, "{rate} of {known}");
        for key in 0..keys {
            filter.insert_hash(mix(key)).unwrap();
        }
        const TRIED: u64 = 10_000_000;
        let found = (0..TRIED).filter(|i| filter.contains_hash(mix(i + (1 << 40)))).count() as f64;
        // The rate for these keys is exact. The rate for any keys varies.
        let (exact, keys) = (filter.false_positive_rate(), keys as f64);
        for (rate, more) in [(exact, 0.0), (rate, TRIED as f64 * rate * (rate / keys).sqrt())] {
            let (mean, sd) = (TRIED as f64 * rate, (TRIED as f64 * rate * (1.0 - rate)).sqrt());
            assert!((found - mean).abs() < 4.5 * sd + 4.5 * more, "{tag_bits} bits: {found}, {mean} expected");
        }
        assert!(filter.cardinality().is_some_and(|found| (found / keys - 1.0).abs() < 1e-3));
    }
}

/// Full blocks follow the rules of docs/format.md for entries that move. The test fills tables of ascending hashes
/// until a key is refused.
#[test]
fn full_tables_are_as_specified() {
    for tag_bits in [8, 16] {
        for blocks in [4, 6, 10, 50] {
            let mut filter = Filter::new(&spec(blocks, tag_bits)).unwrap();
            let slots = blocks * vector_quotient::sizing::block(tag_bits).0;
            let mut hashes: Vec<u64> = (0..slots).map(|i| mix(i ^ blocks << 40)).collect();
            hashes.sort_unstable();
            let taken = filter.insert_batch(&Keys::Hashes(&hashes), None).keys;
            assert!(taken as u64 > slots * 9 / 10, "{taken} of {slots}");
            check(&format!("{blocks} blocks"), &image(&filter), &hashes[..taken]);
        }
    }
}

/// One key can fill all slots of its two blocks, and occur no more often.
#[test]
fn copies_fill_a_pair_of_blocks() {
    for tag_bits in [8, 16] {
        copies::are_held(&spec(100, tag_bits), 2 * vector_quotient::sizing::block(tag_bits).0);
    }
}

#[test]
fn a_removal_of_an_absent_key_loses_one_other_at_most() {
    copies::are_lost_one_by_one(Filter::new(&spec(24, 8)).unwrap(), 1000, 39_000, 1);
}

/// An attacker who knows the hash function can fill two blocks with chosen distinct keys. Under a secret key the same
/// keys behave like any others.
#[test]
fn chosen_keys_fill_a_pair_of_blocks_only_under_a_known_hash() {
    const SECRET: Secret = *b"nobody knows it.";
    let sized = |hash, key| Spec { kind: Some(ROW.kind), capacity: 2000, hash, secret: key, ..Spec::default() };
    let public = sized(HashFunction::Xxh3, None);
    let mut attacked = Filter::new(&public).unwrap();
    let shape = Blocks::of_geometry(attacked.base().geometry()).unwrap();
    let hasher = public.hasher().unwrap();
    let target = shape.place(hasher.hash_u64(0).unwrap());
    let is_same = |key: &u64| {
        let place = shape.place(hasher.hash_u64(*key).unwrap());
        [place.block, place.other].iter().all(|block| [target.block, target.other].contains(block))
    };
    let most = 2 * vector_quotient::sizing::block(8).0 as usize;
    let chosen: Vec<u64> = (0..).filter(is_same).take(most + 1).collect();
    let refused = |filter: &mut Filter| chosen.iter().filter(|key| is_full(filter.insert_u64(**key))).count();
    assert_eq!(refused(&mut attacked), 1, "the last has no place in a table that is nearly empty");
    let mut keyed = Filter::new(&sized(HashFunction::SipHash13, Some(SECRET))).unwrap();
    assert_eq!(refused(&mut keyed), 0);
    assert_eq!(keyed.statistics().taken, chosen.len() as u64);
}

/// An invalid spec gets an error message. A size in bits gets the longest tags that have room.
#[test]
fn sizes_are_what_is_asked() {
    let kind = Some(ROW.kind);
    let refused = |spec: Spec, status, part: &str| {
        let error = Filter::new(&spec).err().unwrap();
        assert_eq!(error.status(), status);
        assert!(error.message().contains(part), "{error}");
    };
    let with = |value| {
        let mut spec = Spec { kind, capacity: 1000, ..Spec::default() };
        spec.set(&TAG_BITS, value).unwrap();
        spec
    };
    refused(with(12.0), Status::OutOfRange, "tag_bits = 12 is not one of 0, 8, 16");
    refused(Spec { false_positive_rate: 1e-10, ..with(0.0) }, Status::TooLarge, "needs tag_bits above 16");
    refused(Spec { false_positive_rate: 1e-5, ..with(8.0) }, Status::Contradiction, "too few");
    refused(Spec { kind, bits: 10_240, ..Spec::default() }, Status::Contradiction, "tag_bits");
    let tiny = Spec { kind, bits: 512, capacity: 10, ..Spec::default() };
    refused(tiny, Status::Contradiction, "bits = 512 do not hold two blocks of 512");
    // An odd block stays unused.
    let odd =
        |blocks: u64| Filter::new(&Spec { bits: 512 * blocks, ..spec(2, 8) }).unwrap().expected_false_positive_rate(90);
    assert_eq!(odd(2), odd(3));
    for (capacity, tag_bits) in [(500, 16), (900, 8), (90_000, 8)] {
        let filter = Filter::new(&Spec { kind, bits: 10_240, capacity, ..Spec::default() }).unwrap();
        assert_eq!(filter.base().geometry().words[0], tag_bits, "{capacity} keys");
        let read = filter.base().spec();
        assert_eq!(Filter::new(&read).unwrap().base().geometry(), filter.base().geometry());
    }
    // A size for a rate keeps the rate, and is no larger than needed.
    for (rate, tag_bits, each) in [(0.01, 8, 10.84), (0.0046, 8, 10.87), (0.002, 16, 18.8), (1e-5, 16, 50.0)] {
        let size = vector_quotient::sizing::size_for(1_000_000, rate, 0).unwrap();
        assert_eq!(size.tag_bits, tag_bits, "{rate}");
        assert!(vector_quotient::sizing::false_positive_rate(size.blocks, tag_bits, 1_000_000) <= rate);
        let bits = size.blocks as f64 * 512.0 / 1e6;
        assert!(bits <= each, "{bits} bits a key at {rate}");
    }
}

/// Verifying finds damaged metadata, and lookups before that do no harm.
#[test]
fn damaged_blocks_are_found() {
    for tag_bits in [8, 16] {
        let mut filter = Filter::new(&spec(4, tag_bits)).unwrap();
        (0..60).for_each(|key| assert!(filter.insert_hash(mix(key)).is_ok()));
        let geometry = *filter.base().geometry();
        let words: Vec<u64> =
            filter.base().words().shared().iter().map(|word| word.load(std::sync::atomic::Ordering::Relaxed)).collect();
        for instructions in available() {
            let table = VectorQuotient::of(&geometry, instructions).unwrap().unwrap();
            let atomics = |words: &[u64]| words.iter().map(|word| (*word).into()).collect::<Vec<_>>();
            table.check(&atomics(&words)).unwrap();
            // The damage: too many entries, one after the last bucket, and a tag in a free slot.
            let beyond = if tag_bits == 8 { 1 } else { 0 };
            for (word, damage) in [(0, u64::MAX), (beyond, 1 << 63), (7, 1 << 63)] {
                let mut damaged = words.clone();
                damaged[word] |= damage;
                let damaged = atomics(&damaged);
                assert_eq!(table.check(&damaged).unwrap_err().status(), Status::Corrupt, "word {word}");
                (0..10_000).for_each(|key| {
                    table.contains(&damaged, mix(key));
                    table.copies(&damaged, mix(key));
                });
                table.held(&damaged, &mut |_| {});
            }
        }
    }
}

/// A second calculation gives the same rates and sizes.
#[test]
fn sizes_are_those_of_a_second_calculation() {
    use petal::kinds::vector_quotient::sizing::{Size, blocks_for, false_positive_rate, size_for};
    for (tag_bits, slots, buckets, load) in [(8_u32, 48_u64, 80.0, 0.985), (16, 28, 36.0, 0.975)] {
        for (blocks, keys) in [(2, 1), (2, 50), (10, 200), (1000, 20_000), (1000, 1_000_000)] {
            let classes = f64::from(blocks as u32) / 2.0 * buckets * f64::from(tag_bits).exp2();
            let some = keys.min(blocks * slots);
            let expected = -(some as f64 * (-1.0 / classes).ln_1p()).exp_m1();
            let rate = false_positive_rate(blocks, tag_bits, keys);
            assert!((rate / expected - 1.0).abs() < 1e-12, "{blocks} blocks, {keys} keys: {rate}, {expected}");
        }
        assert_eq!((false_positive_rate(0, tag_bits, 5), false_positive_rate(2, tag_bits, 0)), (1.0, 0.0));
        for keys in [0, 1, 2 * slots] {
            assert_eq!(blocks_for(keys, tag_bits), Some(2), "{keys} keys");
        }
        for keys in [2 * slots + 1, 1000, 12_345, 10_000_000] {
            let pairs = ((keys as f64 / load + 6.0) / (2 * slots) as f64).ceil() as u64;
            assert_eq!(blocks_for(keys, tag_bits), Some(2 * pairs), "{keys} keys");
            // The size for the rate of a number of blocks has that number of blocks.
            for blocks in [2 * pairs, 2 * pairs + 2, 6 * pairs, 126 * pairs] {
                let rate = false_positive_rate(blocks, tag_bits, keys);
                assert_eq!(size_for(keys, rate, tag_bits), Some(Size { blocks, tag_bits }), "{keys} keys at {rate}");
            }
        }
        assert_eq!(size_for(1000, 0.0, tag_bits).or(size_for(1000, 1.0, tag_bits)), None);
    }
}
