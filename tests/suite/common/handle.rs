//! A filter or a map, for tests of what both have: their images.

use super::{filled, hash_of};
use petal::contract::Payload;
use petal::{Base, BuilderOptions, Capabilities, Filter, HashFunction, Image, Map, MapBuilder, Result, Spec, row_of};

/// What any image is opened as.
pub enum Handle {
    Filter(Filter),
    Map(Map),
}

impl Image for Handle {
    fn payload(&self) -> &dyn Payload {
        match self {
            Handle::Filter(filter) => filter.payload(),
            Handle::Map(map) => map.payload(),
        }
    }

    fn payload_mut(&mut self) -> &mut dyn Payload {
        match self {
            Handle::Filter(filter) => filter.payload_mut(),
            Handle::Map(map) => map.payload_mut(),
        }
    }

    fn over(base: Base) -> Result<Handle> {
        match base.row().is_map() {
            false => Filter::over(base).map(Handle::Filter),
            true => Map::over(base).map(Handle::Map),
        }
    }
}

impl Handle {
    /// What a spec of any kind makes of the keys with these numbers. In a map each has its parity as its value, which
    /// values of all widths can be; some maps say of a value that it is that or more.
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

    /// Whether key number `i` is there, or may have been lost; in a map with its value.
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
        }
    }
}

/// Whether a lookup of a key with this value may give `read`: the value, or what this value and others join to.
fn is_read(map: &Map, value: u64, read: Option<u64>) -> bool {
    match map.base().row().joined {
        Some(joined) => joined(map.base().geometry(), read, value) == read,
        None => read == Some(value),
    }
}
