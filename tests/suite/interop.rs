//! Filters in the formats of other systems, compared with filters that these systems wrote (`tests/formats`).

use petal::format::Geometry;
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
        // In arrays of less than 1000 bits a few keys decide, and the bits of these keys are not independent. Nor are
        // those of a key in the links of a chain.
        let Geometry { bits, words, .. } = *filter.base().geometry();
        let is_chain = filter.base().row().name == "foreign_scalable";
        let array = if is_chain { words[4] } else { bits };
        assert!(array < 1000 || (positives as f64 - expected).abs() <= band, "{}: {expected}", vector.name);
        let can = |capability| filter.capabilities().contains(capability);
        if can(petal::Capabilities::ESTIMATE) && !vector.keys.is_empty() {
            let cardinality = filter.cardinality().unwrap();
            let keys = vector.keys.len() as f64;
            let share = if array < 1000 { 0.4 } else { 0.3 };
            assert!((cardinality - keys).abs() <= share * keys + 1.0, "{}: {cardinality}", vector.name);
        }
        if can(petal::Capabilities::MERGE) {
            again.merge(&filter).unwrap();
            assert_eq!(again.statistics().taken, filter.statistics().taken);
        }
        if can(petal::Capabilities::CLEAR) {
            again.clear().unwrap();
            assert_eq!(again.statistics().taken, 0);
            if can(petal::Capabilities::MERGE) {
                again.merge(&filter).unwrap();
                assert_eq!(found(&again, &vector.keys), vector.keys.len() as u64);
            }
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
        if !filter.base().hasher().takes_whole() {
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

/// Numbers in a batch are the keys that they are alone, and that their eight little-endian bytes are.
#[test]
fn numbers_in_a_batch_are_numbers_alone() {
    let numbers: Vec<u64> = (0..ABSENT).map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let offsets: Vec<u64> = (0..=ABSENT).map(|i| 8 * i).collect();
    let narrow: Vec<i32> = offsets.iter().map(|offset| *offset as i32).collect();
    let mut inserted = 0;
    for vector in vectors() {
        let mut filter = vector.filter();
        let hasher = filter.base().hasher();
        if !hasher.takes_whole() || hasher.function() == HashFunction::Digest {
            continue;
        }
        if filter.capabilities().contains(petal::Capabilities::INSERT) {
            let mut alone = vector.filter();
            let some = &numbers[..vector.keys.len().clamp(1, 100)];
            let taken = filter.insert_batch(&Keys::U64(some), None).keys;
            some[..taken].iter().for_each(|number| assert!(alone.insert_u64(*number).is_ok(), "{}", vector.name));
            assert!(filter.equals(&alone), "{}", vector.name);
            inserted += taken;
        }
        let forms = [
            Keys::U64(&numbers),
            Keys::Bytes { bytes: &bytes, offsets: &offsets },
            Keys::Bytes32 { bytes: &bytes, offsets: &narrow },
        ];
        for keys in forms {
            let mut each = vec![0; numbers.len()];
            let mut answers = Answers { bytes: Some(&mut each), ..Answers::default() };
            filter.contains_batch(&keys, &mut answers).unwrap();
            for (number, answer) in numbers.iter().zip(&each) {
                assert_eq!(filter.contains_u64(*number), *answer == 1, "{}: {number}", vector.name);
            }
        }
    }
    assert!(inserted > 1000);
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
    for k in [2, 7, 100, 160, 163, 164, 165, 200, 255, 256, 257, 1000, 65_535] {
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
        // A block with a key is taken as full where k is greater.
        let off = expected - said;
        assert!(off > -0.12 && (off < 0.12 || k > 257) && expected <= 1.0, "k = {k}: {expected} and {said}");
        previous = (said, expected);
    }
    assert!(previous.0 > 0.0 && previous.1 > 0.0);
    for k in [0, 65_536, u32::MAX] {
        // The test sets no bits here, because a loop over that many would not end.
        let bytes = [b"blobloom", &[0, 0, k].map(u32::to_le_bytes).concat()[..], &[0; 44], &[0; 64]].concat();
        let error = format.import(&bytes, &ImportOptions::default()).unwrap_err();
        assert!(error.message().contains(&format!("k = {k}")), "{error}");
    }
}

/// Where a format writes k in more than a byte, filters with more than 255 hash functions are made, answer, and go out
/// and in again. A k that has no place in a format, or is past its bound, is refused.
#[test]
fn more_hash_functions_than_a_byte_counts() {
    for format in interop::FORMATS {
        let Ok(spec) = format.spec(1000, 0.01, None, 0) else { continue };
        let most = match format.name {
            "bip37" | "leveldb" | "squid" | "rocksdb" | "parquet" => continue,
            "guava" | "libbloom" | "libbloom_1" => 255,
            "bits_and_blooms" | "cassandra" | "cassandra_3" | "datasketches" | "dcso" | "hbase" => 65_535,
            "orc_number" | "orc_text" | "spark" => 65_535,
            _ if spec.kind != Some(petal::kinds::foreign_bloom::ROW.kind) => continue,
            name => panic!("{name}: how many hash functions may its filters have?"),
        };
        for hashes in [254, 255, 256, 257, 693, 65_535, 65_536, u32::MAX] {
            let made = petal::Filter::new(&Spec { bits: 64_000, hashes, ..spec });
            let bytes = made.and_then(|mut filter| {
                filter.insert(b"12345678")?;
                Ok((exported(&filter, format, None)?, filter))
            });
            assert_eq!(bytes.is_ok(), hashes <= most, "{} with {hashes}: {:?}", format.name, bytes.err());
            let Ok((bytes, _)) = bytes else { continue };
            let options = match format.name {
                "libbloom_1" => ImportOptions { bits: 64_000, hashes, ..ImportOptions::default() },
                _ => ImportOptions::default(),
            };
            let again = format.import(&bytes, &options).unwrap();
            assert!(again.contains(b"12345678"), "{} with {hashes}", format.name);
            assert_eq!(again.base().geometry().hashes, hashes, "{}", format.name);
            assert!(exported(&again, format, None).unwrap() == bytes, "{} with {hashes}", format.name);
        }
    }
    // Spark sizes the filter itself: create(1000, 1000000) has 693 hash functions. An array may have one for each bit.
    let spark = interop::find("spark").unwrap();
    let bytes = |hashes: u32, words: u32| {
        let head = [1_u32, hashes, words].map(u32::to_be_bytes).concat();
        [&head[..], &vec![0xff; 8 * words as usize]].concat()
    };
    for (hashes, words, is_read) in [
        (693, 15_625, true),
        (65_535, 1, true),
        (65_536, 1, false),
        (1 << 20, 1 << 14, true),
        ((1 << 20) + 1, 1 << 14, false),
        (i32::MAX as u32, 1 << 14, false),
    ] {
        let read = spark.import(&bytes(hashes, words), &ImportOptions::default());
        assert_eq!(read.is_ok(), is_read, "{hashes} in {words} words");
        if let Ok(filter) = read {
            assert!(filter.contains(b"any") && filter.false_positive_rate() == 1.0);
            assert!(filter.expected_false_positive_rate(5) <= 1.0);
        }
    }
}

/// A chain of RedisBloom's whose links have more than 255 hash functions grows as its owner's does, and so do others.
#[test]
fn chains_grow_past_a_byte_of_hash_functions() {
    let vector = vectors().into_iter().find(|vector| vector.name.ends_with("links-258.bin")).unwrap();
    let owners = vector.filter();
    // Its owner made it of these keys, one after the other, from the first link on.
    let mut empty = [&vector.bytes[..73], &[0; 8]].concat();
    empty[8] = 1;
    [0..8, 9..12, 36..44].into_iter().for_each(|zeros| empty[zeros].fill(0));
    let mut grown = vector.format.import(&empty, &ImportOptions::default()).unwrap();
    let (bytes, offsets) = joined(&vector.keys);
    let mut batched = grown.copy().unwrap();
    vector.keys.iter().for_each(|key| assert!(grown.insert(key).is_ok()));
    batched.insert_batch(&Keys::Bytes { bytes: &bytes, offsets: &offsets }, None).outcome.unwrap();
    for filter in [grown, batched] {
        assert!(exported(&filter, vector.format, None).unwrap() == vector.bytes);
        assert_eq!(found(&filter, &texts("absent", ABSENT)), found(&owners, &texts("absent", ABSENT)));
    }
}

/// RedisBloom's cuckoo filters change as their owner changes them: tables are added and compacted, and the bytes are
/// the owner's.
#[test]
fn cuckoo_filters_of_redisbloom_change() {
    let vectors = vectors();
    let vector = |name: &str| vectors.iter().find(|vector| vector.name.ends_with(name)).unwrap();
    let (full, deleted) = (vector("redisbloom_cuckoo/16-300.bin"), vector("16-300-deleted.bin"));
    // An empty first table, of eight buckets of three slots.
    let mut head = [&full.bytes[..38], &[0; 24]].concat();
    [0..8, 16..24].into_iter().for_each(|zeros| head[zeros].fill(0));
    head[24] = 1;
    let empty = full.format.import(&head, &ImportOptions::default()).unwrap();
    let (bytes, offsets) = joined(&full.keys);
    let keys = Keys::Bytes { bytes: &bytes, offsets: &offsets };
    let mut filter = empty.copy().unwrap();
    let mut batched = empty.copy().unwrap();
    full.keys.iter().for_each(|key| assert!(filter.insert(key).is_ok()));
    batched.insert_batch(&keys, None).outcome.unwrap();
    for filter in [&filter, &batched] {
        assert!(exported(filter, full.format, None).unwrap() == full.bytes);
        assert_eq!(filter.base().count(), 300);
    }
    // An image of it changes alike.
    let mut image = Vec::new();
    filter.serialize_to(&mut |piece| (image.extend_from_slice(piece), Ok(())).1).unwrap();
    let mut again = petal::load(&image, &OpenOptions::default()).unwrap();
    for key in &full.keys[100..] {
        assert!(filter.remove(key).unwrap() && again.remove(key).unwrap());
    }
    let (bytes, offsets) = joined(&full.keys[100..]);
    let gone = Keys::Bytes { bytes: &bytes, offsets: &offsets };
    batched.remove_batch(&gone, None).outcome.unwrap();
    for filter in [&filter, &batched, &again] {
        assert!(exported(filter, full.format, None).unwrap() == deleted.bytes);
        assert_eq!(found(filter, &deleted.keys), 100);
        assert_eq!(filter.base().count(), 100);
    }
    // Copies count, and are removed one by one. Hashes are the owner's, MurmurHash64A with the seed 0.
    let before = filter.count("twice").unwrap();
    assert_eq!(filter.insert_times("twice", 3).unwrap(), before == 0);
    assert!(filter.count("twice").unwrap() >= before + 3 && filter.contains("twice"));
    assert_eq!(filter.remove_times("twice", 3).unwrap(), 3);
    assert_eq!(filter.count("twice").unwrap(), before);
    assert_eq!(filter.base().count(), 100);
    filter.clear().unwrap();
    assert!(filter.base().count() == 0 && !filter.contains("key-0") && !filter.remove("key-0").unwrap());
    // One without an expansion is full when its kicks do not help, and keeps what it has.
    let mut fixed = head.clone();
    fixed[36..38].fill(0);
    let mut fixed = full.format.import(&fixed, &ImportOptions::default()).unwrap();
    let taken = full.keys.iter().take_while(|key| fixed.insert(key).is_ok()).count();
    assert!((8..=24).contains(&taken), "{taken} keys");
    let kept = exported(&fixed, full.format, None).unwrap();
    let error = fixed.insert(&full.keys[taken]).unwrap_err();
    assert_eq!(error.status(), Status::Full, "{error}");
    assert_eq!(fixed.insert_times("many", 30).unwrap_err().status(), Status::Full);
    assert!(exported(&fixed, full.format, None).unwrap() == kept && found(&fixed, &full.keys[..taken]) == taken as u64);
}

/// The hashes of LevelDB, and of RocksDB before format version 5, have 32 bits. Of two million random keys of eight
/// bytes that is most of the rate of LevelDB's filter with 25 bits for a key. One probe of LevelDB's goes to few
/// places, which costs more with 10 bits. Statistics say both.
#[test]
fn rates_have_the_collisions_of_narrow_hashes() {
    const ASKED: u64 = 2_000_000;
    let leveldb = |bytes: usize, hashes: u8| [vec![0; bytes], vec![hashes]].concat();
    let lines = 97_657_u32;
    let rocksdb = [vec![0; 64 * lines as usize], vec![17], lines.to_le_bytes().to_vec()].concat();
    for (format, empty, keys, tolerance) in [
        ("leveldb", leveldb(6_250_000, 17), 2_000_000, 0.0),
        // The probes of a key depend on each other in more ways than the expected rate knows: 17 % are missing.
        ("leveldb", leveldb(375_001, 6), 300_000, 0.2),
        // A line has 2^9 bits, and steps that are even go round in half of them or less.
        ("rocksdb", rocksdb, 2_000_000, 0.1),
    ] {
        let mut filter = interop::find(format).unwrap().import(&empty, &ImportOptions::default()).unwrap();
        let inserted: Vec<u64> = (0..keys).map(crate::common::mix).collect();
        filter.insert_batch(&Keys::U64(&inserted), None).outcome.unwrap();
        let absent: Vec<u64> = (0..ASKED).map(|i| crate::common::mix(i + (1 << 40))).collect();
        let mut answers = Answers::default();
        filter.contains_batch(&Keys::U64(&absent), &mut answers).unwrap();
        let found = answers.true_count as f64;
        let (now, expected) = (filter.false_positive_rate(), filter.expected_false_positive_rate(keys));
        println!("{format} {keys}: {} measured, {now} now, {expected} expected", found / ASKED as f64);
        for said in [now, expected].map(|rate| rate * ASKED as f64) {
            assert!((found - said).abs() < 4.5 * said.sqrt() + tolerance * said, "{format}: {found} and {said}");
        }
        assert!(found < 10_000.0 || (found / ASKED as f64 / now - 1.0).abs() < 0.08, "{format}: {now} now");
        let estimate = filter.cardinality().unwrap();
        assert!((estimate / keys as f64 - 1.0).abs() < 0.02, "{format}: {estimate} keys");
    }
}

/// Places in a block of blobloom's come from 18 bits of a hash. With 20 bits for a key those collide as often as all
/// places of a key are set.
#[test]
fn rates_of_blobloom_have_the_collisions_of_its_places() {
    const BLOCKS: u32 = 2000;
    const KEYS: u64 = 50_000;
    const ASKED: u64 = 2_000_000;
    for k in [4, 9, 15] {
        let mut blocks = vec![0_u8; 64 * BLOCKS as usize];
        for hash in (0..KEYS).map(crate::common::mix) {
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
        let filter = interop::find("blobloom").unwrap().import(&bytes, &ImportOptions::default()).unwrap();
        let found = (0..ASKED).filter(|i| filter.contains_hash(crate::common::mix(1 << 40 | i))).count() as f64;
        let (now, expected) = (filter.false_positive_rate(), filter.expected_false_positive_rate(KEYS));
        println!("k = {k}: {} measured, {now} now, {expected} expected", found / ASKED as f64);
        for said in [now, expected].map(|rate| rate * ASKED as f64) {
            // The formulas are within 5 % where the number of bits has small factors.
            assert!((found - said).abs() < 4.5 * said.sqrt() + 0.05 * said, "k = {k}: {found} and {said}");
        }
    }
}

/// DataSketches writes its xor filter as whole words too: up to seven zeros follow, and nothing else may.
#[test]
fn whole_words_of_datasketches_xor() {
    let format = interop::find("datasketches_xor").unwrap();
    let bytes = include_bytes!("../formats/datasketches_xor/bytes8-17.bin").to_vec();
    let import = |bytes: &[u8]| format.import(bytes, &ImportOptions::default());
    let padded = |zeros: usize| [&bytes[..], &vec![0; zeros]].concat();
    assert_eq!(bytes.len() % 8, 3);
    assert!((0..17).all(|i| import(&padded(5)).unwrap().contains(format!("key-{i}").as_bytes())));
    for zeros in [1, 4, 6, 8, 13] {
        assert_eq!(import(&padded(zeros)).unwrap_err().status(), Status::Corrupt, "{zeros}");
    }
    let mut last = padded(5);
    *last.last_mut().unwrap() = 1;
    assert_eq!(import(&last).unwrap_err().status(), Status::Corrupt);
    // Flags, another version, and another family.
    for (at, value, status) in [(3, 1, Status::NewerVersion), (1, 2, Status::NewerVersion), (2, 21, Status::Foreign)] {
        let mut other = bytes.clone();
        other[at] = value;
        assert_eq!(import(&other).unwrap_err().status(), status, "byte {at}");
    }
}

/// What the header of holiman's filters says is checked before its checksum, and before memory is taken for it.
#[test]
fn headers_of_holiman() {
    let format = interop::find("holiman").unwrap();
    let bytes = include_bytes!("../formats/holiman/1000.bin");
    // The places of k and of m.
    for (at, value, status) in [
        (12, 0, Status::OutOfRange),
        (12, 1 << 16, Status::OutOfRange),
        (12, u64::MAX, Status::OutOfRange),
        (12, 8, Status::Truncated),
        (12, 6, Status::Corrupt),
        (28, 0, Status::Corrupt),
        (28, 1, Status::Corrupt),
        (28, u64::MAX, Status::Truncated),
        (28, 9585, Status::Corrupt),
        (36, 0, Status::Corrupt),
    ] {
        let mut other = bytes.to_vec();
        other[at..at + 8].copy_from_slice(&u64::to_le_bytes(value));
        let error = format.import(&other, &ImportOptions::default()).unwrap_err();
        assert_eq!(error.status(), status, "{value} at {at}: {error}");
    }
}
