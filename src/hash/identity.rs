//! From keys to the 128-bit identities by which maps know keys. Keys with different identities are different keys.
//! Among n keys some two have the same identity with a probability of n^2 / 2^129, which for 2^40 keys is 2^-49.

use super::{HashFunction, Hasher, xxh3};
use crate::bits::{GOLDEN, mix};
use crate::error::{Result, Status, error};
use siphasher::sip128::SipHasher13;
use xxhash_rust::xxh3::xxh3_128_with_seed;
use xxhash_rust::xxh64::xxh64;

/// The identity of a key that is known by a 64-bit hash from elsewhere. The low half is the hash. The high half, by
/// which records are sorted and divided, is a bijective mix of the hash, because such a hash may be weak in its high
/// bits. Two keys with the same hash are one key.
#[inline]
pub fn widen(hash: u64) -> u128 {
    u128::from(mix(hash)) << 64 | u128::from(hash)
}

impl Hasher {
    /// The 128-bit identity of a byte string.
    ///
    /// - XXH3: its 128-bit hash, seeded.
    /// - XXH64: two of its hashes, the low half with the seed and the high half with the seed XOR 2^64 over the golden
    ///   ratio. The seed enters before the first byte of a key and goes through every round with the key, so for keys
    ///   that nobody chose to collide the two are as good as independent. Keys of eight bytes have different hashes
    ///   under any one seed.
    /// - SipHash-1-3: its 128-bit form, under the secret key.
    ///
    /// # Errors
    /// [`Status::ExternalHash`] or [`Status::SecretMissing`] where this hasher cannot hash.
    #[inline]
    pub fn identify(&self, key: &[u8]) -> core::result::Result<u128, Status> {
        match self.function {
            HashFunction::Xxh3 => Ok(xxh3_128_with_seed(key, self.identifier)),
            HashFunction::Xxh64 => {
                let high = xxh64(key, self.identifier ^ GOLDEN);
                Ok(u128::from(high) << 64 | u128::from(xxh64(key, self.identifier)))
            }
            HashFunction::SipHash13 => match &self.sip {
                Some((_, secret)) => Ok(SipHasher13::new_with_key(secret).hash(key).as_u128()),
                None => Err(Status::SecretMissing),
            },
            HashFunction::External => Err(Status::ExternalHash),
            HashFunction::Format
            | HashFunction::Xxph3
            | HashFunction::Identity
            | HashFunction::SipHash24
            | HashFunction::Digest => Err(Status::Unsupported),
        }
    }

    /// The 128-bit identity of a `u64` key: that of its eight little-endian bytes.
    ///
    /// # Errors
    /// As [`Hasher::identify`].
    #[inline]
    pub fn identify_u64(&self, key: u64) -> core::result::Result<u128, Status> {
        match self.function {
            HashFunction::Xxh3 => Ok(xxh3::identify_u64(xxh3::flip_128(self.identifier), key)),
            _ => self.identify(&key.to_le_bytes()),
        }
    }

    /// The identities of many `u64` keys; `ids` is as long as `keys`. Those of keys that this hasher cannot hash are 0.
    pub(crate) fn identify_u64s(&self, keys: &[u64], ids: &mut [u128]) {
        if self.function == HashFunction::Xxh3 {
            let flip = xxh3::flip_128(self.identifier);
            return keys.iter().zip(ids).for_each(|(key, id)| *id = xxh3::identify_u64(flip, *key));
        }
        keys.iter().zip(ids).for_each(|(key, id)| *id = self.identify_u64(*key).unwrap_or(0));
    }

    /// The 128-bit identity of a key of which only a hash is known: [`widen`] of it.
    ///
    /// # Errors
    /// [`Status::Unsupported`] unless the hash function is the external one: 64 bits are not the identity of a key that
    /// Petal hashes.
    pub fn identify_hash(&self, hash: u64) -> Result<u128> {
        match self.function {
            HashFunction::External => Ok(widen(hash)),
            function => Err(error!(
                Unsupported,
                "a map with hash = {function} knows keys by 128 bits; for hashes of 64 bits make it with hash = external"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Secret;
    use super::*;

    /// XXH3's published vector, and SipHash-1-3-128 from a separate program, which has the published vectors of 2-4.
    #[test]
    fn identities_are_the_published_functions() {
        let xxh3 = Hasher::new(HashFunction::Xxh3, 0, None).unwrap();
        assert_eq!(xxh3.identify(b""), Ok(0x99aa_06d3_0147_98d8_6001_c324_468d_497f));
        let xxh64 = Hasher::new(HashFunction::Xxh64, 0, None).unwrap();
        let both = xxh64.identify(b"").unwrap();
        assert_eq!(both as u64, 0xef46_db37_51d8_e999);
        assert_eq!(
            (both >> 64) as u64,
            Hasher::new(HashFunction::Xxh64, GOLDEN, None).unwrap().hash_bytes(b"").unwrap()
        );
        let key: Secret = core::array::from_fn(|i| i as u8);
        let sip = Hasher::new(HashFunction::SipHash13, 0, Some(&key)).unwrap();
        let mut bytes = SIP_OF_NOTHING;
        bytes.reverse();
        assert_eq!(sip.identify(b"").map(u128::to_be_bytes), Ok(bytes));
    }

    /// The sixteen bytes of SipHash-1-3-128 of the empty string under the key 00..0f.
    const SIP_OF_NOTHING: [u8; 16] =
        [0xe7, 0x7e, 0xbc, 0xb2, 0x27, 0x88, 0xa5, 0xbe, 0xfd, 0x62, 0xdb, 0x6a, 0xdd, 0x30, 0x30, 0x01];

    #[test]
    fn a_number_is_its_little_endian_bytes() {
        for (function, seed) in [(HashFunction::Xxh3, 0), (HashFunction::Xxh3, !77), (HashFunction::Xxh64, 7)] {
            let hasher = Hasher::new(function, seed, None).unwrap();
            let keys: Vec<u64> = (0..1000).map(|i| mix(i) >> (i % 64)).chain([0, u64::MAX]).collect();
            let mut ids = vec![0; keys.len()];
            hasher.identify_u64s(&keys, &mut ids);
            for (key, id) in keys.iter().zip(ids) {
                assert_eq!(hasher.identify(&key.to_le_bytes()), Ok(id));
                assert_eq!(hasher.identify_u64(*key), Ok(id));
            }
            assert_eq!(hasher.identify_hash(1).unwrap_err().status(), Status::Unsupported);
        }
        let external = Hasher::new(HashFunction::External, 7, None).unwrap();
        assert_eq!(external.identify(b"x"), Err(Status::ExternalHash));
        assert_eq!(external.identify_hash(9).unwrap() as u64, 9);
    }
}
