//! How large the processor's caches are, as far as it says so.

use core::sync::atomic::{AtomicUsize, Ordering};

/// What is assumed where the processor does not say it: 1 MiB, between the 512 KiB of older processors and the 2 MiB
/// of newer ones.
const USUAL: usize = 1 << 20;

/// The bytes of the second-level cache of a core. The processor is asked once; then this is one load.
#[inline]
pub fn second_level() -> usize {
    static BYTES: AtomicUsize = AtomicUsize::new(0);
    match BYTES.load(Ordering::Relaxed) {
        0 => ask(&BYTES),
        bytes => bytes,
    }
}

/// Asks the processor, and keeps its answer. Threads that ask at the same time get the same answer.
#[cold]
fn ask(bytes: &AtomicUsize) -> usize {
    // Machines with less than 64 KiB or more than 64 MiB for a core are emulated, or do not exist yet.
    let said = said().filter(|bytes| (1 << 16..=1 << 26).contains(bytes)).unwrap_or(USUAL);
    bytes.store(said, Ordering::Relaxed);
    said
}

/// What the processor says. A virtual machine asks its host, which takes some microseconds.
#[cfg(target_arch = "x86_64")]
fn said() -> Option<usize> {
    use core::arch::x86_64::__cpuid;
    const FIRST: u32 = 0x8000_0000;
    const CACHES: u32 = FIRST + 6;
    // SAFETY: every x86-64 processor has this instruction. Newer versions of Rust know that.
    #[allow(unused_unsafe)]
    let ask = |leaf| unsafe { __cpuid(leaf) };
    // Intel's and AMD's processors both have the number of KiB in the upper half.
    (ask(FIRST).eax >= CACHES).then(|| (ask(CACHES).ecx >> 16) as usize * 1024)
}

/// Other processors tell only the system.
#[cfg(not(target_arch = "x86_64"))]
fn said() -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_has_a_cache_of_a_usual_size_and_says_the_same_again() {
        let bytes = second_level();
        assert!((1 << 16..=1 << 26).contains(&bytes), "{bytes} bytes");
        assert_eq!(second_level(), bytes);
        assert_eq!(ask(&AtomicUsize::new(0)), bytes);
    }
}
