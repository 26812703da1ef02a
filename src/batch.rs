//! Many keys at once: the one place where keys of three forms become hashes and answers take three forms.
//!
//! Hashing runs ahead of the filter by one prefetch ring: each call to a filter also shows it the hashes of the keys
//! that come next, whose lines it may fetch (see [`crate::bits::ring`]). So the ring does not run empty between calls.

use crate::base::Base;
use crate::bits::ring::AHEAD;
use crate::error::{Result, error};
use crate::hash::Hasher;
use crate::simd::Kernels;

/// How many keys a filter answers at once: enough to hide the calls, few enough for any stack.
const CHUNK: usize = 512;

const _: () = assert!(CHUNK / 8 < 256, "answers are summed in bytes");

/// An array at the start of a cache line, so that vectors of it do not lie across two.
#[repr(align(64))]
struct Lines<Array>(Array);

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

impl Keys<'_> {
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

    /// Gives the hashes to `take`, a chunk at a time, until it says false: the position of the chunk's first key, how
    /// many keys are in the chunk, and their hashes, followed by those of up to [`AHEAD`] keys of the next. Comes first
    /// with a chunk of no keys, which shows only what is next; not at all where there are no keys. [`Keys::check`] has
    /// been asked.
    pub(crate) fn for_each_chunk(
        &self,
        hasher: &Hasher,
        kernels: &Kernels,
        mut take: impl FnMut(usize, usize, &[u64]) -> bool,
    ) {
        let length = self.len();
        if length == 0 {
            return;
        }
        if let Keys::Hashes(hashes) = self {
            let mut go_on = take(0, 0, &hashes[..length.min(AHEAD)]);
            for start in (0..length).step_by(CHUNK) {
                let count = CHUNK.min(length - start);
                let end = length.min(start + count + AHEAD);
                go_on = go_on && take(start, count, &hashes[start..end]);
            }
            return;
        }
        // Small batches, such as come from a program that collects a few keys, need not clear a large buffer.
        if length <= AHEAD {
            self.hash_chunks(hasher, kernels, &mut Lines([0; AHEAD]).0, &mut take);
        } else {
            self.hash_chunks(hasher, kernels, &mut Lines([0; CHUNK + AHEAD]).0, &mut take);
        }
    }

    fn hash_chunks(
        &self,
        hasher: &Hasher,
        kernels: &Kernels,
        buffer: &mut [u64],
        take: &mut impl FnMut(usize, usize, &[u64]) -> bool,
    ) {
        let length = self.len();
        // `buffer[..hashed - start]` are the hashes of the keys from `start` on.
        let (mut start, mut hashed) = (0, length.min(AHEAD));
        self.hash_range(0, hasher, kernels, &mut buffer[..hashed]);
        let mut go_on = take(0, 0, &buffer[..hashed]);
        while go_on && start < length {
            let end = length.min(start + buffer.len());
            self.hash_range(hashed, hasher, kernels, &mut buffer[hashed - start..end - start]);
            let count = CHUNK.min(length - start);
            go_on = take(start, count, &buffer[..end - start]);
            buffer.copy_within(count..end - start, 0);
            (start, hashed) = (start + count, end);
        }
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

    /// Takes the answers of the keys from `start`, a multiple of 8, on; at most [`CHUNK`].
    fn take(&mut self, start: usize, answers: &[bool]) {
        // Bytes of ones and zeros, summed eight at once: a chunk is short enough that none overflows.
        let (words, rest) = answers.as_chunks::<8>();
        let sums = words.iter().fold(0, |sums, word| sums + u64::from_le_bytes(word.map(u8::from)));
        self.count += sums
            .to_le_bytes()
            .into_iter()
            .chain(rest.iter().map(|answer| u8::from(*answer)))
            .map(u64::from)
            .sum::<u64>();
        if let Some(bytes) = &mut self.bytes {
            for (byte, answer) in bytes[start..].iter_mut().zip(answers) {
                *byte = (*answer).into();
            }
        }
        if let Some(bitmap) = &mut self.bitmap {
            for (byte, answers) in bitmap[start / 8..].iter_mut().zip(answers.chunks(8)) {
                *byte = answers.iter().rev().fold(0, |byte, answer| byte << 1 | u8::from(*answer));
            }
        }
    }
}

/// Looks keys up. On an error every answer is true.
pub(crate) fn contains(
    base: &Base,
    keys: &Keys,
    answers: &mut Answers,
    look_up: &mut dyn FnMut(&[u64], &mut [bool]),
) -> Result<()> {
    if let Err(error) = answers.check(keys.len()).and_then(|()| keys.check(base.hasher())) {
        answers.fill(true, keys.len());
        return Err(error);
    }
    answers.count = 0;
    keys.for_each_chunk(base.hasher(), base.kernels(), |start, count, hashes| {
        let found = &mut Lines([false; CHUNK]).0[..count];
        look_up(hashes, found);
        answers.take(start, found);
        true
    });
    Ok(())
}

/// Inserts keys. Returns how many were inserted, the first so many, and the error that stopped it there. Only these
/// have answers.
pub(crate) fn insert(
    hasher: &Hasher,
    kernels: &Kernels,
    keys: &Keys,
    answers: &mut Answers,
    mut insert: impl FnMut(&[u64], &mut [bool]) -> (usize, Result<()>),
) -> (usize, Result<()>) {
    if let Err(error) = answers.check(keys.len()).and_then(|()| keys.check(hasher)) {
        return (0, Err(error));
    }
    answers.count = 0;
    let (mut inserted, mut outcome) = (0, Ok(()));
    keys.for_each_chunk(hasher, kernels, |start, count, hashes| {
        let new = &mut Lines([false; CHUNK]).0[..count];
        let (done, result) = insert(hashes, new);
        answers.take(start, &new[..done]);
        inserted += done;
        outcome = result;
        outcome.is_ok()
    });
    (inserted, outcome)
}
