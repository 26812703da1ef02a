//! SipHash-1-3 as Rust's standard library feeds it with a slice of bytes. valkey-bloom's filters hash with it.

use core::hash::Hasher as _;
use siphasher::sip::SipHasher13;

/// SipHash-1-3 under this key, of a slice's length as eight little-endian bytes followed by the slice. Rust hashes a
/// `[u8]` like this on 64-bit machines, and so does the crate `bloomfilter`, on which valkey-bloom is built. O(length
/// of the slice).
#[inline]
pub(crate) fn rust_siphash13(key: &[u8], secret: &[u8; 16]) -> u64 {
    let mut hasher = SipHasher13::new_with_key(secret);
    hasher.write(&(key.len() as u64).to_le_bytes());
    hasher.write(key);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::hash::Hash;

    /// The standard library's own hasher, whose key is zeros, and siphasher's, both fed by `Hash`.
    #[test]
    fn it_is_what_hashing_a_slice_comes_to() {
        let secret: [u8; 16] = core::array::from_fn(|i| (i * 17) as u8);
        let bytes: [u8; 40] = core::array::from_fn(|i| (i * 37) as u8);
        for length in 0..=bytes.len() {
            let key = &bytes[..length];
            let mut own = SipHasher13::new_with_key(&secret);
            key.hash(&mut own);
            assert_eq!(rust_siphash13(key, &secret), own.finish());
            let mut standard = std::collections::hash_map::DefaultHasher::new();
            key.hash(&mut standard);
            assert_eq!(rust_siphash13(key, &[0; 16]), standard.finish());
        }
    }

    /// The bits of a filter of the crate `bloomfilter` 3.0.1 with valkey-bloom's fixed seed, whose halves are two
    /// secrets: 96 bits, 7 hashes, and six keys.
    #[test]
    fn it_is_what_valkey_bloom_hashes_with() {
        let secrets = [0x590f_f522_ea78_11da_a714_d809_3b3e_7bd9_u128, 0x1d89_8a73_3e98_8887_307f_97cd_2807_3383];
        let mut bits = [0_u8; 12];
        for key in ["", "a", "ab", "abc", "hello", "Hello, World!"] {
            let hashes = secrets.map(|secret| rust_siphash13(key.as_bytes(), &secret.to_be_bytes()));
            for i in 0..7_u64 {
                let bit = match i {
                    0 | 1 => hashes[i as usize],
                    _ => hashes[0].wrapping_add(hashes[1].wrapping_mul(i)) % 0xffff_ffff_ffff_ffc5,
                } % 96;
                bits[bit as usize / 8] |= 1 << (bit % 8);
            }
        }
        assert_eq!(bits, [0x92, 0x28, 0x52, 0x44, 0xe4, 0x44, 0x05, 0x18, 0x81, 0x27, 0x09, 0x2a]);
    }
}
