//! Cuts bytes, which come in pieces, into blocks.
//!
//! Fixed blocks are consecutive from the first byte on. By content there is a cut after a byte if the hash of the last
//! [`WINDOW`] bytes is less than those of the `reach` positions before and after it (a local minimum; Schleimer,
//! Wilkerson and Aiken, "Winnowing", 2003, and Bjørner, Blass and Gurevich, 2010). So a cut depends only on the bytes
//! around it, and two such cuts are more than `reach` bytes apart. In random bytes a block has 2 reach + 1 bytes on
//! average. Bytes that repeat have no local minimum. There a cut comes [`MOST_BLOCKS`] times the block's length after
//! the previous cut. An excerpt has the same cuts from its first local minimum on. Blocks begin at the first local
//! minimum. A block's key also covers the window before the block, so neighbours overlap, and every key covers enough
//! bytes to tell blocks apart.

use crate::bits::mix;
use crate::digest::entries::Block;
use crate::digest::layout::{Cut, Shape};
use crate::error::Result;
use crate::hash::Hasher;
use crate::storage::try_vec;

/// The bytes that the hash of a position covers.
pub const WINDOW: usize = 8;

/// How many times the average length a block that is cut by content can have.
pub const MOST_BLOCKS: u64 = 4;

/// How many positions on each side of a cut have greater hashes.
pub fn reach(block_bytes: u64) -> u64 {
    (block_bytes - 1) / 2
}

/// Cuts bytes into blocks.
pub struct Cutter {
    rule: Rule,
    /// How many bytes have come.
    position: u64,
    /// The last of these bytes.
    kept: Vec<u8>,
    /// The most bytes that are kept.
    room: usize,
}

enum Rule {
    Fixed { block_bytes: usize },
    Content(Minima),
}

/// The local minima.
struct Minima {
    reach: u64,
    most: u64,
    /// The last [`WINDOW`] bytes, the latest one highest.
    window: u64,
    /// Positions with their hashes, in a ring. The hashes ascend, so the first one is the least of the window of 2
    /// reach + 1 positions.
    ring: Vec<(u64, u64)>,
    first: usize,
    length: usize,
    /// How many bytes are before the last cut.
    last: Option<u64>,
}

impl Minima {
    fn at(&self, i: usize) -> (u64, u64) {
        let place = self.first + i;
        self.ring[if place < self.ring.len() { place } else { place - self.ring.len() }]
    }

    /// Takes the byte after `before` others. If that decides a cut, returns how many bytes are before the cut.
    fn take(&mut self, byte: u8, before: u64) -> Option<u64> {
        self.window = self.window >> 8 | u64::from(byte) << 56;
        let first = WINDOW as u64 - 1;
        if before < first {
            return None;
        }
        let hash = mix(self.window);
        while self.length > 0 && self.at(self.length - 1).1 > hash {
            self.length -= 1;
        }
        if self.length > 0 && self.at(0).0 + 2 * self.reach < before {
            self.first = (self.first + 1) % self.ring.len();
            self.length -= 1;
        }
        let place = (self.first + self.length) % self.ring.len();
        self.ring[place] = (before, hash);
        self.length += 1;
        let centre = before.checked_sub(self.reach).filter(|centre| *centre >= first + self.reach)?;
        let is_least = self.at(0).0 == centre && (self.length == 1 || self.at(1).1 != self.at(0).1);
        let is_cut = is_least || self.last.is_some_and(|last| centre + 1 - last == self.most);
        is_cut.then_some(centre + 1)
    }
}

impl Cutter {
    /// A cutter for a payload or an excerpt.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn new(shape: &Shape) -> Result<Cutter> {
        let (rule, room) = match shape.cut {
            Cut::Fixed => {
                let block_bytes = shape.block_bytes as usize;
                (Rule::Fixed { block_bytes }, block_bytes)
            }
            Cut::Content => {
                let (reach, most) = (reach(shape.block_bytes), MOST_BLOCKS * shape.block_bytes);
                let positions = 2 * reach as usize + 2;
                let mut ring = try_vec(positions)?;
                ring.resize(positions, (0, 0));
                let minima = Minima { reach, most, window: 0, ring, first: 0, length: 0, last: None };
                (Rule::Content(minima), WINDOW + most as usize + reach as usize + 1)
            }
        };
        Ok(Cutter { rule, position: 0, kept: try_vec(2 * room)?, room })
    }

    /// How many bytes have come.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Takes the next bytes, and gives each block that they complete, in order.
    ///
    /// # Errors
    /// Those of the hasher; [`Hasher::refusal`] reports them beforehand.
    pub fn take(&mut self, hasher: &Hasher, bytes: &[u8], mut give: impl FnMut(Block)) -> Result<()> {
        match &mut self.rule {
            Rule::Fixed { block_bytes } => {
                let mut bytes = bytes;
                while !bytes.is_empty() {
                    // Whole blocks need no copy.
                    if self.kept.is_empty() && bytes.len() >= *block_bytes {
                        let (block, rest) = bytes.split_at(*block_bytes);
                        give(Block { start: self.position, key: hasher.hash_key(block)? });
                        self.position += *block_bytes as u64;
                        bytes = rest;
                        continue;
                    }
                    let (now, rest) = bytes.split_at(bytes.len().min(*block_bytes - self.kept.len()));
                    self.kept.extend_from_slice(now);
                    self.position += now.len() as u64;
                    bytes = rest;
                    if self.kept.len() == *block_bytes {
                        let start = self.position - *block_bytes as u64;
                        give(Block { start, key: hasher.hash_key(&self.kept)? });
                        self.kept.clear();
                    }
                }
            }
            Rule::Content(minima) => {
                for byte in bytes {
                    if self.kept.len() == 2 * self.room {
                        self.kept.copy_within(self.room.., 0);
                        self.kept.truncate(self.room);
                    }
                    self.kept.push(*byte);
                    let cut = minima.take(*byte, self.position);
                    self.position += 1;
                    let Some(end) = cut else { continue };
                    if let Some(start) = minima.last.replace(end) {
                        let kept = self.position - self.kept.len() as u64;
                        let block = &self.kept[(start - WINDOW as u64 - kept) as usize..(end - kept) as usize];
                        give(Block { start, key: hasher.hash_key(block)? });
                    }
                }
            }
        }
        Ok(())
    }
}
