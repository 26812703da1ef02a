//! How the keys of a sketch lie in words.

use crate::hash::Hasher;
use crate::simd::Instructions;

/// The most bytes of a whole key.
pub const MAX_KEY_BYTES: usize = 64;

/// The words of a key of any shape.
pub type KeyWords = [u64; MAX_KEY_BYTES / 8];

/// How the keys of a sketch lie: as 64-bit numbers, or whole. The bytes of a whole key fill words, little-endian, and
/// zeros fill up the last word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyShape {
    bytes: usize,
    is_whole: bool,
}

impl KeyShape {
    /// The shape of 64-bit numbers.
    pub const NUMBERS: KeyShape = KeyShape { bytes: 8, is_whole: false };

    /// The shape of whole keys of `bytes` bytes, 8 to [`MAX_KEY_BYTES`].
    pub fn whole(bytes: u64) -> Option<KeyShape> {
        (8..=MAX_KEY_BYTES as u64).contains(&bytes).then_some(KeyShape { bytes: bytes as usize, is_whole: true })
    }

    /// Whether keys are whole.
    pub fn is_whole(self) -> bool {
        self.is_whole
    }

    /// How many bytes a key has; a number has 8.
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// How many words a key has.
    pub fn words(self) -> usize {
        self.bytes.div_ceil(8)
    }

    /// Writes the words of a key, which has as many bytes as this shape.
    pub fn read(key: &[u8], words: &mut [u64]) {
        for (word, bytes) in words.iter_mut().zip(key.chunks(8)) {
            let mut padded = [0; 8];
            padded[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(padded);
        }
    }

    /// The bytes of a key's words, including those that fill up the last word.
    pub fn padded(key: &[u64]) -> [u8; MAX_KEY_BYTES] {
        let mut bytes = [0; MAX_KEY_BYTES];
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(key) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// The hash of a key; `None` if the hasher cannot hash, or if a byte after the key's last one is not zero.
    #[inline]
    pub fn hash(self, key: &[u64], hasher: &Hasher) -> Option<u64> {
        if let [number] = key {
            return hasher.hash_u64_at_once(*number);
        }
        let bytes = KeyShape::padded(key);
        let (key, rest) = bytes.split_at(self.bytes);
        rest.iter().all(|byte| *byte == 0).then(|| hasher.hash_bytes_at_once(key))?
    }

    /// The hashes of many keys, given as words. A hash is 0 where [`KeyShape::hash`] has none.
    pub fn hash_all(self, keys: &[u64], hasher: &Hasher, instructions: Instructions, hashes: &mut [u64]) {
        if self.words() == 1 {
            return hasher.hash_u64s(instructions, keys, hashes);
        }
        for (key, hash) in keys.chunks_exact(self.words()).zip(hashes) {
            *hash = self.hash(key, hasher).unwrap_or(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::HashFunction;

    /// A key comes back from its words, and words with bits after the key's last byte have no hash.
    #[test]
    fn keys_lie_in_words() {
        assert!([0, 7, 65].into_iter().all(|bytes| KeyShape::whole(bytes).is_none()));
        let hasher = Hasher::new(HashFunction::Xxh3, 5, None).unwrap();
        for bytes in 8..=MAX_KEY_BYTES {
            let shape = KeyShape::whole(bytes as u64).unwrap();
            let key: Vec<u8> = (1..=bytes as u8).collect();
            let mut words = vec![0; shape.words()];
            KeyShape::read(&key, &mut words);
            assert_eq!(KeyShape::padded(&words)[..bytes], key);
            assert_eq!(shape.hash(&words, &hasher), hasher.hash_key(&key).ok());
            *words.last_mut().unwrap() |= 1 << 63;
            assert_eq!(shape.hash(&words, &hasher).is_some(), bytes.is_multiple_of(8), "{bytes}");
        }
    }
}
