//! The union of two chains: their levels side by side.
//!
//! Two full levels would be overfull as one, so each level stays as it is. The union has the levels of both chains, and
//! its rate is that of asking both: at most twice the rate that each chain keeps to. Fewer levels suffice in two cases.
//!
//! In the first case a level has no bit that another level of its size lacks. So a chain that is merged again, or with
//! a copy of itself, adds nothing, and a copy that grew on adds only the keys that came since. In the second case the
//! level in use and a level of its size together hold no more keys than one level may.

use super::filter::{IN_USE, Scalable, TAKEN};
use super::schedule::{MAX_OF_SIZE, STATE_WORDS, Schedule};
use crate::bits;
use crate::contract::{Base, Capabilities, Kind, Merge, Payload};
use crate::error::{Result, Status, error};
use crate::order::sort_few_by_key;
use crate::storage::{Words, try_vec};
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

/// A level of either chain.
#[derive(Clone, Copy)]
struct Level<'a> {
    size: u32,
    words: &'a [AtomicU64],
}

impl Level<'_> {
    fn is_empty(&self) -> bool {
        self.words.iter().all(|word| word.load(Ordering::Relaxed) == 0)
    }

    /// Whether another level of the same size has all bits of this level.
    fn is_within(&self, other: &Level) -> bool {
        let mut both = self.words.iter().zip(other.words);
        self.size == other.size && both.all(|(a, b)| a.load(Ordering::Relaxed) & !b.load(Ordering::Relaxed) == 0)
    }
}

/// A chain, from its first level up to the level in use.
struct Chain<'a> {
    schedule: Schedule,
    /// The levels before the one in use.
    full: Vec<Level<'a>>,
    /// The level in use, and how many keys it has taken.
    last: Level<'a>,
    taken: u64,
}

impl<'a> Chain<'a> {
    fn of(base: &'a Base) -> Result<Chain<'a>> {
        let foreign = || base.foreign_geometry();
        let schedule = Schedule::of(base.geometry()).ok_or_else(foreign)?;
        let words = base.words().shared();
        let state = &words[words.len() - STATE_WORDS..];
        let [taken, in_use] = [TAKEN, IN_USE].map(|place| state[place].load(Ordering::Relaxed));
        let count = in_use.min(u64::from(schedule.count()) - 1) as u32 + 1;
        let mut full = try_vec(count as usize)?;
        for (place, size) in (0..count).zip(schedule.sizes()) {
            let ends = schedule.start(place).zip(schedule.start(place + 1));
            let (start, end) = ends.ok_or_else(foreign)?;
            full.push(Level { size, words: words.get(start..end).ok_or_else(foreign)? });
        }
        let last = full.pop().ok_or_else(foreign)?;
        Ok(Chain { schedule, full, last, taken })
    }

    /// How many keys the level in use has taken after taking the bits of another level, which is the last of `other` or
    /// a full one. The number is estimated from the bits of the union. `None` if one level may not have that many keys.
    fn taken_with(&self, part: &Level, other: &Chain, base: &Base) -> Result<Option<u64>> {
        let size = self.last.size;
        if part.size != size {
            return Ok(None);
        }
        let full = self.schedule.full(size)?;
        if self.last.is_within(part) && part.is_within(&other.last) {
            return Ok(Some(other.taken.min(full.capacity)));
        }
        let layout = self.schedule.kind().open(&self.schedule.level(size)?, base.instructions())?;
        let ones = bits::count_ones_of_union(self.last.words, part.words);
        let keys = layout.cardinality(ones).filter(|keys| *keys <= full.seen);
        keys.map(|keys| Ok(self.schedule.taken(size, keys)?.max(self.taken).min(full.capacity))).transpose()
    }

    /// The payload of these levels in the order of their sizes. The last level also gets the bits of `joins`.
    fn whole(&self, joins: Option<Level>) -> Result<(Schedule, Words)> {
        let Chain { full, last, taken, .. } = self;
        let mut schedule = self.schedule.first().with_levels(last.size + 1);
        let sizes = || full.iter().chain([last]).map(|level| level.size);
        for (size, next) in sizes().zip(sizes().skip(1)) {
            if size == next {
                schedule = schedule.with_another(size).ok_or_else(|| {
                    error!(
                        Full,
                        "a filter of the kind scalable has at most {MAX_OF_SIZE} levels of one size, after merging"
                    )
                })?;
            }
        }
        let geometry = schedule.geometry()?;
        let mut words = Words::zeroed(geometry.payload_bytes)?;
        let all = words.exclusive().ok_or(Status::Internal)?;
        let (levels, state) = all.split_at_mut(all.len() - STATE_WORDS);
        let of_levels = full.iter().chain([last]).flat_map(|level| level.words);
        for (to, from) in levels.iter_mut().zip(of_levels) {
            *to = from.load(Ordering::Relaxed);
        }
        if let Some(joins) = joins {
            let start = levels.len() - joins.words.len();
            bits::unite(&mut levels[start..], joins.words);
        }
        (state[TAKEN], state[IN_USE]) = (*taken, full.len() as u64);
        Ok((schedule, words))
    }
}

/// What makes a filter the union of two.
enum Change {
    /// The filter is the union already.
    None,
    /// The filter's level in use takes the bits of these words of the other filter, and then has taken this many keys.
    Last(Range<usize>, u64),
    /// The filter gets these words, with these levels.
    Whole(Schedule, Words),
}

impl Scalable {
    /// The change that makes the filter hold the keys of another chain as well.
    fn change_for(&self, other: &Base) -> Result<Change> {
        let (mut into, mut rest) = (Chain::of(self.base())?, Chain::of(other)?);
        let mut is_same = rest.last.size < into.last.size
            || rest.last.size == into.last.size
                && (rest.taken <= into.taken || into.taken_with(&rest.last, &rest, self.base())?.is_some());
        if !is_same {
            core::mem::swap(&mut into, &mut rest);
        }
        let mut joins = None;
        for (place, part) in (0..).zip(rest.full.iter().copied().chain([rest.last])) {
            if part.is_empty() || part.is_within(&into.last) || into.full.iter().any(|level| part.is_within(level)) {
                continue;
            }
            if joins.is_none()
                && let Some(taken) = into.taken_with(&part, &rest, self.base())?
            {
                (joins, into.taken) = (Some((place, part)), taken);
                continue;
            }
            is_same = false;
            match into.full.iter_mut().find(|level| level.is_within(&part)) {
                Some(level) => *level = part,
                None => {
                    into.full.try_reserve(1).map_err(|_| Status::OutOfMemory)?;
                    into.full.push(part);
                }
            }
        }
        Ok(match joins {
            None if is_same => Change::None,
            Some((place, part)) if is_same => {
                let start = rest.schedule.start(place).ok_or(Status::Internal)?;
                Change::Last(start..start + part.words.len(), into.taken)
            }
            _ if !self.base().is_own() => return Err(self.base().full()),
            _ => {
                sort_few_by_key(&mut into.full, |level| level.size);
                let (schedule, words) = into.whole(joins.map(|(_, part)| part))?;
                Change::Whole(schedule, words)
            }
        })
    }
}

impl Merge for Scalable {
    fn merge_with(&mut self, other: &dyn Kind) -> Result<()> {
        self.base().check_capability("merge", Capabilities::MERGE)?;
        match self.change_for(other.base())? {
            Change::None => Ok(()),
            Change::Last(words, taken) => self.unite_last(&other.base().words().shared()[words], taken),
            Change::Whole(schedule, words) => self.replace(schedule, words),
        }
    }
}
