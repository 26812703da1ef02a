//! Flow charts: which kind to take.

use super::svg::{Anchor, BLUE, GREY, INK, LIGHT, PALE, Svg};

/// A question in two lines, and what to take where the answer is yes, with a remark.
type Question = (&'static str, &'static str, &'static str, &'static str);

/// A chart.
struct Chart<'a> {
    /// From top to bottom.
    questions: &'a [Question],
    /// What to take where all answers are no, with a remark.
    otherwise: (&'a str, &'a str),
    /// Further remarks.
    also: &'a [&'a str],
}

/// The questions about all kinds.
const ALL: [Question; 10] = [
    (
        "Must answers be exact, must keys be listed,",
        "or are there only a few thousand?",
        "a hash table",
        "not a filter at all",
    ),
    ("Has every key a value", "that is wanted back?", "a map", "the chart of maps says which"),
    ("Are keys integers below a known bound,", "and is more than a tenth of them there?", "exact_bits", "no mistakes"),
    (
        "Are old keys to be forgotten: a window,",
        "or keys that fade?",
        "a filter that forgets",
        "the chart of windows says which",
    ),
    (
        "Are all keys known before the first lookup,",
        "and does none come later?",
        "a filter that is built once",
        "the chart of static filters says which",
    ),
    (
        "Is the number of keys unknown,",
        "and can no builder count them first?",
        "a filter that grows",
        "the chart of growth says which",
    ),
    (
        "Must single keys be removed",
        "or counted?",
        "a filter that removes or counts",
        "the chart of removal says which",
    ),
    ("Must Parquet's readers", "understand the bytes?", "split_block", "with hash xxh64 and seed 0"),
    (
        "Is each key looked up once, and inserted then,",
        "as states are by a model checker?",
        "hash_compaction",
        "from 20 bits a state on; full at its capacity",
    ),
    (
        "Is memory dearer than time, is the rate",
        "below 0.01 %, or the size given to the bit?",
        "bloom",
        "any size, several cache lines a key",
    ),
];

/// The questions about maps.
const MAPS: [Question; 3] = [
    (
        "Do keys come at any time, with values of which",
        "the greatest, the least or the union counts?",
        "approximator",
        "what is read is the value or above it",
    ),
    ("Do values change, of keys that stay?", "", "mutable_bloomier", "a value is replaced by one store"),
    ("Are only keys of the map asked for?", "", "retrieval", "nothing but the values' bits"),
];

/// The questions about filters that are built from all of their keys.
const STATIC: [Question; 5] = [
    (
        "Are all other keys known too that will be asked for,",
        "and must there be no error for them?",
        "exact_set",
        "members and excluded keys, near the fewest bits",
    ),
    (
        "Are many of the absent keys known",
        "that will be asked for most often?",
        "stacked",
        "fewer false answers for members and frequent non-members",
    ),
    (
        "Are filters merged, intersected or listed,",
        "or must the rate be just the one that is asked for?",
        "golomb",
        "any rate; lookups take four times as long",
    ),
    ("Is memory dearer than time?", "", "ribbon", "the least memory; twice the time to build"),
    (
        "Must a lookup touch two cache lines,",
        "or do readers know tables of signatures?",
        "signatures",
        "a third more memory than fuse",
    ),
];

/// The questions about filters that grow.
const GROWING: [Question; 2] = [
    ("Must keys be removed too?", "", "aleph", "two or three cache lines however often it grew"),
    (
        "Does it grow many times, and do many lookups",
        "ask for absent keys?",
        "taffy",
        "two cache lines however often it grew",
    ),
];

/// The questions about filters that forget.
const FORGETTING: [Question; 2] = [
    (
        "Is the memory given, and does it no harm",
        "that recent keys may be lost?",
        "stable",
        "keys fade one by one, the rate stays",
    ),
    (
        "Must the window end where it should,",
        "in many small steps?",
        "age_partitioned",
        "4 % kept for longer; up to 16 cache lines",
    ),
];

/// The questions about kinds that remove keys and count them.
const REMOVING: [Question; 7] = [
    (
        "Do a few keys go once and for all,",
        "and may others be lost with them?",
        "removed_set",
        "hardly more memory than bloom",
    ),
    (
        "Are keys only counted, and never removed?",
        "",
        "layered, spectral",
        "counts to a few, or to 65,535 and more rightly",
    ),
    (
        "Must a full filter still take keys,",
        "and is nothing counted?",
        "variable_increment",
        "three quarters of counting's memory",
    ),
    ("Must a full filter still take keys?", "", "counting", "four times the memory; layout blocked: one line"),
    (
        "Must a file be changed in its place,",
        "while others read it?",
        "d_left",
        "half of counting's memory; counts to 96",
    ),
    (
        "Do keys come often, is memory dearer than time,",
        "or are filters merged, listed or resized?",
        "quotient",
        "counts without end; slower than cuckoo",
    ),
    (
        "Must insertions take the same time",
        "however full the filter is?",
        "vector_quotient",
        "no search for room; two cache lines",
    ),
];

const WIDTH: f64 = 860.0;
const BOX: (f64, f64) = (340.0, 52.0);
const LEFT: f64 = 60.0;
const RIGHT: f64 = 520.0;
const STEP: f64 = 88.0;

/// Draws the chart of all kinds.
pub fn all() -> String {
    draw(&Chart {
        questions: &ALL,
        otherwise: ("blocked, the default", "one cache line a key, nearly the least memory"),
        also: &[
            "Keys from strangers: any kind, with hash siphash13 and a secret key.",
            "The number of keys is not known: a builder, which counts first; or a bit array with foldable, made large \
             and folded.",
        ],
    })
}

/// Draws the chart of maps.
pub fn maps() -> String {
    draw(&Chart {
        questions: &MAPS,
        otherwise: ("bloomier", "exact for its keys; others are not there"),
        also: &["A map that is built once takes all of its keys at once; approximator takes them at any time."],
    })
}

/// Draws the chart of filters that are built from all of their keys.
pub fn built() -> String {
    draw(&Chart {
        questions: &STATIC,
        otherwise: ("fuse", "less memory than any that inserts"),
        also: &["None of them takes a key afterwards."],
    })
}

/// Draws the chart of filters that grow.
pub fn growing() -> String {
    draw(&Chart {
        questions: &GROWING,
        otherwise: ("scalable", "a cache line a level; changed in place until it is full"),
        also: &["A builder that counts first makes a smaller filter than any of these."],
    })
}

/// Draws the chart of filters that forget.
pub fn forgetting() -> String {
    draw(&Chart {
        questions: &FORGETTING,
        otherwise: ("rotating", "the least memory, and it merges"),
        also: &["All keys of the window are found, in rotating and in age_partitioned."],
    })
}

/// Draws the chart of kinds that remove keys and count them.
pub fn removing() -> String {
    draw(&Chart {
        questions: &REMOVING,
        otherwise: ("cuckoo", "two cache lines a key, few copies of each"),
        also: &["Remove only keys that were inserted: that of another one may take away a key that is there."],
    })
}

fn draw(chart: &Chart) -> String {
    let mut svg = Svg::new(WIDTH, 24.0 + STEP * chart.questions.len() as f64 + 82.0 + 20.0 * chart.also.len() as f64);
    let middle = LEFT + BOX.0 / 2.0;
    let mut y = 24.0;
    for (first, second, kind, remark) in chart.questions {
        svg.rect((LEFT, y), BOX, PALE, INK);
        let lines: &[_] = if second.is_empty() { &[(first, 31.0)] } else { &[(first, 22.0), (second, 40.0)] };
        for (line, below) in lines {
            svg.text((middle, y + below), 13.0, Anchor::Middle, &format!("fill=\"{INK}\""), line);
        }
        svg.arrow((LEFT + BOX.0, y + BOX.1 / 2.0), (RIGHT, y + BOX.1 / 2.0));
        svg.remark((LEFT + BOX.0 + 50.0, y + BOX.1 / 2.0 - 6.0), Anchor::Middle, "yes");
        answer(&mut svg, (RIGHT, y), 280.0, kind, remark);
        svg.arrow((middle, y + BOX.1), (middle, y + STEP));
        svg.remark((middle + 16.0, y + BOX.1 + 22.0), Anchor::Middle, "no");
        y += STEP;
    }
    answer(&mut svg, (LEFT, y), BOX.0, chart.otherwise.0, chart.otherwise.1);
    y += 84.0;
    for line in chart.also {
        svg.text((LEFT, y), 13.0, Anchor::Start, &format!("fill=\"{GREY}\""), line);
        y += 20.0;
    }
    svg.finish()
}

/// What to take.
fn answer(svg: &mut Svg, at: (f64, f64), width: f64, name: &str, remark: &str) {
    svg.rect(at, (width, BOX.1), LIGHT, BLUE);
    let middle = at.0 + width / 2.0;
    svg.text((middle, at.1 + 22.0), 15.0, Anchor::Middle, &format!("font-weight=\"bold\" fill=\"{INK}\""), name);
    svg.remark((middle, at.1 + 40.0), Anchor::Middle, remark);
}

#[cfg(test)]
mod tests {
    use super::*;
    use petal::registry;

    /// Whoever follows the charts can come to every kind, and to nothing else.
    #[test]
    fn the_charts_reach_every_kind() {
        let charts = [all(), maps(), built(), growing(), forgetting(), removing()];
        let names: Vec<&str> = charts
            .iter()
            .flat_map(|chart| chart.split("font-weight=\"bold\"").skip(1))
            .filter_map(|text| text.split(['>', '<']).nth(1))
            .flat_map(|text| text.split(", "))
            .collect();
        for row in registry::all() {
            let reached = names.iter().filter(|name| name.starts_with(row.name)).count();
            assert!(reached > 0, "no chart comes to {}", row.name);
        }
        for name in names.iter().filter(|name| !name.contains(' ')) {
            assert!(*name == "the default" || registry::find_name(name).is_some(), "{name} is no kind");
        }
    }
}
