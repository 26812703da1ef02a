//! The compact form of a filter: its payload and a trailer of 8 to 24 bytes, for filters that live inside the files of
//! other systems. The form has no hash function, seed, secret, count, capacity or state.
//!
//! A reader must trust the trailer before it looks at the payload, and cannot read a large payload for that. So the
//! checksum has two parts: a residue and a digest. The residue covers what the trailer says, together with the length.
//! It costs three divisions by a constant, and finds every one or two flipped bits. In a small form the digest covers
//! all bytes. A large form has eight bytes more for a digest of payload and shape, and the digest in its checksum
//! covers the trailer.

use super::{Geometry, PAYLOAD_UNIT, image_bytes};
use crate::error::{Error, Result, error};
use crate::hash::Checksum;
use crate::spec::KindId;

/// The length of a small form's trailer without a shape.
const SHORT: usize = 8;
/// The length of a small form's trailer with a shape.
const LONG: usize = 16;
/// How much longer the trailer of a large form is, because of its digest.
const DIGEST: usize = 8;
/// The length of the checksum, with which a trailer ends.
const CHECKSUM: usize = 4;

/// A prime of which 2 is a primitive root: flipping one or two bits of a number of fewer than 2046 bits always changes
/// its residue.
const MODULUS: u64 = 4093;
/// How many bits of the checksum are the digest. The residue is above them.
const DIGEST_BITS: u32 = 20;

/// How many bits the padding of a payload takes in the shape.
const PADDING_BITS: u32 = 10;

/// A form with at most this many bytes of payload is small, and all of it is checked whenever it is opened.
pub const DIGESTED: usize = 4096;

/// Where the trailer begins in a form of `length` bytes. Payloads are whole units, and trailers are shorter than a
/// unit.
const fn payload_of(length: usize) -> usize {
    length - length % PAYLOAD_UNIT as usize
}

/// How many bytes the digest of a large form takes: 0 if the payload is that of a small form.
const fn digest_bytes(payload_bytes: usize) -> usize {
    if payload_bytes > DIGESTED { DIGEST } else { 0 }
}

/// What a trailer says, together with the length of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trailer {
    /// The kind.
    pub kind: KindId,
    /// The version of the kind's payload layout.
    pub layout_version: u8,
    /// Bits that a key sets.
    pub hashes: u8,
    /// The rest of the geometry, which the payload's length does not say; see [`Packing`].
    pub shape: u64,
    /// The payload in bytes.
    pub payload_bytes: usize,
}

impl Trailer {
    /// The length of the form: payload and trailer.
    pub fn length(&self) -> usize {
        self.payload_bytes + digest_bytes(self.payload_bytes) + if self.shape == 0 { SHORT } else { LONG }
    }

    /// The part of the geometry that a trailer gives without its shape.
    pub fn plain_geometry(&self) -> Geometry {
        Geometry { bits: 0, hashes: self.hashes.into(), words: [0; 8], payload_bytes: self.payload_bytes as u64 }
    }

    /// The geometry that the trailer means for a kind with this visit of shapes. `None` if no geometry of the kind has
    /// this shape.
    pub fn geometry(&self, visit: fn(&mut Packing, &mut Geometry)) -> Option<Geometry> {
        Packing::unpack(self.shape, self.plain_geometry(), visit)
    }

    /// The bits of an array that fills the payload except for less than a line. The shape says how many bits that is
    /// ([`Packing::PADDING`]). `None` if the shape cannot be that number.
    #[inline]
    pub fn bits_of_lines(&self) -> Option<u64> {
        let bits = (self.payload_bytes as u64).checked_mul(8)?;
        if self.shape < 8 * PAYLOAD_UNIT { Some(bits - self.shape) } else { None }
    }

    /// [`Trailer::bits_of_lines`] for a kind that has fields after the padding ([`Packing::bits`]), and these fields.
    #[inline]
    pub fn bits_of_lines_and_rest(&self) -> Option<(u64, u64)> {
        let padding = Trailer { shape: self.shape % (1 << PADDING_BITS), ..*self };
        Some((padding.bits_of_lines()?, self.shape >> PADDING_BITS))
    }

    /// Writes the trailer after a payload in `whole`, which is [`Trailer::length`] bytes long.
    pub fn write(&self, whole: &mut [u8]) {
        let (covered, mut at) = (whole.len() - CHECKSUM, self.payload_bytes);
        if self.shape != 0 {
            whole[at..at + 8].copy_from_slice(&self.shape.to_le_bytes());
            at += 8;
        }
        if digest_bytes(self.payload_bytes) > 0 {
            let digest = Checksum::of(&whole[..at]);
            whole[at..at + DIGEST].copy_from_slice(&digest.to_le_bytes());
        }
        whole[covered - 4..covered].copy_from_slice(&self.head().to_le_bytes());
        let checksum = (self.residue() as u32) << DIGEST_BITS | short_digest(whole);
        whole[covered..].copy_from_slice(&checksum.to_le_bytes());
    }

    /// The trailer of a compact form. Takes constant time, and does not look at the payload.
    ///
    /// # Errors
    /// [`Status::Truncated`](crate::Status::Truncated) and [`Status::Foreign`](crate::Status::Foreign) for lengths that
    /// no compact form has; [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn read(whole: &[u8]) -> Result<Trailer> {
        Trailer::at_once(whole).ok_or_else(|| match whole.len() {
            length if length < PAYLOAD_UNIT as usize + SHORT => {
                error!(
                    Truncated,
                    "{length} bytes are less than the {} of a compact form",
                    PAYLOAD_UNIT as usize + SHORT
                )
            }
            length => {
                let more = digest_bytes(payload_of(length));
                let lengths = [SHORT + more, LONG + more];
                if lengths.contains(&(length % PAYLOAD_UNIT as usize)) {
                    return error!(Corrupt, "the trailer of the compact form does not match its checksum");
                }
                let [short, long] = lengths;
                error!(
                    Foreign,
                    "{length} bytes are no compact form, which has a multiple of {PAYLOAD_UNIT}, and {short} or {long}"
                )
            }
        })
    }

    /// [`Trailer::read`] without a reason for a failure, so that the trailer is returned in registers.
    #[inline(always)]
    pub fn at_once(whole: &[u8]) -> Option<Trailer> {
        let length = whole.len();
        let payload_bytes = payload_of(length);
        let shape = match length - payload_bytes - digest_bytes(payload_bytes).min(length - payload_bytes) {
            _ if payload_bytes == 0 => return None,
            SHORT => 0,
            LONG => word(whole, payload_bytes),
            _ => return None,
        };
        let last = word(whole, length - SHORT);
        let (head, checksum) = (last as u32, (last >> 32) as u32);
        let trailer = Trailer {
            kind: KindId(head & 0xffff),
            layout_version: (head >> 16) as u8,
            hashes: (head >> 24) as u8,
            shape,
            payload_bytes,
        };
        // Without a shape the trailer has to be the shorter one, so that one geometry has one form.
        let is_right = u64::from(checksum >> DIGEST_BITS) == trailer.residue() && trailer.length() == length;
        is_right.then_some(trailer)
    }

    /// Kind, layout version and hashes as one number.
    #[inline]
    fn head(&self) -> u32 {
        self.kind.0 | u32::from(self.layout_version) << 16 | u32::from(self.hashes) << 24
    }

    /// The remainder of the number n 2^96 + shape 2^32 + head, for length n.
    #[inline]
    fn residue(&self) -> u64 {
        const fn power(bits: u32) -> u64 {
            ((1_u128 << bits) % MODULUS as u128) as u64
        }
        let length = self.length() as u64 % MODULUS * power(96);
        (length + self.shape % MODULUS * power(32) + u64::from(self.head())) % MODULUS
    }
}

/// Compares all bytes of a compact form with the digests in its trailer.
///
/// # Errors
/// [`Status::Corrupt`](crate::Status::Corrupt).
pub fn check_digest(whole: &[u8]) -> Result<()> {
    check_short(whole)?;
    let payload_bytes = payload_of(whole.len());
    // The digest comes before the head and the checksum.
    let at = whole.len().saturating_sub(SHORT + DIGEST);
    if digest_bytes(payload_bytes) == 0 || word(whole, at) == Checksum::of(&whole[..at]) {
        return Ok(());
    }
    Err(mismatch(whole))
}

/// The checks of [`check_digest`] for a small form and for the trailer of a large one, in constant time.
///
/// # Errors
/// [`Status::Corrupt`](crate::Status::Corrupt).
pub fn check_short(whole: &[u8]) -> Result<()> {
    let found = (word(whole, whole.len().saturating_sub(SHORT)) >> 32) as u32;
    if found & ((1 << DIGEST_BITS) - 1) == short_digest(whole) { Ok(()) } else { Err(mismatch(whole)) }
}

#[cold]
fn mismatch(whole: &[u8]) -> Error {
    error!(Corrupt, "the {} bytes of the compact form do not match their checksum", whole.len())
}

/// The digest in the checksum: the low bits of the XXH3 of the bytes before it, without the payload of a large form.
fn short_digest(whole: &[u8]) -> u32 {
    let payload_bytes = payload_of(whole.len());
    let from = if digest_bytes(payload_bytes) > 0 { payload_bytes } else { 0 };
    let covered = &whole[from..whole.len().saturating_sub(CHECKSUM).max(from)];
    Checksum::of(covered) as u32 & ((1 << DIGEST_BITS) - 1)
}

/// The eight bytes from a place on. Missing bytes are zeros.
#[inline]
fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The part of a geometry that follows neither from the payload's length nor from `hashes`, as one number: fields of
/// bits, from the lowest up. A kind visits the fields in one function, which serves both directions.
pub struct Packing {
    shape: u64,
    used: u32,
    is_packing: bool,
    fits: bool,
}

impl Packing {
    /// The visit for kinds without their own words.
    pub const PADDING: fn(&mut Packing, &mut Geometry) = |packing, geometry| packing.bits(geometry, 0);

    /// The number for a geometry; `None` if it does not fit.
    pub fn pack(geometry: &Geometry, visit: fn(&mut Packing, &mut Geometry)) -> Option<u64> {
        let mut packing = Packing { shape: 0, used: 0, is_packing: true, fits: true };
        visit(&mut packing, &mut geometry.clone());
        let plain = Geometry { bits: 0, words: [0; 8], ..*geometry };
        // Fields that the kind does not visit must have the values that reading would give.
        let is_whole = packing.fits && Packing::unpack(packing.shape, plain, visit) == Some(*geometry);
        is_whole.then_some(packing.shape)
    }

    /// The geometry `plain` with the fields that are in the number. `None` if the number has more bits than the kind
    /// asks for.
    pub fn unpack(shape: u64, plain: Geometry, visit: fn(&mut Packing, &mut Geometry)) -> Option<Geometry> {
        let (mut packing, mut geometry) = (Packing { shape, used: 0, is_packing: false, fits: true }, plain);
        visit(&mut packing, &mut geometry);
        let rest = shape.checked_shr(packing.used).unwrap_or(0);
        (packing.fits && rest == 0 && image_bytes(geometry.payload_bytes).is_some()).then_some(geometry)
    }

    /// The next field, which has `bits` bits, at most 63.
    #[inline]
    pub fn field(&mut self, value: &mut u64, bits: u32) {
        self.fits &= self.used + bits <= u64::BITS;
        if !self.fits {
            return;
        }
        let mask = (1 << bits) - 1;
        if self.is_packing {
            self.fits &= *value <= mask;
            self.shape |= (*value & mask) << self.used;
        } else {
            *value = self.shape >> self.used & mask;
        }
        self.used += bits;
    }

    /// The geometry's bits, if they fill the payload except for `beside` bits and less than 1024 bits of padding.
    #[inline]
    pub fn bits(&mut self, geometry: &mut Geometry, beside: u64) {
        let room = geometry.payload_bytes.saturating_mul(8).saturating_sub(beside);
        let mut padding = room.wrapping_sub(geometry.bits);
        self.field(&mut padding, PADDING_BITS);
        geometry.bits = room.saturating_sub(padding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRAILER: Trailer = Trailer { kind: KindId(3), layout_version: 1, hashes: 6, shape: 0, payload_bytes: 128 };

    fn form(trailer: Trailer) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..trailer.length()).map(|i| (i * i) as u8).collect();
        trailer.write(&mut bytes);
        bytes
    }

    #[test]
    fn trailers_are_as_short_as_they_can_be() {
        let large = Trailer { payload_bytes: 4160, ..TRAILER };
        let shapes = |trailer| [trailer, Trailer { shape: 1 << 63, ..trailer }];
        for (trailer, length) in shapes(TRAILER).into_iter().chain(shapes(large)).zip([8, 16, 16, 24]) {
            let bytes = form(trailer);
            assert_eq!(bytes.len(), trailer.payload_bytes + length);
            assert_eq!(Trailer::read(&bytes).unwrap(), trailer);
            check_digest(&bytes).unwrap();
        }
        // A long trailer without a shape is invalid, even with the right residue.
        let mut bytes = vec![0; 128 + LONG];
        let long = Trailer { shape: 1, ..TRAILER };
        long.write(&mut bytes);
        bytes[128] = 0;
        assert!(Trailer::read(&bytes).is_err());
    }

    /// One and two flipped bits of a trailer are always found, without a look at the payload.
    #[test]
    fn flipped_bits_of_a_trailer_are_found_for_certain() {
        for trailer in [TRAILER, Trailer { shape: 0x0123_4567_89ab_cdef, ..TRAILER }] {
            let whole = form(trailer);
            let bits = 8 * trailer.payload_bytes..8 * whole.len() - DIGEST_BITS as usize - 12;
            for first in bits.clone() {
                for second in first..bits.end {
                    let mut bytes = whole.clone();
                    bytes[first / 8] ^= 1 << (first % 8);
                    if second != first {
                        bytes[second / 8] ^= 1 << (second % 8);
                    }
                    assert!(Trailer::read(&bytes).is_err(), "bits {first} and {second}");
                }
            }
        }
    }

    #[test]
    fn a_payload_cut_at_its_start_is_found() {
        let whole = form(Trailer { payload_bytes: 640, ..TRAILER });
        for cut in (64..640).step_by(64) {
            assert!(Trailer::read(&whole[cut..]).is_err());
        }
    }
}
