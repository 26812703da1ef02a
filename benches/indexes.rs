//! Searches of indexes, compared with what memory allows.
//!
//! `cargo bench --bench indexes -- contains [ROWS]` makes 10^6 documents of 100 terms (1,024 bits, 7 of them for a
//! term) and asks for the documents that have ten terms. `cargo bench --bench indexes -- similar INDEX QUERIES`
//! searches an index of fingerprints for the queries of a file, hexadecimal digits on each line, and prints
//! milliseconds and answers as JSON for `benches/compare/indexes.py`. `cargo bench --bench indexes -- attributes ROWS
//! QUERIES` does so for `benches/compare/attributes.py`: a line of ROWS has the attributes of a row, and a line of
//! QUERIES attributes with their places.

use petal::index::{FEATURE_BITS, FOLD, ID_BYTES, STORE, WIDTH};
use petal::{Image, Index, IndexBuilder, IndexSearchOptions, IndexSimilarity, OpenOptions, Spec};
use std::hint::black_box;
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["contains"] => contains(1_000_000),
        ["contains", rows] => contains(rows.parse().expect("a number of rows")),
        ["similar", index, queries] => similar(index, queries),
        ["attributes", rows, queries] => attributes(rows, queries),
        _ => eprintln!("give: contains [ROWS], similar INDEX QUERIES, or attributes ROWS QUERIES"),
    }
}

/// Milliseconds of each call, of each the best of five, in ascending order.
fn timed(times: usize, mut call: impl FnMut(usize)) -> Vec<f64> {
    let mut all: Vec<f64> = (0..times)
        .map(|i| {
            let mut once = || {
                let start = Instant::now();
                call(i);
                start.elapsed().as_secs_f64() * 1e3
            };
            (0..5).map(|_| once()).fold(f64::INFINITY, f64::min)
        })
        .collect();
    all.sort_by(f64::total_cmp);
    all
}

/// What reading memory costs: GB/s of a sum over 512 MiB, the best of seven.
fn bandwidth() -> f64 {
    let words = vec![1_u64; 1 << 26];
    let best = timed(7, |_| {
        black_box(words.iter().fold(0_u64, |sum, word| sum.wrapping_add(*word)));
    });
    (words.len() * 8) as f64 / best[0] / 1e6
}

fn contains(rows: u64) {
    const TERMS: u64 = 100;
    const ASKED: u64 = 10;
    let mut spec = Spec { capacity: rows, ..Spec::default() };
    for (parameter, value) in [(&WIDTH, 1024.0), (&FEATURE_BITS, 7.0), (&STORE, 1.0)] {
        spec.set(parameter, value).expect("a parameter");
    }
    let start = Instant::now();
    let mut builder = IndexBuilder::new(&spec).expect("room");
    let term = |document: u64, i: u64| mix(TERMS * document + i);
    for document in 0..rows {
        let terms = (0..TERMS).map(|i| (term(document, i), 0));
        let row = builder.index().row_of_hash(terms).expect("a row");
        builder.add(document, &row).expect("room");
    }
    let index = builder.finish().expect("room");
    let built = start.elapsed().as_secs_f64() / rows as f64 * 1e9;
    println!("{rows} documents of {TERMS} terms, built in {built:.0} ns each");
    let bandwidth = bandwidth();
    println!("memory: {bandwidth:.1} GB/s");
    // Queries that one document answers, and queries that no document answers.
    for (what, is_there) in [("of a document", true), ("of no document", false)] {
        let queries: Vec<Vec<u8>> = (0..101)
            .map(|i| {
                let document = mix(i) % rows;
                let terms = (0..ASKED).map(|j| if is_there { term(document, j) } else { mix(!(ASKED * i + j)) });
                index.row_of_hash(terms.map(|hash| (hash, 0))).expect("a query")
            })
            .collect();
        let mut found = 0;
        let all = timed(queries.len(), |i| {
            let whole = index.visit_containing(&queries[i], &mut IndexSearchOptions::default(), &mut |_, id| {
                found += 1;
                black_box(id);
                true
            });
            assert!(whole.expect("an answer"));
        });
        let bits: u32 = queries[0].iter().map(|byte| byte.count_ones()).sum();
        let columns = u64::from(bits) * rows.div_ceil(8);
        let half = columns as f64 / (0.5 * bandwidth) / 1e6;
        println!(
            "{ASKED} terms {what}: {:.3} ms (median), {:.3} (worst); {bits} columns at half the bandwidth {half:.3}; \
             {} rows found by {} queries",
            all[all.len() / 2],
            all[all.len() - 1],
            found / 5,
            queries.len()
        );
    }
}

/// Of how many queries the answers are printed.
const COMPARED: usize = 10;

fn similar(index: &str, queries: &str) {
    let index: Index = petal::load_as(&std::fs::read(index).expect("an index"), &OpenOptions::default()).expect("one");
    let text = std::fs::read_to_string(queries).expect("queries");
    let hex = |line: &str| -> Vec<u8> {
        (0..line.len() / 2).map(|i| u8::from_str_radix(&line[2 * i..2 * i + 2], 16).expect("digits")).collect()
    };
    let queries: Vec<Vec<u8>> = text.lines().map(hex).collect();
    let mut parts = vec![format!("\"bandwidth\": {:.2}", bandwidth())];
    let mut told = |name: &str, find: &dyn Fn(&[u8]) -> Vec<petal::IndexHit>| {
        // Answers are many, so only some are kept.
        let (mut answers, mut found) = (vec![Vec::new(); COMPARED.min(queries.len())], vec![0; queries.len()]);
        let all = timed(queries.len(), |i| {
            let hits = black_box(find(&queries[i]));
            found[i] = hits.len();
            if let Some(answer) = answers.get_mut(i).filter(|answer| answer.is_empty()) {
                *answer = hits;
            }
        });
        let answers: Vec<String> = answers
            .iter()
            .map(|hits| {
                let hits: Vec<String> = hits.iter().map(|hit| format!("[{}, {}]", hit.id, hit.similarity)).collect();
                format!("[{}]", hits.join(", "))
            })
            .collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let found = found.iter().sum::<usize>() as f64 / found.len() as f64;
        let answers = answers.join(", ");
        parts.push(format!("\"{name}\": {{\"ms\": {mean}, \"found\": {found}, \"answers\": [{answers}]}}"));
    };
    // Most rows reach this similarity, and folds leave out none: the cost of many answers.
    let hamming = || IndexSearchOptions { similarity: IndexSimilarity::Hamming, ..IndexSearchOptions::default() };
    told("hamming", &|query| index.find_similar(query, 0.8, &mut hamming()).expect("an answer"));
    for threshold in [0.3, 0.5, 0.7, 0.8, 0.9] {
        let options = || IndexSearchOptions::default();
        told(&threshold.to_string(), &|query| index.find_similar(query, threshold, &mut options()).expect("an answer"));
    }
    told("top", &|query| index.find_top(query, 10, &mut IndexSearchOptions::default()).expect("an answer"));
    parts.push(format!("\"plain\": {:.2}", plain(&index, &queries)));
    println!("{{{}}}", parts.join(", "));
}

/// GB/s of a search that must read nearly all rows: for those that have 95 % of a query's bits, without folds. Only
/// rows with fewer bits are left out.
fn plain(index: &Index, queries: &[Vec<u8>]) -> f64 {
    let mut spec = Spec { capacity: index.next_row(), ..Spec::default() };
    spec.set(&FOLD, 1.0).expect("a parameter");
    let mut builder = IndexBuilder::new(&spec).expect("room");
    let (mut row, mut counts) = (vec![0; index.row_bytes()], Vec::new());
    for number in 0..index.next_row() {
        index.copy_row(number, &mut row).expect("a row");
        builder.add(number, &row).expect("room");
        counts.push(row.iter().map(|byte| byte.count_ones()).sum::<u32>());
    }
    let index = builder.finish().expect("room");
    let similarity = IndexSimilarity::Tversky { alpha: 1.0, beta: 0.0 };
    let options = || IndexSearchOptions { similarity, ..IndexSearchOptions::default() };
    let mut bytes = 0.0;
    for query in queries {
        let asked: u32 = query.iter().map(|byte| byte.count_ones()).sum();
        let read = counts.iter().filter(|count| f64::from(**count) >= 0.95 * f64::from(asked)).count();
        bytes += (read * row.len()) as f64;
    }
    let all = timed(queries.len(), |i| {
        black_box(index.find_similar(&queries[i], 0.95, &mut options()).expect("an answer"));
    });
    bytes / all.iter().sum::<f64>() / 1e6
}

fn attributes(rows: &str, queries: &str) {
    let mut spec = Spec { capacity: 0, ..Spec::default() };
    for (parameter, value) in [(&WIDTH, 80.0), (&FEATURE_BITS, 2.0), (&STORE, 1.0), (&ID_BYTES, 4.0)] {
        spec.set(parameter, value).expect("a parameter");
    }
    let mut builder = IndexBuilder::new(&spec).expect("room");
    // An attribute is a feature with its place: `3=17`.
    let row_of = |index: &Index, features: &[String]| -> Vec<u8> {
        index.row_of(features.iter().map(|feature| (feature.as_bytes(), 0))).expect("a row")
    };
    for (id, line) in (0..).zip(std::fs::read_to_string(rows).expect("rows").lines()) {
        let features: Vec<String> = line.split(' ').enumerate().map(|(i, value)| format!("{i}={value}")).collect();
        let row = row_of(builder.index(), &features);
        builder.add(id, &row).expect("room");
    }
    let index = builder.finish().expect("room");
    let (mut ms, mut found) = (Vec::new(), Vec::new());
    for line in std::fs::read_to_string(queries).expect("queries").lines() {
        let query = row_of(&index, &line.split(' ').map(str::to_string).collect::<Vec<_>>());
        let mut count = 0_u64;
        let best = timed(1, |_| {
            count = 0;
            let mut take = |_: u64, id: u64| {
                count += 1;
                black_box(id);
                true
            };
            assert!(index.visit_containing(&query, &mut IndexSearchOptions::default(), &mut take).expect("an answer"));
        });
        ms.push(best[0]);
        found.push(count);
    }
    let (bytes, shape) = (index.base().header().geometry.payload_bytes + 256, index.shape());
    let columns = 8 * shape.width * shape.column_words() as u64;
    println!("{{\"ms\": {ms:?}, \"found\": {found:?}, \"bytes\": {bytes}, \"columns\": {columns}}}");
}

/// The finaliser of SplitMix64.
fn mix(x: u64) -> u64 {
    let mut x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
