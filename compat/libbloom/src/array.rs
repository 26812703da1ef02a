use core::sync::atomic::{AtomicU8, Ordering::Relaxed};
use libc::c_int;

/// A bit array of `bytes` zero bytes, or NULL. Owned by C's heap, because callers may look at it and programs that were
/// compiled against libbloom's own header may free it.
pub fn allocate(bytes: u64) -> *mut u8 {
    match usize::try_from(bytes) {
        // SAFETY: any sizes may be asked for; one that is too large is refused.
        Ok(bytes) => unsafe { libc::calloc(bytes, 1).cast() },
        Err(_) => core::ptr::null_mut(),
    }
}

/// The byte of a bit. Atomic, so that threads which only check may go on while one adds, as they may over libbloom; it
/// costs nothing.
///
/// # Safety
/// The byte of `bit` lies in an array at `bits` that stays for `'a`, and is not written to but through this function.
#[inline(always)]
unsafe fn byte<'a>(bits: *mut u8, bit: u64) -> &'a AtomicU8 {
    // SAFETY: the caller promises that the byte of `bit` lies in an array at `bits` that stays for `'a`, and is not
    // written to but through this function; a byte is aligned wherever it lies.
    unsafe { AtomicU8::from_ptr(bits.add((bit >> 3) as usize)) }
}

/// Bits that are looked at before the first decision. Half of the bits of a full filter are set, so one decision a bit
/// is guessed wrong for most absent keys; after four it is nearly always the right one.
const AT_ONCE: usize = 4;

/// 1 if all bits of a key are set, else 0.
///
/// # Safety
/// All positions lie in the array at `bits`.
#[inline(always)]
pub unsafe fn check(bits: *mut u8, mut positions: impl Iterator<Item = u64>) -> c_int {
    let mut all_set = 1;
    while all_set == 1 {
        for _ in 0..AT_ONCE {
            let Some(bit) = positions.next() else {
                return all_set;
            };
            // SAFETY: the caller promises that all positions lie in the array at `bits`.
            all_set &= c_int::from(unsafe { byte(bits, bit) }.load(Relaxed)) >> (bit & 7);
        }
    }
    0
}

/// Sets all bits of a key; 1 if they were set before, else 0.
///
/// # Safety
/// All positions lie in the array at `bits`, and no other thread adds.
#[inline(always)]
pub unsafe fn add(bits: *mut u8, positions: impl Iterator<Item = u64>) -> c_int {
    let mut all_set = 1;
    for bit in positions {
        // SAFETY: the caller promises that all positions lie in the array at `bits`, and no other thread adds.
        let byte = unsafe { byte(bits, bit) };
        let before = byte.load(Relaxed);
        all_set &= c_int::from(before) >> (bit & 7);
        // Without asking whether it was set, which cannot be guessed.
        byte.store(before | 1 << (bit & 7), Relaxed);
    }
    all_set
}
