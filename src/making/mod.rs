//! How filters are made from keys: collecting them, and making the filter when all have come.

mod builder;
mod collect;
mod progress;
mod records;

pub use builder::{Builder, BuilderOptions};
pub use collect::{Collector, CollectorOptions, MIN_MEMORY_LIMIT, Record, Sorted};
pub use progress::{Progress, Steps};
pub use records::{Counted, Entry, Records};
