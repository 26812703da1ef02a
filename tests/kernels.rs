//! Every kernel that this processor runs, against the portable one, on the same words.

mod common;

use common::mix;
use core::sync::atomic::AtomicU64;
use petal::simd::layout::{BLOCK_WORDS, SPLIT_BLOCK_WORDS, masks};
use petal::simd::{BlockKernel, Kernels, available, choose, portable};
use petal::{Kernel, Spec, Status};

fn atomics(words: &[u64]) -> Vec<AtomicU64> {
    words.iter().map(|word| AtomicU64::new(*word)).collect()
}

/// Hashes that differ in all ways that matter, some of them twice and some extreme.
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

fn compare(
    kernels: &Kernels,
    layout: fn(&Kernels) -> &BlockKernel,
    words: usize,
    masks: &[u16],
    count: usize,
    next: usize,
) {
    let (kernel, specification) = (layout(kernels), layout(&portable::KERNELS));
    let name = format!("{:?}, {words} words, {} masks, {count} keys and {next}", kernels.kernel, masks.len());
    let inserted = keys(count + next, 1);
    let (mut ours, mut theirs) = (vec![0; words], vec![0; words]);
    let (mut new, mut expected) = (vec![false; count], vec![true; count]);
    kernel.insert(&mut ours, masks, &inserted, &mut []);
    kernel.insert(&mut ours, masks, &inserted, &mut new);
    specification.insert(&mut theirs, masks, &inserted, &mut expected);
    assert!(ours == theirs, "{name}: the words differ");
    assert_eq!(new, expected, "{name}");

    let mut one_by_one = vec![0; words];
    for (key, new) in inserted.iter().zip(&new) {
        assert_eq!(kernel.insert_one(&mut one_by_one, masks, *key), *new, "{name}");
    }
    assert!(ours == one_by_one, "{name}: the words differ one by one");

    let words = atomics(&ours);
    let asked: Vec<u64> = keys(count + next, 1).into_iter().chain(keys(count, 1 << 40)).collect();
    for from in [0, asked.len() - count - next] {
        let keys = &asked[from..from + count + next];
        let (mut found, mut expected) = (vec![true; count], vec![false; count]);
        kernel.contains(&words, masks, keys, &mut []);
        kernel.contains(&words, masks, keys, &mut found);
        specification.contains(&words, masks, keys, &mut expected);
        assert_eq!(found, expected, "{name}");
        for (key, expected) in keys.iter().zip(expected) {
            assert_eq!(kernel.contains_one(&words, masks, *key), expected, "{name}");
        }
    }
}

#[test]
fn kernels_do_as_the_portable_one() {
    for kernels in available() {
        println!("{:?}", kernels.kernel);
        for blocks in [1, 2, 3, 17, 1000] {
            for (count, next) in [(0, 0), (1, 0), (7, 3), (8, 0), (63, 9), (64, 64), (65, 1), (200, 100), (512, 64)] {
                compare(kernels, |kernels| &kernels.split_block, blocks * SPLIT_BLOCK_WORDS, &[], count, next);
                for hashes in 1..=16 {
                    compare(kernels, |kernels| &kernels.blocked, blocks * BLOCK_WORDS, masks(hashes), count, next);
                }
            }
        }
        // So large that lines are fetched ahead.
        for (count, next) in [(3, 0), (64, 5), (500, 64), (777, 0)] {
            let words = (1 << 19) + 8 * 5;
            compare(kernels, |kernels| &kernels.split_block, words, &[], count, next);
            compare(kernels, |kernels| &kernels.blocked, words, masks(6), count, next);
        }
    }
}

#[test]
fn a_spec_forces_its_kernel() {
    for kernel in Kernel::ALL {
        let spec = Spec { kernel, ..Spec::default() };
        match choose(kernel) {
            Ok(kernels) => {
                let filter = petal::create(&spec).unwrap();
                assert_eq!(filter.base().kernels().kernel, kernels.kernel);
                assert_eq!(filter.spec().kernel, kernels.kernel);
                assert_eq!(filter.copy().unwrap().base().kernels().kernel, kernels.kernel);
            }
            Err(error) => {
                assert_eq!(error.status(), Status::Unsupported);
                let refusal = petal::create(&spec).err().unwrap();
                assert_eq!(refusal.status(), Status::Unsupported);
                assert!(refusal.message().contains(kernel.name()));
            }
        }
    }
    assert_eq!(Kernel::from_number(99).unwrap_err().status(), Status::UnknownValue);
}
