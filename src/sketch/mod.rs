//! Sketches of sets: [`Sketch`], the handle over a sketch of any kind, with what only some kinds can ([`Stream`] takes
//! coded symbols); and the kinds, one folder each.

mod handle;
#[cfg(feature = "iblt")]
pub mod iblt;
mod kept;
mod minisketch;
mod pairs;
#[cfg(feature = "pinsketch")]
pub mod pinsketch;
#[cfg(feature = "riblt")]
pub mod riblt;
#[cfg(feature = "riblt")]
mod stream;

pub use handle::Sketch;
#[cfg(feature = "riblt")]
pub use stream::Stream;

use crate::sizing::exp;

/// A close bound of the probability that a normal variable is above t, which is at least 0 (Pollak 1956).
fn normal_tail(t: f64) -> f64 {
    let density = exp(-t * t / 2.0) / (2.0 * core::f64::consts::PI).sqrt();
    density * 2.0 / (t + (t * t + 8.0 / core::f64::consts::PI).sqrt())
}
