//! What callers hold: [`filter::Filter`] and [`map::Map`], each over any kind; and the [`image`] of any handle.

pub mod estimate;
pub mod filter;
pub mod image;
pub(crate) mod many;
#[cfg(feature = "map")]
pub mod map;
