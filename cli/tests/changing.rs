//! Files that change while they are read, what can be read only once, and the names of files.

#![cfg(unix)]

mod common;

use common::{Place, Run, command, info, kinds, lines, run};
use petal::Overfill;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Starts the command on files and a pipe that keeps it waiting, and returns it with the end of the pipe.
fn waiting(place: &Place, line: &str) -> (Child, File) {
    if !place.path("gate").exists() {
        assert!(Command::new("mkfifo").arg(place.path("gate")).status().expect("mkfifo").success());
    }
    let child = command()
        .args(line.split(' '))
        .current_dir(place.folder())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("petal");
    // Opens once the command reads the pipe, which is when it has come that far in its files.
    let gate = File::options().write(true).open(place.path("gate")).expect("the gate");
    (child, gate)
}

fn ended(child: Child) -> Run {
    let output = child.wait_with_output().expect("output");
    let stderr = String::from_utf8(output.stderr).expect("messages are text");
    Run { status: output.status.code().expect("no signal"), stdout: output.stdout, stderr }
}

/// The pipe is read after the first file is counted, and before it is read again.
#[test]
fn a_file_with_fewer_records_than_were_counted_is_trouble() {
    let mut formats = vec![String::from("build --format guava")];
    formats.extend(
        kinds().filter(|row| row.is_made_empty() && row.is_canonical).map(|row| format!("build --kind {}", row.name)),
    );
    formats.push(String::from("build --kind fuse --bits-per-key 12"));
    for line in formats {
        let place = Place::new();
        place.file("keys", lines(0..50_000));
        let (child, mut gate) = waiting(&place, &format!("{line} -o filter keys gate"));
        let keys = File::options().write(true).open(place.path("keys")).unwrap();
        keys.set_len(1000).unwrap();
        gate.write_all(b"x\n").unwrap();
        drop(gate);
        ended(child).names(&["keys: became shorter", "50000 records"]);
        assert!(!place.path("filter").exists(), "{line}");
        // A file that grows gives a warning, and does no harm if there is room.
        if line.contains("quotient") {
            continue;
        }
        place.file("keys", lines(0..1000));
        let (child, mut gate) = waiting(&place, &format!("{line} -o filter keys gate"));
        place.file("keys", lines(0..1500));
        gate.write_all(b"x\n").unwrap();
        drop(gate);
        let run = ended(child);
        let warning = "petal: warning: keys: grew after its 1000 records were counted, to 1500\n";
        assert!(run.status == 0 && run.stderr.starts_with(warning), "{line}: {run:?}");
    }
}

/// The first file is read once, and cut off after its first block was.
#[test]
fn a_file_that_is_cut_off_while_it_is_read_is_trouble() {
    for line in ["dedup --capacity 1M", "check filter", "insert filter", "build --capacity 1M -o other", "count counts"]
    {
        let place = Place::new();
        place.petal("build --capacity 1M -o filter /dev/null").quiet();
        place.petal("build --kind counting --capacity 10 -o counts /dev/null").quiet();
        place.file("keys", lines(0..1000));
        let (child, mut gate) = waiting(&place, &format!("{line} gate keys"));
        File::options().write(true).open(place.path("keys")).unwrap().set_len(100).unwrap();
        gate.write_all(b"x\n").unwrap();
        drop(gate);
        let run = ended(child);
        assert_eq!(run.status, 2, "{line}: {run:?}");
        assert!(run.stderr.contains("keys: became shorter") && run.stderr.contains("of 3890 bytes 100"), "{run:?}");
        assert!(!place.path("other").exists());
    }
}

/// A mapped file that ends too early is SIGBUS.
#[test]
fn a_filter_that_is_cut_off_while_it_is_asked_is_one_line() {
    let place = Place::new();
    place.file("keys", lines(0..100_000));
    place.petal("build -o filter keys").quiet();
    let (child, mut gate) = waiting(&place, "check filter gate");
    File::options().write(true).open(place.path("filter")).unwrap().set_len(4096).unwrap();
    gate.write_all(&lines(0..1000)).unwrap();
    drop(gate);
    ended(child).names(&["SIGBUS", "shorter"]);
}

/// Every kind takes keys that come once, and the filter is that of a file with them.
#[test]
fn a_pipe_makes_the_filter_that_a_file_makes() {
    let place = Place::new();
    let keys = lines(0..3000);
    place.file("keys", &keys);
    for row in kinds() {
        for size in ["", "--bits-per-key 30", "--fpr 0.05"] {
            let line = format!("build --kind {} {size}", row.name);
            let file = place.petal(&format!("{line} keys"));
            let pipe = place.petal_on(&line, &keys);
            assert_eq!((file.status, &file.stderr), (pipe.status, &pipe.stderr), "{line}");
            assert!(file.stdout == pipe.stdout, "{line}");
            assert!(file.status == 0 || row.overfill == Overfill::Grows || size.contains("bits"), "{line}: {file:?}");
        }
    }
    for line in [
        "build --format guava",
        "build --format xor_filter",
        "build --bits-per-key 9",
        "build --counts --kind counting",
    ] {
        let file = place.petal(&format!("{line} keys"));
        let pipe = place.petal_on(line, &keys);
        assert_eq!(
            (file.status, &file.stdout, &file.stderr.replace("keys:", "standard input:")),
            (pipe.status, &pipe.stdout, &pipe.stderr),
            "{line}"
        );
    }
}

/// What does not fit into memory goes to a file without a name.
#[test]
fn a_long_pipe_is_kept_in_a_file() {
    let place = Place::new();
    fs::create_dir(place.path("temporary")).unwrap();
    let keys = lines(0..400_000);
    place.file("keys", &keys);
    let expected = place.petal("build --kind bloom keys").quiet();
    let line = "build --kind bloom --memory-limit 1MiB -T temporary";
    assert!(place.petal_on(line, &keys).quiet() == expected);
    assert_eq!(fs::read_dir(place.path("temporary")).unwrap().count(), 0);
    place.petal_on(&line.replace("temporary", "nowhere"), &keys).names(&["temporary file in nowhere"]);
}

/// An empty TMPDIR names no folder.
#[test]
fn an_empty_tmpdir_is_none() {
    let place = Place::new();
    let keys = lines(0..400_000);
    place.file("keys", &keys);
    for line in
        ["build --kind fuse --memory-limit 1MiB -o filter keys", "build --kind bloom --memory-limit 1MiB -o filter"]
    {
        run(command().args(line.split(' ')).current_dir(place.folder()).env("TMPDIR", ""), &keys).quiet();
    }
    assert_eq!(place.names(), ["filter", "keys"]);
}

/// Runs a line of bash, in which $PETAL is the command.
fn bash(place: &Place, line: &str) -> Run {
    let petal = env!("CARGO_BIN_EXE_petal");
    run(Command::new("bash").args(["-c", line]).env("PETAL", petal).current_dir(place.folder()), b"")
}

/// A filter that comes through a pipe with a name is read into memory.
#[test]
fn a_filter_may_come_from_a_process_substitution() {
    let place = Place::new();
    place.file("keys", lines(0..1000));
    place.file("ids", b"a\t1\nb\t2\n");
    place.petal("build --set foldable=1 --fpr 0.2 -o filter keys").quiet();
    place.petal("build --kind counting -o counts keys").quiet();
    place.petal("build --kind quotient -o quotient keys").quiet();
    place.petal("build --kind golomb -o golomb keys").quiet();
    place.petal("build --format guava -o guava keys").quiet();
    place.petal("build --format datasketches -o sketch keys").quiet();
    place.petal("import guava guava -o imported").quiet();
    place.petal("map build -o map ids").quiet();
    let lines = [
        "check -c F:filter keys",
        "count F:counts keys",
        "info F:filter",
        "info F:map",
        "info F:sketch",
        "check F:sketch keys",
        "check --format guava F:guava keys",
        "merge F:filter F:filter",
        "intersect filter F:filter",
        "fold --fpr 0.99 -o out F:filter",
        "resize --capacity 5k -o out F:quotient",
        "hashes F:golomb",
        "map get F:map <(echo a)",
        "export F:imported guava",
        "import guava F:guava",
    ];
    for line in lines {
        let run = |prefix: &str, suffix: &str| {
            let words: Vec<String> = line
                .split(' ')
                .map(|word| word.strip_prefix("F:").map_or(word.into(), |file| format!("{prefix}{file}{suffix}")))
                .collect();
            bash(&place, &format!("\"$PETAL\" {}", words.join(" ")))
        };
        let (named, piped) = (run("", ""), run("<(cat ", ")"));
        assert_eq!((named.status, named.stdout.len()), (0, named.stdout.len()), "{line}: {named:?}");
        assert_eq!((named.status, named.stdout), (piped.status, piped.stdout), "{line}: {}", piped.stderr);
    }
    assert!(bash(&place, "\"$PETAL\" verify <(cat filter)").status == 0);
    assert!(bash(&place, "\"$PETAL\" estimate <(cat filter) <(cat filter)").status == 0);
    for line in ["insert F keys", "remove F keys", "mark-clean F", "map put F ids", "map replace F ids"] {
        let line = format!("\"$PETAL\" {}", line.replace('F', "<(cat counts)"));
        bash(&place, &line).names(&["no regular file"]);
    }
    bash(&place, "\"$PETAL\" info <(cat keys)").names(&["--format"]);
    bash(&place, "\"$PETAL\" info <(head -c 500 filter)").trouble();
    bash(&place, "\"$PETAL\" info <(cat filter; echo)").names(&["bytes follow"]);
}

/// A terminal would obey the control characters of a name.
#[test]
fn names_are_shown_without_control_characters() {
    let place = Place::new();
    let name = OsStr::from_bytes(b"no\x1b[31m\x07\n\xc2\x9b\xffx");
    for line in
        [&["info"][..], &["check"], &["verify"], &["build", "-o"], &["map", "get"], &["plan", "--keys", "9", "--plot"]]
    {
        let arguments = line.iter().map(OsStr::new);
        let mut path = place.folder().join("missing").into_os_string();
        path.push("/");
        path.push(name);
        let run = run(command().args(arguments).arg(&path).current_dir(place.folder()), b"");
        let message = run.trouble();
        assert!(message.contains("no\\x1b[31m\\x07\\n\\u{9b}\\xffx"), "{message:?}");
        assert!(!message.contains(char::is_control), "{message:?}");
    }
    // What the options have in them is shown likewise.
    let run = run(command().args(["build", "--set", "a\x1b[2J", "keys"]).current_dir(place.folder()), b"");
    assert!(!run.trouble().contains(char::is_control));
}

/// JSON has text only: a name that is none is there in hexadecimal too.
#[test]
fn names_that_are_not_utf_8_are_whole_in_json() {
    let place = Place::new();
    place.file("keys", lines(0..100));
    let (first, second) = (OsStr::from_bytes(b"f\xff"), OsStr::from_bytes(b"f\xfe"));
    for name in [first, second] {
        run(command().args(["build", "-o"]).arg(name).arg("keys").current_dir(place.folder()), b"").quiet();
    }
    let json = |line: &str| {
        let run = run(command().args(line.split(' ')).args([first, second]).current_dir(place.folder()), b"");
        let values = run.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        values.map(|line| serde_json::from_slice(line).unwrap()).collect::<Vec<serde_json::Value>>()
    };
    for line in ["info --json", "verify --json", "mark-clean --json"] {
        let values = json(line);
        assert_eq!([&values[0]["file_bytes"], &values[1]["file_bytes"]], ["66ff", "66fe"], "{line}");
    }
    let pair = &json("estimate --json")[0];
    assert_eq!([&pair["first_bytes"], &pair["second_bytes"]], ["66ff", "66fe"]);
    let check = run(command().args(["check", "-c", "--json"]).arg(first).arg("keys").current_dir(place.folder()), b"");
    let check: serde_json::Value = serde_json::from_slice(&check.quiet()).unwrap();
    assert_eq!(check["file_bytes"], "66ff");
    let json_of = |words: &[&str], names: &[&OsStr]| -> serde_json::Value {
        let run = run(command().args(words).args(names).current_dir(place.folder()), b"");
        serde_json::from_slice(&run.quiet()).unwrap()
    };
    // The commands for files and folders, whose names are in the images too.
    let digest = OsStr::from_bytes(b"d\xff");
    assert_eq!(json_of(&["digest", "make", "--json", "keys", "-o"], &[digest])["file_bytes"], "64ff");
    fs::write(place.folder().join(OsStr::from_bytes(b"p\xff")), lines(0..20_000)).unwrap();
    json_of(&["digest", "make", "--json", "-o"], &[digest, OsStr::from_bytes(b"p\xff")]);
    let excerpt = String::from_utf8(lines(15_000..15_060)).unwrap();
    let found = json_of(&["digest", "find", "--json"], &[digest, OsStr::new(&excerpt)]);
    assert_eq!(found["matches"][0]["file_bytes"], "70ff", "{found}");
    let index = OsStr::from_bytes(b"i\xff");
    let words = ["index", "build", "--json", "--format", "files", "-o"];
    assert_eq!(json_of(&words, &[index, OsStr::from_bytes(b"p\xff")])["file_bytes"], "69ff");
    let found = json_of(&["index", "search", "--json"], &[index, OsStr::new("15000")]);
    assert_eq!(found["rows"][0]["name_bytes"], "70ff", "{found}");
    place.petal("build -o filter keys").quiet();
    assert!(info(Path::new(&place.path("filter")))["file_bytes"].is_null());
}

/// Text of other systems is noticed, with one message that says what helps.
#[test]
fn line_ends_and_marks_are_noticed() {
    let place = Place::new();
    let keys = "alpha\nbeta\ngamma\n";
    let crlf = keys.replace('\n', "\r\n");
    place.file("keys", keys);
    place.file("crlf", &crlf);
    place.file("bom", format!("\u{feff}{keys}"));
    let wide: Vec<u16> = keys.encode_utf16().collect();
    let little: Vec<u8> = wide.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big: Vec<u8> = wide.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    place.file("little", [&b"\xff\xfe"[..], &little].concat());
    place.file("big", [&b"\xfe\xff"[..], &big].concat());
    place.file("little.unmarked", &little);
    place.file("big.unmarked", &big);
    place.petal("build --fpr 1e-9 -o filter keys").quiet();
    for line in
        ["build -o out", "build --kind fuse -o out", "check -c filter", "insert filter", "dedup -q --capacity 9"]
    {
        let run = place.petal(&format!("{line} crlf crlf"));
        let quiet = line.contains("-q");
        let warned = run.stderr.lines().filter(|line| line.contains("crlf: ") && line.contains("--crlf")).count();
        assert_eq!(warned, usize::from(!quiet), "{line}: {run:?}");
        let run = place.petal(&format!("{line} bom"));
        assert_eq!(run.stderr.contains("bom: starts with a byte order mark"), !quiet, "{line}: {run:?}");
        for wide in ["little", "big", "little.unmarked", "big.unmarked"] {
            place.petal(&format!("{line} {wide}")).names(&[wide, "UTF-16", "iconv"]);
        }
    }
    // Where lines end in both ways, both copies of a key would stay without a word.
    let warnings = |line: &str, input: &[u8]| {
        let run = place.petal_on(line, input);
        run.stderr.lines().filter(|line| line.contains("CR and LF") && line.contains("--crlf")).count()
    };
    let many: Vec<u8> = [lines(0..900), b"7\r\n8\r\n9\r\n".to_vec()].concat();
    for mixed in [&b"ann\nann\r\n"[..], b"a\r\na\nb\n", b"a\nb\na\r\nb\r\n", &many] {
        assert_eq!(warnings("dedup --capacity 2000", mixed), 1, "{mixed:?}");
        assert_eq!(warnings("dedup --capacity 2000 --crlf", mixed), 0, "{mixed:?}");
        assert_eq!(warnings("dedup --capacity 2000 -0", mixed), 0, "{mixed:?}");
    }
    // One carriage return among many lines is a byte as others are, and one that is no part of the key is none.
    for (line, input) in [
        ("dedup --capacity 9", &b"a\nb\nc\r\nd\n"[..]),
        ("dedup --capacity 9 -f 1", b"a 1\r\nb 2\r\nc 3\r\n"),
        ("dedup --capacity 9 -f 1 -d ,", b"a,1\r\nb,2\r\nc,3\r\n"),
        ("sketch build --values --capacity 9 -o out", b"a\t1\nb\t2\n"),
    ] {
        assert_eq!(warnings(line, input), 0, "{line}");
    }
    for (line, input) in
        [("dedup --capacity 9 -f 2", &b"a 1\r\nb 2\r\n"[..]), ("dedup --capacity 9 -f 2 -d ,", b"a,\r\n")]
    {
        assert_eq!(warnings(line, input), 1, "{line}");
    }
    // With the option they are the same keys.
    place.petal("build --fpr 1e-9 -o filter keys").quiet();
    assert_eq!(place.petal("check --crlf filter crlf").quiet(), crlf.as_bytes());
    let built = place.petal("build keys").quiet();
    assert_eq!(place.petal("build --crlf crlf").quiet(), built);
    assert_eq!(place.petal("build --crlf keys").quiet(), built);
    place.file("table", "1 alpha\r\n2 beta\r\n3 gamma\r\n");
    assert_eq!(place.petal("build --crlf -f 2 table").quiet(), built);
    assert_eq!(
        place.petal("build --crlf --counts --kind counting table").quiet(),
        place.petal_on("build --counts --kind counting", b"1 alpha\n2 beta\n3 gamma\n").quiet()
    );
    place.file("ids", "a\t1\r\nb\t2\r\n");
    place.petal("map build --crlf -o map ids").quiet();
    assert_eq!(place.petal_on("map get --crlf map", b"a\r\nb\r\n").quiet(), b"a\t1\nb\t2\n");
    place.petal("build -0 --crlf keys").names(&["--crlf", "--null"]);
    // Bytes are bytes with -0.
    place.petal("build -0 -o out crlf").quiet();
    place.petal("build -0 -o out little").quiet();
}

/// Messages say what does not fit, and not only what the filter holds.
#[test]
fn a_full_filter_says_what_did_not_fit() {
    let place = Place::new();
    place.file("keys", lines(0..5000));
    let mut full = 0;
    for row in kinds() {
        let run = place.petal(&format!("build --kind {} --capacity 100 -o filter keys", row.name));
        if run.status == 2 {
            let message = run.trouble();
            assert!(message.starts_with("--capacity 100: ") && message.contains("of the input"), "{message}");
            assert!(message.contains("the 5000 keys") || message.contains("after "), "{message}");
            full += 1;
        }
    }
    assert!(full >= 3, "{full}");
}

/// Filters of files of different lengths do not have one size: the message helps, and each is estimated.
#[test]
fn unlike_sizes_are_explained() {
    let place = Place::new();
    place.file("small", lines(0..1000));
    place.file("large", lines(0..3000));
    place.petal("build -o a small").quiet();
    place.petal("build -o b large").quiet();
    let things = ["a and b: ", "bits", "for 1000", "for 3000", "petal build --capacity 3000 for both"];
    for line in ["merge a b -o c", "intersect b a -o c"] {
        let message = place.petal(line).trouble();
        assert!(things[1..].iter().all(|thing| message.contains(thing)), "{message}");
    }
    let run = place.petal("estimate a b");
    assert_eq!(run.status, 2);
    assert!(things.iter().all(|thing| run.stderr.contains(thing)) && run.stderr.lines().count() == 1, "{run:?}");
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(
        text.lines().any(|line| line.starts_with("a ")) && text.lines().any(|line| line.starts_with("b ")),
        "{text}"
    );
    let run = place.petal("estimate --json a b");
    let pair: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert!((pair["second_count"]["value"].as_f64().unwrap() - 3000.0).abs() < 100.0, "{pair}");
    assert!(pair["union_count"].is_null() && pair["reason"].as_str().unwrap().contains("--capacity 3000"), "{pair}");
    // The remedy works.
    place.petal("build --capacity 3000 -o a small").quiet();
    place.petal("merge a b -o c").quiet();
    place.petal("estimate a b").text();
}
