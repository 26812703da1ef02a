//! Records of an input as a set: what is there, by hashes under a key that nobody can foresee.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::keys::{Batch, Inputs};
use crate::progress::Progress;
use petal::{HashFunction, Hasher, SecretKey};
use std::hash::BuildHasher;
use std::ops::ControlFlow;
use std::path::Path;

/// The arguments of a single file of keys with such records.
pub fn keys_of(records: args::sync::Records, path: &Path) -> args::Keys {
    let args::sync::Records { null, crlf } = records;
    args::Keys { null, crlf, field: None, delimiter: None, files: vec![path.to_path_buf()] }
}

/// 16 bytes that nobody can foresee. The standard library seeds its hash maps from the system's random numbers.
pub fn random_key() -> SecretKey {
    let state = std::hash::RandomState::new();
    let mut key = [0; 16];
    for (half, place) in key.chunks_exact_mut(8).zip(0_u8..) {
        half.copy_from_slice(&state.hash_one((std::process::id(), place)).to_le_bytes());
    }
    key
}

/// Two hashes of a record, under two keys: 128 bits. Two of 10^9 records have the same with a chance of 10^-21.
pub type Digest = [u64; 2];

/// Makes digests.
pub struct Digester([Hasher; 2]);

impl Digester {
    /// A digester under a key.
    pub fn new(key: &SecretKey) -> Outcome<Digester> {
        let mut other = *key;
        other.iter_mut().for_each(|byte| *byte ^= 0x5a);
        let hasher = |key: &SecretKey| Hasher::new(HashFunction::SipHash13, 0, Some(key));
        Ok(Digester([hasher(key)?, hasher(&other)?]))
    }

    /// The digest of a record.
    pub fn digest(&self, record: &[u8]) -> Outcome<Digest> {
        let hash =
            |hasher: &Hasher| hasher.hash_bytes(record).map_err(|status| Failure::from(petal::Error::from(status)));
        Ok([hash(&self.0[0])?, hash(&self.0[1])?])
    }
}

/// A set of records by their digests, in ascending order: 16 bytes for each record.
pub struct Records(Vec<Digest>);

impl Records {
    /// The records of an input.
    pub fn read(inputs: &Inputs, digester: &Digester, doing: &'static str) -> Outcome<Records> {
        let mut digests: Vec<Digest> = Vec::new();
        inputs.for_each(&mut Progress::new(doing, inputs.length()).beside_output(), |batch| {
            if digests.try_reserve(batch.len()).is_err() {
                return Err(Failure::new(format_args!("out of memory after {} records", digests.len())));
            }
            for i in 0..batch.len() {
                digests.push(digester.digest(batch.key(i))?);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        digests.sort_unstable();
        digests.dedup();
        Ok(Records(digests))
    }

    /// The records that the other set has not.
    pub fn minus(&self, other: &Records) -> Outcome<Records> {
        let (mut only, mut others) = (Vec::new(), other.0.iter().peekable());
        for digest in &self.0 {
            while others.next_if(|other| *other < digest).is_some() {}
            if others.peek() != Some(&digest) {
                only.try_reserve(1).map_err(|_| Failure::new("out of memory for the differences"))?;
                only.push(*digest);
            }
        }
        Ok(Records(only))
    }

    /// The digests in ascending order.
    pub fn digests(&self) -> &[Digest] {
        &self.0
    }

    /// Where a digest stands, if it is there.
    pub fn find(&self, digest: &Digest) -> Option<usize> {
        self.0.binary_search(digest).ok()
    }
}

/// Calls `take` with each record of an input that is in a set, the first time that the record comes. The set holds
/// digests; `digest` makes them.
pub fn for_each_of(
    set: &Records,
    inputs: &Inputs,
    doing: &'static str,
    digest: impl Fn(&Batch, usize) -> Outcome<Digest>,
    mut take: impl FnMut(&[u8]) -> Outcome<()>,
) -> Outcome<()> {
    let mut left = set.0.len();
    if left == 0 {
        return Ok(());
    }
    let mut is_taken = vec![false; left];
    inputs.for_each(&mut Progress::new(doing, inputs.length()).beside_output(), |batch| {
        for i in 0..batch.len() {
            if let Some(place) = set.find(&digest(batch, i)?)
                && !std::mem::replace(&mut is_taken[place], true)
            {
                take(batch.key(i))?;
                left -= 1;
            }
        }
        Ok(if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    match left {
        0 => Ok(()),
        _ => Err(Failure::new(format_args!("{left} records are gone: the input changed while it was read"))),
    }
}

impl FromIterator<Digest> for Records {
    fn from_iter<I: IntoIterator<Item = Digest>>(digests: I) -> Records {
        let mut digests: Vec<Digest> = digests.into_iter().collect();
        digests.sort_unstable();
        Records(digests)
    }
}
