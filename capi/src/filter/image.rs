//! FILTERS: IMAGES AND FILES
//!
//! A filter's image, a header of 256 bytes, the payload and a table of checksums, is the same in
//! memory and in a file; docs/format.md specifies it. Files open in constant time, mapped. Saving
//! replaces the file atomically: processes that have the old one mapped keep it.
//!
//! An image is *clean* if somebody vouched for exactly these bytes and they match their checksums.
//! Otherwise it is *dirty*: nobody does. One that is changed in place is marked dirty on its disk
//! before the first change. If it was clean before, `petal_filter_sync()` or `petal_filter_free()`
//! makes it clean again. If the process dies between, it still opens, every key whose insertion had
//! returned is still found unless the machine itself went down, and it stays dirty, whatever is
//! done with it and copied from it, until somebody calls `petal_filter_vouch()`.
//!
//! What it costs. The payload has regions of 64 KiB with a checksum each. Before a handle changes a
//! region for the first time since it was opened or synced, it reads the region and compares it;
//! one that does not match is not changed (`PETAL_ERR_CORRUPT`), so that damage never gets a new
//! checksum. Sync and free read the regions that were changed, and the table, a word for each
//! region. Clearing, merging, intersecting and a writable view change all regions.

use super::{give, petal_filter};
use crate::boundary::{self, NO_ERROR, boundary, read_path};
use crate::status::{petal_error, petal_status};
use petal_core::{Error, Image, Mode, OpenOptions, Result, Status};
use std::ffi::{c_char, c_void};
use std::ptr::NonNull;

/// How an image is opened: one of `PETAL_OPEN_*`. Since 0.1.
pub type petal_open_mode = u32;

/// In place, for reading: constant time. The payload is not checked; `petal_filter_verify()` does that.
pub const PETAL_OPEN_READ: petal_open_mode = 0;
/// In place, for reading and writing, as the only writer.
pub const PETAL_OPEN_WRITE: petal_open_mode = 1;
/// Copied into memory of its own, and its checksums checked; a dirty image has none, and its copy is dirty.
pub const PETAL_OPEN_LOAD: petal_open_mode = 2;
/// In place, for reading and for `petal_filter_insert_shared()`, together with any number of handles, threads and
/// processes that open it with this mode. The image is dirty meanwhile. The last one to close a file makes it clean, if
/// it was clean when the first one opened it and none of them died, which is not known earlier: what they copy or save
/// before is as clean as the image was. Opening reads the table of checksums, and waits while the last one makes the
/// file clean, for as long as that takes. A buffer has no locks, so nobody knows who is the last: it stays dirty until
/// a handle that is opened for writing, when nobody shares it any more, calls `petal_filter_vouch()`.
pub const PETAL_OPEN_SHARE: petal_open_mode = 3;

/// How to open. NULL stands for all zeros. Since 0.1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_open_options {
    /// sizeof(petal_open_options).
    pub struct_size: usize,
    /// One of `PETAL_OPEN_*`.
    pub mode: petal_open_mode,
    /// 0.
    pub reserved: u32,
    /// The secret key of a keyed filter; all zeros is none. Without it byte and uint64_t keys cannot be hashed, but
    /// all else works.
    pub key: [u8; 16],
}

// SAFETY: numbers, arrays of numbers and nullable pointers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_open_options {
    const FIRST_SIZE: usize = 32;
}

/// # Safety
/// `options` is NULL or a struct with its size set.
pub(crate) unsafe fn read_options(options: *const petal_open_options) -> Result<OpenOptions> {
    // SAFETY: the caller's promise.
    let Some(options) = (unsafe { boundary::read_optional(options)? }) else {
        return Ok(OpenOptions::default());
    };
    let mode = match (options.mode, options.reserved) {
        (PETAL_OPEN_READ, 0) => Mode::Read,
        (PETAL_OPEN_WRITE, 0) => Mode::Write,
        (PETAL_OPEN_LOAD, 0) => Mode::Load,
        (PETAL_OPEN_SHARE, 0) => Mode::Share,
        (mode, 0) => {
            return Err(boundary::error(Status::UnknownValue, format_args!("mode = {mode} is not from 0 to 3")));
        }
        (_, reserved) => {
            return Err(boundary::error(Status::UnknownValue, format_args!("reserved = {reserved} is not 0")));
        }
    };
    Ok(OpenOptions { mode, key: (options.key != [0; 16]).then_some(options.key) })
}

/// Opens the image that a file is. `options` is nullable. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_open(
    path: *const c_char,
    options: *const petal_open_options,
    filter: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [path, filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { give(filter, || petal_core::open(read_path(path), &read_options(options)?)) }
    })
}

/// Opens the image at `offset`, a multiple of 8, of an open file; other things may follow it. The descriptor stays
/// yours and may be closed at once. To be changed the file is opened anew, through /proc on Linux, because locks belong
/// to an open file; where that is not possible, handles from one descriptor and its copies do not keep each other out.
/// `options` is nullable. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_open_descriptor(
    descriptor: i32,
    offset: u64,
    options: *const petal_open_options,
    filter: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { give(filter, || petal_core::open_descriptor(descriptor, offset, &read_options(options)?)) }
    })
}

/// Opens the image at the start of a buffer, aligned to 8. In place the buffer must outlive the handle, and with
/// `PETAL_OPEN_READ` it is never written. A buffer that is open for writing is used by no other handle of this process;
/// processes that share it may read it through handles of their own. `options` is nullable. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_open_buffer(
    buffer: *mut c_void,
    length: usize,
    options: *const petal_open_options,
    filter: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [buffer, filter], {
        let base = NonNull::new(buffer.cast::<u8>()).ok_or_else(|| boundary::null("buffer"))?;
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            boundary::bytes(buffer.cast(), length, "buffer")?;
            give(filter, || petal_core::open_buffer(base, length, &read_options(options)?))
        }
    })
}

/// Copies the image at the start of `image`, of any alignment, into memory of its own and checks its checksums. The
/// mode in `options`, nullable, does not matter. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_load(
    image: *const c_void,
    length: usize,
    options: *const petal_open_options,
    filter: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [image, filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            let image = boundary::bytes(image.cast(), length, "image")?;
            give(filter, || petal_core::load(image, &read_options(options)?))
        }
    })
}

/// The size of the image in bytes. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_serialized_size(filter: *const petal_filter, size: *mut u64) -> petal_status {
    boundary!(NO_ERROR, [filter, size], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { size.write(petal_filter::get(filter)?.serialized_size()) };
        Ok(())
    })
}

/// Writes the image into a buffer of at least `petal_filter_serialized_size()` bytes, also while threads and processes
/// insert: keys whose insertion happened before are in it, and its checksums are those of the bytes written. It is
/// dirty if the filter is `PETAL_STATE_UNVOUCHED`: a handle vouches for what it changed itself, and those who share an
/// image for each other. `PETAL_ERR_CORRUPT` if the filter lies in an image that does not match its checksums;
/// `PETAL_ERR_DIRTY` if it was opened for reading and another process begins to change it meanwhile. `written` is
/// nullable. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_serialize(
    filter: *const petal_filter,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter, buffer], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { serialize(petal_filter::get(filter)?, buffer, length, written) }
    })
}

/// Writes an image into a buffer.
///
/// # Safety
/// The conventions, but `buffer` is not NULL.
pub(crate) unsafe fn serialize(
    image: &impl Image,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
) -> Result<()> {
    let size = image.serialized_size();
    if size > length as u64 {
        let message = format_args!("the buffer has {length} bytes, the image {size}");
        return Err(boundary::error(Status::BufferTooSmall, message));
    }
    let mut done = 0;
    image.serialize(&mut |bytes| {
        // SAFETY: the image has `size` bytes in all, and the buffer at least as many.
        unsafe { buffer.cast::<u8>().add(done).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        done += bytes.len();
        Ok(())
    })?;
    if !written.is_null() {
        // SAFETY: not NULL; the conventions say the rest.
        unsafe { written.write(done) };
    }
    Ok(())
}

/// Takes the next `length` bytes of an image; false stops. It must not unwind (throw) through the library. Since 0.1.
pub type petal_write_callback =
    Option<unsafe extern "C" fn(context: *mut c_void, bytes: *const c_void, length: usize) -> bool>;

/// Gives the image to `write`, piece by piece and in order, also while threads and processes insert: keys whose
/// insertion happened before are in it, and its checksums are those of the bytes given. It is dirty if the filter is
/// `PETAL_STATE_UNVOUCHED`, as with `petal_filter_serialize()`.
/// `PETAL_ERR_CALLBACK` if `write` returns false; `PETAL_ERR_CORRUPT` if the filter lies in an image that does not
/// match its checksums; `PETAL_ERR_DIRTY` if it was opened for reading and another process begins to change it
/// meanwhile.
/// `context` is passed on and may be NULL. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_serialize_to(
    filter: *const petal_filter,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { serialize_to(petal_filter::get(filter)?, write, context) }
    })
}

/// Gives an image to a callback.
///
/// # Safety
/// The conventions.
pub(crate) unsafe fn serialize_to(image: &impl Image, write: petal_write_callback, context: *mut c_void) -> Result<()> {
    let write = write.ok_or_else(|| boundary::null("write"))?;
    image.serialize(&mut |bytes| {
        // SAFETY: the caller's function, called as its type says.
        match unsafe { write(context, bytes.as_ptr().cast(), bytes.len()) } {
            true => Ok(()),
            false => Err(Error::from(Status::Callback)),
        }
    })
}

/// Writes the image to a file: to one without a name in the same folder, onto the disk, then in its place, so that the
/// path names the old bytes or the new ones at every moment. The new file has the owner, the group and the permissions
/// of what was there, as far as the system lets the caller give them; a group that cannot be kept gets no more than
/// everybody has. A symbolic link is replaced and not followed. A failure leaves what was there, unless it is that of
/// making the new name last, after the new file is in place. `PETAL_ERR_MAPPED_PATH` if the filter lies in that very
/// file.
///
/// Where a file is replaced, and on file systems that have no files without names, the new one is called
/// `.petal-NUMBER.tmp` for a moment; if the process is killed just then, the next save in that folder removes it.
/// Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_save(
    filter: *const petal_filter,
    path: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter, path], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { petal_filter::get(filter)?.save(read_path(path)) }
    })
}

/// Brings an image that was changed in place up to date on its disk. It becomes clean if it was clean when it was
/// opened and nothing dirty was merged into it. Otherwise, and while it is shared, it is on the disk and stays dirty:
/// see
/// `petal_filter_vouch()`. On a failure it stays dirty, and another call tries again. Costs what was changed, see
/// above. Filters in memory of their own need no sync. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_sync(filter: *mut petal_filter, error: *mut petal_error) -> petal_status {
    boundary!(error, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { petal_filter::change(filter, |filter| filter.sync())? }
    })
}

/// Declares the bytes as they are now to be right: the filter becomes clean, and an image in place gets new checksums,
/// on its disk too. For whoever knows that all keys are there, because they were inserted again, or can do without
/// some. Reads the whole payload. `PETAL_ERR_UNSUPPORTED` if an image is open for reading or to be shared;
/// `PETAL_ERR_CORRUPT` if no filter of this kind can have such a payload. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_vouch(filter: *mut petal_filter, error: *mut petal_error) -> petal_status {
    boundary!(error, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { petal_filter::change(filter, |filter| filter.vouch())? }
    })
}

/// Checks the bytes that are there now, by reading them, whatever this handle or another one did since it was opened.
/// `PETAL_ERR_CORRUPT`, naming the bytes, if a region does not match its checksum; `PETAL_ERR_DIRTY` if none differs,
/// but nobody vouches for the payload, or not yet: it is being changed, or was when its process ended. Memory of a
/// filter's own has no checksums: there it is whether the kind can have such a payload, and whether it is dirty. Since
/// 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_verify(filter: *const petal_filter, error: *mut petal_error) -> petal_status {
    boundary!(error, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { petal_filter::get(filter)? }.verify()
    })
}
