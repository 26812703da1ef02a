//! The settings of filters that a command makes without options: RedisBloom's defaults, or values from the module's
//! arguments or from CONFIG. Also the budget: how long a command may take.

use super::Argument;
use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A setting of RedisBloom 8: its names, bounds, and value.
pub struct Setting {
    /// The setting's name in the server's configuration, and as an argument of the module.
    pub name: &'static CStr,
    /// The module argument that RedisBloom had for this setting before version 8.
    before: &'static str,
    least: u64,
    most: u64,
    usual: u64,
    value: AtomicU64,
}

/// The most keys that a filter is made for.
pub const MOST_KEYS: u64 = 1 << 30;

/// The greatest rate of a new filter: a greater rate counts as this one.
pub const GREATEST_RATE: f64 = 0.25;

/// The bits of the `f64` 0.01.
const USUAL_RATE: u64 = 0x3f84_7ae1_47ae_147b;

const fn setting(name: &'static CStr, before: &'static str, [least, usual, most]: [u64; 3]) -> Setting {
    Setting { name, before, least, most, usual, value: AtomicU64::new(usual) }
}

static RATE: Setting = setting(c"bf-error-rate", "ERROR_RATE", [0, USUAL_RATE, 1]);
static CAPACITY: Setting = setting(c"bf-initial-size", "INITIAL_SIZE", [1, 100, MOST_KEYS]);
static EXPANSION: Setting = setting(c"bf-expansion-factor", "", [0, 2, 32768]);
static SLOTS: Setting = setting(c"cf-bucket-size", "", [1, 2, 255]);
static CUCKOO_CAPACITY: Setting = setting(c"cf-initial-size", "", [2, 1024, MOST_KEYS]);
static KICKS: Setting = setting(c"cf-max-iterations", "", [1, 20, 65535]);
static CUCKOO_EXPANSION: Setting = setting(c"cf-expansion-factor", "", [0, 1, 32768]);
static MOST_TABLES: Setting = setting(c"cf-max-expansions", "CF_MAX_EXPANSIONS", [1, 32, 65536]);

/// All settings, in the order in which the module reads them: the bucket size comes before the capacity.
pub static SETTINGS: [&Setting; 8] =
    [&RATE, &CAPACITY, &EXPANSION, &SLOTS, &CUCKOO_CAPACITY, &KICKS, &CUCKOO_EXPANSION, &MOST_TABLES];

impl Setting {
    /// The word that names the setting in the configuration.
    fn word(&self) -> &'static str {
        self.name.to_str().unwrap_or_default()
    }

    /// The setting's value, if it is a whole number.
    fn get(&self) -> u64 {
        self.value.load(Ordering::Relaxed)
    }

    fn is_rate(&self) -> bool {
        std::ptr::eq(self, &RATE)
    }

    /// The allowed values at this moment. The bucket size and the capacity of cuckoo filters bound each other.
    pub fn range(&self) -> (u64, u64) {
        match self {
            _ if std::ptr::eq(self, &SLOTS) => (self.least, self.most.min(CUCKOO_CAPACITY.get() / 2)),
            _ if std::ptr::eq(self, &CUCKOO_CAPACITY) => (2 * SLOTS.get(), self.most),
            _ => (self.least, self.most),
        }
    }

    /// The setting's value as the configuration writes it.
    pub fn text(&self) -> String {
        match self.is_rate() {
            true => f64::from_bits(self.get()).to_string(),
            false => self.get().to_string(),
        }
    }

    /// Sets the value.
    ///
    /// # Errors
    /// The message says what is wrong with the value; then nothing has changed.
    pub fn set(&self, value: &Argument) -> Result<(), String> {
        let name = self.word();
        if self.is_rate() {
            let rate = value.real().ok_or_else(|| format!("Invalid value for `{name}`"))?;
            if !(rate > 0.0 && rate < 1.0) {
                return Err(format!("Value for `{name}` must be in the range (0.000000, 1.000000)"));
            }
            self.value.store(rate.min(GREATEST_RATE).to_bits(), Ordering::Relaxed);
            return Ok(());
        }
        let number = value.integer().ok_or_else(|| format!("Invalid value for `{name}`"))?;
        let (least, most) = self.range();
        match u64::try_from(number).ok().filter(|number| (least..=most).contains(number)) {
            Some(number) => self.value.store(number, Ordering::Relaxed),
            None => return Err(format!("Value for `{name}` must be in the range [{least}, {most}]")),
        }
        Ok(())
    }
}

/// Whether all settings have their defaults.
pub fn are_usual() -> bool {
    SETTINGS.iter().all(|setting| setting.get() == setting.usual)
}

static BUDGET: AtomicU64 = AtomicU64::new(USUAL_BUDGET);

/// The default budget in milliseconds.
const USUAL_BUDGET: u64 = 2;

/// The greatest budget in milliseconds: a minute.
pub const MOST_BUDGET: u64 = 60_000;

/// Upper estimates in nanoseconds: for a byte of a filter that is read, merged, copied or freed, and for an item that
/// is added or looked up. The estimates are several times the measured times.
const BYTE: u64 = 2;
const ITEM: u64 = 1000;

/// The most bytes of a chunk, and the least value of that limit with a small budget.
pub const CHUNK: usize = 16 << 20;
const LEAST_CHUNK: usize = 64 << 10;

/// The false-positive rate, the capacity and the expansion of a Bloom filter.
pub fn bloom() -> (f64, u64, u32) {
    (f64::from_bits(RATE.get()), CAPACITY.get(), EXPANSION.get() as u32)
}

/// The capacity, the slots of a bucket, the kicks and the expansion of a cuckoo filter.
pub fn cuckoo() -> [u64; 4] {
    [&CUCKOO_CAPACITY, &SLOTS, &KICKS, &CUCKOO_EXPANSION].map(Setting::get)
}

/// The allowed numbers of slots in a bucket.
pub fn slots() -> (u64, u64) {
    SLOTS.range()
}

/// The most tables of a cuckoo filter: a filter with that many tables does not grow.
pub fn most_tables() -> u64 {
    MOST_TABLES.get()
}

/// The budget: how long a command may block the server.
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

/// Whether work on this many bytes may take longer than the budget.
pub fn is_long(bytes: usize) -> bool {
    (bytes as u64).saturating_mul(BYTE) > nanoseconds()
}

/// Whether work on this many items may take longer than the budget.
pub fn are_many(items: usize) -> bool {
    (items as u64).saturating_mul(ITEM) > nanoseconds()
}

/// How many bytes a chunk of a filter has.
pub fn chunk() -> usize {
    ((nanoseconds() / BYTE) as usize).clamp(LEAST_CHUNK, CHUNK)
}

fn nanoseconds() -> u64 {
    milliseconds() * 1_000_000
}

/// The value of `NAME` in the module's arguments.
///
/// # Errors
/// The message says what is wrong with the value.
pub fn name(arguments: &[Argument]) -> Result<Option<&[u8]>, String> {
    let mut names = arguments.chunks(2).filter(|pair| pair[0].is("NAME"));
    match names.next() {
        None => Ok(None),
        Some([_, name]) if name.bytes() == b"petal" || name.bytes() == b"bf" => Ok(Some(name.bytes())),
        Some(_) => Err("the argument NAME is not followed by petal or bf".into()),
    }
}

/// Reads the arguments of the module, in any order: settings by their names, and `ERROR_RATE rate`, `INITIAL_SIZE
/// capacity`, `CF_MAX_EXPANSIONS tables`, `BUDGET milliseconds` and `NAME name`.
///
/// # Errors
/// The message says what is wrong with the arguments.
pub fn set(arguments: &[Argument]) -> Result<(), String> {
    name(arguments)?;
    let pairs = || arguments.chunks(2);
    // The bucket size and the capacity bound each other, whatever the order of the arguments.
    for setting in SETTINGS {
        for pair in pairs().filter(|pair| setting.is_called(&pair[0])) {
            let name = String::from_utf8_lossy(pair[0].bytes());
            let value = pair.get(1).ok_or_else(|| format!("the argument {name} is not followed by a value"))?;
            setting.set(value).map_err(|why| format!("the argument {name} is not right: {why}"))?;
        }
    }
    for pair in pairs() {
        let name = &pair[0];
        if name.is("BUDGET") {
            let budget = pair.get(1).and_then(Argument::unsigned).filter(|budget| *budget <= MOST_BUDGET);
            set_milliseconds(budget.ok_or(format!(
                "the argument BUDGET is not followed by a whole number of milliseconds from 0 to {MOST_BUDGET}"
            ))?);
        } else if !name.is("NAME") && !SETTINGS.iter().any(|setting| setting.is_called(name)) {
            let name = String::from_utf8_lossy(name.bytes());
            let settings = SETTINGS.map(Setting::word).join(", ");
            return Err(format!(
                "the argument {name} is not one of {settings}, ERROR_RATE, INITIAL_SIZE, CF_MAX_EXPANSIONS, BUDGET and \
                 NAME"
            ));
        }
    }
    Ok(())
}

impl Setting {
    /// Whether an argument of the module names this setting.
    fn is_called(&self, name: &Argument) -> bool {
        name.is(self.word()) || !self.before.is_empty() && name.is(self.before)
    }
}
