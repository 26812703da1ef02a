//! FILTERS: VIEWS
//!
//! For programs that look single keys up so often that the call itself counts: `petal_inline.h`, installed beside
//! this header, has lookups and insertions that are compiled into the program. They work on a view, which says where a
//! filter's payload lies and how it is laid out.
//!
//! A view is a plain struct, to be copied at will and never freed. It points into its filter:
//!
//! - It ends with `petal_filter_fold()` and `petal_filter_free()` of the handle that gave it, and with nothing else.
//! - A lookup in it is like a call that takes the const handle: many threads may do it at once, also while others
//!   insert with `petal_filter_insert_shared()`, but not while a call runs that takes a handle which is not const.
//! - An insertion into it is like a call that takes a handle which is not const: the filter is alone meanwhile.
//!   `petal_filter_sync()` ends the permission to insert, wherever the filter lies: take a new writable view after it.
//!   Lookups go on.
//! - Keys that are inserted through it are not counted. `petal_filter_add_offered()` makes up for it.

use crate::boundary::{self, boundary};
use crate::filter::petal_filter;
use crate::spec::petal_hash_function;
use crate::status::{petal_error, petal_status};
use petal_core::hash::xxh3;
use petal_core::layouts::blocked::masks;
use petal_core::{Filter, HashFunction, Image, Layout, Result, View};
use std::ptr;

/// How a payload is laid out: one of `PETAL_LAYOUT_*`. Since 0.1.
pub type petal_layout = u32;

/// Blocks of 256 bits, a bit in each of eight lanes: filters of the kind `PETAL_KIND_SPLIT_BLOCK`.
pub const PETAL_LAYOUT_SPLIT_BLOCK: petal_layout = 1;
/// Blocks of 512 bits, a bit in each of some of sixteen lanes: filters of the kind `PETAL_KIND_BLOCKED`.
pub const PETAL_LAYOUT_BLOCKED: petal_layout = 2;

const _: () = {
    assert!(PETAL_LAYOUT_SPLIT_BLOCK == Layout::SplitBlock as u32);
    assert!(PETAL_LAYOUT_BLOCKED == Layout::Blocked as u32);
};

/// A filter's payload and how keys are found in it; `docs/format.md` specifies the layouts. Set `struct_size`, and the
/// rest to 0: a view that was never filled in says true of every key. Since 0.1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_view {
    /// sizeof(petal_view).
    pub struct_size: usize,
    /// One of `PETAL_LAYOUT_*`.
    pub layout: petal_layout,
    /// The bits that a key sets.
    pub hashes: u32,
    /// The hash function of the keys: uint64_t keys can be hashed inline where it is `PETAL_HASH_XXH3`.
    pub hash: petal_hash_function,
    /// How many `masks` there are.
    pub mask_count: u32,
    /// What XXH3 mixes uint64_t keys with, made from the seed; otherwise 0.
    pub hash_flip: u64,
    /// How many blocks there are, at least 1.
    pub blocks: u64,
    /// The blocks, one after the other, aligned to 8 bytes.
    pub words: *const u64,
    /// The address in `words`, for writing, where keys may be inserted; otherwise NULL.
    pub writable_words: *mut u64,
    /// The sets of lanes of which a key has one, for `PETAL_LAYOUT_BLOCKED`; otherwise NULL. Static.
    pub masks: *const u16,
}

// SAFETY: numbers and nullable pointers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_view {
    const FIRST_SIZE: usize = 64;
}

/// A view of these words for a filter with this hash function and seed.
fn view_of(view: View, hash: HashFunction, seed: u64) -> petal_view {
    let (words_of_block, masks) = match view.layout {
        Layout::Blocked => (8, masks(view.hashes)),
        Layout::SplitBlock => (4, &[][..]),
    };
    petal_view {
        struct_size: 0,
        layout: view.layout as petal_layout,
        hashes: view.hashes,
        hash: hash as petal_hash_function,
        mask_count: masks.len() as u32,
        hash_flip: if hash == HashFunction::Xxh3 { xxh3::flip(seed) } else { 0 },
        blocks: (view.words.len() / words_of_block) as u64,
        words: view.words.as_ptr().cast(),
        writable_words: ptr::null_mut(),
        masks: if masks.is_empty() { ptr::null() } else { masks.as_ptr() },
    }
}

/// Fills in a view for lookups. Constant time. `PETAL_ERR_UNSUPPORTED` if the filter's kind has no layout with a name.
/// Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_view(
    filter: *const petal_filter,
    view: *mut petal_view,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter, view], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let filter = unsafe {
            boundary::check_out(view)?;
            petal_filter::get(filter)?
        };
        let hasher = filter.base().hasher();
        let payload = filter.readable_view()?;
        // SAFETY: as above.
        unsafe { boundary::write(view, view_of(payload, hasher.function(), hasher.identifier())) };
        Ok(())
    })
}

/// Fills in a view for lookups and insertions. An image in place is marked dirty first, on its disk too. Because nobody
/// will say which of its regions change, all of them count as changed: this call and the next sync read the whole
/// payload. `PETAL_ERR_CORRUPT` if the image does not match its checksums; `PETAL_ERR_UNSUPPORTED` also if the handle
/// is open for reading, or for shared insertion. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_view_writable(
    filter: *mut petal_filter,
    view: *mut petal_view,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter, view], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { boundary::check_out(view)? };
        let take = |filter: &mut Filter| -> Result<petal_view> {
            let (hash, seed) = (filter.base().hasher().function(), filter.base().hasher().identifier());
            let payload = filter.writable_view()?;
            // The words are atomics, through which may be written where they are writable.
            let writable_words = payload.words.as_ptr().cast::<u64>().cast_mut();
            Ok(petal_view { writable_words, ..view_of(payload, hash, seed) })
        };
        // SAFETY: as above.
        unsafe { boundary::write(view, petal_filter::change(filter, take)??) };
        Ok(())
    })
}
