//! The inner loops for AVX2: all tags of a block are compared together. PDEP finds bits by their ranks, except on
//! processors where that takes dozens of steps.

use super::Blocks;
use super::block::{Instructed, Line, Run};
use super::kernel::{self, Kernel};
use crate::batch::ring::{Batch, Few};
use crate::blocks::block_kernel::avx2::load_half_line;
use crate::blocks::select::{Broadword, Pdep, Select};
use crate::simd::Instructions;
use core::arch::x86_64::*;
use core::marker::PhantomData;
use core::sync::atomic::AtomicU64;

/// The kernels for tags of 8 and of 16 bits, with PDEP.
pub(super) static KERNELS: [Kernel; 2] = [kernel::<8, Pdep<4>>(), kernel::<16, Pdep<4>>()];

/// The kernels for processors on which PDEP is slow, all of them made before 2020. Only lookups are in vectors there,
/// which keeps the library small.
pub(super) static WITHOUT_PDEP: [Kernel; 2] = [lookups::<8>(), lookups::<16>()];

const fn lookups<const BITS: u32>() -> Kernel {
    let Kernel { contains, contains_many, contains_few, .. } = kernel::<BITS, Broadword>();
    Kernel { contains, contains_many, contains_few, ..kernel::plain::<BITS>() }
}

const fn kernel<const BITS: u32, S: Select>() -> Kernel {
    Kernel {
        // SAFETY: this kernel is given out for processors that have AVX2.
        contains: |blocks, words, hash| unsafe { contains::<BITS, S>(blocks, words, hash) },
        // SAFETY: as above.
        contains_many: |blocks, words, batch| unsafe { contains_many::<BITS, S>(blocks, words, batch) },
        // SAFETY: as above.
        contains_few: |blocks, words, instructions, few| unsafe {
            contains_few::<BITS, S>(blocks, words, instructions, few)
        },
        // SAFETY: as above.
        copies: |blocks, words, hash| unsafe { copies::<BITS, S>(blocks, words, hash) },
        // SAFETY: as above.
        insert: |blocks, words, hash| unsafe { insert::<BITS, S>(blocks, words, hash) },
        // SAFETY: as above.
        remove: |blocks, words, hash| unsafe { remove::<BITS, S>(blocks, words, hash) },
    }
}

/// Comparison by vectors of 32 bytes. Only this file uses it, because only its kernels know that the processor has
/// AVX2.
#[derive(Clone, Copy)]
struct Halves<S>(PhantomData<S>);

impl<S: Select> Instructed for Halves<S> {
    #[inline(always)]
    fn select(word: u64, rank: u32) -> u32 {
        S::select(word, rank)
    }

    #[inline(always)]
    fn matches<const BITS: u32>(line: &impl Line, run: Run, tag: u64) -> u64 {
        // SAFETY: only the functions of this file's kernels have this type.
        let equal = unsafe { equal::<BITS>(line, tag) };
        equal >> (run.start & 63) & run.mask()
    }
}

/// A bit for each slot: whether it has the tag.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn equal<const BITS: u32>(line: &impl Line, tag: u64) -> u64 {
    // SAFETY: a line is 64 readable bytes.
    let (low, high) = unsafe { (load_half_line::<0>(line.start()), load_half_line::<32>(line.start())) };
    if BITS == 8 {
        let tag = _mm256_set1_epi8(tag as i8);
        let low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(low, tag)) as u32;
        let high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(high, tag)) as u32;
        return (u64::from(high) << 32 | u64::from(low)) >> 16;
    }
    let tag = _mm256_set1_epi16(tag as i16);
    let (low, high) = (_mm256_cmpeq_epi16(low, tag), _mm256_cmpeq_epi16(high, tag));
    // The instruction packs the halves of both vectors in turn, and this puts them in order.
    let both = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(low, high));
    u64::from(_mm256_movemask_epi8(both) as u32) >> 4
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn contains<const BITS: u32, S: Select>(blocks: &Blocks, words: &[AtomicU64], hash: u64) -> bool {
    kernel::contains::<BITS, Halves<S>>(blocks, words, hash)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn contains_many<const BITS: u32, S: Select>(blocks: &Blocks, words: &[AtomicU64], batch: &mut dyn Batch) {
    kernel::contains_many::<BITS, Halves<S>>(blocks, words, batch);
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn contains_few<const BITS: u32, S: Select>(
    blocks: &Blocks,
    words: &[AtomicU64],
    instructions: Instructions,
    few: &Few,
) -> u64 {
    kernel::contains_few::<BITS, Halves<S>>(blocks, words, instructions, few)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn copies<const BITS: u32, S: Select>(blocks: &Blocks, words: &[AtomicU64], hash: u64) -> u64 {
    super::copies::<BITS, Halves<S>>(blocks, words, hash)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn insert<const BITS: u32, S: Select>(blocks: &Blocks, words: &mut [u64], hash: u64) -> Option<bool> {
    kernel::insert::<BITS, Halves<S>>(blocks, words, hash)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn remove<const BITS: u32, S: Select>(blocks: &Blocks, words: &mut [u64], hash: u64) -> bool {
    kernel::remove::<BITS, Halves<S>>(blocks, words, hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::mix;
    use crate::simd;

    /// A processor runs one of the two kernels, so no other test compares them.
    #[test]
    fn both_ways_to_find_bits_give_the_same_blocks() {
        if simd::choose(simd::Kernel::Avx2).is_err() {
            return;
        }
        for (i, tag_bits) in [8, 16].into_iter().enumerate() {
            let (with, without) = (&KERNELS[i], &WITHOUT_PDEP[i]);
            let blocks = Blocks::new(4, tag_bits).expect("a shape");
            let (mut some, mut others) = ([0; 32], [0; 32]);
            for key in 0..100 {
                let (new, also) =
                    ((with.insert)(&blocks, &mut some, mix(key)), (without.insert)(&blocks, &mut others, mix(key)));
                assert_eq!((new, some), (also, others), "{tag_bits}: {key}");
            }
            let shared = some.map(AtomicU64::new);
            for key in 0..1000 {
                let found = (with.contains)(&blocks, &shared, mix(key));
                assert_eq!(found, (without.contains)(&blocks, &shared, mix(key)), "{tag_bits}: {key}");
                assert!(found || key >= 100, "{tag_bits}: {key}");
            }
            for key in (0..1000).step_by(3) {
                let removed = (with.remove)(&blocks, &mut some, mix(key));
                assert_eq!(
                    (removed, some),
                    ((without.remove)(&blocks, &mut others, mix(key)), others),
                    "{tag_bits}: {key}"
                );
            }
        }
    }
}
