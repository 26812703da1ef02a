//! The kind `retrieval`: a map that is built once, keeps no keys, and has nothing to recognise them by. It gives the
//! exact value for each key that it was built from, in as many bits as values have, and any value at all for every
//! other key.
//!
//! Known as a retrieval structure or static function: what is left of a Bloomier filter ([`super::bloomier`]) without
//! its check bits. It is for those who ask only for keys that they know to be there.

pub(crate) use crate::contract::{Building, Overfill, Row, Sizes, Structure, VALUE_BITS};
use crate::error::{Result, error};
use crate::kinds::solved::{self, SOLVER};
use crate::spec::{KindId, Size, Spec};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::RETRIEVAL,
    name: "retrieval",
    summary: "the smallest map, built once: the exact value of each key, and an arbitrary value for other keys",
    parameters: &[&VALUE_BITS, &SOLVER],
    structure: Structure::StaticMap {
        open: |base| solved::open(base, 0..=0),
        build: |build| solved::build(build, no_check_bits),
    },
    sizes: Sizes::ByKeys,
    geometry: |spec, size| solved::geometry(spec, size, no_check_bits),
    lines_per_lookup: solved::lines_per_lookup,
    false_positive_rate: |_, _| 1.0,
    least_rate: |_, _| 1.0,
    overfill: Overfill::IsBuilt,
    building: Building { build_memory: crate::kinds::fuse::sizing::build_memory, ..Building::BASE },
    ..Row::BASE
};

/// The check bits that a spec asks for, which are always 0, after a check that exact bits are enough.
fn no_check_bits(_: &Spec, size: Size, bits: &dyn Fn(u64) -> Option<u64>) -> Result<u64> {
    match (size, bits(0)) {
        (Size::Exact { capacity, bits, .. }, Some(least)) if bits < least => {
            Err(error!(Contradiction, "bits = {bits} are too few for capacity = {capacity}: its values take {least}"))
        }
        _ => Ok(0),
    }
}
