//! Sums as minisketch writes them: each has as many bits as an element, the lowest first, without gaps. The words hold
//! the bytes in little-endian order.

/// This many sums of b bits take b whole words.
pub(super) const GROUP: usize = 64;

/// Adds the sums to those in the words.
pub(super) fn add(sums: &[u64], bits: u32, words: &mut [u64]) {
    let (mut held, mut waiting, mut words) = (0, 0, words.iter_mut());
    for &sum in sums {
        held |= sum << waiting;
        waiting += bits;
        if waiting >= u64::BITS {
            if let Some(word) = words.next() {
                *word ^= held;
            }
            waiting -= u64::BITS;
            held = if waiting == 0 { 0 } else { sum >> (bits - waiting) };
        }
    }
    if let (1.., Some(word)) = (waiting, words.next()) {
        *word ^= held;
    }
}

/// The sums in the words.
pub(super) fn sums(bits: u32, mut words: impl Iterator<Item = u64>) -> impl Iterator<Item = u64> {
    let (mut held, mut waiting) = (0_u128, 0);
    core::iter::from_fn(move || {
        if waiting < bits {
            held |= u128::from(words.next()?) << waiting;
            waiting += u64::BITS;
        }
        let sum = held as u64 & (u64::MAX >> (u64::BITS - bits));
        held >>= bits;
        waiting -= bits;
        Some(sum)
    })
}
