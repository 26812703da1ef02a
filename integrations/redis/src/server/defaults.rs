//! The settings of filters that a command makes without options: RedisBloom's defaults, or values from the module's
//! arguments or from CONFIG; and valkey-bloom's. Also the budget: how long a command may take.

use super::Argument;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// How a setting is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Number,
    /// A number inside (0, 1), of which the value has the bits.
    Rate,
    /// yes or no.
    Switch,
}

/// A setting of RedisBloom 8 or of valkey-bloom: its names, bounds, and value.
pub struct Setting {
    /// The setting's name in the server's configuration, and as an argument of the module.
    pub name: &'static CStr,
    /// The module argument that RedisBloom had for this setting before version 8.
    before: &'static str,
    sort: Sort,
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

/// The bits of the `f64` 0.5.
const HALF: u64 = 0x3fe0_0000_0000_0000;

const fn setting(name: &'static CStr, before: &'static str, [least, usual, most]: [u64; 3]) -> Setting {
    Setting { name, before, sort: Sort::Number, least, most, usual, value: AtomicU64::new(usual) }
}

const fn of_sort(name: &'static CStr, before: &'static str, sort: Sort, usual: u64) -> Setting {
    Setting { sort, ..setting(name, before, [0, usual, 1]) }
}

static RATE: Setting = of_sort(c"bf-error-rate", "ERROR_RATE", Sort::Rate, USUAL_RATE);
static CAPACITY: Setting = setting(c"bf-initial-size", "INITIAL_SIZE", [1, 100, MOST_KEYS]);
static EXPANSION: Setting = setting(c"bf-expansion-factor", "", [0, 2, 32768]);
static SLOTS: Setting = setting(c"cf-bucket-size", "", [1, 2, 255]);
static CUCKOO_CAPACITY: Setting = setting(c"cf-initial-size", "", [2, 1024, MOST_KEYS]);
static KICKS: Setting = setting(c"cf-max-iterations", "", [1, 20, 65535]);
static CUCKOO_EXPANSION: Setting = setting(c"cf-expansion-factor", "", [0, 1, 32768]);
static MOST_TABLES: Setting = setting(c"cf-max-expansions", "CF_MAX_EXPANSIONS", [1, 32, 65536]);

/// RedisBloom's settings, in the order in which the module reads them: the bucket size comes before the capacity.
static REDISBLOOMS: [&Setting; 8] =
    [&RATE, &CAPACITY, &EXPANSION, &SLOTS, &CUCKOO_CAPACITY, &KICKS, &CUCKOO_EXPANSION, &MOST_TABLES];

static OBJECT_CAPACITY: Setting = setting(c"bloom-capacity", "", [1, 100, i64::MAX as u64]);
static OBJECT_EXPANSION: Setting = setting(c"bloom-expansion", "", [0, 2, u32::MAX as u64]);
static OBJECT_BYTES: Setting = setting(c"bloom-memory-usage-limit", "", [0, 128 << 20, i64::MAX as u64]);
static OBJECT_RATE: Setting = of_sort(c"bloom-fp-rate", "", Sort::Rate, USUAL_RATE);
static TIGHTENING: Setting = of_sort(c"bloom-tightening-ratio", "", Sort::Rate, HALF);
static RANDOM_SEED: Setting = of_sort(c"bloom-use-random-seed", "", Sort::Switch, 1);
static MOVES_OBJECTS: Setting = of_sort(c"bloom-defrag-enabled", "", Sort::Switch, 1);

/// valkey-bloom's settings.
static VALKEY_BLOOMS: [&Setting; 7] =
    [&OBJECT_CAPACITY, &OBJECT_EXPANSION, &OBJECT_BYTES, &OBJECT_RATE, &TIGHTENING, &RANDOM_SEED, &MOVES_OBJECTS];

/// All settings.
pub fn settings() -> impl Iterator<Item = &'static Setting> {
    REDISBLOOMS.into_iter().chain(VALKEY_BLOOMS)
}

impl Setting {
    /// The word that names the setting in the configuration.
    fn word(&self) -> &'static str {
        self.name.to_str().unwrap_or_default()
    }

    /// The setting's value, if it is a whole number.
    fn get(&self) -> u64 {
        self.value.load(Ordering::Relaxed)
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
        match self.sort {
            Sort::Rate => f64::from_bits(self.get()).to_string(),
            Sort::Number => self.get().to_string(),
            Sort::Switch => if self.get() == 0 { "no" } else { "yes" }.into(),
        }
    }

    /// Sets the value.
    ///
    /// # Errors
    /// The message says what is wrong with the value; then nothing has changed.
    pub fn set(&self, value: &Argument) -> Result<(), String> {
        let name = self.word();
        if self.sort == Sort::Switch {
            let place = ["no", "yes"].iter().position(|word| value.is(word));
            let place = place.ok_or_else(|| format!("Value for `{name}` must be yes or no"))?;
            self.value.store(place as u64, Ordering::Relaxed);
            return Ok(());
        }
        if self.sort == Sort::Rate {
            let rate = value.real().ok_or_else(|| format!("Invalid value for `{name}`"))?;
            if !(rate > 0.0 && rate < 1.0) {
                return Err(format!("Value for `{name}` must be in the range (0.000000, 1.000000)"));
            }
            let rate = if std::ptr::eq(self, &RATE) { rate.min(GREATEST_RATE) } else { rate };
            self.value.store(rate.to_bits(), Ordering::Relaxed);
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

/// Whether all settings of RedisBloom have their defaults.
pub fn are_usual() -> bool {
    REDISBLOOMS.iter().all(|setting| setting.get() == setting.usual)
}

/// The rate, the tightening, the capacity and the expansion of an object of valkey-bloom.
pub fn object() -> (f64, f64, u64, u32) {
    let [rate, tightening] = [&OBJECT_RATE, &TIGHTENING].map(|setting| f64::from_bits(setting.get()));
    (rate, tightening, OBJECT_CAPACITY.get(), OBJECT_EXPANSION.get() as u32)
}

/// Whether the seed of an object of valkey-bloom is random.
pub fn has_random_seed() -> bool {
    RANDOM_SEED.get() != 0
}

/// The most bytes of an object of valkey-bloom, as valkey-bloom counts them.
pub fn most_object_bytes() -> u64 {
    OBJECT_BYTES.get()
}

/// Whether the server may move the memory of objects of valkey-bloom.
pub fn moves_objects() -> bool {
    MOVES_OBJECTS.get() != 0
}

/// Whether the commands `BF.*` are those of valkey-bloom.
static IS_VALKEY_BLOOM: AtomicBool = AtomicBool::new(false);

/// Whether the commands `BF.*` are those of valkey-bloom, and make its objects.
#[inline]
pub fn is_valkey_bloom() -> bool {
    IS_VALKEY_BLOOM.load(Ordering::Relaxed)
}

/// Says whose commands `BF.*` are.
pub fn set_valkey_bloom(is_valkey_bloom: bool) {
    IS_VALKEY_BLOOM.store(is_valkey_bloom, Ordering::Relaxed);
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

/// Whether the word after `argument` in the module's arguments is the second of two; `None` if the argument is not
/// there.
///
/// # Errors
/// The message says what is wrong with the value.
fn is_second(arguments: &[Argument], argument: &str, words: [&str; 2]) -> Result<Option<bool>, String> {
    let Some(pair) = arguments.chunks(2).find(|pair| pair[0].is(argument)) else { return Ok(None) };
    let place = pair.get(1).and_then(|word| words.iter().position(|one| word.bytes() == one.as_bytes()));
    let [first, second] = words;
    let place = place.ok_or_else(|| format!("the argument {argument} is not followed by {first} or {second}"))?;
    Ok(Some(place == 1))
}

/// Whether the module's arguments ask for the name `bf`.
///
/// # Errors
/// The message says what is wrong with the value of `NAME`.
pub fn has_owners_name(arguments: &[Argument]) -> Result<bool, String> {
    is_second(arguments, "NAME", ["petal", "bf"]).map(|is_bf| is_bf == Some(true))
}

/// Whether the module's arguments ask for the commands of valkey-bloom, if they say so.
///
/// # Errors
/// The message says what is wrong with the value of `OWNER`.
pub fn wants_valkey_bloom(arguments: &[Argument]) -> Result<Option<bool>, String> {
    is_second(arguments, "OWNER", ["redisbloom", "valkey-bloom"])
}

/// Reads the arguments of the module, in any order: settings by their names, and `ERROR_RATE rate`, `INITIAL_SIZE
/// capacity`, `CF_MAX_EXPANSIONS tables`, `BUDGET milliseconds`, `NAME name` and `OWNER owner`.
///
/// # Errors
/// The message says what is wrong with the arguments.
pub fn set(arguments: &[Argument]) -> Result<(), String> {
    has_owners_name(arguments)?;
    wants_valkey_bloom(arguments)?;
    let pairs = || arguments.chunks(2);
    // The bucket size and the capacity bound each other, whatever the order of the arguments.
    for setting in settings() {
        for pair in pairs().filter(|pair| setting.is_called(&pair[0])) {
            let name = String::from_utf8_lossy(pair[0].bytes());
            let value = pair.get(1).ok_or_else(|| format!("the argument {name} is not followed by a value"))?;
            setting.set(value).map_err(|why| format!("the argument {name} is not right: {why}"))?;
        }
    }
    for pair in pairs() {
        let name = &pair[0];
        if name.is("BUDGET") {
            let budget = pair.get(1).and_then(Argument::parse::<u64>).filter(|budget| *budget <= MOST_BUDGET);
            set_milliseconds(budget.ok_or(format!(
                "the argument BUDGET is not followed by a whole number of milliseconds from 0 to {MOST_BUDGET}"
            ))?);
        } else if !name.is("NAME") && !name.is("OWNER") && !settings().any(|setting| setting.is_called(name)) {
            let name = String::from_utf8_lossy(name.bytes());
            let settings = settings().map(Setting::word).collect::<Vec<_>>().join(", ");
            return Err(format!(
                "the argument {name} is not one of {settings}, ERROR_RATE, INITIAL_SIZE, CF_MAX_EXPANSIONS, BUDGET, \
                 NAME and OWNER"
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
