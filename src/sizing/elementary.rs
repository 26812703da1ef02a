//! Exponential and logarithm from additions, multiplications and divisions alone, so that they give the same bits on
//! every platform: the system's functions differ in the last digit. Sums whose terms cancel make that digit a large
//! part of a low rate, and it must not decide on the size of a filter: it must be possible to merge filters of one spec
//! wherever they were made. `bindings/go/internal/sizing` does the same operations in the same order.

/// ln 2 in two parts: the first has 32 bits, so that its products with exponents are exact, and the second is the rest.
const LN_2: (f64, f64) = (6.931471803691238e-1, 1.9082149292705877e-10);

/// `1 / i!` for i = 13, 12, .. 2.
const FACTORIALS: [f64; 12] = {
    let (mut all, mut factorial, mut i) = ([0.0; 12], 1.0, 2);
    while i <= 13 {
        factorial *= i as f64;
        all[13 - i] = 1.0 / factorial;
        i += 1;
    }
    all
};

/// `e^x`, to about the last digit; 0 below the least normal number.
pub(crate) fn exp(x: f64) -> f64 {
    if x < -708.0 {
        return 0.0;
    }
    if x > 709.0 || x.is_nan() {
        return x * f64::INFINITY;
    }
    let exponent = (x * std::f64::consts::LOG2_E).round_ties_even();
    let r = (x - exponent * LN_2.0) - exponent * LN_2.1;
    let series = FACTORIALS.iter().fold(0.0, |sum, factor| sum * r + factor);
    let value = 1.0 + (r + r * r * series);
    value * f64::from_bits(((exponent as i64 + 1023) as u64) << 52)
}

/// `1 - e^-x` for `x >= 0`, to about the last digit.
pub(crate) fn one_minus_exp(x: f64) -> f64 {
    if x > 0.34 {
        return 1.0 - exp(-x);
    }
    let series = FACTORIALS.iter().fold(0.0, |sum, factor| factor - sum * x);
    x - x * x * series
}

/// `ln(1 - x)` for `x` in 0..=1, to about the last digit.
pub(crate) fn ln_1p_minus(x: f64) -> f64 {
    if x <= 4e-3 {
        // To the last digit: the next term is below x^8 / 8.
        let tail = 1.0 / 4.0 + x * (1.0 / 5.0 + x * (1.0 / 6.0 + x * (1.0 / 7.0)));
        return -x * (1.0 + x * (1.0 / 2.0 + x * (1.0 / 3.0 + x * tail)));
    }
    let y = 1.0 - x;
    // The second argument is what the subtraction lost.
    ln_of(y, ((1.0 - y) - x) / y)
}

/// `ln x` of a normal number, to about the last digit.
pub(crate) fn ln(x: f64) -> f64 {
    ln_of(x, 0.0)
}

/// `a^b` for `a > 0`, to within a few last digits.
pub(crate) fn pow(a: f64, b: f64) -> f64 {
    exp(b * ln(a))
}

/// `ln y` and a little more.
fn ln_of(y: f64, more: f64) -> f64 {
    if y <= 0.0 || !y.is_finite() {
        return if y == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
    }
    // y is a mantissa in 0.75..1.5 times a power of two.
    let mut exponent = (y.to_bits() >> 52) as f64 - 1023.0;
    let mut mantissa = f64::from_bits(y.to_bits() & ((1 << 52) - 1) | 1023 << 52);
    if mantissa >= 1.5 {
        mantissa *= 0.5;
        exponent += 1.0;
    }
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let mut series = 0.0;
    let mut i = 23.0;
    while i >= 3.0 {
        series = series * square + 1.0 / i;
        i -= 2.0;
    }
    let ln = 2.0 * s + 2.0 * s * square * series;
    exponent * LN_2.0 + (ln + (exponent * LN_2.1 + more))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_of_the_system_but_for_the_last_digits() {
        for i in 0..20_000 {
            let x = f64::from(i) / 20_000.0;
            for scale in [1.0, -1.0, 30.0, -30.0, -700.0] {
                let (ours, system) = (exp(x * scale), (x * scale).exp());
                assert!((ours - system).abs() <= 4e-16 * system, "e^{}: {ours} and {system}", x * scale);
            }
            for x in [30.0 * x, x, x * 1e-2, x * 1e-9] {
                let (ours, system) = (one_minus_exp(x), -(-x).exp_m1());
                assert!((ours - system).abs() <= 8e-16 * system, "1 - e^-{x}: {ours} and {system}");
            }
            for x in [x, x * 1e-2, x * 1e-9] {
                let (ours, system) = (ln_1p_minus(x), (-x).ln_1p());
                assert!((ours - system).abs() <= -5e-16 * system, "ln(1 - {x}): {ours} and {system}");
            }
        }
        for x in [1e-300, 1e-9, 0.01, 0.7499, 0.75, 1.0, 1.5, 2.0, 1e300_f64] {
            assert!((ln(x) - x.ln()).abs() <= 4e-16 * x.ln().abs(), "ln {x}: {} and {}", ln(x), x.ln());
            assert!((pow(x, 0.3) - x.powf(0.3)).abs() <= 1e-13 * x.powf(0.3), "{x}^0.3: {}", pow(x, 0.3));
        }
        assert!(ln(-1.0).is_nan() && ln(0.0) == f64::NEG_INFINITY);
        assert_eq!((exp(0.0), exp(-1e9), exp(1e9)), (1.0, 0.0, f64::INFINITY));
        assert_eq!((ln_1p_minus(0.0), ln_1p_minus(1.0)), (0.0, f64::NEG_INFINITY));
        assert_eq!((one_minus_exp(0.0), one_minus_exp(1e9)), (0.0, 1.0));
        assert!(one_minus_exp(f64::NAN).is_nan() && exp(f64::NAN).is_nan() && ln_1p_minus(f64::NAN).is_nan());
    }
}
