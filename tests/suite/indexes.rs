//! Indexes: rows of bits that are searched. Every answer is compared with a scan of a list of the same rows.

use crate::common::{Buffer, SECRET, golden, image, is_soak, mix};
use crate::format::seal;
use petal::index::ROW;
use petal::index::layout::Shape;
use petal::{
    HashFunction, Image, Index, IndexBuilder, IndexHit, IndexSearchOptions, IndexSimilarity, Kernel, Mode, OpenOptions,
    Spec, Status, load_as, open_as,
};

/// Random numbers, the same every time: `mix` of 1, 2, 3 and so on from a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0)
    }

    fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }

    /// A row with at most `bits` bits.
    fn row(&mut self, width: u64, bits: u64) -> Vec<u8> {
        let mut row = vec![0; width.div_ceil(8) as usize];
        (0..bits).for_each(|_| flip(&mut row, self.below(width)));
        row
    }
}

fn flip(row: &mut [u8], bit: u64) {
    row[(bit / 8) as usize] ^= 1 << (bit % 8);
}

fn spec(capacity: u64, settings: &[(&str, f64)]) -> Spec {
    let mut spec = Spec { kind: Some(ROW.kind), capacity, ..Spec::default() };
    for (name, value) in settings {
        spec.set(ROW.parameter(name).unwrap(), *value).unwrap();
    }
    spec
}

/// Rows as a list: ids with rows, in the order in which they came.
type Rows = Vec<(u64, Vec<u8>)>;

/// Rows that are near each other in groups, and an empty row, a full row, equal rows, and equal ids.
fn rows(random: &mut Random, width: u64, count: u64) -> Rows {
    let mut rows: Rows = Vec::new();
    while (rows.len() as u64) < count {
        let bits = 1 + random.below(width / 4);
        let group = random.row(width, bits);
        for _ in 0..12 {
            let mut row = group.clone();
            let flips = random.below(1 + bits / 2);
            (0..flips).for_each(|_| flip(&mut row, random.below(width)));
            rows.push((random.below(2 * count), row));
        }
    }
    let mut full = vec![0; width.div_ceil(8) as usize];
    (0..width).for_each(|bit| flip(&mut full, bit));
    let (empty, equal) = (vec![0; full.len()], rows[0].1.clone());
    rows.extend([(3, empty.clone()), (1, full.clone()), (9, equal), (2, full), (2, empty)]);
    rows
}

fn ones(row: &[u8]) -> u32 {
    row.iter().map(|byte| byte.count_ones()).sum()
}

/// The similarity by its definition.
fn similarity(measure: IndexSimilarity, width: u64, query: &[u8], row: &[u8]) -> f64 {
    let common = query.iter().zip(row).map(|(a, b)| (a & b).count_ones()).sum::<u32>();
    let differ = query.iter().zip(row).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
    let (a, b, c) = (f64::from(ones(query)), f64::from(ones(row)), f64::from(common));
    match measure {
        IndexSimilarity::Hamming => (width as f64 - f64::from(differ)) / width as f64,
        IndexSimilarity::Cosine if a * b == 0.0 => f64::from(u8::from(a == b)),
        IndexSimilarity::Cosine => c / (a * b).sqrt(),
        IndexSimilarity::Dice if a + b == 0.0 => 1.0,
        IndexSimilarity::Dice => 2.0 * c / (a + b),
        IndexSimilarity::Tanimoto if a + b == 0.0 => 1.0,
        IndexSimilarity::Tanimoto => c / (a + b - c),
        IndexSimilarity::Tversky { alpha, beta } => {
            let whole = (alpha * (a - c) + beta * (b - c)) + c;
            if whole == 0.0 { 1.0 } else { c / whole }
        }
    }
}

/// All rows of an index with their similarities, in the order of answers.
fn scanned(index: &Index, measure: IndexSimilarity, query: &[u8]) -> Vec<IndexHit> {
    let mut row_bytes = vec![0; index.row_bytes()];
    let mut hits = Vec::new();
    for row in 0..index.next_row() {
        if let Some((id, bits)) = index.row_at(row).unwrap() {
            index.copy_row(row, &mut row_bytes).unwrap();
            assert_eq!(bits, u64::from(ones(&row_bytes)));
            hits.push(IndexHit { id, row, similarity: similarity(measure, index.width(), query, &row_bytes) });
        }
    }
    hits.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then((a.id, a.row).cmp(&(b.id, b.row))));
    hits
}

const MEASURES: [IndexSimilarity; 9] = [
    IndexSimilarity::Tanimoto,
    IndexSimilarity::Dice,
    IndexSimilarity::Cosine,
    IndexSimilarity::Hamming,
    IndexSimilarity::Tversky { alpha: 1.0, beta: 0.0 },
    IndexSimilarity::Tversky { alpha: 0.0, beta: 0.7 },
    IndexSimilarity::Tversky { alpha: 0.0, beta: 0.0 },
    IndexSimilarity::Tversky { alpha: 1e-17, beta: 3e-17 },
    IndexSimilarity::Tversky { alpha: 0.3, beta: 40.0 },
];

/// Compares the answers to a query, whatever the threshold, with a scan.
fn check(index: &Index, query: &[u8], measure: IndexSimilarity, threads: usize) {
    let options = || IndexSearchOptions { similarity: measure, threads, ..IndexSearchOptions::default() };
    let scan = scanned(index, measure, query);
    // Thresholds at, above and below similarities that there are, and round ones.
    let near = scan.iter().step_by(1 + scan.len() / 5).flat_map(|hit| {
        let bits = hit.similarity.to_bits();
        [hit.similarity, f64::from_bits(bits + 1), f64::from_bits(bits.saturating_sub(1))]
    });
    for threshold in near.chain([0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0]).filter(|threshold| *threshold <= 1.0) {
        let mut expected = scan.clone();
        expected.retain(|hit| hit.similarity >= threshold);
        assert_eq!(index.find_similar(query, threshold, &mut options()).unwrap(), expected, "{measure:?} {threshold}");
        let mut called = Vec::new();
        let mut call = |hit: &IndexHit| {
            called.push(*hit);
            true
        };
        let count = index.visit_similar(query, threshold, &mut options(), &mut call).unwrap();
        assert!(called.is_sorted_by_key(|hit| hit.row) && count == expected.len() as u64);
        called.sort_by(IndexHit::order);
        assert_eq!(called, expected);
    }
    for k in [0, 1, 2, 10, 100, scan.len(), scan.len() + 7] {
        let expected = &scan[..k.min(scan.len())];
        assert_eq!(index.find_top(query, k, &mut options()).unwrap(), expected, "{measure:?} top {k}");
    }
}

/// Every measure, width, length of folds, instruction set and threshold: arranged rows, others, and removed ones.
#[test]
#[ignore = "slow: make test-all"]
fn answers_are_those_of_a_scan() {
    let mut random = Random(1);
    let widths = [64, 65, 166, 512, 881, 1024, 2048, 65_536];
    for (place, width) in widths.into_iter().enumerate() {
        let kernels =
            Kernel::ALL.into_iter().filter(|kernel| Index::new(&Spec { kernel: *kernel, ..spec(9, &[]) }).is_ok());
        for (number, kernel) in kernels.enumerate() {
            // A wide row takes as long as many others.
            let count = if width > 4_096 {
                60
            } else if is_soak() {
                4_000
            } else {
                200
            };
            let rows = rows(&mut random, width, count);
            let fold = ((place + number) % 5 + 1) as f64;
            let settings = [("width", width as f64), ("fold", fold)];
            let mut builder = IndexBuilder::new(&Spec { kernel, ..spec(rows.len() as u64 + 150, &settings) }).unwrap();
            rows.iter().for_each(|(id, row)| builder.add(*id, row).unwrap());
            let mut index = builder.finish().unwrap();
            assert_eq!((index.next_row(), index.row_count()), (rows.len() as u64, rows.len() as u64));
            for stage in 0..3 {
                let queries = [&rows[5].1, &rows[rows.len() - 1].1, &rows[rows.len() - 2].1, &rows[17].1];
                for (i, query) in queries.into_iter().enumerate() {
                    let mut query = query.clone();
                    if i == 3 {
                        (0..width / 50).for_each(|_| flip(&mut query, random.below(width)));
                    }
                    let all = if width > 4_096 || number > 0 { 3 } else { MEASURES.len() };
                    MEASURES.into_iter().take(all).for_each(|measure| check(&index, &query, measure, stage));
                }
                match stage {
                    0 => {
                        for (id, row) in rows.iter().take(100) {
                            index.add(*id, row).unwrap();
                        }
                    }
                    1 => {
                        (0..index.next_row()).step_by(3).for_each(|row| assert!(index.remove_row(row).unwrap()));
                        assert!(!index.remove_row(0).unwrap());
                    }
                    _ => {}
                }
            }
            index.verify().unwrap();
            index.arrange(index.row_count()).unwrap().verify().unwrap();
        }
    }
}

/// Few rows of each fold and kernel, arranged, one by one, and removed: every call answers as a scan, in one thread or
/// two, and reports how many rows are done.
#[test]
fn few_rows_answer_as_a_scan() {
    let mut random = Random(11);
    let available = |kernel: &Kernel| Index::new(&Spec { kernel: *kernel, ..spec(9, &[]) }).is_ok();
    let kernels: Vec<Kernel> = Kernel::ALL.into_iter().filter(available).collect();
    let shapes = [(64_u64, 1.0), (64, 2.0), (130, 2.0), (256, 3.0), (512, 4.0), (1024, 5.0), (2048, 5.0)];
    for (place, (width, fold)) in shapes.into_iter().enumerate() {
        let rows = rows(&mut random, width, 70);
        let kernel = kernels[place % kernels.len()];
        let settings = [("width", width as f64), ("fold", fold)];
        let mut builder = IndexBuilder::new(&Spec { kernel, ..spec(110, &settings) }).unwrap();
        rows.iter().for_each(|(id, row)| builder.add(*id, row).unwrap());
        let mut index = builder.finish().unwrap();
        for stage in 0..2 {
            // The second query has as many bits as the first one, and is near no row.
            let mut moved = vec![0; rows[5].1.len()];
            let bits = (0..width as usize).filter(|bit| rows[5].1[bit / 8] >> (bit % 8) & 1 == 1);
            bits.for_each(|bit| flip(&mut moved, (bit as u64 + width / 2) % width));
            let queries = [&rows[5].1[..], &moved, &rows[rows.len() - 2].1, &rows[rows.len() - 1].1];
            for (i, measure) in MEASURES.into_iter().enumerate() {
                check(&index, queries[(i + place) % 4], measure, 1 + i % 2);
                let mut options =
                    IndexSearchOptions { similarity: measure, threads: 1 + i % 3, ..IndexSearchOptions::default() };
                let top = index.find_top_batch(&queries.concat(), 7, &mut options).unwrap();
                let near = index.find_similar_batch(&queries.concat(), 0.6, &mut options).unwrap();
                assert_eq!((top.len(), near.len()), (4, 4));
                for ((query, top), near) in queries.iter().zip(top).zip(near) {
                    let scan = scanned(&index, measure, query);
                    assert_eq!(top, scan[..7]);
                    assert!(near.iter().eq(scan.iter().take_while(|hit| hit.similarity >= 0.6)), "{measure:?}");
                }
            }
            for call in 0..6 {
                let (mut last, mut ends, all) = (0, 0, if call < 3 { index.next_row() } else { 4 });
                let mut progress = |done: u64, total: u64| {
                    assert!(total == all && (last..=all).contains(&done), "call {call}: {done} of {total}");
                    (last, ends) = (done, ends + u32::from(done == all));
                    true
                };
                let (query, many) = (queries[0], queries.concat());
                let mut options = IndexSearchOptions { progress: Some(&mut progress), ..IndexSearchOptions::default() };
                match call {
                    0 => index.find_top(query, 100, &mut options).map(drop),
                    1 => index.find_similar(query, 0.0, &mut options).map(drop),
                    2 => index.visit_similar(query, 0.0, &mut options, &mut |_| true).map(drop),
                    3 => index.find_top_batch(&many, 3, &mut options).map(drop),
                    _ => index.find_similar_batch(&many, 0.9, &mut options).map(drop),
                }
                .unwrap();
                // The whole is done at the end, which may be reported twice.
                assert!(last == all && ends <= 2, "call {call}: {last} of {all}, {ends} times");
            }
            if stage == 0 {
                rows.iter().rev().take(20).for_each(|(id, row)| _ = index.add(*id, row).unwrap());
                (0..index.next_row()).step_by(3).for_each(|row| assert!(index.remove_row(row).unwrap()));
            }
        }
        // A callback that ends a search gets no other row, and a search that is cancelled says so.
        let mut left = 3;
        let mut end = |_: &IndexHit| {
            left -= 1;
            left > 0
        };
        let query = &rows[5].1;
        assert_eq!(index.visit_similar(query, 0.0, &mut IndexSearchOptions::default(), &mut end).unwrap(), 3);
        let mut stop = |_: u64, _: u64| false;
        let mut options = IndexSearchOptions { progress: Some(&mut stop), ..IndexSearchOptions::default() };
        let stopped = index.visit_similar(query, 0.0, &mut options, &mut |_| true);
        assert_eq!(stopped.unwrap_err().status(), Status::Cancelled);
        assert_eq!(index.find_top(query, 1, &mut options).unwrap_err().status(), Status::Cancelled);
    }
}

/// Rows of one count in some chunks: folds leave rows out, or are left alone, from any row on.
#[test]
fn runs_of_one_count_answer_as_a_scan() {
    let mut random = Random(12);
    for fold in [1.0, 2.0, 3.0] {
        let mut builder = IndexBuilder::new(&spec(0, &[("width", 256.0), ("fold", fold)])).unwrap();
        for id in 0..3_300_u64 {
            // 70 rows before, so that no chunk begins where a run does.
            let count = if id < 70 { 3 } else { 20 + id as u32 % 2 * 30 };
            let mut row = vec![0; 32];
            while ones(&row) < count {
                let bit = random.below(if id % 5 == 0 { 80 } else { 256 });
                row[bit as usize / 8] |= 1 << (bit % 8);
            }
            builder.add(id / 3, &row).unwrap();
        }
        let index = builder.finish().unwrap();
        let mut query = vec![0; 32];
        for number in [100, 1_500, 3_299] {
            index.copy_row(number, &mut query).unwrap();
            let scan = scanned(&index, IndexSimilarity::Tanimoto, &query);
            for threshold in [0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.9] {
                let found = index.find_similar(&query, threshold, &mut IndexSearchOptions::default()).unwrap();
                assert!(found.iter().eq(scan.iter().take_while(|hit| hit.similarity >= threshold)), "{threshold}");
            }
            for k in [1, 30, 3_000] {
                assert!(index.find_top(&query, k, &mut IndexSearchOptions::default()).unwrap() == scan[..k], "{k}");
            }
        }
    }
}

/// Threads share more rows than one takes at a time, and a single thread gives rows while it searches.
#[test]
fn threads_share_many_rows() {
    const ROWS: u64 = 33_000;
    let mut builder = IndexBuilder::new(&spec(ROWS, &[("width", 64.0)])).unwrap();
    let bits = |id: u64| mix(id) & mix(id + ROWS) & mix(id + 2 * ROWS);
    (0..ROWS).for_each(|id| builder.add(id, &bits(id).to_le_bytes()).unwrap());
    let index = builder.finish().unwrap();
    for query in [0_u64, 1, 0x81] {
        let mut expected: Vec<u64> = (0..ROWS).filter(|id| query & !bits(*id) == 0).collect();
        expected.sort_by_key(|id| (bits(*id).count_ones(), *id));
        for threads in [1, 2, 5] {
            let (mut found, mut last) = (Vec::new(), 0);
            let mut progress = |done: u64, all: u64| {
                assert!(all == ROWS && (last..=all).contains(&done), "{done} of {all}");
                last = done;
                true
            };
            let mut take = |_, id| {
                found.push(id);
                true
            };
            let mut options =
                IndexSearchOptions { threads, progress: Some(&mut progress), ..IndexSearchOptions::default() };
            assert!(index.visit_containing(&query.to_le_bytes(), &mut options, &mut take).unwrap());
            assert!(found == expected && last == ROWS);
            let mut options = IndexSearchOptions { threads, ..IndexSearchOptions::default() };
            assert_eq!(index.count_all(&query.to_le_bytes(), &mut options).unwrap(), expected.len() as u64);
            let (mut given, mut calls) = (0, 0);
            let mut progress = |_: u64, _: u64| {
                calls += 1;
                true
            };
            let mut some = |_: u64, _: u64| {
                given += 1;
                given < 3
            };
            let mut options =
                IndexSearchOptions { threads, progress: Some(&mut progress), ..IndexSearchOptions::default() };
            assert!(!index.visit_containing(&query.to_le_bytes(), &mut options, &mut some).unwrap());
            assert!(given == 3 && (calls == 0) == (threads == 1), "{calls} calls for {threads} threads");
            let mut stop = |_: u64, _: u64| false;
            let mut options =
                IndexSearchOptions { threads, progress: Some(&mut stop), ..IndexSearchOptions::default() };
            let stopped = index.count_all(&query.to_le_bytes(), &mut options);
            assert_eq!(stopped.unwrap_err().status(), Status::Cancelled);
        }
    }
}

/// A builder grows while rows come, and what it has so far is searched like any index. The last place has its id too.
#[test]
fn what_a_builder_has_so_far_is_whole() {
    for store in [0.0, 2.0] {
        let settings = [("width", 64.0), ("store", store)];
        let mut builder = IndexBuilder::new(&spec(0, &settings)).unwrap();
        // Blocks of 64 rows in ascending order, each of which begins with fewer bits than the one before has.
        let bits = |id: u64| u64::MAX >> (62 - id % 64 / 2 - id / 64 % 5);
        for id in 0..1_030 {
            builder.add(id, &bits(id).to_le_bytes()).unwrap();
        }
        let so_far = builder.index();
        so_far.payload().check_payload().unwrap();
        assert_eq!(so_far.find_row(1_029, 0), Some(1_029));
        for query in [1_u64, 0xff, u64::MAX] {
            let scan = scanned(so_far, IndexSimilarity::Tanimoto, &query.to_le_bytes());
            assert!(so_far.find_top(&query.to_le_bytes(), 2_000, &mut IndexSearchOptions::default()).unwrap() == scan);
        }
        for rows in [8, 64, 72, 128, 136, 600] {
            let mut builder = IndexBuilder::new(&spec(rows, &settings)).unwrap();
            (0..rows).for_each(|id| builder.add(1 + id, &bits(id).to_le_bytes()).unwrap());
            let index = builder.finish().unwrap();
            index.payload().check_payload().unwrap();
            // All rows are in the order of their counts, and the state says so.
            let arranged = 256 + 8 * (index.shape().state_start() + 1);
            assert_eq!(image(&index)[arranged..][..8], rows.to_le_bytes());
            let mut ids: Vec<u64> = (0..rows).map(|row| index.row_at(row).unwrap().unwrap().0).collect();
            ids.sort_unstable();
            assert!(ids.into_iter().eq(1..=rows), "{rows} rows, store {store}");
        }
    }
}

/// Rows of one count in many chunks, so that folds are read, left out, and tried again; many queries in one call.
#[test]
fn long_runs_and_many_queries() {
    let mut random = Random(2);
    let mut builder = IndexBuilder::new(&spec(0, &[])).unwrap();
    let mut queries = Vec::new();
    for id in 0..20_000_u64 {
        let mut row = random.row(1024, 0);
        while ones(&row) < 40 + (id % 2) as u32 {
            row[random.below(128) as usize] |= 1 << random.below(8);
        }
        if id % 2_000 == 7 {
            queries.extend_from_slice(&row);
        }
        builder.add(id / 3, &row).unwrap();
    }
    let index = builder.finish().unwrap();
    for threads in [1, 3] {
        let options = || IndexSearchOptions { threads, ..IndexSearchOptions::default() };
        let top = index.find_top_batch(&queries, 9, &mut options()).unwrap();
        let some = index.find_similar_batch(&queries, 0.1, &mut options()).unwrap();
        assert_eq!((top.len(), some.len()), (10, 10));
        for (i, query) in queries.chunks(128).enumerate() {
            let scan = scanned(&index, IndexSimilarity::Tanimoto, query);
            assert_eq!(top[i], scan[..9]);
            assert!(some[i].iter().eq(scan.iter().take_while(|hit| hit.similarity >= 0.1)));
            assert_eq!(index.find_top(query, 9, &mut options()).unwrap(), top[i]);
        }
    }
    // Rows that contain a query come in order, even from several threads and several pieces of rows.
    for (store, rows) in [(0.0, 100_000), (1.0, 600_000_u64)] {
        let mut builder = IndexBuilder::new(&spec(rows, &[("width", 64.0), ("store", store)])).unwrap();
        let bits = |i: u64| (i * i / 7 % 256).to_le_bytes();
        (0..rows).for_each(|i| builder.add(rows - i, &bits(i)).unwrap());
        let searched = builder.finish().unwrap();
        let mut seen = [Vec::new(), Vec::new()];
        for (threads, seen) in [1, 3].into_iter().zip(&mut seen) {
            let mut options = IndexSearchOptions { threads, ..IndexSearchOptions::default() };
            let mut take = |row, id| {
                seen.push((row, id));
                true
            };
            assert!(searched.visit_containing(&5_u64.to_le_bytes(), &mut options, &mut take).unwrap());
        }
        assert!(seen[0] == seen[1] && seen[0].is_sorted());
        assert_eq!(seen[0].len(), (0..rows).filter(|i| bits(*i)[0] & 5 == 5).count());
    }
    // Rows that are not arranged: what belongs to one query must not stay for the next.
    let mut others = Index::new(&spec(600, &[])).unwrap();
    let mut row = vec![0; 128];
    for number in (0..index.next_row()).rev().step_by(40) {
        index.copy_row(number, &mut row).unwrap();
        (0..number % 30).for_each(|_| flip(&mut row, random.below(1024)));
        others.add(number, &row).unwrap();
        queries.extend_from_slice(&row[..if number % 800 == 39 { 128 } else { 0 }]);
    }
    let found = others.find_similar_batch(&queries, 0.4, &mut IndexSearchOptions::default()).unwrap();
    for (found, query) in found.iter().zip(queries.chunks(128)) {
        let scan = scanned(&others, IndexSimilarity::Tanimoto, query);
        assert!(found.iter().eq(scan.iter().take_while(|hit| hit.similarity >= 0.4)));
    }
    // Progress rises to the whole, and cancels.
    let (mut last, mut calls) = (0, 0);
    let mut progress = |done: u64, all: u64| {
        assert!(all == 20_000 && (last..=all).contains(&done));
        (last, calls) = (done, calls + 1);
        true
    };
    let mut options = IndexSearchOptions { progress: Some(&mut progress), ..IndexSearchOptions::default() };
    index.find_top(&queries[..128], 2, &mut options).unwrap();
    assert!(last == 20_000 && calls > 1);
    for threads in [1, 4] {
        let mut stop = |_: u64, _: u64| false;
        let mut options = IndexSearchOptions { threads, progress: Some(&mut stop), ..IndexSearchOptions::default() };
        assert_eq!(index.find_top(&queries[..128], 2, &mut options).unwrap_err().status(), Status::Cancelled);
        assert_eq!(index.find_similar_batch(&queries, 0.5, &mut options).unwrap_err().status(), Status::Cancelled);
    }
    let mut only = 0;
    let mut end = |_: &IndexHit| {
        only += 1;
        only < 3
    };
    assert_eq!(index.visit_similar(&queries[..128], 0.0, &mut IndexSearchOptions::default(), &mut end).unwrap(), 3);
}

/// Rows come until the capacity, go by their ids, and are joined.
#[test]
fn rows_come_and_go() {
    let mut random = Random(3);
    for store in [0.0, 1.0, 2.0] {
        let settings = [("width", 100.0), ("store", store), ("attachment_bytes", 20.0)];
        let mut index = Index::new(&spec(70, &settings)).unwrap();
        let rows: Rows = (0..70).map(|i| (i / 2, random.row(100, i))).collect();
        for (number, (id, row)) in rows.iter().enumerate() {
            assert_eq!(index.add(*id, row).unwrap(), number as u64);
        }
        assert_eq!(index.add(1, &rows[0].1).unwrap_err().status(), Status::Full);
        index.attach(b"names of the rows").unwrap();
        assert_eq!(index.attach(&[0; 21]).unwrap_err().status(), Status::TooLarge);
        assert_eq!((index.remove(4).unwrap(), index.remove(4).unwrap(), index.row_count()), (2, 0, 68));
        assert_eq!((index.find_row(4, 0), index.find_row(5, 0), index.find_row(5, 11)), (None, Some(10), Some(11)));
        assert_eq!(index.row_at(8).unwrap(), None);
        assert_eq!(index.row_at(70).unwrap_err().status(), Status::OutOfRange);
        index.verify().unwrap();
        let mut other = Index::new(&spec(9, &settings)).unwrap();
        for id in 0..9 {
            other.add(1_000 + id, &rows[id as usize].1).unwrap();
        }
        assert_eq!(index.merge(&other).unwrap_err().status(), Status::Full);
        let both = index.arrange_both(&other, 80).unwrap();
        both.verify().unwrap();
        assert_eq!(
            (both.next_row(), both.capacity(), both.attachment().unwrap()),
            (77, 80, b"names of the rows".to_vec())
        );
        let mut all: Vec<_> = (0..both.next_row()).map(|row| (both.row_at(row).unwrap().unwrap(), row)).collect();
        assert!(all.is_sorted_by_key(|((_, bits), _)| *bits));
        let mut expected = [&rows[..8], &rows[10..]].concat();
        expected.extend((0..9).map(|id| (1_000 + id, rows[id as usize].1.clone())));
        expected.sort();
        all.sort();
        let mut found: Rows = all
            .into_iter()
            .map(|((id, _), row)| {
                let mut bytes = vec![0; 13];
                both.copy_row(row, &mut bytes).unwrap();
                (id, bytes)
            })
            .collect();
        found.sort();
        assert_eq!(found, expected);
        let again: Index = load_as(&image(&both), &OpenOptions::default()).unwrap();
        again.verify().unwrap();
        assert_eq!(again.base().spec().capacity, 80);
        let foreign = Index::new(&spec(9, &[("width", 101.0)])).unwrap();
        assert_eq!(index.merge(&foreign).unwrap_err().status(), Status::Incompatible);
        // A copy in another order keeps the secret key, which no spec has.
        let secret = Spec { hash: HashFunction::SipHash13, secret: Some(SECRET), ..spec(9, &settings) };
        let keyed = Index::new(&secret).unwrap();
        assert_eq!(keyed.arrange(0).unwrap().base().header().identifier, keyed.base().header().identifier);
        assert_eq!(index.merge(&keyed).unwrap_err().status(), Status::Incompatible);
        index.clear().unwrap();
        assert!(index.row_count() == 0 && index.attachment().unwrap().is_empty());
        assert_eq!(index.add(1, &rows[0].1).unwrap(), 0);
        if store == 1.0 {
            let refused = index.find_top(&rows[0].1, 1, &mut IndexSearchOptions::default());
            assert_eq!(refused.unwrap_err().status(), Status::UnsupportedByHandle);
        }
    }
}

#[test]
fn what_is_refused() {
    let refused = |spec: &Spec| Index::new(spec).unwrap_err().status();
    assert_eq!(refused(&spec(9, &[("width", 63.0)])), Status::OutOfRange);
    assert_eq!(refused(&spec(9, &[("width", 65_537.0)])), Status::OutOfRange);
    assert_eq!(refused(&Spec { false_positive_rate: 0.1, ..spec(9, &[]) }), Status::Contradiction);
    assert_eq!(refused(&Spec { bits: 1_000, ..spec(0, &[]) }), Status::OutOfRange);
    assert_eq!(refused(&Spec { bits: 1_024, ..spec(2, &[]) }), Status::OutOfRange);
    assert_eq!(refused(&spec(9, &[("store", 1.0), ("fold", 3.0)])), Status::Contradiction);
    assert_eq!(refused(&spec(1 << 41, &[])), Status::TooLarge);
    assert_eq!(Index::new(&Spec { bits: 2_048, ..spec(0, &[]) }).unwrap().capacity(), 2);
    let mut index = Index::new(&spec(9, &[("width", 66.0)])).unwrap();
    assert_eq!(index.add(1, &[0; 8]).unwrap_err().status(), Status::OutOfRange);
    assert_eq!(index.add(1, &[0, 0, 0, 0, 0, 0, 0, 0, 4]).unwrap_err().status(), Status::OutOfRange);
    index.add(1, &[0, 0, 0, 0, 0, 0, 0, 0, 2]).unwrap();
    let mut options = IndexSearchOptions::default();
    for threshold in [-0.1, 1.1, f64::NAN] {
        let refused = index.find_similar(&[0; 9], threshold, &mut options).unwrap_err();
        assert_eq!(refused.status(), Status::OutOfRange);
    }
    for weight in [-1.0, f64::NAN, f64::INFINITY] {
        options.similarity = IndexSimilarity::Tversky { alpha: 1.0, beta: weight };
        assert_eq!(index.find_top(&[0; 9], 1, &mut options).unwrap_err().status(), Status::OutOfRange);
    }
    assert_eq!(
        index.find_top_batch(&[0; 10], 1, &mut IndexSearchOptions::default()).unwrap_err().status(),
        Status::OutOfRange
    );
}

/// A file takes rows while others read it: they see the rows that there were, or more, and never half a row. A writer
/// that ends without a word leaves rows that can be marked clean.
#[test]
fn appending_while_read() {
    let folder = tempfile::tempdir().unwrap();
    for store in [0.0, 2.0] {
        let path = folder.path().join(format!("rows{store}"));
        let mut random = Random(5);
        let index = Index::new(&spec(3_000, &[("width", 256.0), ("store", store)])).unwrap();
        index.save(&path).unwrap();
        let rows: Rows = (0..3_000).map(|id| (mix(id), random.row(256, 1 + id % 90))).collect();
        let reader: Index = open_as(&path, &OpenOptions { mode: Mode::Read, ..OpenOptions::default() }).unwrap();
        let open = || open_as::<Index>(&path, &OpenOptions { mode: Mode::Write, ..OpenOptions::default() }).unwrap();
        let mut writer = open();
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                for (id, row) in &rows[..2_000] {
                    writer.add(*id, row).unwrap();
                }
            });
            let mut seen = 0;
            while seen < 2_000 {
                // A writer that ended has written all rows.
                let is_last = thread.is_finished();
                let now = reader.next_row();
                assert!(now >= seen && (now == 2_000 || !is_last));
                for row in seen..now {
                    let (id, given) = &rows[row as usize];
                    let mut bytes = vec![0; 32];
                    reader.copy_row(row, &mut bytes).unwrap();
                    assert_eq!((reader.row_at(row).unwrap(), &bytes), (Some((*id, ones(given).into())), given));
                    let found = reader.find_similar(given, 1.0, &mut IndexSearchOptions::default()).unwrap();
                    assert!(row % 16 != 0 || found.iter().any(|hit| hit.row == row));
                }
                seen = now;
                std::thread::yield_now();
            }
            thread.join().unwrap();
        });
        writer.remove(rows[7].0).unwrap();
        drop(writer);
        reader.verify().unwrap();
        assert_eq!((reader.next_row(), reader.row_count()), (2_000, 1_999));
        let mut writer = open();
        writer.add(1, &rows[0].1).unwrap();
        writer.base_mut().abandon();
        drop(writer);
        let mut again = open();
        assert!(again.base().stays_unclean() && again.next_row() == 2_001);
        again.mark_clean().unwrap();
        drop(again);
        let whole: Index = open_as(&path, &OpenOptions::default()).unwrap();
        whole.verify().unwrap();
        assert!(!whole.base().stays_unclean());
    }
}

/// A row overwrites all that a stopped writer has left in its place.
#[test]
fn a_row_overwrites_what_was_left_in_its_place() {
    let mut random = Random(9);
    let rows: Rows = (0..3).map(|id| (id, random.row(130, 20 + id))).collect();
    let all_ones: Vec<u8> = (0..17).map(|byte| if byte < 16 { 0xff } else { 3 }).collect();
    for (store, fold, id_bytes) in [(0.0, 2.0, 8.0), (1.0, 1.0, 4.0), (2.0, 3.0, 4.0)] {
        let settings = [("width", 130.0), ("store", store), ("fold", fold), ("id_bytes", id_bytes)];
        let made = || {
            let mut index = Index::new(&spec(70, &settings)).unwrap();
            rows.iter().for_each(|(id, row)| assert!(index.add(*id, row).is_ok()));
            index
        };
        let (mut clean, mut stopped) = (made(), made());
        stopped.add(u64::from(u32::MAX), &all_ones).unwrap();
        stopped.remove_row(3).unwrap();
        // The last row is written, but not yet counted.
        let (mut left, state) = (image(&stopped), 256 + 8 * stopped.shape().state_start());
        left[state..state + 64].copy_from_slice(&image(&clean)[state..state + 64]);
        seal(&mut left);
        let mut again: Index = load_as(&left, &OpenOptions::default()).unwrap();
        assert_eq!((again.next_row(), again.row_count()), (3, 3));
        let row = random.row(130, 1);
        assert_eq!((clean.add(5, &row).unwrap(), again.add(5, &row).unwrap()), (3, 3));
        again.payload().check_payload().unwrap();
        assert_eq!(again.row_at(3).unwrap(), Some((5, 1)));
        assert!(image(&again)[256..state + 64] == image(&clean)[256..state + 64], "store {store}");
    }
}

/// Ids of four bytes take half the place, and an id that does not fit changes nothing. Counts fit at every width.
#[test]
fn short_ids_and_counts() {
    for store in [0.0, 1.0, 2.0] {
        let mut random = Random(41);
        let settings = |id_bytes| [("width", 255.0), ("store", store), ("id_bytes", id_bytes)];
        let mut index = Index::new(&spec(100, &settings(4.0))).unwrap();
        let most = u64::from(u32::MAX);
        let rows: Rows = [0, most, 7, most - 1].into_iter().map(|id| (id, random.row(255, id % 200))).collect();
        for (id, row) in &rows {
            index.add(*id, row).unwrap();
        }
        let before = image(&index);
        let refused = index.add(most + 1, &rows[0].1).unwrap_err();
        assert_eq!(refused.status(), Status::OutOfRange);
        let said = "id = 4294967296 is more than 4294967295, the most that id_bytes = 4 has room for";
        assert_eq!(refused.to_string(), said);
        let refused = IndexBuilder::new(&spec(1, &settings(4.0))).unwrap().add(1 << 40, &rows[0].1).unwrap_err();
        assert_eq!(refused.status(), Status::OutOfRange);
        // Merging looks at all ids before the first row comes.
        let mut long = Index::new(&spec(100, &settings(8.0))).unwrap();
        long.add(1, &rows[0].1).unwrap();
        long.add(1 << 33, &rows[1].1).unwrap();
        assert_eq!(index.merge(&long).unwrap_err().status(), Status::OutOfRange);
        assert_eq!(image(&index), before);
        long.remove(1 << 33).unwrap();
        index.merge(&long).unwrap();
        long.merge(&index).unwrap();
        index.verify().unwrap();
        let ids = |index: &Index| -> Vec<u64> {
            (0..index.next_row()).filter_map(|row| index.row_at(row).unwrap()).map(|(id, _)| id).collect()
        };
        assert_eq!(ids(&index), [0, most, 7, most - 1, 1]);
        assert_eq!(ids(&long), [1, 0, most, 7, most - 1, 1]);
        assert!(image(&index).len() + 300 < image(&long).len());
    }
    for width in [64_u32, 255, 256, 257, 65_535, 65_536] {
        let mut index = Index::new(&spec(9, &[("width", f64::from(width))])).unwrap();
        for count in [width, 0, width - 1, 1, width] {
            let mut row = vec![0_u8; index.row_bytes()];
            (0..count).for_each(|bit| row[bit as usize / 8] |= 1 << (bit % 8));
            let number = index.add(3, &row).unwrap();
            assert_eq!(index.row_at(number).unwrap(), Some((3, u64::from(count))));
        }
        index.verify().unwrap();
        let again: Index = load_as(&image(&index), &OpenOptions::default()).unwrap();
        assert_eq!(again.row_at(4).unwrap(), Some((3, u64::from(width))));
    }
}

/// A union takes as many rows as there is room for, and one row more changes nothing. An attachment has a length too.
#[test]
fn what_has_no_room_changes_nothing() {
    let made = |rows: u64| {
        let mut index = Index::new(&spec(10, &[("width", 128.0), ("attachment_bytes", 40.0)])).unwrap();
        assert!(index.row_count() == 0 && index.width() == 128);
        (0..rows).for_each(|i| assert_eq!(index.add(i, &[i as u8; 16]).unwrap(), i));
        assert_eq!(index.row_count() == 0, rows == 0);
        index
    };
    for rows in 0..10 {
        let mut index = made(rows);
        let before = image(&index);
        assert_eq!(index.merge(&made(11 - rows.max(1))).map_err(|error| error.status()).is_ok(), rows == 0);
        assert_eq!(image(&index) == before, rows > 0, "{rows} rows");
        if rows > 0 {
            index.merge(&made(10 - rows)).unwrap();
        }
        assert_eq!((index.next_row(), index.add(7, &[0; 16]).unwrap_err().status()), (10, Status::Full));
        for length in [40, 0, 39, 1, 8, 17] {
            index.attach(&vec![length as u8; length]).unwrap();
            assert_eq!(index.attachment().unwrap(), vec![length as u8; length]);
        }
        let before = image(&index);
        assert_eq!(index.attach(&[1; 41]).unwrap_err().status(), Status::TooLarge);
        assert_eq!(image(&index), before);
    }
}

/// Words of a header that no spec asks for are refused.
#[test]
fn forged_headers_are_refused() {
    for store in [0.0, 1.0] {
        let mut index = Index::new(&spec(20, &[("width", 100.0), ("store", store)])).unwrap();
        index.add(1, &[7; 13]).unwrap();
        let written = image(&index);
        // The fold, what is stored, the nesting, the bits for each feature, the bytes of an id, and a word without use.
        let forged = [(1, 0), (1, 2), (1, 6), (1, u64::MAX), (2, 3), (2, u64::MAX), (3, 2), (4, 0), (4, 65), (6, 0)];
        for (word, value) in forged.into_iter().chain([(6, 3), (6, 16), (7, 1), (7, u64::MAX), (0, 63), (0, 65_537)]) {
            let mut bytes = written.clone();
            bytes[72 + 8 * word..][..8].copy_from_slice(&value.to_le_bytes());
            seal(&mut bytes);
            let status = load_as::<Index>(&bytes, &OpenOptions::default()).map_err(|error| error.status()).err();
            let is_refused = matches!(status, Some(Status::Corrupt | Status::NewerVersion));
            assert!(is_refused, "store {store}, word {word}: {value}, {status:?}");
        }
    }
}

/// A state that no index has is refused when an image is opened, before anyone looks at its rows.
#[test]
fn forged_states_are_refused() {
    let mut index = Index::new(&spec(20, &[("width", 100.0), ("attachment_bytes", 9.0)])).unwrap();
    (0..7).for_each(|id| _ = index.add(id, &[id as u8; 13]).unwrap());
    index.attach(b"names").unwrap();
    let (written, state) = (image(&index), index.shape().state_start());
    let refused = |word: usize, value: u64| {
        let mut bytes = written.clone();
        bytes[256 + 8 * (state + word)..][..8].copy_from_slice(&value.to_le_bytes());
        seal(&mut bytes);
        let mut refused = None;
        Buffer::of(&bytes).open_as(Mode::Read, None, |index: petal::Result<&mut Index>| {
            refused = index.err().map(|error| error.status());
        });
        refused
    };
    // The numbers of rows, of those in order, and of bytes of the attachment; then words without use.
    for (word, least, most) in [(0, 7, 20), (1, 0, 7), (2, 0, 9), (3, 0, 0), (4, 0, 0), (5, 0, 0), (6, 0, 0), (7, 0, 0)]
    {
        assert_eq!((refused(word, least), refused(word, most)), (None, None), "word {word}");
        for value in [most + 1, 1 << 40, u64::MAX] {
            assert_eq!(refused(word, value), Some(Status::Corrupt), "word {word}: {value}");
        }
    }
}

/// Every bit that contradicts the rest of an index is found, even under right checksums: in rows, folds, counts and
/// columns, and where nothing may be set. Only the place after the last row may have bits.
#[test]
fn contradicting_bits_are_refused() {
    let mut random = Random(13);
    for store in [0.0, 1.0, 2.0] {
        let fold = if store == 1.0 { 1.0 } else { 2.0 };
        let settings = [("width", 130.0), ("store", store), ("fold", fold), ("attachment_bytes", 16.0)];
        let mut builder = IndexBuilder::new(&spec(76, &settings)).unwrap();
        (0..66).for_each(|id| builder.add(id, &random.row(130, id)).unwrap());
        let mut index = builder.finish().unwrap();
        index.attach(b"names").unwrap();
        let (written, shape) = (image(&index), *index.shape());
        // The status after changes of words by exclusive or.
        let refused = |changes: &[(usize, u64)]| {
            let mut bytes = written.clone();
            for (word, change) in changes {
                let place = &mut bytes[256 + 8 * word..][..8];
                let now = u64::from_le_bytes((&*place).try_into().unwrap()) ^ change;
                place.copy_from_slice(&now.to_le_bytes());
            }
            seal(&mut bytes);
            load_as::<Index>(&bytes, &OpenOptions::default()).err().map(|error| error.status())
        };
        let [counts, ids, removed] = [shape.counts().word(0), shape.ids().word(0), shape.removed().start];
        let (columns, attachment) = (shape.removed().end, shape.attachment().start);
        let is_free = |word: usize, bit: usize| {
            if word < counts {
                store != 1.0 && shape.row(66).contains(&word) || word == shape.fold_word(66, 0)
            } else if word < ids {
                8 * (word - counts) + bit / 8 == 66
            } else if word < removed {
                word - ids <= 66
            } else if word < columns {
                64 * (word - removed) + bit <= 66
            } else if word < attachment {
                64 * ((word - columns) % shape.column_words()) + bit == 66
            } else {
                64 * (word - attachment) + bit < 40
            }
        };
        for word in 0..shape.state_start() {
            let bits = [random.below(64) as usize, word % 8, 16 + word % 5];
            for bit in if word < columns { &bits[..] } else { &bits[word % 3..][..1] } {
                let status = refused(&[(word, 1 << bit)]);
                let expected = (!is_free(word, *bit)).then_some(Status::Corrupt);
                assert_eq!(status, expected, "store {store}, word {word}, bit {bit}");
            }
        }
        // A row with a bit after its last one, with which its count and its fold agree.
        let count = index.row_at(65).unwrap().unwrap().1;
        let count = (shape.counts().word(65), (count ^ (count + 1)) << 8);
        if store != 1.0 {
            let changes = [(shape.row(65).start + 2, 1 << 2), (shape.fold_word(65, 0), 1 << 2), count];
            assert_eq!(refused(&changes), Some(Status::Corrupt));
        }
        // Rows that are said to be in order, and are not.
        let mut others = Index::new(&spec(76, &settings)).unwrap();
        for id in 0..9 {
            let mut row = ((1_u128 << (60 - 3 * id)) - 1).to_le_bytes().to_vec();
            row.push(0);
            others.add(id, &row).unwrap();
        }
        for arranged in 0..10_u8 {
            let mut bytes = image(&others);
            bytes[256 + 8 * (shape.state_start() + 1)] = arranged;
            seal(&mut bytes);
            let is_refused = load_as::<Index>(&bytes, &OpenOptions::default()).is_err();
            assert_eq!(is_refused, arranged > 1, "store {store}: {arranged} of 9");
        }
    }
}

/// A shape has a width and a number of rows that an index can have.
#[test]
fn shapes_have_bounds() {
    let shape = *Index::new(&spec(20, &[("width", 64.0)])).unwrap().shape();
    for (width, is_one) in [(63, false), (64, true), (65_536, true), (65_537, false), (1 << 20, false)] {
        let shape = Shape { width, ..shape };
        assert_eq!(Shape::of(&shape.geometry().unwrap()).is_some(), is_one, "{width}");
    }
    // A number of bits that no number of rows has.
    let mut geometry = shape.geometry().unwrap();
    for (bits, is_one) in [(20 * 64, true), (20 * 64 + 1, false), (20 * 64 - 1, false), (0, false)] {
        geometry.bits = bits;
        assert_eq!(Shape::of(&geometry).is_some(), is_one, "{bits} bits");
    }
    assert_eq!(Shape::of(&Shape { capacity: 0, ..shape }.geometry().unwrap()), None);
    // A scan reads all lines of the payload.
    for lines in [3, 1000] {
        geometry.payload_bytes = 64 * lines;
        assert_eq!((ROW.lines_per_lookup)(&geometry), lines as f64);
    }
    let of_rows = |capacity| Shape { capacity, ..shape }.geometry().map(drop).map_err(|error| error.status());
    assert_eq!([of_rows(1 << 40), of_rows((1 << 40) + 1)], [Ok(()), Err(Status::TooLarge)]);
}

/// A row that is added in place marks all regions that it changes, even those that have only folds.
#[test]
fn rows_in_place_mark_their_folds() {
    for fold in [1.0, 2.0, 3.0, 4.0, 5.0] {
        let settings = [("width", 1024.0), ("fold", fold), ("attachment_bytes", 300_000.0)];
        let index = Index::new(&spec(9000, &settings)).unwrap();
        let mut random = Random(77);
        for attached in [0, 1, 9000, 250_000] {
            let mut buffer = Buffer::of(&image(&index));
            buffer.open_as(Mode::Write, None, |index: petal::Result<&mut Index>| {
                let index = index.unwrap();
                // With an attachment alone only the attachment and the state change.
                let rows = if attached == 9000 { 0 } else { 9 };
                (0..rows).for_each(|id| _ = index.add(id, &random.row(1024, 200)).unwrap());
                index.attach(&vec![7; attached]).unwrap();
                index.sync().unwrap();
            });
            let index: Index = load_as(&buffer.bytes(), &OpenOptions::default()).unwrap();
            index.verify().unwrap();
            let rows = if attached == 9000 { 0 } else { 9 };
            assert_eq!((index.row_count(), index.attachment().unwrap()), (rows, vec![7; attached]));
        }
    }
}

/// A row that is added or removed far from the first one marks the regions of its own words, including those of
/// columns.
#[test]
fn rows_far_in_place_mark_their_words() {
    for store in [0.0, 1.0, 2.0] {
        let settings = [("width", 64.0), ("store", store)];
        let mut index = Index::new(&spec(100_000, &settings)).unwrap();
        let mut random = Random(79);
        (0..40_050).for_each(|id| _ = index.add(id, &random.next().to_le_bytes()).unwrap());
        for is_added in [true, false] {
            let mut buffer = Buffer::of(&image(&index));
            buffer.open_as(Mode::Write, None, |index: petal::Result<&mut Index>| {
                let index = index.unwrap();
                if is_added {
                    assert_eq!(index.add(7, &[255; 8]).unwrap(), 40_050);
                } else {
                    assert_eq!(index.remove(39_000).unwrap(), 1);
                }
                index.sync().unwrap();
            });
            let after: Index = load_as(&buffer.bytes(), &OpenOptions::default()).unwrap();
            after.verify().unwrap();
            assert_eq!(after.row_count(), if is_added { 40_051 } else { 40_050 });
            assert_eq!(after.row_at(39_000).unwrap().is_some(), is_added);
            if is_added { index.add(7, &[255; 8]) } else { index.remove(39_000) }.unwrap();
            assert!(image(&index) == image(&after));
        }
    }
}

/// A row whose words begin regions of an image in place marks each of these regions.
#[test]
fn rows_that_begin_regions_mark_them() {
    const REGION: usize = petal::format::REGION_BYTES / 8;
    for (store, fold, capacity) in [(1.0, 1.0, 530_000_u64), (0.0, 2.0, 20_000)] {
        let made = |attached: usize| {
            let attached = ("attachment_bytes", 8.0 * attached as f64);
            Index::new(&spec(capacity, &[("width", 64.0), ("store", store), ("fold", fold), attached])).unwrap()
        };
        // The state begins a region, and no row has other words there.
        let end = made(0).shape().state_start();
        let index = made(end.next_multiple_of(REGION) - end + REGION);
        let (written, shape) = (image(&index), *index.shape());
        assert_eq!(shape.state_start() % REGION, 0);
        let first = |start: usize, rows: u64| (start.next_multiple_of(REGION) - start) as u64 * rows;
        let rows = [
            first(shape.folds().start, 1),
            first(shape.counts().word(0), 8),
            first(shape.ids().word(0), 1),
            first(shape.removed().start, 64),
            first(shape.column(0).start, 64),
        ];
        for row in rows.into_iter().filter(|row| *row < capacity) {
            // Rows without bits, as many as are needed, and the mark of a removed row that a writer left after them.
            let mut bytes = written.clone();
            for word in 0..2 {
                bytes[256 + 8 * (shape.state_start() + word)..][..8].copy_from_slice(&row.to_le_bytes());
            }
            bytes[256 + 8 * shape.removed().start + (row / 8) as usize] |= 1 << (row % 8);
            seal(&mut bytes);
            let mut buffer = Buffer::of(&bytes);
            for call in 0..3 {
                buffer.open_as(Mode::Write, None, |index: petal::Result<&mut Index>| {
                    let index = index.unwrap();
                    match call {
                        0 => assert_eq!(index.add(7, &[255; 8]).unwrap(), row),
                        1 => assert!(index.remove_row(row).unwrap()),
                        _ => index.attach(b"names").unwrap(),
                    }
                    index.sync().unwrap();
                });
                buffer.open_as(Mode::Read, None, |index: petal::Result<&mut Index>| {
                    let index = index.unwrap();
                    index.verify().unwrap_or_else(|error| panic!("row {row}, call {call}: {error}"));
                    assert_eq!(index.row_at(row).unwrap(), (call == 0).then_some((7, 64)));
                });
            }
        }
    }
}

/// Copies in another order have the rows that are left, the room that was asked for, and the doubts about the image.
#[test]
fn copies_say_what_they_have() {
    let mut random = Random(83);
    let [mut few, mut many] = [(); 2].map(|()| Index::new(&spec(300, &[("width", 100.0)])).unwrap());
    few.add(1000, &random.row(100, 9)).unwrap();
    (0..130).for_each(|id| _ = many.add(id, &random.row(100, 30)).unwrap());
    assert_eq!(many.remove(5).unwrap() + many.remove(77).unwrap(), 2);
    let copies = [
        (many.arrange(200).unwrap(), 200, 128),
        (few.arrange_both(&many, 150).unwrap(), 150, 129),
        (many.arrange_both(&few, 129).unwrap(), 129, 129),
    ];
    for (copy, capacity, rows) in copies {
        copy.verify().unwrap();
        let header = copy.base().header();
        assert_eq!(
            (header.capacity, copy.row_count(), copy.next_row(), copy.base().count()),
            (capacity, rows, rows, rows)
        );
        assert!(!copy.base().header().unclean && copy.row_at(rows).is_err());
        let opened: Index = load_as(&image(&copy), &OpenOptions::default()).unwrap();
        assert_eq!((opened.row_count(), opened.base().header().capacity), (rows, capacity));
    }
    let mut unclean = image(&many);
    unclean[216..221].copy_from_slice(b"DIRTY");
    let mut unclean: Index = load_as(&unclean, &OpenOptions::default()).unwrap();
    assert!(unclean.arrange(200).unwrap().base().header().unclean);
    unclean.mark_clean().unwrap();
    assert!(!unclean.arrange(200).unwrap().base().header().unclean);
    // A copy of what another handle is writing is as doubtful as that is now.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    many.save(&path).unwrap();
    let open = |mode| open_as::<Index>(&path, &OpenOptions { mode, ..OpenOptions::default() }).unwrap();
    let (reader, mut writer) = (open(Mode::Read), open(Mode::Write));
    writer.add(7, &random.row(100, 9)).unwrap();
    assert!(reader.arrange(200).unwrap().base().header().unclean);
    drop(writer);
    assert!(!reader.arrange(200).unwrap().base().header().unclean);
    // Bits are those of all rows, and the capacity that of the bits.
    let of = |bits, capacity| Index::new(&Spec { bits, ..spec(capacity, &[("width", 100.0)]) });
    for capacity in [0, 30] {
        assert_eq!(of(3000, capacity).unwrap().base().header().capacity, 30);
    }
    for (bits, capacity) in [(3000, 29), (3000, 300_000), (3050, 0), (3000, 3000 % 100)] {
        assert_eq!(of(bits, capacity).is_ok(), (bits, capacity) == (3000, 0), "{bits}, {capacity}");
    }
}

/// Folds have about a quarter of a row, and indexes that have columns alone have no folds.
#[test]
fn folds_suit_their_rows() {
    let fold = |settings: &[(&str, f64)]| petal::geometry(&spec(20, settings)).map(|geometry| geometry.words[1]);
    let widths = [64, 255, 256, 511, 512, 1023, 1024, 2047, 2048, 65_536];
    for (width, suits) in widths.into_iter().zip([1, 1, 2, 2, 3, 3, 4, 4, 5, 5]) {
        for (store, suits) in [(0.0, suits), (1.0, 1), (2.0, suits)] {
            let width = ("width", f64::from(width));
            assert_eq!(fold(&[width, ("store", store)]).unwrap(), suits, "{width:?}, store {store}");
            assert_eq!(fold(&[width, ("store", store), ("fold", 1.0)]).unwrap(), 1);
            match fold(&[width, ("store", store), ("fold", 3.0)]) {
                Ok(fold) => assert!(fold == 3 && store != 1.0),
                Err(error) => assert!(store == 1.0 && error.status() == Status::Contradiction, "{error}"),
            }
        }
    }
}

/// Words that no row made are refused by `verify`, and harmless in every call.
#[test]
fn forged_words_are_harmless() {
    let mut random = Random(6);
    for store in [0.0, 1.0, 2.0] {
        let fold = if store == 1.0 { 1.0 } else { 2.0 };
        let settings = [("width", 130.0), ("store", store), ("fold", fold), ("attachment_bytes", 16.0)];
        let mut builder = IndexBuilder::new(&spec(68, &settings)).unwrap();
        (0..66).for_each(|id| builder.add(id, &random.row(130, id)).unwrap());
        let mut index = builder.finish().unwrap();
        index.attach(b"names").unwrap();
        index.remove_row(3).unwrap();
        let (image, query) = (image(&index), random.row(130, 30));
        let shape = *index.shape();
        let (first, payload) = (256 / 8, shape.state_start() + 8);
        let words: Vec<u64> = image.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
        let mut refused = 0;
        // A sample of the words of columns: there are many, and they are alike.
        let is_taken = |word: &usize| is_soak() || *word < shape.removed().end || word % 7 == 1;
        for word in (0..payload).filter(|word| is_taken(word) || *word >= shape.attachment().start) {
            for value in [0, 1, 67, 1 << 33, u64::MAX, words[first + word] ^ 1 << random.below(64)] {
                let mut forged = words.clone();
                forged[first + word] = value;
                let start = std::ptr::NonNull::new(forged.as_mut_ptr().cast::<u8>()).unwrap();
                // SAFETY: the words outlive the handle, and nobody else uses them.
                let opened = unsafe { petal::open_in_buffer_as::<Index>(start, image.len(), &OpenOptions::default()) };
                let Ok(opened) = opened else {
                    refused += 1;
                    continue;
                };
                assert!(opened.verify().is_err() || value == words[first + word]);
                // What the checksums do not show, the kind does. Ids may be anything, and so may the five bytes of the
                // attachment, the place after the last row, and which rows were removed.
                let is_free = word >= shape.ids().word(0) && word < shape.removed().end
                    || word == shape.attachment().start && value >> 40 == 0
                    || shape.row(66).contains(&word) && shape.store.has_rows()
                    || (0..shape.fold_words()).any(|i| shape.fold_word(66, i) == word)
                    || word == shape.counts().word(66)
                    || store == 1.0 && word < shape.counts().word(0);
                let is_column = shape.store.has_columns() && (0..130).any(|bit| shape.column(bit).start + 1 == word);
                if value != words[first + word] && !is_free && !is_column && word < shape.state_start() {
                    assert!(opened.payload().check_payload().is_err(), "store {store}, word {word}, value {value:#x}");
                }
                for threads in 1..if word % 32 == 0 { 3 } else { 2 } {
                    let mut options = IndexSearchOptions { threads, ..IndexSearchOptions::default() };
                    let _ = (opened.find_top(&query, 5, &mut options), opened.find_similar(&query, 0.2, &mut options));
                }
                let mut options =
                    IndexSearchOptions { similarity: IndexSimilarity::Cosine, ..IndexSearchOptions::default() };
                let _ = (
                    opened.find_top(&query, 5, &mut options),
                    opened.attachment(),
                    opened.row_count(),
                    opened.row_at(65),
                );
                let _ = opened.arrange(80).map(|copy| copy.row_count());
            }
        }
        assert!(refused > 20);
    }
}

/// A payload as docs/format.md specifies it, made of rows in the order of their numbers, without the library.
fn specified(
    width: u64,
    capacity: usize,
    fold: usize,
    store: u64,
    id_bits: usize,
    rows: &Rows,
    removed: &[u64],
) -> Vec<u64> {
    let lines = |mut words: Vec<u64>, length: usize| {
        words.resize(length.next_multiple_of(8), 0);
        words
    };
    let words_of = |row: &[u8]| -> Vec<u64> {
        row.chunks(8).map(|bytes| bytes.iter().enumerate().map(|(i, byte)| u64::from(*byte) << (8 * i)).sum()).collect()
    };
    let row_words = width.div_ceil(64) as usize;
    let mut payload = Vec::new();
    if store != 1 {
        payload.extend(lines(rows.iter().flat_map(|(_, row)| words_of(row)).collect(), capacity * row_words));
    }
    // The fold of `length` words of a row.
    let folded = |row: &[u8], length: usize| -> Vec<u64> {
        let words = words_of(row);
        (0..length).map(|j| words.iter().skip(j).step_by(length).fold(0, |sum, word| sum ^ word)).collect()
    };
    for (length, kept) in [(fold.min(2), fold.min(2)), (4, 2), (8, 4)].into_iter().filter(|(length, _)| *length <= fold)
    {
        for block in 0..capacity.div_ceil(8) {
            for word in 0..kept {
                for row in 8 * block..8 * block + 8 {
                    payload.push(rows.get(row).map_or(0, |(_, row)| folded(row, length)[word]));
                }
            }
        }
    }
    let mut packed = |bits: usize, numbers: Vec<u64>| {
        let in_word = 64 / bits;
        let word = |some: &[u64]| some.iter().enumerate().map(|(i, number)| number << (bits * i)).sum::<u64>();
        payload.extend(lines(numbers.chunks(in_word).map(word).collect(), capacity.div_ceil(in_word)));
    };
    packed(if width < 256 { 8 } else { 16 }, rows.iter().map(|(_, row)| u64::from(ones(row))).collect());
    packed(id_bits, rows.iter().map(|(id, _)| *id).collect());
    let column = capacity.div_ceil(64).next_multiple_of(8);
    let mut gone = vec![0; column];
    removed.iter().for_each(|row| gone[(row / 64) as usize] |= 1 << (row % 64));
    payload.extend(gone);
    for bit in (0..width as usize).filter(|_| store != 0) {
        let mut column = vec![0; column];
        for (i, (_, row)) in rows.iter().enumerate() {
            column[i / 64] |= u64::from(row[bit / 8] >> (bit % 8) & 1) << (i % 64);
        }
        payload.extend(column);
    }
    payload.extend([u64::from_le_bytes(*b"the name"), u64::from(b's'), 0, 0, 0, 0, 0, 0]);
    let arranged = rows.windows(2).take_while(|two| ones(&two[0].1) <= ones(&two[1].1)).count() as u64 + 1;
    payload.extend([rows.len() as u64, arranged, 9, 0, 0, 0, 0, 0]);
    payload
}

#[test]
fn golden_images_are_what_the_format_says() {
    let mut random = Random(7);
    let cases = [(64, 1, 0, 8), (130, 2, 0, 8), (1024, 3, 0, 4), (881, 4, 2, 8), (2048, 5, 0, 8), (100, 1, 1, 4)];
    for (width, fold, store, id_bytes) in cases {
        let settings = [
            ("width", width as f64),
            ("fold", f64::from(fold)),
            ("store", store as f64),
            ("attachment_bytes", 40.0),
            ("id_bytes", id_bytes as f64),
        ];
        let id = |i: u64| mix(i) >> (64 - 8 * id_bytes);
        let mut rows: Rows = (0..70_u64).map(|i| (id(i), random.row(width, i % 50))).collect();
        rows[..40].sort_by_key(|(_, row)| ones(row));
        let mut index = Index::new(&spec(77, &settings)).unwrap();
        for (id, row) in &rows {
            index.add(*id, row).unwrap();
        }
        index.attach(b"the names").unwrap();
        assert!(index.remove_row(5).unwrap() && index.remove_row(69).unwrap());
        let image = image(&index);
        let words = [0, 0, 1, 2, 4, 8][fold as usize];
        let expected = specified(width, 77, words, store, 8 * id_bytes as usize, &rows, &[5, 69]);
        let payload = image[256..].chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
        assert!(payload.take(expected.len()).eq(expected.iter().copied()), "width {width}");
        golden::check(&ROW, &format!("width={width},fold={fold},store={store},id_bytes={id_bytes}"), &image);
    }
    let files = golden::files(&ROW);
    assert_eq!(files.len(), cases.len());
    for file in files.values() {
        let index: Index = load_as(file, &OpenOptions::default()).unwrap();
        index.verify().unwrap();
        assert_eq!((index.next_row(), index.row_count()), (70, 68));
    }
}
