//! Opens images of any kind, each as the handle of its kind, such as a [`crate::Filter`] or a [`crate::Map`].

use crate::contract::{Base, Capabilities, Handle, Row};
use crate::error::{Error, List, Result, Status, error};
use crate::format::{HEADER_LENGTH, Header, Table, table_bytes};
use crate::handle::image::Image;
use crate::hash::{HashFunction, Hasher, Secret};
use crate::registry;
use crate::storage::{Access, Descriptor, FileRange, ImageBytes, Mapping, PathBytes, RawFile, Shown, Words};
use core::fmt;
use core::str::FromStr;
use core::sync::atomic::Ordering;
use std::path::Path;

/// The ways to open an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// In place, for reading. Takes O(1), and touches only the header.
    #[default]
    Read,
    /// In place, for reading and writing, as the only writer.
    Write,
    /// In place, for reading and lock-free insertion, together with other handles, threads and processes that open the
    /// image in this mode too.
    Share,
    /// Copied into its own memory, with the payload's checksum checked on the way.
    Load,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Mode; 4] = [Mode::Read, Mode::Write, Mode::Share, Mode::Load];

    /// The mode's name: `read`, `write`, `share` or `load`.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Read => "read",
            Mode::Write => "write",
            Mode::Share => "share",
            Mode::Load => "load",
        }
    }

    /// The access to the image's bytes that a mode needs.
    fn access(self) -> Access {
        match self {
            Mode::Read | Mode::Load => Access::Read,
            Mode::Write => Access::Write,
            Mode::Share => Access::Share,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Mode {
    type Err = Error;

    /// The mode with this name.
    ///
    /// # Errors
    /// [`Status::UnknownValue`](crate::Status::UnknownValue).
    fn from_str(text: &str) -> Result<Mode> {
        let found = Mode::ALL.into_iter().find(|mode| mode.name() == text);
        found.ok_or_else(|| error!(UnknownValue, "mode = {text} is not one of {}", List(&Mode::ALL)))
    }
}

/// Options of opening.
#[derive(Clone, Copy, Default)]
pub struct OpenOptions {
    /// How the image is used.
    pub mode: Mode,
    /// The secret key of a keyed filter. Without the key no keys can be hashed, but everything else works.
    pub secret: Option<Secret>,
    /// Has the system read a mapped file to its end at opening, so that the first lookups do not wait for the disk.
    /// Opening then takes as long as reading the file. This is a hint: a system that cannot do it, or has no memory to
    /// spare, opens the file all the same. [`Mode::Load`] reads the whole file in any case, and a buffer has no file.
    pub prefault: bool,
}

/// Opens an image in a caller's buffer.
///
/// # Errors
/// [`Status::Foreign`](crate::Status::Foreign), [`Status::Truncated`](crate::Status::Truncated),
/// [`Status::Corrupt`](crate::Status::Corrupt), [`Status::NewerVersion`](crate::Status::NewerVersion),
/// [`Status::Misaligned`](crate::Status::Misaligned), [`Status::SecretMismatch`](crate::Status::SecretMismatch),
/// [`Status::UnsupportedByBuild`](crate::Status::UnsupportedByBuild) for a kind that this build leaves out.
///
/// # Safety
/// `length` bytes from `base` are readable, until the filter is dropped unless the mode is [`Mode::Load`]. With
/// [`Mode::Write`] they are also writable, and no other handle of this process uses them; with [`Mode::Share`] they are
/// writable, and no handle uses them but with [`Mode::Share`] or [`Mode::Read`]. Meanwhile nobody writes to them but
/// Petal, through a handle in this or another process.
pub unsafe fn open_in_buffer<H: Image>(
    base: core::ptr::NonNull<u8>,
    length: usize,
    options: &OpenOptions,
) -> Result<H> {
    // A buffer shorter than a header is not an image, and loading says why.
    if options.mode == Mode::Load || length < HEADER_LENGTH {
        // SAFETY: the caller's promise; the bytes are used only until this returns.
        return load(unsafe { core::slice::from_raw_parts(base.as_ptr(), length) }, options);
    }
    // SAFETY: the caller's promise.
    in_place(unsafe { ImageBytes::from_buffer(base, length, options.mode.access())? }, options)?.handle(options)
}

/// Copies an image out of `bytes`, and checks its payload.
///
/// # Errors
/// As [`open_in_buffer`].
pub fn load<H: Image>(bytes: &[u8], options: &OpenOptions) -> Result<H> {
    copy_of(bytes, options)?.handle(options)
}

fn copy_of(bytes: &[u8], options: &OpenOptions) -> Result<Opened> {
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
    copy(&read, options)
}

/// Opens a file that is an image.
///
/// # Errors
/// The errors of [`open_in_buffer`], and the system's; [`Status::Corrupt`](crate::Status::Corrupt) if bytes follow the
/// image; [`Status::Locked`](crate::Status::Locked) if there is another writer. A file with holes that is opened for
/// writing must have room on its disk: [`Status::NoSpace`](crate::Status::NoSpace).
pub fn open<H: Image>(path: impl AsRef<Path>, options: &OpenOptions) -> Result<H> {
    let path = path.as_ref();
    let opened = of_file(path_file(path, options)?, 0, true, options);
    opened.and_then(|opened| opened.handle(options)).map_err(|error| error.about(format_args!("{}", Shown(path))))
}

fn path_file(path: &Path, options: &OpenOptions) -> Result<RawFile> {
    let failed = |code| Error::from_os(code, format_args!("opening {}", Shown(path)));
    RawFile::open(&PathBytes::new(path)?, options.mode.access().is_writing()).map_err(failed)
}

/// Opens the image at `offset`, a multiple of 8, of an open file, which stays the caller's. The file may go on after
/// the image.
///
/// # Errors
/// As [`open`].
pub fn open_descriptor<H: Image>(fd: Descriptor, offset: u64, options: &OpenOptions) -> Result<H> {
    let failed = |code| Error::from_os(code, format_args!("using the descriptor {fd}"));
    let file = RawFile::from_descriptor(fd, options.mode.access().is_writing()).map_err(failed)?;
    let opened = of_file(file, offset, false, options);
    opened.and_then(|opened| opened.handle(options)).map_err(|error| error.about(format_args!("descriptor {fd}")))
}

/// An image that is in order as far as that can be said without its kind's own code. It is apart from the handle, so
/// that all of it is compiled once, and not for each kind of handle.
struct Opened {
    base: Base,
    is_copy: bool,
}

impl Opened {
    /// The handle over the image.
    fn handle<H: Image>(self, options: &OpenOptions) -> Result<H> {
        let Opened { base, is_copy } = self;
        let row = base.row();
        let mut handle = H::over(base)?;
        if is_copy {
            if handle.base().header().unclean {
                handle.payload_mut().mend()?;
            }
            handle.payload().check_payload()?;
            return Ok(handle);
        }
        // A writer may have died in the middle of a change of an unclean image.
        let is_mended = options.mode == Mode::Write && handle.base().header().unclean;
        if !is_mended {
            handle.payload().check_state()?;
        }
        if options.mode == Mode::Write {
            row.check_in_place()?;
        }
        handle.base().words().image().and_then(ImageBytes::file).map_or(Ok(()), Mapping::reserve)?;
        if is_mended {
            handle.payload_mut().mend()?;
            handle.payload().check_state()?;
        }
        if options.mode == Mode::Share {
            handle.base_mut().begin_sharing()?;
        }
        Ok(handle)
    }
}

fn of_file(file: RawFile, offset: u64, whole: bool, options: &OpenOptions) -> Result<Opened> {
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
    // With 32-bit addresses a file may be larger than all of memory.
    let length = usize::try_from(needed)
        .map_err(|_| error!(TooLarge, "the image has {needed} bytes, more than the address space holds"))?;
    if options.mode == Mode::Load {
        return copy(&read, options);
    }
    let mapping = Mapping::new(file, FileRange { offset, length }, options.mode.access())?;
    if options.prefault {
        mapping.prefault();
    }
    in_place(ImageBytes::from_mapping(mapping), options)
}

/// Opens an image in place. The header of a mapped file is read again: only now is the lock held, and another writer
/// may have changed count and state since the first time.
fn in_place(image: ImageBytes, options: &OpenOptions) -> Result<Opened> {
    let read = |start: &mut [u8; HEADER_LENGTH]| {
        image.read(start);
        Ok(start.len())
    };
    let header = Header::read(read)?.0;
    if (image.length() as u64) < header.image_bytes() {
        return Err(truncated(&header, image.length() as u64));
    }
    let (row, hasher) = reopen(&header, options.secret.as_ref())?;
    if options.mode.access().is_writing() {
        let mut start = [0; HEADER_LENGTH];
        image.read(&mut start);
        Header::check_to_be_written(&start)?;
    }
    if options.mode == Mode::Share && !row.capabilities_of(&header.geometry).contains(Capabilities::INSERT_SHARED) {
        return Err(error!(
            Unsupported,
            "a filter of the kind {} with these parameters has no shared insertion", row.name
        ));
    }
    let words = image.into_words(HEADER_LENGTH, header.geometry.payload_bytes as usize)?;
    Ok(Opened { base: Base::new(row, header, hasher, words), is_copy: false })
}

/// How often an image is read again that is sealed while it is read.
const ATTEMPTS: u32 = 4;

/// A copy of the image that `read` copies from an offset on, as long as the image's header says. An unclean image is
/// copied as it is, and stays unclean. So is an image that a writer changed during every attempt.
fn copy(read: &dyn Fn(&mut [u8], u64) -> Result<usize>, options: &OpenOptions) -> Result<Opened> {
    let mut attempts = ATTEMPTS;
    loop {
        attempts -= 1;
        let (mut header, checksum) = Header::read(|start| read(start, 0))?;
        let (row, hasher) = reopen(&header, options.secret.as_ref())?;
        let payload_bytes = header.geometry.payload_bytes;
        // Two sealed images differ in the table's checksum, which is the last word.
        let witness = || {
            let mut word = [0; 8];
            read(&mut word, header.image_bytes() - 8).map(|_| word)
        };
        let before = witness()?;
        let payload = Words::read(payload_bytes, |bytes| read(bytes, HEADER_LENGTH as u64))?;
        if !header.unclean {
            let place = HEADER_LENGTH as u64 + payload_bytes;
            let read_table = || Words::read(table_bytes(payload_bytes), |bytes| read(bytes, place));
            let table = read_table()?;
            let checked = Table::new(table.shared(), payload_bytes).check(&payload, checksum, HEADER_LENGTH);
            if let Err(error) = checked {
                // The tables are compared too, because an image that changed and came back to the same bytes has the
                // same checksum.
                let unchanged = !Header::read(|start| read(start, 0))?.0.unclean && witness()? == before;
                let again = read_table()?;
                let mut pairs = again.shared().iter().zip(table.shared());
                if unchanged && pairs.all(|(a, b)| a.load(Ordering::Relaxed) == b.load(Ordering::Relaxed)) {
                    return Err(error);
                }
                if attempts > 0 {
                    continue;
                }
                header.unclean = true;
            }
        }
        return Ok(Opened { base: Base::new(row, header, hasher, payload), is_copy: true });
    }
}

/// The kind and the hasher that a header names.
///
/// # Errors
/// [`Status::NewerVersion`](crate::Status::NewerVersion), [`Status::Corrupt`](crate::Status::Corrupt),
/// [`Status::SecretMismatch`](crate::Status::SecretMismatch),
/// [`Status::UnsupportedByBuild`](crate::Status::UnsupportedByBuild).
pub(crate) fn reopen(header: &Header, secret: Option<&Secret>) -> Result<(&'static Row, Hasher)> {
    let row = registry::find(header.kind).filter(|row| header.layout_version <= row.form.layout_version).ok_or_else(
        || {
            let Header { kind, layout_version, .. } = header;
            if let Some(error) = registry::left_out_error(*kind) {
                return error;
            }
            let (number, handle) = (kind.0, Handle::of_number(kind.0));
            error!(NewerVersion, "kind {number} ({handle}) with layout {layout_version} is not known to this version")
        },
    )?;
    if header.layout_version == 0 {
        return Err(error!(Corrupt, "the header's layout_version is 0"));
    }
    if !row.can_have(header.hash) {
        let (name, hash) = (row.name, header.hash);
        return Err(error!(Corrupt, "a {name} filter cannot have the hash function {hash}"));
    }
    row.check_choices(&header.geometry)?;
    let hasher = Hasher::reopen(header.hash, header.identifier, secret).map_err(|error| match header.hash {
        HashFunction::Digest if error.status() == Status::OutOfRange => error!(Corrupt, "{error}"),
        _ => error,
    })?;
    Ok((row, hasher))
}

fn truncated(header: &Header, available: u64) -> Error {
    error!(Truncated, "the image has {} bytes, only {available} of them are there", header.image_bytes())
}
