//! The header, as a struct and as bytes.
//!
//! The header's first part never changes once the image exists, and has its own checksum. The second part (state,
//! count, sharing) changes when the image is written in place. Its seal is checked only in a clean image. So a process
//! that dies at any moment leaves an image that still opens, and says that it is unclean.

use super::{FORMAT_VERSION, PAYLOAD_UNIT, regions};
use crate::error::{Result, Status, error};
use crate::hash::{self, Checksum, HashFunction};
use crate::spec::{KindId, Number, Parameter};

/// The length of the header; the payload follows directly.
pub const LENGTH: usize = 256;

/// The first byte is not text, and conversions of line endings destroy the last two bytes.
pub const MAGIC: [u8; 8] = *b"\x89PETAL\r\n";

/// The offset of the optional features.
const OPTIONAL_OFFSET: usize = 32;
/// The offset of the checksum of the first part.
pub const CHECKSUM_OFFSET: usize = 208;
/// The offset of the state word: 0, or `UNCLEAN`.
pub const STATE_OFFSET: usize = 216;
/// The offset of the count of keys. The second part goes on from here with sharing, a reserved word and the seal.
pub const COUNT_OFFSET: usize = 224;
/// The offset of the word in which handles that share the image count themselves: 0 in a clean image.
pub const SHARING_OFFSET: usize = 232;
const SEAL_OFFSET: usize = 248;

/// The state of an image that is being written in place.
pub const UNCLEAN: u64 = u64::from_le_bytes(*b"DIRTY\0\0\0");

/// Required features that this version knows: none yet.
const REQUIRED_FEATURES: u64 = 0;
/// Optional features that this version knows: none yet.
const OPTIONAL_FEATURES: u64 = 0;

/// The size and shape of a payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Geometry {
    /// Bits that keys are spread over.
    pub bits: u64,
    /// Bits that a key sets.
    pub hashes: u32,
    /// The other numbers that the kind needs to read its payload.
    pub words: [u64; 8],
    /// The payload in bytes: `bits`, padded.
    pub payload_bytes: u64,
}

impl Geometry {
    /// The geometry of a plain array of `bits` bits.
    ///
    /// # Errors
    /// [`Status::TooLarge`](crate::Status::TooLarge) past the address space.
    pub fn of_bits(bits: u64, hashes: u32, words: [u64; 8]) -> Result<Geometry> {
        Geometry::of_bytes(bits, hashes, words, bits.div_ceil(8).max(1).checked_next_multiple_of(PAYLOAD_UNIT))
    }

    /// The geometry of a payload of `payload_bytes` bytes; `None` stands for more bytes than 64 bits can count.
    ///
    /// # Errors
    /// As [`Geometry::of_bits`].
    pub fn of_bytes(bits: u64, hashes: u32, words: [u64; 8], payload_bytes: Option<u64>) -> Result<Geometry> {
        match payload_bytes.filter(|bytes| image_bytes(*bytes).is_some()) {
            Some(payload_bytes) => Ok(Geometry { bits, hashes, words, payload_bytes }),
            None => Err(error!(TooLarge, "bits = {bits} are more than the address space holds")),
        }
    }

    /// Whether the payload is exactly as long as its bits require.
    pub fn is_of_bits(&self) -> bool {
        Geometry::of_bits(self.bits, self.hashes, self.words).is_ok_and(|expected| expected == *self)
    }

    /// The value of a parameter that is kept in a kind word.
    pub fn parameter(&self, parameter: &Parameter) -> Option<u64> {
        parameter.word.map(|word| self.words[word])
    }
}

/// This many bytes, or `None` past the address space. In WebAssembly, where an address has 32 bits, sizes are counted
/// as on other machines: plans are made for these too, and asking for that much memory fails.
pub fn countable(bytes: u64) -> Option<u64> {
    let fits = if cfg!(target_family = "wasm") { i64::try_from(bytes).is_ok() } else { isize::try_from(bytes).is_ok() };
    fits.then_some(bytes)
}

/// The length of the image of a payload of this length: header, payload and table; `None` past the address space.
pub fn image_bytes(payload_bytes: u64) -> Option<u64> {
    countable(payload_bytes.checked_add(LENGTH as u64)?.checked_add(regions::table_bytes(payload_bytes))?)
}

/// Everything that an image says about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The kind.
    pub kind: KindId,
    /// The version of the kind's payload layout.
    pub layout_version: u16,
    /// The hash function.
    pub hash: HashFunction,
    /// The seed, the identifier of the secret key, or the tag of external hashes.
    pub identifier: u64,
    /// The distinct keys that the filter was sized for; 0 if that is unknown.
    pub capacity: u64,
    /// The false-positive rate that was promised at capacity; 0 if a geometry was asked for.
    pub false_positive_rate: f64,
    /// The shape of the payload.
    pub geometry: Geometry,
    /// Keys inserted so far.
    pub count: u64,
    /// Whether nobody marked the payload clean: the image is open for writing, or was when its process ended.
    pub unclean: bool,
}

impl Header {
    /// The image's length: header, payload and table.
    pub fn image_bytes(&self) -> u64 {
        // Decoding and planning refuse longer images.
        image_bytes(self.geometry.payload_bytes).unwrap_or(u64::MAX)
    }

    /// The identity that two filters must share to combine: kind, layout, this part of the geometry, and hash function
    /// with its seed or secret.
    pub fn compatibility_id(&self, identity: &Geometry) -> [u8; 16] {
        let mut bytes = [0; 96];
        let mut writer = Writer(&mut bytes);
        writer.u32(self.kind.0);
        writer.u32(u32::from(self.layout_version));
        writer.u32(self.hash as u32);
        writer.u32(identity.hashes);
        writer.u64(self.identifier);
        writer.u64(identity.bits);
        identity.words.iter().for_each(|word| writer.u64(*word));
        hash::digest_128(&bytes)
    }

    /// Refuses to write an image in place if it has optional features that this version does not know. A change of the
    /// payload may break what these features promise, and the part of the header that names them never changes.
    ///
    /// # Errors
    /// [`Status::NewerVersion`].
    pub fn check_to_be_written(bytes: &[u8; LENGTH]) -> Result<()> {
        match get(bytes, OPTIONAL_OFFSET) & !OPTIONAL_FEATURES {
            0 => Ok(()),
            optional => Err(error!(
                NewerVersion,
                "the image has features {optional:#x}, which this version cannot keep up: open it for reading (mode \
                 read), or load a copy (mode load), which does without them"
            )),
        }
    }

    /// The header's bytes. Optional features of an image that was read are left out.
    pub fn encode(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let mut writer = Writer(&mut bytes);
        writer.bytes(&MAGIC);
        writer.bytes(&FORMAT_VERSION.to_le_bytes());
        writer.bytes(&self.layout_version.to_le_bytes());
        writer.u32(self.kind.0);
        writer.u32(self.hash as u32);
        writer.u32(self.geometry.hashes);
        writer.u64(REQUIRED_FEATURES);
        writer.u64(OPTIONAL_FEATURES);
        writer.u64(self.identifier);
        writer.u64(self.capacity);
        writer.u64(self.false_positive_rate.to_bits());
        writer.u64(self.geometry.bits);
        self.geometry.words.iter().for_each(|word| writer.u64(*word));
        writer.u64(self.geometry.payload_bytes);
        let checksum = Checksum::of(&bytes[..CHECKSUM_OFFSET]);
        put(&mut bytes, CHECKSUM_OFFSET, checksum);
        bytes[COUNT_OFFSET..].copy_from_slice(&self.second_part(checksum));
        if self.unclean {
            put(&mut bytes, STATE_OFFSET, UNCLEAN);
        }
        bytes
    }

    /// The bytes from `COUNT_OFFSET` on of an image that nobody shares and whose first part has this checksum.
    pub fn second_part(&self, checksum: u64) -> [u8; LENGTH - COUNT_OFFSET] {
        let mut bytes = [0; LENGTH];
        put(&mut bytes, CHECKSUM_OFFSET, checksum);
        put(&mut bytes, COUNT_OFFSET, self.count);
        let seal = Checksum::of(&bytes[CHECKSUM_OFFSET..SEAL_OFFSET]);
        put(&mut bytes, SEAL_OFFSET, seal);
        core::array::from_fn(|i| bytes[COUNT_OFFSET + i])
    }

    /// The header that `read` copies, and the checksum of its first part. `read` returns how many bytes of the header
    /// there are. A writer may be bringing the second part up to date, so a header that looks damaged is read again,
    /// and counts as damaged only if it did not change.
    ///
    /// That is enough because words are written and read in the order of their offsets. Of two copies, one after the
    /// other, the second has everything that belongs to the last word of the first, or something newer.
    ///
    /// # Errors
    /// As [`Header::decode`], the errors of `read`, and [`Status::Unclean`] if the header never comes to rest.
    pub fn read(mut read: impl FnMut(&mut [u8; LENGTH]) -> Result<usize>) -> Result<(Header, u64)> {
        let (mut bytes, mut last) = ([0; LENGTH], None);
        for _ in 0..1000 {
            let length = read(&mut bytes)?;
            match Header::decode(&bytes[..length]) {
                Ok(header) => return Ok((header, get(&bytes, CHECKSUM_OFFSET))),
                Err(error) if error.status() != Status::Corrupt || last == Some(bytes) => return Err(error),
                Err(_) => last = Some(bytes),
            }
            std::thread::yield_now();
        }
        Err(error!(Unclean, "the header is written again and again while it is read"))
    }

    /// The header that `bytes` hold. The kind checks its own numbers.
    ///
    /// # Errors
    /// [`Status::Foreign`](crate::Status::Foreign), [`Status::Truncated`](crate::Status::Truncated),
    /// [`Status::NewerVersion`](crate::Status::NewerVersion) or [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn decode(bytes: &[u8]) -> Result<Header> {
        let start = bytes.len().min(MAGIC.len());
        if bytes[..start] != MAGIC[..start] {
            return Err(error!(Foreign, "the bytes do not start like a Petal image"));
        }
        let Some(bytes) = bytes.first_chunk::<LENGTH>() else {
            return Err(error!(Truncated, "{} bytes are less than the header of {LENGTH}", bytes.len()));
        };
        let version = u16::from_le_bytes([bytes[8], bytes[9]]);
        if version > FORMAT_VERSION {
            return Err(error!(NewerVersion, "format version {version} is later than {FORMAT_VERSION}"));
        }
        if get(bytes, CHECKSUM_OFFSET) != Checksum::of(&bytes[..CHECKSUM_OFFSET]) || version == 0 {
            return Err(error!(Corrupt, "the header does not match its checksum"));
        }
        let mut reader = Reader(&bytes[10..]);
        let layout_version = reader.u16();
        let kind = KindId(reader.u32());
        let hash = reader.u32();
        let hashes = reader.u32();
        let required = reader.u64() & !REQUIRED_FEATURES;
        if required != 0 {
            return Err(error!(
                NewerVersion,
                "the image needs features {required:#x}, which this version does not have"
            ));
        }
        let optional = reader.u64() & !OPTIONAL_FEATURES;
        let hash = HashFunction::from_number(hash).ok().filter(|_| hash != 0);
        let Some(hash) = hash else {
            return Err(error!(NewerVersion, "the image uses a hash function that this version does not know"));
        };
        let identifier = reader.u64();
        let capacity = reader.u64();
        let false_positive_rate = f64::from_bits(reader.u64());
        let bits = reader.u64();
        let words = core::array::from_fn(|_| reader.u64());
        let payload_bytes = reader.u64();
        let reserved = &bytes[144..CHECKSUM_OFFSET];
        // Optional features of a later version may have used these bytes.
        if optional == 0 && (reserved.iter().any(|byte| *byte != 0) || get(bytes, SEAL_OFFSET - 8) != 0) {
            return Err(error!(Corrupt, "reserved bytes of the header are not zero"));
        }
        // A rate of -0 would be a second form of 0.
        if !(0.0..=1.0).contains(&false_positive_rate) || false_positive_rate.is_sign_negative() {
            return Err(error!(Corrupt, "the header's false_positive_rate is {}", Number(false_positive_rate)));
        }
        if payload_bytes == 0 || !payload_bytes.is_multiple_of(PAYLOAD_UNIT) || image_bytes(payload_bytes).is_none() {
            return Err(error!(Corrupt, "a payload of {payload_bytes} bytes is not possible"));
        }
        let unclean = match get(bytes, STATE_OFFSET) {
            0 => false,
            UNCLEAN => true,
            state => return Err(error!(Corrupt, "the header's state is {state:#x}")),
        };
        if !unclean && get(bytes, SEAL_OFFSET) != Checksum::of(&bytes[CHECKSUM_OFFSET..SEAL_OFFSET]) {
            return Err(error!(Corrupt, "the header's second part does not match its seal"));
        }
        if !unclean && get(bytes, SHARING_OFFSET) != 0 {
            return Err(error!(Corrupt, "a clean image is shared by somebody"));
        }
        Ok(Header {
            kind,
            layout_version,
            hash,
            identifier,
            capacity,
            false_positive_rate,
            geometry: Geometry { bits, hashes, words, payload_bytes },
            count: get(bytes, COUNT_OFFSET),
            unclean,
        })
    }
}

fn put(bytes: &mut [u8; LENGTH], offset: usize, word: u64) {
    bytes[offset..offset + 8].copy_from_slice(&word.to_le_bytes());
}

fn get(bytes: &[u8; LENGTH], offset: usize) -> u64 {
    Reader(&bytes[offset..]).u64()
}

/// Puts fields one after the other into a buffer that has room for them.
struct Writer<'a>(&'a mut [u8]);

impl Writer<'_> {
    fn bytes(&mut self, bytes: &[u8]) {
        let (place, rest) = core::mem::take(&mut self.0).split_at_mut(bytes.len());
        place.copy_from_slice(bytes);
        self.0 = rest;
    }

    fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }
}

/// Takes fields one after the other out of a buffer that is known to be long enough.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (field, rest) = self.0.split_at(N);
        self.0 = rest;
        core::array::from_fn(|i| field[i])
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected id was computed from `docs/format.md` with another implementation of XXH3.
    #[test]
    fn a_compatibility_id_is_what_the_specification_says() {
        let header = Header {
            kind: KindId(1),
            layout_version: 1,
            hash: HashFunction::Xxh3,
            identifier: 0,
            capacity: 0,
            false_positive_rate: 0.0,
            geometry: Geometry::of_bits(7192, 10, [0; 8]).unwrap(),
            count: 0,
            unclean: false,
        };
        assert_eq!(u128::from_be_bytes(header.compatibility_id(&header.geometry)), COMPUTED);
    }

    const COMPUTED: u128 = 0xa3a0_e66e_07b6_833f_6241_3619_a406_5864;
}
