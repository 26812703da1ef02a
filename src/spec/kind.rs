//! The numbers and names of kinds. Every build knows them, also of kinds that it leaves out.

use crate::error::{Error, error};
use core::fmt;
use core::str::FromStr;

/// A kind by its number, as in the C API and in images. Every kind has a constant, such as [`KindId::FUSE`]. A kind is
/// written and parsed as its name. [`crate::registry`] knows what stands behind a number.
///
/// ```
/// use petal::KindId;
/// assert_eq!("fuse".parse::<KindId>()?, KindId::FUSE);
/// assert_eq!(KindId::SPLIT_BLOCK.to_string(), "split_block");
/// # Ok::<(), petal::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KindId(pub u32);

/// The list of kinds, `CONSTANT number "name"`.
macro_rules! kinds {
    ($($constant:ident $number:literal $name:literal,)*) => {
        impl KindId {
            $(
                #[doc = concat!("The kind `", $name, "`.")]
                pub const $constant: KindId = KindId($number);
            )*
        }

        /// All kinds with their names, in the order of their numbers.
        pub static KINDS: &[(KindId, &str)] = &[$((KindId::$constant, $name),)*];

        #[cfg(test)]
        static CONSTANTS: &[&str] = &[$(stringify!($constant),)*];
    };
}

kinds! {
    BLOOM 1 "bloom",
    SPLIT_BLOCK 2 "split_block",
    BLOCKED 3 "blocked",
    FUSE 4 "fuse",
    COUNTING 5 "counting",
    SCALABLE 6 "scalable",
    BLOOMIER 7 "bloomier",
    FOREIGN_BLOOM 8 "foreign_bloom",
    ROCKSDB_BLOOM 9 "rocksdb_bloom",
    FOREIGN_STATIC 10 "foreign_static",
    FOREIGN_SCALABLE 11 "foreign_scalable",
    FOREIGN_CUCKOO 12 "foreign_cuckoo",
    RIBBON 13 "ribbon",
    GOLOMB 14 "golomb",
    RETRIEVAL 15 "retrieval",
    APPROXIMATOR 16 "approximator",
    HASH_COMPACTION 17 "hash_compaction",
    SIGNATURES 18 "signatures",
    EXACT_BITS 19 "exact_bits",
    GOLOMB_STREAM 20 "golomb_stream",
    MUTABLE_BLOOMIER 21 "mutable_bloomier",
    CUCKOO 22 "cuckoo",
    QUOTIENT 23 "quotient",
    VECTOR_QUOTIENT 24 "vector_quotient",
    SPECTRAL 25 "spectral",
    D_LEFT 26 "d_left",
    VARIABLE_INCREMENT 27 "variable_increment",
    LAYERED 28 "layered",
    REMOVED_SET 29 "removed_set",
    TAFFY 30 "taffy",
    ALEPH 31 "aleph",
    AGE_PARTITIONED 32 "age_partitioned",
    STABLE 33 "stable",
    ROTATING 34 "rotating",
    EXACT_SET 35 "exact_set",
    STACKED 36 "stacked",
    IBLT 256 "iblt",
    RIBLT 257 "riblt",
    PINSKETCH 258 "pinsketch",
    ROUTER 768 "router",
    AGGREGATE 1024 "aggregate",
    DIGEST 1280 "digest",
    INDEX 1536 "index",
}

impl KindId {
    /// The kind's name; `None` for a number that this version does not know.
    pub fn name(self) -> Option<&'static str> {
        KINDS.iter().find(|(kind, _)| *kind == self).map(|(_, name)| *name)
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
    fn from_str(text: &str) -> Result<KindId, Error> {
        let named = KINDS.iter().find(|(_, name)| *name == text).map(|(kind, _)| *kind);
        let kind = named.or_else(|| text.parse().ok().map(KindId));
        kind.ok_or_else(|| error!(UnknownValue, "kind = {text} is no name of a kind, such as {}", KindId::BLOCKED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_called_by_the_names_and_stand_in_order() {
        for ((kind, name), constant) in KINDS.iter().zip(CONSTANTS) {
            assert_eq!(constant.to_lowercase(), *name);
            assert_eq!((name.parse::<KindId>().unwrap(), kind.to_string().as_str()), (*kind, *name));
        }
        assert!(KINDS.is_sorted_by_key(|(kind, _)| kind.0) && CONSTANTS.len() == KINDS.len());
    }

    #[test]
    fn a_kind_that_is_not_known_is_its_number() {
        let kind = KindId(4_000_000);
        assert_eq!((kind.name(), kind.to_string().parse::<KindId>().unwrap()), (None, kind));
        let error = "fues".parse::<KindId>().unwrap_err();
        assert_eq!(error.message(), "kind = fues is no name of a kind, such as blocked");
    }
}
