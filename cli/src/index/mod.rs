//! `petal index`: rows of bits that are searched. [`lines`] reads fingerprints, [`terms`] says what rows stand for.

pub mod build;
mod lines;
mod queries;
mod terms;

use crate::args::{self, index};
use crate::failure::{Failure, Outcome};
use crate::file_name::{FileName, hexadecimal, name};
use crate::image_file;
use crate::numbers::short;
use crate::output::{Table, Text};
use petal::{Index, IndexSearchOptions, IndexSimilarity};
use queries::Query;
use serde::Serialize;
use std::path::Path;
use terms::Contents;

/// A row that was found, as JSON.
#[derive(Serialize)]
struct Found {
    name: String,
    /// The bytes of a name that is not UTF-8, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    name_bytes: Option<String>,
    id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<f64>,
}

/// What a query found, as JSON.
#[derive(Serialize)]
struct Report {
    query: String,
    /// The bytes of a query that is not UTF-8, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    query_bytes: Option<String>,
    rows: Vec<Found>,
    /// How often a row that has none of the query's terms is found; for queries whose bits are all asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<f64>,
}

/// An opened index with the names of its rows.
struct Opened {
    index: Index,
    attachment: Vec<u8>,
}

impl Opened {
    fn new(path: &Path, secret: &args::Secret) -> Outcome<Opened> {
        let index = image_file::open_index(path, image_file::secret(secret)?)?;
        image_file::warn_if_unclean(path, &index);
        let attachment = index.attachment()?;
        Ok(Opened { index, attachment })
    }

    fn contents(&self) -> (Contents, Vec<&[u8]>) {
        Contents::of(&self.attachment)
    }
}

/// The name of a row: the text that the index keeps, or the id.
fn name_of(names: &[&[u8]], id: u64) -> Option<Vec<u8>> {
    let name = usize::try_from(id).ok().and_then(|id| names.get(id)).filter(|name| !name.is_empty());
    name.map(|name| name.to_vec())
}

pub fn search(args: &index::Search, common: args::Common) -> Outcome {
    let similarity = measure(&args.queries.measure)?;
    match args.at_least {
        None => {
            if similarity != IndexSimilarity::Tanimoto {
                return Err(Failure::new("--measure needs --at-least: a row has all bits of a query, or it has not"));
            }
            answer(&args.queries, common, |index, query| {
                let mut rows = Vec::new();
                index.visit_containing(query, &mut IndexSearchOptions::default(), &mut |_, id| {
                    rows.push((id, None));
                    true
                })?;
                // Inside the index rows with few bits come first.
                rows.sort_unstable_by_key(|(id, _)| *id);
                let rate = if common.json { Some(index.expected_false_positive_rate(query)?) } else { None };
                Ok((rows, rate))
            })
        }
        Some(threshold) => answer(&args.queries, common, |index, query| {
            let hits = index.find_similar(
                query,
                threshold,
                &mut IndexSearchOptions { similarity, ..IndexSearchOptions::default() },
            )?;
            Ok((hits.iter().map(|hit| (hit.id, Some(hit.similarity))).collect(), None))
        }),
    }
}

pub fn top(args: &index::Top, common: args::Common) -> Outcome {
    let (similarity, k) = (measure(&args.queries.measure)?, usize::try_from(args.k).unwrap_or(usize::MAX));
    answer(&args.queries, common, |index, query| {
        let hits = index.find_top(query, k, &mut IndexSearchOptions { similarity, ..IndexSearchOptions::default() })?;
        Ok((hits.iter().map(|hit| (hit.id, Some(hit.similarity))).collect(), None))
    })
}

/// What a query found: ids with similarities, if there are any, and the rate of chance answers.
type Answer = (Vec<(u64, Option<f64>)>, Option<f64>);

/// Prints what each query finds. The exit status is 1 if none found anything.
fn answer(
    args: &index::Queries,
    common: args::Common,
    find: impl Fn(&Index, &[u8]) -> petal::Result<Answer>,
) -> Outcome {
    crate::stdio::check_standard_input(args.queries.iter().map(std::path::PathBuf::as_path).chain([&*args.index]))?;
    let opened = Opened::new(&args.index, &args.secret)?;
    let (contents, names) = opened.contents();
    let queries = queries::read(args, &opened.index, contents)?;
    let mut text = Text::new()?;
    let mut any = false;
    for Query { name: query, row } in &queries {
        let failed = |error: petal::Error| Failure::new(format_args!("{}: {error}", name(&args.index)));
        let (rows, rate) = find(&opened.index, row).map_err(failed)?;
        any |= !rows.is_empty();
        if common.json {
            let found = |(id, similarity): &(u64, Option<f64>)| {
                let name = name_of(&names, *id).unwrap_or_else(|| id.to_string().into_bytes());
                Found {
                    name: String::from_utf8_lossy(&name).into_owned(),
                    name_bytes: hexadecimal(&name),
                    id: *id,
                    similarity: *similarity,
                }
            };
            let (query, query_bytes) = (String::from_utf8_lossy(query).into_owned(), hexadecimal(query));
            text.json(&Report { query, query_bytes, rows: rows.iter().map(found).collect(), rate })?;
        } else if !common.quiet {
            for (id, similarity) in rows {
                if queries.len() > 1 {
                    text.bytes(query)?;
                    text.bytes(b"\t")?;
                }
                print_name(&mut text, &names, id)?;
                match similarity {
                    Some(similarity) => text.line(format_args!("\t{similarity}"))?,
                    None => text.bytes(b"\n")?,
                }
            }
        }
    }
    text.flush()?;
    Ok(u8::from(!any))
}

fn print_name(text: &mut Text, names: &[&[u8]], id: u64) -> Outcome<()> {
    match name_of(names, id) {
        Some(name) => text.bytes(&name),
        None => text.write(id),
    }
}

/// The measure with this name.
fn measure(name: &str) -> Outcome<IndexSimilarity> {
    let weights = name.strip_prefix("tversky:").and_then(|weights| weights.split_once(','));
    let similarity = match (name, weights) {
        ("tanimoto", _) => IndexSimilarity::Tanimoto,
        ("dice", _) => IndexSimilarity::Dice,
        ("cosine", _) => IndexSimilarity::Cosine,
        ("hamming", _) => IndexSimilarity::Hamming,
        (_, Some((alpha, beta))) => match (alpha.parse(), beta.parse()) {
            (Ok(alpha), Ok(beta)) => IndexSimilarity::Tversky { alpha, beta },
            _ => return Err(Failure::new(format_args!("--measure {name}: the weights are no numbers"))),
        },
        _ => {
            return Err(Failure::new(format_args!(
                "--measure {name}: is not tanimoto, dice, cosine, hamming or tversky:A,B"
            )));
        }
    };
    similarity.check().map_err(|error| Failure::new(format_args!("--measure {name}: {error}")))?;
    Ok(similarity)
}

/// What `petal index info` says as JSON.
#[derive(Serialize)]
struct Described {
    #[serde(flatten)]
    file: FileName,
    contents: &'static str,
    rows: u64,
    removed: u64,
    capacity: u64,
    width: u64,
    feature_bits: u64,
    store: &'static str,
    nesting: bool,
    names: usize,
    mean_bits: f64,
}

pub fn info(args: &index::Info, common: args::Common) -> Outcome {
    let opened = Opened::new(&args.index, &args.secret)?;
    let (index, shape, (contents, names)) = (&opened.index, *opened.index.shape(), opened.contents());
    let (mut rows, mut bits) = (0_u64, 0_u64);
    for row in 0..index.next_row() {
        if let Some((_, ones)) = index.row_at(row)? {
            (rows, bits) = (rows + 1, bits.saturating_add(ones));
        }
    }
    let described = Described {
        file: FileName::of(&args.index),
        contents: contents.name(),
        rows,
        removed: index.next_row() - rows.min(index.next_row()),
        capacity: index.capacity(),
        width: index.width(),
        feature_bits: shape.feature_bits,
        store: petal::index::layout::Store::NAMES[shape.store as usize],
        nesting: shape.nests,
        names: names.len(),
        mean_bits: if rows == 0 { 0.0 } else { bits as f64 / rows as f64 },
    };
    let mut text = Text::new()?;
    if common.json {
        text.json(&described)?;
    } else {
        let mut table = Table::ending_in_words();
        table.row(["contents".to_string(), described.contents.to_string()]);
        table.row(["rows".to_string(), format!("{rows} of at most {}", described.capacity)]);
        table.row(["removed".to_string(), described.removed.to_string()]);
        table
            .row(["width".to_string(), format!("{} bits, {} set on average", shape.width, short(described.mean_bits))]);
        table.row(["feature bits".to_string(), described.feature_bits.to_string()]);
        table.row(["store".to_string(), described.store.to_string()]);
        table.row(["nesting".to_string(), if shape.nests { "yes" } else { "no" }.to_string()]);
        table.row(["names".to_string(), described.names.to_string()]);
        table.print(&mut text)?;
    }
    text.flush()?;
    Ok(0)
}

pub fn export(args: &index::Info, _: args::Common) -> Outcome {
    let opened = Opened::new(&args.index, &args.secret)?;
    let (index, (_, names)) = (&opened.index, opened.contents());
    let mut text = Text::new()?;
    text.line("#FPS1")?;
    text.line(format_args!("#num_bits={}", index.width()))?;
    text.line(format_args!("#software=petal/{}", env!("CARGO_PKG_VERSION")))?;
    let mut bytes = vec![0; index.row_bytes()];
    for row in 0..index.next_row() {
        let Some((id, _)) = index.row_at(row)? else { continue };
        let own = name_of(&names, id);
        if own.as_ref().is_some_and(|own| own.iter().any(|byte| b"\t\n\r".contains(byte))) {
            return Err(Failure::new(format_args!(
                "{}: the name of the row with id {id} has a tab or the end of a line",
                name(&args.index)
            )));
        }
        index.copy_row(row, &mut bytes)?;
        for byte in &bytes {
            text.write(format_args!("{byte:02x}"))?;
        }
        text.bytes(b"\t")?;
        print_name(&mut text, &names, id)?;
        text.bytes(b"\n")?;
    }
    text.flush()?;
    Ok(0)
}
