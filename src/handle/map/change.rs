//! What changes a map: values that are put or replaced, one by one or many, and maps as a whole.

use super::Map;
use crate::batch::answers::Answers;
use crate::batch::keys::Keys;
use crate::batch::ring::Taken;
use crate::contract::{Capabilities, Verb, check_compatible, check_value};
use crate::error::Result;
#[cfg(doc)]
use crate::error::Status;
use crate::handle::image::Image;
use crate::handle::many;

impl Map {
    /// Gives a key a value: joins it to those that the key was given before, as the map's kind says. True if what was
    /// read of the key was not that much before. Constant time.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind or the handle cannot; [`Status::OutOfRange`] for a value that value_bits
    /// cannot hold; [`Status::ExternalHash`] or [`Status::KeyMissing`] where the key cannot be hashed; of an image in
    /// place [`Status::Corrupt`] and what the system reports. The map is then as it was.
    pub fn put(&mut self, key: &[u8], value: u64) -> Result<bool> {
        self.change(self.base().hasher().identify(key)?, value, Verb::Put)
    }

    /// Gives a `u64` key a value; see [`Map::put`].
    ///
    /// # Errors
    /// As [`Map::put`].
    pub fn put_u64(&mut self, key: u64, value: u64) -> Result<bool> {
        self.change(self.base().hasher().identify_u64(key)?, value, Verb::Put)
    }

    /// Gives a key that is known by a 64-bit hash from elsewhere a value; see [`Map::put`].
    ///
    /// # Errors
    /// As [`Map::put`]; [`Status::Unsupported`] unless the map's hash function is an external one.
    pub fn put_hash(&mut self, hash: u64, value: u64) -> Result<bool> {
        self.change(self.base().hasher().identify_hash(hash)?, value, Verb::Put)
    }

    /// Gives the key with this identity a value; see [`Map::put`].
    ///
    /// # Errors
    /// As [`Map::put`].
    pub fn put_id(&mut self, id: u128, value: u64) -> Result<bool> {
        self.change(id, value, Verb::Put)
    }

    /// Gives many keys their values, in order; `values` is as long. `answers` say of each what [`Map::put`] does. All
    /// are taken, unless there is an error: that of [`Map::put`], or [`Status::Offsets`].
    pub fn put_batch(&mut self, keys: &Keys, values: &[u64], answers: Option<&mut Answers>) -> Taken {
        self.change_batch(keys, values, answers, Verb::Put)
    }

    /// Gives a key that is there another value, in place of its own. False if the key certainly is not there: then
    /// nothing has changed. True does not prove that it was: with the probability of a false positive another key's
    /// value was replaced. Constant time.
    ///
    /// # Errors
    /// As [`Map::put`].
    pub fn replace(&mut self, key: &[u8], value: u64) -> Result<bool> {
        self.change(self.base().hasher().identify(key)?, value, Verb::Replace)
    }

    /// Gives a `u64` key that is there another value; see [`Map::replace`].
    ///
    /// # Errors
    /// As [`Map::put`].
    pub fn replace_u64(&mut self, key: u64, value: u64) -> Result<bool> {
        self.change(self.base().hasher().identify_u64(key)?, value, Verb::Replace)
    }

    /// Gives a key that is there, and known by a 64-bit hash from elsewhere, another value; see [`Map::replace`].
    ///
    /// # Errors
    /// As [`Map::put`]; [`Status::Unsupported`] unless the map's hash function is an external one.
    pub fn replace_hash(&mut self, hash: u64, value: u64) -> Result<bool> {
        self.change(self.base().hasher().identify_hash(hash)?, value, Verb::Replace)
    }

    /// Gives many keys other values, in order; `values` is as long. `answers` say of each what [`Map::replace`] does;
    /// a key that is not there is taken and changes nothing. All are taken, unless there is an error: that of
    /// [`Map::replace`], or [`Status::Offsets`].
    pub fn replace_batch(&mut self, keys: &Keys, values: &[u64], answers: Option<&mut Answers>) -> Taken {
        self.change_batch(keys, values, answers, Verb::Replace)
    }

    fn change(&mut self, id: u128, value: u64, verb: Verb) -> Result<bool> {
        self.base().check_capability(verb.name(), verb.capability())?;
        check_value(value, self.kind.greatest_value())?;
        match verb.at_once(&mut *self.kind, id, value) {
            Some(answer) => Ok(answer),
            None => many::give_one(&mut *self.kind, id, value, verb),
        }
    }

    fn change_batch(&mut self, keys: &Keys, values: &[u64], answers: Option<&mut Answers>, verb: Verb) -> Taken {
        match self.base().check_capability(verb.name(), verb.capability()) {
            Ok(()) => many::give(&mut *self.kind, keys, values, answers, verb),
            Err(error) => Taken::none(error),
        }
    }

    /// Takes in all that another map was given: the same cells as of a map that was given both. If the other map is
    /// dirty, this map becomes dirty too, until somebody vouches for it. Linear in the payload.
    ///
    /// # Errors
    /// [`Status::Incompatible`], naming the first difference; [`Status::Unsupported`]; [`Status::Corrupt`] if either
    /// lies in an image that does not match its checksums.
    pub fn merge(&mut self, other: &Map) -> Result<()> {
        self.base().check_kind("merge", Capabilities::MERGE)?;
        let count = self.base().count_now().saturating_add(other.base().count_now());
        check_compatible(self.base(), other.base())?;
        let unvouched = other.base().check_vouched()?;
        self.kind.merge_with(&*other.kind)?;
        self.base_mut().set_count(count);
        if unvouched || other.base().is_unvouched() {
            self.base_mut().taint();
        }
        Ok(())
    }

    /// Forgets all keys.
    ///
    /// # Errors
    /// [`Status::Unsupported`].
    pub fn clear(&mut self) -> Result<()> {
        self.base().check_capability("clear", Capabilities::CLEAR)?;
        self.kind.reset()?;
        self.base_mut().set_count(0);
        Ok(())
    }
}
