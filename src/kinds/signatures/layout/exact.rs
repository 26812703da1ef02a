//! The rate of one table, from its slots as they are.
//!
//! A lookup that chooses d buckets finds a signature that n of B buckets have with probability `1 - (1 - n/B)^d`. The
//! rate of a shard is the mean of that over all signatures.

use super::{MOST_SLOTS, Shape};
use crate::storage::try_vec;
use core::sync::atomic::{AtomicU64, Ordering};

/// Signatures of at most this many bits are counted one by one. Of longer ones hardly any is there twice.
const MOST_BITS: u32 = 16;

/// The exact rate of a payload. `None` if signatures are long, if there is no memory, or if the directory is forged so
/// that shards overlap.
pub fn rate(shape: &Shape, words: &[AtomicU64]) -> Option<f64> {
    let (slots, buckets) = (shape.slots(), shape.buckets());
    let (numbers, shards) = (1_u64 << shape.width(), shape.shards());
    // Only a forged directory has that many shards of a few slots.
    if shape.width() > MOST_BITS || shards > 1 && shards > 4 * slots.count / numbers {
        return None;
    }
    let mut counts: Vec<u32> = try_vec(numbers as usize).ok()?;
    let (mut all, mut left) = (0.0, shape.length());
    for shard in 0..shards {
        let Some(shard) = shape.shard_at(shard, |place| words[place].load(Ordering::Relaxed)) else {
            // Lookups in such a shard say yes.
            all += 1.0;
            continue;
        };
        left = left.checked_sub(shard.length)?;
        counts.clear();
        counts.resize(numbers as usize, 0);
        let words = shape.slot_words(words);
        for bucket in shard.first..shard.first + shard.length {
            let first = bucket * u64::from(buckets.slots);
            let mut own = [0; MOST_SLOTS];
            for i in 0..buckets.slots as usize {
                let signature = slots.get(words, first + i as u64);
                if !own[..i].contains(&signature) {
                    counts[signature as usize] += 1;
                }
                own[i] = signature;
            }
        }
        let length = shard.length as f64;
        let found = |count: &u32| 1.0 - (1.0 - f64::from(*count) / length).powi(buckets.choices as i32);
        // 0 is an empty slot, not a signature.
        let there = counts.iter().skip(1).filter(|count| **count > 0);
        all += there.map(found).sum::<f64>() / (numbers - 1) as f64;
    }
    Some(all / shards as f64)
}
