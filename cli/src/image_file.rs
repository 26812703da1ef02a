//! Filters, maps, sketches and other images in files, and the secret keys that some of them need.

use crate::args;
use crate::failure::{Failure, Outcome, warn};
use crate::file_name::{is_standard, name, shown};
use crate::keys::Inputs;
use crate::numbers::short;
use crate::stdio::stdin;
use crate::text;
use petal::contract::{Payload, Structure};
use petal::format::{HEADER_LENGTH, Header};
use petal::interop::{self, ImportOptions};
use petal::{
    Base, Capabilities, Digest, Filter, HashFunction, Image, Map, Measure, Mode, OpenOptions, Overfill, Secret, Sketch,
    Status,
};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// The handle that an image opens as.
pub enum Handle {
    /// The image is a filter.
    Filter(Filter),
    /// The image is a map.
    Map(Map),
    /// The image is a sketch.
    Sketch(Sketch),
    /// The image has a kind that is alone in its handle.
    Own(Box<dyn Payload>),
}

impl Image for Handle {
    fn payload(&self) -> &dyn Payload {
        match self {
            Handle::Filter(filter) => filter.payload(),
            Handle::Map(map) => map.payload(),
            Handle::Sketch(sketch) => sketch.payload(),
            Handle::Own(payload) => &**payload,
        }
    }

    fn payload_mut(&mut self) -> &mut dyn Payload {
        match self {
            Handle::Filter(filter) => filter.payload_mut(),
            Handle::Map(map) => map.payload_mut(),
            Handle::Sketch(sketch) => sketch.payload_mut(),
            Handle::Own(payload) => &mut **payload,
        }
    }

    fn over(base: Base) -> petal::Result<Handle> {
        match base.row().structure {
            Structure::Filter { .. } | Structure::StaticFilter { .. } => Filter::over(base).map(Handle::Filter),
            Structure::Map { .. } | Structure::StaticMap { .. } => Map::over(base).map(Handle::Map),
            Structure::Sketch { .. } => Sketch::over(base).map(Handle::Sketch),
            Structure::Own { open, .. } => open(base).map(Handle::Own),
        }
    }
}

/// A handle that `petal info` describes.
pub trait Described: Image {
    /// The filter, if the handle is one.
    fn filter(&self) -> Option<&Filter>;

    /// Measures the whole payload. After each piece, calls `progress` with the number of bytes in it.
    fn statistics_with(&self, progress: &mut dyn FnMut(u64)) -> Measure;
}

impl Described for Filter {
    fn filter(&self) -> Option<&Filter> {
        Some(self)
    }

    fn statistics_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        self.statistics_with(progress)
    }
}

impl Described for Map {
    fn filter(&self) -> Option<&Filter> {
        None
    }

    fn statistics_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        self.statistics_with(progress)
    }
}

impl Described for Sketch {
    fn filter(&self) -> Option<&Filter> {
        None
    }

    fn statistics_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        self.statistics_with(progress)
    }
}

impl Described for Handle {
    fn filter(&self) -> Option<&Filter> {
        match self {
            Handle::Filter(filter) => Some(filter),
            Handle::Map(_) | Handle::Sketch(_) | Handle::Own(_) => None,
        }
    }

    fn statistics_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        match self {
            Handle::Filter(filter) => filter.statistics_with(progress),
            Handle::Map(map) => map.statistics_with(progress),
            Handle::Sketch(sketch) => sketch.statistics_with(progress),
            // `petal info` asks for no statistics of these.
            Handle::Own(_) => Measure::default(),
        }
    }
}

/// Opens the filter in the file at `path`, or reads a filter from standard input.
pub fn open(path: &Path, mode: Mode, secret: Option<Secret>) -> Outcome<Filter> {
    filter(path, open_any(path, mode, secret)?)
}

/// The opened handle as a filter; every other handle is refused.
pub fn filter(path: &Path, handle: Handle) -> Outcome<Filter> {
    match handle {
        Handle::Filter(filter) => Ok(filter),
        other => Err(is_other(path, &other, "filter")),
    }
}

/// The failure for an image with another handle than the needed one.
fn is_other(path: &Path, image: &Handle, wanted: &str) -> Failure {
    let (name, row) = (name(path), image.base().row());
    let (handle, one) = (row.handle().name(), row.handle().with_article());
    let help = if row.handle() == petal::Handle::Filter { "check" } else { handle };
    Failure::new(format_args!("{name}: is {one} of the kind {}, not a {wanted}: see petal help {help}", row.name))
}

/// Opens the map in the file at `path`, or reads a map from standard input.
pub fn open_map(path: &Path, mode: Mode, secret: Option<Secret>) -> Outcome<Map> {
    match open_any(path, mode, secret)? {
        Handle::Map(map) => Ok(map),
        other => Err(is_other(path, &other, "map")),
    }
}

/// Opens the sketch in the file at `path`, or reads a sketch from standard input.
pub fn open_sketch(path: &Path, mode: Mode, secret: Option<Secret>) -> Outcome<Sketch> {
    match open_any(path, mode, secret)? {
        Handle::Sketch(sketch) => Ok(sketch),
        other => Err(is_other(path, &other, "sketch")),
    }
}

/// Opens the digest in the file at `path`, or reads a digest from standard input.
pub fn open_digest(path: &Path, secret: Option<Secret>) -> Outcome<Digest> {
    let options = OpenOptions { mode: Mode::Read, secret, ..OpenOptions::default() };
    let failed = |error: petal::Error| refused_file(path, &error);
    match comes_once(path) && !path.is_dir() {
        true => petal::load_as(&image(path)?, &options).map_err(failed),
        false => petal::open_as(path, &options).map_err(failed),
    }
}

/// Opens the index in the file at `path`, or reads an index from standard input.
pub fn open_index(path: &Path, secret: Option<Secret>) -> Outcome<petal::Index> {
    let options = OpenOptions { mode: Mode::Read, secret, ..OpenOptions::default() };
    let failed = |error: petal::Error| refused_file(path, &error);
    match comes_once(path) && !path.is_dir() {
        true => petal::load_as(&image(path)?, &options).map_err(failed),
        false => petal::open_as(path, &options).map_err(failed),
    }
}

/// Opens the image in the file at `path`, or reads one from standard input. A map of a kind that never
/// changes is opened for reading even in [`Mode::Write`].
pub fn open_any(path: &Path, mode: Mode, secret: Option<Secret>) -> Outcome<Handle> {
    let options = OpenOptions { mode, secret, ..OpenOptions::default() };
    let failed = |error: petal::Error| refused_file(path, &error);
    if path.is_dir() {
        return Err(Failure::new(format_args!("{}: is a directory", shown(path))));
    }
    if !comes_once(path) {
        let to_read = OpenOptions { mode: Mode::Read, ..options };
        if let (Mode::Write, Ok(Handle::Map(map))) = (mode, petal::open_as(path, &to_read))
            && map.base().row().capabilities.without(Capabilities::WRITING) == map.base().row().capabilities
        {
            return Ok(Handle::Map(map));
        }
        return petal::open_as(path, &options).map_err(failed);
    }
    if mode == Mode::Write {
        return Err(refuse_change(path));
    }
    petal::load_as(&image(path)?, &options).map_err(failed)
}

/// Whether a path can be read only once, like standard input and pipes such as `<(...)`. Such an image is read into
/// memory.
fn comes_once(path: &Path) -> bool {
    is_standard(path) || path.metadata().is_ok_and(|metadata| !metadata.is_file())
}

fn refuse_change(path: &Path) -> Failure {
    Failure::new(match is_standard(path) {
        true => String::from("-: a filter is changed in its file, not on its way through standard input"),
        false => format!("{}: is no regular file, and a filter is changed in its file", shown(path)),
    })
}

/// Standard input, or the file at a path, for reading from its start to its end.
fn read_through(path: &Path) -> Outcome<File> {
    let file = if is_standard(path) { stdin() } else { File::open(path) };
    file.map_err(|error| Failure::io(name(path), &error))
}

/// The largest file that the command reads to recognise another system's filter.
const MOST_TO_RECOGNISE: u64 = 1 << 30;

/// Opens an image for reading, or imports another system's filter. The format is `format`; without it, the file's bytes
/// decide.
pub fn open_or_import(path: &Path, secret: Option<Secret>, format: Option<&str>) -> Outcome<Handle> {
    if let Some(format) = format {
        return import(path, format, &ImportOptions::default()).map(Handle::Filter);
    }
    let options = OpenOptions { mode: Mode::Read, secret, ..OpenOptions::default() };
    let failed = |error: petal::Error| refused_file(path, &error);
    let (bytes, outcome) = if comes_once(path) && !path.is_dir() {
        let mut bytes = Vec::new();
        let mut file = read_through(path)?;
        let part = |file: &mut File, length: u64, bytes: &mut Vec<u8>| {
            file.take(length).read_to_end(bytes).map_err(|error| Failure::io(name(path), &error))
        };
        part(&mut file, HEADER_LENGTH as u64, &mut bytes)?;
        if Header::decode(&bytes).is_ok() {
            let rest = rest_of_image(path, file, bytes)?;
            return petal::load_as(&rest, &options).map_err(failed);
        }
        part(&mut file, MOST_TO_RECOGNISE, &mut bytes)?;
        let outcome = petal::load_as::<Handle>(&bytes, &options);
        (bytes, outcome)
    } else {
        let regular = path.metadata().ok().filter(|metadata| metadata.is_file() && metadata.len() <= MOST_TO_RECOGNISE);
        if regular.is_none() {
            return open_any(path, Mode::Read, secret);
        }
        match petal::open_as::<Handle>(path, &options) {
            Err(error) if is_foreign(&error) => {
                (fs::read(path).map_err(|error| Failure::io(shown(path), &error))?, Err(error))
            }
            outcome => return outcome.map_err(failed),
        }
    };
    match outcome {
        Err(error) if is_foreign(&error) => match interop::recognise(&bytes) {
            Some(format) => {
                let filter = format.import(&bytes, &ImportOptions::default());
                filter.map(Handle::Filter).map_err(failed)
            }
            None if error.status() == Status::Foreign && text::compressed(path, &bytes).is_none() => {
                Err(Failure::new(format_args!(
                    "{}; where another system wrote it, --format F says what it is (petal formats lists them)",
                    failed(error)
                )))
            }
            None => Err(refused(path, &bytes, &error)),
        },
        outcome => outcome.map_err(failed),
    }
}

/// The failure for bytes that are no image, with their start: a compressed file is called one.
pub fn refused(path: &Path, start: &[u8], error: &petal::Error) -> Failure {
    text::compressed(path, start).map_or_else(|| Failure::at(path, error), Failure::new)
}

/// As [`refused`], for a file that was opened.
fn refused_file(path: &Path, error: &petal::Error) -> Failure {
    let mut start = [0; 16];
    let is_file = is_foreign(error) && !comes_once(path);
    match is_file.then(|| File::open(path).and_then(|mut file| file.read(&mut start))) {
        Some(Ok(length)) => refused(path, &start[..length], error),
        _ => Failure::at(path, error),
    }
}

/// Whether an error leaves open that the bytes are another system's filter.
fn is_foreign(error: &petal::Error) -> bool {
    error.status() == Status::Foreign || error.status() == Status::Truncated
}

/// Imports another system's filter from a file or from standard input.
pub fn import(path: &Path, format: &str, options: &ImportOptions) -> Outcome<Filter> {
    let bytes = all_bytes(path)?;
    let failed = |error| refused(path, &bytes, &error);
    interop::find(format).and_then(|format| format.import(&bytes, options)).map_err(failed)
}

/// All bytes of a file, or of standard input.
pub fn all_bytes(path: &Path) -> Outcome<Vec<u8>> {
    let mut bytes = Vec::new();
    read_through(path)?.read_to_end(&mut bytes).map_err(|error| Failure::io(name(path), &error))?;
    Ok(bytes)
}

/// Reads an image from a pipe. Bytes that are not an image are not read to their end.
fn image(path: &Path) -> Outcome<Vec<u8>> {
    let mut input = read_through(path)?;
    let mut bytes = Vec::new();
    let read = input.by_ref().take(HEADER_LENGTH as u64).read_to_end(&mut bytes);
    read.map_err(|error| Failure::io(name(path), &error))?;
    rest_of_image(path, input, bytes)
}

/// Reads the rest of an image whose header was read.
fn rest_of_image(path: &Path, input: File, mut bytes: Vec<u8>) -> Outcome<Vec<u8>> {
    let header = Header::decode(&bytes).map_err(|error| refused(path, &bytes, &error))?;
    let length = header.image_bytes();
    let rest = length.saturating_sub(bytes.len() as u64).saturating_add(1);
    input.take(rest).read_to_end(&mut bytes).map_err(|error| Failure::io(name(path), &error))?;
    if bytes.len() as u64 > length {
        return Err(Failure::new(format_args!("{}: bytes follow the image of {length} bytes", name(path))));
    }
    Ok(bytes)
}

/// Opens a filter as a source of another filter. Checks every byte first.
pub fn open_sound(path: &Path, mode: Mode) -> Outcome<Filter> {
    let filter = open(path, mode, None)?;
    refuse_unclean(path, &filter)?;
    // Loading has checked the bytes already.
    if mode != Mode::Load {
        filter.verify().map_err(|error| Failure::at(path, &error))?;
    }
    Ok(filter)
}

/// Opens the filter, map or sketch in the file at `path`, or reads one from standard input. The image must be sound.
pub fn open_sound_any(path: &Path, mode: Mode) -> Outcome<Handle> {
    let handle = not_own(path, open_any(path, mode, None)?)?;
    refuse_unclean(path, &handle)?;
    if mode != Mode::Load {
        handle.verify().map_err(|error| Failure::at(path, &error))?;
    }
    Ok(handle)
}

/// Refuses kinds that are alone in their handles.
pub fn not_own(path: &Path, handle: Handle) -> Outcome<Handle> {
    match handle {
        Handle::Own(_) => Err(is_other(path, &handle, "filter, map or sketch")),
        handle => Ok(handle),
    }
}

/// A filter or map that a command changes. If the command may replace the file while it does not hold the writer's lock
/// on it, the second part is the locked file, which keeps other commands from changing it.
pub type Changing<T> = (T, Option<File>);

/// Opens a filter or a map with `open`, to change it in its file. If its kind moves entries in a change, opens a copy
/// that later replaces the file ([`keep`]). The image must take byte keys, be sound, and be able to do what `verb`
/// says. The file must not be one of the inputs.
pub fn open_to_change<T: Image>(
    path: &Path,
    secret: &args::Secret,
    inputs: &Inputs,
    (capability, verb): (Capabilities, &str),
    open: fn(&Path, Mode, Option<Secret>) -> Outcome<T>,
) -> Outcome<Changing<T>> {
    if comes_once(path) && !path.is_dir() {
        return Err(refuse_change(path));
    }
    let key = self::secret(secret)?;
    let (mut mode, mut lock) = (Mode::Write, None);
    // An unsupported operation is reported before an error of the mode.
    if let Ok(image) = open(path, Mode::Read, key) {
        require(path, &image, (capability, verb))?;
        let row = image.base().row();
        if row.form.moves_entries {
            mode = Mode::Load;
        }
        // Windows may replace the file of a filter that grew only after its mapping and the writer's lock are gone.
        if row.form.moves_entries || cfg!(windows) && row.capabilities.contains(Capabilities::GROW) {
            lock = Some(locked(path)?);
        }
    }
    let image = open(path, mode, key)?;
    require(path, &image, (capability, verb))?;
    refuse_keys(path, &image, inputs)?;
    refuse_unclean(path, &image)?;
    if inputs.contains(path) {
        return Err(Failure::new(format_args!("{}: is one of the files to read too", shown(path))));
    }
    Ok((image, lock))
}

/// The locked file of a path. While the file is locked, no other command that locks it first can replace it.
#[cfg(unix)]
fn locked(path: &Path) -> Outcome<File> {
    use std::os::unix::fs::MetadataExt;
    let failed = |error: std::io::Error| Failure::io(shown(path), &error);
    loop {
        let file = File::open(path).map_err(failed)?;
        file.try_lock().map_err(|_| Failure::at(path, &Status::Locked.into()))?;
        // Between opening and locking, another command may have replaced the file.
        let [locked, there] = [file.metadata().map_err(failed)?, fs::metadata(path).map_err(failed)?];
        if (locked.dev(), locked.ino()) == (there.dev(), there.ino()) {
            return Ok(file);
        }
    }
}

/// A file next to that of a path, which only one command at a time can open, and which is gone when that command ends.
/// A lock on the file itself would keep the command from reading and replacing it.
#[cfg(windows)]
fn locked(path: &Path) -> Outcome<File> {
    use std::os::windows::fs::OpenOptionsExt;
    const READ_AND_DELETE: u32 = 0x8001_0000;
    const DELETE_ON_CLOSE: u32 = 0x0400_0000;
    /// Somebody has the file open, or has just closed it.
    const OPEN_ELSEWHERE: [Option<i32>; 2] = [Some(32), Some(5)];
    let mut name = std::ffi::OsString::from(".petal-lock-");
    name.push(path.file_name().unwrap_or_default());
    let mut options = File::options();
    options.create(true).write(true).access_mode(READ_AND_DELETE).share_mode(0).custom_flags(DELETE_ON_CLOSE);
    options.open(path.with_file_name(name)).map_err(|error| match OPEN_ELSEWHERE.contains(&error.raw_os_error()) {
        true => Failure::at(path, &Status::Locked.into()),
        false => Failure::io(shown(path), &error),
    })
}

/// Keeps the changes to an image from [`open_to_change`]: in its file, or, for a copy, by replacing the file.
pub fn keep(path: &Path, image: &mut impl Image) -> petal::Result<()> {
    if image.base().words().in_place().is_some() { image.sync() } else { image.save(path) }
}

/// Refuses a filter or map whose kind cannot do what `verb` says.
pub fn require(path: &Path, image: &impl Image, (capability, verb): (Capabilities, &str)) -> Outcome<()> {
    let row = image.base().row();
    if image.base().capabilities_in_memory().contains(capability) {
        return Ok(());
    }
    if row.capabilities.contains(capability) {
        return Err(Failure::at(path, &image.base().unsupported(verb)));
    }
    let what = row.handle().plural();
    let hint = if row.is_made_empty() { "" } else { ": they are built from all of their keys at once" };
    Err(Failure::new(format_args!("{}: {what} of the kind {} cannot {verb}{hint}", name(path), row.name)))
}

/// Refuses an image whose last writer did not finish: keys may be missing.
pub fn refuse_unclean(path: &Path, image: &impl Image) -> Outcome<()> {
    match image.base().is_unclean() {
        false => Ok(()),
        true => Err(Failure::at(path, &Status::Unclean.into())),
    }
}

/// Warns if lookups go to an image that a writer has open, or did not close.
pub fn warn_if_unclean(path: &Path, image: &impl Image) {
    if image.base().is_unclean() {
        warn(format_args!("{}: a writer has it open, or did not close it", name(path)));
    }
}

/// Refuses keys that the image cannot take.
pub fn refuse_keys(path: &Path, image: &impl Image, inputs: &Inputs) -> Outcome<()> {
    let row = image.base().row();
    let (function, bits) = (image.base().hasher().function(), image.base().hasher().identifier());
    match (inputs.have_digests(), function == HashFunction::Digest) {
        (true, false) if function != HashFunction::Format => {
            return Err(Failure::new(format_args!(
                "{}: --hex-digests: the filter has hash = {function}, and its keys are not digests",
                name(path)
            )));
        }
        (false, true) => {
            return Err(Failure::new(format_args!(
                "{}: its keys are digests of {bits} bits: see --hex-digests",
                name(path)
            )));
        }
        _ => {}
    }
    match image.base().hasher().refusal() {
        _ if inputs.have_hashes() && function == HashFunction::Format && image.base().hasher().takes_whole() => {
            Err(Failure::new(format_args!(
                "{}: --hashes: filters of the kind {} take keys whole, and no hashes",
                name(path),
                row.name
            )))
        }
        _ if inputs.have_hashes() => Ok(()),
        // A filter whose format hashes keys itself takes the lines as they are.
        Some(_) if image.base().hasher().takes_whole() => Ok(()),
        None => Ok(()),
        Some(status) => match Failure::at(path, &status.into()) {
            Failure::Message(message) if !row.is_map() => Err(Failure::new(format_args!("{message}: see --hashes"))),
            failure => Err(failure),
        },
    }
}

/// Reads a secret key: 16 bytes as they are, or 32 hexadecimal digits with or without a newline.
pub fn secret(args: &args::Secret) -> Outcome<Option<Secret>> {
    let Some(path) = &args.secret_file else { return Ok(None) };
    let failed = |error| Failure::io(format_args!("--secret-file {}", shown(path)), &error);
    let mut bytes = Vec::new();
    let file = if is_standard(path) { stdin() } else { File::open(path) };
    file.and_then(|file| file.take(64).read_to_end(&mut bytes)).map_err(failed)?;
    let refused = |why| Err(Failure::new(format_args!("--secret-file {}: {why}", shown(path))));
    match parse_secret(&bytes) {
        Some(key) if key == Secret::default() => refused("all zeros are no secret key"),
        Some(key) => Ok(Some(key)),
        None => refused("a key is exactly 16 bytes or 32 hexadecimal digits"),
    }
}

fn parse_secret(bytes: &[u8]) -> Option<Secret> {
    if let Ok(key) = Secret::try_from(bytes) {
        return Some(key);
    }
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let digits: &[u8; 32] = line.strip_suffix(b"\r").unwrap_or(line).try_into().ok()?;
    let mut key = Secret::default();
    for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
        *byte = 16 * digit(pair[0])? + digit(pair[1])?;
    }
    Some(key)
}

/// Warns if a filter holds more keys than its capacity and its rate has risen.
pub fn warn_if_overfull(filter: &Filter) {
    if let Some(why) = overfull(filter) {
        warn(format_args!("{why}"));
    }
}

/// The warning about more keys than the capacity, with the present rate; `None` if the rate has not risen.
pub fn overfull(filter: &Filter) -> Option<String> {
    let header = filter.base().header();
    let count = filter.base().count();
    let rises = filter.base().row().overfill == Overfill::RateRises;
    if header.capacity == 0 || count <= header.capacity || !rises {
        return None;
    }
    // A key that was offered twice is one key. An estimate within three standard errors of the capacity gives no
    // warning.
    let capacity = header.capacity as f64;
    let keys = match petal::estimate(filter) {
        Ok(Some(keys)) if keys.value <= capacity + 3.0 * keys.standard_error => return None,
        Ok(Some(keys)) => format!("about {:.0} distinct keys", keys.value),
        // A kind without an estimate has too many keys only if its rate has risen.
        _ if filter.false_positive_rate() <= 1.05 * header.false_positive_rate => return None,
        _ => format!("{count} keys"),
    };
    let rate = short(filter.false_positive_rate());
    let capacity = header.capacity;
    Some(format!("{keys} are more than the capacity of {capacity}: the false-positive rate is now {rate}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_sixteen_bytes_or_their_digits() {
        let key: Secret = *b"\x00\x0123456789abc\xfe\xff\n";
        assert_eq!(parse_secret(&key), Some(key));
        let digits = b"00013233343536373839616263FEfF0a";
        assert_eq!(parse_secret(&digits[..]), Some(key));
        assert_eq!(parse_secret(&[&digits[..], b"\n"].concat()), Some(key));
        assert_eq!(parse_secret(&[&digits[..], b"\r\n"].concat()), Some(key));
        for bad in
            [&digits[..31], b"", &key[..15], b"000132333435363738396162636465 g", b"0001323334353637383961626364650a0"]
        {
            assert_eq!(parse_secret(bad), None, "{bad:?}");
        }
    }
}
