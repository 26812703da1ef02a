//! MurmurHash3 (Austin Appleby, 2011, in the public domain), and what other systems made of it.
//!
//! Bits-and-blooms, Guava, and dablooms use the 128-bit form for 64-bit processors, and Bitcoin's BIP 37 the 32-bit
//! one. Spark, Cassandra and Hive (which ORC's filters come from) each wrote their own in Java, where bytes have signs,
//! so their hashes differ from the standard where a key does not end with a whole block.

use super::little_endian::{padded_u64, u64_of};

/// One 32-bit word as it goes into a hash.
#[inline]
fn word_32(word: u32) -> u32 {
    word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593)
}

/// The hash with one more 32-bit word.
#[inline]
fn round_32(hash: u32, word: u32) -> u32 {
    (hash ^ word_32(word)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
}

/// The last step of the 32-bit forms.
#[inline]
fn finish_32(mut hash: u32) -> u32 {
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

/// MurmurHash3_x86_32. O(length of the key). The low 32 bits of the length are mixed in.
#[inline]
pub(crate) fn murmur3_x86_32(key: &[u8], seed: u32) -> u32 {
    let (words, tail) = key.as_chunks::<4>();
    let mut hash = words.iter().fold(seed, |hash, word| round_32(hash, u32::from_le_bytes(*word)));
    // The word of no bytes is 0, and changes nothing.
    hash ^= word_32(padded_u64(tail) as u32);
    finish_32(hash ^ key.len() as u32)
}

/// Spark's `Murmur3_x86_32.hashUnsafeBytes`: [`murmur3_x86_32`], except that each byte after the last whole word is
/// extended to 32 bits with its sign and counts as a word. The same if the length is a multiple of four.
#[inline]
pub(crate) fn spark_murmur3_32(key: &[u8], seed: i32) -> i32 {
    let (words, tail) = key.as_chunks::<4>();
    let hash = words.iter().fold(seed as u32, |hash, word| round_32(hash, u32::from_le_bytes(*word)));
    let hash = tail.iter().fold(hash, |hash, byte| round_32(hash, i32::from(*byte as i8) as u32));
    finish_32(hash ^ key.len() as u32) as i32
}

/// The two halves of the 128-bit form while a key goes through it.
type Halves = [u64; 2];

const C: Halves = [0x87c3_7b91_1142_53d5, 0x4cf5_ad43_2745_937f];

/// The hash with the words of a last block, whose bytes beyond the key are zeros: zeros change nothing.
#[inline]
fn absorb([one, two]: Halves, block: Halves) -> Halves {
    [
        one ^ block[0].wrapping_mul(C[0]).rotate_left(31).wrapping_mul(C[1]),
        two ^ block[1].wrapping_mul(C[1]).rotate_left(33).wrapping_mul(C[0]),
    ]
}

/// The hash with one more whole block.
#[inline]
fn round(halves: Halves, block: Halves) -> Halves {
    let [one, two] = absorb(halves, block);
    // The second half takes the first one's new value.
    let one = one.rotate_left(27).wrapping_add(halves[1]).wrapping_mul(5).wrapping_add(0x52dc_e729);
    let two = two.rotate_left(31).wrapping_add(one).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    [one, two]
}

/// The 64-bit finaliser.
#[inline]
pub(crate) fn finish_64(mut half: u64) -> u64 {
    half = (half ^ half >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    half = (half ^ half >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    half ^ half >> 33
}

/// The last step of the 128-bit forms, for a key of this length.
#[inline]
fn finish([one, two]: Halves, length: usize) -> Halves {
    let (one, two) = (one ^ length as u64, two ^ length as u64);
    let one = one.wrapping_add(two);
    let (one, two) = (finish_64(one), finish_64(two.wrapping_add(one)));
    let one = one.wrapping_add(two);
    [one, two.wrapping_add(one)]
}

/// The hash of the whole blocks of a key, and the bytes that are left, at most 15.
#[inline]
fn body(key: &[u8], seed: u64) -> (Halves, &[u8]) {
    let (blocks, tail) = key.as_chunks::<16>();
    let hash = blocks.iter().fold([seed; 2], |hash, block| round(hash, [u64_of(block), u64_of(&block[8..])]));
    (hash, tail)
}

/// At most 15 bytes as a block, with zeros after them.
#[inline]
fn padded(tail: &[u8]) -> Halves {
    [padded_u64(tail), padded_u64(tail.get(8..).unwrap_or_default())]
}

/// MurmurHash3_x64_128, as the two 64-bit halves that it is made of, the half that is stored first coming first. The
/// standard has seeds of 32 bits; here 64 bits go into both halves, as in the copies that other systems have.
/// O(length).
#[inline]
pub(crate) fn murmur3_x64_128(key: &[u8], seed: u64) -> [u64; 2] {
    let (hash, tail) = body(key, seed);
    finish(absorb(hash, padded(tail)), key.len())
}

/// [`murmur3_x64_128`] of a key, and of that key with one more byte at its end, from which bits-and-blooms takes its
/// four hashes. The blocks that both have are hashed once.
#[inline]
pub(crate) fn murmur3_x64_128_with_byte(key: &[u8], seed: u64, extra: u8) -> ([u64; 2], [u64; 2]) {
    let (hash, tail) = body(key, seed);
    let block = padded(tail);
    let mut longer = block;
    longer[tail.len() / 8] |= u64::from(extra) << (8 * (tail.len() % 8));
    let whole = tail.len() == 15;
    let after = if whole { round(hash, longer) } else { absorb(hash, longer) };
    (finish(absorb(hash, block), key.len()), finish(after, key.len() + 1))
}

/// Cassandra's murmur3_x64_128 with seed 0, from which Cassandra knows the partition of a key. It extends the bytes
/// after the last whole block with their signs before it XORs them together, so it differs from the standard if one of
/// these bytes is 0x80 or more.
#[inline]
pub(crate) fn cassandra_murmur3_x64_128(key: &[u8]) -> [u64; 2] {
    let (hash, tail) = body(key, 0);
    let mut block = [0; 2];
    for (at, byte) in tail.iter().enumerate() {
        block[at / 8] ^= (i64::from(*byte as i8) as u64) << (8 * (at % 8));
    }
    finish(absorb(hash, block), key.len())
}

/// Hive's `Murmur3.hash64` with its own seed, 104729: 64 bits that are not a half of the 128. ORC hashes strings with
/// it.
#[inline]
pub(crate) fn hive_murmur3_64(key: &[u8]) -> u64 {
    let word = |word: u64| word.wrapping_mul(C[0]).rotate_left(31).wrapping_mul(C[1]);
    let (words, tail) = key.as_chunks::<8>();
    let hash = words.iter().fold(104_729, |hash: u64, bytes| {
        (hash ^ word(u64::from_le_bytes(*bytes))).rotate_left(27).wrapping_mul(5).wrapping_add(0x52dc_e729)
    });
    finish_64(hash ^ word(padded_u64(tail)) ^ key.len() as u64)
}

/// Thomas Wang's 64-bit mix as Java has it, with shifts to the right that keep the sign. ORC hashes integers with it,
/// and the bits of floating-point numbers.
#[inline]
pub(crate) fn wang_64(key: i64) -> u64 {
    let times = |key: i64, shifts: [u32; 2]| shifts.iter().fold(key, |sum, shift| sum.wrapping_add(key << shift));
    let mut key = (!key).wrapping_add(key << 21);
    key = times(key ^ key >> 24, [3, 8]);
    key = times(key ^ key >> 14, [2, 4]);
    key ^= key >> 28;
    key.wrapping_add(key << 31) as u64
}

#[cfg(test)]
mod tests {
    use super::super::smhasher::verification;
    use super::*;

    fn bytes([one, two]: [u64; 2]) -> [u8; 16] {
        (u128::from(two) << 64 | u128::from(one)).to_le_bytes()
    }

    /// The values of SMHasher, the author's own test program, for these functions.
    #[test]
    fn the_standard_forms_are_those_that_smhasher_knows() {
        assert_eq!(verification(|key, seed| murmur3_x86_32(key, seed).to_le_bytes()), 0xb0f5_7ee3);
        assert_eq!(verification(|key, seed| bytes(murmur3_x64_128(key, seed.into()))), 0x6384_ba69);
    }

    /// SMHasher's verification values of the functions of spark-sketch 4.0.0
    /// (`org.apache.spark.util.sketch.Murmur3_x86_32`), hive-storage-api 4.0.0 (`org.apache.hive.common.util.Murmur3`),
    /// which orc-core 2.1.0 agrees with, and cassandra-all 4.1.5 (`org.apache.cassandra.utils.MurmurHash`, seed 0),
    /// called from Java.
    #[test]
    fn other_systems_forms_are_their_own() {
        let spark = |key: &[u8], seed: u32| spark_murmur3_32(key, seed as i32).to_le_bytes();
        assert_eq!(verification(spark), 0x4df4_af9e);
        assert_eq!(verification(|key, _| hive_murmur3_64(key).to_le_bytes()), 0x271a_920d);
        assert_eq!(verification(|key, _| bytes(cassandra_murmur3_x64_128(key))), 0x51f7_4996);
    }

    /// The hashes come from the same Java functions.
    #[test]
    fn single_keys_have_their_hashes() {
        assert_eq!(spark_murmur3_32(b"a", 0).to_le_bytes(), [0x01, 0x88, 0x03, 0x2b]);
        assert_eq!(hive_murmur3_64(b"hello").to_le_bytes(), [0x41, 0x41, 0x22, 0x18, 0x00, 0x10, 0x28, 0x39]);
        let polish = cassandra_murmur3_x64_128("zażółć gęślą jaźń".as_bytes());
        assert_eq!(polish.map(u64::swap_bytes), [0x761e_8f7b_297c_2158, 0x84a0_cb6a_fa8c_30d9]);
    }

    #[test]
    fn one_more_byte_is_the_longer_key() {
        let key: [u8; 49] = core::array::from_fn(|i| (i * 89) as u8 | 0x81);
        for length in 0..key.len() {
            for seed in [0, 0x97c2_9b3a] {
                let both = murmur3_x64_128_with_byte(&key[..length], seed, key[length]);
                let apart = (murmur3_x64_128(&key[..length], seed), murmur3_x64_128(&key[..=length], seed));
                assert_eq!(both, apart, "{length} bytes");
            }
        }
    }

    /// The hashes come from orc-core 2.1.0, `org.apache.orc.util.BloomFilter.getLongHash`.
    #[test]
    fn numbers_are_mixed_as_orc_does() {
        let hashes = [
            (0, 0x0000_0000_0000_0000),
            (1, 0x5bca_7c69_b794_f8ce),
            (-1, 0x5bca_8684_3795_0d03),
            (42, 0x0f3d_b82f_1e7b_6f7a),
            (1 << 40, 0x539d_1652_6702_1515),
            (i64::MIN, 0x3be7_d0f7_780d_e548),
            (i64::MAX, 0x81ad_5271_8398_e837),
            ((-1.5_f64).to_bits() as i64, 0xe4a8_2539_24e5_fe37),
        ];
        for (key, hash) in hashes {
            assert_eq!(wang_64(key), hash, "{key}");
        }
    }
}
