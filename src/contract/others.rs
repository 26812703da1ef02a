//! Keys that are not members, but that a builder knows of.

use crate::error::Result;
use crate::format::Geometry;
use crate::spec::{Size, Spec};

/// The geometry to expect of a spec whose builder knows of such other keys, and a rate (`OtherKeys::knowing`). With
/// excluded keys it is their rate, and with frequent non-members that of all lookups of absent keys.
pub type Knowing = fn(&Spec, Size, &Others) -> Result<(Geometry, f64)>;

/// Keys that are not members, but that a builder knows of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Others {
    /// How many there are.
    pub keys: u64,
    /// Their share of all lookups of absent keys.
    pub share: f64,
}
