//! Writes blocks that the crate `polars-parquet` filled and prints their lines for vectors.txt: `cargo run FOLDER`.

use polars_parquet::parquet::bloom_filter::{hash_byte, insert, is_in_set};
use std::path::Path;

/// Keys in a filter of this many bytes. Behind the line stands how Petal makes the same filter, where it would choose
/// that size.
fn write(keys: usize, bytes: usize, made: &str) {
    let folder = std::env::args().nth(1).expect("a folder");
    let mut blocks = vec![0; bytes];
    (0..keys).for_each(|i| insert(&mut blocks, hash_byte(format!("key-{i}"))));
    let positives = (0..10_000).filter(|i| is_in_set(&blocks, hash_byte(format!("absent-{i}")))).count();
    let path = format!("split_blocks/{keys}.bin");
    std::fs::create_dir_all(Path::new(&folder).join("split_blocks")).unwrap();
    std::fs::write(Path::new(&folder).join(&path), blocks).unwrap();
    println!("split_blocks {path} {keys} {positives}{made}");
}

fn main() {
    write(1000, 2048, " 1000 0.01 - 0");
    write(17, 32, "");
    write(300, 480, "");
}
