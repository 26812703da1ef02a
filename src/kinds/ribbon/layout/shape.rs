//! How a payload is divided, which follows from a few numbers, and whether what it says of its shards is possible.

use super::MAX_COLUMNS;
use super::metadata::{BUCKETS, Sizes};
use super::row::Coefficients;
use crate::error::{Result, error};
use crate::format::{PAYLOAD_UNIT, countable};
use crate::kinds::ribbon::sizing::{self, Width};
use core::sync::atomic::{AtomicU64, Ordering};

/// The class that a row has in its bucket.
#[inline(always)]
pub(super) fn class<C: Coefficients>(start: u64) -> u64 {
    let mask = (1 << C::SIZES.bucket_bits) - 1;
    let from_end = (!start & mask) as u32;
    let [second, third] = C::SIZES.classes;
    u64::from(from_end >= second) + u64::from(from_end >= third)
}

/// The shape of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    columns: u32,
    width: Width,
    keys: u64,
    /// How many bytes the payload has without those that fill its last line.
    bytes: u64,
    // The fields below follow from the fields above.
    shards: u64,
    starts: u64,
    /// The bytes of the metadata of a shard's first layer.
    stride: u64,
}

impl Shape {
    /// The shape with `columns` bits a value (1 to [`MAX_COLUMNS`]), `width` coefficients a key (64 or 128), `keys`
    /// distinct keys and `bits` bits. `None` if there is no such shape.
    pub fn new(columns: u32, width: u32, keys: u64, bits: u64) -> Option<Shape> {
        let mut shape = Shape::without_slots(columns, Width::of(width)?, keys)?;
        // Whole lines have to fit into the address space, and their bits have to be countable in 64 bits.
        let lines = bits.checked_next_multiple_of(8 * PAYLOAD_UNIT)?;
        countable(lines / 8)?;
        // Every key has a slot to itself, so there are no more keys than slots.
        let slots = (bits / 8).checked_sub(shape.bytes)? / u64::from(columns) * 8;
        let known = bits.is_multiple_of(8) && keys <= slots && (keys > 0 || bits == 0);
        shape.bytes = bits / 8;
        known.then_some(shape)
    }

    /// The shape for `keys` keys, with only the bytes that come before the slots.
    pub(super) fn without_slots(columns: u32, width: Width, keys: u64) -> Option<Shape> {
        let shards = sizing::shards(keys);
        let starts = if keys == 0 { 0 } else { width.starts(keys.div_ceil(shards)) };
        let stride = width.buckets(starts).div_ceil(BUCKETS);
        let known = (1..=MAX_COLUMNS).contains(&columns) && starts <= u64::from(u32::MAX);
        let mut shape = Shape { columns, width, keys, bytes: 0, shards, starts, stride };
        shape.bytes = shape.begin();
        known.then_some(shape)
    }

    /// The shape to expect for `keys` evenly spread keys.
    pub fn expected(columns: u32, width: u32, keys: u64) -> Option<Shape> {
        let shape = Shape::without_slots(columns, Width::of(width)?, keys)?;
        let slots = sizing::expected_slots(&shape.width, keys.div_ceil(shape.shards.max(1)));
        let metadata = sizing::expected_metadata(&shape.width, keys.div_ceil(shape.shards.max(1)));
        let each = slots.div_ceil(8).checked_mul(columns.into())?.checked_add(metadata)?.checked_add(shape.gap())?;
        let bytes = each.checked_mul(shape.shards)?.checked_add(shape.bytes)?;
        let bytes = if keys == 0 { 0 } else { bytes - shape.gap() };
        Shape::new(columns, width, keys, bytes.checked_mul(8)?)
    }

    /// This shape with `bytes` bytes instead.
    pub(super) fn with_bytes(self, bytes: u64) -> Option<Shape> {
        Shape::new(self.columns, self.width.bits, self.keys, bytes.checked_mul(8)?)
    }

    /// Bits of a value.
    #[inline]
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// Coefficients of a key.
    #[inline]
    pub fn width(&self) -> u32 {
        self.width.bits
    }

    /// How many distinct keys there are.
    #[inline]
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// How many bits the payload has without those that fill its last line.
    pub fn bits(&self) -> u64 {
        self.bytes * 8
    }

    /// How many words the payload has: whole lines of eight.
    pub fn words(&self) -> u64 {
        self.bytes.div_ceil(PAYLOAD_UNIT).max(1) * (PAYLOAD_UNIT / 8)
    }

    /// How many shards there are. A payload without keys has none, and contains nothing.
    #[inline]
    pub fn shards(&self) -> u64 {
        self.shards
    }

    /// How many slots the first layer of a shard has to start in.
    #[inline]
    pub(super) fn starts(&self) -> u64 {
        self.starts
    }

    /// The bytes of the first layer's metadata of each shard.
    #[inline]
    pub(super) fn stride(&self) -> u64 {
        self.stride
    }

    /// The word of the directory that has the sizes of a shard. The words before these have, for each shard but the
    /// first, the byte at which its slots begin.
    #[inline]
    pub(super) fn sizes_word(&self, shard: u64) -> u64 {
        (self.shards + shard).saturating_sub(1)
    }

    /// The byte at which the metadata of first layers begins.
    #[inline]
    pub(super) fn metadata(&self) -> u64 {
        (2 * self.shards).saturating_sub(1) * 8
    }

    /// The byte at which the slots of the first shard begin.
    #[inline]
    pub(super) fn begin(&self) -> u64 {
        self.metadata().saturating_add(self.shards.saturating_mul(self.stride))
    }

    /// How many zero bytes lie between two shards, so that the last rows of one shard end before the next.
    #[inline]
    pub(super) fn gap(&self) -> u64 {
        u64::from(self.width.bits / 8 * self.columns)
    }

    /// Looks through the directory of a payload. Each shard has to begin where the one before it ends, and has to have
    /// the slots and the metadata of its layers, and zeros after them. Linear in the shards.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn check(&self, words: &[AtomicU64]) -> Result<()> {
        if words.len() as u64 != self.words() {
            return Err(error!(Corrupt, "there are {} words, not {}", words.len(), self.words()));
        }
        self.check_within(words)
    }

    /// [`Shape::check`] of a payload in words that are part of another payload, with zeros up to the last word.
    ///
    /// # Errors
    /// As [`Shape::check`].
    pub fn check_within(&self, words: &[AtomicU64]) -> Result<()> {
        let held = words.len() as u64 * 8;
        if held < self.bytes {
            return Err(error!(Corrupt, "there are {held} bytes, not {}", self.bytes));
        }
        let load = |word: u64| words.get(word as usize).map_or(0, |word| word.load(Ordering::Relaxed));
        let zeros = |from: u64, to: u64| crate::bits::count_ones_in(words, from * 8, to * 8) == 0;
        let mut begin = self.begin();
        for shard in 0..self.shards {
            let is_last = shard + 1 == self.shards;
            let (next, gap) = if is_last { (self.bytes, 0) } else { (load(shard), self.gap()) };
            let word = load(self.sizes_word(shard));
            let sizes = Sizes::read(word);
            let metadata = match self.width.bits {
                64 => sizes.metadata_bytes::<u64>(),
                _ => sizes.metadata_bytes::<u128>(),
            };
            let beside = gap + sizes.list_bytes() + metadata;
            let bytes = next.checked_sub(begin).and_then(|bytes| bytes.checked_sub(beside));
            let known = next <= self.bytes
                && sizes.encode() == word
                && bytes.is_some_and(|bytes| self.are_slots(bytes, &sizes));
            if !known || !zeros(next - gap, next) {
                return Err(error!(Corrupt, "shard {shard} of the directory is not one: {sizes:?} from byte {begin}"));
            }
            begin = next;
        }
        if !zeros(self.bytes, held) {
            return Err(error!(Corrupt, "there are more than the {} bytes of the shards", self.bytes));
        }
        Ok(())
    }

    /// Whether a shard with layers of these sizes can take `bytes` bytes of slots.
    fn are_slots(&self, bytes: u64, sizes: &Sizes) -> bool {
        let columns = u64::from(self.columns);
        let (groups, least) = (bytes / columns, self.starts + sizes.slots());
        let in_order = sizes.layers.is_sorted_by(|a, b| *a > 0 || *b == 0) && (sizes.base > 0 || sizes.seed == 0);
        let most = least + 2 * u64::from(self.width.bits);
        bytes.is_multiple_of(columns) && in_order && (least.div_ceil(8)..=most.div_ceil(8)).contains(&groups)
    }
}
