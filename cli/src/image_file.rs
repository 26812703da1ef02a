//! Filters and maps in files, and the secret keys that some of them need.

use crate::args::Secret;
use crate::failure::{Failure, Outcome, warn};
use crate::keys::{self, Inputs};
use crate::numbers::short;
use petal::format::{HEADER_LENGTH, Header};
use petal::interop::{self, ImportOptions};
use petal::kind::Payload;
use petal::{Base, Capabilities, Filter, Image, Map, Measure, Mode, OpenOptions, Overfill, SecretKey, Status};
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Whether a path stands for standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// What a file that is read is called in messages.
pub fn name(path: &Path) -> impl Display + '_ {
    if is_standard(path) { Path::new("standard input").display() } else { path.display() }
}

/// Refuses a command line that would read standard input for more than one thing.
pub fn check_standard_input<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Outcome<()> {
    match paths.into_iter().filter(|path| is_standard(path)).count() {
        0 | 1 => Ok(()),
        _ => Err(Failure::new("standard input (-) can be read only once")),
    }
}

/// What an image is of.
pub enum Handle {
    /// A filter.
    Filter(Filter),
    /// A map.
    Map(Map),
}

impl Image for Handle {
    fn payload(&self) -> &dyn Payload {
        match self {
            Handle::Filter(filter) => filter.payload(),
            Handle::Map(map) => map.payload(),
        }
    }

    fn payload_mut(&mut self) -> &mut dyn Payload {
        match self {
            Handle::Filter(filter) => filter.payload_mut(),
            Handle::Map(map) => map.payload_mut(),
        }
    }

    fn over(base: Base) -> petal::Result<Handle> {
        if base.row().is_map() { Map::over(base).map(Handle::Map) } else { Filter::over(base).map(Handle::Filter) }
    }
}

/// What can be described: a filter or a map.
pub trait Described: Image {
    /// The filter, if it is one.
    fn filter(&self) -> Option<&Filter>;

    /// What the payload tells. Reads all of it, and says to `progress` after every piece how many bytes that was.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure;
}

impl Described for Filter {
    fn filter(&self) -> Option<&Filter> {
        Some(self)
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        self.measure_with(progress)
    }
}

impl Described for Map {
    fn filter(&self) -> Option<&Filter> {
        None
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        self.measure_with(progress)
    }
}

impl Described for Handle {
    fn filter(&self) -> Option<&Filter> {
        match self {
            Handle::Filter(filter) => Some(filter),
            Handle::Map(_) => None,
        }
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        match self {
            Handle::Filter(filter) => filter.measure_with(progress),
            Handle::Map(map) => map.measure_with(progress),
        }
    }
}

/// Opens the filter in the file at `path`, or reads the one that comes from standard input.
pub fn open(path: &Path, mode: Mode, key: Option<SecretKey>) -> Outcome<Filter> {
    filter(path, open_any(path, mode, key)?)
}

/// The filter that was opened; a map is refused.
pub fn filter(path: &Path, handle: Handle) -> Outcome<Filter> {
    match handle {
        Handle::Filter(filter) => Ok(filter),
        Handle::Map(map) => {
            let (name, kind) = (name(path), map.base().row().name);
            Err(Failure::new(format_args!("{name}: is a map of the kind {kind}, not a filter: see petal help map")))
        }
    }
}

/// Opens the map in the file at `path`, or reads the one that comes from standard input.
pub fn open_map(path: &Path, mode: Mode, key: Option<SecretKey>) -> Outcome<Map> {
    match open_any(path, mode, key)? {
        Handle::Map(map) => Ok(map),
        Handle::Filter(filter) => {
            let (name, kind) = (name(path), filter.base().row().name);
            Err(Failure::new(format_args!("{name}: is a filter of the kind {kind}, not a map: see petal help check")))
        }
    }
}

/// Opens the filter or map in the file at `path`, or reads the one that comes from standard input. What nothing changes
/// is opened for reading even if the mode is [`Mode::Write`].
pub fn open_any(path: &Path, mode: Mode, key: Option<SecretKey>) -> Outcome<Handle> {
    let options = OpenOptions { mode, key };
    let failed = |error: petal::Error| Failure::at(path, &error);
    if path.is_dir() {
        return Err(Failure::new(format_args!("{}: is a directory", path.display())));
    }
    if !is_standard(path) {
        let to_read = OpenOptions { mode: Mode::Read, ..options };
        if let (Mode::Write, Ok(Handle::Map(map))) = (mode, petal::open_as(path, &to_read))
            && map.base().row().capabilities.without(Capabilities::WRITING) == map.base().row().capabilities
        {
            return Ok(Handle::Map(map));
        }
        return petal::open_as(path, &options).map_err(failed);
    }
    if mode == Mode::Write {
        return Err(Failure::new("-: a filter is changed in its file, not on its way through standard input"));
    }
    petal::load_as(&image(keys::stdin())?, &options).map_err(failed)
}

/// The largest file that is read to find out whether it is another system's filter.
const MOST_TO_RECOGNISE: u64 = 1 << 30;

/// Opens an image for reading, or the filter of another system: of `format`, if it is named, or of the one that the
/// file's bytes tell of.
pub fn open_or_import(path: &Path, key: Option<SecretKey>, format: Option<&str>) -> Outcome<Handle> {
    if let Some(format) = format {
        return import(path, format, &ImportOptions::default()).map(Handle::Filter);
    }
    let regular = path.metadata().ok().filter(|metadata| metadata.is_file() && metadata.len() <= MOST_TO_RECOGNISE);
    let is_foreign = |error: &petal::Error| error.status() == Status::Foreign || error.status() == Status::Truncated;
    if regular.is_some()
        && let Err(error) = petal::open_as::<Handle>(path, &OpenOptions { mode: Mode::Read, key })
        && is_foreign(&error)
    {
        let bytes = fs::read(path).map_err(|error| Failure::io(path.display(), &error))?;
        if let Some(format) = interop::recognise(&bytes) {
            let filter = format.import(&bytes, &ImportOptions::default());
            return filter.map(Handle::Filter).map_err(|error| Failure::at(path, &error));
        }
    }
    open_any(path, Mode::Read, key)
}

/// The filter that another system's bytes are, in a file or from standard input.
pub fn import(path: &Path, format: &str, options: &ImportOptions) -> Outcome<Filter> {
    let mut bytes = Vec::new();
    let file = if is_standard(path) { keys::stdin() } else { File::open(path) };
    file.and_then(|mut file| file.read_to_end(&mut bytes)).map_err(|error| Failure::io(name(path), &error))?;
    let failed = |error| Failure::at(path, &error);
    interop::find(format).and_then(|format| format.import(&bytes, options)).map_err(failed)
}

/// The image that comes from standard input. What is none is not read to its end.
fn image(input: io::Result<File>) -> Outcome<Vec<u8>> {
    let failed = |error: io::Error| Failure::io("standard input", &error);
    let mut input = input.map_err(failed)?;
    let mut bytes = Vec::new();
    input.by_ref().take(HEADER_LENGTH as u64).read_to_end(&mut bytes).map_err(failed)?;
    let header = Header::decode(&bytes).map_err(|error| Failure::at(Path::new("-"), &error))?;
    let length = header.image_bytes();
    input.take(length.saturating_sub(bytes.len() as u64).saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > length {
        return Err(Failure::new(format_args!("standard input: bytes follow the image of {length} bytes")));
    }
    Ok(bytes)
}

/// Opens a filter out of which another one is to be made: every byte of it is checked first.
pub fn open_sound(path: &Path, mode: Mode) -> Outcome<Filter> {
    let filter = open(path, mode, None)?;
    refuse_dirty(path, &filter)?;
    // Loading checked it.
    if mode != Mode::Load {
        filter.verify().map_err(|error| Failure::at(path, &error))?;
    }
    Ok(filter)
}

/// A filter or map that is changed, and the file that keeps other commands from changing it meanwhile, where it is a
/// copy.
pub type Changing<T> = (T, Option<File>);

/// Opens a filter or a map, as `open` does, to change it in its file, or, where its kind moves entries when it changes, as
/// a copy that takes the place of the file ([`keep`]): one to which byte keys say something, that is sound, whose kind
/// can do what `verb` says, and that is not among the keys.
pub fn open_to_change<T: Image>(
    path: &Path,
    secret: &Secret,
    inputs: &Inputs,
    (capability, verb): (Capabilities, &str),
    open: fn(&Path, Mode, Option<SecretKey>) -> Outcome<T>,
) -> Outcome<Changing<T>> {
    let key = self::secret(secret)?;
    let (mut mode, mut lock) = (Mode::Write, None);
    // What its kind cannot do is said before what the mode would say.
    if !is_standard(path)
        && let Ok(image) = open(path, Mode::Read, key)
    {
        require(path, &image, (capability, verb))?;
        if image.base().row().moves_entries {
            (mode, lock) = (Mode::Load, Some(locked(path)?));
        }
    }
    let image = open(path, mode, key)?;
    require(path, &image, (capability, verb))?;
    refuse_bytes(path, &image)?;
    refuse_dirty(path, &image)?;
    if inputs.contains(path) {
        return Err(Failure::new(format_args!("{}: is one of the files to read too", path.display())));
    }
    Ok((image, lock))
}

/// The file of a path, locked: while it is, nobody who locks it first puts another one in its place.
fn locked(path: &Path) -> Outcome<File> {
    let failed = |error: io::Error| Failure::io(path.display(), &error);
    loop {
        let file = File::open(path).map_err(failed)?;
        file.try_lock().map_err(|_| Failure::at(path, &Status::Locked.into()))?;
        // Between the two another command may have ended, and put its file in the place of this one.
        let [locked, there] = [file.metadata().map_err(failed)?, fs::metadata(path).map_err(failed)?];
        if (locked.dev(), locked.ino()) == (there.dev(), there.ino()) {
            return Ok(file);
        }
    }
}

/// Keeps what [`open_to_change`] opened and a command changed: in its file, or, where it is a copy, in place of it.
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
    let what = if row.is_map() { "maps" } else { "filters" };
    let hint = if row.is_made_empty() { "" } else { ": they are built from all of their keys at once" };
    Err(Failure::new(format_args!("{}: {what} of the kind {} cannot {verb}{hint}", name(path), row.name)))
}

/// Refuses an image whose last writer did not come to the end: keys may be missing.
pub fn refuse_dirty(path: &Path, image: &impl Image) -> Outcome<()> {
    match image.base().is_dirty() {
        false => Ok(()),
        true => Err(Failure::at(path, &Status::Dirty.into())),
    }
}

/// Says so where lookups go to an image that a writer has open, or did not close.
pub fn warn_if_dirty(path: &Path, image: &impl Image) {
    if image.base().is_dirty() {
        warn(format_args!("{}: a writer has it open, or did not close it", name(path)));
    }
}

/// Refuses an image to which byte keys say nothing.
pub fn refuse_bytes(path: &Path, image: &impl Image) -> Outcome<()> {
    match image.base().hasher().refusal() {
        // It takes them whole.
        Some(_) if image.base().row().hashes_keys_itself => Ok(()),
        None => Ok(()),
        Some(status) => Err(Failure::at(path, &status.into())),
    }
}

/// Reads a secret key: 16 bytes as they are, or 32 hexadecimal digits with or without a line's end.
pub fn secret(args: &Secret) -> Outcome<Option<SecretKey>> {
    let Some(path) = &args.key_file else { return Ok(None) };
    let failed = |error| Failure::io(format_args!("--key-file {}", path.display()), &error);
    let mut bytes = Vec::new();
    let file = if is_standard(path) { keys::stdin() } else { File::open(path) };
    file.and_then(|file| file.take(64).read_to_end(&mut bytes)).map_err(failed)?;
    let refused = |why| Err(Failure::new(format_args!("--key-file {}: {why}", path.display())));
    match parse_secret(&bytes) {
        Some(key) if key == SecretKey::default() => refused("all zeros are no secret key"),
        Some(key) => Ok(Some(key)),
        None => refused("a key is exactly 16 bytes or 32 hexadecimal digits"),
    }
}

fn parse_secret(bytes: &[u8]) -> Option<SecretKey> {
    if let Ok(key) = SecretKey::try_from(bytes) {
        return Some(key);
    }
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let digits: &[u8; 32] = line.strip_suffix(b"\r").unwrap_or(line).try_into().ok()?;
    let mut key = SecretKey::default();
    for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
        *byte = 16 * digit(pair[0])? + digit(pair[1])?;
    }
    Some(key)
}

/// Says so when a filter holds more keys than it was sized for, and answers less well for it.
pub fn warn_if_overfull(filter: &Filter) {
    let header = filter.base().header();
    let count = filter.base().count();
    let rises = filter.base().row().overfill == Overfill::RateRises;
    if header.capacity == 0 || count <= header.capacity || !rises {
        return;
    }
    // Keys offered twice are one key. Within three standard errors an estimate does not accuse anybody.
    let capacity = header.capacity as f64;
    let keys = match petal::estimate(filter) {
        Ok(Some(keys)) if keys.value <= capacity + 3.0 * keys.standard_error => return,
        Ok(Some(keys)) => format!("about {:.0} distinct keys", keys.value),
        // A kind that does not estimate them tells by its rate that they are no more.
        _ if filter.false_positive_rate() <= 1.05 * header.false_positive_rate => return,
        _ => format!("{count} keys"),
    };
    let rate = short(filter.false_positive_rate());
    let capacity = header.capacity;
    warn(format_args!("{keys} are more than the capacity of {capacity}: the false-positive rate is now {rate}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_sixteen_bytes_or_their_digits() {
        let key: SecretKey = *b"\x00\x0123456789abc\xfe\xff\n";
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
