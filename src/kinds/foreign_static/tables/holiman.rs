//! Filters of the Go package holiman/bloomfilter/v2, classic Bloom filters that geth and Erigon use. Each has keys of
//! its own, one for each of its k places: a place comes from the hash before, turned by 17 bits, exclusive or the next
//! key.
//!
//! The table is the k keys, and then the bits. Word 1 of the geometry is k, and word 2 the number m of bits.

use super::{Form, FormRow};
use crate::bits::{count_ones_in, prefetch};
use crate::format::Geometry;
use crate::sizing::bloom;
use core::sync::atomic::{AtomicU64, Ordering};

/// The form.
pub const ROW: FormRow = FormRow {
    name: "holiman",
    open: |geometry| {
        let boxed: Box<dyn Form> = crate::storage::try_box(Holiman::of(geometry)?).ok()?;
        Some(boxed)
    },
};

/// By how many bits a hash is turned from place to place.
const ROTATION: u32 = 17;

/// The greatest k. The package chooses (m / n) ln 2 and has no bound, but the time of a lookup is proportional to k.
pub const MAX_HASHES: u64 = u16::MAX as u64;

/// The least number of bits.
pub const MIN_BITS: u64 = 2;

struct Holiman {
    hashes: u32,
    bits: u64,
}

impl Holiman {
    fn of(geometry: &Geometry) -> Option<Holiman> {
        let [_, hashes, bits, 0, 0, 0, 0, 0] = geometry.words else { return None };
        let is_known = (1..=MAX_HASHES).contains(&hashes)
            && bits >= MIN_BITS
            && bits.div_ceil(64).checked_add(hashes)?.checked_mul(64)? == geometry.bits;
        is_known.then_some(Holiman { hashes: hashes as u32, bits })
    }

    /// The words of the filter's keys, and those of its bits.
    fn split<'a>(&self, words: &'a [AtomicU64]) -> (&'a [AtomicU64], &'a [AtomicU64]) {
        let (keys, bits) = words.split_at(self.hashes as usize);
        (keys, &bits[..self.bits.div_ceil(64) as usize])
    }
}

/// The hash for the next place.
fn next(hash: u64, key: &AtomicU64) -> u64 {
    hash.rotate_left(ROTATION) ^ key.load(Ordering::Relaxed)
}

impl Form for Holiman {
    fn contains(&self, words: &[AtomicU64], mut hash: u64) -> bool {
        let (keys, bits) = self.split(words);
        keys.iter().all(|key| {
            hash = next(hash, key);
            let place = hash % self.bits;
            bits[(place / 64) as usize].load(Ordering::Relaxed) >> (place % 64) & 1 == 1
        })
    }

    /// Most absent keys are known by their first places.
    fn fetch(&self, words: &[AtomicU64], mut hash: u64) {
        let (keys, bits) = self.split(words);
        for key in keys.iter().take(3) {
            hash = next(hash, key);
            prefetch(&bits[(hash % self.bits / 64) as usize]);
        }
    }

    fn expected_rate(&self, keys: u64) -> f64 {
        bloom::exact(self.bits, self.hashes, keys)
    }

    fn rate(&self, words: &[AtomicU64], _keys: u64) -> f64 {
        bloom::from_fill(self.bits, self.hashes, count_ones_in(self.split(words).1, 0, self.bits))
    }

    fn cells(&self) -> u64 {
        self.bits
    }
}
