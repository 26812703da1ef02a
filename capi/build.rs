//! Gives the shared library that plain `cargo build` links the same name and the same lifetime as the installed one.
//! Needs nothing beyond the Rust toolchain; the header is committed, not made here.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    let major = env::var("CARGO_PKG_VERSION_MAJOR").expect("cargo sets CARGO_PKG_VERSION_MAJOR");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libpetal.so.{major}");
    // Rust's thread-local destructors may run after a dlclose: the code has to stay mapped.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
