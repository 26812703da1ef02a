//! What is collected, and how the finished collection is read.

use crate::error::{Result, error};
use crate::spec::Number;

/// Records in ascending order, distinct, and the same at every pass. Records are hashes (`u64`), [`Counted`],
/// [`Weighted`] or [`Entry`]; a plain slice whose records are ascending and distinct is one such collection.
pub trait Records<R> {
    /// How many records there are.
    fn count(&self) -> u64;

    /// Gives all records to `take`, in order, in pieces of any length but none empty. Linear in the records.
    ///
    /// # Errors
    /// The errors of `take`, which end the pass; [`Status::OutOfMemory`](crate::Status::OutOfMemory), and
    /// the system's errors if records are in a file.
    fn for_each(&self, take: &mut dyn FnMut(&[R]) -> Result<()>) -> Result<()>;

    /// All records as one slice, where they lie in memory like that.
    fn as_slice(&self) -> Option<&[R]> {
        None
    }
}

/// How many records of a slice are given in one piece, so that whoever takes them can report progress.
pub(crate) const PIECE: usize = 1 << 12;

impl<R> Records<R> for &[R] {
    fn count(&self) -> u64 {
        self.len() as u64
    }

    fn for_each(&self, take: &mut dyn FnMut(&[R]) -> Result<()>) -> Result<()> {
        self.chunks(PIECE).try_for_each(take)
    }

    fn as_slice(&self) -> Option<&[R]> {
        Some(self)
    }
}

/// A hash, and how often it was offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Counted {
    /// The hash.
    pub hash: u64,
    /// How often it was offered, at least once; `u64::MAX` is that often or more.
    pub count: u64,
}

/// A hash, and the weight of its key: a number of units of 2^-64, so that the sum of weights does not depend on their
/// order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Weighted {
    /// The hash.
    pub hash: u64,
    /// The low and the high half of the weight.
    weight: [u64; 2],
}

impl Weighted {
    /// The least weight.
    pub const LEAST: f64 = 1.0 / (1_u64 << 60) as f64;
    /// The greatest weight.
    pub const MOST: f64 = (1_u64 << 60) as f64;

    /// A hash whose key has this weight.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange) for a weight below [`Weighted::LEAST`] or above
    /// [`Weighted::MOST`], and for NaN.
    pub fn new(hash: u64, weight: f64) -> Result<Weighted> {
        if !(Weighted::LEAST..=Weighted::MOST).contains(&weight) {
            return Err(error!(OutOfRange, "weight = {} is not a number from 2^-60 to 2^60", Number(weight)));
        }
        Ok(Weighted::of_units(hash, (weight * (1_u128 << 64) as f64) as u128))
    }

    /// A hash whose key has a weight of this many units.
    pub fn of_units(hash: u64, units: u128) -> Weighted {
        Weighted { hash, weight: [units as u64, (units >> 64) as u64] }
    }

    /// The units of the weight.
    #[inline]
    pub fn units(&self) -> u128 {
        let [low, high] = self.weight;
        u128::from(high) << 64 | u128::from(low)
    }
}

/// A key's 128-bit identity and its value in a map. 24 bytes: its fields are read by value, not borrowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, packed(8))]
pub struct Entry {
    /// The identity of the key.
    pub id: u128,
    /// The value.
    pub value: u64,
}

/// The record of a key, together with its partition. 12 bytes: its fields are read by value, not borrowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, packed(4))]
pub struct Placed {
    /// What a kind makes of the key's hash.
    pub record: u64,
    /// The number of the key's partition, in the order in which partitions came.
    pub partition: u32,
}

const _: () = assert!(size_of::<Entry>() == 24 && size_of::<Counted>() == 16 && size_of::<Weighted>() == 24);
const _: () = assert!(size_of::<Placed>() == 12);
