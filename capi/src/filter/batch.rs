//! FILTERS: MANY KEYS
//!
//! A batch costs less per key than single calls. Byte keys come as one buffer with count + 1
//! offsets: key i is `keys[offsets[i] .. offsets[i + 1]]`; offsets do not decrease and end inside
//! the buffer. All are checked before the first key is used.
//!
//! Answers come in up to three forms at once, each nullable: a byte a key (0 or 1), a bitmap (bit i
//! is bit i % 8 of byte i / 8; (count + 7) / 8 bytes), and how many are true. On a failure of a
//! lookup every answer is 1. A lookup needs at least one of the three. An insertion needs none: with all three NULL
//! nothing is found out about the keys, which is faster.

use super::petal_filter;
use crate::boundary::{self, boundary};
use crate::status::{PETAL_OK, petal_error, petal_status};
use petal_core::ring::Few;
use petal_core::{Answers, Keys, Result, Status};
use std::ffi::c_void;

/// Where the caller wants the answers; each may be NULL.
pub(super) struct Wanted {
    pub keys: usize,
    pub bytes: *mut u8,
    pub bitmap: *mut u8,
    pub count: *mut u64,
}

impl Wanted {
    /// The core's form of it.
    ///
    /// # Safety
    /// The pointers are NULL or writable for as many keys.
    pub unsafe fn answers<'a>(&self) -> Answers<'a> {
        // More keys than can be have no answers; they are refused for what they are.
        let possible = isize::try_from(self.keys).is_ok();
        let slice = |pointer: *mut u8, length: usize| {
            // SAFETY: the caller's promise. The bytes of another language's memory have values, if arbitrary ones, and
            // they are written and not read.
            (possible && !pointer.is_null()).then(|| unsafe { std::slice::from_raw_parts_mut(pointer, length) })
        };
        Answers {
            bytes: slice(self.bytes, self.keys),
            bitmap: slice(self.bitmap, self.keys.div_ceil(8)),
            ..Answers::default()
        }
    }

    /// Whether any form of answers is wanted. If not, an insertion finds none out.
    pub fn any(&self) -> bool {
        !(self.bytes.is_null() && self.bitmap.is_null() && self.count.is_null())
    }

    /// # Safety
    /// As [`Wanted::answers`].
    pub unsafe fn tell_count(&self, count: u64) {
        if !self.count.is_null() {
            // SAFETY: the caller's promise.
            unsafe { self.count.write(count) };
        }
    }

    /// Tells the caller what `ask` says of few keys. `None`, having asked nobody, if there is something to be refused.
    ///
    /// # Safety
    /// As [`Wanted::answers`]; `error` is NULL or has its size.
    #[inline(always)]
    unsafe fn take_few(&self, error: *mut petal_error, few: &Few, ask: impl FnOnce() -> Option<u64>) -> Option<()> {
        // SAFETY: the caller's promise.
        unsafe { boundary::check_out(error) }.ok()?;
        // SAFETY: as above.
        let answers = unsafe { self.answers() }.of_few(few, ask)?;
        // SAFETY: as above.
        unsafe { self.tell_count(answers.count_ones().into()) };
        Some(())
    }

    /// Every answer is true: the answer of a lookup that failed.
    ///
    /// # Safety
    /// As [`Wanted::answers`].
    unsafe fn all_true(&self) {
        // SAFETY: the caller's promise.
        let mut answers = unsafe { self.answers() };
        answers.fill(true, self.keys);
        // SAFETY: as above.
        unsafe { self.tell_count(answers.true_count) };
    }
}

// A batch of few numbers is tried first, in a straight line, as a single key is: see `probe.rs`.

/// Looks keys up.
///
/// # Safety
/// The conventions.
#[inline(always)]
unsafe fn contains(
    filter: *const petal_filter,
    keys: impl Fn() -> Result<Keys<'static>>,
    wanted: Wanted,
    error: *mut petal_error,
) -> petal_status {
    let few = || {
        // SAFETY: the conventions say so.
        let handle = unsafe { petal_filter::sound(filter)? };
        let few = keys().ok()?.few(&handle.hasher)?;
        // SAFETY: as above.
        unsafe { wanted.take_few(error, &few, || handle.contains_few(&few)) }
    };
    if wanted.any() && boundary::attempt(few, || None).is_some() {
        return PETAL_OK;
    }
    // SAFETY: as above.
    unsafe { contains_the_long_way(filter, keys, wanted, error) }
}

#[inline(never)]
unsafe fn contains_the_long_way(
    filter: *const petal_filter,
    keys: impl Fn() -> Result<Keys<'static>>,
    wanted: Wanted,
    error: *mut petal_error,
) -> petal_status {
    let status = boundary!(error, [filter], {
        if !wanted.any() {
            return Err(boundary::null("each of found, found_bitmap and found_count"));
        }
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let mut answers = unsafe { wanted.answers() };
        // SAFETY: as above.
        unsafe { petal_filter::get(filter)? }.contains_batch(&keys()?, &mut answers)?;
        // SAFETY: as above.
        unsafe { wanted.tell_count(answers.true_count) };
        Ok(())
    });
    if status != 0 {
        // SAFETY: as above.
        unsafe { wanted.all_true() };
    }
    status
}

/// Inserts keys.
///
/// # Safety
/// The conventions.
#[inline(always)]
unsafe fn insert(
    filter: *mut petal_filter,
    keys: impl Fn() -> Result<Keys<'static>>,
    wanted: Wanted,
    inserted: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    let few = || {
        // SAFETY: the conventions say so.
        let handle = unsafe { petal_filter::sound_mut(filter)? };
        let few = keys().ok()?.few(&handle.hasher)?;
        // SAFETY: as above.
        unsafe { wanted.take_few(error, &few, || handle.insert_few_at_once(&few, wanted.any())) }
    };
    let panicked = || {
        // SAFETY: what panicked is the filter of a handle.
        unsafe { petal_filter::poison(filter) };
        None
    };
    if boundary::attempt(few, panicked).is_none() {
        // SAFETY: as above.
        return unsafe { insert_the_long_way(filter, keys, wanted, inserted, error) };
    }
    if !inserted.is_null() {
        // SAFETY: as above.
        unsafe { inserted.write(wanted.keys) };
    }
    PETAL_OK
}

#[inline(never)]
unsafe fn insert_the_long_way(
    filter: *mut petal_filter,
    keys: impl Fn() -> Result<Keys<'static>>,
    wanted: Wanted,
    inserted: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    let mut done = 0;
    let status = boundary!(error, [filter], {
        let keys = keys()?;
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let mut answers = unsafe { wanted.answers() };
        // SAFETY: as above.
        let taken = unsafe {
            petal_filter::change(filter, |filter| filter.insert_batch(&keys, wanted.any().then_some(&mut answers)))?
        };
        done = taken.keys;
        if done > 0 || taken.outcome.is_ok() {
            // SAFETY: as above.
            unsafe { wanted.tell_count(answers.true_count) };
        }
        taken.outcome
    });
    if !inserted.is_null() {
        // SAFETY: as above.
        unsafe { inserted.write(done) };
    }
    status
}

/// The keys of a buffer with offsets.
///
/// # Safety
/// As the exported functions say.
pub(crate) unsafe fn byte_keys(
    keys: *const c_void,
    keys_length: usize,
    offsets: *const u64,
    count: usize,
) -> Result<Keys<'static>> {
    if count == 0 {
        return Ok(Keys::Bytes { bytes: &[], offsets: &[] });
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { boundary::bytes(keys.cast(), keys_length, "keys")? };
    let more = count.checked_add(1).ok_or(Status::TooLarge)?;
    // SAFETY: the caller's promise.
    Ok(Keys::Bytes { bytes, offsets: unsafe { boundary::numbers(offsets, more, "offsets")? } })
}

/// Looks `count` byte keys up. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_contains_batch(
    filter: *const petal_filter,
    keys: *const c_void,
    keys_length: usize,
    offsets: *const u64,
    count: usize,
    found: *mut u8,
    found_bitmap: *mut u8,
    found_count: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    let wanted = Wanted { keys: count, bytes: found, bitmap: found_bitmap, count: found_count };
    // SAFETY: the conventions.
    unsafe { contains(filter, || byte_keys(keys, keys_length, offsets, count), wanted, error) }
}

/// Looks `count` uint64_t keys up. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_contains_batch_u64(
    filter: *const petal_filter,
    keys: *const u64,
    count: usize,
    found: *mut u8,
    found_bitmap: *mut u8,
    found_count: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    let wanted = Wanted { keys: count, bytes: found, bitmap: found_bitmap, count: found_count };
    // SAFETY: the conventions.
    unsafe { contains(filter, || Ok(Keys::U64(boundary::numbers(keys, count, "keys")?)), wanted, error) }
}

/// Looks the keys with these `count` hashes up. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_contains_batch_hash(
    filter: *const petal_filter,
    hashes: *const u64,
    count: usize,
    found: *mut u8,
    found_bitmap: *mut u8,
    found_count: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    let wanted = Wanted { keys: count, bytes: found, bitmap: found_bitmap, count: found_count };
    // SAFETY: the conventions.
    unsafe { contains(filter, || Ok(Keys::Hashes(boundary::numbers(hashes, count, "hashes")?)), wanted, error) }
}

/// Inserts `count` byte keys in order; each answer says whether the key certainly was not there before. `inserted`,
/// nullable, is always written: how many keys, the first so many, are in the filter. Only these have answers. Since
/// 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_batch(
    filter: *mut petal_filter,
    keys: *const c_void,
    keys_length: usize,
    offsets: *const u64,
    count: usize,
    is_new: *mut u8,
    is_new_bitmap: *mut u8,
    new_count: *mut u64,
    inserted: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    let wanted = Wanted { keys: count, bytes: is_new, bitmap: is_new_bitmap, count: new_count };
    // SAFETY: the conventions.
    unsafe { insert(filter, || byte_keys(keys, keys_length, offsets, count), wanted, inserted, error) }
}

/// Inserts `count` uint64_t keys in order, with the answers of `petal_filter_insert_batch()`. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_batch_u64(
    filter: *mut petal_filter,
    keys: *const u64,
    count: usize,
    is_new: *mut u8,
    is_new_bitmap: *mut u8,
    new_count: *mut u64,
    inserted: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    let wanted = Wanted { keys: count, bytes: is_new, bitmap: is_new_bitmap, count: new_count };
    // SAFETY: the conventions.
    unsafe { insert(filter, || Ok(Keys::U64(boundary::numbers(keys, count, "keys")?)), wanted, inserted, error) }
}

/// Inserts the keys with these `count` hashes in order, with the answers of `petal_filter_insert_batch()`. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_batch_hash(
    filter: *mut petal_filter,
    hashes: *const u64,
    count: usize,
    is_new: *mut u8,
    is_new_bitmap: *mut u8,
    new_count: *mut u64,
    inserted: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    let wanted = Wanted { keys: count, bytes: is_new, bitmap: is_new_bitmap, count: new_count };
    // SAFETY: the conventions.
    unsafe { insert(filter, || Ok(Keys::Hashes(boundary::numbers(hashes, count, "hashes")?)), wanted, inserted, error) }
}
