//! Which handle a kind has, and how a filter or map of the kind is made.

#[cfg(doc)]
use super::Row;
use super::{Base, Build, Built, Entry, Kind, MapKind, Payload, SketchKind};
use crate::error::Result;
use crate::format::Geometry;
use core::fmt;

/// Which handle a kind has, and how a filter or map of the kind is made.
pub enum Structure {
    /// A filter that is made empty and takes keys one by one.
    Filter {
        /// A filter over a payload of this kind; refuses a geometry that the kind cannot have.
        open: fn(Base) -> Result<Box<dyn Kind>>,
    },
    /// A filter that is built from all of its keys.
    StaticFilter {
        /// Puts the kind over a base, as [`Structure::Filter`] does.
        open: fn(Base) -> Result<Box<dyn Kind>>,
        /// Makes the payload.
        build: fn(&mut Build<u64>) -> Result<Built>,
        /// A bijection that hashes pass through before they are sorted, for kinds whose work is divided by the high
        /// bits: those of hashes from elsewhere may be weak. The records of a build are its results. In kinds that take
        /// excluded keys two hashes have one record ([`OtherKeys::excludes`](super::OtherKeys::excludes)).
        order: fn(u64) -> u64,
    },
    /// A map that is made empty and takes keys with their values one by one.
    Map {
        /// A map over a payload of this kind; refuses a geometry that the kind cannot have.
        open: fn(Base) -> Result<Box<dyn MapKind>>,
        /// For maps that take several values for a key ([`Capabilities::PUT`](super::Capabilities::PUT)): the value
        /// that an old value, or `None`, and a put value join to. A lookup of the key then gives this value. The order
        /// of values makes no difference, and a value that is put again changes nothing. At its false-positive rate a
        /// map may also join in values of other keys.
        joined: Option<Joined>,
    },
    /// A map that is built from all of its keys and their values.
    StaticMap {
        /// Puts the kind over a base, as [`Structure::Map`] does.
        open: fn(Base) -> Result<Box<dyn MapKind>>,
        /// Makes the payload.
        build: fn(&mut Build<Entry>) -> Result<Built>,
    },
    /// A sketch, which is made empty and takes numbers one by one.
    Sketch {
        /// A sketch over a payload of this kind; refuses a geometry that the kind cannot have.
        open: fn(Base) -> Result<Box<dyn SketchKind>>,
    },
    /// The only kind of its handle. The handle calls the kind's own type.
    Own {
        /// The handle.
        handle: Handle,
        /// The kind over a payload, for callers that need only what all payloads have; refuses a geometry that the kind
        /// cannot have.
        open: fn(Base) -> Result<Box<dyn Payload>>,
    },
}

/// The value that an old value of a key, or `None`, and a put value join to: [`Structure::Map`].
pub type Joined = fn(&Geometry, Option<u64>, u64) -> Option<u64>;

/// The types of handle that callers use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handle {
    /// A [`Filter`](crate::Filter).
    Filter,
    /// A [`Map`](crate::Map).
    Map,
    /// A [`Sketch`](crate::Sketch).
    Sketch,
    /// A [`Router`](crate::Router).
    Router,
    /// An [`Aggregate`](crate::Aggregate).
    Aggregate,
    /// A [`Digest`](crate::Digest).
    Digest,
    /// An [`Index`](crate::Index).
    Index,
}

impl Handle {
    /// The singular word for this handle.
    pub fn name(self) -> &'static str {
        match self {
            Handle::Filter => "filter",
            Handle::Map => "map",
            Handle::Sketch => "sketch",
            Handle::Router => "router",
            Handle::Aggregate => "aggregate",
            Handle::Digest => "digest",
            Handle::Index => "index",
        }
    }

    /// The singular word with its article.
    pub fn with_article(self) -> &'static str {
        match self {
            Handle::Filter => "a filter",
            Handle::Map => "a map",
            Handle::Sketch => "a sketch",
            Handle::Router => "a router",
            Handle::Aggregate => "an aggregate",
            Handle::Digest => "a digest",
            Handle::Index => "an index",
        }
    }

    /// The plural word for this handle.
    pub fn plural(self) -> &'static str {
        match self {
            Handle::Filter => "filters",
            Handle::Map => "maps",
            Handle::Sketch => "sketches",
            Handle::Router => "routers",
            Handle::Aggregate => "aggregates",
            Handle::Digest => "digests",
            Handle::Index => "indexes",
        }
    }

    /// The handle of the kind with this number, with its article, by the number's range. The kind may be one of a later
    /// version; even then an older library can say what it met.
    pub fn of_number(kind: u32) -> &'static str {
        match kind {
            0..256 => "a filter or map",
            256..512 => "a sketch",
            768..1024 => "a router",
            1024..1280 => "an aggregate",
            1280..1536 => "a digest",
            1536..1792 => "an index",
            _ => "a handle of its own",
        }
    }
}

impl fmt::Display for Handle {
    /// The singular word.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
