//! The prefetch ring: how batches keep many cache misses in flight.
//!
//! A filter that is larger than the caches costs a memory access a key, and a processor waits for few of them at once
//! by itself. So while key i of a batch is answered, the lines of key i + [`AHEAD`] are fetched: one new fetch for each
//! answer, evenly, which keeps the line buffers full all the time. (Fetching a group and then answering it lets them
//! run empty between groups; measured, it is 1.3 times slower.)

use super::prefetch;
use core::sync::atomic::AtomicU64;

/// How many keys ahead of the answer the fetches run at most: what a batch hands on to the next call.
pub const AHEAD: usize = 64;

/// From so many 64-bit words on (4 MiB) fetching ahead pays. Below, the processor's own reordering hides the second and
/// third level cache.
pub const FETCH_FROM: usize = 1 << 19;

/// How far to fetch ahead in a filter of so many words, of `lines` cache lines a key; 0 is not at all.
#[inline]
pub fn ahead(words: usize, lines: usize) -> usize {
    if words < FETCH_FROM { 0 } else { (2 * AHEAD / lines.max(1)).clamp(1, AHEAD) }
}

/// Answers the first keys, as many as there is room for in `answers`, in order; keys after these come with the next
/// call and are only fetched. `ahead` is how far ahead, 0 for no fetches and [`AHEAD`] at most.
///
/// The contract between calls: key i + `ahead` is fetched while key i is answered, so the first `ahead` keys of a call
/// were fetched by the call before, or, at the start of a batch, by a call without answers, which fetches them all.
#[inline(always)]
pub fn rolling<State: ?Sized>(
    state: &mut State,
    ahead: usize,
    keys: &[u64],
    answers: &mut [bool],
    fetch: impl Fn(&State, u64),
    mut answer: impl FnMut(&mut State, u64) -> bool,
) {
    if ahead == 0 {
        for (key, to) in keys.iter().zip(answers) {
            *to = answer(state, *key);
        }
        return;
    }
    if answers.is_empty() {
        keys.iter().take(ahead).for_each(|key| fetch(state, *key));
    }
    for (i, to) in answers.iter_mut().enumerate() {
        if let Some(key) = keys.get(i + ahead) {
            fetch(state, *key);
        }
        *to = answer(state, keys[i]);
    }
}

/// Fetches the line of a word among `words`.
#[inline]
pub fn fetch_word(words: &[AtomicU64], word: usize) {
    if let Some(word) = words.get(word) {
        prefetch(word);
    }
}
