//! The kind `golomb_stream`: a Golomb-coded set without an index, whose payload is the stream that BIP 158 specifies
//! for the compact filters of Bitcoin's blocks ([`crate::kinds::golomb::layout::Stream`]).
//!
//! Each of N keys is stored as a number: its hash, reduced to the numbers below N M. BIP 158 hashes with SipHash-2-4
//! under the first 16 bytes of the block's hash, and has M = 784931 and P = 19. Keys with equal numbers each keep
//! theirs.
//!
//! A lookup of one key is linear in the filter. The keys of a batch are sorted and answered in one pass, so asking
//! whether any of many keys matches costs about as much as one lookup.
//!
//! Header: `bits` is 8 for each byte of the stream. Word 0 is P, word 1 is M, and word 2 is N.

use crate::batch::ring::{self, Batch, GROUP};
use crate::bits::reduce;
use crate::blocks::Measure;
use crate::contract::{
    Base, Build, Built, Capabilities, Enumerate, Form, Kind, Overfill, Payload, Row, Sizes, Structure, facets,
    over_base,
};
use crate::error::{Result, Status, error};
use crate::format::Geometry;
use crate::kinds::golomb;
use crate::kinds::golomb::layout::{MAX_STREAM_RICE_BITS, Stream, StreamWriter, code_bits};
use crate::sizing::rate_in_range;
use crate::spec::{Domain, KindId, Parameter, Spec};
use crate::storage::{Words, try_box, try_vec};

/// The parameter for the bits of a remainder: BIP 158's P.
pub const RICE_BITS: Parameter = Parameter {
    name: "rice_bits",
    summary: "bits of a gap's remainder: P of BIP 158",
    default: 19.0,
    domain: Domain::Integer(0, MAX_STREAM_RICE_BITS as u64),
    word: Some(0),
};

/// The parameter for the numbers in the range for each key: BIP 158's M.
pub const MULTIPLIER: Parameter = Parameter {
    name: "multiplier",
    summary: "numbers in the range for each key; one absent key in that many is found: M of BIP 158",
    default: 784_931.0,
    domain: Domain::Integer(1, 1 << 48),
    word: Some(1),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::GOLOMB_STREAM,
    name: "golomb_stream",
    summary: "a Golomb-coded set as BIP 158 writes it: looked up from its beginning, many keys in one pass",
    capabilities: Capabilities::ENUMERATE,
    parameters: &[&RICE_BITS, &MULTIPLIER],
    structure: Structure::StaticFilter {
        open: |base| Ok(try_box(GolombStream::new(base)?)?),
        build,
        order: |hash| hash,
    },
    sizes: Sizes::ByKeys,
    hashes: (1, 1),
    geometry: |spec, size| {
        let keys = size.capacity();
        let (rice_bits, multiplier) = shape_of(spec)?;
        let range = range(keys, multiplier)?;
        let bits = golomb::sizing::stream_bits(range, keys, rice_bits) * keys as f64;
        let bytes = if bits < (1_u64 << 62) as f64 { (bits / 8.0).ceil() as u64 } else { u64::MAX };
        of(rice_bits, multiplier, keys, bytes).ok_or_else(|| error!(TooLarge, "capacity = {keys} needs {bits} bits"))
    },
    lines_per_lookup: |geometry| (geometry.bits as f64 / 1024.0).ceil(),
    false_positive_rate: |geometry, keys| rate_in_range(geometry.words[2].saturating_mul(geometry.words[1]), keys),
    least_rate: |spec, keys| {
        let range = shape_of(spec).and_then(|(_, multiplier)| range(keys, multiplier));
        range.map_or(0.0, |range| rate_in_range(range, keys))
    },
    overfill: Overfill::IsBuilt,
    form: Form { moves_entries: true, ..Form::BASE },
    ..Row::BASE
};

/// The geometry of a stream of `bytes` bytes; `None` if there is no such stream.
pub fn of(rice_bits: u32, multiplier: u64, values: u64, bytes: u64) -> Option<Geometry> {
    let bits = bytes.checked_mul(8)?;
    let payload_bytes = golomb::layout::payload_bytes(bits)?;
    let is_known = rice_bits <= MAX_STREAM_RICE_BITS
        && (1..=1 << 48).contains(&multiplier)
        && values.checked_mul(multiplier).is_some()
        && values.checked_mul(u64::from(rice_bits) + 1).is_some_and(|least| least <= bits)
        && (values > 0 || bits == 0);
    let words = [rice_bits.into(), multiplier, values, 0, 0, 0, 0, 0];
    is_known.then_some(Geometry { bits, hashes: 1, words, payload_bytes })
}

/// The greatest average quotient of a gap, which the code writes in unary.
const MOST_UNARY: u64 = 64;

/// P and M of a spec. The two have to suit each other, because the code of a gap of M has M / 2^P bits and P more.
/// Streams from elsewhere may have any P and M, because their bytes exist already.
fn shape_of(spec: &Spec) -> Result<(u32, u64)> {
    let (rice_bits, multiplier) = (spec.parameter(&RICE_BITS)? as u32, spec.parameter(&MULTIPLIER)?);
    if multiplier >> rice_bits > MOST_UNARY {
        let least = (multiplier / MOST_UNARY).ilog2();
        let least = if multiplier >> least > MOST_UNARY { least + 1 } else { least };
        return Err(error!(
            Contradiction,
            "rice_bits = {rice_bits} with multiplier = {multiplier} take {} bits a key: rice_bits from {least} on do",
            multiplier >> rice_bits
        ));
    }
    Ok((rice_bits, multiplier))
}

/// The range for `keys` keys.
fn range(keys: u64, multiplier: u64) -> Result<u64> {
    keys.checked_mul(multiplier)
        .ok_or_else(|| error!(TooLarge, "capacity = {keys} times multiplier = {multiplier} is not below 2^64"))
}

/// Makes the payload: the first pass finds its length, and the second pass writes it.
fn build(build: &mut Build<u64>) -> Result<Built> {
    let (rice_bits, multiplier) = shape_of(build.spec)?;
    let keys = build.records.count();
    let range = range(keys, multiplier)?;
    let Build { records, progress, .. } = build;
    let mut each = |pass: u64, take: &mut dyn FnMut(u64)| {
        let (mut last, mut done) = (0, pass * keys);
        records.for_each(&mut |hashes| {
            for hash in hashes {
                let number = reduce(*hash, range);
                take(number - last);
                last = number;
            }
            done += hashes.len() as u64;
            if progress(done / 2, keys) { Ok(()) } else { Err(Status::Cancelled.into()) }
        })
    };
    let mut bits = 0_u64;
    each(0, &mut |gap| bits = bits.saturating_add(code_bits(gap, rice_bits)))?;
    let geometry = of(rice_bits, multiplier, keys, bits.div_ceil(8))
        .ok_or_else(|| error!(TooLarge, "{keys} keys with rice_bits = {rice_bits} need {bits} bits"))?;
    let mut words = Words::zeroed(geometry.payload_bytes)?;
    let mut writer = StreamWriter::new(words.exclusive().unwrap_or_default(), rice_bits);
    each(1, &mut |gap| writer.put(gap))?;
    Ok(Built { geometry, words })
}

/// A stream over a payload.
struct GolombStream {
    base: Base,
}

impl GolombStream {
    fn new(base: Base) -> Result<GolombStream> {
        let Geometry { words: [rice_bits, multiplier, values, ..], bits, .. } = *base.geometry();
        let known = u32::try_from(rice_bits).ok().and_then(|rice_bits| of(rice_bits, multiplier, values, bits / 8));
        if known.as_ref() == Some(base.geometry()) { Ok(GolombStream { base }) } else { Err(base.foreign_geometry()) }
    }

    fn stream(&self) -> Stream<'_> {
        let Geometry { bits, words: [rice_bits, _, values, ..], .. } = *self.base.geometry();
        Stream::new(self.base.words().shared(), bits, rice_bits as u32, values)
    }

    fn range(&self) -> u64 {
        let [_, multiplier, values, ..] = self.base.geometry().words;
        values.saturating_mul(multiplier)
    }
}

impl Payload for GolombStream {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        let mut stream = self.stream();
        stream.by_ref().for_each(drop);
        self.base.check_zero_from(self.base.geometry().bits)?;
        stream.finish(self.range())
    }
}

impl Kind for GolombStream {
    /// Linear in the filter.
    fn contains_hash(&self, hash: u64) -> bool {
        let target = reduce(hash, self.range());
        self.stream().find(|number| *number >= target) == Some(target)
    }

    /// Sorts the keys and answers them in one pass through the stream. Without the memory for that, looks up one after
    /// the other.
    fn contains_many(&self, batch: &mut dyn Batch) {
        let Ok(mut keys) = try_vec::<(u64, usize)>(batch.keys().next_multiple_of(GROUP)) else {
            return ring::rolling(&mut (), 0, batch, ring::nothing, ring::nothing, |(), hash| self.contains_hash(hash));
        };
        let Ok(mut answers) = try_vec::<u64>(batch.keys().div_ceil(GROUP)) else {
            return ring::rolling(&mut (), 0, batch, ring::nothing, ring::nothing, |(), hash| self.contains_hash(hash));
        };
        let (range, mut hashes) = (self.range(), [0; GROUP]);
        loop {
            let count = batch.next(&mut hashes);
            if count == 0 {
                break;
            }
            for hash in &hashes[..count] {
                keys.push((reduce(*hash, range), keys.len()));
            }
            answers.push(0_u64);
        }
        keys.sort_unstable();
        let (mut stream, mut number) = (self.stream(), None);
        for (target, key) in &keys {
            while number.is_none_or(|number| number < *target) {
                match stream.next() {
                    Some(next) => number = Some(next),
                    None => break,
                }
            }
            answers[key / GROUP] |= u64::from(number == Some(*target)) << (key % GROUP);
        }
        for (i, some) in answers.iter().enumerate() {
            batch.answer(*some, GROUP.min(keys.len() - i * GROUP));
        }
    }

    /// The places that the measure counts are the numbers below N M.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let (mut taken, mut last) = (0_u64, None);
        for number in self.stream() {
            taken += u64::from(last != Some(number));
            last = Some(number);
        }
        progress(self.base.words().bytes());
        let (taken, range) = (taken.min(self.range()), self.range().max(1));
        Measure::of_cells(taken, range, taken as f64 / range as f64)
    }

    facets!(Enumerate);
}

impl Enumerate for GolombStream {
    fn range(&self) -> u64 {
        GolombStream::range(self)
    }

    fn stored(&self, hash: u64) -> u64 {
        reduce(hash, GolombStream::range(self))
    }

    /// Goes through the stream from its beginning.
    fn stored_from(&self, from: u64, stored: &mut [u64], counts: Option<&mut [u64]>) -> usize {
        let (mut count, mut last) = (0, None);
        for number in self.stream().filter(|number| *number >= from) {
            if last == Some(number) {
                continue;
            }
            let Some(to) = stored.get_mut(count) else { break };
            (*to, last) = (number, Some(number));
            count += 1;
        }
        if let Some(counts) = counts {
            counts[..count].fill(1);
        }
        count
    }
}
