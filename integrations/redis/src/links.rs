//! The links of a chain of Bloom filters, whoever's: RedisBloom's or valkey-bloom's. Each filter has its own memory, so
//! growing copies no filter.

use crate::server::mover::Mover;
use crate::server::words::{self, plain, zeros};
use petal::blocks::placed::{Modulus, PlacedArray, Shape};
use petal::kinds::foreign_bloom;
use petal::kinds::foreign_scalable::links::Link;
use petal::storage::try_vec;
use petal::{Answers, Keys, Result, WholeKeys};
use std::sync::atomic::AtomicU64;

/// How many keys are looked up together.
const TOGETHER: usize = 512;

/// The least number of keys that are looked up together.
const MANY: usize = 8;

/// The most links for which a chain reserves no memory ahead: copying this few links costs little.
const FEW_LINKS: usize = 64;

/// What is the same for all links of a chain: how they hash keys, and what else their owner keeps.
pub trait Hashing: Send + Sync + 'static {
    /// The hash of a key, the same for all links.
    type Digest;

    /// The name of the placement.
    fn placement(&self) -> &'static str;

    /// The hash of a key.
    fn digest(&self, key: &[u8]) -> Self::Digest;

    /// Whether all bits of the key are set in an array of this shape.
    fn is_in(&self, digest: &Self::Digest, words: &[AtomicU64], shape: Shape) -> bool;

    /// Sets the bits of the key in an array of this shape.
    fn set_in(&self, digest: &Self::Digest, words: &mut [u64], shape: Shape);

    /// Gives the array of a shape to `ask`.
    fn with_array<R>(&self, shape: Shape, ask: impl FnOnce(&dyn PlacedArray) -> R) -> R;
}

/// A link of the chain.
pub struct Placed {
    /// The shape of its array, and what it was sized for.
    pub link: Link,
    /// How many keys were added.
    pub taken: u64,
    /// The reciprocal of the modulus of the link's bit positions.
    reciprocal: u64,
    words: Box<[AtomicU64]>,
}

/// At least one link, the oldest first.
pub struct Links<H> {
    /// What is the same for all links.
    pub head: H,
    links: Vec<Placed>,
}

impl Placed {
    /// An empty link. `number` is the placement.
    fn new(link: Link, number: u64) -> Result<Placed> {
        let modulus = Modulus::new(link.modulus()).filter(|_| link.is_of(number)).ok_or(petal::Status::Corrupt)?;
        Ok(Placed { link, taken: 0, reciprocal: modulus.reciprocal(), words: zeros(link.words())? })
    }

    /// How many bits a key sets, and the modulus of their positions.
    #[inline]
    fn shape(&self) -> Shape {
        Shape { hashes: self.link.hashes, bits: Modulus::with_reciprocal(self.link.modulus(), self.reciprocal) }
    }

    /// The length of the link's bit array in bytes.
    pub fn array_bytes(&self) -> u64 {
        self.link.bits / 8
    }

    /// The bytes of the link's bit array.
    pub fn bytes(&self) -> &[u8] {
        &words::array_bytes(&self.words)[..self.array_bytes() as usize]
    }

    /// The link's array, to be changed.
    fn bytes_mut(&mut self) -> &mut [u8] {
        let length = self.array_bytes() as usize;
        &mut words::array_bytes_mut(&mut self.words)[..length]
    }

    /// Sets bit `i` of `found` if the link may have key `i`.
    fn contains_many(&self, keys: &WholeKeys, hashing: &impl Hashing, found: &mut [u8]) {
        let mut answers = Answers { bitmap: Some(found), ..Answers::default() };
        hashing.with_array(self.shape(), |array| array.contains_many(&self.words, keys, &mut answers));
    }

    /// How many more keys the link takes.
    fn room(&self) -> u64 {
        self.link.entries.saturating_sub(self.taken)
    }
}

/// Keys in one buffer, for lookups of many keys.
#[derive(Default)]
struct Together {
    bytes: Vec<u8>,
    offsets: Vec<u64>,
}

impl Together {
    /// Replaces the keys in the buffer.
    fn fill<'a>(&mut self, keys: impl Iterator<Item = &'a [u8]>) {
        self.bytes.clear();
        self.offsets.clear();
        self.offsets.push(0);
        for key in keys {
            self.bytes.extend_from_slice(key);
            self.offsets.push(self.bytes.len() as u64);
        }
    }

    fn keys(&self) -> Result<WholeKeys<'_>> {
        WholeKeys::new(&Keys::Bytes { bytes: &self.bytes, offsets: &self.offsets })
    }
}

fn bit(bits: &[u8], i: usize) -> bool {
    bits[i / 8] >> (i % 8) & 1 != 0
}

impl<H: Hashing> Links<H> {
    /// No links yet: the first one has to follow.
    pub fn new(head: H) -> Links<H> {
        Links { head, links: Vec::new() }
    }

    /// The links, the oldest first.
    pub fn all(&self) -> &[Placed] {
        &self.links
    }

    /// The arrays of the links.
    pub fn arrays(&self) -> impl Iterator<Item = &[u8]> {
        self.links.iter().map(Placed::bytes)
    }

    /// The arrays of the links, to be changed.
    pub fn arrays_mut(&mut self) -> impl Iterator<Item = &mut [u8]> {
        self.links.iter_mut().map(Placed::bytes_mut)
    }

    /// Says how many new keys the newest link takes.
    pub fn set_newest_entries(&mut self, entries: u64) {
        self.newest_mut().1.link.entries = entries;
    }

    /// Says how many keys the newest link has taken.
    pub fn set_newest_taken(&mut self, taken: u64) {
        self.newest_mut().1.taken = taken;
    }

    // ---- Keys ----------------------------------------------------------------------------------------------------

    /// Whether a key may have been added.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.has(&self.head.digest(key))
    }

    #[inline]
    fn has(&self, digest: &H::Digest) -> bool {
        self.links.iter().rev().any(|placed| self.head.is_in(digest, &placed.words, placed.shape()))
    }

    /// Whether each of the keys may have been added.
    pub fn contains_many(&self, keys: &[&[u8]]) -> Vec<bool> {
        if keys.len() < MANY {
            return keys.iter().map(|key| self.contains(key)).collect();
        }
        let mut answers = Vec::with_capacity(keys.len());
        let mut together = Together::default();
        for part in keys.chunks(TOGETHER) {
            let found = self.found_in(&self.links, part, &mut together);
            answers.extend((0..part.len()).map(|i| bit(&found, i)));
        }
        answers
    }

    /// A bit for each of at most [`TOGETHER`] keys: whether one of these links may have the key.
    fn found_in(&self, links: &[Placed], keys: &[&[u8]], together: &mut Together) -> [u8; TOGETHER / 8] {
        let mut found = [0; TOGETHER / 8];
        together.fill(keys.iter().copied());
        // `fill` makes valid offsets, so this never fails.
        let Ok(whole) = together.keys() else { return [u8::MAX; TOGETHER / 8] };
        for placed in links.iter().rev() {
            let mut here = [0; TOGETHER / 8];
            placed.contains_many(&whole, &self.head, &mut here[..keys.len().div_ceil(8)]);
            found.iter_mut().zip(here).for_each(|(found, here)| *found |= here);
        }
        found
    }

    /// Adds a key. Returns true if the key certainly was not there. `grow` adds a link when the newest one is full.
    ///
    /// # Errors
    /// The errors of `grow`; then nothing has changed.
    pub fn add<E>(
        &mut self,
        key: &[u8],
        grow: &impl Fn(&mut Links<H>) -> core::result::Result<(), E>,
    ) -> core::result::Result<bool, E> {
        let digest = self.head.digest(key);
        if self.has(&digest) {
            return Ok(false);
        }
        if self.newest().room() == 0 {
            grow(self)?;
        }
        let (head, newest) = self.newest_mut();
        let shape = newest.shape();
        head.set_in(&digest, plain(&mut newest.words), shape);
        newest.taken += 1;
        Ok(true)
    }

    /// Adds keys in order. `answers` gets a value for each added key: whether the key certainly was not there. If a key
    /// cannot be added, `answers` ends before that key.
    ///
    /// # Errors
    /// The error of [`Links::add`] for the first key that could not be added; the keys before it were added.
    pub fn add_many<E>(
        &mut self,
        keys: &[&[u8]],
        grow: &impl Fn(&mut Links<H>) -> core::result::Result<(), E>,
        answers: &mut Vec<bool>,
    ) -> core::result::Result<(), E> {
        let mut together = Together::default();
        for part in keys.chunks(TOGETHER) {
            // If the newest link has room for all keys, no key adds a link.
            if part.len() >= MANY && self.newest().room() >= part.len() as u64 {
                self.add_together(part, &mut together, answers);
                continue;
            }
            for key in part {
                answers.push(self.add(key, grow)?);
            }
        }
        Ok(())
    }

    /// Adds at most [`TOGETHER`] keys to the newest link, which has room for them.
    fn add_together(&mut self, keys: &[&[u8]], together: &mut Together, answers: &mut Vec<bool>) {
        let older = &self.links[..self.links.len() - 1];
        let found = self.found_in(older, keys, together);
        let absent = (0..keys.len()).filter(|i| !bit(&found, *i));
        together.fill(absent.clone().map(|i| keys[i]));
        let mut new = [0; TOGETHER / 8];
        let (head, newest) = self.newest_mut();
        // `fill` makes valid offsets, so this never fails.
        if let Ok(whole) = together.keys() {
            let mut of_link = Answers { bitmap: Some(&mut new[..whole.len().div_ceil(8)]), ..Answers::default() };
            let (shape, words) = (newest.shape(), plain(&mut newest.words));
            newest.taken += head.with_array(shape, |array| array.insert_many(words, &whole, Some(&mut of_link)));
        }
        let first = answers.len();
        answers.resize(first + keys.len(), false);
        absent.enumerate().for_each(|(place, i)| answers[first + i] = bit(&new, place));
    }

    fn newest(&self) -> &Placed {
        &self.links[self.links.len() - 1]
    }

    fn newest_mut(&mut self) -> (&H, &mut Placed) {
        let newest = self.links.len() - 1;
        (&self.head, &mut self.links[newest])
    }

    // ---- What it is ----------------------------------------------------------------------------------------------

    /// How many keys were added.
    pub fn keys(&self) -> u64 {
        self.links.iter().fold(0, |sum, placed| sum.saturating_add(placed.taken))
    }

    /// The capacity of all links.
    pub fn capacity(&self) -> u64 {
        self.links.iter().fold(0, |sum, placed| sum.saturating_add(placed.link.entries))
    }

    // ---- Arrays --------------------------------------------------------------------------------------------------

    /// How many bytes the value asked the allocator for, as RedisBloom counts.
    pub fn asked_for(&self) -> usize {
        let arrays = self.links.iter().map(|placed| size_of_val(&*placed.words));
        self.links.capacity() * size_of::<Placed>() + arrays.sum::<usize>()
    }

    /// Lets the server move the memory of the value.
    pub fn move_memory(&mut self, mover: &Mover) {
        // Only a list without spare room becomes a slice without a copy.
        let mut links = std::mem::take(&mut self.links);
        if links.len() == links.capacity() {
            let mut slice = links.into_boxed_slice();
            mover.slice(&mut slice);
            links = slice.into_vec();
        }
        links.iter_mut().for_each(|placed| mover.slice(&mut placed.words));
        self.links = links;
    }

    /// Adds an empty link. A short list of links takes exactly the memory that it needs.
    ///
    /// # Errors
    /// [`petal::Status::Corrupt`] for an impossible link; [`petal::Status::OutOfMemory`].
    pub fn push(&mut self, link: Link) -> Result<()> {
        let number = foreign_bloom::placements::number(self.head.placement()).ok_or(petal::Status::Internal)?;
        let placed = Placed::new(link, number)?;
        let reserved = match self.links.len() < FEW_LINKS {
            true => self.links.try_reserve_exact(1),
            false => self.links.try_reserve(1),
        };
        reserved.map_err(|_| petal::Status::OutOfMemory)?;
        self.links.push(placed);
        Ok(())
    }

    /// Adds a link with its array.
    ///
    /// # Errors
    /// The errors of [`Links::push`]; [`petal::Status::Corrupt`] if the array has another length.
    pub fn push_with(&mut self, link: Link, array: &[u8]) -> Result<()> {
        if array.len() as u64 != link.bits / 8 {
            return Err(petal::Status::Corrupt.into());
        }
        self.push(link)?;
        self.newest_mut().1.bytes_mut().copy_from_slice(array);
        Ok(())
    }

    /// A copy of the links, with its own memory.
    ///
    /// # Errors
    /// [`petal::Status::OutOfMemory`].
    pub fn copy(&self) -> Result<Links<H>>
    where
        H: Clone,
    {
        let mut copy = Links { head: self.head.clone(), links: try_vec(self.links.len())? };
        for placed in &self.links {
            copy.push_with(placed.link, placed.bytes())?;
            copy.set_newest_taken(placed.taken);
        }
        Ok(copy)
    }
}
