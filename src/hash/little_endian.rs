//! Little-endian numbers out of the bytes of a key, for the hash functions of other systems.

/// The first four bytes as a number; 0 if there are fewer.
#[inline]
pub fn u32_of(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// The first eight bytes as a number; 0 if there are fewer.
#[inline]
pub fn u64_of(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The last four bytes as a number; 0 if there are fewer.
#[inline]
pub fn last_u32_of(bytes: &[u8]) -> u32 {
    bytes.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// The last eight bytes as a number; 0 if there are fewer.
#[inline]
pub fn last_u64_of(bytes: &[u8]) -> u64 {
    bytes.last_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Up to eight bytes as a number, as if zeros followed them; of more than eight the first eight. It makes reads that
/// overlap instead of a loop over the bytes.
#[inline]
pub fn padded_u64(bytes: &[u8]) -> u64 {
    let shift = |at: usize| 8 * at as u32;
    match bytes.len() {
        0 => 0,
        length @ 1..4 => {
            let byte = |at: usize| u64::from(bytes[at]) << shift(at);
            byte(0) | byte(length / 2) | byte(length - 1)
        }
        length @ 4..8 => u64::from(u32_of(bytes)) | u64::from(last_u32_of(bytes)) << shift(length - 4),
        _ => u64_of(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_keys_are_padded_with_zeros() {
        let bytes: [u8; 12] = core::array::from_fn(|i| 0xf1 + i as u8);
        for length in 0..=bytes.len() {
            let mut padded = [0; 8];
            let kept = length.min(8);
            padded[..kept].copy_from_slice(&bytes[..kept]);
            assert_eq!(padded_u64(&bytes[..length]), u64::from_le_bytes(padded), "{length} bytes");
        }
    }
}
