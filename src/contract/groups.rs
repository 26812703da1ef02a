//! What only some kinds say of themselves: the groups of a [`Row`].

use super::{Capabilities, Knowing, Partitioning};
#[cfg(doc)]
use super::{Row, Structure};
use crate::format::Geometry;
#[cfg(doc)]
use crate::hash::HashFunction;
use crate::spec::Parameter;
use core::sync::atomic::AtomicU64;

/// What the parameters of a filter change. `..Varying::BASE` stands for what most kinds have.
pub struct Varying {
    /// The capabilities among these that a filter of this geometry lacks, because of its parameters.
    pub lacks: fn(&Geometry) -> Capabilities,
    /// Capabilities that a filter of this geometry has in addition, because of its parameters.
    pub gains: fn(&Geometry) -> Capabilities,
    /// A value of a parameter with which a filter may be much smaller, or much more accurate, but a lookup touches more
    /// lines. Plans propose the value where that is so ([`plan`](crate::plan::plan)).
    pub alternative: Option<(&'static Parameter, f64)>,
}

impl Varying {
    /// The values that most kinds have.
    pub const BASE: Varying =
        Varying { lacks: |_| Capabilities::NONE, gains: |_| Capabilities::NONE, alternative: None };
}

/// What building takes and gives, for kinds that are built from all of their keys.
/// `..Building::BASE` stands for what most kinds have.
pub struct Building {
    /// For a kind that is built from all of its keys, the bytes that building takes for this many keys on one thread,
    /// besides the payload and the collected keys, if they are in memory.
    pub build_memory: fn(u64) -> u64,
    /// For a kind whose size depends on its keys' hashes, and not only on their number: the most bytes of a payload
    /// with this many keys, if this geometry is the expected one. One payload in many millions may be larger.
    pub most_bytes: Option<fn(&Geometry, u64) -> u64>,
}

impl Building {
    /// The values that most kinds have.
    pub const BASE: Building = Building { build_memory: |_| 0, most_bytes: None };
}

/// How many keys a filter has room for, where that is not simply its capacity.
/// `..Room::BASE` stands for what most kinds have.
pub struct Room {
    /// Whether a filter that was made for a capacity and holds that many keys refuses every key that it does not find,
    /// even if it has room. Such a filter never exceeds the rate that it promises.
    pub keeps_to_capacity: bool,
    /// For a kind in which every copy of a key takes a place: how many copies of one key a filter of this geometry
    /// holds at most. One more is refused ([`Status::Full`](crate::Status::Full)). A capacity counts distinct keys.
    /// Copies of one key are near each other, and take more room than that many keys.
    pub copies: Option<fn(&Geometry) -> u64>,
    /// For a kind in which a key does not always take one place of a capacity: how many places a key takes in a filter
    /// of this geometry if it was inserted this many times.
    pub places: Option<fn(&Geometry, u64) -> u64>,
    /// For a kind whose geometry may hold more keys than it was asked for: how many keys it is made for. With that
    /// number a spec of exact bits recreates the geometry.
    pub made_for: Option<fn(&Geometry) -> u64>,
    /// Whether the kind has a power of two of places, and so may fill only half of a given memory.
    pub is_power_of_two: bool,
}

impl Room {
    /// The values that most kinds have.
    pub const BASE: Room =
        Room { keeps_to_capacity: false, copies: None, places: None, made_for: None, is_power_of_two: false };
}

/// What is special about the images of a kind. `..Form::BASE` stands for what most kinds have.
pub struct Form {
    /// The version of the kind's payload layout. Images with a later version are refused.
    pub layout_version: u16,
    /// The words that most filters of this capacity have. A packed form leaves them out, so they must never change.
    pub usual_words: fn(u64) -> [u64; 8],
    /// Whether an insertion or removal moves what other keys left. A reader of the same image in place could miss an
    /// entry while it moves, so such a kind is not written in place.
    pub moves_entries: bool,
}

impl Form {
    /// The values that most kinds have.
    pub const BASE: Form = Form { layout_version: 1, usual_words: |_| [0; 8], moves_entries: false };
}

/// How keys are hashed, where that is not for a spec alone to choose.
/// `..Hashing::BASE` stands for what most kinds have.
pub struct Hashing {
    /// Whether the kind takes keys whole and hashes them itself, as a foreign format does. The hash function of such a
    /// kind is [`HashFunction::Format`].
    pub hashes_keys_itself: bool,
    /// Whether some filters of the kind do so, and others do not. Its `open` says which of its geometries do.
    pub some_hash_keys_themselves: bool,
    /// The hash function of such a kind, if 64 bits are all that it needs of a key. Its filters then take keys as their
    /// hashes, as those of other kinds do.
    pub own: Option<fn(&[u8]) -> u64>,
    /// Whether filters of this kind can cut the positions of a key out of a digest ([`HashFunction::Digest`]).
    pub takes_digests: bool,
    /// Whether a filter of this geometry takes keys whole, because it hashes a part of each key separately.
    pub takes_whole: fn(&Geometry) -> bool,
    /// For a kind whose keys are the integers below a bound and are not hashed ([`HashFunction::Identity`]): that
    /// bound, the universe of a geometry. The kind refuses to insert other keys:
    /// [`Status::OutOfRange`](crate::Status::OutOfRange).
    pub universe: Option<fn(&Geometry) -> u64>,
}

impl Hashing {
    /// The values that most kinds have.
    pub const BASE: Hashing = Hashing {
        hashes_keys_itself: false,
        some_hash_keys_themselves: false,
        own: None,
        takes_digests: false,
        takes_whole: |_| false,
        universe: None,
    };
}

/// Keys that were inserted and are not found. `..Losses::BASE` stands for what most kinds have.
pub struct Losses {
    /// How many of this many distinct keys an empty filter of this geometry takes for known on average, or refuses.
    /// Given for kinds in which that is not the sum of the rates ([`Row::expected_omissions`]).
    pub omissions: Option<fn(&Geometry, u64) -> f64>,
    /// For a kind that forgets keys, the probability that a key is not found after this many others came, averaged over
    /// all phases of a window. For a kind that loses keys because others are removed, the probability after this many
    /// were removed. Other kinds lose none.
    pub false_negative_rate: Option<fn(&Geometry, u64) -> f64>,
    /// The window of a geometry, for kinds that forget their oldest keys.
    pub window: Option<fn(&Geometry) -> Window>,
}

impl Losses {
    /// The values that most kinds have.
    pub const BASE: Losses = Losses { omissions: None, false_negative_rate: None, window: None };
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

/// What builders take beyond the keys of a filter. `..OtherKeys::BASE` stands for what most kinds have.
pub struct OtherKeys {
    /// For a kind whose builders also take excluded keys, for which its filters give no false answer: how many members
    /// a payload of a geometry holds. The order of such a kind ([`Structure::StaticFilter`]) leaves the lowest bit of a
    /// record 0. The record of an excluded key has 1 there.
    pub excludes: Option<fn(&Geometry, &[AtomicU64]) -> u64>,
    /// What builders need for a kind that divides its keys by their prefixes, or brings a filter up to date.
    pub parts: Option<Partitioning>,
    /// Whether the kind's builders also take frequent non-members: keys that are not members, with weights.
    pub takes_frequent: bool,
    /// For a kind that takes excluded keys or frequent non-members: what to expect of a spec with such other keys.
    pub knowing: Option<Knowing>,
}

impl OtherKeys {
    /// The values that most kinds have.
    pub const BASE: OtherKeys = OtherKeys { excludes: None, parts: None, takes_frequent: false, knowing: None };
}
