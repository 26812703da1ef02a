use super::*;
use serde_json::Value;
use std::ffi::CString;
use std::fs;
use std::path::Path;
use std::ptr::null_mut;

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../vectors/libbloom_2.0.json")).unwrap()
}

/// Zeros.
fn filter() -> bloom {
    bloom {
        entries: 0,
        bits: 0,
        bytes: 0,
        hashes: 0,
        error: 0.0,
        ready: 0,
        major: 0,
        minor: 0,
        bpe: 0.0,
        bf: null_mut(),
    }
}

/// A ready one.
fn ready(entries: c_uint, error: c_double) -> bloom {
    let mut bloom = filter();
    // SAFETY: the filter is there.
    assert_eq!(unsafe { bloom_init2(&mut bloom, entries, error) }, 0);
    bloom
}

fn add_str(bloom: &mut bloom, key: &str) -> c_int {
    // SAFETY: the key is there.
    unsafe { bloom_add(bloom, key.as_ptr().cast(), key.len() as c_int) }
}

fn check_str(bloom: &mut bloom, key: &str) -> c_int {
    // SAFETY: the key is there.
    unsafe { bloom_check(bloom, key.as_ptr().cast(), key.len() as c_int) }
}

fn bytes(bloom: &bloom) -> &[u8] {
    // SAFETY: a ready filter has as many bytes.
    unsafe { core::slice::from_raw_parts(bloom.bf, bloom.bytes as usize) }
}

fn name(path: &Path) -> CString {
    CString::new(path.to_str().unwrap()).unwrap()
}

fn save(bloom: &mut bloom, path: &Path) -> c_int {
    // SAFETY: the filter is there, and the name ends with a NUL.
    unsafe { bloom_save(bloom, name(path).as_ptr().cast_mut()) }
}

fn load(bloom: &mut bloom, path: &Path) -> c_int {
    // SAFETY: the filter is there, and the name ends with a NUL.
    unsafe { bloom_load(bloom, name(path).as_ptr().cast_mut()) }
}

fn free(mut bloom: bloom) {
    // SAFETY: the filter is there.
    unsafe { bloom_free(&mut bloom) };
}

#[test]
fn filters_and_files_are_those_that_libbloom_made() {
    let (vectors, folder) = (vectors(), tempfile::tempdir().unwrap());
    assert_eq!(vectors["sizeof"], size_of::<bloom>());
    for case in vectors["cases"].as_array().unwrap() {
        let (entries, error) = (case["entries"].as_u64().unwrap() as c_uint, case["error"].as_f64().unwrap());
        let mut bloom = ready(entries, error);
        assert_eq!(case["bits"], bloom.bits);
        assert_eq!(case["bytes"], bloom.bytes);
        assert_eq!(case["hashes"], bloom.hashes);
        assert_eq!(case["bpe"], bloom.bpe);
        for key in case["keys"].as_array().unwrap() {
            assert_eq!(check_str(&mut bloom, key.as_str().unwrap()), 0);
            assert_eq!(add_str(&mut bloom, key.as_str().unwrap()), 0);
            assert_eq!(add_str(&mut bloom, key.as_str().unwrap()), 1);
            assert_eq!(check_str(&mut bloom, key.as_str().unwrap()), 1);
        }
        let array = bytes(&bloom).to_vec();
        let set: Vec<usize> = (0..8 * array.len()).filter(|bit| array[bit / 8] >> (bit % 8) & 1 == 1).collect();
        assert_eq!(case["set_bits"], serde_json::json!(set));

        let path = folder.path().join("saved");
        fs::write(&path, vec![7; 100 + array.len()]).unwrap();
        assert_eq!(save(&mut bloom, &path), 0);
        let file = fs::read(&path).unwrap();
        let start: String = file[..75].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(case["save_first75_hex_bf_ptr_masked"], start);
        assert_eq!(file[75..75 + array.len()], array);
        assert_eq!(file[75 + array.len()..], [7; 25], "what is longer keeps its tail");

        let mut loaded = filter();
        assert_eq!(load(&mut loaded, &path), 0);
        assert_eq!(bytes(&loaded), array);
        assert_eq!((loaded.entries, loaded.bits, loaded.hashes), (bloom.entries, bloom.bits, bloom.hashes));
        free(loaded);
        free(bloom);
    }
}

#[test]
fn what_cannot_be_made_is_refused() {
    let mut bloom = ready(1000, 0.1);
    free(bloom);
    bloom = filter();
    for (entries, error) in [(999, 0.1), (1000, 0.0), (1000, -0.5), (1000, 1.0), (1000, 2.0), (1000, f64::NAN)] {
        // SAFETY: the filter is there.
        assert_eq!(unsafe { bloom_init2(&mut bloom, entries, error) }, 1, "{entries} {error}");
        assert_eq!(bloom.ready, 0);
    }
    // More hashes than a byte counts; libbloom keeps what the byte has.
    let many = ready(1000, 5e-324);
    assert_eq!((many.hashes, many.bits), (1075_u32 as u8, 1_549_454));
    free(many);
    // A negative number of entries is a large one.
    // SAFETY: the filter is there.
    if unsafe { bloom_init(&mut bloom, -1, 0.5) } == 0 {
        assert_eq!((bloom.entries, bloom.bits), (u32::MAX, 6_196_328_017));
        assert_eq!((add_str(&mut bloom, "a"), check_str(&mut bloom, "a")), (0, 1));
    }
    free(bloom);
}

#[test]
fn merging_takes_filters_that_were_made_alike() {
    let (mut a, mut b, mut other) = (ready(1000, 0.01), ready(1000, 0.01), ready(1001, 0.01));
    add_str(&mut a, "a");
    add_str(&mut b, "b");
    // SAFETY: the filters are there.
    unsafe {
        assert_eq!(bloom_merge(&mut a, &mut b), 0);
        assert_eq!((check_str(&mut a, "a"), check_str(&mut a, "b"), check_str(&mut b, "a")), (1, 1, 0));
        let one: *mut bloom = &mut a;
        assert_eq!(bloom_merge(one, one), 0);
        assert_eq!(bloom_merge(&mut a, &mut other), 1);
        other.ready = 0;
        assert_eq!(bloom_merge(&mut a, &mut other), -1);
        assert_eq!(bloom_merge(&mut other, &mut a), -1);
        assert_eq!(bloom_merge(&mut a, null_mut()), -1);
        other.ready = 1;
        assert_eq!(bloom_reset(&mut a), 0);
    }
    assert_eq!(check_str(&mut a, "a"), 0);
    for bloom in [a, b, other] {
        free(bloom);
    }
}

/// One file for each reason, the nearest first that would be read.
#[test]
fn files_that_are_none_are_refused_with_libblooms_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut bloom) = (folder.path().join("saved"), ready(1000, 0.1));
    assert_eq!(save(&mut bloom, &path), 0);
    let good = fs::read(&path).unwrap();
    let changed = |at: usize, with: &[u8]| {
        let mut file = good.clone();
        file[at..at + with.len()].copy_from_slice(with);
        file
    };
    let cases = [
        (4, good[..8].to_vec()),
        (5, changed(0, b"libbloom1")),
        (6, good[..10].to_vec()),
        (7, changed(9, &[56, 0])),
        (8, good[..74].to_vec()),
        (9, changed(11 + 41, &[1])),
        (10, changed(11 + 16, &[0xff; 8])),
        (11, good[..good.len() - 1].to_vec()),
        (11, changed(11 + 16, &1000_u64.to_le_bytes())),
        (12, changed(11 + 16, &598_u64.to_le_bytes())),
        (12, changed(11 + 8, &u64::MAX.to_le_bytes())),
    ];
    for (expected, file) in cases {
        fs::write(&path, file).unwrap();
        let mut loaded = filter();
        assert_eq!(load(&mut loaded, &path), expected);
        assert_eq!((loaded.ready, loaded.bf), (0, null_mut()));
        assert_eq!(check_str(&mut loaded, "a"), -1);
    }
    let mut loaded = filter();
    assert_eq!(load(&mut loaded, &folder.path().join("none")), 3);
    assert_eq!(load(&mut loaded, Path::new("")), 1);
    assert_eq!(load(&mut loaded, folder.path()), 4, "a folder cannot be read");
    // SAFETY: NULL is what the functions take.
    unsafe {
        assert_eq!(bloom_load(&mut loaded, null_mut()), 1);
        assert_eq!(bloom_load(null_mut(), name(&path).as_ptr().cast_mut()), 2);
        assert_eq!(bloom_save(null_mut(), name(&path).as_ptr().cast_mut()), 1);
        assert_eq!(bloom_save(&mut bloom, null_mut()), 1);
    }
    assert_eq!(save(&mut bloom, Path::new("")), 1);
    assert_eq!(save(&mut bloom, folder.path()), 1);
    // SAFETY: the filter is there.
    unsafe { bloom_free(&mut bloom) };
    assert_eq!(save(&mut bloom, &path), 1, "the array is gone");
    assert_eq!(save(&mut filter(), &path), 0, "a filter that never was ready is a struct alone");
}

#[test]
fn odd_calls_are_answered() {
    // SAFETY: NULL and filters that are there are what the functions take.
    unsafe {
        assert_eq!(bloom_init2(null_mut(), 1000, 0.1), 1);
        assert_eq!(bloom_check(null_mut(), c"a".as_ptr().cast(), 1), -1);
        assert_eq!(bloom_add(null_mut(), c"a".as_ptr().cast(), 1), -1);
        assert_eq!(bloom_reset(null_mut()), 1);
        bloom_free(null_mut());
        let mut bloom = ready(1000, 0.9999);
        assert_eq!((bloom.bits, bloom.hashes), (0, 1));
        assert_eq!((add_str(&mut bloom, "a"), check_str(&mut bloom, "b")), (1, 1), "no bit: libbloom divides by zero");
        bloom_free(&mut bloom);
        bloom_free(&mut bloom);
        assert_eq!(bloom_reset(&mut bloom), 1);
    }
}

/// Positions beyond 2^32 wrap in libbloom 1 and go on in libbloom 2.
#[test]
fn positions_do_not_wrap() {
    let bloom = ready(1000, 1e-9);
    // SAFETY: the filter is ready and the key there.
    let (positions, key) = unsafe { (Positions::of(&bloom).unwrap(), Key::new(c"key".as_ptr().cast(), 3)) };
    let (a, b) = key.hashes();
    let expected: Vec<u64> =
        (0..u64::from(bloom.hashes)).map(|i| (u64::from(a) + i * u64::from(b)) % bloom.bits).collect();
    assert_eq!(positions.of_key(key).collect::<Vec<_>>(), expected);
    free(bloom);
}
