//! The numbers of a whole set, or of two sets combined, in ascending order.

use super::{BUCKET_BITS, Numbers, Reader};
use crate::error::Result;
use core::cmp::Ordering;

/// All numbers of a set that are not less than some number.
pub struct Cursor<'a> {
    reader: Reader<'a>,
    bucket: u64,
    numbers: Numbers<'a>,
    /// Numbers below this one are passed over.
    from: u64,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(reader: Reader<'a>, from: u64) -> Cursor<'a> {
        let bucket = from >> (reader.shape().head.rice_bits + BUCKET_BITS);
        Cursor { numbers: reader.bucket(bucket), reader, bucket, from }
    }
}

impl Iterator for Cursor<'_> {
    type Item = u64;

    /// The next number. Numbers ascend where the payload is sound.
    #[inline]
    fn next(&mut self) -> Option<u64> {
        let bits = self.reader.shape().head.rice_bits + BUCKET_BITS;
        loop {
            // A number beyond the end of its bucket is not in the set.
            if let Some(number) = self.numbers.next().filter(|number| number >> bits == 0) {
                let number = self.bucket << bits | number;
                if number >= self.from {
                    return Some(number);
                }
            } else if self.bucket + 1 < self.reader.shape().buckets {
                self.bucket += 1;
                self.numbers = self.reader.bucket(self.bucket);
            } else {
                return None;
            }
        }
    }
}

impl<'a> Reader<'a> {
    /// All numbers that are not less than `from`, in ascending order.
    pub fn from(&self, from: u64) -> Cursor<'a> {
        Cursor::new(*self, from)
    }
}

/// How two sets are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// The numbers that either set has.
    Union,
    /// The numbers that both sets have.
    Intersection,
}

/// Gives the numbers of two sets combined, in ascending order and each once. Linear in both.
///
/// # Errors
/// An error of `take` ends the walk.
pub fn combined(a: &Reader, b: &Reader, combine: Combine, take: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
    let (mut a, mut b) = (a.from(0).peekable(), b.from(0).peekable());
    loop {
        let order = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) => x.cmp(y),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return Ok(()),
        };
        let first = if order == Ordering::Greater { None } else { a.next() };
        let second = if order == Ordering::Less { None } else { b.next() };
        let number = match combine {
            Combine::Union => first.or(second),
            Combine::Intersection => first.and(second),
        };
        if let Some(number) = number {
            take(number)?;
        }
    }
}
