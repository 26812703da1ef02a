//! What a kind of map implements.

use super::change::mark_each;
use super::{Capabilities, Payload};
use crate::batch::ring::{GROUP, Lookups, Taken};
use crate::blocks::{Measure, View};
use crate::error::{Error, Result, Status, error};
use crate::spec::{Domain, Parameter};

/// The parameter for the bits of a value.
pub const VALUE_BITS: Parameter = Parameter {
    name: "value_bits",
    summary: "bits of a value; 0 takes as many as the largest value needs, which is known when the map is built",
    default: 0.0,
    domain: Domain::Integer(0, 64),
    word: Some(0),
};

/// A kind of map. A map gives the values of the keys that it was built from or was given, and says "absent" for others,
/// except for a stated share of them.
///
/// Many threads may use shared references at the same time. The methods that change a value do nothing by default. A
/// kind that overrides them says so in the capabilities of its row.
pub trait MapKind: Payload {
    /// The value of the key with this identity; `None` if the key certainly is absent.
    fn get_one(&self, id: u128) -> Option<u64>;

    /// Asks for the cache lines that a lookup or a change of this key needs first, if that pays.
    fn fetch(&self, _id: u128) {}

    /// The value of each key of a batch. The lines of the next group are fetched before this group is answered.
    fn get_many(&self, batch: &mut dyn Lookups) {
        let (mut now, mut later) = ([0; GROUP], [0; GROUP]);
        let mut count = batch.next(&mut now);
        while count > 0 {
            let next = batch.next(&mut later);
            later[..next].iter().for_each(|id| self.fetch(*id));
            batch.give(&now.map(|id| self.get_one(id))[..count]);
            (now, count) = (later, next);
        }
    }

    /// The payload for inlined lookups; `None` if the layout has no name.
    fn view(&self) -> Option<View<'_>> {
        None
    }

    /// The greatest value that a key may be given.
    fn greatest_value(&self) -> u64;

    /// The share of absent keys that get a value, given exactly this payload. Reads it, and reports the bytes of every
    /// piece to `progress`.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure;

    /// How many distinct keys there are, according to a measure. The number is exact for a map that was built. `None`
    /// if the map is too full for an estimate.
    fn keys_of(&self, measure: &Measure) -> Option<f64> {
        Some(measure.taken as f64)
    }

    /// In an image in place, the place (in 64-bit words) of one word that a change of this key's value changes and
    /// whose region is not marked yet (`Base::unmarked`); `None` once all are marked.
    fn unmarked(&self, _id: u128) -> Option<usize> {
        self.base().first_unmarked()
    }

    /// Joins a value to the values of a key ([`Row::joined`](super::Row::joined)). Returns whether this changed the
    /// value that a lookup of the key gives. `None`, with nothing done, if the words cannot be written without
    /// preparation, or if the map has no place for the key ([`MapKind::refusal`]).
    fn put_at_once(&mut self, _id: u128, _value: u64) -> Option<bool> {
        None
    }

    /// Replaces the value of a key that is there. Returns false, with nothing done, if the key certainly is absent;
    /// `None` as in [`MapKind::put_at_once`].
    fn replace_at_once(&mut self, _id: u128, _value: u64) -> Option<bool> {
        None
    }

    /// Why the map has no place for a key with this value.
    fn refusal(&self, _id: u128, _value: u64) -> Error {
        self.base().full()
    }

    /// Takes in the entries of another map. The caller has checked that the other is of the same kind and identity.
    ///
    /// # Errors
    /// [`Status::Unsupported`] for kinds that cannot merge; [`Status::Full`] if the map has no places for all keys; the
    /// errors about the words. Nothing has changed then.
    fn merge_with(&mut self, _other: &dyn MapKind) -> Result<()> {
        Err(Status::Unsupported.into())
    }

    /// Forgets all keys.
    ///
    /// # Errors
    /// [`Status::Unsupported`] and others if the words may not be written. Nothing has changed then.
    fn reset(&mut self) -> Result<()> {
        self.base_mut().writable()?.fill(0);
        Ok(())
    }
}

/// Marks, in order, the regions of an image in place that changes of these keys' values touch. Returns how many of the
/// keys may be changed now, and what stopped the next one.
pub(crate) fn mark_entries(kind: &dyn MapKind, ids: &[u128]) -> Taken {
    mark_each(kind.base(), ids, |id| kind.unmarked(*id))
}

/// What a call does with a key and a value.
#[derive(Clone, Copy)]
pub(crate) enum Verb {
    /// [`MapKind::put_at_once`].
    Put,
    /// [`MapKind::replace_at_once`].
    Replace,
}

impl Verb {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Verb::Put => "put",
            Verb::Replace => "replace",
        }
    }

    pub(crate) fn capability(self) -> Capabilities {
        match self {
            Verb::Put => Capabilities::PUT,
            Verb::Replace => Capabilities::REPLACE,
        }
    }

    /// Does it, if the words can be written without preparation.
    #[inline]
    pub(crate) fn at_once(self, kind: &mut dyn MapKind, id: u128, value: u64) -> Option<bool> {
        match self {
            Verb::Put => kind.put_at_once(id, value),
            Verb::Replace => kind.replace_at_once(id, value),
        }
    }
}

/// Refuses a value with more bits than the greatest one.
///
/// # Errors
/// [`Status::OutOfRange`].
pub(crate) fn check_value(value: u64, greatest: u64) -> Result<()> {
    if value <= greatest {
        return Ok(());
    }
    let bits = 64 - greatest.leading_zeros();
    Err(error!(OutOfRange, "value = {value} has more bits than value_bits = {bits}"))
}
