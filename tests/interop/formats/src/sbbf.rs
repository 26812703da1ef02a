//! Parquet's filters by the parquet crate.

use crate::{Outcome, Size, count, save};
use parquet::bloom_filter::Sbbf;
use std::path::Path;

/// Writes a filter of each size.
pub fn write(folder: &Path, sizes: &[Size]) -> Outcome<()> {
    for &Size { keys, capacity, rate } in sizes {
        let mut filter = Sbbf::new_with_ndv_fpp(capacity, rate)?;
        for i in 0..keys {
            filter.insert(format!("key-{i}").as_str());
        }
        let mut bytes = Vec::new();
        filter.write(&mut bytes)?;
        let name = format!("parquet/crate-{keys}.bin");
        save(folder, &name, &bytes)?;
        let positives = count("absent", 10_000, |key| filter.check(key));
        println!("parquet {name} {keys} {positives} {capacity} {rate} - 0");
    }
    Ok(())
}

/// Reads the filters that `vectors.txt` lists; whether the crate finds in all of them what it says.
pub fn read(folder: &Path) -> Outcome<bool> {
    let mut all_same = true;
    for line in std::fs::read_to_string(folder.join("vectors.txt"))?.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let ["parquet", name, keys, expected, ..] = words[..] else { continue };
        let filter = Sbbf::from_bytes(&std::fs::read(folder.join(name))?)?;
        let found = count("key", keys.parse()?, |key| filter.check(key));
        let positives = count("absent", 10_000, |key| filter.check(key));
        let is_same = found == keys.parse::<u64>()? && positives == expected.parse::<u64>()?;
        all_same &= is_same;
        println!("{} {name}: {found} keys, {positives} positives", if is_same { "same" } else { "OTHER" });
    }
    Ok(all_same)
}
