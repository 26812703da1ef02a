//! Filters on the wire: a filter in few bytes ([`pack`]), and what changed between two states of one filter
//! ([`delta`]). The payload of both is arithmetic-coded, so it takes the entropy of its fill (Mitzenmacher, "Compressed
//! Bloom filters", 2002). `docs/format.md` specifies both to the byte.

mod coder;
mod fields;
mod model;
mod runs;
pub mod sparse;

use crate::contract::{Base, check_compatible};
use crate::error::{Result, error};
use crate::format::Header;
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::hash::{Checksum, Secret};
use crate::making::reopen;
use crate::storage::{Words, copy_words, for_each_chunk, try_vec};
use core::sync::atomic::{AtomicU64, Ordering};
use fields::{Fields, described};
use model::NODE_WORDS;

/// The version of both forms.
const VERSION: u8 = 1;
/// How a packed form begins, before its version.
const PACKED: [u8; 3] = *b"\x89PW";
/// How a delta begins, before its version.
const DELTA: [u8; 3] = *b"\x89PD";
/// The length of the checksum of a state, and of a check.
const DIGEST: usize = 8;

/// Gives the packed form of a filter, map or sketch to `sink`, piece by piece and in order. The form has everything
/// that the image has; [`unpack`] gives the image back to the byte. Any kind can be packed. It is small if the bits of
/// the payload, or of large parts of it, are mostly 0 or mostly 1. For kinds that are made of bits it takes less than 1
/// % more than the entropy of the payload's fill, plus 32 bytes.
///
/// Threads may insert meanwhile: the form has all keys whose insertion happened before. It may then be larger, because
/// the fills that its code is based on change. Takes time linear in the payload, and little memory besides a copy of an
/// image in place.
///
/// # Errors
/// The errors of the sink; [`Status::Unclean`](crate::Status::Unclean) if nobody marked the payload clean;
/// [`Status::Corrupt`](crate::Status::Corrupt) if an image in place does not match its checksums;
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub fn pack(image: &impl Image, sink: &mut Sink) -> Result<()> {
    let copy = copy_in_place(image.base())?;
    let new = copy.as_ref().unwrap_or(image.base());
    let header = described(new)?;
    let mut form = Form { digest: Checksum::default(), sink };
    form.start(PACKED)?;
    Fields::of(&header).write(None, &mut |bytes| form.put(bytes))?;
    write_payload(&[], new, &header, form).map(drop)
}

/// Makes a handle from its packed form `bytes`, in its own memory. `most_bytes` is the most bytes that the image may
/// have: a form that claims more is refused before its memory is allocated. `secret` is the secret key of a keyed
/// filter, without which no keys can be hashed.
///
/// # Errors
/// [`Status::TooLarge`](crate::Status::TooLarge) past `most_bytes`; [`Status::Foreign`](crate::Status::Foreign),
/// [`Status::Truncated`](crate::Status::Truncated), [`Status::Corrupt`](crate::Status::Corrupt),
/// [`Status::NewerVersion`](crate::Status::NewerVersion), [`Status::SecretMismatch`](crate::Status::SecretMismatch),
/// [`Status::UnsupportedByBuild`](crate::Status::UnsupportedByBuild) as for images;
/// [`Status::Unsupported`](crate::Status::Unsupported) if the kind has another handle;
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub fn unpack<H: Image>(bytes: &[u8], most_bytes: u64, secret: Option<&Secret>) -> Result<H> {
    let (mut rest, check) = opened(bytes, PACKED)?;
    let header = Fields::read(None, &mut rest)?.header()?;
    let (row, hasher) = reopen(&header, secret)?;
    check_size(&header, most_bytes)?;
    let words = Words::zeroed(header.geometry.payload_bytes)?;
    finish(Base::new(row, header, hasher, words), bytes, rest, check)
}

/// Gives a delta to `sink`: what changed from `old`, the older state of a filter, map or sketch, to `new`, the newer
/// one. A filter that grows may have grown. The delta takes as many bytes as the changed bits need, and about 25 bytes
/// more. [`patch`] makes `new` from `old` and the delta.
///
/// # Errors
/// [`Status::Incompatible`](crate::Status::Incompatible) if the handles differ in kind, layout, geometry, hash
/// function, seed or secret; [`Status::Unclean`](crate::Status::Unclean) if nobody marked one of the payloads clean, or
/// if `old` changed meanwhile; otherwise as [`pack`].
pub fn delta<H: Image>(old: &H, new: &H, sink: &mut Sink) -> Result<()> {
    let copies = (copy_in_place(old.base())?, copy_in_place(new.base())?);
    let (old, new) = (copies.0.as_ref().unwrap_or(old.base()), copies.1.as_ref().unwrap_or(new.base()));
    check_compatible(old, new)?;
    let (before, after) = (described(old)?, described(new)?);
    let digest = digest_of(&before, old.words())?;
    let mut form = Form { digest: Checksum::default(), sink };
    form.start(DELTA)?;
    form.put(&digest.to_le_bytes())?;
    Fields::of(&after).write(Some(&Fields::of(&before)), &mut |bytes| form.put(bytes))?;
    write_payload(old.words().shared(), new, &after, form)?;
    // Other threads may insert into `old` while this function reads it.
    match digest_of(&before, old.words())? == digest {
        true => Ok(()),
        false => Err(error!(Unclean, "the older filter changed while the delta was made")),
    }
}

/// Makes the newer state of the delta `bytes` from the older state `old`, in its own memory. `most_bytes` is the most
/// bytes that the image of the newer state may have. Threads must not insert into `old` meanwhile.
///
/// # Errors
/// [`Status::Incompatible`](crate::Status::Incompatible) if the delta is for another state;
/// [`Status::Unclean`](crate::Status::Unclean) if nobody marked `old` clean; otherwise as [`unpack`].
pub fn patch<H: Image>(old: &H, bytes: &[u8], most_bytes: u64) -> Result<H> {
    let (mut rest, check) = opened(bytes, DELTA)?;
    let copy = copy_in_place(old.base())?;
    let old = copy.as_ref().unwrap_or(old.base());
    let before = described(old)?;
    let Some((digest, after)) = rest.split_first_chunk() else { return Err(truncated(bytes)) };
    if u64::from_le_bytes(*digest) != digest_of(&before, old.words())? {
        return Err(error!(Incompatible, "the delta is for another state than that of this {} filter", old.row().name));
    }
    rest = after;
    let header = Fields::read(Some(&Fields::of(&before)), &mut rest)?.header()?;
    check_size(&header, most_bytes)?;
    let mut words = Words::zeroed(header.geometry.payload_bytes)?;
    for (to, from) in words.exclusive().unwrap_or_default().iter_mut().zip(old.words().shared()) {
        *to = from.load(Ordering::Relaxed);
    }
    let base = Base::new(old.row(), header, old.hasher().clone(), words).with_instructions(old.instructions());
    check_compatible(old, &base)?;
    finish(base, bytes, rest, check)
}

/// Changes a handle in its own memory from the older state of a delta to the newer one.
fn patch_in_place<H: Image>(handle: &mut H, delta: &[u8], most_bytes: u64) -> Result<()> {
    if !handle.base().is_own() {
        return Err(handle.base().refusal());
    }
    *handle = patch(handle, delta, most_bytes)?;
    Ok(())
}

impl Filter {
    /// Changes the filter from the older state of a delta to the newer one; see [`patch`].
    ///
    /// # Errors
    /// As [`patch`]; [`Status::UnsupportedByHandle`](crate::Status::UnsupportedByHandle) for an image in place. The
    /// filter then stays as it was.
    pub fn patch(&mut self, delta: &[u8], most_bytes: u64) -> Result<()> {
        patch_in_place(self, delta, most_bytes)
    }
}

#[cfg(feature = "map")]
impl crate::Map {
    /// Changes the map from the older state of a delta to the newer one, as [`Filter::patch`] does a filter.
    ///
    /// # Errors
    /// As [`Filter::patch`]. The map then stays as it was.
    pub fn patch(&mut self, delta: &[u8], most_bytes: u64) -> Result<()> {
        patch_in_place(self, delta, most_bytes)
    }
}

/// Copies and checks the base of an image in place or of a compact form. `None` for a handle in its own memory.
fn copy_in_place(base: &Base) -> Result<Option<Base>> {
    if base.is_own() { Ok(None) } else { base.copy().map(Some) }
}

/// The XXH3 of a state: its header, as a clean image has it, and the payload.
fn digest_of(header: &Header, words: &Words) -> Result<u64> {
    let mut digest = Checksum::default();
    digest.update(&header.encode());
    for_each_chunk(words.shared(), |bytes| {
        digest.update(bytes);
        Ok(())
    })?;
    Ok(digest.finish())
}

/// The check of a form, from the checksum of the resulting state and the checksum of the bytes before the check.
fn check_of(state: u64, form: u64) -> u64 {
    let mut both = [0; 2 * DIGEST];
    both[..DIGEST].copy_from_slice(&state.to_le_bytes());
    both[DIGEST..].copy_from_slice(&form.to_le_bytes());
    Checksum::of(&both)
}

/// Refuses a header whose image is too large.
fn check_size(header: &Header, most_bytes: u64) -> Result<()> {
    match header.image_bytes() {
        bytes if bytes > most_bytes => {
            Err(error!(TooLarge, "the form says that the image has {bytes} bytes, more than the {most_bytes} allowed"))
        }
        _ => Ok(()),
    }
}

/// A form that is being written.
struct Form<'a, 'b> {
    /// The checksum of the bytes so far.
    digest: Checksum,
    sink: &'a mut Sink<'b>,
}

impl Form<'_, '_> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.digest.update(bytes);
        (self.sink)(bytes)
    }

    fn start(&mut self, magic: [u8; 3]) -> Result<()> {
        self.put(&magic)?;
        self.put(&[VERSION])
    }
}

/// Writes the payload of `new` XOR that of an old state, and the check of the form.
fn write_payload(old: &[AtomicU64], new: &Base, header: &Header, mut form: Form) -> Result<()> {
    let words = new.words().shared();
    let load = |words: &[AtomicU64], i: usize| words.get(i).map_or(0, |word| word.load(Ordering::Relaxed));
    let mut state = Checksum::default();
    state.update(&header.encode());
    let mut buffer = try_vec(8 * NODE_WORDS)?;
    buffer.resize(8 * NODE_WORDS, 0);
    // The checksum and the code cover the same words, even if other threads change these words meanwhile.
    let take = |range: core::ops::Range<usize>, piece: &mut Vec<u64>| {
        let bytes = copy_words(&words[range.clone()], &mut buffer[..8 * range.len()]);
        state.update(bytes);
        let taken = bytes.as_chunks().0.iter().zip(range);
        piece.extend(taken.map(|(word, i)| u64::from_le_bytes(*word) ^ load(old, i)));
    };
    runs::encode(words.len(), |i| load(words, i) ^ load(old, i), take, &mut |bytes| form.put(bytes))?;
    let check = check_of(state.finish(), form.digest.finish());
    (form.sink)(&check.to_le_bytes())
}

/// The bytes of a form between its version and its check, and the check.
fn opened(bytes: &[u8], magic: [u8; 3]) -> Result<(&[u8], u64)> {
    let start = bytes.len().min(magic.len());
    if bytes[..start] != magic[..start] {
        let what = if magic == DELTA { "a delta" } else { "a packed form" };
        return Err(error!(Foreign, "the bytes do not start like {what}"));
    }
    let rest = &bytes[start..];
    match rest.split_first() {
        Some((version, _)) if *version > VERSION => {
            Err(error!(NewerVersion, "version {version} of the form is later than {VERSION}"))
        }
        Some((0, _)) => Err(error!(Corrupt, "the form's version is 0")),
        Some((_, rest)) => {
            let Some((rest, check)) = rest.split_last_chunk() else { return Err(truncated(bytes)) };
            Ok((rest, u64::from_le_bytes(*check)))
        }
        None => Err(truncated(bytes)),
    }
}

#[cold]
fn truncated(bytes: &[u8]) -> crate::Error {
    error!(Truncated, "the form ends after {} bytes, inside its first or last part", bytes.len())
}

/// The handle over a base, after the code has changed the payload of the base. `bytes` are the whole form.
fn finish<H: Image>(mut base: Base, bytes: &[u8], code: &[u8], check: u64) -> Result<H> {
    runs::decode(code, base.writable()?)?;
    let form = Checksum::of(&bytes[..bytes.len() - DIGEST]);
    if check_of(digest_of(base.header(), base.words())?, form) != check {
        return Err(error!(Corrupt, "the {} bytes of the form do not match their checksum", bytes.len()));
    }
    let handle = H::over(base)?;
    handle.payload().check_payload()?;
    Ok(handle)
}
