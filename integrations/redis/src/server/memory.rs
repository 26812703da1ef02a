//! The module's memory comes from the server's allocator, and counts against the server's limits. A large allocation
//! that fails is an error. A small allocation that fails ends the server.

use super::beside::is_servers_thread;
use super::{Context, api};
use redis_module::raw;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::ffi::c_int;

/// The alignment of the server's allocator.
pub const ALIGNMENT: usize = 16;

/// The least size in bytes of an allocation that may fail.
const LARGE: usize = 64 << 10;

/// The least size in bytes of a block whose pages go back in steps, and the size of a step.
const HUGE: usize = 32 << 20;
const STEP: usize = 8 << 20;

/// A multiple of the page size of every machine.
const PAGE: usize = 64 << 10;

/// The least size in bytes for which the module checks the limits.
const ASKED_FROM: u64 = 1 << 20;

/// The server's allocator.
pub struct ServerMemory;

#[global_allocator]
static SERVER_MEMORY: ServerMemory = ServerMemory;

thread_local! {
    /// The bytes that this thread allocated minus the bytes that it freed, as the allocator counts them.
    static BALANCE: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: all blocks come from the server's allocator, and go back to it unchanged. For a greater alignment, a block
// whose address happens to be a multiple of twice the alignment is used as it is. Otherwise the block is longer by
// twice the alignment, and the result starts at an odd multiple of the alignment. The word before that place is the
// address of the block.
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

/// Gives the pages of a block back in steps. One call for the whole block would stop the server's thread for as long,
/// if that thread maps or unmaps memory at the same time.
///
/// # Safety
/// Nobody uses the bytes any more, and they are anonymous memory of this process.
unsafe fn give_up(start: *mut u8, bytes: usize) {
    let skipped = start.addr().next_multiple_of(PAGE) - start.addr();
    for at in (skipped..bytes.saturating_sub(PAGE)).step_by(STEP) {
        let length = STEP.min((bytes - at) / PAGE * PAGE);
        // SAFETY: whole pages inside the block, by the caller's promise. Nobody reads their contents again.
        unsafe { libc::madvise(start.add(at).cast(), length, libc::MADV_DONTNEED) };
    }
}

/// Allocates a block of this layout; null if there is no memory.
fn block(layout: Layout, zeroed: bool) -> *mut u8 {
    let (align, bytes) = (layout.align(), layout.size().max(1));
    // SAFETY: the functions are the server's, or null before the server set them. The written word lies inside the
    // block, and each block is freed once.
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

/// Adds a block to the balance, unless it is null.
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

/// Allocates bytes from the server.
///
/// # Safety
/// Either the server's functions are all set, or none is.
unsafe fn bytes_of_server(bytes: usize, zeroed: bool) -> *mut u8 {
    // SAFETY: the caller promises that the server's functions are all set, or none is. A probe is freed once.
    unsafe {
        if bytes >= LARGE {
            match (raw::RedisModule_TryCalloc, raw::RedisModule_TryAlloc) {
                (Some(try_calloc), _) if zeroed => return try_calloc(1, bytes).cast(),
                (_, Some(try_alloc)) => {
                    let probe = try_alloc(bytes);
                    if !zeroed || probe.is_null() {
                        return probe.cast();
                    }
                    // Untouched pages of zeros take no memory, and only `calloc` gives such pages.
                    free(probe.cast());
                }
                // Redis 6.2 has neither function: `has_room` refuses large sizes there.
                _ => {}
            }
        }
        match (zeroed, raw::RedisModule_Calloc, raw::RedisModule_Alloc) {
            (true, Some(calloc), _) => calloc(1, bytes).cast(),
            (false, _, Some(alloc)) => alloc(bytes).cast(),
            // Without the server's functions nothing may be allocated, because nothing could free the block later.
            _ => std::process::abort(),
        }
    }
}

/// Gives a block back to the server.
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

/// Adds a block of the server's allocator to the balance (`sign` 1), or subtracts it (`sign` -1).
///
/// # Safety
/// `block` is a block of the server's allocator.
unsafe fn count(block: *mut u8, sign: isize) {
    // SAFETY: the caller promises that `block` is a block of the server's allocator.
    let bytes = unsafe { raw::RedisModule_MallocSize.map_or(0, |size| size(block.cast())) } as isize;
    // A thread that ends has no balance any more, and needs none.
    let _ = BALANCE.try_with(|balance| balance.set(balance.get() + sign * bytes));
}

/// Returns the result of `make`, and by how many bytes the thread's balance grew in the call.
pub fn measured<T>(make: impl FnOnce() -> T) -> (T, isize) {
    let before = BALANCE.get();
    let made = make();
    (made, BALANCE.get() - before)
}

/// Whether the machine's memory and the server's `maxmemory` are at least as large as this size. The server itself
/// checks how much is left before a command (`deny-oom`), and so does its allocator.
pub fn has_room(context: &Context, bytes: u64) -> bool {
    if bytes < ASKED_FROM || context.is_repetition() {
        return true;
    }
    let server = server_memory(context).filter(|limit| *limit > 0);
    bytes <= machine_memory().min(server.unwrap_or(u64::MAX))
}

/// Whether the server uses more memory than its limit, and evicts keys.
pub fn is_full() -> bool {
    // SAFETY: the function takes no arguments, and the server's thread calls it.
    unsafe { raw::RedisModule_GetUsedMemoryRatio.is_some_and(|ratio| ratio() > 1.0) }
}

/// Whether the machine's memory is at least this large.
pub fn is_conceivable(bytes: u64) -> bool {
    bytes <= machine_memory()
}

/// The memory of the machine.
fn machine_memory() -> u64 {
    // SAFETY: `sysconf` takes any number and touches no memory.
    let [pages, size] = unsafe { [libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)] };
    if pages <= 0 || size <= 0 { u64::MAX } else { (pages as u64).saturating_mul(size as u64) }
}

/// The server's `maxmemory`; 0 means no limit.
fn server_memory(context: &Context) -> Option<u64> {
    let mut error: c_int = 0;
    // SAFETY: the context is valid, the strings are static, and the data is freed once, after the read.
    unsafe {
        let data = api!(RedisModule_GetServerInfo(context.raw(), c"memory".as_ptr()));
        let limit = api!(RedisModule_ServerInfoGetFieldUnsigned(data, c"maxmemory".as_ptr(), &raw mut error));
        api!(RedisModule_FreeServerInfo(context.raw(), data));
        (error == 0).then_some(limit)
    }
}
