//! The search for the shortest way to an empty slot, before anything is moved, as [`crate::kinds::cuckoo::layout`] does
//! it.

use super::buckets::Lanes;
use super::{BUCKET, Shape, ones};
use crate::error::Result;
use crate::storage::try_vec;

/// How many buckets are looked at before a search gives up.
const SEARCHED: usize = 1024;

/// A bucket that a search has reached.
struct Node {
    bucket: u64,
    /// The slot, in the bucket before this one, whose entry would move to this bucket.
    from: u64,
    /// The number of the node before this one. One of the two buckets where the search began has its own number here.
    before: u32,
}

/// The memory that searches use.
pub struct Search {
    nodes: Vec<Node>,
}

impl Search {
    /// Allocates the memory of searches.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn new() -> Result<Search> {
        Ok(Search { nodes: try_vec(SEARCHED)? })
    }

    /// Moves entries so that one of two full buckets gets an empty slot. Returns that slot, or `None`, with nothing
    /// changed, if no way was found.
    pub(super) fn make_room(&mut self, shape: &Shape, words: &mut [u64], full: [u64; 2]) -> Option<u64> {
        let lanes = Lanes::new(shape.width());
        match lanes.windows {
            1 => self.find::<1>(shape, lanes, words, full),
            2 => self.find::<2>(shape, lanes, words, full),
            _ => self.find::<4>(shape, lanes, words, full),
        }
    }

    #[inline(always)]
    fn find<const N: usize>(&mut self, shape: &Shape, lanes: Lanes, words: &mut [u64], full: [u64; 2]) -> Option<u64> {
        let size = BUCKET * u64::from(shape.width());
        let empty = |words: &[u64], bucket: u64| lanes.empty(&lanes.read::<N>(words, bucket * size));
        // Most entries have room in their other bucket, so the other buckets of all eight entries are looked at
        // together.
        let (mut nexts, mut with_room) = ([0; 2 * BUCKET as usize], 0_u64);
        for (half, bucket) in full.into_iter().enumerate() {
            let windows = lanes.read::<N>(&*words, bucket * size);
            for slot in 0..BUCKET as usize {
                let i = half * BUCKET as usize + slot;
                (nexts[i], _) = shape.moved(bucket, lanes.slot(&windows, slot));
                let is_there = empty(words, nexts[i]).into_iter().fold(0, |all, empty| all | empty) != 0;
                with_room |= u64::from(is_there) << i;
            }
        }
        let free = |words: &[u64], bucket: u64| {
            BUCKET * bucket + lanes.first(&empty(words, bucket)) / u64::from(shape.width())
        };
        if with_room != 0 {
            let i = u64::from(with_room.trailing_zeros());
            let from = BUCKET * full[(i / BUCKET) as usize] + i % BUCKET;
            let filled = free(words, nexts[i as usize]);
            move_entry(shape, words, from, filled);
            return Some(from);
        }
        self.nodes.clear();
        for (i, bucket) in full.into_iter().enumerate() {
            self.nodes.push(Node { bucket, from: 0, before: i as u32 });
        }
        let mut at = 0;
        while at < self.nodes.len() && self.nodes.len() + BUCKET as usize <= SEARCHED {
            let bucket = self.nodes[at].bucket;
            let windows = lanes.read::<N>(&*words, bucket * size);
            for slot in 0..BUCKET {
                let (next, _) = shape.moved(bucket, lanes.slot(&windows, slot as usize));
                self.nodes.push(Node { bucket: next, from: BUCKET * bucket + slot, before: at as u32 });
                if empty(words, next).into_iter().fold(0, |all, empty| all | empty) != 0 {
                    let filled = free(words, next);
                    return Some(self.move_along(shape, words, self.nodes.len() - 1, filled));
                }
            }
            at += 1;
        }
        None
    }

    /// Moves each entry on the way to a bucket with an empty slot, beginning with the last one.
    fn move_along(&self, shape: &Shape, words: &mut [u64], mut at: usize, mut slot: u64) -> u64 {
        while self.nodes[at].before as usize != at {
            let Node { from, before, .. } = self.nodes[at];
            move_entry(shape, words, from, slot);
            (slot, at) = (from, before as usize);
        }
        slot
    }
}

/// Moves an entry from its slot to an empty slot of its other bucket.
fn move_entry(shape: &Shape, words: &mut [u64], from: u64, to: u64) {
    let (_, value) = shape.moved(from / BUCKET, shape.value(words, from));
    shape.slots().set(words, to, value);
    shape.slots().set(words, from, 0);
}

impl Shape {
    /// The other bucket of an entry, and the entry's value there.
    #[inline(always)]
    fn moved(&self, bucket: u64, value: u64) -> (u64, u64) {
        let low = bucket & ones(self.bucket_bits);
        let x = (value & ones(self.fingerprint_bits)) << self.bucket_bits | low;
        let (other, first) = match bucket >> self.bucket_bits {
            0 => (self.permuted(x), 1 << self.bucket_bits),
            _ => (self.restored(x), 0),
        };
        let known = value >> self.fingerprint_bits << self.fingerprint_bits;
        (first + (other & ones(self.bucket_bits)), known | other >> self.bucket_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Full;
    use super::*;
    use crate::bits::mix;

    /// The slots of the shortest way to an empty slot, which comes last, as a search of bucket after bucket finds them.
    fn way(shape: &Shape, words: &[u64], full: [u64; 2]) -> Option<Vec<u64>> {
        let mut ways: Vec<(u64, Vec<u64>)> = full.map(|bucket| (bucket, Vec::new())).into();
        let mut at = 0;
        while at < ways.len() && ways.len() + BUCKET as usize <= SEARCHED {
            let (bucket, before) = ways[at].clone();
            for slot in BUCKET * bucket..BUCKET * (bucket + 1) {
                let both = shape.values(shape.entry_at(slot, shape.value(words, slot))).map(|(bucket, _)| bucket);
                let next = both[usize::from(both[0] == bucket)];
                let mut way = [&before[..], &[slot]].concat();
                if let Some(free) = (BUCKET * next..BUCKET * (next + 1)).find(|slot| shape.value(words, *slot) == 0) {
                    way.push(free);
                    return Some(way);
                }
                ways.push((next, way));
            }
            at += 1;
        }
        None
    }

    /// Room is made along the shortest way, and among equally short ways along the first one. The choice matters,
    /// because it is part of what the same insertions make.
    #[test]
    fn room_is_made_along_the_first_of_the_shortest_ways() {
        let (mut search, mut lengths) = (Search::new().unwrap(), [0; 3]);
        for (i, tail_bits) in [4, 8, 12, 20, 23].into_iter().cycle().take(20).enumerate() {
            let shape = Shape { bucket_bits: 6, fingerprint_bits: 6 + i as u32 % 3, tail_bits };
            let mut segment = vec![0; shape.words() as usize];
            for j in 0.. {
                let hash = mix((i as u64) << 32 | j);
                let place = shape.place(hash);
                let before = segment[1..].to_vec();
                let is_full = |bucket| (0..BUCKET).all(|slot| shape.value(&before, BUCKET * bucket + slot) != 0);
                let expected = place.buckets.into_iter().all(is_full).then(|| way(&shape, &before, place.buckets));
                let made = shape.insert_new(&mut segment, &place, u64::MAX, &mut search);
                let Some(way) = expected else { continue };
                let Some(way) = way else {
                    assert!(made == Ok(false) || made == Err(Full) && segment[1..] == before);
                    break;
                };
                if made == Ok(false) {
                    continue;
                }
                lengths[(way.len() - 2).min(2)] += 1;
                for step in way.windows(2) {
                    let [from, to] = [step[0], step[1]].map(|slot| (slot, shape.value(&before, slot)));
                    let moved = shape.value(&segment[1..], to.0);
                    let entry = |slot: u64, value| shape.entry_at(slot, value);
                    assert_eq!(entry(to.0, moved), entry(from.0, from.1), "{shape:?}, entry {j}");
                }
                let (changed, slots) = (way.len(), shape.slots().count);
                let differ = |slot: &u64| shape.value(&segment[1..], *slot) != shape.value(&before, *slot);
                assert!((0..slots).filter(differ).count() <= changed);
                assert!(shape.contains(&segment[..], 0, &place));
            }
        }
        assert!(lengths.into_iter().all(|ways| ways > 20), "{lengths:?}");
    }
}
