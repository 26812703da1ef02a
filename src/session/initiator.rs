//! The role of the side that begins, and that chooses the way to the differences.

use super::choice::{self, Choice, Known};
use super::course::{Course, Found, Method, append, message};
use super::estimate::MOST_COUNTS;
use super::filter::{self, Parted};
use super::hello::{self, Hello};
use super::link::Link;
use super::set::{Set, most_symbols, write_elements};
use super::syndromes::Syndromes;
use super::wire::{self, Writer};
use super::{Step, Turn, estimate};
use crate::error::{Result, error};
use crate::interop::Cursor;
use crate::storage::try_vec;

/// How many symbols the responder may ask for in one message, however few were sent before.
const MOST_AT_ONCE: u64 = 1 << 12;

/// What the initiator does next.
enum Next {
    Hello,
    Choose(Choice),
    /// The elements that the responder's filter stopped, and this many symbols.
    Residue(Vec<u64>, u64),
    /// Symbols up to this one.
    Symbols(u64),
    /// Waits for a message.
    Wait,
    Done,
}

/// The initiator's state.
pub struct Initiator {
    next: Next,
    /// How many symbols of the current set were sent.
    sent: u64,
    /// The estimated number of elements that only the responder has.
    only_theirs: f64,
    /// The rate of the filter that was sent, 1 if everything passes.
    rate: f64,
}

impl Initiator {
    /// The state at the beginning.
    pub fn new() -> Initiator {
        Initiator { next: Next::Hello, sent: 0, only_theirs: 0.0, rate: 1.0 }
    }

    /// Chooses the way, given the other side's introduction and the counts of its symbols.
    fn welcome(&mut self, course: &mut Course, from: &mut Cursor) -> Result<()> {
        let theirs = Hello::read(from)?;
        course.hello.check(&theirs)?;
        let ours = course.hello.clone();
        course.agree(&ours, &theirs, theirs.count)?;
        course.their_checksum = wire::word(from)?;
        let symbols = wire::varint(from)?;
        if symbols == 0 || symbols > MOST_COUNTS.0 || !course.set.reaches(symbols) {
            let most = MOST_COUNTS.0;
            return Err(error!(Corrupt, "the other side counts {symbols} symbols, 1 to {most} are possible"));
        }
        let mut counts = try_vec(symbols as usize)?;
        for symbol in 0..symbols {
            let difference = wire::signed(from)?;
            counts.push(difference.wrapping_add(estimate::expected_count(theirs.count, symbol)) as u64);
        }
        from.finish("a session's message")?;
        if counts[0] != theirs.count {
            return Err(error!(Corrupt, "the other side has {} elements, and counts {}", theirs.count, counts[0]));
        }
        course.set.grow(symbols)?;
        let mut own = try_vec(symbols as usize)?;
        own.extend(course.set.counts(symbols));
        if own == counts && course.set.checksum()? == course.their_checksum {
            course.report.method = Method::Equal;
            self.next = Next::Choose(Choice::Equal);
            return Ok(());
        }
        let (differences, deviation) = estimate::differences(&own, &counts);
        course.report.estimated_differences = differences;
        course.report.estimate_deviation = deviation;
        // Syndromes and filters take a pass over the elements, which kept symbols avoid.
        let both = course.set.elements.is_some() && theirs.has_elements && !course.report.used_kept_symbols;
        let known = Known {
            ours: course.set.count,
            theirs: theirs.count,
            differences,
            deviation: if deviation.is_finite() { deviation } else { differences },
            key_bytes: course.set.of.key_bytes,
            have_elements: both,
        };
        self.only_theirs = ((differences - known.ours as f64 + known.theirs as f64) / 2.0).max(0.0);
        // Kept symbols that do not suffice are better than nothing: the responder asks for more, and then the error
        // names what is missing.
        let theirs = if theirs.has_elements { u64::MAX } else { theirs.symbols.max(1) };
        self.next = Next::Choose(match choice::choose(&known) {
            Choice::Symbols(wanted) => Choice::Symbols(reachable(&course.set, wanted.min(theirs))),
            other => other,
        });
        Ok(())
    }

    /// Divides the set by the responder's filter.
    fn rest(&mut self, course: &mut Course, from: &mut Cursor) -> Result<()> {
        let theirs = course.elements().read(from)?;
        let before = from.rest().len();
        let (rate, filter) = filter::read(from)?;
        course.report.filter_bytes += (before - from.rest().len()) as u64;
        from.finish("a session's message")?;
        let of = course.elements().clone();
        let elements = course.set.elements.as_deref().unwrap_or_default();
        let Parted { passing, stopped } = filter::part(&of, elements, filter.as_ref())?;
        let count = |elements: &[u64]| (elements.len() / of.words()) as f64;
        let differ = passed(count(&stopped), rate).unwrap_or_else(|| self.only_ours(course))
            + passed(count(&theirs), self.rate).unwrap_or(self.only_theirs);
        course.found = Found { ours: Vec::new(), theirs };
        append(&mut course.found.ours, &stopped)?;
        course.passing = Some(Set::of_elements(of, passing));
        self.sent = 0;
        let symbols = choice::symbols_for(differ, differ.sqrt() + differ / 10.0);
        self.next = Next::Residue(stopped, symbols.min(most_symbols(course.elements().symbol_words())));
        Ok(())
    }

    /// The estimated number of elements that only the initiator has.
    fn only_ours(&self, course: &Course) -> f64 {
        (self.only_theirs + course.set.count as f64 - course.report.their_count as f64).max(0.0)
    }

    /// Takes the responder's result if it explains what is known.
    fn result(&mut self, course: &mut Course, from: &mut Cursor) -> Result<()> {
        let theirs = course.elements().read(from)?;
        let ours = course.elements().read(from)?;
        from.finish("a session's message")?;
        let found = Found { ours, theirs };
        if !course.explains(&found)? {
            return Err(error!(Corrupt, "the other side's result does not explain how the sets differ"));
        }
        course.keep(&found)?;
        self.next = Next::Done;
        Ok(())
    }
}

/// How many passed a filter of this rate if it stopped `stopped`; `None` if everything passes.
fn passed(stopped: f64, rate: f64) -> Option<f64> {
    (rate < 1.0).then(|| stopped * rate / (1.0 - rate))
}

/// `wanted` symbols, or as many as there are.
fn reachable(set: &Set, wanted: u64) -> u64 {
    let wanted = wanted.min(most_symbols(set.of.symbol_words()));
    if set.reaches(wanted) { wanted } else { set.symbols() }
}

/// Writes symbols of the current set, `first` to `end`.
fn write_symbols(to: &mut Writer, course: &mut Course, first: u64, end: u64) -> Result<()> {
    let set = course.current();
    set.grow(end)?;
    to.varint(first)?;
    to.varint(end - first)?;
    set.write(to, first, end)?;
    course.report.symbols += end - first;
    Ok(())
}

impl Step for Initiator {
    fn turn(&self) -> Turn {
        match self.next {
            Next::Wait => Turn::Receive,
            Next::Done => Turn::Done,
            _ => Turn::Send,
        }
    }

    fn send(&mut self, course: &mut Course, link: &Link) -> Result<Writer> {
        let mut after = Next::Wait;
        let mut to = match &self.next {
            Next::Hello => {
                let mut to = link.begin(message::HELLO, hello::MOST_BYTES)?;
                course.hello.write(&mut to)?;
                to
            }
            Next::Choose(Choice::Equal) => {
                after = Next::Done;
                link.begin(message::EQUAL, 0)?
            }
            Next::Choose(Choice::Syndromes(capacity)) => {
                let numbers = course.set.elements.as_deref().unwrap_or_default();
                let syndromes = Syndromes::of(numbers, *capacity)?;
                let mut to = link.begin(message::SYNDROMES, 24 + 8 * *capacity as usize)?;
                to.words(&[course.set.checksum()?])?;
                syndromes.write(&mut to)?;
                course.report.method = Method::Pinsketch;
                course.report.syndromes = *capacity;
                to
            }
            Next::Choose(Choice::Filter(rate)) => {
                let elements = course.set.elements.as_deref().unwrap_or_default();
                let mut to = link.begin(message::FILTER, 0)?;
                let before = to.len();
                self.rate = filter::write(&mut to, &course.set.of, elements, *rate)?;
                course.report.filter_bytes = (to.len() - before) as u64;
                course.report.method = Method::FilterAndRiblt;
                to
            }
            Next::Residue(stopped, symbols) => {
                let checksum = course.set.checksum()?;
                let words = course.elements().words();
                let mut to = link.begin(message::RESIDUE, 8 * stopped.len())?;
                write_elements(&mut to, stopped, words)?;
                to.words(&[checksum])?;
                to.varint(course.current().count)?;
                write_symbols(&mut to, course, 0, *symbols)?;
                self.sent = *symbols;
                to
            }
            Next::Choose(Choice::Symbols(end)) | Next::Symbols(end) => {
                let mut to = link.begin(message::SYMBOLS, 0)?;
                write_symbols(&mut to, course, self.sent, *end)?;
                if course.passing.is_none() {
                    course.report.method = Method::Riblt;
                }
                self.sent = *end;
                to
            }
            Next::Wait | Next::Done => return Err(error!(UnsupportedByHandle, "the session has nothing to send now")),
        };
        to.spare_tail()?;
        core::mem::swap(&mut self.next, &mut after);
        Ok(to)
    }

    fn receive(&mut self, course: &mut Course, what: u8, from: &mut Cursor) -> Result<()> {
        match what {
            message::WELCOME if course.report.their_count == u64::MAX => self.welcome(course, from),
            message::REST if course.report.method == Method::FilterAndRiblt && course.passing.is_none() => {
                self.rest(course, from)
            }
            message::MORE if course.report.method != Method::None => {
                let wanted = wire::varint(from)?;
                from.finish("a session's message")?;
                // Nobody who has been taking the symbols apart needs many times as many in one message.
                let most = most_symbols(course.elements().symbol_words()).min(MOST_AT_ONCE.max(2 * self.sent));
                if wanted <= self.sent || wanted > most {
                    return Err(error!(Corrupt, "the other side asks for {wanted} symbols after {}", self.sent));
                }
                if !course.current().reaches(wanted) {
                    // The error names what is missing.
                    course.current().grow(wanted)?;
                }
                self.next = Next::Symbols(wanted);
                Ok(())
            }
            message::RESULT if course.report.method != Method::None => self.result(course, from),
            _ => Err(error!(Corrupt, "a message of the type {what} has no place here")),
        }
    }
}
