//! KEYS AND ANSWERS
//!
//! A batch costs less per key than single calls. Every function of many keys takes the keys as a `petal_keys`, in one
//! of five forms, and writes the answers into a `petal_answers`:
//!
//!     petal_keys keys = petal_keys_u64(numbers, count);
//!     petal_answers answers = {.bytes = found};
//!     petal_filter_contains_batch(filter, &keys, &answers, NULL);
//!
//! Byte keys come as one buffer with count + 1 offsets: key i is the bytes from `offsets[i]` to `offsets[i + 1]`.
//! Offsets must not decrease and must end inside the buffer. A function checks all offsets before it uses the first
//! key. Offsets of 32 bits with a sign, as those of Arrow's Binary and Utf8 arrays, serve as they are; they must not be
//! negative.
//!
//! Digests of a cryptographic hash come one after the other. Only filters with `PETAL_HASH_DIGEST` take them.
//!
//! Set the outputs that you want. A function refuses an output that it cannot give with `PETAL_ERR_UNSUPPORTED`. Every
//! function writes `true_count` and `done`. A lookup needs answers. An insertion needs none: with NULL it finds out
//! nothing about the keys, which is faster.

// The five functions that make keys stand in `keys.h`.

use crate::arguments::{Lists, Room};
use crate::boundary::{self, boundary, check_out};
use crate::status::{petal_error, petal_status};
use petal_core::ring::Few;
use petal_core::{Answers, Error, Keys, Result, Status, Taken};
use std::ffi::c_void;

/// A form of keys: one of `PETAL_KEYS_*`.
pub type petal_keys_form = u32;

/// Byte strings, in one buffer with offsets.
pub const PETAL_KEYS_BYTES: petal_keys_form = 1;
/// uint64_t keys.
pub const PETAL_KEYS_U64: petal_keys_form = 2;
/// The hashes of keys.
pub const PETAL_KEYS_HASHES: petal_keys_form = 3;
/// Digests of one length, for filters with `PETAL_HASH_DIGEST`.
pub const PETAL_KEYS_DIGESTS: petal_keys_form = 4;
/// Byte strings, in one buffer with offsets of 32 bits.
pub const PETAL_KEYS_BYTES32: petal_keys_form = 5;

/// Many keys in your memory. `petal_keys_bytes()`, `petal_keys_bytes32()`, `petal_keys_u64()`, `petal_keys_hashes()`
/// and `petal_keys_digests()` make one.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_keys {
    /// sizeof(petal_keys), or 0 for its size in the first release.
    pub struct_size: usize,
    /// One of `PETAL_KEYS_*`.
    pub form: petal_keys_form,
    /// 0.
    pub reserved: u32,
    /// How many keys there are.
    pub count: usize,
    /// The bytes of all keys, or the numbers, the hashes or the digests. Nullable if there are none.
    pub data: *const c_void,
    /// For byte keys, how many bytes `data` has; for digests, how many bytes each has; otherwise 0.
    pub length: usize,
    /// For byte keys, count + 1 offsets into `data`, nullable if there are no keys: uint64_t, or int32_t for
    /// `PETAL_KEYS_BYTES32`. Otherwise NULL.
    pub offsets: *const c_void,
}

// SAFETY: numbers and nullable pointers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_keys {
    const FIRST_SIZE: usize = 48;
}

/// Where the answers of a batch go. Set the outputs that you want, and the rest to 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_answers {
    /// sizeof(petal_answers), or 0 for its size in the first release.
    pub struct_size: usize,
    /// Nullable: a byte a key, 0 or 1.
    pub bytes: *mut u8,
    /// Nullable: a bit a key. Bit i is bit i % 8 of byte i / 8; there are (count + 7) / 8 bytes, and bits after the
    /// last key become 0.
    pub bitmap: *mut u8,
    /// Nullable: how often each key was inserted. Must be NULL for functions that do not count.
    pub counts: *mut u64,
    /// Nullable: the value of each key. Must be NULL for functions of filters.
    pub values: *mut u64,
    /// The function writes here how many of the answers are true.
    pub true_count: u64,
    /// The function writes here how many keys, from the first on, it took before an error; all of them if there was
    /// none. After a failed insertion or removal only these keys have answers.
    pub done: usize,
}

// SAFETY: numbers and nullable pointers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_answers {
    const FIRST_SIZE: usize = 56;
}

impl petal_keys {
    /// The core's form of a caller's keys.
    ///
    /// # Safety
    /// Not NULL; the conventions say the rest.
    #[inline(always)]
    pub(crate) unsafe fn get<'a>(keys: *const petal_keys) -> Result<Keys<'a>> {
        // SAFETY: `keys` is not NULL, and a struct with arrays as long as it says, as the safety section asks.
        unsafe { petal_keys::at_once(keys).map_or_else(|| petal_keys::read(keys), Ok) }
    }

    /// [`petal_keys::get`], but `None` instead of a reason, and only for this version's struct. Reads one field after
    /// the other: the caller has only just written them, and a copy of several together would have to wait for that.
    ///
    /// # Safety
    /// As [`petal_keys::get`], but NULL is allowed.
    #[inline(always)]
    pub(crate) unsafe fn at_once<'a>(keys: *const petal_keys) -> Option<Keys<'a>> {
        // SAFETY: `keys` is NULL or a whole struct, because this version's size is that of the first release.
        let keys = unsafe { keys.as_ref()? };
        if !boundary::is_whole::<petal_keys>(keys.struct_size) || keys.reserved != 0 {
            return None;
        }
        // SAFETY: the arrays are as long as the struct says, as the safety section asks.
        let numbers = || unsafe { boundary::elements_at_once::<u64>(keys.data.cast(), keys.count) };
        match keys.form {
            PETAL_KEYS_U64 => Some(Keys::U64(numbers()?)),
            PETAL_KEYS_HASHES => Some(Keys::Hashes(numbers()?)),
            PETAL_KEYS_BYTES if keys.count > 0 => {
                // SAFETY: as above.
                let bytes = unsafe { boundary::bytes_at_once(keys.data.cast(), keys.length)? };
                // SAFETY: as above.
                let offsets = unsafe { boundary::elements_at_once(keys.offsets.cast(), keys.count.checked_add(1)?)? };
                Some(Keys::Bytes { bytes, offsets })
            }
            PETAL_KEYS_BYTES32 if keys.count > 0 => {
                // SAFETY: as above.
                let bytes = unsafe { boundary::bytes_at_once(keys.data.cast(), keys.length)? };
                // SAFETY: as above.
                let offsets = unsafe { boundary::elements_at_once(keys.offsets.cast(), keys.count.checked_add(1)?)? };
                Some(Keys::Bytes32 { bytes, offsets })
            }
            _ => None,
        }
    }

    /// The core's form of keys of any version, or why there is none.
    ///
    /// # Safety
    /// As [`petal_keys::get`].
    #[cold]
    unsafe fn read<'a>(keys: *const petal_keys) -> Result<Keys<'a>> {
        // SAFETY: `keys` is not NULL, and a struct of its size, as the safety section asks.
        let keys = unsafe { boundary::read(keys)? };
        if keys.reserved != 0 {
            return Err(unknown(format_args!("reserved = {} of keys is not 0", keys.reserved)));
        }
        // SAFETY: the arrays are as long as the struct says, as the safety section asks.
        let numbers = || unsafe { boundary::elements(keys.data.cast(), keys.count, "data of keys") };
        // SAFETY: as above.
        let bytes = |length| unsafe { boundary::bytes(keys.data.cast(), length, "data of keys") };
        match keys.form {
            PETAL_KEYS_U64 => Ok(Keys::U64(numbers()?)),
            PETAL_KEYS_HASHES => Ok(Keys::Hashes(numbers()?)),
            PETAL_KEYS_DIGESTS if keys.length == 0 => {
                Err(boundary::error(Status::OutOfRange, format_args!("length = 0 of keys: digests have bytes")))
            }
            PETAL_KEYS_DIGESTS => {
                let bytes = bytes(keys.count.checked_mul(keys.length).ok_or(Status::TooLarge)?)?;
                Ok(Keys::Digests { bytes, each: keys.length })
            }
            PETAL_KEYS_BYTES | PETAL_KEYS_BYTES32 if keys.count == 0 => Ok(Keys::Bytes { bytes: &[], offsets: &[] }),
            form @ (PETAL_KEYS_BYTES | PETAL_KEYS_BYTES32) => {
                let bytes = bytes(keys.length)?;
                let more = keys.count.checked_add(1).ok_or(Status::TooLarge)?;
                if form == PETAL_KEYS_BYTES32 {
                    // SAFETY: as above.
                    let offsets = unsafe { boundary::elements(keys.offsets.cast(), more, "offsets of keys")? };
                    return Ok(Keys::Bytes32 { bytes, offsets });
                }
                // SAFETY: as above.
                let offsets = unsafe { boundary::elements(keys.offsets.cast(), more, "offsets of keys")? };
                Ok(Keys::Bytes { bytes, offsets })
            }
            form => Err(unknown(format_args!("form = {form} of keys is none of PETAL_KEYS_*"))),
        }
    }
}

/// A value that this version does not know.
fn unknown(message: std::fmt::Arguments) -> Error {
    boundary::error(Status::UnknownValue, message)
}

/// The struct as this version knows it, if its size may be right. Bytes that follow it do not matter.
///
/// # Safety
/// `pointer` is NULL, or points to a `struct_size` and as many bytes as that says.
unsafe fn known<T: boundary::SizedStruct>(pointer: *mut T) -> Option<T> {
    const { assert!(T::FIRST_SIZE == size_of::<T>(), "later fields may not be there") };
    // SAFETY: `pointer` is NULL or a struct of its size, as the safety section asks. A right size means a whole struct.
    unsafe { (!pointer.is_null() && check_out(pointer).is_ok()).then(|| pointer.read_unaligned()) }
}

impl petal_answers {
    /// The core's form of a caller's answers to `keys` keys.
    ///
    /// # Safety
    /// Not NULL; the conventions say the rest.
    #[inline(always)]
    pub(crate) unsafe fn get<'a>(answers: *const petal_answers, keys: usize) -> Result<Answers<'a>> {
        // SAFETY: `answers` is not NULL, and a struct with room for `keys` answers, as the safety section asks.
        unsafe { petal_answers::at_once(answers, keys).map_or_else(|| petal_answers::read(answers, keys), Ok) }
    }

    /// [`petal_answers::get`] for yes-or-no answers only, and only for this version's struct.
    ///
    /// # Safety
    /// As [`petal_answers::get`], but NULL is allowed.
    #[inline(always)]
    pub(crate) unsafe fn at_once<'a>(answers: *const petal_answers, keys: usize) -> Option<Answers<'a>> {
        // SAFETY: `answers` is NULL or a whole struct, because this version's size is that of the first release.
        let wanted = unsafe { answers.as_ref()? };
        if !boundary::is_whole::<petal_answers>(wanted.struct_size)
            || !wanted.counts.is_null()
            || !wanted.values.is_null()
        {
            return None;
        }
        // SAFETY: `bytes` and `bitmap` are NULL or have room for `keys` answers, as the safety section asks.
        Some(unsafe { wanted.yes_or_no(keys) })
    }

    /// The core's form of answers of any version, or why there is none.
    ///
    /// # Safety
    /// As [`petal_answers::get`].
    #[cold]
    unsafe fn read<'a>(answers: *const petal_answers, keys: usize) -> Result<Answers<'a>> {
        // SAFETY: `answers` is not NULL, and a struct of its size, as the safety section asks.
        let wanted = unsafe { boundary::read(answers)? };
        for (pointer, name) in [(wanted.counts, "counts"), (wanted.values, "values")] {
            if !pointer.is_aligned() {
                let message = format_args!("{name} of answers is not aligned to 8 bytes");
                return Err(boundary::error(Status::Misaligned, message));
            }
        }
        // SAFETY: as above, and the alignment was looked at.
        unsafe {
            let (counts, values) = (slice(wanted.counts, keys), slice(wanted.values, keys));
            Ok(Answers { counts, values, ..wanted.yes_or_no(keys) })
        }
    }

    /// The place for a yes or no for each of `keys` keys.
    ///
    /// # Safety
    /// The conventions.
    #[inline(always)]
    unsafe fn yes_or_no<'a>(&self, keys: usize) -> Answers<'a> {
        // SAFETY: by the conventions `bytes` and `bitmap` are NULL or have room for `keys` answers, which nobody else
        // uses.
        let (bytes, bitmap) = unsafe { (slice(self.bytes, keys), slice(self.bitmap, keys.div_ceil(8))) };
        Answers { bytes, bitmap, ..Answers::default() }
    }

    /// Gives the caller what `ask` says of few keys. `None`, without asking, for what takes the long way: where more is
    /// wanted than a yes or no, or something has to be refused.
    ///
    /// # Safety
    /// As [`petal_answers::at_once`].
    #[inline(always)]
    pub(crate) unsafe fn take_few(
        answers: *mut petal_answers,
        few: &Few,
        ask: impl FnOnce() -> Option<u64>,
    ) -> Option<()> {
        // SAFETY: `answers` is NULL, or a struct with room for an answer a key, as the safety section asks.
        let found = unsafe { petal_answers::at_once(answers, few.keys.len())? }.of_few(few, ask)?;
        // SAFETY: as above; this version's struct was there.
        unsafe { ((*answers).true_count, (*answers).done) = (found.count_ones().into(), few.keys.len()) };
        Some(())
    }

    /// Writes the two numbers that every batch writes, if there is a place for them.
    ///
    /// # Safety
    /// As [`petal_answers::at_once`].
    unsafe fn tell(answers: *mut petal_answers, true_count: u64, done: usize) {
        // SAFETY: `answers` is NULL or a struct of its size. `known` says that both fields are there.
        unsafe {
            if known(answers).is_some() {
                (&raw mut (*answers).true_count).write_unaligned(true_count);
                (&raw mut (*answers).done).write_unaligned(done);
            }
        }
    }

    /// Makes every answer true, and every count the greatest: the answers of a lookup that failed. If nobody knows how
    /// many keys there are, only `true_count` and `done` are written.
    ///
    /// # Safety
    /// As [`petal_answers::at_once`], and of `keys` as [`petal_keys::at_once`].
    pub(crate) unsafe fn all_true(answers: *mut petal_answers, keys: *const petal_keys) {
        // SAFETY: `answers` is NULL, or a struct with room for an answer a key. `keys` is NULL or a struct of its size.
        unsafe {
            match known(keys.cast_mut()) {
                Some(keys) => petal_answers::all_true_of(answers, keys.count),
                None => petal_answers::tell(answers, u64::MAX, 0),
            }
        }
    }

    /// [`petal_answers::all_true`] where the number of keys is known.
    ///
    /// # Safety
    /// As [`petal_answers::at_once`].
    pub(crate) unsafe fn all_true_of(answers: *mut petal_answers, count: usize) {
        // SAFETY: `answers` is NULL, or a struct with room for `count` answers, as the safety section asks.
        unsafe {
            if let Some(wanted) = known(answers) {
                wanted.yes_or_no(count).fill(true, count);
                if wanted.counts.is_aligned()
                    && let Some(counts) = slice(wanted.counts, count)
                {
                    counts.fill(u64::MAX);
                }
            }
            petal_answers::tell(answers, count as u64, 0);
        }
    }
}

impl petal_answers {
    /// Makes every answer false and every value 0: the answers of a map that failed.
    ///
    /// # Safety
    /// As [`petal_answers::all_true`].
    pub(crate) unsafe fn all_absent(answers: *mut petal_answers, keys: *const petal_keys) {
        // SAFETY: `answers` is NULL, or a struct with room for an answer a key. `keys` is NULL or a struct of its size.
        unsafe {
            if let (Some(wanted), Some(keys)) = (known(answers), known(keys.cast_mut())) {
                wanted.yes_or_no(keys.count).fill(false, keys.count);
                if wanted.values.is_aligned() {
                    slice(wanted.values, keys.count).unwrap_or_default().fill(0);
                }
            }
            petal_answers::tell(answers, 0, 0);
        }
    }
}

/// Where the answers of a lookup go.
pub(crate) struct Answering<'a> {
    to: *mut petal_answers,
    answers: Answers<'a>,
}

impl Answering<'_> {
    /// Gives the caller the answers that `look_up` gives.
    #[inline]
    pub(crate) fn by(mut self, look_up: impl FnOnce(&mut Answers) -> Result<()>) -> Result<()> {
        look_up(&mut self.answers)?;
        // SAFETY: a struct of its size, as `new` was promised.
        unsafe { petal_answers::tell(self.to, self.answers.true_count, self.answers.done) };
        Ok(())
    }
}

/// [`boundary!`] for a function that looks keys up. After a failure the answers become what comes after `or`: the name
/// of a function of [`petal_answers`], and what it takes.
macro_rules! answering {
    ($error:expr, [$($arguments:tt)*], $body:expr, or $failed:ident($answers:ident, $keys:ident)) => {{
        let status = crate::boundary::boundary!($error, [$($arguments)*], $body);
        if status != crate::status::PETAL_OK {
            // SAFETY: by the conventions the answers are NULL or a struct with room for an answer a key, and keys are
            // NULL or a struct of its size.
            unsafe { crate::filter::keys::petal_answers::$failed($answers, $keys) };
        }
        status
    }};
}
pub(crate) use answering;

/// [`boundary!`] for a function that takes keys into something. The body gets `&Keys` and `Option<&mut Answers>`, and
/// then the arguments that follow the two. Always says how far it came.
macro_rules! taking {
    ($error:expr, [$keys:ident, $answers:ident $(, $($arguments:tt)*)?], $body:expr) => {{
        let take = |$keys: &petal_core::Keys, $answers: Option<&mut petal_core::Answers>| {
            $(crate::arguments::arguments!($($arguments)*);)?
            $body
        };
        // SAFETY: by the conventions the keys are NULL or a struct with arrays as long as it says, and the answers are
        // NULL or a struct with room for an answer a key.
        unsafe { crate::filter::keys::take($keys, $answers, $error, take) }
    }};
}
pub(crate) use taking;

/// See [`taking`].
///
/// # Safety
/// `keys` is NULL or a struct with arrays as long as it says, and `answers` NULL or a struct with room for an answer a
/// key, which nobody else uses during the call.
pub(crate) unsafe fn take(
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
    take: impl FnOnce(&Keys, Option<&mut Answers>) -> Result<Taken>,
) -> petal_status {
    let (mut true_count, mut done) = (0, 0);
    let status = boundary!(error, [keys(keys)], {
        // SAFETY: with room for an answer a key, as the safety section asks.
        let get = || unsafe { petal_answers::get(answers, keys.len()) };
        let mut core = if answers.is_null() { None } else { Some(get()?) };
        let taken = take(keys, core.as_mut())?;
        (true_count, done) = (core.map_or(0, |core| core.true_count), taken.keys);
        taken.outcome
    });
    // SAFETY: NULL or a struct of its size, as the safety section asks.
    unsafe { petal_answers::tell(answers, true_count, done) };
    status
}

/// Refuses every form of answers: a builder finds out nothing about a key.
pub(crate) fn refuse_answers(answers: Option<&mut Answers>) -> Result<()> {
    let Some(Answers { bytes, bitmap, counts, values, .. }) = answers else { return Ok(()) };
    let wanted = [bytes.is_some(), bitmap.is_some(), counts.is_some(), values.is_some()];
    match wanted.iter().position(|wanted| *wanted) {
        None => Ok(()),
        Some(i) => {
            let name = ["bytes", "bitmap", "counts", "values"][i];
            let message = format_args!("{name} is wanted, but adding keys to a builder answers nothing");
            Err(boundary::error(Status::Unsupported, message))
        }
    }
}

/// The place for `length` answers, if the caller wants them. If there are more than memory can hold, there is no place;
/// the number of keys is refused elsewhere.
///
/// # Safety
/// NULL, or aligned and writable for `length` elements.
#[inline(always)]
unsafe fn slice<'a, T>(pointer: *mut T, length: usize) -> Option<&'a mut [T]> {
    let possible = length <= isize::MAX as usize / size_of::<T>();
    // SAFETY: `pointer` has room for `length` elements, which nobody else uses, as the safety section asks. They may
    // hold any bytes, and are written and not read.
    (possible && !pointer.is_null()).then(|| unsafe { std::slice::from_raw_parts_mut(pointer, length) })
}

impl Lists for petal_keys {
    type Said<'a> = Keys<'a>;

    #[inline]
    unsafe fn said<'a>(pointer: *const petal_keys) -> Result<Keys<'a>> {
        // SAFETY: not NULL, and a struct with arrays as long as it says, as the safety section asks.
        unsafe { petal_keys::get(pointer) }
    }
}

impl Room for petal_answers {
    type Of<'a> = Answering<'a>;

    #[inline]
    unsafe fn of<'a>(to: *mut petal_answers, keys: usize) -> Result<Answering<'a>> {
        if to.is_null() {
            return Err(boundary::null("answers"));
        }
        // SAFETY: not NULL, and with so much room, as the safety section asks.
        Ok(Answering { to, answers: unsafe { petal_answers::get(to, keys) }? })
    }
}
