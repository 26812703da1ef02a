//! The kind pinsketch: bytes and listings of minisketch, pairs of sets, and forged sums.

use crate::common::{golden, image as bytes, mix};
use crate::sketches::{Random, of, with};
use petal::sketch::pinsketch::{MAX_CAPACITY, ROW};
use petal::{Image, Kernel, Keys, Mode, OpenOptions, Sketch, Spec, Status, load_as, open_in_buffer_as};
use std::collections::BTreeSet;
use std::ptr::NonNull;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A spec of a sketch of this capacity over a field of 2^field_bits elements.
fn field(field_bits: u64, capacity: u64) -> Spec {
    let mut spec = Spec { kind: Some(ROW.kind), capacity, ..Spec::default() };
    spec.set(ROW.parameter("field_bits").unwrap(), field_bits as f64).unwrap();
    spec
}

/// The number of a hash among the elements that are not 0.
fn number_of(field_bits: u64, hash: u64) -> u64 {
    1 + ((u128::from(hash) * u128::from(u64::MAX >> (64 - field_bits))) >> 64) as u64
}

/// The least irreducible polynomials of these degrees, which minisketch has too, without their leading terms.
fn modulus(field_bits: u64) -> u64 {
    match field_bits {
        13 | 64 => 0x1b,
        32 => 0x8d,
        _ => panic!("no modulus of {field_bits} bits"),
    }
}

/// The product in a field, bit by bit.
fn product(field_bits: u64, a: u64, b: u64) -> u64 {
    (0..field_bits).rev().fold(0, |sum: u64, at| {
        let carry = if sum >> (field_bits - 1) & 1 == 1 { modulus(field_bits) } else { 0 };
        let doubled = (sum << 1 & u64::MAX >> (64 - field_bits)) ^ carry;
        if b >> at & 1 == 1 { doubled ^ a } else { doubled }
    })
}

/// The payload of layout 2 that `docs/format.md` specifies, computed without the library's code: sums, and a line with
/// the checksum under the seed.
fn specified(field_bits: u64, capacity: u64, elements: &[u64], seed: u64) -> Vec<u8> {
    let mut payload = specified_sums(field_bits, capacity, elements);
    let hash = |element: &u64| mix(xxh3_64_with_seed(&element.to_le_bytes(), seed));
    let checksum = elements.iter().fold(0, |sum, element| sum ^ hash(element));
    payload.extend(checksum.to_le_bytes());
    payload.extend([0; 56]);
    payload
}

/// The payload of layout 1: the sums.
fn specified_sums(field_bits: u64, capacity: u64, elements: &[u64]) -> Vec<u8> {
    let length = (field_bits * capacity).div_ceil(8).next_multiple_of(64);
    let mut payload = vec![0_u8; length as usize];
    for element in elements {
        let (square, mut power) = (product(field_bits, *element, *element), *element);
        for sum in 0..capacity {
            for bit in 0..field_bits {
                let at = sum * field_bits + bit;
                payload[(at / 8) as usize] ^= ((power >> bit & 1) as u8) << (at % 8);
            }
            power = product(field_bits, power, square);
        }
    }
    payload
}

/// Golden images have the bytes of the specification, are written the same today, and open for ever.
#[test]
fn golden_images_are_what_the_format_says() {
    let number = |field_bits, hash| number_of(field_bits, hash);
    let elements = |field_bits| -> BTreeSet<u64> {
        let hashes = (1..=6).map(mix).chain([xxh3_64_with_seed(b"key 0", 42)]);
        hashes.map(|hash| number(field_bits, hash)).chain([7]).collect()
    };
    let shapes = [(64, 10), (32, 12), (13, 11)];
    for (field_bits, capacity) in shapes {
        let all: Vec<u64> = elements(field_bits).into_iter().collect();
        for is_checked in [true, false] {
            let mut sketch = Sketch::new(&Spec { seed: 42, ..field(field_bits, capacity) }).unwrap();
            let mut payload = specified(field_bits, capacity, &all, 42);
            let mut name = format!("pinsketch-field_bits_{field_bits}-layout_2");
            if !is_checked {
                // The imported bytes of an empty set have no checksum, and what is added to them has none either.
                sketch.import_minisketch(&sketch.export_minisketch().unwrap()).unwrap();
                payload = specified_sums(field_bits, capacity, &all);
                payload.extend([0_u64, 1, 0, 0, 0, 0, 0, 0].map(u64::to_le_bytes).concat());
                name += "-unchecked";
            }
            (1..=6).for_each(|i| sketch.insert_hash(mix(i)).unwrap());
            sketch.remove_u64(7).unwrap();
            sketch.insert(b"key 0").unwrap();
            let image = bytes(&sketch);
            assert_eq!(image[256..256 + payload.len()], payload[..], "{name}");
            assert_eq!(u64::from_le_bytes(image[64..72].try_into().unwrap()), field_bits * capacity);
            assert_eq!(u64::from_le_bytes(image[72..80].try_into().unwrap()), field_bits);
            assert_eq!((image[10..16].to_vec(), image[20]), (vec![2, 0, 2, 1, 0, 0], 0));
            golden::check(&ROW, &format!("{name}-xxh3.petal"), &image);
        }
    }
    let files = golden::files(&ROW);
    assert_eq!(files.len(), 9);
    for (field_bits, capacity) in shapes {
        let name = format!("pinsketch-field_bits_{field_bits}-layout_1-xxh3.petal");
        let (_, image) = files.iter().find(|(file, _)| **file == name).unwrap();
        let payload = specified_sums(field_bits, capacity, &elements(field_bits).into_iter().collect::<Vec<_>>());
        assert_eq!(image[256..256 + payload.len()], payload[..], "{name}");
        assert!(image[10] == 1 && image.len() == 256 + payload.len() + 64);
    }
    for (name, image) in files {
        let sketch: Sketch = load_as(&image, &OpenOptions::default()).unwrap();
        assert_eq!(bytes(&sketch), image, "{name}");
        let listing = sketch.list().unwrap();
        let field_bits = sketch.base().geometry().words[0];
        assert!(listing.is_complete && with(&listing, 1) == elements(field_bits), "{name}: {listing:?}");
    }
}

/// A line of `tests/formats/minisketch/sketches.txt`: bits of an element, capacity, minisketch's bytes, elements.
fn vectors() -> Vec<(u64, u64, Vec<u8>, Vec<u64>)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/formats/minisketch/sketches.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let hexadecimal = |text: &str| u64::from_str_radix(text, 16).unwrap();
        let bytes = words[2].as_bytes().chunks(2).map(|pair| hexadecimal(std::str::from_utf8(pair).unwrap()) as u8);
        let elements = words[3..].iter().map(|word| hexadecimal(word)).collect();
        (words[0].parse().unwrap(), words[1].parse().unwrap(), bytes.collect(), elements)
    });
    lines.collect()
}

/// Sketches have the bytes of minisketch, and take them.
#[test]
fn bytes_are_those_of_minisketch() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 24);
    for (field_bits, capacity, expected, elements) in vectors {
        for kernel in [Kernel::Best, Kernel::Portable] {
            let spec = Spec { kernel, ..field(field_bits, capacity) };
            let sketch = of(&spec, elements.iter().copied());
            assert_eq!(sketch.export_minisketch().unwrap(), expected, "{field_bits} bits, capacity {capacity}");
            assert_eq!(bytes(&sketch)[256..256 + expected.len()], expected[..]);
            let mut taken = of(&spec, [1, 2, 3]);
            taken.import_minisketch(&expected).unwrap();
            assert_eq!(taken.insertions(), 0);
            assert_eq!(taken.export_minisketch().unwrap(), expected);
            // The vectors have more elements than their capacity. Removing most of them leaves as many as are listed.
            let (kept, gone) = elements.split_at(elements.len().min(capacity as usize));
            gone.iter().for_each(|element| taken.remove_u64(*element).unwrap());
            let listing = taken.list().unwrap();
            assert!(listing.is_complete, "{field_bits} bits, capacity {capacity}");
            assert_eq!(with(&listing, 1), kept.iter().copied().collect());
        }
    }
}

/// Imports refuse what is not a sketch of minisketch of this shape, and then change nothing.
#[test]
fn other_bytes_are_refused() {
    let mut sketch = of(&field(13, 3), [1, 2]);
    let before = bytes(&sketch);
    let right = sketch.export_minisketch().unwrap();
    assert_eq!(right.len(), 5);
    let beyond = [&right[..4], &[0x80]].concat();
    for (wrong, part) in [(&right[..4], "length = 4"), (&[&right[..], &[0]].concat(), "length = 6"), (&beyond, "7")] {
        let error = sketch.import_minisketch(wrong).unwrap_err();
        assert!(error.status() == Status::Foreign && error.to_string().contains(part), "{error}");
    }
    assert_eq!(bytes(&sketch), before);
    let mut other = of(&Spec::with_capacity(3, 0.01).unwrap(), [1]);
    for error in [other.import_minisketch(&right).unwrap_err(), other.export_minisketch().unwrap_err()] {
        assert!(error.status() == Status::Unsupported && error.to_string().contains("iblt"), "{error}");
    }
    // An image that is open for reading stays as it is.
    let mut words: Vec<u64> = before.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
    let start = NonNull::new(words.as_mut_ptr().cast::<u8>()).unwrap();
    // SAFETY: the words live until the sketch is dropped, and nobody writes to them meanwhile.
    let mut read: Sketch = unsafe { open_in_buffer_as(start, before.len(), &OpenOptions::default()) }.unwrap();
    assert_eq!(read.import_minisketch(&right).unwrap_err().status(), Status::UnsupportedByHandle);
}

/// A thousand random pairs of sets. Up to the capacity the listing is the symmetric difference. Beyond the capacity the
/// listing is empty and says that it is not complete.
#[test]
fn random_pairs_of_sets_are_told_apart() {
    let mut random = Random(35 << 32);
    let (mut complete, mut beyond) = (0, 0);
    for round in 0..1000 {
        let (field_bits, capacity) = (24 + round % 41, 20 + random.next() % 20);
        let spec = field(field_bits, capacity);
        let mut draw =
            |count: u64| -> BTreeSet<u64> { (0..count).map(|_| number_of(field_bits, random.next())).collect() };
        let (ours, theirs) = match round % 4 {
            0 => (draw(capacity / 2), draw(capacity - capacity / 2)),
            1 => (draw(capacity), BTreeSet::new()),
            2 => (draw(3), draw(2)),
            _ => (draw(capacity), draw(1 + round % 50)),
        };
        let common: Vec<u64> = draw(50).into_iter().collect();
        let difference: BTreeSet<u64> = ours.symmetric_difference(&theirs).copied().collect();
        let mut first = of(&spec, ours.iter().copied());
        let mut second = of(&spec, []);
        assert_eq!(first.insert_batch(&Keys::U64(&common)).keys, common.len());
        assert_eq!(second.insert_batch(&Keys::U64(&common)).keys, common.len());
        theirs.iter().for_each(|number| second.insert_u64(*number).unwrap());
        if round % 2 == 0 {
            first.subtract(&second).unwrap()
        } else {
            first.merge(&second).unwrap()
        }
        let listing = first.list().unwrap();
        assert_eq!(listing.is_complete, difference.len() as u64 <= capacity, "round {round}");
        if listing.is_complete {
            assert_eq!(with(&listing, 1), difference, "round {round}");
            assert!(listing.listed.is_sorted() && listing.listed.len() == difference.len());
            complete += 1;
        } else {
            assert!(listing.listed.is_empty(), "round {round}");
            beyond += 1;
        }
        // Numbers that are inserted and removed leave nothing.
        difference.iter().for_each(|number| first.remove_u64(*number).unwrap());
        assert_eq!(first.statistics().taken, 0);
    }
    assert!(complete > 700 && beyond > 200, "{complete} {beyond}");
}

/// Hashes become elements that are not 0, each as often as any other. Other numbers are refused.
#[test]
fn numbers_are_elements_of_the_field() {
    for field_bits in [8, 31, 64] {
        let max = u64::MAX >> (64 - field_bits);
        let mut sketch = Sketch::new(&field(field_bits, 8)).unwrap();
        sketch.insert_hash(0).unwrap();
        sketch.insert_hash(u64::MAX).unwrap();
        assert_eq!(with(&sketch.list().unwrap(), 1), BTreeSet::from([1, max]));
        let before = bytes(&sketch);
        for number in [0, max.wrapping_add(1)] {
            for error in [sketch.insert_u64(number).unwrap_err(), sketch.remove_u64(number).unwrap_err()] {
                assert!(
                    error.status() == Status::OutOfRange && error.to_string().contains(&max.to_string()),
                    "{error}"
                );
            }
        }
        assert_eq!(bytes(&sketch), before);
        let batch = sketch.insert_batch(&Keys::U64(&[5, 0, 6]));
        assert_eq!((batch.keys, batch.outcome.unwrap_err().status()), (1, Status::OutOfRange));
        assert_eq!(with(&sketch.list().unwrap(), 1), BTreeSet::from([1, 5, max]));
    }
    // Of 2^16 hashes at equal distances each of 255 elements has 257 or 258.
    let mut often = [0; 256];
    (0..1 << 16).for_each(|hash: u64| often[number_of(8, hash << 48) as usize] += 1);
    assert!(often[0] == 0 && often[1..].iter().all(|one| (257..=258).contains(one)));
}

/// Whatever an image holds, a listing is either empty and not complete, or has the sums of the image.
#[test]
fn forged_sums_are_listed_to_an_end() {
    let mut random = Random(36 << 32);
    let mut complete = 0;
    for (field_bits, capacity) in [(8, 1), (8, 2), (9, 3), (17, 2), (64, 1), (64, 30), (33, 40)] {
        let spec = field(field_bits, capacity);
        let empty = bytes(&of(&spec, []));
        for round in 0..400 {
            let mut words: Vec<u64> =
                empty.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
            let bits = (field_bits * capacity) as usize;
            for bit in 0..bits {
                words[32 + bit / 64] |= (random.next() & 1) << (bit % 64);
            }
            let line = 32 + bits.div_ceil(512) * 8;
            // Half of the images have no checksum. That of the others is 0, which no numbers have.
            words[line + 1] = round & 1;
            let start = NonNull::new(words.as_mut_ptr().cast::<u8>()).unwrap();
            // SAFETY: the words live until the sketch is dropped, and nobody writes to them meanwhile.
            let sketch: Sketch = unsafe { open_in_buffer_as(start, empty.len(), &OpenOptions::default()) }.unwrap();
            let listing = sketch.list().unwrap();
            assert!(listing.is_complete || listing.listed.is_empty());
            assert!(round % 2 == 1 || listing.listed.is_empty());
            if listing.is_complete {
                let again = of(&spec, listing.listed.iter().map(|one| one.number));
                assert_eq!(again.export_minisketch().unwrap(), sketch.export_minisketch().unwrap());
                complete += 1;
            }
        }
    }
    assert!(complete > 400, "{complete}");
}

/// The sums beyond the capacity of a smaller sketch are not needed: the first sums are the smaller sketch.
#[test]
fn the_first_sums_are_a_smaller_sketch() {
    let numbers: Vec<u64> = (1..=20).map(mix).collect();
    let large = of(&field(64, 50), numbers.iter().copied()).export_minisketch().unwrap();
    let mut small = Sketch::new(&field(64, 20)).unwrap();
    small.import_minisketch(&large[..160]).unwrap();
    assert_eq!(with(&small.list().unwrap(), 1), numbers.into_iter().collect());
}

/// Specs and images with an impossible geometry are refused.
#[test]
fn what_cannot_be_is_refused() {
    let wrong = |spec: &Spec, status: Status, part: &str| {
        let error = Sketch::new(spec).unwrap_err();
        assert!(error.status() == status && error.to_string().contains(part), "{error}");
    };
    wrong(&Spec { hash: petal::HashFunction::External, ..field(64, 9) }, Status::Contradiction, "hash = external");
    wrong(&field(7, 9), Status::OutOfRange, "field_bits = 7");
    wrong(&field(65, 9), Status::OutOfRange, "field_bits = 65");
    wrong(&Spec { bits: 100, ..field(32, 0) }, Status::OutOfRange, "bits = 100 is not a multiple of field_bits = 32");
    wrong(&Spec { bits: 64, hashes: 3, ..field(32, 0) }, Status::OutOfRange, "hashes = 3");
    wrong(&field(64, MAX_CAPACITY as u64 + 1), Status::TooLarge, "4096");
    wrong(&Spec { bits: 8 * 4097, ..field(8, 0) }, Status::TooLarge, "capacity = 4097");
    wrong(&Spec { kind: None, ..field(8, 9) }, Status::UnknownValue, "one of pinsketch");
    let exact = Sketch::new(&Spec { bits: 8 * 4096, ..field(8, 0) }).unwrap();
    assert_eq!(exact.base().geometry().payload_bytes, 4096 + 64);
    let again = Sketch::new(&exact.base().spec()).unwrap();
    assert_eq!(again.base().compatibility_id(), exact.base().compatibility_id());
    // Sketches of as many bits over another field do not combine, whatever their layouts.
    let (mut first, second) = (of(&field(32, 20), [1]), of(&field(64, 10), [1]));
    let older: Sketch = load_as(&of_layout_1(&second), &OpenOptions::default()).unwrap();
    for second in [second, older] {
        let error = first.subtract(&second).unwrap_err();
        assert_eq!(error.status(), Status::Incompatible, "{error}");
    }
    let error = first.subtract(&of(&field(64, 10), [1])).unwrap_err();
    assert!(error.to_string().contains("field_bits: 32 and 64"), "{error}");
    let image = bytes(&of(&field(12, 9), [1]));
    let forgeries = [(64, 107), (64, 0), (64, 12 * 4097), (20, 3), (72, 7), (72, 65), (72, 13), (72, 1 << 32), (72, 0)];
    for (at, value) in forgeries.into_iter().chain((80..136).step_by(8).map(|at| (at, 1_u64))) {
        let mut forged = image.clone();
        let width = if at < 40 { 4 } else { 8 };
        forged[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        crate::format::seal(&mut forged);
        assert!(load_as::<Sketch>(&forged, &OpenOptions::default()).is_err(), "{value} at {at}");
    }
    // Bits after the last sum, and in the line of the checksum.
    for at in [13, 63, 64 + 8, 64 + 9, 64 + 16, 64 + 63] {
        let mut forged = image.clone();
        forged[256 + at] |= 0x10;
        crate::format::seal(&mut forged);
        let error = load_as::<Sketch>(&forged, &OpenOptions::default()).unwrap_err();
        assert!(error.status() == Status::Corrupt && error.to_string().contains("no checksum"), "{at}: {error}");
    }
    // A checksum that is said to be unknown is 0.
    let mut forged = image.clone();
    forged[256 + 64 + 8] = 1;
    crate::format::seal(&mut forged);
    assert_eq!(load_as::<Sketch>(&forged, &OpenOptions::default()).unwrap_err().status(), Status::Corrupt);
    forged[256 + 64..256 + 72].fill(0);
    crate::format::seal(&mut forged);
    assert!(load_as::<Sketch>(&forged, &OpenOptions::default()).unwrap().list().unwrap().is_complete);
    // A payload with a line is not one of layout 1, and a payload without one is not one of layout 2.
    let mut forged = image.clone();
    forged[10] = 1;
    crate::format::seal(&mut forged);
    assert_eq!(load_as::<Sketch>(&forged, &OpenOptions::default()).unwrap_err().status(), Status::Corrupt);
    let mut older = of_layout_1(&of(&field(12, 9), [1]));
    older[10] = 2;
    crate::format::seal(&mut older);
    assert_eq!(load_as::<Sketch>(&older, &OpenOptions::default()).unwrap_err().status(), Status::Corrupt);
    let sketch = of(&field(12, 9), []);
    assert_eq!((sketch.expected_failure_rate(9), sketch.expected_failure_rate(10)), (0.0, 1.0));
}

/// Every region of sums is marked before a number changes it in place, and an import marks all.
#[test]
fn changes_in_place_mark_their_regions() {
    let image = bytes(&of(&field(64, 4096), []));
    let mut words: Vec<u64> = image.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
    let start = NonNull::new(words.as_mut_ptr().cast::<u8>()).unwrap();
    let other = of(&field(64, 4096), [9]).export_minisketch().unwrap();
    for number in 1..20 {
        let options = OpenOptions { mode: Mode::Write, ..OpenOptions::default() };
        // SAFETY: the words outlive both sketches, and nobody else uses them.
        let mut sketch: Sketch = unsafe { open_in_buffer_as(start, image.len(), &options) }.unwrap();
        if number % 5 == 0 {
            sketch.import_minisketch(&other).unwrap()
        } else {
            sketch.insert_u64(number).unwrap()
        }
        sketch.sync().unwrap();
        drop(sketch);
        // SAFETY: the words outlive both sketches, and nobody else uses them.
        let read: Sketch = unsafe { open_in_buffer_as(start, image.len(), &OpenOptions::default()) }.unwrap();
        read.verify().unwrap_or_else(|error| panic!("after {number}: {error}"));
    }
}

/// The image that an older version has written of the same numbers.
fn of_layout_1(sketch: &Sketch) -> Vec<u8> {
    let mut image = bytes(sketch);
    let payload = sketch.base().geometry().payload_bytes as usize - 64;
    image[10] = 1;
    image[136..144].copy_from_slice(&(payload as u64).to_le_bytes());
    image.truncate(256 + payload);
    image.resize(petal::format::image_bytes(payload as u64).unwrap() as usize, 0);
    crate::format::seal(&mut image);
    image
}

/// Consecutive numbers whose sums of powers vanish: the list is not called complete unless it is right.
#[test]
fn runs_of_numbers_are_not_lost() {
    let runs = [(1..32, 10), (64..96, 12), (1 << 40..(1 << 40) + 512, 150), (1..1001, 100), (4096..8192, 40)];
    for (numbers, capacity) in runs {
        for field_bits in [48, 64] {
            for seed in 0..2 {
                let spec = Spec { seed, ..field(field_bits, capacity) };
                let missing: Vec<u64> = numbers.clone().collect();
                let others = [3_u64, 77, 1 << 20, (1 << 41) + 5];
                let mut all = of(&spec, others);
                assert_eq!(all.insert_batch(&Keys::U64(&missing)).keys, missing.len());
                let listed = all.list().unwrap();
                assert!(!listed.is_complete && listed.listed.is_empty(), "{numbers:?}: {listed:?}");
                all.subtract(&of(&spec, others)).unwrap();
                let listed = all.list().unwrap();
                assert!(!listed.is_complete && listed.listed.is_empty(), "{numbers:?}: {listed:?}");
                // When all but a few of them are removed, the rest is listed.
                let (few, many) = missing.split_at(capacity as usize);
                assert_eq!(all.remove_batch(&Keys::U64(many)).keys, many.len());
                let listed = all.list().unwrap();
                assert!(listed.is_complete && with(&listed, 1) == few.iter().copied().collect(), "{numbers:?}");
            }
        }
    }
}

/// Every small set past a small capacity: what is listed as complete is the set. Without the checksum one in c! of such
/// lists is wrong, for a capacity of c.
#[test]
fn wrong_lists_are_never_complete() {
    let mut random = Random(39 << 32);
    let mut wrong = 0;
    for round in 0..20_000_u64 {
        let (field_bits, capacity) = (8 + round % 57, 1 + round % 4);
        let spec = Spec { seed: random.next(), ..field(field_bits, capacity) };
        let count = 1 + random.next() % (2 * capacity + 2);
        let first = random.next() >> (64 - field_bits.min(12));
        let set: BTreeSet<u64> = match round % 3 {
            0 => (first..first + count).map(|number| number.clamp(1, u64::MAX >> (64 - field_bits))).collect(),
            _ => (0..count).map(|_| number_of(field_bits, random.next())).collect(),
        };
        let mut sketch = of(&spec, set.iter().copied());
        let listed = sketch.list().unwrap();
        assert_eq!(listed.is_complete, set.len() as u64 <= capacity, "{spec:?} {set:?}");
        assert!(!listed.is_complete || with(&listed, 1) == set);
        let sums = sketch.export_minisketch().unwrap();
        sketch.import_minisketch(&sums).unwrap();
        let listed = sketch.list().unwrap();
        wrong += u32::from(listed.is_complete && with(&listed, 1) != set);
    }
    assert!(wrong > 2000, "{wrong}");
}

/// If one of two sketches has no checksum, the sum of both has none either. Clearing brings it back.
#[test]
fn checksums_are_known_or_said_to_be_unknown() {
    let spec = Spec { seed: 9, ..field(64, 12) };
    // All powers of this run add up to 0, so that a listing without a checksum is empty.
    let run: Vec<u64> = (64..96).collect();
    let with_run = of(&spec, run.iter().copied());
    let sums = with_run.export_minisketch().unwrap();
    let mut taken = of(&spec, [1, 2]);
    taken.import_minisketch(&sums).unwrap();
    let older: Sketch = load_as(&of_layout_1(&with_run), &OpenOptions::default()).unwrap();
    let is_checked = |sketch: &Sketch| !sketch.list().unwrap().is_complete;
    assert!(is_checked(&with_run) && !is_checked(&taken) && !is_checked(&older));
    for unknown in [&taken, &older] {
        let mut copy = unknown.copy().unwrap();
        copy.insert_u64(5).unwrap();
        assert_eq!(with(&copy.list().unwrap(), 1), BTreeSet::from([5]));
        for (mut first, second) in [(with_run.copy().unwrap(), unknown), (unknown.copy().unwrap(), &with_run)] {
            first.insert_u64(6).unwrap();
            first.subtract(second).unwrap();
            let again: Sketch = load_as(&bytes(&first), &OpenOptions::default()).unwrap();
            for mut sketch in [first, again] {
                assert_eq!(with(&sketch.list().unwrap(), 1), BTreeSet::from([6]));
                run.iter().for_each(|number| sketch.insert_u64(*number).unwrap());
                assert!(!is_checked(&sketch));
                sketch.clear().unwrap();
                run.iter().for_each(|number| sketch.insert_u64(*number).unwrap());
                assert_eq!(is_checked(&sketch), sketch.base().header().layout_version == 2);
            }
        }
    }
    // What the page says about the bytes of minisketch.
    for (numbers, capacity, listed) in [(1..32, 10, 0..0), (1..1001, 100, 1001..1024), (64..96, 15, 0..0)] {
        let mut sketch = of(&field(64, capacity), numbers);
        let sums = sketch.export_minisketch().unwrap();
        sketch.import_minisketch(&sums).unwrap();
        assert_eq!(with(&sketch.list().unwrap(), 1), listed.collect());
    }
    // Only an empty sketch begins to keep keys, and one that took bytes may not be empty.
    let mut empty = Sketch::new(&spec).unwrap();
    empty.import_minisketch(&[0; 96]).unwrap();
    assert_eq!(empty.keep_keys().unwrap_err().status(), Status::Contradiction);
    empty.clear().unwrap();
    empty.keep_keys().unwrap();
}

/// Without the secret key the checksum cannot be compared. Sums without one are listed as before.
#[test]
fn checksums_need_the_secret_key() {
    let key = Some(crate::common::SECRET);
    let spec = Spec { hash: petal::HashFunction::SipHash13, secret: key, ..field(64, 12) };
    let sketch = of(&spec, [5, 6]);
    for (image, is_listed) in [(bytes(&sketch), false), (of_layout_1(&sketch), true)] {
        let without: Sketch = load_as(&image, &OpenOptions::default()).unwrap();
        match without.list() {
            Ok(listed) => assert!(is_listed && with(&listed, 1) == BTreeSet::from([5, 6])),
            Err(error) => assert!(!is_listed && error.status() == Status::SecretMissing, "{error}"),
        }
        let with_key: Sketch = load_as(&image, &OpenOptions { secret: key, ..OpenOptions::default() }).unwrap();
        assert_eq!(with(&with_key.list().unwrap(), 1), BTreeSet::from([5, 6]));
    }
}
