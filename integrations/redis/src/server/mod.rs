//! The server's interface in types that are safe to use: commands and their arguments, replies, keys and their values,
//! persistence, memory. All unsafe code of the module is in this folder.

pub mod beside;
pub mod command;
pub mod defaults;
pub mod info;
pub mod key;
pub mod lent;
pub mod memory;
pub mod mover;
pub mod persistence;
pub mod pieces;
pub mod reply;
mod settings;
pub mod shared;
mod syntax;
pub mod value;
pub mod words;

use beside::Busy;
use pieces::Replied;
use redis_module::raw;
use std::ffi::{CStr, CString, c_int};
use std::rc::Rc;
use std::str::FromStr;
use std::sync::Arc;

/// Calls a function that the server gave the module when it was loaded.
macro_rules! api {
    ($name:ident($($argument:expr),* $(,)?)) => {
        match redis_module::raw::$name {
            Some(function) => function($($argument),*),
            None => $crate::server::absent(stringify!($name)),
        }
    };
}
pub(crate) use api;

/// Panics about a missing function of the server. Every supported version of the server has all functions.
#[cold]
fn absent(name: &str) -> ! {
    panic!("the server has no {name}")
}

/// The return values of commands and of loading.
pub const OK: c_int = raw::REDISMODULE_OK as c_int;
pub const ERR: c_int = raw::REDISMODULE_ERR as c_int;

/// Servers before this version lose the replication of a command whose client waited.
const FORGETS_BEFORE: c_int = 0x0007_0000;

/// The context of a call: the caller of a command, and the server.
pub struct Context {
    raw: *mut raw::RedisModuleCtx,
    /// The client to which commands reply.
    replies: *mut raw::RedisModuleCtx,
    /// The words of the command.
    words: (*mut *mut raw::RedisModuleString, usize),
    /// Whether replies have the types of RESP3.
    is_resp3: bool,
    /// The replies of earlier pieces, if the call is a piece of a command.
    replied: Option<Rc<Replied>>,
}

impl Context {
    /// Wraps a context of the server.
    ///
    /// # Safety
    /// `raw` is valid until the function that got it returns. The result is not used longer.
    pub unsafe fn new(raw: *mut raw::RedisModuleCtx) -> Context {
        // SAFETY: the caller promises that `raw` is valid until the function that got it returns, and that the result
        // is not used longer. The API functions were set when the module was loaded.
        unsafe {
            let flags = api!(RedisModule_GetContextFlags(raw)) as u32;
            let has_booleans = { raw::RedisModule_ReplyWithBool }.is_some();
            let is_resp3 = flags & raw::REDISMODULE_CTX_FLAGS_RESP3 != 0 && has_booleans;
            Context { raw, replies: raw, words: (std::ptr::null_mut(), 0), is_resp3, replied: None }
        }
    }

    /// Wraps a context of the server for a command with these words.
    ///
    /// # Safety
    /// `raw` and the words are valid until the function that got them returns. The result is not used longer.
    pub unsafe fn of_command(
        raw: *mut raw::RedisModuleCtx,
        words: *mut *mut raw::RedisModuleString,
        count: usize,
    ) -> Context {
        // SAFETY: the caller promises that `raw` and the words are valid as long as this context is used.
        Context { words: (words, count), ..unsafe { Context::new(raw) } }
    }

    /// The server's own handle of the context.
    pub fn raw(&self) -> *mut raw::RedisModuleCtx {
        self.raw
    }

    /// Writes a line to the server's log.
    pub fn warn(&self, message: &str) {
        let message = CString::new(message).unwrap_or_default();
        // SAFETY: the context is valid (`Context::new`), and the strings live until the call returns.
        unsafe { api!(RedisModule_Log(self.raw, c"warning".as_ptr(), c"%s".as_ptr(), message.as_ptr())) }
    }

    /// The version of the server, a byte for each part. Valkey reports the version of the Redis that it stands in for.
    pub fn server_version(&self) -> c_int {
        // SAFETY: no arguments. Servers before 6.2 have no such function.
        unsafe { raw::RedisModule_GetServerVersion.map_or(0, |version| version()) }
    }

    /// Whether the server is Valkey, from version 8 on.
    pub fn is_valkey(&self) -> bool {
        // SAFETY: the context is valid, the strings are static, and the data is freed once, after the read.
        unsafe {
            let data = api!(RedisModule_GetServerInfo(self.raw, c"server".as_ptr()));
            let version = api!(RedisModule_ServerInfoGetFieldC(data, c"valkey_version".as_ptr()));
            api!(RedisModule_FreeServerInfo(self.raw, data));
            !version.is_null()
        }
    }

    /// Tells those who listen that something has happened to a key.
    pub fn notify(&self, event: &CStr, key: &Argument) {
        // SAFETY: the context and the strings are valid until the call returns.
        unsafe {
            let kind = raw::REDISMODULE_NOTIFY_GENERIC as c_int;
            api!(RedisModule_NotifyKeyspaceEvent(self.raw, kind, event.as_ptr(), key.0));
        }
    }

    /// Tells the server that the module handles bytes that cannot be read. Otherwise the server would exit.
    pub fn handle_errors_of_reading(&self) {
        // SAFETY: the context is valid. The module checks every read (`persistence::Reader`).
        unsafe { api!(RedisModule_SetModuleOptions(self.raw, raw::REDISMODULE_OPTIONS_HANDLE_IO_ERRORS as c_int)) }
    }

    /// Adds a category of access-control lists, if the server has categories of modules: Redis from 7.4 on, and Valkey
    /// from 8 on. Returns false if the server refuses.
    pub fn add_category(&self, name: &CStr) -> bool {
        // SAFETY: the context is valid, and the server copies the string.
        unsafe { raw::RedisModule_AddACLCategory.is_none_or(|add| add(self.raw, name.as_ptr()) == OK) }
    }

    /// Whether the server has a command with this name.
    pub fn has_command(&self, name: &CStr) -> bool {
        // SAFETY: the context is valid, and the strings live until the call returns. The reply is freed once, after the
        // look at its element.
        unsafe {
            let reply =
                api!(RedisModule_Call(self.raw, c"COMMAND".as_ptr(), c"cc".as_ptr(), c"INFO".as_ptr(), name.as_ptr()));
            if reply.is_null() {
                return false;
            }
            let first = api!(RedisModule_CallReplyArrayElement(reply, 0));
            let is_there =
                !first.is_null() && api!(RedisModule_CallReplyType(first)) == raw::REDISMODULE_REPLY_ARRAY as c_int;
            api!(RedisModule_FreeCallReply(reply));
            is_there
        }
    }

    /// Replicates the caller's command to replicas and to the append-only file.
    pub fn replicate_verbatim(&self) {
        let (words, count) = self.words;
        // SAFETY: the context is valid, and so are the words of its command (`Context::of_command`).
        unsafe {
            // Redis 6.2 drops the verbatim replication of a command whose client waited. A piece has its own words.
            let forgets = self.server_version() < FORGETS_BEFORE && count > 0;
            if self.replied.is_some() || forgets && api!(RedisModule_IsBlockedReplyRequest(self.raw)) != 0 {
                let mut length = 0;
                let name: *const u8 = api!(RedisModule_StringPtrLen(*words, &raw mut length)).cast();
                let name = CString::new(std::slice::from_raw_parts(name, length)).unwrap_or_default();
                api!(RedisModule_Replicate(self.raw, name.as_ptr(), c"v".as_ptr(), words.add(1), count - 1));
            } else {
                api!(RedisModule_ReplicateVerbatim(self.raw));
            }
        }
    }

    /// Replicates a command with this name, this key and these arguments to replicas and to the append-only file.
    pub fn replicate(&self, command: &CStr, key: &Argument, arguments: &[&[u8]]) {
        // SAFETY: the context is valid. The strings are freed once, after the call that reads `count` of them.
        unsafe {
            let make = |bytes: &&[u8]| api!(RedisModule_CreateString(self.raw, bytes.as_ptr().cast(), bytes.len()));
            let strings: Vec<*mut raw::RedisModuleString> = arguments.iter().map(make).collect();
            let (start, count): (_, usize) = (strings.as_ptr(), strings.len());
            api!(RedisModule_Replicate(self.raw, command.as_ptr(), c"sv".as_ptr(), key.0, start, count));
            strings.iter().for_each(|string| api!(RedisModule_FreeString(self.raw, *string)));
        }
    }

    /// Keeps a word of the command out of SLOWLOG, MONITOR and the server's log. Servers before 7.0 cannot do that.
    pub fn redact(&self, position: usize) {
        // SAFETY: the context is valid. The server checks the position, and keeps the word that the command reads.
        unsafe {
            if let Some(redact) = raw::RedisModule_RedactClientCommandArgument {
                redact(self.raw, c_int::try_from(position).unwrap_or(c_int::MAX));
            }
        }
    }

    /// Random bytes that nobody can guess.
    pub fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        // SAFETY: the buffer has `N` bytes.
        unsafe { api!(RedisModule_GetRandomBytes(bytes.as_mut_ptr(), N)) };
        bytes
    }

    /// Whether the command comes from a primary or from the append-only file. A command that succeeded there must
    /// succeed here.
    pub fn is_repetition(&self) -> bool {
        let repetition = raw::REDISMODULE_CTX_FLAGS_REPLICATED | raw::REDISMODULE_CTX_FLAGS_LOADING;
        // SAFETY: the context is valid.
        unsafe { api!(RedisModule_GetContextFlags(self.raw)) as u32 & repetition != 0 }
    }
}

/// An argument of a command.
#[repr(transparent)]
pub struct Argument(*mut raw::RedisModuleString);

impl Argument {
    /// The bytes of the argument.
    pub fn bytes(&self) -> &[u8] {
        let mut length = 0;
        // SAFETY: the server keeps the string unchanged as long as the command runs, and arguments are borrowed for
        // less (`command::run`).
        unsafe {
            let start = api!(RedisModule_StringPtrLen(self.0, &raw mut length));
            if length == 0 { &[] } else { std::slice::from_raw_parts(start.cast(), length) }
        }
    }

    /// Whether the argument is this word, in upper or lower case.
    pub fn is(&self, word: &str) -> bool {
        self.bytes().eq_ignore_ascii_case(word.as_bytes())
    }

    /// The argument as an integer, in the server's notation.
    pub fn integer(&self) -> Option<i64> {
        let mut number = 0;
        // SAFETY: as in `bytes`.
        (unsafe { api!(RedisModule_StringToLongLong(self.0, &raw mut number)) } == OK).then_some(number)
    }

    /// The argument as a number in Rust's notation.
    pub fn parse<T: FromStr>(&self) -> Option<T> {
        str::from_utf8(self.bytes()).ok().and_then(|digits| digits.parse().ok())
    }

    /// The argument as a real number, in the server's notation.
    pub fn real(&self) -> Option<f64> {
        let mut number = 0.0;
        // SAFETY: as in `bytes`.
        let status = unsafe { api!(RedisModule_StringToDouble(self.0, &raw mut number)) };
        (status == OK && !number.is_nan()).then_some(number)
    }
}

/// Why a command is refused, in the words of its reply.
pub enum Refusal {
    /// Too few arguments, or too many.
    Arity,
    /// The key holds a value of another type.
    WrongType,
    /// A message that is always the same.
    Said(&'static str),
    /// A message that was made for this refusal.
    Of(String),
    /// An error of the library.
    Library(petal::Error),
    /// The command is not refused: the command starts again when this work ends.
    Later(Arc<Busy>),
}

impl Refusal {
    /// The refusal for an error of the module itself.
    pub const INTERNAL: Refusal = Refusal::Said("ERR an internal error of the module petal, which its log tells");
}

impl From<petal::Error> for Refusal {
    fn from(error: petal::Error) -> Refusal {
        Refusal::Library(error)
    }
}
