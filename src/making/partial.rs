//! Builders that take in the keys of other builders, of other processes or machines.

use super::added::Insertions;
use super::builder::Builder;
use super::collect::{Collector, Sorted};
use super::create;
use super::progress::Steps;
use super::state::{self, Counts, Identity, State};
use crate::contract::{Counted, Placed, Weighted};
use crate::error::{Result, error};

impl Builder {
    /// Gives the builder's keys to `write` as bytes, piece by piece: those that were added, excluded or given as
    /// frequent non-members, with their counts and weights. Another builder takes the bytes in ([`Builder::merge`]). So
    /// several processes or machines collect the keys of one filter, and one of them makes it. The keys stay in this
    /// builder.
    ///
    /// The bytes are not what the progress and the limits of this builder are, nor what [`Builder::update`] and
    /// [`Builder::exclude_all_but_members`] say: tell these to the builder that makes the filter.
    ///
    /// ```
    /// use petal::{Builder, BuilderOptions, KindId, Spec};
    /// let spec = Spec { kind: Some(KindId::FUSE), ..Spec::default() };
    /// let mut here = Builder::new(&spec, BuilderOptions::default())?;
    /// here.add_all(["apple", "pear"])?;
    ///
    /// let mut there = Builder::new(&spec, BuilderOptions::default())?;
    /// there.add_all(["pear", "plum"])?;
    /// let mut message = Vec::new();
    /// there.serialize_to(&mut |bytes| {
    ///     message.extend_from_slice(bytes);
    ///     Ok(())
    /// })?;
    ///
    /// here.merge(&message)?;
    /// let filter = here.finish()?;
    /// assert!(["apple", "pear", "plum"].iter().all(|key| filter.contains(key)));
    /// # Ok::<(), petal::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of `write`; [`Status::Cancelled`](crate::Status::Cancelled) if the progress callback says so;
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory), and the system's errors about the temporary file.
    pub fn serialize_to(&mut self, write: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let identity = self.identity()?;
        let added = self.hashes.added() + self.placed.as_ref().map_or(0, |placed| placed.keys.added());
        let frequent = self.frequent.as_ref();
        let counts = Counts { added, excluded: self.excluded, frequent: frequent.map_or(0, Collector::added) };
        let members = match (&self.placed, &self.hashes) {
            (Some(placed), _) => placed.keys.work() + placed.keys.kept(),
            (None, Insertions::Once(hashes)) => hashes.work() + hashes.kept(),
            (None, Insertions::Counted { hashes, .. }) => hashes.work() + hashes.kept(),
        };
        let work = members + frequent.map_or(0, |frequent| frequent.work() + frequent.kept());
        let steps = &mut Steps::new(self.progress.as_deref_mut(), work);
        let frequent = self.frequent.as_mut().map(|frequent| frequent.finish(0, steps)).transpose()?;
        let frequent: Option<&Sorted<Weighted>> = frequent.as_ref();
        match (&mut self.placed, &mut self.hashes) {
            (Some(placed), _) => {
                let (prefixes, keys) = (placed.prefixes()?, placed.keys.finish(0, steps)?);
                state::write(&identity, counts, &prefixes, &keys, frequent, steps, write)
            }
            (None, Insertions::Once(hashes)) => {
                let hashes = hashes.finish(0, steps)?;
                state::write(&identity, counts, &[], &hashes, frequent, steps, write)
            }
            (None, Insertions::Counted { hashes, .. }) => {
                let hashes = hashes.finish(0, steps)?;
                state::write(&identity, counts, &[], &hashes, frequent, steps, write)
            }
        }
    }

    /// Takes in the keys of another builder ([`Builder::serialize_to`]), as if they had been added here. Both builders
    /// have the same spec. The order in which keys and other builders' keys come makes no difference to the filter.
    ///
    /// # Errors
    /// [`Status::Foreign`](crate::Status::Foreign), [`Status::NewerVersion`](crate::Status::NewerVersion),
    /// [`Status::Truncated`](crate::Status::Truncated) and [`Status::Corrupt`](crate::Status::Corrupt) for bytes that
    /// no builder wrote; [`Status::Incompatible`](crate::Status::Incompatible) for those of a builder with another
    /// kind, hash function, seed, secret key, size or parameter; [`Status::TooLarge`](crate::Status::TooLarge) for more
    /// than 2^64 keys; the errors of [`Builder::add`]. No key is taken in then.
    pub fn merge(&mut self, state: &[u8]) -> Result<()> {
        let State { counts, prefixes, members, frequent } = State::read(state, &self.identity()?)?;
        let row = create::row_of(&self.spec)?;
        if counts.excluded > 0 && row.others.excludes.is_none() {
            return Err(error!(Corrupt, "{} keys are excluded, and {} excludes none", counts.excluded, row.name));
        }
        if self.placed.is_none() && !prefixes.is_empty() || self.frequent.is_none() && !frequent.is_empty() {
            return Err(error!(Corrupt, "the keys have parts that builders of {} do not have", row.name));
        }
        let added = self.hashes.added() + self.placed.as_ref().map_or(0, |placed| placed.keys.added());
        if added.checked_add(counts.added).is_none() {
            return Err(error!(TooLarge, "{} keys more than {added} are more than can be counted", counts.added));
        }
        let mark = self.frequent.as_ref().map(Collector::mark);
        if let Some(collector) = &mut self.frequent {
            collector.merge(frequent, |record: Weighted| match record.units() {
                0 => Err(error!(Corrupt, "a frequent non-member has no weight")),
                _ => Ok(record),
            })?;
        }
        let merged = match (&mut self.placed, &mut self.hashes) {
            (Some(placed), _) => placed.merge(prefixes, members, counts.added),
            (None, hashes) => hashes.merge(members, counts.added),
        };
        match (&mut self.frequent, mark) {
            (Some(collector), Some(mark)) if merged.is_err() => collector.rewind(mark),
            (Some(collector), _) => collector.count_added(counts.frequent),
            _ => {}
        }
        merged?;
        self.excluded += counts.excluded;
        Ok(())
    }

    /// What builders agree in whose keys this one takes in.
    fn identity(&self) -> Result<Identity> {
        let row = create::row_of(&self.spec)?;
        let of = match (&self.placed, &self.hashes) {
            (Some(_), _) => Identity::of::<Placed>,
            (None, Insertions::Once(_)) => Identity::of::<u64>,
            (None, Insertions::Counted { .. }) => Identity::of::<Counted>,
        };
        of(row, &self.spec, &self.hasher)
    }
}
