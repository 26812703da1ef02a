//! Which levels a filter gets: those that take the fewest bits for a rate, or have the lowest rate in a given number of
//! bits.
//!
//! Deeds, Hentschel and Idreos, "Stacked Filters: Learning to Filter by Structure", 2020, section 4. With n members and
//! m frequent non-members, and levels of b1, b2, ... bits, the levels of members have n, n 2^-b2, n 2^-(b2 + b4), ...
//! keys, and the levels of non-members m 2^-b1, m 2^-(b1 + b3), ... keys. Of all lookups of absent keys a share s is
//! for frequent non-members. The share of false answers is then s 2^-(b1 + b3 + ...) + (1 - s) U, where U is the rate
//! of other keys ([`Stack::non_member_rate`]). Bits of a level are whole numbers, so all stacks are tried that can be
//! the best one.

use super::layout::HEAD_BITS;
use super::plan::{MAX_BITS, MAX_LEVELS, MIN_BITS, Stack, width};
use crate::error::{Result, error};
use crate::kinds::ribbon::layout::Shape as Level;
use crate::spec::Size;

/// The most bits of a level after the first. More never paid: a key that passes that many bits is rarer than one in
/// 10^4 of those that pass the levels before.
const MOST_LATER: u64 = 14;

/// The most bits of all levels of one side together.
const MOST_SUM: usize = (MAX_BITS + MOST_LATER * (MAX_LEVELS as u64 / 2)) as usize;

/// Some non-members that a filter may take, and what they are worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// How many non-members they are.
    pub non_members: u64,
    /// Their share of all lookups of absent keys.
    pub share: f64,
}

impl Known {
    /// No non-members.
    pub const NONE: Known = Known { non_members: 0, share: 0.0 };
}

/// A stack for some non-members, and the bits that its levels are expected to take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The levels.
    pub stack: Stack,
    /// The non-members that the levels are for.
    pub known: Known,
    /// The bits of all levels, each in whole words.
    pub bits: u64,
}

/// The bits to expect of a level, in whole words.
pub fn level_bits(bits: u64, keys: u64) -> Option<u64> {
    Level::expected(bits as u32, width(bits) as u32, keys)?.bits().checked_next_multiple_of(64)
}

/// How many of `keys` keys are expected to pass levels of `bits` bits together, rounded up.
pub fn passing(keys: u64, bits: u64) -> u64 {
    (keys as f64 * (-(bits as f64)).exp2()).ceil() as u64
}

/// The plan that a size asks for, in at most `room` bits with the head.
///
/// # Errors
/// [`Status::Contradiction`](crate::Status::Contradiction) for too few bits, and
/// [`Status::TooLarge`](crate::Status::TooLarge) for a rate that is too low.
pub fn plan(members: u64, choices: &[Known], size: Size, room: u64) -> Result<Plan> {
    match size {
        Size::Exact { bits, .. } => {
            let most = bits.min(room);
            let of_levels = most.checked_sub(HEAD_BITS);
            of_levels.and_then(|most| most_accurate(members, choices, most)).ok_or_else(|| {
                error!(Contradiction, "bits = {most} are too few for capacity = {members}, also with levels of one bit")
            })
        }
        Size::Rate { false_positive_rate: rate, .. } => {
            smallest(members, choices, rate).ok_or_else(|| size.too_large())
        }
    }
}

/// The plan with the fewest bits whose rate is at most `rate`, for `members` members and one of these choices of
/// non-members. Of equal plans it is the first one. `None` if no filter keeps the rate.
pub fn smallest(members: u64, choices: &[Known], rate: f64) -> Option<Plan> {
    let mut best: Option<Plan> = None;
    let mut levels = Levels { members: [None; _], non_members: [None; _] };
    for known in core::iter::once(&Known::NONE).chain(choices) {
        levels.non_members = [None; _];
        let mut search = Search { levels: &mut levels, known: *known, members, rate, best: &mut best };
        for bits in MIN_BITS..=MAX_BITS {
            // More bits than a single level needs are never better.
            if search.first(bits).is_none_or(|is_enough| is_enough) {
                break;
            }
        }
    }
    best
}

/// The plan with the lowest rate in at most `most` bits, for `members` members and one of these choices of non-members.
pub fn most_accurate(members: u64, choices: &[Known], most: u64) -> Option<Plan> {
    let plain =
        Plan { stack: Stack::single(MIN_BITS), known: Known::NONE, bits: Level::expected(1, 128, members)?.bits() };
    let mut best = Some(plain).filter(|plan| plan.bits <= most)?;
    // A lower rate never takes fewer bits.
    let (mut worse, mut better) = (0.0, -(MOST_SUM as f64));
    while worse - better > 1e-3 {
        let middle = 0.5 * (worse + better);
        match smallest(members, choices, middle.exp2()).filter(|plan| plan.bits <= most) {
            Some(plan) => {
                worse = middle;
                if plan.rate() <= best.rate() {
                    best = plan;
                }
            }
            None => better = middle,
        }
    }
    Some(best)
}

impl Plan {
    /// The expected share of false answers among all lookups of absent keys.
    pub fn rate(&self) -> f64 {
        self.stack.rate(self.known.share)
    }

    /// How many keys each level is expected to have.
    pub fn keys(&self, members: u64) -> [u64; MAX_LEVELS] {
        let mut sums = [0; 2];
        core::array::from_fn(|i| {
            let keys = passing([members, self.known.non_members][i % 2], sums[1 - i % 2]);
            sums[i % 2] += self.stack.0[i];
            keys
        })
    }
}

/// The bits of levels of one side that were computed, by the bits that keys passed and the bits of the level.
type Computed = [Option<[u64; MAX_BITS as usize + 1]>; MOST_SUM + 1];

/// The bits of levels of both sides.
struct Levels {
    members: Computed,
    non_members: Computed,
}

/// The search for the best stack over one choice of non-members.
struct Search<'a> {
    levels: &'a mut Levels,
    known: Known,
    members: u64,
    rate: f64,
    best: &'a mut Option<Plan>,
}

/// How far a stack is built.
#[derive(Clone, Copy)]
struct State {
    stack: Stack,
    levels: usize,
    /// The sums of the bits of the levels of members and of non-members.
    sums: [u64; 2],
    bits: u64,
    /// The probability that a level of non-members accepted a key.
    accepted: f64,
}

impl Search<'_> {
    /// Tries all stacks whose first level has `bits` bits. Returns whether that level alone keeps the rate. `None` if
    /// there is no such level, or if it takes more bits than the best plan.
    fn first(&mut self, bits: u64) -> Option<bool> {
        let start = State { stack: Stack::default(), levels: 0, sums: [0; 2], bits: 0, accepted: 0.0 };
        let state = self.with(&start, bits)?;
        let is_enough = self.offer(&state);
        if !is_enough {
            self.deeper(&state);
        }
        Some(is_enough)
    }

    /// The state with one more level. `None` if that takes as many bits as the best plan.
    fn with(&mut self, state: &State, bits: u64) -> Option<State> {
        let mut next = *state;
        let side = state.levels % 2;
        let (keys, computed) = match side {
            0 => (self.members, &mut self.levels.members),
            _ => (self.known.non_members, &mut self.levels.non_members),
        };
        let row = computed.get_mut(state.sums[1 - side] as usize)?.get_or_insert([0; MAX_BITS as usize + 1]);
        let level = row.get_mut(bits as usize)?;
        if *level == 0 {
            *level = level_bits(bits, passing(keys, state.sums[1 - side]))?.max(1);
        }
        next.bits = state.bits.checked_add(*level)?;
        if self.best.is_some_and(|best| next.bits >= best.bits) {
            return None;
        }
        next.stack.0[state.levels] = bits;
        next.levels += 1;
        next.sums[side] += bits;
        if side == 1 {
            let passes = |sums: [u64; 2]| (-((sums[0] + sums[1]) as f64)).exp2();
            next.accepted += passes(state.sums) - passes(next.sums);
        }
        Some(next)
    }

    /// Takes a stack as the best one if it keeps the rate.
    fn offer(&mut self, state: &State) -> bool {
        let keeps = state.stack.decisive_rate(self.known.share, self.members) <= self.rate;
        if keeps {
            *self.best = Some(Plan { stack: state.stack, known: self.known, bits: state.bits });
        }
        keeps
    }

    /// Tries all pairs of a level of non-members and a level of members after a level of members.
    fn deeper(&mut self, state: &State) {
        if state.levels + 2 > MAX_LEVELS || self.known.non_members == 0 {
            return;
        }
        for bits in MIN_BITS..=MOST_LATER {
            let Some(next) = self.with(state, bits) else { return };
            // What is accepted stays accepted, and more bits accept more.
            if (1.0 - self.known.share) * next.accepted > self.rate {
                return;
            }
            for bits in MIN_BITS..=MOST_LATER {
                let Some(next) = self.with(&next, bits) else { break };
                if self.offer(&next) {
                    break;
                }
                self.deeper(&next);
            }
        }
    }
}
