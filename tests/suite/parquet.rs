//! The split-block layout compared with Apache Parquet's: published masks, and bitsets that another library wrote.

use petal::format::HEADER_LENGTH;
use petal::kinds::split_block;
use petal::{Filter, HashFunction, Image, Spec};

fn empty(blocks: u64) -> Filter {
    let spec =
        Spec { kind: Some(split_block::ROW.kind), bits: 256 * blocks, hash: HashFunction::Xxh64, ..Spec::default() };
    petal::Filter::new(&spec).unwrap()
}

fn bitset(filter: &Filter, blocks: u64) -> Vec<u8> {
    let mut image = Vec::new();
    filter
        .serialize_to(&mut |bytes| {
            image.extend_from_slice(bytes);
            Ok(())
        })
        .unwrap();
    image[HEADER_LENGTH..HEADER_LENGTH + 32 * blocks as usize].to_vec()
}

/// The bit of each lane in `block` after one hash; everything else is zero.
#[track_caller]
fn one_hash(hash: u64, blocks: u64, block: u64, bits: [u32; 8]) {
    let mut filter = empty(blocks);
    assert!(filter.insert_hash(hash).unwrap());
    let mut expected = vec![0; 32 * blocks as usize];
    for (lane, bit) in bits.into_iter().enumerate() {
        let place = 32 * block as usize + 4 * lane;
        expected[place..place + 4].copy_from_slice(&(1_u32 << bit).to_le_bytes());
    }
    assert!(bitset(&filter, blocks) == expected, "hash {hash:#x}");
}

/// The definition of the format gives the masks: block = ((hash >> 32) * blocks) >> 32, bit = (low * salt) >> 27.
#[test]
fn a_hash_sets_the_bits_of_the_format() {
    one_hash(0, 1, 0, [0; 8]);
    one_hash(1, 1, 0, [8, 8, 17, 20, 14, 5, 19, 11]);
    one_hash(0xdead_beef, 1, 0, [29, 15, 12, 14, 13, 25, 24, 21]);
    one_hash(0xffff_ffff, 1, 0, [23, 23, 14, 11, 17, 26, 12, 20]);
    one_hash(0x0123_4567_89ab_cdef, 1024, 4, [18, 19, 30, 23, 4, 16, 12, 24]);
    one_hash(0xfedc_ba98_7654_3210, 1000, 995, [4, 4, 16, 20, 13, 10, 31, 27]);
}

/// `tests/golden/parquet/README.md` says what these files are.
#[test]
fn parquet_files_have_the_same_bits() {
    let numbers = include_bytes!("../golden/parquet/number.bitset");
    let texts = include_bytes!("../golden/parquet/text.bitset");
    let blocks = numbers.len() as u64 / 32;
    let (mut by_number, mut by_text) = (empty(blocks), empty(blocks));
    for i in 0..1000_u64 {
        // A plain-encoded INT64 is its eight little-endian bytes; a BYTE_ARRAY is hashed without its length.
        by_number.insert_u64(i * 1_000_003).unwrap();
        by_text.insert(format!("petal {i}").as_bytes()).unwrap();
    }
    assert!(bitset(&by_number, blocks) == numbers);
    assert!(bitset(&by_text, blocks) == texts);
}
