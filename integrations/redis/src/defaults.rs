//! What a filter is made like that a command makes where nothing is said: RedisBloom's defaults, or those that the
//! module was loaded with.

use crate::server::Argument;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How many times as many items each link takes as the one before.
pub const EXPANSION: u32 = 2;

/// 0.01
static RATE: AtomicU64 = AtomicU64::new(0x3f84_7ae1_47ae_147b);
static CAPACITY: AtomicU64 = AtomicU64::new(100);
static MOST_TABLES: AtomicU64 = AtomicU64::new(32);
static BUDGET: AtomicU64 = AtomicU64::new(USUAL_BUDGET);

/// How many milliseconds a command holds the server up at the most where nothing is said.
const USUAL_BUDGET: u64 = 2;

/// The most milliseconds that are taken: a minute.
pub const MOST_BUDGET: u64 = 60_000;

/// How many nanoseconds a byte takes at the most of filters that are read, merged, copied or freed, and an item that is
/// added or looked up. Machines and kinds for which that is 10 times as much are slower than any that were measured.
const BYTE: u64 = 2;
const ITEM: u64 = 1000;

/// The most bytes that a chunk of a filter has, and the fewest that the budget makes of that.
pub const CHUNK: usize = 16 << 20;
const LEAST_CHUNK: usize = 64 << 10;

/// The false-positive rate and the capacity.
pub fn get() -> (f64, u64) {
    (f64::from_bits(RATE.load(Ordering::Relaxed)), CAPACITY.load(Ordering::Relaxed))
}

/// From so many tables on a cuckoo filter takes no more keys.
pub fn most_tables() -> u64 {
    MOST_TABLES.load(Ordering::Relaxed)
}

/// How long a command holds the server up at the most, as far as the module can choose.
pub fn budget() -> Duration {
    Duration::from_millis(milliseconds())
}

/// The budget in milliseconds.
pub fn milliseconds() -> u64 {
    BUDGET.load(Ordering::Relaxed)
}

/// Sets the budget, in milliseconds.
pub fn set_milliseconds(milliseconds: u64) {
    BUDGET.store(milliseconds, Ordering::Relaxed);
}

/// Whether what is done with so many bytes may take longer than the budget.
pub fn is_long(bytes: usize) -> bool {
    (bytes as u64).saturating_mul(BYTE) > nanoseconds()
}

/// Whether what is done with so many items may take longer than the budget.
pub fn are_many(items: usize) -> bool {
    (items as u64).saturating_mul(ITEM) > nanoseconds()
}

/// How many bytes of a filter are given at once.
pub fn chunk() -> usize {
    ((nanoseconds() / BYTE) as usize).clamp(LEAST_CHUNK, CHUNK)
}

fn nanoseconds() -> u64 {
    milliseconds() * 1_000_000
}

/// Takes the arguments of the module, in any order: `ERROR_RATE rate`, `INITIAL_SIZE capacity`,
/// `CF_MAX_EXPANSIONS tables` and `BUDGET milliseconds`.
///
/// # Errors
/// What is wrong with them.
pub fn set(arguments: &[Argument]) -> Result<(), String> {
    let mut left = arguments.iter();
    while let Some(name) = left.next() {
        let value = left.next();
        if name.is("ERROR_RATE") {
            let rate = value.and_then(Argument::real).filter(|rate| *rate > 0.0 && *rate < 1.0);
            let rate = rate.ok_or("the argument ERROR_RATE is not followed by a number inside (0, 1)")?;
            RATE.store(rate.to_bits(), Ordering::Relaxed);
        } else if name.is("INITIAL_SIZE") {
            CAPACITY.store(positive("INITIAL_SIZE", value)?, Ordering::Relaxed);
        } else if name.is("CF_MAX_EXPANSIONS") {
            MOST_TABLES.store(positive("CF_MAX_EXPANSIONS", value)?, Ordering::Relaxed);
        } else if name.is("BUDGET") {
            let budget = value.and_then(Argument::unsigned).filter(|budget| *budget <= MOST_BUDGET);
            set_milliseconds(budget.ok_or(format!(
                "the argument BUDGET is not followed by a whole number of milliseconds from 0 to {MOST_BUDGET}"
            ))?);
        } else {
            let name = String::from_utf8_lossy(name.bytes());
            return Err(format!(
                "the argument {name} is not one of ERROR_RATE, INITIAL_SIZE, CF_MAX_EXPANSIONS and BUDGET"
            ));
        }
    }
    Ok(())
}

fn positive(name: &str, value: Option<&Argument>) -> Result<u64, String> {
    let number = value.and_then(Argument::integer).filter(|number| *number > 0);
    number.map(|number| number as u64).ok_or(format!("the argument {name} is not followed by a number from 1 on"))
}
