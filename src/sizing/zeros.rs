//! How many bits of a Bloom filter stay zero.

use super::hit_at_least_once;

/// k n, the number of bits thrown.
pub(super) fn throws(hashes: u32, keys: u64) -> f64 {
    f64::from(hashes) * keys as f64
}

/// The expected number of zero bits, `m (1-1/m)^(kn)`.
pub fn expected_zeros(bits: u64, hashes: u32, keys: u64) -> f64 {
    let throws = throws(hashes, keys);
    if bits == 0 || throws == 0.0 {
        return bits as f64;
    }
    bits as f64 * (throws * (-1.0 / bits as f64).ln_1p()).exp()
}

/// The standard deviation of the number of zero bits (and of set bits), exact:
/// `Var = m q (1-q) + m (m-1) ((1-2/m)^N - q^2)` with `q = (1-1/m)^N`, `N = k n`; about `m e^-rho (1 - (1+rho)
/// e^-rho)`.
pub fn zeros_sd(bits: u64, hashes: u32, keys: u64) -> f64 {
    let (m, n) = (bits as f64, throws(hashes, keys));
    if bits <= 1 || n <= 1.0 {
        return 0.0;
    }
    // q = e^-a. As (1-2/m) / (1-1/m)^2 = 1 - 1/(m-1)^2, Var = m q^2 (e^a - 1 - c), c = (m-1) (1 - (1 - 1/(m-1)^2)^N).
    let a = -n * (-1.0 / m).ln_1p();
    let others = m - 1.0;
    let c = others * hit_at_least_once(1.0 / (others * others), n);
    let bracket = if a < 1e-3 && m > 1e3 {
        // Both are nearly kn/m, so the difference is computed by powers, (e^a - 1 - a) + (a - c).
        let b = n / (others * others);
        let above = a * a * (0.5 + a * (1.0 / 6.0 + a * (1.0 / 24.0 + a / 120.0)));
        let (i, j) = (1.0 / m, 1.0 / others);
        let linear = n * (i * i * (0.5 + i * (1.0 / 3.0 + i / 4.0)) - i * j - 0.5 * j * j * j);
        above + linear + others * b * b * (0.5 - b / 6.0)
    } else {
        a.exp_m1() - c
    };
    // For a large the bracket may overflow where q^2 vanishes.
    let variance = if a > 300.0 { m * (-a).exp() } else { m * (-2.0 * a).exp() * bracket };
    variance.max(0.0).sqrt()
}
