//! Keys: made from running numbers, so that none is stored and none occurs twice.
//!
//! Number i becomes a `u64` key by a bijection that mixes all bits. Numbers below 2^62 are inserted, and those above
//! are absent. So a "maybe" for an absent key is always a false positive.

use petal::Keys;

/// The number of keys of a timed call: enough to hide the clock, and few enough for the second-level cache.
pub const BUFFER: usize = 8192;

/// Numbers from here on belong to absent keys.
const ABSENT: u64 = 1 << 62;

/// The form of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Random `u64`.
    U64,
    /// Random byte strings of 16 to 64 bytes.
    Strings,
}

impl Form {
    /// The name of the form in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Form::U64 => "u64",
            Form::Strings => "strings",
        }
    }
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood, 2014; constants by Stafford): a bijection.
pub fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Random numbers: SplitMix64.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Random {
        Random(mix(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// The next number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

/// The keys of one call.
pub struct Buffer {
    form: Form,
    numbers: Vec<u64>,
    bytes: Vec<u8>,
    offsets: Vec<u64>,
}

impl Buffer {
    pub fn new(form: Form) -> Buffer {
        Buffer { form, numbers: Vec::with_capacity(BUFFER), bytes: Vec::new(), offsets: Vec::new() }
    }

    /// Takes these `u64` keys as they are.
    pub fn set(&mut self, keys: impl Iterator<Item = u64>) {
        self.numbers.clear();
        self.numbers.extend(keys);
        if self.form == Form::Strings {
            self.spell();
        }
    }

    /// Takes the inserted keys `from..to` of a series. Each series has its own keys.
    pub fn inserted(&mut self, series: u64, from: u64, to: u64) {
        self.set((from..to).map(|i| mix((series << 40) + i)));
    }

    /// Draws keys from the first `n` of a series.
    pub fn present(&mut self, series: u64, n: u64, random: &mut Random) {
        self.recent(series, (0, n), random);
    }

    /// Draws keys from `from..to` of a series.
    pub fn recent(&mut self, series: u64, (from, to): (u64, u64), random: &mut Random) {
        self.set((0..BUFFER).map(|_| mix((series << 40) + from + random.below(to - from))));
    }

    /// Draws keys that were never inserted.
    pub fn absent(&mut self, random: &mut Random) {
        self.set((0..BUFFER).map(|_| mix(ABSENT | random.next() >> 2)));
    }

    /// Makes a string of 16 to 64 bytes from each number. The first eight bytes are the number.
    fn spell(&mut self) {
        self.bytes.clear();
        self.offsets.clear();
        self.offsets.push(0);
        for number in &self.numbers {
            let end = self.bytes.len() + 16 + (number % 49) as usize;
            let mut random = Random(*number);
            self.bytes.extend_from_slice(&number.to_le_bytes());
            while self.bytes.len() < end {
                self.bytes.extend_from_slice(&random.next().to_le_bytes());
            }
            self.bytes.truncate(end);
            self.offsets.push(end as u64);
        }
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The form of the keys.
    pub fn form(&self) -> Form {
        self.form
    }

    /// The keys in the form that Petal's batches take.
    pub fn keys(&self) -> Keys<'_> {
        match self.form {
            Form::U64 => Keys::U64(&self.numbers),
            Form::Strings => Keys::Bytes { bytes: &self.bytes, offsets: &self.offsets },
        }
    }

    /// The `u64` keys one by one.
    pub fn numbers(&self) -> &[u64] {
        &self.numbers
    }

    /// The strings one by one.
    pub fn strings(&self) -> impl Iterator<Item = &[u8]> {
        self.offsets.windows(2).map(|ends| &self.bytes[ends[0] as usize..ends[1] as usize])
    }
}
