//! The compact form of every kind: golden files, every way to open it and to ask it, and bytes that are damaged.

use crate::common::{all_layouts, each, filled, golden, hash_of, hashed, image, is_wanted, mix};
use crate::conformance::{CAPACITY, FRESH, fails, for_each_case, for_each_hash, holds};
use petal::registry::FILTERS;
use petal::storage::AnyBytes;
use petal::{
    Answers, Capabilities, CompactOptions, Filter, HashFunction, Image, OpenOptions, Result, Row, Spec, Status,
    compact_contains_hash, compacts_contain_hash, load_compact, verify_compact,
};
use std::ptr::NonNull;
use xxhash_rust::xxh3::xxh3_64;

/// What must be known to open the compact form of a filter of this spec.
fn options(spec: &Spec) -> CompactOptions {
    CompactOptions { hash: spec.hash, seed: spec.seed, secret: spec.secret, verify: false }
}

fn compact(filter: &Filter) -> Vec<u8> {
    let mut bytes = vec![0xaa; filter.compact_size().unwrap()];
    assert_eq!(filter.serialize_compact(&mut bytes).unwrap(), bytes.len());
    bytes
}

/// Bytes at a multiple of 64, or some bytes after one.
struct Placed {
    lines: Vec<[u64; 8]>,
    offset: usize,
    length: usize,
}

impl Placed {
    fn new(bytes: &[u8], offset: usize) -> Placed {
        let mut lines = vec![[0_u64; 8]; (offset + bytes.len()).div_ceil(64)];
        // SAFETY: the lines, as the bytes that they are; nobody else has them.
        let room: &mut [u8] = unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), 64 * lines.len()) };
        room[offset..offset + bytes.len()].copy_from_slice(bytes);
        Placed { lines, offset, length: bytes.len() }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the lines have as many bytes.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast::<u8>().add(self.offset), self.length) }
    }

    /// Opens the form in place, for as long as `self` is there.
    fn open(&self, options: &CompactOptions) -> Result<Filter> {
        // SAFETY: the callers drop the filter before they drop this.
        unsafe { petal::open_compact(NonNull::from(self.bytes()).cast(), self.length, options) }
    }

    fn contains(&self, hash: u64) -> Result<bool> {
        compact_contains_hash(AnyBytes::of(self.bytes()), hash)
    }
}

/// The result of `with` for the filter that is opened in place in this form.
pub fn opened<T>(form: &[u8], options: &CompactOptions, with: impl FnOnce(Result<Filter>) -> T) -> T {
    let placed = Placed::new(form, 0);
    with(placed.open(options))
}

// ---- Golden files ------------------------------------------------------------------------------------------------

/// How many keys a golden file holds; `tests/golden/README.md` says which.
const GOLDEN_KEYS: u64 = 100;

/// The last hash function of a kind: that of a caller who hashes, or of integers.
fn golden_hash(row: &Row) -> HashFunction {
    *row.hash_functions().last().unwrap()
}

/// Today's library writes the bytes that are committed.
#[test]
fn golden_forms_are_what_is_written() {
    each(
        all_layouts().into_iter().filter(|case| !case.row.is_map()),
        |case| case.name(),
        |case| {
            let spec = Spec { capacity: GOLDEN_KEYS, hash: golden_hash(case.row), ..case.spec() };
            let name = format!("{}-layout_{}.compact", case.layout_name(), case.row.form.layout_version);
            golden::check(case.row, &name, &compact(&filled(&spec, 0..GOLDEN_KEYS)));
        },
    );
}

/// Every golden form, even of layouts that are not written any more, holds its keys.
#[test]
fn golden_forms_open_for_ever() {
    each(
        FILTERS.iter().filter(|row| is_wanted(row)),
        |row| row.name.to_string(),
        |row| {
            let files = golden::files(row);
            let forms = files.iter().filter(|(name, _)| name.ends_with(".compact"));
            assert_ne!(forms.clone().count(), 0, "there is no golden form");
            let spec = Spec { kind: Some(row.kind), hash: golden_hash(row), ..Spec::default() };
            for (name, bytes) in forms {
                println!("{name}");
                verify_compact(bytes).unwrap();
                let filter = load_compact(bytes, &options(&spec)).unwrap();
                assert_eq!(filter.base().header().kind, row.kind);
                holds(&filter, &spec, 0..GOLDEN_KEYS);
                assert!(compact(&filter) == *bytes);
            }
        },
    );
}

// ---- The bytes ---------------------------------------------------------------------------------------------------

/// The trailer as `docs/format.md` specifies it, worked out without the library's code.
fn trailer(filter: &Filter, payload: &[u8], shape: u64) -> Vec<u8> {
    let header = filter.base().header();
    let mut whole = payload.to_vec();
    if shape != 0 {
        whole.extend(shape.to_le_bytes());
    }
    let head = header.kind.0 | u32::from(header.layout_version) << 16 | header.geometry.hashes << 24;
    end(&mut whole, payload.len(), shape, head);
    whole.split_off(payload.len())
}

/// Appends to payload and shape what follows them.
fn end(whole: &mut Vec<u8>, payload: usize, shape: u64, head: u32) {
    let is_large = payload > 4096;
    if is_large {
        let digest = xxh3_64(whole);
        whole.extend(digest.to_le_bytes());
    }
    whole.extend(head.to_le_bytes());
    let length = whole.len() as u128 + 4;
    let residue = (length << 96 | u128::from(shape) << 32 | u128::from(head)) % 4093;
    let digest = xxh3_64(&whole[if is_large { payload } else { 0 }..]) as u32 & 0xf_ffff;
    whole.extend(((residue as u32) << 20 | digest).to_le_bytes());
}

/// The payload is that of the image. What follows it in a compact form is what the specification says, for the shape
/// that the form states, and for the shape of bit arrays that is written here.
#[test]
fn forms_are_as_specified() {
    for_each_case(|case, spec| {
        let filter = filled(spec, 0..CAPACITY);
        let (whole, form) = (image(&filter), compact(&filter));
        let geometry = &filter.base().header().geometry;
        let payload = &whole[256..256 + geometry.payload_bytes as usize];
        assert!(form.starts_with(payload), "{}", case.name());
        let digest = if payload.len() > 4096 { 8 } else { 0 };
        let shape = match form.len() - payload.len() - digest {
            8 => 0,
            16 => u64::from_le_bytes(form[payload.len()..payload.len() + 8].try_into().unwrap()),
            other => panic!("a trailer of {other} bytes"),
        };
        assert_eq!(form[payload.len()..], trailer(&filter, payload, shape));
        let padding = 8 * geometry.payload_bytes - geometry.bits;
        match case.row.name {
            "blocked" => assert_eq!(shape, padding | geometry.words[0] << 10),
            "split_block" => assert_eq!(shape, padding),
            "counting" => {
                let [width, layout, ..] = geometry.words;
                assert_eq!(shape, padding | (width ^ 4) << 10 | layout << 15);
            }
            "bloom" => {
                let [partitioned, derivation, slice_width, ..] = geometry.words;
                assert_eq!(shape, padding | partitioned << 10 | derivation << 11 | slice_width << 15);
            }
            "fuse" => {
                let [bits, shards, keys, ..] = geometry.words;
                assert_eq!(shape, bits | shards << 6 | keys << 21 | (padding - 128 * shards) << 54);
            }
            "ribbon" => {
                let [bits, width, keys, ..] = geometry.words;
                assert_eq!(shape, bits | width << 6 | keys << 14 | padding << 54);
            }
            "scalable" => {
                let [level, tightening, growth, levels, first, step, ..] = geometry.words;
                let thousandths = (f64::from_bits(tightening) * 1000.0).round() as u64;
                let fields = level | thousandths << 3 | growth << 13 | levels << 16 | step << 23 | first << 30;
                assert_eq!(shape, fields);
            }
            _ => {}
        }
    });
}

// ---- Opening and asking ------------------------------------------------------------------------------------------

#[test]
fn forms_answer_as_the_filter_does() {
    for_each_hash(|case, spec| {
        for keys in [0, 1, CAPACITY] {
            let filter = filled(spec, 0..keys);
            let form = Placed::new(&compact(&filter), 0);
            let options = options(spec);
            let opened = form.open(&options).unwrap();
            let loaded = load_compact(form.bytes(), &options).unwrap();
            let verified = form.open(&CompactOptions { verify: true, ..options }).unwrap();
            verify_compact(form.bytes()).unwrap();
            for i in (0..keys).chain(FRESH..FRESH + 1000) {
                let hash = hash_of(spec, i);
                let answer = filter.contains_hash(hash);
                for other in [&opened, &loaded, &verified] {
                    assert_eq!(other.contains_hash(hash), answer);
                }
                assert_eq!(form.contains(hash).unwrap(), answer, "{}", case.name());
            }
            opened.verify().unwrap();
            assert!(opened.equals(&filter) && loaded.equals(&filter));
            // What the opened form holds, it holds again in every other form.
            assert_eq!(compact(&opened), form.bytes());
            assert!(opened.copy().unwrap().equals(&filter));
            assert!(
                petal::load(&image(&opened), &OpenOptions { secret: spec.secret, ..OpenOptions::default() }).is_ok()
            );
        }
    });
}

/// A lookup without a handle takes any address, or it is refused: no answer is wrong.
#[test]
fn forms_answer_at_any_address() {
    for_each_case(|case, spec| {
        let filter = filled(spec, 0..CAPACITY);
        for offset in 1..8 {
            let form = Placed::new(&compact(&filter), offset);
            fails(form.open(&options(spec)), Status::Misaligned);
            holds(&load_compact(form.bytes(), &options(spec)).unwrap(), spec, 0..CAPACITY);
            for i in (0..100).chain(FRESH..FRESH + 100) {
                match form.contains(hash_of(spec, i)) {
                    Ok(answer) => assert_eq!(answer, filter.contains_hash(hash_of(spec, i)), "{}", case.name()),
                    Err(error) => assert_eq!(error.status(), Status::Misaligned, "{error}"),
                }
            }
        }
    });
    // The kinds whose arrays are read a few words at a time always answer.
    for row in
        FILTERS.iter().filter(|row| ["bloom", "split_block", "blocked", "counting", "scalable"].contains(&row.name))
    {
        let spec = Spec { kind: Some(row.kind), capacity: CAPACITY, ..Spec::default() };
        let form = Placed::new(&compact(&filled(&spec, 0..CAPACITY)), 3);
        assert!((0..CAPACITY).all(|i| form.contains(hash_of(&spec, i)).unwrap()), "{}", row.name);
    }
    let mut two = Spec { kind: Some(petal::kinds::blocked::ROW.kind), capacity: CAPACITY, ..Spec::default() };
    two.set(&petal::kinds::blocked::BLOCKS, 2.0).unwrap();
    let filter = filled(&two, 0..CAPACITY);
    let form = Placed::new(&compact(&filter), 3);
    let asked = (0..CAPACITY).chain(FRESH..FRESH + 10_000).map(|i| hash_of(&two, i));
    assert!(asked.into_iter().all(|hash| form.contains(hash).unwrap() == filter.contains_hash(hash)));
}

#[test]
fn forms_are_only_read() {
    for_each_case(|_, spec| {
        let form = Placed::new(&compact(&filled(spec, 0..CAPACITY)), 0);
        let before = form.bytes().to_vec();
        let mut filter = form.open(&options(spec)).unwrap();
        let in_memory = filter.base().capabilities_in_memory();
        let refused = |of| if in_memory.contains(of) { Status::UnsupportedByHandle } else { Status::Unsupported };
        fails(filter.insert_hash(1), refused(Capabilities::INSERT));
        fails(filter.insert_shared_hash(1), refused(Capabilities::INSERT_SHARED));
        fails(filter.remove_hash(1), refused(Capabilities::REMOVE));
        fails(filter.clear(), refused(Capabilities::CLEAR));
        fails(filter.fold(2), refused(Capabilities::FOLD));
        fails(filter.mark_clean(), Status::UnsupportedByHandle);
        filter.sync().unwrap();
        drop(filter);
        assert_eq!(form.bytes(), before);
    });
}

/// Seed and key come from the opener, and a keyed form does not open without a key.
#[test]
fn hash_and_key_come_from_whoever_opens() {
    let spec = hashed(&Spec { capacity: CAPACITY, ..Spec::default() }, HashFunction::SipHash13, 7);
    let form = Placed::new(&compact(&filled(&spec, 0..CAPACITY)), 0);
    fails(form.open(&CompactOptions { secret: None, ..options(&spec) }), Status::SecretMissing);
    fails(form.open(&CompactOptions { hash: HashFunction::Xxh3, ..options(&spec) }), Status::Contradiction);
    let opened = form.open(&options(&spec)).unwrap();
    assert!((0..CAPACITY).all(|i| opened.contains_u64(i)));
    assert!(opened.base().spec().hash == HashFunction::SipHash13);
}

#[test]
fn what_has_no_form_is_refused() {
    let scalable = FILTERS.iter().find(|row| row.name == "scalable").unwrap();
    let mut spec = Spec { kind: Some(scalable.kind), capacity: CAPACITY, ..Spec::default() };
    spec.set(scalable.parameter("tightening").unwrap(), 0.512_345).unwrap();
    let filter = filled(&spec, 0..10);
    fails(filter.compact_size(), Status::Unsupported);
    fails(filter.serialize_compact(&mut [0; 4096]), Status::Unsupported);

    let filter = filled(&Spec { capacity: CAPACITY, ..Spec::default() }, 0..10);
    let mut short = vec![7; filter.compact_size().unwrap() - 1];
    fails(filter.serialize_compact(&mut short), Status::BufferTooSmall);
    assert!(short.iter().all(|byte| *byte == 7));
}

/// Many forms are asked for one hash in one call, and a damaged one is named.
#[test]
fn many_forms_answer_at_once() {
    for_each_case(|case, spec| {
        let forms: Vec<Placed> = (0..100)
            .map(|i| {
                // Key 0 is only in the forms with odd numbers.
                let filter = filled(&Spec { capacity: 20, ..*spec }, (i + 1) % 2..2);
                let offset = if !case.row.is_made_empty() || i % 3 == 0 { 0 } else { 8 };
                Placed::new(&compact(&filter), offset)
            })
            .collect();
        for count in [0, 1, 2, 63, 64, 65, 100] {
            let mut bytes = vec![7; count];
            let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
            let hash = hash_of(spec, 0);
            compacts_contain_hash(count, |i| AnyBytes::of(forms[i].bytes()), hash, &mut answers).unwrap();
            assert_eq!(answers.done, count);
            let expected: Vec<u8> = forms[..count].iter().map(|form| form.contains(hash).unwrap().into()).collect();
            assert_eq!(bytes, expected, "{}", case.name());
            assert!(expected.iter().skip(1).step_by(2).all(|answer| *answer == 1));
        }
        let mut bytes = vec![0; 100];
        let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
        let damaged = [0; 72];
        let form = |i: usize| AnyBytes::of(if i == 70 { &damaged } else { forms[i].bytes() });
        let error = compacts_contain_hash(100, form, 1, &mut answers).unwrap_err();
        assert!(error.message().contains("form 70"), "{error}");
        assert_eq!((answers.true_count, answers.done), (100, 0));
        assert_eq!(bytes, [1; 100]);
    });
}

// ---- Damage ------------------------------------------------------------------------------------------------------

/// Every flipped bit of a small form is found when it is opened, and of a large one when it is verified; those of its
/// trailer always. Nothing that opens reads past the form.
#[test]
fn flipped_bits_are_refused() {
    for_each_case(|_, spec| {
        // Forms are short, so that none of all these flips is one of the 2^-20 that the digest does not find.
        let whole = compact(&filled(&Spec { capacity: 20, ..*spec }, 0..20));
        let payload = whole.len() / 64 * 64;
        for bit in 0..8 * whole.len() {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let form = Placed::new(&bytes, 0);
            fails(verify_compact(form.bytes()), Status::Corrupt);
            if payload <= 4096 {
                fails(form.open(&options(spec)), Status::Corrupt);
            }
            // The last four bytes are the checksum, whose low bits are the digest.
            if bit >= 8 * payload && !(8 * (whole.len() - 4)..8 * whole.len() - 12).contains(&bit) {
                fails(form.contains(1), Status::Corrupt);
            }
        }
    });
}

#[test]
fn trailers_of_large_forms_are_checked_at_once() {
    let spec = Spec { capacity: 100_000, ..Spec::default() };
    let whole = compact(&filled(&spec, 0..1000));
    let payload = whole.len() / 64 * 64;
    for bit in 8 * payload..8 * (whole.len() - 4) {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fails(Placed::new(&bytes, 0).open(&options(&spec)), Status::Corrupt);
    }
    let mut bytes = whole.clone();
    bytes[payload / 2] ^= 1;
    let form = Placed::new(&bytes, 0);
    // Opening in constant time cannot notice, but verifying does.
    let opened = form.open(&options(&spec)).unwrap();
    fails(opened.verify(), Status::Corrupt);
    fails(form.open(&CompactOptions { verify: true, ..options(&spec) }), Status::Corrupt);
    fails(load_compact(&bytes, &options(&spec)), Status::Corrupt);
}

/// Lengths that no form has, and forms of any length with a trailer that says anything, but with the right residue.
#[test]
fn forged_forms_never_read_past_their_end() {
    for length in 0..300 {
        let bytes = Placed::new(&vec![0; length], 0);
        assert!(bytes.open(&CompactOptions::default()).is_err() && bytes.contains(1).is_err());
    }
    for i in 0..20_000_u64 {
        let payload = 64 * (1 + mix(i) as usize % 80);
        let mut whole: Vec<u8> = (0..payload).map(|at| mix(i ^ (at as u64) << 32) as u8).collect();
        let shape = mix(i + 1) >> (mix(i + 2) % 65).min(63);
        if i % 3 > 0 && shape != 0 {
            whole.extend(shape.to_le_bytes());
        }
        let shape = if whole.len() > payload { shape } else { 0 };
        let head = (1 + mix(i + 3) as u32 % 20) | 1 << 16 | (mix(i + 4) as u32 % 20) << 24;
        end(&mut whole, payload, shape, head);
        let form = Placed::new(&whole, 0);
        // The hash function of a caller who hashes, or of integers.
        let row = petal::registry::find(petal::KindId(head & 0xffff));
        let hash = row.map_or(HashFunction::External, |row| *row.hash_functions().last().unwrap());
        let opened = form.open(&CompactOptions { hash, ..CompactOptions::default() });
        for key in 0..20 {
            let answer = form.contains(mix(key));
            // A lookup needs no state, which is looked at when a form is opened.
            assert!(answer.is_ok() || opened.is_err());
            if let (Ok(answer), Ok(opened)) = (answer, &opened) {
                assert_eq!(answer, opened.contains_hash(mix(key)));
            }
        }
    }
}
