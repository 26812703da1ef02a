//! Memory from the system: mapped files and anonymous pages.

use super::{RawFile, errno, retry};
use core::ptr::{NonNull, null_mut};

/// The size of a page of memory.
pub fn page_size() -> usize {
    // SAFETY: sysconf takes any name.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// What the offset of a mapping in its file is a multiple of.
pub fn mapping_step() -> u64 {
    page_size() as u64
}

/// Maps part of a file, shared; `offset` is a multiple of [`mapping_step`] and `length` is not 0.
pub fn map_file(file: &RawFile, offset: u64, length: usize, writable: bool) -> core::result::Result<NonNull<u8>, i32> {
    let protection = if writable { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
    let offset = libc::off_t::try_from(offset).map_err(|_| libc::EOVERFLOW)?;
    // SAFETY: a new mapping at an address of the system's choice touches no memory that exists.
    let base = unsafe { libc::mmap(null_mut(), length, protection, libc::MAP_SHARED, file.descriptor(), offset) };
    if base == libc::MAP_FAILED {
        return Err(errno());
    }
    NonNull::new(base.cast()).ok_or(libc::ENOMEM)
}

/// Has the system read the mapping of a file into memory. Whether it does makes no difference to what the bytes are, so
/// nobody learns of a failure.
///
/// # Safety
/// `base` and `length` are those of a mapping of [`map_file`].
pub unsafe fn prefault(base: NonNull<u8>, length: usize) {
    // SAFETY: the caller says that it is a mapping, and this advice changes no byte of it.
    let advise = |advice| unsafe { libc::madvise(base.as_ptr().cast(), length, advice) == 0 };
    // Linux before 5.14 does not know the first, and other systems do not either: they begin to read and do not wait.
    #[cfg(target_os = "linux")]
    if advise(libc::MADV_POPULATE_READ) {
        return;
    }
    advise(libc::MADV_WILLNEED);
}

/// The size of the huge pages that large blocks ask for.
const HUGE_PAGE: usize = 2 << 20;

/// `length` zero bytes from the system, on huge pages if the block is large and the system has them.
pub fn map_anonymous(length: usize) -> Option<NonNull<u8>> {
    let huge = length >= 2 * HUGE_PAGE;
    // This is enough to start at a huge page wherever the system puts the block.
    let room = if huge { length.checked_add(HUGE_PAGE)? } else { length };
    // Without MAP_NORESERVE the system refuses what it could never give.
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping at an address of the system's choice touches no memory that exists.
    let base = unsafe { libc::mmap(null_mut(), room, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return None;
    }
    let base = NonNull::new(base.cast::<u8>())?;
    if !huge {
        return Some(base);
    }
    let page = page_size();
    let lead = base.as_ptr().align_offset(HUGE_PAGE);
    let used = length.next_multiple_of(page);
    // SAFETY: `lead` and the bytes after `used` lie inside the `room` that was just mapped, at page boundaries, and
    // nothing refers to them.
    unsafe {
        let start = base.add(lead);
        if lead > 0 {
            unmap(base, lead);
        }
        if room > lead + used {
            unmap(start.add(used), room - lead - used);
        }
        #[cfg(target_os = "linux")]
        libc::madvise(start.as_ptr().cast(), used, libc::MADV_HUGEPAGE);
        Some(start)
    }
}

/// Moves anonymous pages into a longer block: `length` bytes, of which those after `from_length` are zero. The pages
/// change their addresses and are not copied. `None`, with nothing changed, if there is no memory, if the system cannot
/// do it, or if the block is so small that copying it is as good.
///
/// # Safety
/// `from` and `from_length` are a block from [`map_anonymous`], to which nothing refers, and `length` is no less. If a
/// block is returned, `from` is no longer one.
pub unsafe fn move_anonymous(from: NonNull<u8>, from_length: usize, length: usize) -> Option<NonNull<u8>> {
    #[cfg(target_os = "linux")]
    if from_length >= 2 * HUGE_PAGE {
        let to = map_anonymous(length)?;
        let [old, new] = [from_length, length].map(|length| length.next_multiple_of(page_size()));
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        // All of the new block becomes one mapping, which replaces the one that kept its room. If only the pages moved,
        // two mappings would lie side by side, and kernels before 6.17 would not move both the next time. SAFETY: the
        // caller says that `from` is a mapping of this many pages, to which nothing refers; `to`, which has no fewer,
        // was mapped here and nothing refers to it either.
        unsafe {
            if libc::mremap(from.as_ptr().cast(), old, new, flags, to.as_ptr()) != libc::MAP_FAILED {
                return Some(to);
            }
            unmap(to, length);
        }
    }
    let _ = (from, from_length, length);
    None
}

/// Unmaps the mapping of a file.
///
/// # Safety
/// `base` and `length` are those of a mapping of [`map_file`], to which nothing refers.
pub unsafe fn unmap_file(base: NonNull<u8>, length: usize) {
    // SAFETY: the caller says that it is a mapping, and that nothing refers to it.
    unsafe { unmap(base, length) }
}

/// Frees anonymous pages.
///
/// # Safety
/// `base` and `length` are those of a block of [`map_anonymous`], to which nothing refers.
pub unsafe fn free_anonymous(base: NonNull<u8>, length: usize) {
    // SAFETY: the caller says that it is a mapping, and that nothing refers to it.
    unsafe { unmap(base, length) }
}

/// Unmaps a mapping.
///
/// # Safety
/// `base` and `length` are those of a mapping, or of a part of one that starts at a page, to which nothing refers.
unsafe fn unmap(base: NonNull<u8>, length: usize) {
    // SAFETY: the caller says that it is a mapping, and that nothing refers to it.
    unsafe { libc::munmap(base.as_ptr().cast(), length) };
}

/// Waits until a part of a shared mapping is on the disk.
///
/// # Safety
/// `base` is at a page boundary and `length` bytes from it are mapped, of the file `_file`.
pub unsafe fn flush(base: NonNull<u8>, length: usize, _file: &RawFile) -> core::result::Result<(), i32> {
    #[cfg(test)]
    if super::super::failing::flush_fails() {
        return Err(libc::EIO);
    }
    // SAFETY: the caller says that the bytes are mapped, and where a page begins.
    retry(|| unsafe { libc::msync(base.as_ptr().cast(), length, libc::MS_SYNC) }).map(|_| ())
}
