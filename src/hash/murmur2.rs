//! MurmurHash2 and MurmurHash64A (Austin Appleby, 2008, in the public domain): the hash functions of libbloom and
//! RedisBloom. HBase wrote MurmurHash2 in Java, where bytes have signs, so its hashes differ where a key does not end
//! with a whole word.
//!
//! libbloom and RedisBloom pass the length of a key as a C `int`, so only the first `length mod 2^32` bytes of a key of
//! 2^32 bytes or more count. Lengths from 2^31 on are negative there and have no meaning; here they are taken as they
//! are.

use super::little_endian::padded_u64;

/// The bytes of a key that are left if its length is an `int`.
#[inline]
fn counted(key: &[u8]) -> (&[u8], u32) {
    let length = key.len() as u32;
    (&key[..length as usize], length)
}

/// MurmurHash2, 32 bits. O(length of the key).
#[inline]
pub fn murmur2_32(key: &[u8], seed: u32) -> u32 {
    let (key, length) = counted(key);
    murmur2_with(key, seed ^ length, |tail| padded_u64(tail) as u32)
}

/// HBase's `MurmurHash`: [`murmur2_32`], except that the bytes after the last whole word are each extended with their
/// signs. O(length of the key). The low 32 bits of the length are mixed in.
#[inline]
pub(crate) fn hbase_murmur2_32(key: &[u8], seed: u32) -> u32 {
    murmur2_with(key, seed ^ key.len() as u32, |tail| {
        let signed = tail.iter().enumerate().map(|(at, byte)| (i32::from(*byte as i8) as u32) << (8 * at));
        signed.fold(0, |word, byte| word ^ byte)
    })
}

/// MurmurHash2 from a start on; `last` makes a word of the bytes after the last whole one.
#[inline]
fn murmur2_with(key: &[u8], start: u32, last: impl Fn(&[u8]) -> u32) -> u32 {
    const M: u32 = 0x5bd1_e995;
    let mut hash = start;
    let (words, tail) = key.as_chunks::<4>();
    for word in words {
        let mut word = u32::from_le_bytes(*word).wrapping_mul(M);
        word ^= word >> 24;
        hash = hash.wrapping_mul(M) ^ word.wrapping_mul(M);
    }
    if !tail.is_empty() {
        hash = (hash ^ last(tail)).wrapping_mul(M);
    }
    hash = (hash ^ hash >> 13).wrapping_mul(M);
    hash ^ hash >> 15
}

/// MurmurHash64A: MurmurHash2 for 64-bit processors, 64 bits. O(length of the key).
#[inline]
pub(crate) fn murmur64a(key: &[u8], seed: u64) -> u64 {
    const M: u64 = 0xc6a4_a793_5bd1_e995;
    let (key, length) = counted(key);
    let mut hash = seed ^ u64::from(length).wrapping_mul(M);
    let (words, tail) = key.as_chunks::<8>();
    for word in words {
        let mut word = u64::from_le_bytes(*word).wrapping_mul(M);
        word ^= word >> 47;
        hash = (hash ^ word.wrapping_mul(M)).wrapping_mul(M);
    }
    if !tail.is_empty() {
        hash = (hash ^ padded_u64(tail)).wrapping_mul(M);
    }
    hash = (hash ^ hash >> 47).wrapping_mul(M);
    hash ^ hash >> 47
}

#[cfg(test)]
mod tests {
    use super::super::smhasher::verification;
    use super::*;

    /// The values of SMHasher, the author's own test program, for these functions.
    #[test]
    fn they_are_the_functions_that_smhasher_knows() {
        assert_eq!(verification(|key, seed| murmur2_32(key, seed).to_le_bytes()), 0x2786_4c1e);
        assert_eq!(verification(|key, seed| murmur64a(key, seed.into()).to_le_bytes()), 0x1f0d_3804);
    }

    /// hbase-common 2.6.2 has these hashes of the keys c8, c8 cf, c8 cf d6 and so on, of 0 to 7 bytes, with seed
    /// 0x9abcdef1.
    #[test]
    fn hbase_reads_the_last_bytes_with_signs() {
        let key: [u8; 7] = core::array::from_fn(|i| 200 + 7 * i as u8);
        let hashes: [u32; 8] = core::array::from_fn(|length| hbase_murmur2_32(&key[..length], 0x9abc_def1));
        assert_eq!(
            hashes,
            [0xc9fc_f099, 0xdaee_d82c, 0x0712_a264, 0xb4f1_8b5c, 0x8914_ed71, 0x8a43_ba19, 0x4e16_b019, 0x851e_250e]
        );
    }

    /// A filter of RedisBloom (at commit b28c2945) with 11,072 bits and 8 hashes that holds only the key `key-0` has
    /// these bits. The seed of the second hash is all 64 bits of the first.
    #[test]
    fn redis_bloom_finds_its_bits() {
        let first = murmur64a(b"key-0", 0xc6a4_a793_5bd1_e995);
        let second = murmur64a(b"key-0", first);
        let mut bits: Vec<u64> = (0..8).map(|i| second.wrapping_mul(i).wrapping_add(first) % 11_072).collect();
        bits.sort_unstable();
        assert_eq!(bits, [819, 2999, 3171, 5179, 5351, 7359, 7531, 9711]);
    }
}
