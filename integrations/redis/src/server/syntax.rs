//! The arguments of commands in the server's form, made from a line in a manual's notation: `key rate:double
//! [NONSCALING]`.
//!
//! A name is a string, or has the type after its colon. A word in capitals stands for itself, alone or before an
//! argument. Brackets enclose an optional argument, and parentheses enclose arguments that come together. A choice is a
//! name, a colon, and alternatives with `|` between them. Dots follow an argument that may be repeated.

use redis_module::raw;
use std::ffi::{CString, c_int};

/// Arguments in the server's form; the server copies them.
pub struct Arguments {
    /// The arguments, and a last one that is all zeros.
    raw: Vec<raw::RedisModuleCommandArg>,
    /// The strings and arguments to which the pointers point.
    strings: Vec<CString>,
    nested: Vec<Arguments>,
}

impl Arguments {
    /// The arguments of a line, separated by `separator`.
    pub fn of(line: &str, separator: char) -> Arguments {
        let mut arguments = Arguments { raw: Vec::new(), strings: Vec::new(), nested: Vec::new() };
        parts(line, separator).into_iter().for_each(|word| arguments.push(word));
        // SAFETY: all-zero bytes are null pointers, zeros and the first value of an enum.
        arguments.raw.push(unsafe { std::mem::zeroed() });
        arguments
    }

    /// The form in which the server takes arguments.
    pub fn as_mut_ptr(&mut self) -> *mut raw::RedisModuleCommandArg {
        self.raw.as_mut_ptr()
    }

    fn push(&mut self, word: &str) {
        // SAFETY: all-zero bytes are null pointers, zeros and the first value of an enum, as above.
        let mut argument: raw::RedisModuleCommandArg = unsafe { std::mem::zeroed() };
        let (word, is_more) = word.strip_suffix("...").map_or((word, false), |word| (word, true));
        let inner = word.strip_prefix('[').and_then(|word| word.strip_suffix(']'));
        let mut flags = if is_more { raw::REDISMODULE_CMD_ARG_MULTIPLE } else { 0 };
        flags |= if inner.is_some() { raw::REDISMODULE_CMD_ARG_OPTIONAL } else { 0 };
        argument.flags = flags as c_int;
        let word = inner.unwrap_or(word);
        let (name, kind) = self.describe(word, &mut argument);
        argument.name = self.string(&name);
        argument.type_ = kind;
        self.raw.push(argument);
    }

    /// Fills in the name, the type and the parts of an argument.
    fn describe(
        &mut self,
        word: &str,
        argument: &mut raw::RedisModuleCommandArg,
    ) -> (String, raw::RedisModuleCommandArgType) {
        if let Some((name, choices)) = word.split_once(':')
            && choices.contains('|')
        {
            argument.subargs = self.nest(choices, '|');
            return (name.into(), raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_ONEOF);
        }
        if let Some(pair) = word.strip_prefix('(').and_then(|word| word.strip_suffix(')')) {
            argument.subargs = self.nest(pair, ' ');
            return ("pair".into(), raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_BLOCK);
        }
        if let Some((first, rest)) = word.split_once(' ') {
            // The argument after a token has the token's name.
            argument.token = self.string(first);
            argument.subargs = self.nest(rest, ' ');
            return (first.to_lowercase(), raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_BLOCK);
        }
        if word.bytes().all(|byte| byte.is_ascii_uppercase()) {
            argument.token = self.string(word);
            return (word.to_lowercase(), raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_PURE_TOKEN);
        }
        let (name, of) = word.split_once(':').unwrap_or((word, if word == "key" { "key" } else { "" }));
        let kind = match of {
            "key" => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_KEY,
            "integer" => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_INTEGER,
            "double" => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_DOUBLE,
            _ => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_STRING,
        };
        (name.into(), kind)
    }

    fn nest(&mut self, line: &str, separator: char) -> *mut raw::RedisModuleCommandArg {
        let mut nested = Arguments::of(line, separator);
        let start = nested.as_mut_ptr();
        self.nested.push(nested);
        start
    }

    fn string(&mut self, text: &str) -> *const std::ffi::c_char {
        let text = CString::new(text).unwrap_or_default();
        let start = text.as_ptr();
        self.strings.push(text);
        start
    }
}

/// The parts of a line, none of which ends inside brackets or parentheses.
fn parts(line: &str, separator: char) -> Vec<&str> {
    let mut depth = 0;
    let inside = |letter: char| {
        depth += i32::from("[(".contains(letter)) - i32::from("])".contains(letter));
        letter == separator && depth == 0
    };
    line.split(inside).filter(|part| !part.is_empty()).collect()
}
