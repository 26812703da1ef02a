//! The mothers of void entries: what such an entry knew of its key when it became void. A removal needs that.
//!
//! A void entry of which l bits are known is there once for each address that agrees with these bits. When one of these
//! copies is removed, the others stay until their segments grow. A growth then finds that an address has fewer mothers
//! than void entries, and drops the rest. So a removal need not look for the copies. Nor does it take the copy of
//! another key: of the mothers that agree with the removed key, the one that knows most goes.
//!
//! The mothers are a multiset in open addressing with linear probing. A place is two words: the l bits with a one above
//! them, and how often that mother is there. Both words are 0 in a free place. At most three of four places are taken.

use crate::bits::mix;

/// The base-2 logarithm of the fewest places.
pub const LEAST_BITS: u32 = 3;

/// The mother of a key whose entry becomes void: the low `bits` bits of its hash, at most 63, below a one.
#[inline]
pub fn mother(hash: u64, bits: u32) -> u64 {
    hash & ((1 << bits) - 1) | 1 << bits
}

/// The base-2 logarithm of a number of places that is enough for `mothers` different mothers; 0 if there are none.
pub fn size_for(mothers: u64) -> u32 {
    if mothers == 0 { 0 } else { (mothers + mothers / 3 + 1).next_power_of_two().ilog2().max(LEAST_BITS) }
}

/// The place where the search for a mother begins, among a power of two of places.
#[inline]
fn home(mother: u64, places: usize) -> usize {
    mix(mother) as usize & (places - 1)
}

/// The places from a mother's home up to the first free one. In forged words without a free place these are all places,
/// so the search ends.
fn cluster(words: &[impl Word], mother: u64) -> impl Iterator<Item = usize> {
    let places = words.len() / 2;
    let from = if places == 0 { 0 } else { home(mother, places) };
    (0..places).map(move |i| (from + i) & (places - 1)).take_while(|place| words[2 * place].get() != 0)
}

/// How often a mother is there.
pub fn count(words: &[impl Word], mother: u64) -> u64 {
    cluster(words, mother).find(|place| words[2 * place].get() == mother).map_or(0, |place| words[2 * place + 1].get())
}

/// Adds a mother `times` times to words that have a free place. Returns whether it was absent before.
pub fn add(words: &mut [u64], mother: u64, times: u64) -> bool {
    let (mut after, mut same) = (0, None);
    for place in cluster(words, mother) {
        after += 1;
        if words[2 * place] == mother {
            same = Some(place);
            break;
        }
    }
    if let Some(place) = same {
        words[2 * place + 1] = words[2 * place + 1].saturating_add(times);
        return false;
    }
    let places = words.len() / 2;
    if after >= places {
        return false;
    }
    let place = (home(mother, places) + after) & (places - 1);
    words[2 * place..2 * place + 2].copy_from_slice(&[mother, times]);
    true
}

/// Removes a mother once. `None` if it was absent; otherwise whether it is gone now.
pub fn remove(words: &mut [u64], mother: u64) -> Option<bool> {
    let mut free = cluster(words, mother).find(|place| words[2 * place] == mother)?;
    if words[2 * free + 1] > 1 {
        words[2 * free + 1] -= 1;
        return Some(false);
    }
    let places = words.len() / 2;
    let (after, mask) = (free + 1, places - 1);
    words[2 * free..2 * free + 2].fill(0);
    // A mother behind the free place moves up if a search would not reach it otherwise (Knuth, "The Art of Computer
    // Programming" 3, section 6.4, algorithm R).
    for at in (0..places).map(|i| (after + i) & mask) {
        if words[2 * at] == 0 {
            break;
        }
        let distance = at.wrapping_sub(home(words[2 * at], places)) & mask;
        if distance >= at.wrapping_sub(free) & mask {
            words.copy_within(2 * at..2 * at + 2, 2 * free);
            words[2 * at..2 * at + 2].fill(0);
            free = at;
        }
    }
    Some(true)
}

/// All different mothers, and how often each is there.
pub fn all<'a>(words: &'a [impl Word]) -> impl Iterator<Item = (u64, u64)> + 'a {
    words.as_chunks().0.iter().map(|[mother, count]| (mother.get(), count.get())).filter(|(mother, _)| *mother != 0)
}

/// Whether words are a multiset of `mothers` different mothers. Each mother has to know a number of bits from `least`
/// to `most`, and a search has to find it. The check is linear, whatever the words hold.
pub fn is_one(words: &[impl Word], mothers: u64, (least, most): (u32, u32)) -> bool {
    let (places, (pairs, _)) = (words.len() / 2, words.as_chunks::<2>());
    if pairs.iter().filter(|[mother, _]| mother.get() != 0).count() as u64 != mothers {
        return false;
    }
    // A cluster can continue from the last place at the first one, so only the second round knows how many taken places
    // are before each mother. Each cluster ends, because at least a quarter of the places is free.
    let mut taken = 0;
    let mut rounds = (0..2).flat_map(|round| pairs.iter().enumerate().map(move |(at, pair)| (round, at, pair)));
    let is_right = rounds.all(|(round, at, [mother, count])| {
        let (mother, count) = (mother.get(), count.get());
        if mother == 0 {
            taken = 0;
            return count == 0;
        }
        taken += 1;
        let distance = at.wrapping_sub(home(mother, places)) & (places - 1);
        count > 0 && (least..=most).contains(&mother.ilog2()) && (round == 0 || distance < taken)
    });
    is_right && (mothers == 0 || places.checked_ilog2() >= Some(size_for(mothers)))
}

/// A word that can be read, plain or atomic.
pub trait Word {
    /// The word's value.
    fn get(&self) -> u64;
}

impl Word for u64 {
    #[inline]
    fn get(&self) -> u64 {
        *self
    }
}

impl Word for core::sync::atomic::AtomicU64 {
    #[inline]
    fn get(&self) -> u64 {
        self.load(core::sync::atomic::Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the multiset with a plain list, with few different mothers in a table that is nearly full.
    #[test]
    fn it_is_a_multiset() {
        let (mut words, mut counts) = (vec![0_u64; 64], [0_u64; 28]);
        for i in 0..20_000 {
            let random = mix(i);
            let which = (random >> 8) % 28;
            let (one, before) = (mother(which, 5), counts[which as usize]);
            if random & 1 == 0 {
                let times = 1 + (random >> 20) % 2;
                assert_eq!(add(&mut words, one, times), before == 0);
                counts[which as usize] += times;
            } else {
                assert_eq!(remove(&mut words, one), if before == 0 { None } else { Some(before == 1) });
                counts[which as usize] = before.saturating_sub(1);
            }
            let other = (random >> 30) % 28;
            assert_eq!(count(&words, mother(other, 5)), counts[other as usize]);
            let different = counts.iter().filter(|count| **count > 0).count() as u64;
            assert_eq!(all(&words[..]).count() as u64, different);
            assert!(different > 23 || is_one(&words, different, (5, 5)) && !is_one(&words, different, (6, 7)));
        }
    }

    #[test]
    fn sizes_leave_a_quarter_free() {
        assert_eq!(size_for(0), 0);
        for mothers in 1..2000 {
            let places = 1_u64 << size_for(mothers);
            assert!(4 * mothers <= 3 * places + 3 && mothers < places, "{mothers}: {places}");
        }
    }
}
