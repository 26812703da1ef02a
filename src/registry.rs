//! The kinds: one row each. Everything that works on any filter finds a kind here and nowhere else.

use crate::base::Base;
use crate::error::{Error, Result, error};
use crate::filter::{Capabilities, Filter};
use crate::filters::{blocked, bloom, split_block};
use crate::format::Geometry;
use crate::spec::{Kind, Number, Parameter, Spec};

/// What the library knows of a kind.
pub struct Row {
    /// Its number in the C API and in images; never reused.
    pub kind: Kind,
    /// Its name, the same everywhere.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub summary: &'static str,
    /// The version of its payload layout; images of a later one are refused.
    pub layout_version: u16,
    /// What a filter of this kind in memory of its own can do.
    pub capabilities: Capabilities,
    /// The parameters that only this kind takes.
    pub parameters: &'static [&'static Parameter],
    /// The geometry that a spec asks for.
    pub plan: fn(&Spec) -> Result<Geometry>,
    /// A filter over a payload of this kind; refuses a geometry that the kind cannot have.
    pub open: fn(Base) -> Result<Box<dyn Filter>>,
    /// Exact sizes are multiples of so many bits.
    pub bits_unit: u64,
    /// Cache lines that a lookup of a present key touches.
    pub lines_per_lookup: fn(&Geometry) -> f64,
    /// The exact false-positive rate of a geometry with so many distinct keys.
    pub false_positive_rate: fn(&Geometry, u64) -> f64,
}

/// All kinds, in the order of their numbers.
pub static KINDS: &[Row] = &[bloom::ROW, split_block::ROW, blocked::ROW];

/// The kind of a spec that names none.
pub const DEFAULT_KIND: Kind = blocked::KIND;

/// The row of a kind.
pub fn find(kind: Kind) -> Option<&'static Row> {
    KINDS.iter().find(|row| row.kind == kind)
}

/// The row of a kind by name.
pub fn find_name(name: &str) -> Option<&'static Row> {
    KINDS.iter().find(|row| row.name == name)
}

/// The row that a spec asks for, once all parameters of the spec are found to be among those of the kind, each once.
///
/// # Errors
/// [`Status::UnknownValue`](crate::Status::UnknownValue), [`Status::Contradiction`](crate::Status::Contradiction).
pub fn of_spec(spec: &Spec) -> Result<&'static Row> {
    let kind = spec.kind.unwrap_or(DEFAULT_KIND);
    let row = find(kind).ok_or_else(|| unknown_kind(kind))?;
    let known = |id: u32| id == 0 || row.parameters.iter().any(|parameter| parameter.id() == id);
    match spec.parameters.iter().find(|setting| !known(setting.id)) {
        None => check_once(spec).map(|()| row),
        Some(setting) => Err(match parameter(setting.id) {
            Some(other) => {
                let takes = |row: &&Row| row.parameters.iter().any(|parameter| parameter.id() == other.id());
                let owner = KINDS.iter().find(takes).map_or("", |row| row.name);
                error!(UnknownValue, "{} takes no parameter {}, which is one of {owner}", row.name, other.name)
            }
            None => error!(UnknownValue, "parameter id {:#x} is not known to any kind", setting.id),
        }),
    }
}

/// Refuses a spec that sets a parameter twice: it is not clear which value is meant.
fn check_once(spec: &Spec) -> Result<()> {
    for (i, first) in spec.parameters.iter().enumerate().filter(|(_, setting)| setting.id != 0) {
        if let Some(second) = spec.parameters[i + 1..].iter().find(|second| second.id == first.id) {
            let name = parameter(first.id).map_or("", |parameter| parameter.name);
            let (first, second) = (Number(first.value), Number(second.value));
            return Err(error!(Contradiction, "the parameter {name} is set twice, to {first} and to {second}"));
        }
    }
    Ok(())
}

/// The parameter with this id, of whichever kind.
pub fn parameter(id: u32) -> Option<&'static Parameter> {
    KINDS.iter().flat_map(|row| row.parameters).copied().find(|parameter| parameter.id() == id)
}

/// The parameter with this name, of whichever kind.
///
/// # Errors
/// [`Status::UnknownValue`](crate::Status::UnknownValue).
pub fn parameter_by_name(name: &str) -> Result<&'static Parameter> {
    let mut all = KINDS.iter().flat_map(|row| row.parameters).copied();
    all.find(|parameter| parameter.name == name)
        .ok_or_else(|| error!(UnknownValue, "{name} is not a parameter of any kind"))
}

fn unknown_kind(kind: Kind) -> Error {
    let last = KINDS.last().map_or(0, |row| row.kind.0);
    error!(UnknownValue, "kind = {} is not a kind; 1 to {last} are known", kind.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_names_and_parameter_ids_are_unique() {
        for (i, a) in KINDS.iter().enumerate() {
            assert!(a.kind.0 > 0);
            for b in &KINDS[i + 1..] {
                assert!(a.kind.0 < b.kind.0 && a.name != b.name);
            }
        }
        let all: Vec<_> = KINDS.iter().flat_map(|row| row.parameters).collect();
        for a in &all {
            // Kinds may share a parameter, and then mean the same by it.
            assert!(a.id() != 0 && all.iter().all(|b| (a.id() == b.id()) == (a.name == b.name)));
        }
    }
}
