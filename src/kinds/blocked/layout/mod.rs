//! The blocked layout: blocks of 512 bits with sixteen 32-bit lanes. A key has one bit in each of some lanes of one
//! block.
//!
//! A key of k bits has ceil(k/2) lanes in one half of the block and floor(k/2) in the other. The block of a hash comes
//! from its high bits: block = (hash * blocks) >> 64. The lanes are one of the sets that [`masks`] lists, chosen by the
//! high bits of the hash's low half. The bits in the lanes ([`bit_of_lane`]) come from products of that half with the
//! multipliers of the Parquet format.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod chain;
mod fills;
mod masks;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
pub mod two_blocks;

pub use masks::masks;

use crate::bits::{prefetch, reduce};
use crate::blocks::block_kernel::BlockKernel;
use crate::blocks::block_kernel::SALTS;
use crate::simd::Instructions;

/// How many 64-bit words a block has.
pub const BLOCK_WORDS: usize = 8;

/// The inner loops of the layout.
pub fn kernel(instructions: Instructions) -> &'static BlockKernel {
    match instructions.kernel() {
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        crate::simd::Kernel::Avx512 => &avx512::KERNEL,
        #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
        crate::simd::Kernel::Avx2 => &avx2::KERNEL,
        #[cfg(all(target_arch = "aarch64", feature = "neon"))]
        crate::simd::Kernel::Neon => &neon::KERNEL,
        _ => &portable::KERNEL,
    }
}

/// The inner loops of keys with bits in two blocks. Here `masks` are those of a share.
pub fn kernel_in_two(instructions: Instructions) -> &'static BlockKernel {
    match instructions.kernel() {
        #[cfg(target_arch = "x86_64")]
        crate::simd::Kernel::Avx512 => &avx512::IN_TWO,
        #[cfg(target_arch = "x86_64")]
        crate::simd::Kernel::Avx2 => &avx2::IN_TWO,
        #[cfg(target_arch = "aarch64")]
        crate::simd::Kernel::Neon => &neon::IN_TWO,
        _ => &portable::IN_TWO,
    }
}

/// The block that a hash goes to.
#[inline(always)]
pub fn block<T>(words: &[T], hash: u64) -> &[T; BLOCK_WORDS] {
    let (blocks, _) = words.as_chunks();
    &blocks[reduce(hash, blocks.len() as u64) as usize]
}

/// The block of a hash, for writing.
#[inline]
pub fn block_mut<T>(words: &mut [T], hash: u64) -> &mut [T; BLOCK_WORDS] {
    let (blocks, _) = words.as_chunks_mut();
    &mut blocks[reduce(hash, blocks.len() as u64) as usize]
}

/// Prefetches the line of a hash's block, which is read or written soon.
#[inline]
pub fn fetch<T>(words: &[T], hash: u64) {
    prefetch(block(words, hash));
}

/// The lanes of a hash among the sixteen, as a mask: one of `masks`, each as likely as any other. The high bits of the
/// hash's low half choose it, and the bits below still distinguish the products that give the bits in the lanes.
#[inline(always)]
pub fn lanes(masks: &[u16], hash: u64) -> u16 {
    masks[(((hash & 0xffff_ffff) * masks.len() as u64) >> 32) as usize]
}

/// Which bit a hash has in a lane below 16, as a bit of the word that has the lane in one half. Two neighbouring lanes
/// take ten bits in the middle of a product of the hash's low half, which depend on the whole half: bits 27 to 31 and
/// 32 to 36.
#[inline(always)]
pub fn bit_of_lane(hash: u64, lane: u32) -> u32 {
    let lane = lane % MAX_HASHES;
    let product = (hash & 0xffff_ffff).wrapping_mul(LANE_SALTS[lane as usize]);
    (product >> 32) as u32 & 31 | lane << 5 & 32
}

/// The multipliers of the lanes. Those of even lanes are times 32, so that bits 32 to 36 of the products are the
/// numbers for all lanes.
const LANE_SALTS: [u64; MAX_HASHES as usize] = {
    let (mut salts, mut lane) = ([0; MAX_HASHES as usize], 0);
    while lane < salts.len() {
        salts[lane] = (SALTS[lane / 2] as u64) << (5 * (1 - lane % 2));
        lane += 1;
    }
    salts
};

/// The most lanes that a key has: all of them.
pub const MAX_HASHES: u32 = 16;
