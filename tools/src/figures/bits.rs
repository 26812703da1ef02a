//! Where one key's bits lie in a filter, a map or a sketch: a drawing for each kind. The bits are those of a real one,
//! and each bit that is marked was found by turning it over: the answer about the key is another one then.

use super::svg::{Anchor, BLUE, INK, LIGHT, ORANGE, PALE, Svg};
use petal::{Builder, BuilderOptions, Filter, Handle, Image, Map, MapBuilder, Row, Sketch, Spec};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bits in a cache line.
const LINE: u64 = 512;

const WIDTH: f64 = 860.0;
const LEFT: f64 = 20.0;
const STRIP: f64 = WIDTH - 2.0 * LEFT;
/// The most lines that are enlarged; where there are more, the drawing says so.
const ENLARGED: usize = 9;

/// The key that is followed, where keys are texts and where they are integers.
const KEY: &[u8] = b"petal";
const INTEGER: u64 = 1234;
/// The value of the key in a map.
const VALUE: u64 = 0b1011_0101;

/// What is particular to the drawing of a kind.
struct Subject {
    /// What the filter is sized for; kinds that are built get this many keys.
    capacity: u64,
    /// Keys that come after the one that is followed.
    others: u64,
    /// What a mark is.
    caption: &'static str,
}

/// Draws a kind.
///
/// # Errors
/// What the library says of the filter; or that this kind has no caption for its marks.
pub fn draw(row: &'static Row) -> Result<String, String> {
    let subject =
        subject(row.name).ok_or_else(|| format!("{}: tools/src/figures/bits.rs says nothing of it", row.name))?;
    let (lines, bits) = bits_of_a_key(row, &subject).map_err(|error| format!("{}: {error}", row.name))?;
    if bits.is_empty() {
        return Err(format!("{}: no bit decides about the key", row.name));
    }
    let mut touched: Vec<u64> = bits.iter().map(|bit| bit / LINE).collect();
    touched.dedup();
    let enlarged = &touched[..touched.len().min(ENLARGED)];

    let top = 108.0;
    let height = top + 62.0 + 50.0 * enlarged.len() as f64 + if touched.len() > ENLARGED { 20.0 } else { 0.0 };
    let mut svg = Svg::new(WIDTH, height);
    svg.title((LEFT, 28.0), row.name);
    svg.note((LEFT, 52.0), subject.caption);
    let keys = match (row.is_made_empty(), subject.others) {
        (false, _) => format!("built from {} keys", subject.capacity),
        (true, 0) => "with one key".to_owned(),
        (true, others) => format!("with one key, and {others} that came later"),
    };
    let what = row.handle().name();
    let all = format!("All {lines} cache lines of a {what} {keys}; blue lines hold marks:");
    svg.remark((LEFT, 76.0), Anchor::Start, &all);
    strip(&mut svg, 86.0, lines, &bits);
    let all =
        if touched.len() > ENLARGED { format!("the first {ENLARGED} of {}", touched.len()) } else { "each".into() };
    svg.remark(
        (LEFT, top + 34.0),
        Anchor::Start,
        &format!("Enlarged, {all} of the blue lines: 512 bits from left to right."),
    );
    for (place, line) in enlarged.iter().enumerate() {
        let y = top + 46.0 + 50.0 * place as f64;
        let count = enlarge(&mut svg, y, *line, &bits);
        svg.remark(
            (LEFT, y + 37.0),
            Anchor::Start,
            &format!("line {line}: {count} {}", if count == 1 { "bit" } else { "bits" }),
        );
    }
    Ok(svg.finish())
}

/// A filter, map or sketch of a kind, with the bits that decide what it says of the key.
enum Made {
    Filter(Filter),
    Map(Map),
    Sketch(Sketch),
}

impl Made {
    fn words(&self) -> &[AtomicU64] {
        match self {
            Made::Filter(filter) => filter.base().words().shared(),
            Made::Map(map) => map.base().words().shared(),
            Made::Sketch(sketch) => sketch.base().words().shared(),
        }
    }

    /// What is said of the key: `None` is "no", and of a filter any number is "maybe".
    fn answer(&self, is_integer: bool) -> Option<u64> {
        match self {
            Made::Filter(filter) if is_integer => filter.contains_u64(INTEGER).then_some(1),
            Made::Filter(filter) => filter.contains(KEY).then_some(1),
            Made::Map(map) => map.get(KEY).ok().flatten(),
            Made::Sketch(sketch) => sketch.list().is_ok_and(|found| !found.listed.is_empty()).then_some(1),
        }
    }
}

/// How many cache lines the payload has, and which of its bits decide about the key.
fn bits_of_a_key(row: &'static Row, subject: &Subject) -> petal::Result<(u64, Vec<u64>)> {
    let mut spec = Spec { kind: Some(row.kind), ..Spec::with_capacity(subject.capacity, 0.01)? };
    let is_integer = row.hashing.universe.is_some();
    if is_integer {
        spec = Spec { kind: Some(row.kind), bits: subject.capacity, ..Spec::default() };
    } else if let (true, Some(parameter)) = (row.is_map(), row.parameter("value_bits")) {
        spec.set(parameter, 8.0)?;
        // One kind of map gives every key a value, and has no rate.
        if row.geometry_of(&spec).is_err() {
            spec.false_positive_rate = 0.0;
        }
    }
    let others = 0..subject.others.max(if row.is_made_empty() { 0 } else { subject.capacity - 1 });
    let mut before = Vec::new();
    let made = match (row.is_map(), row.is_made_empty()) {
        _ if row.handle() == Handle::Sketch => {
            let mut sketch = petal::Sketch::new(&spec)?;
            before = numbers(sketch.base().words().shared());
            sketch.insert(KEY)?;
            Made::Sketch(sketch)
        }
        (false, true) => {
            let mut filter = petal::Filter::new(&spec)?;
            before = numbers(filter.base().words().shared());
            if is_integer {
                filter.insert_u64(INTEGER)?
            } else {
                filter.insert(KEY)?
            };
            for other in others {
                filter.insert_u64(other)?;
            }
            Made::Filter(filter)
        }
        (false, false) => {
            let mut builder = Builder::new(&spec, BuilderOptions::default())?;
            builder.add(KEY)?;
            others.clone().try_for_each(|other| builder.add_u64(other))?;
            Made::Filter(builder.finish()?)
        }
        (true, true) => {
            let mut map = petal::Map::new(&spec)?;
            map.put(KEY, VALUE)?;
            Made::Map(map)
        }
        (true, false) => {
            let mut builder = MapBuilder::new(&spec, BuilderOptions::default())?;
            builder.put(KEY, VALUE)?;
            others.clone().try_for_each(|other| builder.put_u64(other, other % 256))?;
            Made::Map(builder.finish()?)
        }
    };
    let words = made.words();
    let all = words.len() as u64 * 64;
    let answer = made.answer(is_integer);
    let turn = |bit: u64| words[(bit / 64) as usize].fetch_xor(1 << (bit % 64), Ordering::Relaxed);
    let decides = |bit: &u64| {
        turn(*bit);
        let is_other = made.answer(is_integer) != answer;
        turn(*bit);
        is_other
    };
    let mut bits: Vec<u64> = (0..all).filter(decides).collect();
    if bits.is_empty() {
        // Cells that count down: one bit less of a cell is not yet 0. A number in several cells is listed from another
        // one. Marked is what the insertion changed.
        let after = numbers(words);
        bits = (0..all)
            .filter(|bit| (before[(bit / 64) as usize] ^ after[(bit / 64) as usize]) >> (bit % 64) & 1 == 1)
            .collect();
    }
    Ok((all.div_ceil(LINE), bits))
}

fn numbers(words: &[AtomicU64]) -> Vec<u64> {
    words.iter().map(|word| word.load(Ordering::Relaxed)).collect()
}

/// The whole payload. The edges of lines are drawn where there is room for them.
fn strip(svg: &mut Svg, y: f64, lines: u64, bits: &[u64]) {
    let line = STRIP / lines as f64;
    svg.rect((LEFT, y), (STRIP, 28.0), PALE, INK);
    let mut last = None;
    for touched in bits.iter().map(|bit| bit / LINE) {
        if last.replace(touched) != Some(touched) {
            svg.rect((LEFT + touched as f64 * line, y), (line.max(2.0), 28.0), LIGHT, BLUE);
        }
    }
    if lines <= 64 {
        for edge in 1..lines {
            let x = LEFT + edge as f64 * line;
            svg.line((x, y), (x, y + 28.0), INK, 0.5);
        }
    }
    for (start, length) in runs(bits) {
        let x = LEFT + start as f64 / LINE as f64 * line;
        svg.line((x, y + 4.0), (x, y + 24.0), ORANGE, (length as f64 / LINE as f64 * line).max(1.5));
    }
}

/// One line with its marks; how many bits these are.
fn enlarge(svg: &mut Svg, y: f64, line: u64, bits: &[u64]) -> usize {
    svg.rect((LEFT, y), (STRIP, 24.0), PALE, BLUE);
    let here: Vec<u64> = bits.iter().filter(|bit| **bit / LINE == line).map(|bit| bit % LINE).collect();
    let bit = STRIP / LINE as f64;
    for (start, length) in runs(&here) {
        svg.rect((LEFT + start as f64 * bit, y + 3.0), (length as f64 * bit, 18.0), ORANGE, "none");
    }
    here.len()
}

/// Bits that follow each other: where they start, and how many they are.
fn runs(bits: &[u64]) -> Vec<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for &bit in bits {
        match runs.last_mut() {
            Some((start, length)) if *start + *length == bit => *length += 1,
            _ => runs.push((bit, 1)),
        }
    }
    runs
}

/// What is drawn of a kind.
fn subject(name: &str) -> Option<Subject> {
    let (capacity, others, caption) = match name {
        "bloom" => (600, 0, "A key sets k bits anywhere. Each mark is one of them."),
        "split_block" => (600, 0, "A key sets eight bits, one in each lane of 32 bits, in one block of 256 bits."),
        "blocked" => (600, 0, "A key sets k bits, in different lanes of 32 bits, in one block of 512 bits: one line."),
        "fuse" => (
            600,
            0,
            "The exclusive or of three cells of seven bits is the key's fingerprint. \
             The last marks are a seed for all keys.",
        ),
        "counting" => {
            (150, 0, "A key adds 1 to k counters of four bits. The marks are the lowest bits of these counters.")
        }
        "scalable" => (200, 1000, "A key sets bits in one block of the level that was the newest when the key came."),
        "ribbon" => {
            (600, 0, "A key's fingerprint is the exclusive or of some of 64 slots in a row. Metadata says which layer.")
        }
        "golomb" => {
            (600, 0, "A key is one number. A lookup reads gaps from the start of its bucket up to that number.")
        }
        "hash_compaction" => {
            (600, 0, "A key's signature takes the first free slot on the key's way through the table.")
        }
        "signatures" => {
            (600, 0, "A key's signature lies in one slot of its two buckets. The first marks are a seed for all keys.")
        }
        "exact_bits" => (6144, 0, "An integer has the one bit whose number it is: here bit 1234."),
        "cuckoo" => (600, 0, "A key's fingerprint takes one slot in one of the key's two buckets."),
        "quotient" => (
            600,
            0,
            "A key's fingerprint is a place, the quotient, and a remainder in a slot there. Metadata bits join both.",
        ),
        "vector_quotient" => (
            600,
            0,
            "A key's tag of eight bits lies in one of two blocks. Bits at the block's start mark where buckets end.",
        ),
        "spectral" => {
            (60, 0, "A key adds 1 to k counters of 16 bits. The marks are the lowest bits of these counters.")
        }
        "d_left" => (300, 0, "A key's remainder takes one cell, in the emptiest of the key's four buckets."),
        "variable_increment" => (200, 0, "A key adds an increment of its choice to four cells of eight bits."),
        "layered" => {
            (300, 0, "A key that came once sets k bits in the first layer. Further arrivals set bits in later layers.")
        }
        "removed_set" => {
            (600, 0, "A key sets k bits in the first filter. A removal would set bits in the second one, at the end.")
        }
        "taffy" => {
            (600, 0, "A key's entry takes one slot, and knows more of the hash than it needs before the first growth.")
        }
        "aleph" => (
            600,
            0,
            "A key's entry is a place, the quotient, and a fingerprint in a slot there. Metadata bits join both.",
        ),
        "age_partitioned" => (300, 0, "A key sets one bit in each of the k youngest slices."),
        "stable" => {
            (80, 0, "A key sets its k cells of four bits to the greatest value. The last mark counts insertions.")
        }
        "exact_set" => (
            300,
            0,
            "A key's fingerprint and then one bit are the exclusive or of slots in a row. The first marks are the \
             head.",
        ),
        "stacked" => {
            (300, 0, "A key's fingerprint is the exclusive or of slots in a row. The first marks are the head.")
        }
        "rotating" => (300, 0, "A key sets bits in one block of the newest generation."),
        "bloomier" => (600, 0, "A key's value and check bits are the exclusive or of some of 64 slots in a row."),
        "retrieval" => (600, 0, "A key's value is the exclusive or of some of 64 slots in a row."),
        "approximator" => {
            (100, 0, "A key joins its value to k cells of eight bits; the marks are the bits that are read back.")
        }
        "iblt" => {
            (10, 0, "A number has one cell in each sub-table: a count, the number and its check, of 64 bits each.")
        }
        "riblt" => {
            (10, 0, "A number is in symbol 0, and ever more rarely in later ones: the number, its hash and a count.")
        }
        "pinsketch" => {
            (10, 0, "Each sum has a power of each element, so every bit of the sums belongs to every element.")
        }
        "mutable_bloomier" => (
            600,
            0,
            "Three cells and a seed for all keys find the key's place. \
             The value lies there in clear: the last eight bits.",
        ),
        _ => return None,
    };
    Some(Subject { capacity, others, caption })
}
