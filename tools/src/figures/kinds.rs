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
    /// What else is to say.
    also: &'a [&'a str],
}

/// Of all kinds.
const ALL: [Question; 7] = [
    (
        "Must answers be exact, must keys be listed,",
        "or are there only a few thousand?",
        "a hash table",
        "not a filter at all",
    ),
    ("Has every key a value", "that is wanted back?", "bloomier", "a map: exact for its keys, built once"),
    ("Are all keys known", "before the first lookup?", "ribbon, or fuse", "least memory, or half the time"),
    ("Must single keys be removed", "or counted?", "cuckoo, quotient, counting", "the next chart tells them apart"),
    (
        "Is the number of keys unknown,",
        "and can no builder count them first?",
        "scalable",
        "keeps its rate, one more line a lookup a level",
    ),
    ("Must Parquet's readers", "understand the bytes?", "split_block", "with hash xxh64 and seed 0"),
    (
        "Is memory dearer than time, is the rate",
        "below 0.01 %, or the size given to the bit?",
        "bloom",
        "any size, several cache lines a key",
    ),
];

/// Of those that remove keys and count them.
const REMOVING: [Question; 3] = [
    (
        "Must a file be changed in its place,",
        "or must a full filter still take keys?",
        "counting",
        "four times the memory; layout blocked: one line",
    ),
    (
        "Do keys come often, or must filters be",
        "merged, intersected, listed or resized?",
        "quotient",
        "counts without end; slower than cuckoo",
    ),
    ("Is memory dearer than time?", "", "quotient", "0.8 bits a key fewer"),
];

const WIDTH: f64 = 860.0;
const BOX: (f64, f64) = (340.0, 52.0);
const LEFT: f64 = 60.0;
const RIGHT: f64 = 520.0;
const STEP: f64 = 88.0;

/// Draws that of all kinds.
pub fn all() -> String {
    draw(&Chart {
        questions: &ALL,
        otherwise: ("blocked, the default", "one cache line a key, nearly the least memory"),
        also: &[
            "Keys from strangers: any kind, with hash siphash13 and a secret key.",
            "The number of keys is not known: a builder, which counts first; or a bit array with foldable, made large and folded.",
        ],
    })
}

/// Draws that of kinds that remove keys and count them.
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
