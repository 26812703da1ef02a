//! Calls for keys with counts, which insert or remove a key several times in one call.

use super::Filter;
use crate::batch::answers::Answers;
use crate::batch::keys::Keys;
use crate::batch::ring::Taken;
use crate::contract::{Capabilities, one_by_one};
#[cfg(doc)]
use crate::error::Status;
use crate::error::{Error, Result};
use crate::handle::image::Image;
use crate::handle::many;

impl Filter {
    /// Inserts a key `times` times in one call. Returns whether the key certainly was absent before. 0 times change
    /// nothing.
    ///
    /// # Errors
    /// The errors of [`Filter::insert_times_hash`], and [`Status::ExternalHash`] or [`Status::SecretMissing`] if the
    /// key cannot be hashed.
    #[inline]
    pub fn insert_times(&mut self, key: impl AsRef<[u8]>, times: u64) -> Result<bool> {
        let hash = self.hash_of(key.as_ref())?;
        self.insert_times_hash(hash, times)
    }

    /// Inserts a hash `times` times in one call; see [`Filter::insert_times`]. A count beyond the kind's greatest one
    /// stays at the greatest, or is refused if every copy takes a place. It takes the time of one insertion if counts
    /// are numbers, and otherwise of as many insertions as the kind counts.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind or the handle cannot insert or count; [`Status::Full`] if there is no room
    /// for all copies. None is inserted then.
    pub fn insert_times_hash(&mut self, hash: u64, times: u64) -> Result<bool> {
        self.check_times("insert keys with their counts", Capabilities::INSERT)?;
        let (_, most) = self.counted(hash)?;
        if times == 0 {
            return Ok(!self.contains_hash(hash));
        }
        // A kind in which every copy takes a place refuses too many copies itself.
        let useful = if self.base().row().room.copies.is_some() { times } else { times.min(most) };
        let inserted = match self.kind.as_insert() {
            Some(kind) => kind.insert_times(hash, useful),
            None => Err(self.unsupported("insert")),
        };
        if inserted.is_ok() {
            self.base_mut().add_count(times - useful);
        }
        inserted
    }

    /// Removes a key up to `times` times. Returns how often it was removed. A count at the kind's greatest number
    /// stands for that many or more, and stays if the kind says so.
    ///
    /// # Errors
    /// The errors of [`Filter::remove_times_hash`], and [`Status::ExternalHash`] or [`Status::SecretMissing`] if the
    /// key cannot be hashed.
    #[inline]
    pub fn remove_times(&mut self, key: impl AsRef<[u8]>, times: u64) -> Result<u64> {
        let hash = self.hash_of(key.as_ref())?;
        self.remove_times_hash(hash, times)
    }

    /// Removes a hash up to `times` times; see [`Filter::remove_times`].
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind or the handle cannot remove or count.
    pub fn remove_times_hash(&mut self, hash: u64, times: u64) -> Result<u64> {
        self.check_times("remove keys with their counts", Capabilities::REMOVE)?;
        let (count, _) = self.counted(hash)?;
        match self.kind.as_remove() {
            Some(_) if times == 0 => Ok(0),
            Some(kind) => kind.remove_times(hash, times.min(count)),
            None => Err(self.unsupported("remove")),
        }
    }

    /// Inserts each of many keys as often as `times` says, in order. `answers`, if given, say of each key what
    /// [`Filter::insert_times`] says. All keys are processed, unless there is an error: one of
    /// [`Filter::insert_times`], [`Status::Offsets`], or [`Status::BufferTooSmall`] if `times` and keys differ in
    /// number.
    pub fn insert_times_batch(&mut self, keys: &Keys, times: &[u64], answers: Option<&mut Answers>) -> Taken {
        if let Err(error) = self.check_times("insert keys with their counts", Capabilities::INSERT) {
            return Taken::none(error);
        }
        self.each_times(keys, times, answers, |filter, hash, times| filter.insert_times_hash(hash, times))
    }

    /// Removes each of many keys up to as many times as `times` says, in order. `answers`, if given, say of each key
    /// whether it was there at all. All keys are processed, unless there is an error of [`Filter::insert_times_batch`].
    pub fn remove_times_batch(&mut self, keys: &Keys, times: &[u64], answers: Option<&mut Answers>) -> Taken {
        if let Err(error) = self.check_times("remove keys with their counts", Capabilities::REMOVE) {
            return Taken::none(error);
        }
        self.each_times(keys, times, answers, |filter, hash, times| Ok(filter.remove_times_hash(hash, times)? > 0))
    }

    fn each_times(
        &mut self,
        keys: &Keys,
        times: &[u64],
        answers: Option<&mut Answers>,
        change: impl Fn(&mut Filter, u64, u64) -> Result<bool>,
    ) -> Taken {
        if let Err(error) = keys.check_times(times) {
            return Taken::none(error);
        }
        let (hasher, instructions) = (self.base().hasher().clone(), self.base().instructions());
        let mut times = times.iter();
        many::change(&hasher, instructions, keys, answers, |batch| {
            one_by_one(batch, |hash| change(self, hash, times.next().copied().unwrap_or(0)))
        })
    }

    /// How often a hash is there, and the greatest count that the kind reports.
    fn counted(&self, hash: u64) -> Result<(u64, u64)> {
        match self.kind.as_count() {
            Some(kind) => Ok((kind.count_one(hash), kind.greatest_count())),
            None => Err(self.unsupported("count")),
        }
    }

    /// Refuses an operation if this capability, or counting, is lacking.
    fn check_times(&self, operation: &str, capability: Capabilities) -> Result<()> {
        let needed = capability | Capabilities::COUNT;
        match self.base().capabilities_in_memory().contains(needed) {
            true => self.check_capability(operation, capability),
            false => Err::<(), Error>(self.unsupported(operation)),
        }
    }
}
