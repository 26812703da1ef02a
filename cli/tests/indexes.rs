//! `petal index`: fingerprints that are similar, documents that have terms, and files that have a text.

mod common;

use common::{Place, info};

/// Fingerprints of 70 bits: 9 bytes, of which the last has 6 bits.
const FPS: &str = "#FPS1\n#num_bits=70\n#software=other/1\n\
    ff0000000000000000\tone\n0f0000000000000000\ttwo\textra\n\
    ff000000000000003f\tthree four\n000000000000000000\tnone\n";

/// Fingerprints are found by similarity, by their bits, and come out as they went in.
#[test]
fn fingerprints() {
    let place = Place::new();
    place.file("in.fps", FPS);
    place.petal("index build -o a.index in.fps").quiet();
    place.petal("verify a.index").text();
    place.petal("check a.index in.fps").names(&["is an index of the kind index, not a filter"]);
    let near = place.petal("index search --at-least 0.5 a.index ff0000000000000000").text();
    assert_eq!(near, "one\t1\nthree four\t0.5714285714285714\ntwo\t0.5\n");
    assert_eq!(place.petal("index top -k 1 a.index 070000000000000000").text(), "two\t0.75\n");
    let weights = "index top -k 1 --measure tversky:1,0 a.index 070000000000000000";
    assert_eq!(place.petal(weights).text(), "one\t1\n");
    let mut all: Vec<String> =
        place.petal("index search a.index 0F0000000000000000").text().lines().map(str::to_owned).collect();
    all.sort();
    assert_eq!(all, ["one", "three four", "two"]);
    assert_eq!(place.petal("index search a.index 000000000000000001 -q").status, 0);
    assert_eq!(place.petal("index search a.index 000000000000000100").status, 1);

    // Queries of a file keep their names, in both formats.
    place.file("q.hex", "ff000000000000003f\tq\n000000000000000020\n");
    let both = place.petal("index search --queries q.hex a.index").text();
    assert_eq!(both, "q\tthree four\n2\tthree four\n");
    place.file("q.fps", "#FPS1\n#num_bits=70\nff000000000000003f\tx\n");
    assert_eq!(place.petal("index top -k 1 --queries q.fps a.index").text(), "three four\t1\n");

    let said = info(&place.path("a.index"));
    assert_eq!((&said["kind"], &said["parameters"]["width"]), (&"index".into(), &70.into()));
    let text = place.petal("index info a.index").text();
    assert!(text.contains("4 of at most 4") && text.contains("70 bits, 6.500 set on average"), "{text}");
    let json = place.petal("index info --json a.index").text();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["rows"], &json["names"], &json["contents"]), (&4.into(), &4.into(), &"fingerprints".into()));

    // Digits have no byte order mark before them, so that one is skipped, in both formats and in queries.
    place.file("bom.fps", format!("\u{feff}{FPS}"));
    place.petal("index build -o bom.index bom.fps").quiet();
    assert_eq!(place.petal("index export bom.index").text(), place.petal("index export a.index").text());
    place.file("bom.hex", "\u{feff}ff000000000000003f\tq\n");
    assert_eq!(place.petal("index search --queries bom.hex bom.index").text(), "three four\n");
    // Rows come in the order of the input, though the index keeps those with few bits first.
    assert_eq!(place.petal("index search a.index 0F0000000000000000").text(), "one\ntwo\nthree four\n");

    // What comes out goes in again.
    let fps = place.petal("index export a.index").text();
    assert!(fps.starts_with("#FPS1\n#num_bits=70\n#software=petal/"), "{fps}");
    place.file("out.fps", &fps);
    place.petal("index build -o b.index out.fps").quiet();
    assert_eq!(place.petal("index export b.index").text(), fps);
    let mut lines: Vec<&str> = fps.lines().skip(3).collect();
    lines.sort_unstable();
    let expected = ["000000000000000000\tnone", "0f0000000000000000\ttwo", "ff0000000000000000\tone"];
    assert_eq!((&lines[..3], lines.len()), (&expected[..], 4));

    // Without names rows have numbers, from 0 on.
    place.file("in.hex", "ff00000000000000\r\n00ff000000000000\n");
    let made = place.petal("index build --json --not-nesting -o c.index in.hex").text();
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    assert_eq!((&made["rows"], &made["width"]), (&2.into(), &64.into()));
    assert_eq!(place.petal("index top c.index 0fff000000000000").text(), "1\t0.6666666666666666\n0\t0.25\n");
    place.petal("index search c.index ff00000000000000").names(&["c.index", "nesting = no"]);
}

/// Documents have their terms, and an answer has every document that has all of them.
#[test]
fn documents() {
    let place = Place::new();
    let mut text = String::new();
    for i in 0..2_000 {
        text += &format!("doc {i}\tn{}\tm{}\tk{i}\teach\t\n", i % 10, i % 7);
    }
    place.file("docs.tsv", &text);
    place.petal("index build --format terms --fpr 0.0001 -o d.index docs.tsv").quiet();
    let found = place.petal("index search d.index n3 m4").text();
    let expected = (0..2_000).filter(|i| i % 10 == 3 && i % 7 == 4);
    let expected: Vec<String> = expected.map(|i| format!("doc {i}")).collect();
    let found: Vec<&str> = found.lines().collect();
    assert!(expected.iter().all(|name| found.contains(&&**name)));
    assert!(found.len() <= expected.len() + 3, "{} of {}", found.len(), expected.len());
    assert_eq!(place.petal("index search d.index each").text().lines().count(), 2_000);
    assert_eq!(place.petal("index search -q d.index absent-term another third").status, 1);
    let json = place.petal("index search --json d.index k77").text();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let rate = json["rate"].as_f64().unwrap();
    assert!((1e-9..1e-4).contains(&rate), "{rate}");
    assert!(json["rows"].as_array().unwrap().iter().any(|row| row["name"] == "doc 77" && row["id"] == 77));
    // Queries of a file are lines of terms.
    place.file("queries", "k5\nk6\teach\n");
    let text = place.petal("index search --queries queries d.index").text();
    assert!(text.contains("1\tdoc 5\n") && text.contains("2\tdoc 6\n"), "{text}");
}

/// Any number of documents makes an index, also one that fills the last line of every column.
#[test]
fn any_number_of_documents() {
    let place = Place::new();
    for documents in [1, 511, 512, 513, 1024, 1025] {
        place.file("docs.tsv", (0..documents).map(|i| format!("doc {i}\tn{}\teach\n", i % 9)).collect::<String>());
        place.petal("index build --format terms -o d.index docs.tsv").quiet();
        assert_eq!(place.petal("index search d.index each").text().lines().count(), documents);
    }
}

/// Every file that has a text is found, in folders too.
#[test]
fn files() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("tree/b")).unwrap();
    for i in 0..40 {
        let lines: String = (0..50).map(|j| format!("line {} of file {i}\n", j * i)).collect();
        place.file(&format!("tree/{}{i}", if i % 2 == 0 { "b/" } else { "" }), lines);
    }
    place.file("tree/short", "ab");
    place.petal("index build --format files --grams 5 -o t.index tree").quiet();
    let found = place.petal_with(&["index", "search", "t.index", "of file 17", "line 1519 of"]);
    assert_eq!(found.status, 0);
    let found = found.text();
    assert!(found.contains("of file 17\ttree/17\n") && found.contains("line 1519 of\ttree/31\n"), "{found}");
    assert!(found.lines().count() < 12, "{found}");
    place.file("texts", "of file 8\nnowhere at all\n");
    let found = place.petal("index search --queries texts t.index").text();
    assert!(found.contains("of file 8\ttree/b/8\n"), "{found}");
    place.petal("index search t.index abcd").names(&["abcd", "shorter than the sequences"]);
}

/// What is wrong is said in a line, with the line's number.
#[test]
fn what_is_wrong_is_said() {
    let place = Place::new();
    place.file("good.hex", "00ff000000000000\ta\n");
    place.petal("index build -o good.index good.hex").quiet();
    place.petal("build -o filter.petal good.hex").quiet();
    for (input, options, things) in [
        ("#FPS1\n#num_bits=x\n", "", &["in: line 2: num_bits is no positive number"][..]),
        ("#FPS1\n#num_bits=16\n00\ta\n", "", &["line 3: a fingerprint of 1 bytes where 16 bits are 2"]),
        ("#FPS1\n#num_bits=12\n00f0\ta\n", "", &["line 3: a bit is set after the last of 12"]),
        ("#FPS1\n00ff00ff00ff00ff\n", "", &["line 2: a tab and a name are missing"]),
        ("#FPS1\n00ff00ff00ff00ff\ta\n#x\n", "", &["line 3: a line of the header"]),
        ("00ff00ff00ff00ff\n00ff00ff00ff\n", "", &["line 2: a fingerprint of 6 bytes where 64 bits are 8"]),
        ("00fg\n", "", &["line 1: the fingerprint is no even number"]),
        ("\n", "", &["line 1: the fingerprint is empty"]),
        ("00\ta\tb\n", "", &["line 1: there is more than"]),
        ("00ff00ff00ff00ff\n", "--format fps", &["line 1: the format fps begins with a line #FPS1"]),
        ("", "--format fps", &["#FPS1"]),
        ("00ff00ff00ff00ff\n", "--width 128", &["line 1: a fingerprint of 8 bytes where 128 bits are 16"]),
        ("00ff00ff00ff00ff\n", "--fpr 0.1", &["--fpr is for documents"]),
        ("\tterm\n", "--format terms", &["line 1: the document has no name"]),
        ("a\tterm\n", "--format terms --not-nesting", &["--not-nesting is for fingerprints"]),
        ("a\tterm\n", "--format terms --fpr 2", &["2"]),
        ("00ff00ff00ff00ff\n", "--set width=64", &["--set width: comes from the input"]),
        ("00ff00ff00ff00ff\n", "--set widths=64", &["widths"]),
    ] {
        place.file("in", input);
        place.petal(&format!("index build {options} -o out.index in")).names(things);
        assert!(!place.path("out.index").exists(), "{input:?}");
    }
    for (line, things) in [
        ("index search good.index", &["no query was given"][..]),
        ("index search good.index 0", &["0: is no even number of hexadecimal digits"]),
        ("index search good.index 00", &["a fingerprint of 1 bytes where 64 bits are 8 bytes"]),
        ("index search --at-least 2 good.index 00ff000000000000", &["2"]),
        ("index search --measure dice good.index 00ff000000000000", &["--measure needs --at-least"]),
        ("index top --measure other good.index 00ff000000000000", &["--measure other: is not tanimoto"]),
        ("index top --measure tversky:1,x good.index 00ff000000000000", &["the weights are no numbers"]),
        ("index top --measure tversky:1,-1 good.index 00ff000000000000", &["-1"]),
        ("index info filter.petal", &["not of index"]),
        ("index info absent", &["absent"]),
        ("index build -o good.hex good.hex", &["is one of the FILES too"]),
    ] {
        place.petal(line).names(things);
    }
}
