//! How large the levels are, and how often they mislead.
//!
//! Level i of an edge has the keys of the nodes that are i hops away over that edge. With n keys a node and f times as
//! many nodes at each further hop these are n f^(i - 1) keys. Rhea and Kubiatowicz see deep levels saturate first;
//! simulations say that the fill of the last level should stay below 0.3. So levels are sized for that fill, and not
//! for the fill of 0.5 at which a filter alone is smallest. A network that is a little larger than expected then costs
//! little accuracy.

use super::MAX_HASHES;
use crate::sizing::{exp, ln, ln_1p_minus};

/// The greatest fill of the last level for which levels are sized.
pub const FILL: f64 = 0.3;

/// The most keys that a level is sized for.
const MOST_KEYS: f64 = (1_u64 << 56) as f64;
/// The most bits of a level.
const MOST_BITS: f64 = (1_u64 << 60) as f64;

/// The keys at this level, the first being 1, of an edge in a network whose nodes have `keys` keys each.
pub fn keys_at(keys: u64, fan_out: f64, level: usize) -> f64 {
    (1..level).fold(keys as f64, |keys, _| keys * fan_out)
}

/// The expected share of bits that `keys` keys set.
pub fn fill(bits: u64, hashes: u32, keys: f64) -> f64 {
    1.0 - exp(ln_1p_minus(1.0 / bits as f64) * f64::from(hashes) * keys)
}

/// The probability that a level with this fill has a key that nobody inserted.
pub fn rate_of_fill(fill: f64, hashes: u32) -> f64 {
    (0..hashes).fold(1.0, |rate, _| rate * fill)
}

/// The rate of a level with `keys` keys. The positions of a key are independent.
pub fn rate(bits: u64, hashes: u32, keys: f64) -> f64 {
    rate_of_fill(fill(bits, hashes, keys), hashes)
}

/// The bits of a level, a multiple of 64, and the bits that a key sets, for `keys` keys at a rate. `None` if that is
/// too much.
pub fn size_for(keys: f64, rate: f64) -> Option<(u64, u32)> {
    let keys = keys.max(1.0);
    let hashes = (ln(rate) / ln(FILL)).ceil().clamp(1.0, f64::from(MAX_HASHES));
    let fill = exp(ln(rate) / hashes).min(FILL);
    // 1 - (1 - 1/m)^(kn) <= fill holds if m >= 1 + kn / -ln(1 - fill), since -ln(1 - 1/m) <= 1 / (m - 1).
    let bits = 1.0 + hashes * keys / -ln_1p_minus(fill);
    if keys > MOST_KEYS || bits.is_nan() || bits > MOST_BITS {
        return None;
    }
    Some(((bits.ceil() as u64).checked_next_multiple_of(64)?, hashes as u32))
}

/// The most bits that a key may set so that `keys` keys leave the fill of a level at 0.3 at most.
pub fn hashes_for(bits: u64, keys: f64) -> u32 {
    (-ln_1p_minus(FILL) * bits as f64 / keys.max(1.0)).floor().clamp(1.0, f64::from(MAX_HASHES)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes keep both their rate and their fill, and exceed what these need by at most a word and one part in 100.
    #[test]
    fn sizes_keep_rate_and_fill() {
        for asked in [0.5, 0.3, 0.1, 0.01, 1e-3, 1e-6, 1e-12] {
            for keys in [1.0, 10.0, 22.82, 90.0, 1234.5, 1e6, 1e12] {
                let (bits, hashes) = size_for(keys, asked).unwrap();
                assert!(bits.is_multiple_of(64) && (1..=MAX_HASHES).contains(&hashes));
                assert!(rate(bits, hashes, keys) <= asked * (1.0 + 1e-9), "{asked} {keys}");
                assert!(fill(bits, hashes, keys) <= FILL * (1.0 + 1e-9), "{asked} {keys}");
                assert!(hashes == 1 || rate_of_fill(FILL, hashes - 1) > asked * (1.0 - 1e-9), "{asked}: {hashes}");
                let fewer = (bits as f64 * 0.99) as u64 - 65.min((bits as f64 * 0.99) as u64 - 1);
                let holds = rate(fewer, hashes, keys) <= asked && fill(fewer, hashes, keys) <= FILL;
                assert!(bits <= 256 || !holds, "{asked} {keys}: {bits} bits, and {fewer} would do");
                assert!(hashes_for(bits, keys) >= hashes.min(MAX_HASHES), "{asked} {keys}");
            }
        }
        assert!(size_for(1e300, 0.01).is_none() && size_for(f64::INFINITY, 0.01).is_none());
        assert!(size_for(MOST_KEYS, 1e-300).is_none() && size_for(1.0, f64::NAN).is_none());
        assert!(size_for(MOST_KEYS, 0.3).is_some() && size_for(1.5 * MOST_KEYS, 0.3).is_none());
    }

    /// A key sets as many bits as leave the fill at 0.3, and one more would not.
    #[test]
    fn hashes_suit_the_bits() {
        assert_eq!([hashes_for(64, 1e9), hashes_for(64, 0.0), hashes_for(1 << 20, 1.0)], [1, 22, MAX_HASHES]);
        for (bits, keys) in [(6400, 100.0), (64, 1.0), (4096, 300.0), (1 << 20, 123_456.0)] {
            let (hashes, most) = (hashes_for(bits, keys), FILL * (1.0 + 1e-3));
            assert!(fill(bits, hashes, keys) <= most && fill(bits, hashes + 1, keys) > FILL, "{bits} {keys}: {hashes}");
        }
    }
}
