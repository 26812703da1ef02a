//! The subjects of measurements: filters of Petal and of others, behind one trait. Petal's kinds come from the
//! registry, so new kinds appear here on their own.

use crate::keys::{Buffer, Form};
use petal::Row;
use petal::{Answers, Capabilities, Filter, Image, Kernel, Keys, Spec, Status};

/// An operation on keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Insertions of absent keys.
    Insert,
    /// Lookups of keys that were inserted.
    Hit,
    /// Lookups of keys that were not inserted.
    Miss,
}

impl Operation {
    /// All operations.
    pub const ALL: [Operation; 3] = [Operation::Insert, Operation::Hit, Operation::Miss];

    /// The name of the operation in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Operation::Insert => "insert",
            Operation::Hit => "hit",
            Operation::Miss => "miss",
        }
    }
}

/// A filter that is measured.
pub trait Subject: Send + Sync {
    /// The name of the filter in reports.
    fn name(&self) -> &'static str;

    /// The instruction set in use, if it is known.
    fn kernel(&self) -> &'static str;

    /// Bits of payload.
    fn bits(&self) -> u64;

    /// The address of the payload, if it is known.
    fn address(&self) -> Option<usize>;

    /// Whether a call takes many keys.
    fn has_batches(&self) -> bool {
        false
    }

    /// Whether insertions are measured. Filters that are built from all keys together have none.
    fn has_insertions(&self) -> bool {
        true
    }

    /// Removes all keys, and leaves the memory touched.
    fn clear(&mut self);

    /// Inserts the keys in one call or one by one. The answers are stored like those of [`Subject::contains`].
    fn insert(&mut self, keys: &Buffer, batch: bool, answers: &mut [u8]);

    /// Looks up the keys in one call or one by one, and returns how many were found.
    fn contains(&self, keys: &Buffer, batch: bool, answers: &mut [u8]) -> u64;

    /// The number of cache lines that the operation touches for each key.
    fn lines(&self, operation: Operation) -> f64;

    /// The filter of Petal, if the subject is one.
    fn filter(&self) -> Option<&Filter> {
        None
    }

    /// Takes over the keys of a filter of the same kind and size, so that these need not be inserted twice. Returns
    /// whether it did.
    fn take_over(&mut self, _: &dyn Subject) -> bool {
        false
    }
}

/// The common properties of all filters of one comparison.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Keys.
    pub n: u64,
    /// Bits of payload for each key. Every library comes as near as it can.
    pub bits_per_key: f64,
    /// The form of the keys.
    pub form: Form,
}

impl Size {
    /// Bits of payload: whole cache lines.
    pub fn bits(&self) -> u64 {
        ((self.n as f64 * self.bits_per_key).ceil() as u64).next_multiple_of(512)
    }
}

/// One of Petal's kinds.
struct Petal {
    row: &'static Row,
    filter: Filter,
}

/// The spec of a kind at a size.
pub fn spec(row: &Row, size: &Size, kernel: Kernel) -> Spec {
    let bits = size.bits().next_multiple_of(row.bits_unit());
    Spec { kind: Some(row.kind), capacity: size.n, bits, kernel, ..Spec::default() }
}

/// The false-positive rate of a kind that cannot have as few bits as the comparison asks for.
const OTHERWISE: f64 = 0.01;

/// A kind at a size. A kind that needs more bits for this number of keys gets those of a rate of 1 %, and the column of
/// bits a key says how many.
///
/// # Errors
/// As [`petal::Filter::new`].
pub fn petal(row: &'static Row, size: &Size, kernel: Kernel) -> petal::Result<Box<dyn Subject>> {
    let wanted = spec(row, size, kernel);
    let filter = match petal::Filter::new(&wanted) {
        Err(error) if error.status() == Status::Contradiction => {
            petal::Filter::new(&Spec { bits: 0, false_positive_rate: OTHERWISE, ..wanted })?
        }
        made => made?,
    };
    Ok(Box::new(Petal { row, filter }))
}

/// Whether filters of the kind can be filled one key at a time, with any keys, and find all of them. Kinds that forget
/// are measured in a separate part.
pub fn inserts(row: &Row) -> bool {
    let capabilities = row.capabilities;
    let is_filled = capabilities.contains(Capabilities::INSERT) && !capabilities.contains(Capabilities::MAY_LOSE_KEYS);
    is_filled && row.room.copies.is_none() && row.hashing.universe.is_none()
}

impl Subject for Petal {
    fn name(&self) -> &'static str {
        self.row.name
    }

    fn kernel(&self) -> &'static str {
        self.filter.base().instructions().kernel().name()
    }

    fn bits(&self) -> u64 {
        self.filter.base().geometry().bits
    }

    fn address(&self) -> Option<usize> {
        Some(self.filter.base().words().shared().as_ptr().addr())
    }

    fn has_batches(&self) -> bool {
        true
    }

    fn clear(&mut self) {
        self.filter.clear().expect("a filter in memory of its own can be cleared");
    }

    fn insert(&mut self, keys: &Buffer, batch: bool, answers: &mut [u8]) {
        let filter = &mut self.filter;
        if batch {
            let answers = &mut Answers { bytes: Some(&mut answers[..keys.len()]), ..Answers::default() };
            return filter.insert_batch(&keys.keys(), Some(answers)).outcome.expect("keys can be inserted");
        }
        match keys.keys() {
            Keys::U64(numbers) => one_by_one(numbers.iter(), answers, |key| filter.insert_u64(*key).unwrap_or(true)),
            _ => one_by_one(keys.strings(), answers, |key| filter.insert(key).unwrap_or(true)),
        };
    }

    fn contains(&self, keys: &Buffer, batch: bool, answers: &mut [u8]) -> u64 {
        let filter = &self.filter;
        if batch {
            let answers = &mut Answers { bytes: Some(&mut answers[..keys.len()]), ..Answers::default() };
            filter.contains_batch(&keys.keys(), answers).expect("keys can be looked up");
            return answers.true_count;
        }
        match keys.keys() {
            Keys::U64(numbers) => one_by_one(numbers.iter(), answers, |key| filter.contains_u64(*key)),
            _ => one_by_one(keys.strings(), answers, |key| filter.contains(key)),
        }
    }

    fn lines(&self, operation: Operation) -> f64 {
        let geometry = self.filter.base().geometry();
        let lines = (self.row.lines_per_lookup)(geometry);
        if operation != Operation::Miss || lines <= 1.0 {
            return lines;
        }
        // A lookup of an absent key ends at the first bit that is not set, after 1 + f + f^2 + ... probes.
        let fill = self.filter.statistics().fill;
        (1.0 - fill.powf(lines)) / (1.0 - fill).max(f64::MIN_POSITIVE)
    }

    fn filter(&self) -> Option<&Filter> {
        Some(&self.filter)
    }

    fn take_over(&mut self, other: &dyn Subject) -> bool {
        other.filter().is_some_and(|other| self.filter.merge(other).is_ok())
    }
}

/// Looks up each key, stores the answers as a program would, and counts the true ones.
#[inline(always)]
pub fn one_by_one<K>(keys: impl Iterator<Item = K>, answers: &mut [u8], mut ask: impl FnMut(K) -> bool) -> u64 {
    let mut count = 0;
    for (key, to) in keys.zip(answers) {
        *to = ask(key).into();
        count += u64::from(*to);
    }
    count
}
