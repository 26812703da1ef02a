//! What a router tells its neighbours, and what it hears from them.

use super::Router;
use crate::error::{Result, error};
use crate::router::message::{self, Head, checksum_of};
use crate::router::state::{Slot, copied};
use core::sync::atomic::Ordering;

/// What happened to a message that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// The levels of the edge changed: other neighbours may have to be told.
    Changed,
    /// The levels of the edge are what they were.
    Unchanged,
    /// The message says what changed since another message, which did not arrive. The edge is as it was: ask the
    /// neighbour to advertise all levels.
    NeedsAll,
}

impl Router {
    /// Makes a message with all levels for a neighbour: the keys of this node, and what came in over all other edges,
    /// one level deeper. The last level that came in is dropped. Each level is coded in as few bytes as its fill needs.
    /// Carry the message to the neighbour, whose router takes it with [`Router::receive`]. The slice is valid until the
    /// next message is made. Linear in the size of all levels of all edges.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange) for an edge that is not there;
    /// [`Status::UnsupportedByHandle`](crate::Status::UnsupportedByHandle) if the image is open for reading;
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn advertise(&mut self, neighbour: u64) -> Result<&[u8]> {
        self.send(neighbour, false)
    }

    /// Makes a message with what changed since the last message to a neighbour. The message is empty, and is not to be
    /// sent, if nothing changed. The first message to a neighbour has all levels. If a message is lost, the neighbour's
    /// router asks for all levels ([`Received::NeedsAll`]). Otherwise like [`Router::advertise`].
    ///
    /// # Errors
    /// As [`Router::advertise`].
    pub fn advertise_changes(&mut self, neighbour: u64) -> Result<&[u8]> {
        self.send(neighbour, true)
    }

    fn send(&mut self, neighbour: u64, changes: bool) -> Result<&[u8]> {
        self.check_writable("advertise")?;
        let (slot, before) = self.slot_of(neighbour)?;
        let (layout, mut levels) = (self.state.layout, self.state.levels_for(slot)?);
        let checksum = checksum_of(&levels);
        let base = (changes && before.sent > 0).then_some((before.sent, before.sent_checksum));
        let number = before.sent.checked_add(1).ok_or_else(|| {
            error!(Full, "the edge to node {neighbour} had all messages that it can have: remove it, and add it again")
        })?;
        let words = self.state.layout.sent(slot);
        let head = Head { from: self.node(), to: neighbour, link: before.link, number, base, checksum };
        if base.is_some() {
            // From here on `levels` are what changed. XORed into what went out before, they give the new levels.
            let mut changed = 0;
            for (level, sent) in levels.iter_mut().zip(self.state.shared(words.clone())) {
                *level ^= sent.load(Ordering::Relaxed);
                changed |= *level;
            }
            if changed == 0 {
                self.message.clear();
                return Ok(&self.message);
            }
        }
        message::write(&head, layout, self.state.base.hasher(), &levels, &mut self.message)?;
        let payload = self.state.base.writable()?;
        for (sent, level) in payload[words].iter_mut().zip(&levels) {
            *sent = if base.is_some() { *sent ^ level } else { *level };
        }
        self.state.set_head(slot, &Slot { sent: number, sent_checksum: checksum, ..before });
        Ok(&self.message)
    }

    /// Takes a message that came from a neighbour. The message is checked as a whole before anything changes. Linear in
    /// the size of the edge's levels, whatever the message holds.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange) for an edge that is not there;
    /// [`Status::Incompatible`](crate::Status::Incompatible), naming the first difference, for a message of a router
    /// with other levels, bits, hashes, hash function, seed or secret, and for a message of another edge or link;
    /// [`Status::Corrupt`](crate::Status::Corrupt) for a message that is damaged, repeated or late;
    /// [`Status::Foreign`](crate::Status::Foreign), [`Status::Truncated`](crate::Status::Truncated),
    /// [`Status::NewerVersion`](crate::Status::NewerVersion); [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn receive(&mut self, neighbour: u64, message: &[u8]) -> Result<Received> {
        self.check_writable("receive")?;
        let (slot, before) = self.slot_of(neighbour)?;
        let layout = self.state.layout;
        let (head, coded) = message::read(message, layout, self.state.base.hasher())?;
        message::check_edge(&head, self.node(), &before)?;
        let words = layout.received(slot);
        let old = match head.base {
            None => message::no_levels(layout)?,
            Some(base) if base == (before.received, before.received_checksum) => {
                copied(self.state.shared(words.clone()))?
            }
            Some(_) => return Ok(Received::NeedsAll),
        };
        let levels = message::read_levels(&head, coded, layout, old)?;
        let ones = self.state.ones(&levels);
        let payload = self.state.base.writable()?;
        let is_same = payload[words.clone()] == levels;
        // If the writer dies, each word is either the old one or that of the message, so no key is missing that both
        // have.
        payload[words].copy_from_slice(&levels);
        let after = Slot { received: head.number, received_checksum: head.checksum, ones, ..before };
        self.state.set_head(slot, &after);
        Ok(if is_same { Received::Unchanged } else { Received::Changed })
    }
}
