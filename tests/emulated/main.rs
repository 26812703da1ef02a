//! The files of the suite that hold a processor's own kernels to their portable specification, as a small program:
//! `tests/neon.sh` compiles it for aarch64 and runs it in an emulator. The whole suite takes minutes to compile.
#![allow(dead_code, unused_imports, reason = "what the other files of the suite use")]

#[path = "../suite/common/mod.rs"]
mod common;
#[path = "../suite/format.rs"]
mod format;
#[path = "../suite/hash.rs"]
mod hash;
#[path = "../suite/kernels.rs"]
mod kernels;
#[path = "../suite/shared.rs"]
mod shared;
#[path = "../suite/specification.rs"]
mod specification;
