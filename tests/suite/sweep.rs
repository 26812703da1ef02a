//! Kinds that are built from all of their keys, with many numbers of keys and many sorts of hashes.

use crate::common::soak::on_threads;
use crate::common::sweep::{numbers, variants};
use crate::common::{is_soak, mix};
use std::thread::available_parallelism;

/// A sample of the sweep that `make soak` does with all numbers of keys and sixty seeds.
#[test]
fn every_number_of_keys_is_built() {
    let variants = variants();
    let is_sampled = |keys: &u64| *keys < 100 || keys.is_multiple_of(97) || keys.is_multiple_of(40) && *keys > 3000;
    let tasks: Vec<_> =
        variants.iter().flat_map(|variant| numbers().filter(is_sampled).map(move |keys| (variant, keys))).collect();
    let threads = available_parallelism().map_or(1, usize::from);
    let (mut bits, mut expected) = (0, 0);
    for sizes in on_threads(&tasks, threads, |(variant, keys)| variant.check(*keys, *keys)) {
        let sizes = sizes.unwrap();
        (bits, expected) = (bits + sizes.bits, expected + sizes.expected);
    }
    assert!(bits < expected + expected / 100, "{bits} bits where {expected} were to be expected");
    assert!(variants.iter().any(|variant| !variant.steps(3000, 20_000).is_empty()), "sizes have no steps");
}

/// Sets of this number of hashes, chosen so that some of their bits are alike.
fn chosen_hashes(count: u64) -> Vec<(&'static str, Vec<u64>)> {
    let sets: [(&'static str, fn(u64) -> u64); 12] = [
        ("all equal", |_| 0x0123_4567_89ab_cdef),
        ("zero, and all ones", |i| 0_u64.wrapping_sub(i % 2)),
        ("equal high halves", |i| 7 << 32 | i),
        ("equal low halves", |i| i << 32 | 7),
        ("equal but for the highest bits", |i| i.reverse_bits()),
        ("equal but for the middle", |i| i << 20 | 1 << 63 | 1),
        ("the greatest", |i| u64::MAX - i),
        ("one bit, or two", |i| 1 << (i % 64) | 1 << (i / 64 % 64)),
        ("pairs that differ in a bit", |i| mix(i / 2) ^ (i % 2)),
        ("pairs that differ in the highest bit", |i| mix(i / 2) ^ i << 63),
        ("halves that are alike", |i| i << 32 | i),
        ("multiples of an odd number", |i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
    ];
    sets.into_iter().map(|(name, make)| (name, (0..count).map(make).collect())).collect()
}

/// Hashes that have zeros in the bits of `mask` after they passed `order`. Trial and error finds them.
fn alike_in_order(order: fn(u64) -> u64, mask: u64, count: usize) -> Vec<u64> {
    (0..).filter(|hash| order(*hash) & mask == 0).take(count).collect()
}

/// A build from chosen hashes succeeds or is refused with a reason. No key is lost, and no build goes on for ever.
#[test]
fn chosen_hashes_are_built() {
    let counts = if is_soak() { vec![2, 3, 64, 1000, 4096, 30_000, 300_000] } else { vec![3, 1000, 5000] };
    for variant in variants() {
        for count in &counts {
            for (turn, (name, hashes)) in chosen_hashes(*count).into_iter().enumerate() {
                variant
                    .check_any(&hashes, turn as u64)
                    .unwrap_or_else(|error| panic!("{count} hashes, {name}: {error}"));
            }
        }
        let Some(order) = variant.order() else { continue };
        for mask in [0xfff << 52, 0xfff, 0xfff << 26] {
            let hashes = alike_in_order(order, mask, 3000);
            variant.check_any(&hashes, mask).unwrap_or_else(|error| panic!("ordered with {mask:x} alike: {error}"));
        }
    }
}

/// Identities of which one half is constant, or both halves differ little.
#[test]
fn chosen_identities_are_built() {
    let wide = |high: u64, low: u64| u128::from(high) << 64 | u128::from(low);
    let sets: [(&str, &dyn Fn(u64) -> u128); 8] = [
        ("equal high halves", &|i| wide(7, mix(i))),
        ("equal low halves", &|i| wide(mix(i), 7)),
        ("the least", &|i| u128::from(i)),
        ("the least of high halves", &|i| wide(i, 0)),
        ("the greatest", &|i| !u128::from(i)),
        ("equal halves", &|i| wide(mix(i), mix(i))),
        ("two high halves", &|i| wide(i % 2 * u64::MAX, i)),
        ("a bit, or two", &|i| 1 << (i % 128) | 1 << (i / 128 % 128)),
    ];
    let counts = if is_soak() { vec![3, 1000, 30_000, 300_000] } else { vec![3, 1000, 20_000] };
    for variant in variants() {
        for count in &counts {
            for (turn, (name, id)) in sets.iter().enumerate() {
                let mut ids: Vec<u128> = (0..*count).map(id).collect();
                ids.sort_unstable();
                ids.dedup();
                variant
                    .check_identities(&ids, turn as u64)
                    .unwrap_or_else(|error| panic!("{count} identities, {name}: {error}"));
            }
        }
    }
}
