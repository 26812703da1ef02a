//! What can be asked of a filter whose keys are digests, in an image that is unclean.

use crate::exercise::image;
use petal::{Answers, Filter, HashFunction, Image, Keys, OpenOptions};

/// The bytes that digests are made of: positions that are first, last and in between.
const BYTES: [u8; 6] = [0, 0xff, 0x80, 0x7f, 0x55, 0x01];

/// Whether the keys of a filter are digests.
pub fn are_keys(filter: &Filter) -> bool {
    filter.base().hasher().function() == HashFunction::Digest
}

/// Digests, and how many bytes each has.
fn digests(filter: &Filter) -> (Vec<u8>, usize) {
    let each = filter.base().hasher().identifier() as usize / 8;
    let digest = |byte: u8| (0..each).map(move |i| byte.wrapping_add((i as u8).wrapping_mul(byte & 2)));
    (BYTES.into_iter().flat_map(digest).collect(), each)
}

/// Looks without changing anything: single digests and batches find the same, and other keys are refused.
pub fn look(filter: &Filter) {
    let (bytes, each) = digests(filter);
    let mut found = [9; BYTES.len()];
    let mut answers = Answers { bytes: Some(&mut found), ..Answers::default() };
    filter.contains_batch(&Keys::Digests { bytes: &bytes, each }, &mut answers).expect("these are digests");
    for (digest, found) in bytes.chunks(each).zip(found) {
        assert_eq!(filter.contains(digest), found == 1);
    }
    assert!(filter.contains(b"no digest") && filter.contains_u64(7) && filter.contains_hash(7));
    assert!(filter.contains_batch(&Keys::Hashes(&[7]), &mut Answers::default()).is_err());
    assert!(filter.contains_batch(&Keys::U64(&[7]), &mut Answers::default()).is_err());
    let keys = filter.base().header().count;
    for rate in [filter.false_positive_rate(), filter.expected_false_positive_rate(keys), filter.statistics().fill] {
        assert!((0.0..=1.0).contains(&rate), "{rate}");
    }
    if let Ok(Some(estimate)) = petal::estimate(filter) {
        assert!(estimate.value >= 0.0 && estimate.standard_error >= 0.0, "{estimate:?}");
    }
    assert!(petal::estimate_overlap(filter, filter).is_ok() && filter.equals(filter));
    let _ = petal::image_size(&filter.base().spec());
    let _ = filter.verify();
}

/// Changes a copy: what is inserted is found, also after a merge, a fold and a way through an image.
pub fn change(filter: &Filter) {
    let (bytes, each) = digests(filter);
    let keys = Keys::Digests { bytes: &bytes, each };
    let mut copy = filter.copy().expect("small");
    let mut batched = filter.copy().expect("small");
    for digest in bytes.chunks(each) {
        let known = copy.contains(digest);
        assert_eq!(copy.insert(digest).expect("it is a digest"), !known);
        assert!(copy.contains(digest));
    }
    batched.insert_batch(&keys, None).outcome.expect("these are digests");
    assert!(copy.equals(&batched), "a batch sets other bits");
    copy.merge(filter).expect("a copy is compatible");
    assert!(copy.equals(&batched) || filter.payload().check_payload().is_err(), "a merge of itself sets bits");
    for factor in [2, 3] {
        let mut folded = copy.copy().expect("small");
        if folded.fold(factor).is_ok() {
            assert!(bytes.chunks(each).all(|digest| folded.contains(digest)), "a fold lost a key");
        }
    }
    if filter.payload().check_payload().is_ok() {
        let again = petal::load(&image(&copy), &OpenOptions::default()).expect("it was just written");
        assert!(again.equals(&copy));
    }
    assert!(copy.insert(b"no digest").is_err() && copy.insert_hash(7).is_err());
}
