//! A progress bar on standard error: only on a terminal, and only once the work has taken half a second.

use crate::failure::is_quiet;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr, stdout};
use std::time::{Duration, Instant};

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// How far the reading is.
pub struct Progress {
    shown: bool,
    what: &'static str,
    total: Option<u64>,
    done: u64,
    start: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A bar for `total` bytes, or for nobody knows how many.
    pub fn new(what: &'static str, total: Option<u64>) -> Progress {
        Progress {
            shown: stderr().is_terminal() && !is_quiet(),
            what,
            total,
            done: 0,
            start: Instant::now(),
            bar: None,
        }
    }

    /// No bar if the output itself goes to a terminal, where the two would get mixed up.
    pub fn beside_output(mut self) -> Progress {
        self.shown &= !stdout().is_terminal();
        self
    }

    /// More bytes were read.
    pub fn add(&mut self, bytes: u64) {
        self.done += bytes;
        if !self.shown || (self.bar.is_none() && self.start.elapsed() < PATIENCE) {
            return;
        }
        self.bar.get_or_insert_with(|| bar(self.what, self.total)).set_position(self.done);
    }
}

fn bar(what: &'static str, total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => (ProgressBar::new(total), "{msg} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec} {eta}"),
        None => (ProgressBar::new_spinner(), "{msg} {spinner} {bytes} {bytes_per_sec}"),
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style.progress_chars("=> ")).with_message(what)
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
