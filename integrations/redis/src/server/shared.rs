//! A value with several holders, like an `Arc`, whose memory the server may move.

use super::mover::Mover;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

/// A value with several holders. The last holder frees it.
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
    /// How many bytes of memory a shared value takes.
    pub const BYTES: usize = size_of::<Inner<T>>();

    /// A value that has one holder.
    pub fn new(value: T) -> Shared<T> {
        Shared(NonNull::from(Box::leak(Box::new(Inner { holders: AtomicUsize::new(1), value }))))
    }

    fn inner(&self) -> &Inner<T> {
        // SAFETY: the last holder frees the value when it is dropped, and `self` is a holder.
        unsafe { self.0.as_ref() }
    }

    /// How many holders the value has.
    pub fn holders(&self) -> usize {
        self.inner().holders.load(Ordering::Acquire)
    }

    /// The value, if nobody else holds it. Only a holder can make another holder, so none can appear.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        match self.holders() {
            // SAFETY: this is the only holder, and `&mut self` borrows it exclusively.
            1 => Some(unsafe { &mut self.0.as_mut().value }),
            _ => None,
        }
    }

    /// Lets the server move the value's memory, if nobody else holds the value.
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
            // SAFETY: this holder was the last, and the memory came from a box.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}
