//! Buckets as a table of fingerprints.

use super::{Buckets, Kernel, Place, Search, kernel, measure, merge};
use crate::batch::ring::{Batch, Few};
use crate::bits;
use crate::blocks::View;
use crate::blocks::fingerprint_table::{FingerprintTable, Held, Inserted};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::simd::Instructions;
use core::ops::Range;
use core::sync::atomic::AtomicU64;

/// Buckets with their inner loops, and with the memory that searches for empty slots use.
pub struct Cuckoo {
    buckets: Buckets,
    kernel: &'static Kernel,
    instructions: Instructions,
    search: Search,
}

impl FingerprintTable for Cuckoo {
    const LINES: usize = 2;

    fn of(geometry: &Geometry, instructions: Instructions) -> Result<Option<Cuckoo>> {
        let Some(buckets) = Buckets::of_geometry(geometry) else { return Ok(None) };
        Ok(Some(Cuckoo { buckets, kernel: kernel(instructions, &buckets), instructions, search: Search::new()? }))
    }

    #[inline]
    fn contains(&self, words: &[AtomicU64], hash: u64) -> bool {
        (self.kernel.contains)(&self.buckets, words, hash)
    }

    #[inline]
    fn fetch(&self, words: &[AtomicU64], hash: u64) {
        self.buckets.fetch(words, hash);
    }

    fn view<'a>(&self, words: &'a [AtomicU64]) -> Option<View<'a>> {
        self.buckets.view(words)
    }

    fn contains_many(&self, words: &[AtomicU64], batch: &mut dyn Batch) {
        (self.kernel.contains_many)(&self.buckets, words, batch);
    }

    fn contains_few(&self, words: &[AtomicU64], few: &Few) -> u64 {
        (self.kernel.contains_few)(&self.buckets, words, self.instructions, few)
    }

    #[inline]
    fn insert(&mut self, words: &mut [u64], hash: u64) -> Option<bool> {
        (self.kernel.insert)(&self.buckets, words, hash, &mut self.search)
    }

    fn visit_changed(&mut self, words: &[u64], hash: u64, visit: &mut dyn FnMut(Range<usize>)) {
        let Place { fingerprint, bucket, other } = self.buckets.place(hash);
        let full = [bucket, other];
        let mut visit = |bucket| visit(self.buckets.words_of(bucket));
        full.into_iter().for_each(&mut visit);
        if full.into_iter().all(|bucket| !self.buckets.has(words, bucket, 0)) {
            self.search.visit_way(&self.buckets, words, full, fingerprint, &mut visit);
        }
    }

    fn insert_many(&mut self, words: &mut [u64], batch: &mut dyn Batch) -> Option<Inserted> {
        Some((self.kernel.insert_many)(&self.buckets, words, batch, &mut self.search))
    }

    #[inline]
    fn remove(&self, words: &mut [u64], hash: u64) -> bool {
        self.buckets.remove(words, hash)
    }

    #[inline]
    fn copies(&self, words: &[AtomicU64], hash: u64) -> u64 {
        self.buckets.copies(words, hash)
    }

    fn most_copies(&self) -> u64 {
        self.buckets.most_copies()
    }

    fn slots(&self) -> u64 {
        self.buckets.all_slots()
    }

    fn classes(&self) -> u64 {
        self.buckets.classes()
    }

    fn held(&self, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> Held {
        measure::held(&self.buckets, words, progress)
    }

    fn classes_of_union(&self, words: &[AtomicU64], _other: &Cuckoo, others: &[AtomicU64]) -> u64 {
        measure::classes_of_union(&self.buckets, words, others)
    }

    fn insert_all(&mut self, words: &mut [u64], _other: &Cuckoo, others: &[AtomicU64]) -> bool {
        merge::insert_all(&self.buckets, words, others, &mut self.search)
    }

    fn check(&self, words: &[AtomicU64]) -> Result<()> {
        if !bits::is_zero_from(words, self.buckets.bits()) {
            return Err(error!(Corrupt, "bits after the last bucket, {}, are set", self.buckets.count()));
        }
        match self.buckets.is_clean(words) {
            true => Ok(()),
            false => Err(error!(Corrupt, "a bucket is not semi-sorted")),
        }
    }
}
