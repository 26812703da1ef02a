//! Which mutant this process has: put into the copy of the core whose mutants are compiled together.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// No process has asked the environment yet.
const FRESH: u32 = u32::MAX;
/// This process has no mutant, but notes which it meets.
const NOTING: u32 = u32::MAX - 1;
static STATE: AtomicU32 = AtomicU32::new(FRESH);
static MET: [AtomicBool; 1 << 16] = [const { AtomicBool::new(false) }; 1 << 16];

/// Whether this process has the mutant with this number.
#[inline(always)]
pub(crate) fn mutant(number: u32) -> bool {
    let state = STATE.load(Relaxed);
    if state < NOTING { state == number } else { note(number) }
}

#[cold]
#[inline(never)]
fn note(number: u32) -> bool {
    if STATE.load(Relaxed) == FRESH {
        let chosen = std::env::var("PETAL_MUTANT").map_or(0, |mutant| mutant.parse().unwrap());
        let noting = std::env::var_os("PETAL_MUTANTS_MET").is_some();
        STATE.store(if noting { NOTING } else { chosen }, Relaxed);
        return mutant(number);
    }
    let met = &MET[number as usize];
    if !met.load(Relaxed) && !met.swap(true, Relaxed) {
        // A line is written at once, so that what a killed process or a child met is kept.
        use std::io::Write;
        let file = std::env::var_os("PETAL_MUTANTS_MET").unwrap();
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
        file.write_all(format!("{number}\n").as_bytes()).unwrap();
    }
    false
}
