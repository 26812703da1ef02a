//! How payloads get into a digest.

use super::Digest;
use crate::bits;
use crate::contract::Capabilities;
use crate::digest::cut::Cutter;
use crate::digest::entries::{Groups, entry, entry_in, place};
use crate::digest::handle::Stream;
use crate::digest::layout::MOST;
use crate::error::{Result, error};
use crate::handle::image::Image;

/// The most bytes of a payload.
pub const MAX_PAYLOAD: u64 = 1 << 56;

impl Digest {
    /// Takes a payload. Ids are the caller's; two payloads may have the same one. Linear in the payload.
    ///
    /// With fixed blocks the bytes after the last whole block are in no block, and a search does not check them. With
    /// blocks that are cut by content the same holds for the bytes before the first cut and after the last one.
    ///
    /// # Errors
    /// [`Status::Full`](crate::Status::Full) if the table has no room for another id;
    /// [`Status::Contradiction`](crate::Status::Contradiction) while a payload is open;
    /// [`Status::UnsupportedByHandle`](crate::Status::UnsupportedByHandle) if the image is open for reading;
    /// [`Status::SecretMissing`](crate::Status::SecretMissing). The digest then stays as it was.
    #[inline]
    pub fn add(&mut self, payload: u64, bytes: impl AsRef<[u8]>) -> Result<()> {
        self.add_bytes(payload, bytes.as_ref())
    }

    fn add_bytes(&mut self, payload: u64, bytes: &[u8]) -> Result<()> {
        self.begin(payload)?;
        self.write_bytes(bytes)?;
        self.end()
    }

    /// Begins a payload whose bytes come in pieces. Each piece counts as soon as [`Digest::write`] has taken the piece.
    /// If the handle is dropped or copied before [`Digest::end`], the image and the copy have the payload as far as it
    /// was written.
    ///
    /// # Errors
    /// As [`Digest::add`].
    pub fn begin(&mut self, payload: u64) -> Result<()> {
        self.base().check_capability("add", Capabilities::INSERT)?;
        self.check_hasher()?;
        if self.stream.is_some() {
            return Err(error!(Contradiction, "a payload is being written: end it before the next one begins"));
        }
        let (shape, mut state) = (*self.shape(), self.state());
        let stream = Stream {
            index: state.payloads,
            segment: state.segments,
            cutter: Cutter::new(&shape)?,
            groups: Groups::default(),
        };
        if shape.payloads > 0 {
            if state.payloads >= shape.payloads {
                let most = shape.payloads;
                return Err(error!(Full, "the digest has the {most} payloads of its parameter payloads already"));
            }
            // Only a forged table has that many: the longest payload would pass what a state may say.
            if state.segments > MOST - shape.segments_of(MAX_PAYLOAD) {
                return Err(error!(Full, "the digest has {} segments, and no room for a payload's", state.segments));
            }
            state.payloads += 1;
        }
        // Even without a table, an image that cannot be written is refused before the payload is open.
        let words = self.base_mut().writable()?;
        if shape.payloads > 0 {
            words[shape.entry_start(stream.index)..][..2].copy_from_slice(&[payload, 0]);
            self.set_state(&state);
        }
        self.stream = Some(stream);
        Ok(())
    }

    /// Takes the next bytes of the open payload.
    ///
    /// # Errors
    /// [`Status::Contradiction`](crate::Status::Contradiction) if no payload is open;
    /// [`Status::TooLarge`](crate::Status::TooLarge) past 2^56 bytes.
    #[inline]
    pub fn write(&mut self, bytes: impl AsRef<[u8]>) -> Result<()> {
        self.write_bytes(bytes.as_ref())
    }

    fn write_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(Stream { index, segment, mut cutter, mut groups }) = self.stream.take() else {
            return Err(error!(Contradiction, "no payload is open: begin one before writing"));
        };
        let written = self.write_to(bytes, index, segment, &mut cutter, &mut groups);
        self.stream = Some(Stream { index, segment, cutter, groups });
        written
    }

    fn write_to(
        &mut self,
        bytes: &[u8],
        index: u64,
        segment: u64,
        cutter: &mut Cutter,
        groups: &mut Groups,
    ) -> Result<()> {
        let length = cutter.position().saturating_add(bytes.len() as u64);
        if length > MAX_PAYLOAD {
            return Err(error!(TooLarge, "a payload of {length} bytes is longer than {MAX_PAYLOAD}"));
        }
        let (shape, mut state) = (*self.shape(), self.state());
        let (scattered, segment_bytes) = (shape.scattered(), shape.segment_bytes());
        let hasher = self.base().hasher().clone();
        let words = self.base_mut().writable()?;
        let mut insert = |entry: u64| {
            state.entries = (state.entries + 1).min(MOST);
            scattered.each(entry, |bit| state.ones += u64::from(bits::set(words, bit)));
            // A forged state may have claimed more bits than the filter has.
            state.ones = state.ones.min(shape.bits);
        };
        let taken = cutter.take(&hasher, bytes, |block| {
            groups.take(&shape, block, |level, key, first| insert(entry(level, key, place(&shape, first.start))));
            if shape.payloads > 0 {
                let segment = segment + block.start / segment_bytes;
                insert(entry_in(segment, block.key, place(&shape, block.start)));
            }
        });
        state.longest = state.longest.max(length);
        if shape.payloads > 0 {
            state.segments = segment + shape.segments_of(length);
            words[shape.entry_start(index) + 1] = length;
        }
        self.set_state(&state);
        self.base_mut().add_count(bytes.len() as u64);
        taken
    }

    /// Ends the open payload.
    ///
    /// # Errors
    /// [`Status::Contradiction`](crate::Status::Contradiction) if no payload is open.
    pub fn end(&mut self) -> Result<()> {
        match self.stream.take() {
            Some(_) => Ok(()),
            None => Err(error!(Contradiction, "no payload is open: begin one before ending it")),
        }
    }

    /// Whether a payload is open, between [`Digest::begin`] and [`Digest::end`].
    pub fn is_open(&self) -> bool {
        self.stream.is_some()
    }
}
