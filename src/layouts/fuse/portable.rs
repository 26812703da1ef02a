//! The inner loop of batches in plain code: the specification of the others.

use super::fingerprints::{Group, Kernel};
use super::{Array, cells, fingerprint, order, scatter};
use crate::bits::ring::GROUP;

/// The kernel of plain code.
pub(super) static KERNEL: Kernel = Kernel { near: turn::<false>, far: turn::<true>, suits: |_| true };

/// One key of each group after the other, so that fetches are spread evenly over the answers.
fn turn<const FETCH: bool>(array: &Array, hashes: &[u64; GROUP], found: &mut Group, asked: &Group) -> u64 {
    let mask = cells::mask(array.shape.width);
    let mut answers = 0;
    for (i, hash) in hashes.iter().enumerate() {
        let x = order(*hash);
        let places = array.places(x, |seed| scatter(x, seed));
        if FETCH {
            array.fetch(&places);
        }
        found.bits.iter_mut().zip(array.bits(&places)).for_each(|(to, bit)| to.0[i] = bit);
        found.fingerprints.0[i] = fingerprint(places.z);
        let together = array.at_bits(asked.bits.each_ref().map(|bits| bits.0[i]));
        answers |= u64::from((together ^ asked.fingerprints.0[i]) & mask == 0) << i;
    }
    answers
}
