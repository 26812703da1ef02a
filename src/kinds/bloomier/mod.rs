//! The kind `bloomier`: a map that is built once, and keeps no keys. The exact value for each key that it was built
//! from; of other keys it says that they are not there, but for a share of 2^-c for c check bits.
//!
//! Chazelle, Kilian, Rubinfeld and Tal, "The Bloomier Filter", 2004, described the structure; this is its later form,
//! in one table ([`super::retrieval`]): what a key's cells come to is its value and its check bits.

use crate::contract::{Overfill, Row, Sizes, Structure, VALUE_BITS};
use crate::error::{Result, error};
use crate::kinds::fuse::layout::MAX_CHECK_BITS;
use crate::kinds::retrieval::solved::{self, SOLVER};
use crate::spec::{Domain, KindId, Number, Parameter, Size, Spec};

/// The check bits.
pub const CHECK_BITS: Parameter = Parameter {
    name: "check_bits",
    summary: "check bits of a key: a share of 2^-check_bits of the absent keys gets a value; 0 is what \
              false_positive_rate needs",
    default: 0.0,
    domain: Domain::Integer(0, MAX_CHECK_BITS as u64),
    word: Some(1),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId(7),
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
    build_memory: crate::kinds::fuse::sizing::build_memory,
    overfill: Overfill::IsBuilt,
    ..Row::BASE
};

/// The check bits that a spec asks for; `needed` tells how many bits a map with so many would have.
fn check_bits(spec: &Spec, size: Size, value_bits: u32, needed: &dyn Fn(u32) -> Option<u64>) -> Result<u32> {
    let set = spec.parameter(&CHECK_BITS)? as u32;
    match size {
        Size::Exact { bits, .. } if set != 0 => {
            Err(error!(Contradiction, "bits = {bits} and check_bits = {set}: give one of them"))
        }
        Size::Exact { bits, .. } => {
            let fits = |check_bits: &u32| needed(*check_bits).is_some_and(|needed| needed <= bits);
            (1..=MAX_CHECK_BITS).rev().find(fits).ok_or_else(|| match needed(1) {
                Some(least) => {
                    error!(OutOfRange, "bits = {bits} are less than the {least} that values of {value_bits} bits take")
                }
                None => error!(TooLarge, "values of {value_bits} bits need more bits than the address space holds"),
            })
        }
        Size::Rate { false_positive_rate: rate, .. } => {
            let given = Number(rate);
            let needed = (-rate.log2()).ceil().max(1.0);
            if set != 0 && spec.false_positive_rate != 0.0 && needed > f64::from(set) {
                return Err(error!(
                    Contradiction,
                    "check_bits = {set} and false_positive_rate = {given}, which needs {needed}: give one of them"
                ));
            }
            if set == 0 && needed > f64::from(MAX_CHECK_BITS) {
                let least = Number((-f64::from(MAX_CHECK_BITS)).exp2());
                return Err(error!(
                    OutOfRange,
                    "false_positive_rate = {given} is below {least}, the least of bloomier"
                ));
            }
            Ok(if set == 0 { needed as u32 } else { set })
        }
    }
}
