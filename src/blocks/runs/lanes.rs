//! The inner loops for processors with vectors, which also find and count bits in one instruction.
//!
//! A vector holds four or eight keys of a batch. The kernel computes the whole way of a key whether or not its quotient
//! has a run, and whatever the run is, because chance decides on both, and a processor that guesses is wrong every
//! other time. Most runs lie in the eight bytes from their start on; the few keys whose run does not are answered one
//! by one.
//!
//! The bit of a rank is found lane by lane: by PDEP, which puts a single bit where the bit of that rank is, or by plain
//! code on processors where PDEP takes dozens of steps.

use crate::blocks::lanes::for_lanes;

macro_rules! kernel {
    ($lanes:ident, $features:literal) => {
        use super::super::kernel::{self, AFTER, Kernel};
        use super::super::{Full, HEAD, Reader, Table};
        use crate::batch::groups::{hashes_of, in_one_turn, in_turns};
        use crate::batch::ring::{self, Batch, Few, GROUP};
        use crate::blocks::select::Select;
        use crate::blocks::$lanes::{
            Mask, Numbers, Vector, WIDTH, add, all, and, and_not, both, choose, clear, count_ones, either, equal, keep,
            lacks, lane_bits, left, left_each, lengths, less, load, max, multiply_halves, multiply_small, negative,
            numbers, or, read_each, read_pairs, right, right_each, store, subtract, with_low_halves, within, without,
            xor,
        };
        use crate::simd::Instructions;
        use core::sync::atomic::AtomicU64;

        pub(in super::super) const fn kernel<S: Select>() -> Kernel {
            Kernel {
                // SAFETY: this kernel is given out for processors that have BMI1, BMI2, LZCNT and POPCNT.
                contains: |table, words, hash| unsafe { contains::<S>(table, words, hash) },
                contains_many: contains_many::<S>,
                contains_few: contains_few::<S>,
                // SAFETY: as above.
                count_many: |table, words, hashes, counts| unsafe { count_many::<S>(table, words, hashes, counts) },
                // SAFETY: as above.
                insert: |table, words, hash, times| unsafe { insert::<S>(table, words, hash, times) },
                // SAFETY: as above.
                remove: |table, words, hash, times| unsafe { remove::<S>(table, words, hash, times) },
                // SAFETY: as above.
                count: |table, words, hash| unsafe { count::<S>(table, words, hash) },
            }
        }

        /// From this many words on (32 KiB) lines are fetched ahead. Otherwise a lookup would compute the place of a
        /// line, wait for it, and do nothing meanwhile, even if lines come from the second-level cache.
        const FETCH_FROM: usize = 1 << 12;

        #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
        fn contains<S: Select>(table: Table, words: &[AtomicU64], hash: u64) -> bool {
            kernel::contains::<S>(table, words, hash)
        }

        #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
        fn count_many<S: Select>(table: Table, words: &[AtomicU64], hashes: &[u64], counts: &mut [u64]) {
            kernel::count_many::<S>(table, words, hashes, counts);
        }

        #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
        fn insert<S: Select>(table: Table, words: &mut [u64], hash: u64, times: u64) -> Result<bool, Full> {
            kernel::insert::<S>(table, words, hash, times)
        }

        #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
        fn remove<S: Select>(table: Table, words: &mut [u64], hash: u64, times: u64) -> u64 {
            kernel::remove::<S>(table, words, hash, times)
        }

        #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
        fn count<S: Select>(table: Table, words: &[AtomicU64], hash: u64) -> u64 {
            kernel::count::<S>(table, words, hash)
        }

        fn contains_many<S: Select>(table: Table, words: &[AtomicU64], batch: &mut dyn Batch) {
            match suits(table, words) {
                // SAFETY: this kernel is given out for processors that have all of it, and the table suits.
                true => unsafe { many::<S>(table, words, batch) },
                false => kernel::contains_many::<S>(table, words, batch),
            }
        }

        fn contains_few<S: Select>(table: Table, words: &[AtomicU64], instructions: Instructions, few: &Few) -> u64 {
            match suits(table, words) {
                // SAFETY: as in `contains_many`.
                true => unsafe { one_turn::<S>(table, words, &hashes_of(few, instructions)) },
                false => kernel::contains_few::<S>(table, words, instructions, few),
            }
        }

        /// Whether the kernel can read this table: slots have numbers of 32 bits, and the words hold the table and a
        /// line of state after its blocks.
        fn suits(table: Table, words: &[AtomicU64]) -> bool {
            table.slots < 1 << 32 && table.payload_bytes() <= words.len() as u64 * 8
        }

        /// # Safety
        /// The table suits.
        #[target_feature(enable = $features)]
        unsafe fn many<S: Select>(table: Table, words: &[AtomicU64], batch: &mut dyn Batch) {
            let wide = Wide::new(table, words);
            let find = |hashes: &_, group: &mut _| wide.find(hashes, group);
            let fetch = |group: &Group, i| wide.fetch(group, i);
            // SAFETY: the caller promises that the table suits.
            let answer = |group: &Group, i| unsafe { wide.answer::<S>(group, i) };
            let alone = |group: &Group, i| wide.alone(group, i);
            match words.len() >= FETCH_FROM {
                true => in_turns::<WIDTH, _>([Group::NONE; 2], batch, find, fetch, answer, alone),
                false => in_turns::<WIDTH, _>([Group::NONE; 2], batch, find, |_, _| {}, answer, alone),
            }
        }

        /// # Safety
        /// The table suits.
        #[target_feature(enable = $features)]
        unsafe fn one_turn<S: Select>(
            table: Table,
            words: &[AtomicU64],
            (hashes, count): &([u64; GROUP], usize),
        ) -> u64 {
            let wide = Wide::new(table, words);
            let find = |hashes: &_, group: &mut _| wide.find(hashes, group);
            let fetch = |group: &Group, i: usize| {
                if words.len() >= FETCH_FROM {
                    wide.fetch(group, i);
                }
            };
            // SAFETY: the caller promises that the table suits.
            let answer = |group: &Group, i| unsafe { wide.answer::<S>(group, i) };
            let alone = |group: &Group, i| wide.alone(group, i);
            in_one_turn::<WIDTH, _>(Group::NONE, hashes, *count, find, fetch, answer, alone)
        }

        /// Where to look for the keys of a group.
        #[derive(Clone, Copy)]
        #[repr(align(64))]
        struct Group {
            hashes: [u64; GROUP],
            quotients: [Numbers; GROUP / WIDTH],
            /// The remainder of each key, repeated in every lane of the eight bytes.
            patterns: [Numbers; GROUP / WIDTH],
            /// The first bytes of the quotients' blocks.
            blocks: [Numbers; GROUP / WIDTH],
            /// A byte near which the run lies ([`Table::fetch`]), and a byte of the next block if the run may end
            /// there.
            slots: [Numbers; GROUP / WIDTH],
            nexts: [Numbers; GROUP / WIDTH],
        }

        impl Group {
            const NONE: Group = {
                let none = [[0; WIDTH]; GROUP / WIDTH];
                Group { hashes: [0; GROUP], quotients: none, patterns: none, blocks: none, slots: none, nexts: none }
            };
        }

        /// A table, with numbers that are computed once.
        struct Wide<'a> {
            table: Table,
            words: &'a [AtomicU64],
            bits: u64,
            stride: u64,
            /// The first byte of the last block.
            last: u64,
        }

        /// The offset, the occupieds and the runends of the blocks of a vector.
        ///
        /// # Safety
        /// A whole block is readable from each of these places after the start on.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn heads(start: *const u8, blocks: &Numbers) -> [Vector; 3] {
            // SAFETY: the caller promises that a whole block is readable from each of these places after the start on.
            // A block is its offset, two times eight bytes, and more than six bytes after that.
            let offset = unsafe { read_each(start, blocks) };
            // SAFETY: as above.
            let [occupieds, runends] = unsafe { read_pairs(start.add(2), blocks) };
            [and(offset, all(0xffff)), occupieds, runends]
        }

        impl<'a> Wide<'a> {
            fn new(table: Table, words: &'a [AtomicU64]) -> Wide<'a> {
                let (bits, stride) = (u64::from(table.remainder_bits), table.stride() as u64);
                let last = (table.blocks() - 1) * stride;
                Wide { table, words, bits, stride, last }
            }

            /// Finds the places of the keys of a group.
            #[inline]
            #[target_feature(enable = $features)]
            fn find(&self, hashes: &[u64; GROUP], group: &mut Group) {
                let (slots, bits, ones) = (all(self.table.slots), all(self.bits), all(self.table.ones));
                let stride = all(self.stride);
                group.hashes = *hashes;
                for (i, hashes) in hashes.as_chunks().0.iter().enumerate() {
                    // The fingerprint is h S 2^r / 2^64: the upper half of h S, and the first r bits of the lower.
                    let hash = load(hashes);
                    let low = multiply_halves(hash, slots);
                    let high = multiply_halves(right(hash, 32), slots);
                    let sum = add(high, right(low, 32));
                    let quotient = right(sum, 32);
                    let remainder = right(with_low_halves(left(sum, 32), low), 64 - self.bits as u32);
                    let block = multiply_halves(right(quotient, 6), stride);
                    let slot = and(quotient, all(63));
                    let is_late = less(all(63 - 2 * AFTER), slot);
                    let slot = right(multiply_halves(add(slot, all(AFTER)), bits), 3);
                    store(&mut group.quotients[i], quotient);
                    // A remainder has at most 32 bits.
                    store(&mut group.patterns[i], multiply_small(remainder, ones));
                    store(&mut group.blocks[i], block);
                    store(&mut group.nexts[i], add(block, keep(is_late, stride)));
                    store(&mut group.slots[i], add(block, add(slot, all(HEAD as u64))));
                }
            }

            /// Asks for the lines of the keys of a group's `i`-th vector.
            #[inline]
            fn fetch(&self, group: &Group, i: usize) {
                for bytes in [&group.blocks[i], &group.slots[i], &group.nexts[i]] {
                    bytes.iter().for_each(|byte| ring::fetch_word(self.words, *byte as usize / 8));
                }
            }

            /// Whether one key of a group, whose quotient has a run, is there.
            #[inline]
            fn alone(&self, group: &Group, key: usize) -> bool {
                let (quotient, remainder) = self.table.split(self.table.fingerprint(group.hashes[key]));
                Reader::new(self.table, self.words).contains_far(quotient, remainder)
            }

            /// Whether each key of a group's `i`-th vector is there, and which of them have to be looked at one by one.
            ///
            /// # Safety
            /// The table suits.
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn answer<S: Select>(&self, group: &Group, i: usize) -> [u8; 2] {
                let blocks = &group.blocks[i];
                let is_last = equal(load(blocks), all(self.last));
                let next_block = clear(is_last, add(load(blocks), all(self.stride)));
                let (ones, lanes) = (all(self.table.ones), all(self.table.lanes.into()));
                let widths = Widths { bits: all(self.bits), ones, lanes };
                let bytes = self.words.as_ptr().cast::<u8>();
                // SAFETY: as the table suits, the blocks of quotients below its slots are among the words, with eight
                // readable bytes from any byte of a block on.
                let runs = unsafe { Runs::find::<S>(bytes, load(&group.quotients[i]), blocks, next_block, &widths) };
                // `Reader::among_few`
                let differ = xor(runs.window, load(&group.patterns[i]));
                runs.answer(&widths, and_not(subtract(differ, widths.ones), differ))
            }
        }

        /// How the remainders of the tables lie in windows of eight bytes.
        pub(crate) struct Widths {
            /// The bits of a remainder.
            pub bits: Vector,
            /// The lowest bit of each remainder.
            pub ones: Vector,
            /// How many remainders a window has.
            pub lanes: Vector,
        }

        impl Widths {
            /// The highest bit of each remainder.
            #[inline]
            #[target_feature(enable = $features)]
            pub fn highs(&self) -> Vector {
                left_each(self.ones, subtract(self.bits, all(1)))
            }

            /// The highest bit of each of the first `slots` remainders.
            #[inline]
            #[target_feature(enable = $features)]
            fn among(&self, slots: Vector) -> Vector {
                and(self.highs(), add(left_each(all(1), multiply_halves(slots, self.bits)), all(u64::MAX)))
            }
        }

        /// The runs of the quotients of a vector.
        pub(crate) struct Runs {
            /// Which quotients have a run, and which of these runs lie in the eight bytes from their start on.
            is_occupied: Mask,
            is_here: Mask,
            /// The eight bytes from the start of each run on.
            pub window: Vector,
            /// How many slots a run has after its first slot.
            more: Vector,
        }

        impl Runs {
            /// Finds the runs of quotients whose blocks begin at `blocks`, and whose next blocks begin at `next_block`.
            ///
            /// # Safety
            /// Eight bytes are readable from each byte of these blocks on.
            #[inline]
            #[target_feature(enable = $features)]
            pub unsafe fn find<S: Select>(
                bytes: *const u8,
                quotient: Vector,
                blocks: &Numbers,
                next_block: Vector,
                widths: &Widths,
            ) -> Runs {
                let block = load(blocks);
                let (in_block, block_bits, one) = (all(63), all(64), all(1));
                // SAFETY: the caller promises that eight bytes are readable from each byte of these blocks on.
                let [offset, occupieds, own] = unsafe { heads(bytes, blocks) };
                // The occupied quotients up to the key's own. The highest bit says whether the key's quotient has a
                // run.
                let upto = left_each(occupieds, and_not(in_block, quotient));
                let (is_occupied, rank) = (negative(upto), count_ones(upto));
                // This is `Reader::near_run`, but also finds runs that end anywhere in the next block, which is read if
                // it is needed.
                let is_near = both(is_occupied, less(offset, block_bits));
                let own = right_each(own, offset);
                let owns = count_ones(own);
                let is_further = both(is_near, less(owns, rank));
                let next = add(choose(is_further, next_block, block), all(10));
                // SAFETY: as above.
                let ends = choose(is_further, unsafe { read_each(bytes, &numbers(next)) }, own);
                let rank = subtract(rank, keep(is_further, owns));
                let first = and_not(quotient, in_block);
                let from = add(first, offset);
                let base = choose(is_further, add(first, block_bits), from);
                // The end of the run, as a bit of these words, and the end of the run before it. A run that is near has
                // a rank of at least 1.
                let mut selected = numbers(left_each(one, subtract(rank, one)));
                for (selected, word) in selected.iter_mut().zip(numbers(ends)) {
                    *selected = S::deposit(*selected, word);
                }
                let end = load(&selected);
                let before = and(ends, subtract(end, one));
                let is_found = without(is_near, lacks(end, all(u64::MAX)));
                let is_first = both(is_further, lacks(before, all(u64::MAX)));
                let before = lengths(choose(is_first, own, before));
                let start = max(add(choose(is_first, from, base), before), quotient);
                let end = subtract(add(base, lengths(end)), one);
                // How many slots the run has after its first slot, and the number of the first slot in its block.
                let more = subtract(end, start);
                let place = and(start, in_block);
                let is_short = both(is_found, within(more, widths.lanes));
                let is_here = both(is_short, less(add(place, more), block_bits));
                let is_same = equal(right(start, 6), right(quotient, 6));
                let bit = multiply_halves(place, widths.bits);
                let byte = add(choose(is_same, block, next_block), right(bit, 3));
                // A window that nobody looks at is read from the block's line, so that no other line is waited for.
                let byte = choose(is_here, add(byte, all(HEAD as u64)), block);
                // SAFETY: as above.
                let window = unsafe { read_each(bytes, &numbers(byte)) };
                Runs { is_occupied, is_here, window: right_each(window, and(bit, all(7))), more }
            }

            /// Which keys are there, and which keys have to be looked at one by one. `found` has the highest bits of
            /// the window's slots that agree.
            #[inline]
            #[target_feature(enable = $features)]
            pub fn answer(&self, widths: &Widths, found: Vector) -> [u8; 2] {
                let Runs { is_occupied, is_here, window, more } = *self;
                let highs = widths.highs();
                let is_there = without(is_here, lacks(found, widths.among(add(more, all(1)))));
                // This is `Table::ascend`: x is each slot, and y is the slot after it.
                let is_long = both(is_there, less(all(1), more));
                let (x, y) = (window, right_each(window, widths.bits));
                let low = subtract(or(x, highs), and_not(y, highs));
                let above = and_not(y, x);
                let alike = xor(xor(x, y), all(u64::MAX));
                let falls = and_not(widths.among(more), or(above, and_not(alike, low)));
                let is_open = either(without(is_occupied, is_here), without(is_long, lacks(falls, all(u64::MAX))));
                [lane_bits(without(is_there, is_open)), lane_bits(is_open)]
            }
        }
    };
}

for_lanes!(kernel);
