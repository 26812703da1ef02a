//! XXH3 of `u64` keys in plain Rust, which the other kernels are compared with.

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

/// [`hash_u64`] of many keys; `hashes` is as long as `keys`.
pub fn hash_u64s(flip: u64, keys: &[u64], hashes: &mut [u64]) {
    for (key, hash) in keys.iter().zip(hashes) {
        *hash = hash_u64(flip, *key);
    }
}

/// XXH3, 128 bits, of the eight little-endian bytes of `key`, under the seed that `flip` was made from
/// ([`super::flip_128`]).
#[inline]
pub fn identify_u64(flip: u64, key: u64) -> u128 {
    // 8 is the length of the key.
    let product = u128::from(key ^ flip) * u128::from(0x9e37_79b1_85eb_ca87_u64 + (8 << 2));
    let low = product as u64;
    let mut high = ((product >> 64) as u64).wrapping_add(low << 1);
    let mut low = low ^ (high >> 3);
    low = (low ^ (low >> 35)).wrapping_mul(MULTIPLIER);
    high = (high ^ (high >> 37)).wrapping_mul(0x1656_6791_9e37_79f9);
    u128::from(high ^ (high >> 32)) << 64 | u128::from(low ^ (low >> 28))
}
