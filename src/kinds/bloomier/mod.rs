//! The kind `bloomier`: a map that is built once, and keeps no keys. It has the exact value for each key that it was
//! built from. It says that other keys are not there, except for a share of 2^-c for c check bits.
//!
//! Chazelle, Kilian, Rubinfeld and Tal, "The Bloomier Filter", 2004, described the structure; this is its later form,
//! in one table ([`super::retrieval`]): a key's cells combine to its value and its check bits.

use crate::contract::{Building, Overfill, Row, Sizes, Structure, VALUE_BITS};
use crate::error::Result;
use crate::kinds::fuse::layout::MAX_CHECK_BITS;
use crate::kinds::solved::{self, SOLVER};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};

/// The check bits.
pub const CHECK_BITS: Parameter = Parameter {
    name: "check_bits",
    summary: "check bits of a key: a share of 2^-check_bits of the absent keys gets a value; 0 is what \
              false_positive_rate needs",
    default: 0.0,
    domain: Domain::Automatic(1, MAX_CHECK_BITS as u64),
    word: Some(1),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::BLOOMIER,
    name: "bloomier",
    summary: "a map built once: the exact value of each key, and no value for other keys",
    parameters: &[&VALUE_BITS, &CHECK_BITS, &SOLVER],
    structure: Structure::StaticMap {
        open: |base| solved::open(base, 1..=MAX_CHECK_BITS),
        build: |build| solved::build(build, check_bits),
    },
    sizes: Sizes::ByKeys,
    geometry: |spec, size| solved::geometry(spec, size, check_bits),
    lines_per_lookup: solved::lines_per_lookup,
    false_positive_rate: |geometry, keys| if keys == 0 { 0.0 } else { (-(geometry.words[1] as f64)).exp2() },
    least_rate: |spec, _| spec.least_rate(&CHECK_BITS, rate),
    overfill: Overfill::IsBuilt,
    building: Building { build_memory: crate::kinds::fuse::sizing::build_memory, ..Building::BASE },
    ..Row::BASE
};

/// The false-positive rate with `check_bits` check bits.
fn rate(check_bits: u64) -> Option<f64> {
    Some((-(check_bits as f64)).exp2())
}

/// The check bits that a spec asks for. `bits` gives the bits of a map with a given number of check bits.
fn check_bits(spec: &Spec, size: Size, bits: &dyn Fn(u64) -> Option<u64>) -> Result<u64> {
    spec.choose(size, &CHECK_BITS, rate, bits)
}
