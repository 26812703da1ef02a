//! FNV-1 (Glenn Fowler, Landon Curt Noll, Kiem-Phong Vo, 1991, in the public domain), the hash of DCSO's filters.

/// FNV-1 with 64 bits: it multiplies before it takes in a byte, where FNV-1a does so afterwards. O(length of the key),
/// one byte at a time.
#[inline]
pub(crate) fn fnv1_64(key: &[u8]) -> u64 {
    key.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| hash.wrapping_mul(0x0100_0000_01b3) ^ u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hashes come from the authors' test program, `test_fnv.c`.
    #[test]
    fn it_is_the_published_function() {
        assert_eq!(fnv1_64(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1_64(b"a"), 0xaf63_bd4c_8601_b7be);
        assert_eq!(fnv1_64(b"foobar"), 0x340d_8765_a4dd_a9c2);
    }
}
