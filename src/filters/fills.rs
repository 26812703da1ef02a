//! How full the lanes of blocks are, many blocks at a time.
//!
//! Words are copied out of the atomics first and kept by their place in the block, so that everything after it is the
//! same few operations on neighbouring numbers, which the compiler turns into vector instructions on every processor.

use core::sync::atomic::{AtomicU64, Ordering};

/// Blocks that are looked at together.
pub const BLOCKS: usize = 16;

/// One number for each of the blocks.
pub type Each = [f64; BLOCKS];

/// The bits that are set in every 32-bit lane of up to [`BLOCKS`] blocks of `WORDS` words: for word w, first of its low
/// half, then of its high half. Blocks that are not there have none.
pub struct Fills<const WORDS: usize> {
    /// Of the low and of the high half of each word.
    pub lanes: [[Each; 2]; WORDS],
    /// All together.
    pub ones: u64,
}

/// The low byte of each half.
const HALVES: u64 = 0x0000_00ff_0000_00ff;

/// 2^52, to whose last bits small whole numbers are added to make them floating-point numbers.
const BIAS: f64 = 4_503_599_627_370_496.0;

impl<const WORDS: usize> Fills<WORDS> {
    /// Of as many blocks as `words` are.
    pub fn of(words: &[AtomicU64]) -> Self {
        let mut columns = [[0_u64; BLOCKS]; WORDS];
        for (i, block) in words.chunks_exact(WORDS).take(BLOCKS).enumerate() {
            for (column, word) in columns.iter_mut().zip(block) {
                column[i] = word.load(Ordering::Relaxed);
            }
        }
        let (mut lanes, mut sums) = ([[[0.0; BLOCKS]; 2]; WORDS], [0_u64; BLOCKS]);
        for (column, [low, high]) in columns.iter().zip(&mut lanes) {
            for i in 0..BLOCKS {
                // Sums of neighbours of 2, 4, 8 bits, and so on; only the lowest byte of each half is right in the end.
                let mut x = column[i];
                x -= (x >> 1) & 0x5555_5555_5555_5555;
                x = (x & 0x3333_3333_3333_3333) + ((x >> 2) & 0x3333_3333_3333_3333);
                x = (x + (x >> 4)) & 0x0f0f_0f0f_0f0f_0f0f;
                x += x >> 8;
                x = (x + (x >> 16)) & HALVES;
                sums[i] += x;
                low[i] = f64::from_bits(BIAS.to_bits() | (x & 0xff)) - BIAS;
                high[i] = f64::from_bits(BIAS.to_bits() | (x >> 32)) - BIAS;
            }
        }
        // At most 32 bits a lane: the halves do not run over.
        let ones = sums.iter().map(|sum| (sum & 0xffff_ffff) + (sum >> 32)).sum();
        Fills { lanes, ones }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::mix;
    use crate::filter::Filter;
    use crate::sizing;

    #[test]
    fn lanes_are_counted_one_by_one() {
        let words: Vec<AtomicU64> = (0..5 * 8).map(|i| AtomicU64::new(mix(i) & mix(i / 3))).collect();
        words[9].store(u64::MAX, Ordering::Relaxed);
        let fills = Fills::<8>::of(&words);
        let mut ones = 0;
        for (i, word) in words.iter().enumerate() {
            let word = word.load(Ordering::Relaxed);
            assert_eq!(fills.lanes[i % 8][0][i / 8], f64::from((word as u32).count_ones()));
            assert_eq!(fills.lanes[i % 8][1][i / 8], f64::from(((word >> 32) as u32).count_ones()));
            ones += u64::from(word.count_ones());
        }
        assert_eq!(fills.ones, ones);
        assert!(fills.lanes.as_flattened().iter().all(|lane| lane[5..].iter().all(|ones| *ones == 0.0)));
    }

    /// Of filters whose blocks are not a multiple of what is looked at together.
    #[test]
    fn rates_of_filters_are_means_over_their_blocks() -> crate::Result<()> {
        let mut blocked = crate::filters::Blocked::with_capacity(1000, 0.01)?;
        let mut split = crate::filters::SplitBlock::with_capacity(1000, 0.01)?;
        for i in 0..1000 {
            blocked.insert_u64(i)?;
            split.insert_u64(i)?;
        }
        let lanes = |filter: &dyn Filter| -> Vec<u32> {
            let words = filter.base().words().shared().iter().map(|word| word.load(Ordering::Relaxed));
            let bits = filter.base().geometry().bits as usize;
            words.flat_map(|word| [word as u32, (word >> 32) as u32]).take(bits / 32).collect()
        };
        let hashes = blocked.base().geometry().hashes;
        let all = lanes(&blocked);
        let rate = |block: &[u32]| sizing::blocked::from_fill(block.try_into().unwrap(), hashes);
        let mean = all.chunks_exact(16).map(rate).sum::<f64>() / (all.len() / 16) as f64;
        assert!((blocked.false_positive_rate() / mean - 1.0).abs() < 1e-12);
        let all = lanes(&split);
        let rate = |block: &[u32]| sizing::split_block::from_fill(block.try_into().unwrap());
        let mean = all.chunks_exact(8).map(rate).sum::<f64>() / (all.len() / 8) as f64;
        assert!((split.false_positive_rate() / mean - 1.0).abs() < 1e-12);
        Ok(())
    }
}
