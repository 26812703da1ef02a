//! Many keys at once: the one place where keys of three forms become hashes and answers take three forms.
//!
//! A kind pulls the hashes it needs from here, a group at a time, and gives its answers back as bits
//! ([`crate::bits::ring::Batch`]).

use crate::base::Base;
use crate::bits::ring::{Batch, Few, GROUP};
use crate::error::{Result, error};
use crate::hash::Hasher;
use crate::simd::Kernels;
use crate::simd::layout::BYTES_OF_BITS;

/// Many keys.
#[derive(Clone, Copy, Debug)]
pub enum Keys<'a> {
    /// Byte strings: key `i` is `bytes[offsets[i]..offsets[i + 1]]`. No offsets are no keys.
    Bytes {
        /// All keys' bytes.
        bytes: &'a [u8],
        /// One more than there are keys, not decreasing, the last at most `bytes.len()`.
        offsets: &'a [u64],
    },
    /// `u64` keys.
    U64(&'a [u64]),
    /// Hashes.
    Hashes(&'a [u64]),
}

impl<'a> Keys<'a> {
    /// How many keys there are.
    pub fn len(&self) -> usize {
        match self {
            Keys::Bytes { offsets, .. } => offsets.len().saturating_sub(1),
            Keys::U64(keys) | Keys::Hashes(keys) => keys.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Checks all that could go wrong later: offsets, and whether keys can be hashed.
    ///
    /// # Errors
    /// [`Status::Offsets`](crate::Status::Offsets), [`Status::ExternalHash`](crate::Status::ExternalHash),
    /// [`Status::KeyMissing`](crate::Status::KeyMissing).
    pub fn check(&self, hasher: &Hasher) -> Result<()> {
        if let Keys::Hashes(_) = self {
            return Ok(());
        }
        if let Some(refusal) = hasher.refusal() {
            return Err(refusal.into());
        }
        let Keys::Bytes { bytes, offsets } = self else { return Ok(()) };
        // A look at all sign bits at once. One that is set may mean a decrease, or an offset of 2^63 and more.
        let signs = offsets.windows(2).fold(0, |all, pair| all | pair[0] | pair[1].wrapping_sub(pair[0]));
        if signs >> 63 != 0
            && let Some(i) = offsets.windows(2).position(|pair| pair[0] > pair[1])
        {
            return Err(error!(
                Offsets,
                "offsets[{}] = {} is less than offsets[{i}] = {}",
                i + 1,
                offsets[i + 1],
                offsets[i]
            ));
        }
        match offsets.last() {
            Some(last) if *last > bytes.len() as u64 => {
                let i = offsets.len() - 1;
                Err(error!(Offsets, "offsets[{i}] = {last} is past the end of the {} bytes of keys", bytes.len()))
            }
            _ => Ok(()),
        }
    }

    /// These keys as few, if they are: not none, at most [`GROUP`], and numbers that this hasher has hashed with XXH3, or
    /// hashes.
    #[inline]
    pub fn few(&self, hasher: &Hasher) -> Option<Few<'a>> {
        let (keys, flip) = match *self {
            Keys::U64(keys) => (keys, Some(hasher.flip()?)),
            Keys::Hashes(keys) => (keys, None),
            Keys::Bytes { .. } => return None,
        };
        (1..=GROUP).contains(&keys.len()).then_some(Few { keys, flip })
    }

    /// The hashes of the keys from `start` on, as many as there is room for.
    fn hash_range(&self, start: usize, hasher: &Hasher, kernels: &Kernels, hashes: &mut [u64]) {
        match self {
            Keys::U64(keys) => hasher.hash_u64s(kernels, &keys[start..start + hashes.len()], hashes),
            Keys::Hashes(given) => hashes.copy_from_slice(&given[start..start + hashes.len()]),
            Keys::Bytes { bytes, offsets } => {
                // Hashing was checked to succeed; a failure would only cost an answer, not invent an absence.
                hasher.hash_strings(bytes, &offsets[start..=start + hashes.len()], hashes);
            }
        }
    }
}

/// Where the answers of a batch go: any of three forms at once.
#[derive(Debug, Default)]
pub struct Answers<'a> {
    /// A byte a key, 0 or 1; as long as there are keys.
    pub bytes: Option<&'a mut [u8]>,
    /// A bit a key, the lowest bit of the first byte first; bits after the last key become 0. One bit for each key,
    /// rounded up to bytes.
    pub bitmap: Option<&'a mut [u8]>,
    /// How many answers were true.
    pub count: u64,
}

impl Answers<'_> {
    /// Writes the answers of few keys that `ask` gives, bit i being that of the i-th, but for their count. Returns them,
    /// with zeros after the last; `None`, having asked nobody, if this has not the room of so many keys.
    #[inline(always)]
    pub fn of_few(&mut self, few: &Few, ask: impl FnOnce() -> Option<u64>) -> Option<u64> {
        let keys = few.keys.len();
        if self.bytes.as_ref().is_some_and(|bytes| bytes.len() != keys)
            || self.bitmap.as_ref().is_some_and(|bitmap| bitmap.len() != keys.div_ceil(8))
        {
            return None;
        }
        let answers = first(ask()?, keys);
        self.write(0, answers, keys);
        Some(answers)
    }

    fn check(&self, keys: usize) -> Result<()> {
        let bytes = self.bytes.as_ref().map_or(keys, |bytes| bytes.len());
        let bitmap = self.bitmap.as_ref().map_or(keys.div_ceil(8), |bitmap| bitmap.len());
        if bytes == keys && bitmap == keys.div_ceil(8) {
            return Ok(());
        }
        Err(error!(BufferTooSmall, "{keys} keys have {bytes} bytes and {bitmap} bitmap bytes for their answers"))
    }

    /// All answers are this one.
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
        self.count = if answer { keys as u64 } else { 0 };
    }

    /// Takes the answers of so many keys from `start`, a multiple of [`GROUP`], on: bit i is that of the i-th.
    fn take(&mut self, start: usize, answers: u64, keys: usize) {
        let answers = first(answers, keys);
        self.count += u64::from(answers.count_ones());
        self.write(start, answers, keys);
    }

    /// Takes answers with zeros after the last, but leaves the count alone.
    #[inline(always)]
    fn write(&mut self, start: usize, answers: u64, keys: usize) {
        if let Some(bytes) = &mut self.bytes {
            // Eight answers at a time: a table has bits as bytes.
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

/// The first so many bits, at most [`GROUP`].
#[inline]
fn first(answers: u64, bits: usize) -> u64 {
    answers & (u64::MAX >> (GROUP - bits.clamp(1, GROUP)))
}

/// The keys of a call on their way into a filter, and the answers on their way out.
struct Call<'a, 'b> {
    keys: &'a Keys<'a>,
    hasher: &'a Hasher,
    kernels: &'a Kernels,
    /// How many keys were hashed, and how many have answers.
    hashed: usize,
    answered: usize,
    answers: Option<&'a mut Answers<'b>>,
}

impl Batch for Call<'_, '_> {
    fn keys(&self) -> usize {
        self.keys.len()
    }

    fn next(&mut self, hashes: &mut [u64; GROUP]) -> usize {
        let count = GROUP.min(self.keys.len() - self.hashed);
        if count == 0 {
            return 0;
        }
        self.keys.hash_range(self.hashed, self.hasher, self.kernels, &mut hashes[..count]);
        self.hashed += count;
        count
    }

    fn is_asked(&self) -> bool {
        self.answers.is_some()
    }

    fn answer(&mut self, answers: u64, keys: usize) {
        if let Some(to) = &mut self.answers {
            to.take(self.answered, answers, keys);
        }
        self.answered += keys;
    }
}

/// Looks keys up. On an error every answer is true.
pub(crate) fn contains(
    base: &Base,
    keys: &Keys,
    answers: &mut Answers,
    look_up_few: impl FnOnce(&Few) -> Option<u64>,
    look_up: impl FnOnce(&mut dyn Batch),
) -> Result<()> {
    let (hasher, kernels) = (base.hasher(), base.kernels());
    if let Some(few) = keys.few(hasher)
        && let Some(found) = answers.of_few(&few, || look_up_few(&few))
    {
        answers.count = found.count_ones().into();
        return Ok(());
    }
    if let Err(error) = answers.check(keys.len()).and_then(|()| keys.check(hasher)) {
        answers.fill(true, keys.len());
        return Err(error);
    }
    answers.count = 0;
    look_up(&mut Call { keys, hasher, kernels, hashed: 0, answered: 0, answers: Some(answers) });
    Ok(())
}

/// Inserts keys. Returns how many were inserted, the first so many, and the error that stopped it there. Only these
/// have answers.
pub(crate) fn insert(
    hasher: &Hasher,
    kernels: &Kernels,
    keys: &Keys,
    mut answers: Option<&mut Answers>,
    insert: impl FnOnce(&mut dyn Batch) -> (usize, Result<()>),
) -> (usize, Result<()>) {
    let room = answers.as_ref().map_or(Ok(()), |answers| answers.check(keys.len()));
    if let Err(error) = room.and_then(|()| keys.check(hasher)) {
        return (0, Err(error));
    }
    if let Some(answers) = &mut answers {
        answers.count = 0;
    }
    if keys.is_empty() {
        return (0, Ok(()));
    }
    insert(&mut Call { keys, hasher, kernels, hashed: 0, answered: 0, answers })
}
