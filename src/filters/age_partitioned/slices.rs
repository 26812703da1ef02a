//! Slices over the words of a payload: where keys have their bits, and how they are found.

use super::{CLOCK, SLICES, STATE_WORDS, of_shape};
use crate::bits;
use crate::bits::ring::{self, Batch, CHUNK, GROUP};
use crate::format::Geometry;
use crate::kind::Window;
use crate::sizing::age_partitioned::{self as sizing, MAX_HASHES, MAX_SLICES};
use crate::spec::Parameter;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

/// The golden ratio to the power of each slice's number: what a hash is multiplied with there.
const POWERS: [u64; MAX_SLICES] = {
    let (mut powers, mut slice) = ([1_u64; MAX_SLICES], 1);
    while slice < MAX_SLICES {
        powers[slice] = powers[slice - 1].wrapping_mul(bits::GOLDEN);
        slice += 1;
    }
    powers
};

/// The answers of a chunk in words.
pub const GROUPS: usize = CHUNK / GROUP;

/// The slices that a geometry describes.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Slices in which a key sets a bit.
    pub hashes: u32,
    /// Slices that are older than those.
    pub old: u32,
    /// 0 if a slice is dropped after so many keys; 1 if only time moves on.
    pub clock: u64,
    /// The keys of a generation.
    pub keys: u64,
    /// The bits of a slice.
    pub bits: u64,
}

impl Shape {
    /// What a geometry describes, if it is one of this kind.
    pub fn of(geometry: &Geometry) -> Option<Shape> {
        let [old, clock, keys, ..] = geometry.words;
        let has = |parameter: &Parameter, value: u64| parameter.check(parameter.value_of_word(value)).is_ok();
        let hashes = geometry.hashes;
        if !has(&SLICES, old) || !has(&CLOCK, clock) || keys == 0 || !(1..=MAX_HASHES).contains(&hashes) {
            return None;
        }
        let bits = geometry.bits / (u64::from(hashes) + old);
        let is_same = of_shape(geometry.bits, hashes, [old, clock, keys]).ok()? == *geometry;
        (is_same && bits > 0).then_some(Shape { hashes, old: old as u32, clock, keys, bits })
    }

    /// What the mathematics knows of them.
    pub fn slices(&self) -> sizing::Slices {
        let keys = (self.clock == 0).then_some(self.keys);
        sizing::Slices { hashes: self.hashes, old: self.old, bits: self.bits, keys }
    }

    /// What is remembered.
    pub fn window(&self) -> Window {
        Window { steps: self.old.into(), keys: (self.clock == 0).then_some(self.keys) }
    }

    /// How many slices there are.
    pub fn count(&self) -> u32 {
        self.hashes + self.old
    }

    /// The place of the state in a payload of so many words.
    pub fn state(words: usize) -> usize {
        words - STATE_WORDS
    }

    /// The bits of some slices that follow each other.
    pub fn bits_of(&self, slices: Range<u64>) -> Range<u64> {
        self.bits * slices.start..self.bits * slices.end
    }
}

/// Slices at one moment: which of them is the youngest.
#[derive(Clone, Copy)]
pub struct Slices<'a> {
    shape: Shape,
    words: &'a [AtomicU64],
    /// The number of the youngest; those after it, around the ring, are older and older.
    youngest: u32,
}

/// A key on its way through the slices, from the first that would do if all later ones did not.
#[derive(Clone, Copy, Default)]
struct Walk {
    hash: u64,
    /// The age of the slice that is looked at.
    age: u32,
    /// How many slices before this one have the key's bits.
    run: u32,
    /// How many slices, from where the last run began on, had them: this one must lead up to it.
    later: u32,
    /// The key's place in its chunk.
    place: u32,
}

impl<'a> Slices<'a> {
    /// The slices of a payload, of which this is the youngest.
    pub fn new(shape: Shape, words: &'a [AtomicU64], youngest: u32) -> Slices<'a> {
        Slices { shape, words, youngest }
    }

    /// The position of the bit that a mixed hash has in the slice of this age.
    #[inline]
    pub fn position(&self, hash: u64, age: u32) -> u64 {
        let slice = self.youngest + age;
        let slice = if slice >= self.shape.count() { slice - self.shape.count() } else { slice };
        u64::from(slice) * self.shape.bits + bits::reduce(hash.wrapping_mul(POWERS[slice as usize]), self.shape.bits)
    }

    /// Whether all young slices have a mixed hash.
    #[inline]
    pub fn has_young(&self, hash: u64) -> bool {
        (0..self.shape.hashes).all(|age| bits::test(self.words, self.position(hash, age)))
    }

    #[inline]
    fn start(&self, hash: u64, place: usize) -> Walk {
        Walk { hash, age: self.shape.old, run: 0, later: 0, place: place as u32 }
    }

    /// Looks at one slice: whether the key may be there, once that is known.
    ///
    /// Where a slice lacks the bit no run goes over it: the next that may do is the one that ends before it. Of that
    /// the slices that are already known to have theirs are not looked at again.
    #[inline]
    fn step(&self, walk: &mut Walk) -> Option<bool> {
        let hashes = self.shape.hashes;
        if bits::test(self.words, self.position(walk.hash, walk.age)) {
            walk.run += 1;
            walk.age += 1;
            return (walk.run + walk.later == hashes).then_some(true);
        }
        if walk.age < hashes {
            return Some(false);
        }
        walk.age -= hashes;
        (walk.later, walk.run) = (walk.run, 0);
        None
    }

    /// Whether a mixed hash may be there.
    #[inline]
    pub fn contains(&self, hash: u64) -> bool {
        let mut walk = self.start(hash, 0);
        loop {
            if let Some(answer) = self.step(&mut walk) {
                return answer;
            }
        }
    }

    #[inline]
    fn fetch(&self, hash: u64, age: u32) {
        ring::fetch_word(self.words, (self.position(hash, age) / 64) as usize);
    }

    /// Fetches the line that a lookup looks at first.
    pub fn fetch_first(&self, hash: u64) {
        self.fetch(hash, self.shape.old);
    }

    /// Fetches the lines of the young slices.
    #[inline]
    pub fn fetch_young(&self, hash: u64) {
        (0..self.shape.hashes).for_each(|age| self.fetch(hash, age));
    }

    /// Which of at most [`CHUNK`] mixed hashes may be there. Which slice a key needs next hangs on the one before: so
    /// all keys take a step in turn, and the line of the next one comes while the others take theirs.
    pub fn contains_chunk(&self, hashes: &[u64]) -> [u64; GROUPS] {
        let mut walks = [Walk::default(); CHUNK];
        let mut found = [0; GROUPS];
        let mut count = hashes.len().min(CHUNK);
        for (place, (walk, hash)) in walks.iter_mut().zip(hashes).enumerate() {
            *walk = self.start(*hash, place);
            self.fetch_first(*hash);
        }
        while count > 0 {
            let mut left = 0;
            for i in 0..count {
                let mut walk = walks[i];
                match self.step(&mut walk) {
                    Some(answer) => {
                        let place = walk.place as usize;
                        found[place / GROUP] |= u64::from(answer) << (place % GROUP);
                    }
                    None => {
                        self.fetch(walk.hash, walk.age);
                        walks[left] = walk;
                        left += 1;
                    }
                }
            }
            count = left;
        }
        found
    }

    /// Answers a batch of hashes that are not mixed.
    pub fn contains_many(&self, batch: &mut dyn Batch) {
        if self.words.len() < ring::FETCH_FROM {
            return ring::rolling(&mut (), 0, batch, ring::nothing, ring::nothing, |_, hash| {
                self.contains(bits::mix(hash))
            });
        }
        let mut hashes = [0; CHUNK];
        loop {
            let mut count = 0;
            for group in hashes.as_chunks_mut().0 {
                count += batch.next(group);
            }
            if count == 0 {
                return;
            }
            hashes[..count].iter_mut().for_each(|hash| *hash = bits::mix(*hash));
            let found = self.contains_chunk(&hashes[..count]);
            for (start, found) in (0..count).step_by(GROUP).zip(found) {
                batch.answer(found, GROUP.min(count - start));
            }
        }
    }

    /// The share of set bits in each slice, the youngest first; `progress` hears how many bytes were read.
    pub fn ones(&self, progress: &mut dyn FnMut(u64)) -> impl Iterator<Item = u64> {
        let (shape, words, youngest) = (self.shape, self.words, u64::from(self.youngest));
        (0..u64::from(shape.count())).map(move |age| {
            let slice = (youngest + age) % u64::from(shape.count());
            let Range { start, end } = shape.bits_of(slice..slice + 1);
            let pieces = (start..end).step_by(64 * bits::PIECE_WORDS);
            pieces
                .map(|from| {
                    let to = end.min(from + 64 * bits::PIECE_WORDS as u64);
                    progress((to - from) / 8);
                    bits::count_ones_in(words, from, to)
                })
                .sum()
        })
    }
}

/// A word of a state.
pub fn word(words: &[AtomicU64], place: usize) -> u64 {
    words[Shape::state(words.len()) + place].load(Ordering::Relaxed)
}
