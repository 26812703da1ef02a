//! Gives the shared library that plain `cargo build` links the same name and the same lifetime as the installed one,
//! and petal.dll its version resource. Needs nothing beyond the Rust toolchain (and mingw-w64 for Windows); the header
//! is committed, not made here.

use std::env;

mod resource;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=resource.rs");
    let major = env::var("CARGO_PKG_VERSION_MAJOR").expect("cargo sets CARGO_PKG_VERSION_MAJOR");
    match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libpetal.so.{major}");
            // Rust's thread-local destructors may run after a dlclose: the code has to stay mapped.
            println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
        }
        Ok("macos") => println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libpetal.{major}.dylib"),
        Ok("windows") => {
            if let Some(object) = resource::compile("petal.dll", "Approximate-membership structures") {
                println!("cargo::rustc-cdylib-link-arg={}", object.display());
            }
        }
        _ => {}
    }
}
