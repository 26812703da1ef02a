//! The kinds: one row each. Everything that works on any kind finds it here and nowhere else.

#[cfg(feature = "aggregate")]
use crate::aggregate;
use crate::contract::Row;
#[cfg(feature = "digest")]
use crate::digest;
use crate::error::{Error, left_out};
#[cfg(feature = "index")]
use crate::index;
use crate::kinds::*;
#[cfg(feature = "router")]
use crate::router;
#[cfg(feature = "sketch")]
use crate::sketch::*;
use crate::spec::{KINDS, KindId};

/// What is left of a kind that this build leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The kind's number.
    pub kind: KindId,
    /// The kind's name, which is also that of its cargo feature.
    pub name: &'static str,
}

impl LeftOut {
    /// The error for whoever asks for this kind.
    #[cold]
    pub fn error(&self) -> Error {
        left_out("kind", self.name, self.name, "PETAL_KINDS")
    }
}

/// A row as this build has it.
#[cfg(not(petal_reads_only))]
#[allow(unused_macros, reason = "a build may have no kinds")]
macro_rules! present {
    ($row:expr) => {
        $row
    };
}
#[cfg(petal_reads_only)]
#[allow(unused_macros, reason = "a build may have no kinds")]
macro_rules! present {
    ($row:expr) => {
        $row.for_readers()
    };
}

/// A list of kinds, called by their features and folders: the rows of those that this build has.
macro_rules! kinds {
    ($(#[$doc:meta])* $present:ident: $($feature:literal $kind:ident,)*) => {
        $(#[$doc])*
        pub static $present: &[Row] = &[$(#[cfg(feature = $feature)] present!($kind::ROW),)*];
    };
}

kinds! {
    /// All kinds of filter that this build has, in the order of their numbers.
    FILTERS:
    "bloom" bloom,
    "split_block" split_block,
    "blocked" blocked,
    "fuse" fuse,
    "counting" counting,
    "scalable" scalable,
    "ribbon" ribbon,
    "golomb" golomb,
    "hash_compaction" hash_compaction,
    "signatures" signatures,
    "exact_bits" exact_bits,
    "cuckoo" cuckoo,
    "quotient" quotient,
    "vector_quotient" vector_quotient,
    "spectral" spectral,
    "d_left" d_left,
    "variable_increment" variable_increment,
    "layered" layered,
    "removed_set" removed_set,
    "taffy" taffy,
    "aleph" aleph,
    "age_partitioned" age_partitioned,
    "stable" stable,
    "rotating" rotating,
    "exact_set" exact_set,
    "stacked" stacked,
}

kinds! {
    /// All kinds of map that this build has, in the order of their numbers, which no filter has.
    MAPS:
    "bloomier" bloomier,
    "retrieval" retrieval,
    "approximator" approximator,
    "mutable_bloomier" mutable_bloomier,
}

kinds! {
    /// All kinds of sketch that this build has, in the order of their numbers, which are from 256 on.
    SKETCHES:
    "iblt" iblt,
    "riblt" riblt,
    "pinsketch" pinsketch,
}

kinds! {
    /// The kinds that are alone in their handle, such as `router`. Their handles have headers of their own, and lists
    /// of kinds to choose from leave them out.
    OWN:
    "router" router,
    "aggregate" aggregate,
    "digest" digest,
    "index" index,
}

kinds! {
    /// The kinds of filter that other systems' bytes become ([`crate::interop`]), in the order of their numbers. They
    /// are apart because nobody chooses them for their own sake.
    FOREIGN:
    "foreign_bloom" foreign_bloom,
    "rocksdb_bloom" rocksdb_bloom,
    "foreign_static" foreign_static,
    "foreign_scalable" foreign_scalable,
    "foreign_cuckoo" foreign_cuckoo,
    "golomb_stream" golomb_stream,
}

/// The kind of a filter whose spec names none.
pub const DEFAULT_KIND: KindId = KindId::BLOCKED;

/// The kind of a map whose spec names none.
pub const DEFAULT_MAP_KIND: KindId = KindId::BLOOMIER;

/// The kind of a sketch whose spec names none.
pub const DEFAULT_SKETCH_KIND: KindId = KindId::IBLT;

/// All kinds of filters and maps but the foreign ones, the filters first.
pub fn all() -> impl Iterator<Item = &'static Row> {
    FILTERS.iter().chain(MAPS)
}

/// All kinds of filters and maps, the foreign ones last.
pub fn with_foreign() -> impl Iterator<Item = &'static Row> {
    all().chain(FOREIGN)
}

/// All kinds to choose from: those of filters, maps and sketches, the sketches last.
pub fn every() -> impl Iterator<Item = &'static Row> {
    with_foreign().chain(SKETCHES)
}

/// The row of a kind.
pub fn find(kind: KindId) -> Option<&'static Row> {
    // Most are at the place of their number.
    let place = FILTERS.get((kind.0 as usize).wrapping_sub(1)).filter(|row| row.kind == kind);
    place.or_else(|| every().chain(OWN).find(|row| row.kind == kind))
}

/// The row of a kind by name.
pub fn find_name(name: &str) -> Option<&'static Row> {
    every().chain(OWN).find(|row| row.name == name)
}

/// All kinds that this build leaves out.
pub fn absent() -> impl Iterator<Item = LeftOut> {
    KINDS.iter().filter(|(kind, _)| find(*kind).is_none()).map(|&(kind, name)| LeftOut { kind, name })
}

/// The error for a kind that this build leaves out, if it is one.
#[cold]
pub fn left_out_error(kind: KindId) -> Option<Error> {
    absent().find(|one| one.kind == kind).map(|one| one.error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Handle, Structure};

    #[test]
    fn numbers_names_and_parameter_ids_are_unique() {
        let rows = || every().chain(OWN);
        for row in rows() {
            assert!(row.kind.0 > 0 && !row.name.is_empty() && !row.summary.is_empty());
            assert!(rows().filter(|other| other.kind == row.kind || other.name == row.name).count() == 1);
            assert_eq!(row.handle() == Handle::Sketch, (256..512).contains(&row.kind.0), "{}", row.name);
            let has_own = matches!(row.structure, Structure::Own { .. });
            assert!(!has_own || row.handle().with_article() == Handle::of_number(row.kind.0), "{}", row.name);
        }
        assert!(FILTERS.is_sorted_by_key(|row| row.kind.0) && MAPS.is_sorted_by_key(|row| row.kind.0));
        assert!(FILTERS.iter().all(|row| !row.is_map()) && MAPS.iter().all(Row::is_map));
        assert_eq!(absent().count(), 0, "a kind's feature is not among `kinds` in Cargo.toml");
        let mut known: Vec<_> = rows().map(|row| (row.kind, row.name)).collect();
        known.sort_by_key(|(kind, _)| kind.0);
        assert_eq!(known, KINDS);
        let parameters: Vec<_> = rows().flat_map(|row| row.parameters).collect();
        for a in &parameters {
            // Ids are made from names. Kinds may share a name; what it means is for each kind to say.
            assert!(a.id() != 0 && parameters.iter().all(|b| (a.id() == b.id()) == (a.name == b.name)));
        }
    }
}
