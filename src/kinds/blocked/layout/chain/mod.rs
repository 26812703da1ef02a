//! Chains of arrays in the blocked layout.

#[cfg(target_arch = "x86_64")]
mod avx512;

use crate::blocks::block_kernel::chain::ChainKernel;
use crate::simd::Instructions;

/// The inner loops over chains, if the instruction set has any.
pub fn kernel(instructions: Instructions) -> Option<&'static ChainKernel> {
    match instructions.kernel() {
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        crate::simd::Kernel::Avx512 => Some(&avx512::KERNEL),
        _ => None,
    }
}
