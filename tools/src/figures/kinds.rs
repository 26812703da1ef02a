//! A flow chart: which kind to take.

use super::svg::{Anchor, BLUE, GREY, INK, LIGHT, PALE, Svg};

/// Questions from top to bottom. What to take where the answer is yes stands to the right of each.
const QUESTIONS: [(&str, &str, &str, &str); 7] = [
    (
        "Must answers be exact, must keys be listed,",
        "or are there only a few thousand?",
        "a hash table",
        "not a filter at all",
    ),
    ("Has every key a value", "that is wanted back?", "bloomier", "a map: exact for its keys, built once"),
    ("Are all keys known", "before the first lookup?", "ribbon, or fuse", "least memory, or half the time"),
    ("Must single keys be deleted", "or counted?", "counting", "a counter where bloom has a bit"),
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

const WIDTH: f64 = 860.0;
const BOX: (f64, f64) = (340.0, 52.0);
const LEFT: f64 = 60.0;
const RIGHT: f64 = 520.0;
const STEP: f64 = 88.0;

/// Draws it.
pub fn draw() -> String {
    let mut svg = Svg::new(WIDTH, 24.0 + STEP * QUESTIONS.len() as f64 + 122.0);
    let middle = LEFT + BOX.0 / 2.0;
    let mut y = 24.0;
    for (first, second, kind, remark) in QUESTIONS {
        svg.rect((LEFT, y), BOX, PALE, INK);
        svg.text((middle, y + 22.0), 13.0, Anchor::Middle, &format!("fill=\"{INK}\""), first);
        svg.text((middle, y + 40.0), 13.0, Anchor::Middle, &format!("fill=\"{INK}\""), second);
        svg.arrow((LEFT + BOX.0, y + BOX.1 / 2.0), (RIGHT, y + BOX.1 / 2.0));
        svg.remark((LEFT + BOX.0 + 50.0, y + BOX.1 / 2.0 - 6.0), Anchor::Middle, "yes");
        answer(&mut svg, (RIGHT, y), 280.0, kind, remark);
        svg.arrow((middle, y + BOX.1), (middle, y + STEP));
        svg.remark((middle + 16.0, y + BOX.1 + 22.0), Anchor::Middle, "no");
        y += STEP;
    }
    answer(&mut svg, (LEFT, y), BOX.0, "blocked, the default", "one cache line a key, nearly the least memory");
    y += 84.0;
    let also = [
        "Keys from strangers: any kind, with hash siphash13 and a secret key.",
        "The number of keys is not known: a builder, which counts first; or a bit array with foldable, made large and folded.",
    ];
    for line in also {
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
