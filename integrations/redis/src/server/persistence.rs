//! Reading and writing values: RDB files, DUMP and RESTORE, the append-only file, digests.

use super::api;
use redis_module::raw;
use std::ffi::{CStr, CString, c_char, c_longlong};

/// The error for bytes that cannot be read, or that are not a value.
pub struct Unreadable;

/// The source from which the server reads a value.
pub struct Reader(*mut raw::RedisModuleIO);

impl Reader {
    /// Wraps the server's handle.
    ///
    /// # Safety
    /// `raw` is valid as long as the result is used.
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
        // SAFETY: the reader is valid. The buffer has `length` bytes, and is freed once, after `take`.
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

    /// Writes a line to the server's log that names the file that is read.
    pub fn warn(&self, message: &str) {
        let message = CString::new(message).unwrap_or_default();
        // SAFETY: the reader is valid, and the strings live until the call returns.
        unsafe { api!(RedisModule_LogIOError(self.0, c"warning".as_ptr(), c"%s".as_ptr(), message.as_ptr())) }
    }
}

/// The file to which the server writes a value.
pub struct Writer(*mut raw::RedisModuleIO);

impl Writer {
    /// Wraps the server's handle.
    ///
    /// # Safety
    /// `raw` is valid as long as the result is used.
    pub unsafe fn new(raw: *mut raw::RedisModuleIO) -> Writer {
        Writer(raw)
    }

    /// Writes an unsigned number.
    pub fn unsigned(&mut self, number: u64) {
        // SAFETY: the writer is valid.
        unsafe { api!(RedisModule_SaveUnsigned(self.0, number)) }
    }

    /// Writes a real number.
    pub fn real(&mut self, number: f64) {
        // SAFETY: the writer is valid.
        unsafe { api!(RedisModule_SaveDouble(self.0, number)) }
    }

    /// Writes a string.
    pub fn bytes(&mut self, bytes: &[u8]) {
        // SAFETY: the writer is valid, and the server copies the bytes.
        unsafe { api!(RedisModule_SaveStringBuffer(self.0, bytes.as_ptr().cast(), bytes.len())) }
    }
}

/// The append-only file, for the commands that make a value.
pub struct Commands {
    file: *mut raw::RedisModuleIO,
    key: *mut raw::RedisModuleString,
}

impl Commands {
    /// Wraps the server's handles of the file and of a key.
    ///
    /// # Safety
    /// Both handles are valid as long as the result is used.
    pub unsafe fn new(file: *mut raw::RedisModuleIO, key: *mut raw::RedisModuleString) -> Commands {
        Commands { file, key }
    }

    /// Writes a command with the key and bytes.
    pub fn bytes(&mut self, command: &CStr, bytes: &[u8]) {
        let start: *const c_char = bytes.as_ptr().cast();
        // SAFETY: file and key are valid. The format names the arguments that follow: key, and a buffer with its
        // length.
        unsafe { api!(RedisModule_EmitAOF(self.file, command.as_ptr(), c"sb".as_ptr(), self.key, start, bytes.len())) }
    }

    /// Writes a command with the key, a number and bytes.
    pub fn chunk(&mut self, command: &CStr, number: u64, bytes: &[u8]) {
        let start: *const c_char = bytes.as_ptr().cast();
        // SAFETY: file and key are valid. The format names the arguments that follow: key, number, and a buffer with
        // its length.
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

    /// Writes a command with the key, a number, bytes, and two more words.
    pub fn chunk_with(&mut self, command: &CStr, number: u64, bytes: &[u8], words: [&[u8]; 2]) {
        let start: *const c_char = bytes.as_ptr().cast();
        let [first, second] = words;
        // SAFETY: file and key are valid. The format names the arguments that follow: key, number, and three buffers
        // with their lengths.
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

/// The digest of DEBUG DIGEST.
pub struct Digest(*mut raw::RedisModuleDigest);

impl Digest {
    /// Wraps the server's handle.
    ///
    /// # Safety
    /// `raw` is valid as long as the result is used.
    pub unsafe fn new(raw: *mut raw::RedisModuleDigest) -> Digest {
        Digest(raw)
    }

    /// Adds bytes to the digest.
    pub fn bytes(&mut self, bytes: &[u8]) {
        // SAFETY: the digest is valid, and the server only reads the bytes.
        unsafe { api!(RedisModule_DigestAddStringBuffer(self.0, bytes.as_ptr().cast(), bytes.len())) }
    }

    /// Adds a number to the digest: its digits.
    pub fn number(&mut self, number: u64) {
        self.bytes(number.to_string().as_bytes());
    }

    /// Ends an ordered sequence of the digest.
    pub fn end(&mut self) {
        // SAFETY: the digest is valid.
        unsafe { api!(RedisModule_DigestEndSequence(self.0)) }
    }
}
