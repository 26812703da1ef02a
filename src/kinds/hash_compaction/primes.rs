//! Primes near a number: the sizes of tables that are probed by double hashing.

/// Whether a number is prime: Miller and Rabin's test with the first twelve primes as bases, which leaves no doubt
/// below 2^64 (Sorenson and Webster, "Strong pseudoprimes to twelve prime bases", 2015).
pub fn is_prime(n: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if n < 2 {
        return false;
    }
    if let Some(divisor) = BASES.into_iter().find(|base| n.is_multiple_of(*base)) {
        return n == divisor;
    }
    let twos = (n - 1).trailing_zeros();
    let odd = (n - 1) >> twos;
    BASES.into_iter().all(|base| {
        let mut x = power(base, odd, n);
        x == 1
            || (0..twos).any(|_| {
                let is_minus_one = x == n - 1;
                x = multiply(x, x, n);
                is_minus_one
            })
    })
}

/// The least prime that is `n` or more; `None` if it is 2^63 or more.
pub fn at_least(n: u64) -> Option<u64> {
    (n.max(2)..1 << 63).find(|n| is_prime(*n))
}

/// The greatest prime that is `n` or less; `None` below 2.
pub fn at_most(n: u64) -> Option<u64> {
    (2..=n).rev().find(|n| is_prime(*n))
}

fn multiply(a: u64, b: u64, modulus: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(modulus)) as u64
}

fn power(mut base: u64, mut exponent: u64, modulus: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(result, base, modulus);
        }
        base = multiply(base, base, modulus);
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_are_those_of_the_sieve() {
        const END: usize = 100_000;
        let mut sieve = vec![true; END];
        sieve[..2].fill(false);
        for i in 2..END {
            if sieve[i] {
                (i * i..END).step_by(i).for_each(|multiple| sieve[multiple] = false);
            }
        }
        for (n, expected) in sieve.iter().enumerate() {
            assert_eq!(is_prime(n as u64), *expected, "{n}");
        }
        assert_eq!((at_least(90), at_most(96), at_least(97), at_most(97)), (Some(97), Some(89), Some(97), Some(97)));
        assert_eq!((at_most(1), at_least(0), at_least(1 << 63)), (None, Some(2), None));
    }

    /// Published numbers: the greatest prime below 2^64, a Mersenne prime, a product of three primes above the bases
    /// that passes Fermat's test, and strong pseudoprimes to the first bases.
    #[test]
    fn large_numbers_are_told_apart() {
        assert!(is_prime(u64::MAX - 58) && is_prime((1 << 61) - 1));
        for composite in [252_601, 3_215_031_751, 3_825_123_056_546_413_051, 318_665_857_834_031_151, u64::MAX] {
            assert!(!is_prime(composite));
        }
    }
}
