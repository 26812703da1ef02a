//! The output: a table for the reader, and one line of JSON for each figure.

use crate::subject::Size;
use serde::Serialize;
use std::fmt;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

/// The figures of the limit and of hashing, in nanoseconds for each line and each key.
#[derive(Clone, Copy, Debug)]
pub struct Floor {
    /// The time of a read.
    pub read: f64,
    /// The time of a read followed by a write.
    pub read_modify_write: f64,
    /// The time of hashing alone.
    pub hash: f64,
}

/// One figure.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// The filter: a kind of Petal's, or another library.
    pub filter: String,
    /// `insert`, `hit` or `miss`.
    pub op: &'static str,
    /// Whether keys came in batches.
    pub batch: bool,
    /// Keys.
    pub n: u64,
    /// Bits of payload for each key.
    pub bits_per_key: f64,
    /// The measured false-positive rate, a fraction.
    pub fpr: f64,
    /// Nanoseconds for each key.
    pub ns: f64,
    /// Nanoseconds for each random line of the same footprint: read, or for insertions read and written.
    pub limit_ns: f64,
    /// The number of threads.
    pub threads: usize,
    /// Whether keys were inserted through a shared reference.
    pub shared: bool,
    /// The speed of several threads compared with one thread in the same run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_up: Option<f64>,
    /// The instruction set of the inner loops.
    pub kernel: &'static str,
    /// The pages of the payload: `huge`, `small` or `unknown`.
    pub pages: &'static str,
    /// The form of the keys: `u64` or `strings`.
    pub keys: &'static str,
    /// Bytes of payload.
    pub bytes: u64,
    /// Cache lines that the operation touches for each key.
    pub lines: f64,
    /// `ns / (limit_ns * lines)`.
    pub ratio: f64,
    /// Nanoseconds for each key of Petal's hashing alone.
    pub hash_ns: f64,
    /// Whether the subject is another library.
    pub peer: bool,
}

/// The file of JSON lines.
pub struct Lines(BufWriter<File>);

impl Lines {
    /// Makes the file and its folder.
    ///
    /// # Errors
    /// Says what the system reports.
    pub fn create(path: &Path) -> Result<Lines, String> {
        let failure = |error: std::io::Error| format!("{}: {error}", path.display());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failure)?;
        }
        Ok(Lines(BufWriter::new(File::create(path).map_err(failure)?)))
    }

    /// Adds lines, and flushes them to the file.
    ///
    /// # Errors
    /// Says what the system reports.
    pub fn write(&mut self, records: &[impl Serialize]) -> Result<(), String> {
        for record in records {
            serde_json::to_writer(&mut self.0, record).map_err(|error| error.to_string())?;
            writeln!(self.0).map_err(|error| error.to_string())?;
        }
        self.0.flush().map_err(|error| error.to_string())
    }
}

/// The machine, as far as the system describes it.
pub struct Machine {
    model: String,
    processors: usize,
    pages: String,
    /// Names and sizes in bytes of the caches that one processor has, the smallest first.
    pub caches: Vec<(String, u64)>,
}

impl Machine {
    /// The machine that the program runs on.
    pub fn here() -> Machine {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let cpu = read("/proc/cpuinfo");
        let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let model = model.map_or("unknown processor", |(_, name)| name).to_owned();
        let pages = read("/sys/kernel/mm/transparent_hugepage/enabled");
        let pages = pages.split(['[', ']']).nth(1).unwrap_or("unknown").to_owned();
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let caches = (0..).map_while(|i| {
            let of = |file| fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{i}/{file}")).ok();
            let (level, kind, size) = (of("level")?, of("type")?, of("size")?);
            let size: u64 = size.trim().strip_suffix('K')?.parse().ok()?;
            let (number, unit) = if size >= 1024 { (size as f64 / 1024.0, "MiB") } else { (size as f64, "KiB") };
            let name = format!("L{}: {number} {unit}", level.trim());
            Some((kind.trim() != "Instruction").then_some((name, size * 1024)))
        });
        Machine { model, processors, pages, caches: caches.flatten().collect() }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { model, processors, pages, caches } = self;
        let kernel = petal::simd::best().kernel().name();
        write!(f, "{model}, {processors} processors, {kernel}, transparent huge pages: {pages}")?;
        for (name, _) in caches {
            write!(f, ", {name}")?;
        }
        Ok(())
    }
}

/// The table of one comparison.
pub fn print(size: &Size, floor: &Floor, records: &[Record]) {
    let Size { n, bits_per_key, form } = size;
    println!(
        "\nn = {}, {} keys, {bits_per_key} bits/key, {:.3} MiB",
        count(*n),
        form.name(),
        size.bits() as f64 / 8388608.0
    );
    println!(
        "limit: {:.2} ns to read a line, {:.2} to read and write it; hashing alone {:.2} ns a key",
        floor.read, floor.read_modify_write, floor.hash
    );
    let width = records.iter().map(|record| record.filter.len()).max().unwrap_or_default();
    println!(
        "{:<width$} {:<9} {:<8} {:>8} {:>8} | {:^23} | {:^23} | {:^20}",
        "", "", "", "", "", "one by one, ns", "batch, ns", "best of the limit"
    );
    println!(
        "{:<width$} {:<9} {:<8} {:>8} {:>8} | {:>7} {:>7} {:>7} | {:>7} {:>7} {:>7} | {:>6} {:>6} {:>6}",
        "filter",
        "kernel",
        "pages",
        "bits/key",
        "FPR %",
        "insert",
        "hit",
        "miss",
        "insert",
        "hit",
        "miss",
        "insert",
        "hit",
        "miss"
    );
    // Every filter has lookups, but some have no insertions.
    for first in records.iter().filter(|record| record.op == "hit" && !record.batch) {
        let same = |record: &&Record| record.filter == first.filter && record.kernel == first.kernel;
        let cell = |op: &str, batch: bool| records.iter().filter(same).find(|r| r.op == op && r.batch == batch);
        let ns = |op, batch| cell(op, batch).map_or("-".to_owned(), |record| figure(record.ns));
        let ratio = |op| {
            let ratios = [cell(op, false), cell(op, true)].into_iter().flatten().map(|record| record.ratio);
            ratios.reduce(f64::min).map_or("-".to_owned(), |ratio| format!("{ratio:.2}"))
        };
        println!(
            "{:<width$} {:<9} {:<8} {:>8.2} {:>8} | {:>7} {:>7} {:>7} | {:>7} {:>7} {:>7} | {:>6} {:>6} {:>6}",
            first.filter,
            first.kernel,
            first.pages,
            first.bits_per_key,
            percent(first.fpr),
            ns("insert", false),
            ns("hit", false),
            ns("miss", false),
            ns("insert", true),
            ns("hit", true),
            ns("miss", true),
            ratio("insert"),
            ratio("hit"),
            ratio("miss"),
        );
    }
}

/// A time in three digits.
pub fn figure(ns: f64) -> String {
    if ns < 9.995 {
        format!("{ns:.2}")
    } else if ns < 99.95 {
        format!("{ns:.1}")
    } else {
        format!("{ns:.0}")
    }
}

/// A rate in percent, in three digits.
pub fn percent(rate: f64) -> String {
    let percent = rate * 100.0;
    if percent >= 1.0 {
        format!("{percent:.2}")
    } else if percent >= 0.1 {
        format!("{percent:.3}")
    } else {
        format!("{percent:.4}")
    }
}

/// A number of keys. A power of ten is written as 10^6.
pub fn count(n: u64) -> String {
    let power = n.max(1).ilog10();
    if n >= 1000 && n == 10_u64.pow(power) { format!("10^{power}") } else { n.to_string() }
}
