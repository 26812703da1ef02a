//! The kinds of map, one file or folder each, and the parameter that all of them take.

pub mod approximator;
pub mod bloomier;
pub mod mutable_bloomier;
pub mod retrieval;
mod solved;

use crate::spec::{Domain, Parameter};

/// The bits of a value.
pub const VALUE_BITS: Parameter = Parameter {
    name: "value_bits",
    summary: "bits of a value; 0 takes as many as the largest value needs, which is known when the map is built",
    default: 0.0,
    domain: Domain::Integer(0, 64),
    word: Some(0),
};
