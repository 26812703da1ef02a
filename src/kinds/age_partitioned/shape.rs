//! The slices that a geometry describes.

use super::sizing::{self, MAX_HASHES};
use super::{CLOCK, SLICES, STATE_WORDS, of_shape};
use crate::bits;
use crate::contract::Window;
use crate::format::Geometry;
use crate::spec::Parameter;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

/// The slices that a geometry describes.
#[derive(Clone, Copy)]
pub struct Shape {
    /// How many slices a key sets a bit in.
    pub hashes: u32,
    /// How many older slices there are.
    pub old: u32,
    /// 0 if a slice is dropped after `keys` keys; 1 if only time moves on.
    pub clock: u64,
    /// How many keys a generation takes.
    pub keys: u64,
    /// The bits of a slice.
    pub bits: u64,
}

impl Shape {
    /// The slices that a geometry describes, if the geometry is one of this kind.
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

    /// The numbers of slices that the sizing computes with.
    pub fn slices(&self) -> sizing::Slices {
        let keys = (self.clock == 0).then_some(self.keys);
        sizing::Slices { hashes: self.hashes, old: self.old, bits: self.bits, keys }
    }

    /// The window of keys that the filter remembers.
    pub fn window(&self) -> Window {
        Window { steps: self.old.into(), keys: (self.clock == 0).then_some(self.keys) }
    }

    /// How many slices there are.
    pub fn count(&self) -> u32 {
        self.hashes + self.old
    }

    /// The place of the state in a payload of `words` words.
    pub fn state(words: usize) -> usize {
        words - STATE_WORDS
    }

    /// The bits of a range of slices.
    pub fn bits_of(&self, slices: Range<u64>) -> Range<u64> {
        self.bits * slices.start..self.bits * slices.end
    }

    /// The number of set bits of each slice, the youngest first. `progress` gets the number of bytes read.
    pub fn ones(self, words: &[AtomicU64], youngest: u32, progress: &mut dyn FnMut(u64)) -> impl Iterator<Item = u64> {
        (0..u64::from(self.count())).map(move |age| {
            let slice = (u64::from(youngest) + age) % u64::from(self.count());
            let Range { start, end } = self.bits_of(slice..slice + 1);
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
