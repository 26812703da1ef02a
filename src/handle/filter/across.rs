//! Lookups of one key in many filters.

use super::Filter;
use crate::batch::answers::Answers;
use crate::batch::ring;
use crate::bits::prefetch;
use crate::contract::Kind;
use crate::error::{Result, Status};
use crate::handle::many;
use crate::hash::Hasher;
use core::cell::Cell;

/// A filter that can be asked together with others: [`Filter`], and handles that contain one.
pub trait Asked: Sized {
    /// The filter's hasher: the hash function with its seed or secret.
    fn hasher(&self) -> &Hasher;

    /// Whether the handle can be asked. A handle in which something broke cannot.
    fn is_sound(&self) -> bool {
        true
    }

    /// How many words the payload has.
    fn words(&self) -> usize;

    /// Asks for the cache lines of the handle itself, which lead to its payload.
    fn touch(&self) {
        prefetch(self);
    }

    /// Asks for the cache lines that [`Asked::contains_hash`] reads first.
    fn fetch(&self, hash: u64);

    /// Whether the hash may have been inserted. Unless all filters are near, [`Asked::fetch`] was called before.
    fn contains_hash(&self, hash: u64) -> bool;
}

/// About how many of the filters say how large they are: to look at all handles would take as long as the answers do.
const SAMPLE: usize = 8;

/// Whether the filters are so large together that their lines are fetched ahead. Some of them, evenly spread, stand for
/// all.
fn are_far<A: Asked>(filters: &[&A]) -> bool {
    let step = filters.len() / SAMPLE + 1;
    let words = filters.iter().step_by(step).map(|filter| filter.words());
    ring::is_very_far(words.fold(0, usize::saturating_add).saturating_mul(step))
}

impl Asked for Filter {
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    fn words(&self) -> usize {
        self.kind.base().words().shared().len()
    }

    fn fetch(&self, hash: u64) {
        self.kind.fetch(hash);
    }

    fn contains_hash(&self, hash: u64) -> bool {
        Kind::contains_hash(&*self.kind, hash)
    }
}

/// Asks many filters for one hash: answer i is that of filter i. While one filter answers, the lines of the next ones
/// are being fetched, unless the filters are few and small.
///
/// # Errors
/// [`Status::BufferTooSmall`] if `answers` have no room for this many filters; [`Status::Unsupported`] if they want
/// more than a yes or no; [`Status::Internal`] if a handle is broken. All answers then say true.
pub fn filters_contain_hash<A: Asked>(filters: &[&A], hash: u64, answers: &mut Answers) -> Result<()> {
    ask(filters, A::touch, |_| Ok(hash), answers)
}

/// Asks many filters for one key: answer i is that of filter i. The key is hashed once if all filters have the same
/// hash function and seed or secret, and otherwise once for each filter. Filters that take keys whole cannot be asked
/// together.
///
/// # Errors
/// The errors of [`filters_contain_hash`]; [`Status::ExternalHash`] or [`Status::SecretMissing`] if a filter cannot
/// hash the key. All answers then say true.
pub fn filters_contain<A: Asked>(filters: &[&A], key: impl AsRef<[u8]>, answers: &mut Answers) -> Result<()> {
    let key = key.as_ref();
    let hash = |hasher: &Hasher| hasher.hash_bytes(key);
    let Some(first) = filters.first().map(|first| first.hasher()) else {
        return filters_contain_hash(filters, 0, answers);
    };
    let shared = first.refusal().map_or_else(|| hash(first), Err);
    // XXH3 hashes every key, so no handle with the same seed refuses.
    let flip = first.flip();
    let touch = |filter: &A| {
        filter.touch();
        prefetch(filter.hasher());
    };
    let hash_for = |filter: &A| match filter.hasher() {
        hasher if flip.is_some() && hasher.flip() == flip => shared,
        // A handle without the secret key still has the identifier of the secret.
        hasher if hasher.is_same(first) => hasher.refusal().map_or(shared, Err),
        hasher => hash(hasher),
    };
    ask(filters, touch, hash_for, answers)
}

/// Asks each filter for the hash that `hash` gives for it. Each filter's handle is looked at only when its turn comes:
/// a pass over all handles before that would take as long as the answers do.
fn ask<A: Asked>(
    filters: &[&A],
    touch: impl Fn(&A),
    hash: impl Fn(&A) -> core::result::Result<u64, Status>,
    answers: &mut Answers,
) -> Result<()> {
    let refused = Cell::new(None);
    let hash_for = |filter: &A| {
        let refusal = match hash(filter) {
            Ok(hash) if filter.is_sound() => return Some(hash),
            Ok(_) => Status::Internal,
            Err(refusal) => refusal,
        };
        refused.set(refused.get().or(Some(refusal)));
        None
    };
    let fetch = |i: usize| {
        if let Some(hash) = hash_for(filters[i]) {
            filters[i].fetch(hash);
        }
    };
    // A filter that was refused answers true, as all will.
    let ask = |i: usize| hash_for(filters[i]).is_none_or(|hash| filters[i].contains_hash(hash));
    many::across(filters.len(), !are_far(filters), answers, |i| touch(filters[i]), fetch, ask)?;
    match refused.get() {
        None => Ok(()),
        Some(refusal) => {
            answers.fill(true, filters.len());
            answers.done = 0;
            Err(refusal.into())
        }
    }
}
