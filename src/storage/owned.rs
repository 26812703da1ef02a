//! The filter's own memory: zeroed, 64-byte aligned, on huge pages where that can matter.

use super::os;
use crate::error::{Result, error};
use core::alloc::Layout;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, Ordering};

/// A cache line: what payloads are aligned to and padded to.
pub const LINE: usize = 64;

/// From this size on memory comes directly from the operating system: its pages are already zero, cost nothing until
/// they are touched, and can be huge ones.
const PAGES_FROM: usize = 1 << 20;

static ONLY_ALLOCATOR: AtomicBool = AtomicBool::new(false);

/// From now on all memory of filters comes from the global allocator, however large they are: for a process whose
/// allocator keeps accounts, or has a limit.
pub fn use_allocator_only() {
    ONLY_ALLOCATOR.store(true, Ordering::Relaxed);
}

/// A block of memory that is given back when it is dropped.
pub struct Owned {
    base: NonNull<u8>,
    from: Source,
}

enum Source {
    Heap(Layout),
    Pages(usize),
}

impl Owned {
    /// `length` zero bytes.
    pub fn zeroed(length: usize) -> Result<Owned> {
        let failure = || error!(OutOfMemory, "{length} bytes for the filter could not be had");
        if length >= PAGES_FROM && !ONLY_ALLOCATOR.load(Ordering::Relaxed) {
            let base = os::map_anonymous(length).ok_or_else(failure)?;
            return Ok(Owned { base, from: Source::Pages(length) });
        }
        let layout = Layout::from_size_align(length.max(LINE), LINE).map_err(|_| failure())?;
        // SAFETY: the layout has a size of at least one line.
        let base = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) }).ok_or_else(failure)?;
        Ok(Owned { base, from: Source::Heap(layout) })
    }

    /// Makes the block longer without copying it: the bytes after the old length are zero. False, with nothing changed,
    /// if that is impossible. Nothing may refer to the block, because it may then lie elsewhere.
    pub fn lengthen(&mut self, length: usize) -> bool {
        let Source::Pages(from) = self.from else { return false };
        if length < from {
            return false;
        }
        // SAFETY: `base` came from `map_anonymous` with this length; whoever asks has `self` alone, and nothing that
        // refers to it.
        let moved = unsafe { os::move_anonymous(self.base, from, length) };
        if let Some(base) = moved {
            // Not by making a new one: dropping the old one would give back what was moved.
            (self.base, self.from) = (base, Source::Pages(length));
        }
        moved.is_some()
    }

    /// How many bytes the block has.
    pub fn length(&self) -> usize {
        match self.from {
            Source::Heap(layout) => layout.size(),
            Source::Pages(length) => length,
        }
    }

    /// The first byte.
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        match self.from {
            // SAFETY: `base` came from the allocator with this layout and is freed once, here.
            Source::Heap(layout) => unsafe { std::alloc::dealloc(self.base.as_ptr(), layout) },
            // SAFETY: `base` came from `map_anonymous` with this length; nothing refers to it any more.
            Source::Pages(length) => unsafe { os::free_anonymous(self.base, length) },
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Pages move with what is in them, any number of times, and stay one mapping.
    #[test]
    fn what_becomes_longer_again_and_again_is_not_copied() {
        let mut block = Owned::zeroed(5 << 20).unwrap();
        for length in [9 << 20, (14 << 20) + 320, 30 << 20] {
            let last = block.length() / 8 - 1;
            let word = |block: &Owned, at: usize| block.base().cast::<u64>().as_ptr().wrapping_add(at);
            // SAFETY: the block has that many words, and nothing else refers to it.
            unsafe { word(&block, last).write(length as u64) };
            assert!(block.lengthen(length));
            // SAFETY: the block has more words now.
            let read = unsafe { [word(&block, last).read(), word(&block, length / 8 - 1).read()] };
            assert_eq!(read, [length as u64, 0]);
            let start = block.base().as_ptr() as usize;
            let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
            let ends = maps.lines().filter_map(|line| line.split_whitespace().next()?.split_once('-'));
            let address = |text| usize::from_str_radix(text, 16).unwrap();
            let mut ends = ends.map(|(from, to)| (address(from), address(to)));
            assert!(ends.any(|(from, to)| from <= start && start + length <= to), "{length}: more than one mapping");
        }
    }
}
