//! A handle for an image of any kind, for tests of what all images have.

use super::{filled, hash_of};
use petal::contract::Payload;
use petal::{
    Base, BuilderOptions, Capabilities, Filter, HashFunction, Image, Map, MapBuilder, Result, Spec, Structure, row_of,
};

/// A handle for an image of any kind.
pub enum Handle {
    Filter(Filter),
    Map(Map),
    /// A sketch, or a kind that is alone in its handle.
    Other(Box<dyn Payload>),
}

impl Image for Handle {
    fn payload(&self) -> &dyn Payload {
        match self {
            Handle::Filter(filter) => filter.payload(),
            Handle::Map(map) => map.payload(),
            Handle::Other(payload) => &**payload,
        }
    }

    fn payload_mut(&mut self) -> &mut dyn Payload {
        match self {
            Handle::Filter(filter) => filter.payload_mut(),
            Handle::Map(map) => map.payload_mut(),
            Handle::Other(payload) => &mut **payload,
        }
    }

    fn over(base: Base) -> Result<Handle> {
        match base.row().structure {
            Structure::Filter { .. } | Structure::StaticFilter { .. } => Filter::over(base).map(Handle::Filter),
            Structure::Map { .. } | Structure::StaticMap { .. } => Map::over(base).map(Handle::Map),
            Structure::Sketch { open } => open(base).map(|sketch| Handle::Other(sketch)),
            Structure::Own { open, .. } => open(base).map(Handle::Other),
        }
    }
}

impl Handle {
    /// The filter or map of any spec that holds the keys with these numbers. In a map the parity of a number is its
    /// value, which fits values of all widths.
    pub fn of(spec: &Spec, keys: impl IntoIterator<Item = u64>) -> Handle {
        if !row_of(spec).unwrap().is_map() {
            return Handle::Filter(filled(spec, keys));
        }
        let mut builder = MapBuilder::new(spec, BuilderOptions::default()).unwrap();
        for i in keys {
            match spec.hash {
                HashFunction::External => builder.put_hash(hash_of(spec, i), i % 2).unwrap(),
                _ => builder.put_u64(i, i % 2).unwrap(),
            }
        }
        Handle::Map(builder.finish().unwrap())
    }

    /// Whether key number `i` is there or may have been lost. In a map the key also has its value.
    pub fn holds(&self, spec: &Spec, i: u64) -> bool {
        match (self, spec.hash) {
            (Handle::Filter(filter), _) => {
                let may_lose = filter.capabilities().contains(Capabilities::MAY_LOSE_KEYS);
                may_lose || filter.contains_hash(hash_of(spec, i))
            }
            (Handle::Map(map), hash) => {
                let value = match hash {
                    HashFunction::External => map.get_hash(hash_of(spec, i)).unwrap(),
                    _ => map.get_u64(i).unwrap(),
                };
                is_read(map, i % 2, value)
            }
            (Handle::Other(_), _) => unreachable!("a filter or a map"),
        }
    }
}

/// Whether a map may read this for a key with this value: the value, or its join with others.
fn is_read(map: &Map, value: u64, read: Option<u64>) -> bool {
    match map.base().row().joined() {
        Some(joined) => joined(map.base().geometry(), read, value) == read,
        None => read == Some(value),
    }
}
