//! Just enough of `docs/format.md` to make the checksums of a mutated image right again, so that what lies behind them
//! is reached.

use xxhash_rust::xxh3::xxh3_64;

/// The length of the header.
pub const HEADER: usize = 256;
const PAYLOAD_UNIT: usize = 64;

const PAYLOAD_BYTES: usize = 136;
const CHECKSUM: usize = 208;
const STATE: usize = 216;
const PAYLOAD_CHECKSUM: usize = 232;
const SEAL: usize = 248;

/// The image with right checksums; `None` if there is no whole header.
pub fn with_checksums(image: &[u8]) -> Option<Vec<u8>> {
    let mut image = image.to_vec();
    let payload = image.get(HEADER..)?;
    let payload = &payload[..payload.len().min(get(&image, PAYLOAD_BYTES) as usize)];
    let payload_checksum = xxh3_64(payload);
    put(&mut image, PAYLOAD_CHECKSUM, payload_checksum);
    let checksum = xxh3_64(&image[..CHECKSUM]);
    put(&mut image, CHECKSUM, checksum);
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
    let payload = image.len().checked_sub(HEADER)? / PAYLOAD_UNIT * PAYLOAD_UNIT;
    let mut image = image[..HEADER + payload].to_vec();
    put(&mut image, PAYLOAD_BYTES, payload as u64);
    with_checksums(&image)
}

fn get(bytes: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(core::array::from_fn(|i| bytes[offset + i]))
}

fn put(bytes: &mut [u8], offset: usize, word: u64) {
    bytes[offset..offset + 8].copy_from_slice(&word.to_le_bytes());
}
