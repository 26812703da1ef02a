//! What the library knows of a kind.

use super::{Capabilities, Handle, Knowing, Parts, Structure};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::format::compact::{Packing, Trailer};
use crate::hash::{HashFunction, Hasher};
use crate::sizing::omissions::sum_of_rates;
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::AnyBytes;
use core::sync::atomic::AtomicU64;

/// What the library knows of a kind. `..Row::BASE` stands for what most kinds have.
pub struct Row {
    /// The kind's number in the C API and in images; never reused.
    pub kind: KindId,
    /// The kind's name, the same in Rust, C, C++, Go, the command and the documents.
    pub name: &'static str,
    /// What the kind is, in a sentence.
    pub summary: &'static str,
    /// The version of the kind's payload layout. Images with a later version are refused.
    pub layout_version: u16,
    /// What a filter of this kind with the default parameters can do in its own memory.
    pub capabilities: Capabilities,
    /// The capabilities among these that a filter of this geometry lacks, because of its parameters.
    pub lacks: fn(&Geometry) -> Capabilities,
    /// Capabilities that a filter of this geometry has in addition, because of its parameters.
    pub gains: fn(&Geometry) -> Capabilities,
    /// The parameters that this kind takes beyond those in every spec.
    pub parameters: &'static [&'static Parameter],
    /// A value of a parameter with which a filter may be much smaller, or much more accurate, but a lookup touches more
    /// lines. Plans propose the value where that is so ([`plan`](crate::plan::plan)).
    pub alternative: Option<(&'static Parameter, f64)>,
    /// Which handle the kind has, and how a filter or map of it is made.
    pub structure: Structure,
    /// Which exact sizes the kind takes.
    pub sizes: Sizes,
    /// The least and the greatest number of bits that a key sets, or of places that it has, if a spec may choose it.
    pub hashes: (u32, u32),
    /// The geometry that a spec asks for; for a kind that is built from its keys, the expected one.
    /// [`Row::geometry_of`] has already refused what every kind refuses.
    pub geometry: fn(&Spec, Size) -> Result<Geometry>,
    /// The part of a geometry that two filters must have in common to be combined: all of it, unless a filter's
    /// geometry changes.
    pub identity: fn(&Geometry) -> Geometry,
    /// Cache lines that a lookup of a present key touches.
    pub lines_per_lookup: fn(&Geometry) -> f64,
    /// The exact false-positive rate of a geometry with this many distinct keys; for a map, the share of absent keys
    /// that get a value.
    pub false_positive_rate: fn(&Geometry, u64) -> f64,
    /// The greatest error of a filter's two rates, the expected one and that of its bits, as a share of the true rate.
    /// 0 if the formulas are exact.
    pub rate_error: fn(f64) -> f64,
    /// The least false-positive rate that a spec with these parameters may ask for at a capacity. The result is 0 if
    /// the kind reaches every rate, and 1 if it has no rate to choose.
    pub least_rate: fn(&Spec, u64) -> f64,
    /// For a kind that is built from all of its keys, the bytes that building takes for this many keys on one thread,
    /// besides the payload and the collected keys, if they are in memory.
    pub build_memory: fn(u64) -> u64,
    /// For a kind whose size depends on its keys' hashes, and not only on their number: the most bytes of a payload
    /// with this many keys, if this geometry is the expected one. One payload in many millions may be larger.
    pub most_bytes: Option<fn(&Geometry, u64) -> u64>,
    /// Whether the payload depends only on which keys there are (and, if they are counted, how often), and not on their
    /// order.
    pub is_canonical: bool,
    /// What happens to a filter that is given more keys than its capacity.
    pub overfill: Overfill,
    /// Whether a filter that was made for a capacity and holds that many keys refuses every key that it does not find,
    /// even if it has room. Such a filter never exceeds the rate that it promises.
    pub keeps_to_capacity: bool,
    /// For a kind in which every copy of a key takes a place: how many copies of one key a filter of this geometry
    /// holds at most. One more is refused ([`Status::Full`](crate::Status::Full)). A capacity counts distinct keys.
    /// Copies of one key are near each other, and take more room than that many keys.
    pub copies: Option<fn(&Geometry) -> u64>,
    /// For a kind in which a key does not always take one place of a capacity: how many places a key takes in a filter
    /// of this geometry if it was offered this many times.
    pub places: Option<fn(&Geometry, u64) -> u64>,
    /// For maps that take several values for a key ([`Capabilities::PUT`]): the value that an old value, or `None`, and
    /// a put value join to. A lookup of the key then gives this value. The order of values makes no difference, and a
    /// value that is put again changes nothing. At its false-positive rate a map may also join in values of other keys.
    pub joined: Option<Joined>,
    /// What the compact form has to say of a geometry in addition to the payload's length and `hashes`. That is only
    /// the padding, unless the kind has its own words. A geometry that cannot be read back from the form has no compact
    /// form.
    pub compact: fn(&mut Packing, &mut Geometry),
    /// For a kind whose geometry may hold more keys than it was asked for: how many keys it is made for. With that
    /// number a spec of exact bits recreates the geometry.
    pub made_for: Option<fn(&Geometry) -> u64>,
    /// The words that most filters of this capacity have. A packed form leaves them out, so they must never change.
    pub usual_words: fn(u64) -> [u64; 8],
    /// How a hash is looked up in a payload of this kind without a handle. Kinds without this are opened for each
    /// lookup.
    pub in_bytes: Option<InBytes>,
    /// Whether an insertion or removal moves what other keys left. A reader of the same image in place could miss an
    /// entry while it moves, so such a kind is not written in place.
    pub moves_entries: bool,
    /// Whether the kind has a power of two of places, and so may fill only half of a given memory.
    pub is_power_of_two: bool,
    /// Whether the kind takes keys whole and hashes them itself, as a foreign format does. The hash function of such a
    /// kind is [`HashFunction::Format`].
    pub hashes_keys_itself: bool,
    /// Whether filters of this kind can cut the positions of a key out of a digest ([`HashFunction::Digest`]).
    pub takes_digests: bool,
    /// How many of this many distinct keys an empty filter of this geometry takes for known on average, or refuses.
    /// Given for kinds in which that is not the sum of the rates ([`Row::expected_omissions`]).
    pub omissions: Option<fn(&Geometry, u64) -> f64>,
    /// For a kind that forgets keys, the probability that a key is not found after this many others came, averaged over
    /// all phases of a window. For a kind that loses keys because others are removed, the probability after this many
    /// were removed. Other kinds lose none.
    pub false_negative_rate: Option<fn(&Geometry, u64) -> f64>,
    /// The window of a geometry, for kinds that forget their oldest keys.
    pub window: Option<fn(&Geometry) -> Window>,
    /// For a kind whose keys are the integers below a bound and are not hashed ([`HashFunction::Identity`]): that
    /// bound, the universe of a geometry. The kind refuses to insert other keys:
    /// [`Status::OutOfRange`](crate::Status::OutOfRange).
    pub universe: Option<fn(&Geometry) -> u64>,
    /// For a kind whose builders also take excluded keys, for which its filters give no false answer: how many members
    /// a payload of a geometry holds. The order of such a kind ([`Structure::StaticFilter`]) leaves the lowest bit of a
    /// record 0. The record of an excluded key has 1 there.
    pub excludes: Option<fn(&Geometry, &[AtomicU64]) -> u64>,
    /// Whether a filter of this geometry takes keys whole, because it hashes a part of each key separately.
    pub takes_whole: fn(&Geometry) -> bool,
    /// What builders need for a kind that divides its keys by their prefixes, or brings a filter up to date.
    pub parts: Option<Parts>,
    /// Whether the kind's builders also take frequent non-members: keys that are not members, with weights.
    pub takes_frequent: bool,
    /// For a kind that takes excluded keys or frequent non-members: what to expect of a spec with such other keys.
    pub knowing: Option<Knowing>,
}

/// The value that an old value of a key, or `None`, and a put value join to: [`Row::joined`].
pub type Joined = fn(&Geometry, Option<u64>, u64) -> Option<u64>;

/// How a hash is looked up in a payload at any address, without a handle and without allocating memory.
#[derive(Clone, Copy)]
pub struct InBytes {
    /// Whether the hash may be in this payload with such a trailer. `None` if the kind cannot have such a trailer, or
    /// needs the payload at a multiple of 8.
    pub contains: fn(&Trailer, AnyBytes, u64) -> Option<bool>,
    /// Asks for the cache lines that [`InBytes::contains`] reads first.
    pub fetch: fn(&Trailer, AnyBytes, u64),
}

/// The meaning of a spec's `bits` for a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// The exact size, a multiple of this many bits. Such a size recreates a geometry.
    Multiples(u64),
    /// The most bits, for a capacity that has to be given too: the filter gets the lowest rate that fits. Capacity,
    /// rate and parameters recreate a geometry.
    ByKeys,
}

/// The keys that a filter remembers if it forgets its oldest ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// For how many steps of time a key is found. The next step forgets the key.
    pub steps: u64,
    /// How many insertions make a step, so that the last `steps * keys` keys are found. `None` if time moves on only
    /// when a caller asks for it ([`Age`](super::Age)).
    pub keys: Option<u64>,
}

/// What happens to a filter that is given more keys than its capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overfill {
    /// The filter's false-positive rate rises, in the end to 1.
    RateRises,
    /// The filter refuses further keys: [`Status::Full`](crate::Status::Full).
    Refuses,
    /// The filter grows and keeps its rate. An image in place cannot grow, and refuses keys when it is full.
    Grows,
    /// The filter takes no keys after it was built.
    IsBuilt,
    /// The filter keeps its rate and forgets the oldest keys. The filter's capacity is the window that it remembers.
    Forgets,
}

/// The error of a build that can only open images.
#[cfg(petal_reads_only)]
#[cold]
fn cannot_make() -> crate::Error {
    error!(UnsupportedByBuild, "this build opens filters and makes none")
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
        alternative: None,
        structure: Structure::Filter { open: |base| Err(base.foreign_geometry()) },
        sizes: Sizes::ByKeys,
        hashes: (0, 0),
        geometry: |_, _| Err(crate::Status::Internal.into()),
        identity: |geometry| *geometry,
        lines_per_lookup: |_| 1.0,
        false_positive_rate: |_, _| 1.0,
        rate_error: |_| 0.0,
        least_rate: |_, _| 0.0,
        build_memory: |_| 0,
        most_bytes: None,
        is_canonical: true,
        overfill: Overfill::RateRises,
        keeps_to_capacity: false,
        copies: None,
        places: None,
        joined: None,
        compact: Packing::PADDING,
        made_for: None,
        usual_words: |_| [0; 8],
        in_bytes: None,
        moves_entries: false,
        is_power_of_two: false,
        takes_whole: |_| false,
        parts: None,
        hashes_keys_itself: false,
        takes_digests: false,
        omissions: None,
        false_negative_rate: None,
        window: None,
        universe: None,
        excludes: None,
        takes_frequent: false,
        knowing: None,
    };

    /// The capabilities of a filter of this geometry in its own memory.
    pub fn capabilities_of(&self, geometry: &Geometry) -> Capabilities {
        self.capabilities.without((self.lacks)(geometry)).with((self.gains)(geometry))
    }

    /// The only hash function that filters of this kind have, if there is just one.
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
            None if hash == HashFunction::Digest => self.takes_digests,
            None => ![HashFunction::Format, HashFunction::Identity].contains(&hash),
        }
    }

    /// The hasher of a filter of this kind that a spec describes. In a kind that has its own hash function, the default
    /// of a spec means that function.
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
            (None, HashFunction::Digest) if !self.takes_digests => {
                Err(error!(Contradiction, "hash = digest is for filters of the kind bloom, not for {name}"))
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
    /// The result is the sum of the false-positive rates before each key. A filter that keeps to its capacity also
    /// refuses all keys that come after it; capacity 0 means that it has none.
    pub fn expected_omissions(&self, geometry: &Geometry, capacity: u64, keys: u64) -> f64 {
        let omissions = match self.omissions {
            Some(omissions) => omissions(geometry, keys),
            None => sum_of_rates(keys, |before| (self.false_positive_rate)(geometry, before)),
        };
        let is_bound = self.keeps_to_capacity && capacity > 0;
        omissions.max(if is_bound { keys.saturating_sub(capacity) as f64 } else { 0.0 })
    }

    /// The false-positive rate of a filter of this geometry that was made for `capacity`, or for none if that is 0,
    /// after `keys` distinct keys were inserted to it.
    pub fn expected_false_positive_rate(&self, geometry: &Geometry, capacity: u64, keys: u64) -> f64 {
        let keys = match self.omissions.filter(|_| self.keeps_to_capacity && capacity > 0) {
            // A filter of this capacity is full after this many keys.
            Some(omissions) => keys.min(capacity.saturating_add(omissions(geometry, capacity) as u64)),
            None => keys,
        };
        (self.false_positive_rate)(geometry, keys)
    }

    /// Refuses kinds that never say whether a key is new.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported).
    pub(crate) fn check_omits(&self) -> Result<()> {
        match self.capabilities.contains(Capabilities::INSERT) {
            true => Ok(()),
            false => Err(error!(Unsupported, "{} takes no keys one by one, so that it omits none", self.name)),
        }
    }

    /// The handle of the kind.
    pub fn handle(&self) -> Handle {
        match self.structure {
            Structure::Filter { .. } | Structure::StaticFilter { .. } => Handle::Filter,
            Structure::Map { .. } | Structure::StaticMap { .. } => Handle::Map,
            Structure::Sketch { .. } => Handle::Sketch,
            Structure::Own { handle, .. } => handle,
        }
    }

    /// Whether the kind is a kind of map.
    pub fn is_map(&self) -> bool {
        self.handle() == Handle::Map
    }

    /// Whether a filter or map of the kind is made empty. Otherwise it is built from all of its keys.
    pub fn is_made_empty(&self) -> bool {
        !matches!(self.structure, Structure::StaticFilter { .. } | Structure::StaticMap { .. })
    }

    /// What is left of a row in a build that only opens images and looks keys up (`--cfg petal_reads_only`). No row
    /// makes a filter there, so nothing reaches the code that builds, and the linker drops it.
    #[cfg(petal_reads_only)]
    pub(crate) const fn for_readers(self) -> Row {
        let structure = match self.structure {
            Structure::StaticFilter { open, order, .. } => {
                Structure::StaticFilter { open, build: |_| Err(cannot_make()), order }
            }
            Structure::StaticMap { open, .. } => Structure::StaticMap { open, build: |_| Err(cannot_make()) },
            structure => structure,
        };
        Row {
            structure,
            geometry: |_, _| Err(cannot_make()),
            false_positive_rate: Row::BASE.false_positive_rate,
            least_rate: Row::BASE.least_rate,
            build_memory: Row::BASE.build_memory,
            lines_per_lookup: Row::BASE.lines_per_lookup,
            most_bytes: None,
            omissions: None,
            false_negative_rate: None,
            made_for: None,
            in_bytes: None,
            parts: None,
            ..self
        }
    }

    /// Whether a filter of the kind can be changed where its image lies.
    pub fn is_changed_in_place(&self) -> bool {
        self.is_made_empty() && !self.moves_entries
    }

    /// The unit of exact sizes, in bits.
    pub fn bits_unit(&self) -> u64 {
        match self.sizes {
            Sizes::Multiples(unit) => unit,
            Sizes::ByKeys => 1,
        }
    }

    /// Refuses a geometry with a choice that this version does not know, such as the kind of a level: a later version
    /// made it.
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

    /// Refuses to write an image of this kind in place if nothing could change it, or if its readers would get wrong
    /// answers meanwhile.
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
}
