//! The ribbon as a map. The slots of a key give the value that was given for the key, with check bits above it that
//! reveal keys that are not there.
//!
//! A key is known by 128 bits. Records are sorted and divided by their high half. Both halves together choose the
//! coefficients and the check bits.

use super::array::Array;
use super::kernel::{Either, Group, Kernel, Lookup, SOME, Turns};
use super::row::Coefficients;
use super::{Equations, MAX_COLUMNS, Shape, solve};
use crate::batch::records::{Entry, Records};
use crate::batch::ring::{GROUP, Lookups};
use crate::batch::workers::Work;
use crate::bits::mix;
use crate::blocks::mixing::fingerprint;
use crate::blocks::{Layout, View};
use crate::error::{Result, error};
use crate::storage::Words;
use core::marker::PhantomData;
use core::sync::atomic::AtomicU64;

/// The most check bits.
pub const MAX_CHECK_BITS: u32 = 32;
/// The most bits of a value.
pub const MAX_VALUE_BITS: u32 = 64;

const _: () = assert!(MAX_CHECK_BITS + MAX_VALUE_BITS == MAX_COLUMNS);

/// The bits of a value and of a check, and the shape of a payload. Without check bits every key has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueShape {
    value_bits: u32,
    check_bits: u32,
    shape: Shape,
}

/// How many columns a value and its check bits take, at least one.
fn columns(value_bits: u32, check_bits: u32) -> Option<u32> {
    let known = value_bits <= MAX_VALUE_BITS && check_bits <= MAX_CHECK_BITS;
    known.then(|| (value_bits + check_bits).max(1))
}

impl ValueShape {
    /// The shape with `value_bits` bits of a value (0 to 64), `check_bits` of a check (0 to 32), `width` coefficients a
    /// key (64 or 128), `keys` distinct keys and `bits` bits. `None` if there is no such shape.
    pub fn new(value_bits: u32, check_bits: u32, width: u32, keys: u64, bits: u64) -> Option<ValueShape> {
        let shape = Shape::new(columns(value_bits, check_bits)?, width, keys, bits)?;
        Some(ValueShape { value_bits, check_bits, shape })
    }

    /// The shape to expect for `keys` keys.
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

    /// How many bits the payload has without those that fill its last line.
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

/// The equations of a map's entries. A `V` holds a value and its check bits.
struct OfEntries<V> {
    /// The bit from which on the check bits lie.
    checks: u32,
    value: PhantomData<V>,
}

/// The bits that a key's coefficients and check bits come from.
#[inline]
pub(super) fn scatter(id: u128) -> u64 {
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

impl<'a> Values<'a> {
    /// The map of this shape in `words`.
    #[inline]
    pub fn new(shape: ValueShape, words: &'a [AtomicU64]) -> Values<'a> {
        Values { shape, array: Array::new(shape.shape, words) }
    }

    /// Builds the map of entries, whose values have at most `value_bits` bits.
    ///
    /// # Errors
    /// As [`solve`]; [`Status::OutOfRange`](crate::Status::OutOfRange) for numbers of bits that no shape has.
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

    /// The view for inlined lookups. `None` if there are neither values nor check bits.
    pub fn view(&self) -> Option<View<'a>> {
        let mut view = self.array.view();
        view.layout = Layout::RibbonValues;
        view.words[7] = self.shape.value_bits.into();
        (self.shape.value_bits + self.shape.check_bits > 0).then_some(view)
    }

    /// The value in the columns that slots give, if the check bits among them are the key's.
    #[inline(always)]
    fn answer(&self, [first, rest]: [u64; 2], check: u64) -> Option<u64> {
        let ValueShape { value_bits, check_bits, .. } = self.shape;
        let low = |bits: u32| u64::MAX.checked_shr(64 - bits).unwrap_or(0);
        let found = (u128::from(rest) << 64 | u128::from(first)) >> value_bits;
        ((found as u64 ^ check) & low(check_bits) == 0).then_some(first & low(value_bits))
    }

    /// The value of the key with this identity, or `None`. A key that was given no value gets one anyway with
    /// probability 2^-c for c check bits.
    #[inline]
    pub fn get(&self, lookup: &Lookup, id: u128) -> Option<u64> {
        match &lookup.0 {
            _ if self.array.shape().shards() == 0 => None,
            Either::Narrow(kernel) => self.get_by(kernel, id),
            Either::Wide(kernel) => self.get_by(kernel, id),
        }
    }

    #[inline(always)]
    fn get_by<C: Coefficients>(&self, kernel: &Kernel<C>, id: u128) -> Option<u64> {
        let z = scatter(id);
        let row = self.array.find((id >> 64) as u64, z);
        let rest =
            if self.array.shape().columns() > u64::BITS { (kernel.one)(&self.array, &row, u64::BITS) } else { 0 };
        self.answer([(kernel.one)(&self.array, &row, 0), rest], fingerprint(z))
    }

    /// The value of each key of a batch. In a map that is larger than the caches the slots of the next group are
    /// fetched while this group is answered.
    pub fn get_many(&self, lookup: &Lookup, batch: &mut dyn Lookups) {
        match &lookup.0 {
            Either::Narrow(kernel) => self.get_all(kernel, batch),
            Either::Wide(kernel) => self.get_all(kernel, batch),
        }
    }

    fn get_all<C: Coefficients>(&self, kernel: &Kernel<C>, batch: &mut dyn Lookups) {
        let is_built = self.array.shape().shards() > 0;
        let (mut count, mut ids, mut found) = (0, [0; GROUP], [None; GROUP]);
        let mut next = batch.next(&mut ids);
        if next <= SOME {
            let get = |id: &u128| if is_built { self.get_by(kernel, *id) } else { None };
            ids[..next].iter().zip(&mut found).for_each(|(id, found)| *found = get(id));
            return batch.give(&found[..next]);
        }
        let mut turns = Turns::new(self.array, *kernel);
        loop {
            let find = |kernel: &Kernel<C>, array: &Array, found: &mut Group<C>, from| {
                (kernel.find_ids)(array, &ids, found, from)
            };
            turns.turn((count, next), find, |from, [first, rest], checks| {
                for i in 0..SOME {
                    let answer = self.answer([first[i], rest[i]], checks[i]);
                    found[from + i] = if is_built { answer } else { None };
                }
            });
            if count > 0 {
                batch.give(&found[..count]);
            }
            if next == 0 {
                return;
            }
            (count, next) = (next, batch.next(&mut ids));
        }
    }
}
