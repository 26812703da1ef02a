//! The levels that a geometry describes: how large each is, how many bits keys set in it, and how many keys it takes.
//!
//! Level i has `first_bits * growth^i` bits and `hashes + i * step / 64` bits a key, rounded down, as far as its kind
//! allows. These are whole numbers from the header, so that every program finds the same levels. The number of keys
//! that a level takes is computed from its rate ([`crate::sizing::levels`]), which only insertions do.
//!
//! If bits a key could be chosen freely and hashes had any length, each level would take 1.44 lg(1/r) more bits a key
//! than the level before, for ever. Neither is so. A level of n keys has a rate of at least n/2^64, because other keys
//! have the same hash. And blocks of one size become more accurate only by being nearly empty. So below some rate a
//! level that is twice as large holds no more keys, or fewer. There a chain ends ([`Schedule::is_worth_adding`]).

use super::{GROWTH, TIGHTENING};
#[cfg(doc)]
use crate::error::Status;
use crate::error::{Result, error};
use crate::format::compact::Packing;
use crate::format::{Geometry, PAYLOAD_UNIT, image_bytes};
use crate::kinds::levels::{LEVEL, LEVEL_UNIT, LEVELS, LevelKind, MAX_HASHES};
use crate::sizing::{self, levels};
use crate::spec::Parameter;

/// The most levels.
pub const MAX_LEVELS: u32 = 64;

/// How many 64-bit words the state has, which is the payload's last line.
pub const STATE_WORDS: usize = 8;

/// How many sizes, from the smallest on, may have several levels each.
const SIZES: u32 = 32;

/// The most levels of one of these sizes.
pub const MAX_OF_SIZE: u32 = 16;

/// The geometry as the compact form stores it. The form has no room for a double, so tightening is a whole number of
/// thousandths.
pub fn compact(packing: &mut Packing, geometry: &mut Geometry) {
    let [level, tightening, growth, levels, first_capacity, step, ..] = &mut geometry.words;
    let mut thousandths = (f64::from_bits(*tightening) * 1000.0).round() as u64;
    packing.field(level, 3);
    packing.field(&mut thousandths, 10);
    *tightening = (thousandths as f64 / 1000.0).to_bits();
    packing.field(growth, 3);
    packing.field(levels, 7);
    packing.field(step, 7);
    packing.field(first_capacity, 34);
    // The bits are those of the payload without the state.
    geometry.bits = geometry.payload_bytes.saturating_sub(PAYLOAD_UNIT).saturating_mul(8);
}

/// The levels that a geometry describes, and those that would follow.
#[derive(Clone, Copy)]
pub struct Schedule {
    /// The index of the levels' kind in the list of kinds that can be levels.
    pub level: u64,
    /// The factor from one level's rate to the next level's.
    pub tightening: f64,
    /// The factor from one level's bits to the next level's.
    pub growth: u64,
    /// How many sizes of levels there are.
    pub levels: u32,
    /// How many levels each of the first 32 sizes has besides one: four bits for each size, the smallest size in the
    /// lowest. Only a chain that others were merged into has any.
    pub more: [u64; 2],
    /// The bits of the first level.
    pub first_bits: u64,
    /// How many bits a key sets in the first level.
    pub hashes: u32,
    /// How many more bits a key sets in each further level, in 64ths of a bit.
    pub step: u64,
    /// How many keys the first level takes.
    pub first_capacity: u64,
}

impl Schedule {
    /// The levels that a geometry describes, if the geometry is one of this kind.
    pub fn of(geometry: &Geometry) -> Option<Schedule> {
        let [level, tightening, growth, levels, first_capacity, step, ref more @ ..] = geometry.words;
        let has = |parameter: &Parameter, value: u64| parameter.check(parameter.value_of_word(value)).is_ok();
        let known = has(&LEVEL, level)
            && has(&TIGHTENING, tightening)
            && has(&GROWTH, growth)
            && (1..=u64::from(MAX_LEVELS)).contains(&levels)
            && first_capacity > 0
            && step <= 64
            && (1..=MAX_HASHES).contains(&geometry.hashes);
        if !known {
            return None;
        }
        let mut schedule = Schedule {
            level,
            tightening: f64::from_bits(tightening),
            growth,
            levels: levels as u32,
            more: *more,
            first_bits: 0,
            hashes: geometry.hashes,
            step,
            first_capacity,
        };
        if (schedule.levels..SIZES).any(|size| schedule.of_size(size) > 1) {
            return None;
        }
        schedule.first_bits = geometry.bits / schedule.sum(schedule.count())?;
        // The bits of each level and all other numbers follow from these, so the whole geometry has to be the same.
        let is_same = schedule.geometry().ok()? == *geometry;
        (is_same && first_capacity <= schedule.first_bits).then_some(schedule)
    }

    /// The geometry of the whole payload.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] if the first level is not whole lines; [`Status::TooLarge`] past the address space.
    pub fn geometry(&self) -> Result<Geometry> {
        let &Schedule { level, tightening, growth, levels, more, first_bits, hashes, step, first_capacity } = self;
        if first_bits == 0 || !first_bits.is_multiple_of(LEVEL_UNIT) {
            return Err(error!(OutOfRange, "bits = {first_bits} is not a multiple of the {LEVEL_UNIT} of a line"));
        }
        let bits = self.sum(self.count()).and_then(|sum| sum.checked_mul(first_bits));
        let whole = bits.map(|bits| (bits, bits / 8 + PAYLOAD_UNIT)).filter(|(_, bytes)| image_bytes(*bytes).is_some());
        let Some((bits, payload_bytes)) = whole else {
            return Err(error!(
                TooLarge,
                "{levels} levels from {first_bits} bits on are more than the address space holds"
            ));
        };
        let [few, many] = more;
        let words = [level, tightening.to_bits(), growth, levels.into(), first_capacity, step, few, many];
        Ok(Geometry { bits, hashes, words, payload_bytes })
    }

    /// This chain, grown or cut to levels of `levels` sizes.
    pub fn with_levels(self, levels: u32) -> Schedule {
        Schedule { levels, ..self }
    }

    /// This chain before it grew, and before others were merged into it.
    pub fn first(self) -> Schedule {
        Schedule { levels: 1, more: [0; 2], ..self }
    }

    /// How many levels of size i there are.
    pub fn of_size(&self, i: u32) -> u32 {
        let more = self.more.get(i as usize / 16).map_or(0, |more| more >> (4 * (i % 16)) & 15);
        1 + more as u32
    }

    /// This chain with one more level of size i, of which it has at least one. `None` if it cannot have that many.
    pub fn with_another(mut self, i: u32) -> Option<Schedule> {
        if self.of_size(i) == MAX_OF_SIZE {
            return None;
        }
        *self.more.get_mut(i as usize / 16)? += 1 << (4 * (i % 16));
        Some(self)
    }

    /// The sizes of all levels in their order, from size 0 on.
    pub fn sizes(&self) -> impl DoubleEndedIterator<Item = u32> + use<> {
        let schedule = *self;
        (0..self.levels).flat_map(move |i| (0..schedule.of_size(i)).map(move |_| i))
    }

    /// How many levels there are.
    pub fn count(&self) -> u32 {
        self.levels + (0..self.levels.min(SIZES)).map(|i| self.of_size(i) - 1).sum::<u32>()
    }

    /// The size of the level at a place in the order of levels.
    pub fn size(&self, place: u32) -> u32 {
        self.sizes().nth(place as usize).unwrap_or(self.levels)
    }

    /// The kind of the levels.
    pub fn kind(&self) -> &'static LevelKind {
        &LEVELS[self.level as usize % LEVELS.len()]
    }

    /// The geometry of a level of size i.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] and [`Status::TooLarge`] if the kind of the levels cannot have such a level.
    pub fn level(&self, i: u32) -> Result<Geometry> {
        let bits = self.growth.checked_pow(i).and_then(|factor| factor.checked_mul(self.first_bits));
        let bits = bits.ok_or_else(|| error!(TooLarge, "level {i} has more bits than can be"))?;
        let hashes = u64::from(self.hashes) + u64::from(i) * self.step / 64;
        let hashes = hashes.min(self.kind().max_hashes.into()) as u32;
        self.kind().geometry(0, bits, hashes)
    }

    /// Where the words of the level at a place in the order of levels begin.
    pub fn start(&self, place: u32) -> Option<usize> {
        usize::try_from(self.sum(place)?.checked_mul(self.first_bits / 64)?).ok()
    }

    /// The sum of growth^i for the sizes i of the first `count` levels.
    fn sum(&self, count: u32) -> Option<u64> {
        let mut sizes = self.sizes().take(count as usize);
        sizes.try_fold(0_u64, |sum, i| sum.checked_add(self.growth.checked_pow(i)?))
    }

    /// A full level of size i.
    ///
    /// # Errors
    /// As [`Schedule::level`].
    pub fn full(&self, i: u32) -> Result<Full> {
        let first = self.full_first()?;
        if i == 0 { Ok(first) } else { self.full_after(&first, i) }
    }

    /// The first level, whose capacity is given, when it is full.
    fn full_first(&self) -> Result<Full> {
        let rate = self.rate_of(self.level(0)?);
        let seen = levels::seen(self.first_capacity as f64, rate);
        Ok(Full { seen, capacity: self.first_capacity, false_positive_rate: rate(seen.round() as u64) })
    }

    /// A full level after the first one. The level's rate decides how many keys it takes.
    fn full_after(&self, first: &Full, i: u32) -> Result<Full> {
        let rate = self.rate_of(self.level(i)?);
        let bound = first.false_positive_rate * self.tightening.powi(i as i32);
        let guess = (first.seen * (self.growth as f64).powi(i as i32)).min(u64::MAX as f64) as u64;
        let most = levels::most_keys(bound, guess, rate);
        let capacity = levels::taken(most as f64, rate) as u64;
        Ok(Full { seen: most as f64, capacity, false_positive_rate: rate(most) })
    }

    /// Whether a level of size i that takes `next`, after one that takes `last`, is worth its memory. The first level
    /// may have been given any size and any rate. After the second level, no level is added in which a key would cost
    /// more than 1.5 times the bits that it costs in the level before.
    fn is_worth(&self, i: u32, last: &Full, next: &Full) -> bool {
        let [last, capacity] = [last.capacity, next.capacity].map(u128::from);
        capacity > 0 && (i < 2 || 2 * u128::from(self.growth) * last <= 3 * capacity)
    }

    /// Whether a level of size i, which is not the first, can follow the level before at its rate, and is worth its
    /// memory.
    pub fn is_worth_adding(&self, i: u32) -> bool {
        match (self.full(i - 1), self.full(i)) {
            (Ok(last), Ok(next)) => self.is_worth(i, &last, &next),
            _ => false,
        }
    }

    /// How many keys a level of size i is expected to have taken after it has seen `seen` distinct keys.
    ///
    /// # Errors
    /// As [`Schedule::level`].
    pub fn taken(&self, i: u32, seen: f64) -> Result<u64> {
        Ok(levels::taken(seen, self.rate_of(self.level(i)?)) as u64)
    }

    /// The rate of a level by its number of distinct keys.
    fn rate_of(&self, level: Geometry) -> impl Fn(u64) -> f64 + Copy {
        let rate = self.kind().row.false_positive_rate;
        move |keys| rate(&level, keys)
    }

    /// The full levels, one after the other. The function is to be called with 0, 1 and so on, and returns `None` past
    /// the last level that a chain can have.
    fn full_levels(&self) -> impl FnMut(u32) -> Option<(Full, Geometry)> {
        let (first, mut last) = (self.full_first().ok(), None);
        move |i| {
            let first = first?;
            let full = if i == 0 { first } else { self.full_after(&first, i).ok()? };
            let geometry = self.level(i).ok()?;
            let is_last = last.replace(full).is_some_and(|last| !self.is_worth(i, &last, &full));
            (!is_last).then_some((full, geometry))
        }
    }

    /// The rate with `keys` distinct keys, in as many levels as they need. With more keys than a chain can take this is
    /// the rate with those that it takes.
    pub fn false_positive_rate(&self, keys: u64) -> f64 {
        self.rate_in(self.full_levels(), keys)
    }

    /// [`Schedule::false_positive_rate`] for every number of keys up to `most`. Finding out what a large level holds
    /// takes milliseconds, and is done once.
    pub fn rates(&self, most: u64) -> impl Fn(u64) -> f64 {
        let (mut known, mut level) = ([None; MAX_LEVELS as usize], self.full_levels());
        self.rate_in(
            |i| {
                known[i as usize] = level(i);
                known[i as usize]
            },
            most,
        );
        move |keys| self.rate_in(|i| known[i as usize], keys)
    }

    fn rate_in(&self, mut level: impl FnMut(u32) -> Option<(Full, Geometry)>, keys: u64) -> f64 {
        let (mut rest, mut compound) = (keys as f64, 0.0);
        let floor = sizing::hash_floor(keys, 64);
        for i in 0..MAX_LEVELS {
            let Some((full, geometry)) = level(i) else {
                if i == 0 {
                    return 1.0;
                }
                break;
            };
            for _ in 0..self.of_size(i) {
                // How many of the remaining keys do not seem to be there already.
                let reaching = rest * (1.0 - compound);
                if reaching <= full.seen {
                    let last = self.rate_of(geometry)(reaching.round() as u64);
                    return levels::either(compound, last).max(floor);
                }
                rest -= full.seen / (1.0 - compound);
                compound = levels::either(compound, full.false_positive_rate);
            }
        }
        compound.max(floor)
    }

    /// An estimate of the number of distinct keys, from how many keys the level in use and all levels before it have
    /// taken. `level` gives the rate of a level, which in small levels is not quite the expected one. If a size has
    /// several levels, one of them need not be full: `level` then also gives how many keys that level has seen. Merged
    /// chains are taken to have no key in common.
    ///
    /// # Errors
    /// As [`Schedule::level`].
    pub fn distinct(&self, in_use: u32, taken: u64, level: impl Fn(u32) -> (f64, Option<f64>)) -> Result<f64> {
        let first = self.full_first()?;
        let (mut keys, mut compound) = (0.0, 0.0);
        for (place, i) in (0..in_use).zip(self.sizes()) {
            let full = if i == 0 { first } else { self.full_after(&first, i)? };
            let (rate, seen) = level(place);
            keys += seen.unwrap_or(full.seen / (1.0 - compound));
            compound = levels::either(compound, rate);
        }
        let seen = levels::seen(taken as f64, self.rate_of(self.level(self.size(in_use))?));
        Ok(keys + seen / (1.0 - compound))
    }

    /// Cache lines that a lookup of a present key touches, with all levels full: the newest level is asked first.
    pub fn lines_per_lookup(&self) -> f64 {
        let (mut sum, mut keys, mut newer) = (0.0, 0.0, 0.0);
        for i in self.sizes().rev() {
            let Ok(geometry) = self.level(i) else { break };
            let share = (self.growth as f64).powi(i as i32);
            let lines = (self.kind().row.lines_per_lookup)(&geometry);
            sum += share * (newer + lines);
            keys += share;
            // An absent key meets an unset bit of a half full level after two bits on average.
            newer += lines.min(2.0);
        }
        sum / keys
    }
}

/// A level that takes no more keys.
#[derive(Clone, Copy)]
pub struct Full {
    /// How many distinct keys reached the level.
    pub seen: f64,
    /// How many distinct keys were new to the level.
    pub capacity: u64,
    /// The rate of the level with these keys.
    pub false_positive_rate: f64,
}
