//! The inner loop of batches for vectors: four or eight keys are one vector, from their hashes to their answers.

use crate::blocks::lanes::for_lanes;

macro_rules! kernel {
    ($lanes:ident, $features:literal) => {
        use super::super::kernel::{Group, Kernel, Turns};
        use super::super::shape::{ENTRY_WORDS, slice};
        use super::super::{Array, cells, portable};
        use crate::batch::ring::{self, GROUP};
        use crate::bits::{GOLDEN, MIX, MIX_SCATTERED};
        use crate::blocks::$lanes::{
            Numbers, WIDTH, add, all, and, has_any, high_halves, keep, lacks, lane_bits, left, left_each, less, load,
            multiply, multiply_halves, numbers, or, read_each, read_pairs, right, right_each, store, subtract, xor,
        };

        pub(in super::super) static KERNEL: Kernel = Kernel {
            three: Turns { near: near::<3>, far: far::<3> },
            four: Turns { near: near::<4>, far: far::<4> },
            suits: |array| array.is_gathered(),
        };

        fn near<const K: usize>(array: &Array, hashes: &[u64; GROUP], found: &mut Group, asked: &Group) -> u64 {
            assert!(array.is_gathered());
            // SAFETY: this kernel is given out for processors that have these instructions, and the array suits.
            unsafe { turn::<K, false>(array, hashes, found, asked) }
        }

        fn far<const K: usize>(array: &Array, hashes: &[u64; GROUP], found: &mut Group, asked: &Group) -> u64 {
            assert!(array.is_gathered());
            // SAFETY: as in `near`: the processor has the instructions, and the array suits.
            unsafe { turn::<K, true>(array, hashes, found, asked) }
        }

        /// A vector of a group's numbers.
        #[inline(always)]
        fn some(numbers: &[u64; GROUP], i: usize) -> &Numbers {
            &numbers.as_chunks().0[i]
        }

        #[inline(always)]
        fn some_mut(numbers: &mut [u64; GROUP], i: usize) -> &mut Numbers {
            &mut numbers.as_chunks_mut().0[i]
        }

        /// # Safety
        /// The array suits ([`Array::is_gathered`]).
        #[target_feature(enable = $features)]
        unsafe fn turn<const K: usize, const FETCH: bool>(
            array: &Array,
            hashes: &[u64; GROUP],
            found: &mut Group,
            asked: &Group,
        ) -> u64 {
            let mut answers = 0;
            for i in 0..GROUP / WIDTH {
                // SAFETY: the caller promises that the array suits ([`Array::is_gathered`]).
                unsafe { find::<K>(array, hashes, found, i) };
                if FETCH {
                    for bits in &found.bits[..K] {
                        some(&bits.0, i).iter().for_each(|bit| ring::fetch_word(array.words, (*bit / 64) as usize));
                    }
                }
                // SAFETY: as above.
                answers |= u64::from(unsafe { agree::<K>(array, asked, i) }) << (i * WIDTH);
            }
            answers
        }

        /// Finds the cells of the keys of the `i`-th vector.
        ///
        /// # Safety
        /// The array suits.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn find<const K: usize>(array: &Array, hashes: &[u64; GROUP], found: &mut Group, i: usize) {
            let shards = all(array.shape.shards);
            // `order`
            let x = load(some(hashes, i));
            let x = multiply(xor(x, right(x, 30)), all(MIX));
            let x = xor(x, right(x, 27));
            // This is `place`. The multiplications take the low halves of their operands.
            let low = right(multiply_halves(x, shards), 32);
            let place = add(multiply_halves(right(x, 32), shards), low);
            let shard = right(place, 32);
            // `Entry::decode`
            let directory: *const u8 = array.directory.as_ptr().cast();
            let [a, b] = if array.shape.shards == 1 {
                // SAFETY: the array suits, so the directory has as many entries of two words as there are shards.
                unsafe { [all(directory.cast::<u64>().read()), all(directory.cast::<u64>().add(1).read())] }
            } else {
                let entry = numbers(left(shard, (8 * ENTRY_WORDS).ilog2()));
                // SAFETY: the shard of a place is less than the number of shards, and the directory has as many entries
                // of two words.
                unsafe { read_pairs(directory, &entry) }
            };
            // `scatter`
            let z = multiply(xor(x, high_halves(a)), all(MIX_SCATTERED));
            let z = xor(z, right(z, 31));
            // `Segments::positions`
            let length = left_each(all(1), and(b, all(63)));
            let mask = subtract(length, all(1));
            let mut positions = [right(multiply_halves(place, a), 32); K];
            for cell in 1..K {
                positions[cell] = add(positions[cell - 1], length);
            }
            for (cell, position) in positions[1..].iter_mut().enumerate() {
                let chosen = right(z, slice(K) * cell as u32);
                *position = xor(*position, and(chosen, mask));
            }
            let groups = right(b, 6);
            let wide = positions.iter().fold(groups, |wide, position| or(wide, *position));
            if has_any(wide, all(!u64::from(u32::MAX))) {
                return portable::find::<K>(array, hashes, found, i * WIDTH..(i + 1) * WIDTH);
            }
            // The shape suits, so positions, and groups of 64 cells before them, have 32 bits.
            let width = all(array.shape.width.into());
            let first = left(multiply_halves(groups, width), 6);
            for (to, position) in found.bits.iter_mut().zip(positions) {
                store(some_mut(&mut to.0, i), add(first, multiply_halves(position, width)));
            }
            store(some_mut(&mut found.fingerprints.0, i), right(multiply(z, all(GOLDEN)), 32));
        }

        /// Whether the cells of the keys of the `i`-th vector give their fingerprints.
        ///
        /// # Safety
        /// The array suits.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn agree<const K: usize>(array: &Array, asked: &Group, i: usize) -> u8 {
            let end = all((array.words.len() as u64 * 8).saturating_sub(7));
            let mut together = load(some(&asked.fingerprints.0, i));
            for bits in &asked.bits[..K] {
                let bit = load(some(&bits.0, i));
                let byte = right(bit, 3);
                let there = less(byte, end);
                // SAFETY: seven readable bytes follow every byte before `end`, and also the first byte, because the
                // array suits, so that the words are not empty.
                let cells = unsafe { read_each(array.words.as_ptr().cast(), &numbers(keep(there, byte))) };
                together = xor(together, right_each(keep(there, cells), and(bit, all(7))));
            }
            lane_bits(lacks(together, all(cells::mask(array.shape.width))))
        }
    };
}

for_lanes!(kernel);
