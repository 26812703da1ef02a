//! Keys of a builder with how often they came.

use super::builder::Builder;
use super::create;
use crate::batch::keys::Keys;
use crate::batch::ring::Taken;
use crate::contract::{Capabilities, one_by_one};
#[cfg(doc)]
use crate::error::Status;
use crate::error::{Result, error};
use crate::handle::many;
use crate::simd;

impl Builder {
    /// Adds a key that came `times` times; 0 adds nothing.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind cannot count; the errors of [`Builder::add`].
    #[inline]
    pub fn add_times(&mut self, key: impl AsRef<[u8]>, times: u64) -> Result<()> {
        let hash = self.hash_of(key.as_ref())?;
        self.add_times_hash(hash, times)
    }

    /// Adds a hash that came `times` times; see [`Builder::add_times`].
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind cannot count; the errors of [`Builder::add_hash`].
    pub fn add_times_hash(&mut self, hash: u64, times: u64) -> Result<()> {
        self.check_counts()?;
        self.hashes.add_times(hash, times)
    }

    /// Adds each of many keys as often as `times` says. All are added, unless there is an error: one of
    /// [`Builder::add_times`], [`Status::Offsets`], or [`Status::BufferTooSmall`] if there are not as many `times` as
    /// keys.
    pub fn add_times_batch(&mut self, keys: &Keys, times: &[u64]) -> Taken {
        if let Err(error) = self.check_counts().and_then(|()| keys.check_times(times)) {
            return Taken::none(error);
        }
        let mut times = times.iter();
        many::change(&self.hasher, simd::best(), keys, None, |batch| {
            one_by_one(batch, |hash| {
                self.hashes.add_times(hash, times.next().copied().unwrap_or(0))?;
                Ok(true)
            })
        })
    }

    /// Refuses counts if the kind does not count.
    fn check_counts(&self) -> Result<()> {
        let row = create::row_of(&self.spec)?;
        if row.capabilities.contains(Capabilities::COUNT) {
            return Ok(());
        }
        Err(error!(Unsupported, "{} cannot count, and takes no keys with their counts", row.name))
    }
}
