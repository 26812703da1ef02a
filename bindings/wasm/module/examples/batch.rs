//! The native side of `make bench-wasm`: looks a batch up with portable code, as `bench.mjs` does with each module, and
//! prints the least time in milliseconds.

use petal::{Answers, Filter, Kernel, Keys, Spec, registry};
use std::time::Instant;

fn main() -> petal::Result<()> {
    let count = 1_000_000;
    let keys: Vec<u64> = (0..count).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let kind = registry::find_name("blocked").map(|row| row.kind);
    let mut filter = Filter::new(&Spec { kind, kernel: Kernel::Portable, ..Spec::with_capacity(count, 0.01)? })?;
    filter.insert_batch(&Keys::U64(&keys), None).outcome?;
    let mut bytes = vec![0; keys.len()];
    let mut least = f64::INFINITY;
    for _ in 0..40 {
        let start = Instant::now();
        let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
        filter.contains_batch(&Keys::U64(&keys), &mut answers)?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    println!("{:.3}", 1000.0 * least);
    Ok(())
}
