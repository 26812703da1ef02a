//! The layout of RocksDB's `FastLocalBloom`: blocks of 512 bits, in which a key has bits anywhere.
//!
//! The block of a hash comes from its low half: block = (low * blocks) >> 32. Its bits come from the high half, which
//! is multiplied by an odd number, modulo 2^32, from one bit to the next; the highest nine bits are the place of the
//! bit. Bits of one key may coincide.
//!
//! The number of masks ([`probes`]) tells the kernels how many bits a key has; the masks themselves mean nothing.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use crate::bits::prefetch;
use crate::blocks::block_kernel::BlockKernel;
use crate::simd::Instructions;

/// 64-bit words in a block.
pub const BLOCK_WORDS: usize = 8;

/// The most bits that a key sets: what RocksDB reads.
pub const MAX_HASHES: u32 = 30;

/// 2^32 over the golden ratio, made odd.
const MULTIPLIER: u32 = 0x9e37_79b9;

/// The inner loops of the layout.
pub fn kernel(instructions: Instructions) -> &'static BlockKernel {
    match instructions.kernel() {
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        crate::simd::Kernel::Avx512 => &avx512::KERNEL,
        #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
        crate::simd::Kernel::Avx2 => &avx2::KERNEL,
        _ => &portable::KERNEL,
    }
}

/// As many masks as a key sets bits, at most [`MAX_HASHES`].
pub fn probes(hashes: u32) -> &'static [u16] {
    &[0; MAX_HASHES as usize][..hashes.min(MAX_HASHES) as usize]
}

/// The number of the block that a hash goes to.
#[inline]
pub fn block_of(blocks: u64, hash: u64) -> u64 {
    ((hash & 0xffff_ffff) * blocks) >> 32
}

/// The block of a hash.
#[inline]
fn block<T>(words: &[T], hash: u64) -> &[T; BLOCK_WORDS] {
    let (blocks, _) = words.as_chunks();
    &blocks[block_of(blocks.len() as u64, hash) as usize]
}

/// The block of a hash, to be written.
#[inline]
fn block_mut<T>(words: &mut [T], hash: u64) -> &mut [T; BLOCK_WORDS] {
    let (blocks, _) = words.as_chunks_mut();
    &mut blocks[block_of(blocks.len() as u64, hash) as usize]
}

/// Asks for the line of a hash's block, to be read or written soon.
#[inline]
fn fetch<T>(words: &[T], hash: u64) {
    prefetch(block(words, hash));
}

/// Visits the bits of a key in order, each as the place of its word in the block and a word with that bit. Returns
/// whether `visit` said true of any.
///
/// It takes as many steps as the key has bits, whatever it finds, because a branch on that would be mispredicted too
/// often.
#[inline]
fn any_bit(masks: &[u16], hash: u64, mut visit: impl FnMut(usize, u64) -> bool) -> bool {
    let (mut state, mut any) = ((hash >> 32) as u32, false);
    for _ in masks {
        any |= visit((state >> 29) as usize, 1 << (state >> 23 & 63));
        state = state.wrapping_mul(MULTIPLIER);
    }
    any
}

/// The powers of the multiplier, from the zeroth on: what the high half of a hash is multiplied by for each bit.
#[cfg(target_arch = "x86_64")]
const POWERS: [u32; 32] = {
    let (mut powers, mut i) = ([1_u32; 32], 1);
    while i < powers.len() {
        powers[i] = powers[i - 1].wrapping_mul(MULTIPLIER);
        i += 1;
    }
    powers
};
