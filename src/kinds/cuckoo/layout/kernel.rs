//! The inner loops, for each instruction set and for buckets of any shape. Buckets of four fingerprints of 8, 12 and 16
//! bits have separate loops, in which the compiler knows everything about a table but its number of buckets.

use super::{Buckets, Place, Search};
use crate::batch::ring::{Batch, Few, GROUP};
use crate::bits::prefetch;
use crate::blocks::fingerprint_table::Inserted;
use crate::simd::Instructions;
use core::sync::atomic::AtomicU64;

/// The inner loops for buckets of one shape, which [`kernel`](super::kernel) gives out for these buckets.
pub struct Kernel {
    /// Whether a hash may be there.
    pub contains: fn(&Buckets, &[AtomicU64], u64) -> bool,
    /// Whether each key of a batch may be there.
    pub contains_many: fn(&Buckets, &[AtomicU64], &mut dyn Batch),
    /// Whether each of a few keys, at most [`GROUP`], may be there. Bit i answers for the i-th key, and bits after the
    /// last key mean nothing.
    pub contains_few: fn(&Buckets, &[AtomicU64], Instructions, &Few) -> u64,
    /// Inserts a hash: [`Buckets::insert`].
    pub insert: fn(&Buckets, &mut [u64], u64, &mut Search) -> Option<bool>,
    /// Inserts the keys of a batch in order, until one has no place.
    pub insert_many: fn(&Buckets, &mut [u64], &mut dyn Batch, &mut Search) -> Inserted,
}

/// What the compiler knows of a shape of buckets.
pub(super) trait Shape {
    /// These buckets with the numbers of the shape, which the compiler knows, instead of those that were read.
    fn of(buckets: &Buckets) -> Buckets;
}

/// Any shape.
pub(super) struct Any;

impl Shape for Any {
    #[inline(always)]
    fn of(buckets: &Buckets) -> Buckets {
        *buckets
    }
}

/// Four fingerprints of `WIDTH` bits.
pub(super) struct Four<const WIDTH: u32>;

impl<const WIDTH: u32> Shape for Four<WIDTH> {
    #[inline(always)]
    fn of(buckets: &Buckets) -> Buckets {
        Buckets { count: buckets.count, ..const { Buckets::of_four(2, WIDTH) } }
    }
}

#[inline(always)]
pub(super) fn contains<S: Shape>(buckets: &Buckets, words: &[AtomicU64], hash: u64) -> bool {
    buckets.contains_as::<S>(words, hash)
}

#[inline(always)]
pub(super) fn insert<S: Shape>(buckets: &Buckets, words: &mut [u64], hash: u64, search: &mut Search) -> Option<bool> {
    buckets.insert_as::<S>(words, hash, search)
}

/// Some keys of a batch: how many they are, their hashes, and where they may be.
struct Group {
    keys: usize,
    hashes: [u64; GROUP],
    places: [Place; GROUP],
}

impl Group {
    const NONE: Group = Group { keys: 0, hashes: [0; GROUP], places: [Place::NONE; GROUP] };

    #[inline(always)]
    fn fill(&mut self, buckets: &Buckets, batch: &mut dyn Batch) {
        self.keys = batch.next(&mut self.hashes);
        for (place, hash) in self.places.iter_mut().zip(&self.hashes[..self.keys]) {
            *place = buckets.place(*hash);
        }
    }
}

/// While the keys of a group are inserted, the lines of the next group's keys are fetched, even in a small table:
/// waiting for a line that is not in the second-level cache takes longer than all other steps.
#[inline(always)]
pub(super) fn insert_many<S: Shape>(
    buckets: &Buckets,
    words: &mut [u64],
    batch: &mut dyn Batch,
    search: &mut Search,
) -> Inserted {
    let shape = S::of(buckets);
    let (mut groups, mut done) = ([Group::NONE; 2], 0);
    let [group, _] = &mut groups;
    group.fill(&shape, batch);
    group.places[..group.keys].iter().for_each(|place| shape.fetch_place(words, place));
    for turn in 0_u64.. {
        let [first, second] = &mut groups;
        let (group, later) = if turn % 2 == 0 { (first, second) } else { (second, first) };
        if group.keys == 0 {
            break;
        }
        later.keys = 0;
        if group.keys == GROUP {
            later.fill(&shape, batch);
        }
        let mut answers = 0;
        for i in 0..group.keys {
            if i < later.keys {
                shape.fetch_place(words, &later.places[i]);
            }
            let at_once = if shape.is_narrow { shape.narrow_insert(words, group.places[i]) } else { None };
            match at_once.or_else(|| buckets.insert_crowded::<S>(words, group.hashes[i], search)) {
                Some(is_new) => answers |= u64::from(is_new) << i,
                None => {
                    if i > 0 {
                        batch.answer(answers, i);
                    }
                    return Inserted { keys: done + i, refused: Some(group.hashes[i]) };
                }
            }
        }
        batch.answer(answers, group.keys);
        done += group.keys;
    }
    Inserted { keys: done, refused: None }
}

impl Buckets {
    /// Prefetches the lines of both buckets of a place.
    #[inline(always)]
    fn fetch_place<T>(&self, words: &[T], place: &Place) {
        for bucket in [place.bucket, place.other] {
            if let Some(word) = words.get(self.first_word(bucket)) {
                prefetch(word);
            }
        }
    }
}
