//! What filters that grow keep, compared with one that does not: the false-positive rate and the bits of a key, by how
//! many keys there are.

use super::svg::{Anchor, BLUE, GREY, INK, ORANGE, Svg};
use petal::{Filter, Spec, registry};

/// Keys that all of them are made for.
const CAPACITY: u64 = 1000;

/// The rate that they are made for.
const RATE: f64 = 0.01;

/// How often the number of keys doubles from there on.
const DOUBLINGS: u32 = 10;

/// Points of a curve for each doubling.
const STEPS: u32 = 16;

/// The areas of the curves: rates on the left, bits on the right.
const LEFT: [f64; 2] = [64.0, 420.0];
const TOP: f64 = 60.0;
const WIDTH: f64 = 290.0;
const HEIGHT: f64 = 240.0;

/// Decades of the rate that are drawn, from 1 down, and bits of a key.
const DECADES: f64 = 4.0;
const BITS: f64 = 60.0;

/// A kind, and how it is drawn.
const CURVES: [(&str, &str, f64); 4] =
    [("blocked", INK, 1.0), ("scalable", BLUE, 2.5), ("taffy", ORANGE, 2.5), ("aleph", ORANGE, 1.0)];

/// Draws it.
///
/// # Errors
/// What the library says of the filters.
pub fn draw() -> petal::Result<String> {
    let mut svg = Svg::new(980.0, 380.0);
    svg.note((LEFT[0] - 44.0, 26.0), "Filters made for a thousand keys at 1 %, and then given more.");
    let across = |keys: f64| WIDTH * (keys / CAPACITY as f64).log2() / f64::from(DOUBLINGS);
    let rate_at = |keys: f64, rate: f64| (LEFT[0] + across(keys), TOP - HEIGHT * rate.max(1e-4).log10() / DECADES);
    let bits_at = |keys: f64, bits: f64| (LEFT[1] + across(keys), TOP + HEIGHT * (1.0 - bits.min(BITS) / BITS));
    let (least, most) = (CAPACITY as f64, CAPACITY as f64 * f64::from(DOUBLINGS).exp2());
    for (rate, name) in [(1.0, "100 %"), (0.1, "10 %"), (0.01, "1 %"), (0.001, "0.1 %"), (1e-4, "0.01 %")] {
        svg.line(rate_at(least, rate), rate_at(most, rate), GREY, 0.5);
        let (x, y) = rate_at(least, rate);
        svg.remark((x - 44.0, y + 4.0), Anchor::Start, name);
    }
    for bits in [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0] {
        svg.line(bits_at(least, bits), bits_at(most, bits), GREY, 0.5);
        let (x, y) = bits_at(least, bits);
        svg.remark((x - 24.0, y + 4.0), Anchor::Start, &format!("{bits}"));
    }
    for (keys, name) in [(1e3, "1000"), (1e4, "10,000"), (1e5, "100,000"), (1e6, "1,000,000")] {
        for (x, y) in [rate_at(keys, 1e-4), bits_at(keys, 0.0)] {
            svg.line((x, y), (x, y + 5.0), INK, 1.0);
            svg.remark((x, y + 20.0), Anchor::Middle, name);
        }
    }
    for (left, name) in LEFT.into_iter().zip(["false-positive rate, by keys", "bits per key, by keys"]) {
        svg.remark((left + WIDTH / 2.0, TOP + HEIGHT + 44.0), Anchor::Middle, name);
    }
    let legend = |row: f64| (LEFT[1] + WIDTH + 24.0, TOP + 20.0 + 44.0 * row);
    let mut row = 0.0;
    let mut named = |svg: &mut Svg, colour: &str, width: f64, name: &str, remark: &str| {
        let (x, y) = legend(row);
        svg.line((x, y - 4.0), (x + 24.0, y - 4.0), colour, width);
        svg.note((x + 32.0, y), name);
        svg.remark((x + 32.0, y + 16.0), Anchor::Start, remark);
        row += 1.0;
    };
    for (name, colour, width) in CURVES {
        let Some(row) = registry::find_name(name) else { continue };
        let points = grown(&Spec { kind: Some(row.kind), ..Spec::with_capacity(CAPACITY, RATE)? })?;
        svg.curve(points.iter().map(|(keys, rate, _)| rate_at(*keys, *rate)), colour, width);
        svg.curve(points.iter().map(|(keys, _, bits)| bits_at(*keys, *bits)), colour, width);
        let &(_, rate, bits) = points.last().unwrap_or(&(0.0, 0.0, 0.0));
        named(&mut svg, colour, width, name, &format!("{:.2} %, {bits:.1} bits/key in the end", 100.0 * rate));
    }
    // Pagh, Segev and Wieder, "How to Approximate a Set Without Knowing Its Size in Advance", 2013.
    let bound = |keys: f64| -RATE.log2() + keys.log2().log2();
    svg.curve(numbers().map(|keys| bits_at(keys as f64, bound(keys as f64))), GREY, 1.5);
    named(&mut svg, GREY, 1.5, "lg(1/rate) + lg lg n", "no filter that grows has less");
    Ok(svg.finish())
}

/// The numbers of keys at which curves have points.
fn numbers() -> impl Iterator<Item = u64> {
    (0..=DOUBLINGS * STEPS).map(|i| (CAPACITY as f64 * (f64::from(i) / f64::from(STEPS)).exp2()) as u64)
}

/// A filter at each of these numbers: keys, the rate then, bits of a key.
fn grown(spec: &Spec) -> petal::Result<Vec<(f64, f64, f64)>> {
    let (mut filter, mut next, mut points) = (petal::Filter::new(spec)?, 0, Vec::new());
    for keys in numbers() {
        while next < keys {
            filter.insert_u64(next)?;
            next += 1;
        }
        points.push((keys as f64, filter.expected_false_positive_rate(keys), bits_of(&filter) / keys as f64));
    }
    Ok(points)
}

fn bits_of(filter: &Filter) -> f64 {
    petal::Image::base(filter).geometry().payload_bytes as f64 * 8.0
}
