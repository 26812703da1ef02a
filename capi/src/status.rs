//! STATUS AND ERRORS

use petal_core::Status;
use std::ffi::c_char;

/// The result of a call: `PETAL_OK` or one of `PETAL_ERR_*`, which are negative. Later versions add numbers and never
/// reuse one.
pub type petal_status = i32;

/// The call worked.
pub const PETAL_OK: petal_status = 0;
/// The library caught one of its own bugs before it could do harm. If the call was changing a handle, you can only free
/// that handle.
pub const PETAL_ERR_INTERNAL: petal_status = -1;
/// A required pointer is NULL.
pub const PETAL_ERR_NULL: petal_status = -2;
/// This version does not understand the `struct_size` of a struct: set it, or the whole struct to 0. If the struct is
/// the `petal_error` itself, there is no message.
pub const PETAL_ERR_STRUCT_SIZE: petal_status = -3;
/// This version does not know a kind, hash function, parameter, choice or flag.
pub const PETAL_ERR_UNKNOWN_VALUE: petal_status = -4;
/// A value is outside its bounds.
pub const PETAL_ERR_OUT_OF_RANGE: petal_status = -5;
/// A false-positive rate is not inside (0, 1).
pub const PETAL_ERR_FALSE_POSITIVE_RATE: petal_status = -6;
/// Two or more parameters contradict each other.
pub const PETAL_ERR_CONTRADICTION: petal_status = -7;
/// The kind, or the address space, cannot hold that many bits.
pub const PETAL_ERR_TOO_LARGE: petal_status = -8;
/// There is not enough memory.
pub const PETAL_ERR_OUT_OF_MEMORY: petal_status = -9;
/// The offsets of keys decrease, or pass the end of the key buffer.
pub const PETAL_ERR_OFFSETS: petal_status = -10;
/// The caller's buffer is too small.
pub const PETAL_ERR_BUFFER_TOO_SMALL: petal_status = -11;
/// The caller's buffer, or the offset of an image in a file, is not a multiple of 8 bytes.
pub const PETAL_ERR_MISALIGNED: petal_status = -12;
/// The kind, or the format, cannot do that through any handle.
pub const PETAL_ERR_UNSUPPORTED: petal_status = -13;
/// The two filters differ in kind, layout, geometry, hash function, seed or secret.
pub const PETAL_ERR_INCOMPATIBLE: petal_status = -14;
/// The filter takes hashes only.
pub const PETAL_ERR_EXTERNAL_HASH: petal_status = -15;
/// The filter is keyed, and the caller did not give its secret key.
pub const PETAL_ERR_SECRET_MISSING: petal_status = -16;
/// The given secret key is not the one with which the filter was made.
pub const PETAL_ERR_SECRET_MISMATCH: petal_status = -17;
/// The bytes are not a Petal image.
pub const PETAL_ERR_FOREIGN: petal_status = -18;
/// The image ends before it is complete.
pub const PETAL_ERR_TRUNCATED: petal_status = -19;
/// The image contradicts itself or its checksum.
pub const PETAL_ERR_CORRUPT: petal_status = -20;
/// A later version wrote the image, which needs something that this version does not have.
pub const PETAL_ERR_NEWER_VERSION: petal_status = -21;
/// nobody marked the payload clean: the image is open for writing, or was when its process ended.
pub const PETAL_ERR_UNCLEAN: petal_status = -22;
/// The operating system reported an error; `os_error` says which.
pub const PETAL_ERR_IO: petal_status = -23;
/// The file does not exist.
pub const PETAL_ERR_NOT_FOUND: petal_status = -24;
/// The operating system denies access.
pub const PETAL_ERR_ACCESS_DENIED: petal_status = -25;
/// The disk, or the user's share of it, is full.
pub const PETAL_ERR_NO_SPACE: petal_status = -26;
/// Another handle has the image open for writing.
pub const PETAL_ERR_LOCKED: petal_status = -27;
/// The path names the file that the filter itself maps.
pub const PETAL_ERR_MAPPED_PATH: petal_status = -28;
/// A cancel callback asked to stop.
pub const PETAL_ERR_CANCELLED: petal_status = -29;
/// The caller's write callback reported a failure.
pub const PETAL_ERR_CALLBACK: petal_status = -30;
/// There is no room for another key; in `removed_set`, none for another removed key. Nothing is lost: lookups find
/// every inserted key.
pub const PETAL_ERR_FULL: petal_status = -31;
/// The kind can do that, but this handle may not: its image is open for reading, shared, or in place.
pub const PETAL_ERR_UNSUPPORTED_BY_HANDLE: petal_status = -32;
/// This build of the library leaves out the kind, the handle, the format or the kernel; the message names the option.
pub const PETAL_ERR_UNSUPPORTED_BY_BUILD: petal_status = -33;

const _: () = {
    let pinned = [
        (PETAL_ERR_INTERNAL, Status::Internal),
        (PETAL_ERR_NULL, Status::NullPointer),
        (PETAL_ERR_STRUCT_SIZE, Status::StructSize),
        (PETAL_ERR_UNKNOWN_VALUE, Status::UnknownValue),
        (PETAL_ERR_OUT_OF_RANGE, Status::OutOfRange),
        (PETAL_ERR_FALSE_POSITIVE_RATE, Status::FalsePositiveRate),
        (PETAL_ERR_CONTRADICTION, Status::Contradiction),
        (PETAL_ERR_TOO_LARGE, Status::TooLarge),
        (PETAL_ERR_OUT_OF_MEMORY, Status::OutOfMemory),
        (PETAL_ERR_OFFSETS, Status::Offsets),
        (PETAL_ERR_BUFFER_TOO_SMALL, Status::BufferTooSmall),
        (PETAL_ERR_MISALIGNED, Status::Misaligned),
        (PETAL_ERR_UNSUPPORTED, Status::Unsupported),
        (PETAL_ERR_INCOMPATIBLE, Status::Incompatible),
        (PETAL_ERR_EXTERNAL_HASH, Status::ExternalHash),
        (PETAL_ERR_SECRET_MISSING, Status::SecretMissing),
        (PETAL_ERR_SECRET_MISMATCH, Status::SecretMismatch),
        (PETAL_ERR_FOREIGN, Status::Foreign),
        (PETAL_ERR_TRUNCATED, Status::Truncated),
        (PETAL_ERR_CORRUPT, Status::Corrupt),
        (PETAL_ERR_NEWER_VERSION, Status::NewerVersion),
        (PETAL_ERR_UNCLEAN, Status::Unclean),
        (PETAL_ERR_IO, Status::Io),
        (PETAL_ERR_NOT_FOUND, Status::NotFound),
        (PETAL_ERR_ACCESS_DENIED, Status::AccessDenied),
        (PETAL_ERR_NO_SPACE, Status::NoSpace),
        (PETAL_ERR_LOCKED, Status::Locked),
        (PETAL_ERR_MAPPED_PATH, Status::MappedPath),
        (PETAL_ERR_CANCELLED, Status::Cancelled),
        (PETAL_ERR_CALLBACK, Status::Callback),
        (PETAL_ERR_FULL, Status::Full),
        (PETAL_ERR_UNSUPPORTED_BY_HANDLE, Status::UnsupportedByHandle),
        (PETAL_ERR_UNSUPPORTED_BY_BUILD, Status::UnsupportedByBuild),
    ];
    assert!(pinned.len() == Status::ALL.len());
    let mut i = 0;
    while i < pinned.len() {
        assert!(pinned[i].0 == pinned[i].1 as i32);
        i += 1;
    }
};

/// A sentence, without a full stop, that explains a status. Static, never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn petal_status_message(status: petal_status) -> *const c_char {
    let known = Status::ALL.into_iter().find(|known| *known as i32 == status);
    match known {
        Some(known) => known.c_text(),
        None if status == PETAL_OK => c"it worked",
        None => c"a status that this version does not know",
    }
    .as_ptr()
}

/// The longest message of a `petal_error`, with its final NUL.
pub const PETAL_ERROR_MESSAGE_SIZE: usize = 240;

/// An error: its status and a message. You own the struct; set it to `= {0}` before the first use. A call with a
/// struct that was never set does nothing: it returns `PETAL_ERR_STRUCT_SIZE`, and writes no message.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_error {
    /// sizeof(petal_error), or 0 for its size in the first release.
    pub struct_size: usize,
    /// The status that the function also returned.
    pub status: petal_status,
    /// The operating system's error number (errno, on Windows that of GetLastError), or 0.
    pub os_error: i32,
    /// A sentence that names the parameter, its value and what is allowed. Ends with a NUL.
    pub message: [c_char; PETAL_ERROR_MESSAGE_SIZE],
}

const _: () = assert!(petal_core::MESSAGE_LENGTH < PETAL_ERROR_MESSAGE_SIZE);
