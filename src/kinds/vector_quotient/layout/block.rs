//! One block: 64 bytes of metadata and tags.
//!
//! The metadata are as many bits as the block has buckets and slots together. Each bucket has a 1 for each of its
//! entries, and then a 0; zeros follow the last bucket. The tags are in the order of these ones, and slots after the
//! last entry are 0. (The literature exchanges ones and zeros, so that its empty blocks are not zeros.)
//!
//! So the entries of bucket b begin after the b-th 0, at a place T of the metadata, and come after T - b other entries.

use core::hint::select_unpredictable;
use core::sync::atomic::{AtomicU64, Ordering};

/// Words of a block.
pub const WORDS: usize = 8;

/// The eight words of a block, for reading.
pub trait Line {
    /// One of the block's eight words.
    fn word(&self, i: usize) -> u64;

    /// A pointer to the first word; the other words follow it.
    fn start(&self) -> *const u64;
}

impl Line for [AtomicU64; WORDS] {
    #[inline(always)]
    fn word(&self, i: usize) -> u64 {
        self[i].load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn start(&self) -> *const u64 {
        self.as_ptr().cast()
    }
}

impl Line for [u64; WORDS] {
    #[inline(always)]
    fn word(&self, i: usize) -> u64 {
        self[i]
    }

    #[inline(always)]
    fn start(&self) -> *const u64 {
        self.as_ptr()
    }
}

/// The operations that instruction sets do in their own ways.
pub trait Instructed: Copy {
    /// The place of the set bit with this rank, which counts lower set bits from 0 and is below 64. The result is 64 if
    /// there are fewer set bits.
    fn select(word: u64, rank: u32) -> u32;

    /// Which of `run.length` slots from `run.start` on have the tag: bit i answers for slot `run.start + i`.
    fn matches<const BITS: u32>(line: &impl Line, run: Run, tag: u64) -> u64;

    /// Puts a tag into a slot. The tags from this slot on move up by one slot, and the last tag is lost.
    #[inline(always)]
    fn open<const BITS: u32>(line: &mut [u64; WORDS], slot: u32, tag: u64) {
        let (head, bit) = (const { head(BITS) }, slot * BITS);
        let mut from_below = 0;
        for (i, word) in line[head..].iter_mut().enumerate() {
            let kept = below(bit, 64 * i as u32);
            let moved = (*word << BITS | from_below) & !kept;
            from_below = *word >> (64 - BITS);
            // `kept` masks out bits that come from a word which does not move.
            *word = *word & kept | moved;
        }
        // Only damaged metadata lead to a word after the line's end.
        if let Some(word) = line.get_mut(head + (bit / 64) as usize) {
            *word = *word & !(((1 << BITS) - 1) << (bit % 64)) | tag << (bit % 64);
        }
    }

    /// Takes the tag out of a slot. The tags after this slot move down by one slot, and the last slot becomes 0.
    #[inline(always)]
    fn close<const BITS: u32>(line: &mut [u64; WORDS], slot: u32) {
        let (head, bit) = (const { head(BITS) }, slot * BITS);
        let mut from_above = 0;
        for (i, word) in line[head..].iter_mut().enumerate().rev() {
            let kept = below(bit, 64 * i as u32);
            let moved = (*word >> BITS | from_above) & !kept;
            from_above = *word << (64 - BITS);
            *word = *word & kept | moved;
        }
    }
}

/// The entries of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The place in the metadata of the first entry's bit.
    pub place: u32,
    /// The slot of the first entry.
    pub start: u32,
    /// How many entries there are.
    pub length: u32,
}

impl Run {
    /// A bit for each entry of the run, beginning with the first.
    #[inline(always)]
    pub fn mask(&self) -> u64 {
        // No run of a sound payload has 64 entries.
        (1 << (self.length & 63)) - 1
    }
}

/// How many slots a block has with tags of `tag_bits` bits.
pub const fn slots(tag_bits: u32) -> u32 {
    if tag_bits == 8 { 48 } else { 28 }
}

/// How many buckets a block has with tags of `tag_bits` bits.
pub const fn buckets(tag_bits: u32) -> u32 {
    if tag_bits == 8 { 80 } else { 36 }
}

/// How many words the metadata have.
const fn head(tag_bits: u32) -> usize {
    if tag_bits == 8 { 2 } else { 1 }
}

/// The metadata as one number.
#[inline(always)]
pub fn metadata<const BITS: u32>(line: &impl Line) -> u128 {
    let high = if const { head(BITS) } == 2 { line.word(1) } else { 0 };
    u128::from(line.word(0)) | u128::from(high) << 64
}

/// How many slots are taken.
#[inline(always)]
pub fn taken<const BITS: u32>(line: &impl Line) -> u32 {
    (0..const { head(BITS) }).map(|i| line.word(i).count_ones()).sum()
}

/// The entries of a bucket, or the place where the first would be.
#[inline(always)]
pub fn run<const BITS: u32, I: Instructed>(line: &impl Line, bucket: u32) -> Run {
    let (low, high) = (line.word(0), if const { head(BITS) } == 2 { line.word(1) } else { 0 });
    // A 1 stands where a bucket begins.
    let begins = !low << 1 | 1;
    let before = begins.count_ones();
    // Half of the buckets of large blocks begin in the second word, and a processor that guesses which is wrong half of
    // the time.
    let is_high = const { head(BITS) } == 2 && bucket >= before;
    let pick = |second: u64, first: u64| select_unpredictable(is_high, second, first);
    let word = pick(!high << 1 | !low >> 63, begins);
    let rank = bucket.wrapping_sub(pick(before.into(), 0) as u32);
    let (first, next) = (pick(high, low), pick(0, high));
    // This is 64, or less than the bucket, only if the metadata are damaged.
    let within = I::select(word, rank & 63);
    let rest = first >> (within & 63) | next << 1 << (63 - (within & 63));
    let place = within + pick(64, 0) as u32;
    Run { place, start: place.saturating_sub(bucket), length: rest.trailing_ones() }
}

/// The bits of a word below a place. `from` is the place of the word's lowest bit.
#[inline(always)]
fn below(place: u32, from: u32) -> u64 {
    !u64::MAX.unbounded_shl(place.saturating_sub(from))
}

/// The bit of a word at a place, or 0 if the place is in another word. `from` is the place of the word's lowest bit.
#[inline(always)]
fn bit(place: u32, from: u32) -> u64 {
    1_u64.unbounded_shl(place.wrapping_sub(from))
}

/// Puts a tag at the end of a run, into a block with a free slot.
#[inline(always)]
pub fn insert<const BITS: u32, I: Instructed>(line: &mut [u64; WORDS], run: Run, tag: u64) {
    // The tags change before the metadata: reading the line as a vector right after a write of one word would wait.
    I::open::<BITS>(line, run.start + run.length, tag);
    let place = run.place + run.length;
    let mut from_below = 0;
    for (i, word) in line[..const { head(BITS) }].iter_mut().enumerate() {
        let from = 64 * i as u32;
        let moved = *word & !below(place, from);
        let carried = moved >> 63;
        *word = *word & below(place, from) | moved << 1 | from_below | bit(place, from);
        from_below = carried;
    }
}

/// Removes the entry in a slot, which belongs to this bucket.
#[inline(always)]
pub fn remove<const BITS: u32, I: Instructed>(line: &mut [u64; WORDS], bucket: u32, slot: u32) {
    I::close::<BITS>(line, slot);
    let place = bucket + slot;
    let mut from_above = 0;
    for (i, word) in line[..const { head(BITS) }].iter_mut().enumerate().rev() {
        let kept = below(place, 64 * i as u32);
        let moved = (*word >> 1 | from_above) & !kept;
        from_above = *word << 63;
        *word = *word & kept | moved;
    }
}

/// The tag in a slot.
#[inline(always)]
pub fn tag<const BITS: u32>(line: &impl Line, slot: u32) -> u64 {
    let bit = slot * BITS;
    line.word(const { head(BITS) } + (bit / 64) as usize) >> (bit % 64) & ((1 << BITS) - 1)
}

/// All entries, as bucket and tag, in the order of the slots.
pub fn entries<const BITS: u32>(line: &impl Line) -> impl Iterator<Item = (u32, u64)> {
    let mut rest = metadata::<BITS>(line);
    let slots = 0..taken::<BITS>(line).min(slots(BITS));
    slots.map(move |slot| {
        let place = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (place.saturating_sub(slot), tag::<BITS>(line, slot))
    })
}

/// Whether the block is sound: no more slots are taken than there are, every entry belongs to a bucket that exists, and
/// all bits after the last entry are 0.
pub fn is_sound<const BITS: u32>(line: &impl Line) -> bool {
    let (metadata, taken) = (metadata::<BITS>(line), taken::<BITS>(line));
    let last = 128 - metadata.leading_zeros();
    taken <= slots(BITS)
        && last - taken < buckets(BITS)
        && (0..slots(BITS)).skip(taken as usize).all(|slot| tag::<BITS>(line, slot) == 0)
}

/// The bucket and the tag of a fingerprint.
#[inline(always)]
pub fn split<const BITS: u32>(fingerprint: u64) -> (u32, u64) {
    ((fingerprint >> BITS) as u32, fingerprint & ((1 << BITS) - 1))
}

/// Which slots of its bucket have a fingerprint's tag: bit i answers for the bucket's i-th slot.
#[inline(always)]
pub fn matches<const BITS: u32, I: Instructed>(line: &impl Line, fingerprint: u64) -> u64 {
    let (bucket, tag) = split::<BITS>(fingerprint);
    I::matches::<BITS>(line, run::<BITS, I>(line, bucket), tag)
}

/// Whether a fingerprint is there.
#[inline(always)]
pub fn has<const BITS: u32, I: Instructed>(line: &impl Line, fingerprint: u64) -> bool {
    matches::<BITS, I>(line, fingerprint) != 0
}

/// Adds a fingerprint to a block with a free slot.
pub fn add<const BITS: u32>(line: &mut [u64; WORDS], fingerprint: u64) {
    let (bucket, tag) = split::<BITS>(fingerprint);
    let run = run::<BITS, Plain>(line, bucket);
    insert::<BITS, Plain>(line, run, tag);
}

/// Removes the first copy of a fingerprint. Returns false, with nothing changed, if there is none.
#[inline(always)]
pub fn take<const BITS: u32, I: Instructed>(line: &mut [u64; WORDS], fingerprint: u64) -> bool {
    let (bucket, tag) = split::<BITS>(fingerprint);
    let run = run::<BITS, I>(line, bucket);
    let found = I::matches::<BITS>(line, run, tag);
    if found != 0 {
        remove::<BITS, I>(line, bucket, run.start + found.trailing_zeros());
    }
    found != 0
}

/// Plain code, which every processor runs.
#[derive(Clone, Copy)]
pub struct Plain;

impl Instructed for Plain {
    #[inline(always)]
    fn select(word: u64, rank: u32) -> u32 {
        crate::blocks::select::select(word, rank)
    }

    #[inline(always)]
    fn matches<const BITS: u32>(line: &impl Line, run: Run, tag: u64) -> u64 {
        let (ones, lanes) = if BITS == 8 { (0x0101_0101_0101_0101, 8) } else { (0x0001_0001_0001_0001, 4) };
        let highs: u64 = ones << (BITS - 1);
        let mut found = 0;
        // Most runs are shorter than eight bytes, so mostly this loop runs once.
        for first in (0..run.length).step_by(lanes as usize) {
            let bit = 64 * const { head(BITS) } as u32 + (run.start + first) * BITS;
            let (at, shift) = ((bit / 64) as usize, bit % 64);
            let word = |at: usize| if at < WORDS { line.word(at) } else { 0 };
            let window = word(at) >> shift | word(at + 1) << 1 << (63 - shift);
            let differs = window ^ (tag * ones);
            let zeros = !((differs & !highs).wrapping_add(!highs) | differs) & highs;
            // A bit for each lane.
            let gathered = match BITS {
                8 => (zeros >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56,
                _ => (zeros >> 15).wrapping_mul(1 << 48 | 1 << 33 | 1 << 18 | 1 << 3) >> 48 & 15,
            };
            found |= gathered << (first & 63);
        }
        found & run.mask()
    }
}
