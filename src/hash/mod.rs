//! From keys to the 64-bit hashes that everything below works on.
//!
//! A key is a byte string. A `u64` key is its eight little-endian bytes, so both spellings of a key have one hash. XXH3
//! and XXH64 are fast and public: their seed tells filters apart and is *not* a secret. If somebody hostile may choose
//! the keys, use SipHash-1-3 under a secret 128-bit key (Aumasson and Bernstein, "SipHash: a fast short-input PRF",
//! 2012). Images hold an identifier derived from that key, never the key.

pub(crate) mod fnv1;
mod function;
mod identity;
pub(crate) mod jenkins;
pub(crate) mod leveldb;
mod little_endian;
pub(crate) mod md5;
pub(crate) mod murmur2;
pub(crate) mod murmur3;
pub(crate) mod sha2;
pub(crate) mod siphash;
#[cfg(test)]
mod smhasher;
pub mod xxh3;
mod xxph3;

pub use function::HashFunction;
pub use identity::widen;
pub use murmur2::murmur2_32;

use crate::error::{Error, Result, Status, error};
use crate::simd::Instructions;
use core::fmt;
use siphasher::sip::{SipHasher13, SipHasher24};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64, xxh3_64_with_seed, xxh3_128};
use xxhash_rust::xxh64::xxh64;
use xxph3::xxph3_64;

/// The secret of a keyed hash function: 128 bits.
pub type Secret = [u8; 16];

/// How many bits digests have.
pub const DIGEST_BITS: core::ops::RangeInclusive<u64> = 128..=512;

/// A hash function together with its seed or secret key.
#[derive(Clone)]
pub struct Hasher {
    function: HashFunction,
    /// The seed; the secret's identifier for a keyed function; the caller's tag for an external function or none; the
    /// number of bits for digests.
    identifier: u64,
    /// What XXH3 mixes `u64` keys with, made from the seed.
    flip: u64,
    sip: Option<(SipHasher13, Secret)>,
    /// The function for parts of keys, if keys are taken whole ([`Hasher::whole`]). `function` is then
    /// [`HashFunction::Format`].
    of_parts: Option<HashFunction>,
    /// The hash function of a foreign format, if that needs no more of a key than 64 bits ([`HashFunction::Format`]).
    own: Option<fn(&[u8]) -> u64>,
}

impl Hasher {
    /// A hasher for `function`. `seed` seeds XXH3 and XXH64 and tags external hashes and integers; SipHash takes
    /// `secret` instead.
    ///
    /// # Errors
    /// [`Status::SecretMissing`] for a keyed function without a secret; [`Status::Contradiction`] for a secret or a
    /// seed that the function would not use.
    pub fn new(function: HashFunction, seed: u64, secret: Option<&Secret>) -> Result<Hasher> {
        match (function, secret) {
            (HashFunction::SipHash13 | HashFunction::SipHash24, None) => {
                Err(error!(SecretMissing, "hash = {function} needs a secret key that is not all zeros"))
            }
            (HashFunction::SipHash13 | HashFunction::SipHash24, Some(_)) if seed != 0 => {
                Err(error!(Contradiction, "seed = {seed} has no meaning with hash = {function}, which takes a secret"))
            }
            (HashFunction::SipHash13 | HashFunction::SipHash24, Some(secret)) => Ok(Hasher::keyed(function, secret)),
            (HashFunction::Xxph3, None) if seed != 0 => {
                Err(error!(Contradiction, "seed = {seed} has no meaning with hash = xxph3, which takes none"))
            }
            (_, Some(_)) => Err(error!(Contradiction, "a secret key has no meaning with hash = {function}")),
            (HashFunction::Digest, None) if !seed.is_multiple_of(8) || !DIGEST_BITS.contains(&seed) => Err(error!(
                OutOfRange,
                "seed = {seed} with hash = digest is not the number of bits of a digest, a multiple of 8 from 128 to 512"
            )),
            (_, None) => {
                Ok(Hasher { function, identifier: seed, flip: xxh3::flip(seed), sip: None, of_parts: None, own: None })
            }
        }
    }

    /// The hasher of a filter that was read from an image, which knows the identifier of a secret but not the
    /// secret.
    ///
    /// # Errors
    /// [`Status::SecretMismatch`] if `secret` is not the one with this identifier; [`Status::Contradiction`] for a
    /// secret to a function that takes none; [`Status::Corrupt`] for an identifier that the function cannot have.
    pub fn reopen(function: HashFunction, identifier: u64, secret: Option<&Secret>) -> Result<Hasher> {
        match (function, secret) {
            (HashFunction::SipHash13 | HashFunction::SipHash24, Some(secret)) => {
                let hasher = Hasher::keyed(function, secret);
                if hasher.identifier == identifier {
                    return Ok(hasher);
                }
                Err(error!(
                    SecretMismatch,
                    "the secret key has identifier {:#018x}, the filter's has {identifier:#018x}", hasher.identifier
                ))
            }
            (HashFunction::SipHash13 | HashFunction::SipHash24, None) => {
                Ok(Hasher { function, identifier, flip: 0, sip: None, of_parts: None, own: None })
            }
            (HashFunction::Xxph3, None) if identifier != 0 => Err(error!(
                Corrupt,
                "the identifier {identifier:#x} has no meaning with hash = xxph3, which takes no seed"
            )),
            _ => Hasher::new(function, identifier, secret),
        }
    }

    /// A hasher of SipHash-1-3 or SipHash-2-4.
    fn keyed(function: HashFunction, secret: &Secret) -> Hasher {
        // The other function of the two, under the same secret, is an independent function, so the identifier is not
        // the hash of any key.
        const LABEL: &[u8] = b"petal key identifier";
        let identifier = match function {
            HashFunction::SipHash24 => SipHasher13::new_with_key(secret).hash(LABEL),
            _ => SipHasher24::new_with_key(secret).hash(LABEL),
        };
        Hasher {
            function,
            identifier,
            flip: 0,
            sip: Some((SipHasher13::new_with_key(secret), *secret)),
            of_parts: None,
            own: None,
        }
    }

    /// The hash function.
    pub fn function(&self) -> HashFunction {
        self.function
    }

    /// The seed; the secret's identifier for a keyed function; the caller's tag for an external one; the number of bits
    /// for digests.
    pub fn identifier(&self) -> u64 {
        self.identifier
    }

    /// The secret key of a keyed function, for whoever keeps it with the filter; `None` if there is none, or nobody
    /// gave it.
    pub fn secret(&self) -> Option<&Secret> {
        self.sip.as_ref().map(|(_, key)| key)
    }

    /// Whether both give keys the same hashes, where they can hash at all.
    #[inline]
    pub fn is_same(&self, other: &Hasher) -> bool {
        self.function == other.function && self.identifier == other.identifier && self.of_parts == other.of_parts
    }

    /// This hasher for filters that take keys whole and hash parts of them. It hashes no key itself.
    pub(crate) fn whole(self) -> Hasher {
        match self.takes_whole() {
            true => self,
            false => Hasher { function: HashFunction::Format, of_parts: Some(self.function), ..self },
        }
    }

    /// This hasher for filters of a format that hashes keys with `own`.
    pub(crate) fn with_own(self, own: Option<fn(&[u8]) -> u64>) -> Hasher {
        Hasher { own, ..self }
    }

    /// The hasher for parts of keys, if this is one for keys that are taken whole. Otherwise this hasher.
    pub fn of_parts(&self) -> Hasher {
        Hasher { function: self.of_parts.unwrap_or(self.function), of_parts: None, ..self.clone() }
    }

    /// What XXH3 mixes `u64` keys with, if this is XXH3 (`xxh3::flip`).
    #[inline]
    pub(crate) fn flip(&self) -> Option<u64> {
        (self.function == HashFunction::Xxh3).then_some(self.flip)
    }

    /// Whether keys can be hashed: false for external hashes, and for a keyed function without its key.
    pub fn can_hash(&self) -> bool {
        self.refusal().is_none()
    }

    /// Whether filters with this hasher take keys whole, because the places of a key need more bits of it than a 64-bit
    /// hash has.
    #[inline]
    pub fn takes_whole(&self) -> bool {
        matches!(self.function, HashFunction::Format | HashFunction::Digest) && self.own.is_none()
    }

    /// Checks that a key of this length can be taken whole.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] where keys are digests, for another length; [`Status::SecretMissing`] where parts of keys
    /// are hashed under a secret key that nobody gave.
    #[inline]
    pub(crate) fn check_whole(&self, length: usize) -> Result<()> {
        match self.function {
            HashFunction::Format if self.of_parts.is_some_and(HashFunction::is_keyed) && self.sip.is_none() => {
                Err(Status::SecretMissing.into())
            }
            HashFunction::Digest if 8 * length as u128 != self.identifier.into() => {
                Err(self.explain(Status::OutOfRange, length))
            }
            _ => Ok(()),
        }
    }

    /// Why keys cannot be hashed, if they cannot.
    pub fn refusal(&self) -> Option<Status> {
        match self.function {
            HashFunction::External => Some(Status::ExternalHash),
            HashFunction::Format | HashFunction::Digest if self.own.is_none() => Some(Status::Unsupported),
            HashFunction::SipHash13 | HashFunction::SipHash24 if self.sip.is_none() => Some(Status::SecretMissing),
            _ => None,
        }
    }

    /// The hash of a byte string.
    ///
    /// # Errors
    /// [`Status::ExternalHash`] or [`Status::SecretMissing`] where this hasher cannot hash; [`Status::OutOfRange`] for
    /// a byte string that is not an integer where keys are integers.
    #[inline]
    pub fn hash_bytes(&self, key: &[u8]) -> core::result::Result<u64, Status> {
        match self.function {
            HashFunction::Xxh3 => Ok(xxh3_64_with_seed(key, self.identifier)),
            HashFunction::Xxh64 => Ok(xxh64(key, self.identifier)),
            HashFunction::Xxph3 => Ok(xxph3_64(key)),
            HashFunction::SipHash13 => self.sip.as_ref().map(|(sip, _)| sip.hash(key)).ok_or(Status::SecretMissing),
            HashFunction::SipHash24 => match &self.sip {
                Some((_, secret)) => Ok(SipHasher24::new_with_key(secret).hash(key)),
                None => Err(Status::SecretMissing),
            },
            HashFunction::External => Err(Status::ExternalHash),
            HashFunction::Format | HashFunction::Digest => self.own.map(|own| own(key)).ok_or(Status::Unsupported),
            HashFunction::Identity => key.try_into().map(u64::from_le_bytes).map_err(|_| Status::OutOfRange),
        }
    }

    /// [`Hasher::hash_bytes`] with an error that says what is wrong with the key, if it is the key.
    ///
    /// # Errors
    /// As [`Hasher::hash_bytes`], and [`Status::OutOfRange`] for a byte string that is not an integer.
    #[inline]
    pub fn hash_key(&self, key: &[u8]) -> Result<u64> {
        self.hash_bytes(key).map_err(|refusal| self.explain(refusal, key.len()))
    }

    /// Why a key of `length` bytes is refused.
    #[cold]
    pub(crate) fn explain(&self, refusal: Status, length: usize) -> Error {
        match self.function {
            HashFunction::Identity => error!(
                OutOfRange,
                "a key of {length} bytes: the filter's keys are integers, u64 or their 8 little-endian bytes"
            ),
            HashFunction::Digest if refusal == Status::OutOfRange => {
                let (bits, bytes) = (self.identifier, self.identifier / 8);
                error!(
                    OutOfRange,
                    "a key of {length} bytes: the filter's keys are digests of {bits} bits, {bytes} bytes"
                )
            }
            _ => refusal.into(),
        }
    }

    /// The hash of a `u64` key: that of its eight little-endian bytes.
    ///
    /// # Errors
    /// As [`Hasher::hash_bytes`].
    #[inline]
    pub fn hash_u64(&self, key: u64) -> core::result::Result<u64, Status> {
        self.hash_u64_at_once(key).ok_or_else(|| self.refusal().unwrap_or(Status::Internal))
    }

    /// The hashes of byte strings. Strings that cannot be hashed get what [`Hasher::hash_u64s`] gives.
    pub(crate) fn hash_strings<'k>(&self, keys: impl Iterator<Item = &'k [u8]>, hashes: &mut [u64]) {
        if self.function == HashFunction::Xxh3 {
            let seed = self.identifier;
            return keys.zip(hashes).for_each(|(key, hash)| *hash = xxh3_64_with_seed(key, seed));
        }
        keys.zip(hashes).for_each(|(key, hash)| *hash = self.hash_bytes(key).unwrap_or(0));
    }

    /// [`Hasher::hash_bytes`] without a reason if the key cannot be hashed, so that the result is returned in
    /// registers.
    #[inline]
    pub fn hash_bytes_at_once(&self, key: &[u8]) -> Option<u64> {
        match self.function {
            HashFunction::Xxh3 => Some(xxh3_64_with_seed(key, self.identifier)),
            _ => self.hash_otherwise(key),
        }
    }

    /// [`Hasher::hash_u64`] without a reason if the key cannot be hashed, so that the result is returned in registers.
    #[inline]
    pub fn hash_u64_at_once(&self, key: u64) -> Option<u64> {
        match self.function {
            HashFunction::Xxh3 => Some(xxh3::hash_u64(self.flip, key)),
            _ => self.hash_u64_otherwise(key),
        }
    }

    /// A separate function, marked as rare, so that keys of XXH3 are hashed in a straight line and without touching
    /// memory.
    #[cold]
    #[inline(never)]
    fn hash_otherwise(&self, key: &[u8]) -> Option<u64> {
        self.hash_bytes(key).ok()
    }

    /// [`Hasher::hash_otherwise`] of a `u64` key.
    #[cold]
    #[inline(never)]
    fn hash_u64_otherwise(&self, key: u64) -> Option<u64> {
        self.hash_bytes(&key.to_le_bytes()).ok()
    }

    /// The hashes of many `u64` keys; `hashes` is as long as `keys`. Those of keys that cannot be hashed
    /// ([`Hasher::refusal`]) are 0.
    pub fn hash_u64s(&self, instructions: Instructions, keys: &[u64], hashes: &mut [u64]) {
        if self.function == HashFunction::Xxh3 {
            return xxh3::hash_u64s(instructions, self.flip, keys, hashes);
        }
        for (key, hash) in keys.iter().zip(hashes) {
            *hash = self.hash_u64(*key).unwrap_or(0);
        }
    }
}

impl fmt::Debug for Hasher {
    /// Shows the identifier, never the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({:#x})", self.function, self.identifier)
    }
}

/// XXH3's 64-bit checksum, seed 0, taken piece by piece: what images are protected with.
#[derive(Default)]
pub(crate) struct Checksum(Xxh3Default);

impl Checksum {
    pub fn of(bytes: &[u8]) -> u64 {
        xxh3_64(bytes)
    }

    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub fn finish(&self) -> u64 {
        self.0.digest()
    }
}

/// XXH3's 128-bit hash, seed 0: what compatibility ids are made with.
pub(crate) fn digest_128(bytes: &[u8]) -> [u8; 16] {
    xxh3_128(bytes).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published vectors: XXH3 and XXH64 of the empty string, and the SipHash paper's key 00..0f (1-3 by its own
    /// reference program) under the functions as Petal calls them.
    #[test]
    fn functions_are_the_published_ones() {
        let xxh3 = Hasher::new(HashFunction::Xxh3, 0, None).unwrap();
        let xxh64 = Hasher::new(HashFunction::Xxh64, 0, None).unwrap();
        assert_eq!(xxh3.hash_bytes(b""), Ok(0x2d06_8005_38d3_94c2));
        assert_eq!(xxh64.hash_bytes(b""), Ok(0xef46_db37_51d8_e999));
        let key: Secret = core::array::from_fn(|i| i as u8);
        let sip = Hasher::new(HashFunction::SipHash13, 0, Some(&key)).unwrap();
        assert_eq!(sip.hash_bytes(b""), Ok(0xabac_0158_050f_c4dc));
    }

    #[test]
    fn a_u64_key_is_its_little_endian_bytes() {
        let hasher = Hasher::new(HashFunction::Xxh3, 7, None).unwrap();
        assert_eq!(hasher.hash_u64(0x0102_0304), hasher.hash_bytes(&[4, 3, 2, 1, 0, 0, 0, 0]));
    }

    /// The published function, called through the crate, against the short form for eight bytes.
    #[test]
    fn xxh3_of_u64_keys_is_xxh3_of_their_bytes() {
        for seed in [0, 1, 42, 1 << 31, u64::MAX, 0x0123_4567_89ab_cdef] {
            let hasher = Hasher::new(HashFunction::Xxh3, seed, None).unwrap();
            let keys: Vec<u64> = (0..1003).map(|i| crate::bits::mix(i) >> (i % 64)).collect();
            let expected: Vec<u64> = keys.iter().map(|key| xxh3_64_with_seed(&key.to_le_bytes(), seed)).collect();
            for instructions in crate::simd::available() {
                let mut hashes = vec![0; keys.len()];
                hasher.hash_u64s(instructions, &keys, &mut hashes);
                assert_eq!(hashes, expected, "{instructions:?}");
            }
        }
    }

    #[test]
    fn keys_are_checked_and_never_shown() {
        let key = [7; 16];
        let hasher = Hasher::new(HashFunction::SipHash13, 0, Some(&key)).unwrap();
        let id = hasher.identifier();
        assert!(!format!("{hasher:?}").contains("7, 7"));
        assert_eq!(
            Hasher::reopen(HashFunction::SipHash13, id, Some(&[8; 16])).unwrap_err().status(),
            Status::SecretMismatch
        );
        let locked = Hasher::reopen(HashFunction::SipHash13, id, None).unwrap();
        assert_eq!(locked.hash_bytes(b"x"), Err(Status::SecretMissing));
        let open = Hasher::reopen(HashFunction::SipHash13, id, Some(&key)).unwrap();
        assert_eq!(open.hash_bytes(b"x"), hasher.hash_bytes(b"x"));
    }
}
