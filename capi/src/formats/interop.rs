//! OTHER SYSTEMS' BYTES
//!
//! These functions read filters that other systems wrote. An imported filter can do all that a filter of its kind can,
//! and goes back to the same bytes:
//!
//!     uint8_t bytes[14] = {1, 5, 0, 0, 0, 1};  // what Guava wrote: an empty filter of one word
//!     petal_filter *filter;
//!     if (petal_filter_import("guava", bytes, sizeof bytes, NULL, &filter, &error) != PETAL_OK) return 1;
//!     petal_filter_insert(filter, "apple", 5, NULL);
//!     if (petal_filter_contains(filter, "key-7", 5)) puts("maybe");
//!     petal_filter_export(filter, "guava", NULL, bytes, sizeof bytes, NULL, &error);
//!     petal_filter_free(filter);
//!
//! docs/formats.md says what each format holds and how its owner makes bytes of a key. Most of these filters take keys
//! whole, because their places come from more of a key than a 64-bit hash. Such filters refuse hashes
//! (`PETAL_ERR_UNSUPPORTED`), and their lookups of hashes say true. You can save an imported filter as an image, which
//! opens mapped like any other.

use crate::arguments::Given;
use crate::boundary::{self, boundary};
use crate::filter::petal_filter;
use crate::image::petal_write_callback;
use crate::kinds::{PETAL_NAME_SIZE, PETAL_SUMMARY_SIZE, out_of_range};
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};
use petal_core::interop::{self, FORMATS, Format, ImportOptions};
use petal_core::{Error, Result, Status};
use std::ffi::{c_char, c_void};

/// `petal_filter_import()` reads the format.
pub const PETAL_FORMAT_READ: u32 = 1 << 0;
/// `petal_filter_export()` writes the format.
pub const PETAL_FORMAT_WRITE: u32 = 1 << 1;
/// `petal_format_get_spec()` sizes empty filters of the format, for `petal_filter_new()`.
pub const PETAL_FORMAT_CREATE: u32 = 1 << 2;
/// `petal_format_recognise()` tells the format's bytes from others.
pub const PETAL_FORMAT_RECOGNISE: u32 = 1 << 3;
/// `petal_format_get_spec()` sizes filters of the format, for a builder.
pub const PETAL_FORMAT_BUILD: u32 = 1 << 4;

/// What the library knows of a format.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_format_info {
    /// sizeof(petal_format_info), or 0 for its size in the first release.
    pub struct_size: usize,
    /// What the library can do with the format: `PETAL_FORMAT_*`, ORed.
    pub capabilities: u32,
    /// How many variants of the format its owners write; `petal_format_get_variant()` names each. 0 if there is one.
    pub variant_count: u32,
    /// The format's name, the same everywhere.
    pub name: [c_char; PETAL_NAME_SIZE],
    /// Whose format it is and what the format holds, in a sentence.
    pub summary: [c_char; PETAL_SUMMARY_SIZE],
}

// SAFETY: numbers, arrays of numbers and nullable pointers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_format_info {
    const FIRST_SIZE: usize = 208;
}

/// Values that a format's bytes do not contain. docs/formats.md names the formats that need each field; the other
/// formats refuse that field. NULL stands for all zeros.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_import_options {
    /// sizeof(petal_import_options), or 0 for its size in the first release.
    pub struct_size: usize,
    /// The number of bits: the modulus that gives places.
    pub bits: u64,
    /// The seed of the hash function.
    pub seed: u64,
    /// Bits that a key sets.
    pub hashes: u32,
    /// P of a Golomb-coded set: the bits of a gap's remainder.
    pub rice_bits: u32,
    /// M of a Golomb-coded set: how many numbers there are for each key.
    pub multiplier: u64,
    /// The secret key of the hash function; all zeros is none.
    pub secret: [u8; 16],
}

// SAFETY: numbers and an array of them without padding, its size first.
unsafe impl boundary::SizedStruct for petal_import_options {
    const FIRST_SIZE: usize = 56;
}

impl Given for petal_import_options {
    type Said = ImportOptions;

    fn said(given: Option<petal_import_options>, _name: &str) -> Result<ImportOptions> {
        let Some(options) = given else { return Ok(ImportOptions::default()) };
        let petal_import_options { bits, hashes, seed, rice_bits, multiplier, secret, .. } = options;
        let secret = (secret != [0; 16]).then_some(secret);
        Ok(ImportOptions { bits, hashes, seed, secret, rice_bits, multiplier })
    }
}

fn format_info(format: &Format) -> petal_format_info {
    let flag = |is: bool, flag: u32| if is { flag } else { 0 };
    let mut info = petal_format_info {
        struct_size: 0,
        capabilities: PETAL_FORMAT_READ
            | flag(format.export.is_some(), PETAL_FORMAT_WRITE)
            | flag(format.is_built() == Some(false), PETAL_FORMAT_CREATE)
            | flag(format.is_built() == Some(true), PETAL_FORMAT_BUILD)
            | flag(format.recognise.is_some(), PETAL_FORMAT_RECOGNISE),
        variant_count: format.variants.len() as u32,
        name: [0; PETAL_NAME_SIZE],
        summary: [0; PETAL_SUMMARY_SIZE],
    };
    boundary::copy_text(format.name, &mut info.name);
    boundary::copy_text(format.summary, &mut info.summary);
    info
}

/// How many formats there are.
#[unsafe(no_mangle)]
pub extern "C" fn petal_format_count() -> usize {
    FORMATS.len()
}

/// Describes the format at `index`, which is less than `petal_format_count()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_format_get_at(
    index: usize,
    info: *mut petal_format_info,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [fill info], {
        let format = FORMATS.get(index).ok_or_else(|| out_of_range("index", index, FORMATS.len()))?;
        info.set(format_info(format));
        Ok(())
    })
}

/// Describes the format with this name: `PETAL_ERR_UNKNOWN_VALUE` if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_format_find(
    name: *const c_char,
    info: *mut petal_format_info,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [name, fill info, name name], {
        info.set(format_info(interop::find(name)?));
        Ok(())
    })
}

/// Writes the name of a format's variant into `variant`, which has room for `PETAL_NAME_SIZE` bytes. `index` is less
/// than the format's `variant_count`. Variant 0 is the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_format_get_variant(
    format: *const c_char,
    index: usize,
    variant: *mut c_char,
    error: *mut petal_error,
) -> petal_status {
    let variant = variant.cast::<[c_char; PETAL_NAME_SIZE]>();
    boundary!(error, [format, out variant, name format], {
        let names = interop::find(format)?.variants;
        let chosen = names.get(index).ok_or_else(|| out_of_range("index", index, names.len()))?;
        let mut text = [0; PETAL_NAME_SIZE];
        boundary::copy_text(chosen, &mut text);
        variant.set(text);
        Ok(())
    })
}

/// Recognises a format by the first bytes of a filter, and describes the format. Returns `PETAL_ERR_FOREIGN` if the
/// bytes show no format. The function cannot recognise a format without `PETAL_FORMAT_RECOGNISE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_format_recognise(
    bytes: *const c_void,
    length: usize,
    info: *mut petal_format_info,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [fill info, bytes(bytes, length)], {
        let format = interop::recognise(bytes).ok_or(Error::from(Status::Foreign))?;
        info.set(format_info(format));
        Ok(())
    })
}

/// Makes a filter in its own memory from all of another system's bytes. `options` is nullable. Returns
/// `PETAL_ERR_FOREIGN`, `PETAL_ERR_TRUNCATED` or `PETAL_ERR_CORRUPT` for bytes that the format cannot have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_import(
    format: *const c_char,
    bytes: *const c_void,
    length: usize,
    options: *const petal_import_options,
    filter: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [format, give filter, name format, given options, bytes(bytes, length)], {
        let format = interop::find(format)?;
        filter.made(|| format.import(bytes, &options))
    })
}

/// Writes how many bytes a filter has in a format. `variant`, nullable, names one of the format's variants. NULL is the
/// variant that the filter was imported from, or the first. Returns `PETAL_ERR_UNSUPPORTED`, naming the reason, if the
/// filter has no form in the format.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_export_size(
    filter: *const petal_filter,
    format: *const c_char,
    variant: *const c_char,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, format, out size, name format, maybe name variant], {
        size.answer(measured(filter, interop::find(format)?, variant))
    })
}

/// How many bytes a filter has in a format.
fn measured(filter: &petal_core::Filter, format: &Format, variant: Option<&str>) -> Result<u64> {
    let mut size = 0;
    format.export(filter, variant, &mut |bytes| {
        size += bytes.len() as u64;
        Ok(())
    })?;
    Ok(size)
}

/// Writes a filter in a format into a buffer of at least `petal_filter_export_size()` bytes. `variant` is as in that
/// function; `written` is nullable. Returns `PETAL_ERR_BUFFER_TOO_SMALL`, and writes nothing, if the buffer is too
/// small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_export(
    filter: *const petal_filter,
    format: *const c_char,
    variant: *const c_char,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(
        error,
        [read filter, format, buffer, name format, maybe name variant, room_bytes(buffer, length), maybe written],
        {
            let format = interop::find(format)?;
            let size = measured(filter, format, variant)?;
            if size > length as u64 {
                let message = format_args!("the buffer has {length} bytes, the filter needs {size}");
                return Err(boundary::error(Status::BufferTooSmall, message));
            }
            let mut done = 0;
            format.export(filter, variant, &mut |bytes| {
                // Threads that insert meanwhile change no length.
                let place = buffer[done..].get_mut(..bytes.len()).ok_or(Status::Internal)?;
                place.copy_from_slice(bytes);
                done += bytes.len();
                Ok(())
            })?;
            written.set(done);
            Ok(())
        }
    )
}

/// Gives a filter in a format to `write`, piece by piece and in order. `variant` is as in `petal_filter_export_size()`.
/// The function passes `context`, which may be NULL, to `write`. Returns `PETAL_ERR_CALLBACK` if `write` returns false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_export_to(
    filter: *const petal_filter,
    format: *const c_char,
    variant: *const c_char,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, format, callback(write, context), name format, maybe name variant], {
        interop::find(format)?.export(filter, variant, &mut |bytes| write.take(bytes))
    })
}

/// Writes the spec of a format's filter, for `petal_filter_new()` or for a builder. The filter has the size that the
/// format's owner would give it for `capacity` distinct keys at a false-positive rate inside (0, 1). `variant`,
/// nullable, names one of the format's variants. `seed` is the seed of the format's hash function, or 0 if the function
/// has none. The caller sets the secret in the spec, if the format has one. Returns `PETAL_ERR_UNSUPPORTED` for a
/// format that has neither `PETAL_FORMAT_CREATE` nor `PETAL_FORMAT_BUILD`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_format_get_spec(
    format: *const c_char,
    variant: *const c_char,
    capacity: u64,
    false_positive_rate: f64,
    seed: u64,
    spec: *mut petal_spec,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [format, fill spec, name format, maybe name variant], {
        let core = interop::find(format)?.spec(capacity, false_positive_rate, variant, seed)?;
        spec.set(petal_spec::of_core(&core));
        Ok(())
    })
}
