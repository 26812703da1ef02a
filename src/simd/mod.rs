//! The inner loops: hashing of `u64` keys and the block layouts, one file an instruction set, behind one signature.
//!
//! [`portable`] is the specification: every other kernel does the same to the same words, and tests compare them. Which
//! kernels run is decided here, once, outside every loop. Nothing but these files is compiled for more than the
//! baseline of the target.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod fills;
pub mod layout;
#[cfg(target_arch = "aarch64")]
mod neon;
pub mod portable;

use crate::bits::ring::{Batch, Few};
use crate::error::{Result, error};
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use fills::Fills;

/// The inner loops of one block layout. `words` are exactly those of the blocks, without padding, fewer than 2^32
/// blocks where the layout says so; `masks` are the sets of lanes that keys choose from ([`layout::masks`]), none for
/// the layout whose keys have all lanes.
///
/// The keys of a batch are taken in order, so that one that occurs twice is new once, and their lines are fetched ahead
/// where that pays.
///
/// The functions need the instructions of their kernels: only [`available`], [`best`] and [`choose`] give kernels out.
pub struct BlockKernel {
    contains_one: unsafe fn(words: &[AtomicU64], masks: &[u16], key: u64) -> bool,
    insert_one: unsafe fn(words: &mut [u64], masks: &[u16], key: u64) -> bool,
    insert_one_shared: unsafe fn(words: &[AtomicU64], masks: &[u16], key: u64) -> bool,
    contains: unsafe fn(words: &[AtomicU64], masks: &[u16], batch: &mut dyn Batch),
    insert: unsafe fn(words: &mut [u64], masks: &[u16], batch: &mut dyn Batch),
    fills: unsafe fn(words: &[AtomicU64], hashes: u32) -> Fills,
    contains_few: unsafe fn(words: &[AtomicU64], masks: &[u16], few: &Few) -> u64,
    insert_few: unsafe fn(words: &mut [u64], masks: &[u16], few: &Few, is_asked: bool) -> u64,
}

impl BlockKernel {
    /// Whether a key may be there.
    #[inline]
    pub fn contains_one(&self, words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
        // SAFETY: kernels are given out only where the processor has their instructions.
        unsafe { (self.contains_one)(words, masks, key) }
    }

    /// Inserts a key and says whether it certainly was not there.
    #[inline]
    pub fn insert_one(&self, words: &mut [u64], masks: &[u16], key: u64) -> bool {
        // SAFETY: as above.
        unsafe { (self.insert_one)(words, masks, key) }
    }

    /// Inserts a key while others insert too, and says whether it certainly was not there. Words that lack none of its
    /// bits are not written.
    #[inline]
    pub fn insert_one_shared(&self, words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
        // SAFETY: as above.
        unsafe { (self.insert_one_shared)(words, masks, key) }
    }

    /// Whether each key may be there.
    pub fn contains(&self, words: &[AtomicU64], masks: &[u16], batch: &mut dyn Batch) {
        // SAFETY: as above.
        unsafe { (self.contains)(words, masks, batch) }
    }

    /// Inserts each key and, if it is asked, says whether it certainly was not there.
    pub fn insert(&self, words: &mut [u64], masks: &[u16], batch: &mut dyn Batch) {
        // SAFETY: as above.
        unsafe { (self.insert)(words, masks, batch) }
    }

    /// Whether each key may be there: bit i is that of the i-th, and bits after the last mean nothing.
    #[inline]
    pub fn contains_few(&self, words: &[AtomicU64], masks: &[u16], few: &Few) -> u64 {
        // SAFETY: as above.
        unsafe { (self.contains_few)(words, masks, few) }
    }

    /// Inserts each key. Whether each certainly was not there, as [`BlockKernel::contains_few`] says it, if that is asked.
    #[inline]
    pub fn insert_few(&self, words: &mut [u64], masks: &[u16], few: &Few, is_asked: bool) -> u64 {
        // SAFETY: as above.
        unsafe { (self.insert_few)(words, masks, few, is_asked) }
    }

    /// What the bits tell of a lookup by `hashes` lanes. The same from every kernel, to the last bit.
    pub fn fills(&self, words: &[AtomicU64], hashes: u32) -> Fills {
        // SAFETY: as above.
        unsafe { (self.fills)(words, hashes) }
    }
}

/// What a single key needs of a filter whose keys go through a kernel: for a caller who keeps it and calls the kernel
/// without going through the filter each time.
#[derive(Clone, Copy)]
pub struct Probe<'a> {
    /// The inner loops.
    pub kernel: &'static BlockKernel,
    /// The words of the blocks.
    pub words: &'a [AtomicU64],
    /// The sets of lanes that keys choose from.
    pub masks: &'static [u16],
    /// Where inserted keys are counted, if the words are memory of the filter's own. `None` for an image in place, which
    /// has to be marked before it is changed.
    pub offered: Option<&'a AtomicU64>,
}

/// An instruction set that kernels are written for. The numbers are those of the C API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
#[non_exhaustive]
pub enum Kernel {
    /// The best that the processor has.
    #[default]
    Best = 0,
    /// Plain code.
    Portable = 1,
    /// x86-64 with AVX2.
    Avx2 = 2,
    /// x86-64 with AVX-512 F, BW, DQ and VL.
    Avx512 = 3,
    /// aarch64 with NEON.
    Neon = 4,
}

impl Kernel {
    /// All that can be asked for, in the order of their numbers.
    pub const ALL: [Kernel; 5] = [Kernel::Best, Kernel::Portable, Kernel::Avx2, Kernel::Avx512, Kernel::Neon];

    /// The instruction set with this number.
    ///
    /// # Errors
    /// [`Status::UnknownValue`](crate::Status::UnknownValue).
    pub fn from_number(number: u32) -> Result<Kernel> {
        let found = Kernel::ALL.into_iter().find(|kernel| *kernel as u32 == number);
        found.ok_or_else(|| error!(UnknownValue, "kernel = {number} is not a kernel; 0 (best) to 4 (neon) are known"))
    }

    /// Its name: `best`, `portable`, `avx2`, `avx512` or `neon`.
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::Best => "best",
            Kernel::Portable => "portable",
            Kernel::Avx2 => "avx2",
            Kernel::Avx512 => "avx512",
            Kernel::Neon => "neon",
        }
    }
}

/// The kernels for one instruction set.
pub struct Kernels {
    /// Which.
    pub kernel: Kernel,
    hash_u64s: unsafe fn(flip: u64, keys: &[u64], hashes: &mut [u64]),
    /// For the 256-bit blocks of [`crate::filters::SplitBlock`], fewer than 2^32 of them.
    pub split_block: BlockKernel,
    /// For the 512-bit blocks of [`crate::filters::Blocked`].
    pub blocked: BlockKernel,
}

impl Kernels {
    /// The XXH3 hashes of `u64` keys under the seed that `flip` was made from ([`portable::xxh3_flip`]); `hashes` is as
    /// long as `keys`.
    pub fn hash_u64s(&self, flip: u64, keys: &[u64], hashes: &mut [u64]) {
        // SAFETY: kernels are given out only where the processor has their instructions.
        unsafe { (self.hash_u64s)(flip, keys, hashes) }
    }
}

/// The kernels that this processor runs, the best first; the last is always [`portable`].
pub fn available() -> impl Iterator<Item = &'static Kernels> {
    #[cfg(target_arch = "x86_64")]
    let special = [avx512::kernels(), avx2::kernels()];
    #[cfg(target_arch = "aarch64")]
    let special = [neon::kernels()];
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let special: [Option<&'static Kernels>; 0] = [];
    special.into_iter().flatten().chain([&portable::KERNELS])
}

/// The best kernels for this processor.
#[inline]
pub fn best() -> &'static Kernels {
    static BEST: AtomicPtr<Kernels> = AtomicPtr::new(core::ptr::null_mut());
    // SAFETY: null, or a static of this module that was put there below; nobody writes through it.
    match unsafe { BEST.load(Ordering::Relaxed).as_ref() } {
        Some(best) => best,
        None => {
            // Several threads may come here at once; all of them find the same.
            let best = available().next().unwrap_or(&portable::KERNELS);
            BEST.store(core::ptr::from_ref(best).cast_mut(), Ordering::Relaxed);
            best
        }
    }
}

/// The kernels for an instruction set.
///
/// # Errors
/// [`Status::Unsupported`](crate::Status::Unsupported) if the processor does not have it.
pub fn choose(kernel: Kernel) -> Result<&'static Kernels> {
    if kernel == Kernel::Best {
        return Ok(best());
    }
    available()
        .find(|kernels| kernels.kernel == kernel)
        .ok_or_else(|| error!(Unsupported, "kernel = {} is not one that this processor runs", kernel.name()))
}
