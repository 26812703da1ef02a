//! Finding numbers in a payload.

use super::{GROUP, HEAD_BITS, Head, MAX_FIELD, Numbers, SLACK_BITS, field, window};
use crate::batch::ring;
use crate::bits::{is_zero_from, mix, reduce};
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT, image_bytes};
use core::sync::atomic::{AtomicU64, Ordering};

/// The shape of a payload: range, head, and what follows from both.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    range: u64,
    pub(super) head: Head,
    pub(super) buckets: u64,
    entry_bits: u64,
    /// Where the codes begin, and where they end.
    codes: u64,
    end: u64,
}

/// A payload that is read.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub(super) words: &'a [AtomicU64],
    shape: &'a Shape,
}

/// The bytes of a payload whose head, index and codes have `bits` bits; `None` past the address space.
pub fn payload_bytes(bits: u64) -> Option<u64> {
    let bytes = bits.checked_add(SLACK_BITS)?.div_ceil(8).checked_next_multiple_of(PAYLOAD_UNIT)?;
    image_bytes(bytes).map(|_| bytes)
}

impl Shape {
    /// The shape of the payload in `words`, whose head may say anything. `None` if the head does not fit this geometry,
    /// whose first word is the range.
    #[inline]
    pub fn read(geometry: &Geometry, words: &[AtomicU64]) -> Option<Shape> {
        let range = geometry.words[0];
        let head = Head::read(words)?;
        let is_whole = head.bits(range)? == geometry.bits && words.len() as u64 * 64 >= geometry.bits + SLACK_BITS;
        (is_whole && head.has_its_buckets(range)).then_some(Shape {
            range,
            head,
            buckets: head.buckets(range),
            entry_bits: head.entry_bits(),
            codes: head.codes(range)?,
            end: geometry.bits,
        })
    }

    /// How many numbers there are.
    pub fn values(&self) -> u64 {
        self.head.values
    }

    /// The number that a hash is stored as.
    #[inline(always)]
    pub fn number(&self, hash: u64) -> u64 {
        reduce(mix(hash), self.range)
    }

    /// The Rice parameter, the bits of the index, and the bits of the codes.
    pub fn sizes(&self) -> (u32, u64, u64) {
        (self.head.rice_bits, self.codes - HEAD_BITS, self.head.code_bits)
    }
}

impl<'a> Reader<'a> {
    /// A reader of the payload of this shape in `words`. Bits beyond these words are zero.
    #[inline(always)]
    pub fn new(shape: &'a Shape, words: &'a [AtomicU64]) -> Reader<'a> {
        Reader { words, shape }
    }

    /// The first bit of the codes of a group, whose entry of the index begins at bit `entry`.
    #[inline(always)]
    fn start_of(&self, group: u64, entry: u64) -> u64 {
        let more = field(self.words, entry, self.shape.head.start_width);
        self.shape
            .codes
            .wrapping_add(self.shape.head.line(group))
            .wrapping_add(self.shape.head.least_start)
            .wrapping_add(more)
    }

    /// The first bit of the codes of a bucket, and the bit after their last. Both mean nothing if the payload is not
    /// sound.
    #[inline(always)]
    fn place(&self, bucket: u64) -> (u64, u64) {
        let (group, in_group) = (bucket / GROUP, bucket % GROUP);
        let entry = HEAD_BITS + group.wrapping_mul(self.shape.entry_bits);
        let width = self.shape.head.length_width;
        let lengths = entry + u64::from(self.shape.head.start_width);
        let (mut before, mut own) = (0, 0);
        if width <= 9 {
            // All seven lengths lie in one window of 64 bits.
            let all = window(self.words, lengths);
            let mask = (1 << width) - 1;
            let below = all & ((1 << (in_group as u32 * width)) - 1);
            for i in 0..GROUP as u32 - 1 {
                before += below >> (i * width) & mask;
            }
            own += all >> (in_group as u32 * width).min(63) & mask;
        } else {
            for i in 0..in_group {
                before += field(self.words, lengths + i * u64::from(width), width);
            }
            own += field(self.words, lengths + in_group * u64::from(width), width);
        }
        let least = self.shape.head.least_length;
        let start = self.start_of(group, entry).wrapping_add(before).wrapping_add(in_group.wrapping_mul(least));
        let next = self.start_of(group + 1, entry + self.shape.entry_bits);
        let end = if in_group == GROUP - 1 { next } else { start.wrapping_add(own).wrapping_add(least) };
        (start, end)
    }

    /// As [`Reader::place`], but (0, 0) if there is no such bucket or the codes would not lie in the payload.
    #[inline(always)]
    pub(super) fn codes_of(&self, bucket: u64) -> (u64, u64) {
        let (start, end) = if bucket < self.shape.buckets { self.place(bucket) } else { (0, 0) };
        let is_there = start <= end && end <= self.shape.end;
        if is_there { (start, end) } else { (0, 0) }
    }

    /// The numbers of a bucket, each less the bucket's first number. Empty if there is no such bucket.
    #[inline(always)]
    pub(super) fn bucket(&self, bucket: u64) -> Numbers<'a> {
        let (start, end) = self.codes_of(bucket);
        Numbers::new(self.words, start, end, self.shape.head.rice_bits)
    }

    /// The bucket of the number that a hash is stored as, and the number less the bucket's first number.
    #[inline(always)]
    pub(super) fn bucket_of(&self, hash: u64) -> (u64, u64) {
        let (number, bits) = (self.shape.number(hash), self.shape.head.bucket_bits());
        (number >> bits, number & ((1 << bits) - 1))
    }

    /// Whether the number that a hash is stored as is there.
    #[inline]
    pub fn contains(&self, hash: u64) -> bool {
        let (bucket, target) = self.bucket_of(hash);
        for number in self.bucket(bucket) {
            if number >= target {
                return number == target;
            }
        }
        false
    }

    /// Asks for the line of the index that a lookup of a hash needs.
    #[inline]
    pub fn fetch_index(&self, hash: u64) {
        self.fetch_entry(self.bucket_of(hash).0);
    }

    /// Asks for the line of the index that says where the codes of a bucket are.
    #[inline(always)]
    pub(super) fn fetch_entry(&self, bucket: u64) {
        let bit = HEAD_BITS + (bucket / GROUP).wrapping_mul(self.shape.entry_bits);
        ring::fetch_word(self.words, (bit / 64) as usize);
    }

    /// Asks for the lines of the codes that a lookup of a hash needs. To find them, this reads the index.
    #[inline]
    pub fn fetch_codes(&self, hash: u64) {
        let (start, end) = self.codes_of(self.bucket_of(hash).0);
        ring::fetch_word(self.words, (start / 64) as usize);
        ring::fetch_word(self.words, (end / 64) as usize);
    }

    /// The shape of the payload.
    pub(super) fn shape(&self) -> &'a Shape {
        self.shape
    }

    /// Looks through a payload. The index has to say where the codes are, and the codes have to be different numbers
    /// below the range, as many as the head says. Linear in the numbers.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn check(&self) -> Result<()> {
        let (mut values, mut at) = (0, self.shape.codes);
        let bits = self.shape.head.bucket_bits();
        for bucket in 0..self.shape.buckets {
            let (start, end) = self.place(bucket);
            let (mut used, mut next) = (0, 0);
            for number in self.bucket(bucket) {
                let is_known = number >> bits == 0 && number >= next && (bucket << bits | number) < self.shape.range;
                if !is_known {
                    return Err(error!(Corrupt, "bucket {bucket} has numbers that are not its own"));
                }
                used += ((number - next) >> self.shape.head.rice_bits) + 1 + u64::from(self.shape.head.rice_bits);
                (values, next) = (values + 1, number + 1);
            }
            if start != at || end < start || end > self.shape.end || used != end - start {
                return Err(error!(Corrupt, "bucket {bucket} is not the bits from {start} to {end}"));
            }
            at = end;
        }
        let is_padded = is_zero_from(self.words, self.shape.end);
        let last = self.words.iter().take(8).skip(6).all(|word| word.load(Ordering::Relaxed) == 0);
        if at != self.shape.end || values != self.shape.head.values || !is_padded || !last {
            let (said, end) = (self.shape.head.values, self.shape.end);
            return Err(error!(Corrupt, "{values} numbers end at bit {at}, where {said} should end at {end}"));
        }
        Ok(())
    }
}

const _: () = assert!(MAX_FIELD + 7 == 64);
