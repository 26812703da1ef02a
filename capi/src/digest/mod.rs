//! petal_digest.h: digests of payloads, which say in which payload an excerpt was, and where. It is experimental:
//! functions may still change. petal.h has the conventions, which hold for digests too.
//!
//! A payload is a run of bytes, such as a packet or a file. A digest keeps some hundredths of the bytes of the payloads
//! that go by. Later the digest says of an excerpt whether the excerpt went by, in which payload, and at which offset:
//!
//!     petal_spec spec = PETAL_SPEC_INIT;
//!     spec.capacity = 100000;
//!     petal_digest *digest = NULL;
//!     if (petal_digest_new(&spec, &digest, NULL) != PETAL_OK) return 1;
//!     unsigned char packet[1500];
//!     for (int i = 0; i < 1500; i++) packet[i] = (unsigned char)(i * i >> 3);
//!     petal_digest_add(digest, 7, packet, sizeof packet, NULL);
//!     petal_digest_match matches[10];
//!     petal_digest_find_result result = PETAL_DIGEST_FIND_RESULT_INIT;
//!     if (petal_digest_find(digest, packet + 333, 300, NULL, matches, 10, &result, NULL) != PETAL_OK) return 1;
//!     if (result.match_count > 0 && matches[0].payload == 7) printf("at %d\n", (int)matches[0].offset);
//!
//! A digest uses these fields of its spec: capacity (the bytes of data), false_positive_rate (that of one entry) or
//! bits and hashes, hash function, seed, secret and parameters. The kind is `PETAL_KIND_DIGEST`, or 0 if you set no
//! parameter. Without a rate and bits, the parameter `bytes_per_byte` says how many bytes of memory each byte of data
//! gets: .05 unless you set it. `block_bytes` is the length of a block, and `cut` says whether blocks are fixed (0) or
//! cut by content (1). `levels` is how many levels of groups there are, and `segment_blocks` the length of a segment in
//! blocks. `payloads` is how many ids the digest keeps, and `attachment_bytes` how many bytes of your own.
//! docs/digest.md explains these parameters.
//!
//! Every excerpt that went by is found if it has a block. With fixed blocks it has one from
//! `petal_digest_shortest_excerpt()` bytes on. Other excerpts are found with the probability
//! `petal_digest_expected_rate()`, which falls fast with the length of the excerpt. Digests without ids (`payloads` =
//! 0) are smaller, and say only that the excerpt went by. With a single level they also find most excerpts that were
//! put together from blocks of several payloads. docs/digest.md has figures.

use crate::arguments::{Given, list};
use crate::boundary::{self, boundary, number};
use crate::handle::{self, Handle, owner};
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};
use petal_core::{Digest, DigestFindOptions, DigestMatch, DigestStatistics, Image, Result};
use std::ffi::c_void;

pub mod image;

/// A digest. Free it with `petal_digest_free()`.
pub struct petal_digest(Handle<Digest>);

owner!(petal_digest, Digest);

/// Makes an empty digest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_new(
    spec: *const petal_spec,
    digest: *mut *mut petal_digest,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, give digest, given spec], digest.made(|| petal_core::Digest::new(&spec)))
}

/// Frees a digest. If you changed an image in place, this function brings the image up to date first. Call
/// `petal_digest_sync()` before if you want to know whether that works. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_free(digest: *mut petal_digest) {
    // SAFETY: by the conventions NULL, or a handle that this library made and nobody uses any more.
    unsafe { handle::free(digest) }
}

/// Takes a payload under an id of yours. Returns `PETAL_ERR_FULL` if the digest has as many ids as it keeps, and
/// `PETAL_ERR_CONTRADICTION` while a payload is open. Bytes after the last whole block are in no block; with blocks
/// that are cut by content this also holds for the bytes before the first cut. Linear in the payload.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_add(
    digest: *mut petal_digest,
    payload: u64,
    bytes: *const c_void,
    length: usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change digest, bytes(bytes, length)], digest.by(|digest| digest.add(payload, bytes)))
}

/// Begins a payload that `petal_digest_write()` writes in pieces, and `petal_digest_end()` ends. Returns what
/// `petal_digest_add()` returns. If you free the digest before the end, its image has the payload as far as you wrote
/// it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_begin(
    digest: *mut petal_digest,
    payload: u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change digest], digest.by(|digest| digest.begin(payload)))
}

/// Takes the next bytes of the open payload. Pieces of any lengths make the same digest. Returns
/// `PETAL_ERR_CONTRADICTION` if no payload is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_write(
    digest: *mut petal_digest,
    bytes: *const c_void,
    length: usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change digest, bytes(bytes, length)], digest.by(|digest| digest.write(bytes)))
}

/// Ends the open payload. Returns `PETAL_ERR_CONTRADICTION` if no payload is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_end(digest: *mut petal_digest, error: *mut petal_error) -> petal_status {
    boundary!(error, [change digest], digest.by(|digest| digest.end()))
}

/// The bounds of a search. 0 is the default of each.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_digest_find_options {
    /// sizeof(petal_digest_find_options), or 0 for its size in the first release.
    pub struct_size: usize,
    /// The most bytes that an excerpt may have; 0 is 2^20.
    pub max_excerpt: u64,
    /// The most entries of the filter that are looked up; 0 is 2^28, which takes some seconds.
    pub max_lookups: u64,
}

// SAFETY: numbers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_digest_find_options {
    const FIRST_SIZE: usize = 24;
}

impl Given for petal_digest_find_options {
    type Said = DigestFindOptions;

    fn said(given: Option<petal_digest_find_options>, _name: &str) -> Result<DigestFindOptions> {
        let mut options = DigestFindOptions::default();
        if let Some(petal_digest_find_options { max_excerpt, max_lookups, .. }) = given {
            options.max_excerpt = if max_excerpt == 0 { options.max_excerpt } else { max_excerpt };
            options.max_lookups = if max_lookups == 0 { options.max_lookups } else { max_lookups };
        }
        Ok(options)
    }
}

/// A place where an excerpt was found.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_digest_match {
    /// The id of the payload; 0 if the digest keeps no ids.
    pub payload: u64,
    /// The least offset at which the excerpt may lie in the payload. Without ids this is the offset in a segment of the
    /// payload, or 0 if blocks are cut by content.
    pub offset: u64,
    /// From how many offsets on, beginning with `offset`, the excerpt may lie: 1 with fixed blocks.
    pub span: u64,
}

/// What a search found.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_digest_find_result {
    /// sizeof(petal_digest_find_result), or 0 for its size in the first release.
    pub struct_size: usize,
    /// How many matches there are; no more than there was room for.
    pub match_count: usize,
    /// 1 if the search came to its end, and 0 if it stopped at one of the bounds or had no more room for matches. If
    /// this is 0, there may be more matches.
    pub is_complete: u32,
    /// 1 if matches name payloads, because the digest keeps their ids; 0 if it keeps none.
    pub names_payloads: u32,
    /// The probability that a random excerpt of as many blocks, which no payload has, is found.
    pub rate: f64,
    /// How many wrong segments of payloads are named on average besides the right one, if a payload has the excerpt. 0
    /// without ids.
    pub wrong_segments: f64,
    /// How many entries of the filter were looked up.
    pub lookups: u64,
}

// SAFETY: numbers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_digest_find_result {
    const FIRST_SIZE: usize = 48;
}

/// Looks for an excerpt, and writes the first `room` places where the excerpt was found to `matches`, which may be NULL
/// if `room` is 0. `options` is nullable. Returns `PETAL_ERR_OUT_OF_RANGE` for an excerpt that is shorter than
/// `petal_digest_shortest_excerpt()`, longer than `max_excerpt`, or without a block. If blocks are cut by content, one
/// byte repeated has no block. Time is bounded by `max_lookups`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_find(
    digest: *const petal_digest,
    excerpt: *const c_void,
    length: usize,
    options: *const petal_digest_find_options,
    matches: *mut petal_digest_match,
    room: usize,
    result: *mut petal_digest_find_result,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read digest, result, room(matches, room), given options, fill result, bytes(excerpt, length)], {
        let told = digest.find(excerpt, &DigestFindOptions { max_matches: room, ..options })?;
        for (to, DigestMatch { payload, offset, span }) in matches.iter_mut().zip(told.matches.iter().copied()) {
            *to = petal_digest_match { payload: payload.unwrap_or(0), offset, span };
        }
        result.set(petal_digest_find_result {
            struct_size: 0,
            match_count: told.matches.len(),
            is_complete: told.is_complete.into(),
            names_payloads: digest.names_payloads().into(),
            rate: told.rate,
            wrong_segments: told.wrong_segments,
            lookups: told.lookups,
        });
        Ok(())
    })
}

/// Returns the length in bytes of the shortest excerpt that `petal_digest_find()` takes; 0 for NULL. With blocks that
/// are cut by content an excerpt of that length has a block in the best case, and one of twice the length nearly
/// always.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_shortest_excerpt(digest: *const petal_digest) -> u64 {
    number!([read digest], digest.shortest_excerpt())
}

/// Writes the length in bytes of the shortest excerpt that is found with at most the probability `rate` although no
/// payload has it; 0 if no excerpt up to 2^20 bytes is long enough.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_shortest_excerpt_at(
    digest: *const petal_digest,
    rate: f64,
    length: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read digest, out length], {
        length.answer(digest.shortest_excerpt_at(rate).map(|length| length.unwrap_or(0)))
    })
}

/// Writes the probability that a random excerpt of `length` bytes, which did not go by, is found. With fixed blocks the
/// probability is exact for the bits that are set now; with blocks that are cut by content it is an approximation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_expected_rate(
    digest: *const petal_digest,
    length: u64,
    rate: *mut f64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read digest, out rate], rate.answer(Ok(digest.expected_rate(length))))
}

/// The counters of a digest.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_digest_statistics {
    /// sizeof(petal_digest_statistics), or 0 for its size in the first release.
    pub struct_size: usize,
    /// How many payloads the digest has ids of; 0 if it keeps none.
    pub payloads: u64,
    /// How many segments these payloads have.
    pub segments: u64,
    /// The bytes of the longest payload.
    pub longest: u64,
    /// How many entries were inserted into the filter.
    pub entries: u64,
    /// The share of the filter's bits that are set.
    pub fill: f64,
    /// The probability that the filter seems to have an entry that nobody inserted.
    pub entry_rate: f64,
}

// SAFETY: numbers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_digest_statistics {
    const FIRST_SIZE: usize = 56;
}

/// Tells the counters of a digest. Constant time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_get_statistics(
    digest: *const petal_digest,
    statistics: *mut petal_digest_statistics,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read digest, fill statistics], {
        let DigestStatistics { payloads, segments, longest, entries, fill, entry_rate } = digest.statistics();
        let struct_size = 0;
        statistics.set(petal_digest_statistics {
            struct_size,
            payloads,
            segments,
            longest,
            entries,
            fill,
            entry_rate,
        });
        Ok(())
    })
}

/// Writes the id and the length in bytes of the payload that came as number `index`, from 0 on. `payload` and `length`
/// are nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_get_payload_at(
    digest: *const petal_digest,
    index: u64,
    payload: *mut u64,
    length: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read digest, maybe payload, maybe length], {
        let (id, bytes) = digest.payload_at(index)?;
        payload.set(id);
        length.set(bytes);
        Ok(())
    })
}

/// Keeps your own bytes in the image, instead of those that were there before. Returns `PETAL_ERR_TOO_LARGE` if they
/// are more than the parameter `attachment_bytes` has room for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_attach(
    digest: *mut petal_digest,
    bytes: *const c_void,
    length: usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change digest, bytes(bytes, length)], digest.by(|digest| digest.attach(bytes)))
}

/// Copies the bytes that `petal_digest_attach()` kept, up to `room` of them. `length` becomes the number of all of
/// them. `buffer` may be NULL if `room` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_get_attachment(
    digest: *const petal_digest,
    buffer: *mut c_void,
    room: usize,
    length: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read digest, out length, room_bytes(buffer, room)], {
        list(digest.attachment()?.into_iter(), buffer, length);
        Ok(())
    })
}

/// Forgets all payloads and the attachment. An open payload ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_clear(digest: *mut petal_digest, error: *mut petal_error) -> petal_status {
    boundary!(error, [change digest], digest.by(|digest| digest.clear()))
}

/// Returns what this digest can do now: `PETAL_CAN_*`, ORed. A digest that is open for reading can do less than its
/// kind. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_capabilities(digest: *const petal_digest) -> u64 {
    number!([read digest], digest.capabilities().0)
}
