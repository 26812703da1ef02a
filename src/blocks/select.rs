//! Select within a word, by plain code and by an instruction that some processors have.

/// Finds bits of words by their ranks.
pub trait Select: Copy {
    /// The place of the set bit with this rank, which counts lower set bits from 0 and is below 64. The result is 64 if
    /// there are fewer set bits.
    fn select(word: u64, rank: u32) -> u32;

    /// The set bit of a word whose rank is the place of this bit. The result is 0 if there are fewer set bits, and for
    /// 0.
    #[inline(always)]
    fn deposit(bit: u64, word: u64) -> u64 {
        1_u64.checked_shl(Self::select(word, bit.trailing_zeros())).unwrap_or(0)
    }
}

/// Selection of a bit by sums of bits within the word: [`select`].
#[derive(Clone, Copy)]
pub struct Broadword;

impl Select for Broadword {
    #[inline(always)]
    fn select(word: u64, rank: u32) -> u32 {
        select(word, rank)
    }
}

/// Selection of a bit by PDEP. Only kernels for processors that have PDEP use it. `LANES` tells the kernels for vectors
/// of four and of eight numbers apart. So each has closures of its own, which become parts of its functions.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Pdep<const LANES: usize>;

#[cfg(target_arch = "x86_64")]
impl<const LANES: usize> Select for Pdep<LANES> {
    #[inline(always)]
    fn select(word: u64, rank: u32) -> u32 {
        Self::deposit(1 << rank, word).trailing_zeros()
    }

    #[inline(always)]
    fn deposit(bit: u64, word: u64) -> u64 {
        let deposited: u64;
        // The intrinsic would stay a call here, because this function is not compiled for BMI2.
        // SAFETY: only the functions of kernels for processors with BMI2 have this type.
        unsafe {
            core::arch::asm!(
                "pdep {deposited}, {bit}, {word}",
                deposited = lateout(reg) deposited,
                bit = in(reg) bit,
                word = in(reg) word,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        deposited
    }
}

/// The place of the set bit with this rank, which counts lower set bits from 0. The result is 64 if there are fewer set
/// bits.
///
/// Sums of bits are added up byte by byte. Comparing all sums together finds the byte, and then the bit within it
/// (Vigna, "Broadword Implementation of Rank/Select Queries", 2008).
#[inline]
pub fn select(word: u64, rank: u32) -> u32 {
    let pairs = word - ((word >> 1) & 0x5555_5555_5555_5555);
    let fours = (pairs & 0x3333_3333_3333_3333) + ((pairs >> 2) & 0x3333_3333_3333_3333);
    // Byte i says how many bits are set in bytes 0 to i.
    let sums = ((fours + (fours >> 4)) & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(ONES);
    if rank >= (sums >> 56) as u32 {
        return 64;
    }
    // The number of sums that do not exceed the rank is the number of bytes before the bit's byte.
    let shift = no_greater(sums, rank) * 8;
    let before = ((sums << 8) >> shift) as u32 & 0xff;
    // Each bit of that byte becomes a byte, 0 or 1, and these are added up in the same way.
    let spread = ((word >> shift) & 0xff).wrapping_mul(ONES) & 0x8040_2010_0804_0201;
    let sums = ((spread + !HIGHS) >> 7 & ONES).wrapping_mul(ONES);
    shift + no_greater(sums, rank - before)
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// How many bytes, each below 128, do not exceed a number below 128.
#[inline(always)]
fn no_greater(bytes: u64, number: u32) -> u32 {
    let highs = ((u64::from(number) * ONES) | HIGHS).wrapping_sub(bytes) & HIGHS;
    ((highs >> 7).wrapping_mul(ONES) >> 56) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::mix;

    #[test]
    fn every_bit_is_found_by_its_rank() {
        let words = (0..2000).map(|i| mix(i) & mix(!i)).chain([0, 1, u64::MAX, 1 << 63, 0x8000_0000_0000_0001]);
        for word in words {
            let places: Vec<u32> = (0..64).filter(|bit| word >> bit & 1 == 1).collect();
            for rank in 0..64 {
                assert_eq!(select(word, rank), places.get(rank as usize).copied().unwrap_or(64), "{word:#x}: {rank}");
            }
        }
    }
}
