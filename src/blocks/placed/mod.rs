//! Bit arrays whose places come from whole keys: m bits, of which a key sets k.

mod array;
mod modulus;

pub use array::{Array, PlacedArray};
pub use modulus::Modulus;

/// The shape of an array.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Bits that a key sets, or fewer where places coincide.
    pub hashes: u32,
    /// How many bits there are.
    pub bits: Modulus,
}

/// Where keys go.
pub trait Placement: Copy + Send + Sync + 'static {
    /// What the places of a key are computed from.
    type Digest: Copy + Default;

    /// The digest of a key.
    fn digest(&self, key: &[u8]) -> Self::Digest;

    /// Visits the places of a key with this digest in order, until `visit` returns false. Returns whether it never did.
    /// All places are below the number of bits.
    fn all(&self, digest: &Self::Digest, key: &[u8], shape: &Shape, visit: impl FnMut(u64) -> bool) -> bool;
}
