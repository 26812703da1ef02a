//! The inner loop of batches in plain code, which specifies the other kernels.

use super::kernel::{Group, Kernel, Turns};
use super::{Array, cells};
use crate::batch::ring::{self, GROUP};
use crate::blocks::mixing::{fingerprint, order, scatter};
use core::ops::Range;

/// The kernel of plain code.
pub(super) static KERNEL: Kernel = Kernel {
    three: Turns { near: turn::<3, false>, far: turn::<3, true> },
    four: Turns { near: turn::<4, false>, far: turn::<4, true> },
    suits: |_| true,
};

/// Finds one key of a group, then answers for one key of the other group, so that fetches are spread evenly over the
/// answers.
fn turn<const K: usize, const FETCH: bool>(
    array: &Array,
    hashes: &[u64; GROUP],
    found: &mut Group,
    asked: &Group,
) -> u64 {
    let mask = cells::mask(array.shape.width);
    let mut answers = 0;
    for i in 0..GROUP {
        find::<K>(array, hashes, found, i..i + 1);
        if FETCH {
            found.bits[..K].iter().for_each(|bits| ring::fetch_word(array.words, (bits.0[i] / 64) as usize));
        }
        let together = array.at_bits::<K>(core::array::from_fn(|cell| asked.bits[cell].0[i]));
        answers |= u64::from((together ^ asked.fingerprints.0[i]) & mask == 0) << i;
    }
    answers
}

/// Finds the cells of some keys of a group.
#[inline(always)]
pub(super) fn find<const K: usize>(array: &Array, hashes: &[u64; GROUP], found: &mut Group, keys: Range<usize>) {
    for i in keys {
        let x = order(hashes[i]);
        let places = array.places::<K>(x, |seed| scatter(x, seed));
        found.bits.iter_mut().zip(array.bits(&places)).for_each(|(to, bit)| to.0[i] = bit);
        found.fingerprints.0[i] = fingerprint(places.z);
    }
}
