//! Ends the command if the other side is silent for too long. Pipes have no time limit as connections have, so a thread
//! looks how long this side has been waiting.

use crate::TROUBLE;
use crate::failure::Failure;
use std::io::{self, Read, Write};
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// How often the thread looks while the limit lasts.
const LOOKS: u32 = 16;

/// What this side waits for, and since when.
pub struct Watch {
    start: Instant,
    /// Milliseconds from the start to the wait for the other side, plus 1; 0 if this side does not wait.
    since: AtomicU64,
    /// The other side, if it is a command.
    command: Mutex<Option<Child>>,
}

impl Watch {
    /// A watch that ends the command after this many seconds of silence; never if 0.
    pub fn start(seconds: u64) -> Arc<Watch> {
        let watch = Watch { start: Instant::now(), since: AtomicU64::new(0), command: Mutex::new(None) };
        let watch = Arc::new(watch);
        if seconds > 0 {
            let watch = Arc::clone(&watch);
            thread::spawn(move || watch.look(seconds));
        }
        watch
    }

    /// Takes the command that is the other side, which ends with this one.
    pub fn end_with(&self, command: Child) {
        if let Ok(mut place) = self.command.lock() {
            *place = Some(command);
        }
    }

    /// Runs what waits for the other side.
    pub fn while_waiting<T>(&self, run: impl FnOnce() -> T) -> T {
        self.since.store(self.milliseconds() + 1, Ordering::Relaxed);
        let done = run();
        self.since.store(0, Ordering::Relaxed);
        done
    }

    /// Waits for the end of the other side, if it is a command.
    pub fn wait(&self) -> Option<io::Result<ExitStatus>> {
        let mut command = self.command.lock().ok()?.take()?;
        Some(self.while_waiting(|| command.wait()))
    }

    fn milliseconds(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX / 2)
    }

    /// Ends the command once it has waited that long.
    fn look(&self, seconds: u64) {
        let limit = seconds.saturating_mul(1000);
        let pause = (Duration::from_millis(limit) / LOOKS).min(Duration::from_secs(1));
        loop {
            thread::sleep(pause);
            let since = self.since.load(Ordering::Relaxed);
            if since > 0 && self.milliseconds() + 1 >= since.saturating_add(limit) {
                break;
            }
        }
        Failure::new(format_args!("the other side was silent for {seconds} s: --timeout N allows it N seconds")).tell();
        if let Ok(mut command) = self.command.try_lock()
            && let Some(command) = &mut *command
        {
            // A command that has ended already needs no end.
            let _ = command.kill();
        }
        std::process::exit(i32::from(TROUBLE));
    }
}

/// A direction of the channel, whose waits are watched.
pub struct Watched<T>(pub T, pub Arc<Watch>);

impl<T: Read> Read for Watched<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let Watched(reader, watch) = self;
        watch.while_waiting(|| reader.read(bytes))
    }
}

impl<T: Write> Write for Watched<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Watched(writer, watch) = self;
        watch.while_waiting(|| writer.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        let Watched(writer, watch) = self;
        watch.while_waiting(|| writer.flush())
    }
}
