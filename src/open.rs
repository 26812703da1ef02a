//! Making and opening filters of any kind.

use crate::base::Base;
use crate::error::{Error, Result, error};
use crate::filter::Filter;
use crate::format::{HEADER_LENGTH, Header, Table, table_bytes};
use crate::hash::{Hasher, SecretKey};
use crate::registry::{self, Row};
use crate::simd;
use crate::spec::{Size, Spec};
use crate::storage::{Access, FileRange, ImageBytes, Mapping, PathBytes, RawFile, Shown, Words};
use core::sync::atomic::Ordering;
use std::path::Path;

/// How an image is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// In place, for reading: O(1), touches only the header.
    #[default]
    Read,
    /// In place, for reading and writing, as the only writer.
    Write,
    /// In place, for reading and lock-free insertion, together with other handles, threads and processes that do the
    /// same.
    Share,
    /// Copied into memory of its own; the payload's checksum is checked on the way.
    Load,
}

impl Mode {
    /// How the image's bytes are then used.
    fn access(self) -> Access {
        match self {
            Mode::Read | Mode::Load => Access::Read,
            Mode::Write => Access::Write,
            Mode::Share => Access::Share,
        }
    }
}

/// Options of opening.
#[derive(Clone, Copy, Default)]
pub struct OpenOptions {
    /// How.
    pub mode: Mode,
    /// The secret key of a keyed filter. Without it keys cannot be hashed, but all else works.
    pub key: Option<SecretKey>,
}

/// The header of the empty filter that a spec describes, and its hasher.
fn plan(spec: &Spec) -> Result<(&'static Row, Header, Hasher)> {
    let row = registry::of_spec(spec)?;
    let geometry = (row.plan)(spec)?;
    let hasher = spec.hasher()?;
    let (capacity, false_positive_rate) = match spec.size()? {
        Size::Rate { capacity, false_positive_rate } => (capacity, false_positive_rate),
        Size::Exact { capacity, .. } => (capacity, 0.0),
    };
    let header = Header {
        kind: row.kind,
        layout_version: row.layout_version,
        hash: hasher.function(),
        identifier: hasher.identifier(),
        capacity,
        false_positive_rate,
        geometry,
        count: 0,
        dirty: false,
    };
    Ok((row, header, hasher))
}

/// An empty filter in memory of its own.
///
/// # Errors
/// Those of the spec, each naming what is allowed; [`Status::TooLarge`](crate::Status::TooLarge) and
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub fn create(spec: &Spec) -> Result<Box<dyn Filter>> {
    let row = registry::of_spec(spec)?;
    (row.open)(create_base(spec)?)
}

/// What lies beneath such a filter.
pub(crate) fn create_base(spec: &Spec) -> Result<Base> {
    let (_, header, hasher) = plan(spec)?;
    let words = Words::zeroed(header.geometry.payload_bytes)?;
    Ok(Base::new(header, hasher, words).with_instructions(simd::choose(spec.kernel)?))
}

/// The length of the image of the filter that a spec describes.
///
/// # Errors
/// As [`create`], without a lack of memory.
pub fn image_size(spec: &Spec) -> Result<u64> {
    Ok(plan(spec)?.1.image_bytes())
}

/// An empty filter in a caller's buffer, which becomes a complete image: header, payload, and whatever follows as it
/// was.
///
/// # Errors
/// As [`create`]; [`Status::BufferTooSmall`](crate::Status::BufferTooSmall),
/// [`Status::Misaligned`](crate::Status::Misaligned). The buffer is then as it was.
///
/// # Safety
/// `length` bytes from `base` are writable until the filter is dropped, and meanwhile no other handle of this process
/// uses them; other processes that share them may read them through handles of their own.
pub unsafe fn create_in(spec: &Spec, base: core::ptr::NonNull<u8>, length: usize) -> Result<Box<dyn Filter>> {
    let (row, header, hasher) = plan(spec)?;
    let instructions = simd::choose(spec.kernel)?;
    let needed = header.image_bytes();
    if (length as u64) < needed {
        return Err(error!(BufferTooSmall, "the buffer has {length} bytes, the image needs {needed}"));
    }
    // SAFETY: the caller's promise.
    let image = unsafe { ImageBytes::from_buffer(base, needed as usize, Access::Write)? };
    let words = image.into_words(HEADER_LENGTH, header.geometry.payload_bytes as usize)?;
    // Everything that can fail comes before the first byte is written.
    let mut filter = (row.open)(Base::new(header, hasher, words).with_instructions(instructions))?;
    filter.base_mut().initialise()?;
    Ok(filter)
}

/// Opens an image in a caller's buffer.
///
/// # Errors
/// [`Status::Foreign`](crate::Status::Foreign), [`Status::Truncated`](crate::Status::Truncated),
/// [`Status::Corrupt`](crate::Status::Corrupt), [`Status::NewerVersion`](crate::Status::NewerVersion),
/// [`Status::Misaligned`](crate::Status::Misaligned), [`Status::KeyMismatch`](crate::Status::KeyMismatch).
///
/// # Safety
/// `length` bytes from `base` are readable, until the filter is dropped unless the mode is [`Mode::Load`]. With
/// [`Mode::Write`] they are also writable, and no other handle of this process uses them; with [`Mode::Share`] they are
/// writable, and no handle uses them but with [`Mode::Share`] or [`Mode::Read`]. Meanwhile nobody writes to them but
/// Petal, through a handle in this or another process.
pub unsafe fn open_buffer(
    base: core::ptr::NonNull<u8>,
    length: usize,
    options: &OpenOptions,
) -> Result<Box<dyn Filter>> {
    // Less than a header is no image; loading says what it is.
    if options.mode == Mode::Load || length < HEADER_LENGTH {
        // SAFETY: the caller's promise; the bytes are used only until this returns.
        return load(unsafe { core::slice::from_raw_parts(base.as_ptr(), length) }, options);
    }
    // SAFETY: the caller's promise.
    open_image(unsafe { ImageBytes::from_buffer(base, length, options.mode.access())? }, options)
}

/// Copies an image out of `bytes`, and checks its payload.
///
/// # Errors
/// As [`open_buffer`].
pub fn load(bytes: &[u8], options: &OpenOptions) -> Result<Box<dyn Filter>> {
    let read = |target: &mut [u8], offset: u64| {
        let rest = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or_default();
        let length = rest.len().min(target.len());
        target[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    };
    let header = Header::read(|start| read(start, 0))?.0;
    if (bytes.len() as u64) < header.image_bytes() {
        return Err(truncated(&header, bytes.len() as u64));
    }
    load_from(read, options)
}

/// Opens the image that a file is.
///
/// # Errors
/// As [`open_buffer`], and what the system reports; [`Status::Corrupt`](crate::Status::Corrupt) if bytes follow the
/// image; [`Status::Locked`](crate::Status::Locked) if there is another writer. To be written, a file with holes must
/// have room on its disk: [`Status::NoSpace`](crate::Status::NoSpace).
pub fn open(path: &Path, options: &OpenOptions) -> Result<Box<dyn Filter>> {
    let failed = |code| Error::from_os(code, format_args!("opening {}", Shown(path)));
    let file = RawFile::open(&PathBytes::new(path)?, options.mode.access().is_writing()).map_err(failed)?;
    open_file(file, 0, true, options).map_err(|error| error.about(format_args!("{}", Shown(path))))
}

/// Opens the image at `offset`, a multiple of 8, of an open file, which stays the caller's. Other things may follow it.
///
/// # Errors
/// As [`open`].
#[cfg(unix)]
pub fn open_descriptor(fd: std::os::fd::RawFd, offset: u64, options: &OpenOptions) -> Result<Box<dyn Filter>> {
    let failed = |code| Error::from_os(code, format_args!("using the descriptor {fd}"));
    let file = RawFile::from_descriptor(fd, options.mode.access().is_writing()).map_err(failed)?;
    open_file(file, offset, false, options).map_err(|error| error.about(format_args!("descriptor {fd}")))
}

fn open_file(file: RawFile, offset: u64, whole: bool, options: &OpenOptions) -> Result<Box<dyn Filter>> {
    let failed = |code| Error::from_os(code, format_args!("reading the image"));
    if !offset.is_multiple_of(8) {
        return Err(error!(Misaligned, "offset = {offset} is not a multiple of 8"));
    }
    let status = file.status().map_err(failed)?;
    let available = status.length().saturating_sub(offset);
    let read = |target: &mut [u8], at: u64| file.read_at(target, offset + at).map_err(failed);
    let header = Header::read(|start| read(start, 0))?.0;
    let needed = header.image_bytes();
    if available < needed {
        return Err(truncated(&header, available));
    }
    if whole && available > needed {
        return Err(error!(Corrupt, "{} bytes follow the image of {needed} bytes", available - needed));
    }
    // Where addresses have 32 bits a file may be larger than all of memory.
    let length = usize::try_from(needed)
        .map_err(|_| error!(TooLarge, "the image has {needed} bytes, more than the address space holds"))?;
    if options.mode == Mode::Load {
        return load_from(read, options);
    }
    let mapping = Mapping::new(file, FileRange { offset, length }, options.mode.access())?;
    open_image(ImageBytes::from_mapping(mapping), options)
}

/// Opens an image in place. Of a mapped file the header is read again: the lock is held only now, and another writer
/// may have changed count and state since it was read first.
fn open_image(image: ImageBytes, options: &OpenOptions) -> Result<Box<dyn Filter>> {
    let read = |start: &mut [u8; HEADER_LENGTH]| {
        image.read(start);
        Ok(start.len())
    };
    let header = Header::read(read)?.0;
    let (row, hasher) = reopen(&header, options)?;
    if (image.length() as u64) < header.image_bytes() {
        return Err(truncated(&header, image.length() as u64));
    }
    let words = image.into_words(HEADER_LENGTH, header.geometry.payload_bytes as usize)?;
    let mut filter = (row.open)(Base::new(header, hasher, words))?;
    filter.base().words().image().and_then(ImageBytes::file).map_or(Ok(()), Mapping::reserve)?;
    if options.mode == Mode::Share {
        if filter.as_shared_insert().is_none() {
            return Err(error!(Unsupported, "the kind {} has no shared insertion", row.name));
        }
        filter.base_mut().begin_sharing()?;
    }
    Ok(filter)
}

/// How often an image is read again that was sealed while it was read.
const ATTEMPTS: u32 = 4;

/// A filter over a copy of the image that `read` copies from an offset on, which is as long as its header says. A dirty
/// image is taken as it is, and stays dirty; so is one that a writer changed whenever it was read.
fn load_from(read: impl Fn(&mut [u8], u64) -> Result<usize>, options: &OpenOptions) -> Result<Box<dyn Filter>> {
    let mut attempts = ATTEMPTS;
    loop {
        attempts -= 1;
        let (mut header, checksum) = Header::read(|start| read(start, 0))?;
        let (row, hasher) = reopen(&header, options)?;
        let payload_bytes = header.geometry.payload_bytes;
        // The table's checksum tells two sealed images apart. It is the last word.
        let witness = || {
            let mut word = [0; 8];
            read(&mut word, header.image_bytes() - 8).map(|_| word)
        };
        let before = witness()?;
        let payload = Words::read(payload_bytes, |bytes| read(bytes, HEADER_LENGTH as u64))?;
        if !header.dirty {
            let place = HEADER_LENGTH as u64 + payload_bytes;
            let read_table = || Words::read(table_bytes(payload_bytes), |bytes| read(bytes, place));
            let table = read_table()?;
            let checked = Table::new(table.shared(), payload_bytes).check(&payload, checksum, HEADER_LENGTH);
            if let Err(error) = checked {
                // The table too: sealing what came to the same bytes gives the same checksum.
                let unchanged = !Header::read(|start| read(start, 0))?.0.dirty && witness()? == before;
                let again = read_table()?;
                let mut pairs = again.shared().iter().zip(table.shared());
                if unchanged && pairs.all(|(a, b)| a.load(Ordering::Relaxed) == b.load(Ordering::Relaxed)) {
                    return Err(error);
                }
                if attempts > 0 {
                    continue;
                }
                header.dirty = true;
            }
        }
        let filter = (row.open)(Base::new(header, hasher, payload))?;
        filter.check_payload()?;
        return Ok(filter);
    }
}

fn reopen(header: &Header, options: &OpenOptions) -> Result<(&'static Row, Hasher)> {
    let row =
        registry::find(header.kind).filter(|row| header.layout_version <= row.layout_version).ok_or_else(|| {
            let Header { kind, layout_version, .. } = header;
            error!(NewerVersion, "kind {} with layout {layout_version} is not known to this version", kind.0)
        })?;
    if header.layout_version == 0 {
        return Err(error!(Corrupt, "the header's layout_version is 0"));
    }
    Ok((row, Hasher::reopen(header.hash, header.identifier, options.key.as_ref())?))
}

fn truncated(header: &Header, available: u64) -> Error {
    error!(Truncated, "the image has {} bytes, only {available} of them are there", header.image_bytes())
}
