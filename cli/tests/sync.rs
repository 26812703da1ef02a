//! `petal diff` and `petal sync`: what only one of two sets has.

mod common;

use common::{NOT_THERE, Place, Run, command, lines};
use std::fmt::Display;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::process::{Child, Stdio};
use std::time::Duration;

/// What `diff` or `sync` should print, in ascending order.
fn marked(ours: &[impl Display], theirs: &[impl Display]) -> Vec<String> {
    let ours = ours.iter().map(|key| format!("< {key}"));
    let mut all: Vec<String> = ours.chain(theirs.iter().map(|key| format!("> {key}"))).collect();
    all.sort();
    all
}

/// The numbers of one range only.
fn only(of: &Range<u32>, not: &Range<u32>) -> Vec<u32> {
    of.clone().filter(|number| !not.contains(number)).collect()
}

fn sorted(output: &[u8]) -> Vec<String> {
    let mut all: Vec<String> = std::str::from_utf8(output).unwrap().lines().map(String::from).collect();
    all.sort();
    all
}

/// The output of a run that found differences.
fn differing(run: Run) -> Vec<u8> {
    assert_eq!((run.status, &*run.stderr), (1, ""), "{run:?}");
    run.stdout
}

#[test]
fn files_are_compared_as_sets() {
    let place = Place::new();
    place.file("a", "pear\napple\nfig\npear\nplum\n");
    place.file("b", "fig\nkiwi\nplum\nkiwi\nlime");
    assert_eq!(differing(place.petal("diff a b")), b"< pear\n< apple\n> kiwi\n> lime\n");
    assert_eq!(place.petal("diff a a").quiet(), b"");
    assert_eq!(differing(place.petal_on("diff - b", b"lime\n")), b"> fig\n> kiwi\n> plum\n");
    assert_eq!(differing(place.petal_on("diff a -", b"pear\napple\n")), b"< fig\n< plum\n");
    let json = String::from_utf8(differing(place.petal("diff --json a b"))).unwrap();
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!((&first["side"], &first["key"]), (&"left".into(), &"pear".into()));
    place.file("crlf", "fig\r\nkiwi\r\nplum\r\nlime\r\n");
    assert_eq!(place.petal("diff --crlf crlf b").quiet(), b"");
    place.file("ended", "a\nb\0c\0");
    place.file("nul2", "c\0");
    assert_eq!(differing(place.petal("diff -0 ended nul2")), b"< a\nb\0");
}

/// Empty, equal, nested and unlike files, against the sets themselves.
#[test]
fn every_likeness_is_compared() {
    let place = Place::new();
    for (a, b) in [(0..0, 0..0), (0..0, 0..9), (5..20_000, 0..20_000), (0..3_000, 3_000..7_000), (0..9, 0..9)] {
        place.file("a", lines(a.clone()));
        place.file("b", lines(b.clone()));
        let run = place.petal("diff a b");
        assert_eq!(sorted(&run.stdout), marked(&only(&a, &b), &only(&b, &a)));
        assert_eq!(run.status, i32::from(!run.stdout.is_empty()));
    }
}

#[test]
fn sketches_are_compared_with_sketches_and_keys() {
    let place = Place::new();
    place.file("a", lines(0..5_000));
    place.file("b", lines(7..5_003));
    for kind in ["iblt", "riblt", "pinsketch"] {
        for name in ["a", "b"] {
            // A sketch of pinsketch has no number 0.
            place.file("numbers", lines(if name == "a" { 1..5_001 } else { 8..5_004 }));
            let make = format!("sketch build --numbers --kind {kind} --capacity 20 --fpr 1e-6 -o {name}.petal numbers");
            place.petal(&make).quiet();
        }
        let marks = if kind == "pinsketch" { ['?'; 2] } else { ['<', '>'] };
        let mut expected: Vec<String> = (1..8).map(|number| format!("{} {number}", marks[0])).collect();
        expected.extend((5_001..5_004).map(|number| format!("{} {number}", marks[1])));
        expected.sort();
        assert_eq!(sorted(&differing(place.petal("diff a.petal b.petal"))), expected, "{kind}");
        place.file("keys", lines(2..5_001));
        assert_eq!(differing(place.petal("diff --numbers a.petal keys")), b"< 1\n", "{kind}");
        place.file("keys", lines(1..5_003));
        assert_eq!(differing(place.petal("diff --numbers keys a.petal")), b"< 5001\n< 5002\n", "{kind}");
        // Keys that are hashed, and that come twice.
        place.petal(&format!("sketch build --kind {kind} --capacity 20 --fpr 1e-6 -o h.petal b")).quiet();
        place.file("keys", [lines(7..5_003), b"new\nnew\n8\n".to_vec()].concat());
        assert_eq!(differing(place.petal("diff keys h.petal")), b"< new\n", "{kind}");
        assert_eq!(place.petal("diff b h.petal").quiet(), b"", "{kind}");
        place.file("keys", lines(0..3_000));
        place.petal("diff keys h.petal").names(&["keys", "h.petal", "larger --capacity"]);
    }
    place.petal("build -o filter a").quiet();
    place.petal("diff filter a").names(&["filter", "not a sketch"]);
    place.petal("diff - -").names(&["standard input"]);
    place.petal("diff a nothing").names(&["nothing", NOT_THERE]);
    place.petal("diff --numbers a b").names(&["--numbers"]);
}

/// The arguments of `petal sync` on the other side, for a shell.
fn peer(place: &Place, arguments: &str) -> String {
    let petal = std::path::absolute(env!("CARGO_BIN_EXE_petal")).expect("a folder");
    let (folder, petal) = (place.folder().display(), petal.display());
    let cd = if cfg!(windows) { "cd /d" } else { "cd" };
    format!("{cd} \"{folder}\" && \"{petal}\" sync {arguments} --peer -")
}

/// `petal sync` of a file with that of another side.
fn sync(place: &Place, ours: &str, theirs: &str) -> Run {
    let mut arguments = vec!["sync".to_string(), "--peer".to_string(), peer(place, theirs)];
    arguments.extend(ours.split(' ').map(String::from));
    place.petal_with(&arguments)
}

#[test]
fn two_sides_learn_what_differs_and_exchange_it() {
    let place = Place::new();
    for (a, b) in [(0..0, 0..0), (0..0, 0..50), (0..50, 0..0), (0..2_000, 3..2_004), (0..900, 850..1_900)] {
        place.file("a", lines(a.clone()));
        place.file("b", [lines(b.clone()), lines(b.clone())].concat());
        let run = sync(&place, "a", "b");
        let (ours, theirs) = (only(&a, &b), only(&b, &a));
        let marks = marked(&ours, &theirs);
        assert_eq!(sorted(&run.stdout), marks, "{run:?}");
        assert_eq!(run.status, i32::from(!marks.is_empty()), "{run:?}");
        assert!(run.stderr.contains(&format!("{} only here, {} only there", ours.len(), theirs.len())), "{run:?}");
        assert_eq!(sync(&place, "-q --exchange a", "--exchange b").status, 0);
        assert_eq!(place.petal("diff a b").quiet(), b"");
        let run = sync(&place, "-q a", "-q b");
        assert_eq!((run.status, run.stdout, &*run.stderr), (0, Vec::new(), ""));
    }
}

/// Only a side that says --exchange changes its file: in one step, on Unix with its permissions and through a link.
#[test]
fn files_change_only_if_their_side_says_so() {
    let place = Place::new();
    place.file("a", "x\ny");
    place.file("b", "y\nz\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(place.path("a"), std::fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("a", place.path("link")).unwrap();
    }
    let run = sync(&place, if cfg!(unix) { "--exchange --json link" } else { "--exchange --json a" }, "b");
    let lines = ["{\"side\":\"here\",\"key\":\"x\"}", "{\"side\":\"there\",\"key\":\"z\"}"];
    assert_eq!((run.status, sorted(&run.stdout)), (0, lines.map(String::from).to_vec()));
    let report: serde_json::Value = serde_json::from_str(&run.stderr).unwrap();
    let number = |name: &str| report[name].as_u64().unwrap();
    assert_eq!((number("records"), number("their_records"), number("only_here"), number("only_there")), (2, 2, 1, 1));
    assert!(number("sent_bytes") > 0 && number("received_bytes") > 0 && report["method"].is_string());
    assert_eq!(std::fs::read(place.path("a")).unwrap(), b"x\ny\nz\n");
    assert_eq!(std::fs::read(place.path("b")).unwrap(), b"y\nz\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(place.path("a")).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(std::fs::symlink_metadata(place.path("link")).unwrap().is_symlink());
        std::fs::remove_file(place.path("link")).unwrap();
    }
    assert_eq!(place.names(), ["a", "b"]);
    assert_eq!(sync(&place, "-q a", "--exchange b").status, 1);
    assert_eq!(std::fs::read(place.path("b")).unwrap(), b"y\nz\nx\n");
}

#[test]
fn records_that_end_with_nul_are_exchanged_whole() {
    let place = Place::new();
    place.file("a", "one\ntwo\0three\0");
    place.file("b", "three\0\0");
    let run = sync(&place, "-0 --exchange a", "-0 --exchange b");
    assert_eq!((run.status, &run.stdout[..]), (0, &b"< one\ntwo\0> \0"[..]), "{run:?}");
    assert_eq!(place.petal("diff -0 a b").quiet(), b"");
    sync(&place, "a", "-0 b").names_among(&["-0 on both"]);
}

#[test]
fn wrong_peers_are_told() {
    let place = Place::new();
    place.file("a", "x\n");
    let with = |peer: &str| place.petal_with(&["sync", "a", "--peer", peer].map(String::from));
    with(if cfg!(windows) { "rem" } else { "true" }).names_among(&["the other side ended"]);
    with(if cfg!(windows) { "echo hello there, this is no petal" } else { "echo hello there, this is no petal; cat" })
        .names_among(&["no `petal sync`"]);
    with("exit 3").names_among(&["the other side ended"]);
    place.petal("sync nothing --peer true").names(&["nothing", NOT_THERE]);
    place.petal("sync - --peer true").names(&["KEYS is a file"]);
    place.petal("sync a").names(&["--peer"]);
    place.petal("sync a --connect 127.0.0.1:1").names(&["--connect 127.0.0.1:1"]);
    place.petal("sync a --listen nowhere").names(&["--listen nowhere"]);
}

/// Lines that end with CR and LF come in as they are there, and a record that ends with CR is none.
#[test]
fn lines_of_windows_are_exchanged_as_such() {
    let place = Place::new();
    place.file("a", "one\r\ntwo\r\n");
    place.file("b", "two\r\nthree");
    assert_eq!(sync(&place, "-q --crlf --exchange a", "--crlf --exchange b").status, 0);
    assert_eq!(std::fs::read(place.path("a")).unwrap(), b"one\r\ntwo\r\nthree\r\n");
    assert_eq!(std::fs::read(place.path("b")).unwrap(), b"two\r\nthree\r\none\r\n");
    place.file("b", "two\r\nthree\r\n");
    let run = sync(&place, "-q --crlf --exchange a", "--exchange b");
    assert!(run.status == 2 && run.stderr.contains("--crlf on both sides"), "{run:?}");
    assert_eq!(std::fs::read(place.path("a")).unwrap(), b"one\r\ntwo\r\nthree\r\n");
}

/// Keys that come while the command waits for the other side are compared too, and stay.
#[test]
fn keys_that_come_meanwhile_stay() {
    let place = Place::new();
    place.file("a", "x\nnew\n");
    place.file("b", "y\n");
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("127.0.0.1:{port}");
    let listening = start(&place, &["sync", "b", "--exchange", "--listen", &address]);
    let mut listens = false;
    for _ in 0..500 {
        std::thread::sleep(Duration::from_millis(20));
        let taken = TcpListener::bind(&address).is_err();
        listens |= taken;
        if taken {
            break;
        }
    }
    assert!(listens);
    std::fs::OpenOptions::new().append(true).open(place.path("b")).unwrap().write_all(b"late\n").unwrap();
    assert_eq!(place.names(), ["a", "b"]);
    let connected = place.petal(&format!("sync -q a --exchange --connect {address}"));
    assert_eq!(connected.status, 0, "{connected:?}");
    assert!(listening.wait_with_output().unwrap().status.success());
    assert_eq!(std::fs::read(place.path("b")).unwrap().len(), b"y\nlate\nx\nnew\n".len());
    assert_eq!(place.petal("diff a b").quiet(), b"");
}

/// With --json each line of standard output is JSON, whatever bytes a key has, and so is the report.
#[test]
fn json_has_every_key() {
    let place = Place::new();
    place.file("a", b"x\n\xff\"\n");
    place.file("b", b"x\ny\n");
    let run = sync(&place, "--json a", "--json b");
    let values: Vec<serde_json::Value> =
        run.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    assert_eq!((run.status, values.len()), (1, 2), "{run:?}");
    assert_eq!([&values[0]["side"], &values[0]["key_bytes"]], ["here", "ff22"]);
    assert_eq!([&values[1]["side"], &values[1]["key"]], ["there", "y"]);
    assert!(values[1].get("key_bytes").is_none());
    let run = place.petal("diff --json a b");
    let first: serde_json::Value =
        serde_json::from_slice(run.stdout.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
    assert_eq!([&first["side"], &first["key"], &first["key_bytes"]], ["left", "\u{fffd}\"", "ff22"]);
}

/// What another program that has KEYS open would write later would be lost, so the file stays as it is then.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_is_open_for_writing_is_not_replaced() {
    let place = Place::new();
    place.file("a", "x\n");
    place.file("b", "y\n");
    let mut open = std::fs::OpenOptions::new().append(true).open(place.path("a")).unwrap();
    let run = sync(&place, "-q --exchange a", "-q --exchange b");
    assert!(run.status == 2 && run.stderr.contains("a: another program has it open for writing"), "{run:?}");
    open.write_all(b"late\n").unwrap();
    drop(open);
    assert_eq!(std::fs::read(place.path("a")).unwrap(), b"x\nlate\n");
    assert_eq!(sync(&place, "-q --exchange a", "-q --exchange b").status, 0);
    assert_eq!(sorted(&std::fs::read(place.path("a")).unwrap()), ["late", "x", "y"]);
    assert_eq!(place.names(), ["a", "b"]);
}

/// What a killed command left goes with the next one.
#[test]
fn what_was_left_goes() {
    let place = Place::new();
    place.file("a", "x\n");
    place.file("b", "y\n");
    place.file(".petal-0.tmp", "x\nz\n");
    place.file(".petal-7.tmp", "all keys\n");
    assert_eq!(sync(&place, "-q --exchange a", "-q b").status, 0);
    assert_eq!(place.names(), ["a", "b"]);
}

/// A limit on the size of files is an error, and no signal ends the command.
#[test]
#[cfg(unix)]
fn files_that_may_not_grow_stay_as_they_are() {
    let place = Place::new();
    let mine = lines(0..3_000);
    place.file("a", &mine);
    place.file("b", lines(3_000..4_000));
    place.file("plot.svg", "old");
    let limited = |line: &str| {
        let petal = std::path::absolute(env!("CARGO_BIN_EXE_petal")).expect("a folder");
        let line = format!("ulimit -f 4; {}", line.replace("petal", &petal.display().to_string()));
        common::run(std::process::Command::new("sh").args(["-c", &line]).current_dir(place.folder()), b"")
    };
    let run = limited("petal sync -q a --exchange --peer 'petal sync -q b --peer -'");
    assert!(run.status == 2 && run.stderr.starts_with("petal: a: no space is left"), "{run:?}");
    assert_eq!(std::fs::read(place.path("a")).unwrap(), mine);
    limited("petal plan --keys 1000 --plot plot.svg").names(&["--plot plot.svg: no space is left"]);
    assert_eq!(std::fs::read(place.path("plot.svg")).unwrap(), b"old");
    limited("petal build -o filter --bits 102400 --hashes 3 a").names(&["-o filter: no space is left"]);
    limited("petal dedup -q a b > out").names(&["standard output: File too large"]);
    limited("cat a | petal build --kind blocked --memory-limit 64MiB --temporary-directory . -o filter")
        .names(&["temporary file", "File too large"]);
    assert_eq!(place.names(), ["a", "b", "out", "plot.svg"]);
}

/// A side that says nothing, and one that announces more than anybody sends, end the command.
#[test]
fn silence_and_great_announcements_end_the_command() {
    let place = Place::new();
    place.file("a", "x\n");
    let listener = || TcpListener::bind("127.0.0.1:0").unwrap();
    let connect = |listener: &TcpListener| {
        let address = listener.local_addr().unwrap().to_string();
        start(&place, &["sync", "a", "--timeout", "1", "--connect", &address])
    };
    let (silent, loud) = (listener(), listener());
    let to_silent = connect(&silent);
    #[cfg(unix)]
    let to_command = start(&place, &["sync", "a", "--timeout", "1", "--peer", "exec sleep 60"]);
    let to_loud = connect(&loud);
    let (mut stream, _) = loud.accept().unwrap();
    let mut greeting = b"PTSY\x01\n0123456789abcdef".to_vec();
    greeting.extend((1_u64 << 32).to_le_bytes());
    stream.write_all(&greeting).unwrap();
    let told = |child: Child, things: &[&str]| {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && things.iter().all(|thing| text.contains(thing)), "{text}");
    };
    told(to_loud, &["4294967296 bytes", "1073741824"]);
    told(to_silent, &["silent for 1 s", "--timeout"]);
    #[cfg(unix)]
    told(to_command, &["silent for 1 s", "--timeout"]);
}

/// A relay between two ends of a slow link: each piece waits, and few bytes go in a second.
fn slowly(mut from: TcpStream, mut to: TcpStream) -> std::thread::JoinHandle<u64> {
    std::thread::spawn(move || {
        let (mut bytes, mut all) = ([0; 500], 0);
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            std::thread::sleep(Duration::from_millis(20));
            all += length as u64;
            if to.write_all(&bytes[..length]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(std::net::Shutdown::Write);
        all
    })
}

fn start(place: &Place, arguments: &[&str]) -> Child {
    let mut child = command();
    child.args(arguments).current_dir(place.folder()).stdin(Stdio::null()).stdout(Stdio::piped());
    child.stderr(Stdio::piped()).spawn().expect("petal")
}

/// Over a connection that is slow, both sides print what differs, and little goes over the link.
#[test]
fn a_slow_connection_carries_only_what_differs() {
    let place = Place::new();
    place.file("a", lines(0..100_000));
    place.file("b", lines(20..100_030));
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let relay = TcpListener::bind("127.0.0.1:0").unwrap();
    let (there, here) = (format!("127.0.0.1:{port}"), relay.local_addr().unwrap().to_string());
    let listening = start(&place, &["sync", "b", "--listen", &there]);
    let connecting = start(&place, &["sync", "a", "--connect", &here]);
    let (near, _) = relay.accept().unwrap();
    let far = (0..500)
        .find_map(|_| {
            std::thread::sleep(Duration::from_millis(20));
            TcpStream::connect(&there).ok()
        })
        .expect("the other side listens");
    let directions = [slowly(near.try_clone().unwrap(), far.try_clone().unwrap()), slowly(far, near)]
        .map(|thread| thread.join().unwrap());
    let outputs = [connecting, listening].map(|child| child.wait_with_output().unwrap());
    let [ours, theirs] = outputs.map(|output| {
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
        sorted(&output.stdout)
    });
    let swapped = |line: &String| if line.starts_with('<') { line.replace('<', ">") } else { line.replace('>', "<") };
    let mut mirrored: Vec<String> = theirs.iter().map(swapped).collect();
    mirrored.sort();
    assert_eq!((ours.len(), &ours), (50, &mirrored));
    let all: u64 = directions.iter().sum();
    assert!(all < 4_000, "{all} bytes");
}
