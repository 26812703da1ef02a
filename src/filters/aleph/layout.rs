//! What a payload looks like.

use crate::format::{Geometry, PAYLOAD_UNIT, image_bytes};
use crate::layouts::aleph::Shape;
use crate::sizing::aleph::{self as sizing, Growing, SLOT_BITS};

use super::mothers;

/// What a payload looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// How it began, and how fingerprints go on.
    pub growing: Growing,
    /// The base-2 logarithm of the number of slots of a segment.
    pub slot_bits: u32,
    /// The base-2 logarithm of the number of segments that are not divided yet, or will not be.
    pub depth: u32,
    /// Whether there is room for twice as many, because some were divided.
    pub is_dividing: bool,
    /// The base-2 logarithm of the places for mothers, or 0 for none.
    pub mother_bits: u32,
}

impl Layout {
    /// That of a filter which has not grown.
    pub fn new(growing: Growing) -> Layout {
        let slot_bits = growing.slot_bits.min(SLOT_BITS.1);
        Layout { growing, slot_bits, depth: growing.slot_bits - slot_bits, is_dividing: false, mother_bits: 0 }
    }

    /// What a geometry describes, if it is one of this kind.
    pub fn of(geometry: &Geometry) -> Option<Layout> {
        let layout = Layout::of_words(geometry.words)?;
        (layout.geometry()? == *geometry).then_some(layout)
    }

    /// What the words of a geometry describe, if they can.
    pub fn of_words(words: [u64; 8]) -> Option<Layout> {
        let [bits, doublings, first, slot_bits, depth, is_dividing @ (0 | 1), regime, mother_bits] = words else {
            return None;
        };
        let within = |number: u64, (least, most): (u32, u32)| {
            u32::try_from(number).ok().filter(|number| (least..=most).contains(number))
        };
        let growing = Growing {
            slot_bits: within(first, (SLOT_BITS.0, sizing::MOST_SLOT_BITS))?,
            bits: within(bits, sizing::BITS)?,
            doublings: within(doublings, sizing::DOUBLINGS)?,
            regime: *super::REGIMES.get(usize::try_from(regime).ok()?)?,
        };
        let mut layout = Layout::new(growing);
        layout.slot_bits = within(slot_bits, (layout.slot_bits, SLOT_BITS.1))?;
        layout.depth = within(depth, (layout.depth, 57))?;
        layout.is_dividing = is_dividing == 1;
        layout.mother_bits = within(mother_bits, (0, 57)).filter(|bits| *bits == 0 || *bits >= mothers::LEAST_BITS)?;
        // Segments are divided once they cannot become larger.
        let is_one = layout.depth == 0 && !layout.is_dividing;
        let is_grown = layout.growths() + u32::from(layout.is_dividing) > growing.most_doublings()?;
        if (!is_one && layout.slot_bits < SLOT_BITS.1) || is_grown {
            return None;
        }
        Some(layout)
    }

    /// The geometry of the payload; `None` past the address space, and where fingerprints are longer than they can be.
    pub fn geometry(&self) -> Option<Geometry> {
        let Layout { growing, slot_bits, depth, is_dividing, mother_bits } = *self;
        let segments = 1_u64.checked_shl(depth + u32::from(is_dividing))?;
        let tables = segments.checked_mul(8 * self.segment_words()? as u64)?;
        let mothers = if mother_bits == 0 { 0 } else { 16 << mother_bits };
        let payload_bytes = tables.checked_add(mothers)?.checked_add(PAYLOAD_UNIT)?;
        image_bytes(payload_bytes)?;
        let [first, width, doublings] = [growing.slot_bits, growing.bits, growing.doublings].map(u64::from);
        let [slot_bits, depth, mother_bits] = [slot_bits, depth, mother_bits].map(u64::from);
        let regime = growing.regime as u64;
        let words = [width, doublings, first, slot_bits, depth, is_dividing.into(), regime, mother_bits];
        Some(Geometry { bits: tables.checked_mul(8)?, hashes: 0, words, payload_bytes })
    }

    /// How often segments have become two, or twice as large, but for those that were divided meanwhile.
    pub fn growths(&self) -> u32 {
        self.depth + self.slot_bits - self.growing.slot_bits
    }

    /// The shapes of segments that were not divided, and of those that were, if some can be.
    pub fn shapes(&self) -> Option<[Shape; 2]> {
        let shape = |growths| Shape::new(self.slot_bits, self.growing.fingerprint_bits(growths));
        let first = shape(self.growths())?;
        Some([first, if self.is_dividing { shape(self.growths() + 1)? } else { first }])
    }

    /// The words from the beginning of a segment to that of the next one: the larger of both shapes.
    pub fn segment_words(&self) -> Option<usize> {
        self.shapes()?.iter().map(Shape::words).max()
    }

    /// How many segments there is room for.
    pub fn segments(&self) -> usize {
        1 << (self.depth + u32::from(self.is_dividing))
    }

    /// How many words those of mothers are.
    pub fn mother_words(&self) -> usize {
        if self.mother_bits == 0 { 0 } else { 2 << self.mother_bits }
    }
}
