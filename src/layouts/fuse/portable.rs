//! The inner loop of batches in plain code: the specification of the others.

use super::fingerprints::{Group, Kernel};
use super::{Array, Places, cells, fingerprint, order, scatter};
use crate::bits::ring::{self, GROUP};

/// The kernel of plain code.
pub(super) static KERNEL: Kernel = Kernel { near: turn::<false>, far: turn::<true>, suits: |_| true };

/// One key of each group after the other, so that fetches are spread evenly over the answers.
fn turn<const FETCH: bool>(array: &Array, hashes: &[u64; GROUP], found: &mut Group, asked: &Group) -> u64 {
    let mask = cells::mask(array.shape.width);
    let mut answers = 0;
    for (i, hash) in hashes.iter().enumerate() {
        let x = order(*hash);
        let Places { bits, z } = array.places(x, |seed| scatter(x, seed));
        for (to, bit) in found.bits.iter_mut().zip(bits) {
            to.0[i] = bit;
            if FETCH {
                ring::fetch_word(array.words, (bit / 64) as usize);
            }
        }
        found.fingerprints.0[i] = fingerprint(z);
        let together = array.together(asked.bits.each_ref().map(|bits| bits.0[i]));
        answers |= u64::from((together ^ asked.fingerprints.0[i]) & mask == 0) << i;
    }
    answers
}
