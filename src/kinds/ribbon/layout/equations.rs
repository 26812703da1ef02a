//! What a payload is solved of.

use super::metadata::SEEDS;
use super::row::Value;

/// What is to be solved: what a record's slots come from, and what they are to give. Two distinct records must differ
/// in their order or in their scattered hash.
pub trait Equations<R>: Sync {
    /// A value: `u32`, `u64` or `u128`, the least that holds one.
    type Value: Value;

    /// By what records are divided: 64 bits that do not decrease from one record to the next.
    fn order(&self, record: &R) -> u64;

    /// 64 bits that choose the coefficients.
    fn scatter(&self, record: &R) -> u64;

    /// The value that the slots are to give, of as many bits as a slot has; more are cut off. `z` is what
    /// [`Equations::scatter`] gave.
    fn value(&self, record: &R, z: u64) -> Self::Value;

    /// How many seeds are tried for keys that no layer took, before each has a slot to itself and is searched for: at
    /// most 7, and fewer for those who want to see that. The payload depends on it.
    fn seeds(&self) -> u32 {
        SEEDS
    }
}
