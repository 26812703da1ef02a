//! Syndromes of a set of numbers, as the kind `pinsketch` has them. The number 0 has no syndromes, so a flag says
//! whether it is there.

use super::wire::{self, Writer};
use crate::error::{Result, error};
use crate::interop::Cursor;
use crate::simd;
use crate::sketch::pinsketch::carryless::Arithmetic;
use crate::sketch::pinsketch::field::Field;
use crate::sketch::pinsketch::sums::{decode, toggle};
use crate::storage::try_vec;

/// The syndromes of a set.
pub struct Syndromes {
    sums: Vec<u64>,
    has_zero: bool,
}

/// The field of 64-bit numbers.
fn arithmetic() -> Result<Arithmetic> {
    Ok(Arithmetic::new(Field::new(u64::BITS)?, simd::best()))
}

impl Syndromes {
    /// Computes `capacity` syndromes of these numbers.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn of(numbers: &[u64], capacity: u64) -> Result<Syndromes> {
        let (arithmetic, mut sums) = (arithmetic()?, try_vec(capacity as usize)?);
        sums.resize(capacity as usize, 0);
        let mut has_zero = false;
        for number in numbers {
            match number {
                0 => has_zero = true,
                _ => toggle(&arithmetic, *number, &mut sums),
            }
        }
        Ok(Syndromes { sums, has_zero })
    }

    /// Writes the number of syndromes, and then the syndromes.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn write(&self, to: &mut Writer) -> Result<()> {
        to.varint(self.sums.len() as u64)?;
        to.raw(&[u8::from(self.has_zero)])?;
        to.words(&self.sums)
    }

    /// The numbers that only one of two sets has: this one, and the one whose syndromes are read. `None` if there are
    /// more such numbers than syndromes. Also returns the number of syndromes.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt) for more than `most` syndromes, or bytes that are not syndromes.
    pub fn differences(from: &mut Cursor, numbers: &[u64], most: u64) -> Result<(u64, Option<Vec<u64>>)> {
        let capacity = wire::varint(from)?;
        if !(1..=most).contains(&capacity) {
            return Err(error!(Corrupt, "the message has {capacity} syndromes, 1 to {most} are possible"));
        }
        let has_zero = match from.u8()? {
            flag @ (0 | 1) => flag == 1,
            flag => return Err(error!(Corrupt, "the message says {flag} where it says 0 or 1")),
        };
        let mut sums = wire::words(from, capacity)?;
        from.finish("a session's message")?;
        let ours = Syndromes::of(numbers, capacity)?;
        sums.iter_mut().zip(&ours.sums).for_each(|(sum, own)| *sum ^= own);
        let mut found = decode(&arithmetic()?, &sums)?;
        if let (Some(found), true) = (&mut found, has_zero != ours.has_zero) {
            found.try_reserve(1).map_err(|_| error!(OutOfMemory, "one more number could not be had"))?;
            found.push(0);
        }
        Ok((capacity, found))
    }
}
