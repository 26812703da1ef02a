//! The inner loops of the block layouts, one file a kernel, behind one signature.
//!
//! [`portable`] is the specification: every other kernel must do the same to the same words. Which kernel runs is
//! decided here, once, outside every loop.

pub mod portable;

use core::sync::atomic::AtomicU64;

/// The inner loops of one block layout. Words are exactly those of the blocks, without padding; `found` and `new` are
/// as long as `hashes`. Hashes are taken in order, so a key that occurs twice is new once.
pub struct BlockKernel {
    /// The instruction set: `portable`.
    pub name: &'static str,
    /// Whether each hash may be there.
    pub contains: fn(words: &[AtomicU64], hashes: &[u64], found: &mut [bool]),
    /// Inserts each hash and says whether it certainly was not there.
    pub insert: fn(words: &mut [u64], hashes: &[u64], new: &mut [bool]),
}

/// The kernel for the 256-bit split blocks of [`crate::filters::SplitBlock`].
pub fn split_block() -> &'static BlockKernel {
    &portable::SPLIT_BLOCK
}
