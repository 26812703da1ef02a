//! How bits of keys lie in words: one folder a layout. In it `mod.rs` says which words a hash goes to and which bits
//! are its own, `portable.rs` computes that in plain code, and the other files do with one instruction set each.

pub mod block_kernel;
pub mod blocked;
pub mod split_block;

pub use block_kernel::{BlockKernel, Probe};
