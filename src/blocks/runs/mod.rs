//! The rank-and-select quotient filter with counters. Such a filter is a hash table of remainders with linear probing,
//! in sorted order, with two bits of metadata a slot.
//!
//! Pandey, Bender, Johnson and Patro, "A General-Purpose Counting Filter: Making Every Bit Count", 2017.
//! The kind `quotient` says how a hash becomes a fingerprint, and a fingerprint becomes a quotient and a remainder.
//!
//! **Runs.** The remainders of one quotient are a run: slots one after the other, ascending. Runs lie in the order of
//! their quotients. Each begins in the slot of its quotient or, if that slot is taken, right after the run before it.
//! After the last slot comes the first one again, but positions are counted on past the last slot, so that they stay
//! ordered.
//!
//! **Metadata.** Bit q of *occupieds* says that quotient q has a run, and bit p of *runends* says that a run ends in
//! slot p. So the j-th run end is that of the j-th occupied quotient, and rank and select find one from the other. Each
//! block of 64 slots has an *offset*, so that ranks are counted from the block on. The offset says how many slots, from
//! the block's first on, runs of earlier quotients take. An offset of [`FAR`] stands for that many or more, and is
//! counted when it is needed.
//!
//! **Bytes.** A block is its offset, 2 bytes; its occupieds and its runends, 8 bytes each; and 64 remainders of r bits,
//! the first in the lowest bits. That is 18 + 8 r bytes, one block after the other. Zeros fill the last line. Then
//! comes a line of state: its first word is how many slots are taken, and its second word how many fingerprints there
//! are.
//!
//! **Counts.** In a run each fingerprint has one code of its remainder and its count ([`code`]).
//!
//! The fingerprints and their counts determine the bytes. A slot that is not taken is zero.

mod change;
mod check;
pub mod code;
mod kernel;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod read;
mod stream;

pub use change::{Editor, Full};
pub use kernel::{Kernel, LINES};
#[cfg(all(target_arch = "x86_64", feature = "avx2"))]
pub(crate) use lanes::avx2 as four;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
pub(crate) use lanes::avx512 as eight;
pub use read::{Bytes, Reader};
pub use stream::{Combine, Entries, Writer, combined, needs};

use crate::bits::reduce;
#[cfg(target_arch = "x86_64")]
use crate::blocks::select::{Broadword, Pdep};
use crate::format::PAYLOAD_UNIT;
use crate::simd::{self, Instructions};

/// The inner loops for an instruction set.
pub fn kernel(instructions: Instructions) -> &'static Kernel {
    match instructions.kernel() {
        #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
        simd::Kernel::Avx2 if instructions.deposits_quickly() => const { &four::kernel::<Pdep<4>>() },
        #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
        simd::Kernel::Avx2 => const { &four::kernel::<Broadword>() },
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        simd::Kernel::Avx512 => const { &eight::kernel::<Pdep<8>>() },
        _ => &kernel::PORTABLE,
    }
}

/// All inner loops that this processor can run, plain code last. Tests compare them.
pub fn kernels() -> impl Iterator<Item = &'static Kernel> {
    #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
    let slow = simd::choose(simd::Kernel::Avx2).ok().map(|_| const { &four::kernel::<Broadword>() });
    #[cfg(not(all(target_arch = "x86_64", feature = "avx2")))]
    let slow = None;
    slow.into_iter().chain(simd::available().map(kernel))
}

/// The least and the greatest number of bits of a remainder. With one bit a counter would have no digits.
pub const REMAINDER_BITS: (u32, u32) = (2, 32);

/// The greatest range. Hashes have 64 bits, so reduction to a range well below 2^64 is even.
pub const MAX_RANGE: u64 = 1 << 62;

/// How many slots a block has. A table has whole blocks.
pub const BLOCK: u64 = 64;

/// How many slots of a table may be taken: 19 of 20. In a fuller table insertions move many slots.
pub fn limit(slots: u64) -> u64 {
    (u128::from(slots) * 19 / 20) as u64
}

/// The bits of a block, for remainders of `remainder_bits` bits.
pub fn block_bits(remainder_bits: u32) -> u64 {
    BLOCK * (u64::from(remainder_bits) + 2) + 16
}

/// The offset that stands for itself and for all greater ones.
pub const FAR: u64 = 0xffff;

/// How many bits eight bytes have from any bit of their first byte on.
const WINDOW: u32 = 57;

/// How many bytes of a block come before its remainders.
pub(crate) const HEAD: usize = 18;

/// The shape of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    slots: u64,
    remainder_bits: u32,
    /// How many remainders eight bytes have from any bit of their first byte on, and a number with the lowest bit of
    /// each.
    pub(crate) lanes: u32,
    pub(crate) ones: u64,
}

impl Table {
    /// A table of `slots` slots, a multiple of 64, with remainders of `remainder_bits` bits. `None` if there is no such
    /// table.
    pub fn new(slots: u64, remainder_bits: u32) -> Option<Table> {
        let (least, most) = REMAINDER_BITS;
        let is_one = (least..=most).contains(&remainder_bits)
            && slots > 0
            && slots.is_multiple_of(BLOCK)
            && slots <= MAX_RANGE >> remainder_bits;
        let lanes = WINDOW / remainder_bits.max(1);
        let ones = (0..lanes).fold(0, |ones, lane| ones | 1 << (lane * remainder_bits));
        is_one.then_some(Table { slots, remainder_bits, lanes, ones })
    }

    /// How many slots there are.
    #[inline]
    pub fn slots(&self) -> u64 {
        self.slots
    }

    /// The bits of a remainder.
    #[inline]
    pub fn remainder_bits(&self) -> u32 {
        self.remainder_bits
    }

    /// How many slots may be taken.
    #[inline]
    pub fn limit(&self) -> u64 {
        limit(self.slots)
    }

    /// The range of fingerprints: all are below this number.
    #[inline]
    pub fn range(&self) -> u64 {
        self.slots << self.remainder_bits
    }

    /// The fingerprint of a hash.
    #[inline]
    pub fn fingerprint(&self, hash: u64) -> u64 {
        reduce(hash, self.range())
    }

    /// Quotient and remainder of a fingerprint.
    #[inline]
    pub fn split(&self, fingerprint: u64) -> (u64, u64) {
        (fingerprint >> self.remainder_bits, fingerprint & self.mask())
    }

    /// The greatest remainder.
    #[inline]
    pub fn mask(&self) -> u64 {
        (1 << self.remainder_bits) - 1
    }

    /// How many blocks there are.
    #[inline]
    pub fn blocks(&self) -> u64 {
        self.slots / BLOCK
    }

    /// The bits of all blocks.
    pub fn bits(&self) -> u64 {
        self.blocks() * block_bits(self.remainder_bits)
    }

    /// The bytes of a payload: the blocks, and the line of state.
    pub fn payload_bytes(&self) -> u64 {
        (self.bits() / 8).next_multiple_of(PAYLOAD_UNIT) + PAYLOAD_UNIT
    }

    /// The first word of the state.
    fn state(&self) -> usize {
        (self.payload_bytes() - PAYLOAD_UNIT) as usize / 8
    }

    /// The word with the first byte of a fingerprint's block.
    #[inline]
    pub fn first_word(&self, fingerprint: u64) -> usize {
        self.block(fingerprint >> self.remainder_bits) / 8
    }

    /// The bytes of a block.
    #[inline]
    pub(crate) fn stride(&self) -> usize {
        HEAD + 8 * self.remainder_bits as usize
    }

    /// The first byte of a position's block. Positions past the last slot go on at the first slot.
    #[inline]
    fn block(&self, position: u64) -> usize {
        let block = position / BLOCK;
        // Only positions past the last slot, which are few, need the division.
        let block = if block < self.blocks() { block } else { block % self.blocks() };
        block as usize * self.stride()
    }

    /// Whether each of the first `slots` slots of a window, two or more, is less than the slot after it.
    ///
    /// Take a slot x and the next slot y, lane by lane. `x | high` less the low bits of y keeps its high bit unless the
    /// subtraction borrows. So the high bit is lost exactly if the low bits of x are less than those of y.
    #[inline(always)]
    fn ascend(&self, window: u64, slots: u32) -> bool {
        let highs = self.ones << (self.remainder_bits - 1);
        let (x, y) = (window, window >> self.remainder_bits);
        let low = (x | highs).wrapping_sub(y & !highs);
        let less = !x & y | !(x ^ y) & !low;
        !less & highs & ((1 << ((slots - 1) * self.remainder_bits)) - 1) == 0
    }

    /// The first bit, among all, of the remainders of a position's block.
    fn first_remainder(&self, position: u64) -> usize {
        (self.block(position) + HEAD) * 8
    }

    /// The table of the same range with `slots` slots, for a resize. `None` if there is no such table.
    pub fn with_slots(&self, slots: u64) -> Option<Table> {
        let all = REMAINDER_BITS.0..=REMAINDER_BITS.1;
        let mut same = all.filter_map(|bits| Table::new(slots, bits)).filter(|table| table.range() == self.range());
        same.next()
    }
}
