//! Many keys, sound or not, from the fuzzer's bytes.

use arbitrary::{Arbitrary, Result, Unstructured};
use petal::Keys;

/// Keys in one of the three forms.
pub enum Batch {
    /// Byte strings.
    Bytes {
        /// All of them.
        bytes: Vec<u8>,
        /// Where they begin and end.
        offsets: Vec<u64>,
    },
    /// Numbers.
    U64(Vec<u64>),
    /// Hashes.
    Hashes(Vec<u64>),
}

impl<'a> Arbitrary<'a> for Batch {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Batch> {
        // Up to more than one chunk.
        let count = *input.choose(&[0, 1, 2, 7, 8, 9, 60, 511, 512, 513])?;
        let start = u64::from(u8::arbitrary(input)?);
        let numbers = (start..start + count).map(|i| i % 300);
        Ok(match input.int_in_range(0..=3)? {
            0 => Batch::Hashes(numbers.map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()),
            1 => Batch::U64(numbers.collect()),
            form => {
                let bytes: Vec<u8> = numbers.flat_map(|i| i.to_be_bytes()).collect();
                let mut offsets: Vec<u64> = (0..=count).map(|i| 8 * i).collect();
                // Wrong offsets, or empty keys.
                if form == 3 {
                    let at = input.choose_index(offsets.len())?;
                    offsets[at] = *input.choose(&[0, 3, bytes.len() as u64, bytes.len() as u64 + 1, u64::MAX])?;
                }
                Batch::Bytes { bytes, offsets }
            }
        })
    }
}

impl Batch {
    /// As the library takes them.
    pub fn keys(&self) -> Keys<'_> {
        match self {
            Batch::Bytes { bytes, offsets } => Keys::Bytes { bytes, offsets },
            Batch::U64(keys) => Keys::U64(keys),
            Batch::Hashes(hashes) => Keys::Hashes(hashes),
        }
    }

    /// Whether their offsets, if they have any, are right.
    pub fn sound(&self) -> bool {
        let Batch::Bytes { bytes, offsets } = self else { return true };
        offsets.is_sorted() && offsets.last().is_none_or(|last| *last <= bytes.len() as u64)
    }

    /// The hashes of a sound batch, if the keys can be hashed. No key at all needs no hasher, but the call is refused.
    pub fn hashes(&self, hasher: &petal::Hasher) -> Option<Vec<u64>> {
        if !self.sound() || (!hasher.can_hash() && !matches!(self, Batch::Hashes(_))) {
            return None;
        }
        match self {
            Batch::Hashes(hashes) => Some(hashes.clone()),
            Batch::U64(keys) => keys.iter().map(|key| hasher.hash_u64(*key).ok()).collect(),
            Batch::Bytes { bytes, offsets } => offsets
                .windows(2)
                .map(|pair| hasher.hash_bytes(&bytes[pair[0] as usize..pair[1] as usize]).ok())
                .collect(),
        }
    }
}
