//! Makes a payload of numbers that come in ascending order.

use super::{BUCKET_BITS, GROUP, HEAD_BITS, Head, MAX_FIELD, SLOPE_BITS, reader};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::kinds::golomb::sizing;
use crate::storage::Words;

/// A function that gives numbers in ascending order, each once, and the same ones at every call.
pub type Source<'a> = dyn FnMut(&mut dyn FnMut(u64) -> Result<()>) -> Result<()> + 'a;

/// Makes the payload of the numbers that `source` gives, all of them below `range`. Calls `source` three times: to
/// count, to measure, and to write. Besides the payload it takes only the memory of the largest bucket.
///
/// # Errors
/// The errors of `source`; [`Status::Corrupt`](crate::Status::Corrupt) for numbers that do not ascend or are not below
/// the range; [`Status::OutOfMemory`](crate::Status::OutOfMemory) and [`Status::TooLarge`](crate::Status::TooLarge).
pub fn write(range: u64, source: &mut Source) -> Result<(Geometry, Words)> {
    let mut values = 0;
    source(&mut |_| {
        values += 1;
        Ok(())
    })?;
    let rice_bits = sizing::rice_bits(range, values);
    let group = sizing::bucket_bits(range, values, rice_bits) * GROUP as f64;
    let slope = (group * f64::from(1 << SLOPE_BITS)) as u64;
    let mut head = Head { values, rice_bits, slope: if values == 0 { 0 } else { slope }, ..Head::default() };
    if values > 0 {
        measure(range, &mut head, source)?;
    }
    let too_large = || error!(TooLarge, "{values} numbers below {range} need more bits than can be");
    let bits = head.bits(range).ok_or_else(too_large)?;
    let payload_bytes = reader::payload_bytes(bits).ok_or_else(too_large)?;
    let mut words = Words::zeroed(payload_bytes)?;
    if values > 0 {
        let to = words.exclusive().unwrap_or_default();
        to[..6].copy_from_slice(&head.encode());
        put_all(range, &head, to, source)?;
    }
    let words_of_kind = [range, 0, 0, 0, 0, 0, 0, 0];
    Ok((Geometry { bits, hashes: 1, words: words_of_kind, payload_bytes }, words))
}

/// Works out the fields of the head that describe the index.
fn measure(range: u64, head: &mut Head, source: &mut Source) -> Result<()> {
    let (mut at, mut lengths, mut starts) = (0_u64, Span::default(), Span::default());
    let plain = *head;
    each_bucket(range, head, source, &mut |bucket, gaps| {
        if bucket.is_multiple_of(GROUP) {
            starts.take(at.wrapping_sub(plain.line(bucket / GROUP)) as i64);
        }
        let length = length(gaps, plain.rice_bits);
        lengths.take(length as i64);
        at += length;
        Ok(())
    })?;
    starts.take(at.wrapping_sub(plain.line(plain.buckets(range).div_ceil(GROUP))) as i64);
    head.code_bits = at;
    (head.length_width, head.start_width) = (lengths.width(), starts.width());
    (head.least_length, head.least_start) = (lengths.least as u64, starts.least as u64);
    if head.length_width.max(head.start_width) > MAX_FIELD {
        return Err(error!(TooLarge, "{} numbers below {range} are spread too unevenly for an index", head.values));
    }
    Ok(())
}

/// Writes index and codes.
fn put_all(range: u64, head: &Head, to: &mut [u64], source: &mut Source) -> Result<()> {
    let codes = head.codes(range).unwrap_or(u64::MAX);
    let mut at = 0_u64;
    let entry = |group: u64| HEAD_BITS + group * head.entry_bits();
    let start = |at: u64, group: u64| at.wrapping_sub(head.line(group)).wrapping_sub(head.least_start);
    let width = head.length_width;
    each_bucket(range, head, source, &mut |bucket, gaps| {
        let (group, in_group) = (bucket / GROUP, bucket % GROUP);
        if in_group == 0 {
            put(to, entry(group), start(at, group), head.start_width);
        }
        let length = length(gaps, head.rice_bits);
        let more = length.wrapping_sub(head.least_length);
        if at + length > head.code_bits || more >> width != 0 {
            return Err(error!(Corrupt, "the numbers are not those that were measured"));
        }
        if in_group < GROUP - 1 {
            let place = entry(group) + u64::from(head.start_width) + in_group * u64::from(width);
            put(to, place, more, width);
        }
        let (mut one, mut remainder) = (codes + at, codes + at + length);
        for gap in gaps {
            one += gap >> head.rice_bits;
            put(to, one, 1, 1);
            one += 1;
            remainder -= u64::from(head.rice_bits);
            put(to, remainder, gap & ((1 << head.rice_bits) - 1), head.rice_bits);
        }
        at += length;
        Ok(())
    })?;
    let last = head.buckets(range).div_ceil(GROUP);
    put(to, entry(last), start(at, last), head.start_width);
    Ok(())
}

/// The bits of the codes of these gaps.
fn length(gaps: &[u64], rice_bits: u32) -> u64 {
    gaps.iter().map(|gap| (gap >> rice_bits) + 1 + u64::from(rice_bits)).sum()
}

/// Sets `width` bits from a bit on, which are zeros, to the lowest bits of a number.
fn put(words: &mut [u64], bit: u64, number: u64, width: u32) {
    let (word, shift) = ((bit / 64) as usize, (bit % 64) as u32);
    let number = number & ((1 << width) - 1);
    words[word] |= number << shift;
    if shift + width > 64 {
        words[word + 1] |= number >> (64 - shift);
    }
}

/// Gives all buckets in order, each as the gaps of its numbers.
fn each_bucket(
    range: u64,
    head: &Head,
    source: &mut Source,
    take: &mut dyn FnMut(u64, &[u64]) -> Result<()>,
) -> Result<()> {
    let bits = head.rice_bits + BUCKET_BITS;
    let buckets = head.buckets(range);
    let (mut bucket, mut next, mut gaps) = (0, 0, Vec::new());
    source(&mut |number| {
        if number < next || number >= range {
            return Err(error!(Corrupt, "the number {number} does not follow {next} below {range}"));
        }
        while number >> bits > bucket {
            take(bucket, &gaps)?;
            gaps.clear();
            bucket += 1;
            next = bucket << bits;
        }
        if gaps.len() == gaps.capacity() {
            let room = gaps.len().max(64);
            gaps.try_reserve(room).map_err(|_| error!(OutOfMemory, "{room} more numbers of a bucket have no room"))?;
        }
        gaps.push(number - next);
        next = number + 1;
        Ok(())
    })?;
    while bucket < buckets {
        take(bucket, &gaps)?;
        gaps.clear();
        bucket += 1;
    }
    Ok(())
}

/// The least and the greatest of some numbers.
struct Span {
    least: i64,
    greatest: i64,
}

impl Default for Span {
    fn default() -> Span {
        Span { least: i64::MAX, greatest: i64::MIN }
    }
}

impl Span {
    fn take(&mut self, number: i64) {
        self.least = self.least.min(number);
        self.greatest = self.greatest.max(number);
    }

    /// The bits that hold the difference of each number to the least one.
    fn width(&self) -> u32 {
        u64::BITS - (self.greatest.wrapping_sub(self.least) as u64).leading_zeros()
    }
}
