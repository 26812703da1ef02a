//! FILTERS: DESCRIBING

use crate::boundary::{self, NO_ERROR, boundary};
use crate::filter::petal_filter;
use crate::kinds::petal_kind;
use crate::spec::{petal_hash_function, petal_kernel, petal_spec};
use crate::status::{petal_error, petal_status};
use petal_core::storage::Access;
use petal_core::{Image, format, sizing};

/// Nobody vouches for the payload as it is now, or not yet: the image is being changed, or was when its process ended,
/// or the filter comes from such a one. The count may lag.
pub const PETAL_STATE_DIRTY: u32 = 1 << 0;
/// The image lies in a caller's buffer or a mapped file.
pub const PETAL_STATE_IN_PLACE: u32 = 1 << 1;
/// The filter can be changed.
pub const PETAL_STATE_WRITABLE: u32 = 1 << 2;
/// Keys can be hashed: the filter takes them, and has its secret key if it needs one.
pub const PETAL_STATE_CAN_HASH: u32 = 1 << 3;
/// It is dirty, and this handle will not make it clean by `petal_filter_sync()` or `petal_filter_free()`: the image was
/// dirty when it was opened, or something dirty was merged into the filter. `petal_filter_vouch()` does.
pub const PETAL_STATE_UNVOUCHED: u32 = 1 << 4;

/// What a filter is: all that its header says. Since 0.1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_description {
    /// sizeof(petal_description).
    pub struct_size: usize,
    /// The kind.
    pub kind: petal_kind,
    /// The hash function.
    pub hash: petal_hash_function,
    /// The seed; the identifier of the secret key of a keyed filter; the tag of external hashes.
    pub seed: u64,
    /// The version of the header's format.
    pub format_version: u32,
    /// The version of the kind's layout.
    pub layout_version: u32,
    /// What this handle can do: `PETAL_CAN_*`, ORed. A file opened for reading cannot insert.
    pub capabilities: u64,
    /// `PETAL_STATE_*`, ORed.
    pub state: u32,
    /// Places that a key takes, and that a lookup looks at.
    pub hashes: u32,
    /// Distinct keys that it was sized for; 0 is unknown.
    pub capacity: u64,
    /// Keys offered so far, duplicates included, less those that were removed.
    pub offered: u64,
    /// Bits that keys are spread over.
    pub bits: u64,
    /// Bytes of the whole image: header, payload and table of checksums.
    pub bytes: u64,
    /// `bits` for each key of the capacity; 0 where that is unknown.
    pub bits_per_key: f64,
    /// The false-positive rate expected at capacity: what was promised when the filter was made, or what the geometry
    /// gives since it was folded. 0 where exact bits were asked for.
    pub false_positive_rate: f64,
    /// The inner loops in use: one of `PETAL_KERNEL_*`, never `PETAL_KERNEL_BEST`.
    pub kernel: petal_kernel,
    /// 0.
    pub reserved: u32,
}

// SAFETY: numbers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_description {
    const FIRST_SIZE: usize = 104;
}

/// How full a filter is: what its payload tells. Since 0.1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_statistics {
    /// sizeof(petal_statistics).
    pub struct_size: usize,
    /// The share of the bits, or of other places, that are taken.
    pub fill: f64,
    /// The false-positive rate now, from the payload as it is: exact, over hashes that are all as likely. Of a bloom
    /// filter with derivation double, enhanced_double or triple it is exact up to some thousand bits (some hundred
    /// with triple), where every hash is tried, in milliseconds. Above it comes from the fill and the estimated number
    /// of keys, and is within 5 % for a filter that was made by rate, and within 10 % for other numbers of bits;
    /// for triple by exact bits, it may be too low by half where bits / hashes is below some hundreds. The levels of
    /// `scalable` are taken to be independent of each other: where they are often wrong, and so keep keys from those that
    /// follow, it is too low by a few percent, 4 % at a rate of 0.5.
    pub false_positive_rate: f64,
    /// The rate below which 64-bit hashes cannot get with so many keys, however many bits there are.
    pub false_positive_rate_floor: f64,
    /// Distinct keys, estimated from the fill; negative if the filter is too full to tell, or its kind cannot.
    /// `petal_filter_estimate()` also gives the error.
    pub count_estimate: f64,
    /// Counters that have reached their greatest value, and stay there: what they count is that often or more. 0 for
    /// kinds without counters.
    pub saturated: u64,
}

// SAFETY: numbers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_statistics {
    const FIRST_SIZE: usize = 48;
}

pub(crate) fn description_of(image: &impl Image) -> petal_description {
    let base = image.base();
    let header = base.header();
    let geometry = &header.geometry;
    let in_place = base.words().in_place();
    let flag = |is: bool, flag: u32| if is { flag } else { 0 };
    petal_description {
        struct_size: 0,
        kind: header.kind.0,
        hash: header.hash as u32,
        seed: header.identifier,
        format_version: format::FORMAT_VERSION.into(),
        layout_version: header.layout_version.into(),
        capabilities: image.capabilities().0,
        state: flag(base.is_dirty(), PETAL_STATE_DIRTY)
            | flag(base.is_unvouched(), PETAL_STATE_UNVOUCHED)
            | flag(in_place.is_some(), PETAL_STATE_IN_PLACE)
            | flag(in_place != Some(Access::Read), PETAL_STATE_WRITABLE)
            | flag(base.hasher().can_hash() || base.row().hashes_keys_itself, PETAL_STATE_CAN_HASH),
        hashes: geometry.hashes,
        capacity: header.capacity,
        offered: base.count_now(),
        bits: geometry.bits,
        bytes: header.image_bytes(),
        bits_per_key: if header.capacity == 0 { 0.0 } else { geometry.bits as f64 / header.capacity as f64 },
        false_positive_rate: header.false_positive_rate,
        kernel: base.instructions().kernel() as u32,
        reserved: 0,
    }
}

/// Describes a filter. Constant time: reads no payload. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_describe(
    filter: *const petal_filter,
    description: *mut petal_description,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter, description], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            boundary::check_out(description)?;
            boundary::write(description, description_of(petal_filter::get(filter)?));
        }
        Ok(())
    })
}

/// Measures how full a filter is. Reads the whole payload. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_statistics(
    filter: *const petal_filter,
    statistics: *mut petal_statistics,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter, statistics], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { boundary::check_out(statistics)? };
        // SAFETY: as above.
        let filter = unsafe { petal_filter::get(filter)? };
        let measure = filter.measure();
        let estimate = filter.kind().as_cardinality().and_then(|kind| kind.of_taken(measure.taken));
        let keys = estimate.unwrap_or(filter.base().count() as f64) as u64;
        let value = petal_statistics {
            struct_size: 0,
            fill: measure.fill,
            false_positive_rate: measure.false_positive_rate,
            false_positive_rate_floor: sizing::hash_floor(keys, 64),
            count_estimate: estimate.unwrap_or(-1.0),
            saturated: measure.saturated,
        };
        // SAFETY: as above.
        unsafe { boundary::write(statistics, value) };
        Ok(())
    })
}

/// The spec from which an empty filter compatible with this one can be made: its kind, exact bits and hashes, hash
/// function, seed and parameters. The secret key of a keyed filter is not in it. A filter that comes from a compact form
/// knows no capacity any more: of a kind that is sized by it, or remembers a window, the spec makes one of another size.
/// Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_spec(
    filter: *const petal_filter,
    spec: *mut petal_spec,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter, spec], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            boundary::check_out(spec)?;
            boundary::write(spec, petal_spec::of_core(&petal_filter::get(filter)?.base().spec()));
        }
        Ok(())
    })
}

/// What this handle can do: `PETAL_CAN_*`, ORed. A file opened for reading cannot insert. 0 for NULL. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_capabilities(filter: *const petal_filter) -> u64 {
    let mut capabilities = 0;
    let _ = boundary!(NO_ERROR, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        capabilities = unsafe { petal_filter::get(filter)? }.capabilities().0;
        Ok(())
    });
    capabilities
}

/// How many of `keys` distinct keys an empty filter of this geometry takes for known on average, when they are inserted
/// one after the other, or refuses where it is full: new keys of which an insertion says that they were not new. A model
/// checker that explores only what is new omits so many states. The sum of the false-positive rates before each key.
/// `PETAL_ERR_UNSUPPORTED` for a kind that is built from its keys. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_expected_omissions(
    filter: *const petal_filter,
    keys: u64,
    omissions: *mut f64,
) -> petal_status {
    boundary!(NO_ERROR, [filter, omissions], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let expected = unsafe { petal_filter::get(filter)? }.expected_omissions(keys)?;
        // SAFETY: as above.
        unsafe { omissions.write(expected) };
        Ok(())
    })
}

/// The exact false-positive rate to expect of this filter with `keys` distinct keys in it. Of a bloom filter with
/// derivation double, enhanced_double or triple it is within 5 % from ten keys on if the filter was made by rate; with
/// exact bits that have small factors the rate is higher by up to a sixth at ten keys, of triple up to 2.5 times, and
/// by 2 % at a thousand. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_expected_false_positive_rate(
    filter: *const petal_filter,
    keys: u64,
    false_positive_rate: *mut f64,
) -> petal_status {
    boundary!(NO_ERROR, [filter, false_positive_rate], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let rate = unsafe { petal_filter::get(filter)? }.expected_false_positive_rate(keys);
        // SAFETY: as above.
        unsafe { false_positive_rate.write(rate) };
        Ok(())
    })
}

/// The probability that a key is not found once `age` other keys were inserted after it: a false negative. 0 of kinds that
/// neither lose keys (`PETAL_MAY_LOSE_KEYS`) nor forget them (`PETAL_CAN_AGE`). Of a window it is 0 up to its end, and then
/// the average over all places that the key may have in a step; it stays 0 where only `petal_filter_advance()` moves time
/// on. The key itself did not come again meanwhile. Constant time. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_expected_false_negative_rate(
    filter: *const petal_filter,
    age: u64,
    false_negative_rate: *mut f64,
) -> petal_status {
    boundary!(NO_ERROR, [filter, false_negative_rate], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let rate = unsafe { petal_filter::get(filter)? }.expected_false_negative_rate(age);
        // SAFETY: as above.
        unsafe { false_negative_rate.write(rate) };
        Ok(())
    })
}
