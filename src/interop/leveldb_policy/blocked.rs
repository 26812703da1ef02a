//! Filters of the kind `blocked` in their compact form, with XXH3. A key has one cache line, and most filters of a data
//! block are one line, so bits are rounded up to whole lines.

use crate::bits::reduce;
use crate::format::compact::Trailer;
use crate::kinds::blocked::ROW;
use crate::kinds::blocked::layout::{BLOCK_WORDS, kernel, masks};
use crate::kinds::blocked::sizing::{BLOCK_BITS, MAX_HASHES, optimal_hashes};
use crate::simd;
use crate::storage::AnyBytes;
use core::ffi::CStr;
use core::sync::atomic::AtomicU64;
use xxhash_rust::xxh3::xxh3_64;

pub const NAME: &CStr = c"petal.BlockedBloomFilter";

const BLOCK_BYTES: usize = 8 * BLOCK_WORDS;

/// The trailer of a filter of `keys` keys; `None` if memory has no such size.
fn trailer(keys: usize, bits_per_key: u32) -> Option<Trailer> {
    let bits = (keys as u64).checked_mul(bits_per_key.into())?;
    let blocks = bits.div_ceil(BLOCK_BITS).max(1);
    let payload_bytes = usize::try_from(blocks).ok()?.checked_mul(BLOCK_BYTES)?;
    let hashes = optimal_hashes((blocks * BLOCK_BITS) as f64 / keys.max(1) as f64) as u8;
    (payload_bytes <= isize::MAX as usize / 2).then_some(Trailer {
        kind: ROW.kind,
        layout_version: ROW.form.layout_version as u8,
        hashes,
        shape: 0,
        payload_bytes,
    })
}

/// The size in bytes of a filter.
pub fn size(keys: usize, bits_per_key: u32) -> Option<usize> {
    Some(trailer(keys, bits_per_key)?.length())
}

/// Writes the filter of keys; `filter` has the [`size`] that they need.
pub fn create<'k>(keys: impl ExactSizeIterator<Item = &'k [u8]>, bits_per_key: u32, filter: &mut [u8]) {
    filter.fill(0);
    let Some(trailer) = trailer(keys.len(), bits_per_key).filter(|trailer| trailer.length() == filter.len()) else {
        return;
    };
    let (blocks, _) = filter[..trailer.payload_bytes].as_chunks_mut::<BLOCK_BYTES>();
    let (kernel, masks) = (kernel(simd::best()), masks(trailer.hashes.into()));
    let count = blocks.len() as u64;
    // Bytes lie anywhere, but kernels take words: a block is copied, and goes back when it is another one's turn.
    let (mut words, mut current) = ([0; BLOCK_WORDS], 0);
    for key in keys {
        let hash = xxh3_64(key);
        let block = reduce(hash, count) as usize;
        if block != current {
            put(&words, &mut blocks[current]);
            words = get(&blocks[block]);
            current = block;
        }
        kernel.insert_one(&mut words, masks, hash);
    }
    put(&words, &mut blocks[current]);
    trailer.write(filter);
}

fn get(block: &[u8; BLOCK_BYTES]) -> [u64; BLOCK_WORDS] {
    let (words, _) = block.as_chunks();
    core::array::from_fn(|i| u64::from_le_bytes(words[i]))
}

fn put(words: &[u64; BLOCK_WORDS], block: &mut [u8; BLOCK_BYTES]) {
    let (places, _) = block.as_chunks_mut();
    places.iter_mut().zip(words).for_each(|(place, word)| *place = word.to_le_bytes());
}

/// Whether a key may be among those of a filter. Bytes that are not such a compact form match all keys.
#[inline]
pub fn may_match(key: &[u8], filter: &[u8]) -> bool {
    let Ok(trailer) = Trailer::read(filter) else { return true };
    let Trailer { kind, layout_version, hashes, shape, payload_bytes } = trailer;
    let known = kind == ROW.kind && u16::from(layout_version) == ROW.form.layout_version && shape == 0;
    if !known || !(1..=MAX_HASHES).contains(&hashes.into()) {
        return true;
    }
    let (blocks, _) = filter[..payload_bytes].as_chunks::<BLOCK_BYTES>();
    let hash = xxh3_64(key);
    let Some(block) = blocks.get(reduce(hash, blocks.len() as u64) as usize) else { return true };
    let (kernel, masks) = (kernel(simd::best()), masks(hashes.into()));
    match AnyBytes::of(block).words() {
        Some(words) => kernel.contains_one(words, masks, hash),
        None => kernel.contains_one(&get(block).map(AtomicU64::new), masks, hash),
    }
}
