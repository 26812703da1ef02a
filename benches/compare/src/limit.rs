//! The limit that memory sets: independent reads, and reads followed by writes, of eight bytes in random 64-byte lines
//! on huge pages. No filter that reads one line a key can be faster. Hashing is left out, which may take longer than a
//! line in the cache.
//!
//! Two ways compete, and the faster one counts. Plain loops, unrolled eight times, win in the caches. A ring of
//! prefetches wins in memory: it fetches a line for each line that it uses, with 96 or 128 fetches under way.

use crate::huge::Region;
use crate::keys::{BUFFER, Random};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of fetches under way. 0 is the plain loop.
pub const RINGS: [usize; 3] = [0, 96, 128];

/// Memory as large as a filter.
pub struct Limit(Region);

impl Limit {
    /// The limit for a footprint of this number of bytes. The call touches all of the memory.
    ///
    /// # Errors
    /// Says so if there is not enough memory, or if the memory has more than 2^32 lines.
    pub fn new(bytes: usize) -> Result<Limit, String> {
        let region = Region::new(bytes).filter(|region| region.words().len() / 8 <= u32::MAX as usize);
        let region = region.ok_or_else(|| format!("no memory for a limit of {bytes} bytes"))?;
        region.words().iter().for_each(|word| word.store(1, Ordering::Relaxed));
        Ok(Limit(region))
    }

    /// Draws random lines.
    pub fn order(&self, order: &mut Vec<u32>, random: &mut Random) {
        self.order_of_pieces(&[self.0.words().len()], order, random);
    }

    /// Draws random lines of parts that lie one after the other, each with its number of words. Every part gets as many
    /// lines, in the order of the parts.
    pub fn order_of_pieces(&self, pieces: &[usize], order: &mut Vec<u32>, random: &mut Random) {
        order.clear();
        let mut start = 0;
        for piece in pieces.iter().map(|words| words / 8) {
            order.extend((0..BUFFER).map(|_| (start + random.below(piece as u64) as usize) as u32));
            start += piece;
        }
    }

    /// The first word of a line.
    #[inline(always)]
    fn line(&self, line: u32) -> &AtomicU64 {
        let (words, word) = (self.0.words(), line as usize * 8);
        debug_assert!(word < words.len());
        // SAFETY: `order` drew the line from this region. Checking would cost as much as what is measured.
        unsafe { words.get_unchecked(word) }
    }

    /// Reads lines that [`Limit::order`] drew. Relaxed loads and stores are plain instructions.
    pub fn read(&self, order: &[u32], ahead: usize) {
        let mut sums = [0; 8];
        let read = |i: usize, line| sums[i] ^= self.line(line).load(Ordering::Relaxed);
        each(order, ahead, |line| prefetch(self.line(line)), read);
        black_box(sums);
    }

    /// Reads the lines, and writes them again.
    pub fn read_modify_write(&self, order: &[u32], ahead: usize) {
        let write = |_, line| {
            let word = self.line(line);
            word.store(word.load(Ordering::Relaxed) | u64::from(line), Ordering::Relaxed);
        };
        each(order, ahead, |line| prefetch(self.line(line)), write);
    }
}

/// Calls `use_line` with each line, eight to a turn, and `fetch` with lines further ahead.
#[inline(always)]
fn each(order: &[u32], ahead: usize, fetch: impl Fn(u32), mut use_line: impl FnMut(usize, u32)) {
    let (turns, _) = order.as_chunks::<8>();
    if ahead == 0 {
        for turn in turns {
            for (i, line) in turn.iter().enumerate() {
                use_line(i, *line);
            }
        }
        return;
    }
    order[..ahead].iter().for_each(|line| fetch(*line));
    let (later, _) = order[ahead..].as_chunks::<8>();
    for (turn, later) in turns.iter().zip(later) {
        for i in 0..8 {
            fetch(later[i]);
            use_line(i, turn[i]);
        }
    }
    for turn in &turns[later.len()..] {
        for (i, line) in turn.iter().enumerate() {
            use_line(i, *line);
        }
    }
}

/// Prefetches the line at an address.
#[inline(always)]
fn prefetch(word: &AtomicU64) {
    let address = core::ptr::from_ref(word);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch changes nothing that a program can see, whatever the address.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}
