//! Memory on huge pages, for the limit and for the other libraries alike. An allocation of 2 MiB or more gets huge
//! pages where the system has them. Otherwise the benchmark would compare page sizes, not filters. Petal asks the
//! system itself for huge pages, and its large filters do not use this allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU64;

/// A huge page.
const HUGE: usize = 2 << 20;

/// Zeroed memory from the system in whole huge pages, which begins at a multiple of their size.
fn map(length: usize) -> Option<NonNull<u8>> {
    let length = length.checked_next_multiple_of(HUGE)?;
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: the mapping is new, so nobody refers to the parts before and after the result that are cut off.
    unsafe {
        let base = libc::mmap(ptr::null_mut(), length.checked_add(HUGE)?, protection, flags, -1, 0);
        if base == libc::MAP_FAILED {
            return None;
        }
        let before = base.cast::<u8>().align_offset(HUGE);
        let start = base.byte_add(before);
        if before > 0 {
            libc::munmap(base, before);
        }
        libc::munmap(start.byte_add(length), HUGE - before);
        // A system without huge pages refuses the advice, and the pages are then small.
        libc::madvise(start, length, libc::MADV_HUGEPAGE);
        NonNull::new(start.cast())
    }
}

/// Gives back the memory of [`map`].
///
/// # Safety
/// `base` came from [`map`] with this length, once, and nothing refers to it any more.
unsafe fn unmap(base: *mut u8, length: usize) {
    // SAFETY: the caller's.
    unsafe { libc::munmap(base.cast(), length.next_multiple_of(HUGE)) };
}

/// The system's allocator, with huge pages for large blocks.
pub struct Allocator;

// SAFETY: large blocks are separate mappings, which are zeroed, aligned to 2 MiB and as long as was asked; all others
// are the system allocator's. The length alone says which, and the layout comes back when a block is freed.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() >= HUGE && layout.align() <= HUGE {
            return map(layout.size()).map_or(ptr::null_mut(), NonNull::as_ptr);
        }
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() >= HUGE && layout.align() <= HUGE {
            return map(layout.size()).map_or(ptr::null_mut(), NonNull::as_ptr);
        }
        // SAFETY: the caller's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if layout.size() >= HUGE && layout.align() <= HUGE {
            // SAFETY: `alloc` or `alloc_zeroed` mapped it with this length.
            return unsafe { unmap(block, layout.size()) };
        }
        // SAFETY: the caller's.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Words on huge pages, even if they are few.
pub struct Region {
    base: NonNull<AtomicU64>,
    words: usize,
}

impl Region {
    /// A region of at least this number of zeroed bytes, in whole lines of 64; `None` without memory.
    pub fn new(bytes: usize) -> Option<Region> {
        let words = bytes.div_ceil(64).max(1) * 8;
        Some(Region { base: map(words * 8)?.cast(), words })
    }

    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: `map` gave `self.words` words, aligned and zeroed, and they live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.words) }
    }
}

// SAFETY: the region owns its words and hands them out by the rules of references.
unsafe impl Send for Region {}
// SAFETY: the region owns its words and hands them out by the rules of references.
unsafe impl Sync for Region {}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: `new` mapped it with this length; it is given back once.
        unsafe { unmap(self.base.as_ptr().cast(), self.words * 8) }
    }
}

/// The pages behind an address: `huge` if most of the mapping is on huge pages, `small`, or `unknown` where the system
/// does not tell.
pub fn pages(address: Option<usize>) -> &'static str {
    let (Some(address), Ok(maps)) = (address, fs::read_to_string("/proc/self/smaps")) else { return "unknown" };
    let (mut inside, mut resident) = (false, 0);
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or("");
        if let Some((from, to)) = first.split_once('-')
            && let (Ok(from), Ok(to)) = (usize::from_str_radix(from, 16), usize::from_str_radix(to, 16))
        {
            inside = (from..to).contains(&address);
        } else if inside {
            let kilobytes = words.next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
            match first {
                "Rss:" => resident = kilobytes,
                "AnonHugePages:" => return if 2 * kilobytes > resident { "huge" } else { "small" },
                _ => (),
            }
        }
    }
    "unknown"
}
