//! Filters in the formats of other systems, compared with filters that these systems wrote (`tests/formats`).

use petal::interop::{self, Format, ImportOptions};
use petal::{Answers, Filter, HashFunction, Image, Keys, OpenOptions, Spec, Status};
use std::path::{Path, PathBuf};

/// A filter that the system which owns the format wrote.
struct Vector {
    name: String,
    format: &'static Format,
    bytes: Vec<u8>,
    options: ImportOptions,
    keys: Vec<String>,
    /// The number of absent keys that the owner finds, if it was asked.
    positives: Option<u64>,
    /// The parameters with which the owner made the filter: capacity, rate, variant, seed.
    made: Option<(u64, f64, Option<String>, u64)>,
}

const ABSENT: u64 = 10_000;

fn vectors() -> Vec<Vector> {
    let folder = std::env::var_os("PETAL_FORMATS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("formats"), PathBuf::from);
    // `tests/interop` has the owners write other filters into another folder.
    let list = std::fs::read_to_string(folder.join("vectors.txt")).expect("the list of vectors");
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| vector(&folder, line)).collect()
}

/// The filters that their owners wrote, with their names.
pub fn filters() -> Vec<(String, Filter)> {
    vectors().into_iter().map(|vector| (vector.name.clone(), vector.filter())).collect()
}

fn vector(folder: &Path, line: &str) -> Vector {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let mut options = ImportOptions::default();
    if let Some(said) = words.last().and_then(|word| word.strip_prefix("options=")) {
        let numbers: Vec<u64> = said.split(':').map(|number| number.parse().expect("a number")).collect();
        options = ImportOptions { bits: numbers[0], hashes: numbers[1] as u32, seed: numbers[2], ..options };
        words.pop();
    }
    if let Some(key) = words.last().and_then(|word| word.strip_prefix("key=")) {
        options.secret = Some(key.as_bytes().try_into().expect("16 letters"));
        words.pop();
    }
    let made = (words.len() > 4).then(|| {
        let variant = (words[6] != "-").then(|| words[6].to_string());
        (words[4].parse().unwrap(), words[5].parse().unwrap(), variant, words[7].parse().unwrap())
    });
    Vector {
        name: words[1].to_string(),
        format: interop::find(words[0]).expect("a format"),
        bytes: std::fs::read(folder.join(words[1])).expect(words[1]),
        options,
        keys: match words[2].parse() {
            Ok(count) => texts("key", count),
            Err(_) => {
                let lines = std::fs::read_to_string(folder.join(words[2])).expect(line);
                lines.lines().map(String::from).collect()
            }
        },
        positives: (words[3] != "-").then(|| words[3].parse().expect(line)),
        made,
    }
}

impl Vector {
    fn filter(&self) -> Filter {
        self.format.import(&self.bytes, &self.options).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

fn texts(prefix: &str, count: u64) -> Vec<String> {
    (0..count).map(|i| format!("{prefix}-{i}")).collect()
}

/// Texts as one buffer with offsets.
fn joined(texts: &[String]) -> (Vec<u8>, Vec<u64>) {
    let ends = texts.iter().scan(0, |end, text| {
        *end += text.len() as u64;
        Some(*end)
    });
    (texts.concat().into_bytes(), std::iter::once(0).chain(ends).collect())
}

fn exported(filter: &Filter, format: &Format, variant: Option<&str>) -> petal::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    format.export(filter, variant, &mut |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    })?;
    Ok(bytes)
}

/// The number that stands for a text in filters of numbers. For `golden-i` the number is i + 1 times 2^64 over the
/// golden ratio. For other texts it is the FNV-1a hash after the finaliser of MurmurHash3.
fn number(text: &str) -> u64 {
    if let Some(i) = text.strip_prefix("golden-").and_then(|i| i.parse::<u64>().ok()) {
        return (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let mut x = text.bytes().fold(0xcbf2_9ce4_8422_2325, fnv);
    x = (x ^ x >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x = (x ^ x >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ x >> 33
}

/// The number of keys that lookups find. Single lookups and a batch have to agree.
fn found(filter: &Filter, texts: &[String]) -> u64 {
    let (bytes, offsets) = joined(texts);
    let mut each = vec![0; texts.len()];
    let mut bitmap = vec![0xaa; texts.len().div_ceil(8)];
    let mut answers = Answers { bytes: Some(&mut each), bitmap: Some(&mut bitmap), ..Answers::default() };
    let takes_hashes = filter.base().hasher().function() == HashFunction::External;
    let numbers: Vec<u64> = texts.iter().map(|text| number(text)).collect();
    let keys = if takes_hashes { Keys::Hashes(&numbers) } else { Keys::Bytes { bytes: &bytes, offsets: &offsets } };
    filter.contains_batch(&keys, &mut answers).unwrap();
    let count = answers.true_count;
    assert_eq!(answers.done, texts.len());
    for (i, (text, answer)) in texts.iter().zip(&each).enumerate() {
        let one = if takes_hashes { filter.contains_hash(numbers[i]) } else { filter.contains(text.as_bytes()) };
        assert_eq!(one, *answer == 1, "{text}");
        assert_eq!(bitmap[i / 8] >> (i % 8) & 1, *answer);
    }
    assert_eq!(count, each.iter().map(|answer| u64::from(*answer)).sum::<u64>());
    count
}

/// Every format has a vector. A format that can be written has a vector with the parameters to make it again.
#[test]
fn every_format_has_vectors() {
    let vectors = vectors();
    for format in interop::FORMATS {
        let own = || vectors.iter().filter(|vector| vector.format.name == format.name);
        assert!(own().count() > 0, "{} has no vector", format.name);
        assert!(format.spec.is_none() || own().any(|vector| vector.made.is_some()), "{} is never made", format.name);
    }
    assert!(interop::FORMATS.is_sorted_by_key(|format| format.name));
}

/// Lookups find exactly the keys that the owner finds. An exported filter has the bytes of the imported one.
#[test]
fn filters_of_other_systems_are_read_and_written() {
    for vector in vectors() {
        let filter = vector.filter();
        let (name, format) = (&vector.name, vector.format);
        assert_eq!(found(&filter, &vector.keys), vector.keys.len() as u64, "{name}");
        let positives = found(&filter, &texts("absent", ABSENT));
        assert!(vector.positives.is_none_or(|expected| expected == positives), "{name}: {positives}");
        if format.export.is_some() {
            assert!(exported(&filter, format, None).unwrap() == vector.bytes, "{name} goes out as other bytes");
        }
        if let Some(recognise) = format.recognise {
            assert!(recognise(&vector.bytes), "{name} is not recognised");
            let by_all = interop::recognise(&vector.bytes).expect(name);
            assert_eq!(by_all.name, format.name, "{name}");
        }
    }
}

/// From the parameters and the keys alone the filter gets the owner's size and bits, with single insertions and with a
/// batch.
#[test]
fn filters_are_made_as_their_owners_make_them() {
    for vector in vectors() {
        let Some((capacity, rate, variant, seed)) = &vector.made else { continue };
        let spec = vector.format.spec(*capacity, *rate, variant.as_deref(), *seed).unwrap();
        let spec = Spec { secret: vector.options.secret, ..spec };
        let (bytes, offsets) = joined(&vector.keys);
        let batch = Keys::Bytes { bytes: &bytes, offsets: &offsets };
        let filter = if petal::row_of(&spec).unwrap().is_made_empty() {
            let mut filter = petal::Filter::new(&spec).unwrap();
            let mut batched = filter.copy().unwrap();
            for key in &vector.keys {
                filter.insert(key.as_bytes()).unwrap();
            }
            batched.insert_batch(&batch, None).outcome.unwrap();
            assert!(filter.equals(&batched), "{}", vector.name);
            filter
        } else {
            let mut builder = petal::Builder::new(&spec, petal::BuilderOptions::default()).unwrap();
            builder.add_batch(&batch).outcome.unwrap();
            builder.finish().unwrap()
        };
        let bytes = exported(&filter, vector.format, variant.as_deref()).unwrap();
        assert!(bytes == vector.bytes, "{} is made of other bytes", vector.name);
    }
}

/// An imported filter is saved as an image, opened, merged, cleared and estimated like any other.
#[test]
fn imported_filters_are_filters() {
    for vector in vectors() {
        let filter = vector.filter();
        let mut image = Vec::new();
        filter
            .serialize_to(&mut |piece| {
                image.extend_from_slice(piece);
                Ok(())
            })
            .unwrap();
        let options = OpenOptions { secret: vector.options.secret, ..OpenOptions::default() };
        let mut again = petal::load(&image, &options).unwrap();
        assert!(again.equals(&filter));
        if vector.format.export.is_some() {
            assert!(exported(&again, vector.format, None).unwrap() == vector.bytes, "{}: by an image", vector.name);
        }
        let measure = filter.statistics();
        let band = 4.5 * (ABSENT as f64 * measure.false_positive_rate).sqrt() + 4.5;
        let expected = ABSENT as f64 * measure.false_positive_rate;
        let positives = found(&filter, &texts("absent", ABSENT));
        // In arrays of less than 1000 bits a few keys decide, and the bits of these keys are not independent.
        assert!(
            filter.base().geometry().bits < 1000 || (positives as f64 - expected).abs() <= band,
            "{}: {expected}",
            vector.name
        );
        let can = |capability| filter.capabilities().contains(capability);
        if can(petal::Capabilities::ESTIMATE) && !vector.keys.is_empty() {
            let cardinality = filter.cardinality().unwrap();
            let keys = vector.keys.len() as f64;
            assert!((cardinality - keys).abs() <= 0.3 * keys + 1.0, "{}: {cardinality}", vector.name);
        }
        if can(petal::Capabilities::MERGE) {
            again.merge(&filter).unwrap();
            assert_eq!(again.statistics().taken, filter.statistics().taken);
        }
        if can(petal::Capabilities::CLEAR) {
            again.clear().unwrap();
            assert_eq!(again.statistics().taken, 0);
            again.merge(&filter).unwrap();
            assert_eq!(found(&again, &vector.keys), vector.keys.len() as u64);
        }
    }
}

/// Shortened bytes and changed bytes are refused or are those of another filter. No call panics.
#[test]
fn damaged_bytes_do_no_harm() {
    for vector in vectors() {
        let import = |bytes: &[u8]| vector.format.import(bytes, &vector.options);
        let head = vector.bytes.len().min(80);
        let lengths = (0..head).chain((head..vector.bytes.len()).step_by(61));
        for length in lengths {
            if let Ok(filter) = import(&vector.bytes[..length]) {
                found(&filter, &texts("key", 20));
            }
        }
        for at in (0..head).chain(vector.bytes.len().saturating_sub(40)..vector.bytes.len()) {
            for change in [0x01, 0x80, 0xff] {
                let mut bytes = vector.bytes.clone();
                bytes[at] ^= change;
                if let Ok(mut filter) = import(&bytes) {
                    found(&filter, &texts("key", 20));
                    filter.statistics();
                    // Whether the filter takes another key depends on its kind.
                    let _ = filter.insert(b"one more");
                }
            }
        }
    }
}

/// Filters that hash keys themselves cannot use hashes. Lookups say maybe, and all other calls are refused and change
/// nothing.
#[test]
fn filters_that_take_keys_whole_refuse_hashes() {
    for vector in vectors() {
        let mut filter = vector.filter();
        if !filter.base().row().hashing.hashes_keys_itself {
            continue;
        }
        assert!(filter.contains_hash(7));
        let mut answers = Answers::default();
        let refused = filter.contains_batch(&Keys::Hashes(&[1, 2, 3]), &mut answers).unwrap_err();
        assert_eq!((refused.status(), answers.true_count), (Status::Unsupported, 3));
        if filter.capabilities().contains(petal::Capabilities::INSERT) {
            assert_eq!(filter.insert_hash(7).unwrap_err().status(), Status::Unsupported);
            assert!(filter.insert_batch(&Keys::Hashes(&[1]), None).outcome.is_err());
            assert!(filter.insert_shared(b"key").is_err());
            // A number is a key of eight bytes.
            match filter.insert_u64(77) {
                Ok(_) => assert!(filter.contains(&77_u64.to_le_bytes()) && filter.contains_u64(77)),
                Err(error) => assert_eq!(error.status(), Status::Full),
            }
        }
        assert!(petal::Builder::new(&filter.base().spec(), petal::BuilderOptions::default()).is_err());
    }
}

/// A header of 24 bytes does not allocate gigabytes, unless the options allow that many bits.
#[test]
fn an_empty_filter_does_not_ask_for_memory() {
    let format = interop::find("datasketches").unwrap();
    let mut bytes = [3, 1, 21, 4, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0];
    let refused = format.import(&bytes, &ImportOptions::default()).err().unwrap();
    assert_eq!(refused.status(), Status::TooLarge, "{refused}");
    bytes[16..20].copy_from_slice(&(1_u32 << 22).to_le_bytes());
    assert!(format.import(&bytes, &ImportOptions::default()).is_err());
    let options = ImportOptions { bits: 1 << 28, ..ImportOptions::default() };
    assert_eq!(format.import(&bytes, &options).unwrap().base().geometry().bits, 1 << 28);
    assert!(format.import(&bytes, &ImportOptions { bits: 64, ..options }).is_err());
}

/// A filter that has no form in a format is refused with a clear message.
#[test]
fn what_has_no_form_in_a_format_is_refused() {
    let ours = petal::Filter::new(&Spec::with_capacity(100, 0.01).unwrap()).unwrap();
    for format in interop::FORMATS {
        let refused = exported(&ours, format, None);
        // No format has a form for the filter of the default kind.
        assert!(refused.is_err(), "{}", format.name);
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("has no form") || message.contains("only read"), "{message}");
        assert!(format.spec(100, 0.01, Some("no such variant"), 0).is_err());
        assert!(format.spec(100, 1.5, None, 0).is_err());
        // A rate next to 1 and a capacity past all bounds are refused or taken, whatever the format computes with them.
        for (capacity, rate) in [(100, 1.0_f64.next_down()), (1 << 60, 0.5), (1 << 60, 1e-9), (1, f64::MIN_POSITIVE)] {
            let made = format.spec(capacity, rate, None, 0).and_then(|spec| petal::geometry(&spec));
            assert!(made.err().is_none_or(|error| error.status() != Status::Internal), "{}", format.name);
        }
    }
    assert_eq!(interop::find("no such format").err().unwrap().status(), Status::UnknownValue);
}

/// A digest whose capacity no Squid writes has no form, however great the capacity is.
#[test]
fn squid_has_no_capacity_past_its_field() {
    let format = interop::find("squid").unwrap();
    assert_eq!(format.spec(80, 1.0_f64.next_down(), None, 0).unwrap().bits, 80);
    let spec = Spec { capacity: 1 << 60, ..format.spec(12, 0.1, None, 0).unwrap() };
    let error = exported(&petal::Filter::new(&spec).unwrap(), format, None).unwrap_err();
    assert_eq!(error.status(), Status::Unsupported);
}

/// Filters of RocksDB have the promised rate, and the rate that their bits give. The keys are the same in every run.
#[test]
fn filters_of_rocksdb_keep_their_rate() {
    let format = interop::find("rocksdb").unwrap();
    let mut filter = petal::Filter::new(&format.spec(20_000, 0.01, None, 0).unwrap()).unwrap();
    (0..20_000).for_each(|key| assert!(filter.insert_u64(key).is_ok()));
    let legacy = vectors().into_iter().find(|vector| vector.name.ends_with("legacy-10-1000.bin")).unwrap().filter();
    for (filter, keys) in [(filter, 20_000), (legacy, 1000)] {
        const ASKED: u64 = 1_000_000;
        let found = (0..ASKED).filter(|key| filter.contains_u64(key + (1 << 40))).count() as f64;
        let (now, promised) =
            (filter.false_positive_rate(), (filter.base().row().false_positive_rate)(filter.base().geometry(), keys));
        let expected = ASKED as f64 * now;
        assert!((found - expected).abs() < 4.5 * expected.sqrt() + 0.02 * expected, "{found} of {expected}");
        assert!((now / promised - 1.0).abs() < 0.15, "{now} and {promised}");
    }
}

/// blobloom has no upper bound of k. Petal reads its filters up to the bound of Petal, and a refusal names the k that
/// is past the bound.
#[test]
fn blobloom_of_many_hashes() {
    const BLOCKS: u32 = 40;
    const KEYS: u64 = 120;
    let format = interop::find("blobloom").unwrap();
    let made = |k: u32| {
        let mut blocks = vec![0_u8; 64 * BLOCKS as usize];
        for key in 0..KEYS {
            let hash = crate::common::mix(key);
            let (mut place, mut step) = ((hash >> 32) as u32, hash as u32);
            let block = ((u64::from(step) * u64::from(BLOCKS)) >> 32) as usize;
            for i in 1..k {
                place = place.wrapping_add(step);
                step = step.wrapping_add(i);
                blocks[64 * block + (place / 8) as usize % 64] |= 1 << (place % 8);
            }
        }
        let header = [0, BLOCKS - 1, k].map(u32::to_le_bytes).concat();
        let bytes = [b"blobloom", &header[..], &[0; 44], &blocks].concat();
        format.import(&bytes, &ImportOptions::default())
    };
    let mut previous = (0.0, 0.0);
    for k in [2, 7, 100, 160, 163, 164, 165, 200, 255, 256] {
        let filter = made(k).unwrap();
        assert!((0..KEYS).all(|key| filter.contains_hash(crate::common::mix(key))), "k = {k}");
        let asked = 20_000;
        let found = (0..asked).filter(|i| filter.contains_hash(crate::common::mix(1 << 40 | i))).count() as f64;
        let (said, expected) = (filter.false_positive_rate(), filter.expected_false_positive_rate(KEYS));
        println!("k = {k}: {said} said, {} measured, {expected} expected", found / asked as f64);
        // The second term is for the chance in which of a few blocks 120 keys lie, and for bits of a key that are not
        // independent.
        let band = 4.5 * (asked as f64 * said * (1.0 - said)).sqrt() + 0.02 * asked as f64;
        assert!((found - asked as f64 * said).abs() < band, "k = {k}: {found} of {asked} and {said}");
        assert!((0.0..=1.0).contains(&expected) && (expected - said).abs() < 0.12, "k = {k}: {expected} and {said}");
        previous = (said, expected);
    }
    assert!(previous.0 > 0.0 && previous.1 > 0.0);
    for k in [0, 257, 1000, u32::MAX] {
        // The test sets no bits here, because a loop over that many would not end.
        let bytes = [b"blobloom", &[0, 0, k].map(u32::to_le_bytes).concat()[..], &[0; 44], &[0; 64]].concat();
        let error = format.import(&bytes, &ImportOptions::default()).unwrap_err();
        assert!(error.message().contains(&format!("k = {k}")), "{error}");
    }
}
