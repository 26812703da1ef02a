//! What the inner loops of batches are made of, one file an instruction set.

use super::Array;
use crate::batch::ring::GROUP;

/// What was found out about the keys of a group.
#[derive(Default)]
#[repr(align(64))]
pub(super) struct Group {
    /// The first bits of the cells of each key; where it has three, the fourth is anything.
    pub bits: [Numbers; 4],
    /// The fingerprint of each key, and above its bits anything.
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

/// Finds the cells of the keys with these hashes, and fetches them where that pays; and answers for the keys of another
/// group, whose cells were found before: bit i is whether those of its i-th key give its fingerprint.
pub(super) type Turn = fn(&Array, hashes: &[u64; GROUP], found: &mut Group, asked: &Group) -> u64;

/// The inner loop of batches for one number of cells a key.
pub(super) struct Turns {
    /// For payloads that the caches hold.
    pub near: Turn,
    /// For larger ones.
    pub far: Turn,
}

/// The inner loops of batches for one instruction set.
pub(super) struct Kernel {
    /// For three cells a key.
    pub three: Turns,
    /// For four.
    pub four: Turns,
    /// Which arrays it is for; for the others the portable one.
    pub suits: fn(&Array) -> bool,
}
