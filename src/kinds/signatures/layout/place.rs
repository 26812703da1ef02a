//! Gives every key of a shard a slot: a random walk in which keys put each other out, the same every time.

use super::Shard;
use crate::bits::{GOLDEN, mix, reduce};
use crate::error::{Result, Status};
use crate::kinds::signatures::sizing::Buckets;

/// How many moves of keys one new key may cause. At the loads of `sizing::signatures` nearly all keys cause none or a
/// few.
const MOST_MOVES: u32 = 2000;

/// The slots of one shard.
pub struct Table {
    buckets: Buckets,
    /// For each slot the number of the key that has it, from 1 on; 0 for a free slot.
    owners: Vec<u32>,
    random: u64,
}

impl Table {
    /// A table without slots.
    pub fn new(buckets: Buckets) -> Table {
        Table { buckets, owners: Vec::new(), random: 0 }
    }

    /// Gives all of these keys slots of a shard with `length` buckets, after taking all slots from the keys before.
    /// Returns false if one of the keys finds none. The keys are results of [`super::order`].
    ///
    /// # Errors
    /// [`Status::TooLarge`] for 2^32 keys or more; [`Status::OutOfMemory`].
    pub fn place(&mut self, keys: &[u64], length: u64, seed: u16) -> Result<bool> {
        let count = u32::try_from(keys.len()).map_err(|_| Status::TooLarge)?;
        let slots = usize::try_from(length * u64::from(self.buckets.slots)).map_err(|_| Status::TooLarge)?;
        self.owners.clear();
        self.owners.try_reserve_exact(slots).map_err(|_| Status::OutOfMemory)?;
        self.owners.resize(slots, 0);
        self.random = 0;
        let shard = Shard { first: 0, length, seed };
        Ok((1..=count).all(|key| self.place_one(keys, shard, key)))
    }

    fn place_one(&mut self, keys: &[u64], shard: Shard, mut key: u32) -> bool {
        let slots = self.buckets.slots as usize;
        // The first slot of the bucket that the key was put out of.
        let mut from = None;
        for _ in 0..=MOST_MOVES {
            let buckets = shard.firsts(keys[key as usize - 1], self.buckets).map(|first| first as usize);
            let free = buckets.clone().flat_map(|first| first..first + slots).find(|slot| self.owners[*slot] == 0);
            if let Some(slot) = free {
                self.owners[slot] = key;
                return true;
            }
            self.random = self.random.wrapping_add(GOLDEN);
            let random = mix(self.random);
            // The key goes into another bucket, unless all of its buckets are the same one.
            let others = buckets.clone().filter(|first| Some(*first) != from);
            let which = reduce(random, others.clone().count() as u64) as usize;
            let Some(bucket) = others.clone().nth(which).or(from) else { return false };
            let slot = bucket + reduce(random << 32, slots as u64) as usize;
            (self.owners[slot], key) = (key, self.owners[slot]);
            from = Some(bucket);
        }
        false
    }

    /// The slots that keys have, each with the place of its key among the keys.
    pub fn taken(&self) -> impl Iterator<Item = (u64, usize)> {
        let owners = self.owners.iter().enumerate().filter(|(_, owner)| **owner != 0);
        owners.map(|(slot, owner)| (slot as u64, *owner as usize - 1))
    }
}
