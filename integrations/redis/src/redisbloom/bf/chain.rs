//! The value behind a key of `BF.*`: RedisBloom's chain of Bloom filters. Each filter has its own memory, so growing
//! copies no filter.

use crate::server::mover::Mover;
use crate::server::words::{self, plain, zeros};
use petal::blocks::placed::{Modulus, Shape};
use petal::interop::redisbloom::{Header, has_wide_hashes};
use petal::kinds::foreign_bloom;
use petal::kinds::foreign_bloom::placements::redisbloom::{Digest, with_array};
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

/// The sizes that RedisBloom reports for its structures: the chain, and each link without its array.
const CHAIN_BYTES: u64 = 32;
const LINK_BYTES: u64 = 64;

/// A link of the chain.
struct Placed {
    link: Link,
    /// How many keys were added.
    taken: u64,
    /// The reciprocal of the modulus of the link's bit positions.
    reciprocal: u64,
    words: Box<[AtomicU64]>,
}

/// A chain of at least one Bloom filter.
pub struct Chain {
    options: u32,
    expansion: u32,
    links: Vec<Placed>,
}

/// Why a key was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The chain does not grow.
    NonScaling,
    /// The chain cannot have another link.
    Last,
    /// There is no memory for another link.
    Memory,
}

impl Placed {
    /// An empty link. `number` is the placement.
    fn new(link: Link, taken: u64, number: u64) -> Result<Placed> {
        let modulus = Modulus::new(link.modulus()).filter(|_| link.is_of(number)).ok_or(petal::Status::Corrupt)?;
        Ok(Placed { link, taken, reciprocal: modulus.reciprocal(), words: zeros(link.words())? })
    }

    /// How many bits a key sets, and the modulus of their positions.
    #[inline]
    fn shape(&self) -> Shape {
        Shape { hashes: self.link.hashes, bits: Modulus::with_reciprocal(self.link.modulus(), self.reciprocal) }
    }

    /// The length of the link's bit array in bytes.
    fn array_bytes(&self) -> u64 {
        self.link.bits / 8
    }

    /// The bytes of the link's bit array.
    fn bytes(&self) -> &[u8] {
        &words::array_bytes(&self.words)[..self.array_bytes() as usize]
    }

    /// The link's array, to be changed.
    fn bytes_mut(&mut self) -> &mut [u8] {
        let length = self.array_bytes() as usize;
        &mut words::array_bytes_mut(&mut self.words)[..length]
    }

    #[inline]
    fn contains(&self, digest: &Digest) -> bool {
        digest.is_in(&self.words, self.shape())
    }

    /// Sets bit `i` of `found` if the link may have key `i`.
    fn contains_many(&self, keys: &WholeKeys, is_wide: bool, found: &mut [u8]) {
        let mut answers = Answers { bitmap: Some(found), ..Answers::default() };
        with_array(self.shape(), is_wide, |array| array.contains_many(&self.words, keys, &mut answers));
    }

    fn room(&self) -> u64 {
        self.link.entries.saturating_sub(self.taken)
    }
}

/// How many bytes the arrays of a header have together.
pub fn array_bytes(header: &Header) -> u64 {
    header.links.iter().fold(0, |sum, (link, _)| sum.saturating_add(link.bits / 8))
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

impl Chain {
    /// The chain that a header describes, with empty arrays.
    ///
    /// # Errors
    /// [`petal::Status::Corrupt`] for impossible links; [`petal::Status::OutOfMemory`].
    pub fn of_header(header: &Header) -> Result<Chain> {
        let number = foreign_bloom::placements::number(header.placement()).ok_or(petal::Status::Internal)?;
        // The list grows link by link, because a header may claim more links than memory can hold.
        let mut links = try_vec(header.links.len())?;
        for &(link, taken) in &header.links {
            links.push(Placed::new(link, taken, number)?);
        }
        if links.is_empty() {
            return Err(petal::Status::Corrupt.into());
        }
        Ok(Chain { options: header.options, expansion: header.expansion, links })
    }

    /// The header, which is the first chunk.
    pub fn header(&self) -> Header {
        let links = self.links.iter().map(|placed| (placed.link, placed.taken)).collect();
        Header { options: self.options, expansion: self.expansion, links }
    }

    // ---- Keys ----------------------------------------------------------------------------------------------------

    /// Whether bit positions come from 64-bit hashes.
    #[inline]
    fn is_wide(&self) -> bool {
        has_wide_hashes(self.options)
    }

    /// Whether a key may have been added.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.has(&Digest::of(key, self.is_wide()))
    }

    #[inline]
    fn has(&self, digest: &Digest) -> bool {
        self.links.iter().rev().any(|placed| placed.contains(digest))
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
            placed.contains_many(&whole, self.is_wide(), &mut here[..keys.len().div_ceil(8)]);
            found.iter_mut().zip(here).for_each(|(found, here)| *found |= here);
        }
        found
    }

    /// Adds a key. Returns true if the key certainly was not there. `has_room` says whether the server has that many
    /// more bytes.
    ///
    /// # Errors
    /// [`Full`]; then nothing has changed.
    pub fn add(&mut self, key: &[u8], has_room: &dyn Fn(u64) -> bool) -> core::result::Result<bool, Full> {
        let digest = Digest::of(key, self.is_wide());
        if self.has(&digest) {
            return Ok(false);
        }
        if self.newest().room() == 0 {
            self.grow(has_room)?;
        }
        let newest = self.newest_mut();
        let shape = newest.shape();
        digest.set_in(plain(&mut newest.words), shape);
        newest.taken += 1;
        Ok(true)
    }

    /// Adds keys in order. `answers` gets a value for each added key: whether the key certainly was not there. If a key
    /// cannot be added, `answers` ends before that key.
    ///
    /// # Errors
    /// The error of [`Chain::add`] for the first key that could not be added; the keys before it were added.
    pub fn add_many(
        &mut self,
        keys: &[&[u8]],
        has_room: &dyn Fn(u64) -> bool,
        answers: &mut Vec<bool>,
    ) -> core::result::Result<(), Full> {
        let mut together = Together::default();
        for part in keys.chunks(TOGETHER) {
            // If the newest link has room for all keys, no key adds a link.
            if part.len() >= MANY && self.newest().room() >= part.len() as u64 {
                self.add_together(part, &mut together, answers);
                continue;
            }
            for key in part {
                answers.push(self.add(key, has_room)?);
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
        let is_wide = self.is_wide();
        let newest = self.newest_mut();
        // `fill` makes valid offsets, so this never fails.
        if let Ok(whole) = together.keys() {
            let mut of_link = Answers { bitmap: Some(&mut new[..whole.len().div_ceil(8)]), ..Answers::default() };
            let (shape, words) = (newest.shape(), plain(&mut newest.words));
            newest.taken += with_array(shape, is_wide, |array| array.insert_many(words, &whole, Some(&mut of_link)));
        }
        let first = answers.len();
        answers.resize(first + keys.len(), false);
        absent.enumerate().for_each(|(place, i)| answers[first + i] = bit(&new, place));
    }

    /// Adds the link that follows the newest.
    #[cold]
    fn grow(&mut self, has_room: &dyn Fn(u64) -> bool) -> core::result::Result<(), Full> {
        let header = self.header();
        if !header.scales() {
            return Err(Full::NonScaling);
        }
        let link = header.next_link().ok_or(Full::Last)?;
        let number = foreign_bloom::placements::number(header.placement()).ok_or(Full::Last)?;
        if !has_room(link.bits / 8) {
            return Err(Full::Memory);
        }
        let placed = Placed::new(link, 0, number).map_err(|_| Full::Memory)?;
        self.append(placed).map_err(|_| Full::Memory)
    }

    fn newest(&self) -> &Placed {
        &self.links[self.links.len() - 1]
    }

    fn newest_mut(&mut self) -> &mut Placed {
        let newest = self.links.len() - 1;
        &mut self.links[newest]
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

    /// The size in bytes that RedisBloom would report.
    pub fn stated_bytes(&self) -> u64 {
        let links = self.links.iter().map(|placed| LINK_BYTES + placed.array_bytes());
        CHAIN_BYTES + links.sum::<u64>()
    }

    /// The capacity of a link divided by that of the previous link; `None` if the chain does not grow.
    pub fn expansion(&self) -> Option<u32> {
        self.header().scales().then_some(self.expansion)
    }

    /// The figures of each link for `BF.DEBUG`: bits, hashes, bits of a hash, capacity, keys, rate.
    pub fn descriptions(&self) -> impl Iterator<Item = (u64, u32, u32, u64, u64, f64)> {
        let header = self.header();
        let width = if header.placement() == "redisbloom" { 64 } else { 32 };
        header
            .links
            .into_iter()
            .map(move |(link, taken)| (link.bits, link.hashes, width, link.entries, taken, link.rate))
    }

    /// How many links there are.
    pub fn links(&self) -> usize {
        self.links.len()
    }

    // ---- Arrays --------------------------------------------------------------------------------------------------

    /// The arrays of the links.
    pub fn arrays(&self) -> impl Iterator<Item = &[u8]> {
        self.links.iter().map(Placed::bytes)
    }

    /// The arrays of the links, to be changed.
    pub fn arrays_mut(&mut self) -> impl Iterator<Item = &mut [u8]> {
        self.links.iter_mut().map(Placed::bytes_mut)
    }

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

    /// Stores the whole array of a link. Returns false, without a change, if the length differs.
    pub fn set_array(&mut self, link: usize, array: &[u8]) -> bool {
        let placed = &mut self.links[link];
        let is_right = array.len() as u64 == placed.array_bytes();
        if is_right {
            placed.bytes_mut().copy_from_slice(array);
        }
        is_right
    }

    /// Adds an empty link.
    ///
    /// # Errors
    /// [`petal::Status::Corrupt`] for an impossible link; [`petal::Status::OutOfMemory`].
    pub fn push(&mut self, link: Link) -> Result<()> {
        let number = foreign_bloom::placements::number(self.header().placement()).ok_or(petal::Status::Internal)?;
        self.append(Placed::new(link, 0, number)?)
    }

    /// Adds a link. A short list of links takes exactly the memory that it needs.
    fn append(&mut self, placed: Placed) -> Result<()> {
        let reserved = match self.links.len() < FEW_LINKS {
            true => self.links.try_reserve_exact(1),
            false => self.links.try_reserve(1),
        };
        reserved.map_err(|_| petal::Status::OutOfMemory)?;
        self.links.push(placed);
        Ok(())
    }

    /// Sets the number of keys of each link.
    pub fn set_taken(&mut self, taken: impl Iterator<Item = u64>) {
        self.links.iter_mut().zip(taken).for_each(|(placed, taken)| placed.taken = taken);
    }

    /// A copy of the chain, with its own memory.
    ///
    /// # Errors
    /// [`petal::Status::OutOfMemory`].
    pub fn copy(&self) -> Result<Chain> {
        let mut copy = Chain::of_header(&self.header())?;
        for (i, placed) in self.links.iter().enumerate() {
            copy.set_array(i, placed.bytes());
        }
        Ok(copy)
    }
}
