//! The value behind a key of `BF.*`: RedisBloom's chain of Bloom filters.

use crate::links::{Hashing, Links};
use petal::Result;
use petal::blocks::placed::{PlacedArray, Shape};
use petal::interop::redisbloom::{Header, has_wide_hashes};
use petal::kinds::foreign_bloom::placements::redisbloom::{Digest, with_array};
use std::sync::atomic::AtomicU64;

/// The sizes that RedisBloom reports for its structures: the chain, and each link without its array.
const CHAIN_BYTES: u64 = 32;
const LINK_BYTES: u64 = 64;

/// What is the same for all links.
#[derive(Clone)]
pub struct Head {
    pub options: u32,
    pub expansion: u32,
}

/// A chain of at least one Bloom filter.
pub type Chain = Links<Head>;

impl Head {
    /// Whether bit positions come from 64-bit hashes.
    #[inline]
    fn is_wide(&self) -> bool {
        has_wide_hashes(self.options)
    }

    /// A header that says this, with no links.
    fn header(&self) -> Header {
        Header { options: self.options, expansion: self.expansion, links: Vec::new() }
    }
}

impl Hashing for Head {
    type Digest = Digest;

    fn placement(&self) -> &'static str {
        self.header().placement()
    }

    #[inline]
    fn digest(&self, key: &[u8]) -> Digest {
        Digest::of(key, self.is_wide())
    }

    #[inline]
    fn is_in(&self, digest: &Digest, words: &[AtomicU64], shape: Shape) -> bool {
        digest.is_in(words, shape)
    }

    #[inline]
    fn set_in(&self, digest: &Digest, words: &mut [u64], shape: Shape) {
        digest.set_in(words, shape);
    }

    fn with_array<R>(&self, shape: Shape, ask: impl FnOnce(&dyn PlacedArray) -> R) -> R {
        with_array(shape, self.is_wide(), ask)
    }
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

/// How many bytes the arrays of a header have together.
pub fn array_bytes(header: &Header) -> u64 {
    header.links.iter().fold(0, |sum, (link, _)| sum.saturating_add(link.bits / 8))
}

impl Chain {
    /// The chain that a header describes, with empty arrays.
    ///
    /// # Errors
    /// [`petal::Status::Corrupt`] for impossible links; [`petal::Status::OutOfMemory`].
    pub fn of_header(header: &Header) -> Result<Chain> {
        let mut chain = Links::new(Head { options: header.options, expansion: header.expansion });
        // The list grows link by link, because a header may claim more links than memory can hold.
        for &(link, taken) in &header.links {
            chain.push(link)?;
            chain.set_newest_taken(taken);
        }
        if header.links.is_empty() {
            return Err(petal::Status::Corrupt.into());
        }
        Ok(chain)
    }

    /// The header, which is the first chunk.
    pub fn header(&self) -> Header {
        let links = self.all().iter().map(|placed| (placed.link, placed.taken)).collect();
        Header { links, ..self.head.header() }
    }

    /// Adds the link that follows the newest. `has_room` says whether the server has that many more bytes.
    ///
    /// # Errors
    /// [`Full`]; then nothing has changed.
    #[cold]
    pub fn grow(&mut self, has_room: &dyn Fn(u64) -> bool) -> core::result::Result<(), Full> {
        let header = self.header();
        if !header.scales() {
            return Err(Full::NonScaling);
        }
        let link = header.next_link().ok_or(Full::Last)?;
        if !has_room(link.bits / 8) {
            return Err(Full::Memory);
        }
        self.push(link).map_err(|_| Full::Memory)
    }

    /// The size in bytes that RedisBloom would report.
    pub fn stated_bytes(&self) -> u64 {
        CHAIN_BYTES + self.all().iter().map(|placed| LINK_BYTES + placed.array_bytes()).sum::<u64>()
    }

    /// The capacity of a link divided by that of the previous link; `None` if the chain does not grow.
    pub fn expansion(&self) -> Option<u32> {
        self.head.header().scales().then_some(self.head.expansion)
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
}
