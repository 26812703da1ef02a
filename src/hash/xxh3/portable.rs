//! XXH3 of `u64` keys in plain Rust: what the other kernels are compared with.

use super::MULTIPLIER;

/// XXH3, 64 bits, of the eight little-endian bytes of `key`.
#[inline]
pub fn hash_u64(flip: u64, key: u64) -> u64 {
    let mut x = key.rotate_left(32) ^ flip;
    x ^= x.rotate_left(49) ^ x.rotate_left(24);
    x = x.wrapping_mul(MULTIPLIER);
    // 8 is the length of the key.
    x ^= (x >> 35).wrapping_add(8);
    x = x.wrapping_mul(MULTIPLIER);
    x ^ (x >> 28)
}

/// [`hash_u64`] of many keys; `hashes` is as long.
pub fn hash_u64s(flip: u64, keys: &[u64], hashes: &mut [u64]) {
    for (key, hash) in keys.iter().zip(hashes) {
        *hash = hash_u64(flip, *key);
    }
}
