//! The search behind every inverse function: rates fall as sizes grow, and the least size is wanted.
//!
//! A search calls `holds` a few dozen times, so it calls it through a pointer: one copy of the search serves all kinds.

use core::cmp::Ordering;

/// The least `x` in `1..=limit` for which `holds`, given that it holds for everything above some threshold; `None` if
/// it does not hold at `limit` or below.
///
/// Starts at `guess`, steps away from it in doubling strides until the threshold is between two sizes, and halves:
/// `O(log |guess - answer|)` evaluations. The answer was always evaluated itself, and so was its predecessor (unless
/// the answer is 1), so even if rounding makes `holds` not quite monotone, it holds for the answer and does not for one
/// less.
pub(crate) fn least(guess: u64, limit: u64, mut holds: impl FnMut(u64) -> bool) -> Option<u64> {
    least_of(guess, limit, &mut holds)
}

fn least_of(guess: u64, limit: u64, holds: &mut dyn FnMut(u64) -> bool) -> Option<u64> {
    if limit == 0 {
        return None;
    }
    let guess = guess.clamp(1, limit);
    let mut stride = 1_u64;
    // Invariant of what follows: fails at `below` (0 fails by convention), holds at `above`.
    let (mut below, mut above);
    if holds(guess) {
        above = guess;
        loop {
            below = above.saturating_sub(stride);
            if below == 0 || !holds(below) {
                break;
            }
            above = below;
            stride = stride.saturating_mul(2);
        }
    } else {
        below = guess;
        loop {
            if below == limit {
                return None;
            }
            above = below.saturating_add(stride).min(limit);
            if holds(above) {
                break;
            }
            below = above;
            stride = stride.saturating_mul(2);
        }
    }
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if holds(middle) {
            above = middle;
        } else {
            below = middle;
        }
    }
    Some(above)
}

/// The integer in `1..=limit` with the least cost, where costs, compared by `compare`, have a single valley. Among
/// equals the smallest.
///
/// Walks down from `guess` for as long as it does not get worse, otherwise up while it gets better.
pub(crate) fn valley<T>(guess: u32, limit: u32, cost: impl Fn(u32) -> T, compare: impl Fn(&T, &T) -> Ordering) -> u32 {
    valley_of(guess, limit, &cost, &compare)
}

fn valley_of<T>(guess: u32, limit: u32, cost: &dyn Fn(u32) -> T, compare: &dyn Fn(&T, &T) -> Ordering) -> u32 {
    let start = guess.clamp(1, limit.max(1));
    let mut best = start;
    let mut least = cost(start);
    while best > 1 {
        let next = cost(best - 1);
        if compare(&next, &least).is_gt() {
            break;
        }
        (best, least) = (best - 1, next);
    }
    if best == start {
        while best < limit {
            let next = cost(best + 1);
            if compare(&next, &least).is_ge() {
                break;
            }
            (best, least) = (best + 1, next);
        }
    }
    best
}

/// About the least `x` in `1..limit` for which `holds`, to a thousandth and not below it, like [`least`] from a guess
/// that is too low or a little too high; `None` if there is none.
pub(crate) fn least_real(guess: f64, limit: f64, mut holds: impl FnMut(f64) -> bool) -> Option<f64> {
    least_real_of(guess, limit, &mut holds)
}

fn least_real_of(guess: f64, limit: f64, holds: &mut dyn FnMut(f64) -> bool) -> Option<f64> {
    let (mut below, mut above) = (guess * 0.7, guess);
    while !holds(above) {
        if above >= limit {
            return None;
        }
        (below, above) = (above, above * 1.5);
    }
    while above - below > 1e-3 * above && above - below > 0.5 {
        let middle = 0.5 * (below + above);
        if holds(middle) {
            above = middle;
        } else {
            below = middle;
        }
    }
    Some(above)
}
