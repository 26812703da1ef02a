//! A progress bar on standard error: only on a terminal, and only once the work has taken half a second.

use crate::failure::is_quiet;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr, stdout};
use std::time::{Duration, Instant};

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// A bar that shows how far the work is.
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
    /// A bar for `total` bytes, or for nobody knows how many.
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

    /// No bar if the output itself goes to a terminal, where the two would get mixed up.
    pub fn beside_output(mut self) -> Progress {
        self.shown &= !stdout().is_terminal();
        self
    }

    /// What a builder tells how far it is: units of work, of which nobody but the builder knows what they are.
    pub fn of_builder() -> Box<petal::Progress> {
        let mut progress = Progress::new("building", None);
        progress.in_bytes = false;
        Box::new(move |done, total| {
            progress.total = Some(total);
            progress.set(done);
            // The filter is made: a bar that stays would get mixed up with what is said next.
            if done == total {
                progress.clear();
            }
            true
        })
    }

    /// More bytes were read.
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
