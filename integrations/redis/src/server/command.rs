//! Commands: their table, their registration with the server, and their calls.

use super::syntax::Arguments;
use super::{Argument, Context, ERR, OK, Refusal, api};
use redis_module::raw;
use std::ffi::{CStr, CString, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The function of a command.
pub type Handler = fn(&Context, &[Argument]) -> Result<(), Refusal>;

/// The function that the server calls.
pub type Entry = unsafe extern "C" fn(*mut raw::RedisModuleCtx, *mut *mut raw::RedisModuleString, c_int) -> c_int;

/// The categories of access-control lists that the module makes.
const OWN: [&str; 3] = ["bloom", "cuckoo", "petal"];

/// How a command accesses its keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The command reads its keys.
    Read,
    /// The command adds to its keys.
    Insert,
    /// The command changes its keys.
    Update,
    /// The command makes its keys.
    Make,
}

/// A row of the table of commands.
pub struct Command {
    /// The name that clients call the command by.
    pub name: &'static CStr,
    /// The command's flags; the server gets those that its version knows.
    pub flags: &'static CStr,
    /// The number of arguments, the name included. A negative number is minus the least number of arguments.
    pub arity: i32,
    /// The position of the last argument that is a key. The first argument is the first key; -1 means that all are
    /// keys, 0 that none is.
    pub last_key: i32,
    /// How the command accesses its keys.
    pub access: Access,
    /// The categories of access-control lists that the command is in, besides those that follow from its flags.
    pub categories: &'static str,
    /// The module version that introduced the command.
    pub since: &'static CStr,
    /// The command's arguments, in the notation that `Arguments` reads.
    pub arguments: &'static str,
    /// A sentence that says what the command does.
    pub summary: &'static CStr,
    /// The time complexity of the command.
    pub complexity: &'static CStr,
    /// The function that the server calls.
    pub entry: Entry,
}

/// A table of commands. A row has function, name, flags, number of arguments, keys and access, categories, version,
/// arguments, summary and complexity.
macro_rules! commands {
    ($($handler:path: $name:literal, $flags:literal, $arity:literal, $last_key:literal, $access:ident,
        $categories:literal, $since:literal, $syntax:literal, $summary:literal, $complexity:literal;)*) => {
        /// The commands.
        pub static COMMANDS: &[$crate::server::command::Command] = &[$({
            unsafe extern "C" fn entry(
                context: *mut redis_module::raw::RedisModuleCtx,
                arguments: *mut *mut redis_module::raw::RedisModuleString,
                count: std::ffi::c_int,
            ) -> std::ffi::c_int {
                // SAFETY: the pointers are the server's, and valid until this function returns.
                unsafe { $crate::server::command::run(context, arguments, count, entry, $arity, $handler) }
            }
            $crate::server::command::Command {
                name: $name,
                flags: $flags,
                arity: $arity,
                last_key: $last_key,
                access: $crate::server::command::Access::$access,
                categories: $categories,
                since: $since,
                arguments: $syntax,
                summary: $summary,
                complexity: $complexity,
                entry,
            }
        }),*];
    };
}
pub(crate) use commands;

/// Calls a handler and replies its refusal. If the refusal is [`Refusal::Later`], the server calls `entry` again when
/// the other work has ended.
///
/// # Safety
/// The contract of [`answer`].
pub unsafe fn run(
    context: *mut raw::RedisModuleCtx,
    arguments: *mut *mut raw::RedisModuleString,
    count: c_int,
    entry: Entry,
    arity: c_int,
    handler: Handler,
) -> c_int {
    let called = |context: &Context, arguments: &[Argument]| {
        // Redis 6.2 leaves this check to modules.
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
    // SAFETY: the context and `count` arguments are valid until this function returns, as [`answer`] asks.
    unsafe { answer(context, arguments, count, called) }
}

/// Calls a function that replies. If the function refuses, replies the refusal. No panic unwinds into the server.
///
/// # Safety
/// The context, and `count` arguments, are valid until this function returns.
pub unsafe fn answer(
    context: *mut raw::RedisModuleCtx,
    arguments: *mut *mut raw::RedisModuleString,
    count: c_int,
    replies: impl FnOnce(&Context, &[Argument]) -> Result<(), Refusal>,
) -> c_int {
    // SAFETY: the caller promises that the context, and `count` arguments, are valid until this function returns. An
    // `Argument` is a transparent pointer to a string.
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
    /// Registers the command with the server. Returns false if the server refuses.
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
            // Redis shows the description to its users from version 7.0 on.
            let (Some(get), Some(set)) = (raw::RedisModule_GetCommand, raw::RedisModule_SetCommandInfo) else {
                return true;
            };
            let command = get(context.raw(), self.name.as_ptr());
            !command.is_null() && self.describe(|info| set(command, info) != ERR) && self.add_categories(command)
        }
    }

    /// The command's name and arguments, as a manual shows them.
    pub fn usage(&self) -> String {
        let mut usage = self.name.to_string_lossy().to_uppercase();
        for word in self.arguments.split(' ').filter(|word| !word.is_empty()) {
            usage.push(' ');
            // The types of arguments are for programs, so the help leaves them out.
            let (name, of) = word.split_once(':').unwrap_or((word, ""));
            usage.push_str(name);
            usage.push_str(of.trim_start_matches(|letter: char| letter.is_ascii_alphabetic()));
        }
        usage
    }

    fn has_keys(&self) -> bool {
        self.last_key != 0
    }

    /// Tells the server the categories of access-control lists that the command is in.
    ///
    /// # Safety
    /// `command` is the server's.
    unsafe fn add_categories(&self, command: *mut raw::RedisModuleCommand) -> bool {
        // SAFETY: the caller promises that `command` is the server's, and the server copies the string. Servers before
        // 7.2 have no such function, and 7.2 has no categories of modules.
        unsafe {
            let Some(set) = raw::RedisModule_SetCommandACLCategories else { return true };
            let has_own = { raw::RedisModule_AddACLCategory }.is_some();
            let known = self.categories.split(' ').filter(|word| has_own || !OWN.contains(word));
            let categories = CString::new(known.collect::<Vec<_>>().join(" ")).unwrap_or_default();
            set(command, categories.as_ptr()) != ERR
        }
    }

    /// Gives `set` the command's description, which the server shows.
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
        // SAFETY: all-zero bytes are null pointers, zeros and the first values of enums, as above.
        let mut info: raw::RedisModuleCommandInfo = unsafe { std::mem::zeroed() };
        info.version = &raw const version;
        info.summary = self.summary.as_ptr();
        info.complexity = self.complexity.as_ptr();
        info.since = self.since.as_ptr();
        info.arity = self.arity;
        let mut arguments = Arguments::of(self.arguments, ' ');
        info.args = arguments.as_mut_ptr();
        if self.has_keys() {
            info.key_specs = specs.as_mut_ptr();
        }
        set(&raw const info)
    }
}
