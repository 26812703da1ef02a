//! What callers call on a map, whatever its kind.

use crate::error::{Result, error};
use crate::image::Image;
use crate::kind::{Base, MapKind, Payload, Structure};
use crate::layouts::Measure;

/// A map that is built from keys and their values, and keeps no keys: the exact value for each of these keys, and for
/// other keys "absent", but for a stated share of them.
///
/// Shared references may be used from many threads at once. What concerns the bytes (saving, verifying) is in [`Image`].
pub struct Map {
    kind: Box<dyn MapKind>,
}

impl core::fmt::Debug for Map {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Map").field("header", self.base().header()).finish_non_exhaustive()
    }
}

impl Image for Map {
    fn payload(&self) -> &dyn Payload {
        &*self.kind
    }

    fn payload_mut(&mut self) -> &mut dyn Payload {
        &mut *self.kind
    }

    fn over(base: Base) -> Result<Map> {
        match base.row().structure {
            Structure::Map { open, .. } => Ok(Map { kind: open(base)? }),
            Structure::Filter { .. } | Structure::StaticFilter { .. } => {
                let name = base.row().name;
                Err(error!(Unsupported, "the image is a filter of the kind {name}, not a map: open it as a filter"))
            }
        }
    }
}

impl Map {
    /// The value of the key with this identity ([`crate::Hasher`] makes it); `None` if the key is certainly not there.
    pub fn get_id(&self, id: u128) -> Option<u64> {
        self.kind.get_one(id)
    }

    /// What the payload tells; its rate is the share of absent keys that are given a value. Reads all of it, once.
    pub fn measure(&self) -> Measure {
        self.kind.measure_with(&mut |_| {})
    }
}
