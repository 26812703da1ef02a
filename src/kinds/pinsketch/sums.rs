//! A sketch in memory: the sums of odd powers, and what is done with them.

use super::carryless::Arithmetic;
use super::field::Field;
use super::{locator, packed, roots};
use crate::error::{Result, error};
use crate::simd::Instructions;
use crate::storage::try_vec;

/// The largest capacity. It bounds the memory of a decoding to 64 MiB for the powers and 8 MiB beside them.
pub const MAX_CAPACITY: usize = 4096;

/// The sums of the odd powers of the elements of a set.
#[derive(Clone)]
pub struct Sums {
    arithmetic: Arithmetic,
    sums: Vec<u64>,
}

impl Sums {
    /// The sums of the empty set, of `capacity` powers, in a field of `field_bits` bits.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange) if the capacity is not 1 to [`MAX_CAPACITY`] or the field not
    /// of 8 to 64 bits; [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn new(field_bits: u32, capacity: usize, instructions: Instructions) -> Result<Sums> {
        let arithmetic = Arithmetic::new(Field::new(field_bits)?, instructions);
        if !(1..=MAX_CAPACITY).contains(&capacity) {
            return Err(error!(OutOfRange, "capacity = {capacity} is not 1 to {MAX_CAPACITY}"));
        }
        let mut sums = try_vec(capacity)?;
        sums.resize(capacity, 0);
        Ok(Sums { arithmetic, sums })
    }

    /// How many elements can be listed.
    pub fn capacity(&self) -> usize {
        self.sums.len()
    }

    /// Adds an element, or takes it away if it is there. Work: one product for each power.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange) for 0 and for numbers above the field. Nothing has changed.
    pub fn toggle(&mut self, element: u64) -> Result<()> {
        let field = self.arithmetic.field();
        if element == 0 || element > field.max() {
            return Err(error!(OutOfRange, "element = {element} is not 1 to {}", field.max()));
        }
        self.arithmetic.add_powers(field.raised(element), &mut self.sums);
        Ok(())
    }

    /// Adds another set's sums. What remains is what is in one set only.
    ///
    /// # Errors
    /// [`Status::Incompatible`](crate::Status::Incompatible) if field or capacity differ.
    pub fn merge(&mut self, other: &Sums) -> Result<()> {
        let (own, others) = (self.arithmetic.field().bits(), other.arithmetic.field().bits());
        if own != others || self.capacity() != other.capacity() {
            let (c, d) = (self.capacity(), other.capacity());
            return Err(error!(Incompatible, "field_bits and capacity differ: {own} and {c}, {others} and {d}"));
        }
        for (sum, other) in self.sums.iter_mut().zip(&other.sums) {
            *sum ^= other;
        }
        Ok(())
    }

    /// The elements in ascending order, or `None` if they are more than the capacity.
    ///
    /// Sums of more elements are taken for those of other, fewer elements with a chance of 1/c! about, if c is the
    /// capacity. Whatever the sums are: the work is at most c^2 (b + 4) products and 4 b c^2 more for elements that few
    /// bits tell apart, the memory 4 c^2 + 24 b c bytes.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn decode(&self) -> Result<Option<Vec<u64>>> {
        let field = self.arithmetic.field();
        let Some(locator) = locator::find(&self.arithmetic, &self.sums)? else { return Ok(None) };
        let Some(mut elements) = roots::find(&self.arithmetic, locator)? else { return Ok(None) };
        for element in &mut elements {
            *element = field.lowered(*element);
        }
        elements.sort_unstable();
        Ok(Some(elements))
    }

    /// The bytes that [`Sums::write`] writes: b c bits.
    pub fn serialized_bytes(&self) -> usize {
        packed::bytes(self.capacity(), self.arithmetic.field().bits())
    }

    /// Writes the sums as minisketch does: b bits each, the lowest first, without gaps.
    ///
    /// # Errors
    /// [`Status::BufferTooSmall`](crate::Status::BufferTooSmall) unless there is room for
    /// [`Sums::serialized_bytes`].
    pub fn write(&self, to: &mut [u8]) -> Result<()> {
        let (bytes, room) = (self.serialized_bytes(), to.len());
        let Some(to) = to.get_mut(..bytes) else {
            return Err(error!(BufferTooSmall, "length = {room} is less than the {bytes} bytes of the sketch"));
        };
        packed::write(&self.sums, self.arithmetic.field().bits(), to);
        Ok(())
    }

    /// Takes the sums from what [`Sums::write`] or minisketch wrote.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt) if the length is another or the last byte has bits beyond the sums.
    /// Nothing has changed then.
    pub fn read(&mut self, from: &[u8]) -> Result<()> {
        let bytes = self.serialized_bytes();
        if from.len() != bytes {
            return Err(error!(Corrupt, "length = {} is not the {bytes} bytes of the sketch", from.len()));
        }
        let used = self.capacity() * self.arithmetic.field().bits() as usize % 8;
        if used != 0 && from[bytes - 1] >> used != 0 {
            return Err(error!(Corrupt, "the last byte has bits beyond the {used} that belong to the sketch"));
        }
        packed::read(&mut self.sums, self.arithmetic.field().bits(), from);
        Ok(())
    }
}
