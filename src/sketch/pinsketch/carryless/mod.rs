//! The inner loops, for each instruction set: polynomials over the field as slices of raised elements.

use super::field::Field;
use crate::simd::Instructions;

#[cfg(target_arch = "x86_64")]
mod pclmul;
#[cfg(target_arch = "aarch64")]
mod pmull;
mod portable;

/// How an instruction set multiplies two words without carries.
///
/// # Safety
/// Its functions may be called only where the instruction set is there.
unsafe trait Carryless {
    /// A product of 128 bits.
    type Wide: Copy;

    /// A word that is ready for many products.
    type Factor;

    /// Makes a word ready.
    unsafe fn factor(a: u64) -> Self::Factor;

    /// The product of two words.
    unsafe fn times(a: &Self::Factor, b: u64) -> Self::Wide;

    /// The product of two words, the first of which is not ready.
    #[inline(always)]
    unsafe fn product(a: u64, b: u64) -> Self::Wide {
        // SAFETY: the caller has the instruction set.
        unsafe { Self::times(&Self::factor(a), b) }
    }

    /// The sum of two products.
    unsafe fn sum(a: Self::Wide, b: Self::Wide) -> Self::Wide;

    /// The product as a raised element; `modulus` is raised.
    unsafe fn reduced(product: Self::Wide, modulus: u64) -> u64;
}

/// The next four odd powers of an element, and the lowered factor that takes each of them four powers on. Four advance
/// together, because each waits for its predecessor.
struct Lanes {
    next: [u64; LANES],
    step: u64,
}

/// How many odd powers advance together.
const LANES: usize = 4;

/// The loops of one instruction set.
struct Loops {
    multiply: unsafe fn(Field, u64, u64) -> u64,
    start: unsafe fn(Field, u64) -> Lanes,
    powers: unsafe fn(Field, &mut Lanes, &mut [u64]),
    dot: unsafe fn(Field, &[u64], &[u64]) -> u64,
    add_multiple: unsafe fn(Field, &mut [u64], u64, &[u64]),
    combine: unsafe fn(Field, &[u64], &[u64], &mut [u64]),
    square_times: unsafe fn(Field, u64, u32) -> u64,
}

/// Writes the loops for an implementation of [`Carryless`], each compiled for its instruction set.
macro_rules! loops {
    ($carryless:ty $(, #[$feature:meta])?) => {
        use crate::sketch::pinsketch::{carryless::{Carryless as _, LANES, Lanes, Loops}, field::Field};

        type C = $carryless;

        pub(super) static LOOPS: Loops = Loops { multiply, start, powers, dot, add_multiple, combine, square_times };

        // SAFETY of all: `Arithmetic::new` takes these loops only where the instruction set is there.
        $(#[$feature])?
        unsafe fn multiply(field: Field, a: u64, b: u64) -> u64 {
            // SAFETY: see above.
            unsafe { C::reduced(C::product(field.lowered(a), b), field.raised(field.modulus())) }
        }

        $(#[$feature])?
        unsafe fn square_times(field: Field, mut a: u64, times: u32) -> u64 {
            for _ in 0..times {
                // SAFETY: see above.
                a = unsafe { C::reduced(C::product(field.lowered(a), a), field.raised(field.modulus())) };
            }
            a
        }

        $(#[$feature])?
        unsafe fn start(field: Field, element: u64) -> Lanes {
            let modulus = field.raised(field.modulus());
            // SAFETY: see above.
            let times = |a: u64, b: u64| unsafe { C::reduced(C::product(field.lowered(a), b), modulus) };
            let square = times(element, element);
            let third = times(square, element);
            let fourth = times(square, square);
            let next = [element, third, times(fourth, element), times(fourth, third)];
            Lanes { next, step: field.lowered(times(fourth, fourth)) }
        }

        $(#[$feature])?
        unsafe fn powers(field: Field, lanes: &mut Lanes, sums: &mut [u64]) {
            let modulus = field.raised(field.modulus());
            // SAFETY: see above.
            let step = unsafe { C::factor(lanes.step) };
            let mut next = lanes.next;
            let mut chunks = sums.chunks_exact_mut(LANES);
            for chunk in &mut chunks {
                for (sum, next) in chunk.iter_mut().zip(&mut next) {
                    *sum ^= field.lowered(*next);
                    // SAFETY: see above.
                    *next = unsafe { C::reduced(C::times(&step, *next), modulus) };
                }
            }
            for (sum, next) in chunks.into_remainder().iter_mut().zip(next) {
                *sum ^= field.lowered(next);
            }
            lanes.next = next;
        }

        $(#[$feature])?
        unsafe fn dot(field: Field, a: &[u64], b: &[u64]) -> u64 {
            // SAFETY: see above.
            unsafe {
                let mut total = C::product(0, 0);
                for (&a, &b) in a.iter().zip(b) {
                    total = C::sum(total, C::product(field.lowered(a), b));
                }
                C::reduced(total, field.raised(field.modulus()))
            }
        }

        $(#[$feature])?
        unsafe fn add_multiple(field: Field, to: &mut [u64], factor: u64, from: &[u64]) {
            let modulus = field.raised(field.modulus());
            // SAFETY: see above.
            let factor = unsafe { C::factor(field.lowered(factor)) };
            for (to, &from) in to.iter_mut().zip(from) {
                // SAFETY: see above.
                *to ^= unsafe { C::reduced(C::times(&factor, from), modulus) };
            }
        }

        // Eight columns at a time, whose sums are reduced once.
        $(#[$feature])?
        unsafe fn combine(field: Field, factors: &[u64], rows: &[u64], to: &mut [u64]) {
            let (width, modulus) = (to.len(), field.raised(field.modulus()));
            for start in (0..width).step_by(8) {
                let columns = (width - start).min(8);
                // SAFETY: see above.
                let mut totals = [unsafe { C::product(0, 0) }; 8];
                for (&factor, row) in factors.iter().zip(rows.chunks_exact(width)) {
                    // SAFETY: see above.
                    let factor = unsafe { C::factor(field.lowered(factor)) };
                    if let Some(row) = row.get(start..start + 8) {
                        for (total, &cell) in totals.iter_mut().zip(row) {
                            // SAFETY: see above.
                            *total = unsafe { C::sum(*total, C::times(&factor, cell)) };
                        }
                    } else {
                        for (total, &cell) in totals.iter_mut().zip(&row[start..]) {
                            // SAFETY: see above.
                            *total = unsafe { C::sum(*total, C::times(&factor, cell)) };
                        }
                    }
                }
                for (to, &total) in to[start..start + columns].iter_mut().zip(&totals) {
                    // SAFETY: see above.
                    *to ^= unsafe { C::reduced(total, modulus) };
                }
            }
        }
    };
}
use loops;

/// A field with the loops that this processor runs fastest. All elements here are raised.
#[derive(Clone, Copy)]
pub struct Arithmetic {
    field: Field,
    loops: &'static Loops,
}

impl Arithmetic {
    /// The arithmetic of a field with these instructions.
    pub fn new(field: Field, instructions: Instructions) -> Arithmetic {
        #[cfg(target_arch = "x86_64")]
        if instructions.multiplies_carryless() {
            return Arithmetic { field, loops: &pclmul::LOOPS };
        }
        #[cfg(target_arch = "aarch64")]
        if instructions.multiplies_carryless() {
            return Arithmetic { field, loops: &pmull::LOOPS };
        }
        let _ = instructions;
        Arithmetic { field, loops: &portable::LOOPS }
    }

    /// The field.
    pub fn field(&self) -> Field {
        self.field
    }

    /// The product of two elements.
    pub(super) fn multiply(&self, a: u64, b: u64) -> u64 {
        // SAFETY: `new` chose loops whose instruction set is there.
        unsafe { (self.loops.multiply)(self.field, a, b) }
    }

    /// The inverse of an element that is not 0: its power 2^b - 2, by doubling the number of ones in the exponent.
    pub(super) fn inverse(&self, a: u64) -> u64 {
        let ones_wanted = self.field.bits() - 1;
        let (mut power, mut ones) = (a, 1);
        for at in (0..ones_wanted.ilog2()).rev() {
            power = self.multiply(self.square_times(power, ones), power);
            ones *= 2;
            if ones_wanted >> at & 1 == 1 {
                power = self.multiply(self.square_times(power, 1), a);
                ones += 1;
            }
        }
        self.square_times(power, 1)
    }

    /// An element squared `times` times.
    pub(super) fn square_times(&self, a: u64, times: u32) -> u64 {
        // SAFETY: `new` chose loops whose instruction set is there.
        unsafe { (self.loops.square_times)(self.field, a, times) }
    }

    /// The powers 1, 3, 5, ... of an element.
    pub(super) fn powers(&self, element: u64) -> Powers {
        // SAFETY: `new` chose loops whose instruction set is there.
        let lanes = unsafe { (self.loops.start)(self.field, element) };
        Powers { arithmetic: *self, lanes }
    }

    /// The sum of the products of two slices, element by element.
    pub(super) fn dot(&self, a: &[u64], b: &[u64]) -> u64 {
        // SAFETY: `new` chose loops whose instruction set is there.
        unsafe { (self.loops.dot)(self.field, a, b) }
    }

    /// Adds `factor` times `from` to `to`, as far as both reach.
    pub(super) fn add_multiple(&self, to: &mut [u64], factor: u64, from: &[u64]) {
        // SAFETY: `new` chose loops whose instruction set is there.
        unsafe { (self.loops.add_multiple)(self.field, to, factor, from) }
    }

    /// Adds to `to` each of the rows, which are as long as `to`, times its factor.
    pub(super) fn combine(&self, factors: &[u64], rows: &[u64], to: &mut [u64]) {
        // SAFETY: `new` chose loops whose instruction set is there.
        unsafe { (self.loops.combine)(self.field, factors, rows, to) }
    }
}

/// The odd powers of an element, in order.
pub(super) struct Powers {
    arithmetic: Arithmetic,
    lanes: Lanes,
}

impl Powers {
    /// Adds the next powers to the sums, which are not raised. Only the last sums to be added may be other than a
    /// multiple of four.
    pub(super) fn add_next(&mut self, sums: &mut [u64]) {
        // SAFETY: `Arithmetic::new` chose loops whose instruction set is there.
        unsafe { (self.arithmetic.loops.powers)(self.arithmetic.field, &mut self.lanes, sums) }
    }
}
