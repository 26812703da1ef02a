//! The kinds: one row each. Everything that works on any kind finds it here and nowhere else.

use crate::contract::Row;
use crate::kinds::{
    age_partitioned, aleph, approximator, blocked, bloom, bloomier, counting, cuckoo, d_left, exact_bits,
    foreign_bloom, foreign_cuckoo, foreign_scalable, foreign_static, fuse, golomb, golomb_stream, hash_compaction,
    iblt, layered, mutable_bloomier, quotient, removed_set, retrieval, ribbon, rocksdb_bloom, rotating, scalable,
    signatures, spectral, split_block, stable, taffy, variable_increment, vector_quotient,
};
use crate::spec::KindId;

/// All kinds of filter, in the order of their numbers.
pub static FILTERS: &[Row] = &[
    bloom::ROW,
    split_block::ROW,
    blocked::ROW,
    fuse::ROW,
    counting::ROW,
    scalable::ROW,
    ribbon::ROW,
    golomb::ROW,
    hash_compaction::ROW,
    signatures::ROW,
    exact_bits::ROW,
    cuckoo::ROW,
    quotient::ROW,
    vector_quotient::ROW,
    spectral::ROW,
    d_left::ROW,
    variable_increment::ROW,
    layered::ROW,
    removed_set::ROW,
    taffy::ROW,
    aleph::ROW,
    age_partitioned::ROW,
    stable::ROW,
    rotating::ROW,
];

/// All kinds of map, in the order of their numbers, which no filter has.
pub static MAPS: &[Row] = &[bloomier::ROW, retrieval::ROW, approximator::ROW, mutable_bloomier::ROW];

/// All kinds of sketch, in the order of their numbers, which are from 256 on.
pub static SKETCHES: &[Row] = &[iblt::ROW];

/// The kinds of filter that other systems' bytes become ([`crate::interop`]), in the order of their numbers. They are
/// apart because nobody chooses them for their own sake.
pub static FOREIGN: &[Row] = &[
    foreign_bloom::ROW,
    rocksdb_bloom::ROW,
    foreign_static::ROW,
    foreign_scalable::ROW,
    foreign_cuckoo::ROW,
    golomb_stream::ROW,
];

/// The kind of a filter whose spec names none.
pub const DEFAULT_KIND: KindId = blocked::ROW.kind;

/// The kind of a map whose spec names none.
pub const DEFAULT_MAP_KIND: KindId = bloomier::ROW.kind;

/// The kind of a sketch whose spec names none.
pub const DEFAULT_SKETCH_KIND: KindId = iblt::ROW.kind;

/// All kinds of filters and maps but the foreign ones, the filters first.
pub fn all() -> impl Iterator<Item = &'static Row> {
    FILTERS.iter().chain(MAPS)
}

/// All kinds of filters and maps, the foreign ones last.
pub fn with_foreign() -> impl Iterator<Item = &'static Row> {
    all().chain(FOREIGN)
}

/// All kinds of all handles, those of sketches last.
pub fn every() -> impl Iterator<Item = &'static Row> {
    with_foreign().chain(SKETCHES)
}

/// The row of a kind.
pub fn find(kind: KindId) -> Option<&'static Row> {
    // Most are in the place of their number.
    let place = FILTERS.get((kind.0 as usize).wrapping_sub(1)).filter(|row| row.kind == kind);
    place.or_else(|| every().find(|row| row.kind == kind))
}

/// The row of a kind by name.
pub fn find_name(name: &str) -> Option<&'static Row> {
    every().find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Handle;

    #[test]
    fn numbers_names_and_parameter_ids_are_unique() {
        for row in every() {
            assert!(row.kind.0 > 0 && !row.name.is_empty() && !row.summary.is_empty());
            assert!(every().filter(|other| other.kind == row.kind || other.name == row.name).count() == 1);
            assert_eq!(row.handle() == Handle::Sketch, (256..512).contains(&row.kind.0), "{}", row.name);
        }
        assert!(FILTERS.is_sorted_by_key(|row| row.kind.0) && MAPS.is_sorted_by_key(|row| row.kind.0));
        assert!(FILTERS.iter().all(|row| !row.is_map()) && MAPS.iter().all(Row::is_map));
        let parameters: Vec<_> = with_foreign().flat_map(|row| row.parameters).collect();
        for a in &parameters {
            // Ids are made from names. Kinds may share a name; what it means is for each kind to say.
            assert!(a.id() != 0 && parameters.iter().all(|b| (a.id() == b.id()) == (a.name == b.name)));
        }
    }
}
