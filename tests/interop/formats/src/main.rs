//! Filters that Petal makes for owners to read, and the parquet crate as an owner: `tests/formats/owners/README.md`
//! says how owners are called and what they print.
//!
//! - `formats make FOLDER KEYS:CAPACITY:RATE...` writes filters of Petal's.
//! - `formats write FOLDER KEYS:CAPACITY:RATE...` and `formats read FOLDER` are the parquet crate's.

#[cfg(feature = "parquet")]
mod sbbf;

use petal::interop::{self, Format};
use petal::{Builder, BuilderOptions, Filter, HashFunction, Secret, Spec};
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

/// How many keys are there, how many the filter is for, and at which rate.
#[derive(Clone, Copy)]
struct Size {
    keys: u64,
    capacity: u64,
    rate: f64,
}

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    match run(&std::env::args().collect::<Vec<_>>()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("formats: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Does what the arguments say; whether all filters are as they should be.
fn run(arguments: &[String]) -> Outcome<bool> {
    let [_, mode, folder, sizes @ ..] = arguments else { return Err("formats make|write|read FOLDER SIZE...".into()) };
    let folder = Path::new(folder);
    let sizes: Vec<Size> = sizes.iter().map(|size| size_of(size)).collect::<Outcome<_>>()?;
    match mode.as_str() {
        "make" => make_all(folder, &sizes).map(|()| true),
        #[cfg(feature = "parquet")]
        "write" => sbbf::write(folder, &sizes).map(|()| true),
        #[cfg(feature = "parquet")]
        "read" => sbbf::read(folder),
        _ => Err(format!("{mode} is not make, write or read").into()),
    }
}

fn size_of(text: &str) -> Outcome<Size> {
    let parts: Vec<&str> = text.split(':').collect();
    let [keys, capacity, rate] = parts[..] else { return Err(format!("{text} is not KEYS:CAPACITY:RATE").into()) };
    Ok(Size { keys: keys.parse()?, capacity: capacity.parse()?, rate: rate.parse()? })
}

/// How many of `prefix-0`, `prefix-1` ... are found.
fn count(prefix: &str, keys: u64, has: impl Fn(&str) -> bool) -> u64 {
    (0..keys).filter(|i| has(&format!("{prefix}-{i}"))).count() as u64
}

fn save(folder: &Path, name: &str, bytes: &[u8]) -> Outcome<()> {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().ok_or("a file has a folder")?)?;
    Ok(std::fs::write(path, bytes)?)
}

/// Filters of each format that Petal makes, in each variant.
fn make_all(folder: &Path, sizes: &[Size]) -> Outcome<()> {
    for format in interop::FORMATS.iter().filter(|format| format.spec.is_some()) {
        for size in sizes {
            match format.variants {
                [] => make(folder, format, None, size)?,
                variants => variants.iter().try_for_each(|variant| make(folder, format, Some(variant), size))?,
            }
        }
    }
    Ok(())
}

fn make(folder: &Path, format: &Format, variant: Option<&str>, size: &Size) -> Outcome<()> {
    let Size { keys, capacity, rate } = *size;
    let spec = format.spec(capacity, rate, variant, 0)?;
    let key = (spec.hash == HashFunction::SipHash24).then_some(*KEY);
    let filter = filled(&Spec { secret: key, ..spec }, keys)?;
    let mut bytes = Vec::new();
    format.export(&filter, variant, &mut |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    })?;
    let name = format!("{}/{}{keys}.bin", format.name, variant.map_or(String::new(), |variant| format!("{variant}-")));
    save(folder, &name, &bytes)?;
    let positives = count("absent", 10_000, |key| filter.contains(key.as_bytes()));
    let said = if key.is_some() { format!(" key={}", KEY.escape_ascii()) } else { String::new() };
    println!("{} {name} {keys} {positives} {capacity} {rate} {} 0{said}", format.name, variant.unwrap_or("-"));
    Ok(())
}

/// The key for formats whose bytes do not contain it.
const KEY: &Secret = b"0123456789abcdef";

/// The filter of this spec with `keys` keys.
fn filled(spec: &Spec, keys: u64) -> Outcome<Filter> {
    if petal::row_of(spec)?.is_made_empty() {
        let mut filter = petal::Filter::new(spec)?;
        for i in 0..keys {
            filter.insert(format!("key-{i}").as_bytes())?;
        }
        return Ok(filter);
    }
    let mut builder = Builder::new(spec, BuilderOptions::default())?;
    for i in 0..keys {
        builder.add(format!("key-{i}").as_bytes())?;
    }
    Ok(builder.finish()?)
}
