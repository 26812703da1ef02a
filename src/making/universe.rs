//! Records of a universe whose members are also given: the excluded keys are those that are not members.

use crate::batch::records::PIECE;
use crate::contract::{Build, Built, Placed, Records};
use crate::error::Result;
use crate::storage::try_vec;

/// The mark of an excluded key's record ([`crate::contract::OtherKeys::excludes`]).
const EXCLUDED: u64 = 1;

/// A record for a kind that takes excluded keys.
pub trait Sided: Copy + 'static {
    /// Whether this is the record of an excluded key, and `other` is that of the same key as a member.
    fn excludes(&self, other: &Self) -> bool;
}

impl Sided for u64 {
    fn excludes(&self, other: &u64) -> bool {
        self & EXCLUDED != 0 && self ^ EXCLUDED == *other
    }
}

impl Sided for Placed {
    fn excludes(&self, other: &Placed) -> bool {
        let (record, of_other) = (self.record, other.record);
        record.excludes(&of_other)
    }
}

/// Records without those of excluded keys that are members too. A member's record comes before that of the same key as
/// an excluded one.
pub struct WithoutMembers<'a, R> {
    records: &'a dyn Records<R>,
    count: u64,
}

impl<'a, R: Sided> WithoutMembers<'a, R> {
    /// These records without the excluded keys that are members. Reads them once.
    ///
    /// # Errors
    /// As [`Records::for_each`].
    pub fn of(records: &'a dyn Records<R>) -> Result<WithoutMembers<'a, R>> {
        let (mut without, mut count) = (WithoutMembers { records, count: 0 }, 0);
        without.for_each(&mut |piece| {
            count += piece.len() as u64;
            Ok(())
        })?;
        without.count = count;
        Ok(without)
    }
}

impl<R: Sided> Records<R> for WithoutMembers<'_, R> {
    fn count(&self) -> u64 {
        self.count
    }

    fn for_each(&self, take: &mut dyn FnMut(&[R]) -> Result<()>) -> Result<()> {
        let (mut kept, mut last) = (try_vec(PIECE)?, None);
        self.records.for_each(&mut |piece| {
            for record in piece {
                if last.is_some_and(|last| record.excludes(&last)) {
                    continue;
                }
                last = Some(*record);
                kept.push(*record);
                if kept.len() == PIECE {
                    take(&kept)?;
                    kept.clear();
                }
            }
            Ok(())
        })?;
        if kept.is_empty() { Ok(()) } else { take(&kept) }
    }
}

/// What `make` makes of the records of a build. For a universe, these are the records without the excluded keys that
/// are members.
///
/// # Errors
/// The errors of `make` and [`Records::for_each`].
pub fn made<R: Sided>(
    is_universe: bool,
    build: &mut Build<R>,
    make: impl FnOnce(&mut Build<R>) -> Result<Built>,
) -> Result<Built> {
    if !is_universe {
        return make(build);
    }
    let records = &WithoutMembers::of(build.records)?;
    let Build { spec, size, frequent, memory, threads, ref mut progress, .. } = *build;
    make(&mut Build { spec, size, records, frequent, memory, threads, progress: &mut **progress })
}
