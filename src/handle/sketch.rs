//! The calls of a sketch, whatever its kind.

use crate::batch::keys::Keys;
use crate::batch::ring::{GROUP, Taken};
use crate::blocks::Measure;
use crate::contract::{
    Base, Capabilities, Handle, Listing, Pair, Payload, SketchKind, Structure, add_one, add_pair, check_compatible,
};
use crate::error::Result;
#[cfg(doc)]
use crate::error::Status;
use crate::handle::image::Image;

/// A set of 64-bit numbers in little memory. Another sketch can be subtracted from it, and it can be listed if few
/// numbers are left.
///
/// A `u64` key is the number itself, and is listed as such. The number of a byte key is its hash, so its hash is
/// listed. A kind whose numbers have fewer than 64 bits reduces hashes to that many bits, and refuses greater numbers.
/// Insert a number only once, because a sketch does not know which numbers it has. Many threads may use shared
/// references at once. The calls about the bytes (saving, verifying) are in [`Image`].
pub struct Sketch {
    pub(super) kind: Box<dyn SketchKind>,
}

impl core::fmt::Debug for Sketch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Sketch").field("header", self.base().header()).finish_non_exhaustive()
    }
}

impl Image for Sketch {
    fn payload(&self) -> &dyn Payload {
        &*self.kind
    }

    fn payload_mut(&mut self) -> &mut dyn Payload {
        &mut *self.kind
    }

    fn over(base: Base) -> Result<Sketch> {
        match base.row().structure {
            Structure::Sketch { open } => Ok(Sketch { kind: open(base)? }),
            _ => Err(base.other_handle(Handle::Sketch)),
        }
    }
}

impl Sketch {
    /// Inserts a byte key, whose number is its hash.
    ///
    /// # Errors
    /// As [`Sketch::insert_hash`].
    pub fn insert(&mut self, key: &[u8]) -> Result<()> {
        let hash = self.base().hasher().hash_key(key)?;
        self.insert_hash(hash)
    }

    /// Inserts a number.
    ///
    /// # Errors
    /// As [`Sketch::insert_hash`]; [`Status::OutOfRange`] if the sketch cannot hold the number.
    pub fn insert_u64(&mut self, number: u64) -> Result<()> {
        self.base().check_capability("insert", Capabilities::INSERT)?;
        self.kind.check_number(number)?;
        self.add(number, 1)
    }

    /// Inserts the hash of a key, which is a number like any other. A kind whose numbers have fewer than 64 bits
    /// reduces the hash to such a number.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the handle is for reading; [`Status::KeyMissing`] if numbers cannot be placed without
    /// the secret key; [`Status::Corrupt`] if an image in place does not match its checksums.
    pub fn insert_hash(&mut self, hash: u64) -> Result<()> {
        self.base().check_capability("insert", Capabilities::INSERT)?;
        self.add(self.kind.number_of_hash(hash), 1)
    }

    /// Removes a byte key, as [`Sketch::insert`] inserts one. A key that was removed but not inserted is listed as
    /// there -1 times.
    ///
    /// # Errors
    /// As [`Sketch::insert_hash`].
    pub fn remove(&mut self, key: &[u8]) -> Result<()> {
        let hash = self.base().hasher().hash_key(key)?;
        self.remove_hash(hash)
    }

    /// Removes a number; see [`Sketch::remove`].
    ///
    /// # Errors
    /// As [`Sketch::insert_u64`].
    pub fn remove_u64(&mut self, number: u64) -> Result<()> {
        self.base().check_capability("remove", Capabilities::REMOVE)?;
        self.kind.check_number(number)?;
        self.add(number, -1)
    }

    /// Removes the hash of a key; see [`Sketch::remove`].
    ///
    /// # Errors
    /// As [`Sketch::insert_hash`].
    pub fn remove_hash(&mut self, hash: u64) -> Result<()> {
        self.base().check_capability("remove", Capabilities::REMOVE)?;
        self.add(self.kind.number_of_hash(hash), -1)
    }

    /// Inserts many keys in order. All keys are inserted, unless there is an error: one of [`Sketch::insert`], or
    /// [`Status::Offsets`].
    pub fn insert_batch(&mut self, keys: &Keys) -> Taken {
        match self.base().check_capability("insert", Capabilities::INSERT) {
            Ok(()) => self.add_all(keys, 1),
            Err(error) => Taken::none(error),
        }
    }

    /// Removes many keys in order, as [`Sketch::insert_batch`] inserts them.
    pub fn remove_batch(&mut self, keys: &Keys) -> Taken {
        match self.base().check_capability("remove", Capabilities::REMOVE) {
            Ok(()) => self.add_all(keys, -1),
            Err(error) => Taken::none(error),
        }
    }

    fn add(&mut self, number: u64, count: i64) -> Result<()> {
        self.add_with(number, 0, count)
    }

    /// Adds a number with its value, which is 0 in a sketch without values.
    pub(super) fn add_with(&mut self, number: u64, value: u64, count: i64) -> Result<()> {
        if self.kind.value_bits() > 0 {
            let pair = Pair::of(self.base().hasher(), number, value)?;
            add_pair(&mut *self.kind, &pair, count)?;
        } else {
            let hash = self.base().hasher().hash_u64(number)?;
            add_one(&mut *self.kind, hash, number, count)?;
        }
        let base = self.base_mut();
        if count > 0 {
            base.add_count(1)
        } else {
            base.subtract_count(1)
        }
        Ok(())
    }

    fn add_all(&mut self, keys: &Keys, count: i64) -> Taken {
        self.add_all_with(keys, None, count)
    }

    /// Adds all keys with their values, which are 0 if there are none.
    pub(super) fn add_all_with(&mut self, keys: &Keys, values: Option<&[u64]>, count: i64) -> Taken {
        if let Err(error) = keys.check(self.base().hasher()) {
            return Taken::none(error);
        }
        let (hasher, instructions) = (self.base().hasher().clone(), self.base().instructions());
        let (mut done, mut numbers) = (0, [0; GROUP]);
        while done < keys.len() {
            let next = GROUP.min(keys.len() - done);
            match keys {
                Keys::U64(given) | Keys::Hashes(given) => numbers[..next].copy_from_slice(&given[done..done + next]),
                Keys::Bytes { .. } => keys.hash_range(done, &hasher, instructions, &mut numbers[..next]),
            }
            for number in &numbers[..next] {
                let number = match keys {
                    Keys::U64(_) => self.kind.check_number(*number).map(|()| *number),
                    Keys::Hashes(_) | Keys::Bytes { .. } => Ok(self.kind.number_of_hash(*number)),
                };
                let value = values.map_or(0, |values| values[done]);
                if let Err(error) = number.and_then(|number| self.add_with(number, value, count)) {
                    return Taken { keys: done, outcome: Err(error) };
                }
                done += 1;
            }
        }
        Taken::all(done)
    }

    /// Adds all numbers of another sketch. If the two sets have nothing in common, the result is the sketch of both
    /// together. If the other sketch is dirty, this sketch becomes dirty too, until somebody vouches for it. Linear in
    /// the payload.
    ///
    /// # Errors
    /// [`Status::Incompatible`], naming the first difference; [`Status::Unsupported`]; [`Status::Corrupt`] if either
    /// sketch lies in an image that does not match its checksums. The sketch then stays as it was.
    pub fn merge(&mut self, other: &Sketch) -> Result<()> {
        self.combine(other, "merge", Capabilities::MERGE, false)
    }

    /// Subtracts another sketch. Numbers that both hold are gone, and numbers that only the other holds are listed as
    /// there -1 times. In all else this is as [`Sketch::merge`].
    ///
    /// # Errors
    /// As [`Sketch::merge`].
    pub fn subtract(&mut self, other: &Sketch) -> Result<()> {
        self.combine(other, "subtract", Capabilities::SUBTRACT, true)
    }

    fn combine(&mut self, other: &Sketch, verb: &str, capability: Capabilities, subtract: bool) -> Result<()> {
        self.base().check_capability(verb, capability)?;
        check_compatible(self.base(), other.base())?;
        let (ours, theirs) = (self.base().count_now(), other.base().count_now());
        let unvouched = other.base().check_vouched()?;
        self.kind.combine_with(&*other.kind, subtract)?;
        let count = if subtract { ours.saturating_sub(theirs) } else { ours.saturating_add(theirs) };
        self.base_mut().set_count(count);
        if unvouched || other.base().is_unvouched() {
            self.base_mut().taint();
        }
        Ok(())
    }

    /// The numbers that are there, each with its count. The count is 1, or -1 for a number that was removed, or that a
    /// subtracted sketch had and this one had not. If there are more numbers than the sketch can tell apart, the
    /// listing has those that it can, and says that they are not all. Takes at most as many steps as there are cells,
    /// whatever they hold.
    ///
    /// # Errors
    /// [`Status::KeyMissing`] without the secret key that places numbers; [`Status::OutOfMemory`].
    pub fn list(&self) -> Result<Listing> {
        self.base().check_kind("list", Capabilities::LIST)?;
        self.kind.list()
    }

    /// Forgets all numbers.
    ///
    /// # Errors
    /// [`Status::Unsupported`].
    pub fn clear(&mut self) -> Result<()> {
        self.base().check_capability("clear", Capabilities::CLEAR)?;
        self.kind.reset()?;
        self.base_mut().set_count(0);
        Ok(())
    }

    /// Insertions less removals; 0 if there were more removals.
    pub fn offered(&self) -> u64 {
        self.base().count_now()
    }

    /// The probability that so many numbers cannot be listed. The result is rather too high than too low.
    pub fn expected_failure_rate(&self, numbers: u64) -> f64 {
        (self.base().row().false_positive_rate)(self.base().geometry(), numbers).min(1.0)
    }

    /// Measures the payload.
    pub fn measure(&self) -> Measure {
        self.measure_with(&mut |_| {})
    }

    /// [`Sketch::measure`], which reads all of the payload, and tells `progress` after every piece how many bytes it
    /// had.
    pub fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        self.kind.measure_with(progress)
    }
}
