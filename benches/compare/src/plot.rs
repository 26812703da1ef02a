//! The pictures. One sort has times against the footprint, with the limit as a line. The other sort has false-positive
//! rates against bits a key, with the formulas as lines. Petal's filters have two lines: in batches, and one key at a
//! time as in other libraries. Every line has its name at its end, and the picture names the machine and its caches.

use crate::growing;
use crate::keys::Form;
use crate::report::{Machine, Record, percent};
use crate::subject::{Size, spec};
use petal::Kernel;
use petal::Row;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use std::fs;
use std::path::Path;

/// Colours that can be told apart (Okabe and Ito, 2008), given to names in their order.
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

/// The size of a picture in pixels, and the width that the names take of it.
const SIZE: (u32, u32) = (1030, 580);
const NAMES: u32 = 360;

/// The least distance between two names.
const NAME_HEIGHT: i32 = 17;

/// The style of a line.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    /// Thick, with filled marks.
    Batch,
    /// Thin, with hollow marks.
    Single,
    /// Thick, without marks.
    Limit,
    /// Thin, without marks and without a name.
    Formula,
    /// Marks only.
    Measured,
}

/// A line of a picture.
struct Line {
    name: String,
    points: Vec<(f64, f64)>,
    style: Style,
    colour: RGBColor,
}

/// The axes of a picture.
struct Axes<'a> {
    title: &'a str,
    machine: &'a Machine,
    x: &'a str,
    y: &'a str,
    /// Whether x is a number of bytes, on a logarithmic scale that shows the sizes of the caches.
    bytes: bool,
    x_label: fn(f64) -> String,
    y_label: fn(f64) -> String,
}

/// Draws all pictures for which there are figures, into a folder.
///
/// # Errors
/// Says what the system reports.
pub fn draw(folder: &Path, machine: &Machine, rows: &[&'static Row], records: &[Record]) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    // The first row is that of the default kind.
    for (file, op, rows, title) in [
        ("overview", "hit", &rows[..rows.len().min(1)], "Lookups of present keys"),
        ("hit", "hit", rows, "Lookups of present keys"),
        ("miss", "miss", rows, "Lookups of absent keys"),
        ("insert", "insert", rows, "Insertions"),
    ] {
        let axes = Axes {
            title: &format!("{title}, 10 bits a key, one thread (in brackets: the false-positive rate)"),
            machine,
            x: "size of the filter",
            y: "ns a key",
            bytes: true,
            x_label: bytes,
            y_label: |y| format!("{y}"),
        };
        picture(&folder.join(format!("{file}.svg")), &axes, &times(rows, records, op))?;
    }
    let axes = Axes {
        title: "False-positive rate: measured (points) and by the formula (lines)",
        machine,
        x: "bits a key",
        y: "false-positive rate",
        bytes: false,
        x_label: |x| format!("{x}"),
        y_label: |y| format!("{} %", (y * 1e8).round() / 1e6),
    };
    picture(&folder.join("fpr.svg"), &axes, &rates(rows, records))
}

/// Draws a picture of each growing filter for which there are figures: the longest insertions on the way, and the time
/// of rebuilding.
///
/// # Errors
/// Says what the system reports.
pub fn draw_growth(folder: &Path, machine: &Machine, grown: &[growing::Record]) -> Result<(), String> {
    for record in grown {
        let title = format!("{}: the longest insertion since the number of keys doubled", record.filter);
        let axes = Axes {
            title: &title,
            machine,
            x: "keys",
            y: "us",
            bytes: false,
            x_label: |x| format!("10^{x}"),
            y_label: |y| format!("{y}"),
        };
        // The run ended at the last number of keys, and a doubling that had just begun says nothing.
        let doubled = record.latencies.windows(2).take_while(|pair| pair[1].0 >= 2 * pair[0].0).count();
        let latencies = &record.latencies[..record.latencies.len().min(doubled + 1)];
        let points = latencies.iter().map(|(keys, ns)| ((*keys as f64).log10(), ns / 1000.0)).collect();
        let name = "longest insertion".to_owned();
        let mut lines = vec![Line { name, points, style: Style::Batch, colour: COLOURS[0] }];
        for (part, name, colour) in [(1.0, "all inserted anew", COLOURS[7]), (64.0, "a 64th of that", COLOURS[1])] {
            let of = |(keys, _): &(u64, f64)| {
                let share = *keys as f64 / record.n as f64;
                ((*keys as f64).log10(), record.rebuild_ns * share / part / 1000.0)
            };
            let points = latencies.iter().map(of).collect();
            lines.push(Line { name: name.to_owned(), points, style: Style::Limit, colour });
        }
        picture(&folder.join(format!("growth-{}.svg", record.filter)), &axes, &lines)?;
    }
    Ok(())
}

/// The names in the pictures, Petal's kinds first, each with its colour. Another library has the same colour in all
/// pictures of a run.
fn colours(rows: &[&'static Row], records: &[Record]) -> Vec<(String, RGBColor)> {
    let mut names: Vec<String> = rows.iter().map(|row| row.name.to_owned()).collect();
    for record in records.iter().filter(|record| record.peer) {
        if !names.contains(&record.filter) {
            names.push(record.filter.clone());
        }
    }
    names.into_iter().zip(COLOURS.into_iter().cycle()).collect()
}

/// Times against footprint with the best kernel: Petal's kinds in batches and one key at a time, other libraries one
/// key at a time.
fn times(rows: &[&'static Row], records: &[Record], op: &str) -> Vec<Line> {
    let best = petal::simd::best().kernel().name();
    let wanted = |record: &&Record| {
        let plain = record.threads == 1 && !record.shared && record.keys == Form::U64.name();
        let best = record.peer || record.kernel == best;
        record.op == op && best && plain && (record.bits_per_key - 10.0).abs() < 0.5
    };
    let chosen: Vec<&Record> = records.iter().filter(wanted).collect();
    let mut lines = Vec::new();
    for (name, colour) in colours(rows, records) {
        for batch in [true, false] {
            let of = || chosen.iter().filter(|record| record.filter == name && record.batch == batch);
            let points: Vec<_> = of().map(|record| (record.bytes as f64, record.ns)).collect();
            // A time says little without its rate.
            let Some(largest) = of().next_back() else { continue };
            let how = match batch {
                true => ", batches",
                // Another library's calls for many keys say so in their name.
                false if name.ends_with(", bulk") => "",
                false => ", single keys",
            };
            let whose = if largest.peer { "" } else { "Petal " };
            let name = format!("{whose}{name}{how} ({} %)", percent(largest.fpr));
            let style = if batch { Style::Batch } else { Style::Single };
            lines.push(Line { name, points, style, colour });
        }
    }
    let mut limit: Vec<_> = chosen.iter().map(|record| (record.n, record.bytes as f64, record.limit_ns)).collect();
    limit.dedup_by_key(|(n, ..)| *n);
    let points = limit.into_iter().map(|(_, bytes, ns)| (bytes, ns)).collect();
    let name = if op == "insert" { "limit: a random line written" } else { "limit: a random line read" };
    lines.push(Line { name: name.to_owned(), points, style: Style::Limit, colour: BLACK });
    lines
}

/// Rates against bits a key, at the number of keys for which most sizes were measured.
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
                let geometry = petal::geometry(&spec(row, &size, Kernel::Best)).ok()?;
                Some((bits_per_key, (row.false_positive_rate)(&geometry, n)))
            });
            lines.push(Line { name: String::new(), points: formula.collect(), style: Style::Formula, colour });
            lines.push(Line { name: format!("Petal {name}"), points, style: Style::Measured, colour });
        } else {
            lines.push(Line { name, points, style: Style::Single, colour });
        }
    }
    lines
}

/// Writes one picture, unless it has no points.
fn picture(path: &Path, axes: &Axes, lines: &[Line]) -> Result<(), String> {
    let points = || lines.iter().flat_map(|line| &line.points);
    if points().count() < 2 {
        return Ok(());
    }
    let least = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(0.0, f64::max);
    let (x, y) = ((least(|p| p.0), most(|p| p.0)), (least(|p| p.1), most(|p| p.1)));
    let y_range = (y.0 / 1.3..y.1 * 1.5).log_scale();
    if axes.bytes {
        chart(path, axes, lines, (x.0 / 1.5..x.1 * 1.5).log_scale(), y_range, y.1 * 1.5)
    } else {
        chart(path, axes, lines, x.0 - 0.5..x.1 + 0.5, y_range, y.1 * 1.5)
    }
    .map_err(|error| format!("{}: {error}", path.display()))
}

type Failure = DrawingAreaErrorKind<std::io::Error>;

fn chart<X, Y>(path: &Path, axes: &Axes, lines: &[Line], x: X, y: Y, top: f64) -> Result<(), Failure>
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let font = |size: u32| ("sans-serif", size).into_font();
    let grey = RGBColor(110, 110, 110);
    let area = SVGBackend::new(path, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    area.draw(&Text::new(axes.title, (16, 14), font(19)))?;
    area.draw(&Text::new(axes.machine.to_string(), (16, 40), font(13).color(&grey)))?;
    let mut chart = ChartBuilder::on(&area)
        .margin(16)
        .margin_top(62)
        .margin_right(NAMES)
        .x_label_area_size(44)
        .y_label_area_size(60)
        .build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .x_desc(axes.x)
        .y_desc(axes.y)
        .light_line_style(BLACK.mix(0.05))
        .bold_line_style(BLACK.mix(0.15))
        .x_label_formatter(&|x| (axes.x_label)(*x))
        .y_label_formatter(&|y| (axes.y_label)(*y))
        .label_style(font(13))
        .draw()?;
    let edge = SIZE.0 as i32 - NAMES as i32;
    if axes.bytes {
        for (name, size) in &axes.machine.caches {
            let (x, y) = chart.backend_coord(&(*size as f64, top));
            if (76..edge).contains(&x) {
                let bottom = SIZE.1 as i32 - 60;
                area.draw(&PathElement::new(vec![(x, y), (x, bottom)], grey.mix(0.6).stroke_width(1)))?;
                area.draw(&Text::new(name.as_str(), (x + 4, y + 4), font(12).color(&grey)))?;
            }
        }
    }
    for Line { points, style, colour, .. } in lines {
        if *style != Style::Measured {
            let width = if matches!(style, Style::Batch | Style::Limit) { 2 } else { 1 };
            chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(width)))?;
        }
        match style {
            Style::Batch | Style::Measured => {
                chart.draw_series(points.iter().map(|point| Circle::new(*point, 4, colour.filled())))?;
            }
            Style::Single => {
                chart.draw_series(points.iter().map(|point| Circle::new(*point, 4, WHITE.filled())))?;
                chart.draw_series(points.iter().map(|point| Circle::new(*point, 4, colour.stroke_width(1))))?;
            }
            Style::Limit | Style::Formula => {}
        }
    }

    // Each name stands as near to the end of its line as the names above allow.
    let mut named: Vec<_> = lines
        .iter()
        .filter(|line| !line.name.is_empty())
        .filter_map(|line| Some((chart.backend_coord(line.points.last()?), line)))
        .collect();
    named.sort_by_key(|((_, y), _)| *y);
    let lowest = SIZE.1 as i32 - 60 - NAME_HEIGHT * named.len() as i32;
    let mut next = 0;
    for (i, ((x, end), line)) in named.into_iter().enumerate() {
        let y = end.min(lowest + NAME_HEIGHT * (i as i32 + 1)).max(next);
        next = y + NAME_HEIGHT;
        let link = vec![(x + 6, end), (edge + 14, y)];
        area.draw(&PathElement::new(link, line.colour.mix(0.5).stroke_width(1)))?;
        area.draw(&Text::new(line.name.as_str(), (edge + 18, y - 7), font(12).color(&line.colour)))?;
    }
    area.present()
}

/// A number of bytes with its unit.
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
