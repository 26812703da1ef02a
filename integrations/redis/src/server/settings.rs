//! The module's part of the server's configuration. Redis has settings of modules from 7.0 on.

use super::defaults::{self, Setting};
use super::{Argument, Context, ERR, OK, api};
use redis_module::raw;
use std::ffi::{CStr, CString, c_char, c_int, c_longlong, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// From this version on a setting's name needs no prefix with the module's name.
const UNPREFIXED_FROM: c_int = 0x0008_0000;

impl Context {
    /// Registers the settings: RedisBloom's and valkey-bloom's by their names, and `petal.budget`. In servers before
    /// Redis 8, and in Valkey, these names follow the module's name and a dot.
    ///
    /// # Errors
    /// The name of the setting that the server refuses.
    pub fn register_settings(&self) -> Result<(), &'static CStr> {
        // SAFETY: the API functions were set when the module was loaded, or are absent.
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
        for setting in defaults::settings() {
            let (now, itself) = (CString::new(setting.text()).unwrap_or_default(), (&raw const *setting).cast_mut());
            // SAFETY: the context is valid, and the server copies the strings. The server calls the functions as
            // documented, with the setting, which is static and changes through atomics only.
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
        // SAFETY: the context is valid, the server copies the strings, and the callbacks use no setting's pointer.
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

/// The last result of `get`. The module owns the string, and the server reads it immediately.
static GIVEN: AtomicPtr<raw::RedisModuleString> = AtomicPtr::new(null_mut());

/// A new string of the server. The caller owns the string.
unsafe fn string(text: &str) -> *mut raw::RedisModuleString {
    // SAFETY: the server copies the bytes.
    unsafe { api!(RedisModule_CreateString(null_mut(), text.as_ptr().cast(), text.len())) }
}

/// The setting behind the pointer that was registered with the server.
///
/// # Safety
/// `setting` is one of [`defaults::settings`].
unsafe fn of(setting: *mut c_void) -> &'static Setting {
    // SAFETY: `setting` points to one of the static [`defaults::settings`] (this function's contract).
    unsafe { &*setting.cast_const().cast::<Setting>() }
}

unsafe extern "C" fn get(_: *const c_char, setting: *mut c_void) -> *mut raw::RedisModuleString {
    // SAFETY: `setting` is the registered pointer. The previous string is freed once, after the server has read it.
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
    // SAFETY: `setting` is the registered pointer. The string is valid until this function returns, and the server
    // frees the error.
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
