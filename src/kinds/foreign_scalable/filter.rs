//! Links over the words of a payload, and the operations on them.

use super::links::{Chain, LINE, Link, TAKEN, directory};
use crate::batch::answers::Answers;
use crate::batch::keys::WholeKeys;
use crate::batch::ring::{GROUP, Taken};
use crate::bits;
use crate::blocks::Measure;
use crate::blocks::placed::PlacedArray;
use crate::contract::{Base, Cardinality, Grow, KeyedKind, Kind, Merge, Payload, facets, over_base};
use crate::error::{Error, Result, Status, error};
use crate::format::Geometry;
use crate::kinds::foreign_bloom::placement;
use crate::kinds::foreign_bloom::placements::{KEY_WORDS, PlacementRow};
use crate::sizing::bloom;
use crate::sizing::levels::either;
use crate::storage::{Words, try_box, try_vec};
use core::sync::atomic::{AtomicU64, Ordering};

/// How many keys of a batch are looked up in one link before the next link.
const CHUNK: usize = 8 * GROUP;

/// A link, its range of the payload, and how keys are placed there.
struct Placed {
    link: Link,
    start: usize,
    array: Box<dyn PlacedArray>,
}

/// A chain of links over a payload.
struct ForeignScalable {
    base: Base,
    row: &'static PlacementRow,
    chain: Chain,
    /// One for each link of the chain, at least one.
    placed: Vec<Placed>,
}

/// A filter over a payload of this kind.
///
/// # Errors
/// [`Status::Corrupt`] for a geometry or a directory that the kind cannot have; [`Status::OutOfMemory`].
pub fn open(base: Base) -> Result<Box<dyn Kind>> {
    let geometry = *base.geometry();
    let chain = Chain::of(&geometry, base.words().shared());
    let Some((chain, row)) = chain.zip(placement(geometry.words[0])) else { return Err(base.foreign_geometry()) };
    let mut placed = try_vec(chain.links.len())?;
    let mut start = 0;
    for link in &chain.links {
        placed.push(place(&base, row, &chain, *link, start)?);
        start += link.words() as usize;
    }
    Ok(try_box(ForeignScalable { base, row, chain, placed })?)
}

/// A link that starts at this word of the payload.
fn place(base: &Base, row: &'static PlacementRow, chain: &Chain, link: Link, start: usize) -> Result<Placed> {
    let mut words = [0; 8];
    words[KEY_WORDS].copy_from_slice(&chain.key);
    let geometry = Geometry { bits: link.modulus(), hashes: link.hashes, words, payload_bytes: 0 };
    let array = base.known((row.open)(&geometry, base.hasher().identifier()))?;
    Ok(Placed { link, start, array })
}

impl Placed {
    fn range(&self) -> core::ops::Range<usize> {
        self.start..self.start + self.link.words() as usize
    }
}

impl ForeignScalable {
    /// The words of a link's array.
    fn words(&self, placed: &Placed) -> &[AtomicU64] {
        &self.base.words().shared()[placed.range()]
    }

    /// The place of the directory in the payload.
    fn directory(&self) -> usize {
        directory(self.base.words().shared().len(), self.placed.len()).unwrap_or(0)
    }

    /// The place of a word of a link's line in the payload.
    fn taken_place(&self, i: usize) -> usize {
        self.directory() + LINE * (1 + i) + TAKEN
    }

    /// How many keys a link has taken.
    fn taken(&self, i: usize) -> u64 {
        self.base.words().shared()[self.taken_place(i)].load(Ordering::Relaxed)
    }

    /// Whether any link has a key, the newest first.
    fn finds(&self, key: &[u8]) -> bool {
        self.placed.iter().rev().any(|placed| placed.array.contains(self.words(placed), key))
    }

    /// How many new keys the newest link takes.
    fn left(&self) -> u64 {
        let newest = self.placed.len() - 1;
        self.placed[newest].link.entries.saturating_sub(self.taken(newest))
    }

    /// Inserts a key into words that may be written.
    fn insert(&mut self, key: &[u8]) -> Result<bool> {
        let new = !self.finds(key);
        if new {
            if self.left() == 0 {
                self.grow()?;
            }
            let newest = self.placed.len() - 1;
            let place = self.taken_place(newest);
            let words = self.base.writable()?;
            let Placed { array, .. } = &self.placed[newest];
            array.insert(&mut words[self.placed[newest].range()], key);
            words[place] = words[place].saturating_add(1);
        }
        self.base.add_count(1);
        Ok(new)
    }

    /// Adds the link that follows the newest.
    ///
    /// # Errors
    /// [`Status::Full`] for an image in place and if no link can follow; [`Status::OutOfMemory`]. Nothing has changed
    /// then.
    #[cold]
    fn grow(&mut self) -> Result<()> {
        let geometry = *self.base.geometry();
        let [number, _, expansion, scaling, _, tightening, ..] = geometry.words;
        if !self.base.is_own() {
            return Err(self.base.full());
        }
        if scaling != 0 {
            let keys = self.base.count();
            return Err(error!(Full, "the filter does not scale and is full: it was offered {keys} keys"));
        }
        let newest = &self.placed[self.placed.len() - 1];
        let start = newest.range().end;
        let Some(link) = newest.link.next(number, expansion, f64::from_bits(tightening)) else {
            return Err(self.base.full());
        };
        let placed = place(&self.base, self.row, &self.chain, link, start)?;
        let out_of_memory = |_| error!(OutOfMemory, "{} bytes for another link could not be had", size_of::<Placed>());
        self.placed.try_reserve(1).map_err(out_of_memory)?;
        self.chain.links.try_reserve(1).map_err(out_of_memory)?;
        self.chain.links.push(link);
        match self.payload_with_one_more(start) {
            Ok((geometry, words)) => {
                self.base.replace(geometry, words);
                self.placed.push(placed);
                Ok(())
            }
            Err(error) => {
                self.chain.links.pop();
                Err(error)
            }
        }
    }

    /// The geometry of the chain, which has one more link than the payload, and the payload with that link. The old
    /// arrays end at word `end`.
    fn payload_with_one_more(&self, end: usize) -> Result<(Geometry, Words)> {
        let Some(geometry) = self.chain.geometry(self.base.geometry().words) else { return Err(self.base.full()) };
        let mut words = Words::zeroed(geometry.payload_bytes)?;
        let room = words.exclusive().ok_or(Status::Internal)?;
        for (to, from) in room.iter_mut().zip(&self.base.words().shared()[..end]) {
            *to = from.load(Ordering::Relaxed);
        }
        let from = directory(room.len(), self.chain.links.len()).ok_or(Status::Internal)?;
        let taken = |i| if i < self.placed.len() { self.taken(i) } else { 0 };
        for (to, line) in room[from..].as_chunks_mut().0.iter_mut().zip(self.chain.lines(&geometry.words, taken)) {
            *to = line;
        }
        Ok((geometry, words))
    }

    /// How many bits of a link are set.
    fn ones(&self, placed: &Placed) -> u64 {
        bits::count_ones_in(self.words(placed), 0, placed.link.modulus())
    }

    /// The keys of each link by its fill, the oldest link first, with the standard error of each.
    fn keys_by_fill(&self) -> impl Iterator<Item = Option<(f64, f64)>> {
        self.placed.iter().map(|placed| {
            let Link { hashes, .. } = placed.link;
            let keys = self.row.keys_from_fill(placed.link.modulus(), hashes, self.ones(placed))?;
            Some((keys, bloom::cardinality_standard_error(placed.link.modulus(), hashes, keys.round() as u64)))
        })
    }
}

impl Payload for ForeignScalable {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        for (i, placed) in self.placed.iter().enumerate() {
            let bits = placed.link.modulus();
            if !bits::is_zero_from(self.words(placed), bits) {
                return Err(error!(Corrupt, "bits of link {i} after the last one, {bits}, are set"));
            }
        }
        let end = self.placed[self.placed.len() - 1].range().end;
        let padding = &self.base.words().shared()[end..self.directory()];
        match padding.iter().any(|word| word.load(Ordering::Relaxed) != 0) {
            true => Err(error!(Corrupt, "words after the last link are not zero")),
            false => Ok(()),
        }
    }
}

impl Kind for ForeignScalable {
    /// A hash says nothing about a key's places, so any hash may have been inserted.
    fn contains_hash(&self, _hash: u64) -> bool {
        true
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let (mut ones, mut rate) = (0, 0.0);
        for placed in &self.placed {
            let here = self.ones(placed);
            ones += here;
            rate = either(rate, self.row.rate_from_fill(placed.link.modulus(), placed.link.hashes, here));
        }
        progress(self.base.words().bytes());
        let rate = self.row.with_floor(rate, self.of_payload().unwrap_or_default());
        Measure::of_bits(ones, self.base.geometry().bits, rate)
    }

    /// The links stay, empty.
    fn reset(&mut self) -> Result<()> {
        let (arrays, first) = (self.directory(), self.taken_place(0));
        let words = self.base.writable()?;
        words[..arrays].fill(0);
        words[first..].iter_mut().step_by(LINE).for_each(|taken| *taken = 0);
        Ok(())
    }

    facets!(KeyedKind, Grow, Merge, Cardinality);
}

impl KeyedKind for ForeignScalable {
    fn contains_key(&self, key: &[u8]) -> bool {
        self.finds(key)
    }

    fn contains_keys(&self, keys: &WholeKeys, answers: &mut Answers) {
        if let [only] = &self.placed[..] {
            return only.array.contains_many(self.words(only), keys, answers);
        }
        for start in (0..keys.len()).step_by(CHUNK) {
            let part = keys.part(start, keys.len().min(start + CHUNK));
            let mut found = [0; CHUNK / 8];
            for placed in self.placed.iter().rev() {
                let mut here = [0; CHUNK / 8];
                let mut of_link = Answers { bitmap: Some(&mut here[..part.len().div_ceil(8)]), ..Answers::default() };
                placed.array.contains_many(self.words(placed), &part, &mut of_link);
                found.iter_mut().zip(here).for_each(|(found, here)| *found |= here);
            }
            for (i, group) in found.as_chunks().0.iter().enumerate() {
                let at = GROUP * i;
                if at < part.len() {
                    answers.take(start + at, u64::from_le_bytes(*group), GROUP.min(part.len() - at));
                }
            }
        }
    }

    fn insert_key(&mut self, key: &[u8]) -> Result<bool> {
        self.base.writable()?;
        self.insert(key)
    }

    fn insert_keys(&mut self, keys: &WholeKeys, mut answers: Option<&mut Answers>) -> Taken {
        if let Err(error) = self.base.writable() {
            return Taken::none(error);
        }
        for start in (0..keys.len()).step_by(GROUP) {
            let (mut new, mut failed) = (0, None);
            let end = keys.len().min(start + GROUP);
            let mut at = start;
            while at < end && failed.is_none() {
                match keys.with(at, |key| self.insert(key)) {
                    Ok(is_new) => {
                        new |= u64::from(is_new) << (at - start);
                        at += 1;
                    }
                    Err(error) => failed = Some(error),
                }
            }
            if let Some(answers) = answers.as_deref_mut().filter(|_| at > start) {
                answers.take(start, new, at - start);
            }
            if let Some(error) = failed {
                return Taken { keys: at, outcome: Err(error) };
            }
        }
        Taken::all(keys.len())
    }
}

impl Grow for ForeignScalable {
    fn room(&self) -> u64 {
        self.left()
    }
}

/// Afterwards a link counts the keys that it took in both filters, some of which may be the same, so it is full sooner.
impl Merge for ForeignScalable {
    fn merge_with(&mut self, other: &dyn Kind) -> Result<()> {
        let base = other.base();
        let theirs = base.words().shared();
        let same = Chain::of(base.geometry(), theirs).filter(|theirs| self.is_shaped_as(theirs));
        if same.is_none() || base.geometry() != self.base.geometry() {
            return Err(different_links());
        }
        let arrays = self.directory();
        let first = self.taken_place(0);
        let words = self.base.writable()?;
        bits::unite(&mut words[..arrays], theirs);
        for (taken, theirs) in words[first..].iter_mut().zip(&theirs[first..]).step_by(LINE) {
            *taken = taken.saturating_add(theirs.load(Ordering::Relaxed));
        }
        Ok(())
    }
}

impl ForeignScalable {
    fn is_shaped_as(&self, other: &Chain) -> bool {
        self.chain.key == other.key
            && self.chain.links.len() == other.links.len()
            && self.chain.links.iter().zip(&other.links).all(|(a, b)| a.is_same(b))
    }
}

#[cold]
fn different_links() -> Error {
    error!(Incompatible, "the filters differ in their links: only chains of links with the same shapes have a union")
}

/// The keys of each link by its fill. Keys that an older link seemed to have when they came are in none: as many as the
/// rates of the older links make likely.
impl Cardinality for ForeignScalable {
    fn of_payload(&self) -> Option<f64> {
        let (mut keys, mut rate) = (0.0, 0.0);
        for (placed, here) in self.placed.iter().zip(self.keys_by_fill()) {
            keys += here?.0 / (1.0 - rate);
            let ones = self.ones(placed);
            rate = either(rate, self.row.rate_from_fill(placed.link.modulus(), placed.link.hashes, ones));
        }
        keys.is_finite().then_some(keys)
    }

    /// The number of set bits does not say in which link they are, so this reads the payload again.
    fn of_taken(&self, _: u64) -> Option<f64> {
        self.of_payload()
    }

    fn standard_error(&self, _: f64) -> f64 {
        let squares = self.keys_by_fill().map(|here| here.map_or(f64::INFINITY, |(_, error)| error * error));
        squares.sum::<f64>().sqrt()
    }
}
