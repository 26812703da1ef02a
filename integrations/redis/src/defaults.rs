//! What a filter is made like that a command makes where nothing is said: RedisBloom's defaults, or those that the
//! module was loaded with.

use crate::server::Argument;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many times as many items each link takes as the one before.
pub const EXPANSION: u32 = 2;

/// 0.01
static RATE: AtomicU64 = AtomicU64::new(0x3f84_7ae1_47ae_147b);
static CAPACITY: AtomicU64 = AtomicU64::new(100);
static MOST_TABLES: AtomicU64 = AtomicU64::new(32);
static BESIDE_FROM: AtomicU64 = AtomicU64::new(1 << 20);

/// The false-positive rate and the capacity.
pub fn get() -> (f64, u64) {
    (f64::from_bits(RATE.load(Ordering::Relaxed)), CAPACITY.load(Ordering::Relaxed))
}

/// From so many tables on a cuckoo filter takes no more keys.
pub fn most_tables() -> u64 {
    MOST_TABLES.load(Ordering::Relaxed)
}

/// From so many bytes on filters are merged, counted, cleared and verified beside the server's thread.
pub fn beside_from() -> usize {
    BESIDE_FROM.load(Ordering::Relaxed) as usize
}

/// Takes the arguments of the module, in any order: `ERROR_RATE rate`, `INITIAL_SIZE capacity`,
/// `CF_MAX_EXPANSIONS tables` and `THREAD_FROM bytes`.
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
        } else if name.is("THREAD_FROM") {
            BESIDE_FROM.store(positive("THREAD_FROM", value)?, Ordering::Relaxed);
        } else {
            let name = String::from_utf8_lossy(name.bytes());
            return Err(format!(
                "the argument {name} is not one of ERROR_RATE, INITIAL_SIZE, CF_MAX_EXPANSIONS and THREAD_FROM"
            ));
        }
    }
    Ok(())
}

fn positive(name: &str, value: Option<&Argument>) -> Result<u64, String> {
    let number = value.and_then(Argument::integer).filter(|number| *number > 0);
    number.map(|number| number as u64).ok_or(format!("the argument {name} is not followed by a number from 1 on"))
}
