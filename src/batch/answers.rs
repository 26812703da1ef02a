//! Answers out: where a batch function puts its answers, in the forms that its caller wants.

use crate::batch::ring::{Few, GROUP};
use crate::bits::BYTES_OF_BITS;
use crate::error::{Result, error};

/// Where the answers of a batch go: any of the forms that the function gives, also together. Lookups, insertions and
/// removals give a yes or no for each key, as bytes and as a bitmap; only counting gives `counts`, and only maps give
/// `values`.
#[derive(Debug, Default)]
pub struct Answers<'a> {
    /// A byte a key, 0 or 1; as long as there are keys.
    pub bytes: Option<&'a mut [u8]>,
    /// A bit a key, the lowest bit of the first byte first; bits after the last key become 0. One bit for each key,
    /// rounded up to bytes.
    pub bitmap: Option<&'a mut [u8]>,
    /// How often each key was inserted; as long as there are keys.
    pub counts: Option<&'a mut [u64]>,
    /// The value of each key; as long as there are keys.
    pub values: Option<&'a mut [u64]>,
    /// How many answers were true. Every batch writes it.
    pub true_count: u64,
    /// How many keys, counted from the first, were taken before an error; all of them if there was none. Only these
    /// have answers, except that a lookup that fails answers true for every key.
    pub done: usize,
}

impl Answers<'_> {
    /// Writes the answers of a few keys, which `ask` gives (bit i is that of the i-th key), but leaves the counts
    /// alone. Returns the answers, with zeros after the last one; `None`, without a call of `ask`, if the buffers do
    /// not fit these keys or more than a yes or no is wanted.
    #[inline(always)]
    pub fn of_few(&mut self, few: &Few, ask: impl FnOnce() -> Option<u64>) -> Option<u64> {
        let keys = few.keys.len();
        if self.bytes.as_ref().is_some_and(|bytes| bytes.len() != keys)
            || self.bitmap.as_ref().is_some_and(|bitmap| bitmap.len() != keys.div_ceil(8))
            || self.counts.is_some()
            || self.values.is_some()
        {
            return None;
        }
        let answers = first(ask()?, keys);
        self.write(0, answers, keys);
        Some(answers)
    }

    /// Checks that the buffers have room for `keys` keys, and that no more than a yes or no of each is wanted.
    pub(crate) fn check(&self, keys: usize) -> Result<()> {
        if self.counts.is_some() {
            return Err(error!(Unsupported, "counts is wanted, but the answers here are only yes or no"));
        }
        self.check_yes_or_no(keys)
    }

    /// Checks that the buffers have room for `keys` keys, and that no more than a count and a yes or no of each is
    /// wanted.
    pub(crate) fn check_counts(&self, keys: usize) -> Result<()> {
        if let Some(counts) = &self.counts
            && counts.len() != keys
        {
            return Err(error!(BufferTooSmall, "{keys} keys have room for {} counts", counts.len()));
        }
        self.check_yes_or_no(keys)
    }

    /// Checks that the buffers have room for `keys` keys, and that no more than a value and a yes or no of each is
    /// wanted.
    pub(crate) fn check_values(&self, keys: usize) -> Result<()> {
        if self.counts.is_some() {
            return Err(error!(Unsupported, "counts is wanted, but maps do not count"));
        }
        if let Some(values) = &self.values
            && values.len() != keys
        {
            return Err(error!(BufferTooSmall, "{keys} keys have room for {} values", values.len()));
        }
        self.check_room(keys)
    }

    fn check_yes_or_no(&self, keys: usize) -> Result<()> {
        if self.values.is_some() {
            return Err(error!(Unsupported, "values is wanted, but only maps have values"));
        }
        self.check_room(keys)
    }

    fn check_room(&self, keys: usize) -> Result<()> {
        let bytes = self.bytes.as_ref().map_or(keys, |bytes| bytes.len());
        let bitmap = self.bitmap.as_ref().map_or(keys.div_ceil(8), |bitmap| bitmap.len());
        if bytes == keys && bitmap == keys.div_ceil(8) {
            return Ok(());
        }
        Err(error!(BufferTooSmall, "{keys} keys have {bytes} bytes and {bitmap} bitmap bytes for their answers"))
    }

    /// Makes this the answer for all keys.
    pub fn fill(&mut self, answer: bool, keys: usize) {
        if let Some(bytes) = &mut self.bytes {
            bytes.fill(answer.into());
        }
        if let Some(bitmap) = &mut self.bitmap {
            bitmap.fill(if answer { 0xff } else { 0 });
            if answer
                && !keys.is_multiple_of(8)
                && let Some(last) = bitmap.last_mut()
            {
                *last = (1 << (keys % 8)) - 1;
            }
        }
        self.true_count = if answer { keys as u64 } else { 0 };
    }

    /// Takes the answers of `keys` keys from `start` on, which is a multiple of [`GROUP`]: bit i is that of the i-th.
    pub(crate) fn take(&mut self, start: usize, answers: u64, keys: usize) {
        let answers = first(answers, keys);
        self.true_count += u64::from(answers.count_ones());
        self.write(start, answers, keys);
    }

    /// Writes answers, with zeros after the last one, but does not count them.
    #[inline(always)]
    fn write(&mut self, start: usize, answers: u64, keys: usize) {
        if let Some(bytes) = &mut self.bytes {
            // Eight answers at a time, by a table of bits as bytes.
            let mut rest = answers;
            let (eights, last) = bytes[start..start + keys].as_chunks_mut::<8>();
            for eight in eights {
                *eight = BYTES_OF_BITS[usize::from(rest as u8)].to_le_bytes();
                rest >>= 8;
            }
            for byte in last {
                *byte = rest as u8 & 1;
                rest >>= 1;
            }
        }
        if let Some(bitmap) = &mut self.bitmap {
            let bytes = keys.div_ceil(8);
            bitmap[start / 8..start / 8 + bytes].copy_from_slice(&answers.to_le_bytes()[..bytes]);
        }
    }
}

/// The lowest `bits` bits, at most [`GROUP`].
#[inline]
fn first(answers: u64, bits: usize) -> u64 {
    answers & (u64::MAX >> (GROUP - bits.clamp(1, GROUP)))
}
