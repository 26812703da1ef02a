//! Which segment a hash belongs to, while some of them are divided and others are not.

use super::{Entry, Full, Place, Search, Shape, ones};
use crate::bits::mix;
use crate::bits::ring::{self, GROUP};
use crate::error::Result;
use crate::layouts::cuckoo::Source;
use crate::storage::try_vec;

/// From so many words on (256 KiB) the lines of keys that are inserted together are fetched.
const FETCH_FROM: usize = 1 << 15;

/// Where a hash belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The number of its segment.
    pub segment: usize,
    /// How many of its bits say that.
    pub bits: u32,
}

/// The segments of a filter, one after the other.
#[derive(Clone, Debug)]
pub struct Segments {
    /// That of each.
    pub shape: Shape,
    /// The base-2 logarithm of the number of segments that are not divided yet, or will not be.
    pub depth: u32,
    /// A bit for each of these: whether it was divided. Nothing while none is.
    pub(super) divided: Vec<u64>,
    /// How many were.
    count: usize,
    /// The words of a segment.
    pub(super) size: usize,
}

impl Segments {
    /// `2^depth` segments, of which none is divided. `is_dividing` makes room for marks.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn new(shape: Shape, depth: u32, is_dividing: bool) -> Result<Segments> {
        let marks = if is_dividing { (1_usize << depth).div_ceil(64) } else { 0 };
        let mut divided = try_vec(marks)?;
        divided.resize(marks, 0);
        Ok(Segments { shape, depth, divided, count: 0, size: shape.words() as usize })
    }

    /// The words of a segment.
    #[inline]
    pub fn words(&self) -> usize {
        self.size
    }

    /// Notes that a segment was divided.
    pub fn mark(&mut self, segment: usize) {
        self.divided[segment / 64] |= 1 << (segment % 64);
        self.count += 1;
    }

    /// Whether a segment was divided.
    #[inline]
    pub fn is_divided(&self, segment: usize) -> bool {
        self.divided.get(segment / 64).is_some_and(|marks| marks >> (segment % 64) & 1 == 1)
    }

    /// Whether all of them were.
    pub fn are_divided(&self) -> bool {
        self.count == 1 << self.depth
    }

    /// Where a mixed hash belongs: the bits after its prefix say that.
    #[inline(always)]
    pub fn address(&self, hash: u64) -> Address {
        let rest = hash >> self.shape.prefix_bits();
        let segment = (rest & ones(self.depth)) as usize;
        // Which of them are is a matter of chance, and nobody has to guess it.
        let bits = self.depth + u32::from(self.is_divided(segment));
        Address { segment: (rest & ones(bits)) as usize, bits }
    }

    /// A mixed hash without the bits that say its segment.
    #[inline(always)]
    pub fn within(&self, hash: u64, bits: u32) -> u64 {
        let prefix = ones(self.shape.prefix_bits());
        hash & prefix | hash >> bits & !prefix
    }

    /// The lowest bits of the mixed hashes that an entry of a segment is of: as many as are known.
    pub fn known_bits(&self, Address { segment, bits }: Address, entry: Entry) -> (u64, u32) {
        let (prefix_bits, length) = (self.shape.prefix_bits(), entry.tail.ilog2());
        let rest = segment as u64 | (entry.tail ^ 1 << length) << bits;
        (entry.prefix | rest << prefix_bits, prefix_bits + bits + length)
    }

    /// The first word of a mixed hash's segment, and where it may be there.
    #[inline(always)]
    pub fn place(&self, hash: u64) -> (usize, Place) {
        let Address { segment, bits } = self.address(hash);
        (segment * self.size, self.shape.place(self.within(hash, bits)))
    }

    /// Whether a mixed hash may be there.
    #[inline(always)]
    pub fn contains(&self, words: &(impl Source + ?Sized), hash: u64) -> bool {
        let (start, place) = self.place(hash);
        self.shape.contains(words, start, &place)
    }

    /// Inserts a mixed hash into a segment that has no more than `limit` entries then, unless it is found; whether it was
    /// not.
    ///
    /// # Errors
    /// [`Full`]: nothing has changed.
    #[inline(always)]
    pub fn insert_new(
        &self,
        words: &mut [u64],
        hash: u64,
        limit: u64,
        search: &mut Search,
    ) -> core::result::Result<bool, Full> {
        let (start, place) = self.place(hash);
        self.shape.insert_new(&mut words[start..start + self.size], &place, limit, search)
    }

    /// Inserts hashes of a group, which are not mixed, in order, as [`Segments::insert_new`] does one; how many were
    /// taken before one found no room, and of which of them this was new. Where they may be is worked out for all first,
    /// and their lines are asked for: an insertion takes as long as several of the second level cache's misses, and a
    /// processor that guesses wrongly which slots are taken does not see the next one coming.
    #[inline(always)]
    pub fn insert_group(&self, words: &mut [u64], hashes: &[u64], limit: u64, search: &mut Search) -> (usize, u64) {
        let mut places = [(0, Place::NONE); GROUP];
        for (place, hash) in places.iter_mut().zip(hashes) {
            *place = self.place(mix(*hash));
        }
        let places = &places[..hashes.len().min(GROUP)];
        if words.len() >= FETCH_FROM {
            for (start, place) in places {
                self.shape.words_of(*start, place).into_iter().for_each(|word| ring::fetch_word(words, word));
            }
        }
        let mut new = 0;
        for (i, (start, place)) in places.iter().enumerate() {
            match self.shape.insert_new(&mut words[*start..*start + self.size], place, limit, search) {
                Ok(is_new) => new |= u64::from(is_new) << i,
                Err(Full) => return (i, new),
            }
        }
        (places.len(), new)
    }

    /// The words where the buckets of a mixed hash begin.
    #[inline(always)]
    pub fn words_of(&self, hash: u64) -> [usize; 2] {
        let (start, place) = self.place(hash);
        self.shape.words_of(start, &place)
    }
}
