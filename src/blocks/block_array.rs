//! Arrays of small blocks, where all bits of a key lie in one block or in two: what all such arrays do alike. The inner
//! loops are those of a kernel; a layout says how keys find their blocks and what the mathematics of its blocks is.

use super::block_kernel::chain::{ChainKernel, Link};
use super::block_kernel::{BlockKernel, Fills};
use super::{BitLayout, Layout, Measure, ProbeKernel, View};
use crate::batch::ring::{self, Batch, Few};
use crate::bits::PIECE_WORDS;
use crate::error::Result;
use crate::format::Geometry;
use crate::format::compact::Trailer;
use crate::simd::Instructions;
use crate::storage::AnyBytes;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU64, Ordering};

/// What tells one layout of blocks from another.
pub trait Blocks: Send + Sync + 'static {
    /// The name by which programs that compute on the payload know the layout, if it has one.
    const LAYOUT: Option<Layout>;
    /// The name of the layout if the bits of a key lie in two blocks.
    const LAYOUT_IN_TWO: Option<Layout> = None;
    /// 64-bit words in a block.
    const BLOCK_WORDS: usize;
    /// How many bits keys may set in a block: the fewest and the most.
    const HASHES: (u32, u32);
    /// Exclusive upper bound of the number of blocks.
    const MAX_BLOCKS: u64;

    /// The inner loops.
    fn kernel(instructions: Instructions) -> &'static BlockKernel;

    /// The inner loops of keys whose bits lie in two blocks, if the layout has such keys. `masks` are then those of
    /// half of a key's bits.
    fn kernel_in_two(_instructions: Instructions) -> Option<&'static BlockKernel> {
        None
    }

    /// The inner loops over chains of arrays, if the layout has any.
    fn chain_kernel(_instructions: Instructions) -> Option<&'static ChainKernel> {
        None
    }

    /// The sets of lanes that keys with `hashes` bits in a block choose from; none where they have all lanes.
    fn masks(_hashes: u32) -> &'static [u16] {
        &[]
    }

    /// The block that a hash goes to. It scales: with a `d`-th of the blocks it is this one's number divided by `d`.
    fn block(hash: u64, blocks: u64) -> u64;

    /// The hashes of the two shares of a key whose bits lie in two blocks. Each share has the bits that a key with its
    /// hash, and half of the bits, has in one block.
    fn shares(hash: u64) -> [u64; 2] {
        [hash; 2]
    }

    /// The false-positive rate that the fills of the blocks give to keys with all bits in one block.
    fn rate(fills: &Fills, blocks: u64, hashes: u32) -> f64;

    /// How many distinct keys, each in one block, have set `ones` bits.
    fn cardinality(blocks: u64, hashes: u32, ones: u64) -> Option<f64>;

    /// The standard error of an estimate of `keys` keys, each with its bits in one block.
    fn standard_error(blocks: u64, hashes: u32, keys: u64) -> f64;
}

/// 64-bit words of the greatest block: a cache line.
const MAX_BLOCK_WORDS: usize = 8;

/// An array of blocks.
pub struct BlockArray<B> {
    blocks: u64,
    hashes: u32,
    /// In how many blocks a key has its bits: 1 or 2.
    shares: u32,
    /// The lanes that keys choose among in each of their blocks.
    masks: &'static [u16],
    kernel: &'static BlockKernel,
    /// The inner loops of one of the blocks of a key.
    share_kernel: &'static BlockKernel,
    chain_kernel: Option<&'static ChainKernel>,
    layout: PhantomData<fn() -> B>,
}

/// The geometry of `blocks` blocks, where each key has its bits in one of them.
///
/// # Errors
/// [`Status::TooLarge`](crate::Status::TooLarge) past the address space.
pub fn geometry<B: Blocks>(blocks: u64, hashes: u32) -> Result<Geometry> {
    geometry_of_shares::<B>(blocks, hashes, 1)
}

/// The geometry of `blocks` blocks, where each key has its bits in `shares` of them, 1 or 2. Word 0 says so, and is 0
/// for 1.
///
/// # Errors
/// [`Status::TooLarge`](crate::Status::TooLarge) past the address space.
pub fn geometry_of_shares<B: Blocks>(blocks: u64, hashes: u32, shares: u32) -> Result<Geometry> {
    let word = if shares == 1 { 0 } else { shares.into() };
    // A saturated product is refused as too large.
    Geometry::of_bits(blocks.saturating_mul(64 * B::BLOCK_WORDS as u64), hashes, [word, 0, 0, 0, 0, 0, 0, 0])
}

/// In how many blocks a key has its bits, by word 0 of a geometry; `None` if no geometry has this word.
#[inline]
pub fn shares_of(word: u64) -> Option<u32> {
    match word {
        0 => Some(1),
        2 => Some(2),
        _ => None,
    }
}

impl<B: Blocks> BitLayout for BlockArray<B> {
    fn of(geometry: &Geometry, instructions: Instructions) -> Option<BlockArray<B>> {
        let [word, rest @ ..] = geometry.words;
        let array = BlockArray::of_size(geometry.bits, geometry.hashes, shares_of(word)?, instructions);
        array.filter(|_| rest == [0; 7])
    }

    #[inline]
    fn of_trailer(trailer: &Trailer, instructions: Instructions) -> Option<BlockArray<B>> {
        let (bits, word) = trailer.bits_of_lines_and_rest()?;
        BlockArray::of_size(bits, trailer.hashes.into(), shares_of(word)?, instructions)
    }

    fn words(&self) -> usize {
        self.blocks as usize * B::BLOCK_WORDS
    }

    #[inline]
    fn contains(&self, words: &[AtomicU64], hash: u64) -> bool {
        self.kernel.contains_one(words, self.masks, hash)
    }

    fn contains_many(&self, words: &[AtomicU64], batch: &mut dyn Batch) {
        self.kernel.contains(words, self.masks, batch);
    }

    fn contains_few(&self, words: &[AtomicU64], few: &Few) -> Option<u64> {
        Some(self.kernel.contains_few(words, self.masks, few))
    }

    #[inline]
    fn contains_in(&self, bytes: AnyBytes, hash: u64) -> bool {
        match bytes.words().and_then(|words| words.get(..self.words())) {
            Some(words) => self.kernel.contains_one(words, self.masks, hash),
            // In an array of a single block every key goes to that block.
            None => self.shares(hash).all(|share| {
                const { assert!(B::BLOCK_WORDS <= MAX_BLOCK_WORDS) };
                let block = bytes.copy::<MAX_BLOCK_WORDS>(self.first_word(share));
                self.share_kernel.contains_one(&block[..B::BLOCK_WORDS], self.masks, share)
            }),
        }
    }

    #[inline]
    fn insert(&self, words: &mut [u64], hash: u64) -> bool {
        self.kernel.insert_one(words, self.masks, hash)
    }

    fn insert_many(&self, words: &mut [u64], batch: &mut dyn Batch) {
        self.kernel.insert(words, self.masks, batch);
    }

    fn insert_few(&self, words: &mut [u64], few: &Few, is_asked: bool) -> Option<u64> {
        Some(self.kernel.insert_few(words, self.masks, few, is_asked))
    }

    fn insert_shared(&self, words: &[AtomicU64], hash: u64) -> bool {
        self.kernel.insert_one_shared(words, self.masks, hash)
    }

    fn insert_many_shared(&self, words: &[AtomicU64], batch: &mut dyn Batch) {
        let fetch = |_: &(), hash| self.shares(hash).for_each(|share| ring::fetch_word(words, self.first_word(share)));
        let insert = |_: &mut (), hash| self.insert_shared(words, hash);
        ring::inserting(&mut (), ring::ahead(words.len(), self.shares as usize), batch, fetch, insert);
    }

    #[inline]
    fn visit_words(&self, hash: u64, visit: &mut dyn FnMut(usize) -> bool) {
        // Blocks do not straddle regions, so the first word stands for all.
        let _ = self.shares(hash).all(|share| visit(self.first_word(share)));
    }

    fn measure(&self, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> Measure {
        let mut all = Fills::default();
        for piece in words.chunks(PIECE_WORDS) {
            let fills = self.kernel.fills(piece, self.hashes_of_share());
            all.ones += fills.ones;
            all.products += fills.products;
            progress(size_of_val(piece) as u64);
        }
        // Given the bits, the shares of a key are found or not independently of each other.
        let rate = B::rate(&all, self.blocks, self.hashes_of_share()).powi(self.shares as i32);
        Measure::of_bits(all.ones, 64 * words.len() as u64, rate)
    }

    fn cardinality(&self, ones: u64) -> Option<f64> {
        // The shares of a key set their bits independently of each other, as that many keys of one block would.
        let shares = B::cardinality(self.blocks, self.hashes_of_share(), ones)?;
        Some(shares / f64::from(self.shares))
    }

    fn standard_error(&self, keys: f64) -> f64 {
        let shares = f64::from(self.shares);
        B::standard_error(self.blocks, self.hashes_of_share(), (keys * shares).round() as u64) / shares
    }

    fn units(&self) -> u64 {
        self.blocks
    }

    fn folded(&self, factor: u64) -> Result<Geometry> {
        geometry_of_shares::<B>(self.blocks / factor, self.hashes, self.shares)
    }

    /// Blocks are chosen by multiplication, so neighbours fold together: block b becomes b / factor.
    fn fold_into(&self, words: &[AtomicU64], factor: u64, folded: &mut [u64]) {
        for (i, word) in words.iter().enumerate() {
            let block = (i / B::BLOCK_WORDS) as u64 / factor;
            folded[block as usize * B::BLOCK_WORDS + i % B::BLOCK_WORDS] |= word.load(Ordering::Relaxed);
        }
    }

    fn view<'a>(&self, words: &'a [AtomicU64]) -> Option<View<'a>> {
        let layout = if self.shares == 1 { B::LAYOUT } else { B::LAYOUT_IN_TWO }?;
        let described = [self.blocks, self.hashes.into(), 0, 0, 0, 0, 0, 0];
        Some(View { layout, payload: words, words: described, table: self.masks })
    }

    fn link(&self) -> Option<Link> {
        Some((self.chain_kernel?, B::BLOCK_WORDS, self.masks))
    }

    fn probe_kernel(&self) -> Option<ProbeKernel> {
        let second = (self.shares == 2).then_some(B::shares as fn(u64) -> [u64; 2]);
        Some(ProbeKernel::Block { kernel: self.kernel, masks: self.masks, shares: second })
    }
}

impl<B: Blocks> BlockArray<B> {
    /// The array of `bits` bits where a key sets `hashes` bits in `shares` blocks; `None` if there is no such array.
    #[inline]
    fn of_size(bits: u64, hashes: u32, shares: u32, instructions: Instructions) -> Option<BlockArray<B>> {
        let block_bits = 64 * B::BLOCK_WORDS as u64;
        let blocks = bits / block_bits;
        let is_known = bits.is_multiple_of(block_bits)
            && (1..B::MAX_BLOCKS).contains(&blocks)
            && hashes.is_multiple_of(shares)
            && (B::HASHES.0..=B::HASHES.1).contains(&(hashes / shares));
        if !is_known {
            return None;
        }
        let (masks, share_kernel) = (B::masks(hashes / shares), B::kernel(instructions));
        let (kernel, chain_kernel) = match shares {
            1 => (share_kernel, B::chain_kernel(instructions)),
            // Chains look into one block of each array.
            _ => (B::kernel_in_two(instructions)?, None),
        };
        Some(BlockArray { blocks, hashes, shares, masks, kernel, share_kernel, chain_kernel, layout: PhantomData })
    }

    /// The place of the first word of the block that a hash, or the hash of a share, goes to.
    #[inline]
    fn first_word(&self, hash: u64) -> usize {
        B::block(hash, self.blocks) as usize * B::BLOCK_WORDS
    }

    /// The hashes of the shares of a key. A single share has the hash of the key.
    #[inline]
    fn shares(&self, hash: u64) -> impl Iterator<Item = u64> {
        let shares = if self.shares == 1 { [hash; 2] } else { B::shares(hash) };
        shares.into_iter().take(self.shares as usize)
    }

    /// How many bits a share has.
    fn hashes_of_share(&self) -> u32 {
        self.hashes / self.shares
    }
}

const _: () = assert!(PIECE_WORDS.is_multiple_of(8), "pieces are whole blocks");
