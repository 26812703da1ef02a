//! Averages of a function over a Binomial or Poisson count. A filter made of blocks needs these, because the number of
//! keys that fall into a block is random.
//!
//! ```text
//! binomial(n, p, g)  = sum_i  C(n,i) p^i (1-p)^(n-i)  g(i)
//! poisson(lambda, g) = sum_i  e^-lambda lambda^i / i!  g(i)
//! ```
//!
//! **The function.** `g(i)` is the rate of a block that holds `i` keys: non-decreasing, between 0 and 1. The bounds
//! that end the sums rely on this. It is called with increasing `i` from the mode upwards, then with decreasing `i`
//! below it.
//!
//! **How.** The weights are not computed from factorials. The one at the mode is set to 1, the others follow outwards
//! by their ratios, and the sum of weight times value is divided by the sum of the weights. Everything added is
//! positive, so a rate of 10^-200 has the same relative precision as one of 0.1.
//!
//! **When it ends.** Upwards, the ratios of successive weights fall, so after weight `w` with ratio `r < 1` there
//! remains less than `w r / (1-r)`, times `g <= 1`. The sum ends when this is less than `NEGLIGIBLE` of both sums.
//! Downwards the same holds for the weights, and `g` is no greater than it was. Together that takes about 18 standard
//! deviations, `O(sqrt(mean))` terms; or one, if the block is as good as full for every likely count.

/// The part of a sum that may be left out. There are two ends and two sums; all together stay far below 10^-12.
const NEGLIGIBLE: f64 = 1e-17;

/// A block whose rate is this near to 1 counts as full.
const FULL: f64 = 1.0 - 1e-14;

/// `sum_i Binomial(n, p; i) g(i)`, for `g` non-decreasing and between 0 and 1 (see the module).
///
/// `p <= 0` gives `g(0)`, `p >= 1` gives `g(n)`, and NaN gives `g(n)` too, the largest value there is.
pub fn binomial(n: u64, p: f64, mut g: impl FnMut(u64) -> f64) -> f64 {
    if p <= 0.0 || n == 0 {
        return g(0);
    }
    if p >= 1.0 || p.is_nan() {
        return g(n);
    }
    let odds = p / (1.0 - p);
    let mean = n as f64 * p;
    let up = |i: u64| (n - i) as f64 / (i as f64 + 1.0) * odds;
    outward(mean, n, &up, &mut g)
}

/// `sum_i Poisson(lambda; i) g(i)`, for `g` non-decreasing and between 0 and 1 (see the module). The limit of
/// [`binomial`] for many keys in many blocks, `lambda` keys a block.
///
/// `lambda <= 0` gives `g(0)`; infinity and NaN give 1.
pub fn poisson(lambda: f64, mut g: impl FnMut(u64) -> f64) -> f64 {
    if lambda <= 0.0 {
        return g(0);
    }
    if !lambda.is_finite() {
        return 1.0;
    }
    outward(lambda, u64::MAX, &|i| lambda / (i as f64 + 1.0), &mut g)
}

/// The sum over `0..=last`, from the integer part of the mean outwards; `up(i)` is weight(i+1) / weight(i), falling
/// in i.
fn outward(mean: f64, last: u64, up: &dyn Fn(u64) -> f64, g: &mut dyn FnMut(u64) -> f64) -> f64 {
    let mode = (mean as u64).min(last);

    // If it is full at 10 standard deviations below the mean (less likely than e^-50), it is full everywhere.
    let spread = 10.0 * mean.sqrt();
    if mean > spread {
        let low = g((mean - spread) as u64);
        if low >= FULL {
            return low.min(1.0);
        }
    }

    let (mut weights, mut sum) = (1.0, g(mode));

    let (mut i, mut weight) = (mode, 1.0);
    while i < last {
        let ratio = up(i);
        weight *= ratio;
        if ratio < 1.0 && weight / (1.0 - ratio) <= NEGLIGIBLE * f64::min(weights, sum) {
            break;
        }
        i += 1;
        weights += weight;
        sum += weight * g(i);
        // This happens only if g is 0 all the way: the weights have run out.
        if weight == 0.0 {
            break;
        }
    }

    let (mut i, mut weight) = (mode, 1.0);
    while i > 0 {
        let ratio = 1.0 / up(i - 1);
        weight *= ratio;
        // What is negligible among the weights is negligible in the sum too: every g so far is at least as great as
        // those to come.
        if ratio < 1.0 && weight / (1.0 - ratio) <= NEGLIGIBLE * weights {
            break;
        }
        i -= 1;
        weights += weight;
        sum += weight * g(i);
    }
    (sum / weights).min(1.0)
}
