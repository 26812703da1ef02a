//! Kills writers of every kind that changes in place: between any two of their instructions, by stopping the child
//! after each one; and at random moments.

use crate::memory;
use crate::subject::Subject;
use crate::tracer;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// These variables tell this program that it is the child of a subject, where its files are, and how many steps it
/// takes.
const SUBJECT: &str = "PETAL_CRASH_SUBJECT";
const FOLDER: &str = "PETAL_CRASH_FOLDER";
const STEPS: &str = "PETAL_CRASH_STEPS";

/// The steps before those that are taken instruction by instruction.
const BEFORE: u64 = 36;

/// Whether this process is a child. If it is, it first takes the child's steps.
pub fn is_child(subjects: &[Box<dyn Subject>]) -> bool {
    let [Some(name), Some(folder), Some(steps)] = [SUBJECT, FOLDER, STEPS].map(std::env::var_os) else { return false };
    let subject = subjects.iter().find(|subject| name == subject.name()).unwrap();
    let steps: u64 = steps.to_str().unwrap().parse().unwrap();
    let memory = memory::create(&progress(Path::new(&folder)));
    subject.act(&image(Path::new(&folder)), 0..steps, memory.words());
    true
}

fn image(folder: &Path) -> PathBuf {
    folder.join("image.petal")
}

fn progress(folder: &Path) -> PathBuf {
    folder.join("progress")
}

fn command(subject: &dyn Subject, folder: &Path, steps: u64) -> Command {
    fs::write(image(folder), subject.image()).unwrap();
    let _ = fs::remove_file(progress(folder));
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(SUBJECT, subject.name()).env(FOLDER, folder).env(STEPS, steps.to_string()).stdin(Stdio::null());
    command
}

/// Failures by reason, and how often each came.
#[derive(Default)]
struct Failures {
    kills: u64,
    by_reason: BTreeMap<String, (u64, String)>,
}

impl Failures {
    fn note(&mut self, subject: &dyn Subject, image: &[u8], done: u64) {
        self.kills += 1;
        if let Err(reason) = subject.check(image, done) {
            // Failures that differ only in their numbers count as the same.
            let kind: String = reason.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).take(60).collect();
            let entry = self.by_reason.entry(kind).or_insert((0, format!("{reason} (after {done} steps)")));
            entry.0 += 1;
        }
    }

    fn outcome(self) -> Result<(), String> {
        let Failures { kills, by_reason } = self;
        let lines: Vec<String> =
            by_reason.values().map(|(times, first)| format!("{times} of {kills}: {first}")).collect();
        if lines.is_empty() { Ok(()) } else { Err(lines.join("\n")) }
    }
}

/// How many steps of the writer are watched: with `PETAL_SAMPLE=3`, a third of those that the soak watches.
fn watched(subject: &dyn Subject) -> u64 {
    let sample = std::env::var("PETAL_SAMPLE").ok().map_or(1, |number| number.parse().expect("a number from 1 on"));
    (subject.watched() / sample).max(subject.watched().min(2))
}

/// Stops the writer after each instruction that changes its image, in some of its steps, and checks what the image
/// would be if the writer died there.
pub fn instruction_by_instruction(subject: &dyn Subject) -> Result<(), String> {
    let watched = watched(subject);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut command = command(subject, folder, BEFORE + watched);
    let memory = memory::create(&progress(folder));
    let [done, stops, ..] = memory.words();
    stops.store(BEFORE, Ordering::SeqCst);
    let mapped = memory::map(&image(folder));
    let mut last = mapped.bytes().to_vec();
    let mut failures = Failures::default();
    tracer::step(&mut command, &mut || {
        if mapped.bytes() != last {
            last.copy_from_slice(mapped.bytes());
            failures.note(subject, &last, done.load(Ordering::SeqCst));
        }
        done.load(Ordering::SeqCst) < BEFORE + watched
    })
    .unwrap();
    assert!(failures.kills >= watched / 2, "{} states of the image were looked at", failures.kills);
    failures.outcome()
}

/// Kills `kills` writers at moments that the round's number draws.
pub fn at_random(subject: &dyn Subject, kills: u64) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut failures = Failures::default();
    for kill in 0..kills {
        let random = (kill + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let target = (random >> 32) % subject.steps();
        let mut command = command(subject, folder, subject.steps());
        let memory = memory::create(&progress(folder));
        let [done, stops, ..] = memory.words();
        stops.store(u64::MAX, Ordering::SeqCst);
        let mut child = Killed(command.spawn().unwrap());
        let start = Instant::now();
        while done.load(Ordering::SeqCst) < target && start.elapsed() < Duration::from_secs(20) {
            std::hint::spin_loop();
        }
        for _ in 0..random >> 20 & 0x3ff {
            std::hint::spin_loop();
        }
        child.0.kill().unwrap();
        child.0.wait().unwrap();
        let done = done.load(Ordering::SeqCst);
        if done < subject.steps() {
            failures.note(subject, &fs::read(image(folder)).unwrap(), done);
        }
    }
    failures.outcome()
}

/// A child that does not outlive the test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
