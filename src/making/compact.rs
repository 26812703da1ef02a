//! Opening compact forms, and looking up keys in them without opening.

use crate::batch::answers::Answers;
use crate::contract::{Base, Row};
use crate::error::{Result, error};
use crate::format::compact::{Trailer, check_digest, check_short};
use crate::format::{Geometry, Header};
use crate::handle::filter::Filter;
use crate::handle::image::Image;
use crate::handle::many;
use crate::hash::{HashFunction, Secret};
use crate::registry;
use crate::spec::Spec;
use crate::storage::{AnyBytes, Words};
use core::ptr::NonNull;

/// The hash function of a compact form, which the form does not name, and whether all of the form is checked.
#[derive(Clone, Copy)]
pub struct CompactOptions {
    /// The hash function.
    pub hash: HashFunction,
    /// The seed of XXH3 and XXH64; a tag for external hashes.
    pub seed: u64,
    /// The secret key of SipHash-1-3.
    pub secret: Option<Secret>,
    /// Whether the whole payload is checked, however large it is, against its checksum and against what the kind
    /// promises of it. Payloads of up to 4096 bytes are always checked.
    pub verify: bool,
}

impl Default for CompactOptions {
    fn default() -> CompactOptions {
        CompactOptions { hash: HashFunction::Xxh3, seed: 0, secret: None, verify: false }
    }
}

/// The kind that a trailer names, if the kind has compact forms.
#[inline(always)]
fn row_of(trailer: &Trailer) -> Option<&'static Row> {
    registry::find(trailer.kind).filter(|row| {
        (1..=row.form.layout_version).contains(&trailer.layout_version.into())
            && !row.is_map()
            && !row.hashing.hashes_keys_itself
    })
}

/// The filter that a compact form holds, as the trailer describes it.
struct Form {
    row: &'static Row,
    trailer: Trailer,
    geometry: Geometry,
}

impl Form {
    fn read(whole: &[u8]) -> Result<Form> {
        let trailer = Trailer::read(whole)?;
        let Trailer { kind, layout_version, .. } = trailer;
        let row = row_of(&trailer).ok_or_else(|| {
            if let Some(error) = registry::left_out_error(kind) {
                return error;
            }
            let kind = kind.0;
            error!(NewerVersion, "no filter of kind {kind} with layout {layout_version} is known to this version")
        })?;
        match trailer.geometry(row.compact) {
            Some(geometry) => {
                row.check_choices(&geometry)?;
                Ok(Form { row, trailer, geometry })
            }
            None => Err(error!(Corrupt, "the compact form's shape is not one of a {} filter", row.name)),
        }
    }

    /// Checks trailer and payload against their checksums. The payload is checked only if it is small or if `verify` is
    /// set.
    fn check(&self, whole: &[u8], verify: bool) -> Result<()> {
        if verify { check_digest(whole) } else { check_short(whole) }
    }

    /// A filter over the payload.
    fn over(self, words: Words, options: &CompactOptions) -> Result<Filter> {
        let CompactOptions { hash, seed, secret, .. } = *options;
        let hasher = self.row.hasher(&Spec { hash, seed, secret, ..Spec::default() })?;
        let header = Header {
            kind: self.row.kind,
            layout_version: self.trailer.layout_version.into(),
            hash: hasher.function(),
            identifier: hasher.identifier(),
            capacity: 0,
            false_positive_rate: 0.0,
            geometry: self.geometry,
            count: 0,
            unclean: false,
        };
        let filter = Filter::over(Base::new(self.row, header, hasher, words))?;
        if options.verify {
            filter.payload().check_payload()?
        } else {
            filter.payload().check_state()?
        }
        Ok(filter)
    }
}

/// Opens the compact form in a caller's buffer, in place and for reading. Takes constant time for payloads of more than
/// 4096 bytes, unless the whole payload is to be verified. Takes no memory but the handle's.
///
/// The hash function and its seed or secret must be those of the filter that was written: nothing shows if they are
/// not. A compact form does not say count, capacity and rate, so these are 0.
///
/// # Errors
/// [`Status::Truncated`](crate::Status::Truncated) and [`Status::Foreign`](crate::Status::Foreign) for lengths that no
/// compact form has; [`Status::Corrupt`](crate::Status::Corrupt);
/// [`Status::NewerVersion`](crate::Status::NewerVersion); [`Status::Misaligned`](crate::Status::Misaligned) unless
/// `start` is a multiple of 8; the errors of [`Hasher::new`](crate::Hasher::new).
///
/// # Safety
/// `length` bytes from `start` are readable, and nobody writes to them, until the filter is dropped.
pub unsafe fn open_compact(start: NonNull<u8>, length: usize, options: &CompactOptions) -> Result<Filter> {
    // SAFETY: the caller promises that `length` bytes from `start` are readable, and nobody writes to them, until the
    // filter is dropped, for as long as the words are there.
    let bytes = unsafe { AnyBytes::new(start, length) };
    let form = Form::read(bytes.bytes())?;
    form.check(bytes.bytes(), options.verify)?;
    // SAFETY: the caller promises that `length` bytes from `start` are readable, and nobody writes to them, until the
    // filter is dropped.
    let words = unsafe { bytes.into_words(form.trailer.payload_bytes)? };
    form.over(words, options)
}

/// Copies a filter out of its compact form, of any alignment, into its own memory, and verifies all of it.
///
/// # Errors
/// The errors of [`open_compact`] without the one about alignment; [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub fn load_compact(whole: &[u8], options: &CompactOptions) -> Result<Filter> {
    let form = Form::read(whole)?;
    form.check(whole, true)?;
    let words = Words::read(form.geometry.payload_bytes, |to| {
        to.copy_from_slice(&whole[..to.len()]);
        Ok(to.len())
    })?;
    form.over(words, &CompactOptions { verify: true, ..*options })
}

/// Checks all of a compact form, of any alignment, against its checksum. Reads the form once.
///
/// # Errors
/// The errors of [`open_compact`] without the one about alignment.
pub fn verify_compact(whole: &[u8]) -> Result<()> {
    Form::read(whole)?.check(whole, true)
}

/// Looks up a hash in a compact form, of any alignment, without opening it. Each call checks the trailer against the
/// trailer's part of the checksum; [`verify_compact`] checks the payload.
///
/// Takes no memory for kinds that can be asked in bytes ([`Row::in_bytes`]). For other kinds the call makes a handle.
/// Kinds that need whole words in place, such as `fuse`, need the form at a multiple of 8.
///
/// # Errors
/// As [`open_compact`].
#[inline]
pub fn compact_contains_hash(whole: AnyBytes, hash: u64) -> Result<bool> {
    let look_up = || {
        let trailer = Trailer::at_once(whole.bytes())?;
        let in_bytes = row_of(&trailer)?.in_bytes?;
        (in_bytes.contains)(&trailer, whole.first(trailer.payload_bytes), hash)
    };
    match look_up() {
        Some(answer) => Ok(answer),
        None => by_a_handle(whole, hash),
    }
}

/// Answers with a handle, for kinds that cannot be asked in bytes. Also finds out what is wrong with a form. Kept out
/// of line, because it is rarely called.
#[cold]
#[inline(never)]
fn by_a_handle(whole: AnyBytes, hash: u64) -> Result<bool> {
    let form = Form::read(whole.bytes())?;
    // This is the hash function of filters that take hashes, or of filters that take integers.
    let function = form.row.hash_functions().last().copied().unwrap_or(HashFunction::External);
    let options = CompactOptions { hash: function, ..CompactOptions::default() };
    // SAFETY: the words are dropped with the filter, before this returns.
    let words = unsafe { whole.into_words(form.trailer.payload_bytes)? };
    Ok(form.over(words, &options)?.contains_hash(hash))
}

/// Looks up one hash in many compact forms. `count` is their number, and `form` gives the i-th form. Lines are fetched
/// before the first form is asked, and then ahead of the forms that are asked: first the trailers' lines, then the
/// payloads'.
///
/// # Errors
/// The errors of [`compact_contains_hash`], naming the form, and
/// [`Status::BufferTooSmall`](crate::Status::BufferTooSmall). After an error all answers say true.
pub fn compacts_contain_hash<'a>(
    count: usize,
    form: impl Fn(usize) -> AnyBytes<'a>,
    hash: u64,
    answers: &mut Answers,
) -> Result<()> {
    let mut wrong = None;
    let fetch_payload = |i| {
        let whole = form(i);
        if let Some(trailer) = Trailer::at_once(whole.bytes())
            && let Some(in_bytes) = row_of(&trailer).and_then(|row| row.in_bytes)
        {
            (in_bytes.fetch)(&trailer, whole.first(trailer.payload_bytes), hash);
        }
    };
    let mut ask = |i| {
        compact_contains_hash(form(i), hash).unwrap_or_else(|error| {
            wrong.get_or_insert((i, error));
            true
        })
    };
    many::across(count, false, answers, |i| form(i).fetch_last(), fetch_payload, &mut ask)?;
    let Some((i, error)) = wrong else { return Ok(()) };
    answers.fill(true, count);
    answers.done = 0;
    Err(error.about(format_args!("form {i}")))
}
