//! KINDS
//!
//! What kinds of filter and of map there are, what each can do, and the parameters that only it
//! takes: for programs that offer a choice. A program that knows what it wants puts a `PETAL_KIND_*` into its
//! spec and needs none of this.

use crate::boundary::{self, NO_ERROR, boundary};
use crate::status::petal_status;
use petal_core::registry;
use petal_core::{Capabilities, Error, KindId, Overfill, Parameter, Result, Row, Sizes, Spec, Status};
use std::ffi::c_char;

/// A kind of filter or of map: one of `PETAL_KIND_*`. 0 is the default kind. Since 0.1.
pub type petal_kind = u32;

/// Keys can be inserted one by one.
pub const PETAL_CAN_INSERT: u64 = 1 << 0;
/// All keys can be forgotten at once.
pub const PETAL_CAN_CLEAR: u64 = 1 << 1;
/// Becomes the union with another filter.
pub const PETAL_CAN_MERGE: u64 = 1 << 2;
/// Becomes a superset of the intersection with another filter.
pub const PETAL_CAN_INTERSECT: u64 = 1 << 3;
/// Can be made smaller by a whole factor.
pub const PETAL_CAN_FOLD: u64 = 1 << 4;
/// Estimates how many distinct keys it holds.
pub const PETAL_CAN_ESTIMATE: u64 = 1 << 5;

/// Keys can be removed one by one.
pub const PETAL_CAN_REMOVE: u64 = 1 << 6;
/// Counts how often a key was inserted.
pub const PETAL_CAN_COUNT: u64 = 1 << 7;
/// Grows past its capacity and keeps its false-positive rate.
pub const PETAL_CAN_GROW: u64 = 1 << 8;
/// Keys can be inserted by many threads at once, without locks: `petal_filter_insert_shared()`.
pub const PETAL_CAN_INSERT_SHARED: u64 = 1 << 9;
/// Keys of a map can be given values at any time: `petal_map_put()`. Such a map is made empty: `petal_map_new()`.
pub const PETAL_CAN_PUT: u64 = 1 << 10;
/// The values of keys that are in a map can be replaced: `petal_map_replace()`.
pub const PETAL_CAN_REPLACE: u64 = 1 << 11;
/// Lists what it stores of its keys: `petal_filter_stored_hashes()`.
pub const PETAL_CAN_ENUMERATE: u64 = 1 << 12;
/// Can be given another size without its keys: `petal_filter_resize()`.
pub const PETAL_CAN_RESIZE: u64 = 1 << 13;
/// Forgets its oldest keys, and its time can be moved on: `petal_filter_advance()`. `petal_plan()` proposes such kinds to
/// those only who ask for them.
pub const PETAL_CAN_AGE: u64 = 1 << 14;
/// No ability, but a warning: lookups may say of keys that are there that they are not. `petal_plan()` proposes such
/// kinds to those only who ask for it.
pub const PETAL_MAY_LOSE_KEYS: u64 = 1 << 15;
/// What it knows of keys that are there can be made as much as what it knows of new ones: `petal_filter_rejuvenate()`.
pub const PETAL_CAN_REJUVENATE: u64 = 1 << 16;

const _: () = {
    assert!(PETAL_CAN_REMOVE == Capabilities::REMOVE.0 && PETAL_CAN_COUNT == Capabilities::COUNT.0);
    assert!(PETAL_CAN_GROW == Capabilities::GROW.0);
    assert!(PETAL_CAN_PUT == Capabilities::PUT.0 && PETAL_CAN_REPLACE == Capabilities::REPLACE.0);
    assert!(PETAL_CAN_INSERT_SHARED == Capabilities::INSERT_SHARED.0);
    assert!(PETAL_CAN_ENUMERATE == Capabilities::ENUMERATE.0 && PETAL_CAN_RESIZE == Capabilities::RESIZE.0);
    assert!(PETAL_CAN_AGE == Capabilities::AGE.0);
    assert!(PETAL_MAY_LOSE_KEYS == Capabilities::MAY_LOSE_KEYS.0);
    assert!(PETAL_CAN_REJUVENATE == Capabilities::REJUVENATE.0);
    assert!(PETAL_CAN_INSERT == Capabilities::INSERT.0 && PETAL_CAN_CLEAR == Capabilities::CLEAR.0);
    assert!(PETAL_CAN_MERGE == Capabilities::MERGE.0 && PETAL_CAN_INTERSECT == Capabilities::INTERSECT.0);
    assert!(PETAL_CAN_FOLD == Capabilities::FOLD.0 && PETAL_CAN_ESTIMATE == Capabilities::ESTIMATE.0);
};

/// The size of a name, with its final NUL.
pub const PETAL_NAME_SIZE: usize = 32;

/// The size of a summary, with its final NUL.
pub const PETAL_SUMMARY_SIZE: usize = 160;

/// What becomes of a filter that is given more keys than its capacity: one of `PETAL_OVERFILL_*`. Since 0.1.
pub type petal_overfill = u32;

/// Its false-positive rate rises, in the end to 1.
pub const PETAL_OVERFILL_RATE_RISES: u32 = 1;
/// It refuses keys: `PETAL_ERR_FULL`.
pub const PETAL_OVERFILL_REFUSES: u32 = 2;
/// It grows and keeps its rate. It refuses keys (`PETAL_ERR_FULL`) where its image is in place and full, and where its
/// rate is so low that another level is not worth its memory: at 1e-12, say, past some hundred thousand keys. `taffy`
/// refuses them after its doublings.
pub const PETAL_OVERFILL_GROWS: u32 = 3;
/// It takes no keys: a builder makes it from all of them, and `petal_filter_new()` refuses its kind.
pub const PETAL_OVERFILL_IS_BUILT: u32 = 4;
/// It keeps its rate and forgets the oldest keys: its capacity is the window that it remembers.
pub const PETAL_OVERFILL_FORGETS: u32 = 5;

/// What the library knows of a kind. Since 0.1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_kind_info {
    /// sizeof(petal_kind_info).
    pub struct_size: usize,
    /// The kind.
    pub kind: petal_kind,
    /// How many parameters only this kind takes.
    pub parameter_count: u32,
    /// What a filter of this kind with the default parameters can do in memory of its own: `PETAL_CAN_*`, ORed. With
    /// others it may lack some of that, and `petal_filter_capabilities()` says what it can do.
    pub capabilities: u64,
    /// The `bits` of a spec are the exact size, a multiple of this. 0: they are the most that the filter may have, and
    /// a capacity has to be given too.
    pub bits_unit: u64,
    /// What becomes of a filter that is given more keys than its capacity.
    pub overfill: petal_overfill,
    /// 1 if a payload depends only on which keys there are, and how often where they are counted; 0 if also on their
    /// order.
    pub is_canonical: u32,
    /// 0 if it is of filters: `petal_filter_new()`, `petal_builder_new()`; 1 of maps: `petal_map_builder_new()`,
    /// and where they can put `petal_map_new()`.
    pub is_map: u32,
    /// 1 if a spec whose kind is 0 means this one, among those of filters or those of maps; 0 if not.
    pub is_default: u32,
    /// 1 if it is of filters whose bits are another system's. They come from `petal_filter_import()` and
    /// `petal_format_spec()`, and nobody chooses the kind for its own sake: `petal_plan()` does not propose it.
    pub is_foreign: u32,
    /// 1 if its keys are the integers below the filter's bits, and are not hashed; others are refused
    /// (`PETAL_ERR_OUT_OF_RANGE`). 0 if it takes all keys.
    pub takes_integers: u32,
    /// 1 if a change moves what other keys left. Such filters are not opened for writing (`PETAL_ERR_UNSUPPORTED`): a
    /// reader would miss keys meanwhile. Load a copy, change and save that. 0 if they are written in place.
    pub moves_entries: u32,
    /// How many copies of one key a filter with the kind's default parameters holds at most, if every copy takes a
    /// place: one more is refused (`PETAL_ERR_FULL`). 0 if copies take no places.
    pub most_copies: u32,
    /// Its name, the same everywhere.
    pub name: [c_char; PETAL_NAME_SIZE],
    /// What it is, in a sentence.
    pub summary: [c_char; PETAL_SUMMARY_SIZE],
}

// SAFETY: numbers, arrays of numbers and nullable pointers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_kind_info {
    const FIRST_SIZE: usize = 256;
}

/// What the library knows of a parameter. Since 0.1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_parameter_info {
    /// sizeof(petal_parameter_info).
    pub struct_size: usize,
    /// The number by which specs refer to it.
    pub id: u32,
    /// How many named choices there are, numbered from 0; 0 where it takes a number.
    pub choice_count: u32,
    /// The least value.
    pub minimum: f64,
    /// The greatest value.
    pub maximum: f64,
    /// The value that it has when it is not set.
    pub default_value: f64,
    /// Its name, the same everywhere.
    pub name: [c_char; PETAL_NAME_SIZE],
    /// What it does, in a sentence.
    pub summary: [c_char; PETAL_SUMMARY_SIZE],
}

// SAFETY: numbers, arrays of numbers and nullable pointers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_parameter_info {
    const FIRST_SIZE: usize = 232;
}

/// What `most_copies` says of a kind.
fn most_copies(row: &Row) -> u32 {
    let spec = Spec { kind: Some(row.kind), ..Spec::default() };
    let copies = row.copies.and_then(|copies| row.geometry_of(&spec).ok().map(|geometry| copies(&geometry)));
    copies.unwrap_or(0) as u32
}

fn kind_info(row: &Row) -> petal_kind_info {
    let mut info = petal_kind_info {
        struct_size: 0,
        kind: row.kind.0,
        parameter_count: row.parameters.len() as u32,
        capabilities: row.capabilities.0,
        bits_unit: match row.sizes {
            Sizes::Multiples(unit) => unit,
            Sizes::ByKeys => 0,
        },
        overfill: match row.overfill {
            Overfill::RateRises => PETAL_OVERFILL_RATE_RISES,
            Overfill::Refuses => PETAL_OVERFILL_REFUSES,
            Overfill::Grows => PETAL_OVERFILL_GROWS,
            Overfill::IsBuilt => PETAL_OVERFILL_IS_BUILT,
            Overfill::Forgets => PETAL_OVERFILL_FORGETS,
        },
        is_canonical: row.is_canonical.into(),
        is_map: row.is_map().into(),
        is_default: [registry::DEFAULT_KIND, registry::DEFAULT_MAP_KIND].contains(&row.kind).into(),
        is_foreign: registry::FOREIGN.iter().any(|foreign| foreign.kind == row.kind).into(),
        takes_integers: row.universe.is_some().into(),
        moves_entries: row.moves_entries.into(),
        most_copies: most_copies(row),
        name: [0; PETAL_NAME_SIZE],
        summary: [0; PETAL_SUMMARY_SIZE],
    };
    boundary::copy_text(row.name, &mut info.name);
    boundary::copy_text(row.summary, &mut info.summary);
    info
}

pub(crate) fn out_of_range(what: &str, index: usize, count: usize) -> Error {
    boundary::error(Status::OutOfRange, format_args!("{what} = {index} is not less than {count}"))
}

/// How many kinds there are, of filters, of maps, and of other systems' filters. Since 0.1.
#[unsafe(no_mangle)]
pub extern "C" fn petal_kind_count() -> usize {
    registry::with_foreign().count()
}

/// Describes the kind at `index`, which is less than `petal_kind_count()`. Filters, maps and other systems'
/// filters come in one list: `is_map` and `is_foreign` tell them apart. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_kind_at(index: usize, info: *mut petal_kind_info) -> petal_status {
    boundary!(NO_ERROR, [info], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { boundary::check_out(info)? };
        let row =
            registry::with_foreign().nth(index).ok_or_else(|| out_of_range("index", index, petal_kind_count()))?;
        // SAFETY: as above.
        unsafe { boundary::write(info, kind_info(row)) };
        Ok(())
    })
}

/// Describes the kind with this name: `PETAL_ERR_UNKNOWN_VALUE` if there is none. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_kind_find(name: *const c_char, info: *mut petal_kind_info) -> petal_status {
    boundary!(NO_ERROR, [name, info], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let name = unsafe { boundary::name(name)? };
        // SAFETY: as above.
        unsafe { boundary::check_out(info)? };
        let row = registry::find_name(name).ok_or(Status::UnknownValue)?;
        // SAFETY: as above.
        unsafe { boundary::write(info, kind_info(row)) };
        Ok(())
    })
}

/// Describes the parameter at `index` of a kind, less than its `parameter_count`. Kind 0 is the default kind. Since
/// 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_kind_parameter(
    kind: petal_kind,
    index: usize,
    info: *mut petal_parameter_info,
) -> petal_status {
    boundary!(NO_ERROR, [info], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { boundary::check_out(info)? };
        let parameter = parameter_at(kind, index)?;
        let mut value = petal_parameter_info {
            struct_size: 0,
            id: parameter.id(),
            choice_count: parameter.choices().len() as u32,
            minimum: parameter.bounds().0,
            maximum: parameter.bounds().1,
            default_value: parameter.default,
            name: [0; PETAL_NAME_SIZE],
            summary: [0; PETAL_SUMMARY_SIZE],
        };
        boundary::copy_text(parameter.name, &mut value.name);
        boundary::copy_text(parameter.summary, &mut value.summary);
        // SAFETY: as above.
        unsafe { boundary::write(info, value) };
        Ok(())
    })
}

/// Writes the name of choice `choice`, less than its `choice_count`, of the parameter at `index` of a kind into `name`,
/// which has room for `PETAL_NAME_SIZE` bytes. Kind 0 is the default kind. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_kind_choice(
    kind: petal_kind,
    index: usize,
    choice: usize,
    name: *mut c_char,
) -> petal_status {
    boundary!(NO_ERROR, [name], {
        let names = parameter_at(kind, index)?.choices();
        let chosen = names.get(choice).ok_or_else(|| out_of_range("choice", choice, names.len()))?;
        let mut text = [0; PETAL_NAME_SIZE];
        boundary::copy_text(chosen, &mut text);
        // SAFETY: checked not to be NULL; there is room by the function's contract.
        unsafe { name.cast::<[c_char; PETAL_NAME_SIZE]>().write(text) };
        Ok(())
    })
}

fn parameter_at(kind: petal_kind, index: usize) -> Result<&'static Parameter> {
    let kind = if kind == 0 { registry::DEFAULT_KIND } else { KindId(kind) };
    let row = registry::find(kind).ok_or(Status::UnknownValue)?;
    let parameter = row.parameters.get(index).ok_or_else(|| out_of_range("index", index, row.parameters.len()))?;
    Ok(parameter)
}
