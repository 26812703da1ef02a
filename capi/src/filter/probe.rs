//! FILTERS: ONE KEY
//!
//! A lookup takes constant time on average, however large the filter is. There are two exceptions: chains of Bloom
//! filters (`scalable`, `foreign_scalable`) look at each level, and `golomb_stream` reads its list from the beginning.
//! Any failure of `petal_filter_contains*` returns true.

// Each function first tries, in a straight line, the case that nearly always succeeds: see `boundary::attempt`.
// Everything else goes the long way, out of line: refusals with their reasons, the first insertion into an image, and
// panics.

use super::petal_filter;
use crate::boundary::{self, NO_ERROR, boundary};
use crate::status::{PETAL_OK, petal_status};
use petal_core::{Filter, Hasher, Result};
use std::ffi::c_void;

/// A key in one of its three forms, as C gives it. Each form is a separate type, so that each function is compiled for
/// it alone and the compiler sees everything.
pub(crate) trait Key: Copy {
    /// The hash, if the key can be hashed.
    ///
    /// # Safety
    /// The key is readable.
    unsafe fn hash_at_once(self, hasher: &Hasher) -> Option<u64>;

    /// The hash, or why there is none.
    ///
    /// # Safety
    /// The key is readable.
    unsafe fn hash(self, hasher: &Hasher) -> Result<u64>;

    /// Whether the key may be in a filter that takes keys whole; `None` for any other filter.
    ///
    /// # Safety
    /// The key is readable.
    unsafe fn look_up_whole(self, filter: &Filter) -> Option<bool>;

    /// Whether the key may be in a filter, or why there is no answer.
    ///
    /// # Safety
    /// The key is readable.
    unsafe fn look_up(self, filter: &Filter) -> Result<bool>;

    /// Inserts the key; whether it is new.
    ///
    /// # Safety
    /// The key is readable.
    unsafe fn insert(self, filter: &mut Filter) -> Result<bool>;
}

/// A byte string: where it starts, and its length.
#[derive(Clone, Copy)]
pub(crate) struct Bytes(pub *const c_void, pub usize);

impl Key for Bytes {
    #[inline(always)]
    unsafe fn hash_at_once(self, hasher: &Hasher) -> Option<u64> {
        // SAFETY: the key has `self.1` bytes from `self.0`, as the trait's safety section asks.
        hasher.hash_bytes_at_once(unsafe { boundary::bytes_at_once(self.0.cast(), self.1)? })
    }

    unsafe fn hash(self, hasher: &Hasher) -> Result<u64> {
        // SAFETY: the key has `self.1` bytes from `self.0`, as the trait's safety section asks.
        hasher.hash_key(unsafe { boundary::bytes(self.0.cast(), self.1, "key")? })
    }

    #[inline(always)]
    unsafe fn look_up_whole(self, filter: &Filter) -> Option<bool> {
        // SAFETY: the key has `self.1` bytes from `self.0`, as the trait's safety section asks.
        filter.contains_whole(unsafe { boundary::bytes_at_once(self.0.cast(), self.1)? })
    }

    unsafe fn look_up(self, filter: &Filter) -> Result<bool> {
        // SAFETY: the key has `self.1` bytes from `self.0`, as the trait's safety section asks.
        filter.contains_checked(unsafe { boundary::bytes(self.0.cast(), self.1, "key")? })
    }

    unsafe fn insert(self, filter: &mut Filter) -> Result<bool> {
        // SAFETY: the key has `self.1` bytes from `self.0`, as the trait's safety section asks.
        filter.insert(unsafe { boundary::bytes(self.0.cast(), self.1, "key")? })
    }
}

/// A `uint64_t`.
#[derive(Clone, Copy)]
pub(crate) struct Number(pub u64);

impl Key for Number {
    #[inline(always)]
    unsafe fn hash_at_once(self, hasher: &Hasher) -> Option<u64> {
        hasher.hash_u64_at_once(self.0)
    }

    unsafe fn hash(self, hasher: &Hasher) -> Result<u64> {
        Ok(hasher.hash_u64(self.0)?)
    }

    #[inline(always)]
    unsafe fn look_up_whole(self, filter: &Filter) -> Option<bool> {
        filter.contains_whole(&self.0.to_le_bytes())
    }

    unsafe fn look_up(self, filter: &Filter) -> Result<bool> {
        filter.contains_checked(&self.0.to_le_bytes())
    }

    unsafe fn insert(self, filter: &mut Filter) -> Result<bool> {
        filter.insert_u64(self.0)
    }
}

/// A hash.
#[derive(Clone, Copy)]
pub(crate) struct Hash(pub u64);

impl Key for Hash {
    #[inline(always)]
    unsafe fn hash_at_once(self, _: &Hasher) -> Option<u64> {
        Some(self.0)
    }

    unsafe fn hash(self, _: &Hasher) -> Result<u64> {
        Ok(self.0)
    }

    #[inline(always)]
    unsafe fn look_up_whole(self, _: &Filter) -> Option<bool> {
        None
    }

    unsafe fn look_up(self, filter: &Filter) -> Result<bool> {
        Ok(filter.contains_hash(self.0))
    }

    unsafe fn insert(self, filter: &mut Filter) -> Result<bool> {
        filter.insert_hash(self.0)
    }
}

/// Tells the caller whether a key was new.
///
/// # Safety
/// `is_new` is NULL or writable.
#[inline(always)]
pub(crate) unsafe fn tell(is_new: *mut bool, new: bool) -> petal_status {
    if !is_new.is_null() {
        // SAFETY: `is_new` is NULL or writable, as the safety section asks.
        unsafe { is_new.write(new) };
    }
    PETAL_OK
}

/// Inserts a key.
///
/// # Safety
/// The conventions.
#[inline(always)]
unsafe fn insert<K: Key>(filter: *mut petal_filter, key: K, is_new: *mut bool) -> petal_status {
    let body = || {
        // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, and `key` is readable.
        unsafe {
            let handle = petal_filter::sound_mut(filter)?;
            let hash = key.hash_at_once(&handle.hasher)?;
            handle.insert_at_once(hash, !is_new.is_null())
        }
    };
    let panicked = || {
        // SAFETY: what panicked is the filter of a handle.
        unsafe { petal_filter::poison(filter) };
        None
    };
    match boundary::attempt(body, panicked) {
        // SAFETY: by the conventions `is_new` is NULL or writable.
        Some(new) => unsafe { tell(is_new, new) },
        // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, `key` is readable, and
        // `is_new` is NULL or writable.
        None => unsafe { insert_the_long_way(filter, key, is_new) },
    }
}

#[cold]
#[inline(never)]
unsafe fn insert_the_long_way<K: Key>(filter: *mut petal_filter, key: K, is_new: *mut bool) -> petal_status {
    boundary!(NO_ERROR, [change filter, maybe is_new], {
        // SAFETY: by the conventions the key is readable.
        is_new.answer(filter.by(|filter| unsafe { key.insert(filter) }))
    })
}

/// Inserts a key. `is_new`, nullable, becomes true if the key certainly was not there, false if it may have been.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert(
    filter: *mut petal_filter,
    key: *const c_void,
    length: usize,
    is_new: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, `key` has `length` bytes, and
    // `is_new` is NULL or writable.
    unsafe { insert(filter, Bytes(key, length), is_new) }
}

/// Inserts a uint64_t key. `is_new`, nullable, becomes true if the key certainly was not there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_u64(
    filter: *mut petal_filter,
    key: u64,
    is_new: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, and `is_new` is NULL or writable.
    unsafe { insert(filter, Number(key), is_new) }
}

/// Inserts the key with this hash. `is_new`, nullable, becomes true if the key certainly was not there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_hash(
    filter: *mut petal_filter,
    hash: u64,
    is_new: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, and `is_new` is NULL or writable.
    unsafe { insert(filter, Hash(hash), is_new) }
}

/// Looks a key up; none where something is wrong.
///
/// # Safety
/// The conventions.
#[inline(always)]
unsafe fn look_up(filter: *const petal_filter, key: impl Key) -> Option<bool> {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes, and `key` is readable.
    unsafe {
        let handle = petal_filter::sound(filter)?;
        match key.hash_at_once(&handle.hasher) {
            Some(hash) => Some(handle.contains_hash(hash)),
            None => key.look_up_whole(&handle.filter),
        }
    }
}

/// Looks a key up; true where something is wrong.
///
/// # Safety
/// The conventions.
#[inline(always)]
unsafe fn contains(filter: *const petal_filter, key: impl Key) -> bool {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes, and `key` is readable.
    boundary::attempt(|| unsafe { look_up(filter, key) }.unwrap_or(true), || true)
}

/// Whether a key may have been inserted; false is certain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_contains(filter: *const petal_filter, key: *const c_void, length: usize) -> bool {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes, and `key` has `length` bytes.
    unsafe { contains(filter, Bytes(key, length)) }
}

/// Whether a uint64_t key may have been inserted; false is certain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_contains_u64(filter: *const petal_filter, key: u64) -> bool {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes.
    unsafe { contains(filter, Number(key)) }
}

/// Whether the key with this hash may have been inserted; false is certain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_contains_hash(filter: *const petal_filter, hash: u64) -> bool {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes.
    unsafe { contains(filter, Hash(hash)) }
}

/// Looks a key up and says whether that worked.
///
/// # Safety
/// The conventions.
#[inline(always)]
unsafe fn checked<K: Key>(filter: *const petal_filter, key: K, found: *mut bool) -> petal_status {
    if !found.is_null() {
        // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes, and `key` is readable.
        if let Some(answer) = boundary::attempt(|| unsafe { look_up(filter, key) }, || None) {
            // SAFETY: by the conventions `found` is writable.
            unsafe { found.write(answer) };
            return PETAL_OK;
        }
    }
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes, `key` is readable, and `found` is
    // NULL or writable.
    unsafe { checked_the_long_way(filter, key, found) }
}

#[cold]
#[inline(never)]
unsafe fn checked_the_long_way<K: Key>(filter: *const petal_filter, key: K, found: *mut bool) -> petal_status {
    boundary!(NO_ERROR, [read filter, out found], {
        // SAFETY: by the conventions the key is readable.
        found.answer(unsafe { key.look_up(filter) })
    })
}

/// Looks a key up and says whether that worked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_contains_checked(
    filter: *const petal_filter,
    key: *const c_void,
    length: usize,
    found: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes, `key` has `length` bytes, and
    // `found` is NULL or writable.
    unsafe { checked(filter, Bytes(key, length), found) }
}

/// Looks a uint64_t key up and says whether that worked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_contains_checked_u64(
    filter: *const petal_filter,
    key: u64,
    found: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes, and `found` is NULL or writable.
    unsafe { checked(filter, Number(key), found) }
}

/// Looks the key with this hash up and says whether that worked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_contains_checked_hash(
    filter: *const petal_filter,
    hash: u64,
    found: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes, and `found` is NULL or writable.
    unsafe { checked(filter, Hash(hash), found) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::Owner;
    use crate::shared::*;
    use crate::status::PETAL_ERR_INTERNAL;
    use petal_core::contract::{Insert, Kind, Payload, SharedInsert};
    use petal_core::{Base, Filter, Image, Measure, Spec, Taken};
    use std::sync::atomic::{AtomicUsize, Ordering};

    static PANICS: AtomicUsize = AtomicUsize::new(0);

    fn planted() -> ! {
        PANICS.fetch_add(1, Ordering::Relaxed);
        panic!("planted")
    }

    /// A filter that panics on every key.
    struct Faulty(Filter);

    impl Payload for Faulty {
        fn base(&self) -> &Base {
            self.0.base()
        }

        fn base_mut(&mut self) -> &mut Base {
            self.0.base_mut()
        }

        fn check_payload(&self) -> Result<()> {
            self.0.payload().check_payload()
        }
    }

    impl Kind for Faulty {
        fn contains_hash(&self, _: u64) -> bool {
            planted()
        }

        fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
            self.0.statistics_with(progress)
        }

        fn as_insert(&mut self) -> Option<&mut dyn Insert> {
            Some(self)
        }

        fn as_shared_insert(&self) -> Option<&dyn SharedInsert> {
            Some(self)
        }
    }

    impl Insert for Faulty {
        fn insert_one(&mut self, _: u64) -> Result<bool> {
            planted()
        }

        fn insert_at_once(&mut self, _: u64) -> Option<bool> {
            planted()
        }

        fn insert_many(&mut self, _: &mut dyn petal_core::ring::Batch) -> petal_core::Taken {
            planted()
        }
    }

    impl SharedInsert for Faulty {
        fn insert_one_shared(&self, _: u64) -> Option<bool> {
            planted()
        }

        fn insert_many_shared(&self, _: &mut dyn petal_core::ring::Batch) -> Taken {
            planted()
        }
    }

    fn panics() -> usize {
        PANICS.swap(0, Ordering::Relaxed)
    }

    #[test]
    fn panics_in_calls_of_one_key_stop_at_the_boundary() {
        let make = || petal_core::Filter::new(&Spec::with_capacity(100, 0.01).unwrap()).unwrap();
        let key = b"key".as_ptr().cast();
        type Insertion = unsafe fn(*mut petal_filter, *mut bool) -> petal_status;
        // SAFETY: the handles live, and the key has three bytes.
        unsafe {
            let handle = &raw mut *Box::leak(Box::new(petal_filter::new(Filter::of_kind(Box::new(Faulty(make()))))));
            assert!(petal_filter_contains(handle, key, 3) && panics() == 1);
            assert!(petal_filter_contains_u64(handle, 1) && panics() == 1);
            assert!(petal_filter_contains_hash(handle, 1) && panics() == 1);
            let mut answer = true;
            assert_eq!(petal_filter_contains_checked(handle, key, 3, &raw mut answer), PETAL_ERR_INTERNAL);
            assert_eq!(petal_filter_contains_checked_u64(handle, 1, &raw mut answer), PETAL_ERR_INTERNAL);
            assert_eq!(petal_filter_contains_checked_hash(handle, 1, &raw mut answer), PETAL_ERR_INTERNAL);
            assert_eq!(petal_filter_insert_shared(handle, key, 3, &raw mut answer), PETAL_ERR_INTERNAL);
            assert_eq!(petal_filter_insert_shared_u64(handle, 1, &raw mut answer), PETAL_ERR_INTERNAL);
            assert_eq!(petal_filter_insert_shared_hash(handle, 1, &raw mut answer), PETAL_ERR_INTERNAL);
            assert!(answer && panics() >= 6);
            drop(Box::from_raw(handle));

            let insertions: [Insertion; 3] = [
                |handle, is_new| petal_filter_insert(handle, b"key".as_ptr().cast(), 3, is_new),
                |handle, is_new| petal_filter_insert_u64(handle, 1, is_new),
                |handle, is_new| petal_filter_insert_hash(handle, 1, is_new),
            ];
            for insert in insertions {
                let handle =
                    &raw mut *Box::leak(Box::new(petal_filter::new(Filter::of_kind(Box::new(Faulty(make()))))));
                assert_eq!(insert(handle, &raw mut answer), PETAL_ERR_INTERNAL);
                assert!(answer && panics() == 1, "it panics, and is not tried again");
                // From now on nothing reaches the filter.
                assert_eq!(insert(handle, &raw mut answer), PETAL_ERR_INTERNAL);
                assert_eq!(petal_filter_insert_shared_hash(handle, 1, &raw mut answer), PETAL_ERR_INTERNAL);
                assert_eq!(petal_filter_contains_checked_hash(handle, 1, &raw mut answer), PETAL_ERR_INTERNAL);
                assert!(petal_filter_contains_hash(handle, 1) && answer && panics() == 0);
                drop(Box::from_raw(handle));
            }
        }
    }
}
