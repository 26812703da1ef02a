//! The state of a router in its payload, and what a payload has to hold.

use super::MAX_LEVELS;
use super::layout::{
    HEAD, LINK, Layout, NEIGHBOUR, NODE, ONES, RECEIVED, RECEIVED_CHECKSUM, SENT, SENT_CHECKSUM, SLOT_HEAD, USED,
    WEIGHT, WEIGHTS,
};
use crate::contract::{Base, Payload, over_base};
use crate::error::{Error, Result, error};
use crate::hash::Checksum;
use crate::storage::{for_each_chunk, try_vec};
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering, compiler_fence};

/// A router over a payload.
pub struct RouterState {
    pub(crate) base: Base,
    pub(crate) layout: Layout,
}

/// The head of a slot with an edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slot {
    /// The number of the neighbour.
    pub neighbour: u64,
    /// The number of the link.
    pub link: u64,
    /// The weight of the edge.
    pub weight: f64,
    /// The number of the last message that went out.
    pub sent: u64,
    /// The checksum of the levels that went out.
    pub sent_checksum: u64,
    /// The number of the last message that came in.
    pub received: u64,
    /// The checksum of the levels that came in.
    pub received_checksum: u64,
    /// How many bits are set in each level that came in.
    pub ones: [u64; MAX_LEVELS],
}

impl Slot {
    /// The words of the head.
    pub fn words(&self) -> [u64; SLOT_HEAD] {
        let mut words = [0; SLOT_HEAD];
        words[USED] = 1;
        words[NEIGHBOUR] = self.neighbour;
        words[LINK] = self.link;
        words[WEIGHT] = self.weight.to_bits();
        words[SENT] = self.sent;
        words[SENT_CHECKSUM] = self.sent_checksum;
        words[RECEIVED] = self.received;
        words[RECEIVED_CHECKSUM] = self.received_checksum;
        words[ONES].copy_from_slice(&self.ones);
        words
    }
}

impl Payload for RouterState {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.check_state()?;
        self.base.unless_unmended((0..self.layout.edges).try_for_each(|slot| self.check_levels(slot)))?;
        self.base.check_zero_from(64 * self.layout.whole_slot(self.layout.edges - 1).end as u64)
    }

    fn check_state(&self) -> Result<()> {
        let words = self.base.words().shared();
        let weights = self.weights();
        if weights.iter().any(|weight| !weight.is_finite())
            || weights[self.layout.levels..].iter().any(|weight| weight.to_bits() != 0)
            || !is_zero(&words[WEIGHTS.end..HEAD])
        {
            return Err(error!(Corrupt, "the head of the router has a weight that is no weight of a level"));
        }
        for slot in 0..self.layout.edges {
            self.check_head(slot)?;
        }
        Ok(())
    }

    /// Makes slots without an edge 0, and lets the heads of the others say what their levels are. A neighbour and this
    /// router then have different checksums of the levels that one sent the other, and all levels are sent anew.
    fn mend(&mut self) -> Result<()> {
        for slot in 0..self.layout.edges {
            let Some(head) = self.slot(slot) else {
                let words = self.layout.whole_slot(slot);
                if !is_zero(self.shared(words.clone())) {
                    self.base.writable_to_mend()?[words].fill(0);
                }
                continue;
            };
            // What went out last is not known any more. The next message, which starts from other levels than the
            // neighbour has, makes the neighbour ask for all.
            let sent = self.layout.sent(slot);
            if head.sent > 0 && checksum_of(self.shared(sent.clone()))? != head.sent_checksum {
                self.base.writable_to_mend()?[sent].fill(0);
            }
            let mended = self.counted_head(slot, &head)?;
            let numbers = [(mended.sent, self.layout.sent(slot)), (mended.received, self.layout.received(slot))];
            for (_, levels) in numbers.into_iter().filter(|(number, _)| *number == 0) {
                if !is_zero(self.shared(levels.clone())) {
                    self.base.writable_to_mend()?[levels].fill(0);
                }
            }
            if mended != head {
                self.base.writable_to_mend()?;
                self.set_head(slot, &mended);
            }
        }
        Ok(())
    }
}

impl RouterState {
    /// A router over a base.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt) for a geometry that the kind cannot have.
    pub(crate) fn over(base: Base) -> Result<RouterState> {
        let layout = base.known(Layout::of(base.geometry()))?;
        Ok(RouterState { base, layout })
    }

    /// Writes the head of a slot after all that was written before. The word that says that there is an edge comes
    /// last.
    pub(crate) fn set_head(&self, slot: usize, head: &Slot) {
        let words = self.shared(self.layout.slot_head(slot));
        // Numbers of messages come before the checksums, so that a checksum never is that of another message.
        let all = words.iter().zip(head.words());
        all.clone().skip(1).chain(all.take(1)).for_each(|(word, value)| word.store(value, Ordering::Release));
        compiler_fence(Ordering::SeqCst);
    }

    /// Records that a slot has no edge, before its other words become 0.
    pub(crate) fn set_unused(&self, slot: usize) {
        self.shared(self.layout.slot_head(slot))[USED].store(0, Ordering::Release);
        compiler_fence(Ordering::SeqCst);
    }

    /// The head that a slot has with the levels that are there. Before the first message there are none.
    fn counted_head(&self, slot: usize, head: &Slot) -> Result<Slot> {
        let checksum = |number, words| if number == 0 { Ok(0) } else { checksum_of(self.shared(words)) };
        let received = head.received > 0;
        let ones = |level| {
            let words = if received && level < self.layout.levels { self.received_level(slot, level) } else { &[] };
            words.iter().map(|word| u64::from(word.load(Ordering::Relaxed).count_ones())).sum()
        };
        Ok(Slot {
            sent_checksum: checksum(head.sent, self.layout.sent(slot))?,
            received_checksum: checksum(head.received, self.layout.received(slot))?,
            ones: core::array::from_fn(ones),
            ..*head
        })
    }

    fn word(&self, word: usize) -> u64 {
        self.base.words().shared()[word].load(Ordering::Relaxed)
    }

    /// Words of the payload.
    pub(crate) fn shared(&self, words: Range<usize>) -> &[AtomicU64] {
        &self.base.words().shared()[words]
    }

    /// The number of the node.
    pub fn node(&self) -> u64 {
        self.word(NODE)
    }

    /// The weights of all levels; 0 for those that the router does not have.
    pub fn weights(&self) -> [f64; MAX_LEVELS] {
        core::array::from_fn(|level| f64::from_bits(self.word(WEIGHTS.start + level)))
    }

    /// The head of a slot; `None` if the slot has no edge.
    pub fn slot(&self, slot: usize) -> Option<Slot> {
        let head = self.shared(self.layout.slot_head(slot));
        let word = |at: usize| head[at].load(Ordering::Relaxed);
        (word(USED) != 0).then(|| Slot {
            neighbour: word(NEIGHBOUR),
            link: word(LINK),
            weight: f64::from_bits(word(WEIGHT)),
            sent: word(SENT),
            sent_checksum: word(SENT_CHECKSUM),
            received: word(RECEIVED),
            received_checksum: word(RECEIVED_CHECKSUM),
            ones: core::array::from_fn(|level| word(ONES.start + level)),
        })
    }

    /// The slots that have an edge, in order.
    pub fn slots(&self) -> impl Iterator<Item = (usize, Slot)> {
        (0..self.layout.edges).filter_map(|slot| Some((slot, self.slot(slot)?)))
    }

    /// The words of a level that came in; the first level is 0.
    pub fn received_level(&self, slot: usize, level: usize) -> &[AtomicU64] {
        let width = self.layout.width();
        &self.shared(self.layout.received(slot))[level * width..][..width]
    }

    /// Whether the node's own keys may have this hash.
    pub fn has_own(&self, hash: u64) -> bool {
        let cells = self.shared(self.layout.cells());
        self.layout.positions(hash).all(|position| {
            let (word, shift) = self.layout.cell(position);
            cells[word].load(Ordering::Relaxed) >> shift & self.layout.most() != 0
        })
    }

    /// ORs the bits of the node's own keys into a level.
    pub fn own_bits(&self, level: &mut [u64]) {
        let (counter_bits, most) = (self.layout.counter_bits, self.layout.most());
        let each = 64 / counter_bits;
        for (i, word) in self.shared(self.layout.cells()).iter().enumerate() {
            let word = word.load(Ordering::Relaxed);
            if counter_bits == 1 {
                level[i] |= word;
            } else if word != 0 {
                for cell in 0..each {
                    let position = i as u64 * each + cell;
                    let is_set = word >> (cell * counter_bits) & most != 0;
                    level[(position / 64) as usize] |= u64::from(is_set) << (position % 64);
                }
            }
        }
    }

    /// The levels to send over the edge of a slot: the node's own keys, and then the levels that came in over all other
    /// edges, each one deeper. A level that is ignored is not passed on.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn levels_for(&self, slot: usize) -> Result<Vec<u64>> {
        let width = self.layout.width();
        let mut levels = zeros(self.layout.levels_width())?;
        self.own_bits(&mut levels[..width]);
        for (other, head) in self.slots().filter(|(other, _)| *other != slot) {
            for (level, to) in levels[width..].chunks_exact_mut(width).enumerate() {
                if self.layout.is_ignored(head.ones[level]) {
                    continue;
                }
                for (to, from) in to.iter_mut().zip(self.received_level(other, level)) {
                    *to |= from.load(Ordering::Relaxed);
                }
            }
        }
        Ok(levels)
    }

    /// How many bits are set in each of these levels.
    pub fn ones(&self, levels: &[u64]) -> [u64; MAX_LEVELS] {
        let mut ones = [0; MAX_LEVELS];
        for (ones, level) in ones.iter_mut().zip(levels.chunks_exact(self.layout.width())) {
            *ones = level.iter().map(|word| u64::from(word.count_ones())).sum();
        }
        ones
    }

    fn check_head(&self, slot: usize) -> Result<()> {
        let wrong = |what: &str| Err(error!(Corrupt, "slot {slot} of the router has {what}"));
        let Some(head) = self.slot(slot) else {
            return match is_zero(self.shared(self.layout.slot_head(slot))) {
                true => Ok(()),
                false => self.base.unless_unmended(wrong("no edge, and a head that is not empty")),
            };
        };
        let (ones, beyond) = head.ones.split_at(self.layout.levels);
        if self.word(self.layout.slot_head(slot).start + USED) != 1 {
            wrong("a first word that is neither 0 nor 1")
        } else if !head.weight.is_finite() {
            wrong("a weight that is no number")
        } else if ones.iter().any(|ones| *ones > self.layout.bits) || beyond.iter().any(|ones| *ones != 0) {
            wrong("a level with more bits set than it has")
        } else if head.neighbour == self.node() {
            wrong("the node itself as a neighbour")
        } else if self.slots().any(|(other, same)| other < slot && same.neighbour == head.neighbour) {
            wrong("the neighbour of another slot")
        } else {
            Ok(())
        }
    }

    /// Checks that the levels of a slot have the counts of set bits and the checksums that the head of the slot says,
    /// and that a slot without an edge is empty.
    fn check_levels(&self, slot: usize) -> Result<()> {
        let Some(head) = self.slot(slot) else {
            return match is_zero(self.shared(self.layout.whole_slot(slot))) {
                true => Ok(()),
                false => Err(error!(Corrupt, "slot {slot} of the router has no edge, and is not empty")),
            };
        };
        for level in 0..self.layout.levels {
            let words = self.received_level(slot, level);
            let ones: u64 = words.iter().map(|word| u64::from(word.load(Ordering::Relaxed).count_ones())).sum();
            if ones != head.ones[level] {
                let told = head.ones[level];
                return Err(error!(
                    Corrupt,
                    "level {level} of slot {slot} has {ones} bits set, and its head says {told}"
                ));
            }
        }
        for (number, told, words) in [
            (head.sent, head.sent_checksum, self.layout.sent(slot)),
            (head.received, head.received_checksum, self.layout.received(slot)),
        ] {
            let words = self.shared(words);
            // Before the first message there are no levels.
            let is_right = if number == 0 { told == 0 && is_zero(words) } else { told == checksum_of(words)? };
            if !is_right {
                return Err(error!(Corrupt, "the levels of slot {slot} of the router do not match their checksum"));
            }
        }
        Ok(())
    }

    /// The error for an edge that the router does not have.
    #[cold]
    pub fn no_edge(&self, neighbour: u64) -> Error {
        error!(OutOfRange, "neighbour = {neighbour} is not the number of an edge of this router")
    }
}

/// A vector of `words` zeros.
pub(crate) fn zeros(words: usize) -> Result<Vec<u64>> {
    let mut zeros = try_vec(words)?;
    zeros.resize(words, 0);
    Ok(zeros)
}

/// A copy of words as they are now.
pub(crate) fn copied(words: &[AtomicU64]) -> Result<Vec<u64>> {
    let mut copied = try_vec(words.len())?;
    copied.extend(words.iter().map(|word| word.load(Ordering::Relaxed)));
    Ok(copied)
}

fn is_zero(words: &[AtomicU64]) -> bool {
    words.iter().all(|word| word.load(Ordering::Relaxed) == 0)
}

/// The checksum of levels in the payload.
fn checksum_of(words: &[AtomicU64]) -> Result<u64> {
    let mut checksum = Checksum::default();
    for_each_chunk(words, |bytes| {
        checksum.update(bytes);
        Ok(())
    })?;
    Ok(checksum.finish())
}
