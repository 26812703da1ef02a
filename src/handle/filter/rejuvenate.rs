//! Rejuvenation: restores entries in a filter that has grown and knows only a few bits of them.

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
    /// Restores a stored key's entry to full length, in a kind whose entries become shorter with each growth. The key
    /// is found as before, and adds as little to the false-positive rate as a new key. This is for keys that a lookup
    /// said true for and that the store behind the filter has. Returns false, with nothing changed, if the entry
    /// already has full length, or if the key certainly is not there. If a key is there several times, one of its
    /// entries is restored.
    ///
    /// As with [`Filter::remove`] the key must be there: rejuvenating a key that only seems to be there takes another
    /// key's entry. The number of keys stays as it is.
    ///
    /// # Errors
    /// The errors of [`Filter::rejuvenate_hash`], and [`Status::ExternalHash`] or [`Status::SecretMissing`] if the key
    /// cannot be hashed.
    #[inline]
    pub fn rejuvenate(&mut self, key: impl AsRef<[u8]>) -> Result<bool> {
        let hash = self.hash_of(key.as_ref())?;
        self.rejuvenate_hash(hash)
    }

    /// Restores the fingerprint of a stored hash to full length; see [`Filter::rejuvenate`].
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind or the handle cannot; [`Status::Full`] if there is no room, and
    /// [`Status::OutOfMemory`]. The hash's entry then stays as it was.
    pub fn rejuvenate_hash(&mut self, hash: u64) -> Result<bool> {
        match self.kind.as_rejuvenate() {
            Some(kind) => kind.rejuvenate_one(hash),
            None => Err(self.unsupported("rejuvenate keys")),
        }
    }

    /// Restores the entries of many stored keys to full length, in order. `answers`, if given, say of each key what
    /// [`Filter::rejuvenate`] says. All keys are processed, unless there is an error: one of [`Filter::rejuvenate`], or
    /// [`Status::Offsets`].
    pub fn rejuvenate_batch(&mut self, keys: &Keys, answers: Option<&mut Answers>) -> Taken {
        let (hasher, instructions) = (self.base().hasher().clone(), self.base().instructions());
        match self.kind.as_rejuvenate() {
            Some(kind) => many::change(&hasher, instructions, keys, answers, |batch| kind.rejuvenate_many(batch)),
            None => Taken::none(self.unsupported("rejuvenate keys")),
        }
    }
}
