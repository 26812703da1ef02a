//! Images become filters and maps.

use crate::handles::{Held, hold};
use crate::memory::slice;
use crate::outcome::run;
use petal::{OpenOptions, Secret, load_as};
#[cfg(feature = "maps")]
use petal::{Result, format::Header, registry};

/// Copies an image out of the caller's bytes and checks all of it. `secret` is null or the address of 16 bytes.
///
/// # Safety
/// `length` bytes from `start` on are readable, and 16 from `secret` on unless it is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_open(start: *const u8, length: usize, secret: *const Secret) -> i32 {
    // SAFETY: the caller's promise.
    let (bytes, secret) = unsafe { (slice(start, length), secret.as_ref().copied()) };
    run(|| {
        let options = OpenOptions { secret, ..OpenOptions::default() };
        #[cfg(feature = "maps")]
        if is_map(bytes)? {
            return hold(Held::Map(load_as(bytes, &options)?));
        }
        hold(Held::Filter(load_as(bytes, &options)?))
    })
}

/// Whether an image is that of a map.
#[cfg(feature = "maps")]
fn is_map(bytes: &[u8]) -> Result<bool> {
    let header = Header::read(|start| {
        let length = bytes.len().min(start.len());
        start[..length].copy_from_slice(&bytes[..length]);
        Ok(length)
    })?;
    Ok(registry::find(header.0.kind).is_some_and(petal::Row::is_map))
}
