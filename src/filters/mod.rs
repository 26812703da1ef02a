//! The kinds, one file or folder each.

pub mod bloom;
mod bitwise;
pub mod split_block;

pub use bloom::Bloom;
pub use split_block::SplitBlock;
