//! FILTERS: DESCRIBING

use crate::boundary::{self, boundary, number};
use crate::filter::petal_filter;
use crate::spec::petal_kind;
use crate::spec::{petal_hash_function, petal_kernel, petal_spec};
use crate::status::{petal_error, petal_status};
use petal_core::storage::Access;
use petal_core::{Image, format, sizing};

/// nobody marked the payload clean as it is now, or not yet. Somebody is changing the image, or the image was open for
/// writing when its process ended, or the filter comes from such an image. The count may lag.
pub const PETAL_STATE_UNCLEAN: u32 = 1 << 0;
/// The image lies in a caller's buffer or a mapped file.
pub const PETAL_STATE_IN_PLACE: u32 = 1 << 1;
/// This handle may change the filter.
pub const PETAL_STATE_WRITABLE: u32 = 1 << 2;
/// The filter can hash keys: it takes keys, and has its secret key if it needs one.
pub const PETAL_STATE_CAN_HASH: u32 = 1 << 3;
/// The filter is unclean, and `petal_filter_sync()` and `petal_filter_free()` of this handle will not make it clean.
/// Either the image was unclean when the handle opened it, or the handle merged something unclean into the filter.
/// `petal_filter_mark_clean()` makes the filter clean.
pub const PETAL_STATE_STAYS_UNCLEAN: u32 = 1 << 4;

/// What a filter is: all that its header says.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_description {
    /// sizeof(petal_description), or 0 for its size in the first release.
    pub struct_size: usize,
    /// The kind.
    pub kind: petal_kind,
    /// The hash function.
    pub hash: petal_hash_function,
    /// The seed; the identifier of the secret key of a keyed filter; the tag of external hashes; the bits of a digest.
    pub seed: u64,
    /// The version of the header's format.
    pub format_version: u32,
    /// The version of the kind's layout.
    pub layout_version: u32,
    /// What this handle can do: `PETAL_CAN_*`, ORed. A file opened for reading cannot insert.
    pub capabilities: u64,
    /// `PETAL_STATE_*`, ORed.
    pub state: u32,
    /// How many bits or cells a key takes; 0 for kinds without such a number.
    pub hashes: u32,
    /// How many distinct keys the filter has room for; 0 is unknown.
    pub capacity: u64,
    /// Keys inserted so far, duplicates included, less removed keys.
    pub insertions: u64,
    /// How many bits the filter spreads its keys over.
    pub bits: u64,
    /// Bytes of the whole image: header, payload and table of checksums.
    pub bytes: u64,
    /// `bits` for each key of the capacity; 0 if the capacity is unknown.
    pub bits_per_key: f64,
    /// The false-positive rate expected at capacity: the rate promised when the filter was made, or after folding the
    /// rate of the smaller geometry. 0 if the spec asked for exact bits.
    pub false_positive_rate: f64,
    /// The inner loops that the filter uses: one of `PETAL_KERNEL_*`, never `PETAL_KERNEL_BEST`.
    pub kernel: petal_kernel,
    /// 0.
    pub reserved: u32,
}

// SAFETY: numbers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_description {
    const FIRST_SIZE: usize = 104;
}

/// How full a filter is: what its payload tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_statistics {
    /// sizeof(petal_statistics), or 0 for its size in the first release.
    pub struct_size: usize,
    /// The share of the bits, or of other places, that keys have taken.
    pub fill: f64,
    /// The false-positive rate now, from the payload as it is: exact, if every hash is as likely as any other.
    ///
    /// For a bloom filter with derivation double, enhanced_double or triple the rate is exact up to some thousand bits
    /// (with triple, some hundred): there the function tries every hash, in milliseconds. Above that size the rate
    /// comes from the fill and the estimated number of keys. It is within 5 % for a filter that was made by rate, and
    /// within 10 % for other numbers of bits. With triple and exact bits it may be too low by half if bits / hashes is
    /// below some hundreds.
    ///
    /// For `hash_compaction` the rate is exact for tables of a few hundred slots. Above that it is the mean over all
    /// tables with as many taken slots, from which a table is within 5 %.
    ///
    /// For `rotating` the rate is exact for generations of up to 8 MiB: of less with more than four generations, down
    /// to 8 KiB. Above that the first bytes of each generation say how many keys the generations have in common.
    ///
    /// For `scalable` the function takes the levels to be independent of each other. Levels that are often wrong keep
    /// keys from the levels that follow. The rate is then too low by a few percent: by 4 % at a rate of 0.5.
    pub false_positive_rate: f64,
    /// The lowest rate that 64-bit hashes allow with this many keys, however many bits there are.
    pub false_positive_rate_floor: f64,
    /// Distinct keys, estimated from the fill; negative if the filter is too full to tell, or if its kind cannot
    /// estimate. `petal_filter_get_estimate()` also gives the error.
    pub count_estimate: f64,
    /// How many counters have reached their greatest value, where they stay: the true count is that or more. 0 for
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
        state: flag(base.is_unclean(), PETAL_STATE_UNCLEAN)
            | flag(base.stays_unclean(), PETAL_STATE_STAYS_UNCLEAN)
            | flag(in_place.is_some(), PETAL_STATE_IN_PLACE)
            | flag(in_place != Some(Access::Read), PETAL_STATE_WRITABLE)
            | flag(base.hasher().can_hash() || base.hasher().takes_whole(), PETAL_STATE_CAN_HASH),
        hashes: geometry.hashes,
        capacity: header.capacity,
        insertions: base.count_now(),
        bits: geometry.bits,
        bytes: header.image_bytes(),
        bits_per_key: if header.capacity == 0 { 0.0 } else { geometry.bits as f64 / header.capacity as f64 },
        false_positive_rate: header.false_positive_rate,
        kernel: base.instructions().kernel() as u32,
        reserved: 0,
    }
}

/// Describes a filter, in constant time: the function reads no payload.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_describe(
    filter: *const petal_filter,
    description: *mut petal_description,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, fill description], {
        description.set(description_of(filter));
        Ok(())
    })
}

/// Measures how full a filter is. Reads the whole payload.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_get_statistics(
    filter: *const petal_filter,
    statistics: *mut petal_statistics,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, fill statistics], {
        let measure = filter.statistics();
        let estimate = filter.kind().as_cardinality().and_then(|kind| kind.of_taken(measure.taken));
        let keys = estimate.unwrap_or(filter.base().count() as f64) as u64;
        statistics.set(petal_statistics {
            struct_size: 0,
            fill: measure.fill,
            false_positive_rate: measure.false_positive_rate,
            false_positive_rate_floor: sizing::hash_floor(keys, 64),
            count_estimate: estimate.unwrap_or(-1.0),
            saturated: measure.saturated,
        });
        Ok(())
    })
}

/// Writes the spec of an empty filter that is compatible with this one: its kind, exact bits and hashes, hash function,
/// seed and parameters. The spec does not contain the secret key of a keyed filter. A filter from a compact form has
/// lost its capacity. If the capacity gives such a filter its size or its window, the spec makes a filter of another
/// size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_get_spec(
    filter: *const petal_filter,
    spec: *mut petal_spec,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, fill spec], {
        spec.set(petal_spec::of_core(&filter.base().spec()));
        Ok(())
    })
}

/// Returns what this handle can do: `PETAL_CAN_*`, ORed. A file opened for reading cannot insert. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_capabilities(filter: *const petal_filter) -> u64 {
    number!([read filter], filter.capabilities().0)
}
