//! The rate of several bit arrays of one layout together: the probability that a hash is in any of them.
//!
//! A key has the same bits in each array, so its chances in two arrays are not independent: keys that both arrays have
//! say yes in both. A hash is in two arrays exactly if it is in their AND, so `P(any of W_1 .. W_n)` is the sum over i
//! of `P(W_i) - P(W_i and any of W_1 .. W_(i-1))`, and the last term is the same question about the arrays `W_i AND
//! W_j`.

use crate::blocks::BitLayout;
use crate::error::Result;
use crate::sizing::levels::either;
use crate::storage::{Words, try_vec};
use core::sync::atomic::{AtomicU64, Ordering};

/// The question about n arrays asks for up to 2^n ANDs. All of them together have at most this many words.
const MOST_WORDS: usize = 1 << 24;

/// At least this many words of each array are looked at, if it has them.
const LEAST_WORDS: usize = 1 << 10;

/// How many words of each of n arrays are looked at.
pub fn looked_at(arrays: usize) -> usize {
    (MOST_WORDS >> arrays.min(24)).max(LEAST_WORDS)
}

/// The rate of arrays together, which may be the first parts of longer ones.
pub struct Together {
    /// The rate of independent arrays.
    pub independent: f64,
    /// The rate of these.
    pub exact: f64,
}

/// The rate of arrays of this layout together.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub fn rate_of_any(layout: &dyn BitLayout, arrays: &[&[AtomicU64]]) -> Result<Together> {
    let mut buffers = try_vec(arrays.len())?;
    for _ in 1..arrays.len() {
        buffers.push(Words::zeroed(8 * layout.words() as u64)?);
    }
    let (mut independent, mut exact) = (0.0, 0.0);
    for (i, array) in arrays.iter().enumerate() {
        let rate = rate_of(layout, array);
        independent = either(independent, rate);
        exact += rate - within(layout, array, rate, &arrays[..i], &mut buffers);
    }
    Ok(Together { independent, exact: exact.clamp(0.0, 1.0) })
}

/// The probability that a hash is in an array, which has this rate, and in any of some others. Each buffer has room for
/// an array; they are no fewer than the others.
fn within(
    layout: &dyn BitLayout,
    array: &[AtomicU64],
    rate: f64,
    others: &[&[AtomicU64]],
    buffers: &mut [Words],
) -> f64 {
    if rate == 0.0 || others.is_empty() {
        return 0.0;
    }
    if others.iter().any(|other| is_part(array, other)) {
        return rate;
    }
    let Some((buffer, rest)) = buffers.split_first_mut() else { return 0.0 };
    let mut all = 0.0;
    for (i, other) in others.iter().enumerate() {
        for ((to, a), b) in buffer.exclusive().unwrap_or_default().iter_mut().zip(array).zip(*other) {
            *to = a.load(Ordering::Relaxed) & b.load(Ordering::Relaxed);
        }
        let both = rate_of(layout, buffer.shared());
        all += both - within(layout, buffer.shared(), both, &others[..i], rest);
    }
    all
}

/// Whether all bits of an array are set in another one too.
fn is_part(array: &[AtomicU64], other: &[AtomicU64]) -> bool {
    array.iter().zip(other).all(|(a, b)| a.load(Ordering::Relaxed) & !b.load(Ordering::Relaxed) == 0)
}

fn rate_of(layout: &dyn BitLayout, words: &[AtomicU64]) -> f64 {
    layout.measure(words, &mut |_| {}).false_positive_rate
}
