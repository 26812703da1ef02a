//! Larger, sparser filters for the wire (Mitzenmacher, "Compressed Bloom filters", 2002): with more bits and fewer
//! hashes a filter gives fewer false answers for the same number of bytes of its packed form.

use crate::contract::Row;
use crate::error::{Result, error};
use crate::format::{PAYLOAD_UNIT, image_bytes};
use crate::making::row_of;
use crate::sizing::{exp, ln, ln_1p_minus};
use crate::spec::{KindId, Spec};
use core::f64::consts::LOG2_E;

/// How much more than the entropy of its fill a packed form takes at most: a share of it, and some bytes.
const SHARE: f64 = 1.01;
const BYTES: f64 = 32.0;

/// The most lines of a payload that are considered if memory has no limit.
const MOST_LINES: u64 = 1 << 40;

/// A `bloom` filter for the wire.
#[derive(Clone, Copy, Debug)]
pub struct Sparse {
    /// The spec of the filter: exact bits and hashes, and the keys as the capacity.
    pub spec: Spec,
    /// The most bytes that the packed form has with all keys in the filter, if the fill is the expected one. By chance
    /// the fill of a small filter may differ, and some forms are larger by a few percent.
    pub packed_bytes: u64,
    /// Bytes of the image.
    pub bytes: u64,
    /// The exact false-positive rate with all keys in the filter.
    pub false_positive_rate: f64,
}

/// The filters for `keys` distinct keys whose packed forms have at most `packed_bytes`, and whose images have at most
/// `memory` bytes; `u64::MAX` is no limit. There is one filter for each number of hashes with which at most half of the
/// bits are set, the most hashes first. The last filters have the lowest rates, unless `memory` is short ([`best`]).
///
/// # Errors
/// [`Status::TooLarge`](crate::Status::TooLarge) if no filter is that small;
/// [`Status::UnsupportedByBuild`](crate::Status::UnsupportedByBuild) in a build without the kind `bloom`.
pub fn plan(keys: u64, packed_bytes: u64, memory: u64) -> Result<Vec<Sparse>> {
    let row = row_of(&Spec { kind: Some(KindId::BLOOM), ..Spec::default() })?;
    let keys = keys.max(1);
    let mut filters = Vec::new();
    for hashes in 1..=row.hashes.1 {
        let Some(filter) = largest(row, keys, hashes, packed_bytes, memory) else { break };
        let is_full = fill(filter.spec.bits, hashes, keys) > 0.5;
        if is_full && !filters.is_empty() {
            break;
        }
        filters.try_reserve(1).map_err(|_| crate::Status::OutOfMemory)?;
        filters.push(filter);
        if is_full {
            break;
        }
    }
    filters.reverse();
    if filters.is_empty() {
        return Err(error!(
            TooLarge,
            "no filter of {keys} keys has a packed form of {packed_bytes} bytes and an image of {memory} bytes"
        ));
    }
    Ok(filters)
}

/// The filter of a [`plan`] with the lowest rate.
///
/// # Errors
/// As [`plan`].
pub fn best(keys: u64, packed_bytes: u64, memory: u64) -> Result<Sparse> {
    let all = plan(keys, packed_bytes, memory)?;
    let lowest = all.into_iter().min_by(|a, b| a.false_positive_rate.total_cmp(&b.false_positive_rate));
    lowest.ok_or_else(|| crate::Status::Internal.into())
}

/// The filter with `hashes` hashes that has the most bits, by bisection over its lines: a packed form of more bits is
/// never smaller.
fn largest(row: &Row, keys: u64, hashes: u32, packed_bytes: u64, memory: u64) -> Option<Sparse> {
    let fits = |lines: u64| {
        let bits = lines.checked_mul(8 * PAYLOAD_UNIT)?;
        let packed = SHARE * entropy(bits, fill(bits, hashes, keys)) / 8.0 + BYTES;
        let bytes = image_bytes(bits / 8)?;
        if packed > packed_bytes as f64 || bytes > memory {
            return None;
        }
        let spec = Spec { kind: Some(row.kind), capacity: keys, bits, hashes, ..Spec::default() };
        let geometry = row.geometry_of(&spec).ok()?;
        let false_positive_rate = (row.false_positive_rate)(&geometry, keys);
        Some(Sparse { spec, packed_bytes: packed.ceil() as u64, bytes, false_positive_rate })
    };
    let mut found = fits(1)?;
    let (mut low, mut high) = (1, (memory / PAYLOAD_UNIT).clamp(1, MOST_LINES) + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match fits(middle) {
            Some(filter) => (found, low) = (filter, middle),
            None => high = middle,
        }
    }
    Some(found)
}

/// The expected share of bits that are set.
fn fill(bits: u64, hashes: u32, keys: u64) -> f64 {
    1.0 - exp(f64::from(hashes) * keys as f64 * ln_1p_minus(1.0 / bits as f64))
}

/// The entropy, in bits, of `bits` bits if this share of them is set.
fn entropy(bits: u64, share: f64) -> f64 {
    match share {
        0.0 | 1.0 => 0.0,
        _ => -(bits as f64) * (share * ln(share) + (1.0 - share) * ln_1p_minus(share)) * LOG2_E,
    }
}
