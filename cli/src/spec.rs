//! The spec of a filter, map or sketch, from the options.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::image_file;
use petal::registry;
use petal::{HashFunction, Row, Spec, Status};

/// The default kind for an unknown number of keys.
pub const GROWING_KIND: &str = "scalable";

/// The kind of filters of digests.
const DIGEST_KIND: &str = "bloom";

/// The capacity of the first level of a filter that grows.
pub const FIRST_CAPACITY: u64 = 1 << 16;

/// The spec of the options of `petal build`, without a capacity if the input has to supply it. `kind` is the default
/// kind. If keys are digests, `digest_bits` is their number of bits.
pub fn of_build(args: &args::Build, kind: Option<&str>, digest_bits: Option<u64>) -> Outcome<Spec> {
    let spec = Spec {
        capacity: args.capacity.unwrap_or(0),
        false_positive_rate: args.fpr.unwrap_or(0.0),
        bits: args.bits.unwrap_or(0),
        hashes: args.hashes.unwrap_or(0),
        ..Spec::default()
    };
    let Some(bits) = digest_bits else {
        return with(spec, args.kind.as_deref().or(kind), &args.hashing, &args.set);
    };
    let hashing = args::Hashing { hash: None, seed: None, secret: args::Secret { secret_file: None } };
    let spec = with(spec, args.kind.as_deref().or(Some(DIGEST_KIND)), &hashing, &args.set)?;
    let spec = Spec { hash: HashFunction::Digest, seed: bits, ..spec };
    // A wrong length is reported before the first key is read.
    petal::row_of(&spec)?.hasher(&spec).map_err(|error| match error.status() {
        Status::OutOfRange if args.hashing.seed.is_none() => Failure::new(format_args!(
            "--hex-digests: the first key has {} digits, and digests have an even number of 32 to 128",
            bits / 4
        )),
        Status::OutOfRange => Failure::new(format_args!("--seed: {error}")),
        _ => Failure::new(format_args!("--hex-digests: {error}")),
    })?;
    Ok(spec)
}

/// The spec of the options of `petal map build`.
pub fn of_map(args: &args::map::Build) -> Outcome<Spec> {
    let (capacity, false_positive_rate) = (args.capacity.unwrap_or(0), args.fpr.unwrap_or(0.0));
    let spec = Spec { capacity, false_positive_rate, ..Spec::default() };
    let default = registry::find(registry::DEFAULT_MAP_KIND).map(|row| row.name);
    let spec = with(spec, args.kind.as_deref().or(default), &args.hashing, &args.set)?;
    match petal::row_of(&spec)? {
        row if row.is_map() => Ok(spec),
        row if row.handle() == petal::Handle::Sketch => {
            Err(Failure::new(format_args!("--kind {}: is a sketch of a set: petal sketch build", row.name)))
        }
        row => {
            Err(Failure::new(format_args!("--kind {}: is a filter, whose keys have no values: petal build", row.name)))
        }
    }
}

/// The spec of the options of `petal sketch build`.
pub fn of_sketch(args: &args::sketch::Build) -> Outcome<Spec> {
    let spec = Spec { capacity: args.capacity, false_positive_rate: args.fpr.unwrap_or(0.0), ..Spec::default() };
    let default = registry::find(registry::DEFAULT_SKETCH_KIND).map(|row| row.name);
    let mut spec = with(spec, args.kind.as_deref().or(default), &args.hashing, &args.set)?;
    if args.values.values {
        let failed = |error: petal::Error| Failure::new(format_args!("--values: {error}"));
        let parameter = petal::parameter_of(&spec, "value_bits").map_err(failed)?;
        if !spec.parameters.iter().any(|setting| setting.id == parameter.id()) {
            spec.set(parameter, 64.0).map_err(failed)?;
        }
    }
    match petal::row_of(&spec)? {
        row if row.handle() == petal::Handle::Sketch => Ok(spec),
        row => {
            let (name, handle) = (row.name, row.handle().name());
            Err(Failure::new(format_args!("--kind {name}: is a kind of {handle}, not of sketch")))
        }
    }
}

/// The spec of the options of `petal index build`, without what the input says.
pub fn of_index(args: &args::index::Build) -> Outcome<Spec> {
    let row = petal::index::ROW;
    let mut spec = with(Spec { kind: Some(row.kind), ..Spec::default() }, Some(row.name), &args.hashing, &args.set)?;
    // Documents are asked for all terms of a query, which columns answer; fingerprints are asked for similar ones.
    let has_terms = matches!(args.format.as_deref(), Some("terms" | "files"));
    let settings = [(&petal::index::STORE, has_terms), (&petal::index::NESTING, args.not_nesting)];
    for (parameter, is_set) in settings {
        if is_set && !spec.parameters.iter().any(|setting| setting.id == parameter.id()) {
            spec.set(parameter, 1.0)?;
        }
    }
    Ok(spec)
}

/// The spec of the options of `petal digest make`, for `files` files whose names have `names` bytes.
pub fn of_digest(args: &args::digest::Make, capacity: u64, files: usize, names: usize) -> Outcome<Spec> {
    let row = petal::digest::ROW;
    let spec = Spec { capacity, kind: Some(row.kind), ..Spec::default() };
    let mut spec = with(spec, Some(row.name), &args.hashing, &args.set)?;
    let mut set = |name: &str, value: f64, option: &str| {
        let parameter = petal::parameter_of(&spec, name)?;
        if spec.parameters.iter().any(|setting| setting.id == parameter.id()) {
            // The number of files is only a default.
            return if option.is_empty() { Ok(()) } else { Err(Failure::new(format_args!("{option}: is set twice"))) };
        }
        let failed = |error: petal::Error| Failure::new(format_args!("{option}: {error}"));
        let value = parameter.check(value).map_err(failed)?;
        spec.set(parameter, value).map_err(failed)
    };
    let by_content = args.cut.as_deref().map(|cut| f64::from(u8::from(cut == "content")));
    let options = [
        ("bytes_per_byte", args.bytes_per_byte, "--bytes-per-byte"),
        ("block_bytes", args.block_bytes, "--block-bytes"),
        ("levels", args.levels, "--levels"),
        ("cut", by_content, "--cut"),
        ("payloads", Some(files as f64), ""),
        ("attachment_bytes", Some(names as f64), ""),
    ];
    for (name, value, option) in options {
        if let Some(value) = value {
            set(name, value, option)?;
        }
    }
    Ok(spec)
}

/// The spec of a sketch of minisketch in this many bytes, with the options of `petal sketch import`. Its capacity is
/// the greatest number of sums for which the bytes have room.
pub fn of_minisketch(args: &args::sketch::Import, bytes: usize) -> Outcome<Spec> {
    let pinsketch = petal::sketch::pinsketch::ROW;
    let spec =
        with(Spec { kind: Some(pinsketch.kind), ..Spec::default() }, Some(pinsketch.name), &args.hashing, &args.set)?;
    let field_bits = pinsketch.parameter("field_bits").map_or(Ok(64), |parameter| spec.parameter(parameter))?;
    // If there are too few bytes for one sum, the import says so.
    Ok(Spec { capacity: (8 * bytes as u64 / field_bits).max(1), ..spec })
}

/// The spec with this kind, hash function and parameters.
fn with(spec: Spec, kind: Option<&str>, hashing: &args::Hashing, settings: &[String]) -> Outcome<Spec> {
    let key = image_file::secret(&hashing.secret)?;
    let row = kind.and_then(registry::find_name);
    let default_hash = match row.and_then(|row| row.hash_functions().first()) {
        _ if key.is_some() => HashFunction::SipHash13,
        Some(first) => *first,
        None => Spec::default().hash,
    };
    let mut spec = Spec {
        kind: row.map(|row| row.kind),
        hash: hashing.hash.as_deref().and_then(HashFunction::from_name).unwrap_or(default_hash),
        seed: hashing.seed.unwrap_or(0),
        secret: key,
        ..spec
    };
    for text in settings {
        let failed = |error: petal::Error| Failure::new(format_args!("--set {text}: {error}"));
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| Failure::new(format_args!("--set {text}: give NAME=VALUE; petal kinds lists the names")))?;
        let parameter = petal::parameter_of(&spec, name).map_err(failed)?;
        if spec.parameters.iter().any(|setting| setting.id == parameter.id()) {
            return Err(Failure::new(format_args!("--set {text}: {name} is set twice")));
        }
        let value = parameter.parse(value).map_err(failed)?;
        spec.set(parameter, value).map_err(failed)?;
    }
    let hasher = spec.hasher().map_err(|error| match error.status() {
        Status::SecretMissing => {
            Failure::new(format_args!("--hash {} needs a secret key: --secret-file FILE", spec.hash))
        }
        Status::Contradiction if key.is_some() => Failure::new(format_args!("--secret-file: {error}")),
        Status::Contradiction => Failure::new(format_args!("--seed: {error}")),
        _ => error.into(),
    })?;
    match hasher.refusal() {
        None => Ok(spec),
        Some(status) => Err(Failure::new(format_args!("--hash {}: {status}, and keys here are bytes", spec.hash))),
    }
}

/// Turns bits per key into bits, once the capacity is known.
pub fn sized(args: &args::Build, row: &Row, spec: Spec) -> Outcome<Spec> {
    let Some(bits_per_key) = args.bits_per_key else { return Ok(spec) };
    let bits = bits_per_key * spec.capacity as f64;
    // No kind can have 2^63 bits.
    if bits >= 9.2e18 {
        return Err(Failure::new(format_args!(
            "--bits-per-key {bits_per_key} for {} keys is more than the address space holds",
            spec.capacity
        )));
    }
    let unit = row.bits_unit();
    Ok(Spec { bits: (bits as u64 / unit).max(1) * unit, ..spec })
}
