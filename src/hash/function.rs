//! The hash functions: their numbers, and their names.

#[cfg(doc)]
use crate::error::Status;
use crate::error::{Error, List, Result, error};
use core::fmt;
use core::str::FromStr;

/// A hash function. The numbers are those of the C API and of the image format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
#[non_exhaustive]
pub enum HashFunction {
    /// XXH3, 64 bits, seeded. The default.
    Xxh3 = 1,
    /// XXH64, seeded: what Parquet's filters use, with seed 0.
    Xxh64 = 2,
    /// SipHash-1-3 under a secret key.
    SipHash13 = 3,
    /// The caller hashes: the filter takes 64-bit hashes only. They must be uniform.
    External = 4,
    /// That of the foreign format which the filter follows: only kinds for other systems' bytes have it, and these take
    /// keys whole, since 64 bits of each are too few for them.
    Format = 5,
    /// XXPH3, the preview of XXH3 that RocksDB's filters use: without a seed, for filters only.
    Xxph3 = 6,
    /// None: keys are the integers below a bound, `u64` or their eight little-endian bytes, and each is its own hash.
    /// Only kinds with a universe have it ([`Hashing::universe`](crate::contract::Hashing::universe)), and these have
    /// no other.
    Identity = 7,
    /// SipHash-2-4 under a key of 128 bits, that BIP 158 makes public: for filters only.
    SipHash24 = 8,
    /// The caller hashes with a cryptographic function, and keys are its digests. The seed is the number of bits of a
    /// digest: a multiple of 8 from 128 to 512. Only kinds that cut their positions out of digests have it
    /// ([`Hashing::takes_digests`](crate::contract::Hashing::takes_digests)).
    Digest = 9,
}

impl HashFunction {
    /// Every hash function that a spec of any kind may choose.
    pub const ALL: [HashFunction; 4] =
        [HashFunction::Xxh3, HashFunction::Xxh64, HashFunction::SipHash13, HashFunction::External];

    /// The functions that serve other systems' bytes, the one of kinds with a universe, and the one of kinds that take
    /// digests.
    pub const OF_KINDS: [HashFunction; 5] = [
        HashFunction::Format,
        HashFunction::Xxph3,
        HashFunction::Identity,
        HashFunction::SipHash24,
        HashFunction::Digest,
    ];

    /// The function with this number; 0 means the default.
    pub fn from_number(number: u32) -> Result<HashFunction> {
        if number == 0 {
            return Ok(HashFunction::Xxh3);
        }
        let mut all = HashFunction::ALL.into_iter().chain(HashFunction::OF_KINDS);
        all.find(|function| *function as u32 == number).ok_or_else(|| {
            error!(UnknownValue, "hash = {number} is not a hash function; 1 (xxh3) to 9 (digest) are known")
        })
    }

    /// The function with this name.
    pub fn from_name(name: &str) -> Option<HashFunction> {
        HashFunction::ALL.into_iter().find(|function| function.name() == name)
    }

    /// Whether the function takes a key instead of a seed.
    pub const fn is_keyed(self) -> bool {
        matches!(self, HashFunction::SipHash13 | HashFunction::SipHash24)
    }

    /// The function's name: `xxh3`, `xxh64`, `siphash13`, `external`, `format`, `xxph3`, `identity`, `siphash24` or
    /// `digest`.
    pub const fn name(self) -> &'static str {
        match self {
            HashFunction::Xxh3 => "xxh3",
            HashFunction::Xxh64 => "xxh64",
            HashFunction::SipHash13 => "siphash13",
            HashFunction::External => "external",
            HashFunction::Format => "format",
            HashFunction::Xxph3 => "xxph3",
            HashFunction::Identity => "identity",
            HashFunction::SipHash24 => "siphash24",
            HashFunction::Digest => "digest",
        }
    }
}

impl fmt::Display for HashFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for HashFunction {
    type Err = Error;

    /// The function with this name: one of [`HashFunction::ALL`] or [`HashFunction::OF_KINDS`].
    ///
    /// # Errors
    /// [`Status::UnknownValue`].
    fn from_str(text: &str) -> Result<HashFunction> {
        let mut all = HashFunction::ALL.into_iter().chain(HashFunction::OF_KINDS);
        all.find(|function| function.name() == text)
            .ok_or_else(|| error!(UnknownValue, "hash = {text} is not one of {}", List(&HashFunction::ALL)))
    }
}
