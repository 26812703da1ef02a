//! XXPH3: the preview of XXH3 (xxHash 0.7.2, Yann Collet, 2019) that RocksDB has kept for its filters since format
//! version 5. The preview has its own name because its hashes differ from those of the final XXH3 for keys of every
//! length.
//!
//! Long keys go through eight sums, 64 bytes at a time; shorter ones through products of two words of the key, each
//! XORed with a word of the secret. Unlike the final function, the preview leaves out the last 64 bytes of a long key
//! if they were read before, and finishes keys of up to 16 bytes differently. RocksDB gave the empty key a hash; in
//! xxHash 0.7.2 it was 0.

use super::little_endian::{last_u32_of, last_u64_of, u32_of, u64_of};

/// The primes of XXH64.
const P64: [u64; 5] =
    [0x9e37_79b1_85eb_ca87, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9, 0x85eb_ca77_c2b2_ae63, 0x27d4_eb2f_1656_67c5];

/// The first three primes of XXH32.
const P32: [u64; 3] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d];

/// The secret of XXH3, which the final function has too, as big-endian words.
const SECRET: [u8; 192] = {
    let words: [u64; 24] = [
        0xb8fe_6c39_23a4_4bbe,
        0x7c01_812c_f721_ad1c,
        0xded4_6de9_8390_97db,
        0x7240_a4a4_b7b3_671f,
        0xcb79_e64e_ccc0_e578,
        0x825a_d07d_ccff_7221,
        0xb808_4674_f743_248e,
        0xe035_90e6_813a_264c,
        0x3c28_52bb_91c3_00cb,
        0x88d0_658b_1b53_2ea3,
        0x7164_4897_a20d_f94e,
        0x3819_ef46_a9de_acd8,
        0xa8fa_763f_e39c_343f,
        0xf9dc_bbc7_c70b_4f1d,
        0x8a51_e04b_cdb4_5931,
        0xc89f_7ec9_d978_7364,
        0xeac5_ac83_34d3_ebc3,
        0xc581_a0ff_fa13_63eb,
        0x170d_dd51_b7f0_da49,
        0xd316_5526_29d4_689e,
        0x2b16_be58_7d47_a1fc,
        0x8ff8_b8d1_7ad0_31ce,
        0x45cb_3a8f_9516_0428,
        0xafd7_fbca_bb4b_407e,
    ];
    let (mut bytes, mut at) = ([0; 192], 0);
    while at < bytes.len() {
        bytes[at] = words[at / 8].to_be_bytes()[at % 8];
        at += 1;
    }
    bytes
};

/// The eight bytes of the secret from `at` on.
#[inline]
fn secret(at: usize) -> u64 {
    u64_of(&SECRET[at..])
}

/// Both halves of a product, XORed.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// The last step of every length.
#[inline]
fn avalanche(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 37).wrapping_mul(P64[2]);
    hash ^ hash >> 32
}

/// The product of the first 16 bytes, under the secret from `at` on.
#[inline]
fn mixed(bytes: &[u8], at: usize) -> u64 {
    fold(u64_of(bytes) ^ secret(at), u64_of(&bytes[8..]) ^ secret(at + 8))
}

/// RocksDB's `Hash64` without a seed. O(length of the key).
#[inline]
pub fn xxph3_64(key: &[u8]) -> u64 {
    match key.len() {
        0..=16 => short(key),
        17..=128 => pairs(key),
        129..=240 => middling(key),
        _ => long(key),
    }
}

/// Up to 16 bytes: one word, or one product.
#[inline]
fn short(key: &[u8]) -> u64 {
    let length = key.len() as u64;
    match key.len() {
        0 => fold(secret(0), P64[1]),
        1..=3 => {
            let bytes = [key[0], key[key.len() / 2], key[key.len() - 1], key.len() as u8];
            let word = u32::from_le_bytes(bytes) ^ u32_of(&SECRET);
            avalanche(u64::from(word).wrapping_mul(P64[0]))
        }
        4..=8 => {
            let word = (u64::from(u32_of(key)) | u64::from(last_u32_of(key)) << 32) ^ secret(0);
            let hash = (word ^ word >> 51).wrapping_mul(P32[0]).wrapping_add(length);
            avalanche((hash ^ hash >> 47).wrapping_mul(P64[1]))
        }
        _ => {
            let (first, last) = (u64_of(key) ^ secret(0), last_u64_of(key) ^ secret(8));
            avalanche(length.wrapping_add(first).wrapping_add(last).wrapping_add(fold(first, last)))
        }
    }
}

/// What the sum over the products of a key begins with.
#[inline]
fn start(key: &[u8]) -> u64 {
    (key.len() as u64).wrapping_mul(P64[0])
}

/// 17 to 128 bytes: one product from the beginning and one from the end for each 32 bytes begun.
#[inline]
fn pairs(key: &[u8]) -> u64 {
    let sum = (0..key.len().div_ceil(32)).fold(start(key), |sum, pair| {
        let (front, back) = (16 * pair, key.len() - 16 * (pair + 1));
        sum.wrapping_add(mixed(&key[front..], 2 * front)).wrapping_add(mixed(&key[back..], 2 * front + 16))
    });
    avalanche(sum)
}

/// 129 to 240 bytes: the products of the first 128 bytes, of the whole 16 bytes that follow, and of the last 16.
fn middling(key: &[u8]) -> u64 {
    let product = |bytes: usize, at: usize| mixed(&key[bytes..], at);
    let first = (0..8).fold(start(key), |sum, i| sum.wrapping_add(product(16 * i, 16 * i)));
    let whole =
        (8..key.len() / 16).fold(avalanche(first), |sum, i| sum.wrapping_add(product(16 * i, 16 * (i - 8) + 3)));
    avalanche(whole.wrapping_add(product(key.len() - 16, 119)))
}

/// The eight sums of a long key.
type Sums = [u64; 8];

/// A block is 16 stripes of 64 bytes, each under a secret that begins eight bytes after that of the last one.
const STRIPE: usize = 64;
const BLOCK: usize = 16 * STRIPE;

/// The sums after one more stripe, under the secret from `at` on.
#[inline]
fn accumulate(sums: &mut Sums, stripe: &[u8], at: usize) {
    for ((sum, word), secret) in sums.iter_mut().zip(stripe.as_chunks().0).zip(SECRET[at..].as_chunks().0) {
        let word = u64::from_le_bytes(*word);
        let keyed = word ^ u64::from_le_bytes(*secret);
        *sum = sum.wrapping_add(word).wrapping_add((keyed & 0xffff_ffff) * (keyed >> 32));
    }
}

/// The sums after a whole block.
#[inline]
fn scramble(sums: &mut Sums) {
    for (i, sum) in sums.iter_mut().enumerate() {
        *sum = (*sum ^ *sum >> 47 ^ secret(128 + 8 * i)).wrapping_mul(P32[0]);
    }
}

/// More than 240 bytes.
#[inline(never)]
fn long(key: &[u8]) -> u64 {
    let mut sums = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]];
    let (blocks, rest) = key.as_chunks::<BLOCK>();
    for block in blocks {
        block.chunks_exact(STRIPE).enumerate().for_each(|(i, stripe)| accumulate(&mut sums, stripe, 8 * i));
        scramble(&mut sums);
    }
    rest.chunks_exact(STRIPE).enumerate().for_each(|(i, stripe)| accumulate(&mut sums, stripe, 8 * i));
    if !key.len().is_multiple_of(STRIPE) {
        accumulate(&mut sums, &key[key.len() - STRIPE..], 121);
    }
    let sum = (0..4).fold(start(key), |sum, i| {
        sum.wrapping_add(fold(sums[2 * i] ^ secret(11 + 16 * i), sums[2 * i + 1] ^ secret(19 + 16 * i)))
    });
    avalanche(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    fn key(length: usize) -> Vec<u8> {
        (0..length).map(|i| (7 * i + 3) as u8).collect()
    }

    /// The hashes of keys of these lengths, by RocksDB's `util/xxph3.h` at commit 1dfa729793.
    const HASHES: [(usize, u64); 38] = [
        (0, 0x5342_c301_0fe1_dd04),
        (1, 0x81b7_8b21_c2ce_4f18),
        (2, 0x6d7e_ec54_f875_4ce6),
        (3, 0x6731_a716_813e_e5f1),
        (4, 0x3a5a_fd96_7aca_f5c3),
        (5, 0x4e6e_f0d0_cfda_a400),
        (6, 0x6f6a_1ff8_8ecf_176a),
        (7, 0xf418_2f38_1b74_40c2),
        (8, 0xbcb5_6b6f_8d4b_12da),
        (9, 0x0378_7b4e_ec57_bf4b),
        (10, 0xaaed_643a_f34b_2207),
        (11, 0x34cd_ddf2_deda_7115),
        (12, 0x6c7f_a325_f398_b62b),
        (13, 0xd466_8fba_c582_1c07),
        (14, 0x644e_880e_b9f2_fc0b),
        (15, 0xae72_59cd_71c5_716a),
        (16, 0x8172_0cc0_702e_dd73),
        (17, 0x0b51_5520_f462_e96f),
        (18, 0x3e6d_c148_17cd_be48),
        (19, 0xea2e_0c15_75c0_56ab),
        (20, 0x1a95_97d0_9c67_16c6),
        (31, 0xd77f_3288_0738_ea13),
        (32, 0x48f0_3961_87b5_6dd5),
        (33, 0xd020_587a_3c72_b988),
        (63, 0x472e_38e3_8496_71a1),
        (64, 0xc71b_2c5a_712e_7f61),
        (65, 0xd401_43de_1bea_dd46),
        (96, 0x0d71_e54f_4197_45c3),
        (127, 0xa6c5_f563_209d_d80b),
        (128, 0x8ea7_6d83_8ce7_563f),
        (129, 0x3992_d120_c8c4_677a),
        (160, 0x7609_8c67_d5e9_30f7),
        (200, 0x4ddc_3e63_692b_0196),
        (239, 0xa020_3477_2d5d_f7b0),
        (240, 0xdf41_bc5f_ea3a_61e8),
        (241, 0x91d1_0f06_82af_4ac3),
        (256, 0x4d37_daab_db54_3458),
        (512, 0xf3bb_5147_9ec5_30a2),
    ];

    #[test]
    fn it_is_rocksdbs_function() {
        for (length, hash) in HASHES {
            assert_eq!(xxph3_64(&key(length)), hash, "{length} bytes");
        }
    }

    /// The hash of the hashes of all lengths up to 3999, in a row, by `rocksdb::Hash64` of Debian's librocksdb 7.8.3-2.
    #[test]
    fn it_is_rocksdbs_function_at_every_length() {
        let key = key(4000);
        let hashes: Vec<u8> = (0..4000).flat_map(|length| xxph3_64(&key[..length]).to_le_bytes()).collect();
        assert_eq!(xxph3_64(&hashes), 0x6365_9b29_fb1d_2c02);
    }

    #[test]
    fn the_final_function_is_another_at_every_length() {
        let key = key(600);
        assert!((0..key.len()).all(|length| xxph3_64(&key[..length]) != xxh3_64(&key[..length])));
    }
}
