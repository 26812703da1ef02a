//! Where bytes come from and go to: fields of records, standard input for filters and secrets, compressed input,
//! outputs that are closed, and what is said besides the results.

mod common;

use common::{Place, command, lines};
#[cfg(unix)]
use common::{info, run};
use std::fs;
#[cfg(unix)]
use std::process::Command;
use std::process::Stdio;

#[test]
fn a_field_is_the_key() {
    let place = Place::new();
    let table: String = (0..500).map(|i| format!("  row {i}\tkey-{i} rest of it\n")).collect();
    let commas: String = (0..500).map(|i| format!("{i},key-{i},,x\n")).collect();
    let keys: String = (0..500).map(|i| format!("key-{i}\n")).collect();
    place.file("table", &table);
    place.file("commas", &commas);
    place.file("keys", &keys);
    let expected = place.petal("build keys").quiet();
    assert_eq!(place.petal("build --field 3 table").quiet(), expected);
    assert_eq!(place.petal("build -f 2 -d , commas").quiet(), expected);
    assert_eq!(place.petal("build --field 2 --delimiter , commas").quiet(), expected);
    place.petal("build --fpr 1e-9 -o filter keys").quiet();
    // Whole records come out, and all of them that have a key.
    assert_eq!(place.petal("check -f 3 filter table").quiet(), table.as_bytes());
    assert_eq!(place.petal("check -vc -f 2 filter table").text(), "500\n");
    assert_eq!(
        place.petal_on("check -f 2 -d :: filter", b"a::key-7::b\n::key-1\nkey-2::x\n").quiet(),
        b"a::key-7::b\n::key-1\n"
    );
    assert_eq!(place.petal_on("check -f 2 -d \\t filter", b"a b\tkey-7\tc\n").quiet(), b"a b\tkey-7\tc\n");
    // An empty field is the empty key.
    let run = place.petal_on("dedup --capacity 10 -f 3 -d ,", b"a,b,,1\nc,d,,2\ne,f,g\n");
    assert_eq!(run.stdout, b"a,b,,1\ne,f,g\n");
    // The last field, and the only one.
    assert_eq!(place.petal_on("dedup -q --capacity 10 -f 1", b" a \na\nb a\n").quiet(), b" a \nb a\n");
    let nul = place.petal_on("check -0 -f 2 filter", b"x key-3\0\nkey-4 key-3\0").quiet();
    assert_eq!(nul, b"x key-3\0\nkey-4 key-3\0");
}

#[test]
fn a_missing_field_is_trouble() {
    let place = Place::new();
    place.file("table", b"a 1\nb 2\nc\nd 4\n");
    for line in ["build -f 2 -o out table", "dedup --capacity 10 -f 2 table", "build -f 2 -d , -o out table"] {
        let run = place.petal(line);
        let record = if line.contains(',') { "record 1 " } else { "record 3 " };
        assert_eq!(run.status, 2);
        assert!(run.stderr.contains("table: ") && run.stderr.contains(record), "{run:?}");
        assert!(run.stderr.contains("no field 2"), "{run:?}");
    }
    assert!(!place.path("out").exists());
    // The number of the record goes on from batch to batch.
    let long: String = (0..5000).map(|i| format!("{i} x\n")).chain([String::from("alone\n")]).collect();
    place.petal_on("build --capacity 10k -f 2 -o out", long.as_bytes()).names(&["standard input", "record 5001 "]);
    place.petal_on("build --capacity 10k -f 2 -o out", b"\n").names(&["record 1 "]);
}

#[test]
fn a_filter_and_a_secret_may_come_from_standard_input() {
    let place = Place::new();
    place.file("keys", lines(0..1000));
    place.file("secret", b"0123456789abcdef");
    place.petal("build -o filter keys").quiet();
    let filter = fs::read(place.path("filter")).unwrap();
    for line in ["info", "verify", "estimate", "check -c"] {
        let (named, streamed) = match line {
            "check -c" => (place.petal("check -c filter keys"), place.petal_on("check -c - keys", &filter)),
            _ => (place.petal(&format!("{line} filter")), place.petal_on(&format!("{line} -"), &filter)),
        };
        let streamed = streamed.text();
        let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<String>>();
        assert_eq!(words(&streamed.replace("standard input", "filter")), words(&named.text()), "{line}");
    }
    assert_eq!(place.petal_on("merge - filter", &filter).quiet(), place.petal("merge filter filter").quiet());
    place.petal_on("fold --fpr 0.9 -", &filter);
    let keyed = place.petal_on("build --secret-file - keys", b"0123456789abcdef").quiet();
    assert_eq!(keyed, place.petal("build --secret-file secret keys").quiet());
    // What is no filter, or not a whole one, or more.
    place.petal_on("info -", b"x").names(&["standard input", "Petal"]);
    place.petal_on("verify -", &filter[..300]).names(&["standard input"]);
    place.petal_on("verify -", &[&filter[..], b"x"].concat()).names(&["standard input", "follow"]);
    let mut flipped = filter.clone();
    flipped[300] ^= 1;
    place.petal_on("verify -", &flipped).names(&["standard input"]);
    // Only one thing can come from there, and a file is needed to change one.
    for line in
        ["check -", "check - -", "info - -", "merge - - -o x", "build --secret-file -", "check --secret-file - -"]
    {
        place.petal_on(line, &filter).names(&["standard input (-) can be read only once"]);
    }
    for line in ["insert - keys", "mark-clean -"] {
        place.petal_on(line, &filter).names(&["-", "file"]);
    }
}

#[test]
fn compressed_input_is_named() {
    let place = Place::new();
    place.file("keys", lines(0..1000));
    place.petal("build -o filter keys").quiet();
    // The first bytes as each program writes them.
    let cases: [(&str, &[u8]); 5] = [
        ("gzip", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00"),
        ("zstd", b"\x28\xb5\x2f\xfd\x24\x00\x01\x00\x00\x99\xe9\xd8\x51"),
        ("xz", b"\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4\x46\n\x00\x00"),
        ("bzip2", b"BZh91AY&SY\xc1\xc0\x80\xe2\n\x00\x00"),
        ("bzip2", b"BZh9\x17\x72\x45\x38\x50\x90\x00\x00\x00\x00"),
    ];
    for (tool, bytes) in cases {
        place.file("packed", bytes);
        for line in ["build packed", "build --capacity 10 packed", "check filter packed", "insert filter keys packed"] {
            place.petal(line).names(&["packed: ", tool, &format!("{tool} -dc packed | petal")]);
        }
        place.petal_on("dedup --capacity 10", bytes).names(&["standard input", tool]);
        // What is no key: images of all handles, bytes of other systems, and lines of an index.
        for line in [
            "info packed",
            "check packed keys",
            "check - keys",
            "verify packed",
            "insert packed keys",
            "merge packed filter",
            "map get packed keys",
            "sketch list packed",
            "digest find packed text",
            "index info packed",
            "import guava packed",
            "unpack packed",
            "patch filter packed",
            "index build -o out packed",
            "index build --format fps -o out packed",
            "index build --format terms -o out packed",
        ] {
            let input = if line.contains(" - ") { bytes } else { b"" };
            let said = if line.contains(" - ") { "standard input: " } else { "packed: " };
            place.petal_on(line, input).names(&[said, &format!("is compressed by {tool}"), &format!("{tool} -dc")]);
        }
    }
    // Bytes that only begin like a compressed file are keys.
    for keys in [&b"BZh9 is no block\n"[..], b"BZh\n", b"\x1f\x8b\n", b"x\x1f\x8b\x08\n"] {
        assert_eq!(place.petal_on("dedup -q --capacity 10", keys).quiet(), keys);
    }
}

#[test]
fn quiet_leaves_only_results_and_errors() {
    let place = Place::new();
    place.file("keys", lines(0..1000));
    place.petal("build -q --capacity 100 -o filter keys").quiet();
    place.petal("insert --quiet filter keys").quiet();
    assert_eq!(place.petal("-q dedup --capacity 100 keys").quiet(), place.petal("dedup --capacity 100 keys").stdout);
    assert_eq!(place.petal("verify -q filter").text(), "");
    assert_eq!(place.petal("check -qc filter keys").text(), "1000\n");
    assert_eq!(place.petal("-q info filter").quiet(), place.petal("info filter").quiet());
    place.petal("verify -q nowhere").names(&["nowhere"]);
    place.petal("build -q --capacity 1 --set x=1 keys").names(&["x=1"]);
    // The answer is the exit status, and comes with the first key.
    assert_eq!(place.petal_on("check -q filter", b"1\n").quiet(), b"");
    assert_eq!(place.petal_on("check -vq filter", b"1\n").status, 1);
    let mut child = command().args(["check", "-q"]).arg(place.path("filter")).stdin(Stdio::piped()).spawn().unwrap();
    let mut endless = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut endless, b"1\n").unwrap();
    assert!(child.wait().unwrap().success());
}

/// Runs a line of shell in `place`, in which `petal` is the command.
#[cfg(unix)]
fn shell(place: &Place, line: &str) -> common::Run {
    let script = format!("petal() {{ \"$PETAL\" \"$@\"; }}; {line}");
    run(
        Command::new("sh").args(["-c", &script]).env("PETAL", env!("CARGO_BIN_EXE_petal")).current_dir(place.folder()),
        b"",
    )
}

#[test]
#[cfg(unix)]
fn what_is_closed_is_no_empty_file() {
    let place = Place::new();
    place.file("keys", lines(0..1000));
    place.petal("build -o filter keys").quiet();
    let outputs = [
        "info filter",
        "verify filter",
        "build keys",
        "check filter keys",
        "check -c filter keys",
        "dedup --capacity 10 keys",
        "kinds",
        "plan --keys 10 --fpr 0.1",
        "estimate filter",
        "merge filter filter",
        "build --json -o other keys",
        "insert --json filter keys",
        "help",
        "--version",
    ];
    for line in outputs {
        shell(&place, &format!("petal {line} >&-")).names(&["standard output: Bad file descriptor"]);
    }
    assert!(!place.path("other").exists());
    assert_eq!(info(&place.path("filter"))["insertions"], 1000);
    for line in ["build --capacity 10 -o other", "dedup --capacity 10", "check filter", "info -", "insert filter -"] {
        shell(&place, &format!("petal {line} <&-")).names(&["standard input: Bad file descriptor"]);
    }
    assert!(!place.path("other").exists());
    // A command that needs neither is not troubled, and messages that nobody hears are no trouble.
    shell(&place, "petal build -o other keys <&- >&-").quiet();
    shell(&place, "petal info filter </dev/null >/dev/null").quiet();
    assert_eq!(shell(&place, "petal dedup --capacity 10 keys 2>&- >/dev/null").status, 0);
    assert_eq!(shell(&place, "petal info nowhere 2>&-").status, 2);
}

/// What cannot be replaced is written to; and names are bytes.
#[test]
#[cfg(unix)]
fn filters_go_through_pipes() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    place.file("keys", lines(0..1000));
    let filter = place.petal("build keys").quiet();
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().expect("mkfifo").success());
    let streamed = shell(&place, "cat pipe & petal build -o pipe keys; wait").quiet();
    assert_eq!(streamed, filter);
    place.petal("build -o /dev/null keys").quiet();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    let name = std::ffi::OsStr::from_bytes(b"\xff.petal");
    fs::write(place.folder().join(name), &filter).unwrap();
    let verified = command().arg("verify").arg(name).current_dir(place.folder()).output().unwrap();
    assert_eq!(verified.stdout, b"\xff.petal: OK\n");
}

/// A long key needs its own length of memory, once, and little more.
#[test]
#[cfg(target_os = "linux")]
fn a_long_record_is_in_memory_once() {
    let place = Place::new();
    let length = 70 << 20;
    place.file("keys", [vec![b'x'; length], b"\nshort\n".to_vec()].concat());
    let limited = |mebibytes: usize, line: &str| shell(&place, &format!("ulimit -v {}; {line}", mebibytes << 10));
    // Whoever doubles the buffer comes to 128 MiB.
    limited(112, "petal build -o filter keys").quiet();
    assert_eq!(info(&place.path("filter"))["insertions"], 2);
    assert_eq!(limited(112, "petal check -c filter keys").text(), "2\n");
    assert_eq!(limited(112, "petal dedup -q --capacity 2 keys").quiet().len(), length + 7);
    limited(60, "petal build --capacity 2 keys").names(&["keys: a record longer than ", "out of memory"]);
}
