//! Structured keys, for which the false-positive rate must also be that of the formula. Only here would a weak hash
//! function show.

use crate::keys::{BUFFER, Buffer, Form};
use crate::subject::{Size, petal};
use petal::Kernel;
use petal::Row;

/// The number of keys that are inserted. As many other keys of the same pattern are looked up.
const KEYS: u64 = 1 << 20;

/// A pattern is a bijection from numbers to keys.
struct Pattern {
    name: String,
    key: Box<dyn Fn(u64) -> u64>,
}

fn pattern(name: impl Into<String>, key: impl Fn(u64) -> u64 + 'static) -> Pattern {
    Pattern { name: name.into(), key: Box::new(key) }
}

fn patterns() -> Vec<Pattern> {
    let mut all = vec![
        pattern("sequential", |i| i),
        pattern("sequential, from 2^32 - 2^19", |i| (1 << 32) - (1 << 19) + i),
        pattern("descending from 2^64 - 1", |i| u64::MAX - i),
    ];
    // Bits that a shift would lose come in again from below, so that there are as many keys for each shift.
    all.extend((1..64).map(|s| pattern(format!("i << {s}"), move |i| i.rotate_left(s))));
    for multiple in [3, 6, 10, 1000, 4096 + 64, 1_000_003, 0x9e37_79b9, 0x9e37_79b9_7f4a_7c15, 1_000_000_000_000] {
        all.push(pattern(format!("{multiple} i"), move |i: u64| i.wrapping_mul(multiple)));
    }
    for (size, base) in [(16, 0x5555_5555_4000), (48, 0x7f12_3456_7010), (64, 0x7f00_0000_0000)] {
        all.push(pattern(format!("pointers to objects of {size} bytes"), move |i| base + size * i));
    }
    all.push(pattern("pointers, 4096 objects of 32 bytes to an arena of 2 MiB", |i| {
        0x7f00_0000_0000 + (i >> 12 << 21) + ((i & 4095) << 5)
    }));
    all.push(pattern("pairs (i / 1024, i % 1024) in two halves", |i| (i >> 10) << 32 | (i & 1023)));
    all.push(pattern("times, microseconds of every second", |i| 1_700_000_000_000_000 + 1_000_000 * i));
    all
}

/// Finds the worst pattern of each kind. Prints that pattern and all others that are too far off. Returns whether all
/// patterns are within 4.5 standard deviations.
///
/// # Errors
/// Says so if there is no memory.
pub fn check(rows: &[&'static Row], advance: impl Fn()) -> Result<bool, String> {
    let size = Size { n: KEYS, bits_per_key: 10.0, form: Form::U64 };
    let patterns = patterns();
    println!("\nstructured keys: {} patterns, 2^20 keys in and 2^20 others looked up, 10 bits/key", patterns.len());
    println!("{:<12} {:>9} {:>9} {:>7}  pattern", "filter", "formula %", "FPR %", "sigmas");
    let (mut buffer, mut answers) = (Buffer::new(size.form), vec![0; BUFFER]);
    let mut sound = true;
    for row in rows {
        let mut filter = petal(row, &size, Kernel::Best).map_err(|error| error.to_string())?;
        let expected = filter.filter().map_or(0.0, |filter| filter.expected_false_positive_rate(KEYS));
        let mut found = Vec::new();
        for pattern in &patterns {
            filter.clear();
            for start in (0..KEYS).step_by(BUFFER) {
                buffer.set((start..start + BUFFER as u64).map(&pattern.key));
                filter.insert(&buffer, true, &mut answers);
            }
            let mut positives = 0;
            for start in (KEYS..2 * KEYS).step_by(BUFFER) {
                buffer.set((start..start + BUFFER as u64).map(&pattern.key));
                positives += filter.contains(&buffer, true, &mut answers);
            }
            let (mean, lookups) = (expected * KEYS as f64, KEYS as f64);
            let sigmas = (positives as f64 - mean) / (mean * (1.0 - expected)).sqrt();
            found.push((sigmas, positives as f64 / lookups, &pattern.name));
            advance();
        }
        found.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
        for (i, (sigmas, rate, name)) in found.into_iter().enumerate() {
            let far = sigmas.abs() > 4.5;
            sound &= !far;
            if i == 0 || far {
                let [expected, rate] = [expected, rate].map(|rate| format!("{:.4}", rate * 100.0));
                println!(
                    "{:<12} {expected:>9} {rate:>9} {sigmas:>+7.2}  {}{name}",
                    row.name,
                    if far { "" } else { "worst: " }
                );
            }
        }
    }
    Ok(sound)
}

/// The number of steps that [`check`] takes for each kind.
pub fn steps() -> u64 {
    patterns().len() as u64
}
