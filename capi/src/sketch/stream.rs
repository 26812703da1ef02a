//! SKETCHES: STREAMS OF CODED SYMBOLS
//!
//! A sketch of the kind `riblt` has the first coded symbols of its set. A stream has as many symbols as the differences
//! need. One side writes the symbols of its set. The other side reads them as they come, subtracts its own, and says
//! when it has found all differences. Neither side has to know the number of differences beforehand.
//!
//! Symbols after those of the sketch are computed from the keys that the handle keeps (`petal_sketch_keep_keys()`), in
//! one pass over the keys whenever the number of symbols doubles.
//!
//! A stream may come from somebody hostile. Reading takes at most some 200 bytes of memory (550 with whole keys of 64
//! bytes) and 128 steps for each symbol, and `petal_stream_set_limit()` bounds the number of symbols. If nobody else
//! knows the key of the hash function (`PETAL_HASH_SIPHASH13`), nobody can make symbols that show false differences.
//! `docs/format.md` has the format.

use super::whole::write_keys;
use super::{petal_sketch, petal_sketch_listed, write_listing};
use crate::arguments::{self, arguments};
use crate::boundary::{boundary, number};
use crate::handle::{self, Handle, owner};
use crate::status::{petal_error, petal_status};
use petal_core::{Result, Sketch, Stream};
use std::ffi::c_void;

/// A stream from a sketch and to it. Free it with `petal_stream_free()`. A stream uses its sketch in every call, so the
/// sketch must outlive it, and must not change meanwhile. Once the sketch has changed, writing and reading return
/// `PETAL_ERR_CONTRADICTION`.
pub struct petal_stream(Handle<StreamOf>);

owner!(imageless petal_stream, StreamOf);

/// A stream and its sketch.
pub(crate) struct StreamOf {
    sketch: SketchOf,
    stream: Stream,
}

/// The sketch of a stream.
struct SketchOf(*const petal_sketch);

impl SketchOf {
    fn get(&self) -> Result<&Sketch> {
        // SAFETY: the sketch outlives the stream and does not change during its calls, as `petal_stream` asks.
        unsafe { arguments::read(self.0, "sketch") }
    }
}

/// Makes a stream that has written and read nothing. Returns `PETAL_ERR_UNSUPPORTED` if the kind of the sketch has no
/// coded symbols.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_stream_new(
    sketch: *const petal_sketch,
    stream: *mut *mut petal_stream,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [sketch, give stream], {
        let sketch = SketchOf(sketch);
        stream.made(|| Ok(StreamOf { stream: Stream::new(sketch.get()?)?, sketch }))
    })
}

/// Frees a stream. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_stream_free(stream: *mut petal_stream) {
    // SAFETY: by the conventions NULL, or a handle that this library made and nobody uses any more.
    unsafe { handle::free(stream) }
}

/// Sets the most symbols that the stream reads; 2^20 if you do not set it. That is enough for some 770,000 differences.
/// `petal_stream_read()` returns `PETAL_ERR_TOO_LARGE` for a symbol past the limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_stream_set_limit(
    stream: *mut petal_stream,
    symbols: u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change stream], stream.always(|of| of.stream.set_limit(symbols)))
}

/// Writes the next coded symbols of the sketch: at most `symbols`, and only whole ones that `buffer` has room for.
/// `written` becomes the number of bytes. A header of 16 bytes comes before the first symbol. A symbol takes
/// `key_bytes` (8 for numbers) and 9 to 18 bytes, and most often `key_bytes` and 9 or 10; 98 bytes are enough for a
/// header and a symbol.
///
/// Returns `PETAL_ERR_BUFFER_TOO_SMALL` if there is no room for one symbol, and `PETAL_ERR_UNSUPPORTED` if the next
/// symbol needs the keys and the sketch does not keep them. The stream then stays as it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_stream_write(
    stream: *mut petal_stream,
    symbols: u64,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change stream, buffer, out written, room_bytes(buffer, length)], {
        written.answer(stream.by(|of| of.stream.write(of.sketch.get()?, symbols, buffer)))
    })
}

/// Reads the next bytes of the other side's stream, however many: the pieces may end anywhere. `is_complete` becomes
/// true if the symbols up to here show all differences. You may go on reading after that.
///
/// Returns `PETAL_ERR_FOREIGN` or `PETAL_ERR_INCOMPATIBLE`, naming the first difference, if the stream is not for this
/// sketch, `PETAL_ERR_CORRUPT` for symbols that no set has, `PETAL_ERR_TOO_LARGE` past the limit, and
/// `PETAL_ERR_UNSUPPORTED` if the next symbol needs our keys and the sketch does not keep them. After an error the
/// stream reads no more, and keeps what it has found.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_stream_read(
    stream: *mut petal_stream,
    bytes: *const c_void,
    length: usize,
    is_complete: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change stream, out is_complete, bytes(bytes, length)], {
        is_complete.answer(stream.by(|of| of.stream.read(of.sketch.get()?, bytes)))
    })
}

/// Lists the differences that are found so far, as `petal_sketch_list()` does after a subtraction: with 1 those that
/// only the sketch has, with -1 those that only the other side has. `is_complete` becomes true if these are all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_stream_list(
    stream: *const petal_stream,
    listed: *mut petal_sketch_listed,
    room: usize,
    count: *mut usize,
    is_complete: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read stream, out count, out is_complete, room(listed, room)], {
        write_listing(&stream.stream.list(stream.sketch.get()?)?, listed, count, is_complete);
        Ok(())
    })
}

/// Lists the differences that are found so far, as `petal_sketch_list_keys()` does after a subtraction.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_stream_list_keys(
    stream: *const petal_stream,
    keys: *mut c_void,
    signs: *mut i64,
    room: usize,
    count: *mut usize,
    is_complete: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read stream, out count, out is_complete], {
        let sketch = stream.sketch.get()?;
        arguments!(room_bytes(keys, room.saturating_mul(sketch.key_bytes())), room(signs, room));
        write_keys(stream.stream.list_keys(sketch)?, keys, signs, count, is_complete);
        Ok(())
    })
}

/// Returns how many symbols were written. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_stream_symbols_written(stream: *const petal_stream) -> u64 {
    number!([read stream], stream.stream.symbols_written())
}

/// Returns how many symbols were read. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_stream_symbols_read(stream: *const petal_stream) -> u64 {
    number!([read stream], stream.stream.symbols_read())
}
