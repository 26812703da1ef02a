//! Sorting records by radix, in place.
//!
//! Hashes are uniform, so their leading bits tell about where they go: records are moved to one of up to 256 places by
//! the first bits in which any two differ (American flag sort: McIlroy, Bostic and McIlroy, "Engineering radix sort",
//! 1993), and so on within each place until a place fits the first cache, where they are counted out by as many bits as
//! leave about one record a place. Keys that are not uniform cost at most a pass for each eight bits: bits that all
//! records share are skipped, and where too many records of the last pass have one place, a comparison sort takes over.

use super::record::Record;
use crate::error::{Result, Status};
use crate::making::progress::Steps;
use crate::storage::try_vec;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// Bits of a digit at most.
const BITS: u32 = 8;

/// The bytes of the records that are counted out at once; as much memory is needed beside the records, for each thread.
pub const SCRATCH: usize = 1 << 14;

/// Bits by which they are counted out at most.
const LAST_BITS: u32 = 11;

/// Records that a comparison sort sorts as fast.
const FEW: usize = 32;

/// Records with one place in the last pass that are left to insertion.
const CROWD: u16 = 24;

/// A thread for fewer records does not pay.
const FEWEST_OF_A_THREAD: usize = 1 << 15;

/// Sorts records by their keys, in place, on so many threads; 0 and 1 are none but this one. `steps` advances by one
/// for each record. O(n) for uniform keys, O(n log n) for any. When it is stopped, all records are there in some order.
///
/// # Errors
/// [`Status::Cancelled`], [`Status::OutOfMemory`] for [`SCRATCH`] bytes a thread.
pub fn sort<R: Record>(records: &mut [R], threads: usize, steps: &mut Steps) -> Result<()> {
    let others = Others::default();
    sort_on(records, threads.min(records.len() / FEWEST_OF_A_THREAD), &others, &mut |sorted| {
        let outcome = steps.advance(sorted + others.sorted.swap(0, Ordering::Relaxed));
        others.stop.fetch_or(outcome.is_err(), Ordering::Relaxed);
        outcome
    })?;
    steps.advance(others.sorted.swap(0, Ordering::Relaxed))
}

/// What the other threads tell the caller's, which reports it, and are told by it.
#[derive(Default)]
struct Others {
    /// Records that they sorted since the last report.
    sorted: AtomicU64,
    stop: AtomicBool,
}

/// Told how many records more are sorted; an error ends the sort.
type Advance<'a> = dyn FnMut(u64) -> Result<()> + 'a;

/// Sorts records on so many threads, this one included.
fn sort_on<R: Record>(records: &mut [R], threads: usize, others: &Others, advance: &mut Advance) -> Result<()> {
    if threads < 2 {
        return Sorter { scratch: try_vec(SCRATCH / size_of::<R>())?, advance }.sort(records);
    }
    // Each half has as many records for each of its threads, whatever the keys are.
    let half = threads / 2;
    let middle = (records.len() as u128 * half as u128 / threads as u128) as usize;
    records.select_nth_unstable_by_key(middle, R::key);
    let (low, high) = records.split_at_mut(middle);
    let there = || {
        let mut advance = |sorted| {
            others.sorted.fetch_add(sorted, Ordering::Relaxed);
            if others.stop.load(Ordering::Relaxed) { Err(Status::Cancelled.into()) } else { Ok(()) }
        };
        sort_on(&mut *low, half, others, &mut advance)
    };
    let joined = thread::scope(|scope| {
        let other = thread::Builder::new().spawn_scoped(scope, there);
        let here = sort_on(high, threads - half, others, advance);
        match other {
            Ok(other) => Some(here.and(other.join().unwrap_or(Err(Status::Internal.into())))),
            // The system has no thread more.
            Err(_) => here.err().map(Err),
        }
    });
    match joined {
        Some(outcome) => outcome,
        None => sort_on(low, 1, others, advance),
    }
}

/// Sorts on one thread.
struct Sorter<'a, R> {
    scratch: Vec<R>,
    advance: &'a mut Advance<'a>,
}

impl<R: Record> Sorter<'_, R> {
    fn sort(&mut self, records: &mut [R]) -> Result<()> {
        if records.len() <= FEW {
            records.sort_unstable_by_key(R::key);
            return (self.advance)(records.len() as u64);
        }
        let (any, all) = records.iter().fold((0, u64::MAX), |(any, all), record| {
            let prefix = record.prefix();
            (any | prefix, all & prefix)
        });
        // The bits from this one on, counted from the lowest, are those of all records.
        let top = 64 - (any ^ all).leading_zeros();
        if top == 0 {
            if !R::PREFIX_IS_KEY {
                records.sort_unstable_by_key(R::key);
            }
            return (self.advance)(records.len() as u64);
        }
        let room = SCRATCH / size_of::<R>();
        if records.len() <= room {
            self.count_out(records, top);
            return (self.advance)(records.len() as u64);
        }
        let bits = ((records.len() / room).ilog2() + 1).min(BITS).min(top);
        let ends = distribute(records, top - bits, bits);
        let mut start = 0;
        for end in &ends[..1 << bits] {
            if *end > start {
                self.sort(&mut records[start..*end])?;
                start = *end;
            }
        }
        Ok(())
    }

    /// Sorts few records by the bits below `top`.
    fn count_out(&mut self, records: &mut [R], top: u32) {
        let bits = (records.len().ilog2() + 1).min(LAST_BITS).min(top);
        let (shift, mask) = (top - bits, (1 << bits) - 1);
        let place = |record: &R| (record.prefix() >> shift) as usize & mask;
        let mut places = [0_u16; 1 << LAST_BITS];
        for record in &*records {
            places[place(record)] += 1;
        }
        let (mut start, mut most) = (0, 0);
        for count in &mut places[..=mask] {
            most = most.max(*count);
            start += core::mem::replace(count, start);
        }
        if most > CROWD {
            return records.sort_unstable_by_key(R::key);
        }
        self.scratch.resize(SCRATCH / size_of::<R>(), R::default());
        for record in &*records {
            let next = &mut places[place(record)];
            self.scratch[usize::from(*next)] = *record;
            *next += 1;
        }
        // Back, each before those of its place that are greater.
        for (i, record) in self.scratch[..records.len()].iter().enumerate() {
            let mut to = i;
            while to > 0 && records[to - 1].key() > record.key() {
                records[to] = records[to - 1];
                to -= 1;
            }
            records[to] = *record;
        }
    }
}

/// Moves records to their places by the `bits` bits from `shift` on; returns where each place ends.
fn distribute<R: Record>(records: &mut [R], shift: u32, bits: u32) -> [usize; 1 << BITS] {
    let mask = (1 << bits) - 1;
    let place = |record: &R| (record.prefix() >> shift) as usize & mask & 0xff;
    let mut ends = [0; 1 << BITS];
    for record in &*records {
        ends[place(record)] += 1;
    }
    let (mut next, mut start) = (ends, 0);
    for (next, end) in next.iter_mut().zip(&mut ends) {
        *next = start;
        start += *end;
        *end = start;
    }
    // Each exchange puts one record where it belongs. Those of a round do not wait for each other, as they would if what
    // came back were asked at once where it belongs.
    let mut unfinished = true;
    while unfinished {
        unfinished = false;
        for i in 0..1 << bits {
            for from in next[i]..ends[i] {
                let to = &mut next[place(&records[from])];
                records.swap(from, *to);
                *to += 1;
            }
            unfinished |= next[i] < ends[i];
        }
    }
    ends
}
