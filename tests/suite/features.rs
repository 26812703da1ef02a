//! Features as rows of bits: they are the bits of `bloom` filters, fold as these do, and show how similar sets
//! are.

use crate::common::mix;
use petal::index::features::{Fold, corrected, fold};
use petal::{Filter, HashFunction, Hasher, Image, IndexFeatures, Spec, Status, kinds};

fn features(width: u64, bits: u32) -> IndexFeatures {
    IndexFeatures::new(width, bits, Hasher::new(HashFunction::Xxh3, 5, None).unwrap()).unwrap()
}

fn row(features: &IndexFeatures, numbers: std::ops::Range<u64>) -> Vec<u64> {
    let mut row = vec![0; features.width().div_ceil(64) as usize];
    numbers.for_each(|number| features.add(&mut row, format!("feature {number}").as_bytes(), 0).unwrap());
    row
}

fn ones(row: &[u64]) -> u64 {
    row.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// The row of some features is the payload of a `bloom` filter with the same keys.
#[test]
fn rows_are_bloom_filters() {
    for (width, bits) in [(64, 1), (1024, 7), (1024, 4), (4096, 20), (65_536, 3), (192, 64)] {
        let spec = Spec {
            kind: Some(kinds::bloom::ROW.kind),
            bits: width,
            hashes: bits,
            seed: 5,
            hash: HashFunction::Xxh3,
            ..Spec::default()
        };
        let mut filter: Filter = Filter::new(&spec).unwrap();
        let features = features(width, bits);
        (0..50).for_each(|number| {
            filter.insert(format!("feature {number}").as_bytes()).unwrap();
        });
        let mut image = Vec::new();
        filter
            .serialize_to(&mut |bytes| {
                image.extend_from_slice(bytes);
                Ok(())
            })
            .unwrap();
        let bytes: Vec<u8> = row(&features, 0..50).iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(image.windows(bytes.len()).any(|window| window == bytes), "{width} bits, {bits} a feature");
    }
}

/// A feature with fewer bits sets some of those of the feature with more, and rows fold to the row of fewer bits.
#[test]
fn fewer_bits_and_narrower_rows() {
    let wide = features(4096, 9);
    let (mut few, mut many) = (vec![0; 64], vec![0; 64]);
    wide.add(&mut few, b"ring", 3).unwrap();
    wide.add(&mut many, b"ring", 0).unwrap();
    assert!(few.iter().zip(&many).all(|(few, many)| few & !many == 0));
    assert_eq!((ones(&few), ones(&many)), (3, 9));
    let whole = row(&wide, 0..100);
    for width in [2048, 1024, 64, 4096] {
        let mut folded = vec![u64::MAX; width as usize / 64];
        fold(&whole, 4096, Fold::Adjacent, &mut folded, width).unwrap();
        assert_eq!(folded, row(&features(width, 9), 0..100), "{width} bits");
        fold(&whole, 4096, Fold::Modulo, &mut folded, width).unwrap();
        let mut expected = vec![0_u64; width as usize / 64];
        for bit in (0..4096).filter(|bit| whole[bit / 64] >> (bit % 64) & 1 != 0) {
            let bit = bit % width as usize;
            expected[bit / 64] |= 1 << (bit % 64);
        }
        assert_eq!(folded, expected, "{width} bits, modulo");
    }
    // Widths that are no multiples of 64.
    for (width, narrow) in [(192, 64), (166, 83), (1000, 100), (100, 1)] {
        let mut folded = vec![0; u64::div_ceil(narrow, 64) as usize];
        let whole = row(&features(width, 5), 0..9);
        fold(&whole, width, Fold::Adjacent, &mut folded, narrow).unwrap();
        assert!((0..narrow).any(|bit| folded[bit as usize / 64] >> (bit % 64) & 1 != 0));
        if narrow >= 64 {
            assert_eq!(folded, row(&features(narrow, 5), 0..9), "{width} to {narrow}");
        }
    }
    // Bits after the last one do not belong to the row.
    for (width, to) in [(100, 50), (100, 1), (130, 65), (130, 130), (70, 70)] {
        for way in [Fold::Adjacent, Fold::Modulo] {
            let mut folded = vec![u64::MAX; u64::div_ceil(to, 64) as usize];
            let mut whole = vec![0; u64::div_ceil(width, 64) as usize];
            whole[width as usize / 64] = u64::MAX << (width % 64);
            fold(&whole, width, way, &mut folded, to).unwrap();
            assert_eq!(ones(&folded), 0, "{width} to {to}, {way:?}");
            whole[(width as usize - 1) / 64] |= 1 << ((width - 1) % 64);
            fold(&whole, width, way, &mut folded, to).unwrap();
            assert!(ones(&folded) == 1 && folded[(to as usize - 1) / 64] >> ((to - 1) % 64) == 1);
        }
    }
    for (to, words) in [(0, 0), (192, 3), (4095, 64), (8192, 128), (1024, 15), (1024, 17)] {
        let refused = fold(&whole, 4096, Fold::Adjacent, &mut vec![0; words], to).unwrap_err();
        assert_eq!(refused.status(), Status::OutOfRange);
    }
    assert!(fold(&[], 0, Fold::Adjacent, &mut [0], 64).is_err(), "no row has 0 bits");
}

#[test]
fn what_is_refused() {
    let hasher = || Hasher::new(HashFunction::Xxh3, 0, None).unwrap();
    for (width, bits) in [(0, 1), (63, 1), (65_537, 1), (64, 0), (64, 65)] {
        assert_eq!(IndexFeatures::new(width, bits, hasher()).unwrap_err().status(), Status::OutOfRange);
    }
    let features = features(128, 2);
    let mut row = vec![0; 2];
    assert_eq!(features.add(&mut row, b"x", 65).unwrap_err().status(), Status::OutOfRange);
    assert_eq!(features.add(&mut row[..1], b"x", 1).unwrap_err().status(), Status::OutOfRange);
    let external = IndexFeatures::new(128, 2, Hasher::new(HashFunction::External, 0, None).unwrap()).unwrap();
    assert_eq!(external.add(&mut row, b"x", 1).unwrap_err().status(), Status::ExternalHash);
    assert_eq!(row, [0, 0]);
    external.add_hash(&mut row, 77, 1).unwrap();
    assert_eq!(ones(&row), 1);
}

/// Sizes keep the rate and are the least that do.
#[test]
fn sizes() {
    let (width, bits) = IndexFeatures::size_for(100, 0.01).unwrap();
    assert_eq!((width, bits), (1024, 7));
    let rate = |width, bits| petal::sizing::bloom::exact(width, bits, 100);
    assert!(rate(width, bits) <= 0.01);
    assert!((1..=64).all(|bits| rate(width - 64, bits) > 0.01));
    assert_eq!(IndexFeatures::size_for(0, 0.5).unwrap().0, 64);
    assert_eq!(IndexFeatures::size_for(1 << 40, 0.01).unwrap_err().status(), Status::TooLarge);
    for rate in [0.0, 1.0, -1.0, f64::NAN] {
        assert_eq!(IndexFeatures::size_for(10, rate).unwrap_err().status(), Status::FalsePositiveRate);
    }
}

/// IndexSimilarityEstimate similarities have no bias that their error does not cover, and spread as their error says.
/// Uncorrected ones are clearly too high.
#[test]
fn corrected_similarities() {
    const RUNS: u64 = 2_000;
    for (width, bits, alone, both) in [(1024_u64, 2, 60_u64, 120_u64), (1024, 4, 40, 40), (512, 1, 100, 30)] {
        let features = features(width, bits);
        let truth = both as f64 / (both + 2 * alone) as f64;
        let (mut sum, mut squares, mut errors, mut plain) = (0.0, 0.0, 0.0, 0.0);
        for run in 0..RUNS {
            let mut rows = [vec![0; width as usize / 64], vec![0; width as usize / 64]];
            for i in 0..2 * alone + both {
                let hash = mix(run << 20 | i);
                if i < alone + both {
                    features.add_hash(&mut rows[0], hash, 0).unwrap();
                }
                if i >= alone {
                    features.add_hash(&mut rows[1], hash, 0).unwrap();
                }
            }
            let [a, b] = [ones(&rows[0]), ones(&rows[1])];
            let common = rows[0].iter().zip(&rows[1]).map(|(a, b)| u64::from((a & b).count_ones())).sum();
            let found = corrected(width, a, b, common).unwrap();
            sum += found.similarity - truth;
            squares += (found.similarity - truth).powi(2);
            errors += found.error.powi(2);
            plain += common as f64 / (a + b - common) as f64 - truth;
        }
        let runs = RUNS as f64;
        let (bias, error) = (sum / runs, (errors / runs).sqrt());
        let spread = (squares / runs).sqrt();
        // The ratio of sums has a bias of second order: some hundredths of the error of one pair.
        assert!(bias.abs() < 4.5 * error / runs.sqrt() + 0.05 * error, "bias {bias} at error {error}");
        assert!((spread / error - 1.0).abs() < 4.5 / (2.0 * runs).sqrt() + 0.03, "spread {spread}, error {error}");
        assert!(plain / runs > 4.0 * bias.abs(), "counted bits are too similar by {}", plain / runs);
    }
}

/// Corners: no bits, all bits, and numbers that no rows have.
#[test]
fn similarities_that_have_none() {
    for (a, b, common) in [(0, 0, 0), (64, 3, 3), (3, 64, 3), (40, 40, 8), (5, 5, 6), (u64::MAX, 1, 1), (1, 1, 2)] {
        assert_eq!(corrected(64, a, b, common), None, "{a}, {b}, {common}");
    }
    let same = corrected(1024, 100, 100, 100).unwrap();
    assert_eq!(same.similarity, 1.0);
    assert!(same.error < 1e-7, "equal rows are of equal sets, or of sets that no estimate tells apart: {same:?}");
    let apart = corrected(1024, 50, 60, 0).unwrap();
    assert_eq!(apart.similarity, 0.0);
    assert!(apart.error > 0.0);
    assert!((features(1024, 4).estimate(0), features(64, 1).estimate(64)) == (0.0, f64::INFINITY));
    let many = features(65_536, 4);
    let estimate = many.estimate(ones(&row(&many, 0..5000)));
    assert!((estimate - 5000.0).abs() < 50.0, "{estimate}");
}
