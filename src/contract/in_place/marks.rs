//! The regions of an image in place that a handle may change. Each of them was checked against its checksum first.

use crate::contract::Base;
use crate::error::Result;
use crate::format::{self, HEADER_LENGTH, REGION_WORDS};
use crate::storage::try_vec;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering, fence};

/// A bit for each region: whether the handle has marked it.
#[derive(Default)]
pub(crate) struct Marks {
    bits: Vec<AtomicU64>,
    regions: usize,
}

impl Marks {
    pub(super) fn new(regions: usize) -> Result<Marks> {
        let mut bits: Vec<AtomicU64> = try_vec(regions.div_ceil(64))?;
        bits.resize_with(regions.div_ceil(64), AtomicU64::default);
        Ok(Marks { bits, regions })
    }

    /// Whether the region may be changed. Memory outside of an image in place needs no marks.
    #[inline]
    fn has(&self, region: usize) -> bool {
        self.bits.get(region / 64).is_none_or(|bits| bits.load(Ordering::Acquire) >> (region % 64) & 1 == 1)
    }

    fn add(&self, region: usize) {
        if let Some(bits) = self.bits.get(region / 64) {
            bits.fetch_or(1 << (region % 64), Ordering::Release);
        }
    }

    pub(super) fn clear(&self) {
        self.bits.iter().for_each(|bits| bits.store(0, Ordering::Relaxed));
    }

    pub(super) fn any(&self) -> bool {
        self.bits.iter().any(|bits| bits.load(Ordering::Relaxed) != 0)
    }

    fn first_missing(&self) -> Option<usize> {
        let missing = |(i, bits): (usize, &AtomicU64)| {
            let ones = bits.load(Ordering::Acquire).trailing_ones();
            (ones < 64).then(|| 64 * i + ones as usize)
        };
        self.bits.iter().enumerate().find_map(missing).filter(|region| *region < self.regions)
    }
}

impl Base {
    /// `word`, if it lies in a region that is not marked.
    #[inline]
    pub(crate) fn unmarked(&self, word: usize) -> Option<usize> {
        if self.marks.has(word / REGION_WORDS) { None } else { Some(word) }
    }

    /// The first of these words that lies in a region that is not marked, if there is one.
    pub(crate) fn unmarked_in(&self, words: &Range<usize>) -> Option<usize> {
        let firsts = (words.start / REGION_WORDS..words.end.div_ceil(REGION_WORDS)).map(|region| region * REGION_WORDS);
        firsts.map(|first| first.max(words.start)).find_map(|word| self.unmarked(word))
    }

    /// The first word in a region that is not marked, if there is one.
    pub(crate) fn first_unmarked(&self) -> Option<usize> {
        Some(self.marks.first_missing()? * REGION_WORDS)
    }

    /// Marks the region that a word lies in, so that it may be changed.
    ///
    /// Several processes may share the image. A process that makes an entry 0, or finds it 0, has a release fence
    /// between that and the first bit that it sets. A process that compares a region reads its bits, then passes an
    /// acquire fence, and only then looks at the entry again. If the reader saw one of those bits, the fences make it
    /// see the 0 as well, so an entry that is still not 0 belongs to bytes that no writer changed.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt) if the region does not match its entry. The entry then stays as it
    /// was.
    #[cold]
    pub(crate) fn mark(&self, word: usize) -> Result<()> {
        let Some(place) = self.place() else { return Ok(()) };
        let region = word / REGION_WORDS;
        let entry = &place.table.entries()[region];
        let expected = entry.load(Ordering::Acquire);
        if expected != 0 {
            let words = place.region(region);
            if format::entry_of_words(words) == expected {
                entry.store(0, Ordering::Release);
            } else {
                fence(Ordering::Acquire);
                if entry.load(Ordering::Relaxed) != 0 {
                    return Err(format::differs(region, words.len(), HEADER_LENGTH));
                }
            }
        }
        fence(Ordering::Release);
        self.marks.add(region);
        Ok(())
    }
}
