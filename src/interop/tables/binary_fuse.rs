//! Binary fuse filters, as the C header and the Go package of their authors and the crate `xorf` write them: a header
//! of little-endian numbers ([`LAYOUTS`]), and the fingerprints. For `xorf` the header is the descriptor. Keys are
//! numbers of 64 bits, and are given as hashes here.
//!
//! The numbers of a header are checked against each other, so that no bytes fit two of the layouts. A fingerprint has
//! 8, 16 or 32 bits: the length says which. What C writes with 16 bits ends with four bytes that mean nothing.

use super::static_filter;
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::hash::HashFunction;
use crate::interop::{Format, ImportOptions};

pub const FORMAT: Format = Format {
    name: "binary_fuse",
    summary: "binary fuse filters of the C, Go and Rust (xorf) libraries; keys are given as hashes",
    variants: &[],
    recognise: None,
    import,
    export: None,
    spec: None,
};

/// Where a header has its numbers. The seed, a `u64`, always comes first; the others are `u32`, and some headers do not
/// have all of them.
struct Layout {
    keys: Option<usize>,
    /// The cells of a segment.
    segment: usize,
    /// The cells of a segment less 1.
    mask: Option<usize>,
    /// How many segments the first cell of a key can lie in.
    segments: Option<usize>,
    /// The cells of these segments.
    starts: usize,
    /// All cells.
    cells: Option<usize>,
    length: usize,
    /// Whether four bytes may follow fingerprints of 16 bits.
    is_long: bool,
}

/// The layout of the C library since version 2.0.
const C: Layout = Layout {
    keys: Some(8),
    segment: 12,
    mask: None,
    segments: Some(16),
    starts: 20,
    cells: Some(24),
    length: 28,
    is_long: true,
};

/// The layout that the Go package writes.
const GO: Layout = Layout { keys: None, segment: 8, mask: Some(12), is_long: false, ..C };

/// All layouts: those above, that of C before version 2.0, and that of `xorf`.
const LAYOUTS: [Layout; 4] = [
    GO,
    C,
    Layout { keys: None, segment: 8, segments: Some(12), starts: 16, cells: Some(20), length: 24, ..C },
    Layout { segments: None, starts: 16, cells: None, length: 20, ..GO },
];

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(FORMAT.name)?;
    let found = LAYOUTS.iter().find_map(|layout| layout.read(bytes));
    let (settings, keys, table) =
        found.ok_or_else(|| error!(Foreign, "the bytes fit no binary fuse filter of C, Go or xorf"))?;
    static_filter("binary_fuse", settings, keys, HashFunction::External, table)
}

impl Layout {
    /// The words of the geometry, the number of keys (0 if the bytes do not say it), and the fingerprints. `None` if
    /// the numbers do not fit each other or the length.
    fn read<'a>(&self, bytes: &'a [u8]) -> Option<([u64; 5], u64, &'a [u8])> {
        let (header, rest) = bytes.split_at_checked(self.length)?;
        let number = |at: usize| header.get(at..)?.first_chunk().map(|bytes| u64::from(u32::from_le_bytes(*bytes)));
        let is = |at: Option<usize>, expected: u64| at.is_none_or(|at| number(at) == Some(expected));
        let seed = u64::from_le_bytes(*header.first_chunk()?);
        let (segment, starts) = (number(self.segment)?, number(self.starts)?);
        if segment < 2 || !segment.is_power_of_two() || starts < segment || !starts.is_multiple_of(segment) {
            return None;
        }
        let cells = starts + 2 * segment;
        if !is(self.mask, segment - 1) || !is(self.segments, starts / segment) || !is(self.cells, cells) {
            return None;
        }
        let left = rest.len() as u64;
        let fits = |width: u64| left == cells * width / 8 || self.is_long && width == 16 && left == cells * 2 + 4;
        let width = [8, 16, 32].into_iter().find(|width| fits(*width))?;
        let table = rest.get(..(cells * width / 8) as usize)?;
        Some(([seed, segment, starts, width, 0], self.keys.and_then(number).unwrap_or(0), table))
    }
}
