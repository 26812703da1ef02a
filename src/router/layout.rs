//! How the payload of a router is laid out: a head, the cells of the node's own keys, and one slot for each edge. A
//! cell is a counter, or a single bit with `counter_bits` = 1.
//!
//! | words | what |
//! |---|---|
//! | 1 | the number of the node |
//! | 8 | the weight of each level, as the bits of a real number |
//! | 7 | 0 |
//! | bits x counter_bits / 64 | the cells of the node's own keys |
//! | `edges` times a slot | see below |
//!
//! A slot has 16 words of head, the levels that came in over the edge, and the levels that last went out over it, with
//! `bits` / 64 words each. A slot without an edge is all zeros.

use super::{COUNTER_BITS, EDGES, FAN_OUT, LEVELS, MAX_FILL, MAX_HASHES, MAX_LEVELS};
use crate::bits::{GOLDEN, mix, reduce};
use crate::format::{Geometry, PAYLOAD_UNIT};
use core::ops::Range;

/// The words before the cells.
pub const HEAD: usize = 16;
/// The words before the levels of a slot.
pub const SLOT_HEAD: usize = 16;
/// The word of the node's number.
pub const NODE: usize = 0;
/// The words of the weights of levels.
pub const WEIGHTS: Range<usize> = 1..1 + MAX_LEVELS;

/// The words of a slot's head: whether there is an edge.
pub const USED: usize = 0;
/// The number of the neighbour.
pub const NEIGHBOUR: usize = 1;
/// The number of the link.
pub const LINK: usize = 2;
/// The weight of the edge, as the bits of a real number.
pub const WEIGHT: usize = 3;
/// The number of the last message that went out; 0 if none did.
pub const SENT: usize = 4;
/// The checksum of the levels that went out.
pub const SENT_CHECKSUM: usize = 5;
/// The number of the last message that came in; 0 if none did.
pub const RECEIVED: usize = 6;
/// The checksum of the levels that came in.
pub const RECEIVED_CHECKSUM: usize = 7;
/// How many bits are set in each level that came in.
pub const ONES: Range<usize> = 8..8 + MAX_LEVELS;

/// The numbers of a geometry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Bits of a level.
    pub bits: u64,
    /// Bits that a key sets.
    pub hashes: u32,
    /// Levels of an edge.
    pub levels: usize,
    /// Slots.
    pub edges: usize,
    /// How many times more nodes are one hop further away.
    pub fan_out: f64,
    /// Bits of a cell.
    pub counter_bits: u64,
    /// The fill above which a level is ignored.
    pub max_fill: f64,
}

impl Layout {
    /// The layout that a geometry describes, if it is one of this kind.
    pub fn of(geometry: &Geometry) -> Option<Layout> {
        let [levels, edges, fan_out, counter_bits, max_fill, 0, 0, 0] = geometry.words else { return None };
        let (fan_out, max_fill) = (f64::from_bits(fan_out), f64::from_bits(max_fill));
        let values = [levels as f64, edges as f64, fan_out, counter_bits as f64, max_fill];
        let parameters = [LEVELS, EDGES, FAN_OUT, COUNTER_BITS, MAX_FILL];
        let are_allowed = parameters.iter().zip(values).all(|(parameter, value)| parameter.check(value).is_ok());
        let bytes = Layout::payload_bytes(geometry.bits, levels, edges, counter_bits)?;
        let is_one = are_allowed
            && geometry.bits > 0
            && geometry.bits.is_multiple_of(64)
            && (1..=MAX_HASHES).contains(&geometry.hashes)
            && geometry.payload_bytes == bytes;
        is_one.then_some(Layout {
            bits: geometry.bits,
            hashes: geometry.hashes,
            levels: levels as usize,
            edges: edges as usize,
            fan_out,
            counter_bits,
            max_fill,
        })
    }

    /// The bytes of such a payload; `None` if they overflow 64 bits.
    pub fn payload_bytes(bits: u64, levels: u64, edges: u64, counter_bits: u64) -> Option<u64> {
        let width = bits / 64;
        let slot = width.checked_mul(levels)?.checked_mul(2)?.checked_add(SLOT_HEAD as u64)?;
        let words = slot.checked_mul(edges)?.checked_add(width.checked_mul(counter_bits)?)?.checked_add(HEAD as u64)?;
        words.checked_mul(8)?.checked_next_multiple_of(PAYLOAD_UNIT)
    }

    /// The words of a level.
    pub fn width(self) -> usize {
        (self.bits / 64) as usize
    }

    /// The words of all levels of one direction.
    pub fn levels_width(self) -> usize {
        self.levels * self.width()
    }

    /// The words of the cells.
    pub fn cells(self) -> Range<usize> {
        HEAD..HEAD + self.width() * self.counter_bits as usize
    }

    /// The first word of a slot.
    fn slot(self, slot: usize) -> usize {
        self.cells().end + slot * (SLOT_HEAD + 2 * self.levels_width())
    }

    /// The words of a slot's head.
    pub fn slot_head(self, slot: usize) -> Range<usize> {
        self.slot(slot)..self.slot(slot) + SLOT_HEAD
    }

    /// The words of all levels that came in.
    pub fn received(self, slot: usize) -> Range<usize> {
        let first = self.slot(slot) + SLOT_HEAD;
        first..first + self.levels_width()
    }

    /// The words of all levels that went out.
    pub fn sent(self, slot: usize) -> Range<usize> {
        let first = self.received(slot).end;
        first..first + self.levels_width()
    }

    /// The words of a slot.
    pub fn whole_slot(self, slot: usize) -> Range<usize> {
        self.slot(slot)..self.slot(slot + 1)
    }

    /// The bits that a key sets in a level.
    pub fn positions(self, hash: u64) -> impl Iterator<Item = u64> {
        (1..=u64::from(self.hashes)).map(move |i| reduce(mix(hash.wrapping_add(GOLDEN.wrapping_mul(i))), self.bits))
    }

    /// The greatest value of a cell, at which it stays.
    pub fn most(self) -> u64 {
        (1 << self.counter_bits) - 1
    }

    /// The word among the cells, and the shift in the word, of the cell of a position.
    pub fn cell(self, position: u64) -> (usize, u64) {
        let bit = position * self.counter_bits;
        ((bit / 64) as usize, bit % 64)
    }

    /// Whether a level with `ones` bits set is ignored, because it is fuller than `max_fill`.
    pub fn is_ignored(self, ones: u64) -> bool {
        ones as f64 > self.max_fill * self.bits as f64
    }
}
