//! The search for a way to an empty slot. A way is a sequence of entries that have to be moved, each to its other
//! bucket, so that the last move frees a slot in a wanted bucket.
//!
//! The search is breadth first. So it finds a shortest way, and the lines of buckets are fetched before the search
//! comes to them. A walk that moves one entry at a time, as in the literature, waits for each line. On a shortest way
//! no bucket comes twice, so the entries can be moved one by one from the way's end. The search uses no random numbers:
//! the same operations leave the same bytes.

use super::Buckets;
use crate::error::Result;
use crate::storage::try_vec;
use core::ops::Range;

/// How many buckets are looked at before an insertion is refused.
pub const SEARCHED: usize = 2048;

/// A bucket that a search has reached.
struct Node {
    bucket: u64,
    /// The entry of the previous bucket that would move to this one.
    fingerprint: u32,
    /// The number of the previous node. Each of the two buckets where the search began has its own number here.
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

    /// Moves entries until one of the two full buckets of a fingerprint has a slot, and puts the fingerprint there.
    /// Returns false, with nothing changed, if no way was found.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room(&mut self, buckets: &Buckets, words: &mut [u64], full: [u64; 2], fingerprint: u64) -> bool {
        let end = self.find(buckets, words, full, fingerprint);
        if let Some(at) = end {
            self.move_along(buckets, words, at);
        }
        end.is_some()
    }

    /// Gives `visit` the buckets that [`Search::make_room`] would change.
    pub(super) fn visit_way(
        &mut self,
        buckets: &Buckets,
        words: &[u64],
        full: [u64; 2],
        fingerprint: u64,
        visit: &mut dyn FnMut(u64),
    ) {
        let mut next = self.find(buckets, words, full, fingerprint);
        while let Some(at) = next {
            let Node { bucket, before, .. } = self.nodes[at];
            visit(bucket);
            next = (before as usize != at).then_some(before as usize);
        }
    }

    /// The node at the end of a way to an empty slot, if one was found.
    fn find(&mut self, buckets: &Buckets, words: &[u64], full: [u64; 2], fingerprint: u64) -> Option<usize> {
        self.nodes.clear();
        for (i, bucket) in full.into_iter().enumerate() {
            self.nodes.push(Node { bucket, fingerprint: fingerprint as u32, before: i as u32 });
        }
        // The nearest buckets come first. A bucket is looked at when the buckets after the next one have been fetched.
        let mut looked = full.len();
        for at in 0..SEARCHED {
            let known = self.nodes.len();
            if at < known && known + buckets.slots as usize <= SEARCHED {
                self.add_next(buckets, words, at);
            }
            if let Some(at) = self.first_with_room(buckets, words, looked..known) {
                return Some(at);
            }
            looked = known;
            if looked == self.nodes.len() {
                break;
            }
        }
        None
    }

    /// Adds the other buckets of a reached bucket's entries, and prefetches their lines.
    #[inline(always)]
    fn add_next(&mut self, buckets: &Buckets, words: &[u64], at: usize) {
        let bucket = self.nodes[at].bucket;
        let entries = buckets.entries(words, bucket);
        self.nodes.extend(entries[..buckets.slots as usize].iter().map(|entry| {
            let next = buckets.other(bucket, *entry);
            buckets.fetch_bucket(words, next);
            Node { bucket: next, fingerprint: *entry as u32, before: at as u32 }
        }));
    }

    /// The first bucket with an empty slot among some, at most as many as a bucket has slots. All of them are looked
    /// at, because the processor cannot guess which one it is.
    #[inline(always)]
    fn first_with_room(&self, buckets: &Buckets, words: &[u64], some: Range<usize>) -> Option<usize> {
        let start = some.start;
        let has_room = |(i, node): (usize, &Node)| u64::from(buckets.has(words, node.bucket, 0)) << i;
        let with_room = self.nodes[some].iter().enumerate().map(has_room).fold(0, |all, one| all | one);
        (with_room != 0).then(|| start + with_room.trailing_zeros() as usize)
    }

    /// Moves the entries on the way to a bucket with an empty slot, beginning with the last one.
    fn move_along(&self, buckets: &Buckets, words: &mut [u64], mut at: usize) {
        loop {
            let Node { bucket, fingerprint, before } = self.nodes[at];
            let is_moved = buckets.replace(words, bucket, 0, fingerprint.into());
            debug_assert!(is_moved, "no bucket is on a shortest way twice");
            if before as usize == at {
                return;
            }
            at = before as usize;
            let is_moved = buckets.replace(words, self.nodes[at].bucket, fingerprint.into(), 0);
            debug_assert!(is_moved, "no bucket is on a shortest way twice");
        }
    }
}
