//! The generations that a geometry describes, and how often lookups in them are wrong.

use super::state::MOST_KEYS;
use super::{CLOCK, GENERATIONS, LEVEL, TOUCH};
use crate::contract::Window;
use crate::error::{Result, error};
use crate::format::compact::Packing;
use crate::format::{Geometry, PAYLOAD_UNIT, image_bytes};
use crate::kinds::levels::{LEVEL_UNIT, LEVELS, LevelKind, MAX_HASHES};
use crate::sizing::levels::{either, seen};
use crate::sizing::omissions::sum_of_rates;
use crate::spec::Parameter;

/// How many 64-bit words the state has, which is the payload's last line.
pub const STATE_WORDS: usize = 8;

/// The geometry as the compact form stores it.
pub fn compact(packing: &mut Packing, geometry: &mut Geometry) {
    packing.bits(geometry, 8 * PAYLOAD_UNIT);
    let [level, generations, touch, clock, keys, ..] = &mut geometry.words;
    packing.field(level, 3);
    packing.field(generations, 5);
    packing.field(touch, 1);
    packing.field(clock, 1);
    packing.field(keys, 40);
}

/// The generations that a geometry describes.
#[derive(Clone, Copy)]
pub struct Shape {
    /// The index of the generations' kind in the list of kinds that can be levels.
    pub level: u64,
    /// How many generations there are.
    pub generations: u64,
    /// 1 if a key that comes again is young again.
    pub touch: u64,
    /// 0 if a generation is full after `keys` keys; 1 if only time moves the window on.
    pub clock: u64,
    /// How many new keys a generation takes.
    pub keys: u64,
    /// The geometry of one generation.
    pub one: Geometry,
    /// The bits of all generations. Bits that are too few for one more line in each generation are included.
    pub bits: u64,
}

impl Shape {
    /// The generations that a geometry describes, if the geometry is one of this kind.
    pub fn of(geometry: &Geometry) -> Option<Shape> {
        let [level, generations, touch, clock, keys, ..] = geometry.words;
        let has = |parameter: &Parameter, value: u64| parameter.check(parameter.value_of_word(value)).is_ok();
        let known = has(&LEVEL, level)
            && has(&GENERATIONS, generations)
            && has(&TOUCH, touch)
            && has(&CLOCK, clock)
            && keys > 0
            && (clock == 1 || keys <= MOST_KEYS)
            && (1..=MAX_HASHES).contains(&geometry.hashes);
        let each = geometry.bits.checked_div(generations)? / LEVEL_UNIT * LEVEL_UNIT;
        if !known || each == 0 {
            return None;
        }
        let one = LEVELS[level as usize].geometry(0, each, geometry.hashes).ok()?;
        let shape = Shape { level, generations, touch, clock, keys, one, bits: geometry.bits };
        (shape.geometry().ok()? == *geometry).then_some(shape)
    }

    /// The geometry of the whole payload.
    ///
    /// # Errors
    /// [`Status::TooLarge`](crate::Status::TooLarge) past the address space.
    pub fn geometry(&self) -> Result<Geometry> {
        let &Shape { level, generations, touch, clock, keys, one, bits } = self;
        let payload_bytes = bits / 8 + PAYLOAD_UNIT;
        if bits >= 1 << 63 || image_bytes(payload_bytes).is_none() {
            return Err(error!(TooLarge, "{generations} generations of {} bits are more than can be", one.bits));
        }
        let words = [level, generations, touch, clock, keys, 0, 0, 0];
        Ok(Geometry { bits, hashes: one.hashes, words, payload_bytes })
    }

    /// The kind of the generations.
    pub fn kind(&self) -> &'static LevelKind {
        &LEVELS[self.level as usize % LEVELS.len()]
    }

    /// Whether generations change after a number of keys.
    pub fn counts_keys(&self) -> bool {
        self.clock == 0
    }

    /// The window of keys that the filter remembers.
    pub fn window(&self) -> Window {
        Window { steps: self.generations - 1, keys: self.counts_keys().then_some(self.keys) }
    }

    /// Cache lines that a lookup of a present key touches, with all generations full: the newest is asked first.
    pub fn lines_per_lookup(&self) -> f64 {
        let lines = (self.kind().row.lines_per_lookup)(&self.one);
        // An absent key meets an unset bit of a half full generation after two bits on average.
        lines + lines.min(2.0) * (self.generations - 1) as f64 / 2.0
    }

    /// How often lookups are wrong.
    pub fn rates(&self) -> Rates {
        let of_one = self.of_one();
        let compounds = |full: f64| {
            let (rate, mut before) = (of_one(full.round() as u64), [0.0; MAX_GENERATIONS]);
            for i in 1..before.len().min(self.generations as usize) {
                before[i] = either(before[i - 1], rate);
            }
            before
        };
        let keys = self.keys as f64;
        if self.counts_keys() || self.touch == 1 {
            let full = if self.counts_keys() { seen(keys, of_one) } else { keys };
            return Rates { shape: *self, full, before: compounds(full) };
        }
        // A generation takes those keys of a step that the other generations do not seem to have.
        let mut full = keys;
        for _ in 0..ROUNDS {
            full = 0.5 * (full + keys * (1.0 - compounds(full)[self.generations as usize - 1]));
        }
        Rates { shape: *self, full, before: compounds(full) }
    }

    /// The rate of one generation by its number of distinct keys.
    fn of_one(&self) -> impl Fn(u64) -> f64 + Copy {
        let (rate, one) = (self.kind().row.false_positive_rate, self.one);
        move |keys| rate(&one, keys)
    }
}

/// How many times the guess of a generation's fill is improved. Each time the error falls by at least half.
const ROUNDS: u32 = 24;

/// The most generations.
pub const MAX_GENERATIONS: usize = 16;

/// How often lookups are wrong in generations of one shape, if distinct keys come one after the other.
pub struct Rates {
    shape: Shape,
    /// How many keys a full generation has seen.
    full: f64,
    /// The rate of each number of full generations together.
    before: [f64; MAX_GENERATIONS],
}

impl Rates {
    /// How many keys come while there are `others` full generations besides the one that fills.
    fn length(&self, others: usize) -> f64 {
        if self.shape.touch == 1 { self.full } else { self.full / (1.0 - self.before[others]) }
    }

    /// The rate with `others` full generations, after `keys` keys came since the last one was full.
    fn rate(&self, others: usize, keys: f64) -> f64 {
        let compound = self.before[others];
        let reaching = if self.shape.touch == 1 { keys } else { keys * (1.0 - compound) };
        either(compound, self.shape.of_one()(reaching.round() as u64))
    }

    /// The rate with `keys` distinct keys. With more keys than all generations hold this is the largest rate.
    pub fn false_positive_rate(&self, keys: u64) -> f64 {
        let (mut rest, last) = (keys as f64, self.shape.generations as usize - 1);
        if !self.shape.counts_keys() {
            return self.rate(0, rest);
        }
        for others in 0..last {
            if rest <= self.length(others) {
                return self.rate(others, rest);
            }
            rest -= self.length(others);
        }
        self.rate(last, rest.min(self.length(last)))
    }

    /// The probability that a key is not found `age` keys later, wherever in its generation it came.
    ///
    /// Let r generations have been dropped since then. A key that came into the newest generation is there until r = G.
    /// With `touch` = 0 a key that an older generation seemed to have is not inserted, and is forgotten with that
    /// generation. The key is lost if one of the r dropped generations seemed to have it, and neither the other
    /// generations nor the later ones have it by chance. Generations hold different keys, so that each seems to have it
    /// independently of the others.
    pub fn false_negative_rate(&self, age: u64) -> f64 {
        let (generations, is_by_keys) = (self.shape.generations, self.shape.counts_keys());
        let window = self.shape.keys.saturating_mul(generations - 1);
        let loses_inside = self.shape.touch == 0;
        if !loses_inside && (!is_by_keys || age <= window) {
            return 0.0;
        }
        let last = generations as usize - 1;
        let steps = age as f64 / if is_by_keys { self.length(last) } else { self.shape.keys as f64 };
        let (whole, part) = (steps.floor(), steps.fract());
        // A key that came early in its generation has seen `whole` generations dropped, and a key that came late one
        // more.
        let lost = |dropped: f64| match dropped {
            _ if dropped >= generations as f64 && is_by_keys => 1.0,
            _ if loses_inside => self.before[(dropped as usize).min(last)],
            _ => 0.0,
        };
        let (early, late) = (self.newest_misses(part, 1.0), self.newest_misses(0.0, part));
        (1.0 - self.before[last]) * (lost(whole) * early + lost(whole + 1.0) * late)
    }

    /// The integral of the chance that the newest generation does not seem to have a key, while that generation fills
    /// from one share to another.
    fn newest_misses(&self, from: f64, to: f64) -> f64 {
        const PARTS: u32 = 8;
        let step = (to - from) / f64::from(PARTS);
        let of_one = self.shape.of_one();
        let misses = |i: u32| 1.0 - of_one(((from + (f64::from(i) + 0.5) * step) * self.full).round() as u64);
        (0..PARTS).map(misses).sum::<f64>() * step
    }

    /// How many of `keys` distinct keys are taken for known.
    pub fn omissions(&self, keys: u64) -> f64 {
        if !self.shape.counts_keys() {
            return sum_of_rates(keys, |keys| self.rate(0, keys as f64));
        }
        let (mut rest, mut sum, last) = (keys as f64, 0.0, self.shape.generations as usize - 1);
        let of = |others, keys: f64| sum_of_rates(keys.round() as u64, |keys| self.rate(others, keys as f64));
        for others in 0..last {
            let part = rest.min(self.length(others));
            sum += of(others, part);
            rest -= part;
        }
        // From here on every generation that fills is like the one before.
        let length = self.length(last);
        let rounds = (rest / length).floor();
        sum + rounds * of(last, length) + of(last, rest - rounds * length)
    }
}
