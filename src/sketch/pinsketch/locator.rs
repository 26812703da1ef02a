//! From sums to the polynomial whose roots are the elements: Berlekamp and Massey, for fields of characteristic 2.

use super::carryless::Arithmetic;
use crate::error::Result;
use crate::storage::try_vec;

/// The monic polynomial whose roots are the elements, the constant first and without the leading 1. `None` if no
/// polynomial of a degree up to the number of sums fits. The roots need not be distinct, nor in the field.
///
/// The sum of the powers 2n is the square of the sum of the powers n, so every second discrepancy is 0, and the steps
/// go by two.
pub(super) fn find(arithmetic: &Arithmetic, sums: &[u64]) -> Result<Option<Vec<u64>>> {
    let (capacity, all) = (sums.len(), 2 * sums.len());
    // Power n stands at 2 c - n, so that a discrepancy is a dot product of two runs.
    let mut powers = try_vec(all)?;
    powers.resize(all, 0);
    for n in 1..=all {
        powers[all - n] = if n % 2 == 1 {
            arithmetic.field().raised(sums[n / 2])
        } else {
            arithmetic.square_times(powers[all - n / 2], 1)
        };
    }
    let one = arithmetic.field().raised(1);
    let mut connection = try_vec(all + 1)?;
    let mut before = try_vec(all + 1)?;
    let mut kept = try_vec(all + 1)?;
    connection.push(one);
    before.push(one);
    let (mut length, mut gap, mut inverse) = (0, 1, one);
    for n in (0..all).step_by(2) {
        let discrepancy = arithmetic.dot(&connection, &powers[all - n - 1..]);
        if discrepancy != 0 {
            let grows = 2 * length <= n;
            if grows {
                kept.clear();
                kept.extend_from_slice(&connection);
            }
            let factor = arithmetic.multiply(discrepancy, inverse);
            let terms = connection.len().max(before.len() + gap);
            connection.resize(terms, 0);
            arithmetic.add_multiple(&mut connection[gap..], factor, &before);
            if grows {
                length = n + 1 - length;
                std::mem::swap(&mut before, &mut kept);
                inverse = arithmetic.inverse(discrepancy);
                gap = 0;
            }
        }
        gap += 2;
    }
    connection.truncate(connection.iter().rposition(|&term| term != 0).map_or(0, |last| last + 1));
    if length > capacity || connection.len() != length + 1 {
        return Ok(None);
    }
    connection.reverse();
    connection.truncate(length);
    Ok(Some(connection))
}
