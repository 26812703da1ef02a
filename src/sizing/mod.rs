//! False-positive rates and sizes, as pure functions: those that several kinds share. The others are in `sizing` of the
//! kind's own folder, and this table lists all of them.
//!
//! Counts are `u64`, numbers of hashes `u32`, results `f64`; rates and probabilities are fractions, not percentages. No
//! function panics, whatever its arguments. A filter that holds no keys has rate 0. A filter without bits or without
//! hashes answers yes to everything and has rate 1. A size that cannot be reached is `None`. Each function says what it
//! does at the edges.
//!
//! Notation: `n` keys, `m` bits, `k` hashes, `rho = k n / m`, `X` the number of bits that are set.
//!
//! | formula | function | source |
//! |---|---|---|
//! | `E[(X/m)^k]`, the exact rate | [`bloom::exact`] | Bose et al. 2008; Christensen, Roginsky, Jimeno 2010 |
//! | `(1 - (1-1/m)^(kn))^k` | [`bloom::classical`] | Bloom 1970, Mullin 1983 |
//! | `(1 - e^-rho)^k` | [`bloom::asymptotic`] | Broder and Mitzenmacher 2004 |
//! | `(1 - e^(-k(n+1/2)/(m-1)))^k`, an upper bound | [`bloom::goel_gupta_bound`] | Goel and Gupta 2010 |
//! | k distinct positions a key | [`bloom::distinct_exact`] | inclusion and exclusion over hypergeometric draws |
//! | k slices, `(1 - (1-1/s)^n)^k` | [`bloom::partitioned_exact`] | Mullin 1983 |
//! | least m, with its integer k | [`bloom::size_for`], [`bloom::partitioned_size_for`] | search on the exact rate |
//! | the same, nearly, to decide sizes with | [`series`] | cumulants of the occupied cells |
//! | dependent probes: double, enhanced double, triple hashing | [`dependent`] | see there |
//! | concentration of X | [`bloom::azuma_bound`] | Azuma 1967, Hoeffding; Mitzenmacher and Upfal |
//! | `(X/m)^k` | [`bloom::from_fill`] | by definition |
//! | `-(m/k) ln(1 - X/m)` keys | [`bloom::cardinality`] | Swamidass and Baldi 2007 |
//! | keys in both of two filters | [`crate::estimate_overlap`] | Papapetrou, Siberski, Nejdl 2010 |
//! | blocks: a Binomial or Poisson mixture | [`mixture::binomial`], [`mixture::poisson`] | Putze et al. 2009 |
//! | 512-bit blocks, k of sixteen lanes | `kinds/blocked` | the same, by inclusion and exclusion over the lanes |
//! | the same with counters | `kinds/counting` | the same, with as many places as a lane has counters |
//! | 256-bit split blocks | `kinds/split_block` | the same, for the eight lanes of the Parquet layout |
//! | 512-bit blocks, k bits anywhere | `kinds/rocksdb_bloom` | the exact rate of each block, averaged |
//! | chains of levels, `1 - prod(1 - P_i)` | [`levels`] | Almeida et al. 2007 |
//! | hash compaction, `p (S ln(1 / (1 - n/S)) - n)` omissions | `kinds/hash_compaction` | Wolper and Leroy 1993 |
//! | age-partitioned filters, the probability of a run | `kinds/age_partitioned` | Shtul, Baquero, Almeida 2020 |
//! | stable filters, `(1 - (1 / (1 + 1/(P (1/k - 1/m))))^M)^k` at most | `kinds/stable` | Deng and Rafiei 2006 |
//! | cuckoo filters, `1 - (1 - 2 / (m (2^f - 1)))^n` | `kinds/cuckoo` | Fan et al. 2014 |
//! | quotient filters, `1 - (1 - 1/F)^n` | `kinds/quotient` | Bender et al. 2012; Pandey et al. 2017 |
//! | Aleph filters, `1 - prod(1 - 2^-K)` over entries of each growth | `kinds/aleph` | Dayan, Bercea and Pagh 2024 |
//! | taffy filters, `c 2^-K (1 + X/2)` after X growths | `kinds/taffy` | Apple 2022 |
//! | vector quotient filters, `1 - (1 - 2 / (m b 2^t))^n` | `kinds/vector_quotient` | Pandey et al. 2021 |
//! | d-left counting filters, `1 - (1 - 1 / (B 2^r))^n` | `kinds/d_left` | Bonomi et al. 2006 |
//! | counting filters with variable increments | `kinds/variable_increment` | Rottenstreich, Kanizo and Keslassy 2012 |
//! | omissions of any kind, the sum of its rates | [`omissions`] | Dillinger and Manolios 2004 |
//! | tables of cuckoo signatures, `d b a / (2^r - 1)` | `kinds/signatures` | Fountoulakis, Khosla and Panagiotou 2011 |
//! | two keys with the same hash, `1 - (1-2^-w)^n` | [`hash_floor`] | birthday argument |
//! | either of that and a structure's own rate | [`with_floor`], [`decisive`] | independent events |

pub mod bloom;
pub mod dependent;
mod distinct;
pub(crate) mod elementary;
pub mod levels;
pub mod lines;
pub mod mixture;
mod occupancy;
pub mod omissions;
pub(crate) mod search;
pub mod series;
mod zeros;

pub use bloom::{PartitionedSize, Size};
pub(crate) use elementary::{exp, ln, ln_1p_minus, one_minus_exp, pow};

/// The rate below which no filter over `hash_bits`-bit hashes can come: the probability that the hash of a fresh key
/// equals that of one of `keys` keys, `1 - (1 - 2^-w)^n`, about `n / 2^w`.
///
/// `keys = 0` gives 0, otherwise `hash_bits = 0` gives 1.
pub fn hash_floor(keys: u64, hash_bits: u32) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    // The probability that one given key has the same hash; 0 where 2^-w is less than the least f64.
    let same = (-f64::from(hash_bits)).exp2();
    hit_at_least_once(same, keys as f64)
}

/// The rate of a filter whose structure says yes with the probability `own`, and where a key's hash equals another's
/// with the probability `floor` ([`hash_floor`]).
pub fn with_floor(own: f64, floor: f64) -> f64 {
    floor + (1.0 - floor) * own
}

/// The rate by which a size is chosen. It is [`with_floor`], unless the floor is at most [`NEGLIGIBLE`] of `own`: then
/// it is only `own`. So whoever asks for exactly 2^-8 gets fingerprints of eight bits, although equal hashes take the
/// rate past 2^-8, by 5e-11 of it with 10^6 keys.
pub fn decisive(own: f64, floor: f64) -> f64 {
    if floor <= NEGLIGIBLE * own { own } else { with_floor(own, floor) }
}

/// The share of a rate up to which equal hashes do not count when a size is chosen.
pub const NEGLIGIBLE: f64 = 1e-4;

/// `1 - (1-p)^trials`, with full relative precision when it is tiny. `trials > 0`.
pub(crate) fn hit_at_least_once(p: f64, trials: f64) -> f64 {
    let x = -(trials * (-p).ln_1p());
    // The third term of the series is lost in f64. mingw's function is off by a few last digits here.
    if x < 7e-9 { x - x * x / 2.0 } else { -(-x).exp_m1() }
}

/// The probability that a number below `range` is one of `keys` numbers below it: `1 - (1 - 1/F)^n`. Without keys the
/// result is 0; with keys a range of 0 or 1 gives 1.
pub fn rate_in_range(range: u64, keys: u64) -> f64 {
    match (range, keys) {
        (_, 0) => 0.0,
        (0 | 1, _) => 1.0,
        _ => hit_at_least_once(1.0 / range as f64, keys as f64),
    }
}

/// The false-positive rate of fingerprints of `bits` bits among `keys` keys.
///
/// The fingerprint of an absent key equals what the structure gives for it with probability `2^-bits`, whatever that
/// is. With probability `1 - (1 - 2^-64)^n` the key's hash is that of a key that is there. The rate is 0 without keys.
/// For `bits` above 1074 only the second probability is left.
pub fn fingerprint_rate(bits: u32, keys: u64) -> f64 {
    rate_of_fingerprints(bits, keys, with_floor)
}

/// The rate by which the bits of fingerprints are chosen ([`decisive`]).
pub fn decisive_fingerprint_rate(bits: u32, keys: u64) -> f64 {
    rate_of_fingerprints(bits, keys, decisive)
}

fn rate_of_fingerprints(bits: u32, keys: u64, both: fn(f64, f64) -> f64) -> f64 {
    if keys == 0 { 0.0 } else { both((-f64::from(bits)).exp2(), hash_floor(keys, 64)) }
}

/// Whether a target rate is one that can be asked for: inside (0, 1), so not NaN.
pub(crate) fn is_rate(rate: f64) -> bool {
    rate > 0.0 && rate < 1.0
}

#[cfg(test)]
mod tests {
    use super::hit_at_least_once;

    /// One trial hits with its own rate, and two with 2p - p^2, where the series is taken and where it is not.
    #[test]
    fn tiny_rates_are_exact() {
        for p in [1e-300, 1e-17, 1e-12, 3e-10, 3.4e-9, 6.9e-9, 7.1e-9, 1e-7, 1e-3] {
            for (trials, exact) in [(1.0, p), (2.0, p * (2.0 - p))] {
                let hit = hit_at_least_once(p, trials);
                assert!((hit / exact - 1.0).abs() <= 4.0 * f64::EPSILON, "{p} in {trials} trials: {hit}");
            }
        }
    }
}
