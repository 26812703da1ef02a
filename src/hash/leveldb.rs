//! The hash function of LevelDB's filters, which is close to MurmurHash, and RocksDB's copy of it, which RocksDB's
//! filters had before format version 5 and which reads the last bytes of a key as numbers with signs.

use super::little_endian::padded_u64;

const M: u32 = 0xc6a4_a793;

/// The hash of the whole words of a key, and the bytes that are left, at most three. The length counts modulo 2^32.
#[inline]
fn body(key: &[u8], seed: u32) -> (u32, &[u8]) {
    let (words, tail) = key.as_chunks::<4>();
    let start = seed ^ (key.len() as u32).wrapping_mul(M);
    let hash = words.iter().fold(start, |hash, word| {
        let hash = hash.wrapping_add(u32::from_le_bytes(*word)).wrapping_mul(M);
        hash ^ hash >> 16
    });
    (hash, tail)
}

/// The hash with the last bytes, which were added up to a word; unchanged if there are none.
#[inline]
fn finish(hash: u32, tail: &[u8], word: u32) -> u32 {
    if tail.is_empty() {
        return hash;
    }
    let hash = hash.wrapping_add(word).wrapping_mul(M);
    hash ^ hash >> 24
}

/// LevelDB's `Hash`; its filters have 0xbc9f1d34 for a seed. O(length of the key).
#[inline]
pub(crate) fn leveldb(key: &[u8], seed: u32) -> u32 {
    let (hash, tail) = body(key, seed);
    finish(hash, tail, padded_u64(tail) as u32)
}

/// RocksDB's `Hash`, for filters from before format version 5, with the same seed: [`leveldb`], except that the bytes
/// after the last whole word are each extended with their signs. O(length of the key).
#[inline]
pub(crate) fn rocksdb_legacy(key: &[u8], seed: u32) -> u32 {
    let (hash, tail) = body(key, seed);
    let signed = tail.iter().enumerate().map(|(at, byte)| (i32::from(*byte as i8) as u32) << (8 * at));
    finish(hash, tail, signed.fold(0, u32::wrapping_add))
}

#[cfg(test)]
mod tests {
    use super::super::smhasher::verification;
    use super::*;

    const SEED: u32 = 0xbc9f_1d34;

    /// The hashes come from LevelDB's own test, `util/hash_test.cc`, which shows that bytes have no signs.
    #[test]
    fn it_is_leveldbs_function() {
        let hashes: [(&[u8], u32); 5] = [
            (&[], 0xbc9f_1d34),
            (&[0x62], 0xef13_45c4),
            (&[0xc3, 0x97], 0x5b66_3814),
            (&[0xe2, 0x99, 0xa5], 0x323c_078f),
            (&[0xe1, 0x80, 0xb9, 0x32], 0xed21_633a),
        ];
        for (key, hash) in hashes {
            assert_eq!(leveldb(key, SEED), hash, "{key:x?}");
        }
    }

    /// SMHasher's verification of `rocksdb::Hash` of Debian's librocksdb 7.8.3-2.
    #[test]
    fn the_copy_is_rocksdbs_function() {
        assert_eq!(verification(|key, seed| rocksdb_legacy(key, seed).to_le_bytes()), 0x8bbe_db54);
        assert_eq!(rocksdb_legacy(b"abc", SEED), leveldb(b"abc", SEED));
        assert_ne!(rocksdb_legacy(b"ab\x80", SEED), leveldb(b"ab\x80", SEED));
    }
}
