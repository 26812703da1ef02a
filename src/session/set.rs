//! One side's set: its elements if they are at hand, and its first coded symbols.

use super::estimate::expected_count;
use super::wire::{self, Writer};
use crate::error::{Result, error};
use crate::hash::Hasher;
use crate::interop::Cursor;
use crate::sketch::riblt::symbols::add_all;
use crate::storage::try_vec;

/// Elements that are hashed and added together.
const GROUP: usize = 64;
/// The words of a symbol in addition to those of an element: the XOR of the hashes, and the count.
const BESIDE: usize = 2;

/// The most words of a set's coded symbols, which bounds memory and work: 6 MiB.
const MOST_SYMBOL_WORDS: u64 = 3 << 18;

/// The most coded symbols of a session, if each has `symbol_words` words: 2^18 for numbers.
pub fn most_symbols(symbol_words: usize) -> u64 {
    MOST_SYMBOL_WORDS / symbol_words as u64
}

/// How elements lie in words, and how they are hashed.
#[derive(Clone)]
pub struct Elements {
    /// Bytes of an element: 8 for numbers, up to 64 for whole keys. The last word of an element is filled with zeros.
    pub key_bytes: usize,
    /// Hashes elements.
    pub hasher: Hasher,
}

impl Elements {
    /// Words of an element.
    pub fn words(&self) -> usize {
        self.key_bytes.div_ceil(8)
    }

    /// Words of a coded symbol.
    pub fn symbol_words(&self) -> usize {
        self.words() + BESIDE
    }

    /// The hash of an element.
    ///
    /// # Errors
    /// [`Status::SecretMissing`](crate::Status::SecretMissing).
    pub fn hash(&self, element: &[u64]) -> Result<u64> {
        if let [number] = element {
            return Ok(self.hasher.hash_u64(*number)?);
        }
        let mut bytes = [0; 64];
        for (to, word) in bytes.chunks_exact_mut(8).zip(element) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        Ok(self.hasher.hash_bytes(&bytes[..self.key_bytes])?)
    }

    /// The XOR of the hashes of many elements.
    ///
    /// # Errors
    /// [`Status::SecretMissing`](crate::Status::SecretMissing).
    pub fn checksum(&self, elements: &[u64]) -> Result<u64> {
        elements.chunks_exact(self.words()).try_fold(0, |sum, element| Ok(sum ^ self.hash(element)?))
    }

    /// Reads elements that [`write_elements`] wrote.
    ///
    /// # Errors
    /// [`Status::Truncated`](crate::Status::Truncated); [`Status::Corrupt`](crate::Status::Corrupt) if bits are set
    /// past the end of an element.
    pub fn read(&self, from: &mut Cursor) -> Result<Vec<u64>> {
        let count = wire::varint(from)?;
        let elements = wire::words(from, count.saturating_mul(self.words() as u64))?;
        let used = 8 * self.key_bytes % 64;
        let is_whole = |element: &[u64]| used == 0 || element[element.len() - 1] >> used == 0;
        if elements.chunks_exact(self.words()).all(is_whole) {
            return Ok(elements);
        }
        Err(error!(Corrupt, "the message has a key of more than {} bytes", self.key_bytes))
    }
}

/// Writes elements of `words` words each, after their count.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub fn write_elements(to: &mut Writer, elements: &[u64], words: usize) -> Result<()> {
    to.varint((elements.len() / words) as u64)?;
    to.words(elements)
}

/// A set of distinct elements.
pub struct Set {
    /// What the elements are.
    pub of: Elements,
    /// How many elements there are.
    pub count: u64,
    /// The elements, one after the other, if they are at hand.
    pub elements: Option<Vec<u64>>,
    symbols: Vec<u64>,
}

impl Set {
    /// A set of these elements. Symbols are computed when somebody asks for them.
    pub fn of_elements(of: Elements, elements: Vec<u64>) -> Set {
        Set { count: (elements.len() / of.words()) as u64, of, elements: Some(elements), symbols: Vec::new() }
    }

    /// A set whose first symbols are already there, and perhaps its elements.
    pub fn of_symbols(of: Elements, symbols: Vec<u64>, elements: Option<Vec<u64>>) -> Set {
        let count = symbols.get(of.symbol_words() - 1).copied().unwrap_or(0);
        Set { of, count, elements, symbols }
    }

    /// How many symbols there are.
    pub fn symbols(&self) -> u64 {
        (self.symbols.len() / self.of.symbol_words()) as u64
    }

    /// Whether there are `symbols` symbols, or can be.
    pub fn reaches(&self, symbols: u64) -> bool {
        self.elements.is_some() || symbols <= self.symbols()
    }

    /// Computes symbols until there are `symbols`. This takes one pass over the elements, unless they are there
    /// already.
    ///
    /// # Errors
    /// [`Status::UnsupportedByHandle`](crate::Status::UnsupportedByHandle) if the elements are not at hand;
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn grow(&mut self, symbols: u64) -> Result<()> {
        let (width, have) = (self.of.symbol_words(), self.symbols());
        if symbols <= have {
            return Ok(());
        }
        let Some(elements) = &self.elements else {
            return Err(error!(
                UnsupportedByHandle,
                "{symbols} symbols are needed, and the sketch keeps {have} and no keys: keep more symbols, or the keys"
            ));
        };
        // Each pass at least doubles the symbols, so there are few passes.
        let most = most_symbols(width);
        let target = symbols.max(have.saturating_mul(2).min(most)) as usize;
        let length = (target - have as usize) * width;
        let mut more = try_vec(length)?;
        more.resize(length, 0);
        let (words, mut hashes) = (self.of.words(), [0; GROUP]);
        for group in elements.chunks(GROUP * words) {
            let hashes = &mut hashes[..group.len() / words];
            for (hash, element) in hashes.iter_mut().zip(group.chunks_exact(words)) {
                *hash = self.of.hash(element)?;
            }
            add_all(&mut more, have, hashes, group, 1);
        }
        if self.symbols.try_reserve_exact(more.len()).is_err() {
            return Err(error!(OutOfMemory, "{target} symbols could not be had"));
        }
        self.symbols.append(&mut more);
        Ok(())
    }

    /// The XOR of the hashes of all elements, which is in the first symbol.
    ///
    /// # Errors
    /// The errors of [`Set::grow`].
    pub fn checksum(&mut self) -> Result<u64> {
        self.grow(1)?;
        Ok(self.symbols[self.of.words()])
    }

    /// The counts of the first `symbols` symbols, which must be there.
    pub fn counts(&self, symbols: u64) -> impl Iterator<Item = u64> {
        self.symbols.chunks_exact(self.of.symbol_words()).take(symbols as usize).map(|symbol| symbol[symbol.len() - 1])
    }

    /// Writes the symbols from `first` to `end`, which must be there. A count is written as its difference from the
    /// mean count.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn write(&self, to: &mut Writer, first: u64, end: u64) -> Result<()> {
        let width = self.of.symbol_words();
        for index in first..end {
            let symbol = &self.symbols[index as usize * width..][..width];
            to.words(&symbol[..width - 1])?;
            to.signed(symbol[width - 1].wrapping_sub(expected_count(self.count, index) as u64) as i64)?;
        }
        Ok(())
    }

    /// Writes the difference of this set's first symbols and those of another. This set must have as many symbols.
    pub fn minus(&self, others: &[u64], to: &mut [u64]) {
        let width = self.of.symbol_words();
        let both = self.symbols.chunks_exact(width).zip(others.chunks_exact(width));
        for (to, (symbol, other)) in to.chunks_exact_mut(width).zip(both) {
            to.iter_mut().zip(symbol.iter().zip(other)).for_each(|(to, (word, other))| *to = word ^ other);
            to[width - 1] = symbol[width - 1].wrapping_sub(other[width - 1]);
        }
    }
}

/// Reads `count` symbols of a set of `numbers` elements, from the index `first` on, and appends them to `symbols`.
///
/// # Errors
/// [`Status::Truncated`](crate::Status::Truncated); [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub fn read_symbols(from: &mut Cursor, count: u64, numbers: u64, width: usize, symbols: &mut Vec<u64>) -> Result<()> {
    let first = (symbols.len() / width) as u64;
    // Each symbol takes at least 9 bytes of the message, so a false count allocates nothing.
    let least = (8 * (width - 1) + 1) as u64;
    if count.saturating_mul(least) > from.rest().len() as u64 {
        return Err(error!(Truncated, "{count} symbols need {least} bytes each, {} follow", from.rest().len()));
    }
    let room = symbols.try_reserve_exact(count as usize * width);
    room.map_err(|_| error!(OutOfMemory, "{count} symbols could not be had"))?;
    for index in first..first + count {
        for _ in 0..width - 1 {
            symbols.push(wire::word(from)?);
        }
        symbols.push(wire::signed(from)?.wrapping_add(expected_count(numbers, index)) as u64);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;
    use crate::spec::Spec;

    fn elements(key_bytes: usize) -> Elements {
        Elements { key_bytes, hasher: Spec::default().hasher().unwrap() }
    }

    #[test]
    fn symbols_are_bounded_and_grow_by_doubling() {
        assert_eq!((most_symbols(3), most_symbols(10)), (1 << 18, 78_643));
        let mut set = Set::of_elements(elements(8), (0..100).collect());
        for (asked, there) in [(10, 10), (11, 20), (20, 20), (50, 50)] {
            set.grow(asked).unwrap();
            assert_eq!(set.symbols(), there, "{asked}");
        }
    }

    /// Bits past the end of a key are refused, and so is a message that has fewer symbols than it says.
    #[test]
    fn elements_and_symbols_have_their_bytes() {
        for (key_bytes, bit, is_whole) in [(13, 39, true), (13, 40, false), (16, 63, true), (9, 8, false)] {
            let mut writer = Writer::new(0).unwrap();
            write_elements(&mut writer, &[5, 1 << bit], 2).unwrap();
            let read = elements(key_bytes).read(&mut Cursor::new(writer.bytes()));
            assert_eq!(read.ok(), is_whole.then(|| vec![5, 1 << bit]), "{key_bytes} {bit}");
        }
        let read = |count| read_symbols(&mut Cursor::new(&[0; 170]), count, 0, 3, &mut Vec::new());
        assert!(read(10).is_ok());
        let refused = read(11).unwrap_err();
        assert!(refused.status() == Status::Truncated && refused.message().contains("need 17 bytes"), "{refused}");
    }
}
