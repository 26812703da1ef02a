//! Sorting records by radix, in place.
//!
//! Hashes are uniform, so their leading bits say roughly where they go. Records are moved to one of up to 512 places by
//! the first bits in which any two differ (American flag sort: McIlroy, Bostic and McIlroy, "Engineering radix sort",
//! 1993). The same is done within each place until a place fits into the first-level cache. There the records are
//! counted out, by as many bits as leave about one record in each place. Keys that are not uniform cost at most a pass
//! for each eight bits, because bits that all records share are skipped. If too many records of the last pass have the
//! same place, a comparison sort takes over.

use super::record::{Record, STRETCH};
use crate::batch::workers::HAS_THREADS;
use crate::error::{Result, Status};
use crate::making::progress::Steps;
use crate::order::sort_by_key;
use crate::storage::try_vec;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// The most bits by which records are moved in one pass.
const BITS: u32 = 9;

/// The bytes of the records that are counted out together. More, up to the second-level cache, was no faster.
const SCRATCH: usize = 1 << 14;

/// How many records a comparison sort sorts just as fast.
const FEW: usize = 32;

/// In the last pass, up to this many records in the same place are left to insertion sort.
const CROWD: u16 = 24;

/// A thread does not pay for fewer records than this.
const FEWEST_OF_A_THREAD: usize = 1 << 15;

/// Sorts records by their keys, in place, on `threads` threads; 0 and 1 mean only this one. Returns whether any two
/// records have the same key. `steps` advances by one for each record, and learns of passes over many records that put
/// none in its last place. Only if all records have the same key is nothing reported. O(n) for uniform keys, O(n log n)
/// for any. Takes 24 KiB a thread. A sort that is stopped leaves all records there, in some order.
///
/// # Errors
/// [`Status::Cancelled`], [`Status::OutOfMemory`].
pub fn sort<R: Record>(records: &mut [R], threads: usize, steps: &mut Steps) -> Result<bool> {
    if records.len() <= AT_ONCE {
        sort_by_key(records, R::key);
        if records.windows(2).all(|pair| pair[0].key() != pair[1].key()) {
            return steps.advance(records.len() as u64).map(|()| false);
        }
    }
    let others = Others::default();
    let equal = sort_on(records, threads.min(records.len() / FEWEST_OF_A_THREAD), &others, &mut |did| {
        let outcome = match did {
            Did::Sort(count) => steps.advance(count + others.sorted.swap(0, Ordering::Relaxed)),
            Did::Move(count) => steps.stay(count),
        };
        others.stop.fetch_or(outcome.is_err(), Ordering::Relaxed);
        outcome
    })?;
    steps.advance(others.sorted.swap(0, Ordering::Relaxed))?;
    Ok(equal)
}

/// Up to this many records are not worth the memory and the preparations of a radix sort.
const AT_ONCE: usize = 64;

/// What the other threads and the caller's thread tell each other. The caller's thread reports what the others did.
#[derive(Default)]
struct Others {
    /// How many records the other threads sorted since the last report.
    sorted: AtomicU64,
    stop: AtomicBool,
}

/// What was done to some records.
#[derive(Clone, Copy)]
enum Did {
    /// This many records are where they belong.
    Sort(u64),
    /// This many records are nearer to their places.
    Move(u64),
}

/// A function that learns what was done to records. An error ends the sort.
type Advance<'a> = dyn FnMut(Did) -> Result<()> + 'a;

/// Sorts records on `threads` threads, this one included.
fn sort_on<R: Record>(records: &mut [R], threads: usize, others: &Others, advance: &mut Advance) -> Result<bool> {
    if threads < 2 || !HAS_THREADS {
        let mut sorter = Sorter::new(records.len(), advance)?;
        sorter.sort(records, u64::BITS)?;
        return Ok(sorter.equal);
    }
    // Each half has about as many records for each of its threads, whatever the keys are, unless most keys are the
    // same.
    let half = threads / 2;
    let middle = part(records, half, threads, advance)?;
    let (low, high) = records.split_at_mut(middle);
    let sort_low = || {
        let mut advance = |did| {
            if let Did::Sort(count) = did {
                others.sorted.fetch_add(count, Ordering::Relaxed);
            }
            if others.stop.load(Ordering::Relaxed) { Err(Status::Cancelled.into()) } else { Ok(()) }
        };
        sort_on(&mut *low, half, others, &mut advance)
    };
    let (here, there) = thread::scope(|scope| {
        let other = thread::Builder::new().spawn_scoped(scope, sort_low);
        let here = sort_on(high, threads - half, others, advance);
        match other {
            Ok(other) => (here, Some(other.join().unwrap_or(Err(Status::Internal.into())))),
            // The system has no further thread for us.
            Err(_) => (here, None),
        }
    });
    let above = here?;
    let below = match there {
        Some(there) => there?,
        None => sort_on(low, 1, others, advance)?,
    };
    Ok(above || below)
}

/// How many records are sampled to find one that divides all records: enough for parts that differ by a few hundredths.
const SAMPLE: usize = 1 << 10;

/// Moves about `half / threads` of the records, those with the least keys, before the others. Returns how many there
/// are.
fn part<R: Record>(records: &mut [R], half: usize, threads: usize, advance: &mut Advance) -> Result<usize> {
    let mut sample: Vec<R> = try_vec(SAMPLE)?;
    sample.extend(records.iter().step_by(records.len().div_ceil(SAMPLE)));
    let middle = sample.len() * half / threads;
    let bound = sample.select_nth_unstable_by_key(middle, R::key).1.key();
    let mut low = 0;
    for start in (0..records.len()).step_by(STRETCH) {
        let end = records.len().min(start + STRETCH);
        // This has no branch, because the processor would guess it wrongly every other time.
        for i in start..end {
            let is_low = records[i].key() < bound;
            records.swap(low, i);
            low += usize::from(is_low);
        }
        advance(Did::Move((end - start) as u64))?;
    }
    Ok(low)
}

/// The state of sorting on one thread.
struct Sorter<'a, R> {
    /// The memory in which records are counted out.
    scratch: Vec<R>,
    /// A counter for each place. The scratch memory has at least as many places as records.
    places: Vec<u16>,
    advance: &'a mut Advance<'a>,
    /// Whether two records had the same key.
    equal: bool,
}

impl<'a, R: Record> Sorter<'a, R> {
    /// A sorter for at most `count` records together, which it counts out.
    fn new(count: usize, advance: &'a mut Advance<'a>) -> Result<Sorter<'a, R>> {
        let room = (SCRATCH / size_of::<R>()).min(count);
        let (mut scratch, mut places) = (try_vec(room)?, try_vec((room + 1).next_power_of_two())?);
        scratch.resize(room, R::default());
        places.resize(places.capacity(), 0);
        Ok(Sorter { scratch, places, advance, equal: false })
    }

    /// Sorts records whose prefixes differ only in the lowest `top` bits.
    fn sort(&mut self, records: &mut [R], mut top: u32) -> Result<()> {
        let mut is_least = false;
        while records.len() > FEW {
            if records.len() <= self.scratch.len() {
                if self.count_out(records, top) {
                    return (self.advance)(Did::Sort(records.len() as u64));
                }
            } else if let Some((ends, below)) = self.distribute(records, top)? {
                let mut start = 0;
                for end in ends {
                    if end > start {
                        self.sort(&mut records[start..end], below)?;
                        start = end;
                    }
                }
                return Ok(());
            }
            if is_least {
                break;
            }
            // The records are not uniform: skip the bits that all of them share.
            (top, is_least) = (differing(records), true);
        }
        sort_by_key(records, R::key);
        self.equal |= records.windows(2).any(|pair| pair[0].key() == pair[1].key());
        (self.advance)(Did::Sort(records.len() as u64))
    }

    /// Sorts records, as many as fit into the scratch memory, by the highest of the lowest `top` bits. Returns false,
    /// with nothing done, if too many records have the same place.
    fn count_out(&mut self, records: &mut [R], top: u32) -> bool {
        let bits = (records.len().ilog2() + 1).min(self.places.len().ilog2()).min(top);
        let (shift, mask) = (top - bits, (1 << bits) - 1);
        let place = |record: &R| (record.prefix() >> shift) as usize & mask;
        let places = &mut self.places[..=mask];
        places.fill(0);
        for record in &*records {
            places[place(record)] += 1;
        }
        let (mut start, mut most) = (0, 0);
        for count in &mut *places {
            most = most.max(*count);
            start += core::mem::replace(count, start);
        }
        if most > CROWD {
            return false;
        }
        for record in &*records {
            let next = &mut places[place(record)];
            self.scratch[usize::from(*next)] = *record;
            *next += 1;
        }
        // The records go back, each before the greater ones in its place.
        for (i, record) in self.scratch[..records.len()].iter().enumerate() {
            let mut to = i;
            while to > 0 && records[to - 1].key() > record.key() {
                records[to] = records[to - 1];
                to -= 1;
            }
            self.equal |= to > 0 && records[to - 1].key() == record.key();
            records[to] = *record;
        }
        true
    }

    /// Moves records to their places by the highest of the lowest `top` bits. Returns where each place ends, and how
    /// many bits may differ within one place. `None`, with nothing done, if all records have the same place.
    fn distribute(&mut self, records: &mut [R], top: u32) -> Result<Option<([usize; 1 << BITS], u32)>> {
        let bits = ((records.len() / self.scratch.len()).ilog2() + 1).min(BITS).min(top);
        let (shift, mask) = (top - bits, (1 << bits) - 1);
        let place = |record: &R| (record.prefix() >> shift) as usize & mask & ((1 << BITS) - 1);
        let mut ends = [0; 1 << BITS];
        for stretch in records.chunks(STRETCH) {
            stretch.iter().for_each(|record| ends[place(record)] += 1);
            (self.advance)(Did::Move(stretch.len() as u64))?;
        }
        if ends.contains(&records.len()) {
            return Ok(None);
        }
        let (mut next, mut start) = (ends, 0);
        for (next, end) in next.iter_mut().zip(&mut ends) {
            *next = start;
            start += *end;
            *end = start;
        }
        // Each exchange puts one record where it belongs. The exchanges of a round do not wait for each other, as they
        // would if the record that came back were the next one to be moved.
        let mut unfinished = true;
        while unfinished {
            unfinished = false;
            for i in 0..=mask {
                let stretch = next[i]..ends[i].min(next[i] + STRETCH);
                for from in stretch.clone() {
                    let to = &mut next[place(&records[from])];
                    records.swap(from, *to);
                    *to += 1;
                }
                (self.advance)(Did::Move(stretch.len() as u64))?;
                unfinished |= next[i] < ends[i];
            }
        }
        Ok(Some((ends, shift)))
    }
}

/// How many of the lowest bits hold all differences between the records' prefixes.
fn differing<R: Record>(records: &[R]) -> u32 {
    let (any, all) = records.iter().fold((0, u64::MAX), |(any, all), record| {
        let prefix = record.prefix();
        (any | prefix, all & prefix)
    });
    u64::BITS - (any ^ all).leading_zeros()
}
