//! How the server moves memory.

use super::api;
use super::memory::ALIGNMENT;
use redis_module::raw;
use std::ptr::NonNull;

/// The server's way to move memory, where it thinks that worth while.
pub struct Mover(pub(super) *mut raw::RedisModuleDefragCtx);

impl Mover {
    /// Where the server has moved this block of its memory to, bytes and all; or where it is.
    pub(super) fn moved<V>(&self, block: NonNull<V>) -> NonNull<V> {
        // SAFETY: a block of the server's allocator, which frees it if it moves it. What is in it may be moved, since
        // nobody has a reference: whoever calls has it alone.
        NonNull::new(unsafe { api!(RedisModule_DefragAlloc(self.0, block.as_ptr().cast())) }.cast()).unwrap_or(block)
    }

    /// Has the memory of a slice moved.
    pub fn slice<V>(&self, slice: &mut Box<[V]>) {
        // An empty slice has no memory.
        if size_of_val(&**slice) == 0 || align_of::<V>() > ALIGNMENT {
            return;
        }
        let (count, start) = (slice.len(), NonNull::from(Box::leak(std::mem::take(slice))).cast::<V>());
        // SAFETY: so many values, at the start of a block that is this slice's alone.
        *slice = unsafe { Box::from_raw(NonNull::slice_from_raw_parts(self.moved(start), count).as_ptr()) };
    }
}
