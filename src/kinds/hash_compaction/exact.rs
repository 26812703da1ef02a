//! The rate of one small table, from its slots as they are: every way that a key can take is followed to its end.

use crate::blocks::slots::Slots;
use crate::order::sort;
use crate::storage::try_vec;
use core::sync::atomic::AtomicU64;

/// All ways together have at most this many steps, which take some milliseconds.
const MOST_STEPS: u64 = 1 << 22;

/// The most slots.
const MOST_SLOTS: u64 = 1 << 16;

/// The exact rate of a table. `None` if its ways are too many, or if there is no memory.
pub fn rate(slots: Slots, words: &[AtomicU64]) -> Option<f64> {
    let count = slots.count;
    if count > MOST_SLOTS {
        return None;
    }
    let mut signatures: Vec<u64> = try_vec(count as usize).ok()?;
    signatures.extend((0..count).map(|slot| slots.get(words, slot)));
    let mut distinct: Vec<u64> = try_vec(count as usize).ok()?;
    distinct.extend(signatures.iter().filter(|signature| **signature != 0));
    let empty = count - distinct.len() as u64;
    sort(&mut distinct);
    distinct.dedup();
    // A lookup in a full table visits every slot.
    if empty == 0 || distinct.is_empty() {
        return Some(distinct.len() as f64 / slots.greatest() as f64);
    }
    // On average a way takes this many slots to reach the first empty one.
    let steps = (count + 1) / (empty + 1) + 1;
    if steps * count * (count - 1) > MOST_STEPS {
        return None;
    }
    let mut ranks: Vec<u32> = try_vec(count as usize).ok()?;
    let rank = |signature: &u64| match signature {
        0 => 0,
        signature => 1 + distinct.partition_point(|other| other < signature) as u32,
    };
    ranks.extend(signatures.iter().map(rank));
    let mut met_by: Vec<u32> = try_vec(distinct.len() + 1).ok()?;
    met_by.resize(distinct.len() + 1, 0);
    let (mut way, mut met, count) = (0, 0_u64, count as usize);
    for first in (0..count).filter(|first| ranks[*first] != 0) {
        for step in 1..count {
            // A signature is found once on each way.
            way += 1;
            let mut slot = first;
            while ranks[slot] != 0 {
                let last = &mut met_by[ranks[slot] as usize];
                met += u64::from(*last != way);
                *last = way;
                slot += step;
                if slot >= count {
                    slot -= count;
                }
                // Only a forged number of slots is not prime. Its ways may miss every empty slot.
                if slot == first {
                    break;
                }
            }
        }
    }
    let ways = count as f64 * (count - 1) as f64;
    Some(met as f64 / ways / slots.greatest() as f64)
}
