//! How the image's payload lies: the bits of a Bloom filter, the table of payloads, the attachment, and a line of
//! state. Elsewhere in this file a payload is one of those that the digest was given. Each part begins at a multiple of
//! 64 bytes.
//!
//! An entry of the table has two words, the payload's id and its length in bytes. Segments are numbered through all
//! payloads in the order of the table, so the lengths say which segments a payload has.

use crate::bits;
use crate::blocks::ScatteredBits;
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use core::sync::atomic::{AtomicU64, Ordering};

/// The geometry's word that has the bytes of a block.
pub const BLOCK_WORD: usize = 0;
/// The geometry's word that has the number of levels.
pub const LEVELS_WORD: usize = 1;
/// The geometry's word that has the way of cutting.
pub const CUT_WORD: usize = 2;
/// The geometry's word that has the blocks of a segment.
pub const SEGMENT_WORD: usize = 3;
/// The geometry's word that has the largest number of payloads.
pub const PAYLOADS_WORD: usize = 4;
/// The geometry's word that has the most bytes of the attachment.
pub const ATTACHMENT_WORD: usize = 5;

/// The most bits that an entry sets.
pub const MAX_HASHES: u32 = 64;

/// The words of an entry of the table of payloads.
pub const ENTRY_WORDS: usize = 2;

/// How payloads are cut into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Into blocks of one length, from the payload's start on.
    Fixed,
    /// Where a hash of the last bytes is less than those around it, so that an excerpt is cut as its payload was.
    Content,
}

impl Cut {
    /// The names of the ways, in the order of their numbers.
    pub const NAMES: [&'static str; 2] = ["fixed", "content"];

    /// The way with this number.
    pub fn of_number(number: u64) -> Option<Cut> {
        match number {
            0 => Some(Cut::Fixed),
            1 => Some(Cut::Content),
            _ => None,
        }
    }
}

/// The shape of a digest: what its geometry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The bits of the filter.
    pub bits: u64,
    /// The bits that an entry sets.
    pub hashes: u32,
    /// The bytes of a block, or their average number.
    pub block_bytes: u64,
    /// The levels: groups of 2^j blocks for j from 0 on.
    pub levels: u32,
    /// How payloads are cut.
    pub cut: Cut,
    /// The blocks of a segment.
    pub segment_blocks: u64,
    /// How many payloads the table holds; 0 if the digest keeps no ids.
    pub payloads: u64,
    /// The most bytes of the attachment.
    pub attachment_bytes: u64,
}

/// The numbers in the last line of the payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// How many payloads the table has.
    pub payloads: u64,
    /// How many segments all payloads have together.
    pub segments: u64,
    /// The bytes of the longest payload.
    pub longest: u64,
    /// How many entries the filter took.
    pub entries: u64,
    /// How many bits of the filter are set.
    pub ones: u64,
    /// The bytes of the attachment.
    pub attachment: u64,
}

/// The greatest number that a word of the state holds, so that sums of such words do not overflow.
pub const MOST: u64 = 1 << 62;

impl Shape {
    /// The shape that a geometry describes, if it is one of this kind.
    pub fn of(geometry: &Geometry) -> Option<Shape> {
        let [block_bytes, levels, cut, segment_blocks, payloads, attachment_bytes, rest @ ..] = geometry.words;
        let shape = Shape {
            bits: geometry.bits,
            hashes: geometry.hashes,
            block_bytes,
            levels: u32::try_from(levels).ok()?,
            cut: Cut::of_number(cut)?,
            segment_blocks,
            payloads,
            attachment_bytes,
        };
        let is_one = rest == [0; 2]
            && geometry.bits > 0
            && (1..=MAX_HASHES).contains(&geometry.hashes)
            && (8..=1024).contains(&block_bytes)
            && (1..=4).contains(&levels)
            && (8..=1 << 16).contains(&segment_blocks)
            && segment_blocks.is_multiple_of(8)
            && payloads <= 1 << 32
            && attachment_bytes <= 1 << 32;
        (is_one && shape.geometry().is_ok_and(|expected| expected == *geometry)).then_some(shape)
    }

    /// The geometry of this shape.
    ///
    /// # Errors
    /// [`Status::TooLarge`](crate::Status::TooLarge).
    pub fn geometry(&self) -> Result<Geometry> {
        let mut words = [0; 8];
        words[BLOCK_WORD] = self.block_bytes;
        words[LEVELS_WORD] = self.levels.into();
        words[CUT_WORD] = self.cut as u64;
        words[SEGMENT_WORD] = self.segment_blocks;
        words[PAYLOADS_WORD] = self.payloads;
        words[ATTACHMENT_WORD] = self.attachment_bytes;
        let bytes = [self.bits.div_ceil(8), 16 * self.payloads, self.attachment_bytes];
        let payload_bytes = bytes.into_iter().try_fold(PAYLOAD_UNIT, |sum, part| {
            part.checked_next_multiple_of(PAYLOAD_UNIT).and_then(|part| part.checked_add(sum))
        });
        Geometry::of_bytes(self.bits, self.hashes, words, payload_bytes)
    }

    /// Where the bits of an entry lie.
    pub fn scattered(&self) -> ScatteredBits {
        ScatteredBits { range: self.bits, stride: 0, hashes: self.hashes }
    }

    /// The words of the filter, with their padding.
    pub fn filter_words(&self) -> usize {
        (self.bits.div_ceil(512) * 8) as usize
    }

    /// The first word of the attachment.
    pub fn attachment_start(&self) -> usize {
        self.filter_words() + (self.payloads.div_ceil(4) * 8) as usize
    }

    /// The first word of the state.
    pub fn state_start(&self) -> usize {
        self.attachment_start() + (self.attachment_bytes.div_ceil(64) * 8) as usize
    }

    /// The first word of an entry of the table of payloads.
    pub fn entry_start(&self, payload: u64) -> usize {
        self.filter_words() + ENTRY_WORDS * payload as usize
    }

    /// The bytes of a segment.
    pub fn segment_bytes(&self) -> u64 {
        self.segment_blocks * self.block_bytes
    }

    /// How many segments a payload of `bytes` bytes has.
    pub fn segments_of(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.segment_bytes())
    }

    /// The state in these words of a payload.
    pub fn state(&self, words: &[AtomicU64]) -> State {
        let word = |i: usize| words[self.state_start() + i].load(Ordering::Relaxed);
        State {
            payloads: word(0),
            segments: word(1),
            longest: word(2),
            entries: word(3),
            ones: word(4),
            attachment: word(5),
        }
    }

    /// Writes the state, after everything that was written before, so that a writer that dies leaves no state that
    /// claims more than there is. `ones` comes after `entries`, which bound it.
    pub fn set_state(&self, words: &[AtomicU64], state: &State) {
        let State { payloads, segments, longest, entries, ones, attachment } = *state;
        let all = [payloads, segments, longest, entries, ones, attachment];
        words[self.state_start()..].iter().zip(all).for_each(|(word, value)| word.store(value, Ordering::Release));
    }

    /// The state as far as it follows from the rest of a payload whose writer died.
    pub fn counted_state(&self, words: &[AtomicU64]) -> State {
        let said = self.state(words);
        let payloads = said.payloads.min(self.payloads);
        let lengths = (0..payloads).map(|payload| self.payload(words, payload).1.min(MOST));
        let segments =
            lengths.clone().fold(0_u64, |sum, length| sum.saturating_add(self.segments_of(length))).min(MOST);
        let ones = bits::count_ones(&words[..self.filter_words()]);
        State {
            payloads,
            segments,
            longest: if self.payloads > 0 { lengths.max().unwrap_or(0) } else { said.longest.min(MOST) },
            // The count may lack entries of the unfinished change.
            entries: said.entries.max(ones.div_ceil(self.hashes.into())).min(MOST),
            ones,
            attachment: said.attachment.min(self.attachment_bytes),
        }
    }

    /// The words that are 0 in a payload with this state: those behind the last entry of the table, and behind the
    /// attachment. The attachment may end within the first word of the latter, after the second number of bits.
    fn unused(&self, state: &State) -> [(core::ops::Range<usize>, u64); 2] {
        let attachment = self.attachment_start() + (state.attachment / 8) as usize;
        [
            (self.entry_start(state.payloads)..self.attachment_start(), 0),
            (attachment..self.state_start(), state.attachment % 8 * 8),
        ]
    }

    /// Returns whether any word that this state does not use is not 0. With `clears` makes those words 0.
    pub fn clear_unused(&self, words: &[AtomicU64], state: &State, clears: bool) -> bool {
        let mut found = false;
        for (range, kept) in self.unused(state) {
            for (i, word) in words[range].iter().enumerate() {
                let (now, mask) = (word.load(Ordering::Relaxed), if i == 0 { (1 << kept) - 1 } else { 0 });
                found |= now & !mask != 0;
                if clears && now & !mask != 0 {
                    word.store(now & mask, Ordering::Relaxed);
                }
            }
        }
        found
    }

    /// The id and the length of a payload of the table.
    pub fn payload(&self, words: &[AtomicU64], payload: u64) -> (u64, u64) {
        let start = self.entry_start(payload);
        (words[start].load(Ordering::Relaxed), words[start + 1].load(Ordering::Relaxed))
    }

    /// Refuses a state out of bounds, in constant time.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn check_state(&self, words: &[AtomicU64]) -> Result<()> {
        let state = self.state(words);
        let bounds = [
            ("payloads", state.payloads, self.payloads),
            ("segments", state.segments, MOST),
            ("longest", state.longest, MOST),
            ("entries", state.entries, MOST),
            ("ones", state.ones, self.bits.min(state.entries.saturating_mul(self.hashes.into()))),
            ("attachment", state.attachment, self.attachment_bytes),
        ];
        if let Some((name, value, most)) = bounds.into_iter().find(|(_, value, most)| value > most) {
            return Err(error!(Corrupt, "the digest's state has {name} = {value}, and at most {most} can be"));
        }
        let rest = self.state_start() + bounds.len();
        let is_zero = words[rest..].iter().all(|word| word.load(Ordering::Relaxed) == 0);
        if !is_zero || (self.payloads == 0 && state.segments != 0) {
            return Err(error!(Corrupt, "the digest's state has words set that are not used"));
        }
        Ok(())
    }

    /// Refuses a payload that contradicts its state.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn check(&self, words: &[AtomicU64]) -> Result<()> {
        let state = self.state(words);
        let ones = bits::count_ones(&words[..self.filter_words()]);
        if ones != state.ones || !bits::is_zero_from(&words[..self.filter_words()], self.bits) {
            let stated = state.ones;
            return Err(error!(Corrupt, "the digest's state says {stated} bits are set, and {ones} are"));
        }
        let (mut segments, mut longest) = (0_u64, 0);
        for payload in 0..state.payloads {
            let (_, length) = self.payload(words, payload);
            segments = segments.saturating_add(self.segments_of(length));
            longest = longest.max(length);
        }
        if self.payloads > 0 && (segments != state.segments || longest != state.longest) {
            return Err(error!(
                Corrupt,
                "the digest's table has {segments} segments and payloads of {longest} bytes, \
                and its state says {} and {}",
                state.segments,
                state.longest
            ));
        }
        if self.clear_unused(words, &state, false) {
            return Err(error!(Corrupt, "the digest has bytes set after its table or its attachment"));
        }
        Ok(())
    }
}

/// The payloads of a table: id, length, and number of the first segment. Ends where the table, whose bytes may come
/// from anywhere, has more segments than its state says.
pub(super) struct Payloads<'a> {
    shape: &'a Shape,
    words: &'a [AtomicU64],
    state: State,
    index: u64,
    segment: u64,
}

impl<'a> Payloads<'a> {
    pub(super) fn new(shape: &'a Shape, words: &'a [AtomicU64], state: State) -> Payloads<'a> {
        Payloads { shape, words, state, index: 0, segment: 0 }
    }

    pub(super) fn next(&mut self) -> Option<(u64, u64, u64)> {
        if self.index >= self.state.payloads {
            return None;
        }
        let (id, length) = self.shape.payload(self.words, self.index);
        let segment = self.segment;
        self.segment = segment.saturating_add(self.shape.segments_of(length));
        self.index += 1;
        (self.segment <= self.state.segments && length <= self.state.longest).then_some((id, length, segment))
    }
}
