// What calls with one key, or with few, need of a filter. The handle keeps it, so that such a call goes straight to the
// kernel, and not through two tables of functions. Without a kernel the call goes to the filter itself.

use super::petal_filter;
use petal_core::blocks::Probe;
use petal_core::ring::Few;
use std::slice;
use std::sync::atomic::Ordering;

impl petal_filter {
    /// Takes from the filter what single keys need. Called when the handle is in its place, and after each change.
    pub(crate) fn renew_probe(&mut self) {
        let probe = self.filter.probe();
        // SAFETY: only the lifetime changes. What the probe borrows stays valid until the filter is borrowed mutably or
        // dropped. Mutably it is borrowed in `change`, which comes here afterwards or leaves a poisoned handle, which
        // nobody looks into; in `insert_at_once`, `insert_few_at_once` and `remove_at_once`, where there is no probe;
        // and when it is freed.
        self.probe = unsafe { std::mem::transmute::<Option<Probe<'_>>, Option<Probe<'static>>>(probe) };
    }

    /// Whether a hash may have been inserted.
    #[inline(always)]
    pub(crate) fn contains_hash(&self, hash: u64) -> bool {
        match &self.probe {
            Some(probe) => probe.contains(hash),
            None => self.filter.contains_hash(hash),
        }
    }

    /// Whether each of few keys may have been inserted, as `Filter::contains_few` says it.
    #[inline(always)]
    pub(crate) fn contains_few(&self, few: &Few) -> Option<u64> {
        match &self.probe {
            Some(probe) => probe.contains_few(few),
            None => self.filter.contains_few(few),
        }
    }

    /// Inserts a hash if that takes no preparation, as `Filter::insert_hash_at_once` does. Without `is_asked` the
    /// answer may be false for a new key too.
    #[inline(always)]
    pub(crate) fn insert_at_once(&mut self, hash: u64, is_asked: bool) -> Option<bool> {
        let Some(probe) = &self.probe else { return self.filter.insert_hash_at_once(hash) };
        // SAFETY: the handle, whose probe this is, is borrowed mutably.
        unsafe { insert_through(probe, 1, |words| Some(probe.insert(words, hash, is_asked))) }
    }

    /// Inserts a few keys if that takes no preparation, as `Filter::insert_few_at_once` does.
    #[inline(always)]
    pub(crate) fn insert_few_at_once(&mut self, few: &Few, is_asked: bool) -> Option<u64> {
        let Some(probe) = &self.probe else { return self.filter.insert_few_at_once(few, is_asked) };
        let keys = few.keys.len() as u64;
        // SAFETY: the handle, whose probe this is, is borrowed mutably.
        unsafe { insert_through(probe, keys, |words| probe.insert_few(words, few, is_asked)) }
    }

    /// Removes a hash, as `Filter::remove_hash` does. `None` if there is a probe, or the removal is refused.
    #[inline(always)]
    pub(crate) fn remove_at_once(&mut self, hash: u64) -> Option<bool> {
        if self.probe.is_some() { None } else { self.filter.remove_hash_at_once(hash) }
    }

    /// How often a hash was inserted, as `Filter::count_hash` says it. `None` if counting is refused.
    #[inline(always)]
    pub(crate) fn count_at_once(&self, hash: u64) -> Option<u64> {
        self.filter.count_hash(hash).ok()
    }

    /// Inserts a hash while others insert and look up, if that takes no preparation, as
    /// `Filter::insert_shared_hash_at_once` does.
    #[inline(always)]
    pub(crate) fn insert_shared_at_once(&self, hash: u64) -> Option<bool> {
        let Some(probe) = &self.probe else { return self.filter.insert_shared_hash_at_once(hash) };
        probe.insertions?;
        Some(probe.insert_shared(hash))
    }
}

/// Gives the words of a probe to `insert`, and counts `keys` keys if `insert` took them. Does nothing if the words are
/// an image in place.
///
/// # Safety
/// Nobody else uses the probe's handle.
#[inline(always)]
unsafe fn insert_through<T>(probe: &Probe, keys: u64, insert: impl FnOnce(&mut [u64]) -> Option<T>) -> Option<T> {
    let insertions = probe.insertions?;
    let words = probe.words;
    // SAFETY: where a probe counts keys the words are the filter's own memory, and atomics may be written through.
    // Nobody else uses the words meanwhile, as the safety section asks.
    let words = unsafe { slice::from_raw_parts_mut(words.as_ptr().cast::<u64>().cast_mut(), words.len()) };
    let new = insert(words)?;
    // Nobody else counts meanwhile either.
    insertions.store(insertions.load(Ordering::Relaxed).saturating_add(keys), Ordering::Relaxed);
    Some(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facets::combine::petal_filter_fold;
    use crate::filter::probe::*;
    use crate::filter::{petal_filter_free, petal_filter_with_capacity};
    use crate::status::PETAL_OK;
    use petal_core::Image;
    use std::ptr;

    #[test]
    fn calls_of_one_key_see_the_words_that_folding_left() {
        // SAFETY: the handle lives until it is freed.
        unsafe {
            let filter = petal_filter_with_capacity(1000, 0.01);
            let words = |filter: *mut petal_filter| (*filter).probe.as_ref().unwrap().words;
            let before = words(filter).len();
            let factor = (2..100).find(|factor| (before as u64 / 8).is_multiple_of(*factor)).unwrap();
            for key in 0..1000 {
                assert_eq!(petal_filter_insert_u64(filter, key, ptr::null_mut()), PETAL_OK);
            }
            assert_eq!(petal_filter_fold(filter, factor, ptr::null_mut()), PETAL_OK);
            assert_eq!(words(filter).len() as u64 * factor, before as u64);
            assert!(ptr::eq(words(filter), (*filter).filter.probe().unwrap().words));
            for key in 1000..2000 {
                assert_eq!(petal_filter_insert_u64(filter, key, ptr::null_mut()), PETAL_OK);
            }
            assert!((0..2000).all(|key| petal_filter_contains_u64(filter, key)));
            assert_eq!((*filter).filter.base().count(), 2000);
            petal_filter_free(filter);
        }
    }
}
