//! Builds a whole payload, shard by shard.

use super::place::Table;
use super::{Shape, Shard};
use crate::batch::records::Records;
use crate::bits::reduce;
use crate::error::{Error, Result, Status, error};
use crate::kinds::signatures::sizing::largest_shard;
use crate::storage::{Words, try_vec};

/// How many seeds are tried before a shard is given more buckets. Among sets of few keys some have no table under a
/// seed.
const SEEDS: u16 = 8;

/// Builds the table of records that are results of [`super::order`], with a shape like the one to expect of that many.
/// A shard whose keys find no slots under any seed is given more buckets until they do.
///
/// The payload depends on the records and the shape only. The time is linear in the records, of which one pass is made.
///
/// # Errors
/// [`Status::OutOfMemory`]; [`Status::Cancelled`]; the errors of the records. [`Status::TooLarge`] if a shard has 2^32
/// keys or more, which takes hashes made on purpose.
pub fn build(
    records: &dyn Records<u64>,
    shape: Shape,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<(Shape, Words)> {
    let all = records.count();
    let mut build = Build {
        shape: Shape { length: 0, ..shape },
        words: Words::zeroed(shape.words() * 8)?,
        table: Table::new(shape.buckets()),
        shard: 0,
        done: 0,
        report: &mut |done| if progress(done, all) { Ok(()) } else { Err(Status::Cancelled.into()) },
    };
    let largest = usize::try_from(largest_shard(all)).map_err(|_| Status::TooLarge)?;
    let mut keys: Vec<u64> = try_vec(largest)?;
    records.for_each(&mut |mut piece| {
        while let Some(first) = piece.first() {
            let shard = reduce(*first, shape.shards);
            while build.shard < shard {
                build.add(&keys)?;
                keys.clear();
            }
            let (own, rest) = piece.split_at(piece.partition_point(|x| reduce(*x, shape.shards) <= shard));
            keys.try_reserve(own.len()).map_err(|_| Status::OutOfMemory)?;
            keys.extend_from_slice(own);
            piece = rest;
        }
        Ok(())
    })?;
    while build.shard < shape.shards {
        build.add(&keys)?;
        keys.clear();
    }
    build.finish()
}

impl Shard {
    /// This shard, or one with more buckets, under the first of `seeds` seeds with which all of these keys find slots
    /// in `table`. Each seed that fails calls `again`.
    fn with_room(
        mut self,
        keys: &[u64],
        table: &mut Table,
        seeds: u16,
        again: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Shard> {
        while !table.place(keys, self.length, self.seed)? {
            again()?;
            self.seed += 1;
            if self.seed == seeds {
                (self.seed, self.length) = (0, self.length + self.length / 100 + 1);
            }
        }
        Ok(self)
    }
}

/// A payload in the making.
struct Build<'a> {
    /// The shape, with the buckets of the shards that were made.
    shape: Shape,
    words: Words,
    table: Table,
    shard: u64,
    /// How many keys the shards that were made have.
    done: u64,
    report: &'a mut dyn FnMut(u64) -> Result<()>,
}

impl Build<'_> {
    /// Makes the next shard from these keys.
    fn add(&mut self, keys: &[u64]) -> Result<()> {
        let buckets = self.shape.buckets().length(keys.len() as u64);
        let shard = Shard { first: self.shape.length, length: buckets, seed: 0 };
        let shard = shard.with_room(keys, &mut self.table, SEEDS, &mut || (self.report)(self.done))?;
        let Shape { width, buckets, shards, length } = self.shape;
        // Each later shard needs at least one bucket.
        let end = length.checked_add(shard.length).and_then(|end| end.checked_add(shards - self.shard - 1));
        let whole = end.and_then(|end| Shape::new(width, buckets as u64, shards, end)).ok_or_else(too_many)?;
        if whole.words() * 8 > self.words.bytes() {
            self.words.lengthen(whole.words() * 8)?;
        }
        let words = self.words.exclusive().ok_or(Status::Internal)?;
        let (directory, words) = words.split_at_mut(shards as usize);
        directory[self.shard as usize] = shard.encode();
        let first = length * u64::from(whole.buckets().slots);
        for (slot, key) in self.table.taken() {
            whole.slots().put(words, first + slot, shard.signature(keys[key], width));
        }
        self.shape.length = length + shard.length;
        self.shard += 1;
        self.done += keys.len() as u64;
        (self.report)(self.done)
    }

    /// The whole payload.
    fn finish(mut self) -> Result<(Shape, Words)> {
        self.words.shorten(self.shape.words() * 8);
        Ok((self.shape, self.words))
    }
}

#[cold]
fn too_many() -> Error {
    error!(TooLarge, "the keys need more buckets than can be")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::mix;
    use crate::kinds::signatures::sizing::SHAPES;

    /// With eight seeds for each length not one set of keys in millions needs a longer table. With one seed a few in a
    /// hundred do.
    #[test]
    fn shards_grow_until_there_is_room() {
        let mut grown = 0;
        for (shape, buckets) in SHAPES.into_iter().enumerate() {
            let mut table = Table::new(buckets);
            for set in 0..400 {
                let keys: Vec<u64> = (0..100).map(|i| mix(set << 32 | (shape as u64) << 16 | i)).collect();
                let shard = Shard { first: 0, length: buckets.length(100), seed: 0 };
                let mut failures = 0;
                let again = &mut || {
                    failures += 1;
                    Ok(())
                };
                let room = shard.with_room(&keys, &mut table, 1, again).unwrap();
                assert_eq!((0..failures).fold(shard.length, |length, _| length + length / 100 + 1), room.length);
                grown += u32::from(failures > 0);
                // Each key has one slot, in one of its buckets.
                let mut seen = vec![false; keys.len()];
                for (slot, key) in table.taken() {
                    let mut own = room.firsts(keys[key], buckets);
                    assert!(own.any(|first| (first..first + u64::from(buckets.slots)).contains(&slot)));
                    assert!(!std::mem::replace(&mut seen[key], true));
                }
                assert!(seen.into_iter().all(|seen| seen));
            }
        }
        assert!((20..1000).contains(&grown), "{grown} of 2400 sets needed more");
    }
}
