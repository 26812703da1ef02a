//! The bits of the levels of a filter, and the rates that follow from them alone.

use crate::kinds::ribbon;
use crate::sizing::{decisive, hash_floor, with_floor};

/// The most levels.
pub const MAX_LEVELS: usize = 7;
/// The fewest bits of a level.
pub const MIN_BITS: u64 = 1;
/// The most bits of a level.
pub const MAX_BITS: u64 = 32;

/// How many bits of a header word a level's bits take, in the levels after the first.
const FIELD: u32 = 6;

/// How many bits of a header word all levels after the first take.
pub const FIELDS: u32 = FIELD * (MAX_LEVELS as u32 - 1);

/// The coefficients of a key in a level of `bits` bits.
pub fn width(bits: u64) -> u64 {
    ribbon::sizing::width(bits as u32).bits.into()
}

/// The bits of each level, and zeros after the last one. The first, the third and each further odd level is a filter of
/// members. The levels between are filters of frequent non-members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stack(pub [u64; MAX_LEVELS]);

impl Stack {
    /// A stack of one level.
    pub fn single(bits: u64) -> Stack {
        let mut stack = Stack::default();
        stack.0[0] = bits;
        stack
    }

    /// How many levels there are.
    pub fn levels(&self) -> usize {
        self.0.iter().take_while(|bits| **bits > 0).count()
    }

    /// The first `levels` of these levels.
    pub fn first(&self, levels: usize) -> Stack {
        let mut stack = *self;
        stack.0.iter_mut().skip(levels).for_each(|bits| *bits = 0);
        stack
    }

    /// The two header words of this stack.
    pub fn words(&self) -> [u64; 2] {
        let [first, rest @ ..] = self.0;
        [first, rest.iter().rev().fold(0, |word, bits| word << FIELD | bits)]
    }

    /// The stack with these header words, if there is one.
    pub fn of_words([first, rest]: [u64; 2]) -> Option<Stack> {
        let mut stack = Stack::single(first);
        for (i, bits) in stack.0.iter_mut().skip(1).enumerate() {
            *bits = rest >> (FIELD * i as u32) & ((1 << FIELD) - 1);
        }
        let levels = stack.levels();
        let is_known = levels > 0
            && stack == stack.first(levels)
            && stack.words() == [first, rest]
            && stack.0[..levels].iter().all(|bits| (MIN_BITS..=MAX_BITS).contains(bits));
        is_known.then_some(stack)
    }

    /// The probability that a key which is neither a member nor a frequent non-member is taken for a member. Such a key
    /// passes a level of b bits with the probability 2^-b. A level of members rejects what does not pass; a level of
    /// non-members accepts it. A key that passes all levels gets the answer of the last one.
    pub fn non_member_rate(&self) -> f64 {
        let (mut accepted, mut passing) = (0.0, 1.0);
        for (i, bits) in self.0[..self.levels()].iter().enumerate() {
            let passes = (-(*bits as f64)).exp2();
            if i % 2 == 1 {
                accepted += passing * (1.0 - passes);
            }
            passing *= passes;
        }
        if self.levels() % 2 == 1 { accepted + passing } else { accepted }
    }

    /// The probability that a frequent non-member is taken for a member: it passes all levels of non-members, and each
    /// level of members with the probability 2^-b. If the last level is one of non-members, no member passes that
    /// level, and all that pass it are rejected.
    pub fn frequent_rate(&self) -> f64 {
        match self.levels() % 2 {
            1 => (-(self.0.iter().step_by(2).sum::<u64>() as f64)).exp2(),
            _ => 0.0,
        }
    }

    /// The share of false answers among lookups of absent keys, of which a share asks for the frequent non-members of
    /// the filter.
    pub fn rate(&self, share: f64) -> f64 {
        share * self.frequent_rate() + (1.0 - share) * self.non_member_rate()
    }

    /// [`Stack::rate`] in a filter of n members, of which other keys may have the hash, as far as that decides
    /// which stack keeps a rate.
    pub fn decisive_rate(&self, share: f64, members: u64) -> f64 {
        share * self.frequent_rate() + (1.0 - share) * self.with(members, decisive)
    }

    /// The exact rate for keys that are neither members nor frequent non-members, in a filter of `members` members.
    /// Such a key may have the hash of a member.
    pub fn rate_with(&self, members: u64) -> f64 {
        self.with(members, with_floor)
    }

    fn with(&self, members: u64, both: fn(f64, f64) -> f64) -> f64 {
        if members == 0 { 0.0 } else { both(self.non_member_rate(), hash_floor(members, 64)) }
    }
}
