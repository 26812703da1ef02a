//! Sizes near all limits: they are planned without memory, refused with the right status, and right beyond 32 bits.
//! Filters of some gigabytes need addresses of 64 bits.

use crate::common::{Case, each, is_soak, main_layouts, mix, share_of};
use petal::{Capabilities, Filter, Image, Overfill, Spec, Status, image_size};
use std::sync::atomic::Ordering;

fn refusal<T>(result: petal::Result<T>) -> Option<Status> {
    result.err().map(|error| error.status())
}

/// A spec with a size in bits, and a capacity that has room in it. Kinds whose sizes are powers of two get a tenth of
/// the keys of others.
fn sized(case: &Case, bits: u64) -> Spec {
    let bits_per_key = if case.row.room.is_power_of_two { 100 } else { 10 };
    Spec { bits, capacity: bits / bits_per_key, ..case.spec() }
}

/// The length of an image with this payload, as docs/format.md defines it. The image has the header, the payload, and a
/// table with an entry for each 65,536 bytes and one more, in whole lines.
fn image_of(payload_bytes: u64) -> u64 {
    256 + payload_bytes + (8 * payload_bytes.div_ceil(1 << 16) + 8).next_multiple_of(64)
}

/// The plan for a number of keys is right, or the number is refused. Nothing wraps around.
#[test]
fn plans_reach_the_limits() {
    each(main_layouts(), Case::name, |case| {
        for shift in 0..64 {
            let spec = Spec { capacity: 1 << shift, ..case.sized(1, 0.01) };
            match petal::geometry(&spec) {
                Ok(geometry) => {
                    assert!(geometry.payload_bytes >= geometry.bits / 8, "{}: 2^{shift}", case.name());
                    // Keys that share a hash count where they are more than one in 10,000 of the rate's keys.
                    let most = 1.0001 * spec.false_positive_rate;
                    assert!((case.row.false_positive_rate)(&geometry, spec.capacity) <= most, "{}", case.name());
                    if case.row.is_made_empty() {
                        assert_eq!(image_size(&spec).unwrap(), image_of(geometry.payload_bytes));
                    }
                }
                Err(error) => {
                    assert!(shift > 30, "{}: 2^{shift}: {error}", case.name());
                    // From 2^58 keys on there are too few hashes for such a rate. A level of a growing filter reaches
                    // that bound sooner. So does a filter that forgets, because its rate holds for a few times as many
                    // keys. Either refusal may come first there.
                    let either_from = match case.row.overfill {
                        Overfill::Forgets => 50,
                        Overfill::Grows => 56,
                        _ => 58,
                    };
                    let is_right = match error.status() {
                        Status::TooLarge => shift < 58 || case.row.overfill == Overfill::Forgets,
                        Status::OutOfRange | Status::Contradiction => shift >= either_from,
                        _ => false,
                    };
                    assert!(is_right, "{}: 2^{shift}: {error}", case.name());
                }
            }
        }
        // A kind takes a billion keys and more, but no more keys than there are hashes.
        assert!(petal::geometry(&Spec { capacity: 1 << 30, ..case.spec() }).is_ok());
        let all = Spec { capacity: u64::MAX, ..case.spec() };
        assert_eq!(refusal(petal::geometry(&all)), Some(Status::OutOfRange), "{}", case.name());
        for bits in [u64::MAX / 512 * 512, 1 << 63] {
            let status = refusal(petal::geometry(&sized(case, bits)));
            assert_eq!(status, Some(Status::TooLarge), "{}: {bits} bits", case.name());
        }
    });
}

/// A filter can have a plan and be too large for the memory.
#[test]
fn memory_that_is_not_there_is_a_status() {
    let mut asked = 0;
    each(main_layouts().into_iter().filter(|case| case.row.is_made_empty()), Case::name, |case| {
        // A filter of 2^62 bits has 2^59 bytes, more than any address space.
        let spec = sized(case, 1 << 63 >> 1);
        match image_size(&spec) {
            Ok(size) => {
                assert!(size >= 1 << 58);
                assert_eq!(refusal(Filter::new(&spec)), Some(Status::OutOfMemory), "{}", case.name());
                asked += 1;
            }
            Err(error) => assert_eq!(error.status(), Status::TooLarge),
        }
    });
    assert!(asked > 0);
}

/// The split-block layout chooses a block by a number of 32 bits.
#[test]
fn split_blocks_end_below_two_to_the_32() {
    let kind = Some(petal::kinds::split_block::ROW.kind);
    let bits = |blocks: u64| Spec { kind, bits: 256 * blocks, ..Spec::default() };
    assert_eq!(image_size(&bits((1 << 32) - 1)).unwrap(), image_of(32 << 32));
    assert_eq!(refusal(image_size(&bits(1 << 32))), Some(Status::TooLarge));
    assert_eq!(refusal(Filter::new(&bits(1 << 40))), Some(Status::TooLarge));
    let keys = |capacity| Spec { kind, capacity, false_positive_rate: 0.01, ..Spec::default() };
    assert!(image_size(&keys(1 << 36)).is_ok());
    assert_eq!(refusal(image_size(&keys(1 << 40))), Some(Status::TooLarge));
}

/// Keys are spread over all of a large filter, and lookups find them. With default parameters the first kinds, and in
/// the soak all kinds, have 2^35 bits, so that numbers of bytes pass 32 bits. All others have 2^32 bits.
#[test]
#[ignore = "slow: make test-all"]
fn positions_pass_32_and_35_bits() {
    const KEYS: u64 = 20;
    for case in
        share_of(main_layouts(), 8, "positions_pass_32_and_35_bits").into_iter().filter(|case| case.row.is_made_empty())
    {
        let is_longest = case.is_default() && (is_soak() || case.row.kind.0 <= 3);
        let bits = (1 << if is_longest { 35 } else { 32 }) + (1 << 20);
        // A kind that keeps fingerprints sets a different number of bits for each key.
        let (least, most) = case.row.hashes;
        let sets_eight = (least..=most).contains(&8);
        let spec = Spec { hashes: if sets_eight { 8 } else { 0 }, ..sized(&case, bits) };
        let mut filter: Filter = Filter::new(&spec).unwrap();
        let key = |i| if case.is_of_integers() { mix(i + 1) % bits } else { mix(i + 1) };
        for i in 0..KEYS {
            assert!(filter.insert_hash(key(i)).unwrap());
        }
        assert!((0..KEYS).all(|i| filter.contains_hash(key(i))));
        assert!(!(KEYS..1000).any(|i| filter.contains_hash(key(i))), "{}", case.name());
        let mut words = filter.base().words().shared();
        // A kind that grows or forgets has its state in the last line.
        let forgets = case.row.overfill == Overfill::Forgets;
        if forgets || case.row.overfill == Overfill::Grows {
            words = &words[..words.len() - 8];
        }
        let ones = |words: &[std::sync::atomic::AtomicU64]| {
            words.iter().map(|word| word.load(Ordering::Relaxed).count_ones()).sum::<u32>()
        };
        let (low, high) = words.split_at(words.len() / 2);
        let (low, high) = (ones(low), ones(high));
        // A key may set several bits of one cell where cells count above 1.
        let (can, ones) = (case.capabilities(), u64::from(low + high));
        let counts = can.contains(Capabilities::COUNT);
        let sets_more = can.contains(Capabilities::REMOVE) && !counts || can.contains(Capabilities::MAY_LOSE_KEYS);
        assert!(!sets_eight || ones == KEYS * 8 || sets_more && ones > KEYS * 8, "{}: {low} and {high}", case.name());
        // If all bits of a key lie in one block, the halves differ most, like 20 tosses of a coin. Filters that forget
        // keep young and old keys apart. Filters that count and never remove keep repeated keys apart.
        let is_apart = forgets || counts && !can.contains(Capabilities::REMOVE);
        assert!(is_apart || (low > 0 && high > 0), "{}: {low} and {high}", case.name());
    }
}
