//! How the payload is laid out: the rows, their folds, their counts of set bits, their ids, a bit for each row that was
//! removed, the columns, the attachment, and a line of state. Each part begins at a multiple of 64 bytes.
//!
//! A row has a *number*, its place in every part. Bit i of a row is bit i % 64 of its word i / 64, and bit i % 8 of its
//! byte i / 8. The words of a row follow each other, and rows do so without a gap. The *fold* of a row is short: word j
//! is the exclusive or of the row's words j, j + n, j + 2n and so on, for n words. [`folds`] says how folds lie.
//! The *column* of bit i has bit i of every row, in the order of numbers.
//!
//! Rows with numbers below [`State::arranged`] are in ascending order of their counts. Others came later.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod folds;
#[cfg(target_arch = "aarch64")]
mod neon;
pub mod numbers;
mod portable;

use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::simd::Instructions;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use folds::Levels;
use numbers::Numbers;

/// The inner loops of searches, for one instruction set.
pub struct RowKernel {
    /// How many bits each of these consecutive rows has in common with the query.
    pub common: fn(query: &[u64], rows: &[AtomicU64], counts: &mut [u32]),
    /// Which rows of these blocks have folds that differ from the query's in at most `most` bits: writes their places,
    /// ascending, and returns how many they are. There is room for the place of every row.
    pub near: fn(query: &[u64], levels: &Levels<'_>, most: u32, places: &mut [u32]) -> usize,
}

/// The inner loops of searches.
pub fn kernel(instructions: Instructions) -> &'static RowKernel {
    match instructions.kernel() {
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        crate::simd::Kernel::Avx512 if instructions.counts_eight() => &avx512::KERNEL,
        #[cfg(all(target_arch = "x86_64", any(feature = "avx2", feature = "avx512")))]
        crate::simd::Kernel::Avx2 | crate::simd::Kernel::Avx512 => &avx2::KERNEL,
        #[cfg(all(target_arch = "aarch64", feature = "neon"))]
        crate::simd::Kernel::Neon => &neon::KERNEL,
        _ => &portable::KERNEL,
    }
}

/// The geometry's word that has the bits of a row.
pub const WIDTH_WORD: usize = 0;
/// The geometry's word that says how long folds are.
pub const FOLD_WORD: usize = 1;
/// The geometry's word that says whether there are rows, columns, or both.
pub const STORE_WORD: usize = 2;
/// The geometry's word that says whether bits nest.
pub const NESTING_WORD: usize = 3;
/// The geometry's word that has the bits of a feature.
pub const FEATURE_BITS_WORD: usize = 4;
/// The geometry's word that has the most bytes of the attachment.
pub const ATTACHMENT_WORD: usize = 5;
/// The geometry's word that has the bytes of an id.
pub const ID_BYTES_WORD: usize = 6;

/// The least number of bits that a row has.
pub const MIN_WIDTH: u64 = 64;
/// The greatest number of bits that a row has.
pub const MAX_WIDTH: u64 = 1 << 16;
/// The most bits that a feature sets.
pub const MAX_FEATURE_BITS: u64 = 64;
/// The most rows that an index has room for.
pub const MAX_ROWS: u64 = 1 << 40;
/// How many bytes an id may take.
pub const ID_BYTES: [u64; 2] = [4, 8];

/// The names of the lengths of folds, in the order of their numbers.
pub const FOLDS: [&str; 6] = ["auto", "none", "64", "128", "256", "512"];

/// What an index stores of its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// The rows: similarities are found.
    Rows,
    /// The columns: rows that contain all bits of a query are found.
    Columns,
    /// Rows and columns, in twice the memory.
    Both,
}

impl Store {
    /// The names, in the order of their numbers.
    pub const NAMES: [&'static str; 3] = ["rows", "columns", "both"];

    /// The store with this number.
    pub fn of_number(number: u64) -> Option<Store> {
        match number {
            0 => Some(Store::Rows),
            1 => Some(Store::Columns),
            2 => Some(Store::Both),
            _ => None,
        }
    }

    /// Whether the rows are there.
    pub fn has_rows(self) -> bool {
        self != Store::Columns
    }

    /// Whether the columns are there.
    pub fn has_columns(self) -> bool {
        self != Store::Rows
    }
}

/// The shape of an index: what its geometry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The bits of a row.
    pub width: u64,
    /// How many rows there is room for.
    pub capacity: u64,
    /// The number of the fold's length among [`FOLDS`]; never 0, which leaves the choice to the library.
    pub fold: u64,
    /// What is stored of rows.
    pub store: Store,
    /// Whether a thing that has all features of another has all of its bits.
    pub nests: bool,
    /// How many bits a feature sets.
    pub feature_bits: u64,
    /// The most bytes of the attachment.
    pub attachment_bytes: u64,
    /// The bytes of an id, one of [`ID_BYTES`].
    pub id_bytes: u64,
}

/// The numbers in the last line of the payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// How many rows there are, including those that were removed.
    pub rows: u64,
    /// How many of the first rows are in ascending order of their counts.
    pub arranged: u64,
    /// The bytes of the attachment.
    pub attachment: u64,
}

/// The place of [`State::rows`] in the line of state.
pub const ROWS: usize = 0;
/// The place of [`State::arranged`] in the line of state.
pub const ARRANGED: usize = 1;
/// The place of [`State::attachment`] in the line of state.
pub const ATTACHED: usize = 2;
/// How many words of the line of state are used.
const STATE_WORDS: usize = 3;

/// The number, among [`FOLDS`], of the length that suits rows of `width` bits: about a quarter of a row.
pub fn fold_for(width: u64) -> u64 {
    match width {
        0..256 => 1,
        256..512 => 2,
        512..1024 => 3,
        1024..2048 => 4,
        _ => 5,
    }
}

/// `words` rounded up to a multiple of 8 words, which are 64 bytes.
fn lines(words: u64) -> u64 {
    words.next_multiple_of(8)
}

impl Shape {
    /// The shape that a geometry describes, if it is one of this kind.
    pub fn of(geometry: &Geometry) -> Option<Shape> {
        let [width, fold, store, nesting, feature_bits, attachment_bytes, id_bytes, _] = geometry.words;
        if !(MIN_WIDTH..=MAX_WIDTH).contains(&width) || geometry.bits == 0 {
            return None;
        }
        let shape = Shape {
            width,
            capacity: geometry.bits / width,
            fold,
            store: Store::of_number(store)?,
            nests: nesting == 0,
            feature_bits,
            attachment_bytes,
            id_bytes,
        };
        // The comparison with the geometry of the shape does the rest.
        let is_one = (1..FOLDS.len() as u64).contains(&fold)
            && (fold == 1 || shape.store.has_rows())
            && (1..=MAX_FEATURE_BITS).contains(&feature_bits)
            && attachment_bytes <= 1 << 32
            && ID_BYTES.contains(&id_bytes);
        (is_one && shape.geometry().is_ok_and(|expected| expected == *geometry)).then_some(shape)
    }

    /// The geometry of this shape.
    ///
    /// # Errors
    /// [`Status::TooLarge`](crate::Status::TooLarge).
    pub fn geometry(&self) -> Result<Geometry> {
        let mut words = [0; 8];
        words[WIDTH_WORD] = self.width;
        words[FOLD_WORD] = self.fold;
        words[STORE_WORD] = self.store as u64;
        words[NESTING_WORD] = u64::from(!self.nests);
        words[FEATURE_BITS_WORD] = self.feature_bits;
        words[ATTACHMENT_WORD] = self.attachment_bytes;
        words[ID_BYTES_WORD] = self.id_bytes;
        let capacity = self.capacity;
        if capacity > MAX_ROWS {
            return Err(error!(TooLarge, "capacity = {capacity} is more than {MAX_ROWS} rows, the most of an index"));
        }
        // At most 2^40 rows of 2^10 words, so that no product here overflows.
        let payload_bytes = self.state_start_u64().checked_mul(8).and_then(|bytes| bytes.checked_add(PAYLOAD_UNIT));
        Geometry::of_bytes(capacity * self.width, 1, words, payload_bytes)
    }

    /// The words of a row.
    pub fn row_words(&self) -> usize {
        self.width.div_ceil(64) as usize
    }

    /// The bytes of a row, as callers give rows.
    pub fn row_bytes(&self) -> usize {
        self.width.div_ceil(8) as usize
    }

    fn rows_size(&self) -> u64 {
        if self.store.has_rows() { lines(self.capacity * self.row_words() as u64) } else { 0 }
    }

    fn folds_size(&self) -> u64 {
        self.folded_rows() * self.fold_words() as u64
    }

    /// The words of a column.
    pub fn column_words(&self) -> usize {
        lines(self.capacity.div_ceil(64)) as usize
    }

    fn columns_size(&self) -> u64 {
        if self.store.has_columns() { self.width * self.column_words() as u64 } else { 0 }
    }

    fn folds_start(&self) -> u64 {
        self.rows_size()
    }

    /// How many bits each row has set, in as few bytes as hold the width.
    pub fn counts(&self) -> Numbers {
        let bytes = match self.width {
            0..0x100 => 1,
            0x100..0x1_0000 => 2,
            _ => 4,
        };
        Numbers::new(self.folds_start() + self.folds_size(), bytes)
    }

    /// The id of each row.
    pub fn ids(&self) -> Numbers {
        let counts = self.counts();
        Numbers::new(counts.start + lines(counts.words(self.capacity)), self.id_bytes)
    }

    fn removed_start(&self) -> u64 {
        self.ids().start + lines(self.ids().words(self.capacity))
    }

    fn columns_start(&self) -> u64 {
        self.removed_start() + self.column_words() as u64
    }

    fn attachment_start_u64(&self) -> u64 {
        self.columns_start() + self.columns_size()
    }

    fn state_start_u64(&self) -> u64 {
        self.attachment_start_u64() + lines(self.attachment_bytes.div_ceil(8))
    }

    /// The words of a row with this number. Empty if there are only columns.
    pub fn row(&self, row: u64) -> Range<usize> {
        self.rows(row..row + 1)
    }

    /// The words of rows with these numbers.
    pub fn rows(&self, rows: Range<u64>) -> Range<usize> {
        let words = if self.store.has_rows() { self.row_words() } else { 0 };
        rows.start as usize * words..rows.end as usize * words
    }

    /// The words of all folds.
    pub fn folds(&self) -> Range<usize> {
        self.folds_start() as usize..self.counts().start as usize
    }

    /// The words of the bits that say which rows were removed.
    pub fn removed(&self) -> Range<usize> {
        self.removed_start() as usize..self.columns_start() as usize
    }

    /// The words of the column of a bit.
    pub fn column(&self, bit: u64) -> Range<usize> {
        let start = self.columns_start() as usize + bit as usize * self.column_words();
        start..start + self.column_words()
    }

    /// The words of the attachment.
    pub fn attachment(&self) -> Range<usize> {
        self.attachment_start_u64() as usize..self.state_start()
    }

    /// The first word of the state.
    pub fn state_start(&self) -> usize {
        self.state_start_u64() as usize
    }

    /// The state in these words of a payload. Rows that the state counts were written before it.
    pub fn state(&self, words: &[AtomicU64]) -> State {
        let word = |i: usize| words[self.state_start() + i].load(Ordering::Acquire);
        let arranged = word(ARRANGED);
        State { rows: word(ROWS), arranged, attachment: word(ATTACHED) }
    }

    /// Refuses a state out of bounds, in constant time.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn check_state(&self, words: &[AtomicU64]) -> Result<()> {
        let state = self.state(words);
        let bounds = [
            ("rows", state.rows, self.capacity),
            ("arranged rows", state.arranged, state.rows),
            ("bytes of the attachment", state.attachment, self.attachment_bytes),
        ];
        if let Some((name, value, most)) = bounds.into_iter().find(|(_, value, most)| value > most) {
            return Err(error!(Corrupt, "the index's state has {value} {name}, and at most {most} can be"));
        }
        let rest = &words[self.state_start() + STATE_WORDS..];
        if rest.iter().any(|word| word.load(Ordering::Relaxed) != 0) {
            return Err(error!(Corrupt, "the index's state has words set that are not used"));
        }
        Ok(())
    }
}
