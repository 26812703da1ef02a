//! What callers hold: [`filter::Filter`], [`map::Map`] and [`sketch::Sketch`], each over any kind, and the [`image`] of
//! each.

pub mod aggregate;
pub mod digest;
pub mod index;
pub mod estimate;
pub mod filter;
pub mod image;
mod kept;
pub(crate) mod many;
pub mod map;
mod minisketch;
pub mod router;
pub mod sketch;
mod sketch_pairs;
pub mod stream;
