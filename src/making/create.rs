//! Makes empty filters of any kind, and says what a spec asks for before anything is made.

use crate::contract::{Base, Overfill, Row, Sizes};
use crate::error::{List, Result, error};
use crate::format::{Geometry, HEADER_LENGTH, Header};
use crate::handle::filter::Filter;
use crate::handle::image::Image;
use crate::registry::{self, DEFAULT_KIND, FILTERS, FOREIGN, MAPS, OWN, SKETCHES};
use crate::simd;
use crate::spec::{Number, Size, Spec};
use crate::storage::{Access, ImageBytes, Words};

/// The row that a spec asks for. All parameters of the spec have to be among those of the kind, each once.
///
/// # Errors
/// [`Status::UnknownValue`](crate::Status::UnknownValue), [`Status::Contradiction`](crate::Status::Contradiction),
/// [`Status::UnsupportedByBuild`](crate::Status::UnsupportedByBuild) for a kind that this build leaves out.
pub fn row_of(spec: &Spec) -> Result<&'static Row> {
    let row = row_of_kind(spec)?;
    for (i, setting) in spec.parameters.iter().enumerate().filter(|(_, setting)| setting.id != 0) {
        let Some(parameter) = row.parameters.iter().find(|parameter| parameter.id() == setting.id) else {
            return Err(
                match registry::every().chain(OWN).find_map(|row| row.parameters.iter().find(|p| p.id() == setting.id))
                {
                    Some(other) => foreign_parameter(row, other.name),
                    None => error!(UnknownValue, "parameter id {:#x} is not known to any kind", setting.id),
                },
            );
        };
        if let Some(second) = spec.parameters[i + 1..].iter().find(|second| second.id == setting.id) {
            // Nobody can know which of the two values is meant.
            let (first, second) = (Number(setting.value), Number(second.value));
            let name = parameter.name;
            return Err(error!(Contradiction, "the parameter {name} is set twice, to {first} and to {second}"));
        }
    }
    Ok(row)
}

fn row_of_kind(spec: &Spec) -> Result<&'static Row> {
    let kind = spec.kind.unwrap_or(DEFAULT_KIND);
    registry::find(kind).ok_or_else(|| {
        if let Some(error) = registry::left_out_error(kind) {
            return error;
        }
        let last = registry::with_foreign().map(|row| row.kind.0).max().unwrap_or(0);
        error!(UnknownValue, "kind = {} is not a kind; 1 to {last} are known", kind.0)
    })
}

/// The parameter with this name of a spec's kind.
///
/// # Errors
/// [`Status::UnknownValue`](crate::Status::UnknownValue), which says what the kind takes, or which kinds take it.
pub fn parameter_of(spec: &Spec, name: &str) -> Result<&'static crate::Parameter> {
    let row = row_of_kind(spec)?;
    row.parameter(name).ok_or_else(|| foreign_parameter(row, name))
}

fn foreign_parameter(row: &Row, name: &str) -> crate::Error {
    let mut owners = [""; FILTERS.len() + MAPS.len() + FOREIGN.len() + SKETCHES.len() + OWN.len()];
    let mut count = 0;
    for owner in registry::every().chain(OWN).filter(|owner| owner.parameter(name).is_some()) {
        owners[count] = owner.name;
        count += 1;
    }
    match count {
        0 => error!(UnknownValue, "{name} is not a parameter of any kind"),
        _ => {
            let owners = List(&owners[..count]);
            error!(UnknownValue, "{} takes no parameter {name}, which is one of {owners}", row.name)
        }
    }
}

/// The geometry that a spec asks for. For a kind that is built from its keys this is the geometry to expect.
///
/// # Errors
/// The errors of the spec, each of which names what is allowed.
pub fn geometry(spec: &Spec) -> Result<Geometry> {
    row_of(spec)?.geometry_of(spec)
}

/// The exact false-positive rate of the filter that a spec describes, with `keys` distinct keys.
///
/// # Errors
/// As [`geometry`].
pub fn expected_false_positive_rate(spec: &Spec, keys: u64) -> Result<f64> {
    let row = row_of(spec)?;
    Ok(row.expected_false_positive_rate(&row.geometry_of(spec)?, spec.capacity, keys))
}

/// How many of `keys` distinct keys a filter is expected to take for known, or to refuse, if they are inserted one
/// after the other. The spec describes the filter: [`Row::expected_omissions`].
///
/// # Errors
/// The errors of [`geometry`], and [`Status::Unsupported`](crate::Status::Unsupported) for a kind that cannot insert.
pub fn expected_omissions(spec: &Spec, keys: u64) -> Result<f64> {
    let row = row_of(spec)?;
    row.check_omits()?;
    Ok(row.expected_omissions(&row.geometry_of(spec)?, spec.capacity, keys))
}

/// The base of a handle of this kind, which a spec describes, over words with this geometry, which `words` gives.
pub(crate) fn base(
    row: &'static Row,
    spec: &Spec,
    geometry: Geometry,
    words: impl FnOnce(&Header) -> Result<Words>,
) -> Result<Base> {
    let hasher = row.hasher(spec)?;
    let instructions = simd::choose(spec.kernel)?;
    let (capacity, false_positive_rate) = match row.size_of(spec)? {
        // The spec asked for no rate, but a parameter may have given one.
        Size::Rate { capacity, false_positive_rate }
            if spec.false_positive_rate == 0.0 && row.sizes == Sizes::ByKeys && row.is_made_empty() =>
        {
            // A filter that grows has its highest rate when it has grown as far as it can.
            let most = if row.overfill == Overfill::Grows { u64::MAX } else { capacity };
            (capacity, false_positive_rate.max((row.false_positive_rate)(&geometry, most)))
        }
        Size::Rate { capacity, false_positive_rate } => (capacity, false_positive_rate),
        Size::Exact { capacity, .. } => (capacity, 0.0),
    };
    let header = Header {
        kind: row.kind,
        layout_version: row.form.layout_version,
        hash: hasher.function(),
        identifier: hasher.identifier(),
        capacity,
        false_positive_rate,
        geometry,
        count: 0,
        unclean: false,
    };
    let words = words(&header)?;
    Ok(Base::new(row, header, hasher, words).with_instructions(instructions))
}

/// The row and the geometry of the empty filter that a spec asks for.
fn empty(spec: &Spec) -> Result<(&'static Row, Geometry)> {
    let row = row_of(spec)?;
    let geometry = row.geometry_of(spec)?;
    if row.is_made_empty() {
        return Ok((row, geometry));
    }
    let (name, what) = (row.name, if row.is_map() { "a map builder" } else { "a builder" });
    Err(error!(Unsupported, "{name} is made from all of its keys at once: give them to {what}"))
}

/// An empty filter or map in its own memory. Maps need a spec that names their kind.
///
/// # Errors
/// The errors of the spec, each naming what is allowed; [`Status::Unsupported`](crate::Status::Unsupported) for a kind
/// of another handle, or for one that is built from its keys; [`Status::TooLarge`](crate::Status::TooLarge) and
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub fn create_as<H: Image>(spec: &Spec) -> Result<H> {
    let (row, geometry) = empty(spec)?;
    create_sized(row, spec, geometry)
}

/// An empty filter or map in its own memory. The kind has to be one that is made empty, and `geometry` is what `spec`
/// asks for.
pub(super) fn create_sized<H: Image>(row: &'static Row, spec: &Spec, geometry: Geometry) -> Result<H> {
    H::over(base(row, spec, geometry, |header| Words::zeroed(header.geometry.payload_bytes))?)
}

/// The length of the image of the filter that a spec describes.
///
/// # Errors
/// The errors of [`create_as`], except a lack of memory.
pub fn image_size(spec: &Spec) -> Result<u64> {
    let (row, geometry) = empty(spec)?;
    row.hasher(spec)?;
    Ok(crate::format::image_bytes(geometry.payload_bytes).unwrap_or(u64::MAX))
}

/// An empty filter in a caller's buffer, which becomes a complete image: header and payload. The bytes after the image
/// stay as they were.
///
/// # Errors
/// The errors of [`create_as`]; [`Status::BufferTooSmall`](crate::Status::BufferTooSmall),
/// [`Status::Misaligned`](crate::Status::Misaligned). The buffer then stays as it was.
///
/// # Safety
/// `length` bytes from `start` are writable until the filter is dropped, and meanwhile no other handle of this process
/// uses them; other processes that share them may read them through their own handles.
pub unsafe fn new_in_buffer(spec: &Spec, start: core::ptr::NonNull<u8>, length: usize) -> Result<Filter> {
    let (row, geometry) = empty(spec)?;
    let base = base(row, spec, geometry, |header| {
        let needed = header.image_bytes();
        if (length as u64) < needed {
            return Err(error!(BufferTooSmall, "the buffer has {length} bytes, the image needs {needed}"));
        }
        // SAFETY: the caller promises that `length` bytes from `start` are writable until the filter is dropped, and
        // meanwhile no other handle of this process uses them; other processes that share them may read them through
        // their own handles.
        let image = unsafe { ImageBytes::from_buffer(start, needed as usize, Access::Write)? };
        image.into_words(HEADER_LENGTH, header.geometry.payload_bytes as usize)
    })?;
    // Every step that can fail comes before the first byte is written.
    row.check_in_place()?;
    let mut filter = Filter::over(base)?;
    filter.base_mut().initialise()?;
    Ok(filter)
}
