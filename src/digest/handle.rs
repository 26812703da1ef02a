//! The calls of a digest.

use crate::contract::{Base, Capabilities, Handle, Payload, Structure};
use crate::digest::Blocks;
use crate::digest::cut::Cutter;
use crate::digest::entries::Groups;
use crate::digest::layout::{Cut, Payloads, Shape, State};
use crate::digest::sizing::{self, Lengths};
use crate::error::{Result, Status, error};
use crate::handle::image::Image;
use crate::spec::check_rate;
use crate::storage::{copy_words, try_vec};
use core::sync::atomic::{Ordering, compiler_fence};

/// The longest excerpt that [`Digest::shortest_excerpt_at`] considers, and that [`Digest::find`] takes by default.
pub const MAX_EXCERPT: u64 = 1 << 20;

/// What is left of payloads that went by: enough to say in which of them an excerpt was, and where.
///
/// Payloads go in whole ([`Digest::add`]) or in pieces ([`Digest::begin`], [`Digest::write`], [`Digest::end`]), and are
/// cut into blocks. [`Digest::find`] finds every excerpt that a payload had, if the excerpt has a block. With fixed
/// blocks every excerpt of at least [`Digest::shortest_excerpt`] bytes has one. Other excerpts are found with the
/// probability [`Digest::expected_rate`]. Many threads may use shared references at the same time. The calls about the
/// bytes (saving, verifying) are in [`Image`].
///
/// ```
/// let mut spec = petal::Spec { capacity: 100_000, ..petal::Spec::default() };
/// spec.set(&petal::digest::BYTES_PER_BYTE, 0.2)?;
/// let mut digest = petal::Digest::new(&spec)?;
/// let payload: Vec<u8> = (0..1500_u32).flat_map(|i| (i * i).to_le_bytes()).collect();
/// digest.add(7, &payload)?;
/// let found = digest.find(&payload[333..633], &petal::DigestFindOptions::default())?;
/// assert_eq!((found.matches[0].payload, found.matches[0].offset), (Some(7), 333));
/// # Ok::<(), petal::Error>(())
/// ```
pub struct Digest {
    kind: Blocks,
    pub(super) stream: Option<Stream>,
}

/// The counters of a digest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DigestStatistics {
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

/// A payload that is being written.
pub(super) struct Stream {
    /// The payload's number in the table.
    pub(super) index: u64,
    /// The number of the payload's first segment.
    pub(super) segment: u64,
    pub(super) cutter: Cutter,
    pub(super) groups: Groups,
}

impl core::fmt::Debug for Digest {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Digest").field("header", self.base().header()).finish_non_exhaustive()
    }
}

impl Image for Digest {
    fn payload(&self) -> &dyn Payload {
        &self.kind
    }

    fn payload_mut(&mut self) -> &mut dyn Payload {
        &mut self.kind
    }

    fn over(base: Base) -> Result<Digest> {
        match base.row().structure {
            Structure::Own { handle: Handle::Digest, .. } => Ok(Digest { kind: Blocks::over(base)?, stream: None }),
            _ => Err(base.other_handle(Handle::Digest)),
        }
    }
}

impl Digest {
    /// How the digest cuts payloads, and what it keeps of them.
    pub fn shape(&self) -> &Shape {
        self.kind.shape()
    }

    /// The counters of the digest. Constant time.
    pub fn statistics(&self) -> DigestStatistics {
        let State { payloads, segments, longest, entries, .. } = self.state();
        DigestStatistics { payloads, segments, longest, entries, fill: self.fill(), entry_rate: self.entry_rate() }
    }

    pub(super) fn state(&self) -> State {
        self.shape().state(self.base().words().shared())
    }

    /// Whether answers name payloads, because the digest keeps their ids.
    pub fn names_payloads(&self) -> bool {
        self.shape().payloads > 0
    }

    /// How many payloads the digest has ids of; 0 if it keeps none.
    pub fn payloads(&self) -> u64 {
        self.state().payloads
    }

    /// The id and the length in bytes of the payload that came as number `index`, counted from 0.
    ///
    /// # Errors
    /// [`Status::OutOfRange`].
    pub fn payload_at(&self, index: u64) -> Result<(u64, u64)> {
        match self.payloads() {
            payloads if index < payloads => Ok(self.shape().payload(self.base().words().shared(), index)),
            payloads => Err(error!(OutOfRange, "index = {index} is not below {payloads}, the number of payloads")),
        }
    }

    /// The bytes of data that the digest was given.
    pub fn insertions(&self) -> u64 {
        self.base().count_now()
    }

    /// The share of the filter's bits that are set.
    pub fn fill(&self) -> f64 {
        self.state().ones as f64 / self.shape().bits as f64
    }

    /// The probability that the filter seems to have an entry that nobody inserted: fill^hashes.
    pub fn entry_rate(&self) -> f64 {
        sizing::entry_rate(self.shape(), self.state().ones)
    }

    /// The length in bytes of the shortest excerpt that [`Digest::find`] takes.
    ///
    /// With fixed blocks such an excerpt has a whole block wherever it lies in its payload. With blocks that are cut by
    /// content an excerpt of this length has a block in the best case, and an excerpt of twice the length nearly always
    /// has one. See [`Digest::shortest_excerpt_at`] for excerpts that are long enough to mean something.
    pub fn shortest_excerpt(&self) -> u64 {
        sizing::shortest(self.shape())
    }

    /// The length in bytes of the shortest excerpt that is found with at most this probability although no payload has
    /// it. `None` if no excerpt up to `MAX_EXCERPT`, and none that a payload can have, is long enough.
    ///
    /// # Errors
    /// [`Status::FalsePositiveRate`] if the rate is not inside (0, 1).
    pub fn shortest_excerpt_at(&self, rate: f64) -> Result<Option<u64>> {
        check_rate(rate)?;
        let lengths = self.lengths();
        // An excerpt that is longer than every payload is never found, so it means nothing.
        let longest = lengths.as_ref().map_or(MAX_EXCERPT, |lengths| lengths.longest().min(MAX_EXCERPT));
        let is_enough = |length: u64| self.rate_of(length, lengths.as_ref()) <= rate;
        let mut low = self.shortest_excerpt();
        if is_enough(low) {
            return Ok(Some(low));
        }
        let mut high = low;
        while !is_enough(high) {
            if high >= longest {
                return Ok(None);
            }
            low = high;
            high = (2 * high).min(longest);
        }
        // `low` is too short, and `high` is long enough.
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if is_enough(middle) { high = middle } else { low = middle }
        }
        Ok(Some(high))
    }

    /// The probability that a random excerpt of `length` bytes is found although no payload has it. With fixed blocks
    /// the probability is exact for the bits that are set now. With blocks that are cut by content it is an
    /// approximation, because the number of blocks depends on the excerpt;
    /// [`DigestFindResult::rate`](crate::DigestFindResult::rate) is the probability for the excerpt's own blocks. The
    /// result is 1 for an excerpt that is too short. An excerpt that is put together from pieces of payloads is found
    /// more often.
    pub fn expected_rate(&self, length: u64) -> f64 {
        self.rate_of(length, self.lengths().as_ref())
    }

    fn rate_of(&self, length: u64, lengths: Option<&Lengths>) -> f64 {
        if length < self.shortest_excerpt() {
            return 1.0;
        }
        sizing::rate_of_random(self.shape(), &self.state(), lengths, self.entry_rate(), length)
    }

    /// The lengths of the payloads, if the digest has ids and fixed blocks. Also `None` if there is no memory for them.
    fn lengths(&self) -> Option<Lengths> {
        let (shape, state) = (self.shape(), self.state());
        if shape.payloads == 0 || shape.cut == Cut::Content {
            return None;
        }
        let mut payloads = Payloads::new(shape, self.base().words().shared(), state);
        let lengths = core::iter::from_fn(|| payloads.next().map(|(_, length, _)| length));
        Lengths::of(shape, state.payloads, lengths).ok()
    }

    /// Keeps the caller's own bytes in the image, instead of those that were there before.
    ///
    /// # Errors
    /// [`Status::TooLarge`] if they are more than the parameter `attachment_bytes`; [`Status::UnsupportedByHandle`] if
    /// the image is open for reading. The digest then stays as it was.
    pub fn attach(&mut self, bytes: &[u8]) -> Result<()> {
        self.base().check_capability("attach", Capabilities::INSERT)?;
        let shape = *self.shape();
        let length = bytes.len() as u64;
        if length > shape.attachment_bytes {
            let most = shape.attachment_bytes;
            return Err(error!(TooLarge, "an attachment of {length} bytes is more than attachment_bytes = {most}"));
        }
        self.base_mut().writable()?;
        // If the writer dies, there is no attachment, rather than a part of one with the length of another.
        self.set_state(&State { attachment: 0, ..self.state() });
        let words = self.base_mut().writable()?;
        let room = &mut words[shape.attachment_start()..shape.state_start()];
        room.fill(0);
        for (word, bytes) in room.iter_mut().zip(bytes.chunks(8)) {
            let mut eight = [0; 8];
            eight[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(eight);
        }
        self.set_state(&State { attachment: length, ..self.state() });
        Ok(())
    }

    /// Writes the state. The compiler does not move the stores before it and after it, for readers and for whoever
    /// comes after a writer that died.
    pub(super) fn set_state(&mut self, state: &State) {
        self.shape().set_state(self.base().words().shared(), state);
        compiler_fence(Ordering::SeqCst);
    }

    /// A copy of the bytes that [`Digest::attach`] kept.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`].
    pub fn attachment(&self) -> Result<Vec<u8>> {
        let shape = self.shape();
        let words = &self.base().words().shared()[shape.attachment_start()..shape.state_start()];
        let length = self.state().attachment.min(8 * words.len() as u64) as usize;
        let words = &words[..length.div_ceil(8)];
        let mut bytes: Vec<u8> = try_vec(8 * words.len())?;
        bytes.resize(8 * words.len(), 0);
        copy_words(words, &mut bytes);
        bytes.truncate(length);
        Ok(bytes)
    }

    /// Forgets all payloads and the attachment. An open payload ends.
    ///
    /// # Errors
    /// [`Status::UnsupportedByHandle`] if the image is open for reading.
    pub fn clear(&mut self) -> Result<()> {
        self.base().check_capability("clear", Capabilities::CLEAR)?;
        self.base_mut().writable()?;
        // The table and the attachment are forgotten first, so that a writer that dies does not leave half of them.
        self.set_state(&State::default());
        self.base_mut().writable()?.fill(0);
        self.base_mut().set_count(0);
        self.stream = None;
        Ok(())
    }

    /// Refuses hashing where the secret key is missing.
    pub(super) fn check_hasher(&self) -> Result<()> {
        self.base().hasher().refusal().map_or(Ok(()), |refusal: Status| Err(refusal.into()))
    }
}
