//! The records that can be collected: the keys they are sorted by, how records with equal keys combine, and their bytes
//! in a file.

use crate::contract::{Counted, Entry, Placed, Weighted};
use crate::error::{Result, error};
use crate::making::progress::Steps;

/// When this many records have been passed over, the caller learns of it.
pub const STRETCH: usize = 1 << 16;

/// A record of a collection.
pub trait Record: Copy + Default + Send + Sync + 'static {
    /// The key that records are sorted by. Two records with the same key become one.
    type Key: Copy + Ord;

    /// The bytes of a record in a file.
    const BYTES: usize;

    /// Whether records with the same [`Record::prefix`] have the same key.
    const PREFIX_IS_KEY: bool;

    /// The key.
    fn key(&self) -> Self::Key;

    /// The first 64 bits of the key. Keys are in the order of their prefixes.
    fn prefix(&self) -> u64;

    /// Absorbs another record with the same key.
    ///
    /// # Errors
    /// [`Status::Contradiction`](crate::Status::Contradiction) if the two say different things of their key. This
    /// record then stays as it was.
    fn absorb(&mut self, other: &Self) -> Result<()>;

    /// Writes the record into its [`Record::BYTES`] bytes.
    fn put(&self, bytes: &mut [u8]);

    /// The record of these bytes.
    fn get(bytes: &[u8]) -> Self;
}

/// The `i`-th number of the bytes of a record.
#[inline]
fn word(bytes: &[u8], i: usize) -> u64 {
    bytes.as_chunks().0.get(i).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Writes the numbers of a record.
#[inline]
fn put_words<const N: usize>(bytes: &mut [u8], words: [u64; N]) {
    for (to, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *to = word.to_le_bytes();
    }
}

impl Record for u64 {
    type Key = u64;
    const BYTES: usize = 8;
    const PREFIX_IS_KEY: bool = true;

    #[inline]
    fn key(&self) -> u64 {
        *self
    }

    #[inline]
    fn prefix(&self) -> u64 {
        *self
    }

    #[inline]
    fn absorb(&mut self, _: &u64) -> Result<()> {
        Ok(())
    }

    #[inline]
    fn put(&self, bytes: &mut [u8]) {
        put_words(bytes, [*self]);
    }

    #[inline]
    fn get(bytes: &[u8]) -> u64 {
        word(bytes, 0)
    }
}

impl Record for Counted {
    type Key = u64;
    const BYTES: usize = 16;
    const PREFIX_IS_KEY: bool = true;

    #[inline]
    fn key(&self) -> u64 {
        self.hash
    }

    #[inline]
    fn prefix(&self) -> u64 {
        self.hash
    }

    #[inline]
    fn absorb(&mut self, other: &Counted) -> Result<()> {
        self.count = self.count.saturating_add(other.count);
        Ok(())
    }

    #[inline]
    fn put(&self, bytes: &mut [u8]) {
        put_words(bytes, [self.hash, self.count]);
    }

    #[inline]
    fn get(bytes: &[u8]) -> Counted {
        Counted { hash: word(bytes, 0), count: word(bytes, 1) }
    }
}

impl Record for Weighted {
    type Key = u64;
    const BYTES: usize = 24;
    const PREFIX_IS_KEY: bool = true;

    #[inline]
    fn key(&self) -> u64 {
        self.hash
    }

    #[inline]
    fn prefix(&self) -> u64 {
        self.hash
    }

    #[inline]
    fn absorb(&mut self, other: &Weighted) -> Result<()> {
        *self = Weighted::of_units(self.hash, self.units().saturating_add(other.units()));
        Ok(())
    }

    #[inline]
    fn put(&self, bytes: &mut [u8]) {
        put_words(bytes, [self.hash, self.units() as u64, (self.units() >> 64) as u64]);
    }

    #[inline]
    fn get(bytes: &[u8]) -> Weighted {
        Weighted::of_units(word(bytes, 0), u128::from(word(bytes, 2)) << 64 | u128::from(word(bytes, 1)))
    }
}

impl Record for Placed {
    type Key = (u64, u32);
    const BYTES: usize = 12;
    const PREFIX_IS_KEY: bool = false;

    #[inline]
    fn key(&self) -> (u64, u32) {
        (self.record, self.partition)
    }

    #[inline]
    fn prefix(&self) -> u64 {
        self.record
    }

    #[inline]
    fn absorb(&mut self, _: &Placed) -> Result<()> {
        Ok(())
    }

    #[inline]
    fn put(&self, bytes: &mut [u8]) {
        if let Some((record, partition)) = bytes.split_first_chunk_mut()
            && let Some(partition) = partition.first_chunk_mut()
        {
            (*record, *partition) = (self.record.to_le_bytes(), self.partition.to_le_bytes());
        }
    }

    #[inline]
    fn get(bytes: &[u8]) -> Placed {
        let partition = bytes.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        Placed { record: word(bytes, 0), partition }
    }
}

impl Record for Entry {
    type Key = u128;
    const BYTES: usize = 24;
    const PREFIX_IS_KEY: bool = false;

    #[inline]
    fn key(&self) -> u128 {
        self.id
    }

    #[inline]
    fn prefix(&self) -> u64 {
        (self.id >> 64) as u64
    }

    #[inline]
    fn absorb(&mut self, other: &Entry) -> Result<()> {
        let (id, value, another) = (self.id, self.value, other.value);
        if value == another {
            return Ok(());
        }
        Err(error!(
            Contradiction,
            "one key was given two values, {} and {}; its identity is {id:#034x}",
            value.min(another),
            value.max(another)
        ))
    }

    #[inline]
    fn put(&self, bytes: &mut [u8]) {
        put_words(bytes, [self.id as u64, (self.id >> 64) as u64, self.value]);
    }

    #[inline]
    fn get(bytes: &[u8]) -> Entry {
        Entry { id: u128::from(word(bytes, 1)) << 64 | u128::from(word(bytes, 0)), value: word(bytes, 2) }
    }
}

/// An entry of a key that may have several values. Each value is kept once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Several(pub Entry);

impl Record for Several {
    type Key = (u128, u64);
    const BYTES: usize = Entry::BYTES;
    const PREFIX_IS_KEY: bool = false;

    #[inline]
    fn key(&self) -> (u128, u64) {
        (self.0.id, self.0.value)
    }

    #[inline]
    fn prefix(&self) -> u64 {
        self.0.prefix()
    }

    #[inline]
    fn absorb(&mut self, _: &Several) -> Result<()> {
        Ok(())
    }

    #[inline]
    fn put(&self, bytes: &mut [u8]) {
        self.0.put(bytes);
    }

    #[inline]
    fn get(bytes: &[u8]) -> Several {
        Several(Entry::get(bytes))
    }
}

/// Makes one record of all records with the same key, which stand side by side. `steps` learns of the work.
///
/// # Errors
/// The error of the first two records that contradict each other, both of which are kept.
/// [`Status::Cancelled`](crate::Status::Cancelled), with no record lost.
pub fn combine<R: Record>(records: &mut Vec<R>, steps: &mut Steps) -> Result<()> {
    let (mut last, mut outcome) = (0, Ok(()));
    for start in (1..records.len()).step_by(STRETCH) {
        let end = records.len().min(start + STRETCH);
        for i in start..end {
            let record = records[i];
            if record.key() == records[last].key() {
                match records[last].absorb(&record) {
                    Ok(()) => continue,
                    contradiction => outcome = outcome.and(contradiction),
                }
            }
            last += 1;
            records[last] = record;
        }
        if let Err(cancelled) = steps.stay((end - start) as u64) {
            // The records in between were merged into earlier ones.
            records.drain(last + 1..end);
            return Err(cancelled);
        }
    }
    records.truncate(last + 1);
    outcome
}
