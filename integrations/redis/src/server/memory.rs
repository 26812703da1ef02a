//! Memory is the server's: what the module allocates comes from its allocator and counts against its limits. A large
//! allocation that fails is an error; the server itself ends where a small one fails.

use super::beside::is_servers_thread;
use super::{Context, api};
use redis_module::raw;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::ffi::c_int;

/// The alignment of the server's allocator.
pub const ALIGNMENT: usize = 16;

/// From this size on an allocation may fail.
const LARGE: usize = 64 << 10;

/// From this size on pages are given back by and by, so many bytes at a time.
const HUGE: usize = 32 << 20;
const STEP: usize = 8 << 20;

/// What the pages that are given back are multiples of, on every machine.
const PAGE: usize = 64 << 10;

/// A smaller size is always conceivable.
const ASKED_FROM: u64 = 1 << 20;

/// The server's allocator.
pub struct ServerMemory;

#[global_allocator]
static SERVER_MEMORY: ServerMemory = ServerMemory;

thread_local! {
    /// Bytes that this thread allocated less those that it freed, as the allocator counts them.
    static BALANCE: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: blocks come from the server's allocator, and go back to it as they came. Where more alignment is asked for
// than it gives, a block that happens to have twice as much is taken as it is. Otherwise the block is longer by that
// much: it is given from a byte on that has just this alignment, and the word before says where the block starts.
unsafe impl GlobalAlloc for ServerMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        block(layout, false)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        block(layout, true)
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: `start` is from `block` with this layout, by the caller's promise.
        unsafe {
            let is_whole = layout.align() <= ALIGNMENT || start.addr().is_multiple_of(2 * layout.align());
            let block = if is_whole { start } else { start.cast::<*mut u8>().sub(1).read() };
            count(block, -1);
            if layout.size() >= HUGE && !is_servers_thread() {
                give_up(start, layout.size());
            }
            free(block);
        }
    }
}

/// Gives the pages of a block back, some at a time. Given back as a whole they would hold the server's thread up for as
/// long, where that maps or unmaps memory at the same time.
///
/// # Safety
/// Nobody uses the bytes any more, and they are anonymous memory of this process.
unsafe fn give_up(start: *mut u8, bytes: usize) {
    let skipped = start.addr().next_multiple_of(PAGE) - start.addr();
    for at in (skipped..bytes.saturating_sub(PAGE)).step_by(STEP) {
        let length = STEP.min((bytes - at) / PAGE * PAGE);
        // SAFETY: whole pages inside the block, by the caller's promise; what they hold is not looked at again.
        unsafe { libc::madvise(start.add(at).cast(), length, libc::MADV_DONTNEED) };
    }
}

/// A block of this layout; null where there is none.
fn block(layout: Layout, zeroed: bool) -> *mut u8 {
    let (align, bytes) = (layout.align(), layout.size().max(1));
    // SAFETY: the functions are the server's, or null before it gave them; a block is longer than what is written, and
    // is freed once.
    unsafe {
        let whole = bytes_of_server(bytes, zeroed);
        if whole.is_null() || align <= ALIGNMENT || whole.addr().is_multiple_of(2 * align) {
            return counted(whole);
        }
        free(whole);
        let Some(longer) = bytes.checked_add(2 * align) else { return std::ptr::null_mut() };
        let block = counted(bytes_of_server(longer, zeroed));
        if block.is_null() {
            return block;
        }
        // The block is aligned to 16, so there is room for a word before an odd multiple of 32 or more.
        let odd = (block.addr() + align).next_multiple_of(2 * align) - align;
        let start = block.add(if odd > block.addr() { odd - block.addr() } else { 2 * align });
        start.cast::<*mut u8>().sub(1).write(block);
        start
    }
}

/// A block that is counted in, if it is one.
///
/// # Safety
/// `block` is a block of the server's allocator, or null.
unsafe fn counted(block: *mut u8) -> *mut u8 {
    if !block.is_null() {
        // SAFETY: the caller promises that `block` is a block of the server's allocator, or null.
        unsafe { count(block, 1) };
    }
    block
}

/// So many bytes of the server's.
///
/// # Safety
/// The server's functions are set, or none of them is.
unsafe fn bytes_of_server(bytes: usize, zeroed: bool) -> *mut u8 {
    // SAFETY: the caller promises that the server's functions are set, or none of them is; a probe is freed once.
    unsafe {
        if bytes >= LARGE {
            match (raw::RedisModule_TryCalloc, raw::RedisModule_TryAlloc) {
                (Some(try_calloc), _) if zeroed => return try_calloc(1, bytes).cast(),
                (_, Some(try_alloc)) => {
                    let probe = try_alloc(bytes);
                    if !zeroed || probe.is_null() {
                        return probe.cast();
                    }
                    // Zeros that nobody touched are no memory yet, and only this function gives them.
                    free(probe.cast());
                }
                // Redis 6.2 has neither: `check_room` is what refuses there.
                _ => {}
            }
        }
        match (zeroed, raw::RedisModule_Calloc, raw::RedisModule_Alloc) {
            (true, Some(calloc), _) => calloc(1, bytes).cast(),
            (false, _, Some(alloc)) => alloc(bytes).cast(),
            // Before the server gave its functions nothing may be allocated: it could not be freed after.
            _ => std::process::abort(),
        }
    }
}

/// Gives a block back.
///
/// # Safety
/// `block` is a block of the server's, and is freed once.
unsafe fn free(block: *mut u8) {
    // SAFETY: the caller promises that `block` is a block of the server's, and is freed once.
    unsafe {
        match raw::RedisModule_Free {
            Some(free) => free(block.cast()),
            None => std::process::abort(),
        }
    }
}

/// Counts a block of the server's in or out.
///
/// # Safety
/// `block` is a block of the server's allocator.
unsafe fn count(block: *mut u8, sign: isize) {
    // SAFETY: the caller promises that `block` is a block of the server's allocator.
    let bytes = unsafe { raw::RedisModule_MallocSize.map_or(0, |size| size(block.cast())) } as isize;
    // A thread that ends has no balance any more, and needs none.
    let _ = BALANCE.try_with(|balance| balance.set(balance.get() + sign * bytes));
}

/// What `make` makes, and how many bytes more are allocated than before: those of what was made.
pub fn measured<T>(make: impl FnOnce() -> T) -> (T, isize) {
    let before = BALANCE.get();
    let made = make();
    (made, BALANCE.get() - before)
}

/// Whether so many bytes more are conceivable: no more than the machine's memory, and than the server may have. Whether
/// as much is left of either is asked by the server before a command (`deny-oom`), and by its allocator.
pub fn has_room(context: &Context, bytes: u64) -> bool {
    if bytes < ASKED_FROM || context.is_repetition() {
        return true;
    }
    let server = server_memory(context).filter(|limit| *limit > 0);
    bytes <= machine_memory().min(server.unwrap_or(u64::MAX))
}

/// Whether the server has more memory than it may have, and makes room.
pub fn is_full() -> bool {
    // SAFETY: no arguments, and called in the server's thread.
    unsafe { raw::RedisModule_GetUsedMemoryRatio.is_some_and(|ratio| ratio() > 1.0) }
}

/// Whether the machine could have so many bytes.
pub fn is_conceivable(bytes: u64) -> bool {
    bytes <= machine_memory()
}

/// The memory of the machine.
fn machine_memory() -> u64 {
    // SAFETY: `sysconf` takes any number and touches no memory.
    let [pages, size] = unsafe { [libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)] };
    if pages <= 0 || size <= 0 { u64::MAX } else { (pages as u64).saturating_mul(size as u64) }
}

/// The server's `maxmemory`; 0 is no limit.
fn server_memory(context: &Context) -> Option<u64> {
    let mut error: c_int = 0;
    // SAFETY: the context is valid, the strings are static, and the data is freed once, after it was asked.
    unsafe {
        let data = api!(RedisModule_GetServerInfo(context.raw(), c"memory".as_ptr()));
        let limit = api!(RedisModule_ServerInfoGetFieldUnsigned(data, c"maxmemory".as_ptr(), &raw mut error));
        api!(RedisModule_FreeServerInfo(context.raw(), data));
        (error == 0).then_some(limit)
    }
}
