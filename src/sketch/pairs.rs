//! The calls of a sketch about single numbers and their values.

use super::Sketch;
use crate::batch::keys::Keys;
use crate::batch::ring::Taken;
use crate::contract::{Capabilities, Presence, ValueListing};
#[cfg(doc)]
use crate::error::Status;
use crate::error::{Error, Result, error};
use crate::handle::image::Image;

impl Sketch {
    /// What the sketch says of a byte key, that is, of its hash.
    ///
    /// # Errors
    /// As [`Sketch::get_hash`].
    #[inline]
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Presence> {
        self.get_u64(self.number_of(key)?)
    }

    /// What the sketch says of a number, in constant time. The answer is right if each number was inserted only once. A
    /// sketch of n numbers in m cells, with k cells for each number, can answer for a number that is there with the
    /// probability 1 - (1 - e^(-kn/m))^k, and more often for a number that is not there. In a sketch with values only
    /// one of the cells can be asked, and this probability is e^(-kn/m).
    ///
    /// # Errors
    /// As [`Sketch::get_hash`]; [`Status::OutOfRange`] if the sketch cannot hold the number.
    pub fn get_u64(&self, number: u64) -> Result<Presence> {
        self.kind.check_number(number)?;
        let hash = self.base().hasher().hash_u64(number)?;
        self.kind.get(hash, number).ok_or_else(|| self.base().unsupported("get"))
    }

    /// What the sketch says of the hash of a key, as [`Sketch::get_u64`] of a number.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind cannot be asked for single numbers; [`Status::SecretMissing`] without the
    /// secret key that places numbers.
    pub fn get_hash(&self, hash: u64) -> Result<Presence> {
        self.get_u64(self.number_of_hash(hash)?)
    }

    /// The number of a byte key.
    ///
    /// # Errors
    /// [`Status::SecretMissing`] without the secret key that hashes keys.
    #[inline]
    pub fn number_of(&self, key: impl AsRef<[u8]>) -> Result<u64> {
        self.number_of_bytes(key.as_ref())
    }

    fn number_of_bytes(&self, key: &[u8]) -> Result<u64> {
        self.number_of_hash(self.base().hasher().hash_key(key)?)
    }

    /// The number that stands for a hash in this sketch.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the sketch holds whole keys.
    pub fn number_of_hash(&self, hash: u64) -> Result<u64> {
        match self.key_bytes() {
            0 => Ok(self.kind.number_of_hash(hash)),
            bytes => Err(error!(
                Unsupported,
                "the sketch holds whole keys of {bytes} bytes (key_bytes = {bytes}), and a hash is no key"
            )),
        }
    }

    /// The bits of a number: hashes of byte keys are reduced to that many.
    pub(crate) fn number_bits(&self) -> u32 {
        self.kind.number_bits()
    }

    /// Bits of a value; 0 if the numbers have no values.
    pub fn value_bits(&self) -> u32 {
        self.kind.value_bits()
    }

    /// Inserts a byte key with its value. [`Sketch::insert`] inserts one with the value 0.
    ///
    /// # Errors
    /// As [`Sketch::insert_value_hash`].
    #[inline]
    pub fn insert_value(&mut self, key: impl AsRef<[u8]>, value: u64) -> Result<()> {
        self.insert_value_u64(self.number_of(key)?, value)
    }

    /// Inserts a number with its value. A number may be there only once, with one value.
    ///
    /// # Errors
    /// As [`Sketch::insert_value_hash`].
    pub fn insert_value_u64(&mut self, number: u64, value: u64) -> Result<()> {
        self.base().check_capability("insert", Capabilities::INSERT)?;
        self.check_values()?;
        self.kind.check_number(number)?;
        self.add_with(&[number], value, 1)
    }

    /// Inserts the hash of a key, with its value.
    ///
    /// # Errors
    /// As [`Sketch::insert_hash`]; [`Status::Unsupported`] if the sketch has no values.
    pub fn insert_value_hash(&mut self, hash: u64, value: u64) -> Result<()> {
        self.insert_value_u64(self.number_of_hash(hash)?, value)
    }

    /// Removes a byte key with the value that it was inserted with. A pair of key and value that was removed but never
    /// inserted is listed with a sign of -1.
    ///
    /// # Errors
    /// As [`Sketch::insert_value_hash`].
    #[inline]
    pub fn remove_value(&mut self, key: impl AsRef<[u8]>, value: u64) -> Result<()> {
        self.remove_value_u64(self.number_of(key)?, value)
    }

    /// Removes a number with its value; see [`Sketch::remove_value`].
    ///
    /// # Errors
    /// As [`Sketch::insert_value_hash`].
    pub fn remove_value_u64(&mut self, number: u64, value: u64) -> Result<()> {
        self.base().check_capability("remove", Capabilities::REMOVE)?;
        self.check_values()?;
        self.kind.check_number(number)?;
        self.add_with(&[number], value, -1)
    }

    /// Removes the hash of a key with its value; see [`Sketch::remove_value`].
    ///
    /// # Errors
    /// As [`Sketch::insert_value_hash`].
    pub fn remove_value_hash(&mut self, hash: u64, value: u64) -> Result<()> {
        self.remove_value_u64(self.number_of_hash(hash)?, value)
    }

    /// Inserts many keys with their values in order; `values` has as many elements as there are keys. All are inserted,
    /// unless there is an error: one of [`Sketch::insert_value`], or [`Status::Offsets`].
    pub fn insert_value_batch(&mut self, keys: &Keys, values: &[u64]) -> Taken {
        self.change_values(keys, values, "insert", Capabilities::INSERT, 1)
    }

    /// Removes many keys with their values in order, as [`Sketch::insert_value_batch`] inserts them.
    pub fn remove_value_batch(&mut self, keys: &Keys, values: &[u64]) -> Taken {
        self.change_values(keys, values, "remove", Capabilities::REMOVE, -1)
    }

    fn change_values(&mut self, keys: &Keys, values: &[u64], verb: &str, needed: Capabilities, sign: i64) -> Taken {
        let able = self.base().check_capability(verb, needed).and_then(|()| self.check_values());
        let fits = able.and_then(|()| match values.len() == keys.len() {
            true => Ok(()),
            false => Err(error!(Offsets, "{} values for {} keys", values.len(), keys.len())),
        });
        match fits {
            Ok(()) => self.add_all_with(keys, Some(values), sign),
            Err(error) => Taken::none(error),
        }
    }

    /// [`Sketch::list`] with the values. A number whose value differs in two subtracted sketches is there with both:
    /// with a sign of -1 and the value that only the subtracted sketch had, and with a sign of 1 and the value that
    /// only this one had.
    ///
    /// # Errors
    /// As [`Sketch::list`]; [`Status::Unsupported`] if the sketch has no values.
    pub fn list_values(&self) -> Result<ValueListing> {
        self.base().check_kind("list", Capabilities::LIST)?;
        self.check_values()?;
        self.kind.list_values()
    }

    /// Refuses values in a sketch without values.
    fn check_values(&self) -> Result<()> {
        match self.kind.value_bits() {
            0 => Err(self.no_values()),
            _ => Ok(()),
        }
    }

    #[cold]
    fn no_values(&self) -> Error {
        let name = self.base().row().name;
        match self.base().row().parameters.iter().any(|parameter| parameter.name == "value_bits") {
            true => error!(Unsupported, "this {name} sketch has no values: make it with value_bits = 64"),
            false => error!(Unsupported, "sketches of the kind {name} have no values"),
        }
    }
}
