//! Division of a segment: what its entries become in its two parts is worked out for those of some buckets at once, and
//! then each is put into the emptier of its two new buckets, in the order of slots.

use super::lanes::Lanes;
use super::{BUCKET, Full, INVERSES, MULTIPLIERS, Search, Shape, ones};
use core::sync::atomic::AtomicU64;

/// Buckets whose entries are worked on together. Each table has a multiple of so many.
const TOGETHER: u64 = 16;

/// Entries that these may have, if each of them becomes two.
const MOST: usize = 2 * (TOGETHER * BUCKET) as usize;

/// The base-2 logarithm of how many buckets a segment may have.
const BUCKETS: u32 = 12;

/// Numbers of so many entries. All are of 32 bits: a slot has no more, and a prefix has fewer.
type Many = [u32; MOST];

/// Entries on their way from a segment to its parts.
struct Moving {
    count: usize,
    /// What is in a slot, and the number of its bucket in its table.
    values: Many,
    buckets: Many,
    /// The part that each entry goes to, its bucket there in either table, and what is in a slot there.
    parts: Many,
    nexts: [Many; 2],
    numbers: [Many; 2],
}

impl Shape {
    /// Writes the entries of a segment, which are as many as its slots at most, into two that are empty, one after the
    /// other: into the first those whose prefix has a first bit of 0.
    ///
    /// # Errors
    /// [`Full`] where there is no room for one.
    #[inline(always)]
    pub fn divide(&self, segment: &[AtomicU64], parts: &mut [u64], search: &mut Search) -> Result<(), Full> {
        let lanes = Lanes::new(self.width());
        match lanes.windows {
            1 => self.divide_by::<1>(lanes, segment, parts, search),
            2 => self.divide_by::<2>(lanes, segment, parts, search),
            _ => self.divide_by::<4>(lanes, segment, parts, search),
        }
    }

    #[inline(always)]
    fn divide_by<const N: usize>(
        &self,
        lanes: Lanes,
        segment: &[AtomicU64],
        parts: &mut [u64],
        search: &mut Search,
    ) -> Result<(), Full> {
        let none = [0; MOST];
        let mut moving =
            Moving { count: 0, values: none, buckets: none, parts: none, nexts: [none; 2], numbers: [none; 2] };
        // How many slots of each bucket of either part are taken: the first ones.
        let mut taken = [0_u8; 2 << BUCKETS];
        for first in (0..2_u64 << self.bucket_bits).step_by(TOGETHER as usize) {
            self.gather::<N>(lanes, segment, first, &mut moving);
            match first >> self.bucket_bits {
                0 => self.work_out(&mut moving, |prefix| prefix),
                _ => self.work_out(&mut moving, |x| self.restored_narrow(x)),
            }
            self.put_all::<N>(lanes, &moving, &mut taken, parts, search)?;
        }
        let size = parts.len() / 2;
        for (part, taken) in parts.chunks_exact_mut(size).zip(taken.chunks_exact(1 << BUCKETS)) {
            part[0] = taken.iter().map(|taken| u64::from(*taken)).sum();
        }
        Ok(())
    }

    /// Collects the entries of some buckets. One whose tail has no bits left becomes two that have the next one.
    #[inline(always)]
    fn gather<const N: usize>(&self, lanes: Lanes, segment: &[AtomicU64], first: u64, moving: &mut Moving) {
        let mut count = 0;
        for bucket in first..first + TOGETHER {
            let windows = lanes.read::<N>(segment, self.first_bit(0, bucket));
            for slot in 0..BUCKET as usize {
                let value = lanes.slot(&windows, slot) as u32;
                let (low, tail) = (value & ones(self.fingerprint_bits) as u32, value >> self.fingerprint_bits);
                (moving.values[count % MOST], moving.buckets[count % MOST]) = (value, bucket as u32);
                // Of a payload that nobody verified a slot may hold anything.
                count += usize::from(tail != 0);
                if tail == 1 {
                    moving.values[(count - 1) % MOST] = low | 2 << self.fingerprint_bits;
                    moving.values[count % MOST] = low | 3 << self.fingerprint_bits;
                    moving.buckets[count % MOST] = bucket as u32;
                    count += 1;
                }
            }
        }
        moving.count = count.min(MOST);
    }

    /// Works out where entries of one table go: `prefix` makes a prefix of what stands there for it.
    #[inline(always)]
    fn work_out(&self, moving: &mut Moving, prefix: impl Fn(u32) -> u32) {
        let Shape { bucket_bits, fingerprint_bits, .. } = *self;
        let (lows, fingerprints) = (ones(bucket_bits) as u32, ones(fingerprint_bits) as u32);
        let last = self.prefix_bits() - 1;
        let Moving { values, buckets, parts, nexts: [first, second], numbers: [one, two], .. } = moving;
        for i in 0..MOST {
            let value = values[i];
            let prefix = prefix((value & fingerprints) << bucket_bits | buckets[i] & lows);
            let tail = value >> fingerprint_bits;
            let known = tail >> 1 << fingerprint_bits;
            let next = prefix >> 1 | (tail & 1) << last;
            let permuted = self.permuted_narrow(next);
            parts[i] = prefix & 1;
            (first[i], one[i]) = (next & lows, next >> bucket_bits | known);
            (second[i], two[i]) = ((permuted & lows) + lows + 1, permuted >> bucket_bits | known);
        }
    }

    /// Puts entries into their parts.
    #[inline(always)]
    fn put_all<const N: usize>(
        &self,
        lanes: Lanes,
        moving: &Moving,
        taken: &mut [u8; 2 << BUCKETS],
        parts: &mut [u64],
        search: &mut Search,
    ) -> Result<(), Full> {
        let size = parts.len() / 2;
        for i in 0..moving.count {
            let part = moving.parts[i] as usize & 1;
            let place = |bucket: u32| part << BUCKETS | bucket as usize & ((1 << BUCKETS) - 1);
            let buckets = [moving.nexts[0][i], moving.nexts[1][i]];
            let numbers = [moving.numbers[0][i], moving.numbers[1][i]];
            let [more, less] = buckets.map(|bucket| taken[place(bucket)]);
            let which = usize::from(less < more);
            let least = more.min(less);
            if u64::from(least) < BUCKET {
                taken[place(buckets[which])] = least + 1;
                let bit = self.first_bit(part * size, buckets[which].into());
                lanes.put::<N>(parts, bit, least.into(), numbers[which].into());
                continue;
            }
            let values = [0, 1].map(|i| (u64::from(buckets[i]), u64::from(numbers[i])));
            let filled = self.put_moving(&mut parts[part * size..(part + 1) * size], values, search)?;
            // What is moved fills the first empty slot too.
            taken[place((filled / BUCKET) as u32)] += 1;
        }
        Ok(())
    }

    /// [`Shape::permuted`] of prefixes of at most 32 bits.
    #[inline(always)]
    fn permuted_narrow(&self, prefix: u32) -> u32 {
        let (bits, mut x) = (self.prefix_bits(), prefix);
        for multiplier in MULTIPLIERS {
            x = x.wrapping_mul(multiplier as u32) & ones(bits) as u32;
            x ^= x >> bits.div_ceil(2);
        }
        x
    }

    /// [`Shape::restored`] of prefixes of at most 32 bits.
    #[inline(always)]
    fn restored_narrow(&self, permuted: u32) -> u32 {
        let (bits, mut x) = (self.prefix_bits(), permuted);
        for inverse in INVERSES.into_iter().rev() {
            x ^= x >> bits.div_ceil(2);
            x = x.wrapping_mul(inverse as u32) & ones(bits) as u32;
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Entry, kernel};
    use super::*;
    use crate::bits::mix;
    use crate::simd;

    /// What division makes of a segment, entry by entry.
    fn one_by_one(shape: Shape, segment: &[AtomicU64], parts: &mut [u64], search: &mut Search) -> Result<(), Full> {
        let size = parts.len() / 2;
        for Entry { prefix, tail } in shape.entries(segment, 0) {
            let part = (prefix & 1) as usize;
            let both = [(0, 1), (1, 1)];
            let nexts = if tail == 1 { &both[..] } else { &[(tail & 1, tail >> 1)] };
            for (bit, tail) in nexts {
                let entry = Entry { prefix: prefix >> 1 | bit << (shape.prefix_bits() - 1), tail: *tail };
                if !shape.insert(&mut parts[part * size..(part + 1) * size], entry, search) {
                    return Err(Full);
                }
            }
        }
        Ok(())
    }

    /// With each instruction set the same parts, to the bit, as entry by entry: of segments that are half full, or as full
    /// as can be, whose entries know any number of bits, and of numbers that nobody inserted.
    #[test]
    fn parts_are_those_of_entries_one_by_one() {
        let (mut search, mut refused) = (Search::new().unwrap(), 0);
        for i in 0..200_u64 {
            let shape = Shape {
                bucket_bits: 5 + (i % 7) as u32,
                fingerprint_bits: 6 + (mix(i) % 3) as u32,
                tail_bits: 4 + (mix(i + 100) % 20) as u32,
            };
            let size = shape.words() as usize;
            let mut segment = vec![0_u64; size];
            let most = shape.slots().count * (8 + i % 9) / 16;
            for j in 0..most {
                let hash = mix(i << 32 | j);
                let known = shape.prefix_bits() + if i % 5 == 0 { 0 } else { (mix(hash) % 30) as u32 };
                if !shape.insert(&mut segment, shape.entry(hash, known), &mut search) {
                    break;
                }
            }
            if i % 11 == 0 {
                let end = shape.slots().count * u64::from(shape.width()) / 64;
                segment[1..=end as usize].iter_mut().zip(0..).for_each(|(word, j)| *word = mix(i << 40 | j));
            }
            let segment: Vec<AtomicU64> = segment.into_iter().map(AtomicU64::new).collect();
            let mut expected = vec![0; 2 * size];
            let outcome = one_by_one(shape, &segment, &mut expected, &mut search);
            refused += u32::from(outcome.is_err());
            for instructions in simd::available() {
                let mut parts = vec![0; 2 * size];
                let made = (kernel(instructions).divide)(&shape, &segment, &mut parts, &mut search);
                assert_eq!(made, outcome, "{shape:?}");
                assert!(made.is_err() || parts == expected, "{shape:?}, {instructions:?}");
            }
        }
        assert!(refused > 0 && refused < 100, "{refused}");
    }
}
