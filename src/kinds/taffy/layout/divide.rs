//! Division of a segment. The first bit of an entry's tail says which of the two parts the entry goes to, and the entry
//! has the same slot there. An entry without tail bits goes to both parts. So whatever fits into a segment fits into
//! its parts.

use super::{Shape, ones};
use core::sync::atomic::{AtomicU64, Ordering};

/// Slots that are written one after the other.
struct Writer<'a> {
    words: &'a mut [u64],
    /// Bits that are not yet in a word, and how many there are.
    pending: u128,
    bits: u32,
    at: usize,
    /// How many slots of the segment are taken.
    taken: u64,
}

impl Writer<'_> {
    /// A writer that begins at the segment's first slot, after the word that counts taken slots.
    fn new(words: &mut [u64]) -> Writer<'_> {
        Writer { words, pending: 0, bits: 0, at: 1, taken: 0 }
    }

    #[inline(always)]
    fn write(&mut self, value: u64, width: u32) {
        self.pending |= u128::from(value) << self.bits;
        self.bits += width;
        self.taken += u64::from(value != 0);
        if self.bits >= 64 {
            self.flush();
        }
    }

    #[inline(always)]
    fn flush(&mut self) {
        if let Some(word) = self.words.get_mut(self.at) {
            *word = self.pending as u64;
        }
        (self.pending, self.bits, self.at) = (self.pending >> 64, self.bits.saturating_sub(64), self.at + 1);
    }

    /// Writes the pending bits, and how many slots are taken.
    fn end(mut self) {
        if self.bits > 0 {
            self.flush();
        }
        if let Some(first) = self.words.first_mut() {
            *first = self.taken;
        }
    }
}

impl Shape {
    /// Writes the entries of a segment into two empty parts, one part after the other. The first part gets the entries
    /// whose tail begins with 0 or has no bits.
    #[inline(always)]
    pub fn divide(&self, segment: &[AtomicU64], parts: &mut [u64]) {
        let (slots, fingerprint_bits) = (self.slots(), self.fingerprint_bits);
        let (low, high) = parts.split_at_mut(parts.len() / 2);
        let mut parts = [low, high].map(Writer::new);
        let mut words = segment[1..].iter().map(|word| word.load(Ordering::Relaxed));
        let (mut pending, mut bits) = (0_u128, 0);
        for _ in 0..slots.count {
            if bits < slots.width {
                pending |= u128::from(words.next().unwrap_or(0)) << bits;
                bits += 64;
            }
            let value = pending as u64 & slots.greatest();
            (pending, bits) = (pending >> slots.width, bits - slots.width);
            let (fingerprint, tail) = (value & ones(fingerprint_bits), value >> fingerprint_bits);
            let rest = if tail == 1 { value } else { fingerprint | tail >> 1 << fingerprint_bits };
            for (bit, part) in (0..).zip(&mut parts) {
                // In a payload that nobody verified a slot may hold anything.
                let is_of = tail == 1 || tail != 0 && tail & 1 == bit;
                part.write(if is_of { rest } else { 0 }, slots.width);
            }
        }
        parts.into_iter().for_each(Writer::end);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BUCKET, Entry, Search, kernel};
    use super::*;
    use crate::bits::mix;
    use crate::simd;

    /// Each slot of a segment, by its number.
    fn slots(shape: Shape, segment: &[u64]) -> Vec<u64> {
        (0..shape.slots().count).map(|slot| shape.value(&segment[1..], slot)).collect()
    }

    /// Each instruction set puts each entry into its slot of its part, or of both parts, with one known bit less. The
    /// segments are half full or as full as can be, with entries that know any number of bits, and with numbers that
    /// nobody inserted.
    #[test]
    fn each_entry_is_in_its_slot_of_its_part() {
        let (mut search, mut both) = (Search::new().unwrap(), 0);
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
            let mut expected = [vec![0; size], vec![0; size]];
            for slot in 0..shape.slots().count {
                let Entry { prefix, tail } = shape.entry_at(slot, shape.value(&segment[1..], slot));
                let nexts = match tail {
                    0 => &[][..],
                    1 => &[(0, 1), (1, 1)],
                    _ => &[(tail as usize & 1, tail >> 1)],
                };
                both += usize::from(tail == 1);
                for (part, tail) in nexts {
                    let values = shape.values(Entry { prefix, tail: *tail });
                    let value = values.into_iter().find(|(bucket, _)| *bucket == slot / BUCKET).unwrap().1;
                    shape.slots().put(&mut expected[*part][1..], slot, value);
                    expected[*part][0] += 1;
                }
            }
            let words: Vec<AtomicU64> = segment.iter().copied().map(AtomicU64::new).collect();
            for instructions in simd::available() {
                let mut parts = vec![0; 2 * size];
                (kernel(instructions).divide)(&shape, &words, &mut parts);
                let made = parts.chunks(size).map(|part| (part[0], slots(shape, part)));
                assert!(
                    made.eq(expected.iter().map(|part| (part[0], slots(shape, part)))),
                    "{shape:?}, {instructions:?}"
                );
                assert!(parts == expected.concat(), "{shape:?}, {instructions:?}: beside the slots");
            }
        }
        assert!(both > 1000, "{both} entries had no tail");
    }
}
