//! What each kind that forgets remembers: the share of keys that are found by how many others came after them.

use super::svg::{Anchor, BLUE, GREY, INK, ORANGE, Svg};
use petal::{Spec, registry};

/// What is to be remembered.
const WINDOW: u64 = 1_000_000;

/// Ages that are drawn, as a part of the window.
const REACH: f64 = 2.4;

/// How many of them.
const STEPS: u32 = 240;

/// The area of the curves.
const LEFT: f64 = 60.0;
const TOP: f64 = 50.0;
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 260.0;

/// A kind, what of its parameters differs from the default, and how it is drawn.
type Curve = (&'static str, &'static [(&'static str, f64)], &'static str, f64);

const CURVES: [Curve; 5] = [
    ("rotating", &[("generations", 2.0)], BLUE, 1.0),
    ("rotating", &[], BLUE, 2.5),
    ("age_partitioned", &[], INK, 2.5),
    ("stable", &[], ORANGE, 2.5),
    ("stable", &[("cell_bits", 2.0), ("loss", 0.5)], ORANGE, 1.0),
];

/// Draws it.
///
/// # Errors
/// What the library says of the filters.
pub fn draw() -> petal::Result<String> {
    let mut svg = Svg::new(880.0, 380.0);
    svg.note(
        (LEFT - 40.0, 26.0),
        "Keys that are found, by how many others came after them: filters for a window of a million keys, at 1 %.",
    );
    let at = |age: f64, share: f64| (LEFT + WIDTH * age / REACH, TOP + HEIGHT * (1.0 - share));
    for percent in [0, 50, 100] {
        let share = f64::from(percent) / 100.0;
        svg.line(at(0.0, share), at(REACH, share), GREY, 0.5);
        let (x, y) = at(0.0, share);
        svg.remark((x - 40.0, y + 4.0), Anchor::Start, &format!("{percent} %"));
    }
    for (age, name) in [(0.0, "0"), (0.5, "0.5"), (1.0, "1: the window"), (1.5, "1.5"), (2.0, "2")] {
        let (x, y) = at(age, 0.0);
        svg.line((x, y), (x, y + 5.0), INK, 1.0);
        svg.remark((x, y + 20.0), Anchor::Middle, name);
    }
    let (x, y) = at(REACH / 2.0, 0.0);
    svg.remark((x, y + 42.0), Anchor::Middle, "keys that came later, in windows");
    svg.line(at(1.0, 0.0), at(1.0, 1.0), GREY, 0.5);
    for (i, (name, parameters, colour, width)) in CURVES.into_iter().enumerate() {
        let row = registry::find_name(name).expect("the kinds that are drawn exist");
        let mut spec = Spec { kind: Some(row.kind), ..Spec::with_capacity(WINDOW, 0.01)? };
        for (parameter, value) in parameters {
            spec.set(row.parameter(parameter).expect("it has that"), *value)?;
        }
        let filter = petal::Filter::new(&spec)?;
        let point = |i: u32| {
            let age = REACH * f64::from(i) / f64::from(STEPS);
            at(age, 1.0 - filter.expected_false_negative_rate((age * WINDOW as f64) as u64))
        };
        svg.curve((0..=STEPS).map(point), colour, width);
        let settings: String = parameters.iter().map(|(parameter, value)| format!(", {parameter}={value}")).collect();
        let bits = petal::geometry(&spec)?.bits as f64 / WINDOW as f64;
        let (x, y) = (LEFT + WIDTH + 20.0, TOP + 20.0 + 44.0 * i as f64);
        svg.line((x, y - 4.0), (x + 24.0, y - 4.0), colour, width);
        svg.note((x + 32.0, y), &format!("{name}{settings}"));
        svg.remark((x + 32.0, y + 16.0), Anchor::Start, &format!("{bits:.1} bits/key"));
    }
    Ok(svg.finish())
}
