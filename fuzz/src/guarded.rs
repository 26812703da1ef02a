//! Memory that ends where the address space does: the first access past it is a crash, without any sanitizer.

use core::ptr::NonNull;

const ROOM: usize = 1 << 20;
const PAGE: usize = 1 << 12;

/// Room for an image that ends at a page which nobody may touch.
pub struct Guarded {
    base: NonNull<u8>,
}

impl Guarded {
    /// Fresh room.
    pub fn new() -> Guarded {
        // SAFETY: a new anonymous mapping, whose last page is then closed.
        unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let base = libc::mmap(core::ptr::null_mut(), ROOM + PAGE, access, flags, -1, 0);
            assert!(base != libc::MAP_FAILED, "no memory");
            assert_eq!(libc::mprotect(base.byte_add(ROOM), PAGE, libc::PROT_NONE), 0);
            Guarded { base: NonNull::new(base.cast()).expect("mmap never returns NULL") }
        }
    }

    /// Copies `bytes` to a multiple of 8, as close to the closed page as that goes. `None` if they are too many.
    pub fn place(&mut self, bytes: &[u8]) -> Option<NonNull<u8>> {
        let start = ROOM.checked_sub(bytes.len().checked_next_multiple_of(8)?)?;
        // SAFETY: the bytes fit between `start` and the closed page.
        unsafe {
            let place = self.base.add(start);
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), place.as_ptr(), bytes.len());
            Some(place)
        }
    }

    /// What lies at `place` now.
    ///
    /// # Safety
    /// `place` and `length` are those of the last call of [`Guarded::place`], and no filter is open there for writing.
    pub unsafe fn bytes(&self, place: NonNull<u8>, length: usize) -> Vec<u8> {
        // SAFETY: the caller's promise.
        unsafe { core::slice::from_raw_parts(place.as_ptr(), length).to_vec() }
    }
}

impl Default for Guarded {
    fn default() -> Guarded {
        Guarded::new()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`.
        unsafe { libc::munmap(self.base.as_ptr().cast(), ROOM + PAGE) };
    }
}
