//! `petal redis` with a server that the test plays: what it sends, and what it says when the server goes. What real
//! servers answer is tested with the module, by `make test-redis`.
#![cfg(feature = "redis")]

mod common;

use common::{NOT_THERE, Place, petal_on};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::{self, JoinHandle};

/// Reads a command; nothing at the end.
fn command(reader: &mut impl BufRead) -> Option<Vec<String>> {
    let number = |reader: &mut dyn BufRead| {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        line.get(1..)?.trim_end().parse::<usize>().ok()
    };
    let count = number(reader)?;
    let mut words = Vec::new();
    for _ in 0..count {
        let mut word = vec![0; number(reader)? + 2];
        reader.read_exact(&mut word).ok()?;
        word.truncate(word.len() - 2);
        words.push(String::from_utf8(word).expect("words are text here"));
    }
    Some(words)
}

/// The commands that come over a connection, each of which is answered by `answer`, until it returns nothing or nobody
/// asks.
fn converse(mut stream: TcpStream, answer: &dyn Fn(&[String]) -> Option<String>) -> Vec<Vec<String>> {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    let mut said = Vec::new();
    while let Some(words) = command(&mut reader) {
        let reply = answer(&words);
        said.push(words);
        let Some(reply) = reply else { break };
        stream.write_all(reply.as_bytes()).expect("a reply");
    }
    said
}

/// A server that answers one connection by `answer`; then it is gone. Returns its address, and the commands that it
/// received.
fn server(
    answer: impl Fn(&[String]) -> Option<String> + Send + Sync + 'static,
) -> (String, JoinHandle<Vec<Vec<String>>>) {
    server_of(1, answer)
}

/// A server that answers this many connections.
fn server_of(
    connections: usize,
    answer: impl Fn(&[String]) -> Option<String> + Send + Sync + 'static,
) -> (String, JoinHandle<Vec<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let serve = move || {
        let answer = &answer;
        thread::scope(move |scope| {
            let mut all = Vec::new();
            for _ in 0..connections {
                let (stream, _) = listener.accept().expect("a connection");
                all.push(scope.spawn(move || converse(stream, answer)));
            }
            drop(listener);
            all.into_iter().flat_map(|one| one.join().expect("a connection")).collect()
        })
    };
    (address, thread::spawn(serve))
}

/// What a server says that makes filters.
fn answer(words: &[String]) -> Option<String> {
    Some(match &*words[0] {
        "TYPE" => String::from("+none\r\n"),
        "PETAL.RESERVE" => String::from("+OK\r\n"),
        "PETAL.INFO" => String::from("*2\r\n$4\r\nkind\r\n$7\r\nblocked\r\n"),
        _ => String::from("+OK\r\n"),
    })
}

#[test]
fn shards_are_asked_for_before_any_key_is_read() {
    let (address, served) = server(answer);
    let url = format!("redis://{address}");
    petal_on(["redis", "build", "--url", &url, "--shards", "3", "--capacity", "1000", "--fpr", "0.001", "seen"], b"")
        .quiet();
    let said = served.join().expect("a server");
    let said: Vec<String> =
        said.iter().map(|words| words.join(" ")).filter(|line| !line.starts_with("CLIENT")).collect();
    let share = 1000.0_f64 / 3.0;
    let share = (share + 5.0 * share.sqrt()).ceil();
    let reserve = |shard| format!("PETAL.RESERVE seen:{{{shard}}} blocked {share} 0.001");
    let expected: Vec<String> = (0..4)
        .map(|shard| format!("TYPE seen:{{{shard}}}"))
        .chain((0..3).map(reserve))
        .chain((0..3).map(|shard| format!("PETAL.INFO seen:{{{shard}}}")))
        .collect();
    assert_eq!(said, expected);
}

#[test]
fn a_connection_that_ends_is_told() {
    let (address, served) = server(|words| answer(words).filter(|_| words[0] != "PETAL.RESERVE"));
    petal_on(["redis", "build", "--url", &address, "--capacity", "1000", "seen"], b"a\n")
        .names(&[&address, "the server closed the connection"]);
    served.join().expect("a server");
    // Nobody is there any more.
    petal_on(["redis", "check", "--url", &address, "seen"], b"a\n").names(&[&address, "nobody listens there"]);
}

#[test]
fn what_is_wrong_is_told_before_a_server_is_asked() {
    let place = Place::new();
    place.file("keys", "a\n");
    for (line, things) in [
        ("redis build --kind fuse seen keys", ["--kind fuse", "petal redis import"]),
        ("redis build --type bf --kind bloom seen keys", ["--kind", "--type bf"]),
        ("redis build --type cf --fpr 0.1 seen keys", ["--fpr", "--type cf"]),
        ("redis build --set foldable seen keys", ["--set foldable", "NAME=VALUE"]),
        ("redis build --shards 0 seen keys", ["--shards", "from 1 to 65536"]),
        ("redis build seen missing", ["missing", NOT_THERE]),
        (
            "redis build --url rediss://no.invalid seen keys",
            ["no.invalid:6379", if cfg!(unix) { "address" } else { "" }],
        ),
        ("redis build --url http://user:guess@here seen keys", ["--url here: is not", "unix://"]),
        ("redis export --shards 2 seen -o out.petal", ["-o out.petal", "{}"]),
        ("redis import --shards 2 seen in.petal", ["in.petal", "{}"]),
        ("redis import seen keys", ["keys", "not"]),
        ("redis merge seen -o missing/out.petal", ["missing/out.petal", NOT_THERE]),
    ] {
        let message = place.petal(line).trouble();
        assert!(things.iter().all(|thing| message.contains(thing)), "{line}: {message}");
    }
    // No message shows a password.
    let message = place.petal("redis build --url http://user:guess@here seen keys").trouble();
    assert!(message.starts_with("--url here: ") && !message.contains("guess"), "{message}");
    petal_on(["redis", "build", "--url", "127.0.0.1:1", "seen"], b"").names(&["127.0.0.1:1"]);
}

/// The records whose keys are not there come in the order of the input, whole, from all shards.
#[test]
fn missing_keys_are_printed_in_order() {
    // The server has the keys that end with an even digit.
    let (address, served) = server_of(2, |words| {
        Some(match &*words[0] {
            "TYPE" if words[1] == "seen:{3}" => String::from("+none\r\n"),
            "TYPE" => String::from("+petal-img\r\n"),
            "PETAL.MEXISTS" => {
                let answers = words[2..].iter().map(|key| u32::from(key.ends_with(['0', '2', '4', '6', '8'])));
                let answers: String = answers.map(|answer| format!(":{answer}\r\n")).collect();
                format!("*{}\r\n{answers}", words.len() - 2)
            }
            _ => String::from("+OK\r\n"),
        })
    });
    let place = Place::new();
    let table: String = (0..9_000).map(|key| format!("row {key} x\n")).collect();
    let odd: String = (1..9_000).step_by(2).map(|key| format!("row {key} x\n")).collect();
    place.file("table", &table);
    let run = place.petal(&format!("redis check -v --url redis://{address} --shards 3 -f 2 seen table"));
    assert_eq!((run.status, &*run.stderr), (1, ""));
    assert!(run.stdout == odd.as_bytes(), "{} bytes", run.stdout.len());
    let said = served.join().expect("a server");
    let commands: Vec<&Vec<String>> = said.iter().filter(|words| words[0] == "PETAL.MEXISTS").collect();
    assert!(commands.iter().all(|words| words.len() <= 1_002), "commands stay short");
    assert_eq!(commands.iter().map(|words| words.len() - 2).sum::<usize>(), 9_000);
    place.petal("redis check -v --json seen table").names(&["--json"]);
}
