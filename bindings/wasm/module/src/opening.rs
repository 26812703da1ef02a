//! Images become filters and maps.

use crate::handles::{Held, hold};
use crate::memory::slice;
use crate::outcome::run;
use petal::format::Header;
use petal::{OpenOptions, SecretKey, load_as, registry};

/// Copies an image out of the caller's bytes and checks all of it. `key` is null or the address of 16 bytes.
///
/// # Safety
/// `length` bytes from `start` on are readable, and 16 from `key` on unless it is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_open(start: *const u8, length: usize, key: *const SecretKey) -> i32 {
    // SAFETY: the caller's promise.
    let (bytes, key) = unsafe { (slice(start, length), key.as_ref().copied()) };
    run(|| {
        let options = OpenOptions { key, ..OpenOptions::default() };
        let header = Header::read(|start| {
            let length = bytes.len().min(start.len());
            start[..length].copy_from_slice(&bytes[..length]);
            Ok(length)
        })?;
        let is_map = registry::find(header.0.kind).is_some_and(petal::Row::is_map);
        hold(if is_map { Held::Map(load_as(bytes, &options)?) } else { Held::Filter(load_as(bytes, &options)?) })
    })
}
