//! The counters of a payload, and what each method does with them.

use super::{COUNTER_BITS, UNIT};
use crate::bits::mix;
use crate::format::Geometry;
use crate::kinds::counting::layout::{Cells, CounterLayout, Scattered};
use crate::spec::Domain;
use core::sync::atomic::{AtomicU64, Ordering};

/// What an insertion does with the counters of a key. The numbers are those in images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    MinimumSelection = 0,
    MinimalIncrease = 1,
    RecurringMinimum = 2,
}

/// How many words hold the primary counters: all of them, or all but a third.
pub(super) fn primary_words(words: u64, is_recurring: bool) -> u64 {
    if is_recurring { words - words / 3 } else { words }
}

impl Method {
    pub fn of(geometry: &Geometry) -> Option<Method> {
        let methods = [Method::MinimumSelection, Method::MinimalIncrease, Method::RecurringMinimum];
        methods.into_iter().find(|method| *method as u64 == geometry.words[1])
    }
}

/// The arrays of counters in a payload.
#[derive(Clone, Copy)]
pub(super) struct Arrays {
    pub method: Method,
    pub primary: Scattered,
    /// The second array of the recurring minimum, which begins at word `split`.
    pub secondary: Option<Scattered>,
    pub split: usize,
    pub words: usize,
}

/// The hash for the second array. Keys that share counters in one array do not share them in the other.
#[inline]
pub(super) fn second(hash: u64) -> u64 {
    mix(hash)
}

impl Arrays {
    /// The arrays that a geometry describes, if the geometry is one of this kind.
    pub fn of(geometry: &Geometry) -> Option<Arrays> {
        let [width, _, 0, 0, 0, 0, 0, 0] = geometry.words else { return None };
        let method = Method::of(geometry)?;
        let Domain::OneOf(widths) = COUNTER_BITS.domain else { return None };
        if !widths.contains(&width) || !geometry.is_of_bits() || !geometry.bits.is_multiple_of(UNIT) {
            return None;
        }
        let is_recurring = method == Method::RecurringMinimum;
        let words = geometry.bits / UNIT;
        let split = primary_words(words, is_recurring);
        let array = |words: u64| Scattered::new(words * UNIT / width, width as u32, geometry.hashes);
        let secondary = if is_recurring { Some(array(words - split)?) } else { None };
        Some(Arrays { method, primary: array(split)?, secondary, split: split as usize, words: words as usize })
    }

    /// Inserts a hash `times` times. Returns whether it certainly was absent before.
    #[inline]
    pub fn insert(&self, words: &mut [u64], hash: u64, times: u64) -> bool {
        let (primary, secondary) = words.split_at_mut(self.split);
        if self.method == Method::MinimalIncrease {
            return self.primary.raise(primary, hash, times);
        }
        let new = self.primary.add_times(primary, hash, times);
        if let Some(array) = &self.secondary {
            let (minimum, recurs) = self.primary.minimum(hash, |word| primary[word]);
            match array.minimum(second(hash), |word| secondary[word]) {
                (0, _) if recurs => {}
                (0, _) => drop(array.add_times(secondary, second(hash), minimum)),
                _ => drop(array.add_times(secondary, second(hash), times)),
            }
        }
        new
    }

    /// Removes a hash up to `times` times. Returns how often it was removed.
    #[inline]
    pub fn remove(&self, words: &mut [u64], hash: u64, times: u64) -> u64 {
        let (primary, secondary) = words.split_at_mut(self.split);
        let times = times.min(self.primary.least_by(hash, |word| primary[word]));
        if times > 0 {
            self.primary.subtract_times(primary, hash, times);
            if let Some(array) = &self.secondary {
                let there = array.least_by(second(hash), |word| secondary[word]);
                array.subtract_times(secondary, second(hash), times.min(there));
            }
        }
        times
    }

    /// How often a hash is there.
    #[inline]
    pub fn count(&self, words: &[AtomicU64], hash: u64) -> u64 {
        let (primary, secondary) = words.split_at(self.split);
        let Some(array) = &self.secondary else { return self.primary.least(primary, hash) };
        let (minimum, recurs) = self.primary.minimum(hash, |word| primary[word].load(Ordering::Relaxed));
        match minimum {
            0 => 0,
            // A count never exceeds the minimum.
            _ if !recurs => match array.least(secondary, second(hash)) {
                0 => minimum,
                there => there.min(minimum),
            },
            _ => minimum,
        }
    }

    /// All counters: those of the first array, and then those of the second.
    pub fn cells(&self) -> Cells {
        let width = self.primary.cells().slots.width;
        Cells::new(self.words as u64 * UNIT / u64::from(width), width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second array has a say only where a single counter of the first one has the least value, and only if the
    /// second array has the key. It never raises a count.
    #[test]
    fn a_minimum_that_recurs_is_the_count() {
        let geometry =
            Geometry::of_bits(300 * UNIT, 4, [16, Method::RecurringMinimum as u64, 0, 0, 0, 0, 0, 0]).unwrap();
        let arrays = Arrays::of(&geometry).unwrap();
        let (array, hash) = (arrays.secondary.unwrap(), mix(7));
        let mut position = None;
        arrays.primary.all_distinct(hash, |_, at| {
            position = Some(at);
            true
        });
        for (single, there, expected) in [
            (None, 3, 5),
            (None, 9, 5),
            (Some(4), 3, 3),
            (Some(4), 0, 4),
            (Some(4), 9, 4),
            (Some(6), 3, 5),
            (Some(0), 3, 0),
        ] {
            let mut words = vec![0; arrays.words];
            let (primary, secondary) = words.split_at_mut(arrays.split);
            arrays.primary.add_times(primary, hash, 5);
            if let Some(value) = single {
                arrays.primary.cells().slots.set(primary, position.unwrap(), value);
            }
            array.add_times(secondary, second(hash), there);
            let words: Vec<AtomicU64> = words.into_iter().map(AtomicU64::new).collect();
            assert_eq!(arrays.count(&words, hash), expected, "{single:?} beside 5, and {there} in the second array");
        }
    }
}
