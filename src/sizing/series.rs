//! The exact rate of the classic filter, nearly, in a hundred nanoseconds: sizing decides with it wherever that is
//! certain to be what [`super::bloom::exact`] would decide.
//!
//! With `u = X/E[X] - 1` the rate is `E[X/m]^k E[(1+u)^k]`. The logarithm of the second factor is a series in the
//! relative cumulants `c2, c3, c4` of X: its second to fourth cumulants over the mean's powers. They are of the orders
//! 1/m, 1/m^2, 1/m^3:
//!
//! ```text
//! C(k,2) c2
//! + C(k,3) c3 - k(k-1)(2k-3)/4 c2^2
//! + C(k,4) c4 + (10 C(k,5) - C(k,2) C(k,3)) c2 c3 + (15 C(k,6) - 3 C(k,2) C(k,4) + C(k,2)^3 / 3) c2^3
//! + ...
//! ```
//!
//! Mean and c2 are exact; c3 and c4 are taken in the limit of many bits. There, X and the number of probes are sums
//! over cells with Poisson(rho) probes, and the number of probes is given. The cumulants per cell are the derivatives
//! at s = 0 of `K(s) = ln(e^w + e^s - 1) - rho ln w + const`, where `w e^w = rho (e^w + e^s - 1)`.
//!
//! **Error.** What is left out is the next order, smaller by about `k c2` each time, and the correction of c3, smaller
//! than it by some 1/m. [`Approximation::error`] is four times the greatest difference that a comparison with `exact`
//! found for either (`tests/suite/sizing.rs` repeats it), plus the rounding of both.

use super::hit_at_least_once;
use super::zeros::zeros_sd;

/// The logarithm of the rate, and how far it may be off.
#[derive(Clone, Copy, Debug)]
pub struct Approximation {
    /// ln of the rate.
    pub ln: f64,
    /// A bound on the distance to the logarithm of the exact rate as it is computed.
    pub error: f64,
}

/// The rounding errors of both sides.
const ROUNDING: f64 = 4e-12;

/// The approximation where it is good: between a fifth and three probes a bit, or for a single hash, for which it is
/// exact. Elsewhere `None`.
pub fn ln_rate(bits: u64, hashes: u32, keys: u64) -> Option<Approximation> {
    if hashes == 1 && bits > 1 {
        let ln = hit_at_least_once(1.0 / bits as f64, keys as f64).ln();
        return Some(Approximation { ln, error: ROUNDING });
    }
    let (m, k, n) = (bits as f64, f64::from(hashes), f64::from(hashes) * keys as f64);
    let rho = n / m;
    if hashes < 2 || !(0.2..=3.0).contains(&rho) || m < 16.0 {
        return None;
    }
    // The expected share of set bits; and of zeros.
    let a = -n * (-1.0 / m).ln_1p();
    let fill = -(-a).exp_m1();
    let zeros = 1.0 - fill;
    let mean = m * fill;
    let c2 = (zeros_sd(bits, hashes, keys) / mean).powi(2);
    if k * c2 > 0.1 {
        return None;
    }
    // w', w'', w''' by s, then the derivatives of ln K', all at s = 0.
    let w1 = rho * zeros;
    let w2 = w1 * (1.0 - 2.0 * w1);
    let w3 = w1 * ((1.0 - 2.0 * w1) * (1.0 - 4.0 * w1) + w1 * w1);
    let (one, inverse) = (1.0 + 1.0 / rho, 1.0 / (rho * rho));
    let l1 = 1.0 - w1 * one;
    let l2 = -w2 * one + w1 * w1 * inverse;
    let l3 = -w3 * one + 3.0 * w1 * w2 * inverse - 2.0 * w1 * w1 * w1 * inverse / rho;
    // The cumulants of the zeros. X is m less the zeros, so the odd cumulants change their sign.
    let c3 = -m * zeros * (l1 * l1 + l2) / (mean * mean * mean);
    let c4 = m * zeros * (l1 * l1 * l1 + 3.0 * l1 * l2 + l3) / (mean * mean * mean * mean);
    let b2 = k * (k - 1.0) / 2.0;
    let b3 = b2 * (k - 2.0) / 3.0;
    let b4 = b3 * (k - 3.0) / 4.0;
    let b5 = b4 * (k - 4.0) / 5.0;
    let b6 = b5 * (k - 5.0) / 6.0;
    let second = b3 * c3 - k * (k - 1.0) * (2.0 * k - 3.0) / 4.0 * c2 * c2;
    let third =
        b4 * c4 + (10.0 * b5 - b2 * b3) * c2 * c3 + (15.0 * b6 - 3.0 * b2 * b4 + b2 * b2 * b2 / 3.0) * c2 * c2 * c2;
    let ln = k * fill.ln() + b2 * c2 + second + third;
    let next =
        k * k * c2 * c2 * (k * k * k * c2 * c2 / 2.0) + k * k * k / 6.0 * c3.abs() / m + k * k / 2.0 * c2 / (m * m);
    Some(Approximation { ln, error: SAFETY * next + ROUNDING * (1.0 - ln * 1e-3) })
}

/// See the module.
const SAFETY: f64 = 60.0;
