//! Streams of coded symbols: from a sketch to the other side, and from the other side to the differences.

use crate::contract::{KeyListing, Listing};
use crate::error::{Result, Status, error};
use crate::handle::image::Image;
use crate::sketch::Sketch;
use crate::sketch::riblt::peeler::Peeler;
use crate::sketch::riblt::symbols::{BESIDE_KEY, add_all};
use crate::sketch::riblt::wire::{self, HEADER, MOST, Symbol};
use core::ops::Range;
use core::sync::atomic::Ordering;

/// How many symbols there is room for at first. After that the room doubles.
const FIRST_ROOM: usize = 64;
/// How many keys are hashed in one go.
const GROUP: usize = 64;

/// The coded symbols of two sets: a stream writes those of its sketch, and reads those of the other side.
///
/// The symbols of a set have no end. A sketch keeps the first ones. The later ones are computed from the keys that the
/// handle keeps ([`Sketch::keep_keys`]), in one pass over these keys whenever the number of symbols doubles. What the
/// other side sends is subtracted, symbol by symbol, and the differences are found as soon as the symbols allow. The
/// sketch must not change while the stream is used.
///
/// A stream has no checksum. Bytes that change on the way are noticed as a rule, but they may make a stream of other
/// sets, in which two keys have changed sides.
///
/// Reading a hostile stream takes bounded memory and time: for each symbol about 200 bytes, or more with whole keys,
/// and at most 128 steps. [`Stream::set_limit`] bounds the number of symbols.
pub struct Stream {
    /// The identity of the sketch when the stream began.
    id: [u8; 16],
    changes: u64,
    /// Our symbols after those that the sketch keeps.
    later: Vec<u64>,
    written: u64,
    /// The bytes from the other side that are not a whole symbol yet.
    rest: [u8; MOST],
    rest_length: usize,
    has_header: bool,
    /// The count of their symbol 0: how many keys they have.
    their_keys: i64,
    peeler: Peeler,
    limit: u64,
    /// Whether reading has failed.
    has_failed: bool,
}

impl core::fmt::Debug for Stream {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Stream")
            .field("written", &self.written)
            .field("read", &self.symbols_read())
            .finish_non_exhaustive()
    }
}

impl Stream {
    /// The most symbols that a stream reads, unless [`Stream::set_limit`] says otherwise.
    pub const LIMIT: u64 = 1 << 20;

    /// A stream that has neither written nor read a symbol.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind of the sketch has no coded symbols; [`Status::SecretMissing`] without the
    /// secret key.
    pub fn new(sketch: &Sketch) -> Result<Stream> {
        if sketch.symbol_count() == 0 {
            return Err(sketch.base().unsupported("make streams of coded symbols"));
        }
        if let Some(refusal) = sketch.base().hasher().refusal() {
            return Err(refusal.into());
        }
        Ok(Stream {
            id: sketch.base().compatibility_id(),
            changes: sketch.changes(),
            later: Vec::new(),
            written: 0,
            rest: [0; MOST],
            rest_length: 0,
            has_header: false,
            their_keys: 0,
            peeler: Peeler::new(sketch.key_shape()),
            limit: Stream::LIMIT,
            has_failed: false,
        })
    }

    /// Sets the most symbols that the stream reads. A stream with more is refused.
    pub fn set_limit(&mut self, symbols: u64) {
        self.limit = symbols;
    }

    /// How many symbols were written.
    pub fn symbols_written(&self) -> u64 {
        self.written
    }

    /// How many symbols of the other side were read.
    pub fn symbols_read(&self) -> u64 {
        self.peeler.count() as u64
    }

    /// Writes the next coded symbols of the sketch: at most `symbols`, and only whole ones that the buffer has room
    /// for. The first one comes after a header of 16 bytes. A symbol of a sketch of numbers takes 17 to 26 bytes, most
    /// often 17 or 18. Returns how many bytes were written. If the handle keeps no keys, the stream ends after the
    /// symbols of the sketch.
    ///
    /// # Errors
    /// [`Status::BufferTooSmall`] if the buffer has no room for one symbol; [`Status::Unsupported`] if another symbol
    /// needs keys that the handle does not keep; [`Status::Contradiction`] if the sketch has changed;
    /// [`Status::OutOfMemory`]. Nothing is written then.
    pub fn write(&mut self, sketch: &Sketch, symbols: u64, buffer: &mut [u8]) -> Result<usize> {
        self.check(sketch)?;
        let shape = sketch.key_shape();
        // No more symbols are computed than the buffer can hold.
        let fits = (buffer.len() / (shape.bytes() + 9)) as u64;
        let mut end = self.written.saturating_add(symbols.min(fits.max(1)));
        if !sketch.keeps_keys() && end > sketch.symbol_count() {
            end = sketch.symbol_count();
            if self.written == end && symbols > 0 {
                return Err(no_more(sketch));
            }
        }
        self.prepare(sketch, end)?;
        let (keys, mut length) = (self.ours(sketch, 0), 0);
        let keys = keys[shape.words() + 1] as i64;
        if self.written == 0 && symbols > 0 {
            if buffer.len() < HEADER {
                return Err(too_small(buffer.len()));
            }
            length = HEADER;
        }
        let start = self.written;
        while self.written < end {
            let symbol = self.ours(sketch, self.written);
            let symbol = &symbol[..shape.words() + BESIDE_KEY];
            let Some(more) = wire::write(symbol, shape, self.written, keys, &mut buffer[length..]) else { break };
            length += more;
            self.written += 1;
        }
        if self.written == start && symbols > 0 {
            return Err(too_small(buffer.len()));
        }
        if start == 0 && symbols > 0 {
            buffer[..HEADER].copy_from_slice(&wire::header(shape, sketch.base().hasher()));
        }
        Ok(length)
    }

    /// Reads the next bytes of the other side, however many, and finds what differences it can. Returns whether the
    /// symbols read so far show all differences. In that case later symbols cannot add differences, unless the stream
    /// is not that of a set.
    ///
    /// # Errors
    /// [`Status::Foreign`], [`Status::NewerVersion`] and [`Status::Incompatible`] for a stream that is not for this
    /// sketch; [`Status::Corrupt`] for symbols that no set has; [`Status::TooLarge`] past the limit;
    /// [`Status::Unsupported`] if their next symbol needs keys of ours that the handle does not keep;
    /// [`Status::Contradiction`] if the sketch has changed; [`Status::OutOfMemory`]. After an error the stream reads no
    /// more, and keeps what it has found.
    pub fn read(&mut self, sketch: &Sketch, bytes: &[u8]) -> Result<bool> {
        self.check(sketch)?;
        if self.has_failed {
            return Err(error!(Contradiction, "an earlier part of the stream was refused"));
        }
        let outcome = self.read_all(sketch, bytes);
        self.has_failed = outcome.is_err();
        outcome.map(|()| self.is_complete())
    }

    fn read_all(&mut self, sketch: &Sketch, mut bytes: &[u8]) -> Result<()> {
        // First the bytes that began a symbol before, with as many more as it may need.
        while self.rest_length > 0 && !bytes.is_empty() {
            let before = self.rest_length;
            let more = bytes.len().min(MOST - before);
            let mut joined = self.rest;
            joined[before..before + more].copy_from_slice(&bytes[..more]);
            let used = self.take(sketch, &joined[..before + more])?;
            if used == 0 {
                (self.rest, self.rest_length) = (joined, before + more);
                bytes = &bytes[more..];
            } else {
                self.rest_length = 0;
                bytes = &bytes[used - before..];
            }
        }
        loop {
            match self.take(sketch, bytes)? {
                0 => break,
                used => bytes = &bytes[used..],
            }
        }
        // Fewer bytes are left than the longest symbol has.
        if let Some(place) = self.rest.get_mut(..bytes.len())
            && !bytes.is_empty()
        {
            place.copy_from_slice(bytes);
            self.rest_length = bytes.len();
        }
        Ok(())
    }

    /// Takes the header or a symbol from the start of the bytes, and returns how many bytes it took; 0 if the bytes end
    /// before that.
    fn take(&mut self, sketch: &Sketch, bytes: &[u8]) -> Result<usize> {
        let (shape, hasher) = (sketch.key_shape(), sketch.base().hasher());
        if !self.has_header {
            let Some(header) = bytes.first_chunk::<HEADER>() else { return Ok(0) };
            wire::check_header(header, shape, hasher)?;
            self.has_header = true;
            return Ok(HEADER);
        }
        let index = self.symbols_read();
        let Some((symbol, used)) = wire::read(bytes, shape, index, self.their_keys)? else { return Ok(0) };
        if index >= self.limit {
            let limit = self.limit;
            return Err(error!(
                TooLarge,
                "the stream has more than {limit} coded symbols, which is the limit set for it"
            ));
        }
        let symbol = &symbol[..shape.words() + BESIDE_KEY];
        if index == 0 {
            self.their_keys = symbol[shape.words() + 1] as i64;
        }
        if self.peeler.room() as u64 == index {
            self.make_room(sketch)?;
        }
        if !self.peeler.admit(symbol, hasher) {
            return Err(error!(Corrupt, "the coded symbols up to {index} are not those of a set"));
        }
        Ok(used)
    }

    /// Makes room for twice as many symbols as before, and puts ours into it.
    fn make_room(&mut self, sketch: &Sketch) -> Result<()> {
        let from = self.peeler.room();
        let mut to = (2 * from).max(FIRST_ROOM) as u64;
        if !sketch.keeps_keys() {
            to = to.min(sketch.symbol_count());
            if to == from as u64 {
                return Err(no_more(sketch));
            }
        }
        self.prepare(sketch, to)?;
        let to = usize::try_from(to).map_err(|_| Status::TooLarge)?;
        let (mut peeler, length) = (
            core::mem::replace(&mut self.peeler, Peeler::new(sketch.key_shape())),
            sketch.key_shape().words() + BESIDE_KEY,
        );
        let outcome = peeler.extend(to, |words| {
            for (i, words) in words.chunks_exact_mut(length).enumerate() {
                words.copy_from_slice(&self.ours(sketch, (from + i) as u64)[..length]);
            }
            Ok(())
        });
        self.peeler = peeler;
        outcome
    }

    /// Makes sure that our symbols before `end` are there.
    fn prepare(&mut self, sketch: &Sketch, end: u64) -> Result<()> {
        let (shape, hasher) = (sketch.key_shape(), sketch.base().hasher());
        let length = shape.words() + BESIDE_KEY;
        let first = sketch.symbol_count();
        let ready = first + (self.later.len() / length) as u64;
        if end <= ready {
            return Ok(());
        }
        let Some(keys) = sketch.kept() else { return Err(no_more(sketch)) };
        let instructions = sketch.base().instructions();
        let end = end.max(2 * ready);
        let failed = || error!(OutOfMemory, "memory for {end} coded symbols could not be had");
        let words = usize::try_from(end - ready).ok().and_then(|more| more.checked_mul(length)).ok_or_else(failed)?;
        self.later.try_reserve_exact(words).map_err(|_| failed())?;
        let start = self.later.len();
        self.later.resize(start + words, 0);
        for keys in keys.chunks(GROUP * shape.words()) {
            let mut hashes = [0; GROUP];
            let hashes = &mut hashes[..keys.len() / shape.words()];
            shape.hash_all(keys, hasher, instructions, hashes);
            add_all(&mut self.later[start..], ready, hashes, keys, 1);
        }
        Ok(())
    }

    /// One of our symbols, which is there.
    fn ours(&self, sketch: &Sketch, index: u64) -> Symbol {
        let length = sketch.key_shape().words() + BESIDE_KEY;
        let range = |index: u64| -> Range<usize> { index as usize * length..(index as usize + 1) * length };
        let mut symbol = Symbol::default();
        if index < sketch.symbol_count() {
            let words = &sketch.base().words().shared()[range(index)];
            symbol.iter_mut().zip(words).for_each(|(to, word)| *to = word.load(Ordering::Relaxed));
        } else if let Some(words) = self.later.get(range(index - sketch.symbol_count())) {
            symbol[..length].copy_from_slice(words);
        }
        symbol
    }

    /// Refuses a sketch that has changed, or a different sketch.
    fn check(&self, sketch: &Sketch) -> Result<()> {
        if self.changes == sketch.changes() && self.id == sketch.base().compatibility_id() {
            return Ok(());
        }
        Err(error!(Contradiction, "the sketch has changed since the stream began: begin a new stream"))
    }

    /// Whether the symbols that were read show all differences.
    pub fn is_complete(&self) -> bool {
        self.peeler.count() > 0 && self.peeler.is_complete() && !self.has_failed
    }

    /// The differences found so far, in the form that [`Sketch::list`] has after a subtraction: 1 for a number that
    /// only the sketch has, -1 for one that only the other side has.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the keys are whole; [`Status::OutOfMemory`].
    pub fn list(&self, sketch: &Sketch) -> Result<Listing> {
        sketch.check_numbers()?;
        Ok(Listing { is_complete: self.is_complete(), ..self.peeler.listing()? })
    }

    /// The differences found so far, in the form of [`Stream::list`], if the keys are whole.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the keys are numbers; [`Status::OutOfMemory`].
    pub fn list_keys(&self, sketch: &Sketch) -> Result<KeyListing> {
        sketch.check_whole()?;
        Ok(KeyListing { is_complete: self.is_complete(), ..self.peeler.key_listing()? })
    }
}

fn no_more(sketch: &Sketch) -> crate::Error {
    let symbols = sketch.symbol_count();
    error!(
        Unsupported,
        "the sketch has {symbols} coded symbols, and later ones need its keys: make it with more symbols, or ask it to \
        keep keys while it is empty"
    )
}

fn too_small(length: usize) -> crate::Error {
    error!(
        BufferTooSmall,
        "a buffer of {length} bytes has no room for the next coded symbol; {} are enough",
        HEADER + MOST
    )
}
