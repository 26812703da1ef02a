//! How the partitions of a universe are stored: which of them share a set, on which side and in how many bits.
//!
//! Partitions of one *class* share a set of two levels: the same side is stored, in the same bits. So a set costs its
//! head once, however many partitions it has. Two classes need no set: no key is a member, or all are. The directory
//! lists partitions with their classes, and all partitions that it does not list are of one class, the *rest*. A
//! partition is listed if that saves more bits than its word in the directory, so small partitions are in the rest.
//!
//! All of this uses whole numbers, so that the same universe makes the same choice everywhere.

use crate::error::{Error, Result, error};
use crate::storage::try_vec;

/// No key of the partition is a member.
pub const NEVER: u8 = 0;
/// All keys of the partition are members.
pub const ALWAYS: u8 = 1;
/// The first class that has a set.
pub const FIRST_SET: u8 = 2;
/// The most bits of both levels of a set.
const MOST_BITS: u8 = 32;
/// How many classes there are.
const CLASSES: usize = FIRST_SET as usize + 2 * MOST_BITS as usize;

/// Costs are in fractions of a bit, with this many binary places.
const SCALE: u32 = 8;
/// The bits of a partition's word in the directory.
const WORD: u64 = 64 << SCALE;
/// The bits that a set takes in addition to those of its keys: its head, its row in the table, and unused slots.
const SET: u64 = 1024 << SCALE;
/// The cost of what is impossible.
const NEVER_EVER: u64 = u64::MAX >> 8;

/// The numbers of members and of excluded keys, of one partition or of several.
pub type Counts = (u64, u64);

/// The side that a class stores, the excluded keys if true, and its bits. `None` for classes without a set.
pub fn of_class(class: u8) -> Option<(bool, u8)> {
    let number = class.checked_sub(FIRST_SET)?;
    (number < 2 * MOST_BITS).then_some((number >= MOST_BITS, number % MOST_BITS + 1))
}

/// The expected bits of these keys in a class.
fn cost((members, excluded): Counts, of: u8) -> u64 {
    let Some((is_inverted, bits)) = of_class(of) else {
        let fits = if of == NEVER { members == 0 } else { excluded == 0 };
        return if fits { 0 } else { NEVER_EVER };
    };
    let (stored, others) = if is_inverted { (excluded, members) } else { (members, excluded) };
    // A key of the stored side takes all bits, and one of the others a bit if it passes the first level.
    let passed = u128::from(others) << SCALE >> (bits - 1);
    let cost = ((u128::from(stored) * u128::from(bits)) << SCALE) + passed;
    cost.min(u128::from(NEVER_EVER)) as u64
}

/// The classes of partitions.
#[derive(Debug, PartialEq, Eq)]
pub struct Choice {
    /// The class of each partition, by how many members and excluded keys it has, in ascending order.
    classes: Vec<(Counts, u8)>,
    /// The class of the partitions that are not listed, and of all unknown ones.
    pub rest: u8,
}

impl Choice {
    /// Chooses the classes for partitions, given in ascending order how many of them have how many keys. `is_allowed`
    /// says whether a class is allowed at all.
    ///
    /// # Errors
    /// [`Status::Contradiction`](crate::Status::Contradiction) if no allowed class fits;
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn of(partitions: &[(Counts, u64)], is_allowed: impl Fn(u8) -> bool) -> Result<Choice> {
        let mut allowed: [bool; CLASSES] = core::array::from_fn(|class| is_allowed(class as u8));
        let choice = Choice::among(partitions, &allowed)?;
        // A set of excluded keys that stores none contains every key, whatever rate its bits promise.
        if allowed[usize::from(ALWAYS)] || choice.classes.iter().all(|(_, class)| *class != ALWAYS) {
            return Ok(choice);
        }
        let is_inverted = |class: usize| of_class(class as u8).is_some_and(|(is_inverted, _)| is_inverted);
        (0..CLASSES).filter(|class| is_inverted(*class)).for_each(|class| allowed[class] = false);
        Choice::among(partitions, &allowed)
    }

    /// [`Choice::of`] the allowed classes.
    fn among(partitions: &[(Counts, u64)], allowed: &[bool; CLASSES]) -> Result<Choice> {
        let mut best = Best { is_used: *allowed };
        let mut listed = try_vec(partitions.len())?;
        listed.extend(partitions.iter().map(|(counts, _)| best.of(*counts).1.saturating_add(WORD)));
        let all = |rest: u8| {
            partitions.iter().zip(&listed).fold(0_u64, |sum, ((counts, times), listed)| {
                sum.saturating_add(cost(*counts, rest).min(*listed).saturating_mul(*times)).min(NEVER_EVER)
            })
        };
        // Keys of unknown partitions count as non-members of the rest. So all keys of the rest are never members, and a
        // rest that stores excluded keys, for which nearly all non-members are members, has to save more than a
        // sixteenth of the bits.
        let least = |is_inverted: bool| {
            let possible = (0..CLASSES as u8).filter(|class| *class != ALWAYS && allowed[usize::from(*class)]);
            let of_side = possible.filter(|class| of_class(*class).is_some_and(|(side, _)| side) == is_inverted);
            of_side.map(|class| (all(class), class)).min_by_key(|(bits, _)| *bits)
        };
        let rest = match (least(false), least(true)) {
            (Some((bits, class)), Some((inverted, _))) if inverted >= bits - bits / 16 => (bits, class),
            (Some(least), None) | (_, Some(least)) => least,
            (None, None) => return Err(none()),
        };
        let (bits, rest) = rest;
        if bits >= NEVER_EVER {
            return Err(none());
        }
        let of = |best: &Best, counts: Counts| {
            let (class, listed) = best.of(counts);
            let unlisted = cost(counts, rest);
            let listed = listed.saturating_add(WORD).min(NEVER_EVER);
            if unlisted <= listed { (rest, unlisted) } else { (class, listed) }
        };
        // Classes that no partition takes go first, and then, one by one, those whose partitions cost little more
        // elsewhere.
        let mut needed = [false; CLASSES];
        partitions.iter().for_each(|(counts, _)| needed[usize::from(of(&best, *counts).0)] = true);
        best.is_used = needed;
        loop {
            let (mut costs, mut others) = ([0_u64; CLASSES], [0_u64; CLASSES]);
            for (counts, times) in partitions {
                let (class, now) = of(&best, *counts);
                if class == rest {
                    continue;
                }
                let elsewhere = of(&best.without(class), *counts).1;
                let i = usize::from(class);
                costs[i] = costs[i].saturating_add(now.saturating_mul(*times));
                others[i] = others[i].saturating_add(elsewhere.saturating_mul(*times));
            }
            let saved = |class: usize| (costs[class] + SET).saturating_sub(others[class]);
            let sets = (usize::from(FIRST_SET)..CLASSES).filter(|class| *class != usize::from(rest));
            let unneeded = sets.filter(|class| best.is_used[*class] && saved(*class) > 0);
            match unneeded.max_by_key(|class| saved(*class)) {
                Some(class) => best.is_used[class] = false,
                None => break,
            }
        }
        let mut classes = try_vec(partitions.len())?;
        classes.extend(partitions.iter().map(|(counts, _)| (*counts, of(&best, *counts).0)));
        Ok(Choice { classes, rest }.simplified())
    }

    /// The class of a partition with these numbers of keys.
    pub fn class(&self, counts: Counts) -> u8 {
        let found = self.classes.binary_search_by_key(&counts, |(counts, _)| *counts);
        found.ok().and_then(|at| self.classes.get(at)).map_or(self.rest, |(_, class)| *class)
    }

    /// A set that stores nothing says the same for all keys, as a class without a set does.
    fn simplified(mut self) -> Choice {
        for from in FIRST_SET..CLASSES as u8 {
            let Some((is_inverted, _)) = of_class(from) else { continue };
            let mut of = self.classes.iter().filter(|(_, class)| *class == from).map(|(counts, _)| counts);
            if of.all(|(members, excluded)| *(if is_inverted { excluded } else { members }) == 0) {
                let to = if is_inverted { ALWAYS } else { NEVER };
                self.classes.iter_mut().filter(|(_, class)| *class == from).for_each(|(_, class)| *class = to);
                self.rest = if self.rest == from { NEVER } else { self.rest };
            }
        }
        self
    }
}

/// The classes that partitions may still take.
struct Best {
    is_used: [bool; CLASSES],
}

impl Best {
    /// The class in which these keys take the fewest bits, and how many.
    fn of(&self, counts: Counts) -> (u8, u64) {
        let used = (0..CLASSES as u8).filter(|class| self.is_used[usize::from(*class)]);
        used.map(|class| (class, cost(counts, class))).min_by_key(|(_, cost)| *cost).unwrap_or((NEVER, NEVER_EVER))
    }

    /// The classes that are left when one of them may not be taken.
    fn without(&self, class: u8) -> Best {
        let mut is_used = self.is_used;
        is_used[usize::from(class)] = false;
        Best { is_used }
    }
}

#[cold]
fn none() -> Error {
    error!(Contradiction, "no set of the allowed bits has the rate that the spec asks for")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The class with a set that stores this side in `bits` bits.
    fn class(is_inverted: bool, bits: u8) -> u8 {
        FIRST_SET + if is_inverted { MOST_BITS } else { 0 } + bits - 1
    }

    fn chosen(partitions: &[Counts]) -> Choice {
        let mut all = partitions.to_vec();
        all.sort_unstable();
        let all: Vec<_> = all.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect();
        Choice::of(&all, |_| true).unwrap()
    }

    #[test]
    fn partitions_take_what_suits_them() {
        let all = [(10, 100_000), (100_000, 300_000), (300_000, 50), (40_000, 0), (0, 9_000_000)];
        let choice = chosen(&all);
        let side = |counts| of_class(choice.class(counts)).map(|(is_inverted, _)| is_inverted);
        assert_eq!([side((100_000, 300_000)), side((300_000, 50))], [Some(false), Some(true)]);
        assert_eq!([choice.class((40_000, 0)), choice.class((0, 9_000_000))], [ALWAYS, NEVER]);
        // Ten members in 100,000 keys would take a separate set, at some 16 bits each. That is less than other sets
        // would take.
        assert_eq!(of_class(choice.class((10, 100_000))).map(|(is_inverted, _)| is_inverted), Some(false));
    }

    #[test]
    fn small_partitions_are_in_the_rest() {
        let choice = chosen(&[(1, 0), (0, 1), (1, 5), (0, 3), (1, 9), (0, 2)]);
        for counts in [(1, 0), (0, 1), (1, 5), (0, 3)] {
            assert_eq!(choice.class(counts), choice.rest);
        }
        assert!(of_class(choice.rest).is_some());
    }

    #[test]
    fn universes_of_one_side_need_no_set() {
        assert_eq!(chosen(&[]).rest, NEVER);
        assert_eq!(chosen(&[(0, 10), (0, 500)]).rest, NEVER);
        let full = chosen(&[(10, 0), (500, 0)]);
        assert_eq!([full.rest, full.class((10, 0)), full.class((500, 0))], [NEVER, ALWAYS, ALWAYS]);
        let limited = Choice::of(&[((10, 0), 3)], |class| of_class(class) == Some((false, 7)));
        assert_eq!(of_class(limited.unwrap().rest), Some((false, 7)));
        assert!(Choice::of(&[((10, 5), 3)], |class| class < FIRST_SET).is_err());
        // Without the class of all members a set of members says the same, except at its rate.
        let limited = Choice::of(&[((10, 0), 3), ((500, 0), 1)], |class| class != ALWAYS).unwrap();
        assert!([(10, 0), (500, 0)].map(|of| limited.class(of)).iter().all(|of| of_class(*of).is_some_and(|of| !of.0)));
        let of_excluded = |class| of_class(class).is_some_and(|(is_inverted, _)| is_inverted);
        assert!(Choice::of(&[((10, 0), 3)], of_excluded).is_err());
        assert!(of_excluded(Choice::of(&[((10, 0), 3), ((10, 5), 1)], of_excluded).unwrap().class((10, 0))));
    }

    #[test]
    fn classes_have_numbers() {
        for (is_inverted, bits) in (1..=32).flat_map(|bits| [(false, bits), (true, bits)]) {
            assert_eq!(of_class(class(is_inverted, bits)), Some((is_inverted, bits)));
        }
        assert_eq!((of_class(ALWAYS), of_class(CLASSES as u8)), (None, None));
    }
}
