//! The bumped ribbon: an array of slots, each of as many bits as a value has. Each key has a run of 64 or 128
//! coefficients, bits that begin at a slot which the key chooses. The exclusive or of the slots whose coefficient is 1
//! is the value that was given for the key when the array was solved. In a filter that value is a fingerprint of the
//! key; in a map it is the key's value.
//!
//! Dillinger, Hübschle-Schneider, Sanders and Walzer, "Fast Succinct Retrieval and Approximate Membership Using
//! Ribbon", 2022. [`super::sizing`] has the sizes.
//!
//! **Layers.** A shard of keys is a few layers, one after the other in one run of slots. The first layer has fewer
//! slots than keys. In each of its buckets the keys that would not fit are bumped to the next layer: those farthest
//! from the bucket's end. Of three classes none, one, two or all are bumped, as two bits of metadata say. After at most
//! three more layers few keys are left, whose rows lie in one place, the base. Hashes that were made so that many keys
//! are left get a base with more slots than keys. If all fails, each key has its own slot, found by binary search. So
//! every set of keys can be solved, and nothing is tried more than a few times.
//!
//! **From a hash to slots.** Records are sorted by 64 bits, called x here ([`Equations::order`]). With S shards the
//! 96-bit product `x S` has the shard in its highest 32 bits. The next 32 bits say how far into the shard x is. The
//! key's coefficients start that far into the first layer, so records come in the order of their starts. The
//! coefficients and the fingerprint come from another hash, called z here. In the layers after the first, start and
//! coefficients come from `row::bumped_hash` of x and z.
//!
//! **Payload.** First come words: for each shard but the first the byte at which its slots begin, and then for each
//! shard its `metadata::Sizes`. Then come bytes: for each shard the metadata of its first layer, two bits a bucket. The
//! shards follow. A shard begins with its slots, in groups of eight. A group has a byte for each column, in which bit i
//! belongs to the i-th slot. The list of x and z of searched keys follows, if there is one. The metadata of layers
//! after the first comes last, with its last byte first. After each shard but the last follow as many zero bytes as
//! rows of its last slots may reach into. A row that reaches past the slots of the last shard reads the bytes that lie
//! there, and zeros past the end: solving begins with these bits.
//!
//! Opening a payload reads nothing of it, and every access to it is checked: a forged directory gives wrong answers,
//! and [`Shape::check`] finds it.

mod array;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod equations;
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
pub use equations::Equations;
pub use fingerprints::{Fingerprints, MAX_BITS, MIN_BITS, Underway};
pub use kernel::Lookup;
pub use row::Value;
pub use shape::Shape;
pub use shards::solve;
pub use values::{MAX_CHECK_BITS, MAX_VALUE_BITS, ValueShape, Values};

/// The most bits of a value.
pub const MAX_COLUMNS: u32 = 96;

use crate::simd::{self, Instructions};
use kernel::Kernel;
use row::Coefficients;

/// The inner loops for these instructions.
#[inline]
fn kernel<C: Coefficients>(instructions: Instructions) -> Kernel<C> {
    match instructions.kernel() {
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        simd::Kernel::Avx512 => avx512::kernel(),
        #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
        simd::Kernel::Avx2 => avx2::kernel(),
        #[cfg(all(target_arch = "aarch64", feature = "neon"))]
        simd::Kernel::Neon => neon::kernel(),
        _ => portable::kernel(),
    }
}
