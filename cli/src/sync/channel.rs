//! The channel to the other side: a command's standard input and output, this command's own, or a connection.

use crate::args::sync::Sync;
use crate::failure::{Failure, Outcome};
use crate::stdio;
use crate::sync::watch::{Watch, Watched};
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;

/// The most bytes of a session's message: enough for a filter of 10^9 keys.
pub const MOST_OF_MESSAGE: u64 = 1 << 30;
/// The most bytes of a record.
pub const MOST_OF_RECORD: u64 = 1 << 26;
/// How much is read at a time, so that a message that only claims its length takes no memory.
const PIECE: u64 = 1 << 20;

/// The channel, and what went over it.
pub struct Channel {
    reader: BufReader<Box<dyn Read>>,
    writer: BufWriter<Box<dyn Write>>,
    watch: Arc<Watch>,
    /// Whether this side began.
    pub is_initiator: bool,
    /// Bytes that went out.
    pub sent: u64,
    /// Bytes that came in.
    pub received: u64,
}

impl Channel {
    /// Opens the channel that the arguments name.
    pub fn open(args: &Sync) -> Outcome<Channel> {
        let watch = Watch::start(args.timeout);
        let (reader, writer, is_initiator): (Box<dyn Read>, Box<dyn Write>, _) =
            match (args.peer.as_deref(), &args.listen, &args.connect) {
                (Some("-"), ..) => {
                    stdio::check_output().map_err(|error| Failure::io("standard output", &error))?;
                    let input = stdio::stdin().map_err(|error| Failure::io("standard input", &error))?;
                    (Box::new(input), Box::new(io::stdout()), false)
                }
                (Some(command), ..) => {
                    let mut child = shell(command)
                        .stdin(Stdio::piped())
                        .stdout(Stdio::piped())
                        .spawn()
                        .map_err(|error| Failure::io(format_args!("--peer {command}"), &error))?;
                    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
                        return Err(Failure::new(format_args!("--peer {command}: has no standard input or output")));
                    };
                    watch.end_with(child);
                    (Box::new(output), Box::new(input), true)
                }
                (None, Some(address), _) => {
                    let failed = |error: io::Error| Failure::io(format_args!("--listen {address}"), &error);
                    let (stream, _) =
                        TcpListener::bind(address).and_then(|listener| listener.accept()).map_err(failed)?;
                    let (reader, writer) = both(stream).map_err(failed)?;
                    (reader, writer, false)
                }
                (None, None, Some(address)) => {
                    let failed = |error: io::Error| Failure::io(format_args!("--connect {address}"), &error);
                    let stream = watch.while_waiting(|| TcpStream::connect(address));
                    let (reader, writer) = stream.and_then(both).map_err(failed)?;
                    (reader, writer, true)
                }
                (None, None, None) => return Err(Failure::new("--peer, --listen or --connect names the other side")),
            };
        let reader: Box<dyn Read> = Box::new(Watched(reader, Arc::clone(&watch)));
        let writer: Box<dyn Write> = Box::new(Watched(writer, Arc::clone(&watch)));
        let (reader, writer) = (BufReader::with_capacity(1 << 16, reader), BufWriter::with_capacity(1 << 16, writer));
        Ok(Channel { reader, writer, watch, is_initiator, sent: 0, received: 0 })
    }

    /// Writes bytes, which may wait for [`Channel::flush`].
    pub fn write(&mut self, bytes: &[u8]) -> Outcome<()> {
        self.writer.write_all(bytes).map_err(|error| lost(&error))?;
        self.sent += bytes.len() as u64;
        Ok(())
    }

    /// Sends what was written.
    pub fn flush(&mut self) -> Outcome<()> {
        self.writer.flush().map_err(|error| lost(&error))
    }

    /// Reads bytes until `bytes` is full.
    pub fn read(&mut self, bytes: &mut [u8]) -> Outcome<()> {
        self.reader.read_exact(bytes).map_err(|error| lost(&error))?;
        self.received += bytes.len() as u64;
        Ok(())
    }

    /// Reads bytes after their number, and replaces those in `into`. Refuses more than `most` before any of them is
    /// read. Memory grows with what comes.
    pub fn read_counted(&mut self, into: &mut Vec<u8>, most: u64) -> Outcome<()> {
        let mut length = [0; 8];
        self.read(&mut length)?;
        let length = u64::from_le_bytes(length);
        if length > most {
            return Err(Failure::new(format_args!(
                "the other side announces {length} bytes at once, more than the {most} that are allowed"
            )));
        }
        into.clear();
        let mut left = length;
        while left > 0 {
            let piece = left.min(PIECE) as usize;
            let start = into.len();
            into.try_reserve(piece).map_err(|_| Failure::new("out of memory for what the other side sends"))?;
            into.resize(start + piece, 0);
            self.read(&mut into[start..])?;
            left -= piece as u64;
        }
        Ok(())
    }

    /// Writes bytes after their number.
    pub fn write_counted(&mut self, bytes: &[u8]) -> Outcome<()> {
        self.write(&(bytes.len() as u64).to_le_bytes())?;
        self.write(bytes)
    }

    /// Closes the channel. If the other side is a command that failed, so does this one.
    pub fn close(self) -> Outcome<()> {
        let Channel { reader, writer, watch, .. } = self;
        drop((reader, writer));
        let Some(status) = watch.wait() else { return Ok(()) };
        let status = status.map_err(|error| Failure::io("the other side's command", &error))?;
        match status.code() {
            Some(0 | 1) => Ok(()),
            _ => Err(Failure::new(format_args!("the other side's command ended with {status}"))),
        }
    }
}

/// Both directions of a connection.
fn both(stream: TcpStream) -> io::Result<(Box<dyn Read>, Box<dyn Write>)> {
    stream.set_nodelay(true)?;
    Ok((Box::new(stream.try_clone()?), Box::new(stream)))
}

/// What runs a command line.
#[cfg(unix)]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command);
    shell
}

/// What runs a command line: `cmd` takes the line as it is, without the first quote and the last.
#[cfg(windows)]
fn shell(command: &str) -> Command {
    use std::os::windows::process::CommandExt;
    let mut shell = Command::new("cmd");
    shell.arg("/S").arg("/C").raw_arg(format!("\"{command}\""));
    shell
}

/// The failure of a channel whose other side ended, or that broke.
fn lost(error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
            Failure::new("the other side ended before the sets were compared")
        }
        _ => Failure::io("the channel to the other side", error),
    }
}
