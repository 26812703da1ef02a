//! The pictures: time against footprint with the limit as a line, and the false-positive rate against bits per key with
//! the formulas as lines.

use crate::keys::Form;
use crate::report::Record;
use crate::subject::{Size, spec};
use petal::Kernel;
use petal::registry::Row;
use plotters::coord::Shift;
use plotters::prelude::*;
use std::fs;
use std::path::Path;

/// Colours that can be told apart (Okabe and Ito, 2008), for whatever there is in the order of its names.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(120, 94, 60),
    RGBColor(150, 150, 150),
];

/// Where the names begin.
const LEGEND: i32 = 700;

/// A line of a picture.
struct Line {
    name: String,
    points: Vec<(f64, f64)>,
    marked: bool,
    joined: bool,
    colour: RGBColor,
}

/// What the axes are.
struct Axes<'a> {
    title: &'a str,
    x: &'a str,
    y: &'a str,
    x_logarithmic: bool,
    x_label: fn(f64) -> String,
    y_label: fn(f64) -> String,
}

/// Draws all pictures for which there are figures, into a folder.
///
/// # Errors
/// What the system reports.
pub fn draw(folder: &Path, rows: &[&'static Row], records: &[Record]) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for (op, title) in
        [("hit", "Lookups of present keys"), ("miss", "Lookups of absent keys"), ("insert", "Insertions")]
    {
        let axes = Axes {
            title: &format!("{title}, 10 bits/key, one thread"),
            x: "footprint",
            y: "ns/key",
            x_logarithmic: true,
            x_label: bytes,
            y_label: |y| format!("{y}"),
        };
        let lines = times(rows, records, op);
        picture(&folder.join(format!("{op}.svg")), &axes, &lines)?;
    }
    let axes = Axes {
        title: "False-positive rate: measured (points), formula (lines)",
        x: "bits/key",
        y: "FPR",
        x_logarithmic: false,
        x_label: |x| format!("{x}"),
        y_label: |y| format!("{} %", (y * 1e8).round() / 1e6),
    };
    picture(&folder.join("fpr.svg"), &axes, &rates(rows, records))
}

/// The names in the pictures, Petal's kinds first, each with its colour.
fn colours(rows: &[&'static Row], records: &[Record]) -> Vec<(String, RGBColor)> {
    let mut names: Vec<String> = rows.iter().map(|row| row.name.to_owned()).collect();
    for record in records {
        if !names.contains(&record.filter) {
            names.push(record.filter.clone());
        }
    }
    names.into_iter().zip(COLOURS.into_iter().cycle()).collect()
}

/// Times against footprint: the best kernel, in batches where there are any.
fn times(rows: &[&'static Row], records: &[Record], op: &str) -> Vec<Line> {
    let best = petal::simd::best().kernel.name();
    let wanted = |record: &&Record| {
        let way = record.peer || (record.batch && record.kernel == best);
        let plain = record.threads == 1 && !record.shared && record.keys == Form::U64.name();
        record.op == op && way && plain && (record.bits_per_key - 10.0).abs() < 0.5
    };
    let chosen: Vec<&Record> = records.iter().filter(wanted).collect();
    let mut lines = Vec::new();
    for (name, colour) in colours(rows, records) {
        let of = chosen.iter().filter(|record| record.filter == name);
        let points: Vec<_> = of.clone().map(|record| (record.bytes as f64, record.ns)).collect();
        let marked = of.clone().any(|record| !record.peer);
        let name = if marked { format!("{name}, batch") } else { name };
        lines.push(Line { name, points, marked: true, joined: true, colour });
    }
    let mut limit: Vec<_> = chosen.iter().map(|record| (record.n, record.bytes as f64, record.limit_ns)).collect();
    limit.dedup_by_key(|(n, ..)| *n);
    let points = limit.into_iter().map(|(_, bytes, ns)| (bytes, ns)).collect();
    lines.push(Line { name: "limit: one line".to_owned(), points, marked: false, joined: true, colour: BLACK });
    lines
}

/// Rates against bits per key, at the number of keys for which most sizes were measured.
fn rates(rows: &[&'static Row], records: &[Record]) -> Vec<Line> {
    let n = 1_000_000;
    let chosen = records.iter().filter(|record| {
        let plain = record.threads == 1 && record.keys == Form::U64.name();
        record.n == n && record.op == "miss" && !record.batch && plain && record.fpr > 0.0
    });
    let chosen: Vec<&Record> = chosen.collect();
    let most = chosen.iter().map(|record| record.bits_per_key.round() as u32).max().unwrap_or(16);
    let mut lines = Vec::new();
    for (name, colour) in colours(rows, records) {
        let mut points: Vec<_> = chosen.iter().filter(|r| r.filter == name).map(|r| (r.bits_per_key, r.fpr)).collect();
        points.dedup();
        if let Some(row) = rows.iter().find(|row| row.name == name) {
            let formula = (6 * 4..=most * 4).filter_map(|quarter| {
                let bits_per_key = f64::from(quarter) / 4.0;
                let size = Size { n, bits_per_key, form: Form::U64 };
                let geometry = (row.plan)(&spec(row, &size, Kernel::Best)).ok()?;
                Some((bits_per_key, (row.false_positive_rate)(&geometry, n)))
            });
            lines.push(Line { name: String::new(), points: formula.collect(), marked: false, joined: true, colour });
        }
        // Where there is a formula, it is the line.
        let joined = rows.iter().all(|row| row.name != name);
        lines.push(Line { name, points, marked: true, joined, colour });
    }
    lines
}

/// Writes one picture; a picture without points is not written.
fn picture(path: &Path, axes: &Axes, lines: &[Line]) -> Result<(), String> {
    let points = || lines.iter().flat_map(|line| &line.points);
    if points().count() < 2 {
        return Ok(());
    }
    let least = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(0.0, f64::max);
    let (x, y) = ((least(|p| p.0), most(|p| p.0)), (least(|p| p.1), most(|p| p.1)));
    let area = SVGBackend::new(path, (860, 560)).into_drawing_area();
    let drawn = area.fill(&WHITE).map_err(|error| error.to_string()).and_then(|()| {
        let y = (y.0 / 1.3..y.1 * 1.3).log_scale();
        if axes.x_logarithmic {
            chart(&area, axes, lines, (x.0 / 1.3..x.1 * 1.3).log_scale(), y)
        } else {
            chart(&area, axes, lines, x.0 - 0.5..x.1 + 0.5, y)
        }
    });
    drawn
        .and_then(|()| area.present().map_err(|error| error.to_string()))
        .map_err(|e| format!("{}: {e}", path.display()))
}

fn chart<X, Y>(area: &DrawingArea<SVGBackend, Shift>, axes: &Axes, lines: &[Line], x: X, y: Y) -> Result<(), String>
where
    X: plotters::coord::ranged1d::AsRangedCoord<Value = f64>,
    Y: plotters::coord::ranged1d::AsRangedCoord<Value = f64>,
    X::CoordDescType: plotters::coord::ranged1d::ValueFormatter<f64>,
    Y::CoordDescType: plotters::coord::ranged1d::ValueFormatter<f64>,
{
    let failure = |error: DrawingAreaErrorKind<std::io::Error>| error.to_string();
    let font = |size: u32| ("sans-serif", size).into_font();
    let (left, right) = area.split_horizontally(LEGEND);
    let mut chart = ChartBuilder::on(&left)
        .caption(axes.title, font(18))
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(x, y)
        .map_err(failure)?;
    chart
        .configure_mesh()
        .x_desc(axes.x)
        .y_desc(axes.y)
        .light_line_style(BLACK.mix(0.05))
        .bold_line_style(BLACK.mix(0.15))
        .x_label_formatter(&|x| (axes.x_label)(*x))
        .y_label_formatter(&|y| (axes.y_label)(*y))
        .label_style(font(13))
        .draw()
        .map_err(failure)?;
    for Line { points, marked, joined, colour, .. } in lines {
        if *joined {
            let style = colour.stroke_width(if *marked { 1 } else { 2 });
            chart.draw_series(LineSeries::new(points.iter().copied(), style)).map_err(failure)?;
        }
        if *marked {
            let circles = points.iter().map(|point| Circle::new(*point, 4, colour.filled()));
            chart.draw_series(circles).map_err(failure)?;
        }
    }
    // The names beside the picture, in the order in which their lines end.
    let mut named: Vec<&Line> = lines.iter().filter(|line| !line.name.is_empty() && !line.points.is_empty()).collect();
    named.sort_by(|a, b| last(b).total_cmp(&last(a)));
    for (i, line) in named.into_iter().enumerate() {
        let y = 60 + 24 * i as i32;
        let sample = PathElement::new(vec![(0, y), (18, y)], line.colour.stroke_width(3));
        right.draw(&sample).map_err(failure)?;
        right.draw(&Text::new(line.name.as_str(), (26, y - 7), font(13))).map_err(failure)?;
    }
    Ok(())
}

/// Where a line ends.
fn last(line: &Line) -> f64 {
    line.points.last().map_or(0.0, |point| point.1)
}

/// Bytes in words.
fn bytes(bytes: f64) -> String {
    let mut unit = bytes;
    for name in ["B", "KB", "MB", "GB"] {
        if unit < 1000.0 {
            return format!("{} {name}", unit.round());
        }
        unit /= 1000.0;
    }
    format!("{} TB", unit.round())
}
