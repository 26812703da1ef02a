//! The kinds: one row each. Everything that works on any kind finds it here and nowhere else.

use crate::filters::{blocked, bloom, split_block};
use crate::kind::Row;
use crate::spec::KindId;

/// All kinds, in the order of their numbers.
pub static KINDS: &[Row] = &[bloom::ROW, split_block::ROW, blocked::ROW];

/// The kind of a spec that names none.
pub const DEFAULT_KIND: KindId = blocked::ROW.kind;

/// The row of a kind.
pub fn find(kind: KindId) -> Option<&'static Row> {
    KINDS.iter().find(|row| row.kind == kind)
}

/// The row of a kind by name.
pub fn find_name(name: &str) -> Option<&'static Row> {
    KINDS.iter().find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_names_and_parameter_ids_are_unique() {
        for (i, a) in KINDS.iter().enumerate() {
            assert!(a.kind.0 > 0 && !a.name.is_empty() && !a.summary.is_empty());
            for b in &KINDS[i + 1..] {
                assert!(a.kind.0 < b.kind.0 && a.name != b.name);
            }
        }
        let all: Vec<_> = KINDS.iter().flat_map(|row| row.parameters).collect();
        for a in &all {
            // Ids are made from names. Kinds may share a name; what it means is for each kind to say.
            assert!(a.id() != 0 && all.iter().all(|b| (a.id() == b.id()) == (a.name == b.name)));
        }
    }
}
