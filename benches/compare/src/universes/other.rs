//! Exact sets of the crate clubcard, over `u64` keys in one block. Its users hash their keys themselves; here a key's
//! 256 bits come from four products, so that the other library does not pay for a slow hash function.

use super::{Set, mixed};
use clubcard::builder::{ApproximateRibbon, ClubcardBuilder, ExactRibbon};
use clubcard::{ApproximateSizeOf, AsQuery, Clubcard, Equation, Filterable, Membership, Queryable};

/// Words of a key's coefficients, as in the other library's examples.
const WORDS: usize = 4;

/// A key, and whether it is a member.
struct Key {
    bytes: [u8; 8],
    is_member: bool,
}

impl Key {
    fn new(key: u64, is_member: bool) -> Key {
        Key { bytes: key.to_le_bytes(), is_member }
    }
}

/// Every key is asked for.
struct All;

impl ApproximateSizeOf for All {}

impl AsQuery<WORDS> for Key {
    fn as_query(&self, starts: usize) -> Equation<WORDS> {
        let key = u64::from_le_bytes(self.bytes);
        let mut coefficients: [u64; WORDS] =
            std::array::from_fn(|i| mixed(key.wrapping_add(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(i as u64 + 1))));
        coefficients[0] |= 1;
        let start = coefficients[WORDS - 1] as usize % starts.max(1);
        Equation::inhomogeneous(start, coefficients, u8::from(!self.is_member))
    }

    fn block(&self) -> &[u8] {
        &[]
    }

    fn discriminant(&self) -> &[u8] {
        &self.bytes
    }
}

impl Filterable<WORDS> for Key {
    fn included(&self) -> bool {
        self.is_member
    }
}

impl Queryable<WORDS> for Key {
    type UniverseMetadata = All;
    type PartitionMetadata = ();

    fn in_universe(&self, _: &All) -> bool {
        true
    }
}

/// A set of the other library.
pub struct Other(Clubcard<WORDS, All, ()>);

impl Other {
    pub fn build(members: &[u64], excluded: &[u64]) -> Other {
        let mut builder = ClubcardBuilder::new();
        let mut first = builder.new_approx_builder(&[]);
        members.iter().for_each(|key| first.insert(Key::new(*key, true)));
        first.set_universe_size(members.len() + excluded.len());
        builder.collect_approx_ribbons(vec![ApproximateRibbon::from(first)]);
        let mut second = builder.new_exact_builder(&[]);
        members.iter().for_each(|key| second.insert(Key::new(*key, true)));
        excluded.iter().for_each(|key| second.insert(Key::new(*key, false)));
        builder.collect_exact_ribbons(vec![ExactRibbon::from(second)]);
        Other(builder.build::<Key>(All, ()))
    }
}

impl Set for Other {
    fn bits(&self) -> u64 {
        self.0.approximate_size_of() as u64 * 8
    }

    fn one_by_one(&self, keys: &[u64]) -> u64 {
        let is_member = |key: &&u64| matches!(self.0.contains(&Key::new(**key, false)), Membership::Member);
        keys.iter().filter(is_member).count() as u64
    }

    fn in_batch(&self, _: &[u64]) -> Option<u64> {
        None
    }
}
