//! Many keys in: byte strings, numbers or hashes, as one value that every batch function takes.

use crate::batch::ring::{Few, GROUP};
use crate::error::{Error, Result, error};
use crate::hash::{HashFunction, Hasher, widen};
use crate::simd::{self, Instructions};
use core::fmt::Display;
use core::ops::Range;

/// Many keys.
#[derive(Clone, Copy, Debug)]
pub enum Keys<'a> {
    /// Byte strings: key `i` is `bytes[offsets[i]..offsets[i + 1]]`. No offsets mean no keys.
    Bytes {
        /// All keys' bytes.
        bytes: &'a [u8],
        /// The offsets: one more than there are keys, not decreasing, the last at most `bytes.len()`.
        offsets: &'a [u64],
    },
    /// Byte strings with offsets of 32 bits, as Arrow's Binary and Utf8 arrays have them.
    Bytes32 {
        /// All keys' bytes.
        bytes: &'a [u8],
        /// The offsets, as those of [`Keys::Bytes`], and none is negative.
        offsets: &'a [i32],
    },
    /// `u64` keys.
    U64(&'a [u64]),
    /// Hashes.
    Hashes(&'a [u64]),
    /// Digests, for filters whose hash function is [`HashFunction::Digest`]: key `i` is
    /// `bytes[i * each..(i + 1) * each]`.
    Digests {
        /// All digests. Filters refuse bytes at the end that are not a whole digest.
        bytes: &'a [u8],
        /// The bytes of one digest; 0 has no keys.
        each: usize,
    },
}

impl<'a> Keys<'a> {
    /// How many keys there are.
    pub fn len(&self) -> usize {
        match self {
            Keys::Bytes { offsets, .. } => offsets.len().saturating_sub(1),
            Keys::Bytes32 { offsets, .. } => offsets.len().saturating_sub(1),
            Keys::U64(keys) | Keys::Hashes(keys) => keys.len(),
            Keys::Digests { bytes, each } => bytes.len().checked_div(*each).unwrap_or(0),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Checks everything that could go wrong later: offsets, and whether keys can be hashed.
    ///
    /// # Errors
    /// [`Status::Offsets`](crate::Status::Offsets), [`Status::ExternalHash`](crate::Status::ExternalHash),
    /// [`Status::SecretMissing`](crate::Status::SecretMissing); [`Status::OutOfRange`](crate::Status::OutOfRange) for
    /// byte strings that are not integers where keys are integers.
    pub fn check(&self, hasher: &Hasher) -> Result<()> {
        match self {
            Keys::Hashes(_) => return Ok(()),
            Keys::Digests { .. } => return Err(no_digests(hasher)),
            Keys::Bytes { .. } | Keys::Bytes32 { .. } | Keys::U64(_) => {}
        }
        if let Some(refusal) = hasher.refusal() {
            return Err(refusal.into());
        }
        self.check_offsets()?;
        if hasher.function() != HashFunction::Identity {
            return Ok(());
        }
        self.try_for_each_string(0..self.len(), |key| hasher.hash_key(key).map(drop))
    }

    /// Gives the byte strings of a range, whose offsets were checked, to `take`; keys that are no byte strings are left
    /// out.
    pub(crate) fn try_for_each_string(&self, range: Range<usize>, take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        match self {
            Keys::Bytes { bytes, offsets } => strings(bytes, offsets, range).try_for_each(take),
            Keys::Bytes32 { bytes, offsets } => strings(bytes, offsets, range).try_for_each(take),
            Keys::U64(_) | Keys::Hashes(_) | Keys::Digests { .. } => Ok(()),
        }
    }

    /// Checks that there are as many counts as keys.
    pub(crate) fn check_times(&self, times: &[u64]) -> Result<()> {
        if times.len() == self.len() {
            return Ok(());
        }
        Err(error!(BufferTooSmall, "{} keys have {} counts", self.len(), times.len()))
    }

    fn check_offsets(&self) -> Result<()> {
        match self {
            Keys::Bytes { bytes, offsets } => check_offsets(bytes, offsets),
            Keys::Bytes32 { bytes, offsets } => check_offsets(bytes, offsets),
            Keys::U64(_) | Keys::Hashes(_) | Keys::Digests { .. } => Ok(()),
        }
    }

    /// Checks everything that could go wrong later where keys are known by their identities, as in maps: offsets, and
    /// whether they have identities.
    ///
    /// # Errors
    /// As [`Keys::check`], and [`Status::Unsupported`](crate::Status::Unsupported) for hashes that are not the keys
    /// themselves ([`Hasher::identify_hash`]).
    pub fn check_identities(&self, hasher: &Hasher) -> Result<()> {
        match self {
            Keys::Hashes(_) => hasher.identify_hash(0).map(drop),
            Keys::Bytes { .. } | Keys::Bytes32 { .. } | Keys::U64(_) | Keys::Digests { .. } => self.check(hasher),
        }
    }

    /// These keys as a [`Few`], if there are 1 to [`GROUP`] of them and they are hashes, or numbers that this hasher
    /// has hashed with XXH3.
    #[inline]
    pub fn few(&self, hasher: &Hasher) -> Option<Few<'a>> {
        let (keys, flip) = match *self {
            Keys::U64(keys) => (keys, Some(hasher.flip()?)),
            Keys::Hashes(keys) => (keys, None),
            Keys::Bytes { .. } | Keys::Bytes32 { .. } | Keys::Digests { .. } => return None,
        };
        (1..=GROUP).contains(&keys.len()).then_some(Few { keys, flip })
    }

    /// The hashes of the keys from `start` on, as many as there is room for.
    pub(crate) fn hash_range(&self, start: usize, hasher: &Hasher, instructions: Instructions, hashes: &mut [u64]) {
        let range = start..start + hashes.len();
        match self {
            Keys::U64(keys) => hasher.hash_u64s(instructions, &keys[range], hashes),
            Keys::Hashes(given) => hashes.copy_from_slice(&given[range]),
            // Hashing was checked to succeed; a failure would only cost an answer, not invent an absence.
            Keys::Bytes { bytes, offsets } => hasher.hash_strings(strings(bytes, offsets, range), hashes),
            Keys::Bytes32 { bytes, offsets } => hasher.hash_strings(strings(bytes, offsets, range), hashes),
            // [`Keys::check`] has refused them.
            Keys::Digests { .. } => hashes.fill(0),
        }
    }

    /// The identities of the keys from `start` on, as many as there is room for. That keys have identities was checked
    /// ([`Keys::check_identities`]).
    pub(crate) fn identify_range(&self, start: usize, hasher: &Hasher, ids: &mut [u128]) {
        let range = start..start + ids.len();
        let identify = |key: &[u8]| hasher.identify(key).ok();
        match self {
            Keys::U64(keys) => hasher.identify_u64s(&keys[range], ids),
            Keys::Hashes(hashes) => fill(ids, hashes[range].iter().map(|hash| Some(widen(*hash)))),
            Keys::Bytes { bytes, offsets } => fill(ids, strings(bytes, offsets, range).map(identify)),
            Keys::Bytes32 { bytes, offsets } => fill(ids, strings(bytes, offsets, range).map(identify)),
            // [`Keys::check_identities`] has refused them.
            Keys::Digests { .. } => ids.fill(0),
        }
    }
}

/// An offset of a byte key. Keys with offsets of each type have their own loops.
trait Offset: Copy + Default + PartialOrd + Display {
    /// The offset as an index, if it was checked.
    fn index(self) -> usize;

    /// The offset with 64 bits, negative ones in two's complement.
    fn wide(self) -> u64;
}

impl Offset for u64 {
    #[inline(always)]
    fn index(self) -> usize {
        self as usize
    }

    #[inline(always)]
    fn wide(self) -> u64 {
        self
    }
}

impl Offset for i32 {
    #[inline(always)]
    fn index(self) -> usize {
        self as usize
    }

    #[inline(always)]
    fn wide(self) -> u64 {
        i64::from(self) as u64
    }
}

/// The byte strings of a range, between offsets that were checked.
#[inline(always)]
fn strings<'a, O: Offset>(
    bytes: &'a [u8],
    offsets: &'a [O],
    range: Range<usize>,
) -> impl Iterator<Item = &'a [u8]> + use<'a, O> {
    // Keys may come without any offset if there are none.
    let offsets = if range.is_empty() { &[] } else { &offsets[range.start..=range.end] };
    offsets.windows(2).map(|ends| &bytes[ends[0].index()..ends[1].index()])
}

/// Checks that offsets are not negative, do not decrease, and end inside `bytes`.
fn check_offsets<O: Offset>(bytes: &[u8], offsets: &[O]) -> Result<()> {
    if let Some(first) = offsets.first().filter(|first| **first < O::default()) {
        return Err(error!(Offsets, "offsets[0] = {first} is less than 0"));
    }
    // This looks at all sign bits together. One that is set may mean a decrease, or an offset of 2^63 or more.
    let signs =
        offsets.windows(2).fold(0, |all, pair| all | pair[0].wide() | pair[1].wide().wrapping_sub(pair[0].wide()));
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
        Some(last) if last.wide() > bytes.len() as u64 => {
            let i = offsets.len() - 1;
            Err(error!(Offsets, "offsets[{i}] = {last} is past the end of the {} bytes of keys", bytes.len()))
        }
        _ => Ok(()),
    }
}

/// Checks that digests have the lengths between these offsets.
fn check_lengths<O: Offset>(hasher: &Hasher, offsets: &[O]) -> Result<()> {
    offsets.windows(2).try_for_each(|ends| hasher.check_whole(ends[1].index() - ends[0].index()))
}

/// The error for digests that are given to a filter whose keys are not digests.
#[cold]
fn no_digests(hasher: &Hasher) -> Error {
    let function = hasher.function();
    error!(Contradiction, "the keys are digests, but the filter has hash = {function}: only hash = digest takes them")
}

/// Keys in their whole length, for filters that take them so ([`Hasher::takes_whole`]): byte strings, digests, or
/// numbers as their eight little-endian bytes.
pub struct WholeKeys<'a>(Form<'a>);

enum Form<'a> {
    Bytes(&'a [u8], &'a [u64]),
    Bytes32(&'a [u8], &'a [i32]),
    U64(&'a [u64]),
    Digests(&'a [u8], usize),
}

impl<'a> WholeKeys<'a> {
    /// Keys for a filter with this hasher. Offsets and lengths are checked once, here.
    ///
    /// # Errors
    /// [`Status::Offsets`](crate::Status::Offsets); [`Status::Unsupported`](crate::Status::Unsupported) for hashes;
    /// [`Status::OutOfRange`](crate::Status::OutOfRange) for keys of another length than the filter's digests have;
    /// [`Status::Contradiction`](crate::Status::Contradiction) for digests where keys are not digests.
    pub fn of(keys: &Keys<'a>, hasher: &Hasher) -> Result<WholeKeys<'a>> {
        let whole = WholeKeys::new(keys)?;
        match whole.0 {
            Form::Digests(..) if hasher.function() != HashFunction::Digest => return Err(no_digests(hasher)),
            _ if hasher.function() != HashFunction::Digest => hasher.check_whole(0)?,
            Form::Digests(bytes, each) => {
                hasher.check_whole(each)?;
                if bytes.len() % each != 0 {
                    return Err(error!(
                        OutOfRange,
                        "{} bytes of digests are not a multiple of the {each} bytes of one",
                        bytes.len()
                    ));
                }
            }
            Form::Bytes(_, offsets) => check_lengths(hasher, offsets)?,
            Form::Bytes32(_, offsets) => check_lengths(hasher, offsets)?,
            Form::U64(keys) => keys.first().map_or(Ok(()), |_| hasher.check_whole(8))?,
        }
        Ok(whole)
    }

    /// Keys whose offsets are checked once, here.
    ///
    /// # Errors
    /// [`Status::Offsets`](crate::Status::Offsets); [`Status::Unsupported`](crate::Status::Unsupported) for hashes.
    pub fn new(keys: &Keys<'a>) -> Result<WholeKeys<'a>> {
        keys.check_offsets()?;
        match *keys {
            Keys::Bytes { bytes, offsets } => Ok(WholeKeys(Form::Bytes(bytes, offsets))),
            Keys::Bytes32 { bytes, offsets } => Ok(WholeKeys(Form::Bytes32(bytes, offsets))),
            Keys::U64(keys) => Ok(WholeKeys(Form::U64(keys))),
            Keys::Hashes(_) => Err(error!(Unsupported, "the filter takes keys whole, and no hashes")),
            Keys::Digests { bytes, each } => Ok(WholeKeys(Form::Digests(bytes, each))),
        }
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        match self.0 {
            Form::Bytes(_, offsets) => offsets.len().saturating_sub(1),
            Form::Bytes32(_, offsets) => offsets.len().saturating_sub(1),
            Form::U64(keys) => keys.len(),
            Form::Digests(bytes, each) => bytes.len().checked_div(each).unwrap_or(0),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The keys from `start` up to `end`, which is not included.
    pub fn part(&self, start: usize, end: usize) -> WholeKeys<'a> {
        WholeKeys(match self.0 {
            Form::Bytes(bytes, offsets) => Form::Bytes(bytes, &offsets[start..=end]),
            Form::Bytes32(bytes, offsets) => Form::Bytes32(bytes, &offsets[start..=end]),
            Form::U64(keys) => Form::U64(&keys[start..end]),
            Form::Digests(bytes, each) => Form::Digests(&bytes[start * each..end * each], each),
        })
    }

    /// Gives the bytes of key `i` to `take`.
    #[inline]
    pub fn with<T>(&self, i: usize, take: impl FnOnce(&[u8]) -> T) -> T {
        let number;
        // There is one call, so that what is done with a key is compiled once for all forms.
        take(match self.0 {
            Form::Bytes(bytes, offsets) => &bytes[offsets[i].index()..offsets[i + 1].index()],
            Form::Bytes32(bytes, offsets) => &bytes[offsets[i].index()..offsets[i + 1].index()],
            Form::U64(keys) => {
                number = keys[i].to_le_bytes();
                &number
            }
            Form::Digests(bytes, each) => &bytes[i * each..(i + 1) * each],
        })
    }
}

/// Writes the hashes of keys.
///
/// # Errors
/// As [`Keys::check`]; [`Status::BufferTooSmall`](crate::Status::BufferTooSmall) unless `hashes` are as many as the
/// keys.
pub fn hash_keys(keys: &Keys, hasher: &Hasher, hashes: &mut [u64]) -> Result<()> {
    keys.check(hasher)?;
    if hashes.len() != keys.len() {
        return Err(error!(BufferTooSmall, "{} keys have room for {} hashes", keys.len(), hashes.len()));
    }
    keys.hash_range(0, hasher, simd::best(), hashes);
    Ok(())
}

fn fill(ids: &mut [u128], from: impl Iterator<Item = Option<u128>>) {
    ids.iter_mut().zip(from).for_each(|(to, id)| *to = id.unwrap_or(0));
}
