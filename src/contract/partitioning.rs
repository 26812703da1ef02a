//! What a builder does for a kind that divides keys by their prefixes, or brings a filter up to date.

use super::{Base, Build, Built, Placed};
use crate::error::Result;
use crate::format::Geometry;
use crate::spec::Spec;

/// What a builder does for a kind that divides keys by their prefixes, or brings a filter up to date.
pub struct Partitioning {
    /// How many bytes of a key choose its partition; 0 if keys are not divided.
    pub prefix_bytes: fn(&Spec) -> Result<u64>,
    /// Whether a filter of this geometry can be brought up to date by a builder with this spec.
    pub keeps: fn(&Geometry, &Spec) -> Result<bool>,
    /// Makes the payload of keys that are divided. The hashes are those of the partitions' prefixes.
    pub build: fn(&mut Build<Placed>, &[u64]) -> Result<Built>,
    /// Makes the payload that brings a filter up to date which was built before. Keys are not divided.
    pub update: fn(&mut Build<u64>, &Base) -> Result<Built>,
    /// [`Partitioning::update`] for keys that are divided, with the hashes of the partitions' prefixes.
    pub update_placed: fn(&mut Build<Placed>, &[u64], &Base) -> Result<Built>,
}
