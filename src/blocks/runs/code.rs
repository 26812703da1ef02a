//! How a remainder and its count are written into the slots of a run.
//!
//! A run ascends, so a slot that is smaller than the slot before it begins a counter. A remainder x that is there once
//! is `x`, and twice is `x x`. From three times on a counter stands between two x. The digits of a counter are neither
//! 0 nor x, and the most significant digit comes first. If the first digit is greater than x, a 0 stands before the
//! digits, because the digit would look like the next remainder. No remainder is below 0, so the counter of remainder 0
//! stands between one 0 and two.
//!
//! | x | count | slots |
//! |---|---|---|
//! | any | 1, 2 | `x`; `x x` |
//! | 0 | 3 | `0 0 0` |
//! | 0 | c > 3 | `0`, digits of c - 4 in base 2^r - 1, `0 0` |
//! | x > 0 | 3 | `x 0 x` |
//! | x > 0 | c > 3 | `x`, `0` if the first digit is greater than x, digits of c - 3 in base 2^r - 2, `x` |
//!
//! A digit d is stored as d + 1, or as d + 2 if x > 0 and d + 1 is at least x. So one more copy of a fingerprint takes
//! at most one more slot.

/// The most slots of a code: three slots, 64 digits of base 2, and a 0.
pub const MOST: usize = 68;

/// The slots of one code.
#[derive(Clone, Copy)]
pub struct Code {
    slots: [u64; MOST],
    length: usize,
}

impl Code {
    /// The code of a remainder of `remainder_bits` bits, at least 2, with its count. Count 0 has an empty code.
    pub fn of(remainder: u64, count: u64, remainder_bits: u32) -> Code {
        let mut code = Code { slots: [remainder; MOST], length: count.min(2) as usize };
        if count < 3 {
            return code;
        }
        let is_zero = remainder == 0;
        let greatest = (1 << remainder_bits) - 1;
        let (base, mut rest) = if is_zero { (greatest, count - 3) } else { (greatest - 1, count - 3) };
        if rest == 0 {
            // The code is `x 0 x`, or three slots of 0 for remainder 0.
            code.slots[1] = 0;
            code.length = 3;
            return code;
        }
        if is_zero {
            rest -= 1;
        }
        let digit = |digit: u64| if !is_zero && digit + 1 >= remainder { digit + 2 } else { digit + 1 };
        // The code is written backwards, from its last slot on.
        let mut first = MOST;
        loop {
            first -= 1;
            code.slots[first] = digit(rest % base);
            rest /= base;
            if rest == 0 {
                break;
            }
        }
        if !is_zero && code.slots[first] > remainder {
            first -= 1;
            code.slots[first] = 0;
        }
        let digits = MOST - first;
        code.slots.copy_within(first.., 1);
        code.slots[1 + digits..].fill(remainder);
        code.length = digits + if is_zero { 3 } else { 2 };
        code
    }

    /// The slots that the code fills.
    pub fn slots(&self) -> &[u64] {
        &self.slots[..self.length]
    }
}

/// How many slots the code of a remainder with this count has; see [`Code::of`].
#[inline]
pub fn length(remainder: u64, count: u64, remainder_bits: u32) -> u64 {
    if count < 3 { count } else { Code::of(remainder, count, remainder_bits).length as u64 }
}

/// A remainder with its count, and the length of their code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The remainder.
    pub remainder: u64,
    /// How often it is there, at least once.
    pub count: u64,
    /// How many slots the code has.
    pub length: u64,
}

/// Reads the code at the front of the last `left` slots of a run, at least 1. `slot(i)` gives the i-th slot. Slots that
/// are not a code give some entry of at least 1 slot and at most `left`.
#[inline]
pub fn read(left: u64, remainder_bits: u32, slot: impl Fn(u64) -> u64) -> Entry {
    let remainder = slot(0);
    let once = Entry { remainder, count: 1, length: 1 };
    if left == 1 {
        return once;
    }
    let second = slot(1);
    if second > remainder && remainder > 0 {
        return once;
    }
    read_more(left, remainder_bits, remainder, second, slot)
}

/// [`read`] if the second slot may belong to this remainder's code.
#[inline(never)]
fn read_more(left: u64, remainder_bits: u32, remainder: u64, second: u64, slot: impl Fn(u64) -> u64) -> Entry {
    let entry = |count, length| Entry { remainder, count, length };
    let is_zero = remainder == 0;
    if second == remainder {
        let is_three = is_zero && left > 2 && slot(2) == 0;
        return if is_three { entry(3, 3) } else { entry(2, 2) };
    }
    let base = (1 << remainder_bits) - if is_zero { 1 } else { 2 };
    let mut at = if second == 0 { 2 } else { 1 };
    let (mut value, mut digits) = (0_u64, 0);
    while at < left {
        let next = slot(at);
        if next == remainder {
            // A counter of remainder 0 ends with another 0. Without that 0 the slots in between were remainders.
            return match (is_zero, digits) {
                (true, _) if at + 1 == left || slot(at + 1) != 0 => entry(1, 1),
                (true, _) => entry(value.saturating_add(4), at + 2),
                (false, 0) => entry(3, at + 1),
                (false, _) => entry(value.saturating_add(3), at + 1),
            };
        }
        let digit = next.saturating_sub(if !is_zero && next > remainder { 2 } else { 1 });
        value = value.saturating_mul(base).saturating_add(digit);
        digits += 1;
        at += 1;
    }
    entry(1, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(slots: &[u64], remainder_bits: u32) -> Vec<(u64, u64)> {
        let (mut at, mut entries) = (0, Vec::new());
        while at < slots.len() as u64 {
            let found = read(slots.len() as u64 - at, remainder_bits, |i| slots[(at + i) as usize]);
            entries.push((found.remainder, found.count));
            at += found.length;
        }
        entries
    }

    /// The codes match the published examples.
    #[test]
    fn codes_are_the_published_ones() {
        let code = |x, count, bits| Code::of(x, count, bits).slots().to_vec();
        assert_eq!(code(5, 3, 4), [5, 0, 5]);
        assert_eq!(code(5, 4, 4), [5, 2, 5]);
        assert_eq!(code(5, 7, 4), [5, 0, 6, 5]);
        assert_eq!(code(5, 100, 4), [5, 0, 8, 15, 5]);
        assert_eq!(code(0, 4, 4), [0, 1, 0, 0]);
        assert_eq!(code(0, 100, 4), [0, 7, 7, 0, 0]);
        assert_eq!(code(1, 10, 8), [1, 0, 9, 1]);
        assert_eq!(code(200, 1000, 8), [200, 4, 237, 200]);
    }

    /// Every count comes back, alone and among neighbours, and one more copy never takes more than one more slot.
    #[test]
    fn codes_are_read_back() {
        for bits in 2..=8_u32 {
            let greatest = (1 << bits) - 1;
            // Tries all remainders with small counts, and some with great counts.
            for x in 0..=greatest {
                let is_some = x < 4 || x >= greatest - 3 || x == greatest / 2;
                let most = if is_some { 100_000 } else { 600 };
                let mut before = 0;
                for count in (1..=most).chain([1 << 32, u64::MAX - 1, u64::MAX]) {
                    let code = Code::of(x, count, bits);
                    let length = code.slots().len() as u64;
                    assert!(code.slots().iter().all(|slot| *slot <= greatest));
                    let found = read(length, bits, |i| code.slots()[i as usize]);
                    assert_eq!(found, Entry { remainder: x, count, length }, "{x} of {bits} bits");
                    if count <= most {
                        assert!((before..=before + 1).contains(&length), "{x} of {bits} bits, {count} times");
                        assert!(length <= count);
                        before = length;
                    }
                }
            }
            // Tries two remainders one after the other, with small and great counts.
            for (x, y) in (0..=greatest.min(17)).flat_map(|x| (x + 1..=greatest.min(18)).map(move |y| (x, y))) {
                for (first, second) in
                    [1, 2, 3, 4, 5, 9, 100, 1000].iter().flat_map(|a| [1, 2, 3, 4, 7, 500].map(|b| (*a, b)))
                {
                    let slots = [Code::of(x, first, bits).slots(), Code::of(y, second, bits).slots()].concat();
                    assert_eq!(read_all(&slots, bits), [(x, first), (y, second)], "{slots:?}");
                }
            }
        }
    }

    /// Slots that are not codes are read to their end, and no further.
    #[test]
    fn what_is_no_code_is_read_to_its_end() {
        for length in 1..6_u32 {
            for number in 0..4_u64.pow(length) {
                let slots: Vec<u64> = (0..length).map(|i| number >> (2 * i) & 3).collect();
                assert!(!read_all(&slots, 2).is_empty());
            }
        }
    }
}
