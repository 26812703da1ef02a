//! Builds a whole payload: divides the records into shards, solves the shards, with several threads if there are any,
//! and puts them one after the other.

use super::MAX_COLUMNS;
use super::equations::Equations;
use super::row::Coefficients;
use super::shape::Shape;
use super::solve::{Scratch, Solved};
use crate::batch::records::Records;
use crate::batch::shards::for_each_part;
use crate::batch::workers::{Reports, Work, with_workers};
use crate::error::{Result, Status, error};
use crate::kinds::ribbon::sizing::Width;
use crate::storage::{Words, try_vec};

/// The most records of one shard: far more than an average shard has.
const MAX_RECORDS: u64 = 1 << 29;

/// Solves all records, and returns the payload and its shape. Values have `columns` bits, from 1 to
/// [`MAX_COLUMNS`](super::MAX_COLUMNS), and a key has `width` coefficients, 64 or 128.
///
/// The payload depends on the records, the equations, columns and width only. The time is linear in the records, of
/// which two passes are made.
///
/// # Errors
/// [`Status::OutOfRange`] for columns or a width that no shape has; [`Status::OutOfMemory`]; [`Status::Cancelled`]; the
/// errors of the records. [`Status::TooLarge`] if a shard has more than 2^29 records, which takes hashes that were made
/// for it.
pub fn solve<R: Copy + Send + Sync, E: Equations<R>>(
    records: &dyn Records<R>,
    equations: &E,
    columns: u32,
    width: u32,
    work: &mut Work,
) -> Result<(Shape, Words)> {
    let known = Width::of(width).filter(|_| (1..=MAX_COLUMNS).contains(&columns)).ok_or_else(|| {
        error!(OutOfRange, "columns = {columns} and width = {width} are not from 1 to {MAX_COLUMNS}, and 64 or 128")
    })?;
    let shape = Shape::without_slots(columns, known, records.count()).ok_or(Status::TooLarge)?;
    work.report(0, records.count())?;
    match width {
        64 => Build::<R, E, u64>::new(records, equations, shape, work)?.solve(),
        _ => Build::<R, E, u128>::new(records, equations, shape, work)?.solve(),
    }
}

/// A payload that is being built.
struct Build<'a, 'b, R, E, C> {
    records: &'a dyn Records<R>,
    equations: &'a E,
    shape: Shape,
    work: &'a mut Work<'b>,
    /// How many records each shard has.
    counts: Vec<u64>,
    payload: Payload,
    width: core::marker::PhantomData<C>,
}

/// The bytes of a payload, as far as they are known.
struct Payload {
    shape: Shape,
    words: Words,
    /// The byte at which the slots of the next shard begin.
    begin: u64,
    /// How many shards were written.
    shards: u64,
    /// How many records the written shards have.
    done: u64,
}

impl Payload {
    /// Writes the next shard.
    fn write(&mut self, solved: &Solved, records: u64) -> Result<()> {
        let (shape, shard) = (self.shape, self.shards);
        let is_last = shard + 1 == shape.shards();
        let gap = if is_last { 0 } else { shape.gap() };
        let end = self.begin + solved.slots.len() as u64 + gap;
        if end > self.words.bytes() {
            self.grow(end)?;
        }
        let bytes = self.words.exclusive_bytes().ok_or(Status::Internal)?;
        let mut put = |at: u64, from: &[u8]| bytes[at as usize..][..from.len()].copy_from_slice(from);
        put(self.begin, &solved.slots);
        put(shape.metadata() + shard * shape.stride(), &solved.metadata);
        put(8 * shape.sizes_word(shard), &solved.sizes.to_le_bytes());
        if !is_last {
            put(8 * shard, &end.to_le_bytes());
        }
        (self.begin, self.shards, self.done) = (end, shard + 1, self.done + records);
        Ok(())
    }

    /// Makes room for `bytes` bytes and some more, for hashes that are spread less evenly than expected.
    #[cold]
    fn grow(&mut self, bytes: u64) -> Result<()> {
        let room = bytes.checked_add(bytes / 4).and_then(|room| room.checked_next_multiple_of(64));
        let mut words = Words::zeroed(room.ok_or(Status::TooLarge)?)?;
        let (to, from) = (words.exclusive().ok_or(Status::Internal)?, self.words.exclusive().ok_or(Status::Internal)?);
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        self.words = words;
        Ok(())
    }

    /// The whole payload.
    fn finish(mut self) -> Result<(Shape, Words)> {
        let bytes = if self.shape.shards() == 0 { 0 } else { self.begin };
        let shape = self.shape.with_bytes(bytes).ok_or(Status::TooLarge)?;
        if shape.words() * 8 > self.words.bytes() {
            self.grow(shape.words() * 8)?;
        }
        self.words.shorten(shape.words() * 8);
        Ok((shape, self.words))
    }
}

/// A shard that is to be solved, and memory for the result.
struct Job<R> {
    shard: usize,
    records: Vec<R>,
    solved: Solved,
}

impl<R> Job<R> {
    fn new(most: usize) -> Result<Job<R>> {
        Ok(Job { shard: 0, records: try_vec(most)?, solved: Solved::default() })
    }
}

impl<'a, 'b, R: Copy + Send + Sync, E: Equations<R>, C: Coefficients> Build<'a, 'b, R, E, C> {
    /// Counts the records of each shard.
    fn new(records: &'a dyn Records<R>, equations: &'a E, shape: Shape, work: &'a mut Work<'b>) -> Result<Self> {
        let length = usize::try_from(shape.shards()).map_err(|_| Status::TooLarge)?;
        let mut counts: Vec<u64> = try_vec(length)?;
        counts.resize(length, 0);
        for_each_part(records, |record| equations.order(record), shape.shards(), &mut |shard, part| {
            counts[shard] += part.len() as u64;
            Ok(())
        })?;
        if let Some(most) = counts.iter().max().filter(|most| **most > MAX_RECORDS) {
            return Err(error!(
                TooLarge,
                "{most} keys have hashes that are nearly the same: at most {MAX_RECORDS} can"
            ));
        }
        let (columns, width, keys) = (shape.columns(), shape.width(), shape.keys());
        let expected = Shape::expected(columns, width, keys).ok_or(Status::TooLarge)?.words() * 8;
        // Memory that stays unused is given back at the end, and was never touched.
        let words = Words::zeroed((expected + expected / 64).next_multiple_of(64))?;
        let payload = Payload { shape, words, begin: shape.begin(), shards: 0, done: 0 };
        Ok(Build { records, equations, shape, work, counts, payload, width: core::marker::PhantomData })
    }

    /// Solves all shards.
    fn solve(mut self) -> Result<(Shape, Words)> {
        // At most MAX_RECORDS.
        let most = self.counts.iter().max().map_or(0, |most| *most as usize);
        let buffers = (most * size_of::<R>()) as u64 + most as u64 * u64::from(self.shape.columns()) / 8;
        let each = buffers + Scratch::<C, E::Value>::bytes(most as u64);
        // One more shard than there are threads is in memory, because the next shard is filled meanwhile.
        let threads = self.work.threads_for(self.counts.len(), each, buffers);
        if threads > 1 {
            self.solve_with(threads, most)?;
        } else {
            let Build { records, equations, shape, counts, payload, work, .. } = &mut self;
            let mut scratch = Scratch::<C, E::Value>::new();
            divide(*records, *equations, counts, Job::new(most)?, &mut |mut job| {
                scratch.solve(shape, &job.records, *equations, &mut job.solved)?;
                payload.write(&job.solved, job.records.len() as u64)?;
                work.report(payload.done, shape.keys())?;
                Ok(job)
            })?;
        }
        self.payload.finish()
    }

    /// As [`Build::solve`], with further threads.
    fn solve_with(&mut self, threads: usize, most: usize) -> Result<()> {
        let Build { records, equations, shape, counts, payload, work, .. } = self;
        let (equations, shape): (&E, &Shape) = (equations, shape);
        let (mut spare, mut early): (Vec<Job<R>>, Vec<Job<R>>) = (try_vec(threads)?, try_vec(threads + 1)?);
        for _ in 0..threads {
            spare.push(Job::new(most)?);
        }
        let first = Job::new(most)?;
        let scratches = (0..threads).map(|_| Scratch::<C, E::Value>::new()).collect();
        let solve = |scratch: &mut Scratch<C, E::Value>, mut job: Job<R>, reports: &Reports<_>| {
            scratch.solve(shape, &job.records, equations, &mut job.solved)?;
            reports.tell(job)
        };
        with_workers(scratches, solve, |workers| {
            // Shards are written in order, so shards that are ready too early wait.
            let mut note = |job: Job<R>, spare: &mut Vec<Job<R>>| {
                early.push(job);
                while let Some(i) = early.iter().position(|job| job.shard as u64 == payload.shards) {
                    let job = early.swap_remove(i);
                    payload.write(&job.solved, job.records.len() as u64)?;
                    work.report(payload.done, shape.keys())?;
                    spare.push(job);
                }
                Ok(())
            };
            divide(*records, equations, counts, first, &mut |job| {
                workers.give(job)?;
                loop {
                    if let Some(job) = spare.pop() {
                        return Ok(job);
                    }
                    note(workers.report()?, &mut spare)?;
                }
            })?;
            workers.finish(|job| note(job, &mut spare))
        })
    }
}

/// Gives each shard to `solve`, in order, with its records. `job` has room for the records of any shard, and `solve`
/// gives a job back, this one or another.
fn divide<R: Copy, E: Equations<R>>(
    records: &dyn Records<R>,
    equations: &E,
    counts: &[u64],
    job: Job<R>,
    solve: &mut dyn FnMut(Job<R>) -> Result<Job<R>>,
) -> Result<()> {
    let mut next = 0;
    // Gives `solve` all shards up to this one, whose records are complete.
    let mut finish = |mut job: Job<R>, to: usize| {
        while next < to && job.records.len() as u64 == counts[next] {
            job.shard = next;
            job = solve(job)?;
            job.records.clear();
            next += 1;
        }
        if next < to { Err(Status::Internal.into()) } else { Ok(job) }
    };
    let mut current = Some(job);
    for_each_part(records, |record| equations.order(record), counts.len() as u64, &mut |shard, part| {
        // The records may not be the same in this pass as in the first.
        let taken = current.take().ok_or(Status::Internal)?;
        let mut job = finish(taken, shard)?;
        if shard >= counts.len() || (job.records.len() + part.len()) as u64 > counts[shard] {
            return Err(Status::Internal.into());
        }
        job.records.extend_from_slice(part);
        current = Some(job);
        Ok(())
    })?;
    let last = current.take().ok_or(Status::Internal)?;
    finish(last, counts.len()).map(drop)
}
