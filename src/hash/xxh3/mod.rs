//! XXH3 of `u64` keys: what the published function does with inputs of eight bytes, for many keys in one call. There is
//! the 64-bit hash, and the 128 bits by which maps know keys.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
pub(crate) mod portable;

pub use portable::{hash_u64, identify_u64};

use crate::simd::Instructions;

/// A seed, with its upper half mixed with its reversed lower half.
fn spread(seed: u64) -> u64 {
    seed ^ (u64::from((seed as u32).swap_bytes()) << 32)
}

/// What the key is mixed with first for 128 bits: 16 other bytes of the secret, folded into 8, and the seed.
#[inline]
pub fn flip_128(seed: u64) -> u64 {
    (0xdb97_9083_e96d_d4de_u64 ^ 0x1f67_b3b7_a4a4_4072).wrapping_add(spread(seed))
}

/// What the key is mixed with first for 64 bits: 16 bytes of XXH3's fixed secret, folded into 8, less the seed, whose
/// upper half is first mixed with its reversed lower half.
pub fn flip(seed: u64) -> u64 {
    (0x1cad_21f7_2c81_017c_u64 ^ 0xdb97_9083_e96d_d4de).wrapping_sub(spread(seed))
}

/// XXH3's multiplier for short inputs.
pub const MULTIPLIER: u64 = 0x9fb2_1c65_1e98_df25;

/// The hashes of many keys under the seed that `flip` was made from ([`flip`]); `hashes` is as long as `keys`.
pub fn hash_u64s(instructions: Instructions, flip: u64, keys: &[u64], hashes: &mut [u64]) {
    match instructions.kernel() {
        // SAFETY: `instructions` are only those that the processor has.
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        crate::simd::Kernel::Avx512 => unsafe { avx512::hash_u64s(flip, keys, hashes) },
        // SAFETY: `instructions` are only those that the processor has.
        #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
        crate::simd::Kernel::Avx2 => unsafe { avx2::hash_u64s(flip, keys, hashes) },
        // NEON cannot multiply 64-bit numbers, which is most of the work.
        _ => portable::hash_u64s(flip, keys, hashes),
    }
}
