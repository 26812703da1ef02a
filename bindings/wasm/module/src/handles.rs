//! What the caller holds: a number for each filter, map, spec or builder.

use crate::outcome::run;
use core::cell::RefCell;
#[cfg(feature = "maps")]
use petal::Map;
#[cfg(feature = "making")]
use petal::{Builder, MapBuilder, Spec};
use petal::{Error, Filter, Result, Status};

/// What stands behind a number.
pub enum Held {
    /// A filter.
    Filter(Filter),
    /// A map.
    #[cfg(feature = "maps")]
    Map(Map),
    /// A spec that is filled in.
    #[cfg(feature = "making")]
    Spec(Box<Spec>),
    /// A builder of a filter.
    #[cfg(feature = "making")]
    Builder(Box<Builder>),
    /// A builder of a map.
    #[cfg(feature = "making")]
    MapBuilder(Box<MapBuilder>),
}

/// All that is held. A place that was given back is the next one's.
struct Table {
    places: Vec<Option<Held>>,
    free: Vec<u32>,
}

thread_local! {
    static TABLE: RefCell<Table> = const { RefCell::new(Table { places: Vec::new(), free: Vec::new() }) };
}

#[cold]
fn none() -> Error {
    Error::new(Status::NullPointer, format_args!("the handle is not there, or was given back"))
}

#[cold]
fn no_memory() -> Error {
    Error::new(Status::OutOfMemory, format_args!("a handle could not be had"))
}

/// Holds something under a number.
pub fn hold(held: Held) -> Result<i32> {
    TABLE.with_borrow_mut(|Table { places, free }| {
        if let Some(place) = free.pop() {
            places[place as usize] = Some(held);
            return Ok(place as i32);
        }
        // Whatever is held can be given back without more memory.
        let room = places.len() + 1;
        places.try_reserve(1).map_err(|_| no_memory())?;
        free.try_reserve(room).map_err(|_| no_memory())?;
        places.push(Some(held));
        Ok(room as i32 - 1)
    })
}

/// Gives back what a number stands for. Others do not notice.
pub fn take(handle: u32) -> Result<Held> {
    TABLE.with_borrow_mut(|Table { places, free }| {
        let held = places.get_mut(handle as usize).and_then(Option::take).ok_or_else(none)?;
        free.push(handle);
        Ok(held)
    })
}

/// Uses what a number stands for.
#[inline]
pub fn with(handle: u32, body: impl FnOnce(&mut Held) -> Result<i32>) -> i32 {
    run(|| {
        TABLE.with_borrow_mut(|table| {
            body(table.places.get_mut(handle as usize).and_then(Option::as_mut).ok_or_else(none)?)
        })
    })
}

/// Uses two in one call, the first to be changed.
#[cfg(feature = "making")]
pub fn with_both(handle: u32, other: u32, body: impl FnOnce(&mut Held, &Held) -> Result<i32>) -> i32 {
    run(|| {
        TABLE.with_borrow_mut(|Table { places, .. }| {
            let both = places.get_disjoint_mut([handle as usize, other as usize]);
            match both.map_err(|_| none())? {
                [Some(one), Some(other)] => body(one, other),
                _ => Err(none()),
            }
        })
    })
}

/// Frees what a number stands for.
#[unsafe(no_mangle)]
pub extern "C" fn petal_free(handle: u32) -> i32 {
    run(|| take(handle).map(|_| 0))
}

/// The refusal of a call that such a handle does not have.
#[cold]
pub fn not_for(held: &Held, call: &str) -> Error {
    let name = match held {
        Held::Filter(_) => "filter",
        #[cfg(feature = "maps")]
        Held::Map(_) => "map",
        #[cfg(feature = "making")]
        Held::Spec(_) => "spec",
        #[cfg(feature = "making")]
        Held::Builder(_) => "builder of filters",
        #[cfg(feature = "making")]
        Held::MapBuilder(_) => "builder of maps",
    };
    Error::new(Status::Unsupported, format_args!("a {name} cannot {call}"))
}
