//! Counters of four bits, the default width, anywhere in an array. No such counter lies in two words.

use super::kernel::{Counters, GREATEST, Kernel};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::batch::ring::Batch;
use crate::blocks::ScatteredBits;
use crate::kinds::bloom;
use crate::simd::Instructions;
use core::sync::atomic::{AtomicU64, Ordering};

/// The bits of a counter.
pub const WIDTH: u32 = 4;

/// How many counters a word has.
const IN_WORD: u64 = 64 / WIDTH as u64;

/// The most counters of a key that are copied before the first of them changes.
const AT_ONCE: usize = 16;

/// The inner loops of an instruction set, if it has some.
fn kernel(instructions: Instructions) -> Option<&'static Kernel> {
    match instructions.kernel() {
        #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
        crate::simd::Kernel::Avx2 => Some(&avx2::KERNEL),
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        crate::simd::Kernel::Avx512 => Some(&avx512::KERNEL),
        _ => None,
    }
}

/// Where the counters of a key are.
#[derive(Clone, Copy, Debug)]
pub struct FourBits {
    counters: Counters,
    /// The inner loops, and those for batches of lookups, if the processor has some for these counters.
    kernel: Option<&'static Kernel>,
    lookups: Option<&'static bloom::layout::Kernel>,
}

impl FourBits {
    /// `count` counters, of which a key has `hashes`. `None` if counters do not have four bits, or if a key has too
    /// many.
    pub fn new(count: u64, width: u32, hashes: u32) -> Option<FourBits> {
        (width == WIDTH && hashes as usize <= AT_ONCE).then_some(FourBits {
            counters: Counters { range: count, hashes },
            kernel: None,
            lookups: None,
        })
    }

    /// These counters, with the processor's inner loops.
    pub fn with(self, instructions: Instructions) -> FourBits {
        if !self.counters.suit() {
            return self;
        }
        FourBits { kernel: kernel(instructions), lookups: bloom::layout::kernel(instructions), ..self }
    }

    #[inline(always)]
    fn bits(&self) -> ScatteredBits {
        bits(self.counters)
    }

    /// Whether all counters of a hash are above 0.
    #[inline(always)]
    pub fn contains(&self, words: &[AtomicU64], hash: u64) -> bool {
        if let Some(kernel) = self.kernel {
            return (kernel.contains)(self.counters, words, hash);
        }
        self.contains_by_one(words, hash)
    }

    #[inline(never)]
    fn contains_by_one(&self, words: &[AtomicU64], hash: u64) -> bool {
        let counter = |place: u64| words[(place / IN_WORD) as usize].load(Ordering::Relaxed) >> shift(place) & GREATEST;
        self.bits().all(hash, |place| counter(place) != 0)
    }

    /// Answers whether all counters of each key of a batch are above 0, if the processor has a loop for that. Returns
    /// whether it has.
    #[inline]
    pub fn contains_many(&self, words: &[AtomicU64], batch: &mut dyn Batch) -> bool {
        if let Some(lookups) = self.lookups {
            (lookups.contains_counters)(&self.bits(), words, batch);
        }
        self.lookups.is_some()
    }

    /// The least of the counters of a hash.
    #[inline(always)]
    pub fn least(&self, words: &[AtomicU64], hash: u64) -> u64 {
        if let Some(kernel) = self.kernel {
            return (kernel.least)(self.counters, words, hash);
        }
        let counter = |place: u64| words[(place / IN_WORD) as usize].load(Ordering::Relaxed) >> shift(place) & GREATEST;
        self.bits().fold(hash, GREATEST, |least, place| least.min(counter(place)), |least| least > 0)
    }

    /// Adds one to each counter of a hash that is below its greatest value. Returns whether a counter was 0.
    #[inline(always)]
    pub fn add(&self, words: &mut [u64], hash: u64) -> bool {
        let at_once = self.kernel.and_then(|kernel| (kernel.add)(self.counters, words, hash));
        at_once.unwrap_or_else(|| add_by_one(self.counters, words, hash))
    }

    /// As [`FourBits::add`], for counters whose lines were fetched. No vector waits for lines then, and plain code has
    /// fewer steps than AVX2.
    #[inline(always)]
    pub fn add_fetched(&self, words: &mut [u64], hash: u64) -> bool {
        add_by_one(self.counters, words, hash)
    }

    /// The inner loops, if they are the fastest for batches that change this many words.
    fn changes(&self, words: usize) -> Option<&'static Kernel> {
        self.kernel.filter(|kernel| words < (kernel.fetch_from)())
    }

    /// Adds the keys of a batch, if the processor has a fast loop for that. Returns whether it has.
    #[inline]
    pub fn add_many(&self, words: &mut [u64], batch: &mut dyn Batch) -> bool {
        let kernel = self.changes(words.len());
        if let Some(kernel) = kernel {
            (kernel.add_many)(self.counters, words, batch, add_by_one);
        }
        kernel.is_some()
    }

    /// Subtracts the keys of a batch, if the processor has a fast loop for that. Returns how many keys could be
    /// subtracted.
    #[inline]
    pub fn subtract_many(&self, words: &mut [u64], batch: &mut dyn Batch) -> Option<u64> {
        let kernel = self.changes(words.len())?;
        Some((kernel.subtract_many)(self.counters, words, batch, subtract_by_one))
    }

    /// Subtracts one from each counter of a hash that is below its greatest value. Returns false, with nothing changed,
    /// if a counter is 0.
    #[inline(always)]
    pub fn subtract(&self, words: &mut [u64], hash: u64) -> bool {
        let at_once = self.kernel.and_then(|kernel| (kernel.subtract)(self.counters, words, hash));
        at_once.unwrap_or_else(|| subtract_by_one(self.counters, words, hash))
    }
}

#[inline(always)]
fn bits(counters: Counters) -> ScatteredBits {
    ScatteredBits { range: counters.range, stride: 0, hashes: counters.hashes }
}

/// [`FourBits::add`] in plain code.
#[inline(never)]
fn add_by_one(counters: Counters, words: &mut [u64], hash: u64) -> bool {
    // All counters are read before the first is written, so a counter that two positions share gets the same value
    // twice.
    let mut after = [(0, 0); AT_ONCE];
    let (mut count, mut new) = (0, false);
    bits(counters).each(hash, |place| {
        let counter = words[(place / IN_WORD) as usize] >> shift(place) & GREATEST;
        new |= counter == 0;
        after[count % AT_ONCE] = (place, counter + u64::from(counter < GREATEST));
        count += 1;
    });
    for (place, counter) in &after[..count.min(AT_ONCE)] {
        set(words, *place, *counter);
    }
    new
}

/// [`FourBits::subtract`] in plain code.
#[inline(never)]
fn subtract_by_one(counters: Counters, words: &mut [u64], hash: u64) -> bool {
    let mut after = [(0, 0); AT_ONCE];
    let (mut count, mut there) = (0, true);
    bits(counters).each(hash, |place| {
        let counter = words[(place / IN_WORD) as usize] >> shift(place) & GREATEST;
        there &= counter != 0;
        after[count % AT_ONCE] = (place, counter.wrapping_sub(u64::from(counter < GREATEST)));
        count += 1;
    });
    if there {
        for (place, counter) in &after[..count.min(AT_ONCE)] {
            set(words, *place, *counter);
        }
    }
    there
}

/// The lowest bit of a counter in its word.
#[inline(always)]
fn shift(place: u64) -> u32 {
    (place % IN_WORD) as u32 * WIDTH
}

/// Puts a value into a counter.
#[inline(always)]
fn set(words: &mut [u64], place: u64, counter: u64) {
    let word = &mut words[(place / IN_WORD) as usize];
    *word = *word & !(GREATEST << shift(place)) | counter << shift(place);
}
