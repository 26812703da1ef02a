//! The input is a command line, an argument a line: whatever it is, it is parsed or refused with a message. Each
//! argument is also read as every sort of number that options take, and means what a simpler reading of it says.
//! `petal plan`, which reads and writes no file, is run too.

#![no_main]

use clap::Parser;
use libfuzzer_sys::fuzz_target;
use petal::registry::FILTERS;
use petal_cli::args::{Build, Cli, Command, Plan};
use petal_cli::numbers;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

fuzz_target!(|bytes: &[u8]| {
    let arguments: Vec<OsString> = std::iter::once(&b"petal"[..])
        .chain(bytes.split(|byte| *byte == b'\n'))
        .map(|argument| OsString::from_vec(argument.to_vec()))
        .collect();
    match Cli::try_parse_from(&arguments) {
        Ok(Cli { command: Command::Build(build), .. }) => bounded(&build),
        Ok(Cli { command: Command::Plan(plan), .. }) => {
            possible(&plan);
            assert!(petal_cli::run(arguments.clone()) <= 1, "what was parsed is refused");
        }
        Ok(_) => {}
        Err(error) => assert!(!error.render().to_string().is_empty()),
    }
    arguments.iter().filter_map(|argument| argument.to_str()).for_each(read);
});

/// No option has a value outside its bounds, and no two options exclude each other.
fn bounded(build: &Build) {
    let Build { fpr, bits_per_key, bits, hashes, capacity, .. } = build;
    assert!([fpr.is_some(), bits_per_key.is_some(), bits.is_some()].iter().filter(|given| **given).count() <= 1);
    assert!(fpr.is_none_or(|rate| rate > 0.0 && rate < 1.0));
    assert!(bits_per_key.is_none_or(|bits| bits > 0.0 && bits.is_finite()));
    assert!(*bits != Some(0) && *hashes != Some(0) && *capacity != Some(0));
    assert!(hashes.is_none() || bits.is_some());
}

fn possible(plan: &Plan) {
    assert!(plan.keys != Some(0) && !(plan.fpr.is_some() && plan.memory.is_some()) && plan.memory != Some(0));
}

/// Reads a text as every sort of number.
fn read(text: &str) {
    let whole = numbers::whole(text);
    if let Some(expected) = simply(text) {
        assert_eq!(whole.as_ref().ok().copied(), expected, "{text}");
    }
    let without_unit = numbers::whole(text.strip_suffix('B').unwrap_or(text)).ok();
    assert_eq!(numbers::bytes(text).ok(), without_unit);
    assert_eq!(numbers::positive(text).ok(), whole.ok().filter(|number| *number > 0));
    if let Ok(rate) = numbers::rate(text) {
        let (number, most) = text.strip_suffix('%').map_or((text, 1.0), |percents| (percents.trim_end(), 100.0));
        assert!(rate > 0.0 && rate < 1.0 && number.parse::<f64>().is_ok_and(|number| number > 0.0 && number <= most));
    }
    for (number, most) in
        [(numbers::threads(text), 1024), (numbers::shards(text), 65_536), (numbers::few(text), u32::MAX)]
    {
        assert!(number.is_err() || number.is_ok_and(|number| (1..=most).contains(&number)));
    }
    assert!(numbers::bits_per_key(text).is_err() || text.parse::<f64>().is_ok_and(|bits| bits > 0.0));
    if let Ok(seed) = numbers::seed(text) {
        assert_eq!(numbers::seed(&format!("{seed:#x}")), Ok(seed));
        assert_eq!(numbers::seed(&seed.to_string()), Ok(seed));
    }
    for parameter in FILTERS.iter().flat_map(|row| row.parameters) {
        if let Ok(value) = parameter.parse(text) {
            assert!(parameter.check(value).is_ok_and(|checked| checked == value));
        }
    }
    if let Ok(number) = text.parse::<f64>() {
        assert!(!numbers::short(number).is_empty());
    }
}

/// The whole number that a text means; `None` where that is beyond this reading.
fn simply(text: &str) -> Option<Option<u64>> {
    // A power of ten is a row of zeros.
    if let Some((number, exponent)) = text.split_once(['e', 'E']).filter(|(_, digits)| digits.parse::<u64>().is_ok()) {
        let zeros = exponent.parse::<usize>().ok().filter(|zeros| *zeros <= 18)?;
        let whole = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
        return if whole { simply(&format!("{number}{}", "0".repeat(zeros))) } else { None };
    }
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let factor: u128 = match &text[digits.len()..] {
        "" => 1,
        "k" | "K" => 1000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        "Ki" | "ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        _ => return None,
    };
    let all_digits = |text: &str| text.chars().all(|letter| letter.is_ascii_digit());
    let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if !all_digits(integer) || !all_digits(fraction) || (integer.is_empty() && fraction.is_empty()) {
        return Some(None);
    }
    if integer.len() + fraction.len() > 18 {
        return None;
    }
    let scaled = format!("{integer}{fraction}").parse::<u128>().ok()? * factor;
    let scale = 10_u128.pow(fraction.len() as u32);
    Some(if scaled.is_multiple_of(scale) { u64::try_from(scaled / scale).ok() } else { None })
}
