//! How segments grow one by one.

use crate::blocks::segments::{Address, Division, Extent, ones};
use crate::contract::Base;
use crate::error::{Error, Status};
use core::sync::atomic::AtomicU64;

/// The reasons why there is no room.
pub enum Refusal {
    /// There will never be room.
    Full,
    /// There was not enough memory.
    Error(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal::Error(error)
    }
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Refusal {
        Refusal::Error(status.into())
    }
}

/// The result of an operation that may find no room.
pub type Outcome<T> = core::result::Result<T, Refusal>;

/// Segments over the words of a payload, and how they grow.
pub trait Growth {
    /// The base-2 logarithm of the most places that a segment can have.
    const MOST: u32;

    /// The slots of a place.
    const SLOTS: u64;

    /// How many of a number of slots of a segment may be taken before it grows.
    const LIMIT: fn(u64) -> u64;

    /// How large segments are, how many, and which of them were divided.
    fn division(&self) -> &Division;

    /// How many growths there can be in all.
    fn most_growths(&self) -> u32;

    /// The slots of a segment.
    #[inline]
    fn slots(&self) -> u64 {
        Self::SLOTS << self.division().extent.size
    }

    /// How many slots of a segment may be taken before it grows.
    #[inline]
    fn limit(&self) -> u64 {
        (Self::LIMIT)(self.slots())
    }

    /// How many slots of a segment are taken.
    fn taken(&self, words: &[AtomicU64], address: Address) -> u64;

    /// Refuses a growth that would make no room in a segment.
    fn check_growth(&self, _base: &Base, _address: Address) -> Outcome<()> {
        Ok(())
    }

    /// Puts the only segment into one that is twice as large.
    fn double(&mut self, base: &mut Base) -> Outcome<()>;

    /// Makes room for twice as many segments.
    fn begin_dividing(&mut self, base: &mut Base) -> Outcome<()>;

    /// Divides a segment that was not divided yet. The division of the last such segment also ends the dividing
    /// ([`Growth::end_dividing`]).
    fn divide(&mut self, base: &mut Base, segment: usize) -> Outcome<()>;

    /// Makes whole segments of the parts after all segments were divided. An error leaves everything as it was.
    fn end_dividing(&mut self, base: &mut Base) -> Outcome<()>;

    /// Makes room in a segment. After an error other segments may have grown, and no key is lost.
    #[cold]
    fn grow(&mut self, base: &mut Base, address: Address) -> Outcome<()> {
        if self.division().is_complete() {
            // The last division of this round found no memory to end the dividing.
            return self.end_dividing(base);
        }
        let Extent { first, size, depth, .. } = self.division().extent;
        if address.bits + size - first >= self.most_growths() {
            return Err(Refusal::Full);
        }
        // Segments of spread hashes fill up at about the same time. If one segment is much fuller than others, the
        // hashes are not spread. Whoever chose such hashes must not be able to make the filter grow without end.
        let least = self.limit() / 2;
        if self.taken(base.words().shared(), address) < least {
            return Err(Refusal::Full);
        }
        // Segments are divided only when they cannot become larger, so this is the only one.
        if size < Self::MOST {
            self.check_growth(base, address)?;
            return self.double(base);
        }
        if address.bits > depth {
            // This segment was divided, but others were not yet. All others are divided before this one is divided
            // again.
            for segment in 0..1 << depth {
                if self.division().extent.is_dividing && !self.division().is_divided(segment) {
                    if self.taken(base.words().shared(), Address { segment, bits: depth }) < least {
                        return Err(Refusal::Full);
                    }
                    self.divide(base, segment)?;
                }
            }
        }
        let depth = self.division().extent.depth;
        if !self.division().extent.is_dividing {
            self.check_growth(base, address)?;
            self.begin_dividing(base)?;
        }
        // An undivided segment lies in the first half of the new room, whichever half its hash belongs to now.
        self.divide(base, address.segment & ones(depth) as usize)
    }
}
