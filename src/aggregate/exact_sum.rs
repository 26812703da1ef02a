//! An exact sum of doubles. Values can be added to the sum and taken away again in any order.
//!
//! The sum is one fixed-point number in two's complement: bit 0 stands for 2^-1074, the least double above 0. A double
//! is a whole number of these units below 2^2098. So a sum has no rounding that could add up, and a value that is added
//! and taken away again leaves no trace. Only reading the sum or the mean rounds, once, to the nearest double.

/// Words of a sum. Its magnitude is below 2^2175 units, which is more than 2^64 of the greatest doubles.
pub const WORDS: usize = 34;

/// A sum is below 2 to this power units in magnitude, even after 2^62 additions and as many subtractions.
const MOST_BITS: u32 = 2162;

/// A double without its sign: `mantissa * 2^shift` units.
fn units(value: f64) -> (u64, u32) {
    let bits = value.to_bits() & (u64::MAX >> 1);
    match (bits >> 52) as u32 {
        0 => (bits, 0),
        exponent => (bits & ((1 << 52) - 1) | 1 << 52, exponent - 1),
    }
}

/// Adds a finite value to a sum, or takes it away.
pub fn add(sum: &mut [u64; WORDS], value: f64, negate: bool) {
    let (mantissa, shift) = units(value);
    let wide = u128::from(mantissa) << (shift % 64);
    let place = (shift / 64) as usize;
    let parts = [wide as u64, (wide >> 64) as u64].into_iter().chain(core::iter::repeat(0));
    let (subtracts, mut carry) = (value.is_sign_negative() != negate, false);
    for (i, (word, part)) in sum[place..].iter_mut().zip(parts).enumerate() {
        if i >= 2 && !carry {
            break;
        }
        let (next, first) = if subtracts { word.overflowing_sub(part) } else { word.overflowing_add(part) };
        let of_carry = u64::from(carry);
        let (next, second) = if subtracts { next.overflowing_sub(of_carry) } else { next.overflowing_add(of_carry) };
        *word = next;
        carry = first || second;
    }
}

/// Whether a sum is 0.
pub fn is_zero(sum: &[u64; WORDS]) -> bool {
    sum.iter().all(|word| *word == 0)
}

/// Whether a sum is one that additions can reach.
pub fn is_possible(sum: &[u64; WORDS]) -> bool {
    const REST: u32 = MOST_BITS % 64;
    let top = sum[WORDS - 1].cast_signed() >> REST;
    top == 0 || top == -1
}

/// A sum divided by a count that is not 0, rounded to the nearest double, ties to even. Infinite if no double is that
/// large.
pub fn mean(sum: &[u64; WORDS], count: u64) -> f64 {
    let is_negative = sum[WORDS - 1].cast_signed() < 0;
    let mut quotient = *sum;
    if is_negative {
        let mut carry = true;
        for word in &mut quotient {
            (*word, carry) = (!*word).overflowing_add(carry.into());
        }
    }
    let divisor = u128::from(count.max(1));
    let mut remainder = 0;
    for word in quotient.iter_mut().rev() {
        let dividend = remainder << 64 | u128::from(*word);
        *word = (dividend / divisor) as u64;
        remainder = dividend % divisor;
    }
    let magnitude = rounded(&quotient, remainder * 2, divisor);
    if is_negative { -magnitude } else { magnitude }
}

/// The double nearest to `units` units and `twice / divisor` halves of a unit.
fn rounded(units: &[u64; WORDS], twice: u128, divisor: u128) -> f64 {
    let bits = units.iter().rposition(|word| *word != 0).map_or(0, |last| 64 * last as u32 + units[last].ilog2() + 1);
    let shift = bits.saturating_sub(53);
    let (place, offset) = ((shift / 64) as usize, shift % 64);
    let next = units.get(place + 1).copied().unwrap_or(0);
    let mantissa = ((u128::from(next) << 64 | u128::from(units[place])) >> offset) as u64 & (u64::MAX >> 11);
    // What is below the mantissa, compared with half of its last unit.
    let half = match shift.checked_sub(1) {
        None => twice.cmp(&divisor),
        Some(below) => {
            let (place, offset) = ((below / 64) as usize, below % 64);
            let lower = units[..place].iter().any(|word| *word != 0) || units[place] & ((1 << offset) - 1) != 0;
            match (units[place] >> offset & 1 == 1, lower || twice > 0) {
                (false, _) => core::cmp::Ordering::Less,
                (true, false) => core::cmp::Ordering::Equal,
                (true, true) => core::cmp::Ordering::Greater,
            }
        }
    };
    let up = half.is_gt() || half.is_eq() && mantissa & 1 == 1;
    // The leading bit of a mantissa of 53 bits adds 1 to the exponent, and so does a carry out of the mantissa.
    let encoded = (u64::from(shift) << 52) + mantissa + u64::from(up);
    f64::from_bits(encoded.min(f64::INFINITY.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::mix;

    fn sum_of(values: &[f64]) -> [u64; WORDS] {
        let mut sum = [0; WORDS];
        values.iter().for_each(|value| add(&mut sum, *value, false));
        sum
    }

    /// Finite doubles of every exponent.
    fn random(salt: u64) -> f64 {
        let value = f64::from_bits(mix(salt));
        if value.is_finite() { value } else { 1.0 }
    }

    #[test]
    fn single_values_come_back() {
        let extremes = [0.0, 1.0, -1.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, -5e-324, 0.1, 1e300];
        for value in extremes.into_iter().chain((0..10_000).map(random)) {
            let sum = sum_of(&[value]);
            assert_eq!(mean(&sum, 1), value);
            assert!(is_possible(&sum));
            // Three of them, divided by three.
            assert_eq!(mean(&sum_of(&[value; 3]), 3), value);
        }
    }

    #[test]
    fn sums_do_not_depend_on_the_order_and_leave_nothing() {
        let values: Vec<f64> = (0..500).map(random).collect();
        let reversed: Vec<f64> = values.iter().rev().copied().collect();
        let mut sum = sum_of(&values);
        assert_eq!(sum, sum_of(&reversed));
        values.iter().for_each(|value| add(&mut sum, *value, true));
        assert!(is_zero(&sum) && !is_zero(&sum_of(&[5e-324])));
        assert_eq!(mean(&sum_of(&[1e300, 1.0, -1e300]), 1), 1.0);
        assert_eq!(mean(&sum_of(&[f64::MAX, f64::MAX]), 1), f64::INFINITY);
        assert_eq!(mean(&sum_of(&[f64::MIN, f64::MIN]), 1), f64::NEG_INFINITY);
        assert_eq!(mean(&sum_of(&[f64::MAX, f64::MAX]), 2), f64::MAX);
    }

    #[test]
    fn means_are_rounded_to_the_nearest_and_even() {
        // For whole numbers below 2^53 the division of doubles rounds in the same way.
        for salt in 0..20_000 {
            let (number, count) = ((mix(salt) >> (11 + salt % 50)) as f64, 1 + (mix(!salt) >> (20 + salt % 40)));
            let signed = if salt % 2 == 0 { number } else { -number };
            assert_eq!(mean(&sum_of(&[signed]), count), signed / count as f64, "{signed} / {count}");
        }
        // So are sums of two doubles.
        for salt in 0..20_000 {
            let (a, b) = (f64::from_bits(mix(salt) & !(3 << 61) | 1 << 61), f64::from_bits(mix(!salt) & !(3 << 61)));
            assert_eq!(mean(&sum_of(&[a, b]), 1), a + b);
            let near = a * (1.0 + (salt % 64) as f64 / 64.0) * 0.5_f64.powi((salt % 60) as i32);
            assert_eq!(mean(&sum_of(&[a, -near]), 1), a - near);
        }
        // Halves of the least unit go to the even neighbour.
        assert_eq!(mean(&sum_of(&[5e-324]), 2), 0.0);
        assert_eq!(mean(&sum_of(&[1.5e-323]), 2), 1e-323);
        assert_eq!(mean(&sum_of(&[5e-324]), 3), 0.0);
        assert_eq!(mean(&sum_of(&[1e-323]), 3), 5e-324);
        // A remainder decides a tie.
        let two_to_53 = 9_007_199_254_740_992.0;
        assert_eq!(mean(&sum_of(&[two_to_53, 1.0]), 1), two_to_53);
        assert_eq!(mean(&sum_of(&[two_to_53, 1.0, 5e-324]), 1), two_to_53 + 2.0);
        assert_eq!(mean(&sum_of(&[2.0 * two_to_53, 2.0]), 2), two_to_53);
        assert_eq!(mean(&sum_of(&[2.0 * two_to_53, 2.0, 5e-324]), 2), two_to_53 + 2.0);
    }

    #[test]
    fn impossible_sums_are_known() {
        let mut sum = [u64::MAX; WORDS];
        assert!(is_possible(&sum), "minus one");
        sum[WORDS - 1] = 1 << 51;
        assert!(!is_possible(&sum));
        sum[WORDS - 1] = 1 << 63;
        assert!(!is_possible(&sum));
    }
}
