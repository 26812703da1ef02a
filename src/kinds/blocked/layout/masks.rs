//! The sets of lanes that keys have, as masks of sixteen bits.

use super::MAX_HASHES;
use core::cell::UnsafeCell;
use std::sync::Once;

/// Where the list for each number of lanes starts among all masks.
const STARTS: [usize; MAX_HASHES as usize + 2] = {
    // C(8, i), how many subsets of each size a half has.
    let subsets = [1, 8, 28, 56, 70, 56, 28, 8, 1];
    let (mut starts, mut hashes) = ([0; MAX_HASHES as usize + 2], 0);
    while hashes <= MAX_HASHES as usize {
        let (more, fewer) = (hashes.div_ceil(2), hashes / 2);
        let halves = if more == fewer { 1 } else { 2 };
        starts[hashes + 1] = starts[hashes] + halves * subsets[more] * subsets[fewer];
        hashes += 1;
    }
    starts
};

/// How many masks there are.
const COUNT: usize = STARTS[MAX_HASHES as usize + 1];

/// Memory for all masks. It is zeros until the masks are computed, so a program's file does not contain these 71 kB.
struct Masks(UnsafeCell<[u16; COUNT]>);

// SAFETY: threads write the masks only inside `WORKED_OUT`, and read them only after it.
unsafe impl Sync for Masks {}

static MASKS: Masks = Masks(UnsafeCell::new([0; COUNT]));
/// Not in one value with the masks, because a `Once` is not all zeros.
static WORKED_OUT: Once = Once::new();

/// The masks for keys of k = `hashes` lanes, at most [`MAX_HASHES`]: all with ceil(k/2) bits in one byte and floor(k/2)
/// in the other, in increasing order. The first call computes the masks for all numbers of lanes, which takes
/// microseconds.
#[inline]
pub fn masks(hashes: u32) -> &'static [u16] {
    // SAFETY: `Once` calls this function once, and no thread reads the masks before it has returned.
    WORKED_OUT.call_once(|| work_out(unsafe { &mut *MASKS.0.get() }));
    // SAFETY: the masks are complete, and nobody writes them again.
    let all = unsafe { &*MASKS.0.get() };
    let hashes = hashes.min(MAX_HASHES) as usize;
    &all[STARTS[hashes]..STARTS[hashes + 1]]
}

#[cold]
fn work_out(all: &mut [u16; COUNT]) {
    // Sorts bytes by how many ones they have. Each list is in increasing order.
    let (mut bytes, mut lengths) = ([[0_u16; 70]; 9], [0; 9]);
    for byte in 0..256_u16 {
        let ones = byte.count_ones() as usize;
        bytes[ones][lengths[ones]] = byte;
        lengths[ones] += 1;
    }
    for hashes in 0..=MAX_HASHES as usize {
        let mut list = all[STARTS[hashes]..STARTS[hashes + 1]].iter_mut();
        for high in 0..256_u16 {
            let ones = high.count_ones() as usize;
            if ones == hashes / 2 || ones == hashes.div_ceil(2) {
                let lows = &bytes[hashes - ones][..lengths[hashes - ones]];
                lows.iter().zip(list.by_ref()).for_each(|(low, mask)| *mask = high << 8 | low);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_all_that_divide_evenly_between_the_halves() {
        for hashes in 1..=MAX_HASHES {
            let even = |mask: u32| {
                let (low, high) = ((mask & 0xff).count_ones(), (mask >> 8).count_ones());
                low + high == hashes && low.abs_diff(high) <= 1
            };
            let expected: Vec<u16> = (0..1 << 16).filter(|mask| even(*mask)).map(|mask| mask as u16).collect();
            assert_eq!(masks(hashes), expected, "{hashes}");
        }
    }
}
