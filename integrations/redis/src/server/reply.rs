//! Replies, in the types of the protocol that the client speaks.

use super::{Context, Refusal, api};
use std::ffi::{CString, c_int, c_long, c_longlong};

impl Context {
    /// Replies OK.
    pub fn reply_ok(&self) {
        // SAFETY: the context is valid (`Context::new`), and the string static.
        unsafe { api!(RedisModule_ReplyWithSimpleString(self.replies, c"OK".as_ptr())) };
    }

    /// Replies a number.
    pub fn reply_integer(&self, number: i64) {
        // SAFETY: the context is valid.
        unsafe { api!(RedisModule_ReplyWithLongLong(self.replies, number as c_longlong)) };
    }

    /// Replies a count. A count beyond the protocol's integers becomes the greatest integer.
    pub fn reply_count(&self, count: u64) {
        self.reply_integer(count.min(i64::MAX as u64) as i64);
    }

    /// Replies a count, or null for `None`.
    pub fn reply_field(&self, count: Option<u64>) {
        match count {
            Some(count) => self.reply_count(count),
            None => self.reply_null(),
        }
    }

    /// Replies a real number: a double in RESP3, a string of digits in RESP2.
    pub fn reply_real(&self, number: f64) {
        // SAFETY: the context is valid.
        unsafe { api!(RedisModule_ReplyWithDouble(self.replies, number)) };
    }

    /// Replies yes or no: a boolean in RESP3, 1 or 0 in RESP2.
    pub fn reply_boolean(&self, yes: bool) {
        if self.is_resp3 {
            // SAFETY: the context is valid.
            unsafe { api!(RedisModule_ReplyWithBool(self.replies, c_int::from(yes))) };
        } else {
            self.reply_integer(yes.into());
        }
    }

    /// Replies null.
    pub fn reply_null(&self) {
        // SAFETY: the context is valid.
        unsafe { api!(RedisModule_ReplyWithNull(self.replies)) };
    }

    /// Replies bytes.
    pub fn reply_bytes(&self, bytes: &[u8]) {
        // SAFETY: the context is valid, and the server copies the bytes.
        unsafe { api!(RedisModule_ReplyWithStringBuffer(self.replies, bytes.as_ptr().cast(), bytes.len())) };
    }

    /// Replies a word.
    pub fn reply_word(&self, word: &str) {
        let word = CString::new(word).unwrap_or_default();
        // SAFETY: the context is valid, and the server copies the string.
        unsafe { api!(RedisModule_ReplyWithSimpleString(self.replies, word.as_ptr())) };
    }

    /// Begins an array; its elements are the next `length` replies.
    pub fn reply_array(&self, length: usize) {
        if self.begin_array(length) {
            return;
        }
        // SAFETY: the context is valid.
        unsafe { api!(RedisModule_ReplyWithArray(self.replies, length as c_long)) };
    }

    /// Begins a map of `pairs` names and values, which are the next replies: a map in RESP3, an array in RESP2.
    pub fn reply_map(&self, pairs: usize) {
        if self.is_resp3 {
            // SAFETY: the context is valid. A server with RESP3 replies for modules has maps.
            unsafe { api!(RedisModule_ReplyWithMap(self.replies, pairs as c_long)) };
        } else {
            self.reply_array(2 * pairs);
        }
    }

    /// Whether replies have the types of RESP3.
    pub fn is_resp3(&self) -> bool {
        self.is_resp3
    }

    /// Replies an error.
    pub fn reply_refusal(&self, refusal: &Refusal) {
        match refusal {
            // SAFETY: the context is valid.
            Refusal::Arity => unsafe {
                api!(RedisModule_WrongArity(self.replies));
            },
            Refusal::WrongType => self.reply_error("WRONGTYPE Operation against a key holding the wrong kind of value"),
            Refusal::Said(words) => self.reply_error(words),
            Refusal::Of(words) => self.reply_error(words),
            // `command::run` handles this refusal before it gets here.
            Refusal::Later(_) => self.reply_refusal(&Refusal::INTERNAL),
            Refusal::Library(error) => self.reply_error(&format!("ERR {}", error)),
        }
    }

    fn reply_error(&self, words: &str) {
        // An error of the protocol is one line.
        let words = CString::new(words.replace(['\r', '\n', '\0'], " ")).unwrap_or_default();
        // SAFETY: the context is valid, and the server copies the string.
        unsafe { api!(RedisModule_ReplyWithError(self.replies, words.as_ptr())) };
    }
}
