//! petal_inline.h: lookups and insertions of single keys that the compiler puts into the program which includes this
//! header. They are for filters whose layout has a name: the kinds `blocked`, `split_block`, `bloom` with the default
//! derivation, `fuse`, `ribbon`, and `cuckoo` without semi-sorting. Insertions are for the first three. There are
//! lookups for maps of the kinds `retrieval` and `bloomier` too.
//!
//!     petal_view view = PETAL_VIEW_INIT;
//!     if (petal_filter_get_view(filter, &view, NULL) != PETAL_OK) return 1;
//!     for (size_t i = 0; i < count; i++) hits += petal_view_contains_u64(&view, keys[i]);
//!
//! `petal_map_get_view()` fills in a view of a map, and `petal_view_get_u64()` gives the value of a key.
//!
//! These functions do what `petal_filter_contains_u64()` and its like do, to the same bits. If many keys come together,
//! a batch (`petal_filter_contains_batch()`) is faster still, most of all for filters larger than the cache. A loop
//! that cannot use a batch but knows its keys some rounds before may fetch memory ahead with
//! `petal_view_prefetch_u64()`.
//!
//! If something is wrong, lookups in filters say true of every key: the view is NULL or nobody filled it in, or this
//! header does not know the view's layout. A uint64_t key may also come to a filter whose hash function is not XXH3.
//! Hash such keys with `petal_filter_hash()` and use the functions for hashes, which take
//! the hashes of any filter. Insertions and lookups in maps return a status.
//!
//! The processor for which you compile the including file decides on the code. On x86-64 that is AVX-512 (F, BW, DQ and
//! VL), AVX2, or SSE2, which every such processor has. On aarch64 it is NEON, which every such processor has. Elsewhere
//! it is plain code that is C99 and C++17. All do the same. The library itself always uses the best that the processor
//! has. If you compile a file for much less than that, a call into the library may be as fast.
//!
//! For a fast loop, copy the view into a local variable and pass the address of that copy, so that the compiler sees
//! that nothing changes the view.
//!
//! Define PETAL_INLINE_PORTABLE before you include this header to get the plain code without extensions of any
//! compiler. That code loads with volatile instead of atomic loads. Processors see no difference, but ThreadSanitizer
//! does.
//!
//! In C++ these functions belong to the file that includes them. If an inline function of yours calls them, compile all
//! files that contain your function for the same processor.
//!
//! A view says where the payload of a filter or map lies and how the payload is laid out. A view is a plain struct:
//! copy it at will and never free it. A view points into its filter or map:
//!
//! - Only `petal_filter_fold()` and `petal_filter_free()` of its handle end a view of a filter, and only
//!   `petal_map_free()` a view of a map.
//! - A lookup in a view is like a call that takes the const handle. Many threads may look up at once, also while others
//!   insert with `petal_filter_insert_shared()`. No thread may look up while a call runs that takes a handle which is
//!   not const.
//! - An insertion into a view is like a call that takes a handle which is not const: nobody else may use the filter
//!   meanwhile. `petal_filter_sync()` ends the permission to insert, wherever the filter lies: take a new writable view
//!   after a sync. Lookups may go on.
//! - Insertions through a view do not count keys. `petal_filter_add_insertions()` adds the count later.

use crate::boundary::{self, boundary};
use crate::filter::petal_filter;
#[cfg(feature = "map")]
use crate::map::petal_map;
use crate::spec::petal_hash_function;
use crate::status::{petal_error, petal_status};
use petal_core::hash::xxh3;
use petal_core::{HashFunction, Image, Layout, View};
use std::ffi::c_void;
use std::ptr;

/// The layout of a payload: one of `PETAL_VIEW_LAYOUT_*`. Each layout says what the `words` of a view are. Words that a
/// layout does not name are 0.
pub type petal_view_layout = u32;

/// Blocks of 256 bits, a bit in each of eight lanes: filters of the kind `PETAL_KIND_SPLIT_BLOCK`.
/// words[0] is the number of blocks, at least 1, and words[1] how many bits a key sets, 8.
pub const PETAL_VIEW_LAYOUT_SPLIT_BLOCK: petal_view_layout = 1;
/// Blocks of 512 bits, a bit in each of some of sixteen lanes: filters of the kind `PETAL_KIND_BLOCKED`. words[0] is
/// the number of blocks, at least 1, and words[1] how many bits a key sets. `table` has the lane masks of keys with
/// that many bits, uint16_t numbers: each key uses the lanes of one mask.
pub const PETAL_VIEW_LAYOUT_BLOCKED: petal_view_layout = 2;
/// Blocks of 512 bits, two for each key, which have half of the key's bits each: filters of the kind
/// `PETAL_KIND_BLOCKED` with the parameter `blocks` = 2. The two may be the same block.
/// words[0] is the number of blocks, at least 1, and words[1] how many bits a key sets in both, an even number. `table`
/// has the lane masks of keys with half as many bits.
pub const PETAL_VIEW_LAYOUT_TWO_BLOCKS: petal_view_layout = 3;
/// Bits anywhere: filters of the kind `PETAL_KIND_BLOOM` with the derivation "remix".
/// words[0] is how many bits a probe ranges over. words[1] is how many bits lie between one probe's range and the next
/// one's: 0, or words[0] in a partitioned filter. words[2] is how many bits a key sets, from 1 to 64.
pub const PETAL_VIEW_LAYOUT_BLOOM: petal_view_layout = 4;
/// Cells, three or four for a key, whose exclusive or is the key's fingerprint: filters of the kind
/// `PETAL_KIND_FUSE`.
/// words[0] is the number of shards, 0 if there are no keys. words[1] is how many bits a cell has, from 2 to 32.
/// words[2] is how many cells a key has, and words[3] how many there are. words[4] is the word of the payload at which
/// the directory begins. If there is one shard, words[5] is how many cells a key may begin in, words[6] the length of a
/// segment, and words[7] the seed in both halves. These three are 0 if there are more shards, or if the entry of the
/// only one is wrong: lookups then read the directory.
pub const PETAL_VIEW_LAYOUT_FUSE: petal_view_layout = 5;
/// Buckets of fingerprints, two of which a key may be in: filters of the kind `PETAL_KIND_CUCKOO` without
/// semi-sorting.
/// words[0] is the number of buckets, an even number. words[1] is how many slots a bucket has, and words[2] how many
/// bits a fingerprint has. A bucket is one window or more. words[3] is how many slots a window has, which take at most
/// 64 bits. words[4] is a number with the lowest bit of each of these slots. words[5] is 1 if a bucket always lies in
/// the eight bytes from the byte in which it begins, otherwise 0.
pub const PETAL_VIEW_LAYOUT_CUCKOO: petal_view_layout = 6;
/// Slots, a run of which gives the fingerprint of a key: filters of the kind `PETAL_KIND_RIBBON`.
/// words[0] is the number of shards, 0 if there are no keys. words[1] is how many bits a slot has, from 1 to 32, and
/// words[2] how many coefficients a key has, 64 or 128. words[3] is how many slots of a shard's first layer a key may
/// start in, and words[4] how many bytes the metadata of that layer has. words[5] is the byte at which the slots of the
/// first shard begin. words[6] is how many bytes the payload has without those that fill its last line.
pub const PETAL_VIEW_LAYOUT_RIBBON: petal_view_layout = 7;
/// Cells, three for a key, whose exclusive or is the key's value, with the key's check bits above the value: maps of
/// the kinds `PETAL_KIND_RETRIEVAL` and `PETAL_KIND_BLOOMIER` that were built with the solver "fuse", if a value and
/// its check bits have at most 64 bits together. The words are those of `PETAL_VIEW_LAYOUT_FUSE`, with two differences.
/// words[1], the bits of a cell, is from 1 to 64. words[2] is how many bits of a cell are for the value; the other bits
/// of a cell are check bits.
pub const PETAL_VIEW_LAYOUT_FUSE_VALUES: petal_view_layout = 8;
/// Slots, a run of which gives the value of a key, with the key's check bits above the value: maps of the kinds
/// `PETAL_KIND_RETRIEVAL` and `PETAL_KIND_BLOOMIER` that were built with the solver "ribbon", which is the default. The
/// words are those of `PETAL_VIEW_LAYOUT_RIBBON`, with two differences. words[1], the bits of a slot, is from 1 to 96.
/// words[7] is how many bits of a slot are for the value, at most 64; the others are check bits, at most 32.
pub const PETAL_VIEW_LAYOUT_RIBBON_VALUES: petal_view_layout = 9;

const _: () = {
    assert!(PETAL_VIEW_LAYOUT_SPLIT_BLOCK == Layout::SplitBlock as u32);
    assert!(PETAL_VIEW_LAYOUT_BLOCKED == Layout::Blocked as u32);
    assert!(PETAL_VIEW_LAYOUT_TWO_BLOCKS == Layout::TwoBlocks as u32);
    assert!(PETAL_VIEW_LAYOUT_BLOOM == Layout::Bloom as u32);
    assert!(PETAL_VIEW_LAYOUT_FUSE == Layout::Fuse as u32);
    assert!(PETAL_VIEW_LAYOUT_CUCKOO == Layout::Cuckoo as u32);
    assert!(PETAL_VIEW_LAYOUT_FUSE_VALUES == Layout::FuseValues as u32);
    assert!(PETAL_VIEW_LAYOUT_RIBBON_VALUES == Layout::RibbonValues as u32);
    assert!(PETAL_VIEW_LAYOUT_RIBBON == Layout::Ribbon as u32);
};

/// The payload of a filter or map, and how to find keys in it; `docs/format.md` specifies the layouts. In a view of all
/// zeros, which nobody filled in, `petal_view_contains_u64()` says true of every key, and `petal_view_get_u64()`
/// returns `PETAL_ERR_UNSUPPORTED`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_view {
    /// sizeof(petal_view), or 0 for its size in the first release.
    pub struct_size: usize,
    /// One of `PETAL_VIEW_LAYOUT_*`.
    pub layout: petal_view_layout,
    /// The hash function of the keys. The inline functions hash uint64_t keys only if it is `PETAL_HASH_XXH3`.
    pub hash: petal_hash_function,
    /// The number that XXH3 mixes with uint64_t keys, which comes from the seed; otherwise 0.
    pub hash_flip: u64,
    /// All bytes that a lookup may read, aligned to 8 bytes.
    pub payload: *const u64,
    /// How many bytes these are, a multiple of 8.
    pub payload_bytes: u64,
    /// The payload for insertions, the same address. NULL if the view is for lookups only.
    pub writable_payload: *mut u64,
    /// What the layout says that these are.
    pub words: [u64; 8],
    /// A table of the layout's, which lives as long as the program. NULL if the layout has none.
    pub table: *const c_void,
    /// How many entries the table has.
    pub table_count: u64,
}

// SAFETY: numbers and nullable pointers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_view {
    const FIRST_SIZE: usize = 128;
}

/// Whether this is a layout of maps. Maps know their keys by 128 bits.
fn is_map(layout: Layout) -> bool {
    matches!(layout, Layout::FuseValues | Layout::RibbonValues)
}

/// A view of this payload for a filter or map with this hash function and seed.
fn view_of(view: View, hash: HashFunction, seed: u64) -> petal_view {
    let flip = if is_map(view.layout) { xxh3::flip_128 } else { xxh3::flip };
    petal_view {
        struct_size: 0,
        layout: view.layout as petal_view_layout,
        hash: hash as petal_hash_function,
        hash_flip: if hash == HashFunction::Xxh3 { flip(seed) } else { 0 },
        payload: view.payload.as_ptr().cast(),
        payload_bytes: size_of_val(view.payload) as u64,
        writable_payload: ptr::null_mut(),
        words: view.words,
        table: if view.table.is_empty() { ptr::null() } else { view.table.as_ptr().cast() },
        table_count: view.table.len() as u64,
    }
}

/// Fills in a view for lookups, in constant time. Returns `PETAL_ERR_UNSUPPORTED` if the layout of the filter's kind
/// has no name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_get_view(
    filter: *const petal_filter,
    view: *mut petal_view,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, fill view], {
        let hasher = filter.base().hasher();
        view.set(view_of(filter.view()?, hasher.function(), hasher.identifier()));
        Ok(())
    })
}

/// Fills in a view for lookups and insertions. The function first marks an image in place unclean, on its disk too.
/// Nobody will say which regions the insertions change. So all regions count as changed, and this call and the next
/// sync read the whole payload. Returns `PETAL_ERR_UNSUPPORTED` if the layout has no name, or none with insertions.
/// Returns `PETAL_ERR_CORRUPT` if the image does not match its checksums. Returns `PETAL_ERR_UNSUPPORTED_BY_HANDLE` if
/// the handle is open for reading, or for shared insertion.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_get_writable_view(
    filter: *mut petal_filter,
    view: *mut petal_view,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change filter, fill view], {
        view.set(filter.by(|filter| {
            let (hash, seed) = (filter.base().hasher().function(), filter.base().hasher().identifier());
            let payload = filter.writable_view()?;
            // The words are atomics, through which may be written where they are writable.
            let writable_payload = payload.payload.as_ptr().cast::<u64>().cast_mut();
            Ok(petal_view { writable_payload, ..view_of(payload, hash, seed) })
        })?);
        Ok(())
    })
}

/// Fills in a view of a map for lookups (`petal_view_get_u64()`), in constant time. Returns `PETAL_ERR_UNSUPPORTED` if
/// the map's layout has no name.
#[cfg(feature = "map")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_get_view(
    map: *const petal_map,
    view: *mut petal_view,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read map, fill view], {
        let hasher = map.base().hasher();
        view.set(view_of(map.view()?, hasher.function(), hasher.identifier()));
        Ok(())
    })
}
