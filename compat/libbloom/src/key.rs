use libc::{c_int, c_void};
use petal::hash::murmur2_32;

/// The seed of a key's first hash. The second is seeded with the first.
const SEED: u32 = 0x9747_b28c;

/// A key as C hands it over.
#[derive(Clone, Copy)]
pub struct Key<'a> {
    bytes: &'a [u8],
    /// What is wrong with the length, to be mixed into seeds.
    excess: u32,
}

impl Key<'_> {
    /// The key of `length` bytes at `buffer`. Of a negative length libbloom reads no byte but hashes the length; a
    /// NULL buffer is taken in the same way here, where libbloom would crash.
    ///
    /// # Safety
    /// `length` bytes are readable at `buffer`, and nobody writes to them while the key is in use; or it is NULL, or
    /// `length` is negative.
    #[inline]
    pub unsafe fn new<'a>(buffer: *const c_void, length: c_int) -> Key<'a> {
        match usize::try_from(length) {
            Ok(size) if !buffer.is_null() => {
                // SAFETY: the caller promises that `length` bytes are readable at `buffer`, and nobody writes to them
                // while the key is in use; or it is NULL, or `length` is negative; it is not NULL.
                Key { bytes: unsafe { core::slice::from_raw_parts(buffer.cast(), size) }, excess: 0 }
            }
            _ => Key { bytes: &[], excess: length as u32 },
        }
    }

    /// MurmurHash2 with this seed. The function begins with the seed and the length, one XOR the other.
    #[inline]
    pub fn murmurhash2(self, seed: u32) -> u32 {
        murmur2_32(self.bytes, seed ^ self.excess)
    }

    /// The two hashes that all positions come from.
    #[inline]
    pub fn hashes(self) -> (u32, u32) {
        let first = self.murmurhash2(SEED);
        (first, self.murmurhash2(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_that_are_none_are_hashed_without_a_byte() {
        // SAFETY: no byte is read of a negative length or at NULL.
        let (negative, nothing) = unsafe { (Key::new(b"key".as_ptr().cast(), -5), Key::new(core::ptr::null(), -5)) };
        assert_eq!(negative.hashes(), nothing.hashes());
        assert_eq!(nothing.hashes().0, murmur2_32(&[], SEED ^ 0xffff_fffb));
        // SAFETY: as above.
        let empty = unsafe { Key::new(core::ptr::null(), 0) };
        assert_eq!(empty.hashes().0, murmur2_32(b"", SEED));
    }
}
