//! The types of the inner loops for batches. Each instruction set has a file.

use super::Array;
use crate::batch::ring::GROUP;

/// What is known so far about the keys of a group.
#[derive(Default)]
#[repr(align(64))]
pub(super) struct Group {
    /// The first bits of the cells of each key. The fourth numbers mean nothing if keys have three cells.
    pub bits: [Numbers; 4],
    /// The fingerprint of each key. The bits above the fingerprint mean nothing.
    pub fingerprints: Numbers,
}

/// A number for each key of a group.
#[repr(align(64))]
pub(super) struct Numbers(pub [u64; GROUP]);

impl Default for Numbers {
    fn default() -> Numbers {
        Numbers([0; GROUP])
    }
}

/// Finds the cells of the keys with these hashes, and fetches them if that pays. Also answers for the keys of the group
/// `asked`, whose cells an earlier turn found: bit i is whether the cells of the i-th key give its fingerprint.
pub(super) type Turn = fn(&Array, hashes: &[u64; GROUP], found: &mut Group, asked: &Group) -> u64;

/// The inner loop of batches for one number of cells a key.
pub(super) struct Turns {
    /// For payloads that fit into the caches.
    pub near: Turn,
    /// For payloads that do not fit into the caches.
    pub far: Turn,
}

/// The inner loops of batches for one instruction set.
pub(super) struct Kernel {
    /// For three cells a key.
    pub three: Turns,
    /// For four cells a key.
    pub four: Turns,
    /// Whether an array suits the kernel. Other arrays take the portable kernel.
    pub suits: fn(&Array) -> bool,
}
