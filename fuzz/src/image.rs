//! Just enough of `docs/format.md` to make the checksums of a mutated image right again, so that what lies behind them
//! is reached.

use xxhash_rust::xxh3::xxh3_64;

/// The length of the header.
pub const HEADER: usize = 256;
const PAYLOAD_UNIT: usize = 64;
/// Compact forms of more bytes of payload have a digest of 64 bits.
const DIGESTED: usize = 4096;

const PAYLOAD_BYTES: usize = 136;
const CHECKSUM: usize = 208;
const STATE: usize = 216;
const REGION: usize = 65536;
const SEAL: usize = 248;

/// The image with right checksums; `None` if there is no whole header.
pub fn with_checksums(image: &[u8]) -> Option<Vec<u8>> {
    let mut image = image.to_vec();
    let length = usize::try_from(image.get(HEADER..).map(|_| get(&image, PAYLOAD_BYTES))?).unwrap_or(usize::MAX);
    let checksum = xxh3_64(&image[..CHECKSUM]);
    put(&mut image, CHECKSUM, checksum);
    if let Some(payload) = image[HEADER..].get(..length) {
        let mut table: Vec<u8> =
            payload.chunks(REGION).flat_map(|region| xxh3_64(region).max(1).to_le_bytes()).collect();
        table.resize((table.len() + 8).next_multiple_of(PAYLOAD_UNIT) - 8, 0);
        let own = xxh3_64(&[&checksum.to_le_bytes(), &table[..]].concat());
        table.extend(own.to_le_bytes());
        if let Some(place) = image[HEADER + length..].get_mut(..table.len()) {
            place.copy_from_slice(&table);
        }
    }
    // The seal is that of the clean image.
    let state = get(&image, STATE);
    put(&mut image, STATE, 0);
    let seal = xxh3_64(&image[CHECKSUM..SEAL]);
    put(&mut image, STATE, state);
    put(&mut image, SEAL, seal);
    Some(image)
}

/// The image with the payload length that its bytes allow, and right checksums.
pub fn with_length(image: &[u8]) -> Option<Vec<u8>> {
    let rest = image.len().checked_sub(HEADER)? / PAYLOAD_UNIT * PAYLOAD_UNIT;
    let payload = rest.checked_sub((8 * rest.div_ceil(REGION) + 8).next_multiple_of(PAYLOAD_UNIT))?;
    let mut image = image[..HEADER + rest].to_vec();
    put(&mut image, PAYLOAD_BYTES, payload as u64);
    with_checksums(&image)
}

/// The bytes as a compact form, of the greatest length that they allow, with the right checksum.
pub fn as_compact(bytes: &[u8]) -> Option<Vec<u8>> {
    let longest = |trailer: usize| {
        let payload = bytes.len().checked_sub(trailer)? / PAYLOAD_UNIT * PAYLOAD_UNIT;
        // Large forms have a digest of eight bytes more.
        let more = if payload > DIGESTED && payload + trailer + 8 > bytes.len() { PAYLOAD_UNIT } else { 0 };
        let payload = payload - more;
        payload.checked_add(if payload > DIGESTED { trailer + 8 } else { trailer })
    };
    let length = longest(8).max(longest(16)).filter(|length| *length > PAYLOAD_UNIT)?;
    let payload = length / PAYLOAD_UNIT * PAYLOAD_UNIT;
    let is_large = payload > DIGESTED;
    let mut form = bytes[..length].to_vec();
    let shape = if length - payload == if is_large { 24 } else { 16 } { get(&form, payload) } else { 0 };
    if is_large {
        let digest = xxh3_64(&form[..length - 16]);
        put(&mut form, length - 16, digest);
    }
    let head = get(&form, length - 8) & 0xffff_ffff;
    let residue = (u128::from(length as u64) << 96 | u128::from(shape) << 32 | u128::from(head)) % 4093;
    let covered = &form[if is_large { payload } else { 0 }..length - 4];
    let checksum = (residue as u32) << 20 | xxh3_64(covered) as u32 & 0xf_ffff;
    form[length - 4..].copy_from_slice(&checksum.to_le_bytes());
    Some(form)
}

fn get(bytes: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(core::array::from_fn(|i| bytes[offset + i]))
}

fn put(bytes: &mut [u8], offset: usize, word: u64) {
    bytes[offset..offset + 8].copy_from_slice(&word.to_le_bytes());
}
