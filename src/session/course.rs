//! What both roles need while a session goes on: the set, what was found, and what it cost.

use super::hello::Hello;
use super::peel::{Peeled, peel};
use super::set::{Elements, Set};
use crate::error::{Result, error};
use crate::storage::try_vec;

/// What a message is.
pub mod message {
    /// The initiator introduces itself.
    pub const HELLO: u8 = 1;
    /// The responder introduces itself, with the counts of its first symbols.
    pub const WELCOME: u8 = 2;
    /// The sets are equal.
    pub const EQUAL: u8 = 3;
    /// Coded symbols.
    pub const SYMBOLS: u8 = 4;
    /// The responder asks for more symbols.
    pub const MORE: u8 = 5;
    /// The syndromes of numbers.
    pub const SYNDROMES: u8 = 6;
    /// The elements that one side has alone.
    pub const RESULT: u8 = 7;
    /// The initiator's filter.
    pub const FILTER: u8 = 8;
    /// What the initiator's filter stopped, and the responder's filter.
    pub const REST: u8 = 9;
    /// What the responder's filter stopped, and coded symbols of all that passed.
    pub const RESIDUE: u8 = 10;
    /// A side gives up.
    pub const FAILURE: u8 = 11;
}

/// How the differences were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Nothing was chosen yet.
    #[default]
    None = 0,
    /// The sets were equal.
    Equal = 1,
    /// Syndromes, as the kind `pinsketch` has them.
    Pinsketch = 2,
    /// Coded symbols, as the kind `riblt` has them.
    Riblt = 3,
    /// A filter of each set, and coded symbols of what passes them.
    FilterAndRiblt = 4,
}

/// What a session chose, and what it cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// The way to the differences.
    pub method: Method,
    /// Whether the session used the sketches' own symbols. Otherwise it had its own random key.
    pub used_kept_symbols: bool,
    /// The estimated number of differences. The responder makes no estimate, and has 0.
    pub estimated_differences: f64,
    /// The standard deviation of the estimate.
    pub estimate_deviation: f64,
    /// How many elements the other side has.
    pub their_count: u64,
    /// Coded symbols that the initiator sent.
    pub symbols: u64,
    /// Syndromes that the initiator sent.
    pub syndromes: u64,
    /// Bytes of both filters.
    pub filter_bytes: u64,
    /// Messages, both ways.
    pub messages: u64,
    /// Bytes of the messages that this side sent.
    pub sent_bytes: u64,
    /// Bytes of the messages that this side received.
    pub received_bytes: u64,
}

/// The elements that only one side has, in no particular order.
#[derive(Default)]
pub struct Found {
    /// Elements of this side only.
    pub ours: Vec<u64>,
    /// Elements of the other side only.
    pub theirs: Vec<u64>,
}

/// What both roles have.
pub struct Course {
    /// What this side says of itself.
    pub hello: Hello,
    /// The whole set of this side.
    pub set: Set,
    /// What passed the other side's filter, once filters were exchanged.
    pub passing: Option<Set>,
    /// What was found so far.
    pub found: Found,
    /// The checksum of the other side's set, once it is known.
    pub their_checksum: u64,
    /// What it cost.
    pub report: Report,
}

impl Course {
    /// The set whose symbols are exchanged.
    pub fn current(&mut self) -> &mut Set {
        self.passing.as_mut().unwrap_or(&mut self.set)
    }

    /// What the elements are.
    pub fn elements(&self) -> &Elements {
        &self.set.of
    }

    /// Prepares for the key of the session, or for the kept symbols.
    ///
    /// # Errors
    /// As [`Hello::keyed`].
    pub fn agree(&mut self, initiator: &Hello, responder: &Hello, other_count: u64) -> Result<()> {
        self.report.their_count = other_count;
        self.report.used_kept_symbols = true;
        if let Some(hasher) = Hello::keyed(initiator, responder)? {
            self.report.used_kept_symbols = false;
            let of = Elements { hasher, ..self.set.of.clone() };
            let elements = self.set.elements.take().unwrap_or_default();
            self.set = Set::of_elements(of, elements);
        }
        Ok(())
    }

    /// The differences between the current set and that of the other side, which has these symbols. `None` unless all
    /// differences were found.
    ///
    /// # Errors
    /// The errors of [`peel`] and [`Set::grow`].
    pub fn peel(&mut self, theirs: &[u64]) -> Result<Option<Peeled>> {
        let set = self.current();
        let symbols = theirs.len() / set.of.symbol_words();
        set.grow(symbols as u64)?;
        peel(&set.of, symbols, |to| {
            set.minus(theirs, to);
            Ok(())
        })
    }

    /// Whether what was found explains the difference of both sets: by the counts, by the checksums, and by this side's
    /// elements if they are at hand.
    ///
    /// # Errors
    /// [`Status::SecretMissing`](crate::Status::SecretMissing); [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn explains(&mut self, found: &Found) -> Result<bool> {
        let words = self.set.of.words();
        let count = |elements: &[u64]| (elements.len() / words) as u64;
        let (more, fewer) = (count(&found.ours), count(&found.theirs));
        if self.set.count.checked_add(fewer) != self.report.their_count.checked_add(more) {
            return Ok(false);
        }
        let of = self.set.of.clone();
        let checksum = of.checksum(&found.ours)? ^ of.checksum(&found.theirs)?;
        if checksum != self.set.checksum()? ^ self.their_checksum {
            return Ok(false);
        }
        let (ours, theirs) = (sorted(&found.ours, words)?, sorted(&found.theirs, words)?);
        let are_distinct =
            |all: &[u64]| all.chunks_exact(words).zip(all.chunks_exact(words).skip(1)).all(|(a, b)| a != b);
        if !are_distinct(&ours) || !are_distinct(&theirs) {
            return Ok(false);
        }
        let Some(own) = &self.set.elements else { return Ok(true) };
        let mut there = 0;
        for element in own.chunks_exact(words) {
            if is_among(element, &theirs, words) {
                return Ok(false);
            }
            there += u64::from(is_among(element, &ours, words));
        }
        Ok(there == more)
    }

    /// Divides these elements, by this side's own, into those that this side has and those that the other side has.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn sides(&self, differences: &[u64]) -> Result<Found> {
        let words = self.set.of.words();
        let (all, own) = (sorted(differences, words)?, self.set.elements.as_deref().unwrap_or_default());
        let mut ours = Vec::new();
        for element in own.chunks_exact(words).filter(|element| is_among(element, &all, words)) {
            append(&mut ours, element)?;
        }
        let (own, mut theirs) = (sorted(&ours, words)?, try_vec(all.len())?);
        for element in all.chunks_exact(words).filter(|element| !is_among(element, &own, words)) {
            theirs.extend_from_slice(element);
        }
        Ok(Found { ours, theirs })
    }

    /// Keeps what was found, in ascending order.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn keep(&mut self, found: &Found) -> Result<()> {
        let words = self.set.of.words();
        self.found = Found { ours: sorted(&found.ours, words)?, theirs: sorted(&found.theirs, words)? };
        Ok(())
    }
}

/// Elements in ascending order: numbers by their value, and longer keys byte by byte.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub fn sorted(elements: &[u64], words: usize) -> Result<Vec<u64>> {
    let mut all = try_vec(elements.len())?;
    if words == 1 {
        all.extend_from_slice(elements);
        all.sort_unstable();
        return Ok(all);
    }
    let mut each = try_vec(elements.len() / words)?;
    each.extend(elements.chunks_exact(words));
    each.sort_unstable_by(|a, b| in_order(a, b));
    each.iter().for_each(|element| all.extend_from_slice(element));
    Ok(all)
}

fn in_order(a: &[u64], b: &[u64]) -> core::cmp::Ordering {
    match (a, b) {
        ([a], [b]) => a.cmp(b),
        _ => a.iter().map(|word| word.swap_bytes()).cmp(b.iter().map(|word| word.swap_bytes())),
    }
}

/// Whether an element is among sorted ones.
fn is_among(element: &[u64], sorted: &[u64], words: usize) -> bool {
    let (mut low, mut high) = (0, sorted.len() / words);
    while low < high {
        let middle = low + (high - low) / 2;
        match in_order(&sorted[middle * words..][..words], element) {
            core::cmp::Ordering::Less => low = middle + 1,
            core::cmp::Ordering::Greater => high = middle,
            core::cmp::Ordering::Equal => return true,
        }
    }
    false
}

/// Appends elements.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub fn append(to: &mut Vec<u64>, from: &[u64]) -> Result<()> {
    to.try_reserve(from.len()).map_err(|_| error!(OutOfMemory, "{} more words could not be had", from.len()))?;
    to.extend_from_slice(from);
    Ok(())
}
