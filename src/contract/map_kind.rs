//! What a kind of map implements.

use super::change::mark_each;
use super::{Capabilities, Payload};
use crate::batch::ring::{GROUP, Lookups, Taken};
use crate::blocks::Measure;
use crate::error::{Result, Status, error};
use crate::spec::{Domain, Parameter};

/// The bits of a value.
pub const VALUE_BITS: Parameter = Parameter {
    name: "value_bits",
    summary: "bits of a value; 0 takes as many as the largest value needs, which is known when the map is built",
    default: 0.0,
    domain: Domain::Integer(0, 64),
    word: Some(0),
};

/// A kind of map: values for the keys that it was built from or given, and for others "absent", but for a stated share
/// of them.
///
/// Shared references may be used from many threads at once. What changes a value is a default here that does nothing;
/// a kind that does it says so in the capabilities of its row.
pub trait MapKind: Payload {
    /// The value of the key with this identity; `None` if the key is certainly not there.
    fn get_one(&self, id: u128) -> Option<u64>;

    /// Asks for the cache lines that a lookup or a change of this key needs first, where that pays.
    fn fetch(&self, _id: u128) {}

    /// The value of each key of a batch. Those of the next group are fetched before this one is answered.
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

    /// The greatest value that a key may be given.
    fn greatest_value(&self) -> u64;

    /// The share of absent keys that are given a value, given exactly this payload. Reads it, and says to `progress`
    /// after every piece how many bytes that was.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure;

    /// How many distinct keys there are, judging by a measure: of a map that is built exactly; `None` if it is too full
    /// to tell.
    fn keys_of(&self, measure: &Measure) -> Option<f64> {
        Some(measure.taken as f64)
    }

    /// Of an image in place: the place, in 64-bit words, of one of the words that a change of this key's value changes
    /// and whose region is not marked yet (`Base::unmarked`); `None` once all are.
    fn unmarked(&self, _id: u128) -> Option<usize> {
        self.base().first_unmarked()
    }

    /// Joins a value to those of a key. True if what is read of the key was not that much before. `None`, having done
    /// nothing, where the words may not be written without more ado.
    fn put_at_once(&mut self, _id: u128, _value: u64) -> Option<bool> {
        None
    }

    /// Gives a key that is there another value. False, having done nothing, if it certainly is not there; `None` where
    /// the words may not be written without more ado.
    fn replace_at_once(&mut self, _id: u128, _value: u64) -> Option<bool> {
        None
    }

    /// Takes in what another map was given. It was checked that the other is of the same kind and identity.
    ///
    /// # Errors
    /// [`Status::Unsupported`], for kinds that cannot; those of the words.
    fn merge_with(&mut self, _other: &dyn MapKind) -> Result<()> {
        Err(Status::Unsupported.into())
    }

    /// Forgets all keys.
    ///
    /// # Errors
    /// [`Status::Unsupported`] and others if the words may not be written; nothing has changed then.
    fn reset(&mut self) -> Result<()> {
        self.base_mut().writable()?.fill(0);
        Ok(())
    }
}

/// Marks the regions of an image in place that changes of the values of keys change, in order: how many of the keys may
/// be changed now, and what keeps the next one from it.
pub(crate) fn mark_entries(kind: &dyn MapKind, ids: &[u128]) -> Taken {
    mark_each(kind.base(), ids, |id| kind.unmarked(*id))
}

/// What is done with a key and a value.
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

    /// Does it where the words may be written without more ado.
    #[inline]
    pub(crate) fn at_once(self, kind: &mut dyn MapKind, id: u128, value: u64) -> Option<bool> {
        match self {
            Verb::Put => kind.put_at_once(id, value),
            Verb::Replace => kind.replace_at_once(id, value),
        }
    }
}

/// Refuses a value that has more bits than the greatest one.
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
