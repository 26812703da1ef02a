//! The calls that change a map: put and replace values, one or many, and change the map as a whole.

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
    /// Gives a key a value, which is joined with the values that the key was given before, as the map's kind says.
    /// Returns true if this changed the value that a lookup of the key gives. Takes constant time.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind or the handle cannot; [`Status::OutOfRange`] for a value that value_bits
    /// cannot hold; [`Status::Full`] if the kind has no place for the key; [`Status::ExternalHash`] or
    /// [`Status::SecretMissing`] if the key cannot be hashed. For an image in place also [`Status::Corrupt`] and the
    /// system's errors. The map then stays as it was.
    #[inline]
    pub fn put(&mut self, key: impl AsRef<[u8]>, value: u64) -> Result<bool> {
        self.change_bytes(key.as_ref(), value, Verb::Put)
    }

    /// Gives a `u64` key a value; see [`Map::put`].
    ///
    /// # Errors
    /// As [`Map::put`].
    pub fn put_u64(&mut self, key: u64, value: u64) -> Result<bool> {
        self.change(self.base().hasher().identify_u64(key)?, value, Verb::Put)
    }

    /// Gives a value to a key that is known by a 64-bit hash from elsewhere; see [`Map::put`].
    ///
    /// # Errors
    /// The errors of [`Map::put`]; [`Status::Unsupported`] if the map's hash function is not the external one.
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

    /// Gives many keys their values, in order. `values` has as many elements as there are keys. `answers` say of each
    /// key what [`Map::put`] says. All keys are processed, unless there is an error: one of [`Map::put`], or
    /// [`Status::Offsets`].
    pub fn put_batch(&mut self, keys: &Keys, values: &[u64], answers: Option<&mut Answers>) -> Taken {
        self.change_batch(keys, values, answers, Verb::Put)
    }

    /// Replaces the value of a key that is there. Returns false, with nothing changed, if the key certainly is absent.
    /// True does not prove that the key was there: with the probability of a false positive another key's value was
    /// replaced. Takes constant time.
    ///
    /// # Errors
    /// As [`Map::put`].
    #[inline]
    pub fn replace(&mut self, key: impl AsRef<[u8]>, value: u64) -> Result<bool> {
        self.change_bytes(key.as_ref(), value, Verb::Replace)
    }

    /// Replaces the value of a key that is there and is known by a 64-bit hash from elsewhere; see [`Map::replace`].
    ///
    /// # Errors
    /// The errors of [`Map::put`]; [`Status::Unsupported`] if the map's hash function is not the external one.
    pub fn replace_hash(&mut self, hash: u64, value: u64) -> Result<bool> {
        self.change(self.base().hasher().identify_hash(hash)?, value, Verb::Replace)
    }

    /// Replaces the values of many keys, in order. `values` has as many elements as there are keys. `answers` say of
    /// each key what [`Map::replace`] says; an absent key is processed and changes nothing. All keys are processed,
    /// unless there is an error: one of [`Map::replace`], or [`Status::Offsets`].
    pub fn replace_batch(&mut self, keys: &Keys, values: &[u64], answers: Option<&mut Answers>) -> Taken {
        self.change_batch(keys, values, answers, Verb::Replace)
    }

    fn change_bytes(&mut self, key: &[u8], value: u64, verb: Verb) -> Result<bool> {
        self.change(self.base().hasher().identify(key)?, value, verb)
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

    /// Takes in all entries of another map. The cells are then those of a map that was given the entries of both. If
    /// the other map is unclean, this one becomes unclean too, until somebody marks it clean. Linear in the payload.
    ///
    /// # Errors
    /// [`Status::Incompatible`], naming the first difference; [`Status::Unsupported`]; [`Status::Corrupt`] if either
    /// map lies in an image that does not match its checksums.
    pub fn merge(&mut self, other: &Map) -> Result<()> {
        self.base().check_kind("merge", Capabilities::MERGE)?;
        let count = self.base().count_now().saturating_add(other.base().count_now());
        check_compatible(self.base(), other.base())?;
        let stays_unclean = other.base().check_marked_clean()?;
        self.kind.merge_with(&*other.kind)?;
        self.base_mut().set_count(count);
        if stays_unclean || other.base().stays_unclean() {
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
