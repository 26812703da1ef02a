//! In which process something was made. After a fork the child has a copy of every handle, and must not use the handles
//! to what it shares with its parent.

use super::os;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// The process in which something was made. Comparing costs two loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process(u64);

/// The number of this process, in a page that the system wipes in a child: 0 means none yet.
static NUMBER: AtomicPtr<AtomicU64> = AtomicPtr::new(core::ptr::null_mut());

/// The last number given. A child counts on from its parent's number, so that its own differs from those of all
/// ancestors. A child can only have handles of its ancestors.
static LAST: AtomicU64 = AtomicU64::new(0);

/// Where the number is if the system wipes no pages. Then only those children are noticed that the C library's `fork`
/// made, which calls [`forget`].
static FALLBACK: AtomicU64 = AtomicU64::new(0);

impl Process {
    /// The calling process.
    pub fn current() -> Process {
        let number = number();
        let known = number.load(Ordering::Relaxed);
        if known != 0 {
            return Process(known);
        }
        let fresh = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        // One of several threads is first, and all take its number.
        match number.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Process(fresh),
            Err(first) => Process(first),
        }
    }

    /// Whether this is the current process.
    #[inline]
    pub fn is_current(self) -> bool {
        let number = NUMBER.load(Ordering::Acquire);
        // SAFETY: whoever has a `Process` went through `number`, which put a word there that lives for ever.
        unsafe { (*number).load(Ordering::Relaxed) == self.0 }
    }
}

/// The word with this process's number.
fn number() -> &'static AtomicU64 {
    let mut number = NUMBER.load(Ordering::Acquire);
    if number.is_null() {
        let fresh = os::wiped_in_children().map_or((&raw const FALLBACK).cast_mut(), |page| page.cast().as_ptr());
        number = match NUMBER.compare_exchange(number, fresh, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                // Even with a page: emulators of a system may claim to wipe it and not do so.
                os::call_in_children(forget);
                fresh
            }
            // Another thread was first; at most a page stays unused for ever.
            Err(first) => first,
        };
    }
    // SAFETY: a page that is never given back, or a static, and only used as this atomic.
    unsafe { &*number }
}

/// Makes a child forget its parent's number.
extern "C" fn forget() {
    number().store(0, Ordering::Relaxed);
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// What `check` says in a child that `fork` makes. It must not allocate: other threads of the parent may have held
    /// the allocator's locks.
    fn in_child(fork: impl Fn() -> libc::c_long, check: impl Fn() -> bool) -> bool {
        let child = fork() as libc::pid_t;
        if child == 0 {
            // SAFETY: ends the child and does nothing else.
            unsafe { libc::_exit(i32::from(!check())) };
        }
        let mut status = 1;
        // SAFETY: a child of this process, and a number to write to.
        child > 0 && unsafe { libc::waitpid(child, &mut status, 0) } == child && status == 0
    }

    fn fork() -> libc::c_long {
        // SAFETY: the children here need no other thread and no lock.
        libc::c_long::from(unsafe { libc::fork() })
    }

    /// Nothing that a child has was made by the child itself, and what it makes belongs to none of its ancestors.
    #[test]
    fn a_child_is_another_process() {
        let parent = Process::current();
        let grandchild = |child: Process| {
            let own = Process::current();
            own.is_current() && own != child && own != parent && !child.is_current() && !parent.is_current()
        };
        let check = || {
            let inherited = parent.is_current();
            let child = Process::current();
            let own = child.is_current() && child != parent && !parent.is_current();
            !inherited && own && in_child(fork, || !child.is_current() && grandchild(child)) && child.is_current()
        };
        assert!(parent.is_current() && Process::current() == parent);
        assert!(in_child(fork, check));
        assert!(parent.is_current());
    }

    /// A child of a system call that the C library does not know of is a child like any other.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_of_a_bare_system_call_is_another_process() {
        // SAFETY: without flags it is what fork is, and the children here need no other thread and no lock.
        let clone = || unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
        let probe = os::wiped_in_children().map(|page| page.cast::<AtomicU64>());
        // SAFETY: a page that is never given back, only used as this atomic.
        let wiped = probe.map(|page| unsafe { page.as_ref() }).is_some_and(|word| {
            word.store(7, Ordering::Relaxed);
            in_child(clone, || word.load(Ordering::Relaxed) == 0)
        });
        if !wiped {
            eprintln!("this system wipes no pages, whatever it says (an emulator?); bare system calls were not tested");
            return;
        }
        let parent = Process::current();
        assert!(in_child(clone, || !parent.is_current()
            && Process::current() != parent
            && Process::current().is_current()));
        assert!(parent.is_current());
    }

    /// Even without a page that is wiped, a child gets another number.
    #[test]
    fn a_child_forgets_the_number() {
        let parent = Process::current();
        assert!(in_child(fork, || {
            number().store(parent.0, Ordering::Relaxed);
            parent.is_current() && in_child(fork, || !parent.is_current())
        }));
        assert!(in_child(fork, || {
            number().store(parent.0, Ordering::Relaxed);
            forget();
            !parent.is_current()
        }));
    }
}
