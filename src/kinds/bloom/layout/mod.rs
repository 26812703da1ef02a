//! The classic array of m bits, of which each key sets k.
//!
//! Bloom, "Space/time trade-offs in hash coding with allowable errors", 1970. A lookup of a key that was never inserted
//! says true with the probability E\[(X/m)^k\]. Here X is the number of bits that n keys with k independent probes each
//! have set. [`crate::sizing::bloom`] computes this probability exactly. Given the bits themselves the probability is
//! (X/m)^k. Three derivations have dependent probes, and therefore other rates: [`crate::sizing::dependent`].
//! There are two shapes. In the *plain* shape every probe ranges over all m bits. In the *partitioned* shape probe i
//! has the i-th of k slices of floor(m/k) bits to itself, so that no two probes of a key meet. The [`Derivation`] says
//! how probes come from the 64-bit hash.
//!
//! Bit p is bit p mod 64 of the little-endian 64-bit word p / 64.

mod derivation;
mod kernel;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod present;

pub(crate) use derivation::bits_of;
pub use derivation::{Derivation, slice_width};
pub use kernel::Kernel;

use crate::batch::ring::{self, Batch, Stages};
use crate::bits;
use crate::blocks::scattered_bits::GROUP;
use crate::blocks::{BitLayout, Measure, ProbeKernel, ScatteredBits, ScatteredKernel, View};
use crate::error::Result;
use crate::format::Geometry;
use crate::format::compact::{Packing, Trailer};
use crate::simd::Instructions;
use crate::sizing::{self, dependent};
use crate::storage::AnyBytes;
use core::sync::atomic::AtomicU64;

/// The most probes that a key has.
pub const MAX_HASHES: u32 = 64;

/// How many probes of a key are fetched before any is read.
const FIRST_PROBES: u32 = 2;

/// The inner loops of an instruction set, if it has some.
pub fn kernel(instructions: Instructions) -> Option<&'static Kernel> {
    match instructions.kernel() {
        #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
        crate::simd::Kernel::Avx2 => Some(&lanes::avx2::KERNEL),
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        crate::simd::Kernel::Avx512 => Some(&lanes::avx512::KERNEL),
        _ => None,
    }
}

/// Where the probes of a key go.
#[derive(Clone, Copy, Debug)]
pub struct Bloom {
    /// The range of a probe, the stride to the next probe's range, and how many probes there are. With
    /// [`Derivation::Remix`] these numbers are the whole layout.
    bits: ScatteredBits,
    derivation: Derivation,
    slice_width: u32,
    /// Bits of a field if positions are cut out of digests (`super::fields`), and then hashes have no positions;
    /// otherwise 0.
    field_width: u32,
    /// The words of all bits.
    words: usize,
    /// The inner loops of the instruction set, if it has some.
    kernel: Option<&'static Kernel>,
}

impl Bloom {
    /// The fields of a geometry that the compact form stores besides the payload's length and `hashes`.
    pub const COMPACT: fn(&mut Packing, &mut Geometry) = |packing, geometry| {
        packing.bits(geometry, 0);
        packing.field(&mut geometry.words[0], 1);
        packing.field(&mut geometry.words[1], 4);
        packing.field(&mut geometry.words[2], 7);
    };

    /// The layout that a geometry describes, if there is one.
    pub fn of_geometry(geometry: &Geometry) -> Option<Bloom> {
        let [partitioned, derivation, slice_width, field_width, rest @ ..] = geometry.words;
        let hashes = geometry.hashes;
        let derivation = Derivation::from_number(derivation)?;
        let widths = if derivation == Derivation::Slices { 1..=64 } else { 0..=0 };
        let known = partitioned <= 1
            && (field_width == 0 || (field_width <= 64 && derivation == Derivation::Remix))
            && rest == [0; 4]
            && widths.contains(&slice_width)
            && (1..=MAX_HASHES).contains(&hashes)
            && geometry.bits > 0;
        if !known || (partitioned == 1 && !geometry.bits.is_multiple_of(hashes.into())) {
            return None;
        }
        let range = if partitioned == 1 { geometry.bits / u64::from(hashes) } else { geometry.bits };
        let stride = if partitioned == 1 { range } else { 0 };
        let words = usize::try_from(geometry.bits.div_ceil(64)).ok()?;
        let bits = ScatteredBits { range, stride, hashes };
        let (slice_width, field_width) = (slice_width as u32, field_width as u32);
        Some(Bloom { bits, derivation, slice_width, field_width, words, kernel: None })
    }

    /// Bits of a field if positions are cut out of digests; otherwise 0.
    pub fn field_width(&self) -> u32 {
        self.field_width
    }

    /// The upper bound of all positions of a probe, exclusive.
    pub fn range(&self) -> u64 {
        self.bits.range
    }

    /// The distance between the ranges of two successive probes; 0 if all probes have one range.
    pub fn stride(&self) -> u64 {
        self.bits.stride
    }

    /// Visits the positions of a hash in order, until `visit` returns false. Returns whether `visit` never did.
    #[inline]
    pub fn all(&self, hash: u64, mut visit: impl FnMut(u64) -> bool) -> bool {
        if self.derivation != Derivation::Remix {
            return self.all_of_others(hash, &mut visit);
        }
        let (mut hash, mut start) = (hash, 0);
        for _ in 0..self.bits.hashes {
            if !visit(start + bits::reduce(hash, self.bits.range)) {
                return false;
            }
            hash = hash.wrapping_mul(bits::GOLDEN);
            start += self.bits.stride;
        }
        true
    }

    /// Whether `test` returns true for all positions of a hash. Positions are tested in groups before the function
    /// decides whether to go on.
    #[inline]
    pub fn all_in_groups(&self, hash: u64, mut test: impl FnMut(u64) -> bool) -> bool {
        match self.derivation {
            Derivation::Remix => self.bits.all(hash, test),
            _ => self.all_of_others(hash, &mut test),
        }
    }

    /// Visits all positions of a hash in order.
    #[inline]
    pub fn each(&self, hash: u64, mut visit: impl FnMut(u64)) {
        if self.derivation == Derivation::Remix {
            return self.bits.each(hash, visit);
        }
        self.all_of_others(hash, &mut |position| {
            visit(position);
            true
        });
    }

    /// Where a lookup of a batch fetches the lines of a hash ([`Bloom::fetch_first`], then [`Bloom::fetch_rest`]).
    #[inline]
    pub fn stages(&self, words: usize) -> Stages {
        let far = match self.ahead(words) {
            0 => 0,
            ahead => 2 * ahead.min(ring::AHEAD / 2),
        };
        Stages { far, near: far / 2 }
    }

    /// Fetches the lines of the first two probes of a hash: an absent key fails after two probes on average.
    #[inline]
    pub fn fetch_first(&self, words: &[AtomicU64], hash: u64) {
        self.fetch_probes(words, hash, FIRST_PROBES);
    }

    /// Fetches the lines of the other probes if the bits of the first two are set. Returns whether they are.
    #[inline]
    pub fn fetch_rest(&self, words: &[AtomicU64], hash: u64) -> bool {
        let mut probe = 0;
        self.all(hash, |position| {
            probe += 1;
            if probe <= FIRST_PROBES {
                return bits::test(words, position);
            }
            ring::fetch_word(words, (position / 64) as usize);
            true
        })
    }

    /// Whether all bits of a hash are set, after [`Bloom::fetch_first`] and [`Bloom::fetch_rest`]. For most absent keys
    /// only the first two lines were fetched. A group of probes would wait for two more, so the probes are read one by
    /// one.
    #[inline]
    pub fn contains_fetched(&self, words: &[AtomicU64], hash: u64) -> bool {
        self.all(hash, |position| bits::test(words, position))
    }

    /// Fetches the lines of all probes of a hash.
    #[inline]
    pub fn fetch_all(&self, words: &[AtomicU64], hash: u64) {
        self.each(hash, |position| ring::fetch_word(words, (position / 64) as usize));
    }

    /// Fetches the lines of the first probes of a hash.
    #[inline]
    fn fetch_probes(&self, words: &[AtomicU64], hash: u64, probes: u32) {
        let mut probe = 0;
        self.all(hash, |position| {
            ring::fetch_word(words, (position / 64) as usize);
            probe += 1;
            probe < probes
        });
    }

    #[inline(never)]
    fn all_of_others(&self, hash: u64, visit: &mut dyn FnMut(u64) -> bool) -> bool {
        let mut probes = self.derivation.probes(hash, self.bits.range, self.slice_width);
        (0..u64::from(self.bits.hashes)).all(|i| visit(i * self.bits.stride + probes.next_position()))
    }

    /// How many distinct keys set `ones` bits. Each slice of the partitioned layout gets every key once, so all slices
    /// together are one array in which a key has one probe for every k-th part.
    pub fn keys_of(&self, ones: u64) -> Option<f64> {
        match self.bits.stride {
            0 => sizing::bloom::cardinality_exact_base(self.bits.range, self.bits.hashes, ones),
            slice => sizing::bloom::partitioned_cardinality(slice, self.bits.hashes, ones),
        }
    }

    /// The exact rate with `keys` distinct keys.
    pub fn false_positive_rate(&self, keys: u64) -> f64 {
        let rate = match (self.derivation.scheme(), self.bits.stride) {
            (Some(scheme), stride) => dependent::rate(scheme, stride != 0, self.bits.range, self.bits.hashes, keys),
            (None, 0) => sizing::bloom::exact(self.bits.range, self.bits.hashes, keys),
            (None, slice) => sizing::bloom::partitioned_exact(slice, self.bits.hashes, keys),
        };
        let hash_bits = match self.field_width {
            0 => 64,
            width => width * self.bits.hashes,
        };
        rate.max(sizing::hash_floor(keys, hash_bits))
    }

    /// The present rate, from the numbers of bits that are set in all and in each slice.
    fn present_rate(&self, words: &[AtomicU64], ones: u64, product: f64) -> f64 {
        let independent = match self.bits.stride {
            0 => sizing::bloom::from_fill(self.bits.range, self.bits.hashes, ones),
            _ => product,
        };
        let Some(scheme) = self.derivation.scheme() else {
            return independent;
        };
        present::count_out(self, scheme, words).unwrap_or_else(|| {
            let fill = if self.bits.stride == 0 { ones as f64 / self.bits.range as f64 } else { product };
            match self.keys_of(ones) {
                Some(keys) => {
                    dependent::from_fill(scheme, self.bits.stride != 0, self.bits.range, self.bits.hashes, keys, fill)
                }
                None => independent,
            }
        })
    }

    /// The number of set bits of each slice, or of the whole array. `progress` gets the number of bytes read.
    fn slices(&self, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> impl Iterator<Item = u64> {
        let slices = if self.bits.stride == 0 { 1 } else { u64::from(self.bits.hashes) };
        (0..slices).map(move |slice| {
            let (end, mut ones) = ((slice + 1) * self.bits.range, 0);
            for from in (slice * self.bits.range..end).step_by(64 * bits::PIECE_WORDS) {
                let to = end.min(from + 64 * bits::PIECE_WORDS as u64);
                ones += bits::count_ones_in(words, from, to);
                progress((to - from) / 8);
            }
            ones
        })
    }

    /// How many bits there are.
    fn bits(&self) -> u64 {
        if self.bits.stride == 0 { self.bits.range } else { self.bits.range * u64::from(self.bits.hashes) }
    }

    /// The inner loops that take a batch.
    fn of_batches(&self, words: usize) -> Option<&'static Kernel> {
        let is_known = self.derivation == Derivation::Remix && kernel::suits(&self.bits, 1, words);
        self.kernel.filter(|_| is_known)
    }

    fn ahead(&self, words: usize) -> usize {
        if ring::is_very_far(words) { ring::ahead(words, self.bits.hashes as usize) } else { 0 }
    }
}

impl BitLayout for Bloom {
    fn of(geometry: &Geometry, instructions: Instructions) -> Option<Bloom> {
        Bloom::of_geometry(geometry).map(|layout| Bloom { kernel: kernel(instructions), ..layout })
    }

    #[inline]
    fn of_trailer(trailer: &Trailer, _instructions: Instructions) -> Option<Bloom> {
        let geometry = trailer.geometry(Bloom::COMPACT).filter(Geometry::is_of_bits)?;
        Bloom::of_geometry(&geometry)
    }

    #[inline]
    fn words(&self) -> usize {
        self.words
    }

    #[inline]
    fn contains(&self, words: &[AtomicU64], hash: u64) -> bool {
        match self.derivation {
            Derivation::Remix => self.bits.contains(words, hash),
            _ => self.all_of_others(hash, &mut |position| bits::test(words, position)),
        }
    }

    fn view<'a>(&self, words: &'a [AtomicU64]) -> Option<View<'a>> {
        (self.derivation == Derivation::Remix).then(|| View::of_bits(&self.bits, words))
    }

    fn probe_kernel(&self) -> Option<ProbeKernel> {
        let suits = self.bits.hashes <= kernel::AT_ONCE && kernel::suits(&self.bits, 1, self.words);
        let single = self.kernel.filter(|_| suits).map(|kernel| &kernel.single);
        let kernel = single.unwrap_or(ScatteredKernel::PORTABLE);
        (self.derivation == Derivation::Remix).then_some(ProbeKernel::Scattered { kernel, bits: self.bits })
    }

    /// Fetches the lines of the probes that a lookup reads before it decides, because an absent key seldom needs more.
    fn fetch(&self, hash: u64, fetch: &mut dyn FnMut(usize)) {
        let mut probe = 0;
        self.all(hash, |position| {
            fetch((position / 64) as usize);
            probe += 1;
            probe < GROUP
        });
    }

    #[inline]
    fn contains_in(&self, bytes: AnyBytes, hash: u64) -> bool {
        match self.derivation {
            Derivation::Remix => self.bits.all(hash, |bit| bytes.word((bit / 64) as usize) >> (bit % 64) & 1 != 0),
            _ => self.all(hash, |position| bytes.word((position / 64) as usize) >> (position % 64) & 1 != 0),
        }
    }

    /// An absent key fails after two probes on average, and fetching all of its lines would waste most of them. So the
    /// ring has two stages. Far ahead the first two lines of a key are fetched. When these have come, half way to the
    /// answer, the other lines are fetched if both bits are set.
    fn contains_many(&self, words: &[AtomicU64], batch: &mut dyn Batch) {
        if let Some(kernel) = self.of_batches(words.len()) {
            return (kernel.contains_bits)(&self.bits, words, batch);
        }
        let stages = self.stages(words.len());
        let fetch = |_: &(), hash| self.fetch_first(words, hash);
        let fetch_rest = |_: &(), hash| {
            self.fetch_rest(words, hash);
        };
        let answer = |_: &mut (), hash| match stages.far {
            0 => BitLayout::contains(self, words, hash),
            _ => self.contains_fetched(words, hash),
        };
        ring::rolling(&mut (), stages, batch, fetch, fetch_rest, answer);
    }

    #[inline]
    fn insert(&self, words: &mut [u64], hash: u64) -> bool {
        if self.derivation == Derivation::Remix {
            return self.bits.insert(words, hash);
        }
        let mut new = false;
        self.all_of_others(hash, &mut |position| {
            new |= bits::set(words, position);
            true
        });
        new
    }

    fn insert_many(&self, words: &mut [u64], batch: &mut dyn Batch) {
        let shape = *self;
        let suits =
            !ring::is_very_far(words.len()) && (!batch.is_asked() || shape.bits.hashes as usize <= kernel::MOST_ASKED);
        if let Some(kernel) = shape.of_batches(words.len()).filter(|_| suits) {
            return (kernel.insert)(&shape.bits, words, batch);
        }
        let ahead = shape.ahead(words.len());
        let fetch = |words: &[u64], hash| {
            shape.each(hash, |position| bits::prefetch(&words[(position / 64) as usize]));
        };
        ring::inserting(words, ahead, batch, fetch, |words, hash| shape.insert(words, hash));
    }

    fn insert_shared(&self, words: &[AtomicU64], hash: u64) -> bool {
        let mut new = false;
        self.each(hash, |position| new |= bits::set_shared(&words[(position / 64) as usize], 1 << (position % 64)));
        new
    }

    fn insert_many_shared(&self, words: &[AtomicU64], batch: &mut dyn Batch) {
        let fetch = |_: &(), hash| self.fetch_all(words, hash);
        ring::inserting(&mut (), self.ahead(words.len()), batch, fetch, |_, hash| self.insert_shared(words, hash));
    }

    fn visit_words(&self, hash: u64, visit: &mut dyn FnMut(usize) -> bool) {
        self.all(hash, |position| visit((position / 64) as usize));
    }

    fn measure(&self, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> Measure {
        let (mut ones, mut product) = (0, 1.0);
        for slice in self.slices(words, progress) {
            ones += slice;
            product *= slice as f64 / self.bits.range as f64;
        }
        Measure::of_bits(ones, self.bits(), self.present_rate(words, ones, product))
    }

    fn cardinality(&self, ones: u64) -> Option<f64> {
        self.keys_of(ones)
    }

    /// One formula serves both shapes, because the error of k independent slices of m/k bits together is as small as
    /// that of one array of m bits.
    fn standard_error(&self, keys: f64) -> f64 {
        sizing::bloom::cardinality_standard_error(self.bits(), self.bits.hashes, keys.round() as u64)
    }

    fn units(&self) -> u64 {
        self.bits.range
    }

    fn folded(&self, factor: u64) -> Result<Geometry> {
        let (partitioned, derivation) = (u64::from(self.bits.stride != 0), self.derivation as u64);
        let words = [partitioned, derivation, self.slice_width.into(), self.field_width.into(), 0, 0, 0, 0];
        Geometry::of_bits(self.bits() / factor, self.bits.hashes, words)
    }

    /// Positions that were scaled down from the hash by multiplication fold by neighbours: p becomes p / factor.
    /// Positions that are remainders fold by slices: p becomes p mod (range / factor).
    fn fold_into(&self, words: &[AtomicU64], factor: u64, folded: &mut [u64]) {
        let Bloom { bits: ScatteredBits { range, stride, .. }, derivation, .. } = *self;
        let small = range / factor;
        // The padding of an unverified payload may hold anything.
        for position in bits::ones(words).take_while(|position| *position < self.bits()) {
            let (slice, place) = if stride == 0 { (0, position) } else { (position / range, position % range) };
            let place = if derivation.is_remainder() { place % small } else { place / factor };
            bits::set(folded, slice * small + place);
        }
    }
}
