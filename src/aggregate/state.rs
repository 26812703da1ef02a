//! The words of an aggregate: its exact sum, its extremes, and how often each outcome occurred.

use super::exact_sum;

/// Words of the state, in this order: the sum, the maximum and how many have it, the minimum and how many have it, and
/// the counts of outcomes in the order of [`Tallies`].
pub const WORDS: usize = exact_sum::WORDS + 4 + TALLIES;
const TALLIES: usize = 6;
/// The greatest count of an outcome.
pub const MOST: u64 = 1 << 62;

/// How often each outcome occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tallies {
    /// Meetings that aggregated an id for the first time.
    pub firsts: u64,
    /// Meetings that replaced a state and its value by others.
    pub changes: u64,
    /// Meetings with a state that was aggregated already, or seemed so.
    pub duplicates: u64,
    /// Refused meetings that cited no previous state: the id is new but seems known, or the participant lost its
    /// memory.
    pub refused_firsts: u64,
    /// Refused meetings that cited previous states. None of these states seemed aggregated, or more than one did.
    pub refused_changes: u64,
    /// Ids that left.
    pub departures: u64,
}

impl Tallies {
    /// Reads the counts among the words of the state, which `word` gives by their places.
    pub fn read(word: impl Fn(usize) -> u64) -> Tallies {
        let [firsts, changes, duplicates, refused_firsts, refused_changes, departures] =
            core::array::from_fn(|place| word(WORDS - TALLIES + place));
        Tallies { firsts, changes, duplicates, refused_firsts, refused_changes, departures }
    }

    /// Writes the counts among the words of the state.
    pub fn write(&self, words: &mut [u64]) {
        let Tallies { firsts, changes, duplicates, refused_firsts, refused_changes, departures } = *self;
        let all = [firsts, changes, duplicates, refused_firsts, refused_changes, departures];
        words.iter_mut().skip(WORDS - TALLIES).zip(all).for_each(|(word, value)| *word = value);
    }

    /// How many ids are aggregated now.
    pub fn count(&self) -> u64 {
        self.firsts.saturating_sub(self.departures)
    }

    /// Refused meetings.
    pub fn refusals(&self) -> u64 {
        self.refused_firsts.saturating_add(self.refused_changes)
    }

    /// All meetings.
    pub fn meetings(&self) -> u64 {
        let taken = self.firsts.saturating_add(self.changes).saturating_add(self.duplicates);
        taken.saturating_add(self.refusals())
    }
}

/// The greatest or least value, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Extreme {
    /// The value. No aggregated value is greater (for a maximum) or less (for a minimum).
    pub value: f64,
    /// How many ids have it. If none has it any more, the value is only a bound.
    pub holders: u64,
}

impl Extreme {
    fn add(&mut self, value: f64, is_first: bool, exceeds: fn(&f64, &f64) -> bool) {
        if is_first || exceeds(&value, &self.value) {
            *self = Extreme { value, holders: 1 };
        } else if value == self.value {
            self.holders = self.holders.saturating_add(1);
        }
    }

    fn take(&mut self, value: f64) {
        if value == self.value {
            self.holders = self.holders.saturating_sub(1);
        }
    }
}

/// What the words say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// The sum of all aggregated values.
    pub sum: [u64; exact_sum::WORDS],
    /// The greatest.
    pub maximum: Extreme,
    /// The least.
    pub minimum: Extreme,
    /// How often each outcome occurred.
    pub tallies: Tallies,
}

impl State {
    /// Reads the words, which `word` gives by their places.
    pub fn read(word: impl Fn(usize) -> u64) -> State {
        let extreme = |place: usize| {
            let first = exact_sum::WORDS + 2 * place;
            Extreme { value: f64::from_bits(word(first)), holders: word(first + 1) }
        };
        State {
            sum: core::array::from_fn(&word),
            maximum: extreme(0),
            minimum: extreme(1),
            tallies: Tallies::read(word),
        }
    }

    /// Writes the words.
    pub fn write(&self, words: &mut [u64]) {
        let extremes = [self.maximum, self.minimum].map(|extreme| [extreme.value.to_bits(), extreme.holders]);
        let all = self.sum.iter().chain(extremes.as_flattened());
        words.iter_mut().zip(all).for_each(|(word, value)| *word = *value);
        self.tallies.write(words);
    }

    /// Adds a value to the aggregated ones, of which there were `count` before.
    pub fn add(&mut self, value: f64, count: u64) {
        exact_sum::add(&mut self.sum, value, false);
        self.maximum.add(value, count == 0, f64::gt);
        self.minimum.add(value, count == 0, f64::lt);
    }

    /// Takes a value away and leaves `count`. When the last value goes, the sum and the extremes become 0.
    pub fn take(&mut self, value: f64, count: u64) {
        exact_sum::add(&mut self.sum, value, true);
        for extreme in [&mut self.maximum, &mut self.minimum] {
            extreme.take(value);
            // A false positive may have taken away a value that nobody had.
            extreme.holders = extreme.holders.min(count);
        }
        if count == 0 {
            (self.sum, self.maximum, self.minimum) = ([0; exact_sum::WORDS], Extreme::default(), Extreme::default());
        }
    }

    /// Whether meetings can leave each of the words, taken alone.
    pub fn is_bounded(&self) -> bool {
        let Tallies { firsts, changes, duplicates, refused_firsts, refused_changes, departures } = self.tallies;
        let is_counted = [firsts, changes, duplicates, refused_firsts, refused_changes].iter().all(|n| *n <= MOST);
        let is_one = |extreme: Extreme| {
            extreme.value.is_finite() && extreme.holders <= MOST && extreme.value.to_bits() != (-0.0_f64).to_bits()
        };
        is_counted && departures <= firsts && is_one(self.maximum) && is_one(self.minimum)
    }

    /// Whether meetings can leave these words together.
    pub fn is_consistent(&self) -> bool {
        let (Tallies { firsts, changes, .. }, count) = (self.tallies, self.tallies.count());
        (firsts > 0 || changes == 0)
            && self.maximum.holders <= count
            && self.minimum.holders <= count
            && self.minimum.value <= self.maximum.value
            && exact_sum::is_possible(&self.sum)
            && (count > 0 || exact_sum::is_zero(&self.sum) && self.maximum == self.minimum && self.maximum.value == 0.0)
    }
}
