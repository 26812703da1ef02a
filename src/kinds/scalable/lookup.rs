//! Lookups of a hash without a handle.

use super::schedule::{self, Schedule};
use crate::bits;
use crate::contract::InBytes;
use crate::format::compact::Trailer;
use crate::storage::AnyBytes;

/// A lookup of a hash in a payload at any address, which asks the payload's levels from the newest on.
pub(super) const IN_BYTES: InBytes = InBytes {
    contains: |trailer, bytes, hash| {
        any_level(trailer, bytes, |in_bytes, level, bytes| (in_bytes.contains)(level, bytes, bits::mix(hash)))
    },
    fetch: |trailer, bytes, hash| {
        any_level(trailer, bytes, |in_bytes, level, bytes| {
            (in_bytes.fetch)(level, bytes, bits::mix(hash));
            Some(false)
        });
    },
};

/// Whether `ask` returns true for any level. `None` if `ask` returns `None` before that, or the trailer is not one of
/// this kind.
fn any_level(
    trailer: &Trailer,
    bytes: AnyBytes,
    ask: impl Fn(&InBytes, &Trailer, AnyBytes) -> Option<bool>,
) -> Option<bool> {
    let schedule = Schedule::of(&trailer.geometry(schedule::compact)?)?;
    let in_bytes = schedule.kind().row.in_bytes?;
    for place in (0..schedule.count()).rev() {
        let level = schedule.level(schedule.size(place)).ok()?;
        let payload_bytes = level.payload_bytes as usize;
        // A level is whole lines, and its geometry has no words.
        let level = Trailer { hashes: level.hashes.try_into().ok()?, shape: 0, payload_bytes, ..*trailer };
        if ask(&in_bytes, &level, bytes.from_word(schedule.start(place)?).first(payload_bytes))? {
            return Some(true);
        }
    }
    Some(false)
}
