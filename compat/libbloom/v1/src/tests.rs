use super::*;
use serde_json::Value;
use std::ptr::null_mut;

/// A struct as a caller may have it: of anything.
fn filter() -> bloom {
    bloom { entries: -1, error: 7.0, bits: -1, bytes: -1, hashes: -1, bpe: 7.0, bf: null_mut(), ready: 0 }
}

fn add_str(bloom: &mut bloom, key: &str) -> c_int {
    // SAFETY: the key is there.
    unsafe { bloom_add(bloom, key.as_ptr().cast(), key.len() as c_int) }
}

fn check_str(bloom: &mut bloom, key: &str) -> c_int {
    // SAFETY: the key is there.
    unsafe { bloom_check(bloom, key.as_ptr().cast(), key.len() as c_int) }
}

#[test]
fn filters_are_those_that_libbloom_made() {
    let vectors: Value = serde_json::from_str(include_str!("../../vectors/libbloom_1.6.json")).unwrap();
    assert_eq!(vectors["sizeof"], size_of::<bloom>());
    let keys: Vec<&str> = vectors["keys"].as_array().unwrap().iter().map(|key| key.as_str().unwrap()).collect();
    for case in vectors["cases"].as_array().unwrap() {
        let mut bloom = filter();
        let (entries, error) = (case["entries"].as_i64().unwrap() as c_int, case["error"].as_f64().unwrap());
        // SAFETY: the filter is there.
        let status = unsafe { bloom_init(&mut bloom, entries, error) };
        assert_eq!(case["init_rc"], status, "{case}");
        if status == 1 && (entries < MIN_ENTRIES || error == 0.0) {
            assert_eq!((bloom.entries, bloom.ready), (-1, 0), "a filter that was refused is left alone");
            continue;
        }
        let fields = [bloom.entries, bloom.bits, bloom.bytes, bloom.hashes];
        assert_eq!(
            fields.map(i64::from),
            ["entries", "bits", "bytes", "hashes"].map(|name| case[name].as_i64().unwrap())
        );
        assert_eq!((bloom.error, bloom.bpe), (error, case["bpe"].as_f64().unwrap()));
        if status == 1 {
            continue;
        }
        let added: Vec<c_int> = keys.iter().map(|key| add_str(&mut bloom, key)).collect();
        assert_eq!(case["added"], serde_json::json!(added), "{entries} {error}");
        // SAFETY: a ready filter has as many bytes.
        let bytes = unsafe { core::slice::from_raw_parts(bloom.bf, bloom.bytes as usize) };
        let set: Vec<usize> = (0..8 * bytes.len()).filter(|bit| bytes[bit / 8] >> (bit % 8) & 1 == 1).collect();
        assert_eq!(case["set_bits"], serde_json::json!(set), "{entries} {error}");
        assert!(keys.iter().all(|key| check_str(&mut bloom, key) == 1));
        // SAFETY: the filter is ready.
        unsafe { bloom_free(&mut bloom) };
    }
}

#[test]
fn remainders_are_remainders() {
    let numbers = [0, 1, 2, 7, 8, 9585, 1 << 31, (1 << 31) + 1, u32::MAX - 1, u32::MAX];
    for divisor in numbers.into_iter().skip(1).chain(1..2000) {
        let fast = Divisor::new(divisor).unwrap();
        for number in numbers.into_iter().chain([divisor - 1, divisor.wrapping_add(1), divisor.wrapping_mul(3)]) {
            assert_eq!(fast.remainder(number), u64::from(number % divisor), "{number} % {divisor}");
        }
    }
    assert!(Divisor::new(0).is_none());
}

/// Inputs that libbloom survives, and inputs that it does not survive.
#[test]
fn odd_calls_are_answered() {
    // SAFETY: NULL and filters that are there are what the functions take.
    unsafe {
        assert_eq!(bloom_init(null_mut(), 1000, 0.1), 1);
        assert_eq!(bloom_check(null_mut(), c"a".as_ptr().cast(), 1), -1);
        assert_eq!(bloom_add(null_mut(), c"a".as_ptr().cast(), 1), -1);
        assert_eq!(bloom_reset(null_mut()), 1);
        bloom_free(null_mut());

        let mut bloom = filter();
        assert_eq!(bloom_reset(&mut bloom), 1);
        assert_eq!(check_str(&mut bloom, "a"), -1);
        assert_eq!(bloom_init_size(&mut bloom, 1000, 0.9999, 64), 0);
        assert_eq!((bloom.bits, bloom.hashes), (0, 1));
        assert_eq!((add_str(&mut bloom, "a"), check_str(&mut bloom, "b")), (1, 1), "no bit: libbloom divides by zero");
        bloom_free(&mut bloom);
        bloom_free(&mut bloom);

        assert_eq!(bloom_init(&mut bloom, 1000, 0.01), 0);
        assert_eq!(bloom_add(&mut bloom, core::ptr::null(), 5), 0);
        assert_eq!(bloom_add(&mut bloom, c"any".as_ptr().cast(), -5), 0);
        assert_eq!(bloom_add(&mut bloom, core::ptr::null(), 5), 1);
        assert_eq!(bloom_reset(&mut bloom), 0);
        assert_eq!(bloom_check(&mut bloom, core::ptr::null(), 5), 0);
        bloom_free(&mut bloom);
    }
}
