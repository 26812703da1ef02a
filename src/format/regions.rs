//! The payload in regions, and the table of their checksums that follows it.
//!
//! A writer in place makes a region's entry 0 before it first changes the region, so the cost of sealing depends on
//! what was changed and not on the size of the image. A region that nobody changed keeps its checksum for as long as
//! the image lives.

use crate::error::{Error, Result, error};
use crate::hash::Checksum;
use crate::storage::{self, Words};
use core::sync::atomic::{AtomicU64, Ordering};

/// How many bytes a region has. The last region of a payload may be shorter.
pub const REGION_BYTES: usize = 1 << 16;

/// How many 64-bit words a region has.
pub const REGION_WORDS: usize = REGION_BYTES / 8;

/// The table fills whole cache lines.
const UNIT: u64 = 64;

/// How many regions a payload has.
pub fn region_count(payload_bytes: u64) -> u64 {
    payload_bytes.div_ceil(REGION_BYTES as u64)
}

/// The length of the table: an entry for each region, zeros, and its own checksum in the last eight bytes.
pub fn table_bytes(payload_bytes: u64) -> u64 {
    (8 * region_count(payload_bytes) + 8).next_multiple_of(UNIT)
}

/// The entry of a region with these bytes, which is never 0.
pub fn entry_of(bytes: &[u8]) -> u64 {
    Checksum::of(bytes).max(1)
}

/// The checksum of a region of words that others may be changing.
pub fn entry_of_words(words: &[AtomicU64]) -> u64 {
    #[cfg(test)]
    tests::READ.with(|read| read.set(read.get() + 8 * words.len()));
    let mut checksum = Checksum::default();
    let update = |bytes: &[u8]| {
        checksum.update(bytes);
        Ok(())
    };
    match storage::for_each_chunk(words, update) {
        Ok(()) => checksum.finish().max(1),
        // This does not happen. 0 is the entry of no region.
        Err(_) => 0,
    }
}

/// The error that names the bytes of the image which differ from their checksum.
pub fn differs(region: usize, words: usize, header_bytes: usize) -> Error {
    let from = header_bytes + region * REGION_BYTES;
    let to = from + 8 * words - 1;
    error!(Corrupt, "bytes {from} to {to} of the image do not match their checksum")
}

/// A table, wherever it lies.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    words: &'a [AtomicU64],
    regions: usize,
}

impl<'a> Table<'a> {
    /// The table of a payload of `payload_bytes` bytes; `words` must have the length of [`table_bytes`].
    pub fn new(words: &'a [AtomicU64], payload_bytes: u64) -> Table<'a> {
        Table { words, regions: region_count(payload_bytes) as usize }
    }

    /// The entries, one for each region: 0 if the region was touched since somebody marked it clean.
    pub fn entries(&self) -> &'a [AtomicU64] {
        &self.words[..self.regions]
    }

    /// The table's own checksum, as it is stored.
    pub fn own_checksum(&self) -> u64 {
        self.words.last().map_or(0, |last| last.load(Ordering::Acquire))
    }

    /// Makes every entry and the padding 0, whatever they were.
    pub fn clear(&self) {
        let own = self.words.len() - 1;
        self.words[..own].iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }

    /// Gives the table its own checksum, which is bound to the header with `header_checksum`.
    pub fn seal(&self, header_checksum: u64) {
        if let Some(last) = self.words.last() {
            last.store(self.checksum(header_checksum), Ordering::Release);
        }
    }

    /// Whether the table matches its checksum, and has a checksum for every region.
    pub fn is_sealed(&self, header_checksum: u64) -> bool {
        let load = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let Some((last, before)) = self.words.split_last() else { return false };
        let (entries, padding) = before.split_at(self.regions);
        load(last) == self.checksum(header_checksum)
            && entries.iter().all(|entry| load(entry) != 0)
            && padding.iter().all(|word| load(word) == 0)
    }

    fn checksum(&self, header_checksum: u64) -> u64 {
        let mut checksum = Checksum::default();
        checksum.update(&header_checksum.to_le_bytes());
        // The sink does not fail, so there is no error to handle.
        let _ = storage::for_each_chunk(&self.words[..self.words.len() - 1], |bytes| {
            checksum.update(bytes);
            Ok(())
        });
        checksum.finish()
    }

    /// Checks every region of a clean image against its entry.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn check(&self, payload: &Words, header_checksum: u64, header_bytes: usize) -> Result<()> {
        if !self.is_sealed(header_checksum) {
            return Err(error!(Corrupt, "the table of the payload's checksums does not match its own"));
        }
        let regions = payload.shared().chunks(REGION_WORDS).zip(self.entries()).enumerate();
        for (i, (words, entry)) in regions {
            if entry_of_words(words) != entry.load(Ordering::Relaxed) {
                return Err(differs(i, words.len(), header_bytes));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    std::thread_local! {
        /// How many bytes this thread read for checksums.
        pub static READ: core::cell::Cell<usize> = const { core::cell::Cell::new(0) };
    }

    #[test]
    fn tables_have_room_for_their_checksum() {
        let region = REGION_BYTES as u64;
        for (payload, regions, bytes) in
            [(64, 1, 64), (region, 1, 64), (region + 64, 2, 64), (7 * region, 7, 64), (7 * region + 64, 8, 128)]
        {
            assert_eq!((region_count(payload), table_bytes(payload)), (regions, bytes));
        }
    }

    #[test]
    fn an_entry_does_not_depend_on_where_the_bytes_lie() {
        let words: Vec<AtomicU64> = (0..3000).map(|i| AtomicU64::new(crate::bits::mix(i))).collect();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
        assert_eq!(entry_of(&bytes), entry_of_words(&words));
    }
}
