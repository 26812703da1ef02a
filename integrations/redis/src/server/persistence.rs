//! What values are written to and read from: RDB files, DUMP and RESTORE, the append-only file, digests.

use super::api;
use redis_module::raw;
use std::ffi::{CStr, CString, c_char, c_longlong};

/// Bytes that could not be read, or that no value has.
pub struct Unreadable;

/// What a value is read from.
pub struct Reader(*mut raw::RedisModuleIO);

impl Reader {
    /// The server's.
    ///
    /// # Safety
    /// `raw` is valid as long as this is used.
    pub unsafe fn new(raw: *mut raw::RedisModuleIO) -> Reader {
        Reader(raw)
    }

    fn checked<T>(&self, value: T) -> Result<T, Unreadable> {
        // SAFETY: the reader is valid.
        if unsafe { api!(RedisModule_IsIOError(self.0)) } == 0 { Ok(value) } else { Err(Unreadable) }
    }

    /// The next unsigned number.
    pub fn unsigned(&mut self) -> Result<u64, Unreadable> {
        // SAFETY: the reader is valid.
        let number = unsafe { api!(RedisModule_LoadUnsigned(self.0)) };
        self.checked(number)
    }

    /// The next real number.
    pub fn real(&mut self) -> Result<f64, Unreadable> {
        // SAFETY: the reader is valid.
        let number = unsafe { api!(RedisModule_LoadDouble(self.0)) };
        self.checked(number)
    }

    /// Gives the next string to `take`.
    pub fn bytes<T>(&mut self, take: impl FnOnce(&[u8]) -> T) -> Result<T, Unreadable> {
        let mut length = 0;
        // SAFETY: the reader is valid; the buffer has so many bytes, and is freed once, after it was taken.
        unsafe {
            let buffer = api!(RedisModule_LoadStringBuffer(self.0, &raw mut length));
            if buffer.is_null() {
                return Err(Unreadable);
            }
            let taken = take(std::slice::from_raw_parts(buffer.cast(), length));
            api!(RedisModule_Free(buffer.cast()));
            self.checked(taken)
        }
    }

    /// Writes a line to the server's log that says what is read.
    pub fn warn(&self, message: &str) {
        let message = CString::new(message).unwrap_or_default();
        // SAFETY: the reader is valid, and the strings live until the call returns.
        unsafe { api!(RedisModule_LogIOError(self.0, c"warning".as_ptr(), c"%s".as_ptr(), message.as_ptr())) }
    }
}

/// What a value is written to.
pub struct Writer(*mut raw::RedisModuleIO);

impl Writer {
    /// The server's.
    ///
    /// # Safety
    /// `raw` is valid as long as this is used.
    pub unsafe fn new(raw: *mut raw::RedisModuleIO) -> Writer {
        Writer(raw)
    }

    /// An unsigned number.
    pub fn unsigned(&mut self, number: u64) {
        // SAFETY: the writer is valid.
        unsafe { api!(RedisModule_SaveUnsigned(self.0, number)) }
    }

    /// A real number.
    pub fn real(&mut self, number: f64) {
        // SAFETY: the writer is valid.
        unsafe { api!(RedisModule_SaveDouble(self.0, number)) }
    }

    /// A string.
    pub fn bytes(&mut self, bytes: &[u8]) {
        // SAFETY: the writer is valid, and the server copies the bytes.
        unsafe { api!(RedisModule_SaveStringBuffer(self.0, bytes.as_ptr().cast(), bytes.len())) }
    }
}

/// What the commands that make a value are written to.
pub struct Commands {
    file: *mut raw::RedisModuleIO,
    key: *mut raw::RedisModuleString,
}

impl Commands {
    /// The server's, for a key.
    ///
    /// # Safety
    /// Both are valid as long as this is used.
    pub unsafe fn new(file: *mut raw::RedisModuleIO, key: *mut raw::RedisModuleString) -> Commands {
        Commands { file, key }
    }

    /// A command that takes the key, a number and bytes.
    pub fn chunk(&mut self, command: &CStr, number: u64, bytes: &[u8]) {
        let start: *const c_char = bytes.as_ptr().cast();
        // SAFETY: file and key are valid; the format names key, number and a buffer with its length, which follow.
        unsafe {
            api!(RedisModule_EmitAOF(
                self.file,
                command.as_ptr(),
                c"slb".as_ptr(),
                self.key,
                number as c_longlong,
                start,
                bytes.len()
            ))
        }
    }

    /// A command that takes the key, a number, bytes, and two words more.
    pub fn chunk_with(&mut self, command: &CStr, number: u64, bytes: &[u8], words: [&[u8]; 2]) {
        let start: *const c_char = bytes.as_ptr().cast();
        let [first, second] = words;
        // SAFETY: file and key are valid; the format names key, number and three buffers with their lengths, which
        // follow.
        unsafe {
            api!(RedisModule_EmitAOF(
                self.file,
                command.as_ptr(),
                c"slbbb".as_ptr(),
                self.key,
                number as c_longlong,
                start,
                bytes.len(),
                first.as_ptr(),
                first.len(),
                second.as_ptr(),
                second.len()
            ))
        }
    }
}

/// What DEBUG DIGEST is told.
pub struct Digest(*mut raw::RedisModuleDigest);

impl Digest {
    /// The server's.
    ///
    /// # Safety
    /// `raw` is valid as long as this is used.
    pub unsafe fn new(raw: *mut raw::RedisModuleDigest) -> Digest {
        Digest(raw)
    }

    /// Bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        // SAFETY: the digest is valid, and the bytes are read only.
        unsafe { api!(RedisModule_DigestAddStringBuffer(self.0, bytes.as_ptr().cast(), bytes.len())) }
    }

    /// The end of what has an order.
    pub fn end(&mut self) {
        // SAFETY: the digest is valid.
        unsafe { api!(RedisModule_DigestEndSequence(self.0)) }
    }
}
