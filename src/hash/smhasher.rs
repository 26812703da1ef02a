//! How SMHasher, the test programs of MurmurHash's author, verifies a hash function, for tests.

/// SMHasher's verification value of a hash function with a 32-bit seed, whose hashes are given as the bytes that a C
/// program would store. The keys are `[]`, `[0]`, `[0, 1]`, up to 255 bytes, and the seed of each is 256 less its
/// length. The value is the hash of all those hashes in a row.
pub fn verification<const N: usize>(hash: impl Fn(&[u8], u32) -> [u8; N]) -> u32 {
    let bytes: [u8; 256] = core::array::from_fn(|i| i as u8);
    let hashes: Vec<u8> = (0..256).flat_map(|length| hash(&bytes[..length], 256 - length as u32)).collect();
    u32::from_le_bytes(*hash(&hashes, 0).first_chunk().expect("a hash has at least four bytes"))
}
