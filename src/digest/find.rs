//! Searches for an excerpt in a digest.

use super::Digest;
use crate::digest::cut::Cutter;
use crate::digest::entries::{Block, Groups, entry, entry_in, place};
use crate::digest::handle::MAX_EXCERPT;
use crate::digest::layout::{Cut, Payloads, Shape, State};
use crate::digest::sizing;
use crate::error::{Result, error};
use crate::handle::image::Image;
use crate::hash::Hasher;
use crate::{bits, storage::try_vec};
use core::sync::atomic::AtomicU64;

/// The bounds of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestFindOptions {
    /// The most bytes that an excerpt may have.
    pub max_excerpt: u64,
    /// The most entries that are looked up.
    pub max_lookups: u64,
    /// The most matches that are returned.
    pub max_matches: usize,
}

impl Default for DigestFindOptions {
    fn default() -> DigestFindOptions {
        DigestFindOptions { max_excerpt: MAX_EXCERPT, max_lookups: 1 << 28, max_matches: 64 }
    }
}

/// A place where an excerpt was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestMatch {
    /// The id of the payload. `None` if the digest keeps no ids.
    pub payload: Option<u64>,
    /// The least offset at which the excerpt may lie in the payload. Without ids this is the offset in a segment of the
    /// payload, or 0 if blocks are cut by content, because such a digest does not know offsets.
    pub offset: u64,
    /// How many offsets there are, beginning with `offset`, at which the excerpt may lie: 1 with fixed blocks.
    pub span: u64,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct DigestFindResult {
    /// The places, for each alignment in the order of payloads and offsets.
    pub matches: Vec<DigestMatch>,
    /// Whether the search came to its end. Otherwise it stopped at a bound of [`DigestFindOptions`], and there may be
    /// more matches.
    pub is_complete: bool,
    /// The probability that a random excerpt of the same number of blocks is found although no payload has it.
    pub rate: f64,
    /// If a payload has the excerpt, how many wrong segments of payloads are named on average besides the right one. 0
    /// without ids. Only the entries of segments tell segments apart, so the number is far above `rate`.
    pub wrong_segments: f64,
    /// How many entries were looked up.
    pub lookups: u64,
}

impl DigestFindResult {
    /// Whether there is a match.
    pub fn is_found(&self) -> bool {
        !self.matches.is_empty()
    }
}

impl Digest {
    /// Looks for an excerpt. Every excerpt that a payload had is found, at every place where it was, up to the bounds
    /// of `options`. [`Digest::add`] says which bytes of a payload are in no block.
    ///
    /// With fixed blocks a search tries each byte of a segment as the excerpt's place, and then each segment for each
    /// place that is left. With blocks that are cut by content it cuts the excerpt once, and tries each segment.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange) for an excerpt shorter than [`Digest::shortest_excerpt`],
    /// longer than `max_excerpt`, or without a block (such as one byte repeated, if blocks are cut by content);
    /// [`Status::SecretMissing`](crate::Status::SecretMissing); [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    #[inline]
    pub fn find(&self, excerpt: impl AsRef<[u8]>, options: &DigestFindOptions) -> Result<DigestFindResult> {
        self.find_bytes(excerpt.as_ref(), options)
    }

    fn find_bytes(&self, excerpt: &[u8], options: &DigestFindOptions) -> Result<DigestFindResult> {
        self.check_hasher()?;
        let (length, least) = (excerpt.len() as u64, self.shortest_excerpt());
        if length < least {
            return Err(error!(
                OutOfRange,
                "an excerpt of {length} bytes is shorter than {least}, the least that has a block of this digest"
            ));
        }
        if length > options.max_excerpt {
            let most = options.max_excerpt;
            return Err(error!(OutOfRange, "an excerpt of {length} bytes is longer than max_excerpt = {most}"));
        }
        let shape = self.shape();
        let mut search = Search {
            shape,
            state: self.state(),
            words: self.base().words().shared(),
            hasher: self.base().hasher(),
            length,
            lookups: 0,
            options,
            matches: Vec::new(),
        };
        let ended = match shape.cut {
            Cut::Fixed => search.fixed(excerpt),
            Cut::Content => search.content(excerpt),
        };
        let rate = self.entry_rate();
        let (is_complete, blocks, found_rate) = match ended? {
            Ended::Fixed { is_complete } => {
                // An excerpt has at least this many whole blocks, however it is aligned.
                let blocks = (length + 1) / shape.block_bytes - 1;
                (is_complete, blocks, self.expected_rate(length))
            }
            Ended::Content { is_complete, blocks, entries } => {
                (is_complete, blocks, sizing::rate_of_blocks(shape, &search.state, rate, blocks, entries))
            }
        };
        let wrong_segments = sizing::wrong_segments(&search.state, rate, blocks);
        let Search { matches, lookups, .. } = search;
        Ok(DigestFindResult { matches, is_complete, rate: found_rate, wrong_segments, lookups })
    }
}

/// How a search ended.
enum Ended {
    Fixed { is_complete: bool },
    Content { is_complete: bool, blocks: u64, entries: u64 },
}

/// A search under way. Its functions return `None` where it stops at a bound.
struct Search<'a> {
    shape: &'a Shape,
    state: State,
    words: &'a [AtomicU64],
    hasher: &'a Hasher,
    length: u64,
    lookups: u64,
    options: &'a DigestFindOptions,
    matches: Vec<DigestMatch>,
}

impl Search<'_> {
    /// Whether an entry is there.
    fn has(&mut self, entry: u64) -> Option<bool> {
        if self.lookups >= self.options.max_lookups {
            return None;
        }
        self.lookups += 1;
        Some(self.shape.scattered().all(entry, |bit| bits::test(self.words, bit)))
    }

    /// Counts work that is not a lookup, such as hashing a block.
    fn spend(&mut self) -> Option<()> {
        let is_left = self.lookups < self.options.max_lookups;
        self.lookups += u64::from(is_left);
        is_left.then_some(())
    }

    fn found(&mut self, found: DigestMatch) -> Result<Option<()>> {
        if self.matches.len() >= self.options.max_matches {
            return Ok(None);
        }
        if self.matches.try_reserve(1).is_err() {
            return Err(error!(OutOfMemory, "{} matches could not be kept", self.matches.len() + 1));
        }
        self.matches.push(found);
        Ok(Some(()))
    }

    /// Tries every place for fixed blocks.
    fn fixed(&mut self, excerpt: &[u8]) -> Result<Ended> {
        let block_bytes = self.shape.block_bytes as usize;
        let mut keys = try_vec(excerpt.len() / block_bytes)?;
        for lead in 0..block_bytes {
            let blocks = excerpt[lead..].chunks_exact(block_bytes);
            keys.clear();
            for first in sizing::places(self.shape, self.state.longest, self.length, lead as u64) {
                let Some(is_there) = self.is_at(first, blocks.clone(), &mut keys)? else {
                    return Ok(Ended::Fixed { is_complete: false });
                };
                if is_there && self.name_fixed(first, lead as u64, &keys)?.is_none() {
                    return Ok(Ended::Fixed { is_complete: false });
                }
            }
        }
        Ok(Ended::Fixed { is_complete: true })
    }

    /// Whether all blocks and groups of an excerpt are there if its first whole block is block `first` of a segment.
    /// `keys` has the keys of the first blocks, and gets those of further ones as they are needed.
    fn is_at(
        &mut self,
        first: u64,
        blocks: core::slice::ChunksExact<'_, u8>,
        keys: &mut Vec<u64>,
    ) -> Result<Option<bool>> {
        let mut groups = Groups::default();
        for (i, bytes) in blocks.enumerate() {
            if keys.len() == i {
                if self.spend().is_none() {
                    return Ok(None);
                }
                keys.push(self.hasher.hash_key(bytes)?);
            }
            let start = (first + i as u64) * self.shape.block_bytes;
            match self.has_groups(&mut groups, Block { start, key: keys[i] }) {
                Some(true) => {}
                other => return Ok(other),
            }
        }
        Ok(Some(true))
    }

    /// Whether the groups that end with a block are all there.
    fn has_groups(&mut self, groups: &mut Groups, block: Block) -> Option<bool> {
        let shape = self.shape;
        let mut is_there = Some(true);
        groups.take(shape, block, |level, key, first| {
            if is_there == Some(true) {
                is_there = self.has(entry(level, key, place(shape, first.start)));
            }
        });
        is_there
    }

    /// Reports the payloads that have an excerpt at this place.
    fn name_fixed(&mut self, first: u64, lead: u64, keys: &[u64]) -> Result<Option<()>> {
        let shape = self.shape;
        if shape.payloads == 0 {
            // The block may be the first one of a segment, with bytes before it in the segment before.
            let offset = (first * shape.block_bytes + shape.segment_bytes() - lead) % shape.segment_bytes();
            return self.found(DigestMatch { payload: None, offset, span: 1 });
        }
        let mut payloads = Payloads::new(shape, self.words, self.state);
        while let Some((id, length, segment)) = payloads.next() {
            if self.spend().is_none() {
                return Ok(None);
            }
            let Some(room) = length.checked_sub(self.length) else { continue };
            for part in 0..shape.segments_of(length) {
                let block = part * shape.segment_blocks + first;
                let Some(offset) = (block * shape.block_bytes).checked_sub(lead) else { continue };
                if offset > room {
                    break;
                }
                let Some(is_there) = self.has_all(segment, block, keys) else { return Ok(None) };
                if is_there && self.found(DigestMatch { payload: Some(id), offset, span: 1 })?.is_none() {
                    return Ok(None);
                }
            }
        }
        Ok(Some(()))
    }

    /// Whether a payload that begins with this segment has these blocks, from its block `first` on.
    fn has_all(&mut self, segment: u64, first: u64, keys: &[u64]) -> Option<bool> {
        let shape = self.shape;
        for (block, key) in (first..).zip(keys) {
            let segment = segment + block / shape.segment_blocks;
            if !self.has(entry_in(segment, *key, block % shape.segment_blocks))? {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Cuts the excerpt by content, and tries every segment.
    fn content(&mut self, excerpt: &[u8]) -> Result<Ended> {
        let mut cutter = Cutter::new(self.shape)?;
        let mut blocks = try_vec(excerpt.len() / (sizing::mean_block(self.shape) as usize / 2 + 1) + 1)?;
        cutter.take(self.hasher, excerpt, |block| {
            if blocks.len() < blocks.capacity() {
                blocks.push(block);
            }
        })?;
        if blocks.is_empty() {
            return Err(error!(
                OutOfRange,
                "the excerpt of {} bytes has no block that is cut by content: take a longer one, or one that does \
                 not repeat",
                self.length
            ));
        }
        let (mut groups, mut entries) = (Groups::default(), 0);
        for block in &blocks {
            groups.take(self.shape, *block, |_, _, _| entries += 1);
        }
        let is_complete = self.content_blocks(&blocks)?.is_some();
        Ok(Ended::Content { is_complete, blocks: blocks.len() as u64, entries })
    }

    fn content_blocks(&mut self, blocks: &[Block]) -> Result<Option<()>> {
        let mut groups = Groups::default();
        for block in blocks {
            match self.has_groups(&mut groups, *block) {
                None => return Ok(None),
                Some(false) => return Ok(Some(())),
                Some(true) => {}
            }
        }
        if self.shape.payloads == 0 {
            let span = self.state.longest.saturating_sub(self.length) + 1;
            return self.found(DigestMatch { payload: None, offset: 0, span });
        }
        let phases = Phases::new(blocks, self.shape.segment_bytes())?;
        let shape = self.shape;
        let mut payloads = Payloads::new(shape, self.words, self.state);
        while let Some((id, length, segment)) = payloads.next() {
            if self.spend().is_none() {
                return Ok(None);
            }
            let Some(room) = length.checked_sub(self.length) else { continue };
            let mut last: Option<DigestMatch> = None;
            for part in 0..self.shape.segments_of(length) {
                match self.has(entry_in(segment + part, blocks[0].key, 0)) {
                    None => return Ok(None),
                    Some(false) => continue,
                    Some(true) => {}
                }
                for (from, to) in phases.pairs() {
                    // The first block begins between `from` and `to` (excluded), and the excerpt some bytes before.
                    let start = part * self.shape.segment_bytes();
                    let lead = blocks[0].start;
                    let (from, to) = ((start + from).max(lead) - lead, (start + to).saturating_sub(lead).min(room + 1));
                    if from >= to {
                        continue;
                    }
                    let Some(is_there) = self.has_all_from(segment, from, blocks) else { return Ok(None) };
                    if !is_there {
                        continue;
                    }
                    match &mut last {
                        Some(found) if found.offset + found.span == from => found.span += to - from,
                        _ => {
                            let next = DigestMatch { payload: Some(id), offset: from, span: to - from };
                            if let Some(found) = last.replace(next)
                                && self.found(found)?.is_none()
                            {
                                return Ok(None);
                            }
                        }
                    }
                }
            }
            if let Some(found) = last
                && self.found(found)?.is_none()
            {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    /// Whether a payload that begins with this segment has all blocks if the excerpt begins at `offset`.
    fn has_all_from(&mut self, segment: u64, offset: u64, blocks: &[Block]) -> Option<bool> {
        let segment_bytes = self.shape.segment_bytes();
        for block in blocks {
            if !self.has(entry_in(segment + (offset + block.start) / segment_bytes, block.key, 0))? {
                return Some(false);
            }
        }
        Some(true)
    }
}

/// Where in its segment an excerpt's first block may begin, as ranges. Wherever in one range the first block begins,
/// each later block lies in the same segment.
struct Phases {
    /// The starts of the ranges, ascending, and the end of the last one.
    ends: Vec<u64>,
}

impl Phases {
    fn new(blocks: &[Block], segment_bytes: u64) -> Result<Phases> {
        let mut ends = try_vec(blocks.len() + 1)?;
        let turn = |block: &Block| (segment_bytes - (block.start - blocks[0].start) % segment_bytes) % segment_bytes;
        ends.extend(blocks.iter().map(turn));
        ends.push(segment_bytes);
        ends.sort_unstable();
        ends.dedup();
        Ok(Phases { ends })
    }

    fn pairs(&self) -> impl Iterator<Item = (u64, u64)> {
        self.ends.windows(2).map(|ends| (ends[0], ends[1]))
    }
}
