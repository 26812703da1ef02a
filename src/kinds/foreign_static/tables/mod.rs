//! Static filters as other systems lay them out: made once from all keys, and only looked up here.
//!
//! Each form has a file: a type that is a [`Form`], and a line in [`FORMS`]. The payload is the table as its owner
//! wrote it, in little-endian words. The geometry has what the owner's header says about the table: word 0 is the
//! form's number, and the form defines what words 1 to 5 mean.

mod blobloom;
pub mod clubcard;
mod fuse;
mod holiman;
mod ribbon;
mod shards;
mod xor;

pub use blobloom::MAX_HASHES as MAX_BLOBLOOM_HASHES;
pub use holiman::{MAX_HASHES as MAX_HOLIMAN_HASHES, MIN_BITS as MIN_HOLIMAN_BITS};

use crate::format::Geometry;
use core::sync::atomic::{AtomicU64, Ordering};

/// How keys are looked up in a table. `words` are those of the table.
pub trait Form: Send + Sync {
    /// Whether the key with this hash may be in the filter.
    fn contains(&self, words: &[AtomicU64], hash: u64) -> bool;

    /// Prefetches the lines that a lookup will read.
    fn fetch(&self, words: &[AtomicU64], hash: u64);

    /// Whether the form takes keys whole, and hashes them itself.
    fn takes_keys(&self) -> bool {
        false
    }

    /// Whether this key may be in a filter of a form that takes keys whole.
    fn contains_key(&self, _words: &[AtomicU64], _key: &[u8]) -> bool {
        true
    }

    /// The probability that a key that is not in the filter is found, with `keys` keys in it.
    fn expected_rate(&self, keys: u64) -> f64;

    /// The false-positive rate, given the entries of this table.
    fn rate(&self, _words: &[AtomicU64], keys: u64) -> f64 {
        self.expected_rate(keys)
    }

    /// How many cells, or bits, keys may have in the table.
    fn cells(&self) -> u64;

    /// Whether what the table says of itself fits together. Lookups do not rely on it.
    fn is_sound(&self, _words: &[AtomicU64]) -> bool {
        true
    }
}

/// What the library knows about a form.
pub struct FormRow {
    /// The form's name, the value of the parameter `form`.
    pub name: &'static str,
    /// The table that a geometry describes; `None` if it is not one of this form.
    pub open: fn(&Geometry) -> Option<Box<dyn Form>>,
}

/// All forms. The place in this list is the form's number in images, so new ones are only appended.
const ROWS: &[FormRow] = &[ribbon::ROW, fuse::ROW, xor::ROW, blobloom::ROW, holiman::ROW, shards::ROW, clubcard::ROW];

/// All forms, in the order of their numbers.
pub static FORMS: &[FormRow] = ROWS;

/// The names of the forms, in the same order.
pub const NAMES: [&str; ROWS.len()] = {
    let (mut names, mut i) = ([""; ROWS.len()], 0);
    while i < names.len() {
        names[i] = ROWS[i].name;
        i += 1;
    }
    names
};

/// The number of the form with this name.
pub fn number(name: &str) -> Option<u64> {
    NAMES.iter().position(|other| *other == name).map(|number| number as u64)
}

/// Cells of 8, 16 or 32 bits in words.
#[derive(Clone, Copy)]
struct Cells {
    /// The base-2 logarithm of a cell's bits.
    log_width: u32,
    count: u64,
}

impl Cells {
    /// `bits` bits, divided exactly into cells of `width` bits.
    fn of(bits: u64, width: u64) -> Option<Cells> {
        let is_known = matches!(width, 8 | 16 | 32) && bits.is_multiple_of(width);
        is_known.then(|| Cells { log_width: width.ilog2(), count: bits / width })
    }

    /// The cell in this place, which is below the number of cells.
    #[inline]
    fn at(&self, words: &[AtomicU64], place: u64) -> u32 {
        let in_word = 6 - self.log_width;
        let shift = (place & ((1 << in_word) - 1)) << self.log_width;
        (words[(place >> in_word) as usize].load(Ordering::Relaxed) >> shift) as u32 & self.mask()
    }

    #[inline]
    fn fetch(&self, words: &[AtomicU64], place: u64) {
        if let Some(word) = words.get((place >> (6 - self.log_width)) as usize) {
            crate::bits::prefetch(word);
        }
    }

    /// The fingerprint that a mixed hash has in cells of this width.
    #[inline]
    fn fingerprint(&self, hash: u64) -> u32 {
        (hash ^ hash >> 32) as u32 & self.mask()
    }

    #[inline]
    fn mask(&self) -> u32 {
        u32::MAX >> (32 - (1 << self.log_width))
    }

    /// The probability that two fingerprints are the same.
    fn false_positive_rate(&self) -> f64 {
        (-f64::from(1 << self.log_width)).exp2()
    }
}
