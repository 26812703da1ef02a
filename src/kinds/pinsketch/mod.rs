//! The arithmetic of `pinsketch`: sketches of sets of field elements, from which as many elements can be read as the
//! sketch has syndromes (Dodis, Ostrovsky, Reyzin, Smith 2008; the bytes are those of minisketch).
//!
//! A sketch of capacity c is the sums of the powers 1, 3, 5, ..., 2c - 1 of its elements, in a field of 2^b elements.
//! The sum of two sketches is the sketch of what differs. [`toggle`](Sums::toggle) adds an element or takes it away,
//! [`decode`](Sums::decode) lists up to c elements.
//!
//! This folder has no row yet: no [`Spec`](crate::Spec) makes such a sketch.

pub mod carryless;
pub mod field;
mod locator;
mod packed;
mod roots;
mod sums;
#[cfg(test)]
mod tests;

pub use sums::{MAX_CAPACITY, Sums};
