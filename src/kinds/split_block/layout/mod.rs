//! The split-block layout, that of the Apache Parquet format: blocks of 256 bits, in which a key has one bit in each of
//! eight 32-bit lanes.
//!
//! The block of a hash comes from its high half and the bits from its low half: block = (high * blocks) >> 32, and in
//! lane i the bit (low * salt i mod 2^32) >> 27. A filter has fewer than 2^32 blocks.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

use crate::bits::prefetch;
use crate::blocks::block_kernel::{BlockKernel, SALTS};
use crate::simd::Instructions;

/// The multipliers as the vector instructions want them.
#[cfg(target_arch = "x86_64")]
const SIGNED_SALTS: [i32; 8] = {
    let (mut signed, mut lane) = ([0; 8], 0);
    while lane < signed.len() {
        signed[lane] = SALTS[lane] as i32;
        lane += 1;
    }
    signed
};

/// 64-bit words in a block.
pub const BLOCK_WORDS: usize = 4;

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

/// The number of the block that a hash goes to.
#[inline]
fn block_of(blocks: usize, hash: u64) -> usize {
    (((hash >> 32) * blocks as u64) >> 32) as usize
}

/// The first word of the block that a hash goes to, among `words` words.
#[inline]
pub fn block_start(words: usize, hash: u64) -> usize {
    block_of(words / BLOCK_WORDS, hash) * BLOCK_WORDS
}

/// The block of a hash.
#[inline]
pub fn block<T>(words: &[T], hash: u64) -> &[T; BLOCK_WORDS] {
    let (blocks, _) = words.as_chunks();
    &blocks[block_of(blocks.len(), hash)]
}

/// The block of a hash, to be written.
#[inline]
pub fn block_mut<T>(words: &mut [T], hash: u64) -> &mut [T; BLOCK_WORDS] {
    let (blocks, _) = words.as_chunks_mut();
    &mut blocks[block_of(blocks.len(), hash)]
}

/// Asks for the line of a hash's block, to be read or written soon.
#[inline]
pub fn fetch<T>(words: &[T], hash: u64) {
    prefetch(block(words, hash));
}

/// The bits of a hash in its block: one in each 32-bit lane, chosen by the hash's low half.
#[inline]
pub fn bits(hash: u64) -> [u64; BLOCK_WORDS] {
    let bit = |lane: usize| 1_u64 << ((hash as u32).wrapping_mul(SALTS[lane]) >> 27);
    core::array::from_fn(|word| bit(2 * word) | bit(2 * word + 1) << 32)
}
