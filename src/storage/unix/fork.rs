//! How a process notices that it is a child of the one that opened a file.

#[cfg(any(target_os = "linux", target_os = "android"))]
use super::{free_anonymous, page_size};
use core::ptr::NonNull;
#[cfg(any(target_os = "linux", target_os = "android"))]
use core::ptr::null_mut;

/// A page of zeros, never given back, that is all zeros again in a child process, however that was made; `None` if the
/// system has no such pages.
pub fn wiped_in_children() -> Option<NonNull<u8>> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        let page = page_size();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping at an address of the system's choice touches no memory that exists.
        let base = unsafe { libc::mmap(null_mut(), page, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        let base = NonNull::new(base.cast::<u8>()).filter(|_| base != libc::MAP_FAILED)?;
        // SAFETY: the page was just mapped.
        if unsafe { libc::madvise(base.as_ptr().cast(), page, libc::MADV_WIPEONFORK) } == 0 {
            return Some(base);
        }
        // SAFETY: the page was just mapped, and nothing refers to it.
        unsafe { free_anonymous(base, page) };
    }
    None
}

/// Has the C library's `fork` call `function` in every child.
pub fn call_in_children(function: extern "C" fn()) {
    unsafe extern "C" {
        // POSIX has this function; the crate libc has it only for some systems.
        fn pthread_atfork(
            before: Option<extern "C" fn()>,
            in_parent: Option<extern "C" fn()>,
            in_child: Option<extern "C" fn()>,
        ) -> i32;
    }
    // SAFETY: declared as POSIX does; `function` may be called at any time. A failure is a lack of memory.
    unsafe { pthread_atfork(None, None, Some(function)) };
}
