//! What a kind, or a handle, can do.

use core::ops::BitOr;

/// What a kind, or a handle, can do: a set of bits. The numbers are those of the C API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities(pub u64);

impl Capabilities {
    /// Nothing but lookups.
    pub const NONE: Capabilities = Capabilities(0);
    /// Keys can be inserted one by one.
    pub const INSERT: Capabilities = Capabilities(1 << 0);
    /// Can forget all keys in one call.
    pub const CLEAR: Capabilities = Capabilities(1 << 1);
    /// Becomes the union with another filter.
    pub const MERGE: Capabilities = Capabilities(1 << 2);
    /// Becomes a superset of the intersection with another filter.
    pub const INTERSECT: Capabilities = Capabilities(1 << 3);
    /// Can be made smaller by a whole factor.
    pub const FOLD: Capabilities = Capabilities(1 << 4);
    /// Estimates how many distinct keys it holds.
    pub const ESTIMATE: Capabilities = Capabilities(1 << 5);
    /// Keys can be removed one by one.
    pub const REMOVE: Capabilities = Capabilities(1 << 6);
    /// Counts how often a key was inserted.
    pub const COUNT: Capabilities = Capabilities(1 << 7);
    /// Grows past its capacity and keeps its false-positive rate.
    pub const GROW: Capabilities = Capabilities(1 << 8);
    /// Keys can be inserted by many threads at the same time, without locks.
    pub const INSERT_SHARED: Capabilities = Capabilities(1 << 9);

    /// Keys of a map can be given values one by one, at any time. A key that already has a value gets the join of both.
    pub const PUT: Capabilities = Capabilities(1 << 10);
    /// The values of keys that are in a map can be replaced.
    pub const REPLACE: Capabilities = Capabilities(1 << 11);

    /// Lists what it stores of its keys.
    pub const ENUMERATE: Capabilities = Capabilities(1 << 12);

    /// Can be given another size without its keys. That also changes the rate.
    pub const RESIZE: Capabilities = Capabilities(1 << 13);

    /// Forgets its oldest keys, and its time can be moved on.
    pub const AGE: Capabilities = Capabilities(1 << 14);
    /// May say of keys that are there that they are absent. This is not an ability, but a property that callers have to
    /// know of: [`plan`](crate::plan) proposes such kinds only to callers who ask for them.
    pub const MAY_LOSE_KEYS: Capabilities = Capabilities(1 << 15);

    /// The entry of a key that has been there for long can be restored to its full length.
    pub const REJUVENATE: Capabilities = Capabilities(1 << 16);

    /// Forgets its oldest keys, and its time can be moved on while others insert.
    pub const AGE_SHARED: Capabilities = Capabilities(1 << 17);

    /// Another sketch can be subtracted.
    pub const SUBTRACT: Capabilities = Capabilities(1 << 18);
    /// Lists the numbers that are there, if there are few.
    pub const LIST: Capabilities = Capabilities(1 << 19);

    /// The capabilities that change a filter while others change it.
    pub const SHARING: Capabilities = Capabilities::INSERT_SHARED.with(Capabilities::AGE_SHARED);

    /// The capabilities that change a filter or a map. A handle for reading lacks them.
    pub const WRITING: Capabilities = Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::INTERSECT)
        .with(Capabilities::FOLD)
        .with(Capabilities::REMOVE)
        .with(Capabilities::REJUVENATE)
        .with(Capabilities::GROW)
        .with(Capabilities::RESIZE)
        .with(Capabilities::AGE)
        .with(Capabilities::PUT)
        .with(Capabilities::REPLACE)
        .with(Capabilities::SUBTRACT);

    /// The capabilities that change the size of a filter. They are missing in place.
    pub const RESIZING: Capabilities = Capabilities::FOLD.with(Capabilities::GROW).with(Capabilities::RESIZE);

    /// Every capability with its name.
    pub const ALL: [(&'static str, Capabilities); 20] = [
        ("insert", Capabilities::INSERT),
        ("clear", Capabilities::CLEAR),
        ("merge", Capabilities::MERGE),
        ("intersect", Capabilities::INTERSECT),
        ("fold", Capabilities::FOLD),
        ("estimate", Capabilities::ESTIMATE),
        ("remove", Capabilities::REMOVE),
        ("count", Capabilities::COUNT),
        ("grow", Capabilities::GROW),
        ("insert_shared", Capabilities::INSERT_SHARED),
        ("put", Capabilities::PUT),
        ("replace", Capabilities::REPLACE),
        ("enumerate", Capabilities::ENUMERATE),
        ("resize", Capabilities::RESIZE),
        ("age", Capabilities::AGE),
        ("may_lose_keys", Capabilities::MAY_LOSE_KEYS),
        ("rejuvenate", Capabilities::REJUVENATE),
        ("age_shared", Capabilities::AGE_SHARED),
        ("subtract", Capabilities::SUBTRACT),
        ("list", Capabilities::LIST),
    ];

    /// Whether all of `other` is in this set.
    pub const fn contains(self, other: Capabilities) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union.
    pub const fn with(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 | other.0)
    }

    /// The capabilities of this set that are not in `other`.
    pub const fn without(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 & !other.0)
    }
}

impl BitOr for Capabilities {
    type Output = Capabilities;

    fn bitor(self, other: Capabilities) -> Capabilities {
        self.with(other)
    }
}
