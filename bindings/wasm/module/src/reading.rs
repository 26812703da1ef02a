//! Single keys looked up, and what a filter or a map says of itself.

#[cfg(feature = "maps")]
use crate::handles::not_for;
use crate::handles::{Held, with};
use crate::memory::slice;
use crate::outcome::{answer, answer_real, answer_text};
use petal::{Capabilities, Filter, Image, Result};

/// Whether a filter may hold a key, or a map have a value for it: the first answer.
///
/// # Safety
/// `length` bytes from `start` on are readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_contains(handle: u32, start: *const u8, length: usize) -> i32 {
    // SAFETY: the caller's promise.
    let key = unsafe { slice(start, length) };
    with(handle, |held| match held {
        Held::Filter(filter) => filter.contains_checked(key).map(i32::from),
        #[cfg(feature = "maps")]
        Held::Map(map) => map.get(key).map(valued),
        #[cfg(feature = "making")]
        other => Err(not_for(other, "look keys up")),
    })
}

/// [`petal_contains`] for a number, which is the same key as its eight little-endian bytes.
#[unsafe(no_mangle)]
pub extern "C" fn petal_contains_u64(handle: u32, key: u64) -> i32 {
    with(handle, |held| match held {
        Held::Filter(filter) => contains_u64(filter, key).map(i32::from),
        #[cfg(feature = "maps")]
        Held::Map(map) => map.get_u64(key).map(valued),
        #[cfg(feature = "making")]
        other => Err(not_for(other, "look keys up")),
    })
}

fn contains_u64(filter: &Filter, key: u64) -> Result<bool> {
    match filter.base().hasher().hash_u64_at_once(key) {
        Some(hash) => Ok(filter.contains_hash(hash)),
        None => filter.contains_checked(&key.to_le_bytes()),
    }
}

/// The hash of a key, as the first answer: what the batches of hashes take.
///
/// # Safety
/// `length` bytes from `start` on are readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_spec_hash(handle: u32, start: *const u8, length: usize) -> i32 {
    // SAFETY: the caller's promise.
    let key = unsafe { slice(start, length) };
    with(handle, |held| match held {
        Held::Filter(filter) => {
            answer(0, filter.base().hasher().hash_key(key)?);
            Ok(0)
        }
        #[cfg(feature = "maps")]
        other => Err(not_for(other, "hash")),
    })
}

/// The value of a key as the first answer.
#[cfg(feature = "maps")]
fn valued(value: Option<u64>) -> i32 {
    answer(0, value.unwrap_or(0));
    value.is_some().into()
}

/// What an image says of itself, in the order in which the package reads it.
fn describe(image: &impl Image) -> i32 {
    let base = image.base();
    let header = base.header();
    answer_text(0, base.row().name);
    answer_text(2, header.hash.name());
    answer(4, header.identifier);
    answer(5, header.layout_version.into());
    answer(6, image.capabilities().0);
    answer(7, header.geometry.hashes.into());
    answer(8, header.capacity);
    answer(9, base.count_now());
    answer(10, header.geometry.bits);
    answer(11, header.image_bytes());
    answer_real(12, header.false_positive_rate);
    answer(13, base.is_unclean().into());
    answer(14, (base.hasher().can_hash() || base.hasher().takes_whole()).into());
    answer(15, base.words().shared().as_ptr() as u64);
    answer(16, base.words().bytes());
    answer(17, base.row().is_map().into());
    answer(18, header.geometry.payload_bytes);
    0
}

/// Describes a filter or a map, in constant time.
#[unsafe(no_mangle)]
pub extern "C" fn petal_describe(handle: u32) -> i32 {
    with(handle, |held| match held {
        Held::Filter(filter) => Ok(describe(filter)),
        #[cfg(feature = "maps")]
        Held::Map(map) => Ok(describe(map)),
        #[cfg(feature = "making")]
        other => Err(not_for(other, "describe itself")),
    })
}

/// Checks all bytes against their checksums, and against what the kind promises.
#[unsafe(no_mangle)]
pub extern "C" fn petal_verify(handle: u32) -> i32 {
    with(handle, |held| match held {
        Held::Filter(filter) => filter.verify().map(|()| 0),
        #[cfg(feature = "maps")]
        Held::Map(map) => map.verify().map(|()| 0),
        #[cfg(feature = "making")]
        other => Err(not_for(other, "verify itself")),
    })
}

/// The name of a capability, whose bit is the third answer; 1 after the last.
#[unsafe(no_mangle)]
pub extern "C" fn petal_capability(number: usize) -> i32 {
    let Some((name, capability)) = Capabilities::ALL.get(number) else { return 1 };
    answer_text(0, name);
    answer(2, capability.0);
    0
}
