//! Lookups: where the coefficients of a key lie, and what the key's slots give.

use super::metadata::{BUCKETS, LAYERS, LISTED, Sizes, base_layer};
use super::query;
use super::row::{Coefficients, bumped_hash, bumped_scatter};
use super::shape::{Shape, class};
use crate::batch::ring;
use crate::batch::shards::place;
use crate::bits::{self, reduce};
use crate::blocks::{Layout, View};
use core::cmp::Ordering::{Equal, Greater, Less};
use core::hint::select_unpredictable;
use core::sync::atomic::{AtomicU64, Ordering};

/// The array of a payload, for lookups.
#[derive(Clone, Copy)]
pub struct Array<'a> {
    shape: Shape,
    words: &'a [AtomicU64],
}

/// The coefficients of a key, and where they lie.
#[derive(Clone, Copy, Default)]
pub(super) struct Row<C> {
    /// The byte at which the first group with a coefficient begins.
    pub byte: u64,
    /// In which of its eight slots the coefficients start.
    pub shift: u32,
    pub coefficients: C,
}

impl<'a> Array<'a> {
    /// The array of this shape in `words`. If `words` has fewer words than the shape, the missing bytes are zero.
    #[inline]
    pub fn new(shape: Shape, words: &'a [AtomicU64]) -> Array<'a> {
        Array { shape, words }
    }

    #[inline(always)]
    pub(super) fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(super) fn words(&self) -> &'a [AtomicU64] {
        self.words
    }

    /// The array for programs that look keys up for themselves. Such a program checks every place that it reads.
    pub(super) fn view(&self) -> View<'a> {
        let shape = &self.shape;
        let (columns, width) = (shape.columns().into(), shape.width().into());
        let words =
            [shape.shards(), columns, width, shape.starts(), shape.stride(), shape.begin(), shape.bits() / 8, 0];
        View { layout: Layout::Ribbon, payload: self.words, words, table: &[] }
    }

    #[inline(always)]
    fn word(&self, word: u64) -> u64 {
        self.words.get(word as usize).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// The eight bytes from `byte` on. Missing bytes are zero.
    #[inline(always)]
    fn read(&self, byte: u64) -> u64 {
        if byte < (self.words.len() as u64 * 8).saturating_sub(7) {
            return bits::read_unaligned(self.words, byte);
        }
        self.word(byte / 8) >> (8 * (byte % 8))
    }

    /// The two bits of metadata of a bucket, in metadata that begins at `byte`.
    #[inline(always)]
    fn threshold(&self, byte: u64, bucket: u64) -> u64 {
        self.word(byte / 8) >> (8 * (byte % 8) + 2 * (bucket % BUCKETS)) & 3
    }

    #[inline(always)]
    fn row<C: Coefficients>(&self, begin: u64, slot: u64, coefficients: C) -> Row<C> {
        let byte = begin.wrapping_add((slot / 8).wrapping_mul(self.shape.columns().into()));
        Row { byte, shift: slot as u32 % 8, coefficients }
    }

    /// The row of a key. `x` is the key's order, and `z` is its scattered hash. Without shards the row means nothing.
    #[inline(always)]
    pub(super) fn find<C: Coefficients>(&self, x: u64, z: u64) -> Row<C> {
        let (shard, how_far) = place(x, self.shape.shards());
        // This word is read for shard 0 too: if there are few shards, the processor cannot guess whether this is the
        // first.
        let begin = self.word(shard.saturating_sub(1));
        let begin = select_unpredictable(shard == 0, self.shape.begin(), begin);
        let start = (how_far * self.shape.starts()) >> 32;
        let bucket = start >> C::SIZES.bucket_bits;
        let metadata = self.shape.metadata() + shard * self.shape.stride() + bucket / BUCKETS;
        if class::<C>(start) < self.threshold(metadata, bucket) {
            return self.row(begin, start, C::of(z));
        }
        self.find_bumped(shard, begin, x, z)
    }

    /// The row of a key that was bumped from the first layer.
    #[inline(never)]
    pub(super) fn find_bumped<C: Coefficients>(&self, shard: u64, begin: u64, x: u64, z: u64) -> Row<C> {
        let sizes = Sizes::read(self.word(self.shape.sizes_word(shard)));
        let is_last = shard + 1 == self.shape.shards();
        let end = match is_last {
            true => self.shape.bits() / 8,
            false => self.word(shard).wrapping_sub(self.shape.gap()),
        };
        let (mut first, mut metadata) = (self.shape.starts(), end);
        for layer in 0..LAYERS {
            let starts = sizes.layers[layer];
            if starts == 0 {
                break;
            }
            let hash = bumped_hash(x, z, layer as u32 + 1);
            let start = reduce(hash, starts);
            let bucket = start >> C::SIZES.bucket_bits;
            let byte = metadata.wrapping_sub(1 + bucket / BUCKETS);
            if class::<C>(start) < self.threshold(byte, bucket) {
                return self.row(begin, first + start, C::of(bumped_scatter(hash)));
            }
            first += starts;
            metadata = metadata.wrapping_sub(C::SIZES.buckets(starts).div_ceil(BUCKETS));
        }
        if sizes.seed == LISTED {
            return match self.search(metadata.wrapping_sub(sizes.list_bytes()), sizes.base, x, z) {
                Some(i) => self.row(begin, first + C::WIDTH as u64 + i, C::of(0)),
                None => Row::default(),
            };
        }
        if sizes.base == 0 {
            return Row::default();
        }
        let hash = bumped_hash(x, z, base_layer(sizes.seed));
        self.row(begin, first + reduce(hash, sizes.base), C::of(bumped_scatter(hash)))
    }

    /// The number of a key among the listed keys. The list begins at `byte`.
    fn search(&self, byte: u64, keys: u64, x: u64, z: u64) -> Option<u64> {
        let (mut low, mut high) = (0, keys);
        while low < high {
            let middle = low + (high - low) / 2;
            let at = byte.wrapping_add(16 * middle);
            let there = (self.read(at), self.read(at.wrapping_add(8)));
            match there.cmp(&(x, z)) {
                Less => low = middle + 1,
                Greater => high = middle,
                Equal => return Some(middle),
            }
        }
        None
    }

    /// Asks for the cache lines of a row.
    #[inline(always)]
    pub(super) fn fetch<C: Coefficients>(&self, row: &Row<C>) {
        let length = C::GROUPS as u64 * u64::from(self.shape.columns());
        // Every row takes the same number of fetches, because the processor cannot guess in how many lines a row lies.
        for byte in (0..length).step_by(64).chain([length - 1]) {
            ring::fetch_word(self.words, (row.byte.saturating_add(byte) / 8) as usize);
        }
    }

    /// The first byte of a row, if the words hold all groups of the row and `room` bytes after them.
    #[inline(always)]
    pub(super) fn bytes_of<C: Coefficients>(&self, row: &Row<C>, room: u64) -> Option<*const u8> {
        let length = C::GROUPS as u64 * u64::from(self.shape.columns()) + room;
        let last = (self.words.len() as u64 * 8).checked_sub(length)?;
        (row.byte <= last).then(|| self.words.as_ptr().cast::<u8>().wrapping_add(row.byte as usize))
    }

    /// Eight columns, from `first` on, of what the slots of a row give, a byte a column.
    #[inline(always)]
    pub(super) fn columns<C: Coefficients>(&self, row: &Row<C>, first: u32) -> u64 {
        let byte = row.byte.wrapping_add(first.into());
        let columns = u64::from(self.shape.columns());
        let last = byte.wrapping_add((C::GROUPS as u64 - 1) * columns);
        let sum = if byte <= last && last < (self.words.len() as u64 * 8).saturating_sub(7) {
            let bytes = self.words.as_ptr().cast::<u8>();
            query::sum(row.coefficients, row.shift, |group| {
                // SAFETY: `last + 8` is at most the length of the words in bytes, and every group begins at `last` or
                // before. Payloads do not change once they are made (`bits::read_unaligned`).
                unsafe { bytes.add((byte + group as u64 * columns) as usize).cast::<u64>().read_unaligned() }
            })
        } else {
            query::sum(row.coefficients, row.shift, |group| self.read(byte.wrapping_add(group as u64 * columns)))
        };
        query::parities(sum)
    }

    /// What the slots of a row give. The bits above the columns mean nothing.
    #[inline(always)]
    pub(super) fn together<C: Coefficients>(&self, row: &Row<C>) -> u128 {
        let mut value = 0;
        for first in (0..self.shape.columns()).step_by(8) {
            value |= u128::from(query::bits(self.columns(row, first))) << first;
        }
        value
    }

    /// The value that was given for a key. `x` is the key's order, and `z` is its scattered hash ([`Equations`]). A key
    /// that was given no value has an arbitrary one. `None` if no key was given a value.
    ///
    /// [`Equations`]: super::Equations
    #[inline]
    pub fn value(&self, x: u64, z: u64) -> Option<u128> {
        if self.shape.shards() == 0 {
            return None;
        }
        let value = match self.shape.width() {
            64 => self.together(&self.find::<u64>(x, z)),
            _ => self.together(&self.find::<u128>(x, z)),
        };
        Some(value & (u128::MAX >> (128 - self.shape.columns())))
    }
}
