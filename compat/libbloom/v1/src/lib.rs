//! `libbloom.so.1`: the functions of libbloom 1.6, with the same struct, bits, return codes and printed words.
//!
//! Two things differ, both where libbloom ends the process. A NULL filter counts as not initialised. Where few
//! entries and a high error rate give a filter without bits, every key is present.

#![allow(non_camel_case_types, clippy::missing_safety_doc)]

use core::ffi::{CStr, c_char, c_void};
use core::hint::black_box;
use core::mem::offset_of;
use libc::{c_double, c_int, c_uint};
use petal_libbloom::{Key, LN_2, LN_2_SQUARED, MIN_ENTRIES, add, allocate, check, not_initialized};

const VERSION: &CStr = c"1.6";

/// `struct bloom`, which callers allocate, read and never write.
#[repr(C)]
pub struct bloom {
    entries: c_int,
    error: c_double,
    /// The number of bits; negative where `error` was above 1.
    bits: c_int,
    bytes: c_int,
    hashes: c_int,
    bpe: c_double,
    bf: *mut u8,
    ready: c_int,
}

const _: () = {
    assert!(size_of::<bloom>() == 56);
    assert!(offset_of!(bloom, error) == 8 && offset_of!(bloom, bits) == 16 && offset_of!(bloom, bytes) == 20);
    assert!(offset_of!(bloom, hashes) == 24 && offset_of!(bloom, bpe) == 32);
    assert!(offset_of!(bloom, bf) == 40 && offset_of!(bloom, ready) == 48);
};

/// A number as a C compiler converts it to `int`. What does not fit is undefined in C: x86-64 gives the least `int`,
/// other processors the nearest.
fn to_int(number: c_double) -> c_int {
    let fits = number > -2_147_483_649.0 && number < 2_147_483_648.0;
    if cfg!(target_arch = "x86_64") && !fits { c_int::MIN } else { number as c_int }
}

/// Makes a filter ready for `entries` keys at the false-positive rate `error`: 0, or 1 where `entries` is below 1000,
/// `error` is 0 or there is not enough memory.
///
/// `error` above 0.5 or so gives few bits, 1 none, and above 1 a negative number of them, for which there is no memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloom_init(bloom: *mut bloom, entries: c_int, error: c_double) -> c_int {
    if bloom.is_null() {
        return 1;
    }
    // SAFETY: a pointer to a filter is one to memory of its size, whatever is in it, and nobody else uses it meanwhile.
    unsafe {
        (*bloom).ready = 0;
        if entries < MIN_ENTRIES || error == 0.0 {
            return 1;
        }
        (*bloom).entries = entries;
        (*bloom).error = error;
        // Negated last, as libbloom does: what is not a number has a sign too, and callers see it.
        let bits_per_entry = -black_box(error.ln() / LN_2_SQUARED);
        (*bloom).bpe = bits_per_entry;
        let bits = to_int(c_double::from(entries) * bits_per_entry);
        let bytes = bits / 8 + c_int::from(bits % 8 != 0);
        (*bloom).bits = bits;
        (*bloom).bytes = bytes;
        (*bloom).hashes = to_int((LN_2 * bits_per_entry).ceil());
        (*bloom).bf = allocate(i64::from(bytes) as u64);
        if (*bloom).bf.is_null() {
            return 1;
        }
        (*bloom).ready = 1;
    }
    0
}

/// `bloom_init()`. libbloom has deprecated it; the size of a cache is not looked at.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloom_init_size(
    bloom: *mut bloom,
    entries: c_int,
    error: c_double,
    _cache_size: c_uint,
) -> c_int {
    // SAFETY: `bloom` is NULL or points to a writable `struct bloom` (libbloom's contract).
    unsafe { bloom_init(bloom, entries, error) }
}

/// The remainder of 32-bit numbers by a divisor, with multiplications: Lemire, Kaser and Kurz, "Faster remainder by
/// direct computation", 2019. The one division is done while the key is hashed.
#[derive(Clone, Copy)]
struct Divisor {
    divisor: u32,
    /// 2^64 / divisor, rounded up.
    reciprocal: u64,
}

impl Divisor {
    /// A divisor that is not 0.
    #[inline]
    fn new(divisor: u32) -> Option<Divisor> {
        Some(Divisor { divisor, reciprocal: u64::MAX.checked_div(divisor.into())?.wrapping_add(1) })
    }

    #[inline]
    fn remainder(self, number: u32) -> u64 {
        let fraction = self.reciprocal.wrapping_mul(number.into());
        ((u128::from(fraction) * u128::from(self.divisor)) >> 64) as u64
    }
}

/// Where a key's bits are: (a + i b) mod 2^32, then mod the number of bits.
struct Positions {
    bits: *mut u8,
    hashes: u32,
    divisor: Divisor,
}

impl Positions {
    /// The bits of a filter that is ready; none if every key is present.
    ///
    /// # Safety
    /// `bloom` is ready.
    #[inline]
    unsafe fn of(bloom: *const bloom) -> Option<Positions> {
        // SAFETY: the caller promises that `bloom` is ready.
        let (bits, hashes, divisor) = unsafe { ((*bloom).bf, (*bloom).hashes as u32, (*bloom).bits as u32) };
        if hashes == 0 { None } else { Some(Positions { bits, hashes, divisor: Divisor::new(divisor)? }) }
    }

    #[inline]
    fn of_key(&self, key: Key) -> impl Iterator<Item = u64> + use<> {
        let (divisor, (a, b)) = (self.divisor, key.hashes());
        (0..self.hashes).map(move |i| divisor.remainder(a.wrapping_add(i.wrapping_mul(b))))
    }
}

/// 1 if the key is present, or taken for one that is; 0 if it is not; -1 if the filter is not initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloom_check(bloom: *mut bloom, buffer: *const c_void, length: c_int) -> c_int {
    // SAFETY: a pointer to a filter is NULL or one to memory of its size.
    if bloom.is_null() || unsafe { (*bloom).ready } == 0 {
        return not_initialized(bloom.cast());
    }
    // SAFETY: the filter is ready, and `length` bytes are readable at the key, or it is NULL (libbloom's contract).
    let (Some(positions), key) = (unsafe { (Positions::of(bloom), Key::new(buffer, length)) }) else {
        return 1;
    };
    // SAFETY: positions are below the number of bits, and `bf` has as many.
    unsafe { check(positions.bits, positions.of_key(key)) }
}

/// Adds a key: 0 if it was not present, 1 if it was or was taken for one that is, -1 if the filter is not initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloom_add(bloom: *mut bloom, buffer: *const c_void, length: c_int) -> c_int {
    // SAFETY: a pointer to a filter is NULL or one to memory of its size.
    if bloom.is_null() || unsafe { (*bloom).ready } == 0 {
        return not_initialized(bloom.cast());
    }
    // SAFETY: the filter is ready, and `length` bytes are readable at the key, or it is NULL (libbloom's contract).
    let (Some(positions), key) = (unsafe { (Positions::of(bloom), Key::new(buffer, length)) }) else {
        return 1;
    };
    // SAFETY: positions are below the number of bits, and `bf` has as many; adding needs the filter to itself.
    unsafe { add(positions.bits, positions.of_key(key)) }
}

/// Prints what the filter is made of, to C's standard output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloom_print(bloom: *mut bloom) {
    // SAFETY: the formats take what follows them; a filter that is not NULL has its size.
    unsafe {
        libc::printf(c"bloom at %p\n".as_ptr(), bloom);
        if bloom.is_null() {
            return;
        }
        libc::printf(c" ->entries = %d\n".as_ptr(), (*bloom).entries);
        libc::printf(c" ->error = %f\n".as_ptr(), (*bloom).error);
        libc::printf(c" ->bits = %d\n".as_ptr(), (*bloom).bits);
        libc::printf(c" ->bits per elem = %f\n".as_ptr(), (*bloom).bpe);
        libc::printf(c" ->bytes = %d\n".as_ptr(), (*bloom).bytes);
        libc::printf(c" ->hash functions = %d\n".as_ptr(), (*bloom).hashes);
    }
}

/// Frees the bit array. The filter is then not initialised; freeing it once more does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloom_free(bloom: *mut bloom) {
    if bloom.is_null() {
        return;
    }
    // SAFETY: a ready filter has an array of C's heap.
    unsafe {
        if (*bloom).ready != 0 {
            libc::free((*bloom).bf.cast());
        }
        (*bloom).ready = 0;
    }
}

/// Removes all keys: 0, or 1 if the filter is not initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloom_reset(bloom: *mut bloom) -> c_int {
    // SAFETY: a ready filter has an array of as many bytes as it says.
    unsafe {
        if bloom.is_null() || (*bloom).ready == 0 {
            return 1;
        }
        (*bloom).bf.write_bytes(0, (*bloom).bytes as usize);
    }
    0
}

/// The version whose functions these are: "1.6".
#[unsafe(no_mangle)]
pub extern "C" fn bloom_version() -> *const c_char {
    VERSION.as_ptr()
}

/// MurmurHash2 of `length` bytes, which libbloom exports besides.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn murmurhash2(key: *const c_void, length: c_int, seed: c_uint) -> c_uint {
    // SAFETY: `length` bytes are readable at `key`, or it is NULL (libbloom's contract).
    unsafe { Key::new(key, length) }.murmurhash2(seed)
}

#[cfg(test)]
mod tests;
