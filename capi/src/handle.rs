// The value that a pointer in C's hands points to: a value of the core, and whether a panic was caught while it was
// being changed.

use petal_core::storage::try_box;
use petal_core::{Result, Status};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A value behind a handle.
pub(crate) struct Handle<T> {
    value: T,
    /// A panic was caught while the value was being changed.
    poisoned: bool,
}

impl<T> Handle<T> {
    pub(crate) fn new(value: T) -> Handle<T> {
        Handle { value, poisoned: false }
    }

    /// The value, to be read.
    #[inline]
    pub(crate) fn get(&self) -> Result<&T> {
        if self.poisoned { Err(Status::Internal.into()) } else { Ok(&self.value) }
    }

    /// The value, to be read; `None` after a panic.
    #[inline]
    pub(crate) fn sound(&self) -> Option<&T> {
        if self.poisoned { None } else { Some(&self.value) }
    }

    /// The value, for its end, if a panic was caught while it was being changed: its state is not to be trusted.
    pub(crate) fn poisoned(&mut self) -> Option<&mut T> {
        self.poisoned.then_some(&mut self.value)
    }

    /// Changes the value. A panic on the way leaves the handle poisoned.
    pub(crate) fn change<R>(&mut self, change: impl FnOnce(&mut T) -> R) -> Result<R> {
        if self.poisoned {
            return Err(Status::Internal.into());
        }
        self.poisoned = true;
        let result = change(&mut self.value);
        self.poisoned = false;
        Ok(result)
    }
}

/// A handle: what C's pointer points to.
pub(crate) trait Owner: Sized {
    /// What is behind it.
    type Value;

    /// The handle of a new value.
    fn new(value: Self::Value) -> Self;

    /// The value, to be read; an error after a panic.
    fn value(&self) -> Result<&Self::Value>;

    /// What is to be done when the handle has come to the place where it stays.
    fn placed(&mut self) {}

    /// Changes the value. A panic on the way leaves the handle poisoned.
    fn change<R>(&mut self, change: impl FnOnce(&mut Self::Value) -> R) -> Result<R>;
}

/// Hands what `make` makes to the caller, as a handle of the type `H`. The handle's memory comes first, so that
/// nothing that was made, or taken from a builder, is lost for the lack of it. `placed` is called when the handle is in
/// that memory.
///
/// # Safety
/// `out` is writable.
pub(crate) unsafe fn give<H>(
    out: *mut *mut H,
    make: impl FnOnce() -> Result<H>,
    placed: impl FnOnce(&mut H),
) -> Result<()> {
    let place = try_box(MaybeUninit::<H>::uninit())?;
    let mut handle = Box::write(place, make()?);
    placed(&mut handle);
    // SAFETY: `out` is writable, as the safety section asks.
    unsafe { out.write(Box::into_raw(handle)) };
    Ok(())
}

/// Frees a handle that [`give`] gave. NULL is allowed.
///
/// # Safety
/// NULL, or a handle that nobody uses any more.
pub(crate) unsafe fn free<H>(handle: *mut H) {
    if handle.is_null() {
        return;
    }
    // There is nobody to report a panic to. The call that gave the handle has silenced panics.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: `handle` is not NULL. It came from the `Box` in `give`, and nobody uses it any more, as the safety
        // section asks.
        drop(unsafe { Box::from_raw(handle) });
    }));
}

/// What handles have in common: they own a value. When a panic was caught while the value was being changed, its state
/// is not to be trusted, so nothing of it may reach a file; an `imageless` one never does.
macro_rules! owner {
    ($handle:ident, $value:ty) => {
        crate::handle::owner!(imageless $handle, $value);

        impl Drop for $handle {
            fn drop(&mut self) {
                if let Some(value) = self.0.poisoned() {
                    petal_core::Image::base_mut(value).abandon();
                }
            }
        }
    };
    (imageless $handle:ident, $value:ty) => {
        impl crate::handle::Owner for $handle {
            type Value = $value;

            fn new(value: $value) -> $handle {
                $handle(crate::handle::Handle::new(value))
            }

            fn value(&self) -> petal_core::Result<&$value> {
                self.0.get()
            }

            fn change<R>(&mut self, change: impl FnOnce(&mut $value) -> R) -> petal_core::Result<R> {
                self.0.change(change)
            }
        }
    };
}
pub(crate) use owner;
