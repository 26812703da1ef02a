// How the library reads what pointers of C point to, and writes there: structs by their size, arrays, strings.

use petal_core::{Error, Result, Status};
use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr;

/// The error for a required pointer that is NULL.
#[cold]
pub(crate) fn null(name: &str) -> Error {
    Error::new(Status::NullPointer, format_args!("{name} is NULL"))
}

/// An error about one value.
pub(crate) fn error(status: Status, message: std::fmt::Arguments) -> Error {
    Error::new(status, message)
}

/// A C struct that starts with its size and grows at its end.
///
/// # Safety
/// Its first field is `struct_size: usize`, all of its bit patterns are valid, it has no padding, and
/// `FIRST_SIZE <= size_of::<Self>()`.
pub(crate) unsafe trait SizedStruct: Copy {
    /// The size that the struct had in the first release, which the oldest callers send. It never changes.
    const FIRST_SIZE: usize;
}

/// The greatest size that a struct may claim; a larger number is not a size.
const MAX_STRUCT_SIZE: usize = 4096;

/// The size that a struct claims. 0 stands for the size in the first release, so that `= {0}` is a struct that can be
/// used.
#[inline]
fn size_of_struct<T: SizedStruct>(size: usize) -> Result<usize> {
    const { assert!(T::FIRST_SIZE <= size_of::<T>(), "structs only grow") };
    match size {
        0 => Ok(T::FIRST_SIZE),
        _ if (T::FIRST_SIZE..=MAX_STRUCT_SIZE).contains(&size) => Ok(size),
        _ => Err(wrong_size::<T>(size)),
    }
}

/// Whether a struct claims the size of this version, with all fields.
#[inline(always)]
pub(crate) fn is_whole<T: SizedStruct>(size: usize) -> bool {
    size == size_of::<T>() || (size == 0 && T::FIRST_SIZE == size_of::<T>())
}

#[cold]
#[inline(never)]
fn wrong_size<T: SizedStruct>(size: usize) -> Error {
    let name = std::any::type_name::<T>().rsplit("::").next().unwrap_or_default();
    let message = format_args!("struct_size = {size} of a {name}, which has {} bytes", size_of::<T>());
    error(Status::StructSize, message)
}

/// Reads a struct that the caller filled in, after checking its size and the bytes after its known part. Fields that
/// the caller's version does not have are zero, which is their default.
///
/// # Safety
/// `pointer` points to a `struct_size` and as many bytes as that says.
pub(crate) unsafe fn read<T: SizedStruct>(pointer: *const T) -> Result<T> {
    // SAFETY: the struct starts with its size.
    let size = size_of_struct::<T>(unsafe { pointer.cast::<usize>().read_unaligned() })?;
    let known = size.min(size_of::<T>());
    // SAFETY: `size` bytes are there.
    let rest = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>().add(known), size - known) };
    if let Some(i) = rest.iter().position(|byte| *byte != 0) {
        let offset = known + i;
        return Err(error(Status::StructSize, format_args!("byte {offset} of the struct is set but not known")));
    }
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: the known part is there and fits; all bit patterns of the struct are valid, zeros included.
    unsafe {
        ptr::copy_nonoverlapping(pointer.cast::<u8>(), value.as_mut_ptr().cast::<u8>(), known);
        Ok(value.assume_init())
    }
}

/// Reads a struct that may be NULL, which stands for all zeros.
///
/// # Safety
/// As [`read`], or NULL.
pub(crate) unsafe fn read_optional<T: SizedStruct>(pointer: *const T) -> Result<Option<T>> {
    // SAFETY: `pointer` is not NULL here, and has as many bytes as its `struct_size` says, as the safety section asks.
    if pointer.is_null() { Ok(None) } else { unsafe { read(pointer) }.map(Some) }
}

/// Checks the size of a struct that is to be filled in. NULL has none to check.
///
/// # Safety
/// As [`read_optional`].
pub(crate) unsafe fn check_out<T: SizedStruct>(pointer: *mut T) -> Result<()> {
    if pointer.is_null() {
        return Ok(());
    }
    // SAFETY: the struct starts with its size.
    size_of_struct::<T>(unsafe { pointer.cast::<usize>().read_unaligned() }).map(drop)
}

/// Fills in the fields that the caller's version of a struct has. Its size and the bytes after the known part stay as
/// they are.
///
/// # Safety
/// [`check_out`] was asked.
pub(crate) unsafe fn write<T: SizedStruct>(pointer: *mut T, value: T) {
    const START: usize = size_of::<usize>();
    // SAFETY: the struct starts with its size.
    let size = size_of_struct::<T>(unsafe { pointer.cast::<usize>().read_unaligned() });
    // SAFETY: as many bytes as the struct's size are there and writable; those of `value` have no padding among them.
    unsafe {
        let known = size.unwrap_or(T::FIRST_SIZE).min(size_of::<T>());
        let (from, to) = ((&raw const value).cast::<u8>().add(START), pointer.cast::<u8>().add(START));
        ptr::copy_nonoverlapping(from, to, known - START);
    }
}

/// The system's file descriptor, or its HANDLE. C gives it in a type that holds both.
#[cfg_attr(windows, allow(clippy::useless_conversion, reason = "a HANDLE has the type that C gives"))]
pub(crate) fn descriptor(descriptor: isize) -> Result<petal_core::storage::Descriptor> {
    let message = format_args!("descriptor = {descriptor} is none that this system has: they are of 32 bits");
    petal_core::storage::Descriptor::try_from(descriptor).map_err(|_| error(Status::OutOfRange, message))
}

/// Copies text into a zeroed array; its last byte stays 0.
pub(crate) fn copy_text(text: &str, array: &mut [c_char]) {
    let room = array.len() - 1;
    for (to, from) in array[..room].iter_mut().zip(text.bytes()) {
        *to = from as c_char;
    }
}

/// The bytes of a key, or of any buffer: NULL is allowed where the length is 0.
///
/// # Safety
/// `length` bytes are readable.
#[inline]
pub(crate) unsafe fn bytes<'a>(pointer: *const u8, length: usize, name: &str) -> Result<&'a [u8]> {
    // SAFETY: `pointer` has `length` readable bytes, as the safety section asks.
    unsafe { bytes_at_once(pointer, length) }.ok_or_else(|| {
        if pointer.is_null() {
            return null(name);
        }
        error(Status::TooLarge, format_args!("{length} bytes of {name} are more than can be"))
    })
}

/// [`bytes`] without an error that says what is wrong.
///
/// # Safety
/// As [`bytes`].
#[inline(always)]
pub(crate) unsafe fn bytes_at_once<'a>(pointer: *const u8, length: usize) -> Option<&'a [u8]> {
    if length == 0 {
        return Some(&[]);
    }
    if pointer.is_null() || length > isize::MAX as usize {
        return None;
    }
    // SAFETY: `pointer` is not NULL and has `length` bytes, which fit an isize, as the safety section asks.
    Some(unsafe { std::slice::from_raw_parts(pointer, length) })
}

/// An array; NULL is allowed where it has no elements.
///
/// # Safety
/// `length` elements are readable, and any bytes are one.
#[inline]
pub(crate) unsafe fn elements<'a, T>(pointer: *const T, length: usize, name: &str) -> Result<&'a [T]> {
    // SAFETY: `pointer` has `length` readable elements, as the safety section asks.
    unsafe { elements_at_once(pointer, length) }.ok_or_else(|| {
        if pointer.is_null() {
            return null(name);
        }
        if !pointer.is_aligned() {
            return error(Status::Misaligned, format_args!("{name} is not aligned to {} bytes", align_of::<T>()));
        }
        error(Status::TooLarge, format_args!("{length} elements of {name} are more than can be"))
    })
}

/// [`elements`] without an error that says what is wrong.
///
/// # Safety
/// As [`elements`].
#[inline(always)]
pub(crate) unsafe fn elements_at_once<'a, T>(pointer: *const T, length: usize) -> Option<&'a [T]> {
    if length == 0 {
        return Some(&[]);
    }
    if pointer.is_null() || !pointer.is_aligned() || length > isize::MAX as usize / size_of::<T>() {
        return None;
    }
    // SAFETY: `pointer` is not NULL, is aligned, and has `length` elements, which fit an isize.
    Some(unsafe { std::slice::from_raw_parts(pointer, length) })
}

/// An array to be written; NULL is allowed where it has no elements.
///
/// # Safety
/// `length` elements are writable, nobody else uses them, and any bytes are one.
pub(crate) unsafe fn elements_mut<'a, T>(pointer: *mut T, length: usize, name: &str) -> Result<&'a mut [T]> {
    if length == 0 {
        return Ok(&mut []);
    }
    // SAFETY: nobody else uses the `length` elements, as the safety section asks; `elements` has looked at the rest.
    unsafe {
        elements(pointer, length, name)?;
        Ok(std::slice::from_raw_parts_mut(pointer, length))
    }
}

/// A C string that is a path; on Windows it is UTF-8.
///
/// # Safety
/// It is not NULL and ends with a NUL.
pub(crate) unsafe fn read_path<'a>(pointer: *const c_char) -> Result<&'a Path> {
    // SAFETY: `pointer` is not NULL and ends with a NUL, as the safety section asks.
    let path = unsafe { CStr::from_ptr(pointer) };
    #[cfg(unix)]
    return Ok(Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(path.to_bytes())));
    #[cfg(not(unix))]
    path.to_str().map(Path::new).map_err(|_| error(Status::OutOfRange, format_args!("the path is not UTF-8")))
}

/// A C string that is a name.
///
/// # Safety
/// It is not NULL and ends with a NUL.
pub(crate) unsafe fn name<'a>(pointer: *const c_char) -> Result<&'a str> {
    // SAFETY: `pointer` is not NULL and ends with a NUL, as the safety section asks.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| error(Status::UnknownValue, format_args!("a name is not UTF-8")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A struct as it might be after two releases appended a field each.
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Grown {
        struct_size: usize,
        first: u64,
        second: u64,
        third: u64,
    }

    // SAFETY: numbers, without padding, its size first.
    unsafe impl SizedStruct for Grown {
        const FIRST_SIZE: usize = 16;
    }

    #[test]
    fn older_and_newer_structs_are_understood() {
        for (words, expected) in [(2, Some((1, 0, 0))), (3, Some((1, 2, 0))), (4, Some((1, 2, 3))), (1, None)] {
            let sent = [8 * words, 1, 2, 3, 0, 0_usize];
            // SAFETY: as many words are there as the first says.
            let read = unsafe { read(sent.as_ptr().cast::<Grown>()) };
            assert_eq!(read.ok().map(|value| (value.first, value.second, value.third)), expected, "{words} words");
        }
        let mut newer = [48_usize, 1, 2, 3, 0, 0];
        // SAFETY: six words are there, as many as the first says.
        assert!(unsafe { read(newer.as_ptr().cast::<Grown>()) }.is_ok());
        newer[5] = 1;
        // SAFETY: six words are there, as many as the first says.
        assert_eq!(unsafe { read(newer.as_ptr().cast::<Grown>()) }.err().unwrap().status(), Status::StructSize);
    }

    #[test]
    fn older_callers_get_no_more_than_they_have_room_for() {
        let value = Grown { struct_size: 0, first: 1, second: 2, third: 3 };
        for (words, expected) in
            [(2, [16, 1, 9, 9, 9]), (3, [24, 1, 2, 9, 9]), (4, [32, 1, 2, 3, 9]), (5, [40, 1, 2, 3, 9])]
        {
            let mut place = [9_usize; 5];
            place[0] = 8 * words;
            // SAFETY: five words are there.
            unsafe {
                check_out(place.as_mut_ptr().cast::<Grown>()).unwrap();
                write(place.as_mut_ptr().cast::<Grown>(), value);
            }
            assert_eq!(place, expected);
        }
    }
}
