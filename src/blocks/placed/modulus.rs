//! Remainders without a division: most formats place keys by a remainder, and a filter's modulus never changes.

/// A number by which remainders are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modulus {
    modulus: u64,
    /// (2^64 - 1) / modulus.
    reciprocal: u64,
}

impl Modulus {
    /// A modulus from 1 to 2^63.
    pub fn new(modulus: u64) -> Option<Modulus> {
        (1..=1 << 63).contains(&modulus).then(|| Modulus { modulus, reciprocal: u64::MAX / modulus })
    }

    /// The modulus for which [`Modulus::reciprocal`] returned this number, without a division.
    #[inline]
    pub fn with_reciprocal(modulus: u64, reciprocal: u64) -> Modulus {
        debug_assert_eq!(Modulus::new(modulus).map(|modulus| modulus.reciprocal), Some(reciprocal));
        Modulus { modulus, reciprocal }
    }

    /// The number that replaces the division by the modulus.
    pub fn reciprocal(&self) -> u64 {
        self.reciprocal
    }

    /// The number itself.
    #[inline]
    pub fn get(&self) -> u64 {
        self.modulus
    }

    /// `x` modulo the number.
    ///
    /// With m the modulus, r = floor((2^64 - 1) / m) is at least (2^64 - m) / m. So x r / 2^64 is above x / m - 1 for
    /// all x below 2^64, and its floor is the quotient or one less. The rest is below 2 m, which fits, so one
    /// comparison corrects it (Barrett, "Implementing the Rivest Shamir and Adleman public key encryption algorithm on
    /// a standard digital signal processor", 1986).
    #[inline]
    pub fn reduce(&self, x: u64) -> u64 {
        let quotient = ((u128::from(x) * u128::from(self.reciprocal)) >> 64) as u64;
        // At most x, since the quotient is at most x / m.
        let rest = x - quotient * self.modulus;
        if rest >= self.modulus { rest - self.modulus } else { rest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_are_those_of_division() {
        let edges = |n: u64| [n.saturating_sub(1), n, n.saturating_add(1)];
        let numbers: Vec<u64> = (0..64)
            .flat_map(|i| edges(1 << i))
            .chain((0..200).map(|i| crate::bits::mix(i) >> (i % 64)))
            .chain(edges(u64::MAX))
            .collect();
        for &m in &numbers {
            let Some(modulus) = Modulus::new(m) else {
                assert!(m == 0 || m > 1 << 63);
                continue;
            };
            for &x in &numbers {
                let multiple = x / m * m;
                for x in [x, multiple, multiple.saturating_sub(1)] {
                    assert_eq!(modulus.reduce(x), x % m, "{x} modulo {m}");
                }
            }
        }
    }
}
