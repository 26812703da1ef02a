//! Slices of bits by age. A key sets a bit in each of the k youngest slices, and is found in any k consecutive slices.
//!
//! Slice j of the ring takes a key's bit from the product of the mixed hash with the golden ratio to the power of j,
//! whatever the slice's age is. A lookup begins at the youngest slice of the oldest possible run, and goes up to older
//! slices. No run crosses a slice that lacks the bit, so the next possible run is the one that ends before that slice,
//! which begins k slices back. Slices of that run whose bits are already known to be set are not read again.
//!
//! So the next slice of a key depends on what the slice before says. If keys walk alone, the processor guesses the next
//! slice, and often guesses wrong. In a batch many keys take each step in turn, and the kernels for vectors walk four
//! or eight of them side by side.

mod kernel;
#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(target_arch = "x86_64")]
mod walks;

pub use kernel::{Inserted, Kernel};

use super::sizing::MAX_SLICES;
use crate::batch::ring::{self, CHUNK, GROUP};
use crate::bits;
use crate::simd::Instructions;
use core::sync::atomic::AtomicU64;

/// The inner loops for an instruction set.
pub fn kernel(instructions: Instructions) -> &'static Kernel {
    match instructions.kernel() {
        #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
        crate::simd::Kernel::Avx2 => &lanes::avx2::KERNEL,
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        crate::simd::Kernel::Avx512 => &lanes::avx512::KERNEL,
        _ => &kernel::PORTABLE,
    }
}

/// The powers of an odd number, modulo 2^64.
const fn powers(of: u64) -> [u64; MAX_SLICES] {
    let (mut powers, mut slice) = ([1_u64; MAX_SLICES], 1);
    while slice < MAX_SLICES {
        powers[slice] = powers[slice - 1].wrapping_mul(of);
        slice += 1;
    }
    powers
}

/// The golden ratio to the power of each slice's number, by which a hash is multiplied for that slice.
const POWERS: [u64; MAX_SLICES] = powers(bits::GOLDEN);

/// How many words the answers of a chunk take.
pub const GROUPS: usize = CHUNK / GROUP;

/// The end of a walk that finds its key; it is not the position of any bit.
const FOUND: u64 = u64::MAX;

/// The slices at one moment, with one of them the youngest. Their bits are consecutive, from the first bit of the words
/// on.
#[derive(Clone, Copy, Debug)]
pub struct Slices {
    /// How many slices a key sets a bit in: the young slices.
    pub hashes: u32,
    /// How many older slices there are.
    pub old: u32,
    /// The bits of a slice.
    pub bits: u64,
    /// The number of the youngest slice. The slices after it, around the ring, get older and older.
    pub youngest: u32,
}

/// A key on its way through the slices.
#[derive(Clone, Copy, Default)]
struct Walk {
    hash: u64,
    /// The age of the slice that the walk looks at.
    age: u32,
    /// The first slice of the wanted run. All slices from there to the present one have the key's bits.
    start: u32,
    /// The first slice of the rest of the run, which is known to have the key's bits.
    stop: u32,
    /// The key's place in its chunk.
    place: u32,
}

impl Slices {
    /// How many slices there are.
    pub fn count(&self) -> u32 {
        self.hashes + self.old
    }

    /// The number of the slice of this age.
    #[inline]
    fn slice(&self, age: u32) -> u32 {
        let slice = self.youngest + age;
        if slice >= self.count() { slice - self.count() } else { slice }
    }

    /// The position of the bit that a mixed hash has in the slice of this age.
    #[inline]
    pub fn position(&self, hash: u64, age: u32) -> u64 {
        let slice = self.slice(age);
        u64::from(slice) * self.bits + bits::reduce(hash.wrapping_mul(POWERS[slice as usize]), self.bits)
    }

    /// Whether all young slices have the bits of a mixed hash.
    #[inline]
    pub fn has_young(&self, words: &[AtomicU64], hash: u64) -> bool {
        (0..self.hashes).all(|age| bits::test(words, self.position(hash, age)))
    }

    /// Sets the bits of a mixed hash in the young slices; true if one of them was not set before.
    #[inline]
    pub fn set(&self, words: &mut [u64], hash: u64) -> bool {
        (0..self.hashes).fold(false, |new, age| bits::set(words, self.position(hash, age)) | new)
    }

    #[inline]
    fn start(&self, hash: u64, place: usize) -> Walk {
        Walk { hash, age: self.old, start: self.old, stop: self.count(), place: place as u32 }
    }

    /// Looks at one slice. Returns where the walk ends, if it does: [`FOUND`], or the position of a bit that the key
    /// lacks. That bit is in a young slice, and every run that a new key can complete crosses that slice. So the key
    /// stays absent until the bit is set or a slice is dropped.
    #[inline]
    fn step(&self, words: &[AtomicU64], walk: &mut Walk) -> Option<u64> {
        let position = self.position(walk.hash, walk.age);
        if bits::test(words, position) {
            walk.age += 1;
            return (walk.age == walk.stop).then_some(FOUND);
        }
        if walk.age < self.hashes {
            return Some(position);
        }
        walk.age -= self.hashes;
        (walk.start, walk.stop) = (walk.age, walk.start);
        None
    }

    /// Where the walk of a mixed hash ends.
    #[inline]
    fn end(&self, words: &[AtomicU64], hash: u64) -> u64 {
        let mut walk = self.start(hash, 0);
        loop {
            if let Some(end) = self.step(words, &mut walk) {
                return end;
            }
        }
    }

    /// Whether a mixed hash may be there.
    #[inline]
    pub fn contains(&self, words: &[AtomicU64], hash: u64) -> bool {
        self.end(words, hash) == FOUND
    }

    #[inline]
    fn fetch(&self, words: &[AtomicU64], hash: u64, age: u32) {
        ring::fetch_word(words, (self.position(hash, age) / 64) as usize);
    }

    /// Fetches the line that a lookup of a mixed hash reads first.
    pub fn fetch_first(&self, words: &[AtomicU64], hash: u64) {
        self.fetch(words, hash, self.old);
    }

    /// Where the walks of at most [`CHUNK`] hashes end. The hashes are not mixed. All keys take a step in turn, and the
    /// line of a key's next step is fetched while the other keys take theirs.
    fn ends(&self, words: &[AtomicU64], hashes: &[u64], ends: &mut [u64; CHUNK]) {
        if !ring::is_very_far(words.len()) {
            return self.near_ends(words, hashes, ends);
        }
        let mut walks = [Walk::default(); CHUNK];
        let mut count = hashes.len().min(CHUNK);
        for (place, (walk, hash)) in walks.iter_mut().zip(hashes).enumerate() {
            *walk = self.start(bits::mix(*hash), place);
            self.fetch_first(words, walk.hash);
        }
        while count > 0 {
            let mut left = 0;
            for i in 0..count {
                let mut walk = walks[i];
                match self.step(words, &mut walk) {
                    Some(end) => ends[walk.place as usize] = end,
                    None => {
                        self.fetch(words, walk.hash, walk.age);
                        walks[left] = walk;
                        left += 1;
                    }
                }
            }
            count = left;
        }
    }

    /// [`Slices::ends`] for slices in the caches. There a wrong guess of the next slice takes longer than reading a
    /// line, so both outcomes of a step are computed as numbers, and the bit that was read chooses.
    fn near_ends(&self, words: &[AtomicU64], hashes: &[u64], ends: &mut [u64; CHUNK]) {
        let mut walks = [(Walk::default(), 0); CHUNK];
        let mut count = hashes.len().min(CHUNK);
        let next = |walk: Walk| {
            let position = self.position(walk.hash, walk.age);
            ring::fetch_word(words, (position / 64) as usize);
            (walk, position)
        };
        for (place, (walk, hash)) in walks.iter_mut().zip(hashes).enumerate() {
            *walk = next(self.start(bits::mix(*hash), place));
        }
        while count > 0 {
            let mut left = 0;
            for i in 0..count {
                let (mut walk, position) = walks[i];
                let hit = u32::from(bits::test(words, position));
                let missed = hit.wrapping_sub(1);
                // A walk writes its end last.
                ends[walk.place as usize % CHUNK] = position | u64::from(hit).wrapping_neg();
                let is_young = walk.age < self.hashes;
                let has_ended = is_young & (hit == 0) | (walk.age + 1 == walk.stop) & (hit == 1);
                walk.age = walk.age + hit - (self.hashes & missed & u32::from(is_young).wrapping_sub(1));
                walk.stop ^= (walk.stop ^ walk.start) & missed;
                walk.start ^= (walk.start ^ walk.age) & missed;
                walks[left] = next(walk);
                left += usize::from(!has_ended);
            }
            count = left;
        }
    }
}
