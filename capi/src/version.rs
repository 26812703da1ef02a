//! VERSION
//!
//! The macros `PETAL_VERSION_*` tell the header's version, and these functions tell the library's.

use std::ffi::{CStr, c_char};

/// The library's version as major * 10000 + minor * 100 + patch, like `PETAL_VERSION_NUMBER`.
#[unsafe(no_mangle)]
pub extern "C" fn petal_version_number() -> u32 {
    const fn number(text: &str) -> u32 {
        let (bytes, mut number, mut i) = (text.as_bytes(), 0, 0);
        while i < bytes.len() {
            number = number * 10 + (bytes[i] - b'0') as u32;
            i += 1;
        }
        number
    }
    const NUMBER: u32 = number(env!("CARGO_PKG_VERSION_MAJOR")) * 10000
        + number(env!("CARGO_PKG_VERSION_MINOR")) * 100
        + number(env!("CARGO_PKG_VERSION_PATCH"));
    NUMBER
}

/// The library's version as text, like `PETAL_VERSION_STRING`. Static.
#[unsafe(no_mangle)]
pub extern "C" fn petal_version_string() -> *const c_char {
    const STRING: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(string) => string,
        Err(_) => c"",
    };
    STRING.as_ptr()
}
