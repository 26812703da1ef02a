//! `make bench` and `make bench-quick`: every kind of Petal compared with other libraries and with the limit of memory.
//!
//! `docs/performance.md` says how to run the benchmark, and how to read the output.
#![allow(clippy::type_complexity, reason = "tables of cases name what each has")]

mod ageing;
mod built;
mod deleting;
mod growing;
mod huge;
mod keys;
mod libbloom;
mod limit;
mod loaded;
mod maps;
mod measure;
mod peers;
mod plot;
mod report;
mod static_peers;
mod structured;
mod subject;
mod threads;

use clap::Parser;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use keys::Form;
use measure::Effort;
use petal::simd;
use petal::{Row, registry};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use subject::{Size, Subject};

#[global_allocator]
static ALLOCATOR: huge::Allocator = huge::Allocator;

/// Measures filters: ns, bits/key and false-positive rate, in ratio to what memory allows.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Only blocked, split_block, bloom and one peer, at three sizes; less than 90 seconds
    #[arg(long)]
    quick: bool,

    /// Also 10^9 keys: some minutes more, and 7 GB of memory
    #[arg(long, conflicts_with = "quick")]
    huge: bool,

    /// Only these filters, kinds or peers by name; all if none is given
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// Only comparisons of this many keys
    #[arg(long, value_name = "N", value_parser = keys_of)]
    keys: Vec<u64>,

    /// Only this part of it, or these; all if none is given
    #[arg(long, value_enum)]
    part: Vec<Part>,

    /// A library with the filters of C++ libraries, which `make bench` compiles
    #[arg(long, value_name = "FILE", env = "PETAL_BENCH_PEERS")]
    peers: Option<PathBuf>,

    /// The folder for JSON lines
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    output: PathBuf,

    /// The folder for pictures; by default the other folder
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
}

/// A number of keys as people write it: 1e6, 1000000.
fn keys_of(text: &str) -> Result<u64, String> {
    let number: f64 = text.parse().map_err(|_| format!("{text} is not a number"))?;
    if (1e3..=1e11).contains(&number) { Ok(number as u64) } else { Err("from 1e3 to 1e11 keys".to_owned()) }
}

/// A part of the benchmark.
#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Part {
    /// Every kind that inserts, and other libraries, with one thread
    Kinds,
    /// Every kind that inserts, and other libraries, with two threads
    Threads,
    /// Filters and maps that are built from all of their keys
    Built,
    /// Filters that keys are removed from
    Removing,
    /// Filters that grow
    Growing,
    /// Filters that forget
    Ageing,
    /// Structured keys
    Structured,
}

/// One comparison.
struct Point {
    size: Size,
    /// Whether all instruction sets are compared, and not only the best.
    kernels: bool,
    /// Whether all other libraries take part, and not only fastbloom.
    peers: bool,
}

const QUICK_KINDS: [&str; 3] = ["blocked", "split_block", "bloom"];

impl Arguments {
    /// The kinds that are measured.
    fn rows(&self) -> Vec<&'static Row> {
        let wanted = |row: &&Row| {
            let quick = !self.quick || QUICK_KINDS.contains(&row.name);
            subject::inserts(row) && quick && self.wants(row.name)
        };
        let mut rows: Vec<_> = registry::FILTERS.iter().filter(wanted).collect();
        // The default kind comes first.
        rows.sort_by_key(|row| (row.kind != registry::DEFAULT_KIND, row.kind.0));
        rows
    }

    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }

    /// The chosen sizes of a part.
    fn sizes(&self, part: Part, all: &[u64]) -> Vec<u64> {
        let wanted = |n: &u64| self.keys.is_empty() || self.keys.contains(n);
        let is_part = !self.quick && (self.part.is_empty() || self.part.contains(&part));
        all.iter().copied().filter(|n| is_part && wanted(n)).collect()
    }

    /// The comparisons with one thread.
    fn points(&self) -> Vec<Point> {
        let point = |n: u64, bits_per_key: f64, form: Form| {
            let kernels = form == Form::U64 && [10_000, 1_000_000, 100_000_000].contains(&n);
            let peers = !self.quick && n < 1_000_000_000;
            Point { size: Size { n, bits_per_key, form }, kernels, peers }
        };
        let at = |form: Form, sizes: &[u64], bits: &[f64]| -> Vec<Point> {
            sizes.iter().flat_map(|n| bits.iter().map(move |bits| point(*n, *bits, form))).collect()
        };
        let mut points = at(Form::U64, &[10_000], &[10.0]);
        if self.quick {
            points.extend(at(Form::U64, &[1_000_000], &[8.0, 10.0, 12.0, 16.0]));
            points.extend(at(Form::U64, &[100_000_000], &[10.0]));
        } else {
            points.extend(at(Form::U64, &[100_000], &[10.0]));
            points.extend(at(Form::U64, &[1_000_000], &[8.0, 10.0, 12.0, 16.0, 20.0, 24.0]));
            points.extend(at(Form::U64, &[10_000_000, 100_000_000], &[10.0]));
            points.extend(at(Form::Strings, &[10_000, 1_000_000, 10_000_000], &[10.0]));
            if self.huge {
                points.extend(at(Form::U64, &[1_000_000_000], &[10.0]));
            }
        }
        let is_part = self.part.is_empty() || self.part.contains(&Part::Kinds);
        points.retain(|point| is_part && (self.keys.is_empty() || self.keys.contains(&point.size.n)));
        points
    }

    /// The sizes that are compared with two threads.
    fn shared(&self) -> Vec<Size> {
        let sizes = self.sizes(Part::Threads, &[10_000, 1_000_000, 100_000_000]);
        sizes.into_iter().map(|n| Size { n, bits_per_key: 10.0, form: Form::U64 }).collect()
    }

    /// The filters of a comparison.
    fn subjects(&self, point: &Point, loaded: loaded::Peers) -> Result<Vec<Box<dyn Subject>>, String> {
        let mut subjects = Vec::new();
        for row in self.rows() {
            for (i, instructions) in simd::available().enumerate() {
                let made =
                    subject::petal(row, &point.size, instructions.kernel()).map_err(|error| error.to_string())?;
                // Only kinds that read one line are compared with every kernel.
                if i == 0 || (point.kernels && made.lines(subject::Operation::Hit) <= 1.0) {
                    subjects.push(made);
                }
            }
        }
        subjects.extend(self.others(&point.size, point.peers, loaded));
        Ok(subjects)
    }

    fn others(&self, size: &Size, all: bool, loaded: loaded::Peers) -> Vec<Box<dyn Subject>> {
        let mut peers = if all { loaded.all(size) } else { Vec::new() };
        match all {
            true => peers.extend(peers::all(size)),
            false => peers.extend(peers::fastbloom(size)),
        }
        peers.retain(|peer| self.wants(peer.name()));
        peers
    }
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("petal-bench: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Runs all that the arguments ask for. Returns whether all false-positive rates of structured keys are right.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let started = Instant::now();
    let machine = report::Machine::here();
    println!("{machine}");
    if !arguments.quick {
        if let Some(reason) = libbloom::missing() {
            println!("libbloom is left out: {reason}");
        }
        if arguments.peers.is_none() {
            println!("Boost.Bloom and RocksDB are left out: `make bench` compiles benches/peers.cpp where they are.");
        }
    }
    let effort = Effort {
        repetitions: 5,
        turn: Duration::from_millis(if arguments.quick { 3 } else { 10 }),
        false_positives: if arguments.quick { (40_000, 48 << 20) } else { (50_000, 64 << 20) },
    };
    let (points, rows) = (arguments.points(), arguments.rows());
    let loaded = arguments.peers.as_deref().map_or(Ok(loaded::Peers::default()), loaded::Peers::load)?;
    let name = if arguments.quick { "quick.jsonl" } else { "bench.jsonl" };
    let path = arguments.output.join(name);
    let mut lines = report::Lines::create(&path)?;
    let mut records = Vec::new();

    for (i, point) in points.iter().enumerate() {
        let Size { n, bits_per_key, form } = point.size;
        let subjects = arguments.subjects(point, loaded)?;
        if subjects.is_empty() {
            continue;
        }
        let title =
            format!("{}/{}: {} {} keys, {bits_per_key} bits/key", i + 1, points.len(), report::count(n), form.name());
        let progress = bar(&title, (effort.repetitions * subjects.len()) as u64);
        let (floor, measured) = measure::compare(point.size, &effort, subjects, &progress)?;
        progress.finish_and_clear();
        report::print(&point.size, &floor, &measured);
        lines.write(&measured)?;
        records.extend(measured);
    }
    for size in arguments.shared() {
        let subjects = arguments.subjects(&Point { size, kernels: false, peers: false }, loaded)?;
        if subjects.is_empty() {
            continue;
        }
        let progress = bar(&format!("two threads: {} keys", report::count(size.n)), 0);
        let measured = threads::compare(size, &effort, subjects, 2)?;
        progress.finish_and_clear();
        lines.write(&measured)?;
        records.extend(measured);
    }
    for n in arguments.sizes(Part::Built, &[10_000, 1_000_000, 10_000_000, 100_000_000]) {
        let progress = bar(&format!("built from all keys: {} keys", report::count(n)), 0);
        let wants = |name: &str| arguments.wants(name);
        let filters = built::compare(n, &effort, &wants)?;
        let maps = maps::compare(n, &effort, &wants)?;
        progress.finish_and_clear();
        if !filters.is_empty() {
            built::print(n, &filters);
        }
        if !maps.is_empty() {
            maps::print(n, &maps);
        }
        lines.write(&filters)?;
        lines.write(&maps)?;
    }
    for n in arguments.sizes(Part::Removing, &[1_000_000, 100_000_000]) {
        let progress = bar(&format!("tables of fingerprints: {} keys", report::count(n)), 0);
        let tables = deleting::compare(n, &effort, &|name| arguments.wants(name))?;
        progress.finish_and_clear();
        deleting::print(&tables);
        lines.write(&tables)?;
    }
    let mut grown = Vec::new();
    for n in arguments.sizes(Part::Growing, &[1_000_000, 10_000_000, 100_000_000]) {
        let progress = bar(&format!("filters that grow: {} keys", report::count(n)), 0);
        grown = growing::compare(n, &effort, &|name| arguments.wants(name))?;
        progress.finish_and_clear();
        growing::print(&grown);
        lines.write(&grown)?;
    }
    for n in arguments.sizes(Part::Ageing, &[1_000_000, 100_000_000]) {
        let progress = bar(&format!("filters that forget: {} keys", report::count(n)), 0);
        let windows = ageing::compare(n, &effort, &|name| arguments.wants(name))?;
        progress.finish_and_clear();
        ageing::print(&windows);
        lines.write(&windows)?;
    }
    let mut sound = true;
    let is_part = arguments.part.is_empty() || arguments.part.contains(&Part::Structured);
    if !arguments.quick && arguments.keys.is_empty() && is_part {
        let progress = bar("structured keys", rows.len() as u64 * structured::steps());
        sound = structured::check(&rows, || progress.inc(1))?;
        progress.finish_and_clear();
    }
    let folder = arguments.svg.as_ref().unwrap_or(&arguments.output);
    plot::draw(folder, &machine, &rows, &records)?;
    plot::draw_growth(folder, &machine, &grown)?;
    println!(
        "\n{} and {}/*.svg are written; {} seconds",
        path.display(),
        folder.display(),
        started.elapsed().as_secs()
    );
    Ok(sound)
}

/// A progress bar on the standard error, if that is a terminal.
fn bar(title: &str, steps: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
    let template = if steps == 0 { "{msg} {spinner}" } else { "{msg} [{bar:30}] {pos}/{len}" };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(title.to_owned());
    bar
}
