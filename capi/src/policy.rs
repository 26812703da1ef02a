//! petal_policy.h: filter policies of sorted tables. petal.h has the conventions.
//!
//! LevelDB keeps a filter of the keys of every data block of a table. These functions make such filters and look keys
//! up in them:
//!
//!     void *policy;
//!     if (petal_policy_new(PETAL_POLICY_LEVELDB, 10, &policy, &error)) return 1;
//!     const char *keys[] = {"apple", "pear"};
//!     size_t lengths[] = {5, 4}, length;
//!     char *filter = petal_policy_create_filter(policy, keys, lengths, 2, &length);
//!     bool found = petal_policy_key_may_match(policy, "pear", 4, filter, length);
//!     free(filter);
//!     petal_policy_free(policy);
//!
//! The functions have the signatures of `leveldb/c.h`. So a program can hand them to `leveldb_filterpolicy_create()` as
//! they are: policy, `petal_policy_free`, `petal_policy_create_filter`, `petal_policy_key_may_match`,
//! `petal_policy_name`. The library `libpetal_leveldb` (`integrations/leveldb`) does that in one call. Any number of
//! threads may use one policy.

use crate::boundary::{attempt, boundary, bytes_at_once, elements_at_once};
use crate::handle;
use crate::status::{petal_error, petal_status};
use petal_core::interop::leveldb_policy::{BLOCKED, Form, Policy};
use std::ffi::{c_char, c_int, c_void};
use std::{ptr, slice};

/// The form of a policy's filters: one of `PETAL_POLICY_*`.
pub type petal_policy_form = u32;

/// LevelDB's own filters, "leveldb.BuiltinBloomFilter2", bit for bit. Databases keep the filters that they have, and
/// LevelDB's own policy reads the filters of this one.
pub const PETAL_POLICY_LEVELDB: u32 = 1;
/// Filters of the kind `blocked` in its compact form, "petal.BlockedBloomFilter", which are faster to make and to look
/// up. These filters are whole cache lines of 512 bits. So the small filters of data blocks have more bits and match
/// fewer absent keys. docs/format.md specifies the bytes.
pub const PETAL_POLICY_BLOCKED: u32 = 2;

const _: () = assert!(PETAL_POLICY_LEVELDB == Form::LevelDb as u32 && PETAL_POLICY_BLOCKED == BLOCKED);

/// The filter that stands for one that cannot be made. It is LevelDB's for "more bits than there are", which all keys
/// match.
const MATCHES_ALL: [u8; 2] = [0, 31];

/// Makes a policy of `form` whose filters have `bits_per_key` bits for each key; 10 give about one false positive in a
/// hundred. Free the policy with `petal_policy_free()`, or give it to `leveldb_filterpolicy_create()`, which frees the
/// policy in the end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_policy_new(
    form: petal_policy_form,
    bits_per_key: u32,
    policy: *mut *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [policy], {
        let make = || Policy::new(Form::from_number(form)?, bits_per_key);
        // SAFETY: not NULL, and by the conventions writable. A `Policy` behind a `void *` is only used as one.
        unsafe { handle::give::<Policy>(policy.cast(), make, |_| ()) }
    })
}

/// Frees a policy; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_policy_free(policy: *mut c_void) {
    // SAFETY: by the conventions `policy` is NULL or came from `petal_policy_new`, and nobody uses it any more.
    unsafe { handle::free::<Policy>(policy.cast()) };
}

/// The name that tables keep with the filters of a policy; LevelDB ignores filters with another name. The string is
/// static. Returns an empty string for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_policy_name(policy: *mut c_void) -> *const c_char {
    // SAFETY: NULL, or a policy.
    unsafe { policy.cast::<Policy>().as_ref() }.map_or(c"", Policy::name).as_ptr()
}

/// Makes the filter of `count` keys. Key i is the `lengths[i]` bytes at `keys[i]`; a key may come more than once.
/// Returns the filter's bytes and writes their number to `filter_length`. Free the bytes with `free()`.
///
/// On a failure, for want of memory or because a pointer is NULL, the function returns a filter of two bytes that every
/// key matches, so that no key is lost. It returns NULL, with a length of 0, if there is no memory for two bytes, or if
/// `filter_length` is NULL: a table must not keep that as a filter, because LevelDB finds no key in one of 0 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_policy_create_filter(
    policy: *mut c_void,
    keys: *const *const c_char,
    lengths: *const usize,
    count: c_int,
    filter_length: *mut usize,
) -> *mut c_char {
    if filter_length.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: NULL, or a policy, and `count` keys.
    let made = attempt(|| unsafe { create(policy.cast::<Policy>().as_ref()?, keys, lengths, count) }, || None);
    let (filter, length) = made.or_else(matches_all).unwrap_or((ptr::null_mut(), 0));
    // SAFETY: not NULL, and by the conventions writable.
    unsafe { filter_length.write(length) };
    filter.cast()
}

/// A filter, in memory of C's.
///
/// # Safety
/// `count` keys lie at `keys`, as long as `lengths` says.
unsafe fn create(
    policy: &Policy,
    keys: *const *const c_char,
    lengths: *const usize,
    count: c_int,
) -> Option<(*mut u8, usize)> {
    let count = usize::try_from(count).ok()?;
    // SAFETY: both have `count` elements, as the safety section asks.
    let (keys, lengths) = unsafe { (elements_at_once(keys, count)?, elements_at_once(lengths, count)?) };
    if keys.iter().zip(lengths).any(|(key, length)| key.is_null() && *length != 0) {
        return None;
    }
    let length = policy.filter_size(count)?;
    // SAFETY: any size may be asked for. The memory has that size, and is zeros.
    let filter = unsafe {
        let start = libc::calloc(length, 1).cast::<u8>();
        if start.is_null() {
            return None;
        }
        slice::from_raw_parts_mut(start, length)
    };
    let keys = keys.iter().zip(lengths).map(|(key, length)| match length {
        0 => &[][..],
        // SAFETY: a key of some length is not NULL and has `length` bytes, as the safety section asks.
        _ => unsafe { slice::from_raw_parts(key.cast(), *length) },
    });
    policy.create(keys, filter);
    Some((filter.as_mut_ptr(), length))
}

/// [`MATCHES_ALL`] in memory of C's.
fn matches_all() -> Option<(*mut u8, usize)> {
    // SAFETY: what is got, if anything is, has that size.
    unsafe {
        let filter = libc::malloc(MATCHES_ALL.len()).cast::<u8>();
        if filter.is_null() {
            return None;
        }
        filter.copy_from_nonoverlapping(MATCHES_ALL.as_ptr(), MATCHES_ALL.len());
        Some((filter, MATCHES_ALL.len()))
    }
}

/// Returns 1 if the key may be among the filter's keys, and 0 if the key certainly is not. Returns 1 for bytes that are
/// no filter of the policy, and if a pointer is NULL. A `PETAL_POLICY_LEVELDB` filter of 0 or 1 bytes has no keys, as
/// in LevelDB: 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_policy_key_may_match(
    policy: *mut c_void,
    key: *const c_char,
    length: usize,
    filter: *const c_char,
    filter_length: usize,
) -> u8 {
    let may_match = || {
        // SAFETY: NULL, or a policy, and as many bytes as the lengths say.
        unsafe {
            let policy = policy.cast::<Policy>().as_ref()?;
            let key = bytes_at_once(key.cast(), length)?;
            Some(policy.may_match(key, bytes_at_once(filter.cast(), filter_length)?))
        }
    };
    attempt(|| may_match().unwrap_or(true), || true).into()
}
