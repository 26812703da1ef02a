//! The roots of a polynomial over the field, by Berlekamp's trace algorithm.
//!
//! All polynomials here are monic: the constant first, without the leading 1. The traces of b multiples of x, one for
//! each bit, tell any two elements apart; so no chance is involved, and the work has a bound.

use super::carryless::Arithmetic;
use crate::error::Result;
use crate::storage::try_vec;

/// All roots; `None` unless they are distinct, in the field, and as many as the degree.
pub(super) fn find(arithmetic: &Arithmetic, polynomial: Vec<u64>) -> Result<Option<Vec<u64>>> {
    let degree = polynomial.len();
    if degree <= 1 {
        return Ok(Some(polynomial));
    }
    let Some(powers) = frobenius(arithmetic, &polynomial)? else { return Ok(None) };
    let mut roots = try_vec(degree)?;
    let mut factors = try_vec(1)?;
    factors.push(polynomial);
    for bit in 0..arithmetic.field().bits() {
        if factors.is_empty() {
            break;
        }
        let trace = trace(arithmetic, bit, &powers, degree)?;
        let mut parts = try_vec(2 * factors.len())?;
        for factor in factors {
            let mut rest = copy(&trace)?;
            remainder(arithmetic, &mut rest, &factor);
            let divisor = common_divisor(arithmetic, copy(&factor)?, rest)?;
            if divisor.is_empty() || divisor.len() == factor.len() {
                parts.push(factor);
                continue;
            }
            let quotient = quotient(arithmetic, factor, &divisor);
            for part in [divisor, quotient] {
                match part[..] {
                    [root] => roots.push(root),
                    _ => parts.push(part),
                }
            }
        }
        factors = parts;
    }
    Ok(factors.is_empty().then_some(roots))
}

/// A copy, which asks for memory fallibly.
fn copy(from: &[u64]) -> Result<Vec<u64>> {
    let mut to = try_vec(from.len())?;
    to.extend_from_slice(from);
    Ok(to)
}

/// The powers x^(2^i), i = 0 to b - 1, modulo the polynomial. `None` unless x^(2^b) is x again: then the polynomial
/// divides x^(2^b) - x, whose roots are the elements of the field, each once.
fn frobenius(arithmetic: &Arithmetic, polynomial: &[u64]) -> Result<Option<Vec<u64>>> {
    let (degree, bits) = (polynomial.len(), arithmetic.field().bits() as usize);
    let one = arithmetic.field().raised(1);
    // The even powers of x from the degree on, modulo the polynomial: a square is a sum of these.
    let first_high = degree.div_ceil(2);
    let mut high = try_vec((degree - first_high) * degree)?;
    let mut power = copy(polynomial)?;
    for exponent in degree..=2 * (degree - 1) {
        if exponent % 2 == 0 {
            high.extend_from_slice(&power);
        }
        let leading = power[degree - 1];
        power.copy_within(..degree - 1, 1);
        power[0] = 0;
        arithmetic.add_multiple(&mut power, leading, polynomial);
    }
    let length = bits * degree;
    let mut powers = try_vec(length)?;
    powers.resize(length, 0);
    powers[1] = one;
    let mut squares = try_vec(degree)?;
    let mut next = try_vec(degree)?;
    for i in 0..bits {
        squares.clear();
        squares.extend(powers[i * degree..(i + 1) * degree].iter().map(|&term| arithmetic.square_times(term, 1)));
        next.clear();
        next.resize(degree, 0);
        for (at, &square) in squares[..first_high].iter().enumerate() {
            next[2 * at] = square;
        }
        arithmetic.combine(&squares[first_high..], &high, &mut next);
        if i + 1 < bits {
            powers[(i + 1) * degree..(i + 2) * degree].copy_from_slice(&next);
        }
    }
    Ok((next == powers[..degree]).then_some(powers))
}

/// The trace of x times the element that has this bit only, modulo the polynomial, without zeros at the end.
fn trace(arithmetic: &Arithmetic, bit: u32, powers: &[u64], degree: usize) -> Result<Vec<u64>> {
    let mut factor = arithmetic.field().raised(1 << bit);
    let mut factors = [0; 64];
    for place in &mut factors {
        *place = factor;
        factor = arithmetic.square_times(factor, 1);
    }
    let mut trace = try_vec(degree)?;
    trace.resize(degree, 0);
    arithmetic.combine(&factors[..arithmetic.field().bits() as usize], powers, &mut trace);
    Ok(trace)
}

/// Reduces `terms`, which is not monic, to what remains after division, without zeros at the end.
fn remainder(arithmetic: &Arithmetic, terms: &mut Vec<u64>, divisor: &[u64]) {
    while let Some(&leading) = terms.last() {
        if leading == 0 {
            terms.pop();
        } else if terms.len() > divisor.len() {
            terms.pop();
            let at = terms.len() - divisor.len();
            arithmetic.add_multiple(&mut terms[at..], leading, divisor);
        } else {
            return;
        }
    }
}

/// The greatest common divisor of a monic polynomial and of one that is not monic and of a lower degree.
fn common_divisor(arithmetic: &Arithmetic, mut monic: Vec<u64>, mut rest: Vec<u64>) -> Result<Vec<u64>> {
    while let Some(leading) = rest.pop() {
        let inverse = arithmetic.inverse(leading);
        for term in &mut rest {
            *term = arithmetic.multiply(*term, inverse);
        }
        // The larger one with its leading 1 is divided by the smaller one.
        let mut larger = monic;
        larger.try_reserve(1).map_err(|_| out_of_memory())?;
        larger.push(arithmetic.field().raised(1));
        remainder(arithmetic, &mut larger, &rest);
        monic = rest;
        rest = larger;
    }
    Ok(monic)
}

/// The error of [`common_divisor`].
fn out_of_memory() -> crate::Error {
    crate::error::error!(OutOfMemory, "no memory for a term of a polynomial")
}

/// A monic polynomial divided by one that divides it.
fn quotient(arithmetic: &Arithmetic, mut terms: Vec<u64>, divisor: &[u64]) -> Vec<u64> {
    // The leading 1 first, then each lower term of the quotient in the place that it leaves.
    let low = terms.len() - divisor.len();
    let (mut leading, degree) = (arithmetic.field().raised(1), divisor.len());
    for at in (0..=low).rev() {
        arithmetic.add_multiple(&mut terms[at..at + degree], leading, divisor);
        leading = terms[at + degree - 1];
    }
    terms.drain(..degree);
    terms
}
