//! Clubcards of certificates: which certificates of some issuers are revoked, exactly for all that certain CT logs had
//! when the clubcard was made (Hamilton and Larisch and others, "Clubcards for the WebPKI", 2025). Two linear systems
//! over bits: a certificate passes if its row is orthogonal to all columns of its issuer in the first system and to the
//! column of the second.
//!
//! A key begins with 32 bytes, the SHA-256 of an issuer's public key or of a log's. After an issuer's come the bytes of
//! a serial number, and the answer is whether that certificate is revoked; with no bytes, whether the issuer takes
//! part. After a log's come eight bytes, a time as a big-endian number, and the answer is whether the log was read up
//! to that time.
//!
//! The table has, in words, which but for the hashes are numbers:
//!
//! 1. a line of eight words for each log: its hash, the first and the last time, and two words 0;
//! 2. a line for each issuer, ascending: its hash; the rows of the first system in the low half of a word, and the
//!    first row in the high half; the same of the second system; the number of columns in bits 0 to 7, bit 8 if the
//!    answer is negated, and the number of exceptions in the high half; at which byte of the exceptions its own begin;
//! 3. for each column, how many words there are up to its end; the second system's column is the last;
//! 4. the words of the columns;
//! 5. the exceptions, serial numbers that do not pass: a byte with the length of each, and its bytes.
//!
//! Words 1 to 3 of the geometry are the logs, the issuers and the columns.

use super::{Form, FormRow};
use crate::format::Geometry;
use crate::hash::sha2::sha256;
use core::sync::atomic::{AtomicU64, Ordering};

/// The form.
pub const ROW: FormRow = FormRow {
    name: "clubcard",
    open: |geometry| {
        let boxed: Box<dyn Form> = crate::storage::try_box(Clubcard::of(geometry)?).ok()?;
        Some(boxed)
    },
};

/// The bytes of a hash.
pub const ID: usize = 32;

/// What tells that an issuer's answers are negated, in the word with the number of its columns.
pub const NEGATED: u64 = 1 << 8;

/// The words of a log or an issuer.
const LINE: usize = 8;

type Line = [AtomicU64; LINE];

struct Clubcard {
    logs: usize,
    issuers: usize,
    columns: usize,
    bytes: u64,
}

/// A word, or 0 after the last.
#[inline]
fn load(words: &[AtomicU64], at: usize) -> u64 {
    words.get(at).map_or(0, |word| word.load(Ordering::Relaxed))
}

/// The hash in a line or a key, as numbers in the order of its bytes.
fn id_of(line: &Line) -> [u64; 4] {
    core::array::from_fn(|i| line[i].load(Ordering::Relaxed).swap_bytes())
}

/// Whether a row of 256 coefficients that begins at a place of a column is orthogonal to the column, which zeros
/// follow.
#[inline(never)]
fn passes(column: &[AtomicU64], place: u64, row: &[u64; 4]) -> bool {
    let (at, shift) = ((place / 64) as usize, place % 64);
    let bits = |i: usize| load(column, at + i) >> shift | load(column, at + i + 1) << 1 << (63 - shift);
    (0..4).fold(0, |sum, i| sum ^ row[i] & bits(i)).count_ones() & 1 == 0
}

/// Whether one of `count` serial numbers is this one.
fn has(words: &[AtomicU64], mut at: u64, count: u64, serial: &[u8]) -> bool {
    let byte = |at: u64| {
        let word = words.get(usize::try_from(at / 8).ok()?)?;
        Some((word.load(Ordering::Relaxed) >> (8 * (at % 8))) as u8)
    };
    for _ in 0..count {
        let Some(length) = byte(at) else { return false };
        at += 1;
        if usize::from(length) == serial.len() && serial.iter().zip(at..).all(|(own, at)| byte(at) == Some(*own)) {
            return true;
        }
        at += u64::from(length);
    }
    false
}

impl Clubcard {
    fn of(geometry: &Geometry) -> Option<Clubcard> {
        let [_, logs, issuers, columns, 0, 0, 0, 0] = geometry.words else { return None };
        let head = logs.checked_add(issuers)?.checked_mul(LINE as u64)?.checked_add(columns)?.checked_mul(8)?;
        let bytes = geometry.bits / 8;
        let is_known = (1..=256).contains(&columns) && geometry.bits.is_multiple_of(8) && head <= bytes;
        let [logs, issuers, columns] = [logs, issuers, columns].map(|count| count as usize);
        is_known.then_some(Clubcard { logs, issuers, columns, bytes })
    }

    fn issuers<'a>(&self, words: &'a [AtomicU64]) -> &'a [Line] {
        words[LINE * self.logs..].as_chunks().0.get(..self.issuers).unwrap_or_default()
    }

    /// The ends of the columns, and all that follows.
    fn columns<'a>(&self, words: &'a [AtomicU64]) -> (&'a [AtomicU64], &'a [AtomicU64]) {
        words[LINE * (self.logs + self.issuers)..].split_at(self.columns)
    }

    /// Whether a certificate is revoked whose key has this hash and this serial number.
    fn is_revoked(&self, words: &[AtomicU64], issuer: &Line, key: &[u8], serial: &[u8]) -> bool {
        let [first, second, about, from] = core::array::from_fn(|i| issuer[4 + i].load(Ordering::Relaxed));
        let hash = sha256(key).map(u32::swap_bytes).map(u64::from);
        let mut row: [u64; 4] = core::array::from_fn(|i| hash[2 * i] | hash[2 * i + 1] << 32);
        row[0] |= 1;
        let (ends, rest) = self.columns(words);
        let end = |i: usize| load(ends, i).min(rest.len() as u64) as usize;
        let column = |i: usize| {
            let start = if i == 0 { 0 } else { end(i - 1) };
            rest.get(start..end(i)).unwrap_or_default()
        };
        let place = |system: u64| row[3] % (system & 0xffff_ffff).max(1) + (system >> 32);
        let last = self.columns - 1;
        // Without rows there is no certificate that could pass.
        let is_encoded = first & 0xffff_ffff != 0
            && (0..(about & 0xff) as usize).all(|i| passes(column(i), place(first), &row))
            && passes(column(last), place(second), &row)
            && !has(&rest[end(last)..], from, about >> 32, serial);
        is_encoded != (about & NEGATED != 0)
    }
}

impl Form for Clubcard {
    /// A hash says nothing of a certificate.
    fn contains(&self, _words: &[AtomicU64], _hash: u64) -> bool {
        true
    }

    fn fetch(&self, _words: &[AtomicU64], _hash: u64) {}

    fn takes_keys(&self) -> bool {
        true
    }

    fn contains_key(&self, words: &[AtomicU64], key: &[u8]) -> bool {
        let Some((id, rest)) = key.split_first_chunk::<ID>() else { return false };
        let mut own = [0; 4];
        own.iter_mut().zip(id.as_chunks().0).for_each(|(to, bytes)| *to = u64::from_be_bytes(*bytes));
        let issuers = self.issuers(words);
        if let Ok(at) = issuers.binary_search_by(|line| id_of(line).cmp(&own)) {
            return rest.is_empty() || self.is_revoked(words, &issuers[at], key, rest);
        }
        let Ok(time) = rest.try_into().map(u64::from_be_bytes) else { return false };
        let mut logs = words[..LINE * self.logs].as_chunks().0.iter();
        logs.any(|line| id_of(line) == own && (load(line, 4)..=load(line, 5)).contains(&time))
    }

    /// No certificate that the clubcard knows, and none of an issuer that it does not know.
    fn expected_rate(&self, _keys: u64) -> f64 {
        0.0
    }

    fn cells(&self) -> u64 {
        8 * self.bytes
    }

    /// Issuers can be searched for, have columns that are there, and these follow each other.
    fn is_sound(&self, words: &[AtomicU64]) -> bool {
        let issuers = self.issuers(words);
        let (ends, rest) = self.columns(words);
        issuers.is_sorted_by(|line, next| id_of(line) < id_of(next))
            && issuers.iter().all(|line| load(line, 6) & 0xff < self.columns as u64)
            && ends.is_sorted_by_key(|end| end.load(Ordering::Relaxed))
            && load(ends, self.columns - 1) <= rest.len() as u64
    }
}
