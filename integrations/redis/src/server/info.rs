//! The module's part of the server's INFO.

use super::{Context, OK, api};
use redis_module::raw;
use std::ffi::{CStr, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// The function that reports.
static REPORT: OnceLock<fn(&Info)> = OnceLock::new();

/// A report that the server puts together.
pub struct Info(*mut raw::RedisModuleInfoCtx);

impl Info {
    /// Begins a section. The server puts the module's name and `_` before its name, and before those of fields.
    pub fn section(&self, name: &CStr) {
        // SAFETY: the report is valid, and the server copies the string.
        unsafe { api!(RedisModule_InfoAddSection(self.0, name.as_ptr())) };
    }

    /// Adds a field to the section.
    pub fn field(&self, name: &CStr, value: u64) {
        // SAFETY: the report is valid, and the server copies the string.
        unsafe { api!(RedisModule_InfoAddFieldULongLong(self.0, name.as_ptr(), value)) };
    }
}

impl Context {
    /// Has the server call `report` for INFO. Returns false if the server refuses.
    pub fn register_report(&self, report: fn(&Info)) -> bool {
        REPORT.get_or_init(|| report);
        // SAFETY: the context is valid, and the server calls the function as documented.
        unsafe { api!(RedisModule_RegisterInfoFunc(self.raw(), Some(called))) == OK }
    }
}

unsafe extern "C" fn called(info: *mut raw::RedisModuleInfoCtx, _is_crash: c_int) {
    if let Some(report) = REPORT.get() {
        let _ = catch_unwind(AssertUnwindSafe(|| report(&Info(info))));
    }
}
