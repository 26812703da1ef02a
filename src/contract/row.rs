//! What the library knows of a kind.

use super::{Building, Capabilities, Form, Handle, Hashing, Joined, Losses, OtherKeys, Room, Structure, Varying};
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
    /// What a filter of this kind with the default parameters can do in its own memory.
    pub capabilities: Capabilities,
    /// The parameters that this kind takes beyond those in every spec.
    pub parameters: &'static [&'static Parameter],
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
    /// Whether the payload depends only on which keys there are (and, if they are counted, how often), and not on their
    /// order.
    pub is_canonical: bool,
    /// What happens to a filter that is given more keys than its capacity.
    pub overfill: Overfill,
    /// What the compact form has to say of a geometry in addition to the payload's length and `hashes`. That is only
    /// the padding, unless the kind has its own words. A geometry that cannot be read back from the form has no compact
    /// form.
    pub compact: fn(&mut Packing, &mut Geometry),
    /// How a hash is looked up in a payload of this kind without a handle. Kinds without this are opened for each
    /// lookup.
    pub in_bytes: Option<InBytes>,
    /// What the parameters of a filter change.
    pub varying: Varying,
    /// What building takes and gives, for kinds that are built from all of their keys.
    pub building: Building,
    /// How many keys a filter has room for, where that is not simply its capacity.
    pub room: Room,
    /// What is special about the images of a kind.
    pub form: Form,
    /// How keys are hashed, where that is not for a spec alone to choose.
    pub hashing: Hashing,
    /// Keys that were offered and are not found.
    pub losses: Losses,
    /// What builders take beyond the keys of a filter.
    pub others: OtherKeys,
}

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
        capabilities: Capabilities::NONE,
        parameters: &[],
        structure: Structure::Filter { open: |base| Err(base.foreign_geometry()) },
        sizes: Sizes::ByKeys,
        hashes: (0, 0),
        geometry: |_, _| Err(crate::Status::Internal.into()),
        identity: |geometry| *geometry,
        lines_per_lookup: |_| 1.0,
        false_positive_rate: |_, _| 1.0,
        rate_error: |_| 0.0,
        least_rate: |_, _| 0.0,
        is_canonical: true,
        overfill: Overfill::RateRises,
        compact: Packing::PADDING,
        in_bytes: None,
        varying: Varying::BASE,
        building: Building::BASE,
        room: Room::BASE,
        form: Form::BASE,
        hashing: Hashing::BASE,
        losses: Losses::BASE,
        others: OtherKeys::BASE,
    };

    /// The capabilities of a filter of this geometry in its own memory.
    pub fn capabilities_of(&self, geometry: &Geometry) -> Capabilities {
        self.capabilities.without((self.varying.lacks)(geometry)).with((self.varying.gains)(geometry))
    }

    /// The only hash function that filters of this kind have, if there is just one.
    fn own_hash(&self) -> Option<HashFunction> {
        match self.hashing.universe {
            _ if self.hashing.hashes_keys_itself => Some(HashFunction::Format),
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
            None if hash == HashFunction::Digest => self.hashing.takes_digests,
            None if hash == HashFunction::Format => self.hashing.some_hash_keys_themselves,
            None => hash != HashFunction::Identity,
        }
    }

    /// The hasher of a filter of this kind that a spec describes. In a kind that has its own hash function, the default
    /// of a spec means that function.
    ///
    /// # Errors
    /// As [`Hasher::new`], and [`Status::Contradiction`](crate::Status::Contradiction) for a hash function that the
    /// kind cannot have.
    pub fn hasher(&self, spec: &Spec) -> Result<Hasher> {
        let Spec { hash, seed, ref secret, .. } = *spec;
        let name = self.name;
        match (self.own_hash(), hash) {
            (Some(own), _) if hash == own || hash == HashFunction::Xxh3 => Hasher::new(own, seed, secret.as_ref()),
            (Some(HashFunction::Identity), _) => {
                Err(error!(Contradiction, "hash = {hash} has no meaning for {name}, whose keys are integers"))
            }
            (Some(_), _) => Err(error!(Contradiction, "hash = {hash} has no meaning for {name}, which has its own")),
            (None, HashFunction::Format) if !self.hashing.some_hash_keys_themselves => {
                Err(error!(Contradiction, "hash = format is for kinds of other systems' bytes, not for {name}"))
            }
            (None, HashFunction::Identity) => {
                Err(error!(Contradiction, "hash = identity is for kinds whose keys are integers, not for {name}"))
            }
            (None, HashFunction::Digest) if !self.hashing.takes_digests => {
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
        let omissions = match self.losses.omissions {
            Some(omissions) => omissions(geometry, keys),
            None => sum_of_rates(keys, |before| (self.false_positive_rate)(geometry, before)),
        };
        let is_bound = self.room.keeps_to_capacity && capacity > 0;
        omissions.max(if is_bound { keys.saturating_sub(capacity) as f64 } else { 0.0 })
    }

    /// The false-positive rate of a filter of this geometry that was made for `capacity`, or for none if that is 0,
    /// after `keys` distinct keys were inserted to it.
    pub fn expected_false_positive_rate(&self, geometry: &Geometry, capacity: u64, keys: u64) -> f64 {
        let keys = match self.losses.omissions.filter(|_| self.room.keeps_to_capacity && capacity > 0) {
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

    /// How values of a key are joined, for maps that take several.
    pub fn joined(&self) -> Option<Joined> {
        match self.structure {
            Structure::Map { joined, .. } => joined,
            _ => None,
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
            lines_per_lookup: Row::BASE.lines_per_lookup,
            in_bytes: None,
            building: Building::BASE,
            room: Room { made_for: None, ..self.room },
            losses: Losses { window: self.losses.window, ..Losses::BASE },
            others: OtherKeys { parts: None, ..self.others },
            ..self
        }
    }

    /// Whether a filter of the kind can be changed where its image lies.
    pub fn is_changed_in_place(&self) -> bool {
        self.is_made_empty() && !self.form.moves_entries
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
        if !self.form.moves_entries {
            return Ok(());
        }
        Err(error!(Unsupported, "{name} moves entries when it changes: load a copy (mode load), change and save that"))
    }
}
