//! The types of the inner loops for lookups. Each instruction set has a file. `portable.rs` specifies the others, which
//! must find the same rows and read the same bits. Filters and maps, single lookups and batches go through the same few
//! functions.

use super::array::{Array, Row};
use super::kernel;
use super::row::Coefficients;
use crate::batch::ring::GROUP;
use crate::simd::Instructions;

/// From this many 64-bit words on (256 KiB) fetching ahead pays. A row is two or three lines, and even if the
/// second-level cache holds them, the processor's own reordering keeps too few of them under way.
const FETCH_FROM: usize = 1 << 15;

/// How many keys are worked on together.
pub(super) const SOME: usize = 8;

/// The inner loops for one instruction set. Every function takes any array, and any row.
#[derive(Clone, Copy)]
pub(super) struct Kernel<C> {
    /// What the slots of a row give, in the 64 columns from `first` on, a bit each. The column `first` must exist, and
    /// bits of columns that do not exist mean nothing.
    pub one: fn(&Array, &Row<C>, first: u32) -> u64,
    /// What the slots of [`SOME`] rows of a group give, each as [`Kernel::one`] says.
    pub some: fn(&Array, &Group<C>, from: usize, first: u32) -> [u64; SOME],
    /// Finds the rows of some hashes of a group.
    pub find_hashes: fn(&Array, &[u64; GROUP], &mut Group<C>, from: usize),
    /// [`Kernel::find_hashes`] for hashes that went through [`order`](crate::blocks::mixing::order).
    pub find_ordered: fn(&Array, &[u64; GROUP], &mut Group<C>, from: usize),
    /// Finds the rows of some identities of a group.
    pub find_ids: fn(&Array, &[u128; GROUP], &mut Group<C>, from: usize),
}

/// The inner loops of lookups in arrays of one width, for one instruction set.
#[derive(Clone, Copy)]
pub struct Lookup(pub(super) Either);

/// The inner loops for the width of an array.
#[derive(Clone, Copy)]
pub(super) enum Either {
    Narrow(Kernel<u64>),
    Wide(Kernel<u128>),
}

impl Lookup {
    /// The inner loops for arrays of this width, 64 or 128, with these instructions.
    #[inline]
    pub fn new(width: u32, instructions: Instructions) -> Lookup {
        Lookup(match width {
            64 => Either::Narrow(kernel(instructions)),
            _ => Either::Wide(kernel(instructions)),
        })
    }
}

/// What is known so far of the keys of a group: their rows, and the checks that tell them from other keys.
#[repr(align(64))]
pub(super) struct Group<C> {
    pub bytes: [u64; GROUP],
    pub shifts: [u64; GROUP],
    pub coefficients: [C; GROUP],
    pub checks: [u64; GROUP],
}

impl<C: Coefficients> Default for Group<C> {
    fn default() -> Group<C> {
        Group { bytes: [0; GROUP], shifts: [0; GROUP], coefficients: [C::default(); GROUP], checks: [0; GROUP] }
    }
}

impl<C: Coefficients> Group<C> {
    #[inline(always)]
    pub(super) fn set_row(&mut self, i: usize, row: &Row<C>) {
        (self.bytes[i], self.shifts[i], self.coefficients[i]) = (row.byte, row.shift.into(), row.coefficients);
    }

    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> Row<C> {
        Row { byte: self.bytes[i], shift: self.shifts[i] as u32, coefficients: self.coefficients[i] }
    }
}

/// Keys on their way through a batch. While some are answered, as many others are found and their slots are fetched.
pub(super) struct Turns<'a, C> {
    array: Array<'a>,
    kernel: Kernel<C>,
    is_far: bool,
    /// The keys that were found last. Keys that were answered make room for others that are found.
    group: Group<C>,
}

impl<'a, C: Coefficients> Turns<'a, C> {
    pub(super) fn new(array: Array<'a>, kernel: Kernel<C>) -> Turns<'a, C> {
        let is_far = array.words().len() >= FETCH_FROM;
        Turns { array, kernel, is_far, group: Group::default() }
    }

    /// Answers for `count` keys that the last turn found: gives `take` what the slots of [`SOME`] keys give, in the
    /// first 64 columns and in those after, and the keys' checks. Finds the `next` keys with `find`.
    #[inline(always)]
    pub(super) fn turn(
        &mut self,
        (count, next): (usize, usize),
        find: impl Fn(&Kernel<C>, &Array, &mut Group<C>, usize),
        mut take: impl FnMut(usize, &[[u64; SOME]; 2], &[u64; SOME]),
    ) {
        let is_long = self.array.shape().columns() > u64::BITS;
        for from in (0..count.max(next)).step_by(SOME) {
            if from < count {
                let first = (self.kernel.some)(&self.array, &self.group, from, 0);
                let rest =
                    if is_long { (self.kernel.some)(&self.array, &self.group, from, u64::BITS) } else { [0; SOME] };
                let checks = self.group.checks[from..].first_chunk().copied().unwrap_or_default();
                take(from, &[first, rest], &checks);
            }
            if from < next {
                find(&self.kernel, &self.array, &mut self.group, from);
                if self.is_far {
                    (from..from + SOME).for_each(|i| self.array.fetch(&self.group.row(i)));
                }
            }
        }
    }
}
