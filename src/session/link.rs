//! The frame of a message, and the chain that each message continues.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | `PTSN` |
//! | 1 | the version, 1 |
//! | 1 | what the message is |
//! | 2 | how many messages came before it, on both sides together |
//! | any | the body |
//! | 8 | XXH3 of all bytes before, seeded with the last 8 bytes of the message before; with 0 for the first |
//!
//! So a session refuses a message that is repeated, out of order or damaged, one that comes after a lost message, and
//! one of another session.

use super::wire::Writer;
use crate::error::{Result, error};
use crate::interop::Cursor;
use xxhash_rust::xxh3::xxh3_64_with_seed;

const MAGIC: [u8; 4] = *b"PTSN";
const VERSION: u8 = 1;
/// Bytes before the body.
const HEAD: usize = 8;
/// Bytes after the body.
const TAIL: usize = 8;
/// The most messages of a session.
pub const MOST_MESSAGES: u16 = 1000;

/// What has gone over the link.
#[derive(Clone, Copy, Debug, Default)]
pub struct Link {
    /// How many messages, both ways.
    pub messages: u16,
    /// The checksum of the last one.
    chain: u64,
    /// Bytes of the messages that were sent.
    pub sent: u64,
    /// Bytes of the messages that were received.
    pub received: u64,
}

impl Link {
    /// Begins a message with room for `room` bytes of body.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory);
    /// [`Status::TooLarge`](crate::Status::TooLarge) after too many messages.
    pub fn begin(&self, what: u8, room: usize) -> Result<Writer> {
        self.check_messages()?;
        let mut writer = Writer::new(HEAD + room + TAIL)?;
        writer.raw(&MAGIC)?;
        writer.raw(&[VERSION, what])?;
        writer.raw(&self.messages.to_le_bytes())?;
        Ok(writer)
    }

    fn check_messages(&self) -> Result<()> {
        match self.messages < MOST_MESSAGES {
            true => Ok(()),
            false => Err(error!(TooLarge, "the session ended after {MOST_MESSAGES} messages without a result")),
        }
    }

    /// Ends the message, which is then ready to be sent.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory). Nothing has changed then.
    pub fn end(&mut self, mut writer: Writer) -> Result<Vec<u8>> {
        let checksum = xxh3_64_with_seed(writer.bytes(), self.chain);
        writer.raw(&checksum.to_le_bytes())?;
        self.chain = checksum;
        self.messages += 1;
        self.sent += writer.len() as u64;
        Ok(writer.into_bytes())
    }

    /// What kind of message this is that came in, its body, and the link after it.
    ///
    /// # Errors
    /// [`Status::Foreign`](crate::Status::Foreign), [`Status::NewerVersion`](crate::Status::NewerVersion),
    /// [`Status::Truncated`](crate::Status::Truncated), and [`Status::Corrupt`](crate::Status::Corrupt) for a message
    /// that does not continue the chain.
    pub fn read<'a>(&self, message: &'a [u8]) -> Result<(u8, Cursor<'a>, Link)> {
        let magic = &message[..message.len().min(MAGIC.len())];
        if *magic != MAGIC[..magic.len()] {
            return Err(error!(Foreign, "the bytes are no message of a session: they do not begin with PTSN"));
        }
        let Some((content, tail)) = message.split_at_checked(message.len().saturating_sub(TAIL)) else {
            return Err(error!(Internal, "a message has fewer bytes than it has"));
        };
        if content.len() < HEAD {
            return Err(error!(Truncated, "a message has at least {} bytes, these are {}", HEAD + TAIL, message.len()));
        }
        if content[4] != VERSION {
            let version = content[4];
            return Err(error!(NewerVersion, "the message has version {version}, and this is version {VERSION}"));
        }
        self.check_messages()?;
        let (number, due) = (u16::from_le_bytes([content[6], content[7]]), self.messages);
        if number != due {
            return Err(error!(Corrupt, "message {number} of the session came where message {due} is due"));
        }
        let checksum = xxh3_64_with_seed(content, self.chain);
        if tail != checksum.to_le_bytes() {
            return Err(error!(Corrupt, "message {number} is damaged, or belongs to another session"));
        }
        let received = self.received + message.len() as u64;
        let link = Link { messages: due.saturating_add(1), chain: checksum, received, ..*self };
        Ok((content[5], Cursor::new(&content[HEAD..]), link))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;

    /// The next message of this type over a link.
    fn message(link: &Link) -> Vec<u8> {
        let mut link = *link;
        link.end(link.begin(9, 0).unwrap()).unwrap()
    }

    /// Bytes that are not a message are refused by what they are instead, and the last message of a session is the
    /// thousandth.
    #[test]
    fn what_is_no_message_is_refused() {
        let link = Link::default();
        let refusal = |bytes: &[u8]| link.read(bytes).err().unwrap().status();
        let sound = message(&link);
        assert!(link.read(&sound).is_ok_and(|(what, body, _)| what == 9 && body.rest().is_empty()));
        assert_eq!(refusal(b"PTSM"), Status::Foreign);
        (0..16).for_each(|length| assert_eq!(refusal(&sound[..length]), Status::Truncated, "{length}"));
        let mut newer = sound.clone();
        newer[4] = 2;
        assert_eq!(refusal(&newer), Status::NewerVersion);
        let last = Link { messages: MOST_MESSAGES - 1, ..link };
        assert!(last.read(&message(&last)).is_ok());
        let after = Link { messages: MOST_MESSAGES, ..link };
        assert_eq!(after.begin(9, 0).err().unwrap().status(), Status::TooLarge);
        assert_eq!(after.read(&sound).err().unwrap().status(), Status::TooLarge);
    }
}
