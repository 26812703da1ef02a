//! The way to an empty slot, as [`crate::layouts::cuckoo`] finds it: the shortest one, before anything is moved.

use super::{BUCKET, Shape};
use crate::error::Result;
use crate::storage::try_vec;

/// How many buckets are looked at before there is no room.
const SEARCHED: usize = 1024;

/// A bucket on the way.
struct Node {
    bucket: u64,
    /// The slot of the bucket before it whose entry would move here.
    from: u64,
    /// The number of the bucket before it; its own for one of the two that it began with.
    before: u32,
}

/// The memory of searches.
pub struct Search {
    nodes: Vec<Node>,
}

impl Search {
    /// Room for a search.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn new() -> Result<Search> {
        Ok(Search { nodes: try_vec(SEARCHED)? })
    }

    /// Moves entries so that there is an empty slot in one of two buckets, which are full, and says which slot that is.
    /// `None`, having changed nothing, if no way was found.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room(&mut self, shape: &Shape, words: &mut [u64], full: [u64; 2]) -> Option<u64> {
        self.nodes.clear();
        for (i, bucket) in full.into_iter().enumerate() {
            self.nodes.push(Node { bucket, from: 0, before: i as u32 });
        }
        let mut at = 0;
        while at < self.nodes.len() && self.nodes.len() + BUCKET as usize <= SEARCHED {
            let bucket = self.nodes[at].bucket;
            for from in BUCKET * bucket..BUCKET * (bucket + 1) {
                let (next, _) = shape.moved(from, shape.value(words, from));
                self.nodes.push(Node { bucket: next, from, before: at as u32 });
                let mut room = BUCKET * next..BUCKET * (next + 1);
                if let Some(free) = room.find(|slot| shape.value(words, *slot) == 0) {
                    return Some(self.move_along(shape, words, self.nodes.len() - 1, free));
                }
            }
            at += 1;
        }
        None
    }

    /// Moves the entries of the way to a bucket with an empty slot, the last one first; the slot that is empty then.
    fn move_along(&self, shape: &Shape, words: &mut [u64], mut at: usize, mut free: u64) -> u64 {
        let slots = shape.slots();
        while self.nodes[at].before as usize != at {
            let Node { from, before, .. } = self.nodes[at];
            let (_, value) = shape.moved(from, shape.value(words, from));
            slots.set(words, free, value);
            slots.set(words, from, 0);
            (free, at) = (from, before as usize);
        }
        free
    }
}

impl Shape {
    /// The other bucket of an entry, and what is in its slot there.
    fn moved(&self, slot: u64, value: u64) -> (u64, u64) {
        let [first, second] = self.values(self.entry_at(slot, value));
        if first.0 == slot / BUCKET { second } else { first }
    }
}
