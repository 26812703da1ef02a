//! The ribbon as a map: what the slots of a key give is the value that was given for it, and above it check bits, by
//! which keys that are not there are told.
//!
//! A key is known by 128 bits. Their high half is what records are sorted and divided by; both halves together choose
//! the coefficients and the check bits.

use super::array::{Array, Row};
use super::row::Coefficients;
use super::{Equations, MAX_COLUMNS, Shape, Work, solve};
use crate::bits::mix;
use crate::bits::ring::{FETCH_FROM, GROUP, Lookups};
use crate::error::{Result, error};
use crate::layouts::fuse::fingerprint;
use crate::records::{Entry, Records};
use crate::storage::Words;
use core::marker::PhantomData;
use core::sync::atomic::AtomicU64;

/// The most check bits.
pub const MAX_CHECK_BITS: u32 = 32;
/// The most bits of a value.
pub const MAX_VALUE_BITS: u32 = 64;

const _: () = assert!(MAX_CHECK_BITS + MAX_VALUE_BITS == MAX_COLUMNS);

/// The bits of a value and of a check, and the shape of a payload. There may be no check bits: then every key has a
/// value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueShape {
    value_bits: u32,
    check_bits: u32,
    shape: Shape,
}

/// How many columns a value and its check bits take. A slot has one at least.
fn columns(value_bits: u32, check_bits: u32) -> Option<u32> {
    let known = value_bits <= MAX_VALUE_BITS && check_bits <= MAX_CHECK_BITS;
    known.then(|| (value_bits + check_bits).max(1))
}

impl ValueShape {
    /// The shape with so many bits of a value (0 to 64) and of a check (0 to 32), coefficients a key (64 or 128),
    /// distinct keys and bits, if there is such a shape.
    pub fn new(value_bits: u32, check_bits: u32, width: u32, keys: u64, bits: u64) -> Option<ValueShape> {
        let shape = Shape::new(columns(value_bits, check_bits)?, width, keys, bits)?;
        Some(ValueShape { value_bits, check_bits, shape })
    }

    /// The shape to expect of `keys` keys.
    pub fn expected(value_bits: u32, check_bits: u32, width: u32, keys: u64) -> Option<ValueShape> {
        let shape = Shape::expected(columns(value_bits, check_bits)?, width, keys)?;
        Some(ValueShape { value_bits, check_bits, shape })
    }

    /// Bits of a value.
    pub fn value_bits(&self) -> u32 {
        self.value_bits
    }

    /// Bits of a check.
    pub fn check_bits(&self) -> u32 {
        self.check_bits
    }

    /// Coefficients of a key.
    pub fn width(&self) -> u32 {
        self.shape.width()
    }

    /// How many distinct keys there are.
    pub fn keys(&self) -> u64 {
        self.shape.keys()
    }

    /// How many bits the payload has, but for those that fill the last line.
    pub fn bits(&self) -> u64 {
        self.shape.bits()
    }

    /// How many words a payload has.
    pub fn words(&self) -> u64 {
        self.shape.words()
    }

    /// Looks through the directory of a payload. Linear in the shards.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn check(&self, words: &[AtomicU64]) -> Result<()> {
        self.shape.check(words)
    }
}

/// What is to be solved for entries, whose values and check bits together are a `V`.
struct OfEntries<V> {
    /// From which bit on there are check bits.
    checks: u32,
    value: PhantomData<V>,
}

/// What coefficients and check bits come from.
#[inline]
fn scatter(id: u128) -> u64 {
    mix(id as u64 ^ mix((id >> 64) as u64))
}

macro_rules! equations {
    ($($number:ty),*) => {
        $(impl Equations<Entry> for OfEntries<$number> {
            type Value = $number;

            #[inline]
            fn order(&self, entry: &Entry) -> u64 {
                (entry.id >> 64) as u64
            }

            #[inline]
            fn scatter(&self, entry: &Entry) -> u64 {
                scatter(entry.id)
            }

            #[inline]
            fn value(&self, entry: &Entry, z: u64) -> $number {
                entry.value as $number | <$number>::from(fingerprint(z) as u32).checked_shl(self.checks).unwrap_or(0)
            }
        })*
    };
}

equations!(u64, u128);

/// A map in an array that was solved.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    shape: ValueShape,
    array: Array<'a>,
}

/// A row, and the check bits that go with it.
#[derive(Clone, Copy, Default)]
struct Found<C> {
    row: Row<C>,
    check: u64,
}

impl<'a> Values<'a> {
    /// The map of this shape in `words`.
    #[inline]
    pub fn new(shape: ValueShape, words: &'a [AtomicU64]) -> Values<'a> {
        Values { shape, array: Array::new(shape.shape, words) }
    }

    /// Builds the map of entries, whose values have at most `value_bits` bits.
    ///
    /// # Errors
    /// As [`solve`]; [`Status::OutOfRange`](crate::Status::OutOfRange) for bits that there cannot be.
    pub fn build(
        entries: &dyn Records<Entry>,
        value_bits: u32,
        check_bits: u32,
        width: u32,
        work: &mut Work,
    ) -> Result<(ValueShape, Words)> {
        let columns = columns(value_bits, check_bits).ok_or_else(|| {
            error!(
                OutOfRange,
                "{value_bits} and {check_bits} bits are not at most {MAX_VALUE_BITS} and {MAX_CHECK_BITS}"
            )
        })?;
        let (shape, words) = match columns {
            ..=64 => solve(entries, &OfEntries::<u64> { checks: value_bits, value: PhantomData }, columns, width, work),
            _ => solve(entries, &OfEntries::<u128> { checks: value_bits, value: PhantomData }, columns, width, work),
        }?;
        Ok((ValueShape { value_bits, check_bits, shape }, words))
    }

    #[inline(always)]
    fn find<C: Coefficients>(&self, id: u128) -> Found<C> {
        let z = scatter(id);
        Found { row: self.array.find((id >> 64) as u64, z), check: fingerprint(z) }
    }

    /// What the slots of a key say.
    #[inline(always)]
    fn answer<C: Coefficients>(&self, found: &Found<C>) -> Option<u64> {
        let ValueShape { value_bits, check_bits, .. } = self.shape;
        let together = self.array.together(&found.row);
        let low = |bits: u32| u64::MAX.checked_shr(64 - bits).unwrap_or(0);
        let check = (together >> value_bits) as u64 ^ found.check;
        (check & low(check_bits) == 0).then_some(together as u64 & low(value_bits))
    }

    /// The value of the key with this identity; `None` if it was given none. A key that was given none has any value
    /// with a probability of 2^-c for c check bits.
    #[inline]
    pub fn get(&self, id: u128) -> Option<u64> {
        match self.shape.width() {
            _ if self.shape.shape.shards() == 0 => None,
            64 => self.answer(&self.find::<u64>(id)),
            _ => self.answer(&self.find::<u128>(id)),
        }
    }

    /// The value of each key of a batch. In a map that is larger than the caches the slots of the next group are
    /// fetched while this one is answered.
    pub fn get_many(&self, batch: &mut dyn Lookups) {
        match self.shape.width() {
            64 => self.get_all::<u64>(batch),
            _ => self.get_all::<u128>(batch),
        }
    }

    fn get_all<C: Coefficients>(&self, batch: &mut dyn Lookups) {
        let (mut ids, mut found) = ([0; GROUP], [None; GROUP]);
        let (is_built, is_fetched) = (self.shape.shape.shards() > 0, self.array.words().len() >= FETCH_FROM);
        let find = |id| {
            let found = self.find::<C>(id);
            if is_fetched {
                self.array.fetch(&found.row);
            }
            found
        };
        let answer = |found: &Found<C>| if is_built { self.answer(found) } else { None };
        let (mut now, mut later) = (&mut [Found::default(); GROUP], &mut [Found::default(); GROUP]);
        let mut count = batch.next(&mut ids);
        now.iter_mut().zip(&ids[..count]).for_each(|(place, id)| *place = find(*id));
        while count > 0 {
            let next = batch.next(&mut ids);
            // Evenly: a fetch for each answer.
            for i in 0..count.max(next) {
                if i < next {
                    later[i] = find(ids[i]);
                }
                if i < count {
                    found[i] = answer(&now[i]);
                }
            }
            batch.give(&found[..count]);
            core::mem::swap(&mut now, &mut later);
            count = next;
        }
    }
}
