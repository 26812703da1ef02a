//! The exact probability that `k` random cells are all among the occupied ones, after `N` balls were thrown into `m`
//! cells: `E[(X/m)^k]`, with `X` the number of occupied cells. This is the false-positive rate of a Bloom filter.
//!
//! # The difficulty
//!
//! Let `p_j` be the probability that `k` random cells are `j` different ones. Inclusion and exclusion over these gives
//!
//! ```text
//! f = sum_j p_j sum_t (-1)^t C(j,t) (1 - t/m)^N
//! ```
//!
//! which is short and exact. But its alternating terms are up to `(1+q)^k / (1-q)^k` times the result, with `q` the
//! fraction of empty cells. The sum has lost every digit of an `f64` at k = 30, and earlier where the rate is tiny.
//!
//! # The method
//!
//! If the number of balls were Poisson(z), cells would be independent and the probability simply
//! `G(z) = sum_j p_j (1 - e^(-z/m))^j`. The probability for exactly `N` balls is a coefficient of the generating
//! function, which Cauchy's formula takes from the values on a circle of any radius `r`:
//!
//! ```text
//! f = N! [z^N] e^z G(z) = (N! e^r / r^N)  1/(2 pi)  Integral exp(r (e^(i t) - 1) - i N t) G(r e^(i t)) dt
//! ```
//!
//! All coefficients `c_i` of `e^z G(z)` are non-negative, so `c_i r^i` is a distribution, apart from a factor. With the
//! radius at which its mean is `N` (the saddle point), the integrand is a bell of width `1/sigma` around t = 0, with
//! nothing to cancel. The trapezoid rule over `M` points of the circle adds nothing but `c_(N+M) r^(N+M) + c_(N-M)
//! r^(N-M) + ...`, the tails beyond `M` of that distribution. With `M` = 9 standard deviations and a bit, the tails are
//! below 10^-16 of the result. On all but small circles points beyond `14 / sigma` contribute less than that, which
//! leaves some 20 points however large `N` is. This holds for every m, k and N, so there is only one method and no
//! switching between regimes; the result is good to about 10^-13 relative, down to the least positive `f64`.
//!
//! Cost: `O(k^2)` for the `p_j` and `O(k)` for each point; a few microseconds at k = 16.

/// The most hashes for which the exact rate is computed.
pub(super) const MAX_HASHES: u32 = 256;
const TERMS: usize = MAX_HASHES as usize + 1;

/// On circles of a radius below this the whole circle counts: away from the positive axis the integrand may stay at
/// `e^-r` of its peak.
const SMALL: f64 = 64.0;

/// Below this many balls, `N!` is multiplied out; from there on Stirling's series has all the digits.
const STIRLING_FROM: f64 = 32.0;

/// `E[(X/m)^k]` after `balls` balls in `cells` cells. Both at least 1; `hashes` in 1..=[`MAX_HASHES`]; `balls` at least
/// `hashes` (a filter with a key has as many), or `hashes` 1.
pub(super) fn all_occupied(cells: f64, hashes: u32, balls: f64) -> f64 {
    if hashes == 1 {
        return super::hit_at_least_once(1.0 / cells, balls);
    }
    // Some probed cell is empty with probability at most k e^(-N/m): less than half a last digit here.
    if cells <= 1.0 || balls / cells > 50.0 {
        return 1.0;
    }
    let mut polynomial = Polynomial::new(cells, hashes, balls);
    let saddle = polynomial.find_saddle();
    polynomial.recentre(&saddle);
    let integral = polynomial.integrate(&saddle);

    // N! e^r / r^N = (N! e^N / N^N) e^(-N (ln(1+d) - d)), with r = N (1 + d).
    let front = factorial_ratio(balls) * (-balls * ln_1p_minus(saddle.shift / balls)).exp();
    scale(front * integral, polynomial.exponent).clamp(0.0, 1.0)
}

/// Where the circle crosses the real axis.
struct Saddle {
    /// r
    radius: f64,
    /// r - N, between -k and 0, kept apart because it may be far less than the last digit of r.
    shift: f64,
    /// The standard deviation of the distribution proportional to `c_i r^i`.
    sigma: f64,
}

/// `G`, as a polynomial in `v = (1 - e^(-z/m)) / (1 - e^(-r/m))`, which is 1 where it matters.
struct Polynomial {
    cells: f64,
    balls: f64,
    /// `1 - e^(-r/m)` for the radius on which the coefficients are centred.
    occupied: f64,
    /// `p_j occupied^j`, times `2^-exponent`.
    coefficients: [f64; TERMS],
    degree: usize,
    exponent: i64,
}

impl Polynomial {
    /// Centred on the radius N, the saddle point's upper bound.
    fn new(cells: f64, hashes: u32, balls: f64) -> Self {
        let occupied = -(-balls / cells).exp_m1();
        // Throw the k probes one after the other: the next one falls into one of the j cells that were probed already,
        // or into a new one, which then has to be occupied. (More than m different cells have probability 0, and end
        // this.)
        let mut coefficients = [0.0; TERMS];
        coefficients[0] = 1.0;
        let mut degree = 0;
        let mut exponent = 0;
        let inverse = 1.0 / cells;
        for _ in 0..hashes {
            if (degree as f64) < cells {
                degree += 1;
            }
            for j in (1..=degree).rev() {
                let again = coefficients[j] * (j as f64 * inverse);
                let new = coefficients[j - 1] * (occupied * (1.0 - (j - 1) as f64 * inverse));
                coefficients[j] = again + new;
            }
            coefficients[0] = 0.0;
            // These may be far below any f64 in the end, so the row carries its own exponent.
            let largest = coefficients[1..=degree].iter().fold(0.0, |a, &b| f64::max(a, b));
            if largest < 1e-100 {
                let shift = -(largest.log2().floor() as i64);
                coefficients[1..=degree].iter_mut().for_each(|c| *c = scale(*c, shift));
                exponent -= shift;
            }
        }
        Polynomial { cells, balls, occupied, coefficients, degree, exponent }
    }

    /// Newton's method for the radius at which the mean is N.
    ///
    /// Given j, the distribution is that of the sum of j zero-truncated Poisson(x) counts, x = r/m, and one Poisson(r -
    /// j x). Its mean is `r + j y` with `y = x / (e^x - 1)`. The derivative of any such mean by ln r is the variance.
    fn find_saddle(&self) -> Saddle {
        let mut shift = 0.0_f64;
        let mut rounds = 0;
        loop {
            let radius = if shift == 0.0 { self.balls } else { self.balls + shift };
            let x = radius / self.cells;
            let y = x / x.exp_m1();
            let (mean, variance) = self.moments(-(-x).exp_m1() / self.occupied);
            let excess = shift + mean * y;
            let sigma2 = radius + y * y * variance + mean * y * (1.0 - x - y);
            rounds += 1;
            // Any radius near the saddle serves; this is a small part of the bell's width.
            if excess * excess <= 1e-6 * sigma2 || rounds == 100 {
                return Saddle { radius, shift, sigma: sigma2.sqrt() };
            }
            // A step never goes to less than half the radius, which has to stay positive.
            shift = (shift - excess * radius / sigma2).clamp(0.5 * (shift - self.balls), 0.0);
        }
    }

    /// Mean and variance of j under the weights `coefficient_j v^j`.
    fn moments(&self, v: f64) -> (f64, f64) {
        let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
        let mut power = 1.0;
        for j in 1..=self.degree {
            power *= v;
            let (weight, j) = (self.coefficients[j] * power, j as f64);
            total += weight;
            first += weight * j;
            second += weight * j * j;
        }
        let mean = first / total;
        (mean, (second / total - mean * mean).max(0.0))
    }

    /// Rewrites the coefficients for the radius that was found.
    fn recentre(&mut self, saddle: &Saddle) {
        let occupied = -(-saddle.radius / self.cells).exp_m1();
        let v = occupied / self.occupied;
        let mut power = 1.0;
        for coefficient in &mut self.coefficients[1..=self.degree] {
            power *= v;
            *coefficient *= power;
        }
        self.occupied = occupied;
    }

    /// The integral over the circle, divided by 2 pi, by the trapezoid rule.
    fn integrate(&self, saddle: &Saddle) -> f64 {
        use std::f64::consts::{PI, TAU};
        // An odd number of points, one of them on the positive axis; the others are pairs of conjugates.
        let half = (0.5 * (9.0 * saddle.sigma + 25.0)).ceil();
        let points = 2.0 * half + 1.0;
        let limit = if saddle.radius < SMALL { PI } else { 14.0 / saddle.sigma };
        let mut sum: f64 = self.coefficients[1..=self.degree].iter().sum();
        let mut l = 1.0;
        while l <= half {
            let t = TAU * l / points;
            if t > limit {
                break;
            }
            let sin_half = (0.5 * t).sin();
            // exp(r (e^(it) - 1) - i N t), by its logarithm's real and imaginary parts.
            let decay = -2.0 * saddle.radius * sin_half * sin_half;
            let phase = saddle.radius * sin_minus(t) + saddle.shift * t;
            let (re, im) = self.value(saddle.radius / self.cells, t);
            sum += 2.0 * decay.exp() * (re * phase.cos() - im * phase.sin());
            l += 1.0;
        }
        sum / points
    }

    /// `G(r e^(it))`, `x = r/m`, by Horner's rule over the complex numbers.
    fn value(&self, x: f64, t: f64) -> (f64, f64) {
        // 1 - e^(-a-ib), by parts that do not cancel for small x.
        let (a, b) = (x * t.cos(), x * t.sin());
        let shrink = (-a).exp();
        let sin_half = (0.5 * b).sin();
        let v_re = (-(-a).exp_m1() + 2.0 * shrink * sin_half * sin_half) / self.occupied;
        let v_im = shrink * b.sin() / self.occupied;
        let (mut re, mut im) = (0.0, 0.0);
        for &coefficient in self.coefficients[1..=self.degree].iter().rev() {
            let sum = re + coefficient;
            (re, im) = (sum * v_re - im * v_im, sum * v_im + im * v_re);
        }
        (re, im)
    }
}

/// `sin t - t`.
fn sin_minus(t: f64) -> f64 {
    if t > 0.7 {
        return t.sin() - t;
    }
    let s = t * t;
    -t * s / 6.0
        * (1.0
            - s / 20.0
                * (1.0 - s / 42.0 * (1.0 - s / 72.0 * (1.0 - s / 110.0 * (1.0 - s / 156.0 * (1.0 - s / 210.0))))))
}

/// `ln(1+d) - d` for -1 < d <= 0.
fn ln_1p_minus(d: f64) -> f64 {
    if d < -0.1 {
        return d.ln_1p() - d;
    }
    // -d^2/2 + d^3/3 - ...: all terms have one sign.
    let mut sum = 0.0;
    for i in (2..20).rev() {
        sum = -d * sum + 1.0 / f64::from(i);
    }
    -d * d * sum
}

/// `N! e^N / N^N`, for integers N >= 1; about `sqrt(2 pi N)`.
fn factorial_ratio(n: f64) -> f64 {
    if n < STIRLING_FROM {
        return (1..=n as u32).fold(n.exp(), |product, i| product * (f64::from(i) / n));
    }
    let s = 1.0 / (n * n);
    let series = (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s / 1680.0))) / n;
    (std::f64::consts::TAU * n).sqrt() * series.exp()
}

/// `x 2^exponent`, rounded once; exponents beyond the range of `f64` give 0.
fn scale(x: f64, exponent: i64) -> f64 {
    if exponent < -4000 {
        return 0.0;
    }
    // Steps that are representable; only the last can leave the normal range, when the result does.
    let (mut x, mut left) = (x, exponent);
    while left != 0 {
        let step = left.clamp(-1000, 1000);
        x *= (step as f64).exp2();
        left -= step;
    }
    x
}
