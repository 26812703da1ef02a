//! How the parts of a payload lie in its words.

use super::layout::Shape;
use super::mothers;
use super::sizing::{self, Growing, SLOT_BITS};
use crate::blocks::segments::{Extent, within};
use crate::format::{Geometry, PAYLOAD_UNIT, image_bytes};
use crate::generic::grown;

/// The parts of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// How the filter began, and how long later fingerprints are.
    pub growing: Growing,
    /// How many segments there are, and how many slots one has.
    pub extent: Extent,
    /// The base-2 logarithm of the places for mothers, or 0 for none.
    pub mother_bits: u32,
}

impl Layout {
    /// The layout of a filter that has not grown.
    pub fn new(growing: Growing) -> Layout {
        Layout { growing, extent: Extent::new(growing.slot_bits, SLOT_BITS.1), mother_bits: 0 }
    }

    /// The shapes of undivided and of divided segments. `None` if the next division has no shape.
    pub fn shapes(&self) -> Option<[Shape; 2]> {
        let shape = |growths| Shape::new(self.extent.size, self.growing.fingerprint_bits(growths));
        Some([shape(self.extent.growths())?, shape(self.extent.begun())?])
    }

    /// The words from the beginning of one segment to that of the next: as many as the larger of both shapes needs.
    pub fn segment_words(&self) -> Option<usize> {
        self.shapes()?.iter().map(Shape::words).max()
    }

    /// How many words the mothers take.
    pub fn mother_words(&self) -> usize {
        if self.mother_bits == 0 { 0 } else { 2 << self.mother_bits }
    }
}

impl grown::Layout for Layout {
    fn of_words(words: [u64; 8]) -> Option<Layout> {
        let [bits, doublings, .., regime, mother_bits] = words;
        let extent = Extent::of_words(words, (SLOT_BITS.0, sizing::MOST_SLOT_BITS), SLOT_BITS.1)?;
        let growing = Growing {
            slot_bits: extent.first,
            bits: within(bits, sizing::BITS)?,
            doublings: within(doublings, sizing::DOUBLINGS)?,
            regime: *super::REGIMES.get(usize::try_from(regime).ok()?)?,
        };
        let mother_bits = within(mother_bits, (0, 57)).filter(|bits| *bits == 0 || *bits >= mothers::LEAST_BITS)?;
        (extent.begun() <= growing.most_doublings()?).then_some(Layout { growing, extent, mother_bits })
    }

    /// The geometry of the payload. `None` past the address space, and for fingerprints that are too long.
    fn geometry(&self) -> Option<Geometry> {
        let Layout { growing, extent, mother_bits } = *self;
        let tables = extent.segments()?.checked_mul(8 * self.segment_words()? as u64)?;
        let mothers = if mother_bits == 0 { 0 } else { 16 << mother_bits };
        let payload_bytes = tables.checked_add(mothers)?.checked_add(PAYLOAD_UNIT)?;
        image_bytes(payload_bytes)?;
        let [width, doublings, mother_bits] = [growing.bits, growing.doublings, mother_bits].map(u64::from);
        let [first, slot_bits, depth, is_dividing] = extent.words();
        let regime = growing.regime as u64;
        let words = [width, doublings, first, slot_bits, depth, is_dividing, regime, mother_bits];
        Some(Geometry { bits: tables.checked_mul(8)?, hashes: 0, words, payload_bytes })
    }

    fn first(&self) -> Layout {
        Layout::new(self.growing)
    }

    fn growths(&self) -> u32 {
        self.extent.growths()
    }

    fn false_positive_rate(&self, keys: u64) -> f64 {
        self.growing.false_positive_rate(keys)
    }

    fn seen(&self, new: f64) -> f64 {
        self.growing.seen(new)
    }
}
