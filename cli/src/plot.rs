//! `petal plan --plot`: the false-positive rate against bits per key, a line for each kind.

use petal::plan::{Fit, Goal, Request, plan};
use petal::{Capabilities, Row, registry};
use plotters::element::DashedPathElement;
use plotters::prelude::*;

/// Colours that all readers can tell apart, on white and on black: those of Okabe and Ito, with grey instead of yellow.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(128, 128, 128),
];

/// The dash patterns: a line without gaps, and lengths of dashes and gaps.
const DASHES: [Option<(u32, u32)>; 4] = [None, Some((9, 5)), Some((2, 4)), Some((18, 4))];

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pen {
    colour: RGBColor,
    dashes: Option<(u32, u32)>,
}

impl Pen {
    /// The pen of the kind with this index. Pens repeat only after all combinations of colour and dashes.
    fn of(place: usize) -> Pen {
        let dashes = DASHES[place / COLOURS.len() % DASHES.len()];
        Pen { colour: COLOURS[place % COLOURS.len()], dashes }
    }

    fn style(self) -> ShapeStyle {
        self.colour.stroke_width(2)
    }
}

const SIZE: (u32, u32) = (1180, 560);

/// The width of the legend, right of the curves.
const LEGEND: i32 = 340;

/// The range of the picture: rates from 1/2 down to 2^-LEAST, in steps of a quarter of a bit, and at most MOST_BITS
/// bits per key.
const LEAST: u32 = 17;
const MOST_BITS: f64 = 24.0;

/// The rate at which the legend gives each kind's bits per key.
const NAMED: f64 = 0.01;

/// The style sheet for viewers with dark colours. CSS rules override attributes.
const DARK: &str = "<style>@media (prefers-color-scheme: dark) { rect[fill=\"#FFFFFF\"] { fill: #0d1117 } \
                    text[fill=\"#000000\"] { fill: #e6edf3 } \
                    line[stroke=\"#000000\"], polyline[stroke=\"#000000\"] { stroke: #e6edf3 } }</style>\n";

/// The curve of a kind.
struct Line {
    name: String,
    /// The kind's bits per key at [`NAMED`].
    at_named: Option<f64>,
    points: Vec<(f64, f64)>,
    pen: Pen,
    /// Whether the kind has filters only at the points, and none between them.
    is_stepped: bool,
}

/// The kinds that fit a request.
struct Kinds {
    /// The kinds to draw; the one that needs the fewest bits comes first.
    lines: Vec<Line>,
    /// The names of kinds whose curve would lie beyond [`MOST_BITS`].
    beyond: Vec<&'static str>,
    /// The names of kinds with a single size, and so without a curve.
    of_one_size: Vec<&'static str>,
}

/// The picture as SVG, for the keys and capabilities of the request. The request's goal has no effect.
///
/// # Errors
/// The library's error about the request, or the drawing's.
pub fn svg(request: &Request) -> Result<String, String> {
    let mut svg = String::new();
    draw(&kinds(request)?, request.keys, &mut svg).map_err(|error| error.to_string())?;
    let start = svg.find("<rect").unwrap_or(svg.len());
    svg.insert_str(start, DARK);
    // A newline ends the file, as in the other drawings.
    if !svg.ends_with('\n') {
        svg.push('\n');
    }
    Ok(svg)
}

impl Kinds {
    /// The kinds without a curve, and the reasons.
    fn not_drawn(&self) -> String {
        let mut parts = Vec::new();
        if !self.beyond.is_empty() {
            parts.push(format!("{}, above {MOST_BITS} bits per key", self.beyond.join(", ")));
        }
        if !self.of_one_size.is_empty() {
            let names = self.of_one_size.join(", ");
            parts.push(format!("{names}, of which one size only takes no more than {MOST_BITS} bits per key"));
        }
        parts.push("kinds that do not fit the request".to_owned());
        format!("Not drawn: {}.", parts.join("; "))
    }
}

fn kinds(request: &Request) -> Result<Kinds, String> {
    let fits = |row: &Row, rate: f64| -> Result<Option<Fit>, String> {
        let request = Request { goal: Goal::FalsePositiveRate(rate), ..*request };
        let proposals = plan(&request).map_err(|error| error.to_string())?;
        Ok(proposals.into_iter().find(|one| one.kind == row.kind).and_then(|one| one.outcome.ok()))
    };
    let (mut lines, mut beyond, mut of_one_size) = (Vec::new(), Vec::new(), Vec::new());
    for (place, row) in registry::FILTERS.iter().enumerate() {
        let mut points = Vec::new();
        for quarter in 4..=4 * LEAST {
            let rate = (-0.25 * f64::from(quarter)).exp2();
            if let Some(fit) = fits(row, rate)? {
                // A kind that grows reserves part of the rate for later levels, which do not exist yet.
                let grows = row.capabilities.contains(Capabilities::GROW);
                points.push((fit.bits_per_key, if grows { rate } else { fit.false_positive_rate }));
            }
        }
        points.dedup();
        let fits_any = !points.is_empty();
        points.retain(|(bits, _)| *bits <= MOST_BITS);
        let at_named = fits(row, NAMED)?.map(|fit| fit.bits_per_key);
        if points.len() > 1 {
            let (name, is_stepped) = (row.name.to_owned(), !row.is_made_empty());
            lines.push(Line { name, at_named, points, pen: Pen::of(place), is_stepped });
        } else if points.len() == 1 {
            of_one_size.push(row.name);
        } else if fits_any {
            beyond.push(row.name);
        }
    }
    let order = |line: &Line| line.at_named.unwrap_or(f64::INFINITY);
    lines.sort_by(|a, b| order(a).total_cmp(&order(b)));
    Ok(Kinds { lines, beyond, of_one_size })
}

/// A rate as a percentage.
fn percent(rate: f64) -> String {
    format!("{} %", (rate * 1e8).round() / 1e6)
}

fn draw(kinds: &Kinds, keys: u64, svg: &mut String) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let font = |size: u32| ("sans-serif", size).into_font();
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let title = format!("False-positive rate against bits per key, {keys} keys");
    area.draw(&Text::new(title, (16, 14), font(19)))?;
    area.draw(&Text::new(kinds.not_drawn(), (16, 38), font(13)))?;
    let least = (-f64::from(LEAST)).exp2();
    let mut chart = ChartBuilder::on(&area)
        .margin(16)
        .margin_top(62)
        .margin_right(LEGEND)
        .x_label_area_size(44)
        .y_label_area_size(72)
        .build_cartesian_2d(0.0..MOST_BITS, (least..1.0).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("bits per key")
        .y_desc("false-positive rate")
        .x_labels(13)
        .max_light_lines(1)
        .light_line_style(BLACK.mix(0.0))
        .bold_line_style(BLACK.mix(0.14))
        .x_label_formatter(&|x| format!("{x}"))
        .y_label_formatter(&|y| percent(*y))
        .label_style(font(13))
        .draw()?;
    // The lower bound of any filter with this rate: log2(1 / rate) bits per key.
    chart.draw_series(LineSeries::new([(0.0, 1.0), (f64::from(LEAST), least)], BLACK.stroke_width(2)))?;
    for Line { points, pen, is_stepped, .. } in &kinds.lines {
        let along = points.iter().copied();
        match pen.dashes {
            None => chart.draw_series(LineSeries::new(along, pen.style()))?,
            Some((dash, gap)) => chart.draw_series(DashedLineSeries::new(along, dash, gap, pen.style()))?,
        };
        if *is_stepped {
            chart.draw_series(points.iter().map(|point| Circle::new(*point, 3, pen.colour.filled())))?;
        }
    }
    let (left, mut y) = (SIZE.0 as i32 - LEGEND + 16, 72);
    let mut legend = |name: String, pen: Pen| {
        let text = Text::new(name, (left + 34, y - 7), font(13));
        let ends = vec![(left, y), (left + 26, y)];
        y += 19;
        match pen.dashes {
            None => area.draw(&PathElement::new(ends, pen.style()))?,
            Some((dash, gap)) => area.draw(&DashedPathElement::new(ends, dash, gap, pen.style()))?,
        }
        area.draw(&text)
    };
    let bits = |bits: f64| format!("{bits:.1} bits per key at {}", percent(NAMED));
    legend(format!("the least there is: {}", bits(-NAMED.log2())), Pen { colour: BLACK, dashes: None })?;
    for line in &kinds.lines {
        legend(line.at_named.map_or_else(|| line.name.clone(), |at| format!("{}: {}", line.name, bits(at))), line.pen)?;
    }
    area.present()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_line_of_its_own() {
        let pens: Vec<Pen> = (0..registry::FILTERS.len()).map(Pen::of).collect();
        assert!(pens.iter().enumerate().all(|(i, pen)| !pens[..i].contains(pen)), "more colours or dashes are needed");
    }
}
