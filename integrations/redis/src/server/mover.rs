//! How the server moves memory to defragment it.

use super::api;
use super::memory::ALIGNMENT;
use redis_module::raw;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many blocks the server has moved, and how many it has left where they were.
static COUNTS: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// How many blocks the server has moved, and how many it has left where they were.
pub fn counts() -> [u64; 2] {
    [0, 1].map(|i: usize| COUNTS[i].load(Ordering::Relaxed))
}

/// The server's handle for moving memory. The server decides which blocks to move.
pub struct Mover(pub(super) *mut raw::RedisModuleDefragCtx);

impl Mover {
    /// Offers a block of the server's memory to the server, which may move it with all its bytes. Returns where the
    /// block is then.
    pub(super) fn moved<V>(&self, block: NonNull<V>) -> NonNull<V> {
        // SAFETY: `block` is a block of the server's allocator, which frees the old block after a move. The caller has
        // the block alone, so no reference to its contents exists.
        let moved = NonNull::new(unsafe { api!(RedisModule_DefragAlloc(self.0, block.as_ptr().cast())) }.cast());
        COUNTS[usize::from(moved.is_none())].fetch_add(1, Ordering::Relaxed);
        moved.unwrap_or(block)
    }

    /// Lets the server move the memory of a slice.
    pub fn slice<V>(&self, slice: &mut Box<[V]>) {
        // An empty slice has no memory.
        if size_of_val(&**slice) == 0 || align_of::<V>() > ALIGNMENT {
            return;
        }
        let (count, start) = (slice.len(), NonNull::from(Box::leak(std::mem::take(slice))).cast::<V>());
        // SAFETY: the block holds `count` values from its start on, and belongs to this slice alone.
        *slice = unsafe { Box::from_raw(NonNull::slice_from_raw_parts(self.moved(start), count).as_ptr()) };
    }
}
