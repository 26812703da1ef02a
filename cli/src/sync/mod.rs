//! `petal sync`: two machines compare their files of keys, and exchange what differs.
//!
//! Both sides send [`GREETING`], which ends with the version, the separator of their records, and 16 random bytes.
//! Records are hashed under a key from both sides' random bytes. A session of the library (docs/session.md) over the
//! hashes tells each side which records the other has not. The initiator sends these records first, and then the
//! responder does.

mod channel;
mod file;

use crate::args;
use crate::failure::{Failure, Outcome, note, say};
use crate::file_name::{is_standard, name, shown};
use crate::keys::{Batch, Inputs};
use crate::output::{Text, json};
use crate::records::{Digest, Digester, Records, for_each_of, keys_of, random_key};
use channel::Channel;
use file::Growing;
use petal::session::{Method, Role, Session, Turn};
use petal::{HashFunction, Hasher, KindId, SecretKey, Sketch, Spec};
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
struct Printer(Option<Text>, u8);

impl Printer {
    fn line(&mut self, mark: &[u8], record: &[u8]) -> Outcome<()> {
        let Some(text) = &mut self.0 else { return Ok(()) };
        text.bytes(mark)?;
        text.bytes(record)?;
        text.bytes(&[self.1])
    }
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
    let mut printer = Printer(if is_channel { None } else { Some(Text::new()?) }, separator);
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
        if listed.count > 0 { &mut ours } else { &mut theirs }.push([listed.number, 0]);
    }
    let (ours, theirs): (Records, Records) = (ours.into_iter().collect(), theirs.into_iter().collect());
    drop((session, sketch));
    // Not before the other side is there: with --listen that may take hours, in which KEYS may grow.
    let end: &[u8] = match args.records {
        args::sync::Records { null: true, .. } => b"\0",
        args::sync::Records { crlf: true, .. } => b"\r\n",
        args::sync::Records { .. } => b"\n",
    };
    let needs = args.exchange && !theirs.digests().is_empty();
    let mut growing = needs.then(|| Growing::of(&args.keys, end)).transpose()?;

    let talk = (channel.sent, channel.received);
    let mut exchange =
        Exchange { inputs: &inputs, hasher: &hasher, separator, crlf: args.records.crlf, printer: &mut printer };
    if channel.is_initiator {
        exchange.send(&mut channel, &ours)?;
        exchange.receive(&mut channel, &theirs, growing.as_mut())?;
    } else {
        exchange.receive(&mut channel, &theirs, growing.as_mut())?;
        exchange.send(&mut channel, &ours)?;
    }
    if let Some(text) = &mut printer.0 {
        text.flush()?;
    }
    let total = (channel.sent, channel.received);
    channel.close()?;
    if let Some(growing) = growing {
        growing.replace()?;
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
        "{only_here} only here, {only_there} only there; {sent_bytes} bytes sent and {received_bytes} received beside \
         the keys themselves ({method})"
    ));
    Ok(())
}

/// Both sides introduce themselves. Returns the key for the hashes of records.
fn greet(channel: &mut Channel, separator: u8) -> Outcome<SecretKey> {
    let ours = random_key();
    channel.write(&GREETING)?;
    channel.write(&[separator])?;
    channel.write(&ours)?;
    channel.flush()?;
    let (mut greeting, mut records, mut theirs) = ([0; GREETING.len()], [0], SecretKey::default());
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
    let mut key = SecretKey::default();
    for (half, seed) in key.chunks_exact_mut(8).zip(0..) {
        let hash = Hasher::new(HashFunction::Xxh3, seed, None)?.hash_bytes(&both).map_err(petal::Error::from)?;
        half.copy_from_slice(&hash.to_le_bytes());
    }
    Ok(key)
}

/// A sketch of the records' hashes, which keeps them.
fn sketch_of(records: &Records, key: &SecretKey) -> Outcome<Sketch> {
    let kind: Option<KindId> = petal::registry::find_name(RIBLT).map(|row| row.kind);
    let spec = Spec { kind, bits: ONE_SYMBOL, hash: HashFunction::SipHash13, key: Some(*key), ..Spec::default() };
    let mut sketch = petal::create_sketch(&spec)?;
    sketch.keep_keys()?;
    let mut hashes = [0; 1024];
    for digests in records.digests().chunks(hashes.len()) {
        let hashes = &mut hashes[..digests.len()];
        hashes.iter_mut().zip(digests).for_each(|(hash, digest)| *hash = digest[0]);
        sketch.insert_batch(&petal::Keys::Hashes(hashes)).outcome?;
    }
    // The digests have a second half, which tells records with one hash apart.
    if sketch.offered() != records.digests().len() as u64 {
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
                channel.read_counted(&mut message)?;
                if let Err(error) = session.receive(&message) {
                    if session.turn() == Turn::Send {
                        // The other side is told why. Its own error matters less than ours.
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
    /// Sends the records that the other side has not.
    fn send(&mut self, channel: &mut Channel, ours: &Records) -> Outcome<()> {
        let (hasher, printer) = (self.hasher, &mut *self.printer);
        let digest = |batch: &Batch, i: usize| hash(hasher, batch.key(i));
        for_each_of(ours, self.inputs, "sending", digest, |record| {
            printer.line(b"< ", record)?;
            channel.write_counted(record)
        })?;
        channel.flush()
    }

    /// Receives the records that this side has not. Each has to be one that the session named.
    fn receive(&mut self, channel: &mut Channel, theirs: &Records, mut growing: Option<&mut Growing>) -> Outcome<()> {
        let mut came = vec![false; theirs.digests().len()];
        let mut record = Vec::new();
        for _ in 0..came.len() {
            channel.read_counted(&mut record)?;
            let place = theirs.find(&hash(self.hasher, &record)?).filter(|place| !came[*place]);
            if self.crlf && record.ends_with(b"\r") {
                return Err(Failure::new("a record of the other side ends with CR: say --crlf on both sides"));
            }
            let Some(place) = place.filter(|_| !record.contains(&self.separator)) else {
                return Err(Failure::new("the other side sent a record that it did not name before"));
            };
            came[place] = true;
            self.printer.line(b"> ", &record)?;
            if let Some(growing) = growing.as_deref_mut() {
                growing.add(&record)?;
            }
        }
        Ok(())
    }
}

/// A record's hash, in the form of a digest.
fn hash(hasher: &Hasher, record: &[u8]) -> Outcome<Digest> {
    Ok([hasher.hash_bytes(record).map_err(petal::Error::from)?, 0])
}
