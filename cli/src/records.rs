//! Records of an input as a set: what is there, by hashes under a key that nobody can foresee.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::keys::{Batch, Inputs};
use crate::progress::Progress;
use petal::{HashFunction, Hasher, Secret};
use std::hash::BuildHasher;
use std::ops::ControlFlow;
use std::path::Path;

/// The arguments of a single file of keys with such records.
pub fn keys_of(records: args::sync::Records, path: &Path) -> args::Keys {
    let args::sync::Records { null, crlf } = records;
    args::Keys { null, crlf, field: None, delimiter: None, files: vec![path.to_path_buf()] }
}

/// 16 bytes that nobody can foresee. The standard library seeds its hash maps from the system's random numbers.
pub fn random_key() -> Secret {
    let state = std::hash::RandomState::new();
    let mut key = [0; 16];
    for (half, place) in key.chunks_exact_mut(8).zip(0_u8..) {
        half.copy_from_slice(&state.hash_one((std::process::id(), place)).to_le_bytes());
    }
    key
}

/// Two hashes of a record, under two keys: 128 bits. Two of 10^9 records have the same with a chance of 10^-21. The
/// hashes are one number, because arrays are compared in a loop.
pub type Digest = u128;

/// The digest whose first hash, or number, is this one, and the second is 0.
pub fn digest_of(number: u64) -> Digest {
    u128::from(number) << 64
}

/// The first hash, or number, of a digest.
pub fn number_of(digest: Digest) -> u64 {
    (digest >> 64) as u64
}

/// Makes digests.
pub struct Digester([Hasher; 2]);

impl Digester {
    /// A digester under a key.
    pub fn new(key: &Secret) -> Outcome<Digester> {
        let mut other = *key;
        other.iter_mut().for_each(|byte| *byte ^= 0x5a);
        let hasher = |key: &Secret| Hasher::new(HashFunction::SipHash13, 0, Some(key));
        Ok(Digester([hasher(key)?, hasher(&other)?]))
    }

    /// The digest of a record.
    pub fn digest(&self, record: &[u8]) -> Outcome<Digest> {
        let hash =
            |hasher: &Hasher| hasher.hash_bytes(record).map_err(|status| Failure::from(petal::Error::from(status)));
        Ok(digest_of(hash(&self.0[0])?) | u128::from(hash(&self.0[1])?))
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

    /// The records that the other set does not have.
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

    /// An index that finds digests of a large set in a few steps.
    fn finder(&self) -> Outcome<Finder<'_>> {
        Finder::new(&self.0)
    }
}

/// Finds digests. The first bits of a digest say where digests with these bits begin, so that a search reads two lines
/// of memory where a search by halves reads twenty.
struct Finder<'a> {
    digests: &'a [Digest],
    /// Where the digests with each value of the first bits begin, and the end of all.
    starts: Vec<usize>,
    shift: u32,
}

impl Finder<'_> {
    fn new(digests: &[Digest]) -> Outcome<Finder<'_>> {
        // Some four digests have the same first bits.
        let bits = digests.len().max(4).ilog2().clamp(3, 32) - 2;
        let (shift, count) = (64 - bits, 1 << bits);
        let mut starts = Vec::new();
        let failed = |_| Failure::new("out of memory for the differences");
        starts.try_reserve_exact(count + 1).map_err(failed)?;
        let mut place = 0;
        for first in 0..=count as u64 {
            while digests.get(place).is_some_and(|digest| number_of(*digest) >> shift < first) {
                place += 1;
            }
            starts.push(place);
        }
        Ok(Finder { digests, starts, shift })
    }

    fn find(&self, digest: &Digest) -> Option<usize> {
        let first = (number_of(*digest) >> self.shift) as usize;
        let (start, end) = (self.starts[first], self.starts[first + 1]);
        self.digests[start..end].binary_search(digest).ok().map(|place| start + place)
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
    let (mut is_taken, finder) = (vec![false; left], set.finder()?);
    inputs.for_each(&mut Progress::new(doing, inputs.length()).beside_output(), |batch| {
        for i in 0..batch.len() {
            if let Some(place) = finder.find(&digest(batch, i)?)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets of every size, and of numbers that are far from random, are searched as by halves.
    #[test]
    fn digests_are_found_where_they_stand() {
        for count in [0, 1, 2, 3, 4, 5, 63, 64, 65, 1000] {
            for step in [1, 1 << 40, u64::MAX / 1000] {
                let records: Records = (0..count).map(|i| digest_of(i * step) | u128::from(i)).collect();
                let finder = records.finder().expect("memory");
                for digest in records.digests().iter().copied().chain([0, 1, digest_of(u64::MAX), u128::MAX]) {
                    assert_eq!(finder.find(&digest), records.find(&digest), "{count} {step} {digest:x}");
                }
            }
        }
    }
}
