//! Bit-sliced columns: the answers of a plain scan at every width and number of rows, and the rate of chance answers.

use crate::common::mix;
use petal::index::columns::{BLOCK, Columns, chance, ones, write_block};
use petal::{
    Fold, HashFunction, Hasher, Image, Index, IndexBuilder, IndexFeatures, IndexSearchOptions, Spec, Status, index,
};
use std::sync::atomic::AtomicU64;

/// Random numbers, the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0)
    }

    /// A row with about `eighths` eighths of its bits set.
    fn row(&mut self, words: usize, eighths: u64) -> Vec<u64> {
        let mut word = || {
            let [a, b, c] = [self.next(), self.next(), self.next()];
            match eighths {
                0 => 0,
                1 => a & b & c,
                4 => a,
                7 => a | b | c,
                8 => u64::MAX,
                _ => unreachable!("no such density"),
            }
        };
        (0..words).map(|_| word()).collect()
    }
}

/// Rows and their columns.
struct Table {
    width: u64,
    rows: Vec<Vec<u64>>,
    columns: Vec<AtomicU64>,
    column_words: usize,
    removed: Vec<AtomicU64>,
}

impl Table {
    /// Rows with bits after the last one cut off. `spare` words of each column stay unused, and have bits set.
    fn new(width: u64, mut rows: Vec<Vec<u64>>, spare: usize, is_removed: impl Fn(usize) -> bool) -> Table {
        let row_words = width.div_ceil(64) as usize;
        if !width.is_multiple_of(64) {
            rows.iter_mut().for_each(|row| row[row_words - 1] &= (1 << (width % 64)) - 1);
        }
        let used = rows.len().div_ceil(64);
        let column_words = used + spare;
        let mut columns = vec![u64::MAX; width as usize * column_words];
        for (word, block) in rows.chunks(BLOCK).enumerate() {
            write_block(&mut columns, column_words, word, &block.concat(), row_words);
        }
        let mut removed = vec![0; column_words];
        (0..rows.len()).filter(|row| is_removed(*row)).for_each(|row| removed[row / 64] |= 1 << (row % 64));
        let shared = |words: Vec<u64>| words.into_iter().map(AtomicU64::new).collect();
        Table { width, rows, columns: shared(columns), column_words, removed: shared(removed) }
    }

    fn columns(&self) -> Columns<'_> {
        let Table { columns: words, column_words, rows, removed, .. } = self;
        Columns { words, column_words: *column_words, rows: rows.len() as u64, removed }
    }

    /// The rows that a plain scan finds.
    fn scan(&self, query: &[u64]) -> Vec<u64> {
        let is_there = |row: usize| {
            let removed = self.removed[row / 64].load(std::sync::atomic::Ordering::Relaxed);
            removed >> (row % 64) & 1 == 0 && self.rows[row].iter().zip(query).all(|(row, query)| query & !row == 0)
        };
        (0..self.rows.len()).filter(|row| is_there(*row)).map(|row| row as u64).collect()
    }

    fn found(&self, query: &[u64]) -> Vec<u64> {
        let mut found = Vec::new();
        let columns = self.columns();
        let is_whole = columns.search(&columns.asked(query).unwrap(), 0..columns.rows, &mut |first, bits| {
            assert_ne!(bits, 0);
            found.extend((0..64).filter(|bit| bits >> bit & 1 != 0).map(|bit| first + bit));
            true
        });
        assert!(is_whole);
        // In pieces the answer is the same.
        let (mut pieces, asked) = (Vec::new(), columns.asked(query).unwrap());
        for start in (0..columns.rows).step_by(192) {
            assert!(columns.search(&asked, start..start + 192, &mut |first, bits| {
                pieces.extend((0..64).filter(|bit| bits >> bit & 1 != 0).map(|bit| first + bit));
                true
            }));
        }
        assert_eq!(pieces, found);
        found
    }

    /// Queries with few bits, with many, and with those of a row.
    fn check(&self, random: &mut Random) {
        let words = self.width.div_ceil(64) as usize;
        let mut queries = vec![vec![0; words], random.row(words, 1), vec![u64::MAX; words]];
        for bits in [1, 2, 3, 4, 9, 20] {
            let mut query = vec![0; words];
            for _ in 0..bits {
                let bit = random.next() % self.width;
                query[bit as usize / 64] |= 1 << (bit % 64);
            }
            queries.push(query);
        }
        for density in [1, 4, 8] {
            if let Some(row) = self.rows.get(random.next() as usize % self.rows.len().max(1)) {
                queries.push(row.iter().zip(random.row(words, density)).map(|(row, some)| row & some).collect());
            }
        }
        for mut query in queries {
            if !self.width.is_multiple_of(64) {
                query[words - 1] &= (1 << (self.width % 64)) - 1;
            }
            assert_eq!(self.found(&query), self.scan(&query), "{} rows of {} bits", self.rows.len(), self.width);
        }
    }
}

/// Rows of every density, in numbers around words and chunks.
#[test]
fn answers_are_those_of_a_scan() {
    let mut random = Random(31);
    for (width, most) in [(64_u64, 70_000), (65, 33_000), (166, 1_000), (1024, 2_100), (4096, 130), (65_536, 70)] {
        let words = width.div_ceil(64) as usize;
        for rows in [0, 1, 63, 64, 65, most / 3, most] {
            let rows: Vec<_> = (0..rows).map(|i| random.row(words, [4, 1, 7, 4, 0, 8, 4, 7][i % 8])).collect();
            Table::new(width, rows.clone(), 3, |_| false).check(&mut random);
            Table::new(width, rows, 0, |row| row % 3 == 1).check(&mut random);
        }
    }
}

/// Rows that are all equal: a query leaves all words of a chunk, or none.
#[test]
fn equal_rows() {
    let mut random = Random(3);
    for density in [0, 4, 8] {
        let row = random.row(16, density);
        Table::new(1024, vec![row; 40_000], 0, |_| false).check(&mut random);
    }
}

/// Rows with half of their bits set, so that a query soon leaves few words of a chunk, in each of three chunks.
#[test]
fn few_rows_of_each_chunk() {
    let mut random = Random(77);
    let rows: Vec<_> = (0..70_000).map(|_| random.row(4, 4)).collect();
    let table = Table::new(256, rows, 0, |row| row % 1_000 == 999);
    for row in [0, 31_999, 32_768, 40_000, 65_535, 65_536, 69_998, 69_999] {
        for density in [1, 4, 8] {
            let some = random.row(4, density);
            let query: Vec<u64> = table.rows[row].iter().zip(some).map(|(row, some)| row & some).collect();
            let found = table.scan(&query);
            assert_eq!(found.contains(&(row as u64)), row % 1_000 != 999);
            assert_eq!(table.found(&query), found);
        }
    }
    table.check(&mut random);
}

/// A search stops where the caller says so.
#[test]
fn a_search_stops() {
    let table = Table::new(64, (0..40_000).map(|i| vec![i | 1]).collect(), 0, |_| false);
    for stop in [0, 1, 511, 512, 600] {
        let mut seen = 0;
        let columns = table.columns();
        let is_whole = columns.search(&columns.asked(&[1]).unwrap(), 0..columns.rows, &mut |first, bits| {
            assert_eq!((first, bits), (64 * seen, u64::MAX));
            seen += 1;
            seen <= stop
        });
        assert!(!is_whole);
        assert_eq!(seen, stop + 1);
    }
}

/// The chance, compared with all choices of bits and with documents that have random terms.
#[test]
fn chances_are_those_of_the_formula() {
    // 6 of the 45 pairs of 10 bits lie in 4 bits.
    assert!((chance(10, 4, 2) - 6.0 / 45.0).abs() < 1e-12);
    assert_eq!((chance(10, 4, 0), chance(10, 4, 5), chance(10, 10, 10)), (1.0, 0.0, 1.0));
    assert_eq!((chance(10, 99, 10), chance(10, 0, 1), chance(1 << 16, 1 << 15, 2_000)), (1.0, 0.0, 0.0));

    let features = IndexFeatures::new(1024, 7, Hasher::new(HashFunction::Xxh3, 0, None).unwrap()).unwrap();
    let mut random = Random(7);
    let mut rows = vec![vec![0; 16]; 20_000];
    for row in &mut rows {
        (0..100).for_each(|_| features.add_hash(row, random.next(), 0).unwrap());
    }
    let table = Table::new(1024, rows, 0, |_| false);
    // Terms that no document has, one for each query.
    let (mut wrong, mut expected, mut square) = (0.0, 0.0, 0.0);
    for _ in 0..40 {
        let mut query = vec![0; 16];
        features.add_hash(&mut query, random.next(), 0).unwrap();
        let bits = ones(&query);
        let found = table.found(&query).len() as f64;
        let rate: f64 = table.rows.iter().map(|row| chance(1024, ones(row), bits)).sum();
        (wrong, expected, square) = (wrong + found, expected + rate, square + (found - rate).powi(2));
    }
    // Given the query, documents are independent. The columns that the queries hit add a part to the variance.
    let deviation = expected.max(square).sqrt();
    assert!((wrong - expected).abs() < 4.5 * deviation, "{wrong} wrong answers where {expected:.0} are expected");
    assert!(square < 3.0 * expected, "{square:.0} is far above {expected:.0}");
    assert!((0.005..0.013).contains(&(expected / 40.0 / 20_000.0)), "about 1 % for each term");
}

/// An index answers the same with rows, with columns and with both, and the same as a scan.
#[test]
fn every_store_answers_as_a_scan() {
    for (store, width, rows) in [(0_u8, 200, 300), (1, 200, 300), (2, 200, 300), (1, 64, 129), (2, 1024, 65)] {
        let mut spec = Spec { capacity: rows + 40, ..Spec::default() };
        spec.set(&index::WIDTH, width as f64).unwrap();
        spec.set(&index::STORE, f64::from(store)).unwrap();
        spec.set(&index::FEATURE_BITS, 3.0).unwrap();
        let mut index = Index::new(&spec).unwrap();
        let name = |feature: u64| format!("term {feature}");
        let row = |index: &Index, features: &[u64]| {
            let names: Vec<String> = features.iter().map(|feature| name(*feature)).collect();
            index.row_of(names.iter().map(|name| (name.as_bytes(), 0))).unwrap()
        };
        let mut documents = Vec::new();
        let mut random = Random(store.into());
        for id in 0..rows {
            let features: Vec<u64> = (0..10).map(|_| random.next() % 40).collect();
            let bytes = row(&index, &features);
            assert_eq!(index.add(1000 + id, &bytes).unwrap(), id);
            documents.push((features, bytes));
        }
        for features in [vec![], vec![1], vec![1, 2], documents[7].0.clone(), vec![999, 998, 997]] {
            let query = row(&index, &features);
            let expected: Vec<(u64, u64)> = (0..rows)
                .zip(&documents)
                .filter(|(_, (_, row))| row.iter().zip(&query).all(|(row, query)| query & !row == 0))
                .map(|(number, _)| (number, 1000 + number))
                .collect();
            // No document that has the features is missing.
            for (number, (of_row, _)) in (0..).zip(&documents) {
                if features.iter().all(|feature| of_row.contains(feature)) {
                    assert!(expected.contains(&(number, 1000 + number)));
                }
            }
            for threads in [0, 3] {
                let options = || IndexSearchOptions { threads, ..IndexSearchOptions::default() };
                let mut found = Vec::new();
                let is_whole = index.visit_containing(&query, &mut options(), &mut |row, id| {
                    found.push((row, id));
                    true
                });
                assert_eq!((is_whole.unwrap(), &found), (true, &expected));
                assert_eq!(index.count_all(&query, &mut options()).unwrap(), expected.len() as u64);
            }
            let rates: Vec<f64> = documents
                .iter()
                .map(|(_, row)| {
                    let ones = |row: &[u8]| row.iter().map(|byte| u64::from(byte.count_ones())).sum();
                    chance(width, ones(row), ones(&query))
                })
                .collect();
            let mean = rates.iter().sum::<f64>() / rows as f64;
            assert!((index.expected_false_positive_rate(&query).unwrap() - mean).abs() <= 1e-12 * mean);
        }
        assert_eq!(
            index.visit_containing(&[1], &mut IndexSearchOptions::default(), &mut |_, _| true).unwrap_err().status(),
            Status::OutOfRange
        );
    }
}

/// Threads share many rows, rows come in order, progress rises to the whole, and both callbacks end a search.
#[test]
fn threads_share_columns_and_rows() {
    for (store, rows) in [(0_u8, 100_000_u64), (1, 600_000)] {
        let mut spec = Spec { capacity: rows, ..Spec::default() };
        spec.set(&index::WIDTH, 64.0).unwrap();
        spec.set(&index::STORE, f64::from(store)).unwrap();
        let mut builder = IndexBuilder::new(&spec).unwrap();
        let mut random = Random(40);
        for id in 0..rows {
            builder.add(id, &(random.next() & random.next()).to_le_bytes()).unwrap();
        }
        let mut index = builder.finish().unwrap();
        (0..rows).step_by(1000).for_each(|row| assert!(index.remove_row(row).unwrap()));
        let query = [0, 0, 5, 0, 0, 0, 0, 1];
        let mut row = [0; 8];
        let mut expected = Vec::new();
        for number in 0..rows {
            if let Some((id, _)) = index.row_at(number).unwrap() {
                index.copy_row(number, &mut row).unwrap();
                if row.iter().zip(&query).all(|(row, query)| query & !row == 0) {
                    expected.push((number, id));
                }
            }
        }
        assert!(expected.len() as u64 > rows / 100);
        for threads in [1, 2, 5] {
            let (mut found, mut last) = (Vec::new(), 0);
            let mut progress = |done: u64, all: u64| {
                assert!(all == rows && (last..=all).contains(&done));
                last = done;
                true
            };
            let mut options =
                IndexSearchOptions { threads, progress: Some(&mut progress), ..IndexSearchOptions::default() };
            let mut take = |row: u64, id: u64| {
                found.push((row, id));
                true
            };
            assert!(index.visit_containing(&query, &mut options, &mut take).unwrap());
            assert_eq!((found, last), (expected.clone(), rows));
            let mut left = 3;
            let mut some = |_: u64, _: u64| {
                left -= 1;
                left > 0
            };
            let mut options = IndexSearchOptions { threads, ..IndexSearchOptions::default() };
            assert!(!index.visit_containing(&query, &mut options, &mut some).unwrap());
            assert_eq!(left, 0);
            let mut stop = |_: u64, _: u64| false;
            let mut options =
                IndexSearchOptions { threads, progress: Some(&mut stop), ..IndexSearchOptions::default() };
            assert_eq!(index.count_all(&query, &mut options).unwrap_err().status(), Status::Cancelled);
        }
    }
}

/// A row that an index folds is the row that its features give at the smaller width.
#[test]
fn rows_fold() {
    let with = |width: f64| {
        let mut spec = Spec { capacity: 1, ..Spec::default() };
        spec.set(&index::WIDTH, width).unwrap();
        Index::new(&spec).unwrap()
    };
    let (wide, narrow) = (with(600.0), with(200.0));
    let names = ["oil", "gas", "coal", "peat"];
    let row = |index: &Index| {
        let row = index.row_of(names.iter().map(|name| (name.as_bytes(), 0))).unwrap();
        let mut one_by_one = vec![0; row.len()];
        names.iter().for_each(|name| index.add_feature(&mut one_by_one, name.as_bytes(), 0).unwrap());
        assert_eq!(row, one_by_one);
        row
    };
    let mut folded = vec![1; 25];
    wide.fold_row(&row(&wide), Fold::Adjacent, 200, &mut folded).unwrap();
    assert_eq!(folded, row(&narrow));
    let mut one = vec![0; 75];
    one[74] = 0x80;
    wide.fold_row(&one, Fold::Modulo, 200, &mut folded).unwrap();
    assert!(folded[24] == 0x80 && folded[..24].iter().all(|byte| *byte == 0));
    for (row, width, length) in [(75, 200, 24), (74, 200, 25), (75, 201, 26), (75, 0, 0), (75, 1200, 150)] {
        let refused = wide.fold_row(&vec![0; row], Fold::Modulo, width, &mut vec![0; length]);
        assert_eq!(refused.unwrap_err().status(), Status::OutOfRange, "{row} bytes to {width} bits in {length}");
    }
}

/// An index that has room for many more rows, with rows that have all bits and none: who contains a query, the rate of
/// that by chance, and how the search ends.
#[test]
fn a_few_rows_in_a_wide_place() {
    for store in [0_u8, 1, 2] {
        let mut spec = Spec { capacity: 5_000, ..Spec::default() };
        spec.set(&index::WIDTH, 66.0).unwrap();
        spec.set(&index::STORE, f64::from(store)).unwrap();
        let mut index = Index::new(&spec).unwrap();
        let row = |bits: u32| ((1_u128 << bits) - 1).to_le_bytes()[..9].to_vec();
        let counts = [66, 0, 65, 1, 66, 33, 2];
        (10..).zip(counts).for_each(|(id, bits)| _ = index.add(id, &row(bits)).unwrap());
        assert!(index.remove_row(4).unwrap());
        for asked in [0_u32, 1, 2, 3, 34, 65, 66] {
            let expected: Vec<u64> =
                (0..).zip(counts).filter(|(row, bits)| *row != 4 && *bits >= asked).map(|(row, _)| row).collect();
            let (mut found, mut done) = (Vec::new(), (0, 0));
            let mut progress = |now: u64, all: u64| {
                done = (now, all);
                true
            };
            let mut take = |row, id| {
                found.push(row);
                assert_eq!(id, 10 + row);
                true
            };
            let mut options = IndexSearchOptions { progress: Some(&mut progress), ..IndexSearchOptions::default() };
            assert!(index.visit_containing(&row(asked), &mut options, &mut take).unwrap());
            assert!(found == expected && done == (7, 7), "{found:?}, {done:?}");
            // The product, from its other end.
            let chance = |bits: u32| -> f64 {
                (0..asked).rev().map(|i| f64::from(bits.saturating_sub(i)) / f64::from(66 - i)).product()
            };
            let mean = [66, 0, 65, 1, 33, 2].map(chance).iter().sum::<f64>() / 6.0;
            let rate = index.expected_false_positive_rate(&row(asked)).unwrap();
            assert!((rate - mean).abs() <= 1e-12 * mean, "{asked} bits: {rate}, {mean}");
        }
        let mut calls = 0;
        let mut progress = |_: u64, _: u64| {
            calls += 1;
            false
        };
        let mut options = IndexSearchOptions { progress: Some(&mut progress), ..IndexSearchOptions::default() };
        // A caller that wants no more rows is not told that the search was cancelled.
        assert!(!index.visit_containing(&row(1), &mut options, &mut |_, _| false).unwrap());
        assert_eq!(index.count_all(&row(1), &mut options).unwrap_err().status(), Status::Cancelled);
        assert_eq!(calls, 1);
    }
}

/// The row of hashes of features is that of the features, and rows say how similar the sets of features are.
#[test]
fn rows_of_hashes_and_their_similarity() {
    let mut spec = Spec { capacity: 1, ..Spec::default() };
    spec.set(&index::WIDTH, 500.0).unwrap();
    spec.set(&index::FEATURE_BITS, 5.0).unwrap();
    let index = Index::new(&spec).unwrap();
    assert_eq!(index.features().unwrap().bits(), 5);
    let hasher = Hasher::new(HashFunction::Xxh3, 0, None).unwrap();
    let names: Vec<String> = (0..30).map(|i| format!("term {i}")).collect();
    let rows = [0..20, 10..30].map(|part| {
        let names = &names[part];
        let features = names.iter().zip(0..).map(|(name, i)| (name.as_bytes(), i % 3));
        let row = index.row_of(features.clone()).unwrap();
        let hashes = features.map(|(name, bits)| (hasher.hash_bytes(name).unwrap(), bits));
        assert_eq!(index.row_of_hash(hashes.clone()).unwrap(), row);
        let mut one_by_one = vec![0; 63];
        hashes.for_each(|(hash, bits)| index.add_feature_hash(&mut one_by_one, hash, bits).unwrap());
        assert_eq!(one_by_one, row);
        row
    });
    let bits = |bytes: &mut dyn Iterator<Item = u8>| bytes.map(|byte| u64::from(byte.count_ones())).sum::<u64>();
    let [a, b] = [0, 1].map(|i| bits(&mut rows[i].iter().copied()));
    let common = bits(&mut rows[0].iter().zip(&rows[1]).map(|(a, b)| a & b));
    assert!(common > 0 && common < a.min(b));
    assert_eq!(
        index.estimate_similarity(&rows[0], &rows[1]).unwrap(),
        index::features::corrected(500, a, b, common).unwrap()
    );
    let refused = index.estimate_similarity(&[0; 63], &[0; 63]).unwrap_err();
    assert_eq!(refused.status(), Status::OutOfRange);
}

/// Rows that contain others are not searched for where bits do not nest.
#[test]
fn bits_that_do_not_nest_are_refused() {
    let mut spec = Spec { capacity: 10, ..Spec::default() };
    spec.set(&index::NESTING, 1.0).unwrap();
    let index = Index::new(&spec).unwrap();
    let refused = index.visit_containing(&[0; 128], &mut IndexSearchOptions::default(), &mut |_, _| true).unwrap_err();
    assert_eq!(refused.status(), Status::Unsupported);
    assert!(refused.message().contains("nesting = no"), "{refused}");
    assert_eq!(index.expected_false_positive_rate(&[0; 128]).unwrap(), 0.0);
}

/// A builder makes columns of all rows together, and an index takes rows one by one: their bits are the same.
#[test]
fn builders_make_the_same_columns() {
    for (width, rows) in [(64_u32, 0), (100, 1), (100, 64), (166, 1_500), (1024, 2_049)] {
        let mut spec = Spec { capacity: rows, ..Spec::default() };
        spec.set(&index::WIDTH, f64::from(width)).unwrap();
        spec.set(&index::STORE, 1.0).unwrap();
        spec.set(&index::ATTACHMENT_BYTES, 5.0).unwrap();
        let (mut builder, mut random) = (IndexBuilder::new(&spec).unwrap(), Random(9));
        let mut all = Vec::new();
        for id in 0..rows {
            let row: Vec<u8> =
                (0..width.div_ceil(8)).map(|_| random.next() as u8 & random.next() as u8 & 0x0f).collect();
            builder.add(id, &row).unwrap();
            all.push((id, row));
        }
        let mut built = builder.finish().unwrap();
        let ones = |row: &[u8]| row.iter().map(|byte| byte.count_ones()).sum::<u32>();
        all.sort_by_key(|(id, row)| (ones(row), *id));
        let mut added = Index::new(&Spec { capacity: rows.max(1), ..spec }).unwrap();
        for (id, row) in &all {
            added.add(*id, row).unwrap();
        }
        for index in [&mut built, &mut added] {
            index.attach(b"words").unwrap();
            index.attach(b"word").unwrap();
            assert_eq!(index.attach(b"longer").unwrap_err().status(), Status::TooLarge);
            assert_eq!(index.attachment().unwrap(), b"word");
        }
        let bytes = |index: &Index| {
            let mut bytes = Vec::new();
            index
                .serialize_to(&mut |piece| {
                    bytes.extend_from_slice(piece);
                    Ok(())
                })
                .map(|()| bytes)
                .unwrap()
        };
        assert!(bytes(&built) == bytes(&added), "{rows} rows of {width} bits");
    }
}

/// Full indexes are made as others are, even where their rows fill the last block and the last line of every column: by
/// a builder, arranged anew, and merged from two.
#[test]
fn full_indexes_are_made_anew() {
    let sizes = [64, 512, 1024, 4096].into_iter().flat_map(|unit| [unit - 1, unit, unit + 1, 2 * unit]);
    for (store, rows) in (0..3).flat_map(|store| sizes.clone().map(move |rows| (f64::from(store), rows))) {
        let mut spec = Spec { capacity: 1, ..Spec::default() };
        spec.set(&index::WIDTH, 70.0).unwrap();
        spec.set(&index::STORE, store).unwrap();
        let (mut builder, mut random) = (IndexBuilder::new(&spec).unwrap(), Random(rows));
        let mut added = Index::new(&Spec { capacity: rows, ..spec }).unwrap();
        let mut parts = [Index::new(&spec).unwrap().arrange(rows / 2).unwrap(), Index::new(&spec).unwrap()];
        parts[1] = parts[1].arrange(rows - rows / 2).unwrap();
        let mut all = Vec::new();
        for id in 0..rows {
            let row: Vec<u8> = (0..9).map(|i| random.next() as u8 & if i == 8 { 0x3f } else { 0xff }).collect();
            builder.add(id, &row).unwrap();
            parts[usize::from(id >= rows / 2)].add(id, &row).unwrap();
            all.push((row.iter().map(|byte| byte.count_ones()).sum::<u32>(), id, row));
        }
        all.sort();
        for (_, id, row) in &all {
            added.add(*id, row).unwrap();
        }
        let expected = crate::common::image(&added);
        let built = builder.finish().unwrap();
        let again = [built.arrange(rows).unwrap(), parts[0].arrange_both(&parts[1], rows).unwrap(), built];
        for (way, index) in ["arranged", "merged", "built"].into_iter().zip(&again) {
            assert_eq!((index.next_row(), index.capacity()), (rows, rows));
            assert!(crate::common::image(index) == expected, "store {store}: {rows} rows, {way}");
        }
        let full = again[0].arrange(rows - 1).unwrap_err();
        assert_eq!(full.status(), Status::Full, "{full}");
    }
}
