//! FILTERS: MAKING AND FREEING

use crate::boundary::{NO_ERROR, boundary};
use crate::handle;
use crate::handle::Owner;
use crate::status::{petal_error, petal_status};
use petal_core::blocks::Probe;
use petal_core::{Filter, Hasher, Image, Result, Spec, Status};

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
    /// Whether a panic was caught while the filter was being changed.
    #[inline(always)]
    pub(crate) fn is_poisoned(&self) -> bool {
        self.poisoned
    }

    /// A handle that is not NULL and not poisoned, to be read.
    ///
    /// # Safety
    /// NULL, or the handle lives and nobody changes it meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn sound<'a>(handle: *const petal_filter) -> Option<&'a petal_filter> {
        // SAFETY: as the safety section asks.
        unsafe { handle.as_ref() }.filter(|handle| !handle.poisoned)
    }

    /// A handle that is not NULL and not poisoned, to be changed. A panic meanwhile has to be followed by
    /// [`petal_filter::poison`].
    ///
    /// # Safety
    /// NULL, or the handle lives and nobody else uses it meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn sound_mut<'a>(handle: *mut petal_filter) -> Option<&'a mut petal_filter> {
        // SAFETY: as the safety section asks.
        unsafe { handle.as_mut() }.filter(|handle| !handle.poisoned)
    }

    /// Refuses all further use of a handle.
    ///
    /// # Safety
    /// The handle is not NULL and lives; nobody else uses it meanwhile.
    pub(crate) unsafe fn poison(handle: *mut petal_filter) {
        // SAFETY: as the safety section asks.
        unsafe { (*handle).poisoned = true };
    }
}

impl Owner for petal_filter {
    type Value = Filter;

    fn new(filter: Filter) -> petal_filter {
        petal_filter { hasher: filter.base().hasher().clone(), filter, poisoned: false, probe: None }
    }

    #[inline]
    fn value(&self) -> Result<&Filter> {
        if self.poisoned { Err(Status::Internal.into()) } else { Ok(&self.filter) }
    }

    fn placed(&mut self) {
        self.renew_probe();
    }

    #[inline]
    fn change<T>(&mut self, change: impl FnOnce(&mut Filter) -> T) -> Result<T> {
        if self.poisoned {
            return Err(Status::Internal.into());
        }
        self.poisoned = true;
        let result = change(&mut self.filter);
        self.poisoned = false;
        self.renew_probe();
        Ok(result)
    }
}

impl Drop for petal_filter {
    fn drop(&mut self) {
        // The state after a panic is not to be trusted, so nothing of it may reach a file.
        if self.poisoned {
            self.filter.base_mut().abandon();
        }
    }
}

/// Makes an empty filter of the default kind for `capacity` distinct keys at a false-positive rate inside (0, 1). A
/// capacity of 0 gets the size of 1. Returns NULL on failure; `petal_filter_new()` also says why.
#[unsafe(no_mangle)]
pub extern "C" fn petal_filter_with_capacity(capacity: u64, false_positive_rate: f64) -> *mut petal_filter {
    let mut filter = std::ptr::null_mut();
    let out = &raw mut filter;
    // The status says no more than the NULL.
    let _ = boundary!(NO_ERROR, [give out], {
        out.made(|| petal_core::Filter::new(&Spec::with_capacity(capacity, false_positive_rate)?))
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
    boundary!(error, [read filter, give copy], copy.made(|| filter.copy()))
}

/// Frees a filter. If you changed an image in place, this function brings the image up to date first. Call
/// `petal_filter_sync()` before if you want to know whether that works. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_free(filter: *mut petal_filter) {
    // SAFETY: by the conventions NULL, or a handle that this library made and nobody uses any more.
    unsafe { handle::free(filter) }
}
