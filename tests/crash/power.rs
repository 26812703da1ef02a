//! What a machine that goes down leaves: of the pages that a process changed in a mapped file, all that it had flushed,
//! and any of the others.
//!
//! A traced child inserts, syncs and closes, and what it flushes is noted. Before each of its system calls, the files
//! that a machine could leave are made: with nothing but what was flushed, with everything, and with some of the other
//! pages. Each must open. One that says it is clean must be clean, and no key that a sync had taken in may be missing.

use crate::scenario::{OLD, Progress, Scenario, open};
use crate::tracer::{self, Call, Fault};
use petal::Image;
use petal::Mode;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The unit of writes to the disk.
const PAGE: usize = 4096;

/// Runs a scenario in the child that `command` makes.
pub fn run(scenario: &Scenario, command: impl FnOnce(&Path) -> Command) {
    scenario.run(|folder, progress| {
        let path = folder.join("filter.petal");
        let (mut disk, mut checked) = (fs::read(&path).unwrap(), 0);
        let other = tempfile::tempdir().unwrap();
        let watch = &mut |call: &Call| {
            if call.result.is_none() {
                let memory = fs::read(&path).unwrap();
                checked += 1;
                for choice in 0..4 {
                    check(&left(&disk, &memory, choice + 4 * checked), progress, other.path());
                }
            } else if call.number == libc::SYS_msync && call.result == Some(0) {
                let memory = fs::read(&path).unwrap();
                for range in pages_of(call, &path) {
                    disk[range.clone()].copy_from_slice(&memory[range]);
                }
            }
        };
        let traced = tracer::run(&mut command(folder), Fault::None, watch).unwrap();
        assert_eq!(traced.exit, Some(0));
        assert!(checked > 5, "{checked} moments were looked at");
        // Closing an image in order leaves all of it on the disk.
        assert!(disk == fs::read(&path).unwrap(), "something was not flushed");
        check(&disk, progress, other.path());
    });
}

/// A file that the machine may leave: some pages as on the disk, the others as in memory.
fn left(disk: &[u8], memory: &[u8], choice: u64) -> Vec<u8> {
    let mut file = disk.to_vec();
    for (i, (to, from)) in file.chunks_mut(PAGE).zip(memory.chunks(PAGE)).enumerate() {
        let written = match choice % 4 {
            0 => false,
            1 => true,
            // The same in every run, but different for each moment.
            _ => (choice << 32 | i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 1,
        };
        if written {
            to.copy_from_slice(from);
        }
    }
    file
}

fn check(file: &[u8], progress: &Progress, folder: &Path) {
    let path = folder.join("left.petal");
    fs::write(&path, file).unwrap();
    let filter = open(&path, Mode::Read).unwrap();
    if !filter.base().header().unclean {
        filter.verify().expect("what says that it is clean is so");
    }
    let keys = OLD + progress.synced();
    assert!((0..keys).all(|key| filter.contains_u64(key)), "a key is missing that was on the disk");
}

/// The parts of the file that a flush writes.
fn pages_of(call: &Call, path: &Path) -> Vec<std::ops::Range<usize>> {
    let [start, length, ..] = call.arguments;
    let file = fs::metadata(path).unwrap().len();
    let maps = fs::read_to_string(format!("/proc/{}/maps", call.process)).unwrap();
    let number = |text: &str| u64::from_str_radix(text, 16).unwrap();
    let ranges = maps.lines().filter(|line| line.ends_with(&path.display().to_string())).filter_map(|line| {
        let mut fields = line.split_whitespace();
        let (from, to) = fields.next()?.split_once('-')?;
        let offset = number(fields.nth(1)?);
        let (from, to) = (number(from), number(to));
        let (first, last) = (start.max(from), (start + length).next_multiple_of(PAGE as u64).min(to));
        let range = (offset + first.checked_sub(from)?).min(file)..(offset + last.checked_sub(from)?).min(file);
        (first < last && range.start < range.end).then_some(range.start as usize..range.end as usize)
    });
    ranges.collect()
}
