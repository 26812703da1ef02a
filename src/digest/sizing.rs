//! How many entries a digest takes, and how often an excerpt that no payload has is nevertheless found.
//!
//! An excerpt is found at a place if all entries of its blocks and groups are there. If X of the m bits of the filter
//! are set, each of T entries that nobody inserted seems to be there with the probability e = (X/m)^k, independently of
//! the others. So a place is found with the probability e^T. With fixed blocks every place where the excerpt could lie
//! is tried, and the probability that none is found is the product over these places. With ids a place counts only if
//! one of S segments also has all of its q blocks, which has the probability 1 - (1 - e^q)^S. S is then the number of
//! segments in which the excerpt could lie at this place, given the payloads' lengths ([`Lengths`]).

use crate::digest::cut::{WINDOW, reach};
use crate::digest::layout::{Cut, Shape, State};
use crate::error::Result;
use crate::order::sort_by_key;
use crate::storage::try_vec;
use core::cell::RefCell;

/// The greatest number of blocks for which the distribution of cuts is computed. For longer excerpts the mean is used.
const MOST_CUTS: usize = 64;

/// The blocks of the largest groups.
const MOST_PERIOD: usize = 8;

/// How many entries the filter of this shape gets for each block, on average.
fn entries_of_block(shape: &Shape) -> f64 {
    let groups: f64 = (0..shape.levels).map(|level| 0.5_f64.powi(level as i32)).sum();
    groups + if shape.payloads > 0 { 1.0 } else { 0.0 }
}

/// The average number of bytes of a block.
pub fn mean_block(shape: &Shape) -> u64 {
    match shape.cut {
        Cut::Fixed => shape.block_bytes,
        Cut::Content => 2 * reach(shape.block_bytes) + 1,
    }
}

/// About how many entries `bytes` bytes of data make.
pub fn entries(shape: &Shape, bytes: u64) -> u64 {
    let blocks = bytes as f64 / mean_block(shape) as f64;
    (blocks * entries_of_block(shape)).ceil() as u64
}

/// The length in bytes of the shortest excerpt that a search takes. With fixed blocks such an excerpt has a whole block
/// wherever it lies in its payload. With blocks that are cut by content it may have one.
pub fn shortest(shape: &Shape) -> u64 {
    match shape.cut {
        Cut::Fixed => 2 * shape.block_bytes - 1,
        Cut::Content => WINDOW as u64 + 3 * reach(shape.block_bytes) + 1,
    }
}

/// How many groups of 2^level blocks lie in `blocks` consecutive fixed blocks from the block with this number on,
/// summed over the levels.
fn groups_in(shape: &Shape, first: u64, blocks: u64) -> u64 {
    (0..shape.levels).map(|level| ((first + blocks) >> level).saturating_sub(first.div_ceil(1 << level))).sum()
}

/// The present rate of an entry: the probability that the filter seems to have an entry that nobody inserted.
pub fn entry_rate(shape: &Shape, ones: u64) -> f64 {
    crate::sizing::bloom::from_fill(shape.bits, shape.hashes, ones)
}

/// The probability that a place is taken for the excerpt's, with these numbers of entries and blocks, and with ids in
/// any of these segments.
fn place_rate(shape: &Shape, segments: u64, rate: f64, entries: f64, blocks: f64) -> f64 {
    let there = rate.powf(entries);
    if shape.payloads == 0 {
        return there;
    }
    // The probability that any of the segments has all blocks.
    let named = -(segments as f64 * (-rate.powf(blocks)).ln_1p()).exp_m1();
    there * named.clamp(0.0, 1.0)
}

/// The lengths of the payloads of a digest with ids and fixed blocks. They determine in how many segments an excerpt
/// could lie at each place.
pub struct Lengths {
    /// Ordered by the number of bytes after the last whole block.
    sorted: Vec<u64>,
    /// Room for the number of segments at each place.
    segments: RefCell<Vec<u64>>,
}

impl Lengths {
    /// The lengths of at most `payloads` payloads.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn of(shape: &Shape, payloads: u64, lengths: impl Iterator<Item = u64>) -> Result<Lengths> {
        let mut sorted = try_vec(usize::try_from(payloads).unwrap_or(usize::MAX))?;
        sorted.extend(lengths.take(sorted.capacity()));
        sort_by_key(&mut sorted, |length| length % shape.block_bytes);
        let segments = try_vec(shape.segment_blocks as usize)?;
        Ok(Lengths { sorted, segments: RefCell::new(segments) })
    }

    /// The length of the longest payload; 0 if there is none.
    pub fn longest(&self) -> u64 {
        self.sorted.iter().copied().max().unwrap_or(0)
    }

    /// For each number of bytes before the first whole block of an excerpt of `length` bytes, gives `take` the number
    /// of segments in which this block can have each place.
    fn each_lead(&self, shape: &Shape, length: u64, mut take: impl FnMut(u64, &[u64])) {
        let (block_bytes, places) = (shape.block_bytes, shape.segment_blocks);
        let mut segments = self.segments.borrow_mut();
        segments.clear();
        segments.resize(places as usize, 0);
        // First the number of payloads whose last segment ends before a place; the rest of a payload has every place.
        let (mut whole, mut enough) = (0_u64, 0);
        for payload in self.sorted.iter().filter(|payload| **payload >= length) {
            let blocks = (payload - length) / block_bytes + 1;
            whole = whole.saturating_add(blocks / places);
            segments[(blocks % places) as usize] += 1;
            enough += 1;
        }
        let mut ended = 0;
        for ends in segments.iter_mut() {
            ended += core::mem::take(ends);
            *ends = whole.saturating_add(enough - ended);
        }
        for lead in 0..block_bytes.min(length) {
            if lead == 1 {
                // No block is before the first one of a payload.
                segments[0] = segments[0].saturating_sub(enough);
            }
            if lead > 0 {
                // In these payloads the last block that fits begins one place later from here on.
                let rest = (length - lead) % block_bytes;
                let from = self.sorted.partition_point(|payload| payload % block_bytes < rest);
                let same = self.sorted[from..].iter().take_while(|payload| **payload % block_bytes == rest);
                for payload in same.filter(|payload| **payload >= length) {
                    segments[(((payload - length) / block_bytes + 1) % places) as usize] += 1;
                }
            }
            take(lead, &segments);
        }
    }
}

/// The places in a payload of `longest` bytes where the first whole block of an excerpt can lie, as numbers of this
/// block in its segment. The block begins `lead` bytes after the start of the excerpt. In a payload of several segments
/// every number is possible.
pub fn places(shape: &Shape, longest: u64, length: u64, lead: u64) -> core::ops::Range<u64> {
    if longest > shape.segment_bytes() {
        return 0..shape.segment_blocks;
    }
    let Some(room) = longest.checked_sub(length) else { return 0..0 };
    lead.div_ceil(shape.block_bytes)..(room + lead) / shape.block_bytes + 1
}

/// The probability that a random excerpt of `length` bytes, which no payload has, is found, given the rate of an entry.
/// Without the lengths of payloads it may be too high, if the digest has ids and fixed blocks.
pub fn rate_of_random(shape: &Shape, state: &State, lengths: Option<&Lengths>, rate: f64, length: u64) -> f64 {
    match (shape.cut, lengths) {
        (Cut::Fixed, Some(lengths)) => rate_of_named(shape, lengths, rate, length),
        (Cut::Fixed, None) => rate_of_fixed(shape, state, rate, length),
        (Cut::Content, _) => rate_of_cut(shape, state, rate, length),
    }
}

/// How many wrong segments are named on average for an excerpt of q blocks that is there: S e^q.
pub fn wrong_segments(state: &State, rate: f64, blocks: u64) -> f64 {
    state.segments as f64 * rate.powf(blocks as f64)
}

/// The probability that an excerpt with these blocks and entries, cut by content, is found if no payload has it.
pub fn rate_of_blocks(shape: &Shape, state: &State, rate: f64, blocks: u64, entries: u64) -> f64 {
    place_rate(shape, state.segments, rate, entries as f64, blocks as f64)
}

fn rate_of_fixed(shape: &Shape, state: &State, rate: f64, length: u64) -> f64 {
    let period = 1 << (shape.levels - 1);
    let mut none = 0.0;
    for lead in 0..shape.block_bytes.min(length) {
        let blocks = (length - lead) / shape.block_bytes;
        let places = places(shape, state.longest, length, lead);
        if blocks == 0 {
            continue;
        }
        for residue in 0..period {
            let count = |end: u64| (end + period - 1 - residue) / period;
            let count = count(places.end).saturating_sub(count(places.start));
            if count == 0 {
                continue;
            }
            let entries = groups_in(shape, residue, blocks);
            let found = place_rate(shape, state.segments, rate, entries as f64, blocks as f64);
            none += count as f64 * (-found).ln_1p();
        }
    }
    -none.exp_m1()
}

/// The rate with ids and fixed blocks.
fn rate_of_named(shape: &Shape, lengths: &Lengths, rate: f64, length: u64) -> f64 {
    let period = 1_usize << (shape.levels - 1);
    let mut none = 0.0;
    lengths.each_lead(shape, length, |lead, segments| {
        let blocks = (length - lead) / shape.block_bytes;
        if blocks == 0 {
            return;
        }
        // Neighbours nearly always have the same number of segments.
        let mut known = [(0, 0.0); MOST_PERIOD];
        for (place, segments) in segments.iter().enumerate().filter(|(_, segments)| **segments > 0) {
            let known = &mut known[place % period % MOST_PERIOD];
            if known.0 != *segments {
                let entries = groups_in(shape, place as u64, blocks);
                let found = place_rate(shape, *segments, rate, entries as f64, blocks as f64);
                *known = (*segments, (-found).ln_1p());
            }
            none += known.1;
        }
    });
    -none.exp_m1()
}

/// The average number of groups of `blocks` blocks that are cut by content, including the blocks themselves.
fn mean_groups(shape: &Shape, blocks: f64) -> f64 {
    let of_level = |level: u32| {
        let size = f64::from(1_u32 << level);
        (blocks - size + 1.0).max(0.0) / size
    };
    (0..shape.levels).map(of_level).sum()
}

/// Cutting by content makes one block less than there are local minima. The bytes between two minima are modelled as
/// `reach` + 1 and a number with a geometric distribution of mean `reach`.
fn rate_of_cut(shape: &Shape, state: &State, rate: f64, length: u64) -> f64 {
    let reach = reach(shape.block_bytes);
    let positions = length.saturating_sub(WINDOW as u64 - 1 + 2 * reach);
    let of_blocks = |blocks: f64| {
        let groups = mean_groups(shape, blocks);
        place_rate(shape, state.segments, rate, groups, blocks)
    };
    let mean = positions as f64 / (2 * reach + 1) as f64 - 1.0;
    if mean > MOST_CUTS as f64 {
        return of_blocks(mean);
    }
    let (mut all, mut found) = (0.0, 0.0);
    for (blocks, share) in shares_of_cuts(positions, reach).into_iter().enumerate().skip(1) {
        all += share;
        found += share * of_blocks(blocks as f64);
    }
    if all > 0.0 { found / all } else { 1.0 }
}

/// The probabilities that the positions have n blocks, for n from 0 on.
fn shares_of_cuts(positions: u64, reach: u64) -> [f64; 2 * MOST_CUTS] {
    let mut shares = [0.0; 2 * MOST_CUTS];
    let (n, gap) = (positions as f64, (reach + 1) as f64);
    let stop = 1.0 / (reach + 1) as f64;
    // The first minimum comes after 5/4 reach on average, which is the rest of a gap that begins before the positions.
    // There are n blocks if n gaps follow, that is, if few enough positions in these gaps are free.
    let at_least = |blocks: usize| {
        if blocks == 0 {
            return 1.0;
        }
        let free = n - blocks as f64 * gap - 1.25 * reach as f64;
        if free < 0.0 { 0.0 } else { binomial_at_least(free as u64 + blocks as u64, stop, blocks as u64) }
    };
    let mut above = at_least(0);
    for (blocks, share) in shares.iter_mut().enumerate() {
        let next = at_least(blocks + 1);
        *share = (above - next).max(0.0);
        above = next;
        if next <= 0.0 {
            break;
        }
    }
    shares
}

/// The probability of at least `least` successes in `trials` with probability `p` each.
fn binomial_at_least(trials: u64, p: f64, least: u64) -> f64 {
    let mut term = trials as f64 * (-p).ln_1p();
    let mut below = 0.0;
    for successes in 0..least {
        below += term.exp();
        term += ((trials - successes) as f64 / (successes + 1) as f64).ln() + (p / (1.0 - p)).ln();
    }
    (1.0 - below).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rate of fixed blocks is that of all places where an excerpt can lie, taken one after the other.
    #[test]
    fn the_rate_of_fixed_blocks_is_that_of_all_places() {
        // A payload of one segment has at most 672 bytes.
        let (rate, block_bytes, segment_blocks) = (1e-4_f64, 32, 21);
        for (levels, payloads) in [(1, 0), (2, 3), (3, 0), (4, 3)] {
            let (bits, cut) = (1 << 20, Cut::Fixed);
            let shape =
                Shape { bits, hashes: 4, block_bytes, levels, cut, segment_blocks, payloads, attachment_bytes: 0 };
            for (longest, length) in [(650, 63), (650, 333), (671, 100), (672, 100), (672, 300), (673, 100), (900, 300)]
            {
                let places = |lead| (0..segment_blocks).map(move |place| (lead, place));
                let mut none = 0.0;
                for (lead, place) in (0..block_bytes).flat_map(places) {
                    let blocks = (length - lead) / block_bytes;
                    let start = (place * block_bytes).checked_sub(lead);
                    let is_possible = longest > 672 || start.is_some_and(|start| start + length <= longest);
                    if blocks == 0 || !is_possible {
                        continue;
                    }
                    let groups_of = |size: u64| {
                        let is_whole = |first: &u64| first.is_multiple_of(size) && first + size <= place + blocks;
                        (place..place + blocks).filter(is_whole).count()
                    };
                    let entries: usize = (0..levels).map(|level| groups_of(1 << level)).sum();
                    // The probability that one of three segments has all blocks, each with the probability p:
                    // 1 - (1 - p)^3.
                    let p = rate.powi(blocks as i32);
                    let named = if payloads == 0 { 1.0 } else { p * (3.0 - 3.0 * p + p * p) };
                    none += (-rate.powi(entries as i32) * named).ln_1p();
                }
                let state = State { payloads, segments: 3, longest, ..State::default() };
                let (found, expected) = (rate_of_random(&shape, &state, None, rate, length), -none.exp_m1());
                let case = format!("{levels} levels, {payloads} payloads of {longest} bytes, {length} bytes");
                assert!((found / expected - 1.0).abs() < 1e-9, "{case}: {found}, {expected}");
            }
        }
    }

    /// With ids the rate is that of all places in all payloads, each with its own length.
    #[test]
    fn the_rate_with_ids_is_that_of_all_places_in_all_payloads() {
        let (rate, block_bytes, segment_blocks) = (0.2_f64, 16, 8);
        for (levels, lengths) in [
            (1, &[128, 128, 128][..]),
            (2, &[40, 300, 31, 128, 129, 1000, 127]),
            (3, &[400, 20, 20, 20, 20, 20, 20, 20]),
            (1, &[47, 48, 49, 64, 65]),
            (1, &[10, 12]),
        ] {
            let (bits, payloads) = (1 << 20, 10);
            let shape = Shape {
                bits,
                hashes: 4,
                block_bytes,
                levels,
                cut: Cut::Fixed,
                segment_blocks,
                payloads,
                attachment_bytes: 0,
            };
            for length in [31, 32, 47, 48, 64, 100, 127, 200] {
                let mut none = 0.0;
                for (lead, place) in
                    (0..block_bytes).flat_map(|lead| (0..segment_blocks).map(move |place| (lead, place)))
                {
                    let blocks = (length - lead) / block_bytes;
                    // The offsets of the excerpt at which its first whole block has this place.
                    let begins = |payload: u64| {
                        let offsets = 0..(payload + 1).saturating_sub(length);
                        let first = move |offset: u64| (offset + lead).is_multiple_of(block_bytes);
                        offsets.filter(move |offset| first(*offset)).map(move |offset| (offset + lead) / block_bytes)
                    };
                    let all = lengths.iter().flat_map(|payload| begins(*payload));
                    let segments = all.filter(|block| block % segment_blocks == place).count();
                    if blocks == 0 || segments == 0 {
                        continue;
                    }
                    let entries = groups_in(&shape, place, blocks) as i32;
                    let named = 1.0 - (1.0 - rate.powi(blocks as i32)).powi(segments as i32);
                    none += (-rate.powi(entries) * named).ln_1p();
                }
                let (state, expected) = (State::default(), -none.exp_m1());
                let lengths = Lengths::of(&shape, 10, lengths.iter().copied()).unwrap();
                let found = rate_of_random(&shape, &state, Some(&lengths), rate, length);
                assert!((found - expected).abs() <= 1e-9 * expected, "{levels} levels, {length}: {found}, {expected}");
            }
        }
    }
}
