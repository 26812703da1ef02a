//! What a filter is made from: kind, capacity, rate or geometry, hash function, and the parameters of its kind.

mod automatic;
mod kind;
mod parameter;

pub use kind::{KINDS, KindId};
pub(crate) use parameter::CLOCK;
pub use parameter::{Domain, Parameter};

use crate::error::{Error, Result, error};
use crate::hash::{HashFunction, Hasher, Secret};
use crate::simd::Kernel;
use crate::sizing;
use core::fmt;

/// The false-positive rate of a spec that names none.
pub const DEFAULT_FALSE_POSITIVE_RATE: f64 = 0.01;

/// The capacity of a spec that names neither a capacity nor a geometry.
pub const DEFAULT_CAPACITY: u64 = 1_000_000;

/// How many kind-specific parameters a spec holds.
pub const MAX_PARAMETERS: usize = 8;

/// A parameter's id and the value asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Setting {
    /// [`Parameter::id`]; 0 is an unused place.
    pub id: u32,
    /// The value.
    pub value: f64,
}

/// The parameters from which a filter is made. Every field's default is that of [`Spec::default`]; a capacity and a
/// rate, *or* an exact geometry, say how large the filter is.
///
/// ```
/// use petal::{Spec, HashFunction};
/// let spec = Spec { capacity: 5000, false_positive_rate: 0.001, hash: HashFunction::Xxh64, ..Spec::default() };
/// let filter = petal::Filter::new(&spec)?;
/// assert!(filter.expected_false_positive_rate(5000) <= 0.001);
/// # Ok::<(), petal::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Spec {
    /// The kind; `None` is the default kind.
    pub kind: Option<KindId>,
    /// How many distinct keys the filter is sized for; 0 is [`DEFAULT_CAPACITY`], or unknown where `bits` is given. A
    /// kind in which a key that comes again takes more room has a parameter `times`, by which the capacity grows.
    pub capacity: u64,
    /// The greatest false-positive rate at capacity, inside (0, 1); 0 is [`DEFAULT_FALSE_POSITIVE_RATE`].
    pub false_positive_rate: f64,
    /// The exact number of bits instead of a rate; 0 leaves it to the rate.
    pub bits: u64,
    /// The exact number of bits that a key sets, with `bits`; 0 is the best for `bits` and `capacity`.
    pub hashes: u32,
    /// The hash function.
    pub hash: HashFunction,
    /// The seed of XXH3 and XXH64; the caller's tag of external hashes; the number of bits of digests.
    pub seed: u64,
    /// The secret key of SipHash-1-3.
    pub secret: Option<Secret>,
    /// The instruction set of the inner loops. Not part of the filter's image: all of them do the same.
    pub kernel: Kernel,
    /// The parameters that only this kind takes.
    pub parameters: [Setting; MAX_PARAMETERS],
}

impl Default for Spec {
    fn default() -> Spec {
        Spec {
            kind: None,
            capacity: 0,
            false_positive_rate: 0.0,
            bits: 0,
            hashes: 0,
            hash: HashFunction::Xxh3,
            seed: 0,
            secret: None,
            kernel: Kernel::Best,
            parameters: [Setting::default(); MAX_PARAMETERS],
        }
    }
}

impl fmt::Debug for Spec {
    /// Shows everything but the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spec")
            .field("kind", &self.kind)
            .field("capacity", &self.capacity)
            .field("false_positive_rate", &self.false_positive_rate)
            .field("bits", &self.bits)
            .field("hashes", &self.hashes)
            .field("hash", &self.hash)
            .field("seed", &self.seed)
            .field("keyed", &self.secret.is_some())
            .field("kernel", &self.kernel)
            .field("parameters", &self.parameters)
            .finish()
    }
}

/// Refuses what is not a rate, NaN included.
pub(crate) fn check_rate(rate: f64) -> Result<()> {
    if rate > 0.0 && rate < 1.0 {
        return Ok(());
    }
    Err(error!(FalsePositiveRate, "false_positive_rate = {} is not inside (0, 1)", Number(rate)))
}

/// A number in messages, without hundreds of zeros.
pub(crate) struct Number(pub f64);

impl fmt::Display for Number {
    /// The bits of the number between two marks, for a host that writes digits itself: writing a fraction's digits
    /// takes 15 kB of code, which is a tenth of a small module.
    #[cfg(petal_host_numbers)]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\u{2}{:x}\u{3}", self.0.to_bits())
    }

    #[cfg(not(petal_host_numbers))]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0.0 || (1e-4..1e15).contains(&self.0.abs()) || !self.0.is_finite() {
            write!(f, "{}", self.0)
        } else {
            write!(f, "{:e}", self.0)
        }
    }
}

/// How large a filter is asked to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// The least size whose false-positive rate at `capacity` keys is at most `false_positive_rate`.
    Rate {
        /// Distinct keys.
        capacity: u64,
        /// Inside (0, 1).
        false_positive_rate: f64,
    },
    /// This many bits; `hashes` = 0 leaves the number of probes to `capacity`, which then is not 0.
    Exact {
        /// Distinct keys; 0 is unknown.
        capacity: u64,
        /// At least 1.
        bits: u64,
        /// Bits that a key sets; 0 is the best for the capacity.
        hashes: u32,
    },
}

impl Size {
    /// Distinct keys; 0 is unknown.
    pub fn capacity(&self) -> u64 {
        let (Size::Rate { capacity, .. } | Size::Exact { capacity, .. }) = *self;
        capacity
    }

    /// The refusal of a size that no filter can have.
    pub fn too_large(&self) -> Error {
        match *self {
            Size::Exact { capacity, bits, .. } => {
                error!(TooLarge, "bits = {bits} for capacity = {capacity} are more than can be")
            }
            Size::Rate { capacity, false_positive_rate: rate } => {
                let rate = Number(rate);
                error!(TooLarge, "capacity = {capacity} at false_positive_rate = {rate} needs more bits than can be")
            }
        }
    }
}

impl Spec {
    /// A spec for `capacity` keys at `false_positive_rate`. Zero keys are sized like one.
    ///
    /// # Errors
    /// [`Status::FalsePositiveRate`](crate::Status::FalsePositiveRate): here a rate of 0 is a wrong rate, not a
    /// request for the default.
    pub fn with_capacity(capacity: u64, false_positive_rate: f64) -> Result<Spec> {
        check_rate(false_positive_rate)?;
        Ok(Spec { capacity: capacity.max(1), false_positive_rate, ..Spec::default() })
    }

    /// The hasher that the spec describes.
    ///
    /// # Errors
    /// As [`Hasher::new`].
    pub fn hasher(&self) -> Result<Hasher> {
        Hasher::new(self.hash, self.seed, self.secret.as_ref())
    }

    /// The size that the spec asks for, with defaults filled in.
    ///
    /// # Errors
    /// [`Status::FalsePositiveRate`](crate::Status::FalsePositiveRate) for a rate outside (0, 1) and
    /// [`Status::Contradiction`](crate::Status::Contradiction) for both a rate and a geometry, or half a geometry;
    /// [`Status::OutOfRange`](crate::Status::OutOfRange) for a rate that 64-bit hashes cannot have.
    pub fn size(&self) -> Result<Size> {
        let &Spec { capacity, false_positive_rate: rate, bits, hashes, .. } = self;
        if rate != 0.0 {
            check_rate(rate)?;
        }
        if bits == 0 {
            if hashes != 0 {
                return Err(error!(Contradiction, "hashes = {hashes} without bits: give both, or a rate"));
            }
            let capacity = if capacity == 0 { DEFAULT_CAPACITY } else { capacity };
            let false_positive_rate = if rate == 0.0 { DEFAULT_FALSE_POSITIVE_RATE } else { rate };
            let floor = sizing::hash_floor(capacity, 64);
            if false_positive_rate < floor {
                let (rate, floor) = (Number(false_positive_rate), Number(floor));
                return Err(error!(
                    OutOfRange,
                    "false_positive_rate = {rate} is below {floor}, the least that 64-bit hashes of {capacity} keys have"
                ));
            }
            return Ok(Size::Rate { capacity, false_positive_rate });
        }
        if rate != 0.0 {
            return Err(error!(
                Contradiction,
                "bits = {bits} and false_positive_rate = {}: give one of them",
                Number(rate)
            ));
        }
        Ok(Size::Exact { capacity, bits, hashes })
    }

    /// Sets one of the kind's parameters.
    ///
    /// # Errors
    /// [`Status::Contradiction`](crate::Status::Contradiction) if [`MAX_PARAMETERS`] others are set. The value is
    /// checked when the filter is made.
    pub fn set(&mut self, parameter: &Parameter, value: f64) -> Result<()> {
        let id = parameter.id();
        let place = self.parameters.iter().position(|setting| setting.id == id);
        match place.or_else(|| self.parameters.iter().position(|setting| setting.id == 0)) {
            Some(place) => {
                self.parameters[place] = Setting { id, value };
                Ok(())
            }
            None => Err(error!(
                Contradiction,
                "{} is one parameter more than the {MAX_PARAMETERS} of a spec", parameter.name
            )),
        }
    }

    /// The value of a parameter that is a whole number or a choice: as set, or its default.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange).
    pub fn parameter(&self, parameter: &Parameter) -> Result<u64> {
        self.real_parameter(parameter).map(|value| value as u64)
    }

    /// The value of a parameter: as set, or its default.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange).
    pub fn real_parameter(&self, parameter: &Parameter) -> Result<f64> {
        match self.parameters.iter().find(|setting| setting.id == parameter.id()) {
            Some(setting) => parameter.check(setting.value),
            None => Ok(parameter.default),
        }
    }
}
