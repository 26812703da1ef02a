//! The kinds: one row each. Everything that works on any kind finds it here and nowhere else.

use crate::contract::Row;
use crate::error::{Error, Result, error, left_out};
use crate::kinds::{
    age_partitioned, aleph, approximator, blocked, bloom, bloomier, counting, cuckoo, d_left, exact_bits, exact_set,
    foreign_bloom, foreign_cuckoo, foreign_scalable, foreign_static, fuse, golomb, golomb_stream, hash_compaction,
    layered, mutable_bloomier, quotient, removed_set, retrieval, ribbon, rocksdb_bloom, rotating, scalable, signatures,
    spectral, split_block, stable, stacked, taffy, variable_increment, vector_quotient,
};
use crate::sketch::{iblt, pinsketch, riblt};
use crate::spec::KindId;
use crate::{aggregate, digest, index, router};
use core::fmt;
use core::str::FromStr;

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

/// A list of kinds, `"feature" folder CONSTANT`: the rows that this build has, what it leaves out, and the constants of
/// [`KindId`], which every build has.
macro_rules! kinds {
    (
        $(#[$doc:meta])* $present:ident, $absent:ident, $named:ident in $folder:literal:
        $($feature:literal $kind:ident $constant:ident,)*
    ) => {
        $(#[$doc])*
        pub static $present: &[Row] = &[$(#[cfg(feature = $feature)] present!($kind::ROW),)*];
        static $absent: &[LeftOut] = &[$(
            #[cfg(not(feature = $feature))]
            LeftOut { kind: $kind::ROW.kind, name: $kind::ROW.name },
        )*];

        impl KindId {
            $(
                #[doc = concat!("The kind `", $feature, "`; see [its module](crate::", $folder, stringify!($kind), ").")]
                pub const $constant: KindId = $kind::ROW.kind;
            )*
        }

        #[cfg(test)]
        static $named: &[(&str, KindId)] = &[$((stringify!($constant), KindId::$constant),)*];
    };
}

kinds! {
    /// All kinds of filter that this build has, in the order of their numbers.
    FILTERS, NO_FILTERS, NAMED_FILTERS in "kinds::":
    "bloom" bloom BLOOM,
    "split_block" split_block SPLIT_BLOCK,
    "blocked" blocked BLOCKED,
    "fuse" fuse FUSE,
    "counting" counting COUNTING,
    "scalable" scalable SCALABLE,
    "ribbon" ribbon RIBBON,
    "golomb" golomb GOLOMB,
    "hash_compaction" hash_compaction HASH_COMPACTION,
    "signatures" signatures SIGNATURES,
    "exact_bits" exact_bits EXACT_BITS,
    "cuckoo" cuckoo CUCKOO,
    "quotient" quotient QUOTIENT,
    "vector_quotient" vector_quotient VECTOR_QUOTIENT,
    "spectral" spectral SPECTRAL,
    "d_left" d_left D_LEFT,
    "variable_increment" variable_increment VARIABLE_INCREMENT,
    "layered" layered LAYERED,
    "removed_set" removed_set REMOVED_SET,
    "taffy" taffy TAFFY,
    "aleph" aleph ALEPH,
    "age_partitioned" age_partitioned AGE_PARTITIONED,
    "stable" stable STABLE,
    "rotating" rotating ROTATING,
    "exact_set" exact_set EXACT_SET,
    "stacked" stacked STACKED,
}

kinds! {
    /// All kinds of map that this build has, in the order of their numbers, which no filter has.
    MAPS, NO_MAPS, NAMED_MAPS in "kinds::":
    "bloomier" bloomier BLOOMIER,
    "retrieval" retrieval RETRIEVAL,
    "approximator" approximator APPROXIMATOR,
    "mutable_bloomier" mutable_bloomier MUTABLE_BLOOMIER,
}

kinds! {
    /// All kinds of sketch that this build has, in the order of their numbers, which are from 256 on.
    SKETCHES, NO_SKETCHES, NAMED_SKETCHES in "sketch::":
    "iblt" iblt IBLT,
    "riblt" riblt RIBLT,
    "pinsketch" pinsketch PINSKETCH,
}

kinds! {
    /// The kinds that are alone in their handle, such as `router`. Their handles have headers of their own, and lists
    /// of kinds to choose from leave them out.
    OWN, NO_OWN, NAMED_OWN in "":
    "router" router ROUTER,
    "aggregate" aggregate AGGREGATE,
    "digest" digest DIGEST,
    "index" index INDEX,
}

kinds! {
    /// The kinds of filter that other systems' bytes become ([`crate::interop`]), in the order of their numbers. They
    /// are apart because nobody chooses them for their own sake.
    FOREIGN, NO_FOREIGN, NAMED_FOREIGN in "kinds::":
    "foreign_bloom" foreign_bloom FOREIGN_BLOOM,
    "rocksdb_bloom" rocksdb_bloom ROCKSDB_BLOOM,
    "foreign_static" foreign_static FOREIGN_STATIC,
    "foreign_scalable" foreign_scalable FOREIGN_SCALABLE,
    "foreign_cuckoo" foreign_cuckoo FOREIGN_CUCKOO,
    "golomb_stream" golomb_stream GOLOMB_STREAM,
}

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
pub fn absent() -> impl Iterator<Item = &'static LeftOut> {
    NO_FILTERS.iter().chain(NO_MAPS).chain(NO_FOREIGN).chain(NO_SKETCHES).chain(NO_OWN)
}

/// The error for a kind that this build leaves out, if it is one.
#[cold]
pub fn left_out_error(kind: KindId) -> Option<Error> {
    absent().find(|one| one.kind == kind).map(LeftOut::error)
}

impl KindId {
    /// The kind's name; `None` for a number that this version does not know. Kinds that this build leaves out have
    /// their names.
    pub fn name(self) -> Option<&'static str> {
        let left_out = || absent().find(|one| one.kind == self).map(|one| one.name);
        find(self).map(|row| row.name).or_else(left_out)
    }
}

impl fmt::Display for KindId {
    /// The kind's name, or its number if this version does not know the kind.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{}", self.0),
        }
    }
}

impl FromStr for KindId {
    type Err = Error;

    /// The kind that [`KindId`] writes so: by its name, also if this build leaves the kind out, or by its number.
    ///
    /// # Errors
    /// [`Status::UnknownValue`](crate::Status::UnknownValue).
    fn from_str(text: &str) -> Result<KindId> {
        let left_out = || absent().find(|one| one.name == text).map(|one| one.kind);
        let number = || text.parse().ok().map(KindId);
        let kind = find_name(text).map(|row| row.kind).or_else(left_out).or_else(number);
        kind.ok_or_else(|| error!(UnknownValue, "kind = {text} is no name of a kind, such as {DEFAULT_KIND}"))
    }
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
        // The constants stand in the order of the rows, so that each kind has its own.
        let constants = [NAMED_FILTERS, NAMED_MAPS, NAMED_FOREIGN, NAMED_SKETCHES, NAMED_OWN].concat();
        assert_eq!(constants.len(), rows().count());
        for ((constant, kind), row) in constants.into_iter().zip(rows()) {
            assert_eq!((constant.to_lowercase().as_str(), kind), (row.name, row.kind));
            assert_eq!((row.name.parse::<KindId>().unwrap(), kind.to_string().as_str()), (kind, row.name));
        }
        let parameters: Vec<_> = rows().flat_map(|row| row.parameters).collect();
        for a in &parameters {
            // Ids are made from names. Kinds may share a name; what it means is for each kind to say.
            assert!(a.id() != 0 && parameters.iter().all(|b| (a.id() == b.id()) == (a.name == b.name)));
        }
    }

    #[test]
    fn a_kind_that_is_not_known_is_its_number() {
        let kind = KindId(4_000_000);
        assert_eq!((kind.name(), kind.to_string().parse::<KindId>().unwrap()), (None, kind));
        let error = "fues".parse::<KindId>().unwrap_err();
        assert_eq!(error.message(), "kind = fues is no name of a kind, such as blocked");
    }
}
