//! Removing keys, and counting them.

use super::Filter;
use crate::batch::answers::Answers;
use crate::batch::keys::Keys;
use crate::batch::ring::Taken;
use crate::error::Result;
#[cfg(doc)]
use crate::error::Status;
use crate::handle::image::Image;
use crate::handle::many;

impl Filter {
    /// Removes one occurrence of a key. Returns false, with nothing changed, if the key certainly was absent. Each kind
    /// says what the removal of a key that was never inserted may do.
    ///
    /// # Errors
    /// The errors of [`Filter::remove_hash`]; [`Status::ExternalHash`] or [`Status::SecretMissing`] if the key cannot
    /// be hashed.
    #[inline]
    pub fn remove(&mut self, key: impl AsRef<[u8]>) -> Result<bool> {
        let hash = self.hasher.hash_key(key.as_ref())?;
        self.remove_hash(hash)
    }

    /// Removes one occurrence of a `u64` key; see [`Filter::remove`].
    ///
    /// # Errors
    /// As [`Filter::remove`].
    #[inline]
    pub fn remove_u64(&mut self, key: u64) -> Result<bool> {
        let hash = self.hasher.hash_u64(key)?;
        self.remove_hash(hash)
    }

    /// Removes one occurrence of a hash; see [`Filter::remove`].
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind or the handle cannot remove.
    #[inline]
    pub fn remove_hash(&mut self, hash: u64) -> Result<bool> {
        match self.kind.as_remove() {
            Some(kind) => kind.remove_one(hash),
            None => Err(self.unsupported("remove")),
        }
    }

    /// Removes one occurrence of a hash. `None`, with nothing done, if [`Filter::remove_hash`] refuses and says why.
    #[inline]
    pub fn remove_hash_at_once(&mut self, hash: u64) -> Option<bool> {
        self.kind.remove_at_once(hash)
    }

    /// Removes one occurrence of each of many keys, in order. `answers`, if given, say of each key what
    /// [`Filter::remove`] says. All keys are processed, unless there is an error: one of [`Filter::remove`], or
    /// [`Status::Offsets`].
    pub fn remove_batch(&mut self, keys: &Keys, answers: Option<&mut Answers>) -> Taken {
        let (hasher, instructions) = (self.base().hasher().clone(), self.base().instructions());
        match self.kind.as_remove() {
            Some(kind) => many::change(&hasher, instructions, keys, answers, |batch| kind.remove_many(batch)),
            None => Taken::none(self.unsupported("remove")),
        }
    }

    /// How often a key was inserted, less how often it was removed, up to the greatest count that the kind reports. The
    /// answer is never less than that, and is more with the probability of a false positive.
    ///
    /// # Errors
    /// The errors of [`Filter::count_hash`]; [`Status::ExternalHash`] or [`Status::SecretMissing`] if the key cannot
    /// be hashed.
    #[inline]
    pub fn count(&self, key: impl AsRef<[u8]>) -> Result<u64> {
        self.count_hash(self.hasher.hash_key(key.as_ref())?)
    }

    /// How often a `u64` key was inserted; see [`Filter::count`].
    ///
    /// # Errors
    /// As [`Filter::count`].
    #[inline]
    pub fn count_u64(&self, key: u64) -> Result<u64> {
        self.count_hash(self.hasher.hash_u64(key)?)
    }

    /// How often a hash was inserted; see [`Filter::count`].
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind cannot count.
    #[inline]
    pub fn count_hash(&self, hash: u64) -> Result<u64> {
        self.kind.count_at_once(hash).ok_or_else(|| self.unsupported("count"))
    }

    /// Writes into `answers` how often each of many keys was inserted. A yes in `answers` means more than 0.
    ///
    /// # Errors
    /// The errors of [`Filter::count`], and [`Status::Offsets`]. All answers are then true, and all counts `u64::MAX`.
    pub fn count_batch(&self, keys: &Keys, answers: &mut Answers) -> Result<()> {
        let kind = self.kind.as_count().ok_or_else(|| self.unsupported("count"));
        many::count(self.base(), keys, answers, kind)
    }
}
