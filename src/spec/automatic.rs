//! Parameters that may be automatic. For an automatic parameter a kind takes the value that a rate needs, or the
//! greatest value that exact bits hold.

use super::{Domain, Number, Parameter, Size, Spec};
use crate::error::{Error, Result, error};
use core::ops::RangeInclusive;

impl Spec {
    /// The values of a parameter that filters of this spec may have: the value that the spec sets, or the whole domain
    /// if the parameter is automatic.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange).
    pub(crate) fn allowed(&self, parameter: &Parameter) -> Result<RangeInclusive<u64>> {
        Ok(match (self.parameter(parameter)?, parameter.domain) {
            (0, Domain::Automatic(least, most)) => least..=most,
            (value, _) => value..=value,
        })
    }

    /// [`Row::least_rate`](crate::contract::Row::least_rate) for a kind in which a parameter decides the rate. `rate`
    /// gives the rate for a value of the parameter, or `None` if no filter has that value. Greater values have lower
    /// rates.
    pub(crate) fn least_rate(&self, parameter: &Parameter, rate: impl Fn(u64) -> Option<f64>) -> f64 {
        self.allowed(parameter).map_or(0.0, |values| values.rev().find_map(rate).unwrap_or(0.0))
    }

    /// The least allowed value of a parameter that keeps the rate of a size, or the greatest one that fits into exact
    /// bits. `rate` is that of [`Spec::least_rate`], and `bits` gives the bits of a filter with a value. If no filter
    /// is possible at all, the result is the least value, and the kind then reports the reason.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange); [`Status::Contradiction`](crate::Status::Contradiction) for
    /// too few bits; the errors of [`Spec::unreachable`].
    pub(crate) fn choose(
        &self,
        size: Size,
        parameter: &Parameter,
        rate: impl Fn(u64) -> Option<f64>,
        bits: impl Fn(u64) -> Option<u64>,
    ) -> Result<u64> {
        let mut values = self.allowed(parameter)?;
        let least = *values.start();
        let found = match size {
            Size::Rate { false_positive_rate: asked, .. } => {
                values.find(|value| rate(*value).is_some_and(|rate| rate <= asked))
            }
            Size::Exact { bits: most, .. } => values.rev().find(|value| bits(*value).is_some_and(|bits| bits <= most)),
        };
        match (found, size, bits(least)) {
            (None, Size::Exact { capacity, bits: most, .. }, Some(needed)) => Err(error!(
                Contradiction,
                "bits = {most} are too few for capacity = {capacity}: {} = {least} takes {needed}", parameter.name
            )),
            (None, Size::Rate { .. }, _) if rate(least).is_some() => Err(self.unreachable(size, parameter)),
            (found, ..) => Ok(found.unwrap_or(least)),
        }
    }

    /// The refusal of a size that no allowed value of a parameter reaches.
    pub(crate) fn unreachable(&self, size: Size, parameter: &Parameter) -> Error {
        let Size::Rate { capacity, false_positive_rate: rate } = size else { return size.too_large() };
        let (name, most, rate) = (parameter.name, Number(parameter.bounds().1), Number(rate));
        match self.parameter(parameter) {
            Ok(0) | Err(_) => error!(
                TooLarge,
                "false_positive_rate = {rate} for capacity = {capacity} needs {name} above {most}, or more bits than \
                 can be"
            ),
            Ok(asked) => error!(
                Contradiction,
                "{name} = {asked} is too few for false_positive_rate = {rate} with capacity = {capacity}"
            ),
        }
    }

    /// The value of a parameter for exact bits: the value that the spec sets, or what `best` finds for the capacity.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange); [`Status::Contradiction`](crate::Status::Contradiction) if
    /// the spec has neither a value nor a capacity.
    pub(crate) fn set_or_best(&self, bits: u64, parameter: &Parameter, best: impl FnOnce(u64) -> u32) -> Result<u32> {
        match (self.parameter(parameter)?, self.capacity) {
            (0, 0) => Err(error!(Contradiction, "bits = {bits} need {}, or a capacity", parameter.name)),
            (0, capacity) => Ok(best(capacity)),
            (value, _) => Ok(value as u32),
        }
    }
}
