//! The hash functions compared with published values and with a second implementation.

use petal::{HashFunction, Hasher, Secret};

const PRIME32: u64 = 2_654_435_761;
const PRIME64: u64 = 0x9e37_79b1_85eb_ca8d;

/// The input of xxHash's own sanity test.
fn sanity_buffer() -> Vec<u8> {
    let mut generator = PRIME32;
    let mut next = || {
        let byte = (generator >> 56) as u8;
        generator = generator.wrapping_mul(PRIME64);
        byte
    };
    (0..2400).map(|_| next()).collect()
}

fn check(function: HashFunction, vectors: &[(usize, u64, u64)]) {
    let buffer = sanity_buffer();
    for (length, seed, expected) in vectors {
        let hasher = Hasher::new(function, *seed, None).unwrap();
        assert_eq!(hasher.hash_bytes(&buffer[..*length]), Ok(*expected), "{function}, {length} bytes, seed {seed:#x}");
    }
}

/// The expected values are those of the sanity test of xxHash 0.8.
#[test]
fn xxh3_is_xxh3() {
    check(
        HashFunction::Xxh3,
        &[
            (0, 0, 0x2d06_8005_38d3_94c2),
            (0, PRIME64, 0xa8a6_b918_b2f0_364a),
            (1, 0, 0xc44b_dff4_074e_ecdb),
            (1, PRIME64, 0x032b_e332_dd76_6ef8),
            (6, 0, 0x27b5_6a84_cd2d_7325),
            (6, PRIME64, 0x8458_9c11_6ab5_9ab9),
            (12, 0, 0xa713_daf0_dfbb_77e7),
            (12, PRIME64, 0xe730_3e1b_2336_de0e),
            (24, 0, 0xa3fe_70bf_9d35_10eb),
            (24, PRIME64, 0x850e_80fc_35bd_d690),
            (48, 0, 0x397d_a259_ecba_1f11),
            (48, PRIME64, 0xadc2_cbaa_44ac_c616),
            (80, 0, 0xbcde_fbbb_2c47_c90a),
            (80, PRIME64, 0xc6dd_0cb6_9953_2e73),
            (195, 0, 0xcd94_217e_e362_ec3a),
            (195, PRIME64, 0xba68_003d_370c_b3d9),
            (403, 0, 0xcdeb_804d_65c6_dea4),
            (403, PRIME64, 0x6259_f6ec_fd64_43fd),
            (512, 0, 0x617e_4959_9013_cb6b),
            (512, PRIME64, 0x3ce4_57de_14c2_7708),
            (2048, 0, 0xdd59_e2c3_a5f0_38e0),
            (2048, PRIME64, 0x66f8_1670_669a_babc),
            (2240, 0, 0x6e73_a905_39cf_2948),
            (2240, PRIME64, 0x757b_a848_7d1b_5247),
            (2367, 0, 0xcb37_aeb9_e5d3_61ed),
            (2367, PRIME64, 0xd2db_3415_b942_b42a),
        ],
    );
}

#[test]
fn xxh64_is_xxh64() {
    check(
        HashFunction::Xxh64,
        &[
            (0, 0, 0xef46_db37_51d8_e999),
            (0, PRIME32, 0xac75_fda2_929b_17ef),
            (1, 0, 0xe934_a84a_db05_2768),
            (1, PRIME32, 0x5014_6076_43a9_b4c3),
            (4, 0, 0x9136_a0dc_a574_57ee),
            (4, PRIME32, 0xcaab_286b_d8e9_fdb5),
            (14, 0, 0x8282_dcc4_994e_35c8),
            (14, PRIME32, 0xc3bd_6bf6_3deb_6df0),
            (222, 0, 0xb641_ae8c_b691_c174),
            (222, PRIME32, 0x20cb_8ab7_ae10_c14a),
        ],
    );
}

/// SipHash with `c` and `d` rounds as in its paper (Aumasson and Bernstein, 2012).
fn siphash(c: u32, d: u32, key: &Secret, message: &[u8]) -> u64 {
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    let (k0, k1) = (word(&key[..8]), word(&key[8..]));
    let mut v = [
        k0 ^ 0x736f_6d65_7073_6575,
        k1 ^ 0x646f_7261_6e64_6f6d,
        k0 ^ 0x6c79_6765_6e65_7261,
        k1 ^ 0x7465_6462_7974_6573,
    ];
    let rounds = |v: &mut [u64; 4], count| {
        for _ in 0..count {
            v[0] = v[0].wrapping_add(v[1]);
            v[2] = v[2].wrapping_add(v[3]);
            v[1] = v[1].rotate_left(13) ^ v[0];
            v[3] = v[3].rotate_left(16) ^ v[2];
            v[0] = v[0].rotate_left(32);
            v[2] = v[2].wrapping_add(v[1]);
            v[0] = v[0].wrapping_add(v[3]);
            v[1] = v[1].rotate_left(17) ^ v[2];
            v[3] = v[3].rotate_left(21) ^ v[0];
            v[2] = v[2].rotate_left(32);
        }
    };
    let whole = message.len() / 8 * 8;
    let last = word(&message[whole..]) | (message.len() as u64) << 56;
    for m in message[..whole].chunks(8).map(word).chain([last]) {
        v[3] ^= m;
        rounds(&mut v, c);
        v[0] ^= m;
    }
    v[2] ^= 0xff;
    rounds(&mut v, d);
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

#[test]
fn siphash_1_3_is_siphash_1_3() {
    let key: Secret = std::array::from_fn(|i| i as u8);
    let message: Vec<u8> = (0..100).collect();
    // Appendix A of the paper has this value, for SipHash-2-4.
    assert_eq!(siphash(2, 4, &key, &message[..15]), 0xa129_ca61_49be_45e5);
    let hasher = Hasher::new(HashFunction::SipHash13, 0, Some(&key)).unwrap();
    for length in 0..message.len() {
        let message = &message[..length];
        assert_eq!(hasher.hash_bytes(message), Ok(siphash(1, 3, &key, message)), "{length} bytes");
    }
    // The identifier of a key, as docs/format.md defines it.
    assert_eq!(hasher.identifier(), siphash(2, 4, &key, b"petal key identifier"));
}

#[test]
fn numbers_are_their_little_endian_bytes() {
    for function in [HashFunction::Xxh3, HashFunction::Xxh64, HashFunction::SipHash13] {
        let keyed = function == HashFunction::SipHash13;
        let hasher = Hasher::new(function, if keyed { 0 } else { 3 }, keyed.then_some(&[1; 16])).unwrap();
        for number in [0, 1, 0x0102_0304_0506_0708, u64::MAX] {
            assert_eq!(hasher.hash_u64(number), hasher.hash_bytes(&number.to_le_bytes()));
        }
    }
}
