//! The equations that a payload solves.

use super::metadata::SEEDS;
use super::row::Value;

/// The equations to be solved: where a record's slots come from, and which value they are to give. Two distinct records
/// must differ in their order or in their scattered hash.
pub trait Equations<R>: Sync {
    /// The type of values: `u32`, `u64` or `u128`, the smallest that holds one.
    type Value: Value;

    /// The 64 bits by which records are divided. These bits do not decrease from one record to the next.
    fn order(&self, record: &R) -> u64;

    /// The 64 bits that choose the coefficients.
    fn scatter(&self, record: &R) -> u64;

    /// The value that the slots are to give. A value has as many bits as a slot, and further bits are cut off. `z` is
    /// what [`Equations::scatter`] gave.
    fn value(&self, record: &R, z: u64) -> Self::Value;

    /// How many seeds are tried for keys that no layer took, before each such key gets a slot to itself and is found by
    /// search. At most 7; an implementation that wants to reach the search says fewer. The payload depends on this
    /// number.
    fn seeds(&self) -> u32 {
        SEEDS
    }
}
