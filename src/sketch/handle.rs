//! The calls of a sketch, whatever its kind.

use crate::batch::keys::Keys;
use crate::batch::ring::{GROUP, Taken};
use crate::blocks::Measure;
use crate::contract::key_shape::{KeyShape, KeyWords, MAX_KEY_BYTES};
use crate::contract::{
    Base, Capabilities, Handle, KeyListing, Listing, Pair, Payload, SketchKind, Structure, add_one, add_pair,
    check_compatible,
};
use crate::error::{Result, Status, error};
use crate::handle::image::Image;
use crate::sketch::kept::Kept;
use core::ops::Range;
use core::sync::atomic::Ordering;

/// A set of 64-bit numbers in little memory. Another sketch can be subtracted from it, and it can be listed if few
/// numbers are left.
///
/// A `u64` key is the number itself, and is listed as such. The number of a byte key is its hash, so its hash is
/// listed. A kind whose numbers have fewer than 64 bits reduces hashes to that many bits, and refuses larger numbers. A
/// sketch of whole keys ([`Sketch::key_bytes`]) takes byte keys of one length and no hashes, and lists the keys. Insert
/// a number only once, because a sketch does not know which numbers it has, unless its handle keeps them
/// ([`Sketch::keep_keys`]). Many threads may use shared references at the same time. The calls about the bytes (saving,
/// verifying) are in [`Image`].
pub struct Sketch {
    pub(super) kind: Box<dyn SketchKind>,
    pub(super) kept: Option<Kept>,
    /// Grows with each change, so that a stream notices changes.
    pub(super) changes: u64,
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
            Structure::Sketch { open } => Ok(Sketch { kind: open(base)?, kept: None, changes: 0 }),
            _ => Err(base.other_handle(Handle::Sketch)),
        }
    }

    fn copy(&self) -> Result<Sketch> {
        let copy = Sketch::over(self.base().copy()?)?;
        if !self.base().is_own() {
            copy.payload().check_payload()?;
        }
        let kept = self.kept.as_ref().map(Kept::copy).transpose()?;
        Ok(Sketch { kept, ..copy })
    }
}

impl Sketch {
    /// Inserts a byte key, whose number is its hash.
    ///
    /// # Errors
    /// As [`Sketch::insert_hash`].
    #[inline]
    pub fn insert(&mut self, key: impl AsRef<[u8]>) -> Result<()> {
        self.add_bytes(key.as_ref(), 1)
    }

    /// Inserts a number.
    ///
    /// # Errors
    /// As [`Sketch::insert_hash`]; [`Status::OutOfRange`] if the sketch cannot hold the number.
    pub fn insert_u64(&mut self, number: u64) -> Result<()> {
        self.base().check_capability("insert", Capabilities::INSERT)?;
        self.check_number(number)?;
        self.add(&[number], 1)
    }

    /// Inserts the hash of a key, which is a number like any other. A kind whose numbers have fewer than 64 bits
    /// reduces the hash to such a number.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the handle is for reading; [`Status::SecretMissing`] if numbers cannot be placed
    /// without the secret key; [`Status::Corrupt`] if an image in place does not match its checksums.
    pub fn insert_hash(&mut self, hash: u64) -> Result<()> {
        self.base().check_capability("insert", Capabilities::INSERT)?;
        self.add(&[self.number_of_hash(hash)?], 1)
    }

    /// Removes a byte key, as [`Sketch::insert`] inserts one. A key that was removed but never inserted is listed with
    /// a sign of -1.
    ///
    /// # Errors
    /// As [`Sketch::insert_hash`].
    #[inline]
    pub fn remove(&mut self, key: impl AsRef<[u8]>) -> Result<()> {
        self.add_bytes(key.as_ref(), -1)
    }

    /// Removes a number; see [`Sketch::remove`].
    ///
    /// # Errors
    /// As [`Sketch::insert_u64`].
    pub fn remove_u64(&mut self, number: u64) -> Result<()> {
        self.base().check_capability("remove", Capabilities::REMOVE)?;
        self.check_number(number)?;
        self.add(&[number], -1)
    }

    /// Removes the hash of a key; see [`Sketch::remove`].
    ///
    /// # Errors
    /// As [`Sketch::insert_hash`].
    pub fn remove_hash(&mut self, hash: u64) -> Result<()> {
        self.base().check_capability("remove", Capabilities::REMOVE)?;
        self.add(&[self.number_of_hash(hash)?], -1)
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

    /// Refuses a number that the sketch cannot hold.
    fn check_number(&self, number: u64) -> Result<()> {
        match self.kind.key_shape() {
            shape if shape.is_whole() => self.check_length(8),
            _ => self.kind.check_number(number),
        }
    }

    /// Refuses whole keys of another length.
    fn check_length(&self, length: usize) -> Result<()> {
        match self.key_bytes() {
            bytes if bytes == length => Ok(()),
            bytes => Err(error!(
                OutOfRange,
                "a key of {length} bytes: the keys of this sketch have {bytes} bytes (key_bytes = {bytes})"
            )),
        }
    }

    /// Inserts a byte key, or removes it if the sign is negative.
    fn add_bytes(&mut self, key: &[u8], sign: i64) -> Result<()> {
        match sign > 0 {
            true => self.base().check_capability("insert", Capabilities::INSERT)?,
            false => self.base().check_capability("remove", Capabilities::REMOVE)?,
        }
        let shape = self.kind.key_shape();
        let mut words = KeyWords::default();
        if shape.is_whole() {
            self.check_length(key.len())?;
            KeyShape::read(key, &mut words);
        } else {
            let hash = self.base().hasher().hash_key(key)?;
            words[0] = self.kind.number_of_hash(hash);
        }
        self.add(&words[..shape.words()], sign)
    }

    fn add(&mut self, key: &[u64], sign: i64) -> Result<()> {
        self.add_with(key, 0, sign)
    }

    /// Adds a key with its value, which is 0 in a sketch without values.
    pub(super) fn add_with(&mut self, key: &[u64], value: u64, sign: i64) -> Result<()> {
        let hasher = self.base().hasher();
        if let Some(refusal) = hasher.refusal() {
            return Err(refusal.into());
        }
        let hash = self.kind.key_shape().hash(key, hasher).ok_or(Status::Internal)?;
        if let Some(kept) = &mut self.kept {
            if kept.contains(key) == (sign > 0) {
                return Ok(());
            }
            if sign > 0 {
                kept.reserve()?;
            }
        }
        if self.kind.value_bits() > 0 {
            let pair = Pair::of(self.base().hasher(), key[0], value)?;
            add_pair(&mut *self.kind, &pair, sign)?;
        } else {
            add_one(&mut *self.kind, hash, key, sign)?;
        }
        match &mut self.kept {
            Some(kept) if sign > 0 => kept.insert(key),
            Some(kept) => kept.remove(key),
            None => {}
        }
        self.changed(1, sign);
        Ok(())
    }

    /// Notes that this many keys were added.
    fn changed(&mut self, keys: u64, sign: i64) {
        self.changes = self.changes.wrapping_add(1);
        let base = self.base_mut();
        if sign > 0 { base.add_count(keys) } else { base.subtract_count(keys) }
    }

    fn add_all(&mut self, keys: &Keys, sign: i64) -> Taken {
        self.add_all_with(keys, None, sign)
    }

    /// Adds all keys with their values, which are 0 if there are none.
    pub(super) fn add_all_with(&mut self, keys: &Keys, values: Option<&[u64]>, sign: i64) -> Taken {
        let hasher = self.base().hasher().clone();
        let refusal = hasher.refusal().map_or(Ok(()), |refusal| Err(refusal.into()));
        if let Err(error) = keys.check(&hasher).and(refusal) {
            return Taken::none(error);
        }
        let (mut done, mut words) = (0, [0; GROUP * MAX_KEY_BYTES / 8]);
        while done < keys.len() {
            let group = done..keys.len().min(done + GROUP);
            let read = self.read_group(keys, group, &mut words);
            let values = values.map(|values| &values[done..]);
            let added = self.add_group(&words[..read.keys * self.kind.key_shape().words()], values, sign);
            done += added.keys;
            if let Err(error) = added.outcome.and(read.outcome) {
                return Taken { keys: done, outcome: Err(error) };
            }
        }
        Taken::all(done)
    }

    /// Writes the words of the keys of a group, up to the first one that the sketch cannot hold.
    fn read_group(&self, keys: &Keys, group: Range<usize>, words: &mut [u64]) -> Taken {
        let (shape, mut read) = (self.kind.key_shape(), 0);
        let outcome = match keys {
            Keys::U64(given) => given[group].iter().try_for_each(|number| {
                self.check_number(*number)?;
                words[read] = *number;
                read += 1;
                Ok(())
            }),
            Keys::Bytes { .. } | Keys::Bytes32 { .. } if shape.is_whole() => keys.try_for_each_string(group, |key| {
                self.check_length(key.len())?;
                KeyShape::read(key, &mut words[read * shape.words()..][..shape.words()]);
                read += 1;
                Ok(())
            }),
            Keys::Hashes(_) | Keys::Bytes { .. } | Keys::Bytes32 { .. } | Keys::Digests { .. } => {
                let (hasher, instructions, words) =
                    (self.base().hasher(), self.base().instructions(), &mut words[..group.len()]);
                keys.hash_range(group.start, hasher, instructions, words);
                words.iter_mut().try_for_each(|word| {
                    *word = self.number_of_hash(*word)?;
                    read += 1;
                    Ok(())
                })
            }
        };
        Taken { keys: read, outcome }
    }

    /// Adds a group of keys, given as words, with their values, which are 0 if there are none.
    fn add_group(&mut self, words: &[u64], values: Option<&[u64]>, sign: i64) -> Taken {
        let shape = self.kind.key_shape();
        let keys = words.chunks_exact(shape.words());
        if self.kept.is_some() || !self.base().is_own() || self.kind.value_bits() > 0 {
            for (done, key) in keys.enumerate() {
                if let Err(error) = self.add_with(key, values.map_or(0, |values| values[done]), sign) {
                    return Taken { keys: done, outcome: Err(error) };
                }
            }
            return Taken::all(words.len() / shape.words());
        }
        let (hasher, instructions, mut hashes) = (self.base().hasher(), self.base().instructions(), [0; GROUP]);
        let hashes = &mut hashes[..words.len() / shape.words()];
        // The caller has checked that the hasher can hash.
        shape.hash_all(words, hasher, instructions, hashes);
        if self.kind.add_keys_at_once(hashes, words, sign).is_none() {
            return Taken::none(Status::Internal.into());
        }
        self.changed(hashes.len() as u64, sign);
        Taken::all(hashes.len())
    }

    /// From now on this handle keeps the set of numbers in memory: some 25 to 45 bytes for each. Inserting a number
    /// that is there, and removing a number that is not there, then succeed and change nothing. An image has the cells
    /// only, so a sketch that is opened or loaded keeps no numbers. A copy of the sketch keeps them too.
    /// [`Sketch::clear`] forgets the numbers and goes on keeping. After [`Sketch::merge`] and [`Sketch::subtract`] the
    /// sketch is no longer that of a known set, so it keeps no numbers.
    ///
    /// # Errors
    /// [`Status::Contradiction`] if the sketch is not empty; [`Status::Unsupported`] if the handle is for reading or
    /// the numbers have values.
    pub fn keep_keys(&mut self) -> Result<()> {
        self.base().check_capability("insert", Capabilities::INSERT)?;
        if self.kind.value_bits() > 0 {
            return Err(error!(Unsupported, "a sketch of numbers with values keeps no keys"));
        }
        if self.kept.is_some() {
            return Ok(());
        }
        let words = self.base().words().shared();
        if words.iter().any(|word| word.load(Ordering::Relaxed) != 0) {
            let keys = self.insertions();
            return Err(error!(
                Contradiction,
                "the sketch has {keys} keys that are not kept; it keeps keys if you ask for that while it is empty"
            ));
        }
        // The count of a sketch without numbers may be wrong if some were removed before they were inserted.
        if self.insertions() > 0 {
            self.clear()?;
        }
        self.kept = Some(Kept::new(self.kind.key_shape().words()));
        Ok(())
    }

    /// Whether this handle keeps the numbers ([`Sketch::keep_keys`]).
    pub fn keeps_keys(&self) -> bool {
        self.kept.is_some()
    }

    /// The numbers that this handle keeps, each once; `None` if it keeps none. Their order depends on the insertions
    /// and removals. A whole key has [`Sketch::key_bytes`] / 8 words, rounded up. Constant time.
    pub fn kept(&self) -> Option<&[u64]> {
        self.kept.as_ref().map(Kept::words)
    }

    /// The bytes of a key, if the sketch holds keys whole; 0 if it holds numbers.
    pub fn key_bytes(&self) -> usize {
        let shape = self.kind.key_shape();
        if shape.is_whole() { shape.bytes() } else { 0 }
    }

    /// How many coded symbols the sketch keeps; 0 if its kind has none.
    pub fn symbol_count(&self) -> u64 {
        self.kind.symbols()
    }

    /// Adds all numbers of another sketch. If the two sets have nothing in common, the result is the sketch of both
    /// together. If the other sketch is unclean, this one becomes unclean too, until somebody marks it clean. Linear in
    /// the payload.
    ///
    /// # Errors
    /// [`Status::Incompatible`], naming the first difference; [`Status::Unsupported`]; [`Status::Corrupt`] if either
    /// sketch lies in an image that does not match its checksums. The sketch then stays as it was.
    pub fn merge(&mut self, other: &Sketch) -> Result<()> {
        self.combine(other, "merge", Capabilities::MERGE, false)
    }

    /// Subtracts another sketch. Numbers that both hold are gone, and numbers that only the other holds are listed with
    /// a sign of -1. Otherwise like [`Sketch::merge`].
    ///
    /// # Errors
    /// As [`Sketch::merge`].
    pub fn subtract(&mut self, other: &Sketch) -> Result<()> {
        self.combine(other, "subtract", Capabilities::SUBTRACT, true)
    }

    fn combine(&mut self, other: &Sketch, verb: &str, capability: Capabilities, subtract: bool) -> Result<()> {
        self.base().check_capability(verb, capability)?;
        if !(self.kind.combines_layouts() && self.base().differs_in_layout_only(other.base())) {
            check_compatible(self.base(), other.base())?;
        }
        let (ours, theirs) = (self.base().count_now(), other.base().count_now());
        let stays_unclean = other.base().check_marked_clean()?;
        self.kind.combine_with(&*other.kind, subtract)?;
        self.kept = None;
        self.changes = self.changes.wrapping_add(1);
        let count = if subtract { ours.saturating_sub(theirs) } else { ours.saturating_add(theirs) };
        self.base_mut().set_count(count);
        if stays_unclean || other.base().stays_unclean() {
            self.base_mut().taint();
        }
        Ok(())
    }

    /// The numbers that are there, each with its sign. The sign is 1, or -1 for a number that was removed, or that a
    /// subtracted sketch had and this one did not. If there are more numbers than the sketch can tell apart, the
    /// listing has those that it can, and says that they are not all. `pinsketch` then lists none. Takes at most as
    /// many steps as there are cells, whatever they hold.
    ///
    /// A `pinsketch` that took bytes of minisketch, or that has layout 1, has no checksum, and neither has any sketch
    /// that was combined with one. Such sketches may call a wrong list complete. The page of the kind says for which
    /// sets.
    ///
    /// # Errors
    /// [`Status::SecretMissing`] without the secret key that places numbers; [`Status::OutOfMemory`].
    pub fn list(&self) -> Result<Listing> {
        self.base().check_kind("list", Capabilities::LIST)?;
        self.check_numbers()?;
        self.kind.list()
    }

    /// Whether a listing says which of two sets has a number: with a sign of 1 or -1.
    pub fn has_signs(&self) -> bool {
        self.kind.has_signs()
    }

    /// Refuses a listing of numbers if keys are whole.
    pub(crate) fn check_numbers(&self) -> Result<()> {
        match self.key_bytes() {
            0 => Ok(()),
            bytes => Err(error!(Unsupported, "the sketch has whole keys (key_bytes = {bytes}): list_keys lists these")),
        }
    }

    /// Refuses a listing of whole keys if keys are numbers.
    pub(crate) fn check_whole(&self) -> Result<()> {
        match self.key_bytes() {
            0 => {
                let name = self.base().row().name;
                Err(error!(Unsupported, "the {name} sketch has numbers and no whole keys: list lists these"))
            }
            _ => Ok(()),
        }
    }

    /// How the keys lie in words.
    pub(crate) fn key_shape(&self) -> KeyShape {
        self.kind.key_shape()
    }

    /// A number that every change makes a different one.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// The whole keys that are there, each with its sign. Otherwise like [`Sketch::list`].
    ///
    /// # Errors
    /// As [`Sketch::list`]; [`Status::Unsupported`] if the sketch holds numbers.
    pub fn list_keys(&self) -> Result<KeyListing> {
        self.base().check_kind("list", Capabilities::LIST)?;
        self.check_whole()?;
        self.kind.list_keys()
    }

    /// Forgets all numbers.
    ///
    /// # Errors
    /// [`Status::Unsupported`].
    pub fn clear(&mut self) -> Result<()> {
        self.base().check_capability("clear", Capabilities::CLEAR)?;
        self.kind.reset()?;
        self.base_mut().set_count(0);
        self.changes = self.changes.wrapping_add(1);
        if let Some(kept) = &mut self.kept {
            kept.clear();
        }
        Ok(())
    }

    /// Insertions less removals; 0 if there were more removals.
    pub fn insertions(&self) -> u64 {
        self.base().count_now()
    }

    /// The probability that `numbers` numbers cannot be listed. The result is rather too high than too low.
    pub fn expected_failure_rate(&self, numbers: u64) -> f64 {
        (self.base().row().false_positive_rate)(self.base().geometry(), numbers).min(1.0)
    }

    /// Measures the payload.
    pub fn statistics(&self) -> Measure {
        self.statistics_with(&mut |_| {})
    }

    /// [`Sketch::statistics`], which reads the whole payload and reports the bytes of every piece to `progress`.
    pub fn statistics_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        self.kind.measure_with(progress)
    }
}
