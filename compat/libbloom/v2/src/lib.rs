//! `libbloom.so.2`: the functions of libbloom 2.0, with the same struct, bits, files, return codes and printed words.
//!
//! These libraries differ where libbloom crashes or reads what is not there. A NULL filter counts as not initialised.
//! Where few entries and a high error rate give a filter without bits, every key is present. A file whose numbers
//! contradict each other is refused. A filter without its array is not saved.

#![allow(non_camel_case_types, clippy::missing_safety_doc)]

#[cfg(not(target_pointer_width = "64"))]
compile_error!("libbloom 2.0 is for machines of 64 bits only");

mod file;
mod size;

pub use file::{bloom_load, bloom_save};

use core::ffi::{CStr, c_char, c_void};
use core::mem::offset_of;
use libc::{c_double, c_int, c_uint};
use petal_libbloom::{Key, add, allocate, check, not_initialized};

const VERSION: &CStr = c"2.0";
const MAJOR: u8 = 2;
const MINOR: u8 = 0;

/// `struct bloom`, which callers allocate, read and never write.
#[repr(C)]
pub struct bloom {
    entries: c_uint,
    bits: u64,
    bytes: u64,
    hashes: u8,
    error: c_double,
    ready: u8,
    major: u8,
    minor: u8,
    bpe: c_double,
    bf: *mut u8,
}

const _: () = {
    assert!(size_of::<bloom>() == 64);
    assert!(offset_of!(bloom, bits) == 8 && offset_of!(bloom, bytes) == 16 && offset_of!(bloom, hashes) == 24);
    assert!(offset_of!(bloom, error) == 32 && offset_of!(bloom, ready) == 40 && offset_of!(bloom, major) == 41);
    assert!(offset_of!(bloom, minor) == 42 && offset_of!(bloom, bpe) == 48 && offset_of!(bloom, bf) == 56);
};

/// Makes a filter ready for `entries` keys at the false-positive rate `error`: 0, or 1 where `entries` is below 1000,
/// `error` is not above 0 and below 1, or there is not enough memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloom_init2(bloom: *mut bloom, entries: c_uint, error: c_double) -> c_int {
    if bloom.is_null() {
        return 1;
    }
    // SAFETY: a pointer to a filter is one to memory of its size, and nobody else uses it meanwhile. Zeros are a value
    // of the struct.
    unsafe {
        bloom.write_bytes(0, 1);
        let Some(size) = size::of(entries, error) else {
            return 1;
        };
        (*bloom).entries = entries;
        (*bloom).error = error;
        (*bloom).bpe = size.bits_per_entry;
        (*bloom).bits = size.bits;
        (*bloom).bytes = size.bytes;
        (*bloom).hashes = size.hashes;
        (*bloom).bf = allocate(size.bytes);
        if (*bloom).bf.is_null() {
            return 1;
        }
        (*bloom).ready = 1;
        (*bloom).major = MAJOR;
        (*bloom).minor = MINOR;
    }
    0
}

/// `bloom_init2()` with the `int` of libbloom 1; a negative number of entries becomes a large one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloom_init(bloom: *mut bloom, entries: c_int, error: c_double) -> c_int {
    // SAFETY: `bloom` is NULL or points to a writable `struct bloom` (libbloom's contract).
    unsafe { bloom_init2(bloom, entries as c_uint, error) }
}

/// Where a key's bits are: (a + i b) mod the number of bits, with 64-bit numbers.
struct Positions {
    array: *mut u8,
    hashes: u8,
    bits: u64,
}

impl Positions {
    /// The bits of a filter that is ready; none if every key is present.
    ///
    /// # Safety
    /// `bloom` is ready.
    #[inline]
    unsafe fn of(bloom: *const bloom) -> Option<Positions> {
        // SAFETY: the caller promises that `bloom` is ready.
        let (array, hashes, bits) = unsafe { ((*bloom).bf, (*bloom).hashes, (*bloom).bits) };
        if hashes == 0 || bits == 0 { None } else { Some(Positions { array, hashes, bits }) }
    }

    /// Each position is the one before and the remainder of `b`, mod the number of bits.
    #[inline]
    fn of_key(&self, key: Key) -> impl Iterator<Item = u64> + use<> {
        let (bits, (a, b)) = (self.bits, key.hashes());
        let remainder = |number| u64::from(number).checked_rem(bits).unwrap_or(0);
        let (mut next, step) = (remainder(a), remainder(b));
        (0..self.hashes).map(move |_| {
            let (position, room) = (next, bits.wrapping_sub(next));
            next = if step >= room { step.wrapping_sub(room) } else { next.wrapping_add(step) };
            position
        })
    }
}

/// Whether a filter is there and ready.
///
/// # Safety
/// `bloom` is NULL or points to a filter.
#[inline]
unsafe fn is_ready(bloom: *const bloom) -> bool {
    // SAFETY: the caller promises that `bloom` is NULL or points to a filter.
    !bloom.is_null() && unsafe { (*bloom).ready } != 0
}

/// 1 if the key is present, or taken for one that is; 0 if it is not; -1 if the filter is not initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloom_check(bloom: *mut bloom, buffer: *const c_void, length: c_int) -> c_int {
    // SAFETY: a pointer to a filter is NULL or one to memory of its size.
    if !unsafe { is_ready(bloom) } {
        return not_initialized(bloom.cast());
    }
    // SAFETY: the filter is ready, and `length` bytes are readable at the key, or it is NULL (libbloom's contract).
    let (Some(positions), key) = (unsafe { (Positions::of(bloom), Key::new(buffer, length)) }) else {
        return 1;
    };
    // SAFETY: positions are below the number of bits, and `bf` has as many.
    unsafe { check(positions.array, positions.of_key(key)) }
}

/// Adds a key: 0 if it was not present, 1 if it was or was taken for one that is, -1 if the filter is not initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloom_add(bloom: *mut bloom, buffer: *const c_void, length: c_int) -> c_int {
    // SAFETY: a pointer to a filter is NULL or one to memory of its size.
    if !unsafe { is_ready(bloom) } {
        return not_initialized(bloom.cast());
    }
    // SAFETY: the filter is ready, and `length` bytes are readable at the key, or it is NULL (libbloom's contract).
    let (Some(positions), key) = (unsafe { (Positions::of(bloom), Key::new(buffer, length)) }) else {
        return 1;
    };
    // SAFETY: positions are below the number of bits, and `bf` has as many; adding needs the filter to itself.
    unsafe { add(positions.array, positions.of_key(key)) }
}

/// Prints what the filter is made of, to C's standard output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloom_print(bloom: *mut bloom) {
    // SAFETY: the formats take what follows them; a filter that is not NULL has its size.
    unsafe {
        libc::printf(c"bloom at %p\n".as_ptr(), bloom);
        if !is_ready(bloom) {
            libc::printf(c" *** NOT READY ***\n".as_ptr());
        }
        if bloom.is_null() {
            return;
        }
        libc::printf(c" ->version = %d.%d\n".as_ptr(), c_int::from((*bloom).major), c_int::from((*bloom).minor));
        libc::printf(c" ->entries = %u\n".as_ptr(), (*bloom).entries);
        libc::printf(c" ->error = %f\n".as_ptr(), (*bloom).error);
        libc::printf(c" ->bits = %lu\n".as_ptr(), (*bloom).bits);
        libc::printf(c" ->bits per elem = %f\n".as_ptr(), (*bloom).bpe);
        let kib = ((*bloom).bytes >> 10) as c_uint;
        libc::printf(c" ->bytes = %lu (%u KB, %u MB)\n".as_ptr(), (*bloom).bytes, kib, kib >> 10);
        libc::printf(c" ->hash functions = %d\n".as_ptr(), c_int::from((*bloom).hashes));
    }
}

/// Frees the bit array. The filter is then not initialised; freeing it once more does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloom_free(bloom: *mut bloom) {
    // SAFETY: a ready filter has an array of C's heap.
    unsafe {
        if is_ready(bloom) {
            libc::free((*bloom).bf.cast());
            (*bloom).ready = 0;
        }
    }
}

/// Removes all keys: 0, or 1 if the filter is not initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloom_reset(bloom: *mut bloom) -> c_int {
    // SAFETY: a ready filter has an array of as many bytes as it says.
    unsafe {
        if !is_ready(bloom) {
            return 1;
        }
        (*bloom).bf.write_bytes(0, (*bloom).bytes as usize);
    }
    0
}

/// Adds the keys of `source` to `destination`: 0, 1 if the two were not made alike, or -1 if one is not initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloom_merge(destination: *mut bloom, source: *mut bloom) -> c_int {
    // SAFETY: ready filters have arrays of as many bytes as they say. The two may be one, so no references are made.
    unsafe {
        if !is_ready(destination) {
            return not_initialized(destination.cast());
        }
        if !is_ready(source) {
            return not_initialized(source.cast());
        }
        let alike = (*destination).entries == (*source).entries
            && (*destination).error == (*source).error
            && (*destination).major == (*source).major
            && (*destination).minor == (*source).minor
            && (*destination).bytes == (*source).bytes;
        if !alike {
            return 1;
        }
        for i in 0..(*source).bytes as usize {
            *(*destination).bf.add(i) |= *(*source).bf.add(i);
        }
    }
    0
}

/// The version whose functions these are: "2.0".
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
