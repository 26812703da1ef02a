//! An array with its placement: what a filter needs, for any placement, one key or many.

use super::{Modulus, Placement, Shape};
use crate::batch::answers::Answers;
use crate::batch::keys::WholeKeys;
use crate::batch::ring::{self, GROUP};
use crate::bits;
use crate::format::Geometry;
use core::sync::atomic::AtomicU64;

/// How many keys before their answers the lines are fetched.
const AHEAD: usize = 32;

/// Lines of a key that are fetched ahead: an absent key fails after two probes on average.
const FIRST_PROBES: u32 = 2;

/// What a filter needs of an array, whatever the placement. `words` begin with those of the array, and may be more.
pub trait PlacedArray: Send + Sync {
    /// Whether all bits of a key are set.
    fn contains(&self, words: &[AtomicU64], key: &[u8]) -> bool;

    /// Looks up as many keys as `answers` have room for.
    fn contains_many(&self, words: &[AtomicU64], keys: &WholeKeys, answers: &mut Answers);

    /// Sets the bits of a key. Returns whether any of them was not set.
    fn insert(&self, words: &mut [u64], key: &[u8]) -> bool;

    /// Sets the bits of keys in order. Returns for how many any bit was not set; `answers`, if wanted, say that for
    /// each.
    fn insert_many(&self, words: &mut [u64], keys: &WholeKeys, answers: Option<&mut Answers>) -> u64;
}

/// An array with a placement.
pub struct Array<P> {
    placement: P,
    shape: Shape,
}

impl<P: Placement> Array<P> {
    /// The array of a geometry, if there can be one.
    pub fn open(geometry: &Geometry, placement: P) -> Option<Box<dyn PlacedArray>> {
        let shape = Shape { hashes: geometry.hashes, bits: Modulus::new(geometry.bits)? };
        crate::storage::try_box(Array { placement, shape }).ok().map(|array| array as Box<dyn PlacedArray>)
    }

    /// The array of a shape.
    pub fn of(shape: Shape, placement: P) -> Array<P> {
        Array { placement, shape }
    }

    /// Whether all bits of a key with this digest are set.
    #[inline]
    pub fn has(&self, words: &[AtomicU64], digest: &P::Digest, key: &[u8]) -> bool {
        self.placement.all(digest, key, &self.shape, |place| bits::test(words, place))
    }

    /// Sets the bits of a key with this digest. Returns whether any of them was not set.
    #[inline]
    pub fn set(&self, words: &mut [u64], digest: &P::Digest, key: &[u8]) -> bool {
        let mut new = false;
        self.placement.all(digest, key, &self.shape, |place| {
            new |= bits::set(words, place);
            true
        });
        new
    }

    /// Gives each key with its digest to `take`, in order, after giving it to `fetch` some keys earlier.
    #[inline(always)]
    fn rolling<State>(
        &self,
        state: &mut State,
        keys: &WholeKeys,
        fetch: impl Fn(&State, &P::Digest, &[u8]),
        mut take: impl FnMut(&mut State, &P::Digest, &[u8]) -> bool,
        mut answer: impl FnMut(usize, u64, usize),
    ) {
        let count = keys.len();
        let mut digests = [P::Digest::default(); 2 * AHEAD];
        let mut answers = 0;
        for i in 0..count + AHEAD {
            if i < count {
                keys.with(i, |key| {
                    digests[i % (2 * AHEAD)] = self.placement.digest(key);
                    fetch(state, &digests[i % (2 * AHEAD)], key);
                });
            }
            let Some(i) = i.checked_sub(AHEAD) else { continue };
            let answered = keys.with(i, |key| take(state, &digests[i % (2 * AHEAD)], key));
            answers |= u64::from(answered) << (i % GROUP);
            if i % GROUP == GROUP - 1 || i == count - 1 {
                answer(i / GROUP * GROUP, answers, i % GROUP + 1);
                answers = 0;
            }
        }
    }

    #[inline]
    fn fetch(&self, words: &[AtomicU64], digest: &P::Digest, key: &[u8]) {
        let mut probes = 0;
        self.placement.all(digest, key, &self.shape, |place| {
            ring::fetch_word(words, (place / 64) as usize);
            probes += 1;
            probes < FIRST_PROBES
        });
    }
}

impl<P: Placement> PlacedArray for Array<P> {
    fn contains(&self, words: &[AtomicU64], key: &[u8]) -> bool {
        self.has(words, &self.placement.digest(key), key)
    }

    fn contains_many(&self, words: &[AtomicU64], keys: &WholeKeys, answers: &mut Answers) {
        let is_large = ring::is_far(words.len());
        self.rolling(
            &mut (),
            keys,
            |(), digest, key| {
                if is_large {
                    self.fetch(words, digest, key);
                }
            },
            |(), digest, key| self.has(words, digest, key),
            |start, found, keys| answers.take(start, found, keys),
        );
    }

    fn insert(&self, words: &mut [u64], key: &[u8]) -> bool {
        self.set(words, &self.placement.digest(key), key)
    }

    fn insert_many(&self, words: &mut [u64], keys: &WholeKeys, mut answers: Option<&mut Answers>) -> u64 {
        let is_large = ring::is_far(words.len());
        let mut count = 0;
        self.rolling(
            &mut &mut *words,
            keys,
            |words, digest, key| {
                if is_large {
                    self.placement.all(digest, key, &self.shape, |place| {
                        if let Some(word) = words.get((place / 64) as usize) {
                            bits::prefetch(word);
                        }
                        true
                    });
                }
            },
            |words, digest, key| self.set(words, digest, key),
            |start, new, keys| {
                count += u64::from(new.count_ones());
                if let Some(answers) = &mut answers {
                    answers.take(start, new, keys);
                }
            },
        );
        count
    }
}
