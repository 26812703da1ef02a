//! What the library knows of a kind.

use super::{Base, Build, Built, Capabilities, Entry, Kind, MapKind, SketchKind};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::format::compact::{Packing, Trailer};
use crate::hash::{HashFunction, Hasher};
use crate::sizing::omissions::sum_of_rates;
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::AnyBytes;

/// What the library knows of a kind. `..Row::BASE` stands for what most kinds have.
pub struct Row {
    /// The kind's number in the C API and in images; never reused.
    pub kind: KindId,
    /// The kind's name, the same in Rust, C, C++, Go, the command and the documents.
    pub name: &'static str,
    /// What the kind is, in a sentence.
    pub summary: &'static str,
    /// The version of its payload layout; images of a later one are refused.
    pub layout_version: u16,
    /// What a filter of this kind with the default parameters can do in memory of its own.
    pub capabilities: Capabilities,
    /// What of that a filter of this geometry cannot do, because of its parameters.
    pub lacks: fn(&Geometry) -> Capabilities,
    /// Capabilities that a filter of this geometry has in addition, because of its parameters.
    pub gains: fn(&Geometry) -> Capabilities,
    /// The parameters that this kind takes beyond what every spec holds.
    pub parameters: &'static [&'static Parameter],
    /// What handle the kind has, and how a filter or map of it comes to be.
    pub structure: Structure,
    /// What exact sizes the kind takes.
    pub sizes: Sizes,
    /// The least and the greatest number of bits that a key sets, or places that it has, where a spec may say it.
    pub hashes: (u32, u32),
    /// The geometry that a spec asks for; for a kind that is built from its keys, the expected one.
    /// [`Row::geometry_of`] has refused before what every kind refuses.
    pub geometry: fn(&Spec, Size) -> Result<Geometry>,
    /// The part of a geometry that two filters must have in common to combine: all of it, unless a filter's geometry
    /// changes.
    pub identity: fn(&Geometry) -> Geometry,
    /// Cache lines that a lookup of a present key touches.
    pub lines_per_lookup: fn(&Geometry) -> f64,
    /// The exact false-positive rate of a geometry with so many distinct keys; of a map, the share of absent keys that
    /// are given a value.
    pub false_positive_rate: fn(&Geometry, u64) -> f64,
    /// The greatest error of a filter's two rates, the expected one and that of its bits, as a share of the true
    /// rate. 0 where formulas are exact.
    pub rate_error: fn(f64) -> f64,
    /// For a kind that is built from all of its keys, the bytes that building so many keys takes on one thread. The
    /// payload and the collected keys, which lie in memory, come in addition.
    pub build_memory: fn(u64) -> u64,
    /// For a kind whose size depends on the hashes of its keys, and not only on their number: the most bytes of a
    /// payload with so many keys, where this geometry is expected. One payload in many millions may be larger.
    pub most_bytes: Option<fn(&Geometry, u64) -> u64>,
    /// Whether the payload depends only on which keys there are (and, where they are counted, how often), and not on
    /// their order.
    pub is_canonical: bool,
    /// What becomes of a filter that is given more keys than its capacity.
    pub overfill: Overfill,
    /// Whether a filter that was made for a capacity takes no key which it does not find once it holds so many, though
    /// it has room: so it never passes the rate that it promises.
    pub keeps_to_capacity: bool,
    /// How many copies of one key a filter of this geometry holds at most, of a kind in which every copy takes a place:
    /// one more is refused ([`Status::Full`](crate::Status::Full)). A capacity is one of distinct keys: copies, which
    /// are near each other, take more room than as many keys.
    pub copies: Option<fn(&Geometry) -> u64>,
    /// How many places of a capacity a key takes in a filter of this geometry that was offered so often, of a kind in
    /// which that is not always one.
    pub places: Option<fn(&Geometry, u64) -> u64>,
    /// What the compact form has to say of a geometry beside the payload's length and `hashes`. Nothing but the
    /// padding, unless the kind has words of its own; a geometry that does not come back from it has no compact form.
    pub compact: fn(&mut Packing, &mut Geometry),
    /// Of a kind whose geometry may be for more keys than it was made for: how many these are. With them a spec of
    /// exact bits recreates it.
    pub made_for: Option<fn(&Geometry) -> u64>,
    /// How a hash is looked up in a payload of this kind without a handle. Kinds without it are opened for that.
    pub in_bytes: Option<InBytes>,
    /// Whether an insertion or removal moves what other keys left. A reader of the same image in place would miss them
    /// meanwhile, so such a kind is not written in place.
    pub moves_entries: bool,
    /// Whether it has a power of two of places, so that it may fill a given memory by no more than half.
    pub is_power_of_two: bool,
    /// Whether it takes keys whole and hashes them itself, as a foreign format does: its hash function is
    /// [`HashFunction::Format`].
    pub hashes_keys_itself: bool,
    /// How many of so many distinct keys an empty filter of this geometry takes for known on average, or refuses, where
    /// that is not the sum of its rates ([`Row::expected_omissions`]).
    pub omissions: Option<fn(&Geometry, u64) -> f64>,
    /// The probability that a key is not found once so many others came after it, of a kind that forgets keys; on
    /// average over all phases of a window. Of a kind that loses keys because others are removed, the probability once
    /// so many were. Other kinds lose none.
    pub false_negative_rate: Option<fn(&Geometry, u64) -> f64>,
    /// Of a kind that forgets its oldest keys, and no other: the window of a geometry.
    pub window: Option<fn(&Geometry) -> Window>,
    /// Of a kind whose keys are the integers below a bound and are not hashed ([`HashFunction::Identity`]): that bound,
    /// the universe of a geometry. It refuses to insert others: [`Status::OutOfRange`](crate::Status::OutOfRange).
    pub universe: Option<fn(&Geometry) -> u64>,
}

/// What handle a kind has, and how one comes to be.
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
        /// A bijection that hashes pass before they are sorted, for kinds whose work is divided by the high bits: those
        /// of hashes from elsewhere may be weak. What is built is built from its results.
        order: fn(u64) -> u64,
    },
    /// A map that is made empty and takes keys with their values one by one.
    Map {
        /// A map over a payload of this kind; refuses a geometry that the kind cannot have.
        open: fn(Base) -> Result<Box<dyn MapKind>>,
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
}

/// The handles that kinds have: what callers call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handle {
    /// A [`Filter`](crate::Filter).
    Filter,
    /// A [`Map`](crate::Map).
    Map,
    /// A [`Sketch`](crate::Sketch).
    Sketch,
}

impl Handle {
    /// The word for one of this handle.
    pub fn name(self) -> &'static str {
        match self {
            Handle::Filter => "filter",
            Handle::Map => "map",
            Handle::Sketch => "sketch",
        }
    }

    /// The word for several of this handle.
    pub fn plural(self) -> &'static str {
        match self {
            Handle::Filter => "filters",
            Handle::Map => "maps",
            Handle::Sketch => "sketches",
        }
    }

    /// The handle of the kinds in whose range this number is, of those that later versions may have: an older library
    /// can say what it met.
    pub fn of_number(kind: u32) -> &'static str {
        match kind {
            0..256 => "filter or map",
            256..512 => "sketch",
            512..768 => "index",
            _ => "handle of its own",
        }
    }
}

/// How a hash is looked up in a payload at any address, without a handle and without taking memory.
#[derive(Clone, Copy)]
pub struct InBytes {
    /// Whether the hash may be in this payload with such a trailer; `None` if the kind cannot have one like it, or has
    /// to have the payload at a multiple of 8.
    pub contains: fn(&Trailer, AnyBytes, u64) -> Option<bool>,
    /// Asks for the cache lines that this looks at first.
    pub fetch: fn(&Trailer, AnyBytes, u64),
}

/// What the `bits` of a spec mean to a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// The exact size, a multiple of so many bits. It recreates a geometry.
    Multiples(u64),
    /// At most so many, for a capacity that has to be given too: the lowest rate that fits. Capacity, rate and
    /// parameters recreate a geometry.
    ByKeys,
}

/// What a filter that forgets its oldest keys remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// How many steps of time a key is found for: it is forgotten with a later one.
    pub steps: u64,
    /// How many insertions make a step, so that the last `steps * keys` keys are found; `None` where time is only moved
    /// on by those who ask for it ([`Age`](super::Age)).
    pub keys: Option<u64>,
}

/// What becomes of a filter that is given more keys than its capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overfill {
    /// The filter's false-positive rate rises, in the end to 1.
    RateRises,
    /// The filter refuses further keys: [`Status::Full`](crate::Status::Full).
    Refuses,
    /// It grows and keeps its rate, but for an image in place, which refuses keys when it is full.
    Grows,
    /// The filter takes no keys after it was built.
    IsBuilt,
    /// It keeps its rate and forgets the oldest keys: its capacity is the window that it remembers.
    Forgets,
}

impl Row {
    /// The values that most kinds have.
    pub const BASE: Row = Row {
        kind: KindId(0),
        name: "",
        summary: "",
        layout_version: 1,
        capabilities: Capabilities::NONE,
        lacks: |_| Capabilities::NONE,
        gains: |_| Capabilities::NONE,
        parameters: &[],
        structure: Structure::Filter { open: |base| Err(base.foreign_geometry()) },
        sizes: Sizes::ByKeys,
        hashes: (0, 0),
        geometry: |_, _| Err(crate::Status::Internal.into()),
        identity: |geometry| *geometry,
        lines_per_lookup: |_| 1.0,
        false_positive_rate: |_, _| 1.0,
        rate_error: |_| 0.0,
        build_memory: |_| 0,
        most_bytes: None,
        is_canonical: true,
        overfill: Overfill::RateRises,
        keeps_to_capacity: false,
        copies: None,
        places: None,
        compact: Packing::PADDING,
        made_for: None,
        in_bytes: None,
        moves_entries: false,
        is_power_of_two: false,
        hashes_keys_itself: false,
        omissions: None,
        false_negative_rate: None,
        window: None,
        universe: None,
    };

    /// What a filter of this geometry can do in memory of its own.
    pub fn capabilities_of(&self, geometry: &Geometry) -> Capabilities {
        self.capabilities.without((self.lacks)(geometry)).with((self.gains)(geometry))
    }

    /// The hash function that filters of this kind have and no other, if there is one.
    fn own_hash(&self) -> Option<HashFunction> {
        match self.universe {
            _ if self.hashes_keys_itself => Some(HashFunction::Format),
            Some(_) => Some(HashFunction::Identity),
            None => None,
        }
    }

    /// The hash functions that a spec of this kind may choose.
    pub fn hash_functions(&self) -> &'static [HashFunction] {
        match self.own_hash() {
            None => &HashFunction::ALL,
            Some(HashFunction::Identity) => &[HashFunction::Identity],
            Some(_) => &[HashFunction::Format],
        }
    }

    /// Whether filters of this kind can have this hash function.
    pub(crate) fn can_have(&self, hash: HashFunction) -> bool {
        match self.own_hash() {
            Some(own) => own == hash,
            None => ![HashFunction::Format, HashFunction::Identity].contains(&hash),
        }
    }

    /// The hasher of a filter of this kind that a spec describes. A kind with a hash function of its own takes the
    /// default one for it.
    ///
    /// # Errors
    /// As [`Hasher::new`], and [`Status::Contradiction`](crate::Status::Contradiction) for a hash function that the
    /// kind cannot have.
    pub fn hasher(&self, spec: &Spec) -> Result<Hasher> {
        let Spec { hash, seed, ref key, .. } = *spec;
        let name = self.name;
        match (self.own_hash(), hash) {
            (Some(own), _) if hash == own || hash == HashFunction::Xxh3 => Hasher::new(own, seed, key.as_ref()),
            (Some(HashFunction::Identity), _) => {
                Err(error!(Contradiction, "hash = {hash} has no meaning for {name}, whose keys are integers"))
            }
            (Some(_), _) => Err(error!(Contradiction, "hash = {hash} has no meaning for {name}, which has its own")),
            (None, HashFunction::Format) => {
                Err(error!(Contradiction, "hash = format is for kinds of other systems' bytes, not for {name}"))
            }
            (None, HashFunction::Identity) => {
                Err(error!(Contradiction, "hash = identity is for kinds whose keys are integers, not for {name}"))
            }
            (None, HashFunction::Xxph3 | HashFunction::SipHash24) if self.is_map() => {
                Err(error!(Contradiction, "hash = {hash} has 64 bits, and maps such as {name} know keys by 128"))
            }
            (None, _) => spec.hasher(),
        }
    }

    /// How many of `keys` distinct keys are omitted on average when they are inserted, one after the other, into an
    /// empty filter of this geometry. A key is omitted if the insertion says that the key may have been there, or if
    /// the filter refuses the key. A search that goes on only from new keys loses these.
    ///
    /// The sum of the false-positive rates before each key. A filter that keeps to its capacity (0 is none) refuses
    /// those that come after it.
    pub fn expected_omissions(&self, geometry: &Geometry, capacity: u64, keys: u64) -> f64 {
        let omissions = match self.omissions {
            Some(omissions) => omissions(geometry, keys),
            None => sum_of_rates(keys, |before| (self.false_positive_rate)(geometry, before)),
        };
        let is_bound = self.keeps_to_capacity && capacity > 0;
        omissions.max(if is_bound { keys.saturating_sub(capacity) as f64 } else { 0.0 })
    }

    /// The false-positive rate of a filter of this geometry that was made for a capacity (0 is none) and offered so
    /// many distinct keys.
    pub fn expected_false_positive_rate(&self, geometry: &Geometry, capacity: u64, keys: u64) -> f64 {
        let keys = match self.omissions.filter(|_| self.keeps_to_capacity && capacity > 0) {
            // So many keys fill a filter of this capacity.
            Some(omissions) => keys.min(capacity.saturating_add(omissions(geometry, capacity) as u64)),
            None => keys,
        };
        (self.false_positive_rate)(geometry, keys)
    }

    /// Refuses kinds that say of no key whether it is new.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported).
    pub(crate) fn check_omits(&self) -> Result<()> {
        match self.capabilities.contains(Capabilities::INSERT) {
            true => Ok(()),
            false => Err(error!(Unsupported, "{} takes no keys one by one, so that it omits none", self.name)),
        }
    }

    /// The handle that it has.
    pub fn handle(&self) -> Handle {
        match self.structure {
            Structure::Filter { .. } | Structure::StaticFilter { .. } => Handle::Filter,
            Structure::Map { .. } | Structure::StaticMap { .. } => Handle::Map,
            Structure::Sketch { .. } => Handle::Sketch,
        }
    }

    /// Whether it is a map.
    pub fn is_map(&self) -> bool {
        self.handle() == Handle::Map
    }

    /// Whether a filter or map of it is made empty; otherwise it is built from all of its keys.
    pub fn is_made_empty(&self) -> bool {
        matches!(self.structure, Structure::Filter { .. } | Structure::Map { .. } | Structure::Sketch { .. })
    }

    /// Exact sizes are multiples of so many bits.
    pub fn bits_unit(&self) -> u64 {
        match self.sizes {
            Sizes::Multiples(unit) => unit,
            Sizes::ByKeys => 1,
        }
    }

    /// Refuses a geometry with a choice that this version does not know, a level's kind for one: a later version made
    /// it.
    ///
    /// # Errors
    /// [`Status::NewerVersion`](crate::Status::NewerVersion).
    pub(crate) fn check_choices(&self, geometry: &Geometry) -> Result<()> {
        for parameter in self.parameters {
            let (Domain::Choice(names), Some(word)) = (parameter.domain, parameter.word) else { continue };
            let (number, name) = (geometry.words[word], parameter.name);
            if number >= names.len() as u64 {
                let kind = self.name;
                return Err(error!(NewerVersion, "{name} = {number} of the kind {kind} is not known to this version"));
            }
        }
        Ok(())
    }

    /// The parameter with this name.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().copied().find(|parameter| parameter.name == name)
    }

    /// Refuses to write an image of this kind in place where nothing could change it, or readers of it would be
    /// answered wrongly meanwhile.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported).
    pub(crate) fn check_in_place(&self) -> Result<()> {
        let name = self.name;
        if self.is_map() && self.capabilities.without(Capabilities::WRITING) == self.capabilities {
            return Err(error!(
                Unsupported,
                "{name} never changes once it is built: open it for reading (mode read), or load a copy (mode load)"
            ));
        }
        if !self.moves_entries {
            return Ok(());
        }
        Err(error!(Unsupported, "{name} moves entries when it changes: load a copy (mode load), change and save that"))
    }

    /// The geometry that a spec asks for, which is one of this kind.
    ///
    /// # Errors
    /// Those of [`Spec::size`]; [`Status::OutOfRange`](crate::Status::OutOfRange),
    /// [`Status::Contradiction`](crate::Status::Contradiction) and [`Status::TooLarge`](crate::Status::TooLarge), each
    /// naming what is allowed.
    pub fn geometry_of(&self, spec: &Spec) -> Result<Geometry> {
        let size = spec.size()?;
        if let Size::Exact { capacity, bits, hashes } = size {
            self.check_exact(capacity, bits, hashes)?;
        }
        (self.geometry)(spec, size)
    }

    fn check_exact(&self, capacity: u64, bits: u64, hashes: u32) -> Result<()> {
        let (least, most) = self.hashes;
        let needs_capacity = match self.sizes {
            Sizes::Multiples(unit) if !bits.is_multiple_of(unit) => {
                return Err(error!(OutOfRange, "bits = {bits} is not a multiple of {unit}"));
            }
            Sizes::Multiples(_) => hashes == 0 && least < most,
            Sizes::ByKeys => true,
        };
        if hashes != 0 && !(least..=most).contains(&hashes) {
            let name = self.name;
            return Err(match (least, most) {
                (_, 0) => error!(OutOfRange, "hashes = {hashes} has no meaning for {name}: leave it 0"),
                (least, most) if least == most => error!(OutOfRange, "hashes = {hashes} is not the {most} of {name}"),
                _ => error!(OutOfRange, "hashes = {hashes} with bits = {bits} is not from {least} to {most}"),
            });
        }
        if capacity == 0 && needs_capacity {
            return Err(match self.sizes {
                Sizes::Multiples(_) => {
                    error!(Contradiction, "bits = {bits} needs hashes, or a capacity to choose them for")
                }
                Sizes::ByKeys => error!(Contradiction, "bits = {bits} of {} needs a capacity", self.name),
            });
        }
        if bits >= 1 << 63 {
            return Err(error!(TooLarge, "bits = {bits} are more than the address space holds"));
        }
        Ok(())
    }
}
