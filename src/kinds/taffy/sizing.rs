//! Taffy filters: the length of entries, how many there are, and the false-positive rate.
//!
//! A random hash finds an entry that knows K bits with probability 2^-K. No entry is inserted for a hash that is found,
//! so different entries are found by different hashes, and the rate is exactly the sum of all 2^-K.
//!
//! There are two tables of `2^k` buckets, and the filter becomes twice as large when a share `L` of the tables' slots
//! is taken. After i growths a prefix takes `k + i + f` bits of a hash, and an entry that is inserted then knows `T`
//! more: `K_i = k + i + f + T`. Hashes have 64 bits, so growth ends at some i. With `c = L 2^(k+3)` the first c keys
//! add `c 2^-K_0` to the rate. The keys of growth i, half of the keys that are there after it, add `c 2^(i-1) 2^-K_i =
//! c 2^-K_0 / 2`. So after X growths the rate is `c 2^-K_0 (1 + X/2)`: the rate rises, but only with the logarithm of
//! the number of keys. A filter that is to grow X times needs `lg(1 + X/2)` more bits a key than one that is not. No
//! filter can do without that if it does not know how many keys there will be (Pagh, Segev and Wieder, "How to
//! Approximate A Set Without Knowing Its Size In Advance", 2013).
//!
//! Once an entry has no bits left for a longer prefix, it becomes two in each growth. The entries of growth i begin to
//! do so T growths later, when they are a `2^-(T+1)`-th part of all entries, and they remain that part. The copies cost
//! space, but add nothing to the rate.

/// Bits of fingerprint and tail together.
pub const BITS: (u32, u32) = (10, 31);

/// The bounds of how many times a filter may double. A caller who needs fewer doublings knows how many keys there will
/// be.
pub const DOUBLINGS: (u32, u32) = (8, 44);

/// The base-2 logarithm of the number of buckets that a table of a segment has, at first and at most.
pub const BUCKET_BITS: (u32, u32) = (5, 11);

/// The greatest base-2 logarithm of the buckets of a table, over all segments, when a filter is made.
pub const MOST_BUCKET_BITS: u32 = 44;

/// How many of `slots` slots are taken before a segment grows: 15 of 16.
pub fn limit(slots: u64) -> u64 {
    slots / 16 * 15
}

/// The bits of a fingerprint, if fingerprint and tail have `bits` bits. A prefix has to tell most keys of a segment
/// apart, because keys with equal prefixes have the same two buckets; there are 7.5 keys for each 2^f. With 6 bits 0.96
/// of the slots are taken before an entry finds no room, with 5 or 4 bits hardly more than [`limit`]. The other bits go
/// to the tail, which puts off the growths in which entries become two.
pub fn fingerprint_bits(bits: u32) -> u32 {
    bits.saturating_sub(8).clamp(6, 8)
}

/// The parameters of a filter that grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growing {
    /// The base-2 logarithm of the number of buckets that a table had at first, over all segments.
    pub bucket_bits: u32,
    /// Bits of fingerprint and tail.
    pub bits: u32,
    /// How many times the filter becomes twice as large at most.
    pub doublings: u32,
}

/// A filter between two growths.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// How many keys were stored before this stage.
    stored: f64,
    /// How many keys were inserted before this stage, those included that seemed to be there already.
    seen: f64,
    /// The rate before this stage.
    rate: f64,
    /// How many keys are stored in this stage.
    room: f64,
    /// What each of these keys adds to the rate.
    weight: f64,
}

impl Stage {
    /// The rate when `stored` keys are stored in this stage.
    fn rate_with(&self, stored: f64) -> f64 {
        self.rate + stored * self.weight
    }

    /// How many of `insertions` new keys are stored: those that do not seem to be there already, at the rate half way.
    fn stored_of(&self, insertions: f64) -> f64 {
        let stored = insertions * (1.0 - self.rate);
        insertions * (1.0 - self.rate_with(stored / 2.0)).max(0.0)
    }

    /// How many new keys have to be offered until `stored` of them are stored.
    fn seen_with(&self, stored: f64) -> f64 {
        stored / (1.0 - self.rate_with(stored / 2.0)).max(f64::MIN_POSITIVE)
    }
}

impl Growing {
    /// Bits of a tail.
    pub fn tail_bits(&self) -> u32 {
        self.bits - fingerprint_bits(self.bits)
    }

    /// How many growths there can be, as no entry knows more bits than a hash has. `None` if even the first entries
    /// would know more.
    pub fn most_doublings(&self) -> Option<u32> {
        Some(self.doublings.min(64_u32.checked_sub(self.bucket_bits + self.bits)?))
    }

    /// The known bits of an entry that is inserted after `growths` growths.
    fn known(&self, growths: u32) -> u32 {
        self.bucket_bits + growths + self.bits
    }

    /// How many slots are taken when the filter grows after `growths` growths.
    fn limit(&self, growths: u32) -> f64 {
        7.5 * f64::from(self.bucket_bits + growths).exp2()
    }

    /// All stages up to the last one that there can be, one after the other.
    fn stages(&self) -> impl Iterator<Item = Stage> {
        let growing = *self;
        let (mut before, mut stored) = (Stage { stored: 0.0, seen: 0.0, rate: 0.0, room: 0.0, weight: 0.0 }, [0.0; 65]);
        (0..=self.most_doublings().unwrap_or(0)).map(move |i| {
            let prefix = growing.bucket_bits + i + fingerprint_bits(growing.bits);
            // An entry of an earlier stage has a copy for each value of the bits that it lacks.
            let copies = |j: usize| f64::from(prefix.saturating_sub(growing.known(j as u32))).exp2();
            let taken: f64 = stored[..i as usize].iter().enumerate().map(|(j, keys)| keys * copies(j)).sum();
            let room = (growing.limit(i) - taken).max(0.0);
            let stage = Stage {
                stored: before.stored + before.room,
                seen: before.seen + before.seen_with(before.room),
                rate: before.rate_with(before.room),
                room,
                weight: (-f64::from(growing.known(i))).exp2(),
            };
            stored[i as usize] = room;
            before = stage;
            stage
        })
    }

    /// The false-positive rate with `keys` distinct keys, or with as many as the filter takes if that is fewer.
    pub fn false_positive_rate(&self, keys: u64) -> f64 {
        let (keys, mut rate) = (keys as f64, 0.0);
        for stage in self.stages() {
            let more = (keys - stage.seen).max(0.0);
            if more < stage.seen_with(stage.room) {
                return stage.rate_with(stage.stored_of(more)).min(1.0);
            }
            rate = stage.rate_with(stage.room);
        }
        rate.min(1.0)
    }

    /// How many distinct keys were inserted, if `stored` of them were stored.
    pub fn seen(&self, stored: f64) -> f64 {
        let mut seen = stored;
        for stage in self.stages() {
            let more = (stored - stage.stored).max(0.0);
            seen = stage.seen + stage.seen_with(more.min(stage.room));
            if more <= stage.room {
                break;
            }
        }
        seen
    }
}

/// The base-2 logarithm of the number of buckets of a table with which a filter takes `keys` keys. `None` for more keys
/// than a filter can be made for.
pub fn bucket_bits_for(keys: u64) -> Option<u32> {
    let mut all = BUCKET_BITS.0..=MOST_BUCKET_BITS;
    all.find(|bits| limit(8 << bits) >= keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the sum at the top of this file, which holds while no entry is there twice and few keys are
    /// mistaken.
    #[test]
    fn the_rate_rises_with_the_number_of_growths() {
        for (bucket_bits, bits) in [(5, 24), (11, 20), (20, 17)] {
            let growing = Growing { bucket_bits, bits, doublings: 6 };
            let first = 7.5 * (-f64::from(bits)).exp2();
            for growths in 0..=6 {
                let keys = 7.5 * f64::from(bucket_bits + growths).exp2();
                let expected = first * (1.0 + f64::from(growths) / 2.0);
                let rate = growing.false_positive_rate(keys as u64);
                assert!((rate / expected - 1.0).abs() < 1e-2, "{growing:?} after {growths}: {rate}, {expected}");
            }
        }
    }

    #[test]
    fn tables_have_room() {
        assert_eq!(bucket_bits_for(1), Some(5));
        assert_eq!((bucket_bits_for(240), bucket_bits_for(241)), (Some(5), Some(6)));
        assert_eq!(bucket_bits_for(u64::MAX), None);
    }

    #[test]
    fn seen_keys_are_those_stored_and_those_mistaken() {
        let growing = Growing { bucket_bits: 5, bits: 12, doublings: 20 };
        assert_eq!(growing.seen(0.0), 0.0);
        for stored in [10.0, 240.0, 241.0, 1e4, 1e6] {
            let seen = growing.seen(stored);
            let rate = growing.false_positive_rate(seen as u64);
            assert!(seen >= stored && seen <= stored / (1.0 - rate), "{stored}: {seen}");
        }
    }
}
