//! The coded symbols of a rateless invertible Bloom lookup table: which of them a number is in, and what they hold.

/// Words of a symbol: the XOR of its numbers, the XOR of their hashes, and the count of its numbers.
pub const SYMBOL: usize = 3;

/// The multiplier of the generator that the indices come from.
const MULTIPLIER: u64 = 0xda94_2042_e4dd_58b5;

/// The indices of the symbols that a number is in, ascending and without an end. The first index is 0; index i comes
/// with probability 1 / (1 + i / 2). Each step takes constant time.
///
/// The steps are computed in double precision. IEEE 754 says how to round each of these operations, and Rust fuses no
/// operations, so the indices are the same on every platform.
#[derive(Clone, Copy, Debug)]
pub struct Indices {
    state: u64,
    next: u64,
}

impl Indices {
    /// The indices of the number with this hash.
    pub fn of(hash: u64) -> Indices {
        Indices { state: hash, next: 0 }
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

/// Adds a number `count` times to each of its symbols. Returns how many symbols these are.
#[inline]
pub fn add(words: &mut [u64], hash: u64, number: u64, count: i64) -> usize {
    let symbols = (words.len() / SYMBOL) as u64;
    let mut added = 0;
    // An even number of copies cancels out of the XORs.
    let (number, check) = if count & 1 != 0 { (number, hash) } else { (0, 0) };
    for index in Indices::of(hash).take_while(|index| *index < symbols) {
        let symbol = &mut words[SYMBOL * index as usize..][..SYMBOL];
        symbol[0] ^= number;
        symbol[1] ^= check;
        symbol[2] = symbol[2].wrapping_add(count as u64);
        added += 1;
    }
    added
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
