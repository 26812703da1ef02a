//! A value that several hold, as `Arc` is one, but of which the server may move the memory.

use super::mover::Mover;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

/// A value that several hold. The last of them frees it.
pub struct Shared<T>(NonNull<Inner<T>>);

struct Inner<T> {
    holders: AtomicUsize,
    value: T,
}

// SAFETY: as for `Arc`: holders in several threads have references to the value, and the last drops it.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as for `Arc`: a shared reference gives shared references to the value only.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// How many bytes of memory a value takes.
    pub const BYTES: usize = size_of::<Inner<T>>();

    /// A value that has one holder.
    pub fn new(value: T) -> Shared<T> {
        Shared(NonNull::from(Box::leak(Box::new(Inner { holders: AtomicUsize::new(1), value }))))
    }

    fn inner(&self) -> &Inner<T> {
        // SAFETY: it is freed when the last holder is dropped, and this is one.
        unsafe { self.0.as_ref() }
    }

    /// How many holders the value has.
    pub fn holders(&self) -> usize {
        self.inner().holders.load(Ordering::Acquire)
    }

    /// The value, where nobody else holds it: nobody can come to, since that takes a holder.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        match self.holders() {
            // SAFETY: this is the only holder, and `&mut self` borrows it exclusively.
            1 => Some(unsafe { &mut self.0.as_mut().value }),
            _ => None,
        }
    }

    /// Has the value's memory moved, where nobody else holds the value.
    pub fn move_memory(&mut self, mover: &Mover) {
        if self.holders() == 1 {
            self.0 = mover.moved(self.0);
        }
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        self.inner().holders.fetch_add(1, Ordering::Relaxed);
        Shared(self.0)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner().value
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        if self.inner().holders.fetch_sub(1, Ordering::Release) == 1 {
            fence(Ordering::Acquire);
            // SAFETY: this was the last holder, and the memory came from a box.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}
