//! Numbers as people write them: `10M` keys, `64MiB` of memory, a rate of `0.01`; and short forms of numbers for
//! output.

/// The suffixes of the powers of 1000. A following `i` makes them powers of 1024.
const SUFFIXES: [char; 6] = ['k', 'M', 'G', 'T', 'P', 'E'];

/// The most threads, and the most shards of a set.
const MOST_THREADS: u32 = 1024;
const MOST_SHARDS: u32 = 65_536;

/// A whole number: digits, perhaps with a fraction, and a suffix (`k`, `M`, `G`, `T`, `P`, `E`; `Ki`, `Mi` ... are
/// powers of 1024) or a power of ten. `1.5M` is 1,500,000, and so is `1.5e6`.
///
/// # Errors
/// What is wrong with the text.
pub fn whole(text: &str) -> Result<u64, String> {
    let split = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (digits, suffix) = text.split_at(split);
    let not_a_number = || String::from("not a whole number such as 1000, 1e6, 1.5M or 64Mi");
    let too_large = || format!("more than {}", u64::MAX);
    let factor = match exponent(suffix) {
        Some(exponent) => 10_u64.checked_pow(exponent).ok_or_else(too_large)?,
        None => factor(suffix).ok_or_else(not_a_number)?,
    };
    let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if (integer.is_empty() && fraction.is_empty()) || fraction.contains('.') || fraction.len() > 18 {
        return Err(not_a_number());
    }
    let parse = |digits: &str| if digits.is_empty() { Ok(0) } else { digits.parse::<u64>().map_err(|_| too_large()) };
    // The result is exact: with at most 18 digits after the point, both products stay below 2^128.
    let scale = 10_u128.pow(fraction.len() as u32);
    let parts = u128::from(parse(fraction)?) * u128::from(factor);
    if !parts.is_multiple_of(scale) {
        return Err(format!("not a whole number: {digits} times {factor} has a fraction"));
    }
    let total = u128::from(parse(integer)?) * u128::from(factor) + parts / scale;
    u64::try_from(total).map_err(|_| too_large())
}

/// A number of bytes: as [`whole`], with an optional `B` at the end.
///
/// # Errors
/// What is wrong with the text.
pub fn bytes(text: &str) -> Result<u64, String> {
    whole(text.strip_suffix('B').unwrap_or(text))
        .map_err(|error| error.replace("such as 1000, 1e6, 1.5M or 64Mi", "of bytes such as 1e6, 64MiB or 1GB"))
}

/// A number of bytes, which is at least 1.
///
/// # Errors
/// What is wrong with the text.
pub fn positive_bytes(text: &str) -> Result<u64, String> {
    at_least_one(bytes(text)?)
}

/// A memory limit in bytes that a builder can keep.
///
/// # Errors
/// What is wrong with the text.
pub fn memory_limit(text: &str) -> Result<u64, String> {
    let (limit, least) = (bytes(text)?, petal::MIN_MEMORY_LIMIT);
    if limit < least { Err(format!("must be at least {}MiB", least >> 20)) } else { Ok(limit) }
}

/// A number of keys or bits, which is at least 1.
///
/// # Errors
/// What is wrong with the text.
pub fn positive(text: &str) -> Result<u64, String> {
    at_least_one(whole(text)?)
}

/// A number of threads.
///
/// # Errors
/// What is wrong with the text.
pub fn threads(text: &str) -> Result<u32, String> {
    within(text, MOST_THREADS)
}

/// A number of shards.
///
/// # Errors
/// What is wrong with the text.
pub fn shards(text: &str) -> Result<u32, String> {
    within(text, MOST_SHARDS)
}

/// A small number, such as the number of bits that a key sets.
///
/// # Errors
/// What is wrong with the text.
pub fn few(text: &str) -> Result<u32, String> {
    within(text, u32::MAX)
}

fn within(text: &str, most: u32) -> Result<u32, String> {
    let number = whole(text)?;
    match u32::try_from(number) {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        _ => Err(format!("must be from 1 to {most}")),
    }
}

fn at_least_one(number: u64) -> Result<u64, String> {
    if number == 0 { Err(String::from("must be at least 1")) } else { Ok(number) }
}

/// A rate inside (0, 1): a number, or a percentage with a percent sign.
///
/// # Errors
/// What is wrong with the text.
pub fn rate(text: &str) -> Result<f64, String> {
    let rate = match text.strip_suffix('%') {
        // The text's decimal point moves, so that 1% is exactly the `f64` 0.01.
        Some(percents) => percents.trim_end().parse::<f64>().ok().and_then(|_| {
            let (digits, exponent) = percents.trim_end().split_once(['e', 'E']).unwrap_or((percents.trim_end(), "0"));
            format!("{digits}e{}", exponent.parse::<i32>().ok()?.checked_sub(2)?).parse().ok()
        }),
        None => text.parse::<f64>().ok(),
    };
    match rate {
        Some(rate) if rate > 0.0 && rate < 1.0 => Ok(rate),
        _ => Err(String::from("a rate is a number greater than 0 and less than 1, such as 0.01 or 1%")),
    }
}

/// Bits for each key: a positive number.
///
/// # Errors
/// What is wrong with the text.
pub fn bits_per_key(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(bits) if bits > 0.0 && bits.is_finite() => Ok(bits),
        _ => Err(String::from("bits per key are a number greater than 0, such as 9.6")),
    }
}

/// A seed: decimal, or hexadecimal after `0x`.
///
/// # Errors
/// What is wrong with the text.
pub fn seed(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        // Rust's own parser would accept a sign.
        Some(digits) if digits.starts_with('+') => None,
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    parsed.ok_or_else(|| format!("a seed is a whole number from 0 to {}, or hexadecimal after 0x", u64::MAX))
}

/// A field separator: a text in which `\t` is a tab, `\0` is NUL and `\\` is a backslash.
///
/// # Errors
/// What is wrong with the text.
pub fn delimiter(text: &str) -> Result<String, String> {
    let mut delimiter = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        delimiter.push(match letter {
            '\\' => match letters.next() {
                Some('t') => '\t',
                Some('0') => '\0',
                Some('\\') => '\\',
                _ => return Err(String::from("after a backslash comes t (tab), 0 (NUL) or another backslash")),
            },
            letter => letter,
        });
    }
    if delimiter.is_empty() { Err(String::from("must not be empty")) } else { Ok(delimiter) }
}

/// The power of ten after an `e`. (`E` alone is a suffix.)
fn exponent(suffix: &str) -> Option<u32> {
    let digits = suffix.strip_prefix(['e', 'E'])?;
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().unwrap_or(u32::MAX))
}

fn factor(suffix: &str) -> Option<u64> {
    let mut letters = suffix.chars();
    let Some(letter) = letters.next() else { return Some(1) };
    let letter = if letter == 'K' { 'k' } else { letter };
    let power = SUFFIXES.iter().position(|suffix| *suffix == letter)? as u32 + 1;
    match (letters.next(), letters.next()) {
        (None, _) => Some(1000_u64.pow(power)),
        (Some('i'), None) => Some(1024_u64.pow(power)),
        _ => None,
    }
}

/// A number with four significant digits: `0.009871`, `12.34`, `1.234e-9`.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() {
        // A zero has no sign.
        return (value + 0.0).to_string();
    }
    if !(1e-4..1e15).contains(&size) {
        return format!("{value:.3e}");
    }
    let digits_before = size.log10().floor() as i32 + 1;
    format!("{value:.*}", (4 - digits_before).max(0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_exact() {
        let good = [
            ("0", 0),
            ("17", 17),
            ("1k", 1000),
            ("1K", 1000),
            ("10M", 10_000_000),
            ("1G", 1_000_000_000),
            ("1Ki", 1024),
            ("2.5k", 2500),
            (".5k", 500),
            ("1.Mi", 1 << 20),
            ("1.5Mi", 3 << 19),
            ("18446744073709551615", u64::MAX),
            ("15E", 15_000_000_000_000_000_000),
            ("15Ei", 15 << 60),
            ("1e6", 1_000_000),
            ("1E6", 1_000_000),
            ("1.5e+6", 1_500_000),
            ("12.e0", 12),
            ("1e19", 10_000_000_000_000_000_000),
        ];
        for (text, value) in good {
            assert_eq!(whole(text), Ok(value), "{text}");
        }
        let bad = [
            "", "k", ".", "1.2.3k", "-1", "+1", "1e", "1e-3", "1e+", "1e3k", "1.5e0", "1kk", "1iB", "1 k", "1.5",
            "0.0001k", "1KiB", "१",
        ];
        for text in bad {
            assert!(whole(text).is_err(), "{text}");
        }
        for text in ["18446744073709551616", "16Ei", "19E", "99999999999999999999k", "1e20", "2e19", "1e99999999999"] {
            assert_eq!(whole(text), Err(format!("more than {}", u64::MAX)), "{text}");
        }
    }

    #[test]
    fn delimiters_have_escapes() {
        for (text, delimiter) in [(",", ","), ("\\t", "\t"), ("::", "::"), ("\\0", "\0"), ("a\\\\t", "a\\t")] {
            assert_eq!(super::delimiter(text).as_deref(), Ok(delimiter));
        }
        for text in ["", "\\", "\\n"] {
            assert!(delimiter(text).is_err(), "{text}");
        }
    }

    #[test]
    fn bytes_take_a_unit() {
        assert_eq!(bytes("64MiB"), Ok(64 << 20));
        assert_eq!(bytes("1GB"), Ok(1_000_000_000));
        assert_eq!(bytes("512B"), Ok(512));
        assert!(bytes("1BB").is_err() && bytes("B").is_err());
    }

    #[test]
    fn rates_seeds_and_sizes_keep_to_their_bounds() {
        assert_eq!(rate("0.01"), Ok(0.01));
        assert_eq!(rate("1e-9"), Ok(1e-9));
        for (text, value) in [("1%", 0.01), ("0.1 %", 0.001), ("50%", 0.5), ("1e-4%", 1e-6), (".5%", 0.005)] {
            assert_eq!(rate(text), Ok(value), "{text}");
        }
        for text in ["0", "1", "-0.1", "nan", "inf", "", "%", "0%", "100%", "nan%", "inf%", "1%%", "1e2147483647%"] {
            assert!(rate(text).is_err(), "{text}");
        }
        for text in ["0", "-1", "nan", "inf", "x"] {
            assert!(bits_per_key(text).is_err(), "{text}");
        }
        assert_eq!(seed("0xff"), Ok(255));
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
        for text in ["0x", "0x+1", "-1", "1k"] {
            assert!(seed(text).is_err(), "{text}");
        }
        assert!(positive("0").is_err());
    }

    #[test]
    fn short_numbers_have_four_digits() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (0.009_870_6, "0.009871"),
            (12.345, "12.35"),
            (123_456.7, "123457"),
            (-0.5, "-0.5000"),
            (1.5e-9, "1.500e-9"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }
}
