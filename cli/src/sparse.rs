//! `petal plan --wire`: filters whose packed forms have few bytes.

use crate::args;
use crate::failure::Outcome;
use crate::numbers::short;
use crate::output::{Table, Text};
use petal::wire::sparse::{Sparse, plan};
use serde::Serialize;

/// The answer, as JSON.
#[derive(Serialize)]
struct Answer {
    keys: u64,
    packed_bytes: u64,
    memory: Option<u64>,
    /// The filters, the one with the most hashes first.
    filters: Vec<Choice>,
}

/// A filter, whose bits and hashes are options of `petal build`.
#[derive(Serialize)]
struct Choice {
    hashes: u32,
    bits: u64,
    bits_per_key: f64,
    bytes: u64,
    packed_bytes: u64,
    false_positive_rate: f64,
}

impl Choice {
    fn of(keys: u64, filter: &Sparse) -> Choice {
        let Sparse { spec, packed_bytes, bytes, false_positive_rate } = *filter;
        let bits_per_key = spec.bits as f64 / keys.max(1) as f64;
        Choice { hashes: spec.hashes, bits: spec.bits, bits_per_key, bytes, packed_bytes, false_positive_rate }
    }
}

pub fn run(keys: u64, packed_bytes: u64, memory: Option<u64>, common: args::Common) -> Outcome {
    let filters = plan(keys, packed_bytes, memory.unwrap_or(u64::MAX))?;
    let filters = filters.iter().map(|filter| Choice::of(keys, filter)).collect();
    let answer = Answer { keys, packed_bytes, memory, filters };
    let mut text = Text::new()?;
    if common.json {
        text.json(&answer)?;
    } else {
        let best = answer.filters.iter().map(|filter| filter.false_positive_rate).fold(1.0, f64::min);
        let mut table = Table::default();
        table.row(["  hashes", "bits", "bits/key", "bytes", "bytes sent", "FPR"]);
        for filter in &answer.filters {
            let mark = if filter.false_positive_rate == best { '*' } else { ' ' };
            table.row([
                format!("{mark} {}", filter.hashes),
                filter.bits.to_string(),
                format!("{:.2}", filter.bits_per_key),
                filter.bytes.to_string(),
                filter.packed_bytes.to_string(),
                short(filter.false_positive_rate),
            ]);
        }
        table.print(&mut text)?;
    }
    text.flush()?;
    Ok(0)
}
