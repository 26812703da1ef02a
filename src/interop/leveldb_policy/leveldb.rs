//! LevelDB's own filters, "leveldb.BuiltinBloomFilter2": a Bloom filter of whole bytes, and a byte that says how many
//! bits a key has. The places come from a 32-bit hash h by double hashing, h + i rotr(h, 17) modulo the number of bits.

use crate::blocks::placed::Modulus;
use crate::hash::leveldb::leveldb;
use core::ffi::CStr;

pub const NAME: &CStr = c"leveldb.BuiltinBloomFilter2";

/// The seed of the hash of keys.
const SEED: u32 = 0xbc9f_1d34;

/// The most bits that a key has. A filter that claims more is of a form that was never made: all keys match.
const MAX_PROBES: u8 = 30;

/// How many bits a key sets if there are `bits_per_key` for each: 0.69 for ln 2.
fn probes(bits_per_key: u32) -> u8 {
    (f64::from(bits_per_key) * 0.69).clamp(1.0, MAX_PROBES.into()) as u8
}

/// The size in bytes of a filter: at least 64 bits, in whole bytes, and one byte more.
pub fn size(keys: usize, bits_per_key: u32) -> Option<usize> {
    Some(keys.checked_mul(bits_per_key as usize)?.max(64).div_ceil(8) + 1)
}

/// The places of a key, modulo 2^32.
#[inline]
fn places(key: &[u8], probes: u8) -> impl Iterator<Item = u32> {
    let mut place = leveldb(key, SEED);
    let step = place.rotate_right(17);
    (0..probes).map(move |_| {
        let this = place;
        place = place.wrapping_add(step);
        this
    })
}

/// Writes the filter of keys; `filter` has the [`size`] that they need.
pub fn create<'k>(keys: impl Iterator<Item = &'k [u8]>, bits_per_key: u32, filter: &mut [u8]) {
    filter.fill(0);
    let Some((last, array)) = filter.split_last_mut() else { return };
    let Some(bits) = Modulus::new(8 * array.len() as u64) else { return };
    let probes = probes(bits_per_key);
    *last = probes;
    for key in keys {
        for place in places(key, probes) {
            let bit = bits.reduce(place.into());
            array[(bit / 8) as usize] |= 1 << (bit % 8);
        }
    }
}

/// Whether a key may be among those of a filter. As in LevelDB, no key is in a filter of fewer than two bytes.
#[inline]
pub fn may_match(key: &[u8], filter: &[u8]) -> bool {
    let Some((probes, array)) = filter.split_last() else { return false };
    if array.is_empty() || *probes > MAX_PROBES {
        return !array.is_empty();
    }
    // Few places are looked at, so a division for each is cheaper than one that would spare them. A number of bits that
    // does not fit into 32 bits is above all places.
    let bits = u32::try_from(8 * array.len() as u64);
    places(key, *probes).all(|place| {
        let bit = bits.map_or(place, |bits| place.checked_rem(bits).unwrap_or(0));
        array[(bit / 8) as usize] >> (bit % 8) & 1 == 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_filters_match_as_in_leveldb() {
        assert!(!may_match(b"key", &[]));
        assert!(!may_match(b"key", &[6]));
        assert!(may_match(b"key", &[0, 31]));
        assert!(may_match(b"key", &[0, 0]), "no bit is asked for");
        assert!(!may_match(b"key", &[0, 1]));
    }

    #[test]
    fn sizes_that_memory_does_not_have_are_none() {
        assert_eq!(size(usize::MAX, 10), None);
        assert_eq!(size(0, 10), Some(9));
        assert_eq!(size(100, 10), Some(126));
    }
}
