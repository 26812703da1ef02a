//! A progress bar on standard error: only on a terminal, and only once the work has taken half a second.

use crate::failure::is_quiet;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr, stdout};
use std::time::{Duration, Instant};

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// A progress bar.
pub struct Progress {
    shown: bool,
    what: &'static str,
    total: Option<u64>,
    in_bytes: bool,
    done: u64,
    start: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A bar for `total` bytes, or for an unknown number of bytes.
    pub fn new(what: &'static str, total: Option<u64>) -> Progress {
        Progress {
            shown: stderr().is_terminal() && !is_quiet(),
            what,
            total,
            in_bytes: true,
            done: 0,
            start: Instant::now(),
            bar: None,
        }
    }

    /// Hides the bar if the output goes to a terminal too, where the two would mix.
    pub fn beside_output(mut self) -> Progress {
        self.shown &= !stdout().is_terminal();
        self
    }

    /// A bar for the progress of a builder, in the builder's own units of work.
    pub fn of_builder() -> Box<petal::Progress> {
        let mut progress = Progress::new("building", None);
        progress.in_bytes = false;
        Box::new(move |done, total| {
            progress.total = Some(total);
            progress.set(done);
            // The filter is ready: a bar that stays would mix with the next message.
            if done == total {
                progress.clear();
            }
            true
        })
    }

    /// Adds to the number of bytes read.
    pub fn add(&mut self, bytes: u64) {
        self.set(self.done + bytes);
    }

    fn set(&mut self, done: u64) {
        self.done = done;
        if !self.shown || (self.bar.is_none() && self.start.elapsed() < PATIENCE) {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| bar(self.what, self.total, self.in_bytes));
        bar.set_position(self.done);
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn bar(what: &'static str, total: Option<u64>, in_bytes: bool) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) if !in_bytes => (ProgressBar::new(total), "{msg} [{bar:30}] {percent} % {eta}"),
        Some(total) => (ProgressBar::new(total), "{msg} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec} {eta}"),
        None => (ProgressBar::new_spinner(), "{msg} {spinner} {bytes} {bytes_per_sec}"),
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style.progress_chars("=> ")).with_message(what)
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
