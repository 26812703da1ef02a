//! What sketches with values hold: numbers, each with a value.

use crate::bits;
use crate::error::Status;
use crate::hash::Hasher;

/// A number with its value, and where a sketch puts both.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The number.
    pub number: u64,
    /// The value; 0 in a sketch without values.
    pub value: u64,
    /// The hash of the number.
    pub hash: u64,
    /// The hash of the number and the value; the hash of the number in a sketch without values.
    pub both: u64,
}

impl Pair {
    /// A number with its value, hashed by the hash function of a sketch with values. The hash of both is the hash of:
    /// the number's hash XOR the mixed value. Without the secret key of a keyed function nobody can choose pairs with
    /// equal hashes.
    ///
    /// # Errors
    /// As [`Hasher::hash_u64`].
    pub fn of(hasher: &Hasher, number: u64, value: u64) -> core::result::Result<Pair, Status> {
        let hash = hasher.hash_u64(number)?;
        Ok(Pair { number, value, hash, both: hasher.hash_u64(hash ^ bits::mix(value))? })
    }
}

/// What a sketch says of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The number is not there.
    Absent,
    /// The number is there.
    Present {
        /// 1 for a number that was inserted; -1 for a number that was removed, or that only a subtracted sketch had.
        sign: i64,
        /// The value of the number; 0 in a sketch without values.
        value: u64,
    },
    /// The sketch cannot say: each cell that it looks into has more than one number.
    Unknown,
}

/// A number with its value that a listing found, and on which side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedValue {
    /// 1 for a pair that was inserted; -1 for a pair that was removed, or that a subtracted sketch had in addition.
    pub sign: i64,
    /// The number.
    pub number: u64,
    /// The value; 0 in a sketch without values.
    pub value: u64,
}

/// The outcome of a listing with values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueListing {
    /// The numbers with their values in ascending order, first by sign, then by number, then by value.
    pub listed: Vec<ListedValue>,
    /// Whether these are all pairs. Otherwise there are more, which could not be told apart.
    pub is_complete: bool,
}
