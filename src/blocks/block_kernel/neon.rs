//! What the kernels for NEON have in common. Every aarch64 processor has it. Block, lanes and hash of a key are scalar
//! arithmetic; its bits are vectors of four lanes.

use core::arch::aarch64::*;

/// The 16 bytes at an address, in which another thread may be setting bits.
///
/// Each aligned eight bytes of a vector load are read in one piece, so this is two relaxed loads. It is written in
/// assembly because the language knows no atomic load of a vector, and a plain one would be a data race.
///
/// # Safety
/// The bytes are readable.
#[inline]
pub unsafe fn load(address: *const u64) -> uint32x4_t {
    let quarter;
    // SAFETY: the caller promises that the bytes are readable; nothing is written but the register.
    unsafe {
        core::arch::asm!("ldr {:q}, [{}]", out(vreg) quarter, in(reg) address,
            options(pure, readonly, nostack, preserves_flags));
    }
    quarter
}

/// Four numbers as a vector.
#[inline]
pub fn vector(numbers: [u32; 4]) -> uint32x4_t {
    // SAFETY: four numbers.
    unsafe { vld1q_u32(numbers.as_ptr()) }
}

/// Four signed numbers as a vector: how far lanes are shifted to the left.
#[inline]
pub fn shifts(numbers: [i32; 4]) -> int32x4_t {
    // SAFETY: four numbers.
    unsafe { vld1q_s32(numbers.as_ptr()) }
}

/// Whether all bits of all vectors are zero.
#[inline]
pub fn are_zero(missing: impl IntoIterator<Item = uint32x4_t>) -> bool {
    // SAFETY: arithmetic on registers, with instructions of every aarch64 processor.
    unsafe { vmaxvq_u32(missing.into_iter().fold(vdupq_n_u32(0), |all, some| vorrq_u32(all, some))) == 0 }
}

/// Sets bits in quarters of lines; returns whether any of them was missing.
///
/// # Safety
/// From `block` on, `QUARTERS` times 16 bytes are writable and nobody else's.
#[inline]
pub unsafe fn put_in<const QUARTERS: usize>(block: *mut u32, bits: [uint32x4_t; QUARTERS]) -> bool {
    !are_zero(bits.into_iter().enumerate().map(|(quarter, bits)| {
        // SAFETY: the caller's promise.
        unsafe {
            let place = block.add(4 * quarter);
            let old = vld1q_u32(place);
            vst1q_u32(place, vorrq_u32(old, bits));
            vbicq_u32(bits, old)
        }
    }))
}
