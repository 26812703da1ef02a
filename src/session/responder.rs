//! The role of the side that is asked, and that works out the differences.

use super::course::{Course, Found, Method, append, message};
use super::estimate::MOST_COUNTS;
use super::filter::{self, Parted};
use super::hello::{self, Hello};
use super::link::Link;
use super::peel::Peeled;
use super::set::{Set, most_symbols, read_symbols, write_elements};
use super::syndromes::Syndromes;
use super::wire::{self, Writer};
use super::{Step, Turn, choice, estimate};
use crate::error::{Result, error};
use crate::interop::Cursor;

/// What the responder does next.
enum Next {
    Welcome,
    More(u64),
    /// What the initiator's filter stopped.
    Rest(Vec<u64>),
    Result,
    /// Waits for a message.
    Wait,
    Done,
}

/// The responder's state.
pub struct Responder {
    next: Next,
    /// How many symbols the initiator can have; 0 before its introduction.
    their_symbols: u64,
    /// The symbol up to which the initiator was asked to go on; 0 if it was not asked.
    wanted: u64,
    /// How many elements are in the set whose symbols come.
    count: u64,
    /// The symbols that came.
    symbols: Vec<u64>,
    /// The rate of the initiator's filter.
    rate: f64,
    /// How often more symbols were asked for.
    asked: u32,
}

impl Responder {
    /// The state at the beginning.
    pub fn new() -> Responder {
        Responder { next: Next::Wait, their_symbols: 0, wanted: 0, count: 0, symbols: Vec::new(), rate: 1.0, asked: 0 }
    }

    fn hello(&mut self, course: &mut Course, from: &mut Cursor) -> Result<()> {
        let theirs = Hello::read(from)?;
        from.finish("a session's message")?;
        course.hello.check(&theirs)?;
        let ours = course.hello.clone();
        course.agree(&theirs, &ours, theirs.count)?;
        self.their_symbols = if theirs.has_elements { u64::MAX } else { theirs.symbols };
        self.count = theirs.count;
        if self.their_symbols == 0 {
            return Err(error!(Corrupt, "the other side has no symbols and no elements"));
        }
        self.next = Next::Welcome;
        Ok(())
    }

    fn welcome(&self, course: &mut Course, link: &Link) -> Result<Writer> {
        let own = if course.set.elements.is_some() { MOST_COUNTS.0 } else { course.set.symbols() };
        let most = own.min(self.their_symbols).min(MOST_COUNTS.0);
        course.set.grow(most)?;
        let mut counts = Writer::new(MOST_COUNTS.1 + 10)?;
        let mut told = 0;
        for (symbol, count) in (0..most).zip(course.set.counts(most)) {
            counts.signed(count.wrapping_sub(estimate::expected_count(course.set.count, symbol) as u64) as i64)?;
            told = symbol + 1;
            if counts.len() >= MOST_COUNTS.1 {
                break;
            }
        }
        let mut to = link.begin(message::WELCOME, hello::MOST_BYTES + 20 + counts.len())?;
        course.hello.write(&mut to)?;
        to.words(&[course.set.checksum()?])?;
        to.varint(told)?;
        to.raw(counts.bytes())?;
        Ok(to)
    }

    /// Takes symbols, and checks whether they suffice.
    fn symbols(&mut self, course: &mut Course, from: &mut Cursor) -> Result<()> {
        let width = course.elements().symbol_words();
        let (first, count) = (wire::varint(from)?, wire::varint(from)?);
        let have = (self.symbols.len() / width) as u64;
        // An initiator that was asked sends exactly what it was asked for, so each look at the symbols has many new
        // ones.
        let is_wanted = self.wanted == 0 || first.saturating_add(count) == self.wanted;
        if first != have || count == 0 || !is_wanted || count > most_symbols(width).saturating_sub(have) {
            return Err(error!(Corrupt, "symbols {first} to {} came after {have}", first.saturating_add(count)));
        }
        read_symbols(from, count, self.count, width, &mut self.symbols)?;
        from.finish("a session's message")?;
        course.report.symbols += count;
        if course.passing.is_none() {
            course.report.method = Method::Riblt;
            course.their_checksum = self.symbols[width - 2];
        }
        if self.symbols[width - 1] != self.count {
            return Err(error!(Corrupt, "the other side has {} elements, and counts others", self.count));
        }
        let symbols = have + count;
        let set = course.current();
        if !set.reaches(symbols) {
            return set.grow(symbols);
        }
        let Some(Peeled { ours, theirs }) = course.peel(&self.symbols)? else {
            return self.more(course, symbols);
        };
        let mut found = Found { ours, theirs };
        append(&mut found.ours, &course.found.ours)?;
        append(&mut found.theirs, &course.found.theirs)?;
        if !course.explains(&found)? {
            return self.more(course, symbols);
        }
        course.keep(&found)?;
        self.next = Next::Result;
        Ok(())
    }

    /// Asks for more symbols than the first `symbols`.
    fn more(&mut self, course: &Course, symbols: u64) -> Result<()> {
        let most = most_symbols(course.elements().symbol_words());
        if symbols == most {
            return Err(error!(TooLarge, "{most} symbols do not tell the sets apart"));
        }
        // An eighth more at first, then a quarter, and half as many from then on, so that there are few messages and
        // few needless symbols.
        self.asked += 1;
        let wanted = symbols + (symbols >> 4_u32.saturating_sub(self.asked).max(1)).max(16);
        // The symbols that both sides keep are tried to the last one before the error says that there are too few.
        let own = if course.set.elements.is_some() { u64::MAX } else { course.set.symbols() };
        let reach = own.min(self.their_symbols);
        self.next = Next::More(if symbols < reach { wanted.min(reach) } else { wanted }.min(most));
        Ok(())
    }

    fn syndromes(&mut self, course: &mut Course, from: &mut Cursor) -> Result<()> {
        course.their_checksum = wire::word(from)?;
        let numbers = course.set.elements.as_deref().unwrap_or_default();
        let most = choice::most_syndromes(course.set.count.max(course.report.their_count));
        let (capacity, found) = Syndromes::differences(from, numbers, most)?;
        course.report.syndromes = capacity;
        course.report.method = Method::Pinsketch;
        if let Some(found) = found {
            let found = course.sides(&found)?;
            if course.explains(&found)? {
                course.keep(&found)?;
                self.next = Next::Result;
                return Ok(());
            }
        }
        self.next = Next::More(choice::symbols_for(2.0 * capacity as f64, 0.0));
        Ok(())
    }

    /// Divides the set by the initiator's filter.
    fn filter(&mut self, course: &mut Course, from: &mut Cursor) -> Result<()> {
        let before = from.rest().len();
        let (rate, filter) = filter::read(from)?;
        from.finish("a session's message")?;
        course.report.filter_bytes = before as u64;
        course.report.method = Method::FilterAndRiblt;
        let of = course.elements().clone();
        let elements = course.set.elements.as_deref().unwrap_or_default();
        let Parted { passing, stopped } = filter::part(&of, elements, filter.as_ref())?;
        append(&mut course.found.ours, &stopped)?;
        course.passing = Some(Set::of_elements(of, passing));
        self.rate = rate;
        self.next = Next::Rest(stopped);
        Ok(())
    }

    fn residue(&mut self, course: &mut Course, from: &mut Cursor) -> Result<()> {
        course.found.theirs = course.elements().read(from)?;
        course.their_checksum = wire::word(from)?;
        self.count = wire::varint(from)?;
        self.symbols.clear();
        self.symbols(course, from)
    }
}

impl Step for Responder {
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
            Next::Welcome => self.welcome(course, link)?,
            Next::More(wanted) => {
                self.wanted = *wanted;
                let mut to = link.begin(message::MORE, 10)?;
                to.varint(*wanted)?;
                to
            }
            Next::Rest(stopped) => {
                let of = course.elements().clone();
                let non_members = {
                    // For each element that a filter of the rate e stops, e / (1 - e) elements pass.
                    let stopped = (stopped.len() / of.words()) as f64;
                    let only_ours = stopped / (1.0 - self.rate).max(0.1);
                    (course.report.their_count as f64 - course.set.count as f64 + only_ours).max(0.0)
                };
                let passing = course.current();
                let rate = choice::filter_rate(passing.count as f64, non_members, of.key_bytes);
                let elements = passing.elements.as_deref().unwrap_or_default();
                let mut to = link.begin(message::REST, 8 * stopped.len())?;
                write_elements(&mut to, stopped, of.words())?;
                let before = to.len();
                filter::write(&mut to, &of, elements, rate)?;
                course.report.filter_bytes += (to.len() - before) as u64;
                to
            }
            Next::Result => {
                after = Next::Done;
                let (words, found) = (course.elements().words(), &course.found);
                let mut to = link.begin(message::RESULT, 20 + 8 * (found.ours.len() + found.theirs.len()))?;
                write_elements(&mut to, &found.ours, words)?;
                write_elements(&mut to, &found.theirs, words)?;
                to
            }
            Next::Wait | Next::Done => return Err(error!(UnsupportedByHandle, "the session has nothing to send now")),
        };
        to.spare_tail()?;
        core::mem::swap(&mut self.next, &mut after);
        Ok(to)
    }

    fn receive(&mut self, course: &mut Course, what: u8, from: &mut Cursor) -> Result<()> {
        // Kept symbols avoid the passes over the elements that syndromes and filters take.
        let has_elements = course.set.elements.is_some() && !course.report.used_kept_symbols;
        let is_new = self.their_symbols == 0;
        let is_first = !is_new && course.report.method == Method::None;
        match what {
            message::HELLO if is_new => self.hello(course, from),
            message::EQUAL if is_first => {
                from.finish("a session's message")?;
                if course.report.their_count != course.set.count {
                    return Err(error!(Corrupt, "the other side calls sets of different sizes equal"));
                }
                course.report.method = Method::Equal;
                self.next = Next::Done;
                Ok(())
            }
            message::SYMBOLS if !is_new => self.symbols(course, from),
            message::SYNDROMES if is_first && has_elements && course.elements().key_bytes == 8 => {
                self.syndromes(course, from)
            }
            message::FILTER if is_first && has_elements => self.filter(course, from),
            message::RESIDUE if course.passing.is_some() && self.symbols.is_empty() => self.residue(course, from),
            _ => Err(error!(Corrupt, "a message of the type {what} has no place here")),
        }
    }
}
