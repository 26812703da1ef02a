//! The sizes that a kind takes: the geometry that a spec asks for, or the reason why there is none.

use super::{Row, Sizes};
use crate::error::{Error, Result, error};
use crate::format::Geometry;
use crate::spec::{Domain, Number, Parameter, Setting, Size, Spec};
use core::fmt;

/// How many keys' room a copy of a key takes, in kinds where copies of a key lie near each other.
pub const COPY_PLACES: u64 = 3;

const TIMES: &str = "times";

/// The parameter for how often a key may come, up to `most` times, of kinds in which a key that comes again takes more
/// room. The capacity grows by what the copies take, so a filter that was made with it is like any other of that
/// capacity, and its image does not keep the parameter.
pub const fn times(most: u64) -> Parameter {
    Parameter {
        name: TIMES,
        summary: "how often each key may come: the capacity grows by the room that the copies of every key take",
        default: 1.0,
        domain: Domain::Integer(1, most),
        word: None,
    }
}

impl Row {
    /// The geometry that a spec asks for, after a check that the geometry is one of this kind.
    ///
    /// # Errors
    /// The errors of [`Spec::size`]; [`Status::OutOfRange`](crate::Status::OutOfRange),
    /// [`Status::Contradiction`](crate::Status::Contradiction) and [`Status::TooLarge`](crate::Status::TooLarge), each
    /// naming what is allowed.
    pub fn geometry_of(&self, spec: &Spec) -> Result<Geometry> {
        let size = self.size_of(spec)?;
        if let Size::Exact { capacity, bits, hashes } = size {
            self.check_exact(capacity, bits, hashes)?;
        }
        (self.geometry)(spec, size)
    }

    /// The size that a spec asks of this kind, with defaults filled in, and with a rate that the kind can reach.
    ///
    /// # Errors
    /// The errors of [`Row::geometry_of`] about a rate.
    pub(crate) fn size_of(&self, spec: &Spec) -> Result<Size> {
        let mut size = self.with_copies(spec, spec.size()?)?;
        if let Size::Rate { capacity, false_positive_rate: rate } = &mut size {
            let least = (self.least_rate)(spec, *capacity);
            if spec.false_positive_rate == 0.0 {
                // The caller did not ask for the default rate, so a kind that cannot reach it takes its least one.
                *rate = if least < 1.0 { rate.max(least) } else { *rate };
            } else if *rate < least {
                return Err(self.low_rate(spec, *capacity, *rate, least));
            }
        }
        Ok(size)
    }

    /// The size with room for the copies that the spec's parameter [`times`] asks for.
    fn with_copies(&self, spec: &Spec, mut size: Size) -> Result<Size> {
        let Some(parameter) = self.parameter(TIMES) else { return Ok(size) };
        let often = spec.parameter(parameter)?;
        let (Size::Rate { capacity, .. } | Size::Exact { capacity, .. }) = &mut size;
        if often > 1 && *capacity > 0 {
            let geometry = self.geometry_of(&self.without_times(spec))?;
            *capacity = capacity.saturating_mul(self.places_of(&geometry, often)?);
        }
        Ok(size)
    }

    /// The spec without its parameter [`times`].
    pub(crate) fn without_times(&self, spec: &Spec) -> Spec {
        let mut spec = *spec;
        if let Some(parameter) = self.parameter(TIMES) {
            let settings = spec.parameters.iter_mut().filter(|setting| setting.id == parameter.id());
            settings.for_each(|setting| *setting = Setting::default());
        }
        spec
    }

    /// How many places of the capacity a key takes in this geometry if every key comes `times` times: one, for kinds
    /// that do not say what copies take.
    ///
    /// The copies of a key lie in two or more buckets, and take less than half of these: then k keys that share buckets
    /// have room, because they have k + 1 buckets together, or k with a cycle. If copies took more, chains of keys that
    /// every large table has would overflow, however large it is. One risk remains: a few keys may have the same
    /// buckets. Measured over seeds, of 4,000 `cuckoo` filters 13 refused one of three copies of 64 keys, 6 refused one
    /// of 512 keys, and none refused one of two copies; of `vector_quotient` filters 35 refused one of 47 copies, and
    /// none one of three.
    ///
    /// # Errors
    /// [`Status::Contradiction`](crate::Status::Contradiction) if there is no room for that many copies of every key.
    pub fn places_of(&self, geometry: &Geometry, times: u64) -> Result<u64> {
        if let Some(most) =
            self.room.copies.map(|copies| copies(geometry).saturating_sub(1) / 2).filter(|most| times > *most)
        {
            let name = self.name;
            return Err(error!(
                Contradiction,
                "{name} has room for every key up to {most} times, and not times = {times}"
            ));
        }
        Ok(match (self.room.places, self.room.copies) {
            (Some(places), _) => places(geometry, times),
            // Builders make room for copies in the same way.
            (None, Some(_)) => COPY_PLACES.saturating_mul(times.saturating_sub(1)).saturating_add(1),
            (None, None) => 1,
        })
    }

    /// The refusal of a rate below the least one. The message names the reason: the spec's parameters, the spec's
    /// capacity, or the kind.
    #[cold]
    fn low_rate(&self, spec: &Spec, capacity: u64, rate: f64, least: f64) -> Error {
        let least_of = |spec: &Spec, capacity| (self.least_rate)(spec, capacity);
        let plain = Spec { parameters: Default::default(), ..*spec };
        let (asked, least, name) = (Number(rate), Number(least), self.name);
        if least.0 >= 1.0 {
            error!(
                Contradiction,
                "false_positive_rate = {asked} has no meaning for {name}, whose rate is 1: leave it 0"
            )
        } else if least_of(&plain, capacity) <= rate {
            let set = Set(self, spec);
            error!(Contradiction, "false_positive_rate = {asked} is below {least}, the least of {name} with {set}")
        } else if least_of(spec, 1) <= rate {
            error!(
                TooLarge,
                "false_positive_rate = {asked} is below {least}, the least of {name} for capacity = {capacity}"
            )
        } else {
            error!(OutOfRange, "false_positive_rate = {asked} is below {least}, the least of {name}")
        }
    }

    fn check_exact(&self, capacity: u64, bits: u64, hashes: u32) -> Result<()> {
        let (least, most) = self.hashes;
        let needs_capacity = match self.sizes {
            Sizes::Multiples(unit) if !bits.is_multiple_of(unit) => {
                return Err(error!(OutOfRange, "bits = {bits} is not a multiple of {unit}"));
            }
            Sizes::Multiples(_) => hashes == 0 && least < most,
            Sizes::ByKeys => true,
        };
        if hashes != 0 && !(least..=most).contains(&hashes) {
            let name = self.name;
            return Err(match (least, most) {
                (_, 0) => error!(OutOfRange, "hashes = {hashes} has no meaning for {name}: leave it 0"),
                (least, most) if least == most => error!(OutOfRange, "hashes = {hashes} is not the {most} of {name}"),
                _ => error!(OutOfRange, "hashes = {hashes} with bits = {bits} is not from {least} to {most}"),
            });
        }
        if capacity == 0 && needs_capacity {
            return Err(match self.sizes {
                Sizes::Multiples(_) => {
                    error!(Contradiction, "bits = {bits} needs hashes, or a capacity to choose them for")
                }
                Sizes::ByKeys => error!(Contradiction, "bits = {bits} of {} needs a capacity", self.name),
            });
        }
        if bits >= 1 << 63 {
            return Err(error!(TooLarge, "bits = {bits} are more than the address space holds"));
        }
        Ok(())
    }
}

/// The parameters that a spec sets to other values than the defaults.
struct Set<'a>(&'a Row, &'a Spec);

impl fmt::Display for Set<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Set(row, spec) = self;
        let value = |parameter: &Parameter| spec.real_parameter(parameter).unwrap_or(parameter.default);
        let set = |parameter: &&Parameter| value(parameter) != parameter.default;
        for (i, parameter) in row.parameters.iter().copied().filter(set).enumerate() {
            let value = value(parameter);
            write!(f, "{}{} = ", if i == 0 { "" } else { ", " }, parameter.name)?;
            match parameter.choices().get(value as usize) {
                Some(choice) => f.write_str(choice)?,
                None => write!(f, "{}", Number(value))?,
            }
        }
        Ok(())
    }
}
