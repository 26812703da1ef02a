//! Looking a hash up without a handle.

use super::schedule::{self, Schedule};
use crate::bits;
use crate::contract::InBytes;
use crate::format::compact::Trailer;
use crate::storage::AnyBytes;

/// How a hash is looked up in a payload at any address: in its levels, the newest first.
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

/// Whether `ask` says true of any level; `None` if it says so of one before, or the trailer is not one of this kind.
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
        // Levels are whole lines, and have no words.
        let level = Trailer { hashes: level.hashes.try_into().ok()?, shape: 0, payload_bytes, ..*trailer };
        if ask(&in_bytes, &level, bytes.from_word(schedule.start(place)?).first(payload_bytes))? {
            return Some(true);
        }
    }
    Some(false)
}
