//! `petal index build`.

use super::lines::{Fingerprints, Lines, What};
use super::terms::{Contents, grams};
use crate::args::{self, index};
use crate::failure::{Failure, Outcome, warn};
use crate::file_name::{FileName, is_standard, name};
use crate::folders;
use crate::output::{Destination, Text};
use crate::spec;
use crate::stdio::{check_standard_input, stdin};
use petal::index as kind;
use petal::index::features::MAX_BITS;
use petal::index::layout::MAX_WIDTH;
use petal::{Hasher, IndexBuilder, IndexFeatures, Spec};
use serde::Serialize;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What `petal index build` says as JSON.
#[derive(Serialize)]
struct Made {
    #[serde(flatten)]
    file: FileName,
    rows: u64,
    width: u64,
    feature_bits: u64,
}

/// Rows on their way into an index.
#[derive(Default)]
struct Rows {
    /// The bits of a row; `None` if documents have no size yet.
    width: Option<u64>,
    /// Rows of `width` bits, one after the other.
    bytes: Vec<u8>,
    /// The hashes of the terms of each document.
    documents: Vec<Vec<u64>>,
    /// The names, each followed by NUL. A row without a name has none.
    names: Vec<u8>,
    has_names: bool,
    count: u64,
}

impl Rows {
    fn name(&mut self, name: Option<&[u8]>) -> Outcome<()> {
        let name = name.unwrap_or_default();
        self.names.try_reserve(name.len() + 1).map_err(|_| out_of_memory(self.count))?;
        self.names.extend_from_slice(name);
        self.names.push(0);
        self.has_names |= !name.is_empty();
        self.count += 1;
        Ok(())
    }

    /// Takes the hashes of a document, in any order.
    fn document(&mut self, name: &[u8], mut terms: Vec<u64>) -> Outcome<()> {
        terms.sort_unstable();
        terms.dedup();
        terms.shrink_to_fit();
        self.documents.try_reserve(1).map_err(|_| out_of_memory(self.count))?;
        self.documents.push(terms);
        self.name(Some(name))
    }

    /// How many terms nine of ten documents have at most.
    fn terms_of_most(&self) -> u64 {
        let mut counts: Vec<usize> = self.documents.iter().map(Vec::len).collect();
        counts.sort_unstable();
        counts.get(counts.len() * 9 / 10).or(counts.last()).map_or(1, |count| (*count).max(1)) as u64
    }
}

fn out_of_memory(count: u64) -> Failure {
    Failure::new(format_args!("out of memory after {count} rows"))
}

pub fn run(args: &index::Build, common: args::Common) -> Outcome {
    check_standard_input(args.files.iter().map(PathBuf::as_path))?;
    let destination = Destination::new(args.output.output.as_deref(), common.json)?;
    let format = args.format.as_deref();
    let contents = match format {
        Some("terms") => Contents::Terms,
        Some("files") => Contents::Grams(args.grams.into()),
        _ => Contents::Fingerprints,
    };
    if args.fpr.is_some() && (args.width.is_some() || matches!(contents, Contents::Fingerprints)) {
        return Err(Failure::new("--fpr is for documents, and chooses what --width would say"));
    }
    if args.not_nesting && !matches!(contents, Contents::Fingerprints) {
        return Err(Failure::new("--not-nesting is for fingerprints: the bits of documents nest"));
    }
    let spec = spec::of_index(args)?;
    let hasher = spec.hasher()?;
    let mut rows = Rows::default();
    let files = if format == Some("files") { folders::files_of(&args.files)? } else { args.files.clone() };
    folders::bytes_of(&files, destination.path())?;
    for path in &files {
        match contents {
            Contents::Fingerprints => fingerprints(path, format.map(|format| format == "fps"), args.width, &mut rows)?,
            Contents::Terms => documents(path, &hasher, &mut rows)?,
            Contents::Grams(length) => file(path, length, &hasher, &mut rows)?,
        }
    }
    let index = made(args, spec, contents, &rows)?;
    destination.write(&index)?;
    if common.json {
        let mut text = Text::new()?;
        text.json(&Made {
            file: FileName::of(destination.path()),
            rows: index.next_row(),
            width: index.width(),
            feature_bits: index.shape().feature_bits,
        })?;
        text.flush()?;
    }
    Ok(0)
}

/// The index of all rows.
fn made(args: &index::Build, mut spec: Spec, contents: Contents, rows: &Rows) -> Outcome<petal::Index> {
    let (mut width, mut bits) = (rows.width.or(args.width).unwrap_or(kind::WIDTH.default as u64), None);
    if !matches!(contents, Contents::Fingerprints) {
        let most = rows.terms_of_most();
        // A text is many terms of a file, which chance has to give all.
        let usual = if matches!(contents, Contents::Grams(_)) { 0.1 } else { 0.01 };
        let size = match (args.width, args.fpr) {
            (Some(width), _) => (width, petal::sizing::bloom::optimal_hashes(width, most, MAX_BITS)),
            (None, Some(rate)) => IndexFeatures::size_for(most, rate)
                .map_err(|error| Failure::new(format_args!("--fpr: {error}; divide the documents")))?,
            (None, None) => IndexFeatures::size_for(most, usual)
                .unwrap_or_else(|_| (MAX_WIDTH, petal::sizing::bloom::optimal_hashes(MAX_WIDTH, most, MAX_BITS))),
        };
        (width, bits) = (size.0, Some(u64::from(size.1)));
    }
    let attachment = contents.attachment(if rows.has_names { &rows.names } else { &[] });
    set(&mut spec, &kind::WIDTH, width as f64)?;
    set(&mut spec, &kind::ATTACHMENT_BYTES, attachment.len() as f64)?;
    if let Some(bits) = bits.filter(|_| !is_set(&spec, &kind::FEATURE_BITS)) {
        set(&mut spec, &kind::FEATURE_BITS, bits as f64)?;
    }
    spec.capacity = rows.count.max(1);
    let mut builder = IndexBuilder::new(&spec)?;
    if matches!(contents, Contents::Fingerprints) {
        for (id, row) in (0..).zip(rows.bytes.chunks_exact(width.div_ceil(8) as usize)) {
            builder.add(id, row)?;
        }
    } else {
        for (id, terms) in (0..).zip(&rows.documents) {
            let row = builder.index().row_of_hash(terms.iter().map(|hash| (*hash, 0)))?;
            builder.add(id, &row)?;
        }
        let (features, most) = (builder.index().features()?, rows.terms_of_most());
        let rate = petal::sizing::bloom::exact(width, features.bits(), most);
        if args.fpr.is_none() && rate > 0.15 {
            let rate = crate::numbers::short(100.0 * rate);
            warn(format_args!("documents with {most} terms seem to have {rate} % of all other terms"));
        }
    }
    let mut index = builder.finish()?;
    index.attach(&attachment)?;
    Ok(index)
}

fn is_set(spec: &Spec, parameter: &petal::Parameter) -> bool {
    spec.parameters.iter().any(|setting| setting.id == parameter.id())
}

fn set(spec: &mut Spec, parameter: &'static petal::Parameter, value: f64) -> Outcome<()> {
    if is_set(spec, parameter) {
        return Err(Failure::new(format_args!(
            "--set {}: comes from the input, or from another option",
            parameter.name
        )));
    }
    spec.set(parameter, parameter.check(value)?)?;
    Ok(())
}

/// Reads a file of fingerprints.
fn fingerprints(path: &Path, is_fps: Option<bool>, width: Option<u64>, rows: &mut Rows) -> Outcome<()> {
    let mut all = Fingerprints::open(path, is_fps, rows.width.or(width))?;
    while let Some(one) = all.fingerprint()? {
        rows.width = all.width;
        rows.bytes.try_reserve(one.bytes.len()).map_err(|_| out_of_memory(rows.count))?;
        rows.bytes.extend_from_slice(&one.bytes);
        rows.name(one.name.as_deref())?;
    }
    rows.width = rows.width.or(all.width);
    Ok(())
}

/// Reads a file of documents: a name and terms on each line.
fn documents(path: &Path, hasher: &Hasher, rows: &mut Rows) -> Outcome<()> {
    let mut lines = Lines::open(path, What::Documents)?;
    while let Some(line) = lines.line()? {
        let mut fields = line.split(|byte| *byte == b'\t');
        let name = fields.next().unwrap_or_default();
        let terms: Result<Vec<u64>, petal::Status> =
            fields.filter(|term| !term.is_empty()).map(|term| hasher.hash_bytes(term)).collect();
        match (name, terms) {
            ([], _) => return Err(lines.failed("the document has no name before the first tab")),
            (name, _) if name.contains(&0) => return Err(lines.failed("a name has the byte NUL")),
            (name, Ok(terms)) => rows.document(name, terms)?,
            (_, Err(status)) => return Err(petal::Error::from(status).into()),
        }
    }
    Ok(())
}

/// Reads a file that is a document, with sequences of bytes as terms.
fn file(path: &Path, length: usize, hasher: &Hasher, rows: &mut Rows) -> Outcome<()> {
    let failed = |error: std::io::Error| Failure::io(name(path), &error);
    let mut file = if is_standard(path) { stdin() } else { File::open(path) }.map_err(failed)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(failed)?;
    rows.document(path.as_os_str().as_encoded_bytes(), grams(&bytes, length, hasher)?)
}
