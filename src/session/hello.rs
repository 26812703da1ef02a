//! How two sides introduce themselves, and the key that they agree on.

use super::wire::{self, Writer};
#[cfg(doc)]
use crate::error::Status;
use crate::error::{Result, error};
use crate::hash::{HashFunction, Hasher, Secret, digest_128};
use crate::interop::Cursor;
use std::hash::BuildHasher;

/// The flag for "this side has its elements at hand".
const HAS_ELEMENTS: u8 = 1;
/// The flag for "this side asks for the kept symbols, and for no key of the session".
const ASKS_FOR_KEPT: u8 = 2;
/// The bits of the flags from this one on say how many bits fewer than 64 a number has.
const NARROWER: u32 = 2;
/// The fewest bits of a number.
const LEAST_BITS: u32 = 8;

/// What a side says of itself at first.
#[derive(Clone)]
pub struct Hello {
    /// Bytes of an element.
    pub key_bytes: usize,
    /// Bits of a number: hashes of byte keys are reduced to that many.
    pub number_bits: u32,
    /// The number of the sketch's hash function, and its seed or the identifier of its key.
    pub hash: (u32, u64),
    /// Whether the elements are at hand.
    pub has_elements: bool,
    /// Whether this side asks for the sketch's own symbols.
    pub asks_for_kept: bool,
    /// How many symbols the sketch keeps.
    pub symbols: u64,
    /// How many elements the set has.
    pub count: u64,
    /// Random bytes, half of the session's key.
    pub nonce: [u8; 16],
}

/// The most bytes that [`Hello::write`] writes.
pub const MOST_BYTES: usize = 1 + 4 + 8 + 1 + 10 + 10 + 16;

impl Hello {
    /// Writes what this side says.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn write(&self, to: &mut Writer) -> Result<()> {
        let elements = if self.has_elements { HAS_ELEMENTS } else { 0 };
        let kept = if self.asks_for_kept { ASKS_FOR_KEPT } else { 0 };
        let narrower = ((u64::BITS - self.number_bits) as u8) << NARROWER;
        to.raw(&[self.key_bytes as u8, elements | kept | narrower])?;
        to.raw(&self.hash.0.to_le_bytes())?;
        to.words(&[self.hash.1])?;
        to.varint(self.symbols)?;
        to.varint(self.count)?;
        to.raw(&self.nonce)
    }

    /// Reads what [`Hello::write`] wrote.
    ///
    /// # Errors
    /// [`Status::Truncated`](crate::Status::Truncated); [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn read(from: &mut Cursor) -> Result<Hello> {
        let [key_bytes, flags] = from.array()?;
        let narrower = u32::from(flags >> NARROWER);
        if !(8..=64).contains(&key_bytes) || narrower > u64::BITS - LEAST_BITS || narrower > 0 && key_bytes != 8 {
            return Err(error!(Corrupt, "the other side has keys of {key_bytes} bytes and flags {flags}"));
        }
        let hash = (u32::from_le_bytes(from.array()?), wire::word(from)?);
        let (symbols, count) = (wire::varint(from)?, wire::varint(from)?);
        if count > i64::MAX as u64 {
            return Err(error!(Corrupt, "the other side has {count} elements, which no set has"));
        }
        Ok(Hello {
            key_bytes: usize::from(key_bytes),
            number_bits: u64::BITS - narrower,
            hash,
            has_elements: flags & HAS_ELEMENTS != 0,
            asks_for_kept: flags & ASKS_FOR_KEPT != 0,
            symbols,
            count,
            nonce: from.array()?,
        })
    }

    /// Refuses another side whose elements are not comparable.
    ///
    /// # Errors
    /// [`Status::Incompatible`](crate::Status::Incompatible), naming the first difference.
    pub fn check(&self, other: &Hello) -> Result<()> {
        if self.key_bytes != other.key_bytes {
            let (ours, theirs) = (self.key_bytes, other.key_bytes);
            return Err(error!(Incompatible, "the sketches differ: keys of {ours} bytes here, {theirs} there"));
        }
        if self.number_bits != other.number_bits {
            let (ours, theirs) = (self.number_bits, other.number_bits);
            return Err(error!(Incompatible, "the sketches differ: numbers of {ours} bits here, {theirs} there"));
        }
        if self.hash.0 != other.hash.0 {
            let (ours, theirs) = (self.hash.0, other.hash.0);
            return Err(error!(Incompatible, "the sketches differ: hash function {ours} here, {theirs} there"));
        }
        if self.hash.1 != other.hash.1 {
            return Err(error!(Incompatible, "the sketches differ in the seed or the key of their hash function"));
        }
        Ok(())
    }

    /// The hasher of the session, under a key from both sides, if both have their elements and neither asks for the
    /// kept symbols. Otherwise `None`: the session then uses the kept symbols.
    ///
    /// # Errors
    /// As [`Hasher::new`].
    pub fn keyed(initiator: &Hello, responder: &Hello) -> Result<Option<Hasher>> {
        let both = [initiator, responder];
        if both.iter().any(|side| !side.has_elements || side.asks_for_kept) {
            return Ok(None);
        }
        let mut bytes = [0; 48];
        bytes[..16].copy_from_slice(b"petal session v1");
        bytes[16..32].copy_from_slice(&initiator.nonce);
        bytes[32..].copy_from_slice(&responder.nonce);
        let key: Secret = digest_128(&bytes);
        Hasher::new(HashFunction::SipHash13, 0, Some(&key)).map(Some)
    }
}

/// Bytes that no other side can foresee. The standard library seeds its hash maps from the system's random numbers, and
/// the process and the time distinguish a process from one that it was forked from.
///
/// # Errors
/// [`Status::UnsupportedByBuild`] where there is no system, and so nothing random.
pub fn nonce() -> Result<[u8; 16]> {
    if cfg!(target_family = "wasm") {
        return Err(error!(UnsupportedByBuild, "a session needs random numbers, and this system has none"));
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let state = std::hash::RandomState::new();
    let mut nonce = [0; 16];
    for (half, place) in nonce.chunks_exact_mut(8).zip(0_u8..) {
        half.copy_from_slice(&state.hash_one((now, std::process::id(), place)).to_le_bytes());
    }
    Ok(nonce)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What no side can say of itself is refused, and each limit is accepted.
    #[test]
    fn introductions_have_bounds() {
        let read = |key_bytes: u8, flags: u8, count: u64| {
            let mut writer = Writer::new(0).unwrap();
            writer.raw(&[key_bytes, flags]).unwrap();
            writer.raw(&[0; 12]).unwrap();
            writer.varint(3).unwrap();
            writer.varint(count).unwrap();
            writer.raw(&[7; 16]).unwrap();
            Hello::read(&mut Cursor::new(writer.bytes()))
        };
        let refused = [(7, 0, 0), (65, 0, 0), (9, 4, 0), (8, 57 << 2, 0), (8, 255, 0), (8, 3, 1 << 63)];
        for (key_bytes, flags, count) in refused {
            assert!(read(key_bytes, flags, count).is_err(), "{key_bytes} {flags} {count}");
        }
        let taken = [(8, 0, 0), (64, 3, (1 << 63) - 1), (8, 1, 5), (8, 2, 5), (8, 4, 5), (8, 56 << 2 | 1, 5)];
        for (key_bytes, flags, count) in taken {
            let hello = read(key_bytes, flags, count).unwrap();
            assert_eq!((hello.key_bytes, hello.count, hello.symbols), (key_bytes.into(), count, 3));
            assert_eq!((hello.has_elements, hello.asks_for_kept), (flags & 1 == 1, flags & 2 == 2));
            assert_eq!(hello.number_bits, 64 - u32::from(flags >> 2));
        }
    }

    #[test]
    fn no_two_nonces_are_equal() {
        let (one, other) = (nonce().unwrap(), nonce().unwrap());
        assert!(one != other && one[..8] != one[8..]);
    }
}
