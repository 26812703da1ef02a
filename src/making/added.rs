//! The hashes that were offered to a builder and, for kinds that remove or count, how often each came.

use super::collect::{Collector, CollectorOptions, Record};
use crate::batch::ring::Taken;
use crate::contract::{Capabilities, Counted, PIECE, Row};
#[cfg(doc)]
use crate::error::Status;
use crate::error::{Result, error};
use crate::storage::try_vec;

/// A collection of hashes.
pub enum Insertions {
    /// Every hash once.
    Once(Collector<u64>),
    /// Every hash, and how often it came.
    Counted {
        /// The hashes, each with the number of times that it came.
        hashes: Collector<Counted>,
        /// The sum of what exceeds 1 in these numbers.
        more: u64,
    },
}

impl Insertions {
    /// An empty collection that keeps what a kind needs to know, in one of `parts` equal parts of the memory.
    ///
    /// # Errors
    /// As [`Collector::new`].
    pub fn new(row: &Row, options: CollectorOptions, parts: u64) -> Result<Insertions> {
        let counting = [Capabilities::REMOVE, Capabilities::COUNT];
        Ok(if row.is_made_empty() && counting.iter().any(|capability| row.capabilities.contains(*capability)) {
            Insertions::Counted { hashes: Collector::with_part(options, parts)?, more: 0 }
        } else {
            Insertions::Once(Collector::with_part(options, parts)?)
        })
    }

    /// How many hashes came.
    pub fn added(&self) -> u64 {
        match self {
            Insertions::Once(hashes) => hashes.added(),
            Insertions::Counted { hashes, more } => hashes.added().saturating_add(*more),
        }
    }

    /// Adds a hash.
    ///
    /// # Errors
    /// As [`Collector::add`].
    #[inline]
    pub fn add(&mut self, hash: u64) -> Result<()> {
        self.add_times(hash, 1)
    }

    /// Adds a hash that came `times` times. 0 times add nothing.
    ///
    /// # Errors
    /// As [`Collector::add`].
    #[inline]
    pub fn add_times(&mut self, hash: u64, times: u64) -> Result<()> {
        match self {
            _ if times == 0 => Ok(()),
            Insertions::Once(hashes) => hashes.add(hash),
            Insertions::Counted { hashes, more } => {
                hashes.add(Counted { hash, count: times })?;
                *more = more.saturating_add(times - 1);
                Ok(())
            }
        }
    }

    /// Makes room for expected hashes: [`Collector::expect`].
    ///
    /// # Errors
    /// As [`Collector::expect`].
    pub fn expect(&mut self, hashes: usize) -> Result<()> {
        match self {
            Insertions::Once(collector) => collector.expect(hashes),
            Insertions::Counted { hashes: collector, .. } => collector.expect(hashes),
        }
    }

    /// Adds hashes. All are added, unless there is an error of [`Collector::add`].
    pub fn add_all(&mut self, hashes: &[u64]) -> Taken {
        let collector = match self {
            Insertions::Once(collector) => return collector.add_all(hashes),
            Insertions::Counted { hashes, .. } => hashes,
        };
        for (i, hash) in hashes.iter().enumerate() {
            if let Err(error) = collector.add(Counted { hash: *hash, count: 1 }) {
                return Taken { keys: i, outcome: Err(error) };
            }
        }
        Taken::all(hashes.len())
    }

    /// Takes in records that were given out as bytes, of hashes that came `times` times in all.
    ///
    /// # Errors
    /// As [`Collector::merge`].
    pub fn merge(&mut self, bytes: &[u8], times: u64) -> Result<()> {
        match self {
            Insertions::Once(hashes) => {
                hashes.merge(bytes, Ok)?;
                hashes.count_added(times);
            }
            Insertions::Counted { hashes, more } => {
                hashes.merge(bytes, |record: Counted| match record.count {
                    0 => Err(error!(Corrupt, "a key came 0 times")),
                    _ => Ok(record),
                })?;
                let records = (bytes.len() / Counted::BYTES) as u64;
                hashes.count_added(records);
                *more = more.saturating_add(times - records);
            }
        }
        Ok(())
    }

    /// Gives up all hashes, and returns their memory and files to the system.
    pub fn clear(&mut self) {
        match self {
            Insertions::Once(hashes) => hashes.clear(),
            Insertions::Counted { hashes, more } => {
                hashes.clear();
                *more = 0;
            }
        }
    }
}

/// A record of a hash.
pub trait Offer: Record {
    /// The hash.
    fn hash(&self) -> u64;

    /// How often the hash was offered, as far as that is known: at least once.
    fn times(&self) -> u64;

    /// Gives the hashes of records to `take`, each as often as it came. Hashes that came more than `most` times are
    /// left out.
    ///
    /// # Errors
    /// The errors of `take`; [`Status::OutOfMemory`].
    fn each(records: &[Self], most: u64, take: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()>;
}

impl Offer for u64 {
    fn hash(&self) -> u64 {
        *self
    }

    fn times(&self) -> u64 {
        1
    }

    fn each(records: &[u64], _most: u64, take: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()> {
        take(records)
    }
}

impl Offer for Counted {
    fn hash(&self) -> u64 {
        self.hash
    }

    fn times(&self) -> u64 {
        self.count
    }

    fn each(records: &[Counted], most: u64, take: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()> {
        let mut hashes = try_vec(PIECE)?;
        for record in records {
            let times = if record.count > most { 0 } else { record.count };
            for _ in 0..times {
                if hashes.len() == PIECE {
                    take(&hashes)?;
                    hashes.clear();
                }
                hashes.push(record.hash);
            }
        }
        take(&hashes)
    }
}
