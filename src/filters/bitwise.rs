//! What all kinds that are plain bit arrays do alike.

use crate::error::{Result, error};
use crate::filter::Base;
use crate::spec::Parameter;
use crate::storage::Words;
use core::sync::atomic::Ordering;

/// Whether the size may later be divided without the keys.
pub const FOLDABLE: Parameter = Parameter {
    name: "foldable",
    summary: "1 rounds the size up, by less than 0.8 %, so that the filter can be folded by many powers of two",
    default: 0,
    domain: crate::spec::Domain::Integer(0, 1),
    word: None,
};

/// `units` rounded up to a multiple of the greatest power of two that is at most a 128th of them.
pub fn foldable_units(units: u64) -> Option<u64> {
    units.checked_next_multiple_of(1 << (units / 128).max(1).ilog2())
}

/// Bitwise OR: the union.
pub fn merge(base: &mut Base, other: &Words) -> Result<()> {
    for (word, other) in base.writable()?.iter_mut().zip(other.shared()) {
        *word |= other.load(Ordering::Relaxed);
    }
    Ok(())
}

/// Bitwise AND: a superset of the intersection.
pub fn intersect(base: &mut Base, other: &Words) -> Result<()> {
    for (word, other) in base.writable()?.iter_mut().zip(other.shared()) {
        *word &= other.load(Ordering::Relaxed);
    }
    Ok(())
}

/// Refuses a factor that folding cannot use.
pub fn check_factor(factor: u64, units: u64) -> Result<()> {
    if factor >= 2 && units.is_multiple_of(factor) {
        return Ok(());
    }
    Err(error!(OutOfRange, "factor = {factor} is not a divisor of the {units} units, 2 or more"))
}
