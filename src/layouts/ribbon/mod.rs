//! The bumped ribbon: an array of slots of as many bits as a value has, in which each key has a run of coefficients, 64
//! or 128 of them, at a place of its own; the slots that have one, together by exclusive or, are a value that was given
//! for the key when the array was solved. The value of a filter is a fingerprint of the key; that of a map is the key's
//! value.
//!
//! Dillinger, Hübschle-Schneider, Sanders and Walzer, "Fast Succinct Retrieval and Approximate Membership Using
//! Ribbon", 2022. Sizes are in [`crate::sizing::ribbon`].
//!
//! **Layers.** A shard of keys is a few layers, one after the other in one run of slots. The first has fewer slots than
//! keys. In each of its buckets those keys that would not fit are bumped to the next layer: the part of a bucket that is
//! farthest from its end, one of three classes, two or all, which is what two bits of metadata say. After at most
//! three more layers few keys are left, whose rows lie in one place; where hashes were made so that these
//! are many, they have more slots than keys, and if all fails a slot each, found by binary search. So every set of keys
//! can be solved, and nothing is tried more than a few times.
//!
//! **From a hash to slots.** Records are sorted by 64 bits, call them x ([`Equations::order`]). With S shards the 96-bit
//! product `x S` has the shard in its highest 32 bits, and the 32 bits after those say how far into the shard x is: so
//! far into the first layer the key's coefficients start, and records come in the order of their starts. The
//! coefficients and the fingerprint come from another hash, call it z. In the layers after the first both come from
//! `row::bumped_hash` of x and z.
//!
//! **Payload.** Words: for each shard but the first the byte at which its slots begin; then for each shard its
//! `metadata::Sizes`. Bytes: of each shard the metadata of its first layer, two bits a bucket. Then each shard's slots, in
//! groups of eight, a byte a column, in which bit i is that of the i-th slot; after them, where there is one, the list
//! of x and z of keys that are searched for; then the metadata of layers after the first, the last byte first; then,
//! unless it is the last, as many zero bytes as rows of its last slots may reach into. What a row reads after the slots
//! of the last shard counts as it is there, zero past the end: solving begins with that.
//!
//! Nothing of the payload is read when it is opened, and every access to it is checked: a forged directory gives wrong
//! answers, and [`Shape::check`] finds it.

mod array;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod fingerprints;
mod kernel;
mod metadata;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
mod query;
mod row;
mod shape;
mod shards;
mod solve;
mod values;

pub use array::Array;
pub use fingerprints::{Fingerprints, MAX_BITS, MIN_BITS};
pub use kernel::Lookup;
pub use row::Value;
pub use shape::Shape;
pub use shards::{Equations, Work, solve};
pub use values::{MAX_CHECK_BITS, MAX_VALUE_BITS, ValueShape, Values};

/// The most bits of a value.
pub const MAX_COLUMNS: u32 = 96;
