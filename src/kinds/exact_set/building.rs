//! Building: which side is stored and in how many bits, the first level of that side, and the second level of the keys
//! that pass.

use super::FINGERPRINT_BITS;
use super::layout::{EXCLUDED, Shape, hashes_of};
use super::plan::{Plan, width};
use super::sizing;
use crate::batch::records::{PIECE, Records};
use crate::batch::ring::{Batch, GROUP};
use crate::batch::workers::Work;
use crate::blocks::mixing::{fingerprint, scatter};
use crate::contract::{Build, Built};
use crate::error::{Result, Status, error};
use crate::kinds::ribbon::layout::{Equations, Fingerprints, Lookup, Shape as Level, solve};
use crate::simd;
use crate::spec::{Number, Size};
use crate::storage::{Words, try_vec};
use core::sync::atomic::Ordering;

/// Makes the payload. Records of excluded keys have the bit [`EXCLUDED`].
pub fn build(build: &mut Build<u64>) -> Result<Built> {
    let sides = Sides::count(build.records)?;
    let mut plan = plan(build, &sides)?;
    let allowed = build.spec.allowed(&FINGERPRINT_BITS)?;
    let least = *allowed.start();
    loop {
        let (shape, words) = levels(build, &plan)?;
        let geometry = shape.geometry().ok_or(Status::TooLarge)?;
        // If keys are spread unevenly, they may take more bits than expected, and then each key gets one bit less.
        match build.size {
            Size::Exact { bits: most, .. } if geometry.bits > most && plan.bits > least => plan.bits -= 1,
            Size::Exact { bits: most, .. } if geometry.bits > most => {
                let bits = geometry.bits;
                return Err(error!(OutOfRange, "bits = {most} are less than the {bits} that these keys take"));
            }
            _ => return Ok(Built { geometry, words }),
        }
    }
}

/// How many keys are on each side.
struct Sides {
    members: u64,
    excluded: u64,
}

impl Sides {
    /// Counts the keys of both sides, and refuses a key that is on both.
    fn count(records: &dyn Records<u64>) -> Result<Sides> {
        let (mut sides, mut last) = (Sides { members: 0, excluded: 0 }, None);
        records.for_each(&mut |piece| {
            let mut before = last;
            for record in piece {
                // A member comes right before the excluded key that is the same.
                if before == Some(record ^ EXCLUDED) {
                    let [hash, other] = hashes_of(*record);
                    return Err(error!(
                        Contradiction,
                        "a key is a member and excluded too; its hash is {hash:#018x} or {other:#018x}"
                    ));
                }
                before = Some(*record);
                sides.excluded += record & EXCLUDED;
            }
            sides.members += piece.len() as u64;
            last = before;
            Ok(())
        })?;
        sides.members -= sides.excluded;
        Ok(sides)
    }
}

/// The plan that a spec asks for. A spec without rate, bits and parameter gets the smallest set if keys are excluded.
fn plan(build: &Build<u64>, sides: &Sides) -> Result<Plan> {
    let Sides { members, excluded } = *sides;
    let allowed = build.spec.allowed(&FINGERPRINT_BITS)?;
    let found = match build.size {
        Size::Exact { bits: most, .. } => {
            let found = sizing::most_accurate(members, excluded, allowed.clone(), most);
            found.ok_or_else(|| {
                error!(Contradiction, "bits = {most} are too few for {members} members and {excluded} excluded keys")
            })
        }
        Size::Rate { false_positive_rate: asked, .. } => {
            let is_asked = build.spec.false_positive_rate != 0.0 || excluded == 0;
            let rate = if is_asked { asked } else { 1.0 };
            sizing::smallest(members, excluded, allowed.clone(), rate).ok_or_else(|| {
                let (most, rate) = (allowed.end(), Number(rate));
                error!(
                    Contradiction,
                    "fingerprint_bits = {most} is too few for false_positive_rate = {rate} of {members} members"
                )
            })
        }
    }?;
    Ok(found)
}

/// Both levels of a plan, one after the other.
pub fn levels(build: &mut Build<u64>, plan: &Plan) -> Result<(Shape, Words)> {
    let all = build.records.count();
    let stored = if plan.is_inverted { EXCLUDED } else { 0 };
    // All of the work is that of two passes over the universe.
    let mut work = Work {
        memory: build.memory,
        threads: build.threads,
        progress: &mut |done, of| (build.progress)(share(done, of, all), 2 * all),
    };
    let first = match plan.bits {
        1 => None,
        bits => {
            let side = Side { records: build.records, side: stored, keys: plan.stored };
            Some(Fingerprints::build(&side, bits as u32 - 1, width(bits - 1) as u32, &mut work)?)
        }
    };
    let passing = Passing {
        records: build.records,
        first: first.as_ref().map(|(shape, words)| {
            (Fingerprints::new(*shape, words.shared()), Lookup::new(shape.width(), simd::best()))
        }),
        keys: 0,
    };
    let equations = OfPassing { side: stored, bit: plan.bits as u32 - 1 };
    let mut work = Work {
        memory: build.memory,
        threads: build.threads,
        progress: &mut |done, of| (build.progress)(all + share(done, of, all), 2 * all),
    };
    let (second_shape, second) = match plan.stored {
        0 => solve(&&[][..], &equations, 1, width(1) as u32, &mut work)?,
        _ => passing.solve(plan, &equations, &mut work)?,
    };
    let first_shape: Option<Level> = first.as_ref().map(|(shape, _)| *shape);
    let shape = Shape::new(plan, first_shape, second_shape).ok_or(Status::TooLarge)?;
    let mut words = Words::zeroed(shape.words().checked_mul(8).ok_or(Status::TooLarge)?)?;
    let to = words.exclusive().ok_or(Status::Internal)?;
    let first = first.as_ref().map_or(&[][..], |(_, words)| words.shared());
    let levels = first.iter().take(shape.first_words() as usize).chain(second.shared());
    let from = shape.head().into_iter().chain(levels.map(|word| word.load(Ordering::Relaxed)));
    to.iter_mut().zip(from).for_each(|(to, from)| *to = from);
    Ok((shape, words))
}

/// `done` of `of`, as a share of `all`.
fn share(done: u64, of: u64, all: u64) -> u64 {
    (u128::from(done) * u128::from(all) / u128::from(of.max(1))).min(all.into()) as u64
}

/// The keys of one side, as the records that a ribbon filter is built from.
struct Side<'a> {
    records: &'a dyn Records<u64>,
    side: u64,
    keys: u64,
}

impl Records<u64> for Side<'_> {
    fn count(&self) -> u64 {
        self.keys
    }

    fn for_each(&self, take: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()> {
        let mut kept = Kept::new()?;
        self.records.for_each(&mut |piece| {
            kept.add(piece, |_, record| record & EXCLUDED == self.side, |record| record & !EXCLUDED, take)
        })?;
        kept.finish(take)
    }
}

/// The records of the keys that pass the first level.
struct Passing<'a> {
    records: &'a dyn Records<u64>,
    first: Option<(Fingerprints<'a>, Lookup)>,
    keys: u64,
}

impl Passing<'_> {
    /// Solves the second level. The records that pass are kept if they fit into half of the memory. Otherwise each pass
    /// asks the first level again.
    fn solve(mut self, plan: &Plan, equations: &OfPassing, work: &mut Work) -> Result<(Level, Words)> {
        let columns = (1, width(1) as u32);
        if self.first.is_none() {
            self.keys = self.records.count();
            return solve(&self, equations, columns.0, columns.1, work);
        }
        let expected = plan.expected_passed();
        let room = expected + 6 * expected.isqrt() + 64;
        let fits = room.checked_mul(8).is_some_and(|bytes| bytes <= work.memory / 2);
        let mut kept = try_vec(if fits { room as usize } else { 0 })?;
        let mut passed = 0;
        self.for_each(&mut |piece| {
            passed += piece.len() as u64;
            if kept.len() as u64 + (piece.len() as u64) <= kept.capacity() as u64 {
                kept.extend_from_slice(piece);
            }
            Ok(())
        })?;
        if kept.len() as u64 == passed {
            let memory = work.memory;
            work.memory = if memory == u64::MAX { memory } else { memory - 8 * room };
            return solve(&&kept[..], equations, columns.0, columns.1, work);
        }
        drop(kept);
        self.keys = passed;
        solve(&self, equations, columns.0, columns.1, work)
    }
}

impl Records<u64> for Passing<'_> {
    fn count(&self) -> u64 {
        self.keys
    }

    fn for_each(&self, take: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()> {
        let Some((first, lookup)) = &self.first else { return self.records.for_each(take) };
        let mut kept = Kept::new()?;
        self.records.for_each(&mut |piece| {
            for part in piece.chunks(PIECE) {
                let mut asked = FirstLevelBatch { part, given: 0, answered: 0, answers: [0; PIECE / GROUP] };
                first.contains_many_ordered(lookup, &mut asked);
                let passes = |i: usize| asked.answers[i / GROUP] >> (i % GROUP) & 1 == 1;
                kept.add(part, |i, _| passes(i), |record| record, take)?;
            }
            Ok(())
        })?;
        kept.finish(take)
    }
}

/// Records as a batch for the first level.
struct FirstLevelBatch<'a> {
    part: &'a [u64],
    /// How many groups were given to the first level, and answered by it.
    given: usize,
    answered: usize,
    answers: [u64; PIECE / GROUP],
}

impl Batch for FirstLevelBatch<'_> {
    fn keys(&self) -> usize {
        self.part.len()
    }

    fn next(&mut self, hashes: &mut [u64; GROUP]) -> usize {
        let from = self.part.get(self.given * GROUP..).unwrap_or_default();
        let from = &from[..from.len().min(GROUP)];
        hashes.iter_mut().zip(from).for_each(|(hash, record)| *hash = record & !EXCLUDED);
        self.given += 1;
        from.len()
    }

    fn is_asked(&self) -> bool {
        true
    }

    fn answer(&mut self, answers: u64, _: usize) {
        if let Some(to) = self.answers.get_mut(self.answered) {
            *to = answers;
        }
        self.answered += 1;
    }
}

/// Records that wait to be passed on, a piece at a time: the first `count` of the vector.
struct Kept {
    records: Vec<u64>,
    count: usize,
}

impl Kept {
    fn new() -> Result<Kept> {
        let mut records = try_vec(PIECE)?;
        records.resize(PIECE, 0);
        Ok(Kept { records, count: 0 })
    }

    /// Keeps the wanted records of a piece, each changed by `change`. Whether one is wanted depends on its number in a
    /// part of the piece and on the record.
    #[inline(always)]
    fn add(
        &mut self,
        piece: &[u64],
        is_wanted: impl Fn(usize, u64) -> bool,
        change: impl Fn(u64) -> u64,
        take: &mut dyn FnMut(&[u64]) -> Result<()>,
    ) -> Result<()> {
        for part in piece.chunks(PIECE) {
            if self.count + part.len() > PIECE {
                take(&self.records[..self.count])?;
                self.count = 0;
            }
            // Every record is written, and the next one overwrites one that is not wanted, because the processor cannot
            // guess which are.
            let (to, mut count) = (&mut self.records[self.count..], 0);
            for (i, record) in part.iter().enumerate() {
                to[count] = change(*record);
                count += usize::from(is_wanted(i, *record));
            }
            self.count += count;
        }
        Ok(())
    }

    /// Passes on what is left.
    fn finish(self, take: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()> {
        if self.count == 0 { Ok(()) } else { take(&self.records[..self.count]) }
    }
}

/// The equations of the second level. The value of a key is a bit of its fingerprint, or the opposite one for a key
/// that is not on the stored side.
struct OfPassing {
    side: u64,
    bit: u32,
}

impl Equations<u64> for OfPassing {
    type Value = u32;

    #[inline]
    fn order(&self, record: &u64) -> u64 {
        record & !EXCLUDED
    }

    #[inline]
    fn scatter(&self, record: &u64) -> u64 {
        scatter(record & !EXCLUDED, 0)
    }

    #[inline]
    fn value(&self, record: &u64, z: u64) -> u32 {
        (fingerprint(z) >> self.bit) as u32 & 1 ^ u32::from(record & EXCLUDED != self.side)
    }
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_rise_to_all() {
        let shares = [0, 1, 2, 4].map(|done| share(done, 4, 1000));
        assert_eq!(shares, [0, 250, 500, 1000]);
        assert_eq!([share(u64::MAX, 1, 9), share(u64::MAX, u64::MAX, u64::MAX), share(0, 0, 7)], [9, u64::MAX, 0]);
    }
}
