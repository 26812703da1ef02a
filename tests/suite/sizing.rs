//! False-positive rates and sizes compared with published values, recomputed values, brute force, simulation and each
//! other.

use petal::kinds::blocked::layout::masks;
use petal::kinds::{blocked, split_block};
use petal::sizing::{PartitionedSize, Size, bloom, hash_floor, mixture, series};
use proptest::prelude::*;

/// Asserts that |got / want - 1| <= tolerance. If `want` is 0, `got` has to be 0.
#[track_caller]
fn close(got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance * want.abs(), "got {got:e}, want {want:e}");
}

/// Asserts that a number equals a printed one, to half a unit of its last digit.
#[track_caller]
fn printed(got: f64, want: &str) {
    let mantissa = want.split('e').next().unwrap_or(want);
    let decimals = mantissa.split('.').nth(1).map_or(0, str::len) as i32;
    let exponent = want.split('e').nth(1).map_or(0, |e| e.parse::<i32>().unwrap());
    let unit = 10_f64.powi(exponent - decimals);
    assert!((got - want.parse::<f64>().unwrap()).abs() <= 0.5001 * unit, "got {got:e}, printed {want}");
}

// ---- Brute force -------------------------------------------------------------------------------------------------

/// The distribution of the number of occupied cells after `balls` balls in `m` cells, computed ball by ball.
fn occupied(m: usize, balls: usize) -> Vec<f64> {
    let mut p = vec![0.0; m + 1];
    p[0] = 1.0;
    for _ in 0..balls {
        for x in (1..=m).rev() {
            p[x] = p[x] * (x as f64 / m as f64) + p[x - 1] * ((m + 1 - x) as f64 / m as f64);
        }
        p[0] = 0.0;
    }
    p
}

/// E[(X/m)^k] over the distribution of [`occupied`].
fn brute(m: usize, k: usize, n: usize) -> f64 {
    occupied(m, k * n).iter().enumerate().map(|(x, p)| p * (x as f64 / m as f64).powi(k as i32)).sum()
}

/// C(a, b) as a product.
fn choose(a: usize, b: usize) -> f64 {
    if b > a { 0.0 } else { (0..b).fold(1.0, |c, i| c * (a - i) as f64 / (i + 1) as f64) }
}

/// The rate with k distinct positions per key, E[C(X,k) / C(m,k)], computed key by key.
fn brute_distinct(m: usize, k: usize, n: usize) -> f64 {
    let mut p = vec![0.0; m + 1];
    p[0] = 1.0;
    for _ in 0..n {
        let mut next = vec![0.0; m + 1];
        for x in 0..=m {
            for new in 0..=k.min(m - x) {
                next[x + new] += p[x] * choose(m - x, new) * choose(x, k - new) / choose(m, k);
            }
        }
        p = next;
    }
    p.iter().enumerate().map(|(x, p)| p * choose(x, k) / choose(m, k)).sum()
}

/// The textbook form: inclusion and exclusion in plain f64, which is accurate for few hashes.
fn textbook(m: u64, k: u32, n: u64) -> f64 {
    // The probabilities that k probes fall on j different cells.
    let mut different = vec![1.0];
    for _ in 0..k {
        let mut next = vec![0.0; different.len() + 1];
        for (j, p) in different.iter().enumerate() {
            next[j] += p * j as f64 / m as f64;
            next[j + 1] += p * (1.0 - j as f64 / m as f64);
        }
        different = next;
    }
    let balls = f64::from(k) * n as f64;
    let all = |j: usize| -> f64 {
        (0..=j)
            .map(|t| (-1.0_f64).powi(t as i32) * choose(j, t) * (balls * (-(t as f64) / m as f64).ln_1p()).exp())
            .sum()
    };
    different.iter().enumerate().map(|(j, p)| p * all(j)).sum()
}

// ---- The classic filter ------------------------------------------------------------------------------------------

#[test]
fn by_hand() {
    // With two bits, two hashes and one key both throws fall on one bit in half of the cases.
    close(bloom::exact(2, 2, 1), 10.0 / 16.0, 1e-14);
    close(bloom::classical(2, 2, 1), 9.0 / 16.0, 1e-14);
    // With one hash the rate is the chance that one of n keys has the same cell.
    close(bloom::exact(10, 1, 1), 0.1, 1e-14);
    close(bloom::exact(10, 1, 2), 0.19, 1e-14);
    assert_eq!(bloom::exact(1, 7, 1), 1.0);
    assert_eq!(bloom::distinct_exact(2, 2, 1), 1.0);
    close(bloom::distinct_exact(10, 3, 1), 1.0 / 120.0, 1e-13);
    close(bloom::partitioned_exact(2, 2, 1), 0.25, 1e-14);
}

#[test]
fn table_of_rates() {
    // Each row has m, n, k, and the rates: exact, classical, asymptotic, Goel-Gupta, with distinct positions.
    let rows: [(u64, u64, u32, [&str; 5]); 8] = [
        (10, 2, 3, ["0.11209753", "0.10287097", "0.09184884", "0.18074718", "0.09826389"]),
        (18, 3, 3, ["0.06860827", "0.06504055", "0.06091618", "0.09783728", "0.06017266"]),
        (32, 4, 3, ["0.03287857", "0.03179820", "0.03057935", "0.04400509", "0.02869695"]),
        (64, 8, 5, ["0.02341609", "0.02230073", "0.02167922", "0.02843291", "0.02192117"]),
        (128, 10, 7, ["0.002537401", "0.002402623", "0.002353634", "0.003162215", "0.002289369"]),
        (1024, 100, 7, ["0.007366258", "0.007319840", "0.007302421", "0.007517755", "0.007317868"]),
        (1024, 64, 11, ["4.680805e-4", "4.604276e-4", "4.587107e-4", "4.904401e-4", "4.602400e-4"]),
        (4096, 400, 7, ["0.007318350", "0.007306771", "0.007302421", "0.007355796", ""]),
    ];
    for (m, n, k, want) in rows {
        printed(bloom::exact(m, k, n), want[0]);
        printed(bloom::classical(m, k, n), want[1]);
        printed(bloom::asymptotic(m, k, n), want[2]);
        printed(bloom::goel_gupta_bound(m, k, n), want[3]);
        if !want[4].is_empty() {
            printed(bloom::distinct_exact(m, k, n), want[4]);
        }
    }
    printed(bloom::asymptotic(2, 2, 1), "0.39958");
    printed(bloom::goel_gupta_bound(2, 2, 1), "0.90290");
    printed(bloom::exact(9_585_059, 7, 1_000_000), "0.01003922");
    printed(bloom::classical(9_585_059, 7, 1_000_000), "0.01003921705");
    printed(bloom::asymptotic(9_585_059, 7, 1_000_000), "0.0100392");
    printed(bloom::partitioned_exact(146, 7, 100), "0.00749674");
    printed(bloom::partitioned_exact(18, 7, 10), "0.00296488");
}

#[test]
fn exact_at_awkward_geometries() {
    // The values come from the inclusion-exclusion form with several hundred digits.
    let rows: [(u64, u32, u64, f64); 15] = [
        (200, 14, 10, 7.875999770231532e-5),
        (4096, 14, 200, 5.3756244504239715e-5),
        (64, 40, 1, 1.4094001669919103e-12),
        (10_000_000_000_000, 30, 100_000_000_000, 2.5593755154764256e-18),
        (64, 64, 1, 1.0971049484501665e-10),
        (4, 25, 1, 0.9969922699987713),
        (2, 64, 1, 1.0),
        (1024, 64, 16, 2.908962164449841e-13),
        (1 << 45, 64, 1_000_000_000_000, 1.2059480466533847e-5),
        (1 << 45, 31, 780_000_000_000, 3.872814049589724e-10),
        (9_585_059, 7, 1_000_000, 0.010039223613456863),
        (1_000_000, 20, 20_000, 2.300836048537494e-10),
        (10_000_000_000_000, 10, 3, 5.904899999926144e-116),
        (1000, 256, 3, 3.262191003365995e-66),
        (100_000, 200, 400, 1.5966180343225646e-52),
    ];
    for (m, k, n, want) in rows {
        close(bloom::exact(m, k, n), want, 1e-13);
    }
}

#[test]
fn exact_is_the_brute_force_value() {
    let mut seen = 0;
    for m in [2, 3, 4, 5, 7, 8, 11, 16, 23, 32, 47, 64, 100] {
        for k in [1, 2, 3, 4, 5, 7, 10, 13, 16, 20, 27, 33, 40] {
            for n in [1, 2, 3, 4, 5, 8, 13, 21] {
                close(bloom::exact(m as u64, k as u32, n as u64), brute(m, k, n), 1e-12);
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 13 * 13 * 8);
    close(bloom::exact(200, 14, 10), brute(200, 14, 10), 1e-12);
    close(bloom::exact(4096, 14, 200), brute(4096, 14, 200), 1e-12);
    close(bloom::exact(3000, 64, 5), brute(3000, 64, 5), 1e-12);
}

#[test]
fn exact_has_no_seams() {
    // The method of evaluation changes at these places: 32 throws, a radius (about kn - k/2) of 64, 50 throws per cell.
    for m in [6, 40, 300] {
        for (k, n) in [(2, 15), (2, 16), (2, 17), (3, 10), (3, 11), (31, 1), (32, 1), (33, 1)] {
            close(bloom::exact(m as u64, k as u32, n as u64), brute(m, k, n), 1e-13);
        }
        for n in 28..40 {
            close(bloom::exact(m as u64, 2, n as u64), brute(m, 2, n), 1e-13);
        }
        for k in 55..=64 {
            close(bloom::exact(m as u64, k as u32, 1), brute(m, k, 1), 1e-13);
            close(bloom::exact(m as u64, k as u32, 2), brute(m, k, 2), 1e-13);
        }
    }
    for n in 240..260 {
        close(bloom::exact(10, 2, n as u64), brute(10, 2, n), 1e-13);
    }
    // Beyond the greatest number of hashes of the exact form the library gives an upper bound.
    let (last, next) = (bloom::exact(4000, 256, 10), bloom::exact(4000, 257, 10));
    assert_eq!(next, bloom::goel_gupta_bound(4000, 257, 10));
    assert!(bloom::goel_gupta_bound(4000, 256, 10) > last);
}

#[test]
fn exact_agrees_with_other_methods_where_they_are_good() {
    for m in [50, 1000, 65_536, 10_000_019, 1 << 40] {
        for k in 1..=6 {
            for per_key in [6, 8, 11] {
                let n = m / per_key;
                close(bloom::exact(m, k, n), textbook(m, k, n), 1e-10);
            }
        }
    }
    // The value comes from the first two moments of X. The error is of the order (k sd / mean)^3.
    for (m, k, n) in [(9_585_059, 7, 1_000_000), (1 << 36, 14, 3_000_000_000), (1 << 45, 30, 800_000_000_000_u64)] {
        let mean = m as f64 - bloom::expected_zeros(m, k, n);
        let relative = bloom::zeros_sd(m, k, n) / mean;
        let pairs = f64::from(k * (k - 1) / 2);
        let want = (mean / m as f64).powi(k as i32) * (1.0 + pairs * relative * relative);
        close(bloom::exact(m, k, n), want, 1e-10 + (f64::from(k) * relative).powi(3));
    }
}

#[test]
fn distinct_positions_by_brute_force() {
    for m in [5, 8, 13, 20, 31] {
        for k in [1, 2, 3, 4, 6, 9] {
            for n in [1, 2, 3, 5, 9, 16] {
                if k < m {
                    close(bloom::distinct_exact(m as u64, k as u32, n as u64), brute_distinct(m, k, n), 1e-11);
                }
            }
        }
    }
    // With fewer than 2k bits two keys overlap.
    for (m, k, n) in [(38, 20, 2), (60, 33, 2), (60, 33, 3), (75, 40, 2)] {
        close(bloom::distinct_exact(m as u64, k as u32, n as u64), brute_distinct(m, k, n), 1e-11);
    }
    // With one key the rate is 1 / C(m,k), far below what alternating sums resolve.
    close(bloom::distinct_exact(1000, 30, 1), 1.0 / choose(1000, 30), 1e-11);
    // With many bits positions hardly ever coincide.
    close(bloom::distinct_exact(1 << 40, 30, 20_000_000_000), bloom::exact(1 << 40, 30, 20_000_000_000), 1e-8);
    // Beyond the greatest number of hashes of the exact form the value is an upper bound near the exact one.
    close(bloom::distinct_exact(100_000, 257, 200), bloom::distinct_exact(100_000, 256, 200), 0.5);
}

/// A small fixed generator for the simulations (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * u128::from(bound)) >> 64) as usize
    }

    /// The number of set bits in a filter of 128 bits after this number of throws.
    fn ones_of_128(&mut self, throws: u32) -> u64 {
        let bits = (0..throws).fold(0_u128, |bits, _| bits | 1 << self.below(128));
        u64::from(bits.count_ones())
    }
}

#[test]
fn exact_by_simulation() {
    let (mut random, filters) = (Random(7), 400_000);
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..filters {
        let rate = bloom::from_fill(128, 7, random.ones_of_128(70));
        sum += rate;
        squares += rate * rate;
    }
    let mean = sum / f64::from(filters);
    let error = ((squares / f64::from(filters) - mean * mean) / f64::from(filters)).sqrt();
    let want = bloom::exact(128, 7, 10);
    assert!((mean - want).abs() < 4.5 * error, "{mean} +- {error}, want {want}");
    // The simulation is so precise that it refutes the classical formula.
    assert!((mean - bloom::classical(128, 7, 10)).abs() > 20.0 * error);
}

#[test]
fn best_number_of_hashes() {
    // Each row has bits per key, the best k, and the asymptotic rate.
    let rows = [
        (4, 3, "0.1469"),
        (8, 6, "0.021577"),
        (10, 7, "0.0081937"),
        (12, 8, "0.0031424"),
        (16, 11, "0.00045871"),
        (20, 14, "6.7137e-5"),
    ];
    let n = 1_000_000_000;
    for (c, k, rate) in rows {
        assert_eq!(bloom::optimal_hashes(c * n, n, 64), k);
        printed(bloom::asymptotic(c * n, k, n), rate);
    }
    printed(bloom::asymptotic(8 * n, 5, n), "0.0217");
    assert_eq!(bloom::optimal_hashes(20 * n, n, 5), 5);
    for (bits, keys) in [(1, 1), (7, 1), (10, 2), (30, 1), (100, 90), (100, 500), (211, 9), (1024, 100)] {
        let least = (1..=64).fold((2.0, 0), |best, k| {
            let rate = bloom::exact(bits, k, keys);
            if rate < best.0 { (rate, k) } else { best }
        });
        assert_eq!(bloom::optimal_hashes(bits, keys, 64), least.1, "{bits} bits, {keys} keys");
    }
}

#[test]
fn textbook_sizes() {
    // Each row has n, the rate, m = ceil(-n ln rate / ln^2 2), and k = round(k*). The rate of these is a little too
    // high, so the size that keeps the rate is larger.
    let rows = [
        (1000, 0.01, 9586, 7, ".0100345"),
        (1_000_000, 0.001, 14_377_588, 10, ".00100002"),
        (10_000_000, 1e-4, 191_701_168, 13, ".000100135"),
        (1_000_000_000, 0.01, 9_585_058_378, 7, ".0100392"),
    ];
    for (n, rate, m, k, achieved) in rows {
        printed(bloom::asymptotic(m, k, n), achieved);
        assert!(bloom::exact(m, k, n) > rate);
        let size = bloom::size_for(n, rate, 64).unwrap();
        assert_eq!(size.hashes, k);
        assert!(size.bits > m && size.bits < m + m / 500, "{size:?}");
    }
    for (rate, per_key) in
        [(0.1, 4.7925), (0.01, 9.5851), (0.001, 14.3776), (1e-4, 19.1701), (1e-6, 28.7552), (1e-9, 43.1328)]
    {
        let size = bloom::size_for(1_000_000_000, rate, 64).unwrap();
        let got = size.bits as f64 / 1e9;
        assert!(got >= per_key - 5e-5 && got < per_key * 1.008, "{rate}: {got}");
    }
}

/// Rates from 0.5 to 1e-12, and some that are not round.
fn rates() -> impl Iterator<Item = f64> {
    (0..=12).map(|i| 0.5 * 10_f64.powi(-i)).chain([0.9, 0.37, 0.1, 0.01, 0.001, 1e-6, 3.3e-9, 1e-12])
}

/// 1, 2, 3, 7, 10, 30, 70, 100 ... 10^12.
fn numbers_of_keys() -> impl Iterator<Item = u64> {
    (0..12).flat_map(|e| [1, 3, 7].map(|d| d * 10_u64.pow(e))).chain([2, 1_000_000_000_000])
}

#[test]
fn sizes_are_strict_and_least() {
    for n in numbers_of_keys() {
        for rate in rates() {
            let Size { bits, hashes } = bloom::size_for(n, rate, 64).unwrap();
            assert!(bloom::exact(bits, hashes, n) <= rate, "{n} keys at {rate}");
            // One bit less misses the rate, with this number of hashes and with those around it.
            for k in hashes.saturating_sub(3).max(1)..=(hashes + 3).min(64) {
                assert!(bloom::exact(bits - 1, k, n) > rate, "{n} keys at {rate}: {k} hashes");
            }
            if hashes > 1 {
                assert!(bloom::exact(bits, hashes - 1, n) > rate, "{n} keys at {rate}: fewer hashes do");
            }

            let PartitionedSize { slice_bits, hashes } = bloom::partitioned_size_for(n, rate, 64).unwrap();
            assert!(bloom::partitioned_exact(slice_bits, hashes, n) <= rate);
            for k in 1..=64 {
                let shorter = (slice_bits * u64::from(hashes) - 1) / u64::from(k);
                assert!(bloom::partitioned_exact(shorter, k, n) > rate, "{n} keys at {rate}: {k} slices");
            }
        }
    }
    // For few keys, where rounding to whole numbers matters most, the test tries every number of hashes.
    for n in 1..=12 {
        for rate in rates() {
            let Size { bits, .. } = bloom::size_for(n, rate, 64).unwrap();
            assert!((1..=64).all(|k| bloom::exact(bits - 1, k, n) > rate), "{n} keys at {rate}");
        }
    }
    // A limit of the number of hashes is kept, and costs bits.
    let (free, limited) = (bloom::size_for(1000, 1e-6, 64).unwrap(), bloom::size_for(1000, 1e-6, 8).unwrap());
    assert!(limited.hashes == 8 && limited.bits > free.bits);
    assert!(bloom::exact(limited.bits, 8, 1000) <= 1e-6 && bloom::exact(limited.bits - 1, 8, 1000) > 1e-6);
}

#[test]
fn sizes_out_of_reach() {
    for rate in [0.0, 1.0, -0.1, 1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(bloom::size_for(100, rate, 64), None);
        assert_eq!(bloom::partitioned_size_for(100, rate, 64), None);
        assert_eq!(split_block::sizing::blocks_for(100, rate), None);
    }
    assert_eq!(bloom::size_for(100, 0.01, 0), None);
    assert_eq!(bloom::partitioned_size_for(100, 0.01, 0), None);
    assert_eq!(bloom::size_for(u64::MAX, 0.01, 64), None);
    assert_eq!(bloom::partitioned_size_for(u64::MAX, 0.01, 64), None);
    assert_eq!(split_block::sizing::blocks_for(u64::MAX, 0.01), None);
    // The last sizes below 2^63: at 1 % a key takes 9.6 bits.
    assert!(bloom::size_for(950_000_000_000_000_000, 0.01, 64).is_some());
    assert!(bloom::size_for(970_000_000_000_000_000, 0.01, 64).is_none());
    assert!(split_block::sizing::blocks_for(104_000_000_000, 0.01).is_some());
    assert!(split_block::sizing::blocks_for(105_000_000_000, 0.01).is_none());
    // A filter for no keys has the least size.
    assert_eq!(bloom::size_for(0, 0.01, 64), Some(Size { bits: 1, hashes: 1 }));
    assert_eq!(bloom::partitioned_size_for(0, 0.01, 64), Some(PartitionedSize { slice_bits: 1, hashes: 1 }));
    assert_eq!(split_block::sizing::blocks_for(0, 0.01), Some(1));
    // These rates lie at the end of the range of f64.
    let tiny = bloom::size_for(1, 1e-300, 256).unwrap();
    assert!(bloom::exact(tiny.bits, tiny.hashes, 1) <= 1e-300);
    assert!(bloom::size_for(1000, f64::from_bits(1), 64).is_some());
    assert!(bloom::size_for(1000, 1.0 - f64::EPSILON, 64).is_some());
}

// ---- The same sizes as by plain search ---------------------------------------------------------------------------

/// The least x from 1 on for which `holds`, by doubling and then halving. Sizing must give the same.
fn plain_search(mut holds: impl FnMut(u64) -> bool) -> u64 {
    let mut above = 1;
    while !holds(above) {
        above *= 2;
    }
    let mut below = above / 2;
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if holds(middle) { above = middle } else { below = middle }
    }
    above
}

/// Random numbers of keys up to 2^30 and rates down to `2^-least`.
fn random_goals(count: usize, least: f64) -> impl Iterator<Item = (u64, f64)> {
    let mut random = Random(11);
    let mut share = move || random.below(1 << 53) as f64 / (1_u64 << 53) as f64;
    (0..count).map(move |_| (((30.0 * share()).exp2()) as u64, (-0.01 - least * share()).exp2()))
}

#[test]
fn sizes_are_those_of_the_exact_search() {
    for (n, rate) in random_goals(500, 39.0) {
        let Size { bits, hashes } = bloom::size_for(n, rate, 64).unwrap();
        let exact = |hashes| plain_search(|bits| bloom::exact(bits, hashes, n) <= rate);
        assert_eq!(bits, exact(hashes), "{n} keys at {rate}");
        for other in [hashes - 1, hashes + 1].into_iter().filter(|other| (1..=64).contains(other)) {
            let other_bits = exact(other);
            assert!(other_bits > bits || other_bits == bits && other > hashes, "{n} keys at {rate}: {other} hashes");
        }
    }
    for (n, rate) in random_goals(500, 39.0) {
        let each = |hashes| (plain_search(|bits| bloom::partitioned_exact(bits, hashes, n) <= rate), hashes);
        let fewest = if rate < 1e-6 { 2 } else { 1 };
        let least =
            (fewest..=64).map(each).min_by_key(|(slice, hashes)| (slice * u64::from(*hashes), *hashes)).unwrap();
        let size = bloom::partitioned_size_for(n, rate, 64).unwrap();
        assert_eq!((size.slice_bits, size.hashes), least, "{n} keys at {rate}");
    }
    for (n, rate) in random_goals(3000, 39.0) {
        let blocks = split_block::sizing::blocks_for(n, rate);
        let within = split_block::sizing::false_positive_rate(u64::from(u32::MAX), n) <= rate;
        let by_search =
            within.then(|| plain_search(|blocks| split_block::sizing::false_positive_rate(blocks, n) <= rate));
        assert_eq!(blocks, by_search, "{n} keys at {rate}");
    }
    for (n, rate) in random_goals(300, 19.0) {
        use blocked::two_blocks;
        let size = two_blocks::size_for(n, rate).unwrap();
        let by_search = plain_search(|blocks| two_blocks::false_positive_rate(blocks, size.hashes, n) <= rate);
        let noise = size.blocks as f64 * 1e-7;
        assert!(size.blocks.abs_diff(by_search) as f64 <= noise, "{n} keys at {rate}: {size:?}, {by_search}");
    }
    for (n, rate) in random_goals(3000, 19.0) {
        let size = blocked::sizing::size_for(n, rate).unwrap();
        let by_search = plain_search(|blocks| blocked::sizing::false_positive_rate(blocks, size.hashes, n) <= rate);
        // The sum has an absolute error of 1e-12. Where there are very many blocks, the error decides between sizes.
        let noise = size.blocks as f64 * 1e-12 / rate;
        assert!(size.blocks.abs_diff(by_search) as f64 <= noise, "{n} keys at {rate}: {size:?}, {by_search}");
    }
}

/// The best number of lanes changes at the rates and bits per key of the table. The test finds these places by halving.
#[test]
fn best_numbers_of_lanes_change_where_the_table_says() {
    for lanes in 1..16 {
        let (fewer, more) = (blocked::sizing::Terms::of(lanes), blocked::sizing::Terms::of(lanes + 1));
        let (mut low, mut high) = (0.5 * f64::from(lanes), 4.0 * f64::from(lanes));
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if more.poisson(middle) < fewer.poisson(middle) { high = middle } else { low = middle }
        }
        assert_eq!(blocked::sizing::optimal_hashes(high * (1.0 - 1e-4)), lanes);
        assert_eq!(blocked::sizing::optimal_hashes(high * (1.0 + 1e-4)), lanes + 1);
        let rate = fewer.poisson(high);
        assert_eq!(blocked::sizing::size_for(1000, rate * (1.0 + 1e-4)).unwrap().hashes, lanes);
        assert_eq!(blocked::sizing::size_for(1000, rate * (1.0 - 1e-4)).unwrap().hashes, lanes + 1);
    }
}

/// The table of best numbers of bits for keys whose bits lie in two blocks. With many blocks the rate is the square of
/// the rate of one share.
#[test]
fn best_numbers_of_bits_in_two_blocks_change_where_the_table_says() {
    use blocked::two_blocks;
    for lanes in 1..16 {
        let (fewer, more) = (blocked::sizing::Terms::of(lanes), blocked::sizing::Terms::of(lanes + 1));
        let (mut low, mut high) = (1.0 * f64::from(lanes), 8.0 * f64::from(lanes));
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            // There are twice as many shares as keys.
            if more.poisson(0.5 * middle) < fewer.poisson(0.5 * middle) { high = middle } else { low = middle }
        }
        assert_eq!(two_blocks::optimal_hashes(high * (1.0 - 1e-4)), 2 * lanes);
        assert_eq!(two_blocks::optimal_hashes(high * (1.0 + 1e-4)), 2 * lanes + 2);
        let rate = fewer.poisson(0.5 * high).powi(2);
        assert_eq!(two_blocks::size_for(1000, rate * (1.0 + 1e-3)).unwrap().hashes, 2 * lanes);
        assert_eq!(two_blocks::size_for(1000, rate * (1.0 - 1e-3)).unwrap().hashes, 2 * lanes + 2);
    }
}

/// The stated bound on the error of the series is at least four times the real error.
#[test]
fn the_series_is_within_its_error() {
    let mut compared = 0;
    for hashes in [2, 3, 4, 5, 6, 7, 8, 10, 13, 16, 20, 27, 33, 40, 50, 64] {
        for keys in [1, 2, 3, 5, 7, 10, 13, 20, 30, 50, 100, 200, 500, 1000, 10_000, 1_000_000, 1_000_000_000] {
            for probes_a_bit in [0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.69, 0.8, 1.0, 1.3, 1.7, 2.0, 2.5, 3.0] {
                let bits = (f64::from(hashes) * keys as f64 / probes_a_bit).round() as u64;
                if let Some(near) = series::ln_rate(bits, hashes, keys) {
                    let off = (near.ln - bloom::exact(bits, hashes, keys).ln()).abs();
                    assert!(off <= 0.25 * near.error, "{bits} {hashes} {keys}: {off:e}, {:e}", near.error);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 3000, "{compared}");
}

// ---- Fill --------------------------------------------------------------------------------------------------------

#[test]
fn concentration() {
    let (m, k, n) = (10_000, 7, 1000);
    printed(bloom::expected_zeros(m, k, n), "4965.68");
    printed(bloom::azuma_deviation(1e-6, k, n), "225.3");
    close(bloom::azuma_bound(bloom::azuma_deviation(1e-6, k, n), k, n), 1e-6, 1e-12);
    printed(bloom::zeros_sd(m, k, n), "27.8");
    // The relative standard deviation of one filter's rate is 3.9 %.
    printed(7.0 * bloom::zeros_sd(m, k, n) / (1e4 - bloom::expected_zeros(m, k, n)), "0.039");
    // The values were computed with 80 digits.
    let rows: [(u64, u32, u64, f64); 13] = [
        (10_000, 7, 1000, 27.81568072585506),
        (1_000_000, 2, 1, 0.000999999499999875),
        (1_000_000, 1, 300, 0.21172549515637742),
        (1_000_000, 7, 140, 0.6920464167335388),
        (1_000_000, 7, 150, 0.7414602976454101),
        (1_000_000_000_000, 7, 1000, 0.00494939387342174),
        (10_000_000_000_000, 7, 1_000_000_000, 1564.3347999516932),
        (1002, 3, 1, 0.05464476043917429),
        (2, 2, 1, 0.5),
        (3, 2, 2, 0.5616944773371519),
        (10, 3, 4, 1.0160728140063333),
        (1 << 50, 30, 1_000_000_000_000, 618325.8143735398),
        (1 << 40, 1, 2, 9.536743164058163e-7),
    ];
    for (m, k, n, want) in rows {
        close(bloom::zeros_sd(m, k, n), want, 1e-9);
    }
    assert_eq!(bloom::zeros_sd(1000, 1, 1), 0.0);
    let p = occupied(30, 24);
    let mean: f64 = p.iter().enumerate().map(|(x, p)| p * x as f64).sum();
    let variance: f64 = p.iter().enumerate().map(|(x, p)| p * (x as f64 - mean).powi(2)).sum();
    close(30.0 - bloom::expected_zeros(30, 3, 8), mean, 1e-12);
    close(bloom::zeros_sd(30, 3, 8), variance.sqrt(), 1e-11);
}

#[test]
fn interval_of_rates() {
    let (low, high) = bloom::false_positive_rate_interval(128, 7, 10, 0.9);
    let exact = bloom::exact(128, 7, 10);
    assert!(low < exact && exact < high);
    let mut random = Random(3);
    let inside = (0..10_000)
        .filter(|_| {
            let rate = bloom::from_fill(128, 7, random.ones_of_128(70));
            low <= rate && rate <= high
        })
        .count();
    assert!(inside >= 9_000, "{inside}");
    // Intervals are narrower for larger filters and for lower confidence.
    let width = |(low, high): (f64, f64)| high / low - 1.0;
    let large = width(bloom::false_positive_rate_interval(10_000_000, 7, 1_000_000, 0.999));
    assert!(large < 0.02 && large > 0.0);
    assert!(width(bloom::false_positive_rate_interval(10_000_000, 7, 1_000_000, 0.9)) < large);
    // At a confidence of 1 the interval holds every possible X, from one bit to as many as there are throws.
    let (low, high) = bloom::false_positive_rate_interval(1000, 2, 3, 1.0);
    close(low, 1e-6, 1e-12);
    close(high, 36e-6, 1e-12);
    assert_eq!(bloom::false_positive_rate_interval(1000, 2, 3, f64::NAN), (low, high));
    let (low, high) = bloom::false_positive_rate_interval(1000, 2, 3, 0.0);
    assert_eq!(low, high);
    assert_eq!(bloom::false_positive_rate_interval(1000, 1, 1, 0.5), (0.001, 0.001));
    assert_eq!(bloom::false_positive_rate_interval(1000, 2, 0, 0.5), (0.0, 0.0));
    assert_eq!(bloom::false_positive_rate_interval(0, 2, 3, 0.5), (1.0, 1.0));
}

#[test]
fn keys_from_fill() {
    for (ones, plain, exact) in [(100, "35.0753", "35.0582"), (400, "169.0697", "168.9872")] {
        printed(bloom::cardinality(1024, 3, ones).unwrap(), plain);
        printed(bloom::cardinality_exact_base(1024, 3, ones).unwrap(), exact);
    }
    printed(bloom::cardinality(1024, 3, 512).unwrap(), "236.5942");
    printed(bloom::cardinality(1024, 3, 700).unwrap(), "392.7819");
    printed(bloom::cardinality(1024, 3, 380).unwrap(), "158.3012");
    printed(bloom::cardinality(1024, 3, 600).unwrap(), "300.9667");
    let of = |ones| bloom::cardinality(1024, 3, ones).unwrap();
    let intersection = of(400) + of(380) - of(600);
    printed(intersection, "26.4042");
    printed(bloom::cardinality_standard_error(1_000_000, 7, 99_021), "79.1");
    printed(bloom::cardinality_standard_error(1024, 3, 200), "4.90");
    // The formula of Papapetrou et al. takes the bits that are set in both: X_and = X_a + X_b - X_or.
    let (m, k, a, b, both) = (1024.0_f64, 3.0, 400.0, 380.0, 180.0);
    let papapetrou = ((m - (both * m - a * b) / (m - a - b + both)).ln() - m.ln()) / (-k / m);
    close(intersection, papapetrou, 1e-9);

    assert_eq!(bloom::cardinality(1024, 3, 0), Some(0.0));
    assert_eq!(bloom::cardinality_exact_base(1, 3, 0), Some(0.0));
    for (bits, hashes, ones) in [(1024, 3, 1024), (1024, 3, 2000), (0, 3, 0), (1024, 0, 5)] {
        assert_eq!(bloom::cardinality(bits, hashes, ones), None);
        assert_eq!(bloom::cardinality_exact_base(bits, hashes, ones), None);
    }

    close(bloom::from_fill(1000, 3, 500), 0.125, 1e-14);
    assert_eq!(bloom::from_fill(1000, 3, 0), 0.0);
    assert_eq!(bloom::from_fill(1000, 3, 1000), 1.0);
    assert_eq!(bloom::from_fill(1000, 3, 5000), 1.0);
    assert_eq!(bloom::from_fill(0, 3, 0), 1.0);
    assert_eq!(bloom::from_fill(1000, 0, 0), 1.0);
}

#[test]
fn floor_of_the_hash() {
    assert_eq!(hash_floor(0, 32), 0.0);
    assert_eq!(hash_floor(5, 0), 1.0);
    close(hash_floor(1, 32), 1.0 / 4_294_967_296.0, 1e-14);
    close(hash_floor(1_000_000, 64), 1e6 / 2_f64.powi(64), 1e-13);
    close(hash_floor(1 << 40, 64), 2_f64.powi(-24), 1e-7);
    close(hash_floor(2, 1), 0.75, 1e-14);
    close(hash_floor(u64::MAX, 64), 1.0 - (-1.0_f64).exp(), 1e-12);
    assert_eq!(hash_floor(u64::MAX, u32::MAX), 0.0);
}

// ---- Blocks ------------------------------------------------------------------------------------------------------

/// The limit of the rate for many blocks, with `hashes` probes in one block of `block_bits`.
fn blocked(block_bits: f64, hashes: i32, bits_per_key: f64) -> f64 {
    mixture::poisson(block_bits / bits_per_key, |i| {
        (1.0 - (1.0 - 1.0 / block_bits).powf(f64::from(hashes) * i as f64)).powi(hashes)
    })
}

#[test]
fn blocked_filters() {
    // Blocks have 512 bits. Each row has bits per key, the best k, the rate, and the rate of the standard filter.
    let rows = [
        (8, 5, ".023121", ".021577"),
        (10, 7, ".0095712", ".0081937"),
        (12, 8, ".0040690", ".0031424"),
        (14, 9, ".0017974", ".0012012"),
        (16, 10, "8.2457e-4", "4.5871e-4"),
        (20, 11, "1.9147e-4", "6.7137e-5"),
        (24, 13, "5.1043e-5", "9.8386e-6"),
        (32, 15, "5.0259e-6", "2.1042e-7"),
    ];
    for (c, k, rate, standard) in rows {
        let got = blocked(512.0, k, f64::from(c));
        printed(got, rate);
        assert!((1..30).all(|other| blocked(512.0, other, f64::from(c)) >= got));
        let n = 1_000_000_000;
        let bits = c as u64 * n;
        printed(bloom::asymptotic(bits, bloom::optimal_hashes(bits, n, 64), n), standard);
    }
    // A key has two blocks, with half of its probes in each.
    let rows = [
        (8, 6, ".02186"),
        (10, 6, ".00863"),
        (12, 8, ".00331"),
        (16, 10, "5.346e-4"),
        (20, 14, "9.161e-5"),
        (24, 16, "1.656e-5"),
        (32, 20, "6.80e-7"),
    ];
    for (c, k, rate) in rows {
        // Twice as many keys touch a block, so the mean is 2 B / c.
        printed(blocked(512.0, k / 2, f64::from(c) / 2.0).powi(2), rate);
    }
    for (block_bits, c, k, rate) in [
        (256, 10, 6, ".010721"),
        (256, 16, 9, ".0012068"),
        (1024, 10, 7, ".0088807"),
        (1024, 16, 10, "6.370e-4"),
        (64, 10, 5, ".01705"),
        (64, 16, 6, ".003778"),
        (512, 10, 6, ".0095757"),
    ] {
        printed(blocked(f64::from(block_bits), k, f64::from(c)), rate);
    }
    // At the second number of bits per key the blocked filter has the rate of a standard filter with the first number.
    let rows =
        [(8, 8.16), (10, 10.35), (12, 12.61), (16, 17.55), (20, 23.14), (24, 29.53), (28, 36.96), (32, 45.66_f64)];
    for (c, needed) in rows {
        let n = 1_000_000_000;
        let standard = bloom::asymptotic(c * n, bloom::optimal_hashes(c * n, n, 64), n);
        let best = |c: f64| (1..40).map(|k| blocked(512.0, k, c)).fold(1.0, f64::min);
        assert!(best(needed + 0.0051) <= standard && best(needed - 0.0051) >= standard, "{c}");
    }
}

#[test]
fn blocked_tables() {
    for (c, hashes, rate) in [
        (8.0, 5, ".02321"),
        (10.0, 6, ".009646"),
        (12.0, 7, ".004135"),
        (16.0, 9, "8.46e-4"),
        (20.0, 11, "2.01e-4"),
        (24.0, 12, "5.5e-5"),
    ] {
        printed(blocked::sizing::Terms::of(hashes).poisson(c), rate);
        assert_eq!(blocked::sizing::optimal_hashes(c), hashes);
        let blocks = 1 << 24;
        let exact = blocked::sizing::false_positive_rate(blocks, hashes, (blocks as f64 * 512.0 / c) as u64);
        close(exact, blocked::sizing::Terms::of(hashes).poisson(c), 1e-5);
    }
}

/// The definition of the rate is a sum over every choice of lanes, of the key that is looked up and of two present
/// keys.
#[test]
fn blocked_by_definition() {
    assert_eq!(blocked::sizing::false_positive_rate(0, 5, 10), 1.0);
    assert_eq!(blocked::sizing::false_positive_rate(3, 5, 0), 0.0);
    for hashes in 1..=16 {
        // With one key the rate is the chance of the same lanes and of the same bit in each.
        let same = 1.0 / masks(hashes).len() as f64 / 32_f64.powi(hashes as i32);
        // The rate is a difference of numbers near one, which has an absolute error.
        let rate = blocked::sizing::Terms::of(hashes).block_rate(1);
        assert!((rate - same).abs() <= 1e-9 * same + 1e-12, "{hashes}: got {rate:e}, want {same:e}");
    }
    for hashes in 1..=3 {
        let all = masks(hashes);
        // A lane of one key matches with the probability 1/32, and a lane of both keys with 1 - (31/32)^2.
        let (one, both) = (1.0 / 32.0_f64, 1.0 - (31.0 / 32.0_f64).powi(2));
        let mut sum = 0.0;
        for looked_up in all {
            for first in all {
                for second in all {
                    if looked_up & !(first | second) == 0 {
                        let shared = (looked_up & first & second).count_ones() as i32;
                        sum += both.powi(shared) * one.powi(hashes as i32 - shared);
                    }
                }
            }
        }
        close(blocked::sizing::Terms::of(hashes).block_rate(2), sum / (all.len() as f64).powi(3), 1e-9);
    }
}

/// By definition a lookup finds a key if it finds both shares, which are independent. The rate is the mean of the
/// square of a share's rate, over the possible contents of the blocks. With one lane the test sums over all contents,
/// and with more lanes it takes random ones.
#[test]
#[ignore = "slow: make test-all"]
fn rates_in_two_blocks_are_mean_squares() {
    use blocked::two_blocks::false_positive_rate;
    assert_eq!(false_positive_rate(0, 4, 10), 1.0);
    assert_eq!(false_positive_rate(3, 4, 0), 0.0);
    let mut random = 0_u64;
    let mut below = |range: u64| {
        random += 1;
        ((u128::from(crate::common::mix(random)) * u128::from(range)) >> 64) as u64
    };
    for (blocks, keys) in [(1, 1), (1, 2), (2, 1), (2, 3), (3, 4), (7, 2)] {
        // With one lane a share sets one of 512 bits of its block, so only the number of set bits counts.
        let mut ways = vec![0.0; 2 * keys as usize + 1];
        ways[0] = 1.0;
        let bits = 512.0 * blocks as f64;
        for _ in 0..2 * keys {
            for ones in (0..ways.len()).rev() {
                let before = if ones > 0 { ways[ones - 1] * (1.0 - (ones - 1) as f64 / bits) } else { 0.0 };
                ways[ones] = ways[ones] * ones as f64 / bits + before;
            }
        }
        let mean: f64 = ways.iter().enumerate().map(|(ones, way)| way * (ones as f64 / bits).powi(2)).sum();
        close(false_positive_rate(blocks, 2, keys), mean, 1e-7);
    }
    for (lanes, blocks, keys) in [(2, 1, 40), (3, 1, 60), (4, 2, 50), (5, 1, 50), (7, 1, 30), (7, 3, 90), (8, 2, 60)] {
        let (sets, samples) = (masks(lanes), 20_000);
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..samples {
            let mut all = vec![[0_u32; 16]; blocks as usize];
            for _ in 0..2 * keys {
                let block = &mut all[below(blocks) as usize];
                let set = sets[below(sets.len() as u64) as usize];
                (0..16).filter(|lane| set >> lane & 1 == 1).for_each(|lane| block[lane] |= 1 << below(32));
            }
            let share: f64 = all.iter().map(|block| blocked::sizing::from_fill(block, lanes)).sum::<f64>();
            let rate = (share / blocks as f64).powi(2);
            sum += rate;
            squares += rate * rate;
        }
        let mean = sum / f64::from(samples);
        let error = ((squares / f64::from(samples) - mean * mean) / f64::from(samples)).sqrt();
        let exact = false_positive_rate(blocks, 2 * lanes, keys);
        let what = format!("{lanes} lanes, {blocks} blocks, {keys} keys: {mean:e}, {exact:e}");
        assert!((mean - exact).abs() < 4.5 * error && error < 0.02 * mean, "{what}");
    }
}

/// Two ways to compute low rates agree where both have enough digits. Rates fall as blocks are added.
#[test]
fn rates_in_two_blocks_have_no_steps() {
    use blocked::two_blocks::{false_positive_rate, size_for};
    for hashes in (2..=32).step_by(2) {
        let lanes = blocked::sizing::Terms::of(hashes / 2);
        let mut last = 1.0;
        for i in 0..60 {
            let blocks = 20_000 + 200 * i * i;
            let rate = false_positive_rate(blocks, hashes, 1_000_000);
            if rate < blocked::sizing::MIN_RATE {
                break;
            }
            // The two shares of a key meet in one block at a rate of one in the number of blocks.
            let shares = lanes.rate(blocks, 2_000_000).powi(2);
            assert!(
                rate < last && (rate / shares - 1.0).abs() < 2e-2,
                "{hashes}, {blocks} blocks: {rate:e}, {shares:e}"
            );
            last = rate;
        }
    }
    for rate in [0.0, 1.0, -1.0, f64::NAN] {
        assert_eq!(size_for(100, rate), None);
    }
    for (keys, rate) in
        [1, 10, 1000, 1_000_000, 1 << 40].into_iter().flat_map(|n| [0.5, 0.1, 1e-3, 1e-6, 1e-9].map(|r| (n, r)))
    {
        let size = size_for(keys, rate).unwrap();
        assert!(false_positive_rate(size.blocks, size.hashes, keys) <= rate, "{keys} keys at {rate}");
        assert!(false_positive_rate(size.blocks - 1, size.hashes, keys) > rate, "{keys} keys at {rate}");
    }
    // Two blocks per key cost at most this percentage of bits more than the classic filter with its best number of
    // hashes.
    for (rate, most) in [(1e-2, 0.8), (1e-3, 1.75), (1e-4, 3.5)] {
        let size = size_for(10_000_000, rate).unwrap();
        let classic = bloom::size_for(10_000_000, rate, 64).unwrap().bits as f64;
        let more = 100.0 * (512.0 * size.blocks as f64 / classic - 1.0);
        assert!(more < most, "{more} % more than bloom at {rate}");
    }
}

/// The present rate of a block is the mean, over all choices of lanes, of the product of the lanes' fills.
#[test]
fn blocked_rates_from_bits() {
    let block: [u32; 16] = std::array::from_fn(|lane| 0x9e37_79b9_u32.rotate_left(lane as u32) >> (lane % 7));
    for hashes in 1..=16 {
        let product = |mask: &u16| -> f64 {
            let chosen = (0..16).filter(|lane| mask >> lane & 1 == 1);
            chosen.map(|lane| f64::from(block[lane].count_ones()) / 32.0).product()
        };
        let mean = masks(hashes).iter().map(product).sum::<f64>() / masks(hashes).len() as f64;
        close(blocked::sizing::from_fill(&block, hashes), mean, 1e-12);
        close(blocked::sizing::from_fill(&[u32::MAX; 16], hashes), 1.0, 1e-12);
        assert_eq!(blocked::sizing::from_fill(&[0; 16], hashes), 0.0);
    }
}

#[test]
fn blocked_sizes() {
    for rate in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(blocked::sizing::size_for(100, rate), None);
    }
    assert_eq!(blocked::sizing::size_for(0, 0.01).unwrap().blocks, 1);
    for keys in [1, 10, 1000, 1_000_000, 1 << 40] {
        for rate in [0.5, 0.1, 0.01, 1e-3, 1e-5] {
            let size = blocked::sizing::size_for(keys, rate).unwrap();
            assert!(
                blocked::sizing::false_positive_rate(size.blocks, size.hashes, keys) <= rate,
                "{keys} keys at {rate}"
            );
            let one_less = blocked::sizing::false_positive_rate(size.blocks - 1, size.hashes, keys);
            assert!(one_less > rate, "{keys} keys at {rate}");
        }
    }
    // A key sets k bits of one block, so the estimate inverts (1 - k/512B)^n.
    for keys in [1.0, 100.0, 5000.0] {
        let ones = 51_200.0 * (1.0 - (1.0 - 6.0 / 51_200.0_f64).powf(keys));
        close(blocked::sizing::cardinality(100, 32, 6, ones.round() as u64).unwrap(), keys, 0.2);
    }
    assert_eq!(blocked::sizing::cardinality(100, 32, 6, 51_200), None);
    assert_eq!(blocked::sizing::cardinality(0, 32, 6, 0), None);
    assert_eq!(blocked::sizing::cardinality_standard_error(0, 32, 6, 5), f64::INFINITY);
}

#[test]
fn split_block_tables() {
    for (c, rate) in [
        (8.0, ".03321"),
        (10.0, ".01265"),
        (10.5, ".01013"),
        (12.0, ".005420"),
        (16.0, ".0013156"),
        (20.0, "4.200e-4"),
        (24.0, "1.627e-4"),
        (32.0, "3.615e-5"),
    ] {
        printed(split_block::sizing::poisson(c), rate);
        // With many blocks the rate comes near the limit from below, because a binomial distribution is narrower than a
        // Poisson one.
        let blocks = 1 << 24;
        let exact = split_block::sizing::false_positive_rate(blocks, (blocks as f64 * 256.0 / c) as u64);
        close(exact, split_block::sizing::poisson(c), 2e-6);
    }
    for (rate, c) in [
        (0.1, 5.99),
        (0.05, 7.23),
        (0.02, 9.02),
        (0.01, 10.53),
        (0.005, 12.20),
        (0.001, 16.89),
        (1e-4, 26.34),
        (1e-5, 40.99),
    ] {
        let blocks = split_block::sizing::blocks_for(10_000_000, rate).unwrap();
        assert!((blocks as f64 * 256.0 / 1e7 - c).abs() < 0.0051, "{rate}");
    }
}

#[test]
fn split_blocks_by_definition() {
    assert_eq!(split_block::sizing::false_positive_rate(0, 5), 1.0);
    assert_eq!(split_block::sizing::false_positive_rate(0, 0), 1.0);
    assert_eq!(split_block::sizing::false_positive_rate(5, 0), 0.0);
    // With one key the rate is the chance of the same block and of equal bits in eight lanes.
    close(split_block::sizing::false_positive_rate(1, 1), 32_f64.powi(-8), 1e-12);
    close(split_block::sizing::false_positive_rate(1000, 1), 32_f64.powi(-8) / 1000.0, 1e-12);
    close(split_block::sizing::false_positive_rate(1, 20), (1.0 - (31.0 / 32.0_f64).powi(20)).powi(8), 1e-12);
    // The value is the sum in its plain form with factorials, for 3 blocks and 50 keys.
    let want: f64 = (0..=50)
        .map(|i| {
            choose(50, i) * 2_f64.powi(50 - i as i32) / 3_f64.powi(50)
                * (1.0 - (31.0 / 32.0_f64).powi(i as i32)).powi(8)
        })
        .sum();
    close(split_block::sizing::false_positive_rate(3, 50), want, 1e-12);
    // Eight keys in 2^32 - 1 blocks hardly ever share a block, and a rate of 10^-21 keeps all of its digits.
    let want = 8.0 / 4_294_967_295.0 * 32_f64.powi(-8);
    close(split_block::sizing::false_positive_rate(u64::from(u32::MAX), 8), want, 1e-6);

    assert_eq!(split_block::sizing::poisson(0.0), 1.0);
    assert_eq!(split_block::sizing::poisson(-3.0), 1.0);
    assert_eq!(split_block::sizing::poisson(f64::NAN), 1.0);
    assert_eq!(split_block::sizing::poisson(f64::INFINITY), 0.0);
    assert_eq!(split_block::sizing::poisson(1e-320), 1.0);

    assert_eq!(split_block::sizing::from_fill(&[u32::MAX; 8]), 1.0);
    assert_eq!(split_block::sizing::from_fill(&[1, 0, 1, 1, 1, 1, 1, 1]), 0.0);
    close(split_block::sizing::from_fill(&[3, 1, 1, 1, 1, 1, 1, 1]), 2.0 * 32_f64.powi(-8), 1e-14);
}

#[test]
fn blocks_are_strict_and_least() {
    for n in numbers_of_keys() {
        for rate in rates() {
            match split_block::sizing::blocks_for(n, rate) {
                Some(blocks) => {
                    assert!(split_block::sizing::false_positive_rate(blocks, n) <= rate, "{n} keys at {rate}");
                    assert!(split_block::sizing::false_positive_rate(blocks - 1, n) > rate, "{n} keys at {rate}");
                }
                None => assert!(
                    split_block::sizing::false_positive_rate(u64::from(u32::MAX), n) > rate,
                    "{n} keys at {rate}"
                ),
            }
        }
    }
}

#[test]
fn mixtures_with_known_sums() {
    // For g(i) = 1 - q^i the binomial mean is 1 - (1 - p(1-q))^n, and the Poisson mean is 1 - e^(-lambda (1-q)).
    for q in [0.0_f64, 0.3, 0.97, 0.9999] {
        let g = |i: u64| {
            if i == 0 { 0.0 } else { -(i as f64 * q.ln()).exp_m1() }
        };
        for n in [1, 2, 10, 1000, 1_000_000, 1_000_000_000_000, u64::MAX] {
            for p in [1e-19, 1e-12, 1e-6, 0.001, 0.3, 0.5, 0.999] {
                let mean = n as f64 * p;
                if mean < 1e9 || mean * (1.0 - q) > 100.0 {
                    let want = -(n as f64 * (-p * (1.0 - q)).ln_1p()).exp_m1();
                    close(mixture::binomial(n, p, g), want, 1e-11);
                }
            }
        }
        for lambda in [1e-300, 1e-9, 0.01, 0.7, 1.0, 33.3, 1e3, 1e5] {
            close(mixture::poisson(lambda, g), -(-lambda * (1.0 - q)).exp_m1(), 1e-11);
        }
    }
    // The function is 0 for blocks with few keys, so that all weight lies far out in the tail.
    let tail = |i: u64| if i >= 40 { 1.0 } else { 0.0 };
    let want: f64 = (40..80).map(|i| (1..=i).fold((-2.0_f64).exp(), |w, j| w * 2.0 / f64::from(j))).sum();
    close(mixture::poisson(2.0, tail), want, 1e-12);
    let want: f64 = (40..=60).map(|i| choose(60, i) * 0.1_f64.powi(i as i32) * 0.9_f64.powi(60 - i as i32)).sum();
    close(mixture::binomial(60, 0.1, tail), want, 1e-12);

    let half = |_| 0.5;
    for lambda in [f64::NEG_INFINITY, 0.0, 1e-300, 3.0, 1e4] {
        close(mixture::poisson(lambda, half), 0.5, 1e-12);
    }
    assert_eq!(mixture::poisson(3.0, |_| 0.0), 0.0);
    assert_eq!(mixture::poisson(f64::NAN, half), 1.0);
    assert_eq!(mixture::poisson(f64::INFINITY, half), 1.0);
    let count = |i: u64| i as f64 / 10.0;
    assert_eq!(mixture::binomial(10, f64::NAN, count), 1.0);
    assert_eq!(mixture::binomial(10, 1.0, count), 1.0);
    assert_eq!(mixture::binomial(10, 7.0, count), 1.0);
    assert_eq!(mixture::binomial(10, -1.0, count), 0.0);
    close(mixture::binomial(10, 0.25, count), 0.25, 1e-13);
    close(mixture::binomial(10, 0.875, count), 0.875, 1e-13);
}

// ---- Properties --------------------------------------------------------------------------------------------------

#[test]
fn edges() {
    type Rate = fn(u64, u32, u64) -> f64;
    let rates: [Rate; 6] = [
        bloom::exact,
        bloom::classical,
        bloom::asymptotic,
        bloom::goel_gupta_bound,
        bloom::distinct_exact,
        bloom::partitioned_exact,
    ];
    for rate in rates {
        assert_eq!(rate(0, 3, 5), 1.0);
        assert_eq!(rate(0, 0, 0), 1.0);
        assert_eq!(rate(100, 0, 5), 1.0);
        assert_eq!(rate(100, 3, 0), 0.0);
        let all = [1, 2, 3, 1 << 32, u64::MAX - 1, u64::MAX];
        for bits in all {
            for keys in all {
                for hashes in [1, 2, 255, 256, 257, u32::MAX] {
                    let rate = rate(bits, hashes, keys);
                    assert!((0.0..=1.0).contains(&rate), "{bits} {hashes} {keys}: {rate}");
                }
            }
        }
        assert_eq!(rate(100, 3, u64::MAX), 1.0);
    }
    assert_eq!(bloom::expected_zeros(0, 3, 5), 0.0);
    assert_eq!(bloom::expected_zeros(7, 3, 0), 7.0);
    assert_eq!(bloom::expected_zeros(1, 3, 1), 0.0);
    assert_eq!(bloom::zeros_sd(0, 3, 5), 0.0);
    assert_eq!(bloom::zeros_sd(1, 3, 5), 0.0);
    assert!(bloom::zeros_sd(u64::MAX, u32::MAX, u64::MAX).is_finite());
    assert_eq!(bloom::zeros_sd(7, 3, u64::MAX), 0.0);
    assert_eq!(bloom::azuma_bound(f64::NAN, 3, 5), 1.0);
    assert_eq!(bloom::azuma_bound(0.0, 3, 5), 1.0);
    assert_eq!(bloom::azuma_bound(1.0, 3, 0), 0.0);
    assert_eq!(bloom::azuma_bound(f64::INFINITY, 3, 5), 0.0);
    assert_eq!(bloom::azuma_deviation(0.0, 3, 5), f64::INFINITY);
    assert_eq!(bloom::azuma_deviation(f64::NAN, 3, 5), f64::INFINITY);
    assert_eq!(bloom::azuma_deviation(1.0, 3, 5), 0.0);
    assert_eq!(bloom::azuma_deviation(0.5, 3, 0), 0.0);
    assert_eq!(bloom::cardinality_standard_error(0, 3, 5), f64::INFINITY);
    assert_eq!(bloom::cardinality_standard_error(100, 3, 0), 0.0);
    assert_eq!(bloom::optimal_hashes(0, 5, 64), 1);
    assert_eq!(bloom::optimal_hashes(100, 0, 64), 1);
    assert_eq!(bloom::optimal_hashes(100, 5, 0), 1);
    assert_eq!(bloom::optimal_hashes(u64::MAX, u64::MAX, u32::MAX), 1);
}

/// The formula of `blocked` is exact to 1e-12, which sets a least rate that the kind can promise. The least rate is
/// taken. A lower rate is refused, and the message has both numbers.
#[test]
fn blocked_promises_no_rate_that_it_cannot_tell() {
    let kind = petal::registry::find_name("blocked").unwrap().kind;
    let made = |rate: f64| {
        let spec = petal::Spec::with_capacity(1000, rate).unwrap();
        petal::image_size(&petal::Spec { kind: Some(kind), ..spec })
    };
    assert!(made(blocked::sizing::MIN_RATE).is_ok());
    let error = made(blocked::sizing::MIN_RATE * 0.999).unwrap_err();
    assert_eq!(error.status(), petal::Status::OutOfRange);
    assert!(error.message().contains("1e-9"), "{error}");
}

/// Numbers of every magnitude.
fn any_magnitude() -> impl Strategy<Value = u64> {
    (0_u32..64, any::<u64>()).prop_map(|(shift, x)| (x >> shift).max(1))
}

proptest! {
    #![proptest_config(crate::common::same_every_time(2000))]

    #[test]
    fn rates_are_ordered(bits in any_magnitude(), hashes in 1_u32..=64, keys in any_magnitude()) {
        let exact = bloom::exact(bits, hashes, keys);
        let slack = 1.0 + 1e-11;
        prop_assert!((0.0..=1.0).contains(&exact));
        prop_assert!(bloom::asymptotic(bits, hashes, keys) <= bloom::classical(bits, hashes, keys) * slack);
        prop_assert!(bloom::classical(bits, hashes, keys) <= exact * slack + f64::MIN_POSITIVE);
        prop_assert!(exact <= bloom::goel_gupta_bound(bits, hashes, keys) * slack + f64::MIN_POSITIVE);
        if let Some(half) = bits.checked_div(2).filter(|&half| half > 0) {
            prop_assert!(exact <= bloom::exact(half, hashes, keys) * slack);
        }
        let (low, high) = bloom::false_positive_rate_interval(bits, hashes, keys, 0.999);
        prop_assert!(low <= high && (0.0..=1.0).contains(&low) && (0.0..=1.0).contains(&high));
    }

    #[test]
    fn rates_rise_with_keys_and_fall_with_bits(
        per_key in 0.5_f64..60.0,
        hashes in 1_u32..=64,
        keys in 1_u64..1_000_000,
        more in 1_u64..1000,
    ) {
        let bits = (per_key * keys as f64).ceil() as u64;
        let slack = 1.0 + 1e-12;
        let rate = bloom::exact(bits, hashes, keys);
        prop_assert!(rate <= bloom::exact(bits, hashes, keys + more) * slack);
        prop_assert!(bloom::exact(bits + more, hashes, keys) <= rate * slack);
        let distinct = bloom::distinct_exact(bits, hashes.min(12), keys);
        prop_assert!(distinct <= bloom::distinct_exact(bits, hashes.min(12), keys + more) * (1.0 + 1e-9));
        let blocks = bits.div_ceil(256);
        let rate = split_block::sizing::false_positive_rate(blocks, keys);
        prop_assert!(rate <= split_block::sizing::false_positive_rate(blocks, keys + more) * slack);
        prop_assert!(split_block::sizing::false_positive_rate(blocks + more, keys) <= rate * slack);
    }

    #[test]
    fn sizes_keep_the_promise(keys in any_magnitude(), exponent in 0.01_f64..40.0, hashes in 0_u32..70) {
        let rate = (-exponent).exp2();
        if let Some(size) = bloom::size_for(keys, rate, hashes) {
            prop_assert!(size.bits < 1 << 63 && size.hashes <= hashes);
            prop_assert!(bloom::exact(size.bits, size.hashes, keys) <= rate);
            prop_assert!(bloom::exact(size.bits - 1, size.hashes, keys) > rate);
        }
        if let Some(size) = bloom::partitioned_size_for(keys, rate, hashes) {
            prop_assert!(bloom::partitioned_exact(size.slice_bits, size.hashes, keys) <= rate);
        }
        if let Some(blocks) = split_block::sizing::blocks_for(keys, rate) {
            prop_assert!(blocks < 1 << 32);
            prop_assert!(split_block::sizing::false_positive_rate(blocks, keys) <= rate);
            prop_assert!(split_block::sizing::false_positive_rate(blocks - 1, keys) > rate);
        }
    }
}
