//! The calls of a map, whatever its kind.

mod change;

use crate::batch::answers::Answers;
use crate::batch::keys::Keys;
use crate::blocks::{Measure, View};
use crate::contract::{Base, Handle, MapKind, Payload, Structure};
#[cfg(doc)]
use crate::error::Status;
use crate::error::{Result, error};
use crate::handle::image::Image;
use crate::handle::many;
use crate::hash::Hasher;

/// A map from keys to values that keeps no keys. A map gives the value of each key that it was built from or was given,
/// or what its kind makes of that value. For other keys it says "absent", except for a stated share of them.
///
/// Many threads may use shared references at the same time. The calls about the bytes (saving, verifying) are in
/// [`Image`].
pub struct Map {
    kind: Box<dyn MapKind>,
    /// A copy of the kind's hasher, so that single keys are hashed without a call of the kind.
    hasher: Hasher,
}

impl core::fmt::Debug for Map {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Map").field("header", self.base().header()).finish_non_exhaustive()
    }
}

impl Image for Map {
    fn payload(&self) -> &dyn Payload {
        &*self.kind
    }

    fn payload_mut(&mut self) -> &mut dyn Payload {
        &mut *self.kind
    }

    fn over(base: Base) -> Result<Map> {
        match base.row().structure {
            Structure::Map { open, .. } | Structure::StaticMap { open, .. } => {
                Ok(Map { hasher: base.hasher().clone(), kind: open(base)? })
            }
            _ => Err(base.other_handle(Handle::Map)),
        }
    }
}

impl Map {
    /// The value of a key; `None` if the key certainly is absent. An absent key has a value with the probability of a
    /// false positive. Takes constant time.
    ///
    /// # Errors
    /// [`Status::ExternalHash`] or [`Status::SecretMissing`] if the key cannot be hashed.
    #[inline]
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<u64>> {
        self.get_bytes(key.as_ref())
    }

    fn get_bytes(&self, key: &[u8]) -> Result<Option<u64>> {
        Ok(self.get_id(self.hasher.identify(key)?))
    }

    /// The value of a `u64` key; see [`Map::get`].
    ///
    /// # Errors
    /// As [`Map::get`].
    pub fn get_u64(&self, key: u64) -> Result<Option<u64>> {
        Ok(self.get_id(self.hasher.identify_u64(key)?))
    }

    /// The value of a key that is known by a 64-bit hash from elsewhere; see [`Map::get`].
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the map's hash function is not the external one.
    pub fn get_hash(&self, hash: u64) -> Result<Option<u64>> {
        Ok(self.get_id(self.hasher.identify_hash(hash)?))
    }

    /// The value of a key, as [`Map::get`] says it; the outer `None` if the key cannot be hashed.
    #[inline]
    pub fn get_at_once(&self, key: impl AsRef<[u8]>) -> Option<Option<u64>> {
        Some(self.get_id(self.hasher.identify(key.as_ref()).ok()?))
    }

    /// The value of a `u64` key, as [`Map::get_u64`] says it; the outer `None` if the key cannot be hashed.
    #[inline]
    pub fn get_u64_at_once(&self, key: u64) -> Option<Option<u64>> {
        Some(self.get_id(self.hasher.identify_u64(key).ok()?))
    }

    /// The value of the key with this identity ([`Hasher::identify`](crate::Hasher::identify)); see [`Map::get`].
    #[inline]
    pub fn get_id(&self, id: u128) -> Option<u64> {
        self.kind.get_one(id)
    }

    /// Looks up many keys and fills those `answers` that have room: whether each key is there, and its value, which is
    /// 0 for an absent key.
    ///
    /// # Errors
    /// The errors of [`Map::get`], and [`Status::Offsets`]. All answers are then false, and all values 0.
    pub fn get_batch(&self, keys: &Keys, answers: &mut Answers) -> Result<()> {
        many::get(&*self.kind, keys, answers)
    }

    /// The payload for inlined lookups.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the layout has no name.
    pub fn view(&self) -> Result<View<'_>> {
        self.kind.view().ok_or_else(|| {
            let name = self.base().row().name;
            error!(Unsupported, "kind = {name} has no layout with a name, so there are no views of it")
        })
    }

    /// How many keys were inserted to the map's builder, or put, duplicates included.
    pub fn insertions(&self) -> u64 {
        self.base().count()
    }

    /// The share of absent keys that are expected to get a value, in a map of this geometry with `keys` keys.
    pub fn expected_false_positive_rate(&self, keys: u64) -> f64 {
        (self.base().row().false_positive_rate)(self.base().geometry(), keys)
    }

    /// How many distinct keys there are, according to a measure of this map. The number is exact for a map that was
    /// built, and otherwise an estimate from the fill. `None` if the map is too full for an estimate.
    pub fn keys_of(&self, measure: &Measure) -> Option<f64> {
        self.kind.keys_of(measure)
    }

    /// Measures the payload. The measure's rate is the share of absent keys that get a value. Reads the whole payload
    /// once.
    pub fn statistics(&self) -> Measure {
        self.statistics_with(&mut |_| {})
    }

    /// Measures the payload. Reads all of it once, and reports the bytes of every piece to `progress`.
    pub fn statistics_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        self.kind.measure_with(progress)
    }
}
