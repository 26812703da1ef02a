//! Frequent non-members of a builder: keys that are not members but are often asked for.

use super::builder::Builder;
use super::create;
use crate::batch::keys::Keys;
use crate::batch::ring::Taken;
use crate::contract::{Weighted, one_by_one};
use crate::error::{Result, Status, error};
use crate::handle::many;
use crate::simd;

impl Builder {
    /// Gives a frequent non-member: a key that is not a member, but is often asked for. The filter takes it for a
    /// member more rarely than other keys. The weight says how often the key is asked for compared with the other
    /// frequent non-members: a number of lookups, or a share of them. The weights of a key that is given again add up,
    /// to less than 2^64.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind takes no frequent non-members; [`Status::OutOfRange`] for a weight that is
    /// not from 2^-60 to 2^60; the errors of [`Builder::add`]. A key that is added too is found when the filter is
    /// made: [`Status::Contradiction`].
    #[inline]
    pub fn add_frequent(&mut self, key: impl AsRef<[u8]>, weight: f64) -> Result<()> {
        let hash = self.hash_of(key.as_ref())?;
        self.add_frequent_hash(hash, weight)
    }

    /// Gives the hash of a frequent non-member; see [`Builder::add_frequent`].
    ///
    /// # Errors
    /// [`Status::Unsupported`] and [`Status::OutOfRange`] as [`Builder::add_frequent`]; the errors of
    /// [`Builder::add_hash`].
    pub fn add_frequent_hash(&mut self, hash: u64, weight: f64) -> Result<()> {
        self.check_frequent()?;
        let record = Weighted::new(self.order.map_or(hash, |order| order(hash)), weight)?;
        self.frequent.as_mut().ok_or(Status::Internal)?.add(record)
    }

    /// Gives many frequent non-members. Without weights each key has the weight 1. All are taken, unless there is an
    /// error: one of [`Builder::add_frequent`], [`Status::Offsets`], or [`Status::BufferTooSmall`] if weights and keys
    /// differ in number.
    pub fn add_frequent_batch(&mut self, keys: &Keys, weights: Option<&[f64]>) -> Taken {
        if let Err(error) = self.check_frequent().and_then(|()| weights.map_or(Ok(()), |of| check_count(keys, of))) {
            return Taken::none(error);
        }
        let (order, Some(frequent)) = (self.order, &mut self.frequent) else {
            return Taken::none(Status::Internal.into());
        };
        let mut weights = weights.map(<[f64]>::iter);
        many::change(&self.hasher, simd::best(), keys, None, |batch| {
            one_by_one(batch, |hash| {
                let weight = weights.as_mut().map_or(Some(1.0), |weights| weights.next().copied());
                frequent.add(Weighted::new(order.map_or(hash, |order| order(hash)), weight.unwrap_or(0.0))?)?;
                Ok(true)
            })
        })
    }

    /// How many frequent non-members were given.
    pub fn frequent_count(&self) -> u64 {
        self.frequent.as_ref().map_or(0, |frequent| frequent.added())
    }

    /// Refuses frequent non-members if the kind takes none.
    fn check_frequent(&self) -> Result<()> {
        let row = create::row_of(&self.spec)?;
        if self.frequent.is_some() {
            return Ok(());
        }
        Err(error!(Unsupported, "{} takes no frequent non-members; a kind that does is stacked", row.name))
    }
}

/// Refuses weights that are not as many as the keys.
fn check_count(keys: &Keys, weights: &[f64]) -> Result<()> {
    if keys.len() == weights.len() {
        return Ok(());
    }
    Err(error!(BufferTooSmall, "{} keys have {} weights", keys.len(), weights.len()))
}
