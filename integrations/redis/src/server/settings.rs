//! The module's part of the server's configuration, where the server has that for modules: from Redis 7.0 on.

use super::defaults::{self, SETTINGS, Setting};
use super::{Argument, Context, ERR, OK, api};
use redis_module::raw;
use std::ffi::{CStr, CString, c_char, c_int, c_longlong, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// From this version on names of settings may be without the module's before them.
const UNPREFIXED_FROM: c_int = 0x0008_0000;

impl Context {
    /// Makes settings known: RedisBloom's by their names, which have the module's and a dot before them in servers
    /// older than Redis 8 and in Valkey; and `petal.budget`.
    ///
    /// # Errors
    /// The name of the setting that the server refuses.
    pub fn register_settings(&self) -> Result<(), &'static CStr> {
        // SAFETY: the functions were set when the module was loaded, or there are none.
        let functions = unsafe {
            (
                raw::RedisModule_RegisterNumericConfig,
                raw::RedisModule_RegisterStringConfig,
                raw::RedisModule_LoadConfigs,
            )
        };
        let (Some(register_number), Some(register), Some(load)) = functions else { return Ok(()) };
        let flags = match self.server_version() >= UNPREFIXED_FROM {
            true => raw::REDISMODULE_CONFIG_UNPREFIXED,
            false => raw::REDISMODULE_CONFIG_DEFAULT,
        };
        for setting in SETTINGS {
            let (now, itself) = (CString::new(setting.text()).unwrap_or_default(), (&raw const *setting).cast_mut());
            // SAFETY: the context is valid, the server copies the strings and calls the functions as it says, with the
            // setting, which is static and changes through atomics only.
            let status = unsafe {
                register(
                    self.raw,
                    setting.name.as_ptr(),
                    now.as_ptr(),
                    flags as c_uint,
                    Some(get),
                    Some(set),
                    None,
                    itself.cast(),
                )
            };
            if status == ERR {
                return Err(setting.name);
            }
        }
        let (now, most) = (defaults::milliseconds() as c_longlong, defaults::MOST_BUDGET as c_longlong);
        let (name, flags) = (c"budget", raw::REDISMODULE_CONFIG_DEFAULT);
        // SAFETY: likewise.
        unsafe {
            let status = register_number(
                self.raw,
                name.as_ptr(),
                now,
                flags,
                0,
                most,
                Some(get_budget),
                Some(set_budget),
                None,
                null_mut(),
            );
            if status == ERR || load(self.raw) == ERR { Err(name) } else { Ok(()) }
        }
    }
}

/// What `get` gave last: it is the module's, and the server looks at it at once.
static GIVEN: AtomicPtr<raw::RedisModuleString> = AtomicPtr::new(null_mut());

/// A new string of the server's, which the caller owns.
unsafe fn string(text: &str) -> *mut raw::RedisModuleString {
    // SAFETY: the server copies the bytes.
    unsafe { api!(RedisModule_CreateString(null_mut(), text.as_ptr().cast(), text.len())) }
}

/// The setting that the server was given.
///
/// # Safety
/// `setting` is one of [`SETTINGS`].
unsafe fn of(setting: *mut c_void) -> &'static Setting {
    // SAFETY: `setting` points to one of the static [`SETTINGS`] (this function's contract).
    unsafe { &*setting.cast_const().cast::<Setting>() }
}

unsafe extern "C" fn get(_: *const c_char, setting: *mut c_void) -> *mut raw::RedisModuleString {
    // SAFETY: what was registered; the string before is freed once, after the server was done with it.
    unsafe {
        let now = string(&of(setting).text());
        let before = GIVEN.swap(now, Ordering::Relaxed);
        if !before.is_null() {
            api!(RedisModule_FreeString(null_mut(), before));
        }
        now
    }
}

unsafe extern "C" fn set(
    _: *const c_char,
    value: *mut raw::RedisModuleString,
    setting: *mut c_void,
    error: *mut *mut raw::RedisModuleString,
) -> c_int {
    // SAFETY: what was registered; the string is valid until this returns, and the server frees what is said.
    unsafe {
        match of(setting).set(&Argument(value)) {
            Ok(()) => OK,
            Err(why) => {
                *error = string(&why);
                ERR
            }
        }
    }
}

unsafe extern "C" fn get_budget(_: *const c_char, _: *mut c_void) -> c_longlong {
    defaults::milliseconds() as c_longlong
}

unsafe extern "C" fn set_budget(
    _: *const c_char,
    budget: c_longlong,
    _: *mut c_void,
    _: *mut *mut raw::RedisModuleString,
) -> c_int {
    defaults::set_milliseconds(budget as u64);
    OK
}
