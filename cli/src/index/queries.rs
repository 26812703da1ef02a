//! Queries as rows of an index.

use super::lines::{Fingerprints, Lines, What, check_width, hex};
use super::terms::{Contents, grams};
use crate::args::index;
use crate::failure::{Failure, Outcome};
use petal::{Image, Index};
use std::ffi::OsString;

/// A query: its name or number, and the bits that are asked for.
pub struct Query {
    pub name: Vec<u8>,
    pub row: Vec<u8>,
}

/// The queries of the command line and of the file.
pub fn read(args: &index::Queries, index: &Index, contents: Contents) -> Outcome<Vec<Query>> {
    let mut queries = Vec::new();
    let texts: Vec<&[u8]> = args.texts.iter().map(|text: &OsString| text.as_encoded_bytes()).collect();
    match contents {
        Contents::Terms if texts.is_empty() => {}
        Contents::Terms => {
            let row = index.row_of(texts.iter().map(|term| (*term, 0)))?;
            queries.push(Query { name: texts.join(&b' '), row });
        }
        Contents::Fingerprints => {
            for digits in texts {
                let shown = String::from_utf8_lossy(digits);
                let Some(row) = hex(digits) else {
                    return Err(Failure::new(format_args!("{shown}: is no even number of hexadecimal digits")));
                };
                let failed = |what| Failure::new(format_args!("{shown}: {what}"));
                check_width(&row, Some(index.width())).map_err(failed)?;
                queries.push(Query { name: digits.to_vec(), row });
            }
        }
        Contents::Grams(length) => {
            for text in texts {
                let failed = |what| Failure::new(format_args!("{}: {what}", String::from_utf8_lossy(text)));
                queries.push(Query { name: text.to_vec(), row: row_of_text(index, text, length)?.map_err(failed)? });
            }
        }
    }
    match (&args.queries, contents) {
        (None, _) => {}
        (Some(path), Contents::Fingerprints) => {
            let mut all = Fingerprints::open(path, None, Some(index.width()))?;
            while let Some(one) = all.fingerprint()? {
                let name = one.name.unwrap_or_else(|| (queries.len() + 1).to_string().into_bytes());
                queries.push(Query { name, row: one.bytes });
            }
        }
        (Some(path), Contents::Terms) => {
            let mut lines = Lines::open(path, What::Queries)?;
            while let Some(line) = lines.line()? {
                let terms = line.split(|byte| *byte == b'\t').filter(|term| !term.is_empty());
                let row = index.row_of(terms.map(|term| (term, 0)))?;
                queries.push(Query { name: (queries.len() + 1).to_string().into_bytes(), row });
            }
        }
        (Some(path), Contents::Grams(length)) => {
            let mut lines = Lines::open(path, What::Queries)?;
            while let Some(line) = lines.line()? {
                let row = row_of_text(index, line, length)?;
                let name = line.to_vec();
                queries.push(Query { name, row: row.map_err(|what| lines.failed(what))? });
            }
        }
    }
    if queries.is_empty() {
        return Err(Failure::new("no query was given: QUERY or --queries FILE"));
    }
    Ok(queries)
}

/// The row of a text, or what is wrong with the text.
fn row_of_text(index: &Index, text: &[u8], length: usize) -> Outcome<Result<Vec<u8>, String>> {
    if text.len() < length {
        return Ok(Err(format!("a text of {} bytes is shorter than the sequences of the index, {length}", text.len())));
    }
    let hashes = grams(text, length, index.base().hasher())?;
    Ok(Ok(index.row_of_hash(hashes.into_iter().map(|hash| (hash, 0)))?))
}
