//! What it costs to collect hashes, sort them and go over them once, in ns for each: `cargo bench --bench collect --
//! [keys] [memory limit in MiB] [threads]`.

use petal::{Collector, CollectorOptions, Records, Steps};
use std::hint::black_box;
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let keys = arguments.next().unwrap_or(10_000_000);
    let memory_limit = arguments.next().filter(|mebibytes| *mebibytes > 0).map(|mebibytes| mebibytes << 20);
    let threads = arguments.next().unwrap_or(0) as usize;
    let options = CollectorOptions { memory_limit, temporary_directory: Some(std::env::temp_dir()), threads };
    let mut collector = Collector::<u64>::new(options).expect("the options are right");
    let ns = |since: Instant| since.elapsed().as_nanos() as f64 / keys as f64;
    let start = Instant::now();
    for key in 0..keys {
        collector.add(mix(key)).expect("there is room");
    }
    let collected = ns(start);
    let start = Instant::now();
    let sorted = collector.finish(0, &mut Steps::silent()).expect("there is room");
    let finished = ns(start);
    let start = Instant::now();
    let mut sum = 0_u64;
    sorted
        .for_each(&mut |hashes| {
            sum = hashes.iter().fold(sum, |sum, hash| sum.wrapping_add(*hash));
            Ok(())
        })
        .expect("the file can be read");
    black_box(sum);
    let pass = ns(start);
    let all = collected + finished + pass;
    println!("{keys} keys: collecting {collected:.1} ns, sorting {finished:.1}, a pass {pass:.1}; in all {all:.1}");
}

/// The finaliser of SplitMix64.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
