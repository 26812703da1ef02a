//! The segments of a filter: which segment a hash belongs to, and how keys are found and inserted there.

use super::{Entry, Full, Place, Search, Shape};
use crate::batch::ring::{self, GROUP};
use crate::bits::mix;
use crate::blocks::segments::{Address, Division, ones};
use crate::blocks::source::Source;

/// From this many words on (256 KiB) the lines of keys that are inserted together are fetched ahead.
const FETCH_FROM: usize = 1 << 15;

/// The segments of a filter, one after the other.
#[derive(Clone, Debug)]
pub struct Segments {
    /// The shape of each segment.
    pub shape: Shape,
    /// Which segments were divided.
    pub division: Division,
    /// How many words a segment has.
    pub size: usize,
}

impl Segments {
    /// Segments of a shape.
    pub fn new(shape: Shape, division: Division) -> Segments {
        Segments { shape, division, size: shape.words() as usize }
    }

    /// The segment of a mixed hash, which the bits after its prefix name.
    #[inline(always)]
    pub fn address(&self, hash: u64) -> Address {
        self.division.address(hash >> self.shape.prefix_bits())
    }

    /// A mixed hash without the bits that name its segment.
    #[inline(always)]
    pub fn within(&self, hash: u64, bits: u32) -> u64 {
        let prefix = ones(self.shape.prefix_bits());
        hash & prefix | hash >> bits & !prefix
    }

    /// The bits that all mixed hashes of an entry share: their value, and how many low bits of a hash they are.
    pub fn known_bits(&self, Address { segment, bits }: Address, entry: Entry) -> (u64, u32) {
        let (prefix_bits, length) = (self.shape.prefix_bits(), entry.tail.ilog2());
        let rest = segment as u64 | (entry.tail ^ 1 << length) << bits;
        (entry.prefix | rest << prefix_bits, prefix_bits + bits + length)
    }

    /// The first word of a mixed hash's segment, and the hash's place in that segment.
    #[inline(always)]
    pub fn place(&self, hash: u64) -> (usize, Place) {
        let Address { segment, bits } = self.address(hash);
        (segment * self.size, self.shape.place(self.within(hash, bits)))
    }

    /// Whether the key of a mixed hash may be there.
    #[inline(always)]
    pub fn contains(&self, words: &(impl Source + ?Sized), hash: u64) -> bool {
        let (start, place) = self.place(hash);
        self.shape.contains(words, start, &place)
    }

    /// Inserts a mixed hash, unless it is found, into a segment that then has at most `limit` entries. Returns whether
    /// the hash was inserted.
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

    /// Inserts the hashes of a group, which are not mixed, in order, each as [`Segments::insert_new`] does. Returns how
    /// many hashes were taken before one found no room, and a bit for each that says whether the hash was new. The
    /// places of all keys are computed first, and their lines are fetched. An insertion takes as long as several misses
    /// of the second-level cache, and a processor that guesses wrongly which slots are taken does not see the next
    /// key's line coming.
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

    /// The words in which the buckets of a mixed hash begin.
    #[inline(always)]
    pub fn words_of(&self, hash: u64) -> [usize; 2] {
        let (start, place) = self.place(hash);
        self.shape.words_of(start, &place)
    }
}
