//! The coded symbols of a rateless invertible Bloom lookup table: which of them a key is in, and what they hold.

/// Words of a symbol besides the XOR of its keys: the XOR of their hashes, and their count.
pub const BESIDE_KEY: usize = 2;

/// The multiplier of the generator that the indices come from.
const MULTIPLIER: u64 = 0xda94_2042_e4dd_58b5;

/// The indices of the symbols that a key is in, ascending and endless. The first index is 0; index i comes with
/// probability 1 / (1 + i / 2). Each step takes constant time.
///
/// The steps are computed in double precision. IEEE 754 says how to round each of these operations, and Rust fuses no
/// operations, so the indices are the same on every platform.
#[derive(Clone, Copy, Debug, Default)]
pub struct Indices {
    state: u64,
    next: u64,
}

impl Indices {
    /// The indices of the key with this hash.
    pub fn of(hash: u64) -> Indices {
        Indices { state: hash, next: 0 }
    }

    /// The index that comes next.
    pub fn peek(&self) -> u64 {
        self.next
    }
}

impl Iterator for Indices {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let index = self.next;
        self.state = self.state.wrapping_mul(MULTIPLIER);
        let step = (index as f64 + 1.5) * (4_294_967_296.0 / (self.state as f64 + 1.0).sqrt() - 1.0);
        // The conversion to an integer rounds down and saturates. The step is rounded up.
        let down = step as u64;
        let up = down.saturating_add(u64::from((down as f64) < step));
        self.next = index.saturating_add(up);
        Some(index)
    }
}

/// What a key adds to each of its symbols: the key, the hash and the count. An even number of copies cancels out of the
/// XORs.
#[inline]
pub fn add_to(symbol: &mut [u64], hash: u64, key: &[u64], count: i64) {
    let mask = (count & 1).wrapping_neg() as u64;
    for (word, key) in symbol.iter_mut().zip(key) {
        *word ^= key & mask;
    }
    if let [.., check, sum] = symbol {
        *check ^= hash & mask;
        *sum = sum.wrapping_add(count as u64);
    }
}

/// The keys that [`add_all`] works on together, so that the processor computes their next indices side by side.
const LANES: usize = 8;

/// Adds keys `count` times each to their symbols in a window: the symbols from `first` on, which `words` has. `keys`
/// has the words of the key for each of `hashes`.
pub fn add_all(words: &mut [u64], first: u64, hashes: &[u64], keys: &[u64], count: i64) {
    match keys.len().checked_div(hashes.len()) {
        None => {}
        // Symbols of numbers have a length that the compiler knows.
        Some(1) => add_keys(words, first, hashes, keys, 1, count),
        Some(key_words) => add_keys(words, first, hashes, keys, key_words, count),
    }
}

/// [`add_all`] for keys of `key_words` words.
#[inline(always)]
fn add_keys(words: &mut [u64], first: u64, hashes: &[u64], keys: &[u64], key_words: usize, count: i64) {
    let symbol_words = key_words + BESIDE_KEY;
    let end = first + (words.len() / symbol_words) as u64;
    let mut add = |index: u64, key: usize| {
        if index >= first && index < end {
            let symbol = &mut words[(index - first) as usize * symbol_words..][..symbol_words];
            add_to(symbol, hashes[key], &keys[key * key_words..][..key_words], count);
        }
    };
    let (mut lanes, mut places, mut taken) = ([Indices::default(); LANES], [0; LANES], 0);
    if end > 0 && hashes.len() >= LANES {
        for (lane, place) in lanes.iter_mut().zip(&mut places) {
            (*lane, *place) = (Indices::of(hashes[taken]), taken);
            taken += 1;
        }
        'keys: loop {
            for (lane, place) in lanes.iter().zip(&places) {
                add(lane.next, *place);
            }
            for lane in &mut lanes {
                lane.next();
            }
            for (lane, place) in lanes.iter_mut().zip(&mut places) {
                if lane.next >= end {
                    if taken == hashes.len() {
                        break 'keys;
                    }
                    (*lane, *place) = (Indices::of(hashes[taken]), taken);
                    taken += 1;
                }
            }
        }
        for (lane, place) in lanes.into_iter().zip(places) {
            lane.take_while(|index| *index < end).for_each(|index| add(index, place));
        }
    }
    for (place, hash) in hashes.iter().enumerate().skip(taken) {
        Indices::of(*hash).take_while(|index| *index < end).for_each(|index| add(index, place));
    }
}

/// Adds a key `count` times to each of its symbols.
pub fn add(words: &mut [u64], hash: u64, key: &[u64], count: i64) {
    add_all(words, 0, &[hash], key, count);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::mix;

    /// Published vectors of the generator.
    #[test]
    fn indices_are_those_of_the_generator() {
        let vectors: [(u64, [u64; 13]); 4] = [
            (1, [0, 1, 2, 3, 6, 11, 19, 44, 116, 122, 341, 972, 3263]),
            (2, [0, 1, 2, 4, 5, 7, 9, 15, 29, 33, 66, 135, 323]),
            (0x1234_5678_9abc_def0, [0, 1, 2, 6, 10, 31, 83, 271, 465, 673, 1085, 6250, 7190]),
            (u64::MAX, [0, 3, 29, 59, 80, 101, 128, 145, 158, 520, 558, 597, 626]),
        ];
        for (hash, indices) in vectors {
            assert!(Indices::of(hash).take(13).eq(indices), "{hash:#x}");
        }
    }

    /// The state 0 never changes and gives the greatest steps. The indices stop at the greatest number.
    #[test]
    fn indices_do_not_wrap() {
        let indices: Vec<u64> = Indices::of(0).take(6).collect();
        assert_eq!(indices[..2], [0, 6_442_450_943]);
        assert!(indices.is_sorted() && indices[5] == u64::MAX, "{indices:?}");
    }

    /// Many keys together add what single ones do, to the first symbols and to any window of later ones.
    #[test]
    fn many_keys_add_as_single_ones() {
        for (keys, key_words) in [(0, 1), (1, 1), (7, 2), (8, 1), (9, 3), (64, 1), (500, 8)] {
            let hashes: Vec<u64> = (0..keys as u64).map(mix).collect();
            let words: Vec<u64> = (0..(keys * key_words) as u64).map(|i| mix(!i)).collect();
            for (symbols, window, count) in [(0, 0..0, 1), (60, 0..60, -1), (60, 13..14, 1), (3000, 1500..3000, 3)] {
                let symbol_words = key_words + 2;
                let mut all = vec![0; symbols * symbol_words];
                for (hash, key) in hashes.iter().zip(words.chunks(key_words)) {
                    for index in Indices::of(*hash).take_while(|index| *index < symbols as u64) {
                        add_to(&mut all[index as usize * symbol_words..][..symbol_words], *hash, key, count);
                    }
                }
                let part = window.start * symbol_words..window.end * symbol_words;
                let mut some = vec![0; part.len()];
                add_all(&mut some, window.start as u64, &hashes, &words, count);
                assert_eq!(some, all[part], "{keys} keys of {key_words} words, {window:?} of {symbols}");
            }
        }
    }
}
