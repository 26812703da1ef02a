//! Building: which non-members are taken, in which levels, and the levels one after the other.

use super::FREQUENT_SHARE;
use super::layout::{Lookups, Shape, scattered};
use super::plan::{MAX_LEVELS, width};
use super::sizing::{self, Known, Plan};
use crate::batch::records::{PIECE, Records, Weighted};
use crate::batch::workers::Work;
use crate::blocks::mixing::{fingerprint, hash_of};
use crate::contract::{Build, Built};
use crate::error::{Result, Status, error};
use crate::kinds::ribbon::layout::{Equations, Shape as Level, solve};
use crate::simd;
use crate::spec::Size;
use crate::storage::{Words, try_vec};
use core::sync::atomic::Ordering;

/// Makes the payload.
pub fn build(build: &mut Build<u64>) -> Result<Built> {
    let choices = Choices::new(build)?;
    let (mut chosen, most) = (
        choices.plan(build, u64::MAX)?,
        match build.size {
            Size::Exact { bits, .. } => bits,
            Size::Rate { .. } => u64::MAX,
        },
    );
    let mut room = most;
    loop {
        let (shape, words) = levels(build, &chosen, choices.least_of(&chosen.known))?;
        let geometry = shape.geometry().ok_or(Status::TooLarge)?;
        // Keys that are spread unevenly may take more than was expected. Then the plan gets that many bits less.
        let excess = geometry.bits.saturating_sub(most);
        if excess != 0 {
            room = room.saturating_sub(excess);
            if let Ok(smaller) = choices.plan(build, room) {
                chosen = smaller;
                continue;
            }
        }
        return Ok(Built { geometry, words });
    }
}

/// How many classes of weights there are for each doubling of a weight.
const CLASSES: u32 = 4;

/// The non-members, counted by classes of their weights. A filter takes all non-members of a class or none.
struct Choices {
    /// For each choice the least units of a weight that is taken, and what is known then. The choice with the fewest
    /// non-members comes first.
    least: Vec<u128>,
    known: Vec<Known>,
}

/// The class of a weight of `units` units, and the least units of that class.
fn class(units: u128) -> (usize, u128) {
    let exponent = units.max(1).ilog2();
    let shift = exponent.saturating_sub(CLASSES.ilog2());
    let lead = units >> shift;
    ((exponent * CLASSES) as usize + (lead as usize & (CLASSES as usize - 1)), lead << shift)
}

impl Choices {
    /// The choices among all non-members that a builder was given.
    fn new(build: &Build<u64>) -> Result<Choices> {
        let (mut least, mut known) = (Vec::new(), Vec::new());
        let share = build.spec.real_parameter(&FREQUENT_SHARE)?;
        let Some(non_members) =
            build.frequent.filter(|non_members| non_members.count() > 0 && build.records.count() > 0)
        else {
            return Ok(Choices { least, known });
        };
        let classes = (u128::BITS * CLASSES) as usize;
        // Of each class: how many non-members, the sums of the low and of the high halves of their units, which no
        // number of non-members lets overflow, and the least units.
        let mut counts = try_vec(classes)?;
        counts.resize(classes, (0_u64, [0_u128; 2], 0_u128));
        non_members.for_each(&mut |piece| {
            for non_member in piece {
                let (class, least) = class(non_member.units());
                let (count, [low, high], from) = &mut counts[class];
                let units = non_member.units();
                (*count, *low, *high) = (*count + 1, *low + u128::from(units as u64), *high + (units >> 64));
                *from = least;
            }
            Ok(())
        })?;
        let weight = |[low, high]: [u128; 2]| low as f64 + high as f64 * 64_f64.exp2();
        let all: f64 = counts.iter().rev().map(|(_, units, _)| weight(*units)).sum();
        least = try_vec(classes)?;
        known = try_vec(classes)?;
        let (mut taken, mut of_taken) = (0, 0.0);
        for (count, units, from) in counts.iter().rev().filter(|(count, ..)| *count > 0) {
            taken += count;
            of_taken += weight(*units);
            least.push(*from);
            known.push(Known { non_members: taken, share: share * (of_taken / all).min(1.0) });
        }
        Ok(Choices { least, known })
    }

    /// The least units of a weight that is taken for what is known of a plan.
    fn least_of(&self, known: &Known) -> u128 {
        let choice = self.known.iter().position(|one| one.non_members == known.non_members);
        choice.and_then(|choice| self.least.get(choice)).copied().unwrap_or(u128::MAX)
    }

    /// The plan that a spec asks for, in at most `room` bits.
    fn plan(&self, build: &Build<u64>, room: u64) -> Result<Plan> {
        sizing::plan(build.records.count(), &self.known, build.size, room)
    }
}

/// A level that was solved, and its words.
type Solved = (Level, Words);

/// All levels of a plan, one after the other. NonMembers whose weight has fewer than `least` units are not taken.
fn levels(build: &mut Build<u64>, plan: &Plan, least: u128) -> Result<(Shape, Words)> {
    let lookups = Lookups::new(simd::best());
    let stack = plan.stack;
    let planned = stack.levels();
    let mut solved: Vec<Solved> = try_vec(planned)?;
    let (members, count) = (build.records, build.records.count());
    let non_members = ChosenStrangers { records: build.frequent, least, count: plan.known.non_members };
    for (i, expected) in plan.keys(count).into_iter().enumerate().take(planned) {
        let side: &dyn Records<u64> = if i % 2 == 0 { members } else { &non_members };
        let passing = Passing { side, below: &solved, number: i, lookups, keys: 0 };
        let memory = build.memory;
        // Keys that pass are kept if they fit into half of the memory. Otherwise each pass asks the levels again.
        let kept = if i > 0 { passing.keep(expected, memory / 2)? } else { Kept { keys: count, all: None } };
        if kept.keys == 0 && i > 0 {
            break;
        }
        let mut work = Work {
            memory: kept.leaves(memory),
            threads: build.threads,
            progress: &mut |done, of| {
                let level = u128::from(done) * u128::from(count) / u128::from(of.max(1));
                (build.progress)(i as u64 * count + level.min(count.into()) as u64, planned as u64 * count)
            },
        };
        let (columns, width) = (stack.0[i] as u32, width(stack.0[i]) as u32);
        let equations = OfLevel(i);
        let level = match &kept.all {
            Some(all) => solve(&&all[..], &equations, columns, width, &mut work)?,
            None => solve(&Passing { keys: kept.keys, ..passing }, &equations, columns, width, &mut work)?,
        };
        solved.push(level);
        if i == 0 {
            refuse_members(build, &solved, lookups)?;
        }
    }
    let mut shapes = [None; MAX_LEVELS];
    shapes.iter_mut().zip(&solved).for_each(|(shape, (level, _))| *shape = Some(*level));
    let shape = Shape::new(&stack.first(solved.len()), non_members.count(), &shapes).ok_or(Status::TooLarge)?;
    let geometry = shape.geometry().ok_or(Status::TooLarge)?;
    let mut words = Words::zeroed(geometry.payload_bytes)?;
    let to = words.exclusive().ok_or(Status::Internal)?;
    let levels =
        solved.iter().flat_map(|(level, words)| words.shared().iter().take(level.bits().div_ceil(64) as usize));
    let from = shape.head().into_iter().chain(levels.map(|word| word.load(Ordering::Relaxed)));
    to.iter_mut().zip(from).for_each(|(to, from)| *to = from);
    Ok((shape, words))
}

/// Refuses a non-member that is a member too. Such a key passes the first level, so only the non-members that pass are
/// compared with the members, as many at a time as the memory holds.
fn refuse_members(build: &Build<u64>, first: &[Solved], lookups: Lookups) -> Result<()> {
    let all = build.frequent.map_or(0, |records| records.count());
    let non_members = ChosenStrangers { records: build.frequent, least: 0, count: all };
    let passing = Passing { side: &non_members, below: first, number: 1, lookups, keys: 0 };
    let most = usize::try_from(build.memory / 16).unwrap_or(usize::MAX).max(PIECE);
    let mut held: Vec<u64> = try_vec(PIECE)?;
    let compare = |held: &[u64]| {
        let mut next = 0;
        build.records.for_each(&mut |piece| {
            for member in piece {
                while held.get(next).is_some_and(|non_member| non_member < member) {
                    next += 1;
                }
                if held.get(next) == Some(member) {
                    let hash = hash_of(*member);
                    return Err(error!(
                        Contradiction,
                        "a key is a member and a frequent non-member too; its hash is {hash:#018x}"
                    ));
                }
            }
            Ok(())
        })
    };
    passing.for_each(&mut |piece| {
        if held.len() + piece.len() > most {
            compare(&held)?;
            held.clear();
        }
        held.try_reserve(piece.len()).map_err(|_| Status::OutOfMemory)?;
        held.extend_from_slice(piece);
        Ok(())
    })?;
    if held.is_empty() { Ok(()) } else { compare(&held) }
}

/// The non-members that a filter takes.
struct ChosenStrangers<'a> {
    records: Option<&'a dyn Records<Weighted>>,
    /// The least units of their weights.
    least: u128,
    count: u64,
}

impl Records<u64> for ChosenStrangers<'_> {
    fn count(&self) -> u64 {
        self.count
    }

    fn for_each(&self, take: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()> {
        let Some(records) = self.records else { return Ok(()) };
        let mut hashes = try_vec(PIECE)?;
        records.for_each(&mut |piece| {
            for part in piece.chunks(PIECE) {
                hashes.clear();
                hashes.extend(part.iter().filter(|one| one.units() >= self.least).map(|one| one.hash));
                if !hashes.is_empty() {
                    take(&hashes)?;
                }
            }
            Ok(())
        })
    }
}

/// The keys of one side that pass the levels of the other side that were solved before.
struct Passing<'a> {
    side: &'a dyn Records<u64>,
    below: &'a [Solved],
    /// The number of the level that these keys are for.
    number: usize,
    lookups: Lookups,
    keys: u64,
}

/// Keys that pass.
struct Kept {
    /// How many they are.
    keys: u64,
    /// The keys, if there was memory for them.
    all: Option<Vec<u64>>,
}

impl Kept {
    /// How many keys there is memory for.
    fn room(&self) -> u64 {
        self.all.as_ref().map_or(0, |all| all.capacity() as u64)
    }

    /// How much of `memory` bytes is left.
    fn leaves(&self, memory: u64) -> u64 {
        memory.saturating_sub(8 * self.room())
    }
}

impl Passing<'_> {
    /// Whether a key passes the levels of the other side. Those of its own side it passes for certain.
    fn passes(&self, x: u64) -> bool {
        let others = self.below.iter().enumerate().skip((self.number + 1) % 2).step_by(2);
        others.into_iter().all(|(i, (level, words))| self.lookups.passes(i, level, words.shared(), x))
    }

    /// Counts the keys, and keeps them if they take at most `bytes` bytes.
    fn keep(&self, expected: u64, bytes: u64) -> Result<Kept> {
        let room = expected + 6 * expected.isqrt() + 64;
        let fits = room.checked_mul(8).is_some_and(|needed| needed <= bytes);
        let mut all = try_vec(if fits { room as usize } else { 0 })?;
        let mut keys = 0;
        self.for_each(&mut |piece| {
            keys += piece.len() as u64;
            if all.len() as u64 + (piece.len() as u64) <= all.capacity() as u64 {
                all.extend_from_slice(piece);
            }
            Ok(())
        })?;
        Ok(Kept { keys, all: (all.len() as u64 == keys).then_some(all) })
    }
}

impl Records<u64> for Passing<'_> {
    fn count(&self) -> u64 {
        self.keys
    }

    fn for_each(&self, take: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()> {
        if self.below.is_empty() {
            return self.side.for_each(take);
        }
        let mut passing = try_vec(PIECE)?;
        self.side.for_each(&mut |piece| {
            for part in piece.chunks(PIECE) {
                passing.clear();
                passing.extend(part.iter().filter(|x| self.passes(**x)));
                if !passing.is_empty() {
                    take(&passing)?;
                }
            }
            Ok(())
        })
    }
}

/// The equations of a level: records are ordered hashes, and their values are fingerprints of the level's own hash.
struct OfLevel(usize);

impl Equations<u64> for OfLevel {
    type Value = u32;

    #[inline]
    fn order(&self, record: &u64) -> u64 {
        *record
    }

    #[inline]
    fn scatter(&self, record: &u64) -> u64 {
        scattered(*record, self.0)
    }

    #[inline]
    fn value(&self, _: &u64, z: u64) -> u32 {
        fingerprint(z) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys that pass are kept if the memory is enough for as many as are expected and a few more, and only if no more
    /// than these come.
    #[test]
    fn no_more_keys_are_kept_than_fit() {
        let keys: Vec<u64> = (0..1000).collect();
        let room = 1000 + 6 * 31 + 64;
        let side: &dyn Records<u64> = &&keys[..];
        let passing = Passing { side, below: &[], number: 1, lookups: Lookups::new(simd::best()), keys: 0 };
        for (expected, bytes, kept) in [
            (1000, u64::MAX, room),
            (1000, 8 * room, room),
            (1000, 8 * room - 1, 0),
            (100, u64::MAX, 0),
            (1 << 61, 9, 0),
        ] {
            let found = passing.keep(expected, bytes).unwrap();
            assert_eq!((found.keys, found.room()), (1000, kept), "{expected} in {bytes} bytes");
            assert_eq!((found.leaves(20_000), found.leaves(100)), (20_000 - 8 * kept, if kept > 0 { 0 } else { 100 }));
            assert!(found.all.is_none_or(|all| all == keys));
        }
    }
}
