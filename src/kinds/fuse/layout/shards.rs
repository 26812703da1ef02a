//! Builds a whole payload: divides the records into shards and solves the shards, with several threads if there are
//! any.

use super::peel::{Advance, Keys};
use super::solve::{Attempt, MAX_KEYS, Scratch, alike, too_many};
use super::{ARITIES, Entry, MAX_WIDTH, Segments, Shape, groups, sizing};
use crate::batch::records::Records;
use crate::batch::shards::{for_each_part, place};
use crate::batch::workers::{Reports, Work, with_workers};
use crate::bits::{mix, prefetch};
use crate::error::{Result, Status, error};
use crate::storage::{Words, try_vec};
use core::mem;

/// The equations to be solved: how a record chooses its cells, and which value the cells have to give.
pub trait Equations<R>: Sync {
    /// The 64 bits by which records are divided. They do not decrease from one record to the next.
    fn order(&self, record: &R) -> u64;

    /// The 64 bits that choose the cells after the first, under a seed. Two records of the same order must differ here
    /// under nearly all seeds.
    fn scatter(&self, record: &R, seed: u32) -> u64;

    /// The value that the cells have to give. A value has as many bits as a cell, and further bits are cut off. `z` is
    /// the result of [`Equations::scatter`]. If every record gets its own cell, `own` is the number of that cell among
    /// the record's cells, and no two records have the same cell.
    fn value(&self, record: &R, z: u64, own: usize) -> u64;
}

/// What the cells of a payload are like.
#[derive(Clone, Copy, Debug)]
pub struct Cells {
    /// How many cells a key has: 3 or 4.
    pub arity: u32,
    /// How many bits a cell has, from 1 to [`MAX_WIDTH`](super::MAX_WIDTH).
    pub width: u32,
    /// Whether each record gets its own cell, which is passed to [`Equations::value`]. That takes more cells.
    pub is_peeled: bool,
    /// The most records of an average shard; 0 stands for the best number ([`sizing::shards`]).
    pub shard_keys: u64,
}

impl Cells {
    /// The fewest cells with which an array can be solved.
    pub fn fewest(arity: u32, width: u32) -> Cells {
        Cells { arity, width, is_peeled: false, shard_keys: 0 }
    }

    /// Enough cells to give each record its own.
    pub fn peeled(arity: u32, width: u32) -> Cells {
        Cells { is_peeled: true, ..Cells::fewest(arity, width) }
    }
}

/// Solves all records, and returns the payload and its shape.
///
/// The payload depends on the records, the equations and the width only. The time is linear in the records, over which
/// two passes are made. Each thread takes some 30 bytes for each record of the largest shard. An average shard has at
/// most [`Cells::shard_keys`] records.
///
/// # Errors
/// [`Status::OutOfRange`] for a width that no cell has; [`Status::OutOfMemory`]; [`Status::Cancelled`]; the errors of
/// the records. [`Status::TooLarge`] if a shard has more than 2^29 records, or if some records have the same cells
/// under all seeds, which takes specially crafted hashes.
pub fn solve<R: Copy + Send + Sync, E: Equations<R>>(
    records: &dyn Records<R>,
    equations: &E,
    cells: Cells,
    work: &mut Work,
) -> Result<(Shape, Words)> {
    let Cells { arity, width, .. } = cells;
    if !ARITIES.contains(&arity) {
        return Err(error!(OutOfRange, "arity = {arity} is not 3 or 4"));
    }
    if !(1..=MAX_WIDTH).contains(&width) {
        return Err(error!(OutOfRange, "width = {width} is not from 1 to {MAX_WIDTH}"));
    }
    let all = records.count();
    work.report(0, all)?;
    let shards = match cells.shard_keys {
        _ if all == 0 => 0,
        0 => sizing::shards(all),
        keys => all.div_ceil(keys).min(sizing::MAX_SHARDS),
    };
    let mut plan = Plan::new(records, equations, shards)?;
    loop {
        let shape = plan.lay_out(cells)?;
        let mut words = Words::zeroed(shape.words() * 8)?;
        let place = words.exclusive().ok_or(Status::Internal)?;
        let (own, directory) = place.split_at_mut(shape.cell_words as usize);
        let mut build = Build { records, equations, cells, shards, all, done: 0, work };
        if build.solve(&mut plan, own)? {
            for (to, entry) in directory.as_chunks_mut().0.iter_mut().zip(&plan.entries) {
                *to = entry.encode();
            }
            return Ok((shape, words));
        }
    }
}

/// What is known of the shards.
struct Plan {
    /// How many records each shard has.
    counts: Vec<u64>,
    /// How many times each shard was given more cells.
    growths: Vec<u32>,
    entries: Vec<Entry>,
}

impl Plan {
    /// Counts the records of each shard.
    fn new<R, E: Equations<R>>(records: &dyn Records<R>, equations: &E, shards: u64) -> Result<Plan> {
        let length = usize::try_from(shards).map_err(|_| Status::TooLarge)?;
        let (mut counts, mut growths): (Vec<u64>, Vec<u32>) = (try_vec(length)?, try_vec(length)?);
        counts.resize(length, 0);
        growths.resize(length, 0);
        match records.as_slice() {
            Some(mut rest) => {
                for (shard, count) in counts.iter_mut().enumerate() {
                    let end = rest.partition_point(|record| place(equations.order(record), shards).0 <= shard as u64);
                    (*count, rest) = (end as u64, &rest[end..]);
                }
            }
            None => for_each_part(records, |record| equations.order(record), shards, &mut |shard, part| {
                counts[shard] += part.len() as u64;
                Ok(())
            })?,
        }
        match counts.iter().max() {
            Some(most) if *most > MAX_KEYS => Err(too_many(*most)),
            _ => Ok(Plan { counts, growths, entries: try_vec(length)? }),
        }
    }

    /// Gives each shard its cells.
    fn lay_out(&mut self, Cells { arity, width, is_peeled, .. }: Cells) -> Result<Shape> {
        let (mut first, mut end) = (0, 0);
        self.entries.clear();
        for (count, growth) in self.counts.iter().zip(&self.growths) {
            let segments = Segments::new(arity, *count, is_peeled, *growth).ok_or_else(|| alike(*count))?;
            self.entries.push(Entry { segments, seed: 0, first });
            end = 64 * first + segments.cells(arity);
            first = groups(end);
        }
        Shape::new(arity, width, self.counts.len() as u64, end).ok_or_else(|| Status::TooLarge.into())
    }

    fn most_keys(&self) -> usize {
        // At most MAX_KEYS, which `new` checks.
        self.counts.iter().max().map_or(0, |most| *most as usize)
    }

    fn most_cells(&self, arity: u32) -> u64 {
        self.entries.iter().map(|entry| entry.segments.cells(arity)).max().unwrap_or(0)
    }
}

/// One pass of solving all shards.
struct Build<'a, 'b, R, E> {
    records: &'a dyn Records<R>,
    equations: &'a E,
    cells: Cells,
    shards: u64,
    all: u64,
    done: u64,
    work: &'a mut Work<'b>,
}

/// The records of a shard.
enum ShardRecords<'a, R> {
    /// The records of a shard, borrowed from where all records lie.
    Lent(&'a [R]),
    Copied(Vec<R>),
}

impl<R> ShardRecords<'_, R> {
    fn records(&self) -> &[R] {
        match self {
            ShardRecords::Lent(records) => records,
            ShardRecords::Copied(records) => records,
        }
    }

    /// A buffer for the records of another shard, with as much room as this one.
    fn into_buffer(self) -> Vec<R> {
        match self {
            ShardRecords::Lent(_) => Vec::new(),
            ShardRecords::Copied(records) => records,
        }
    }
}

/// A shard to be solved.
struct Job<'a, R> {
    shard: usize,
    entry: Entry,
    growth: u32,
    records: ShardRecords<'a, R>,
    /// The words of the shard's cells.
    own: &'a mut [u64],
}

/// A shard that was solved, or that no seed solves.
struct Solved<'a, R> {
    shard: usize,
    seed: Option<u32>,
    records: ShardRecords<'a, R>,
}

/// What a thread reports to the thread that gives out the shards.
enum Report<'a, R> {
    /// The thread is still working. This is sent so that progress is reported, and a cancelled build ends.
    Working,
    /// The thread has solved a shard.
    Solved(Solved<'a, R>),
}

impl<'a, R: Copy + Send + Sync, E: Equations<R>> Build<'a, '_, R, E> {
    /// Fills the cells of all shards and writes their seeds into the plan. Returns false if some shards need more
    /// cells, and notes these shards in the plan.
    fn solve(&mut self, plan: &mut Plan, own: &'a mut [u64]) -> Result<bool> {
        let (most_keys, most_cells) = (plan.most_keys(), plan.most_cells(self.cells.arity));
        // Records that lie in memory need no buffers.
        let room = if self.records.as_slice().is_some() { 0 } else { most_keys };
        let buffer = (size_of::<R>() * room) as u64;
        let each = buffer + Scratch::bytes(most_cells);
        // One more buffer than there are threads, because the next shard's records are read meanwhile.
        let threads = self.work.threads_for(plan.counts.len(), each, buffer);
        let mut outcomes = try_vec(plan.entries.len())?;
        if threads <= 1 {
            let mut scratch = Scratch::new(most_cells)?;
            let (equations, cells, shards) = (self.equations, self.cells, self.shards);
            let (all, work) = (self.all, &mut *self.work);
            let mut done = 0;
            divide(self.records, equations, plan, cells, own, try_vec(room)?, &mut |job| {
                let solved = job.solve(equations, shards, cells, &mut scratch, &mut |_| work.report(done, all))?;
                done += solved.records.records().len() as u64;
                outcomes.push((solved.shard, solved.seed));
                work.report(done, all)?;
                Ok(solved.records.into_buffer())
            })?;
            self.done = done;
        } else {
            self.solve_with((threads, room), plan, own, &mut outcomes)?;
        }
        let mut complete = true;
        for (shard, seed) in outcomes {
            match seed {
                Some(seed) => plan.entries[shard].seed = seed,
                None => {
                    complete = false;
                    plan.growths[shard] += 1;
                }
            }
        }
        Ok(complete)
    }

    /// As [`Build::solve`], with further threads and with buffers for `room` records.
    fn solve_with(
        &mut self,
        (threads, room): (usize, usize),
        plan: &Plan,
        own: &'a mut [u64],
        outcomes: &mut Vec<(usize, Option<u32>)>,
    ) -> Result<()> {
        let most_cells = plan.most_cells(self.cells.arity);
        let (equations, cells, shards) = (self.equations, self.cells, self.shards);
        let mut spare: Vec<Vec<R>> = try_vec(threads)?;
        let mut scratches = try_vec(threads)?;
        for _ in 0..threads {
            spare.push(try_vec(room)?);
            scratches.push(Scratch::new(most_cells)?);
        }
        let first_buffer = try_vec(room)?;
        let solve = |scratch: &mut Scratch, job: Job<'a, R>, reports: &Reports<_>| {
            let solved = job.solve(equations, shards, cells, scratch, &mut |_| reports.tell(Report::Working))?;
            reports.tell(Report::Solved(solved))
        };
        with_workers(scratches, solve, |workers| {
            // Notes a report, and returns the buffer of records that it gives back, if any.
            let mut note = |report| {
                let buffer = match report {
                    Report::Working => None,
                    Report::Solved(Solved { shard, seed, records }) => {
                        self.done += records.records().len() as u64;
                        outcomes.push((shard, seed));
                        Some(records.into_buffer())
                    }
                };
                self.work.report(self.done, self.all).map(|()| buffer)
            };
            divide(self.records, equations, plan, cells, own, first_buffer, &mut |job| {
                workers.give(job)?;
                let mut buffer = spare.pop();
                loop {
                    match buffer {
                        Some(buffer) => return Ok(buffer),
                        None => buffer = note(workers.report()?)?,
                    }
                }
            })?;
            workers.finish(|report| note(report).map(drop))
        })
    }
}

/// The keys of a shard, in the form that solving takes.
struct ShardKeys<'a, R, E> {
    records: &'a [R],
    equations: &'a E,
    shards: u64,
}

impl<R, E: Equations<R>> Keys for ShardKeys<'_, R, E> {
    fn len(&self) -> usize {
        self.records.len()
    }

    #[inline]
    fn place(&self, key: usize, seed: u32) -> (u64, u64) {
        let record = &self.records[key];
        (place(self.equations.order(record), self.shards).1, self.equations.scatter(record, seed))
    }

    #[inline]
    fn fetch(&self, key: usize) {
        if let Some(record) = self.records.get(key) {
            prefetch(record);
        }
    }

    #[inline]
    fn value(&self, key: usize, z: u64, own: usize) -> u64 {
        self.equations.value(&self.records[key], z, own)
    }

    fn digest(&self) -> u64 {
        let each = |record| mix(self.equations.order(record)) ^ self.equations.scatter(record, 0);
        self.records.iter().fold(0, |digest, record| mix(digest ^ each(record)))
    }
}

impl<'a, R> Job<'a, R> {
    fn solve<E: Equations<R>>(
        self,
        equations: &E,
        shards: u64,
        cells: Cells,
        scratch: &mut Scratch,
        advance: &mut Advance,
    ) -> Result<Solved<'a, R>> {
        let Job { shard, entry, growth, records, own } = self;
        let keys = ShardKeys { records: records.records(), equations, shards };
        let Cells { arity, width, is_peeled, .. } = cells;
        let attempt = Attempt { segments: entry.segments, growth, width, is_peeled };
        let seed = match arity {
            3 => scratch.solve::<3>(attempt, &keys, own, advance)?,
            _ => scratch.solve::<4>(attempt, &keys, own, advance)?,
        };
        Ok(Solved { shard, seed, records })
    }
}

/// Gives each shard that has records to `solve`, in order, with the shard's cells. Unless the records lie in memory,
/// `buffer` has room for the records of any shard, and `solve` gives a buffer back, this one or another.
fn divide<'a, R: Copy, E: Equations<R>>(
    records: &'a dyn Records<R>,
    equations: &E,
    plan: &Plan,
    Cells { width, .. }: Cells,
    mut own: &'a mut [u64],
    mut buffer: Vec<R>,
    solve: &mut dyn FnMut(Job<'a, R>) -> Result<Vec<R>>,
) -> Result<()> {
    let shards = plan.entries.len();
    let mut next = 0;
    let mut job = |shard: usize, records| {
        // Shards take whole groups of words, except the last one, which has only the words that its cells take.
        let first = |shard: usize| plan.entries[shard].first as usize * width as usize;
        let rest = mem::take(&mut own).split_at_mut(first(shard) - next).1;
        let end = if shard + 1 < shards { first(shard + 1) - first(shard) } else { rest.len() };
        let (words, rest) = rest.split_at_mut(end);
        (own, next) = (rest, first(shard) + end);
        Job { shard, entry: plan.entries[shard], growth: plan.growths[shard], records, own: words }
    };
    if let Some(mut rest) = records.as_slice() {
        for (shard, count) in plan.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let part = rest.split_off(..*count as usize).ok_or(Status::Internal)?;
            solve(job(shard, ShardRecords::Lent(part)))?;
        }
        return Ok(());
    }
    for_each_part(records, |record| equations.order(record), shards as u64, &mut |shard, part| {
        if shard >= shards || buffer.len() + part.len() > plan.counts[shard] as usize {
            // This pass over the records gave other records than the first.
            return Err(Status::Internal.into());
        }
        buffer.extend_from_slice(part);
        if buffer.len() < plan.counts[shard] as usize {
            return Ok(());
        }
        buffer = solve(job(shard, ShardRecords::Copied(mem::take(&mut buffer))))?;
        buffer.clear();
        Ok(())
    })
}
