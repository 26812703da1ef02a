//! Memory of the module that the caller fills and reads.

use crate::outcome::run;
use core::alloc::Layout;
#[cfg(feature = "making")]
use petal::{Error, Result, Status};

/// Eight bytes are what numbers of 64 bits need.
fn layout(length: usize) -> Option<Layout> {
    Layout::from_size_align(length.max(8), 8).ok()
}

/// Memory for the caller; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn petal_allocate(length: usize) -> *mut u8 {
    let Some(layout) = layout(length) else { return core::ptr::null_mut() };
    // SAFETY: the layout has eight bytes or more.
    unsafe { std::alloc::alloc(layout) }
}

/// Gives memory back.
///
/// # Safety
/// `start` came from [`petal_allocate`] with this length, and nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_release(start: *mut u8, length: usize) {
    if let (false, Some(layout)) = (start.is_null(), layout(length)) {
        // SAFETY: the caller's promise.
        unsafe { std::alloc::dealloc(start, layout) };
    }
}

/// Gives away memory that [`petal_release`] takes back, with its length as the first two answers.
#[cfg(feature = "making")]
pub fn give(bytes: &[u8]) -> Result<i32> {
    let start = petal_allocate(bytes.len());
    if start.is_null() {
        return Err(Error::new(Status::OutOfMemory, format_args!("{} bytes could not be had", bytes.len())));
    }
    // SAFETY: the memory is new and has `bytes.len()` bytes.
    unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), start, bytes.len()) };
    crate::outcome::answer(0, start as u64);
    crate::outcome::answer(1, bytes.len() as u64);
    Ok(0)
}

/// The elements at an address; none if there are to be none.
///
/// # Safety
/// The caller's functions say so: `length` elements from `start` on are readable and nobody writes to them meanwhile.
pub unsafe fn slice<'a, T>(start: *const T, length: usize) -> &'a [T] {
    if length == 0 || start.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { core::slice::from_raw_parts(start, length) }
}

/// The elements at an address, to be written; `None` for null.
///
/// # Safety
/// `length` elements from `start` on are initialised, and nobody else uses them meanwhile.
pub unsafe fn room<'a, T>(start: *mut T, length: usize) -> Option<&'a mut [T]> {
    if start.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    Some(unsafe { core::slice::from_raw_parts_mut(start, length) })
}

/// Numbers as the fractions of which they are the bits.
#[cfg(feature = "making")]
pub fn reals(numbers: &[u64]) -> &[f64] {
    // SAFETY: both types have eight bytes and the same alignment on `wasm32`, and any bits are a fraction.
    unsafe { core::slice::from_raw_parts(numbers.as_ptr().cast(), numbers.len()) }
}

/// A name at an address.
///
/// # Safety
/// As [`slice`].
#[cfg(feature = "making")]
pub unsafe fn text<'a>(start: *const u8, length: usize) -> Result<&'a str> {
    // SAFETY: the caller's promise.
    core::str::from_utf8(unsafe { slice(start, length) })
        .map_err(|_| Error::new(Status::UnknownValue, format_args!("a name is not UTF-8")))
}

/// Fails on purpose, so that tests see what the caller makes of a module that stopped.
#[unsafe(no_mangle)]
pub extern "C" fn petal_stop() -> i32 {
    run(|| panic!("the caller asked for it"))
}
