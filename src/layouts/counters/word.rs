//! Sixteen counters of four bits in a 64-bit word, the first in the lowest bits: what is done to all of them at once.

/// Bits of a counter.
pub const BITS: u64 = 4;
/// Counters in a word.
pub const IN_WORD: u64 = 64 / BITS;
/// The greatest value of a counter.
pub const GREATEST: u64 = (1 << BITS) - 1;

/// The lowest bit of each counter.
const LOWEST: u64 = 0x1111_1111_1111_1111;
/// Every second counter, which so has as much room above it.
const EVEN: u64 = 0x0f0f_0f0f_0f0f_0f0f;
/// The bit above each of these.
const ABOVE: u64 = 0x1010_1010_1010_1010;

/// How many counters are not 0.
#[inline]
pub fn taken(word: u64) -> u64 {
    let pairs = word | word >> 1;
    u64::from(((pairs | pairs >> 2) & LOWEST).count_ones())
}

/// How many counters have their greatest value.
#[inline]
pub fn saturated(word: u64) -> u64 {
    let pairs = word & word >> 1;
    u64::from((pairs & pairs >> 2 & LOWEST).count_ones())
}

/// The sums of the counters, at most their greatest value.
#[inline]
pub fn sums(a: u64, b: u64) -> u64 {
    of_halves(a, b, |a, b| {
        let sums = a + b;
        sums | ones_below(sums & ABOVE)
    })
}

/// The smaller of each two counters.
#[inline]
pub fn minima(a: u64, b: u64) -> u64 {
    of_halves(a, b, |a, b| {
        // Nothing is borrowed from the counter above.
        let b_is_smaller = ones_below(((a | ABOVE) - b) & ABOVE);
        b & b_is_smaller | a & !b_is_smaller
    })
}

/// Works on every second counter at once, and then on the others.
#[inline]
fn of_halves(a: u64, b: u64, work: impl Fn(u64, u64) -> u64) -> u64 {
    work(a & EVEN, b & EVEN) & EVEN | (work(a >> BITS & EVEN, b >> BITS & EVEN) & EVEN) << BITS
}

/// All bits of the counters below these bits of [`ABOVE`].
#[inline]
fn ones_below(above: u64) -> u64 {
    above - (above >> BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::mix;

    fn counters(word: u64) -> impl Iterator<Item = u64> {
        (0..IN_WORD).map(move |i| word >> (BITS * i) & GREATEST)
    }

    fn word(counters: impl Iterator<Item = u64>) -> u64 {
        counters.enumerate().map(|(i, counter)| counter << (BITS * i as u64)).sum()
    }

    #[test]
    fn words_agree_with_their_counters() {
        // Every pair of values stands beside every other somewhere.
        let values = (0..4000).map(mix).chain([0, u64::MAX, LOWEST, EVEN, ABOVE]).collect::<Vec<_>>();
        for (a, b) in values.iter().zip(values.iter().rev()).map(|(a, b)| (*a, *b)) {
            assert_eq!(taken(a), counters(a).filter(|counter| *counter > 0).count() as u64, "{a:x}");
            assert_eq!(saturated(a), counters(a).filter(|counter| *counter == GREATEST).count() as u64, "{a:x}");
            let pairs = || counters(a).zip(counters(b));
            assert_eq!(sums(a, b), word(pairs().map(|(a, b)| (a + b).min(GREATEST))), "{a:x} {b:x}");
            assert_eq!(minima(a, b), word(pairs().map(|(a, b)| a.min(b))), "{a:x} {b:x}");
        }
    }
}
