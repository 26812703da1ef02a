//! What searches find, and how the best hits are kept.

use super::Index;
use crate::bits::GOLDEN;
use crate::error::{Result, Status};
use crate::index::query::Sink;
use crate::storage::try_vec;
use core::cmp::Ordering;
use core::sync::atomic::{self, AtomicU64};

/// Up to this many hits are sorted directly.
const FEW: usize = 64;

/// A row that a search found. C passes arrays of these, so its layout is that of C.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IndexHit {
    /// The id of the row.
    pub id: u64,
    /// The number of the row.
    pub row: u64,
    /// How similar the row is to the query.
    pub similarity: f64,
}

impl IndexHit {
    /// The order of answers: the most similar first, then the least id, then the least number.
    pub fn order(&self, other: &IndexHit) -> Ordering {
        let similar = other.similarity.total_cmp(&self.similarity);
        similar.then(self.id.cmp(&other.id)).then(self.row.cmp(&other.row))
    }
}

/// Puts hits in the order of answers.
///
/// Counts of bits are whole numbers, so many hits are equally similar. The different similarities are found and sorted
/// first. Then each hit goes to the group of its similarity, and the groups are sorted by ids.
///
/// # Errors
/// [`Status::OutOfMemory`].
pub(super) fn sort(hits: &mut [IndexHit]) -> Result<()> {
    if hits.len() < FEW {
        hits.sort_unstable_by(IndexHit::order);
        return Ok(());
    }
    let mut groups = Groups::new(hits.len())?;
    let mut group_of: Vec<usize> = try_vec(hits.len())?;
    group_of.extend(hits.iter().map(|hit| groups.count(hit.similarity)));
    let mut groups = groups.found;
    let mut order: Vec<usize> = try_vec(groups.len())?;
    order.extend(0..groups.len());
    order.sort_unstable_by(|a, b| groups[*b].similarity.total_cmp(&groups[*a].similarity));
    let mut start = 0;
    for group in &order {
        groups[*group].next = start;
        start += groups[*group].hits;
    }
    // An id and a row as one number: numbers of 128 bits are sorted without a branch.
    let mut sorted = try_vec(hits.len())?;
    sorted.resize(hits.len(), 0_u128);
    for (hit, group) in hits.iter().zip(group_of) {
        let next = &mut groups[group].next;
        sorted[*next] = u128::from(hit.id) << 64 | u128::from(hit.row);
        *next += 1;
    }
    let (mut hits, mut sorted) = (hits, &mut sorted[..]);
    for Group { similarity, hits: length, .. } in order.iter().map(|group| &groups[*group]) {
        let (both, rest) = sorted.split_at_mut(*length);
        both.sort_unstable();
        let (into, others) = hits.split_at_mut(*length);
        for (hit, both) in into.iter_mut().zip(both) {
            *hit = IndexHit { id: (*both >> 64) as u64, row: *both as u64, similarity: *similarity };
        }
        (hits, sorted) = (others, rest);
    }
    Ok(())
}

/// Hits that are equally similar.
struct Group {
    similarity: f64,
    hits: usize,
    /// The place for the next of these hits.
    next: usize,
}

/// The similarities of hits: a hash table, with open addressing, of the groups found so far.
struct Groups {
    found: Vec<Group>,
    /// One more than the number of a group; 0 if the place is free.
    table: Vec<usize>,
    /// How far a product is shifted down to become a place.
    shift: u32,
}

impl Groups {
    /// Room for `most` different similarities.
    fn new(most: usize) -> Result<Groups> {
        let places = (2 * most).next_power_of_two();
        let mut table = try_vec(places)?;
        table.resize(places, 0);
        Ok(Groups { found: try_vec(most)?, table, shift: 64 - places.trailing_zeros() })
    }

    /// Counts a hit, and gives the number of its group.
    fn count(&mut self, similarity: f64) -> usize {
        let mask = self.table.len() - 1;
        // Fibonacci hashing: only the highest bits of the product depend on all bits, and the low bits of simple
        // fractions are all 0.
        let mut place = (similarity.to_bits().wrapping_mul(GOLDEN) >> self.shift) as usize;
        loop {
            match self.table[place].checked_sub(1) {
                None => {
                    self.found.push(Group { similarity, hits: 1, next: 0 });
                    self.table[place] = self.found.len();
                    return self.found.len() - 1;
                }
                Some(group) if self.found[group].similarity.total_cmp(&similarity).is_eq() => {
                    self.found[group].hits += 1;
                    return group;
                }
                Some(_) => place = (place + 1) & mask,
            }
        }
    }
}

/// All rows whose similarity reaches a threshold.
pub(super) struct Listed<'a> {
    index: &'a Index,
    threshold: f64,
    pub(super) hits: Vec<IndexHit>,
}

impl<'a> Listed<'a> {
    pub(super) fn new(index: &'a Index, threshold: f64) -> Listed<'a> {
        Listed { index, threshold, hits: Vec::new() }
    }
}

impl Sink for Listed<'_> {
    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn take(&mut self, row: u64, similarity: f64) -> Result<()> {
        self.hits.try_reserve(1).map_err(|_| Status::OutOfMemory)?;
        self.hits.push(IndexHit { id: self.index.rows.id(row), row, similarity });
        Ok(())
    }
}

/// A similarity that threads share: at least `k` rows that reach it are known.
#[derive(Default)]
pub(super) struct Shared(AtomicU64);

impl Shared {
    /// The bits of doubles from 0 on are in the same order as the doubles.
    fn raise(&self, similarity: f64) {
        self.0.fetch_max(similarity.max(0.0).to_bits(), atomic::Ordering::Relaxed);
    }

    fn value(&self) -> f64 {
        f64::from_bits(self.0.load(atomic::Ordering::Relaxed))
    }
}

/// The `k` best rows: a heap whose first hit is the last in the order of answers.
pub(super) struct Best<'a> {
    index: &'a Index,
    k: usize,
    bound: &'a Shared,
    pub(super) hits: Vec<IndexHit>,
}

impl<'a> Best<'a> {
    pub(super) fn new(index: &'a Index, k: usize, bound: &'a Shared) -> Best<'a> {
        Best { index, k, bound, hits: Vec::new() }
    }

    /// Moves the hit at a place up until the hit above it is worse.
    fn rise(&mut self, mut place: usize) {
        while place > 0 {
            let above = (place - 1) / 2;
            if self.hits[place].order(&self.hits[above]) != Ordering::Greater {
                return;
            }
            self.hits.swap(place, above);
            place = above;
        }
    }

    /// Moves the first hit down until the hits below it are better.
    fn sink(&mut self) {
        let mut place = 0;
        loop {
            let below = [2 * place + 1, 2 * place + 2].into_iter().filter(|below| *below < self.hits.len());
            let Some(worst) = below.max_by(|a, b| self.hits[*a].order(&self.hits[*b])) else { return };
            if self.hits[worst].order(&self.hits[place]) != Ordering::Greater {
                return;
            }
            self.hits.swap(place, worst);
            place = worst;
        }
    }
}

impl Sink for Best<'_> {
    #[inline]
    fn threshold(&self) -> f64 {
        self.bound.value()
    }

    fn take(&mut self, row: u64, similarity: f64) -> Result<()> {
        let hit = IndexHit { id: self.index.rows.id(row), row, similarity };
        if self.hits.len() < self.k {
            self.hits.try_reserve(1).map_err(|_| Status::OutOfMemory)?;
            self.hits.push(hit);
            self.rise(self.hits.len() - 1);
        } else if hit.order(&self.hits[0]) == Ordering::Less {
            self.hits[0] = hit;
            self.sink();
        }
        if self.hits.len() == self.k {
            self.bound.raise(self.hits[0].similarity);
        }
        Ok(())
    }
}
