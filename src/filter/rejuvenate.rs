//! Keys of which a filter that has grown knows little, and is to know more.

use super::Filter;
use crate::answers::Answers;
use crate::batch;
use crate::bits::ring::Taken;
use crate::error::Result;
#[cfg(doc)]
use crate::error::Status;
use crate::image::Image;
use crate::keys::Keys;

impl Filter {
    /// Gives a key that is there what an insertion would give it now: of a kind that knows less of keys the longer they
    /// are there it is found as surely as before, and adds as little to the false-positive rate as a new key. For keys
    /// of which a lookup said true, and whoever asked found that to be so. Whether that changed anything: false if it
    /// was given as much already, or if it certainly is not there. Of a key that is there several times one is given
    /// it.
    ///
    /// As with [`Filter::remove`] the key must be there: one that only seems to be takes from another key what that is
    /// found by. How many keys there are stays as it is.
    ///
    /// # Errors
    /// As [`Filter::rejuvenate_hash`], and [`Status::ExternalHash`] or [`Status::KeyMissing`] where it cannot be hashed.
    pub fn rejuvenate(&mut self, key: &[u8]) -> Result<bool> {
        let hash = self.hasher.hash_key(key)?;
        self.rejuvenate_hash(hash)
    }

    /// Gives a `u64` key that is there what an insertion would give it now; see [`Filter::rejuvenate`].
    ///
    /// # Errors
    /// As [`Filter::rejuvenate`].
    pub fn rejuvenate_u64(&mut self, key: u64) -> Result<bool> {
        let hash = self.hasher.hash_u64(key)?;
        self.rejuvenate_hash(hash)
    }

    /// Gives a hash that is there what an insertion would give it now; see [`Filter::rejuvenate`].
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind or the handle cannot; [`Status::Full`] if there is no room for it, and
    /// [`Status::OutOfMemory`]: then the hash is there as it was.
    pub fn rejuvenate_hash(&mut self, hash: u64) -> Result<bool> {
        match self.kind.as_rejuvenate() {
            Some(kind) => kind.rejuvenate_one(hash),
            None => Err(self.unsupported("rejuvenate keys")),
        }
    }

    /// Gives each of many keys that are there what an insertion would give it now, in order; `answers`, if wanted, say
    /// of each what [`Filter::rejuvenate`] says. All are taken, unless there is an error: that of
    /// [`Filter::rejuvenate`], or [`Status::Offsets`].
    pub fn rejuvenate_batch(&mut self, keys: &Keys, answers: Option<&mut Answers>) -> Taken {
        let (hasher, instructions) = (self.base().hasher().clone(), self.base().instructions());
        match self.kind.as_rejuvenate() {
            Some(kind) => batch::change(&hasher, instructions, keys, answers, |batch| kind.rejuvenate_many(batch)),
            None => Taken::none(self.unsupported("rejuvenate keys")),
        }
    }
}
