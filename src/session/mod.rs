//! Sessions: two sides find out which elements only one of them has, by messages that the caller carries.
//!
//! The initiator sends the first message, and then the sides take turns. The responder sends the counts of its first
//! coded symbols, from which the initiator estimates how many elements differ. The initiator chooses the cheapest way,
//! and the responder works out the differences and sends the result. `docs/session.md` has every byte.
//!
//! If both sides keep their elements, the session has a random key that both contribute to, and all symbols are
//! computed under that key. Otherwise the session uses the symbols that the sketches keep, which are computed under the
//! sketches' own key.

mod choice;
mod course;
mod estimate;
mod filter;
mod hello;
mod initiator;
mod link;
mod peel;
mod responder;
mod set;
mod syndromes;
#[cfg(test)]
mod tests;
mod wire;

use crate::contract::Listed;
use crate::error::{Error, Result, Status, error};
use crate::handle::image::Image;
use crate::interop::Cursor;
use crate::sketch::Sketch;
use crate::sketch::riblt;
use crate::storage::{try_box, try_vec};
use core::sync::atomic::Ordering;
use course::{Course, Found, message};
pub use course::{Method, Report};
use hello::Hello;
use link::Link;
use set::{Elements, Set};
use wire::Writer;

/// The role of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends the first message, and chooses the way.
    Initiator = 0,
    /// Answers.
    Responder = 1,
}

/// What a side has to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// [`Session::send`] has a message.
    Send = 0,
    /// [`Session::receive`] waits for a message.
    Receive = 1,
    /// The differences are known.
    Done = 2,
    /// The session ended without a result.
    Failed = 3,
}

/// What a role does at its turns.
trait Step {
    fn turn(&self) -> Turn;
    fn send(&mut self, course: &mut Course, link: &Link) -> Result<Writer>;
    fn receive(&mut self, course: &mut Course, what: u8, from: &mut Cursor) -> Result<()>;
}

/// What became of a session.
enum Outlook {
    /// The session goes on.
    Open,
    /// The session failed, and the other side has to be told.
    Failing(Error),
    /// The session failed.
    Failed(Error),
}

/// One side of a session.
///
/// A session takes what it needs of the sketch at the beginning, so the sketch may change meanwhile. If the sketch
/// keeps its keys, the session has a copy of them. A session has no network: the caller carries each message to the
/// other side. A session refuses a message that is repeated, out of order or damaged, and stays as it was, so the right
/// message may still come. A session takes whoever is at the other end for the other side, and believes what it says it
/// has: use a channel that authenticates.
pub struct Session {
    course: Course,
    step: Box<dyn Step + Send>,
    link: Link,
    outlook: Outlook,
    message: Vec<u8>,
}

impl core::fmt::Debug for Session {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Session").field("report", &self.report()).finish_non_exhaustive()
    }
}

/// Why a session can fail, as far as the other side is told.
const REASONS: [Status; 7] = [
    Status::Incompatible,
    Status::UnsupportedByHandle,
    Status::UnsupportedByBuild,
    Status::Unsupported,
    Status::TooLarge,
    Status::OutOfMemory,
    Status::Corrupt,
];

/// The number of a status in a message.
fn number_of(status: Status) -> u8 {
    (status as i32).unsigned_abs() as u8
}

/// The reason that the other side gave; a number that means nothing here counts as [`Status::Corrupt`].
fn told(number: u8) -> Status {
    REASONS.into_iter().find(|status| number_of(*status) == number).unwrap_or(Status::Corrupt)
}

/// A copy of words.
fn copied(words: &[u64]) -> Result<Vec<u64>> {
    let mut copy = try_vec(words.len())?;
    copy.extend_from_slice(words);
    Ok(copy)
}

impl Session {
    /// A session over the set of a sketch. `kept_symbols` asks for the symbols that the sketch keeps, even if both
    /// sides keep their keys: then the session needs no pass over the keys, and has no session key.
    ///
    /// # Errors
    /// [`Status::Unsupported`] for a sketch of whole keys, for one that has neither coded symbols nor kept keys, and if
    /// kept symbols are asked for and there are none; [`Status::Contradiction`] for a sketch that is visibly not a set,
    /// because keys were subtracted or removed that it did not have; [`Status::SecretMissing`]; [`Status::Unclean`];
    /// [`Status::OutOfMemory`].
    pub fn new(sketch: &Sketch, role: Role, kept_symbols: bool) -> Result<Session> {
        let base = sketch.base();
        base.check_marked_clean()?;
        if let Some(refusal) = base.hasher().refusal() {
            return Err(refusal.into());
        }
        if sketch.key_bytes() > 0 {
            return Err(error!(Unsupported, "sessions are about numbers, and the sketch holds whole keys"));
        }
        let of = Elements { key_bytes: 8, hasher: base.hasher().clone() };
        let has_symbols = base.row().kind == riblt::ROW.kind;
        let elements = sketch.kept().map(copied).transpose()?;
        if !has_symbols && (elements.is_none() || kept_symbols) {
            return Err(error!(
                Unsupported,
                "{} keeps no coded symbols: a session needs a sketch of riblt, or one that keeps its keys",
                base.row().name
            ));
        }
        let mut symbols = Vec::new();
        if has_symbols {
            let words = base.words().shared();
            let count = (base.geometry().bits / 64) as usize;
            symbols = try_vec(count)?;
            symbols.extend(words[..count].iter().map(|word| word.load(Ordering::Relaxed)));
            if elements.is_none() {
                peel::check_set(&of, &symbols)?;
            }
        }
        let count = match &elements {
            Some(elements) => (elements.len() / of.words()) as u64,
            None => symbols[of.symbol_words() - 1],
        };
        let hello = Hello {
            key_bytes: of.key_bytes,
            number_bits: sketch.number_bits(),
            hash: (base.hasher().function() as u32, base.hasher().identifier()),
            has_elements: elements.is_some(),
            asks_for_kept: kept_symbols,
            symbols: (symbols.len() / of.symbol_words()) as u64,
            count,
            nonce: hello::nonce()?,
        };
        let set = match (has_symbols, elements) {
            (false, Some(elements)) => Set::of_elements(of, elements),
            (_, elements) => Set::of_symbols(of, symbols, elements),
        };
        Session::over(set, hello, role)
    }

    fn over(set: Set, hello: Hello, role: Role) -> Result<Session> {
        // No set has that many elements, so this says that the other side's count is not known yet.
        let report = Report { their_count: u64::MAX, ..Report::default() };
        let course = Course { hello, set, passing: None, found: Found::default(), their_checksum: 0, report };
        let step: Box<dyn Step + Send> = match role {
            Role::Initiator => try_box(initiator::Initiator::new())?,
            Role::Responder => try_box(responder::Responder::new())?,
        };
        Ok(Session { course, step, link: Link::default(), outlook: Outlook::Open, message: Vec::new() })
    }

    /// What this side has to do next.
    pub fn turn(&self) -> Turn {
        match self.outlook {
            Outlook::Open => self.step.turn(),
            Outlook::Failing(_) => Turn::Send,
            Outlook::Failed(_) => Turn::Failed,
        }
    }

    /// The next message for the other side. If it says that the session failed, it is the last one.
    ///
    /// # Errors
    /// [`Status::UnsupportedByHandle`] if it is not this side's turn to send; why the session failed, if it did;
    /// [`Status::OutOfMemory`], after which the call may be repeated.
    pub fn send(&mut self) -> Result<&[u8]> {
        if self.turn() == Turn::Receive || self.turn() == Turn::Done {
            return Err(error!(UnsupportedByHandle, "it is not this side's turn to send"));
        }
        let made = match &self.outlook {
            Outlook::Open => self.step.send(&mut self.course, &self.link),
            Outlook::Failing(why) => self.failure(why),
            Outlook::Failed(why) => return Err(why.again()),
        };
        // Without memory the call may be repeated. Any other error is final.
        if let Err(error) = &made
            && error.status() != Status::OutOfMemory
        {
            self.outlook = Outlook::Failed(error.again());
        }
        self.message = self.link.end(made?)?;
        if let Outlook::Failing(why) = &self.outlook {
            self.outlook = Outlook::Failed(why.again());
        }
        Ok(&self.message)
    }

    /// The message that tells the other side why this side gives up.
    fn failure(&self, why: &Error) -> Result<Writer> {
        let mut writer = self.link.begin(message::FAILURE, 1)?;
        writer.raw(&[number_of(why.status())])?;
        writer.spare_tail()?;
        Ok(writer)
    }

    /// Takes the other side's next message.
    ///
    /// # Errors
    /// If the bytes are not the message that is due, nothing changes: [`Status::Foreign`], [`Status::Truncated`],
    /// [`Status::NewerVersion`], [`Status::Corrupt`]. If the message is due and cannot be served, the session has
    /// failed, and [`Session::send`] then has a message that tells the other side: [`Status::Incompatible`] for
    /// sketches that are not comparable, [`Status::UnsupportedByHandle`] if more symbols are needed than the sketches
    /// keep, [`Status::TooLarge`], [`Status::Corrupt`], and others. Whatever the message says, memory and work are
    /// bounded.
    pub fn receive(&mut self, message: &[u8]) -> Result<()> {
        match &self.outlook {
            Outlook::Open if self.step.turn() == Turn::Receive => {}
            Outlook::Open => return Err(error!(UnsupportedByHandle, "it is not this side's turn to receive")),
            Outlook::Failing(why) | Outlook::Failed(why) => return Err(why.again()),
        }
        let (what, mut body, link) = self.link.read(message)?;
        self.link = link;
        if what == message::FAILURE {
            let why = told(body.u8().unwrap_or(0));
            let error = Error::new(why, format_args!("the other side gave up: {}", why.text()));
            self.outlook = Outlook::Failed(error.again());
            return Err(error);
        }
        let taken = self.step.receive(&mut self.course, what, &mut body);
        if let Err(error) = &taken {
            self.outlook = Outlook::Failing(error.again());
        }
        taken
    }

    /// The numbers that only one side has, each with the sign 1 if it is this side, and -1 if it is the other: first
    /// those with -1, each group in ascending order.
    ///
    /// # Errors
    /// Unless the session is done, [`Status::UnsupportedByHandle`] or why it failed; [`Status::OutOfMemory`].
    pub fn differences(&self) -> Result<Vec<Listed>> {
        self.check_done()?;
        let Found { ours, theirs } = &self.course.found;
        let mut listed = try_vec(ours.len() + theirs.len())?;
        listed.extend(theirs.iter().map(|number| Listed { sign: -1, number: *number }));
        listed.extend(ours.iter().map(|number| Listed { sign: 1, number: *number }));
        Ok(listed)
    }

    /// Refuses unless the session is done.
    fn check_done(&self) -> Result<()> {
        match (&self.outlook, self.turn()) {
            (_, Turn::Done) => Ok(()),
            (Outlook::Failing(why) | Outlook::Failed(why), _) => Err(why.again()),
            _ => Err(error!(UnsupportedByHandle, "the session is not done yet")),
        }
    }

    /// What the session chose, and what it cost so far.
    pub fn report(&self) -> Report {
        let Link { messages, sent, received, .. } = self.link;
        let their_count = match self.course.report.their_count {
            u64::MAX => 0,
            count => count,
        };
        Report {
            messages: u64::from(messages),
            sent_bytes: sent,
            received_bytes: received,
            their_count,
            ..self.course.report
        }
    }
}
