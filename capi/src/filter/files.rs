//! FILTERS: SAVING AND OPENING
//!
//! A filter's image is the same in memory and in a file; docs/format.md specifies the image. The library maps a file,
//! which takes constant time. Processes that open the same file share its memory. Saving replaces a file atomically: a
//! process that has the old file open keeps the old one. The section IMAGES, below, has the rest: buffers, descriptors,
//! and files that you change in place.

use super::petal_filter;
use crate::arguments::Given;
use crate::boundary::{self, boundary};
use crate::status::{petal_error, petal_status};
use petal_core::{Mode, OpenOptions, Result, Status};
use std::ffi::c_char;

/// How to open an image: one of `PETAL_OPEN_*`.
pub type petal_open_mode = u32;

/// In place, for reading, in constant time. Opening does not check the payload; `petal_filter_verify()` does.
pub const PETAL_OPEN_READ: petal_open_mode = 0;
/// In place, for reading and writing, as the only writer.
pub const PETAL_OPEN_WRITE: petal_open_mode = 1;
/// A copy in its own memory. Opening compares the checksums; an unclean image has none, and its copy is unclean.
pub const PETAL_OPEN_LOAD: petal_open_mode = 2;
/// In place, for reading and for `petal_filter_insert_shared()`, together with any number of handles, threads and
/// processes that open the image with this mode. With `PETAL_CAN_AGE_SHARED` also for `petal_filter_advance_shared()`.
///
/// While handles share a file, the file is unclean. The last handle to close the file makes it clean if the file was
/// clean when the first one opened it and none of the sharing processes died. Nobody knows that earlier: a copy or a
/// saved file made before is as clean as the image was. Opening reads the table of checksums. Opening waits while the
/// last handle makes the file clean, for as long as that takes.
///
/// A buffer has no locks, so nobody knows which handle is the last. The buffer stays unclean until nobody shares it any
/// more and a handle that is opened for writing calls `petal_filter_mark_clean()`.
pub const PETAL_OPEN_SHARE: petal_open_mode = 3;

/// How to open. NULL stands for all zeros.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_open_options {
    /// sizeof(petal_open_options), or 0 for its size in the first release.
    pub struct_size: usize,
    /// One of `PETAL_OPEN_*`.
    pub mode: petal_open_mode,
    /// 1 has the system read a mapped file to its end at opening, so that the first lookups do not wait for the disk;
    /// 0 does not. Opening then takes as long as reading the file. This is a hint: a system that cannot do it, or has
    /// no memory to spare, opens the file all the same. `PETAL_OPEN_LOAD` reads the whole file in any case, and a
    /// buffer has no file.
    pub prefault: u32,
    /// The secret key of a keyed filter; all zeros is none. Without the secret key the filter cannot hash byte and
    /// uint64_t keys, but all else works.
    pub secret: [u8; 16],
}

// SAFETY: numbers, arrays of numbers and nullable pointers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_open_options {
    const FIRST_SIZE: usize = 32;
}

impl Given for petal_open_options {
    type Said = OpenOptions;

    fn said(given: Option<petal_open_options>, _name: &str) -> Result<OpenOptions> {
        let Some(options) = given else { return Ok(OpenOptions::default()) };
        let mode = match options.mode {
            PETAL_OPEN_READ => Mode::Read,
            PETAL_OPEN_WRITE => Mode::Write,
            PETAL_OPEN_LOAD => Mode::Load,
            PETAL_OPEN_SHARE => Mode::Share,
            mode => {
                return Err(boundary::error(Status::UnknownValue, format_args!("mode = {mode} is not from 0 to 3")));
            }
        };
        if options.prefault > 1 {
            let message = format_args!("prefault = {} is neither 0 nor 1", options.prefault);
            return Err(boundary::error(Status::UnknownValue, message));
        }
        let secret = (options.secret != [0; 16]).then_some(options.secret);
        Ok(OpenOptions { mode, secret, prefault: options.prefault == 1 })
    }
}

/// Opens a file that is an image. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_open(
    path: *const c_char,
    options: *const petal_open_options,
    filter: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [path path, given options, give filter], filter.made(|| petal_core::open(path, &options)))
}

/// Writes the image to a file, atomically: the path names the old bytes or the new ones at every moment. The function
/// writes an unnamed file in the same folder, brings it onto the disk, and then puts it in place. The new file has the
/// owner, the group and the permissions of the old one, as far as the system lets the caller give them. If the new file
/// cannot have the old group, its group gets no more rights than everybody has. The function replaces a symbolic link
/// and does not follow it.
///
/// A failure leaves the old file there. One failure comes later: the new file is in place, but the system cannot make
/// the new name last. Returns `PETAL_ERR_MAPPED_PATH` if the filter lies in that very file.
///
/// The new file is called `.petal-NUMBER.tmp` for a moment if it replaces another, or if the file system has no files
/// without names. If the process dies in that moment, the next save in that folder removes the new file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_save(
    filter: *const petal_filter,
    path: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, path path], filter.save(path))
}
