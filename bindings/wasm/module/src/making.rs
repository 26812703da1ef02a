//! Specs, and what is made of them.

use crate::handles::{Held, hold, not_for, take, with};
use crate::memory::text;
use crate::outcome::{answer, answer_real, run};
use petal::format::image_bytes;
use petal::{
    Builder, BuilderOptions, Error, Filter, HashFunction, KindId, Map, MapBuilder, Result, Secret, Spec, Status,
    expected_false_positive_rate, geometry, parameter_of, registry, row_of,
};

/// A spec with every default.
#[unsafe(no_mangle)]
pub extern "C" fn petal_spec() -> i32 {
    run(|| hold(Held::Spec(Box::default())))
}

/// Uses a spec.
fn with_spec(handle: u32, body: impl FnOnce(&mut Spec) -> Result<i32>) -> i32 {
    with(handle, |held| match held {
        Held::Spec(spec) => body(spec),
        other => Err(not_for(other, "describe a filter that is to be made")),
    })
}

/// The kind with a name.
fn kind_of(name: &str) -> Result<KindId> {
    if let Some(row) = registry::find_name(name) {
        return Ok(row.kind);
    }
    Err(match registry::absent().find(|kind| kind.name == name) {
        Some(left_out) => left_out.error(),
        None => Error::new(Status::UnknownValue, format_args!("{name} is not a kind")),
    })
}

/// Sets the kind (0) or the hash function (1) by its name.
///
/// # Safety
/// `length` bytes from `start` on are readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_spec_name(handle: u32, field: u32, start: *const u8, length: usize) -> i32 {
    // SAFETY: the caller's promise.
    let name = unsafe { text(start, length) };
    with_spec(handle, |spec| {
        let name = name?;
        match field {
            0 => spec.kind = Some(kind_of(name)?),
            _ => {
                let known = HashFunction::from_name(name);
                let known = known.or_else(|| HashFunction::OF_KINDS.into_iter().find(|one| one.name() == name));
                let unknown = || Error::new(Status::UnknownValue, format_args!("{name} is not a hash function"));
                spec.hash = known.ok_or_else(unknown)?;
            }
        }
        Ok(0)
    })
}

/// Sets the capacity (0), the bits (1), the hashes (2) or the seed (3).
#[unsafe(no_mangle)]
pub extern "C" fn petal_spec_number(handle: u32, field: u32, number: u64) -> i32 {
    with_spec(handle, |spec| {
        match field {
            0 => spec.capacity = number,
            1 => spec.bits = number,
            2 => {
                let too_large = |_| Error::new(Status::OutOfRange, format_args!("hashes = {number} are too many"));
                spec.hashes = u32::try_from(number).map_err(too_large)?;
            }
            _ => spec.seed = number,
        }
        Ok(0)
    })
}

/// Sets the false-positive rate.
#[unsafe(no_mangle)]
pub extern "C" fn petal_spec_rate(handle: u32, rate: f64) -> i32 {
    with_spec(handle, |spec| {
        spec.false_positive_rate = rate;
        Ok(0)
    })
}

/// Sets the secret key.
///
/// # Safety
/// 16 bytes from `secret` on are readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_spec_secret(handle: u32, secret: *const Secret) -> i32 {
    // SAFETY: the caller's promise.
    let secret = unsafe { secret.as_ref().copied() };
    with_spec(handle, |spec| {
        spec.secret = secret;
        Ok(0)
    })
}

/// Sets a parameter of the kind, which is set before. The value is a number or the name of a choice, as text. `number`
/// is what the text stands for, or else not a number: reading digits in the module would take a large table.
///
/// # Safety
/// The bytes of the name and of the value are readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_spec_parameter(
    handle: u32,
    name: *const u8,
    name_length: usize,
    value: *const u8,
    value_length: usize,
    number: f64,
) -> i32 {
    // SAFETY: the caller's promise.
    let (name, value) = unsafe { (text(name, name_length), text(value, value_length)) };
    with_spec(handle, |spec| {
        let parameter = parameter_of(spec, name?)?;
        let value = parameter.read(value?, (!number.is_nan()).then_some(number))?;
        spec.set(parameter, value).map(|()| 0)
    })
}

/// What a filter of a spec is going to be: its bits, the bytes of its image, and its rate with `keys` keys. Takes no
/// memory.
#[unsafe(no_mangle)]
pub extern "C" fn petal_spec_size(handle: u32, keys: u64) -> i32 {
    with_spec(handle, |spec| {
        let (row, shape) = (row_of(spec)?, geometry(spec)?);
        let payload_bytes = row.building.most_bytes.map_or(shape.payload_bytes, |most| most(&shape, keys.max(1)));
        answer(0, shape.bits);
        answer(1, image_bytes(payload_bytes).unwrap_or(u64::MAX));
        answer_real(2, expected_false_positive_rate(spec, keys)?);
        answer(3, shape.hashes.into());
        Ok(0)
    })
}

/// An empty filter, or an empty map.
#[unsafe(no_mangle)]
pub extern "C" fn petal_create(handle: u32, is_map: bool) -> i32 {
    run(|| match take(handle)? {
        Held::Spec(spec) => hold(if is_map { Held::Map(Map::new(&spec)?) } else { Held::Filter(Filter::new(&spec)?) }),
        other => Err(not_for(&other, "be made")),
    })
}

/// A builder of a filter, or of a map.
#[unsafe(no_mangle)]
pub extern "C" fn petal_builder(handle: u32, is_map: bool) -> i32 {
    run(|| match take(handle)? {
        Held::Spec(spec) => {
            let options = BuilderOptions::default();
            hold(match is_map {
                true => Held::MapBuilder(Box::new(MapBuilder::new(&spec, options)?)),
                false => Held::Builder(Box::new(Builder::new(&spec, options)?)),
            })
        }
        other => Err(not_for(&other, "be built")),
    })
}

/// The filter or map of a builder, which is empty then and can be used again.
#[unsafe(no_mangle)]
pub extern "C" fn petal_finish(handle: u32) -> i32 {
    let mut made = None;
    let number = with(handle, |held| {
        made = Some(match held {
            Held::Builder(builder) => Held::Filter(builder.finish()?),
            Held::MapBuilder(builder) => Held::Map(builder.finish()?),
            other => return Err(not_for(other, "finish")),
        });
        Ok(0)
    });
    made.map_or(number, |made| run(|| hold(made)))
}
