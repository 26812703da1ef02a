//! KINDS
//!
//! This section lists the kinds of filter, of map and of sketch, what each kind can do, and the parameters of each
//! kind. It is for programs that offer a choice. A program that knows what it wants puts a `PETAL_KIND_*` into its spec
//! and needs none of this.

use crate::boundary::{self, boundary};
use crate::spec::petal_kind;
use crate::status::{petal_error, petal_status};
use petal_core::registry;
use petal_core::{Capabilities, Error, Handle, KindId, Overfill, Parameter, Result, Row, Sizes, Spec, Status};
use std::ffi::c_char;

/// Inserts keys one by one.
pub const PETAL_CAN_INSERT: u64 = 1 << 0;
/// Forgets all keys at once.
pub const PETAL_CAN_CLEAR: u64 = 1 << 1;
/// Becomes the union with another filter.
pub const PETAL_CAN_MERGE: u64 = 1 << 2;
/// Becomes a superset of the intersection with another filter.
pub const PETAL_CAN_INTERSECT: u64 = 1 << 3;
/// Becomes smaller by a whole factor, without its keys.
pub const PETAL_CAN_FOLD: u64 = 1 << 4;
/// Estimates how many distinct keys the filter holds.
pub const PETAL_CAN_ESTIMATE: u64 = 1 << 5;

/// Removes keys one by one.
pub const PETAL_CAN_REMOVE: u64 = 1 << 6;
/// Counts how often a key was inserted.
pub const PETAL_CAN_COUNT: u64 = 1 << 7;
/// Grows past its capacity and keeps its false-positive rate.
pub const PETAL_CAN_GROW: u64 = 1 << 8;
/// Lets many threads insert keys at once, without locks: `petal_filter_insert_shared()`.
pub const PETAL_CAN_INSERT_SHARED: u64 = 1 << 9;
/// A map that starts empty (`petal_map_new()`) and takes keys with their values at any time: `petal_map_put()`.
pub const PETAL_CAN_PUT: u64 = 1 << 10;
/// A map that can replace the values of its keys: `petal_map_replace()`.
pub const PETAL_CAN_REPLACE: u64 = 1 << 11;
/// Lists what the filter stores of its keys: `petal_filter_get_stored_hashes()`.
pub const PETAL_CAN_ENUMERATE: u64 = 1 << 12;
/// Takes another size without its keys: `petal_filter_resize()`.
pub const PETAL_CAN_RESIZE: u64 = 1 << 13;
/// Forgets its oldest keys, and `petal_filter_advance()` moves its time on. `petal_plan_propose()` proposes such a kind
/// only if the request asks for this capability.
pub const PETAL_CAN_AGE: u64 = 1 << 14;
/// This flag is a warning and not an ability: a lookup may say of an inserted key that the key is absent.
/// `petal_plan_propose()` proposes such a kind only if the request has this flag. A parameter may give the flag to a
/// filter whose kind does not have it (`rotating` with `touch` = 0).
pub const PETAL_MAY_LOSE_KEYS: u64 = 1 << 15;
/// Restores a stored key's fingerprint to full length: `petal_filter_rejuvenate()`.
pub const PETAL_CAN_REJUVENATE: u64 = 1 << 16;
/// Forgets its oldest keys, and `petal_filter_advance_shared()` moves its time on while others insert.
pub const PETAL_CAN_AGE_SHARED: u64 = 1 << 17;
/// Subtracts another sketch: `petal_sketch_subtract()`.
pub const PETAL_CAN_SUBTRACT: u64 = 1 << 18;
/// Lists the sketch's numbers, if these are few: `petal_sketch_list()`.
pub const PETAL_CAN_LIST: u64 = 1 << 19;

const _: () = {
    // Each constant is the core's bit, and together they are all that the core knows: none is without a name here.
    let named = [
        (PETAL_CAN_INSERT, Capabilities::INSERT),
        (PETAL_CAN_CLEAR, Capabilities::CLEAR),
        (PETAL_CAN_MERGE, Capabilities::MERGE),
        (PETAL_CAN_INTERSECT, Capabilities::INTERSECT),
        (PETAL_CAN_FOLD, Capabilities::FOLD),
        (PETAL_CAN_ESTIMATE, Capabilities::ESTIMATE),
        (PETAL_CAN_REMOVE, Capabilities::REMOVE),
        (PETAL_CAN_COUNT, Capabilities::COUNT),
        (PETAL_CAN_GROW, Capabilities::GROW),
        (PETAL_CAN_INSERT_SHARED, Capabilities::INSERT_SHARED),
        (PETAL_CAN_PUT, Capabilities::PUT),
        (PETAL_CAN_REPLACE, Capabilities::REPLACE),
        (PETAL_CAN_ENUMERATE, Capabilities::ENUMERATE),
        (PETAL_CAN_RESIZE, Capabilities::RESIZE),
        (PETAL_CAN_AGE, Capabilities::AGE),
        (PETAL_MAY_LOSE_KEYS, Capabilities::MAY_LOSE_KEYS),
        (PETAL_CAN_REJUVENATE, Capabilities::REJUVENATE),
        (PETAL_CAN_AGE_SHARED, Capabilities::AGE_SHARED),
        (PETAL_CAN_SUBTRACT, Capabilities::SUBTRACT),
        (PETAL_CAN_LIST, Capabilities::LIST),
    ];
    let (mut i, mut here) = (0, 0);
    while i < named.len() {
        assert!(named[i].0 == named[i].1.0, "a constant is another bit than the core's");
        here |= named[i].0;
        i += 1;
    }
    let (mut i, mut core) = (0, 0);
    while i < Capabilities::ALL.len() {
        core |= Capabilities::ALL[i].1.0;
        i += 1;
    }
    assert!(here == core, "the core has a capability without a PETAL_CAN_*");
};

/// The size of a name, with its final NUL.
pub const PETAL_NAME_SIZE: usize = 32;

/// The size of a summary, with its final NUL.
pub const PETAL_SUMMARY_SIZE: usize = 160;

/// What a filter does with more keys than its capacity: one of `PETAL_OVERFILL_*`.
pub type petal_overfill = u32;

/// The filter's false-positive rate rises, in the end to 1.
pub const PETAL_OVERFILL_RATE_RISES: u32 = 1;
/// The filter refuses keys: `PETAL_ERR_FULL`. From its capacity on, `hash_compaction` refuses every key that it does
/// not find, and keeps its rate. If `cuckoo` gets as many distinct keys as its capacity, it refuses one of them with a
/// probability below 10^-8. With buckets of two slots the probability is below 10^-6.
pub const PETAL_OVERFILL_REFUSES: u32 = 2;
/// The filter grows and keeps its rate. It refuses keys (`PETAL_ERR_FULL`) if its image is in place and full. It also
/// refuses keys if its rate is so low that another level is not worth the memory: at 1e-12, for example, past some
/// hundred thousand keys. `taffy` refuses keys after its last doubling.
pub const PETAL_OVERFILL_GROWS: u32 = 3;
/// The filter takes no keys. A builder makes it from all of its keys, and `petal_filter_new()` refuses the kind.
pub const PETAL_OVERFILL_IS_BUILT: u32 = 4;
/// The filter keeps its rate and forgets the oldest keys: its capacity is the window that it remembers.
pub const PETAL_OVERFILL_FORGETS: u32 = 5;

/// The C type that holds a filter, map or sketch of a kind: one of `PETAL_HANDLE_*`.
pub type petal_handle_type = u32;

/// A `petal_filter`: `petal_filter_new()`, `petal_builder_new()`. Its kinds have numbers below 256.
pub const PETAL_HANDLE_FILTER: petal_handle_type = 0;
/// A `petal_map`: `petal_map_builder_new()`, or `petal_map_new()` with `PETAL_CAN_PUT`. Its kinds have numbers below
/// 256.
pub const PETAL_HANDLE_MAP: petal_handle_type = 1;
/// A `petal_sketch`: `petal_sketch_new()`. Its kinds have numbers from 256 to 511.
pub const PETAL_HANDLE_SKETCH: petal_handle_type = 2;
/// A `petal_router`, in petal_router.h. Its handle has no other kind, and `petal_kind_get_at()` does not list the kind.
pub const PETAL_HANDLE_ROUTER: petal_handle_type = 3;
/// A `petal_aggregate`, in petal_aggregate.h, the only kind of its handle as well.
pub const PETAL_HANDLE_AGGREGATE: petal_handle_type = 4;
/// A `petal_digest`, in petal_digest.h, the only kind of its handle as well.
pub const PETAL_HANDLE_DIGEST: petal_handle_type = 5;
/// A `petal_index`, in petal_index.h, the only kind of its handle as well.
pub const PETAL_HANDLE_INDEX: petal_handle_type = 6;

/// The payload depends on the set of keys (and, if the kind counts, on the number of each), and not on their order.
pub const PETAL_IS_CANONICAL: u32 = 1 << 0;
/// The default kind of its handle: a spec whose kind is 0 means this one.
pub const PETAL_IS_DEFAULT: u32 = 1 << 1;
/// The bits of its filters are another system's. Such filters come from `petal_filter_import()` and
/// `petal_format_get_spec()`. Nobody chooses such a kind for its own sake: `petal_plan_propose()` does not propose it.
pub const PETAL_IS_FOREIGN: u32 = 1 << 2;
/// The kind's keys are the integers below a filter's `bits`, and the filter does not hash them. The filter refuses
/// other keys (`PETAL_ERR_OUT_OF_RANGE`).
pub const PETAL_TAKES_INTEGERS: u32 = 1 << 3;
/// A change moves entries of other keys, and a reader would miss those keys meanwhile. So such filters do not open for
/// writing (`PETAL_ERR_UNSUPPORTED`). Load a copy, change the copy and save it.
pub const PETAL_MOVES_ENTRIES: u32 = 1 << 4;

/// What the library knows of a kind.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_kind_info {
    /// sizeof(petal_kind_info), or 0 for its size in the first release.
    pub struct_size: usize,
    /// The kind.
    pub kind: petal_kind,
    /// How many parameters only this kind takes.
    pub parameter_count: u32,
    /// What a filter of this kind with the default parameters can do in its own memory: `PETAL_CAN_*`, ORed. A filter
    /// with other parameters may lack some of that: `petal_filter_capabilities()` says what a filter can do.
    pub capabilities: u64,
    /// The unit of a spec's `bits`. The `bits` of a spec are the exact size, a multiple of this unit. If the unit is 0,
    /// the `bits` are an upper limit, and the spec needs a capacity too.
    pub bits_unit: u64,
    /// What a filter does with more keys than its capacity.
    pub overfill: petal_overfill,
    /// The C type that holds it: one of `PETAL_HANDLE_*`.
    pub handle: petal_handle_type,
    /// `PETAL_IS_*`, `PETAL_TAKES_INTEGERS` and `PETAL_MOVES_ENTRIES`, ORed.
    pub flags: u32,
    /// How many copies of one key a filter with the kind's default parameters holds at most, if every copy takes a
    /// place. The filter refuses one copy more (`PETAL_ERR_FULL`). 0 if copies take no places.
    pub most_copies: u32,
    /// The kind's name, the same everywhere.
    pub name: [c_char; PETAL_NAME_SIZE],
    /// A sentence that says what the kind is.
    pub summary: [c_char; PETAL_SUMMARY_SIZE],
}

// SAFETY: numbers, arrays of numbers and nullable pointers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_kind_info {
    const FIRST_SIZE: usize = 240;
}

/// What the library knows of a parameter.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_parameter_info {
    /// sizeof(petal_parameter_info), or 0 for its size in the first release.
    pub struct_size: usize,
    /// The number by which specs refer to it.
    pub id: u32,
    /// How many named choices there are, numbered from 0; 0 if the parameter takes a number.
    pub choice_count: u32,
    /// The least value.
    pub minimum: f64,
    /// The greatest value.
    pub maximum: f64,
    /// The value of a parameter that nobody set.
    pub default_value: f64,
    /// The parameter's name, the same everywhere.
    pub name: [c_char; PETAL_NAME_SIZE],
    /// A sentence that says what the parameter does.
    pub summary: [c_char; PETAL_SUMMARY_SIZE],
}

// SAFETY: numbers, arrays of numbers and nullable pointers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_parameter_info {
    const FIRST_SIZE: usize = 232;
}

/// The `most_copies` of a kind, which is the same for every capacity.
fn most_copies(row: &Row) -> u32 {
    let spec = Spec { kind: Some(row.kind), capacity: 1, ..Spec::default() };
    let copies = row.room.copies.and_then(|copies| row.geometry_of(&spec).ok().map(|geometry| copies(&geometry)));
    copies.unwrap_or(0) as u32
}

fn kind_info(row: &Row) -> petal_kind_info {
    let flags = [
        (row.is_canonical, PETAL_IS_CANONICAL),
        (
            [registry::DEFAULT_KIND, registry::DEFAULT_MAP_KIND, registry::DEFAULT_SKETCH_KIND].contains(&row.kind),
            PETAL_IS_DEFAULT,
        ),
        (registry::FOREIGN.iter().any(|foreign| foreign.kind == row.kind), PETAL_IS_FOREIGN),
        (row.hashing.universe.is_some(), PETAL_TAKES_INTEGERS),
        (row.form.moves_entries, PETAL_MOVES_ENTRIES),
    ];
    let flags = flags.into_iter().filter(|(is_set, _)| *is_set).fold(0, |all, (_, flag)| all | flag);
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
        handle: match row.handle() {
            Handle::Filter => PETAL_HANDLE_FILTER,
            Handle::Map => PETAL_HANDLE_MAP,
            Handle::Sketch => PETAL_HANDLE_SKETCH,
            Handle::Router => PETAL_HANDLE_ROUTER,
            Handle::Aggregate => PETAL_HANDLE_AGGREGATE,
            Handle::Digest => PETAL_HANDLE_DIGEST,
            Handle::Index => PETAL_HANDLE_INDEX,
        },
        flags,
        most_copies: most_copies(row),
        name: [0; PETAL_NAME_SIZE],
        summary: [0; PETAL_SUMMARY_SIZE],
    };
    boundary::copy_text(row.name, &mut info.name);
    boundary::copy_text(row.summary, &mut info.summary);
    info
}

/// The error for a name that no kind of this build has.
pub(crate) fn unknown(name: &str) -> Error {
    if let Some(left_out) = registry::absent().find(|kind| kind.name == name) {
        return left_out.error();
    }
    boundary::error(Status::UnknownValue, format_args!("kind = {name:?} is not known"))
}

pub(crate) fn out_of_range(what: &str, index: usize, count: usize) -> Error {
    boundary::error(Status::OutOfRange, format_args!("{what} = {index} is not less than {count}"))
}

/// How many kinds this build has: of filters, maps, other systems' filters and sketches.
#[unsafe(no_mangle)]
pub extern "C" fn petal_kind_count() -> usize {
    registry::every().count()
}

/// Describes the kind at `index`, which is less than `petal_kind_count()`. The kinds of all handles come in one list:
/// `handle` and `PETAL_IS_FOREIGN` tell them apart. A later version may list kinds of a handle that this header does
/// not name: take the kinds whose `handle` you know, and skip all others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_kind_get_at(
    index: usize,
    info: *mut petal_kind_info,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [fill info], {
        let row = registry::every().nth(index).ok_or_else(|| out_of_range("index", index, petal_kind_count()))?;
        info.set(kind_info(row));
        Ok(())
    })
}

/// Describes the kind with this name: `PETAL_ERR_UNKNOWN_VALUE` if there is none,
/// `PETAL_ERR_UNSUPPORTED_BY_BUILD` if this build leaves it out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_kind_find(
    name: *const c_char,
    info: *mut petal_kind_info,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [name, info, name name, fill info], {
        info.set(kind_info(registry::find_name(name).ok_or_else(|| unknown(name))?));
        Ok(())
    })
}

/// Describes the parameter at `index` of a kind, less than its `parameter_count`. Kind 0 is the default kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_kind_get_parameter(
    kind: petal_kind,
    index: usize,
    info: *mut petal_parameter_info,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [fill info], {
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
        info.set(value);
        Ok(())
    })
}

/// Writes the name of a choice of the parameter at `index` of a kind into `name`, which has room for `PETAL_NAME_SIZE`
/// bytes. `choice` is less than the parameter's `choice_count`. Kind 0 is the default kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_kind_get_choice(
    kind: petal_kind,
    index: usize,
    choice: usize,
    name: *mut c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [room(name, PETAL_NAME_SIZE)], {
        let names = parameter_at(kind, index)?.choices();
        let chosen = names.get(choice).ok_or_else(|| out_of_range("choice", choice, names.len()))?;
        name.fill(0);
        boundary::copy_text(chosen, name);
        Ok(())
    })
}

fn parameter_at(kind: petal_kind, index: usize) -> Result<&'static Parameter> {
    let kind = if kind == 0 { registry::DEFAULT_KIND } else { KindId(kind) };
    let unknown = || boundary::error(Status::UnknownValue, format_args!("kind = {} is not known", kind.0));
    let row = registry::find(kind).ok_or_else(|| registry::left_out_error(kind).unwrap_or_else(unknown))?;
    let parameter = row.parameters.get(index).ok_or_else(|| out_of_range("index", index, row.parameters.len()))?;
    Ok(parameter)
}
