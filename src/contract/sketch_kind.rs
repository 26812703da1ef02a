//! What a kind of sketch implements.

use super::Payload;
use super::change::mark_each;
use super::key_shape::KeyShape;
use super::pairs::{Pair, Presence, ValueListing};
use crate::blocks::Measure;
use crate::error::{Result, Status};
use crate::storage::try_vec;

/// A number that a listing found, and how often it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// 1 for a number that was inserted; -1 for a number that was removed, or that a subtracted sketch had in addition.
    /// A kind whose sketches have no signs lists 1 for every number.
    pub sign: i64,
    /// The number.
    pub number: u64,
}

/// The outcome of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The numbers in ascending order, those that were removed first.
    pub listed: Vec<Listed>,
    /// Whether these are all numbers. Otherwise there are more, which could not be told apart.
    pub is_complete: bool,
}

/// The outcome of a listing of whole keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyListing {
    /// The bytes of the keys, one key after the other: first the keys that were removed, then the others, each in
    /// ascending order of their bytes.
    pub keys: Vec<u8>,
    /// The sign of each key, as in [`Listed`].
    pub signs: Vec<i64>,
    /// Whether these are all keys.
    pub is_complete: bool,
}

/// A kind of sketch: a set of 64-bit numbers in little memory. Another sketch can be subtracted from it, and it can be
/// listed if few numbers are left.
///
/// Many threads may use shared references at the same time.
pub trait SketchKind: Payload {
    /// The number that stands for a hash: the hash itself, unless the numbers of this sketch have fewer than 64 bits.
    fn number_of_hash(&self, hash: u64) -> u64 {
        hash
    }

    /// The bits of a number.
    fn number_bits(&self) -> u32 {
        u64::BITS
    }

    /// Whether counts have signs, so that a listing says which of two sets has a number.
    fn has_signs(&self) -> bool {
        true
    }

    /// Refuses a number that this sketch cannot hold.
    ///
    /// # Errors
    /// [`Status::OutOfRange`], naming the number and the range.
    fn check_number(&self, number: u64) -> Result<()> {
        let _ = number;
        Ok(())
    }

    /// How the keys of this sketch lie in words.
    fn key_shape(&self) -> KeyShape {
        KeyShape::NUMBERS
    }

    /// How many coded symbols the sketch keeps; 0 if its kind has none.
    fn symbols(&self) -> u64 {
        0
    }

    /// Adds a number `count` times that [`SketchKind::check_number`] accepts. `None`, with nothing done, if the words
    /// cannot be written without preparation.
    fn add_at_once(&mut self, hash: u64, number: u64, count: i64) -> Option<()>;

    /// Adds many keys as [`SketchKind::add_at_once`] adds a number. `keys` has the words of each hash's key.
    fn add_keys_at_once(&mut self, hashes: &[u64], keys: &[u64], count: i64) -> Option<()> {
        // `None` can only come for the first one.
        hashes.iter().zip(keys).try_for_each(|(hash, number)| self.add_at_once(*hash, *number, count))
    }

    /// In an image in place, the place (in 64-bit words) of one word that [`SketchKind::add_at_once`] changes and whose
    /// region is not marked yet; `None` once all are marked.
    fn unmarked(&self, hash: u64) -> Option<usize>;

    /// Whether sketches of this kind can be combined that differ only in the layout version. The result has the version
    /// of the first one.
    fn combines_layouts(&self) -> bool {
        false
    }

    /// Adds each cell of another sketch to the same cell of this one, or subtracts it. The caller has checked that the
    /// other is of the same kind and identity ([`SketchKind::combines_layouts`]).
    ///
    /// # Errors
    /// The errors about the words. Nothing has changed then.
    fn combine_with(&mut self, other: &dyn SketchKind, subtract: bool) -> Result<()>;

    /// The numbers that are there. Takes at most about as many steps as there are cells, whatever they hold.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`]; [`Status::SecretMissing`].
    fn list(&self) -> Result<Listing>;

    /// What the sketch says of a number, in constant time. `None` if sketches of this kind cannot be asked.
    fn get(&self, hash: u64, number: u64) -> Option<Presence> {
        let _ = (hash, number);
        None
    }

    /// Bits of a value; 0 if this sketch has no values. A sketch with values implements the next three methods, and a
    /// number that comes without a value has the value 0.
    fn value_bits(&self) -> u32 {
        0
    }

    /// Adds a number with its value `count` times, as [`SketchKind::add_at_once`] adds a number.
    fn add_pair_at_once(&mut self, pair: &Pair, count: i64) -> Option<()> {
        let _ = (pair, count);
        None
    }

    /// [`SketchKind::unmarked`] for a number with its value.
    fn unmarked_by_pair(&self, pair: &Pair) -> Option<usize> {
        let _ = pair;
        None
    }

    /// [`SketchKind::list`] with the values.
    ///
    /// # Errors
    /// The errors of [`SketchKind::list`]; [`Status::Unsupported`] if this sketch has no values.
    fn list_values(&self) -> Result<ValueListing> {
        Err(Status::Unsupported.into())
    }

    /// How many bytes at the start of the payload are those of minisketch. `None` for a kind that minisketch does not
    /// have.
    fn minisketch_bytes(&self) -> Option<usize> {
        None
    }

    /// Takes bytes of minisketch, as many as [`SketchKind::minisketch_bytes`] says, instead of what is there.
    ///
    /// # Errors
    /// The errors about the words. Nothing has changed then.
    fn take_minisketch(&mut self, bytes: &[u8]) -> Result<()> {
        let _ = bytes;
        Err(Status::Internal.into())
    }

    /// The whole keys that are there, if the sketch has whole keys. Otherwise like [`SketchKind::list`].
    ///
    /// # Errors
    /// As [`SketchKind::list`].
    fn list_keys(&self) -> Result<KeyListing> {
        Err(Status::Internal.into())
    }

    /// Measures the payload. Reads it, and reports the bytes of every piece to `progress`.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure;

    /// Forgets all numbers.
    ///
    /// # Errors
    /// [`Status::Unsupported`] and others if the words may not be written. Nothing has changed then.
    fn reset(&mut self) -> Result<()> {
        self.base_mut().writable()?.fill(0);
        Ok(())
    }
}

/// Adds a key if the words that it changes may be written. In an image in place their regions are marked first.
///
/// # Errors
/// As `change_one`; nothing has changed then.
pub(crate) fn add_one(kind: &mut dyn SketchKind, hash: u64, key: &[u64], count: i64) -> Result<()> {
    if let Some(()) = kind.add_keys_at_once(&[hash], key, count) {
        return Ok(());
    }
    kind.base_mut().begin_writing()?;
    mark_each(kind.base(), &[hash], |hash| kind.unmarked(*hash)).outcome?;
    kind.base_mut().allow_at_once(true);
    let added = kind.add_keys_at_once(&[hash], key, count);
    kind.base_mut().allow_at_once(false);
    added.ok_or_else(|| Status::Internal.into())
}

/// Adds a number with its value, as [`add_one`] adds a number.
///
/// # Errors
/// As [`add_one`]; nothing has changed then.
pub(crate) fn add_pair(kind: &mut dyn SketchKind, pair: &Pair, count: i64) -> Result<()> {
    if let Some(()) = kind.add_pair_at_once(pair, count) {
        return Ok(());
    }
    kind.base_mut().begin_writing()?;
    mark_each(kind.base(), &[*pair], |pair| kind.unmarked_by_pair(pair)).outcome?;
    kind.base_mut().allow_at_once(true);
    let added = kind.add_pair_at_once(pair, count);
    kind.base_mut().allow_at_once(false);
    added.ok_or_else(|| Status::Internal.into())
}

/// An empty listing with room for as many numbers as there can be.
///
/// # Errors
/// [`Status::OutOfMemory`].
pub(crate) fn listing(most: usize) -> Result<Listing> {
    Ok(Listing { listed: try_vec(most)?, is_complete: false })
}
