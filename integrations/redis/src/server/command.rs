//! Commands: their table, how they are made known to the server, and how they are called.

use super::{Argument, Context, ERR, OK, Refusal, api};
use redis_module::raw;
use std::ffi::{CStr, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a command does.
pub type Handler = fn(&Context, &[Argument]) -> Result<(), Refusal>;

/// The function that the server calls.
pub type Entry = unsafe extern "C" fn(*mut raw::RedisModuleCtx, *mut *mut raw::RedisModuleString, c_int) -> c_int;

/// What a command does to its keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Tells what they hold.
    Read,
    /// Adds to what they hold.
    Insert,
    /// Changes what they hold.
    Update,
    /// Makes them.
    Make,
}

/// A row of the table of commands.
pub struct Command {
    /// Its name.
    pub name: &'static CStr,
    /// What the server has to know: of its flags those that it allows.
    pub flags: &'static CStr,
    /// How many arguments there are, the name among them; less than 0 if there may be more.
    pub arity: i32,
    /// The last argument that is a key, of those from the first on; -1 if all are, 0 if none is.
    pub last_key: i32,
    /// What it does to them.
    pub access: Access,
    /// What it does, in a sentence.
    pub summary: &'static CStr,
    /// How long it takes.
    pub complexity: &'static CStr,
    /// What is called.
    pub entry: Entry,
}

/// A table of commands: of each its function, its name, flags, number of arguments, keys and what it does to them,
/// summary and complexity.
macro_rules! commands {
    ($($handler:path: $name:literal, $flags:literal, $arity:literal, $last_key:literal, $access:ident,
        $summary:literal, $complexity:literal;)*) => {
        /// The commands.
        pub static COMMANDS: &[$crate::server::command::Command] = &[$({
            unsafe extern "C" fn entry(
                context: *mut redis_module::raw::RedisModuleCtx,
                arguments: *mut *mut redis_module::raw::RedisModuleString,
                count: std::ffi::c_int,
            ) -> std::ffi::c_int {
                // SAFETY: the server's pointers, valid until this returns.
                unsafe { $crate::server::command::run(context, arguments, count, entry, $arity, $handler) }
            }
            $crate::server::command::Command {
                name: $name,
                flags: $flags,
                arity: $arity,
                last_key: $last_key,
                access: $crate::server::command::Access::$access,
                summary: $summary,
                complexity: $complexity,
                entry,
            }
        }),*];
    };
}
pub(crate) use commands;

/// Calls a handler and replies what it refuses, or has `entry` called anew when the values that it would change are no
/// more in use.
///
/// # Safety
/// As [`answer`].
pub unsafe fn run(
    context: *mut raw::RedisModuleCtx,
    arguments: *mut *mut raw::RedisModuleString,
    count: c_int,
    entry: Entry,
    arity: c_int,
    handler: Handler,
) -> c_int {
    let called = |context: &Context, arguments: &[Argument]| {
        // Redis 6.2 leaves that to modules.
        if (arity > 0 && count != arity) || count < -arity {
            return Err(Refusal::Arity);
        }
        match handler(context, arguments) {
            Err(Refusal::Later(busy)) => {
                busy.wait(context, entry);
                Ok(())
            }
            outcome => outcome,
        }
    };
    // SAFETY: the caller's promise.
    unsafe { answer(context, arguments, count, called) }
}

/// Calls what replies, and replies what it refuses. Nothing unwinds into the server.
///
/// # Safety
/// The context, and `count` arguments, are valid until this returns.
pub unsafe fn answer(
    context: *mut raw::RedisModuleCtx,
    arguments: *mut *mut raw::RedisModuleString,
    count: c_int,
    replies: impl FnOnce(&Context, &[Argument]) -> Result<(), Refusal>,
) -> c_int {
    // SAFETY: the caller's promise; an `Argument` is such a pointer.
    let (context, arguments) = unsafe {
        let count = count.max(0) as usize;
        let words = std::slice::from_raw_parts(arguments.cast::<Argument>(), count);
        (Context::of_command(context, arguments, count), words)
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| replies(&context, arguments)));
    if let Err(refusal) = outcome.unwrap_or(Err(Refusal::INTERNAL)) {
        context.reply_refusal(&refusal);
    }
    OK
}

impl Command {
    /// Makes the command known to the server. False where it refuses.
    pub fn register(&self, context: &Context) -> bool {
        // SAFETY: the context is valid, and the strings are static.
        unsafe {
            let first_key = c_int::from(self.has_keys());
            let created = api!(RedisModule_CreateCommand(
                context.raw(),
                self.name.as_ptr(),
                Some(self.entry),
                self.flags.as_ptr(),
                first_key,
                self.last_key,
                first_key
            ));
            if created == ERR {
                return false;
            }
            // From Redis 7.0 on the server tells its users.
            let (Some(get), Some(set)) = (raw::RedisModule_GetCommand, raw::RedisModule_SetCommandInfo) else {
                return true;
            };
            let command = get(context.raw(), self.name.as_ptr());
            !command.is_null() && self.describe(|info| set(command, info) != ERR) && self.add_categories(command)
        }
    }

    fn has_keys(&self) -> bool {
        self.last_key != 0
    }

    /// Adds to the categories of access-control lists that the flags do not say.
    ///
    /// # Safety
    /// `command` is the server's.
    unsafe fn add_categories(&self, command: *mut raw::RedisModuleCommand) -> bool {
        let words = self.flags.to_bytes().split(|byte| *byte == b' ');
        let is_fast = words.into_iter().any(|word| word == b"fast");
        let categories = match (self.access, is_fast) {
            (Access::Read, true) => c"read fast",
            (Access::Read, false) => c"read slow",
            (_, true) => c"write fast",
            (_, false) => c"write slow",
        };
        // SAFETY: the caller's promise, and the string is static. Servers before 7.2 have no such function.
        unsafe { raw::RedisModule_SetCommandACLCategories.is_none_or(|set| set(command, categories.as_ptr()) != ERR) }
    }

    /// Gives what the server tells of the command to `set`.
    fn describe(&self, set: impl FnOnce(*const raw::RedisModuleCommandInfo) -> bool) -> bool {
        let version = raw::RedisModuleCommandInfoVersion {
            version: 1,
            sizeof_historyentry: size_of::<raw::RedisModuleCommandHistoryEntry>(),
            sizeof_keyspec: size_of::<raw::RedisModuleCommandKeySpec>(),
            sizeof_arg: size_of::<raw::RedisModuleCommandArg>(),
        };
        let flags = match self.access {
            Access::Read => raw::REDISMODULE_CMD_KEY_RO | raw::REDISMODULE_CMD_KEY_ACCESS,
            Access::Insert => raw::REDISMODULE_CMD_KEY_RW | raw::REDISMODULE_CMD_KEY_INSERT,
            Access::Update => {
                raw::REDISMODULE_CMD_KEY_RW | raw::REDISMODULE_CMD_KEY_UPDATE | raw::REDISMODULE_CMD_KEY_ACCESS
            }
            Access::Make => raw::REDISMODULE_CMD_KEY_OW | raw::REDISMODULE_CMD_KEY_INSERT,
        };
        // SAFETY: all-zero bytes are null pointers, zeros and the first values of enums, which end these lists.
        let mut specs: [raw::RedisModuleCommandKeySpec; 2] = unsafe { std::mem::zeroed() };
        specs[0].flags = u64::from(flags);
        specs[0].begin_search_type = raw::RedisModuleKeySpecBeginSearchType_REDISMODULE_KSPEC_BS_INDEX;
        specs[0].bs.index.pos = 1;
        specs[0].find_keys_type = raw::RedisModuleKeySpecFindKeysType_REDISMODULE_KSPEC_FK_RANGE;
        specs[0].fk.range.lastkey = if self.last_key > 0 { self.last_key - 1 } else { self.last_key };
        specs[0].fk.range.keystep = 1;
        // SAFETY: likewise.
        let mut info: raw::RedisModuleCommandInfo = unsafe { std::mem::zeroed() };
        info.version = &raw const version;
        info.summary = self.summary.as_ptr();
        info.complexity = self.complexity.as_ptr();
        info.since = c"0.1.0".as_ptr();
        info.arity = self.arity;
        if self.has_keys() {
            info.key_specs = specs.as_mut_ptr();
        }
        set(&raw const info)
    }
}
