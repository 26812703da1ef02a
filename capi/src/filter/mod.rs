//! FILTERS: MAKING AND FREEING

use crate::boundary::{self, boundary};
use crate::status::{petal_error, petal_status};
use petal_core::blocks::Probe;
use petal_core::storage::try_box;
use petal_core::{Filter, Hasher, Image, Result, Spec, Status};
use std::mem::MaybeUninit;

mod at_hand;
pub mod probe;
pub mod files;
pub mod keys;
pub mod batch;

/// A filter of any kind. Free it with `petal_filter_free()`.
// What a lookup of a hash needs of the handle is its first cache line.
#[repr(C, align(64))]
pub struct petal_filter {
    /// The kernel and words that single keys go to directly, borrowed from `filter`: see `at_hand`.
    pub(crate) probe: Option<Probe<'static>>,
    /// A panic was caught while the filter was being changed.
    poisoned: bool,
    /// A copy of the filter's hasher, in the handle's first cache line for single keys.
    pub(crate) hasher: Hasher,
    pub(crate) filter: Filter,
}

impl petal_filter {
    fn new(filter: Filter) -> petal_filter {
        petal_filter { hasher: filter.base().hasher().clone(), filter, poisoned: false, probe: None }
    }

    /// The filter behind a handle, to be read.
    ///
    /// # Safety
    /// The handle is not NULL and lives; nobody changes it meanwhile.
    #[inline]
    pub(crate) unsafe fn get<'a>(handle: *const petal_filter) -> Result<&'a Filter> {
        // SAFETY: `handle` is not NULL, it lives, and nobody changes it meanwhile, as the safety section asks.
        let handle = unsafe { &*handle };
        if handle.poisoned { Err(Status::Internal.into()) } else { Ok(&handle.filter) }
    }

    /// Whether a panic was caught while the filter was being changed.
    #[inline(always)]
    pub(crate) fn is_poisoned(&self) -> bool {
        self.poisoned
    }

    /// A handle that is not NULL and not poisoned, to be read.
    ///
    /// # Safety
    /// As [`petal_filter::get`], but NULL is allowed.
    #[inline(always)]
    pub(crate) unsafe fn sound<'a>(handle: *const petal_filter) -> Option<&'a petal_filter> {
        // SAFETY: `handle` is NULL, or it lives and nobody changes it meanwhile, as the safety section asks.
        unsafe { handle.as_ref() }.filter(|handle| !handle.poisoned)
    }

    /// A handle that is not NULL and not poisoned, to be changed. A panic meanwhile has to be followed by
    /// [`petal_filter::poison`].
    ///
    /// # Safety
    /// As [`petal_filter::change`], but NULL is allowed.
    #[inline(always)]
    pub(crate) unsafe fn sound_mut<'a>(handle: *mut petal_filter) -> Option<&'a mut petal_filter> {
        // SAFETY: `handle` is NULL, or it lives and nobody else uses it meanwhile, as the safety section asks.
        unsafe { handle.as_mut() }.filter(|handle| !handle.poisoned)
    }

    /// Refuses all further use of a handle.
    ///
    /// # Safety
    /// As [`petal_filter::change`].
    pub(crate) unsafe fn poison(handle: *mut petal_filter) {
        // SAFETY: `handle` is not NULL, it lives, and nobody else uses it, as the safety section asks.
        unsafe { (*handle).poisoned = true };
    }

    /// Changes the filter behind a handle. A panic on the way leaves the handle poisoned.
    ///
    /// # Safety
    /// The handle is not NULL and lives; nobody else uses it meanwhile.
    #[inline]
    pub(crate) unsafe fn change<T>(handle: *mut petal_filter, change: impl FnOnce(&mut Filter) -> T) -> Result<T> {
        // SAFETY: `handle` is not NULL, it lives, and nobody else uses it meanwhile, as the safety section asks.
        let handle = unsafe { &mut *handle };
        if handle.poisoned {
            return Err(Status::Internal.into());
        }
        handle.poisoned = true;
        let result = change(&mut handle.filter);
        handle.poisoned = false;
        handle.renew_probe();
        Ok(result)
    }
}

/// Hands the filter that `make` makes to the caller. The handle's memory comes first, so that nothing that was made, or
/// taken from a builder, is lost for want of it.
///
/// # Safety
/// `out` is writable.
pub(crate) unsafe fn give(out: *mut *mut petal_filter, make: impl FnOnce() -> Result<Filter>) -> Result<()> {
    let place = try_box(MaybeUninit::<petal_filter>::uninit())?;
    let mut handle = Box::write(place, petal_filter::new(make()?));
    handle.renew_probe();
    // SAFETY: `out` is writable, as the safety section asks.
    unsafe { out.write(Box::into_raw(handle)) };
    Ok(())
}

/// Makes an empty filter of the default kind for `capacity` distinct keys at a false-positive rate inside (0, 1). A
/// capacity of 0 gets the size of 1. Returns NULL on failure; `petal_filter_new()` also says why.
#[unsafe(no_mangle)]
pub extern "C" fn petal_filter_with_capacity(capacity: u64, false_positive_rate: f64) -> *mut petal_filter {
    let mut filter = std::ptr::null_mut();
    let out = &raw mut filter;
    // The status says no more than the NULL.
    let _ = boundary!(boundary::NO_ERROR, [], {
        let spec = Spec::with_capacity(capacity, false_positive_rate)?;
        // SAFETY: `out` is the variable above.
        unsafe { give(out, || petal_core::create(&spec)) }
    });
    filter
}

/// Copies a filter, wherever it lives, into new memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_copy(
    filter: *const petal_filter,
    copy: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter, copy], {
        // SAFETY: checked for NULL; by the conventions `filter` is a handle that nobody changes, and `copy` is
        // writable.
        unsafe { give(copy, || petal_filter::get(filter)?.copy()) }
    })
}

/// Frees a filter. If you changed an image in place, this function brings the image up to date first. Call
/// `petal_filter_sync()` before if you want to know whether that works. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_free(filter: *mut petal_filter) {
    if filter.is_null() {
        return;
    }
    // There is nobody to report a panic to.
    let _ = boundary!(boundary::NO_ERROR, [], {
        // SAFETY: not NULL, and by the conventions a handle that this library made and nobody uses any more.
        let mut handle = unsafe { Box::from_raw(filter) };
        if handle.poisoned {
            handle.filter.base_mut().abandon();
        }
        Ok(())
    });
}
