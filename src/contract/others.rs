//! Keys that are no members, of which a builder is told.

use crate::error::Result;
use crate::format::Geometry;
use crate::spec::{Size, Spec};

/// The geometry to expect of a spec whose builder is told of others, and a rate (`Row::knowing`). With excluded keys it
/// is their rate, and with frequent strangers that of all lookups of absent keys.
pub type Knowing = fn(&Spec, Size, &Others) -> Result<(Geometry, f64)>;

/// Keys that are no members, of which a builder is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Others {
    /// How many they are.
    pub keys: u64,
    /// The share that they are of all lookups of absent keys.
    pub share: f64,
}
