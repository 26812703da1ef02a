//! Payloads for programs that compute on them themselves.

use super::ScatteredBits;
use core::sync::atomic::AtomicU64;

/// How a payload is laid out, if the layout has a name: then programs may compute on the payload themselves. The
/// numbers are those of the C API, whose documentation says what the eight words of a [`View`] are for each layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Layout {
    /// Blocks of 256 bits, a bit in each of eight lanes: version 1 of the kind `split_block`. Words: blocks.
    SplitBlock = 1,
    /// Blocks of 512 bits, with a bit in each of some of sixteen lanes: version 1 of the kind `blocked`. Words: blocks,
    /// the bits that a key sets.
    Blocked = 2,
    /// Blocks of `Blocked`, two for each key, each with half of the key's bits: the kind `blocked` with `blocks` = 2.
    /// Words: blocks, the bits that a key sets in both.
    TwoBlocks = 3,
    /// Bits anywhere, one for each multiple of a hash: the kind `bloom` with the derivation `remix`. Words: the bits
    /// that a probe ranges over, the bits from one probe's range to the next one's, and the bits that a key sets.
    Bloom = 4,
    /// Shards of cells, three or four of which give a fingerprint: the kind `fuse`. Words: shards, bits of a cell,
    /// cells of a key, cells, the first word of the directory; of the only shard, how many cells a key may begin in,
    /// the length of a segment, and the seed in both halves. These are 0 if there are several shards, or if the entry
    /// of the only one is wrong.
    Fuse = 5,
    /// Buckets of fingerprints, where a key may be in either of two buckets: the kind `cuckoo` without semi-sorting.
    /// Words: buckets, slots of a bucket, bits of a fingerprint; how many slots a window of at most 64 bits has, the
    /// lowest bits of the slots of a window, and 1 if a bucket lies in the eight bytes from the one in which it begins.
    Cuckoo = 6,
    /// Slots, a run of which gives a fingerprint: the kind `ribbon`. Words: shards, bits of a slot, coefficients of a
    /// key, slots of a shard's first layer, bytes of the metadata of that layer, the byte at which the slots of the
    /// first shard begin, and the bytes of the payload without those that fill its last line.
    Ribbon = 7,
    /// The cells of `fuse`, three of which give a key's value and the key's check bits: maps of the solver "fuse".
    /// Words: those of `Fuse`, but the bits of a value instead of the cells of a key.
    FuseValues = 8,
    /// The slots of `ribbon`, a run of which gives a key's value and the key's check bits: maps of the solver "ribbon".
    /// Words: those of `Ribbon`, and the bits of a value.
    RibbonValues = 9,
}

impl Layout {
    /// Whether a program may insert keys itself.
    pub fn is_insertable(self) -> bool {
        matches!(self, Layout::SplitBlock | Layout::Blocked | Layout::TwoBlocks | Layout::Bloom)
    }
}

/// A payload of a named layout.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The layout.
    pub layout: Layout,
    /// All that a lookup may read.
    pub payload: &'a [AtomicU64],
    /// The words that are listed with the layout.
    pub words: [u64; 8],
    /// The lane masks of keys, for a layout whose keys use the lanes of one mask; otherwise empty.
    pub table: &'static [u16],
}

impl<'a> View<'a> {
    /// Bits that lie anywhere in a payload.
    pub(crate) fn of_bits(bits: &ScatteredBits, payload: &'a [AtomicU64]) -> View<'a> {
        let words = [bits.range, bits.stride, bits.hashes.into(), 0, 0, 0, 0, 0];
        View { layout: Layout::Bloom, payload, words, table: &[] }
    }
}
