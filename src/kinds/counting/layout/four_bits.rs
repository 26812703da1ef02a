//! Counters of four bits, which is the default, anywhere in an array. No such counter lies in two words.

#[cfg(target_arch = "x86_64")]
use super::avx512::Eights;
use crate::batch::ring::Batch;
use crate::blocks::ScatteredBits;
#[cfg(target_arch = "x86_64")]
use crate::kinds::bloom;
use crate::simd::Instructions;
#[cfg(target_arch = "x86_64")]
use crate::simd::Kernel;
use core::sync::atomic::{AtomicU64, Ordering};

/// The bits of a counter.
pub const WIDTH: u32 = 4;

/// The greatest value of a counter, which stays.
const GREATEST: u64 = 15;

/// How many counters a word has.
const IN_WORD: u64 = 64 / WIDTH as u64;

/// The most counters of a key that are copied before the first of them changes.
const AT_ONCE: usize = 16;

/// Where the counters of a key are.
#[derive(Clone, Copy, Debug)]
pub struct FourBits {
    range: u64,
    hashes: u32,
    #[cfg(target_arch = "x86_64")]
    eights: Option<Eights>,
}

impl FourBits {
    /// So many counters, of which a key has `hashes`. `None` if counters have other than four bits, or if a key has too
    /// many.
    pub fn new(count: u64, width: u32, hashes: u32) -> Option<FourBits> {
        (width == WIDTH && hashes as usize <= AT_ONCE).then_some(FourBits {
            range: count,
            hashes,
            #[cfg(target_arch = "x86_64")]
            eights: None,
        })
    }

    /// These counters, with the inner loops that the processor has.
    pub fn with(self, instructions: Instructions) -> FourBits {
        #[cfg(target_arch = "x86_64")]
        if cfg!(feature = "avx512") && instructions.kernel() == Kernel::Avx512 {
            return FourBits { eights: Eights::new(self.range, self.hashes), ..self };
        }
        let _ = instructions;
        self
    }

    #[inline(always)]
    fn bits(&self) -> ScatteredBits {
        ScatteredBits { range: self.range, stride: 0, hashes: self.hashes }
    }

    /// Whether all counters of a hash are above 0.
    #[inline(always)]
    pub fn contains(&self, words: &[AtomicU64], hash: u64) -> bool {
        #[cfg(target_arch = "x86_64")]
        if let Some(eights) = &self.eights {
            return eights.contains(words, hash);
        }
        self.contains_by_one(words, hash)
    }

    #[inline(never)]
    fn contains_by_one(&self, words: &[AtomicU64], hash: u64) -> bool {
        let counter = |place: u64| words[(place / IN_WORD) as usize].load(Ordering::Relaxed) >> shift(place) & GREATEST;
        self.bits().all(hash, |place| counter(place) != 0)
    }

    /// Answers whether all counters of each key of a batch are above 0, if the processor has a loop for that. Returns
    /// whether there is one.
    #[inline]
    pub fn contains_many(&self, words: &[AtomicU64], batch: &mut dyn Batch) -> bool {
        #[cfg(target_arch = "x86_64")]
        if self.eights.is_some() {
            bloom::layout::avx512::contains_many::<WIDTH>(&self.bits(), words, batch);
            return true;
        }
        let _ = (words, batch);
        false
    }

    /// The least of the counters of a hash.
    #[inline(always)]
    pub fn least(&self, words: &[AtomicU64], hash: u64) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if let Some(eights) = &self.eights {
            return eights.least(words, hash);
        }
        let counter = |place: u64| words[(place / IN_WORD) as usize].load(Ordering::Relaxed) >> shift(place) & GREATEST;
        self.bits().fold(hash, GREATEST, |least, place| least.min(counter(place)), |least| least > 0)
    }

    /// Adds one to each counter of a hash that is below its greatest value. Returns whether a counter was 0.
    #[inline(always)]
    pub fn add(&self, words: &mut [u64], hash: u64) -> bool {
        #[cfg(target_arch = "x86_64")]
        if let Some(done) = self.eights.as_ref().and_then(|eights| eights.add(words, hash)) {
            return done;
        }
        self.add_by_one(words, hash)
    }

    #[inline(never)]
    fn add_by_one(&self, words: &mut [u64], hash: u64) -> bool {
        // All counters are read before the first is written, so a counter that two positions share gets one value
        // twice.
        let mut after = [(0, 0); AT_ONCE];
        let (mut count, mut new) = (0, false);
        self.bits().each(hash, |place| {
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

    /// Adds the keys of a batch, if the processor has a loop for that. Returns whether there is one.
    #[inline]
    pub fn add_many(&self, words: &mut [u64], batch: &mut dyn Batch) -> bool {
        #[cfg(target_arch = "x86_64")]
        if let Some(eights) = &self.eights {
            eights.add_many(words, batch, |words, hash| self.add_by_one(words, hash));
            return true;
        }
        let _ = (words, batch);
        false
    }

    /// Subtracts the keys of a batch, if the processor has a loop for that. Returns how many keys could be subtracted.
    #[inline]
    pub fn subtract_many(&self, words: &mut [u64], batch: &mut dyn Batch) -> Option<u64> {
        #[cfg(target_arch = "x86_64")]
        if let Some(eights) = &self.eights {
            return Some(eights.subtract_many(words, batch, |words, hash| self.subtract_by_one(words, hash)));
        }
        let _ = (words, batch);
        None
    }

    /// Takes one from each counter of a hash that is below its greatest value. Returns false, with nothing changed, if
    /// a counter is 0.
    #[inline(always)]
    pub fn subtract(&self, words: &mut [u64], hash: u64) -> bool {
        #[cfg(target_arch = "x86_64")]
        if let Some(done) = self.eights.as_ref().and_then(|eights| eights.subtract(words, hash)) {
            return done;
        }
        self.subtract_by_one(words, hash)
    }

    #[inline(never)]
    fn subtract_by_one(&self, words: &mut [u64], hash: u64) -> bool {
        let mut after = [(0, 0); AT_ONCE];
        let (mut count, mut there) = (0, true);
        self.bits().each(hash, |place| {
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
