//! The fields of a message: little-endian numbers, and numbers of one to ten bytes.

use crate::error::{Result, error};
use crate::interop::Cursor;
use crate::storage::try_vec;

/// A message that is being written. Memory is allocated fallibly.
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// An empty message with room for `room` bytes.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn new(room: usize) -> Result<Writer> {
        Ok(Writer { bytes: try_vec(room)? })
    }

    /// How many bytes were written.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The bytes so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Writes bytes as they are.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn raw(&mut self, bytes: &[u8]) -> Result<()> {
        let room = self.bytes.try_reserve(bytes.len());
        room.map_err(|_| {
            error!(OutOfMemory, "a message of {} bytes could not be had", self.bytes.len() + bytes.len())
        })?;
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Makes room for a checksum, so that ending a message allocates nothing.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn spare_tail(&mut self) -> Result<()> {
        let room = self.bytes.try_reserve(size_of::<u64>());
        room.map_err(|_| error!(OutOfMemory, "a message of {} bytes could not be had", self.bytes.len()))
    }

    /// Writes 64-bit words, the lowest byte first.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn words(&mut self, words: &[u64]) -> Result<()> {
        words.iter().try_for_each(|word| self.raw(&word.to_le_bytes()))
    }

    /// Writes a number, with 7 bits in each byte, the lowest bits first. The highest bit of a byte says that another
    /// byte follows.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn varint(&mut self, mut number: u64) -> Result<()> {
        let (mut bytes, mut length) = ([0; 10], 0);
        loop {
            bytes[length] = number as u8 & 0x7f;
            number >>= 7;
            length += 1;
            if number == 0 {
                break;
            }
            bytes[length - 1] |= 0x80;
        }
        self.raw(&bytes[..length])
    }

    /// Writes a number with a sign: 0, -1, 1, -2, 2 and so on as 0, 1, 2, 3, 4.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn signed(&mut self, number: i64) -> Result<()> {
        self.varint(((number << 1) ^ (number >> 63)) as u64)
    }
}

/// Reads what [`Writer::words`] wrote.
///
/// # Errors
/// [`Status::Truncated`](crate::Status::Truncated); [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub fn words(from: &mut Cursor, count: u64) -> Result<Vec<u64>> {
    let bytes = from.take(count.saturating_mul(8))?;
    let mut words = try_vec(bytes.len() / 8)?;
    words.extend(bytes.chunks_exact(8).map(|word| u64::from_le_bytes(core::array::from_fn(|i| word[i]))));
    Ok(words)
}

/// Reads one word.
///
/// # Errors
/// [`Status::Truncated`](crate::Status::Truncated).
pub fn word(from: &mut Cursor) -> Result<u64> {
    Ok(u64::from_le_bytes(from.array()?))
}

/// Reads what [`Writer::varint`] wrote. Each number has only one form.
///
/// # Errors
/// [`Status::Truncated`](crate::Status::Truncated); [`Status::Corrupt`](crate::Status::Corrupt) for a number of more
/// than 64 bits, or with bytes that it does not need.
pub fn varint(from: &mut Cursor) -> Result<u64> {
    let mut number = 0;
    for place in 0..10 {
        let byte = from.u8()?;
        let bits = u64::from(byte & 0x7f);
        if place == 9 && bits > 1 {
            break;
        }
        number |= bits << (7 * place);
        if byte & 0x80 == 0 {
            if byte == 0 && place > 0 {
                break;
            }
            return Ok(number);
        }
    }
    Err(error!(Corrupt, "a number of the message has more than 64 bits, or bytes that it does not need"))
}

/// Reads what [`Writer::signed`] wrote.
///
/// # Errors
/// As [`varint`].
pub fn signed(from: &mut Cursor) -> Result<i64> {
    let number = varint(from)?;
    Ok((number >> 1) as i64 ^ -((number & 1) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each number is read as it was written, at every length, and longer forms are refused.
    #[test]
    fn numbers_have_one_form() {
        let numbers = (0..64).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit]).chain([u64::MAX]);
        for number in numbers {
            let mut writer = Writer::new(0).unwrap();
            writer.varint(number).unwrap();
            writer.signed(number as i64).unwrap();
            let mut cursor = Cursor::new(writer.bytes());
            assert_eq!(varint(&mut cursor).unwrap(), number);
            assert_eq!(signed(&mut cursor).unwrap(), number as i64);
            assert!(cursor.rest().is_empty());
        }
        for wrong in [&[0x80, 0][..], &[0xff; 10], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2], &[0x80]]
        {
            assert!(varint(&mut Cursor::new(wrong)).is_err(), "{wrong:?}");
        }
    }
}
