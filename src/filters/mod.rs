//! The kinds, one file or folder each.

mod bitwise;
pub mod blocked;
pub mod bloom;
pub mod split_block;

pub use blocked::Blocked;
pub use bloom::Bloom;
pub use split_block::SplitBlock;
