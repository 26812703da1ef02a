//! A message from one node to its neighbour: all levels, or what changed in them.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | `PRTR` |
//! | 1 | the version, 1 |
//! | 1 | 0: all levels; 1: what changed |
//! | 1 | how many levels |
//! | 1 | 0 |
//! | 4 | the hash function |
//! | 4 | how many bits a key sets |
//! | 8 | the bits of a level |
//! | 8 | the seed, or the identifier of the secret key |
//! | 8 | the number of the node that sends it |
//! | 8 | the number of the node that it is for |
//! | 8 | the number of the link |
//! | 8 | the number of the message |
//! | 8 | the number of the message that it changes; 0 for all levels |
//! | 8 | the checksum of the levels after that message; 0 for all levels |
//! | 8 | the checksum of the levels after this message |
//! | any | each level, coded |
//! | 8 | XXH3 of all bytes before, seeded with the identifier |

use super::coding::{self, raw, take};
use super::layout::Layout;
use super::state::{Slot, zeros};
use crate::error::{Result, error};
use crate::hash::{HashFunction, Hasher};
use xxhash_rust::xxh3::xxh3_64_with_seed;

const MAGIC: [u8; 4] = *b"PRTR";
const VERSION: u8 = 1;
/// Bytes before the levels.
pub const HEAD: usize = 88;
/// Bytes after the levels.
const TAIL: usize = 8;
const WHOLE: u8 = 0;
const CHANGES: u8 = 1;

/// What a message says of itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Head {
    /// The node that sends it.
    pub from: u64,
    /// The node that it is for.
    pub to: u64,
    /// The number of the link.
    pub link: u64,
    /// The number of the message; the first one is 1.
    pub number: u64,
    /// The message that it changes, and the checksum of the levels after that one.
    pub base: Option<(u64, u64)>,
    /// The checksum of the levels after this message.
    pub checksum: u64,
}

/// Writes a message. `levels` are all levels, or what changed in them.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub fn write(head: &Head, layout: Layout, hasher: &Hasher, levels: &[u64], message: &mut Vec<u8>) -> Result<()> {
    message.clear();
    raw(message, &MAGIC)?;
    raw(message, &[VERSION, if head.base.is_some() { CHANGES } else { WHOLE }, layout.levels as u8, 0])?;
    raw(message, &(hasher.function() as u32).to_le_bytes())?;
    raw(message, &layout.hashes.to_le_bytes())?;
    let (base, base_checksum) = head.base.unwrap_or_default();
    for word in [
        layout.bits,
        hasher.identifier(),
        head.from,
        head.to,
        head.link,
        head.number,
        base,
        base_checksum,
        head.checksum,
    ] {
        raw(message, &word.to_le_bytes())?;
    }
    levels.chunks_exact(layout.width()).try_for_each(|level| coding::write(level, message))?;
    let checksum = xxh3_64_with_seed(message, hasher.identifier());
    raw(message, &checksum.to_le_bytes())
}

/// Reads a message: what it says of itself, and its levels, which are not checked yet.
///
/// # Errors
/// [`Status::Foreign`](crate::Status::Foreign), [`Status::Truncated`](crate::Status::Truncated),
/// [`Status::NewerVersion`](crate::Status::NewerVersion), [`Status::Corrupt`](crate::Status::Corrupt), and
/// [`Status::Incompatible`](crate::Status::Incompatible), naming the first difference.
pub fn read<'a>(message: &'a [u8], layout: Layout, hasher: &Hasher) -> Result<(Head, &'a [u8])> {
    let magic = &message[..message.len().min(MAGIC.len())];
    if *magic != MAGIC[..magic.len()] {
        return Err(error!(Foreign, "the bytes are no message of a router: they do not begin with PRTR"));
    }
    let length = message.len();
    let least = HEAD + TAIL;
    if length < least {
        return Err(error!(Truncated, "a message of a router has at least {least} bytes, these are {length}"));
    }
    let (content, tail) = message.split_at(length - TAIL);
    if content[4] != VERSION {
        let version = content[4];
        return Err(error!(NewerVersion, "the message has version {version}, and this is version {VERSION}"));
    }
    let mut rest = content;
    let [.., what, levels, zero] = take::<8>(&mut rest)?;
    let function = u32::from_le_bytes(take(&mut rest)?);
    let hashes = u32::from_le_bytes(take(&mut rest)?);
    let mut word = || take(&mut rest).map(u64::from_le_bytes);
    let (bits, identifier, from, to, link) = (word()?, word()?, word()?, word()?, word()?);
    let (number, base, base_checksum, checksum) = (word()?, word()?, word()?, word()?);
    // Whoever has another seed cannot check the message, so the differences come first.
    check_same(layout, hasher, (levels, function, hashes, bits, identifier))?;
    if tail != xxh3_64_with_seed(content, identifier).to_le_bytes() {
        return Err(error!(Corrupt, "the message does not match its checksum"));
    }
    let base = match what {
        WHOLE if base == 0 && base_checksum == 0 => None,
        CHANGES if base > 0 && base < number => Some((base, base_checksum)),
        _ => return Err(error!(Corrupt, "a message {number} with changes ({what}) of message {base} cannot be")),
    };
    if zero != 0 || number == 0 {
        return Err(error!(Corrupt, "the head of message {number} has a field that cannot be"));
    }
    Ok((Head { from, to, link, number, base, checksum }, rest))
}

/// Refuses a message of another network.
fn check_same(layout: Layout, hasher: &Hasher, theirs: (u8, u32, u32, u64, u64)) -> Result<()> {
    let (levels, function, hashes, bits, identifier) = theirs;
    let differ = |what: &str, theirs: u64, ours: u64| {
        Err(error!(Incompatible, "the message and the router differ in {what}: {theirs} and {ours}"))
    };
    if usize::from(levels) != layout.levels {
        return differ("levels", levels.into(), layout.levels as u64);
    }
    if bits != layout.bits {
        return differ("bits", bits, layout.bits);
    }
    if hashes != layout.hashes {
        return differ("hashes", hashes.into(), layout.hashes.into());
    }
    if function != hasher.function() as u32 {
        let theirs = HashFunction::from_number(function).map_or("one that is not known", HashFunction::name);
        let ours = hasher.function();
        return Err(error!(Incompatible, "the message and the router differ in hash: {theirs} and {ours}"));
    }
    if identifier != hasher.identifier() {
        let ours = hasher.identifier();
        return Err(error!(
            Incompatible,
            "the message and the router differ in seed or secret: {identifier:#x} and {ours:#x}"
        ));
    }
    Ok(())
}

/// Refuses a message of another edge, and a message that is repeated or late.
///
/// # Errors
/// [`Status::Incompatible`](crate::Status::Incompatible) for a message of another edge or link;
/// [`Status::Corrupt`](crate::Status::Corrupt) for a message that is repeated or late.
pub fn check_edge(head: &Head, node: u64, slot: &Slot) -> Result<()> {
    let (from, to, link) = (head.from, head.to, head.link);
    if (from, to) != (slot.neighbour, node) {
        let neighbour = slot.neighbour;
        return Err(error!(
            Incompatible,
            "a message from node {from} to node {to} came over the edge from node {neighbour} to node {node}"
        ));
    }
    if link != slot.link {
        let ours = slot.link;
        return Err(error!(Incompatible, "the message is of link {link}, and the edge is of link {ours}"));
    }
    if head.number <= slot.received {
        let (number, last) = (head.number, slot.received);
        return Err(error!(Corrupt, "message {number} of the edge came again, or late: {last} came before"));
    }
    Ok(())
}

/// The levels after a message. `levels` are those before a message with changes, and zeros before a message with all
/// levels.
///
/// # Errors
/// [`Status::Truncated`](crate::Status::Truncated) and [`Status::Corrupt`](crate::Status::Corrupt) for levels that
/// cannot be, or do not match the checksum in the head.
pub fn read_levels(head: &Head, mut bytes: &[u8], layout: Layout, mut levels: Vec<u64>) -> Result<Vec<u64>> {
    levels.chunks_exact_mut(layout.width()).try_for_each(|level| coding::read(&mut bytes, level))?;
    let more = bytes.len();
    if more > 0 {
        return Err(error!(Corrupt, "{more} bytes follow the last level of the message"));
    }
    if checksum_of(&levels) != head.checksum {
        return Err(error!(Corrupt, "the levels of message {} do not match their checksum", head.number));
    }
    Ok(levels)
}

/// The levels before the first message.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub fn no_levels(layout: Layout) -> Result<Vec<u64>> {
    zeros(layout.levels_width())
}

/// The checksum of levels: XXH3 of their words, the lowest byte first.
pub fn checksum_of(levels: &[u64]) -> u64 {
    let mut checksum = crate::hash::Checksum::default();
    levels.iter().for_each(|word| checksum.update(&word.to_le_bytes()));
    checksum.finish()
}
