//! `petal sync`: two machines compare their files of keys, and exchange what differs.
//!
//! Both sides send [`GREETING`], which ends with the version, the separator of their records, and 16 random bytes.
//! Records are hashed under a key from both sides' random bytes. A session of the library (docs/session.md) over the
//! hashes tells each side which records the other does not have. The initiator sends these records first, and then the
//! responder does.

mod channel;
mod file;
mod watch;

use crate::args;
use crate::failure::{Failure, Outcome, note, say};
use crate::file_name::{is_standard, name, shown};
use crate::keys::{Batch, Inputs};
use crate::output::{Key, Text, json};
use crate::records::{Digest, Digester, Records, digest_of, for_each_of, keys_of, number_of, random_key};
use channel::{Channel, MOST_OF_MESSAGE, MOST_OF_RECORD};
use file::Additions;
use petal::session::{Method, Role, Session, Turn};
use petal::{HashFunction, Hasher, KindId, Secret, Sketch, Spec};
use serde::Serialize;

/// The first bytes of a channel, and the version.
const GREETING: [u8; 5] = *b"PTSY\x01";
/// The kind whose sketch holds the hashes. Its least size is enough, because the handle keeps the hashes.
const RIBLT: &str = "riblt";
/// Bits of a sketch with one symbol.
const ONE_SYMBOL: u64 = 192;

/// The report as JSON.
#[derive(Serialize)]
struct Report {
    records: u64,
    their_records: u64,
    only_here: u64,
    only_there: u64,
    method: &'static str,
    /// Bytes of all but the records that differ.
    sent_bytes: u64,
    received_bytes: u64,
    /// Bytes of the records that differ.
    sent_record_bytes: u64,
    received_record_bytes: u64,
}

/// Prints what differs, unless standard output is the channel.
struct Printer {
    text: Option<Text>,
    json: bool,
    separator: u8,
}

impl Printer {
    fn record(&mut self, is_ours: bool, record: &[u8]) -> Outcome<()> {
        let Some(text) = &mut self.text else { return Ok(()) };
        if self.json {
            let side = if is_ours { "here" } else { "there" };
            return text.json(&Difference { side, key: Key::of(record) });
        }
        text.bytes(if is_ours { b"< " } else { b"> " })?;
        text.bytes(record)?;
        text.bytes(&[self.separator])
    }
}

/// A record that only one side has, as JSON.
#[derive(Serialize)]
struct Difference<'a> {
    /// `here` or `there`.
    side: &'static str,
    #[serde(flatten)]
    key: Key<'a>,
}

pub fn run(args: &args::sync::Sync, common: args::Common) -> Outcome {
    let metadata = if is_standard(&args.keys) { None } else { Some(args.keys.metadata()) };
    match metadata.transpose().map_err(|error| Failure::io(shown(&args.keys), &error))? {
        Some(metadata) if metadata.is_file() => {}
        _ => return Err(Failure::new(format_args!("{}: KEYS is a file, because it is read twice", name(&args.keys)))),
    }
    let keys = keys_of(args.records, &args.keys);
    let inputs = Inputs::new(&keys, None)?;
    let separator = if args.records.null { 0 } else { b'\n' };
    let is_channel = args.peer.as_deref() == Some("-");
    let text = if is_channel { None } else { Some(Text::new()?) };
    let mut printer = Printer { text, json: common.json, separator };
    let mut channel = Channel::open(args)?;

    let key = greet(&mut channel, separator)?;
    let (hasher, digester) = (Hasher::new(HashFunction::SipHash13, 0, Some(&key))?, Digester::new(&key)?);
    let records = Records::read(&inputs, &digester, "reading")?;
    let (sketch, count) = (sketch_of(&records, &key)?, records.digests().len() as u64);
    drop(records);
    let session = converse(&mut channel, &sketch)?;
    let report = session.report();
    let (mut ours, mut theirs): (Vec<Digest>, Vec<Digest>) = (Vec::new(), Vec::new());
    for listed in session.differences()? {
        if listed.sign > 0 { &mut ours } else { &mut theirs }.push(digest_of(listed.number));
    }
    let (ours, theirs): (Records, Records) = (ours.into_iter().collect(), theirs.into_iter().collect());
    drop((session, sketch));
    let end: &[u8] = match args.records {
        args::sync::Records { null: true, .. } => b"\0",
        args::sync::Records { crlf: true, .. } => b"\r\n",
        args::sync::Records { .. } => b"\n",
    };
    let needs = args.exchange && !theirs.digests().is_empty();
    let mut additions = needs.then(|| Additions::new(end));

    let talk = (channel.sent, channel.received);
    let mut exchange =
        Exchange { inputs: &inputs, hasher: &hasher, separator, crlf: args.records.crlf, printer: &mut printer };
    if channel.is_initiator {
        exchange.send(&mut channel, &ours)?;
        exchange.receive(&mut channel, &theirs, additions.as_mut())?;
    } else {
        exchange.receive(&mut channel, &theirs, additions.as_mut())?;
        exchange.send(&mut channel, &ours)?;
    }
    if let Some(text) = &mut printer.text {
        text.flush()?;
    }
    let total = (channel.sent, channel.received);
    channel.close()?;
    if let Some(additions) = additions {
        additions.append_to(&args.keys)?;
    }
    let (only_here, only_there) = (ours.digests().len() as u64, theirs.digests().len() as u64);
    if !is_channel {
        let report = Report {
            records: count,
            their_records: report.their_count,
            only_here,
            only_there,
            method: method_name(report.method),
            sent_bytes: talk.0,
            received_bytes: talk.1,
            sent_record_bytes: total.0 - talk.0,
            received_record_bytes: total.1 - talk.1,
        };
        tell(&report, common)?;
    }
    let is_equal = only_here + only_there == 0;
    Ok(u8::from(!is_equal && !args.exchange))
}

fn method_name(method: Method) -> &'static str {
    match method {
        Method::None => "none",
        Method::Equal => "equal",
        Method::Pinsketch => "pinsketch",
        Method::Riblt => "riblt",
        Method::FilterAndRiblt => "filter and riblt",
    }
}

fn tell(report: &Report, common: args::Common) -> Outcome<()> {
    if common.json && !common.quiet {
        // Standard output has the records, so the report goes to standard error.
        say(json(report)?);
        return Ok(());
    }
    let Report { only_here, only_there, sent_bytes, received_bytes, method, .. } = report;
    note(format_args!(
        "{only_here} only here, {only_there} only there; {sent_bytes} bytes sent and {received_bytes} received in \
         addition to the keys ({method})"
    ));
    Ok(())
}

/// Both sides introduce themselves. Returns the key for the hashes of records.
fn greet(channel: &mut Channel, separator: u8) -> Outcome<Secret> {
    let ours = random_key();
    channel.write(&GREETING)?;
    channel.write(&[separator])?;
    channel.write(&ours)?;
    channel.flush()?;
    let (mut greeting, mut records, mut theirs) = ([0; GREETING.len()], [0], Secret::default());
    channel.read(&mut greeting)?;
    if greeting[..4] != GREETING[..4] {
        return Err(Failure::new("the other side is no `petal sync`: its first bytes are others"));
    }
    if greeting != GREETING {
        return Err(Failure::new(format_args!("the other side has version {} of `petal sync`", greeting[4])));
    }
    channel.read(&mut records)?;
    channel.read(&mut theirs)?;
    if records != [separator] {
        return Err(Failure::new(
            "the records of one side end with NUL, those of the other with newline: say -0 on both",
        ));
    }
    let mut both = [0; 32];
    let (initiator, responder) = if channel.is_initiator { (ours, theirs) } else { (theirs, ours) };
    both[..16].copy_from_slice(&initiator);
    both[16..].copy_from_slice(&responder);
    let mut key = Secret::default();
    for (half, seed) in key.chunks_exact_mut(8).zip(0..) {
        let hash = Hasher::new(HashFunction::Xxh3, seed, None)?.hash_bytes(&both).map_err(petal::Error::from)?;
        half.copy_from_slice(&hash.to_le_bytes());
    }
    Ok(key)
}

/// A sketch of the records' hashes, which keeps them.
fn sketch_of(records: &Records, key: &Secret) -> Outcome<Sketch> {
    let kind: Option<KindId> = petal::registry::find_name(RIBLT).map(|row| row.kind);
    let spec = Spec { kind, bits: ONE_SYMBOL, hash: HashFunction::SipHash13, secret: Some(*key), ..Spec::default() };
    let mut sketch = petal::Sketch::new(&spec)?;
    sketch.keep_keys()?;
    let mut hashes = [0; 1024];
    for digests in records.digests().chunks(hashes.len()) {
        let hashes = &mut hashes[..digests.len()];
        hashes.iter_mut().zip(digests).for_each(|(hash, digest)| *hash = number_of(*digest));
        sketch.insert_batch(&petal::Keys::Hashes(hashes)).outcome?;
    }
    // The digests have a second half, which tells records with one hash apart.
    if sketch.insertions() != records.digests().len() as u64 {
        return Err(Failure::new("two records have the same hash under the key of this run: run the command again"));
    }
    Ok(sketch)
}

/// Carries the messages of a session.
fn converse(channel: &mut Channel, sketch: &Sketch) -> Outcome<Session> {
    let role = if channel.is_initiator { Role::Initiator } else { Role::Responder };
    let mut session = Session::new(sketch, role, false)?;
    let mut message = Vec::new();
    loop {
        match session.turn() {
            Turn::Send => {
                channel.write_counted(session.send()?)?;
                channel.flush()?;
            }
            Turn::Receive => {
                channel.read_counted(&mut message, MOST_OF_MESSAGE)?;
                if let Err(error) = session.receive(&message) {
                    if session.turn() == Turn::Send {
                        // This tells the other side why. Its own error matters less than ours.
                        let _ = session.send().map(|last| channel.write_counted(last).and_then(|()| channel.flush()));
                    }
                    return Err(error.into());
                }
            }
            Turn::Done => return Ok(session),
            Turn::Failed => return Err(Failure::new("the session failed")),
        }
    }
}

/// The exchange of records.
struct Exchange<'a> {
    inputs: &'a Inputs,
    hasher: &'a Hasher,
    separator: u8,
    /// A carriage return at the end of a record would be a part of its end.
    crlf: bool,
    printer: &'a mut Printer,
}

impl Exchange<'_> {
    /// Sends the records that the other side does not have.
    fn send(&mut self, channel: &mut Channel, ours: &Records) -> Outcome<()> {
        let (hasher, printer) = (self.hasher, &mut *self.printer);
        let digest = |batch: &Batch, i: usize| hash(hasher, batch.key(i));
        for_each_of(ours, self.inputs, "sending", digest, |record| {
            if record.len() as u64 > MOST_OF_RECORD {
                return Err(Failure::new(format_args!(
                    "a record of {} bytes is longer than the {MOST_OF_RECORD} that the other side takes",
                    record.len()
                )));
            }
            printer.record(true, record)?;
            channel.write_counted(record)
        })?;
        channel.flush()
    }

    /// Receives the records that this side does not have. Each has to be one that the session named.
    fn receive(
        &mut self,
        channel: &mut Channel,
        theirs: &Records,
        mut additions: Option<&mut Additions>,
    ) -> Outcome<()> {
        let mut came = vec![false; theirs.digests().len()];
        let mut record = Vec::new();
        for _ in 0..came.len() {
            channel.read_counted(&mut record, MOST_OF_RECORD)?;
            let place = theirs.find(&hash(self.hasher, &record)?).filter(|place| !came[*place]);
            if self.crlf && record.ends_with(b"\r") {
                return Err(Failure::new("a record of the other side ends with CR: say --crlf on both sides"));
            }
            let Some(place) = place.filter(|_| !record.contains(&self.separator)) else {
                return Err(Failure::new("the other side sent a record that it did not name before"));
            };
            came[place] = true;
            self.printer.record(false, &record)?;
            if let Some(additions) = additions.as_deref_mut() {
                additions.add(&record)?;
            }
        }
        Ok(())
    }
}

/// A record's hash, in the form of a digest.
fn hash(hasher: &Hasher, record: &[u8]) -> Outcome<Digest> {
    Ok(digest_of(hasher.hash_bytes(record).map_err(petal::Error::from)?))
}
