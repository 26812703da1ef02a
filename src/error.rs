//! What can go wrong, as values: a [`Status`] for programs and an [`Error`] with a message for people.

use core::ffi::CStr;
use core::fmt;

/// Why a call failed. The numbers are the C API's `petal_status` values: negative, never reused, only appended to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
#[non_exhaustive]
pub enum Status {
    /// A bug in Petal was caught before it could do harm. A handle that was being changed can no longer be used.
    Internal = -1,
    /// A required pointer is NULL.
    NullPointer = -2,
    /// The `struct_size` of a struct is not one that this version understands.
    StructSize = -3,
    /// A kind, hash function, parameter, choice or flag that this version does not know.
    UnknownValue = -4,
    /// A value outside its bounds.
    OutOfRange = -5,
    /// A false-positive rate that is not inside (0, 1).
    FalsePositiveRate = -6,
    /// Parameters that cannot hold together.
    Contradiction = -7,
    /// More bits than the kind, or the address space, can hold.
    TooLarge = -8,
    /// There was not enough memory.
    OutOfMemory = -9,
    /// Key offsets that decrease, or pass the end of the key buffer.
    Offsets = -10,
    /// The caller's buffer is too small.
    BufferTooSmall = -11,
    /// The caller's buffer, or the offset of an image in a file, is not a multiple of 8 bytes.
    Misaligned = -12,
    /// This kind, or this handle, cannot do that.
    Unsupported = -13,
    /// The two filters differ in kind, layout, geometry, hash function, seed or secret.
    Incompatible = -14,
    /// The filter takes hashes only.
    ExternalHash = -15,
    /// The filter is keyed and its secret key was not given.
    SecretMissing = -16,
    /// The secret key given is not the one that the filter was made with.
    SecretMismatch = -17,
    /// The bytes are not a Petal image.
    Foreign = -18,
    /// The image ends before it is complete.
    Truncated = -19,
    /// The image contradicts itself or its checksum.
    Corrupt = -20,
    /// The image was written by a later version and needs something that this one does not have.
    NewerVersion = -21,
    /// nobody marked the payload clean: the image is open for writing, or was when its process ended.
    Unclean = -22,
    /// The operating system reported an error; `os_error` says which.
    Io = -23,
    /// The file does not exist.
    NotFound = -24,
    /// The operating system denies access.
    AccessDenied = -25,
    /// The disk, or the user's share of it, is full.
    NoSpace = -26,
    /// Another handle has the image open for writing.
    Locked = -27,
    /// The path is that of the file which the filter itself maps.
    MappedPath = -28,
    /// A cancel callback asked to stop.
    Cancelled = -29,
    /// The caller's write callback reported a failure.
    Callback = -30,
    /// There is no room for another key, or for one that was removed, where a removal is final. Nothing is lost: what
    /// was inserted is found.
    Full = -31,
    /// This handle may not do what its kind can: its image is open for reading, to be shared, or in place.
    UnsupportedByHandle = -32,
    /// This build of the library leaves it out: a kind, a format or a kernel. The message names the option.
    UnsupportedByBuild = -33,
}

impl Status {
    /// Every status, in the order of its number.
    pub const ALL: [Status; 33] = [
        Status::Internal,
        Status::NullPointer,
        Status::StructSize,
        Status::UnknownValue,
        Status::OutOfRange,
        Status::FalsePositiveRate,
        Status::Contradiction,
        Status::TooLarge,
        Status::OutOfMemory,
        Status::Offsets,
        Status::BufferTooSmall,
        Status::Misaligned,
        Status::Unsupported,
        Status::Incompatible,
        Status::ExternalHash,
        Status::SecretMissing,
        Status::SecretMismatch,
        Status::Foreign,
        Status::Truncated,
        Status::Corrupt,
        Status::NewerVersion,
        Status::Unclean,
        Status::Io,
        Status::NotFound,
        Status::AccessDenied,
        Status::NoSpace,
        Status::Locked,
        Status::MappedPath,
        Status::Cancelled,
        Status::Callback,
        Status::Full,
        Status::UnsupportedByHandle,
        Status::UnsupportedByBuild,
    ];

    /// One sentence, without a full stop, that explains the status.
    pub fn text(self) -> &'static str {
        self.c_text().to_str().unwrap_or_default()
    }

    /// The sentence of [`Status::text`] as a C string.
    pub const fn c_text(self) -> &'static CStr {
        match self {
            Status::Internal => c"a bug in Petal was caught; a handle that was being changed is of no more use",
            Status::NullPointer => c"a required pointer is NULL",
            Status::StructSize => {
                c"the struct_size of a struct, or of the petal_error itself, is not one that this version understands"
            }
            Status::UnknownValue => c"a kind, hash function, parameter, choice or flag that this version does not know",
            Status::OutOfRange => c"a value is outside its bounds",
            Status::FalsePositiveRate => c"a false-positive rate is not inside (0, 1)",
            Status::Contradiction => c"the parameters cannot hold together",
            Status::TooLarge => c"more bits than the kind or the address space can hold",
            Status::OutOfMemory => c"memory could not be had",
            Status::Offsets => c"key offsets decrease or pass the end of the key buffer",
            Status::BufferTooSmall => c"the buffer is too small",
            Status::Misaligned => c"a buffer or file offset is not a multiple of 8 bytes",
            Status::Unsupported => c"the kind, or the format, cannot do that",
            Status::Incompatible => c"the filters differ in kind, layout, geometry, hash function, seed or secret",
            Status::ExternalHash => c"the filter takes hashes only",
            Status::SecretMissing => c"the filter is keyed and its secret key was not given",
            Status::SecretMismatch => c"the secret key is not the one that the filter was made with",
            Status::Foreign => c"the bytes are not a Petal image",
            Status::Truncated => c"the image ends before it is complete",
            Status::Corrupt => c"the image contradicts itself or its checksum",
            Status::NewerVersion => c"the image needs a later version of Petal",
            Status::Unclean => {
                c"the image is open for writing or was not closed after it: nobody marked its payload clean"
            }
            Status::Io => c"the operating system reported an error",
            Status::NotFound => c"the file does not exist",
            Status::AccessDenied => c"the operating system denies access",
            Status::NoSpace => c"no space is left on the disk",
            Status::Locked => c"another handle has the image open for writing",
            Status::MappedPath => c"the path is that of the file which the filter itself maps",
            Status::Cancelled => c"the cancel callback asked to stop",
            Status::Callback => c"the write callback reported a failure",
            Status::Full => c"there is no room for another key",
            Status::UnsupportedByHandle => c"the kind can do that, but this handle may not",
            Status::UnsupportedByBuild => c"this build of the library leaves that out",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// The longest message, in bytes.
pub const MESSAGE_LENGTH: usize = 232;

/// A failure: its status, the operating system's error number where there is one, and a message that names the
/// parameter, its value and what is allowed.
///
/// Two words, so that results travel in registers: the message is on the heap. Where there is no memory for it, the
/// status and the error number remain, and the message is the status's own sentence, so an error can be made even when
/// no memory is left.
pub struct Error {
    status: Status,
    os_error: i32,
    message: Option<Box<[Message; 1]>>,
}

const _: () = assert!(size_of::<Error>() <= 16 && size_of::<Result<()>>() <= 16 && size_of::<Result<bool>>() <= 16);

/// The result of a call that can fail.
pub type Result<T> = core::result::Result<T, Error>;

/// Text of at most [`MESSAGE_LENGTH`] bytes.
struct Message {
    length: u8,
    text: [u8; MESSAGE_LENGTH],
}

impl Error {
    /// An error whose message is `message`, cut at a character boundary where it is longer than [`MESSAGE_LENGTH`].
    #[cold]
    #[inline(never)]
    pub fn new(status: Status, message: fmt::Arguments<'_>) -> Error {
        let mut text = Message { length: 0, text: [0; MESSAGE_LENGTH] };
        // The writer cuts instead of failing.
        let _ = fmt::write(&mut text, message);
        // A vector, unlike a box, can say that there is no memory.
        let mut one = Vec::new();
        if one.try_reserve_exact(1).is_ok() {
            one.push(text);
        }
        Error { status, os_error: 0, message: one.into_boxed_slice().try_into().ok() }
    }

    /// An error of the operating system: `code` is the `errno`, or on Windows the value of GetLastError, and `what`
    /// says what was being done.
    #[cold]
    pub fn from_os(code: i32, what: fmt::Arguments<'_>) -> Error {
        let status = status_of_os_error(code);
        Error { os_error: code, ..Error::new(status, format_args!("{status} (error {code}): {what}")) }
    }

    /// [`Error::from_os`] for a folder that could not be opened.
    #[cold]
    pub(crate) fn of_folder(code: i32, what: fmt::Arguments<'_>) -> Error {
        match status_of_os_error(code) {
            Status::NotFound => {
                let message = format_args!("the folder does not exist (error {code}): {what}");
                Error { os_error: code, ..Error::new(Status::NotFound, message) }
            }
            _ => Error::from_os(code, what),
        }
    }

    /// This error, with a message that also says what it is about.
    #[cold]
    pub(crate) fn about(&self, what: fmt::Arguments<'_>) -> Error {
        let Error { status, os_error, .. } = *self;
        Error { os_error, ..Error::new(status, format_args!("{}: {what}", self.message())) }
    }

    /// A copy of the error, for a state that keeps the error which ended it.
    #[cold]
    pub(crate) fn again(&self) -> Error {
        Error { os_error: self.os_error, ..Error::new(self.status, format_args!("{}", self.message())) }
    }

    /// The status.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The operating system's error number (`errno`, or on Windows the value of GetLastError), or 0.
    pub fn os_error(&self) -> i32 {
        self.os_error
    }

    /// The message.
    pub fn message(&self) -> &str {
        match &self.message {
            Some(message) => {
                let [message] = &**message;
                core::str::from_utf8(&message.text[..usize::from(message.length)]).unwrap_or_default()
            }
            None => self.status.text(),
        }
    }
}

/// What an `errno` means to a caller.
#[cfg(unix)]
fn status_of_os_error(code: i32) -> Status {
    match code {
        libc::ENOENT | libc::ENOTDIR => Status::NotFound,
        libc::EACCES | libc::EPERM | libc::EROFS => Status::AccessDenied,
        libc::ENOSPC | libc::EDQUOT | libc::EFBIG => Status::NoSpace,
        libc::ENOMEM => Status::OutOfMemory,
        _ => Status::Io,
    }
}

/// What an error of Windows (GetLastError) means to a caller.
#[cfg(windows)]
fn status_of_os_error(code: i32) -> Status {
    match code {
        // ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND, ERROR_INVALID_DRIVE, ERROR_BAD_NETPATH, ERROR_BAD_NET_NAME,
        // ERROR_INVALID_NAME, ERROR_BAD_PATHNAME
        2 | 3 | 15 | 53 | 67 | 123 | 161 => Status::NotFound,
        // ERROR_ACCESS_DENIED, ERROR_WRITE_PROTECT, ERROR_SHARING_VIOLATION, ERROR_PRIVILEGE_NOT_HELD,
        // ERROR_USER_MAPPED_FILE
        5 | 19 | 32 | 1314 | 1224 => Status::AccessDenied,
        // ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL, ERROR_FILE_TOO_LARGE, ERROR_DISK_QUOTA_EXCEEDED
        39 | 112 | 223 | 1295 => Status::NoSpace,
        // ERROR_NOT_ENOUGH_MEMORY, ERROR_OUTOFMEMORY, ERROR_COMMITMENT_LIMIT
        8 | 14 | 1455 => Status::OutOfMemory,
        _ => Status::Io,
    }
}

/// What the error of a system call means to a caller where there is no system: neither files nor threads.
#[cfg(target_family = "wasm")]
fn status_of_os_error(_: i32) -> Status {
    Status::UnsupportedByBuild
}

impl fmt::Write for Message {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let start = usize::from(self.length);
        let mut end = text.len().min(MESSAGE_LENGTH - start);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.text[start..start + end].copy_from_slice(&text.as_bytes()[..end]);
        // `start + end <= MESSAGE_LENGTH`, which fits.
        self.length = (start + end) as u8;
        Ok(())
    }
}

impl From<Status> for Error {
    #[inline]
    fn from(status: Status) -> Error {
        Error { status, os_error: 0, message: None }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.status, self.message())
    }
}

impl std::error::Error for Error {}

/// Makes an [`Error`] from a status and a message, like `format!`.
macro_rules! error {
    ($status:ident, $($message:tt)*) => {
        $crate::error::Error::new($crate::error::Status::$status, format_args!($($message)*))
    };
}
pub(crate) use error;

/// Names or numbers with commas between them.
pub(crate) struct List<'a, T>(pub &'a [T]);

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.0.iter().enumerate() {
            write!(f, "{}{name}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// The error for what a build by choice leaves out. `feature` is what has to be chosen: in `option` of CMake, or among
/// cargo's features.
#[cold]
#[inline(never)]
pub(crate) fn left_out(what: &str, name: &str, feature: &str, option: &str) -> Error {
    error!(UnsupportedByBuild, "{what} = {name} is not in this build: add {feature} to {option} or cargo's features")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_pinned() {
        for (i, status) in Status::ALL.iter().enumerate() {
            assert_eq!(*status as i32, -(i as i32) - 1, "statuses are only appended to");
            assert!(!status.text().is_empty() && status.text().is_ascii());
        }
    }

    #[test]
    fn an_error_without_a_message_has_the_text_of_its_status() {
        let error = Error::from(Status::Locked);
        assert_eq!((error.status(), error.os_error(), error.message()), (Status::Locked, 0, Status::Locked.text()));
    }

    #[test]
    fn an_error_of_the_system_has_its_number_and_says_what_was_done() {
        #[cfg(unix)]
        const FULL: i32 = libc::EDQUOT;
        #[cfg(windows)]
        const FULL: i32 = 112;
        let error = Error::from_os(FULL, format_args!("writing"));
        assert_eq!((error.status(), error.os_error()), (Status::NoSpace, FULL));
        assert!(error.message().ends_with(": writing"), "{error}");
    }

    #[test]
    fn long_messages_are_cut_at_a_character() {
        let error = error!(OutOfRange, "{}", "é".repeat(MESSAGE_LENGTH));
        assert_eq!(error.message().len(), MESSAGE_LENGTH);
        let error = error!(OutOfRange, "x{}", "é".repeat(MESSAGE_LENGTH));
        assert_eq!(error.message().len(), MESSAGE_LENGTH - 1);
    }
}
