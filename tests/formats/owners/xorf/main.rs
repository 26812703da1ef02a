//! Writes filters of the crate `xorf` and prints their lines for vectors.txt: `cargo run FOLDER`.

use std::path::Path;
use xorf::{BinaryFuse8, BinaryFuse16, BinaryFuse32, DmaSerializable, Filter, Xor8, Xor16};

/// The number that a text is known by: MurmurHash3's finaliser of its FNV-1a hash.
fn hashed(text: &str) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let mut x = text.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    x = (x ^ x >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x = (x ^ x >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ x >> 33
}

fn texts(prefix: &str, count: usize) -> Vec<u64> {
    (0..count).map(|i| hashed(&format!("{prefix}-{i}"))).collect()
}

fn write(format: &str, name: &str, count: usize, bytes: &[u8], filter: &impl Filter<u64>) {
    let folder = std::env::args().nth(1).expect("a folder");
    let positives = texts("absent", 10_000).iter().filter(|key| filter.contains(*key)).count();
    std::fs::create_dir_all(Path::new(&folder).join(format)).unwrap();
    std::fs::write(Path::new(&folder).join(format).join(name), bytes).unwrap();
    println!("{format} {format}/{name} {count} {positives}");
}

/// The descriptor, then the fingerprints.
fn fuse<F: DmaSerializable + Filter<u64>>(name: &str, count: usize, filter: &F) {
    let mut bytes = vec![0; F::DESCRIPTOR_LEN];
    filter.dma_copy_descriptor_to(&mut bytes);
    bytes.extend_from_slice(filter.dma_fingerprints());
    write("binary_fuse", &format!("{name}-{count}.bin"), count, &bytes, filter);
}

fn main() {
    fuse("xorf8", 1000, &BinaryFuse8::try_from(&texts("key", 1000)).unwrap());
    fuse("xorf16", 300, &BinaryFuse16::try_from(&texts("key", 300)).unwrap());
    fuse("xorf32", 17, &BinaryFuse32::try_from(&texts("key", 17)).unwrap());
    // The crate does not write xor filters as bytes, so these are their fields in the order of the C library.
    let filter = Xor8::from(&texts("key", 1000));
    let head = |seed: u64, third: usize| [seed.to_le_bytes(), (third as u64).to_le_bytes()].concat();
    let bytes = [head(filter.seed, filter.block_length), filter.fingerprints.to_vec()].concat();
    write("xor", "xorf8-1000.bin", 1000, &bytes, &filter);
    let filter = Xor16::from(&texts("key", 300));
    let cells = filter.fingerprints.iter().flat_map(|cell| cell.to_le_bytes());
    let bytes = [head(filter.seed, filter.block_length), cells.collect()].concat();
    write("xor", "xorf16-300.bin", 300, &bytes, &filter);
}
