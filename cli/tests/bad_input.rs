//! What bad input gets: exit status 2, one line that names what was wrong, and nothing written.

mod common;

use common::{Place, info, lines};
use petal::{HashFunction, Spec};
use std::fs;

/// A folder with 100 keys, and a filter of them.
fn place() -> Place {
    let place = Place::new();
    place.file("keys", lines(0..100));
    place.petal("build -o filter keys").quiet();
    place
}

#[test]
fn wrong_usage_is_one_line() {
    let place = place();
    let before = place.names();
    let cases: &[(&str, &[&str])] = &[
        ("--json", &["subcommand"]),
        ("frobnicate", &["frobnicate"]),
        ("chek filter keys", &["chek", "'check'"]),
        ("build --capcity 10 keys", &["--capcity", "'--capacity'"]),
        ("build --frobnicate", &["--frobnicate"]),
        ("build --fpr", &["--fpr"]),
        ("check", &["FILE"]),
        ("dedup --kind bloom keys", &["bloom", "--capacity"]),
        ("dedup --capacity 10 --window 10 keys", &["--capacity", "--window"]),
        ("fold filter -o out", &["--fpr"]),
        ("resize filter -o out", &["--capacity"]),
        ("plan --fpr 0.1", &["--keys"]),
        ("plan --keys 10 --fpr 0.1 --memory 1k", &["--fpr", "--memory"]),
        ("merge filter -o out", &["FILTER"]),
        ("estimate", &["FILE"]),
        ("check --delimiter , filter keys", &["--field"]),
        ("check --field 0 filter keys", &["--field", "at least 1"]),
        ("check --json filter keys", &["--json", "--count"]),
        ("build --json keys", &["--json", "-o FILE"]),
        ("kinds more", &["more"]),
        ("build --fpr 0.1 --fpr 0.2 keys", &["--fpr", "multiple"]),
    ];
    for (line, things) in cases {
        place.petal(line).names(things);
    }
    assert_eq!(place.names(), before);
    place.petal("plan --fpr 0.1").names(&["petal plan --help"]);
    // Without arguments the command says what it can do.
    let run = place.petal("");
    assert_eq!((run.status, run.stdout.len()), (2, 0));
    assert!(run.stderr.contains("Usage: petal") && run.stderr.contains("  check "), "{run:?}");
}

#[test]
fn values_are_named_with_what_is_allowed() {
    let place = place();
    let kinds: Vec<&str> = petal::registry::FILTERS.iter().map(|row| row.name).collect();
    let cases: &[(&str, &[&str])] = &[
        ("--fpr 0", &["--fpr", "'0'", "greater than 0 and less than 1"]),
        ("--fpr 1", &["--fpr", "'1'", "less than 1"]),
        ("--fpr nan", &["--fpr", "nan", "less than 1"]),
        ("--fpr inf", &["--fpr", "inf"]),
        ("--fpr -0.5", &["--fpr", "'-0.5'"]),
        ("--fpr=-0.5", &["--fpr", "-0.5"]),
        ("--fpr x", &["--fpr", "'x'"]),
        ("--kind nonsense", &["--kind", "nonsense", kinds[0], kinds[kinds.len() - 1]]),
        ("--hash md5", &["--hash", "md5", "xxh3", "xxh64", "siphash13"]),
        ("--capacity -1", &["--capacity", "'-1'", "whole number"]),
        ("--capacity 0", &["--capacity", "'0'", "at least 1"]),
        ("--capacity 1.5", &["--capacity", "1.5", "whole number"]),
        ("--capacity 1x", &["--capacity", "1x"]),
        ("--capacity 99999999999999999999", &["--capacity", "18446744073709551615"]),
        ("--bits 0", &["--bits", "at least 1"]),
        ("--threads 1e9", &["--threads", "'1e9'", "from 1 to 1024"]),
        ("--threads -1", &["--threads", "'-1'"]),
        ("--bits 1000 --hashes 0", &["--hashes", "0"]),
        ("--bits 1000 --hashes 1e10", &["--hashes", "'1e10'", "4294967295"]),
        ("--kind bloom --bits 1000 --hashes 1000", &["hashes = 1000", "64"]),
        ("--bits 1000", &["bits = 1000", "512"]),
        ("--bits 1024 --hashes 17", &["hashes = 17", "16"]),
        ("--kind bloom --bits 16E --hashes 3", &["bits = 16000000000000000000"]),
        ("--bits-per-key 0", &["--bits-per-key", "greater than 0"]),
        ("--bits-per-key 1e300", &["--bits-per-key"]),
        ("--seed x", &["--seed", "'x'", "0x"]),
        ("--set nonsense", &["--set nonsense", "NAME=VALUE"]),
        ("--set nonsense=1", &["--set nonsense=1", "not a parameter of any kind"]),
        ("--kind bloom --set partitioned=2", &["--set partitioned=2", "0 to 1"]),
        ("--kind bloom --set partitioned=0.5", &["--set partitioned=0.5", "whole number"]),
        ("--kind bloom --set partitioned=yes", &["--set partitioned=yes", "whole number from 0 to 1"]),
        ("--kind bloom --set derivation=nonsense", &["--set derivation=nonsense", "remix"]),
        ("--kind split_block --set partitioned=1", &["split_block", "partitioned", "bloom"]),
        ("--set derivation=double", &["blocked", "derivation", "bloom"]),
        ("--set foldable=0 --set foldable=1", &["--set foldable=1", "twice"]),
        ("--kind split_block --bits 1000", &["bits = 1000", "256"]),
        ("--capacity 10000000000000000000 --fpr 1e-9", &["10000000000000000000", "1e-9"]),
    ];
    let before = place.names();
    for (options, things) in cases {
        place.petal(&format!("build {options} -o out keys")).names(things);
    }
    place.petal("plan --keys 0 --fpr 0.1").names(&["--keys", "at least 1"]);
    place.petal("plan --keys 1k --memory 0").names(&["--memory", "at least 1"]);
    place.petal("plan --keys 1k --memory 64MXB").names(&["--memory", "64MXB", "64MiB"]);
    place.petal("dedup --capacity 10 --fpr 2 keys").names(&["--fpr", "2"]);
    place.petal("fold filter --fpr 0 -o out").names(&["--fpr", "0"]);
    place.petal("resize filter --capacity 0 -o out").names(&["--capacity", "0"]);
    // More than memory, but not more than the address space.
    place.petal("build --bits 4Ei --hashes 1 -o out keys").names(&["could not be had"]);
    assert_eq!(place.names(), before);
}

#[test]
fn contradictions_are_refused() {
    let place = place();
    place.file("secret", b"0123456789abcdef");
    let cases: &[(&str, &[&str])] = &[
        ("--fpr 0.1 --bits 1000", &["--fpr", "--bits"]),
        ("--fpr 0.1 --bits-per-key 8", &["--fpr", "--bits-per-key"]),
        ("--bits 1000 --bits-per-key 8", &["--bits", "--bits-per-key"]),
        ("--hashes 3", &["--bits"]),
        ("--fpr 0.1 --hashes 3", &["--hashes"]),
        ("--bits 1024 --set foldable=1", &["foldable", "bits = 1024"]),
        ("--hash siphash13", &["--hash siphash13", "--secret-file"]),
        ("--hash xxh3 --secret-file secret", &["--secret-file", "xxh3"]),
        ("--seed 7 --secret-file secret", &["seed = 7"]),
        ("--hash external", &["--hash external", "bytes"]),
    ];
    let before = place.names();
    for (options, things) in cases {
        place.petal(&format!("build {options} -o out keys")).names(things);
    }
    assert_eq!(place.names(), before);
}

#[test]
fn secret_keys_have_one_length() {
    let place = place();
    for (name, content) in [("short", &b"0123456789abcde"[..]), ("long", b"0123456789abcdefg"), ("none", b"")] {
        place.file(name, content);
        place.petal(&format!("build --secret-file {name} -o out keys")).names(&[
            "--secret-file",
            name,
            "16 bytes",
            "32",
        ]);
    }
    place.file("letters", b"zz303132333435363738396162636465");
    place.petal("check --secret-file letters filter keys").names(&["--secret-file letters", "16 bytes"]);
    // No secret at all.
    for (name, content) in [("zeros", &[0; 16][..]), ("digits", &[b'0'; 32])] {
        place.file(name, content);
        place.petal(&format!("build --secret-file {name} -o out keys")).names(&["--secret-file", name, "all zeros"]);
    }
    place.petal("build --secret-file nowhere -o out keys").names(&["--secret-file nowhere"]);
    place.file("secret", b"0123456789abcdef");
    place.petal("check --secret-file secret filter keys").names(&["filter", "secret key"]);
    assert!(!place.path("out").exists());
}

#[test]
fn files_that_are_no_filters() {
    let place = place();
    let bytes = fs::read(place.path("filter")).unwrap();
    let mut newer = bytes.clone();
    newer[8] = 99;
    let mut flipped = bytes.clone();
    flipped[40] ^= 1;
    let cases: [(&str, &[u8]); 7] = [
        ("foreign", b"not a filter at all\n"),
        ("empty", b""),
        ("header", &bytes[..100]),
        ("truncated", &bytes[..bytes.len() - 1]),
        ("longer", &[&bytes[..], b"x"].concat()),
        ("newer", &newer),
        ("flipped", &flipped),
    ];
    for (name, content) in cases {
        let path = place.file(name, content);
        let lines = [
            "check F keys",
            "insert F keys",
            "info F",
            "info --json F",
            "verify F",
            "merge filter F -o out",
            "merge F filter -o out",
            "intersect filter F -o out",
            "fold F --fpr 0.5 -o out",
            "resize F --capacity 1k -o out",
            "estimate F filter",
        ];
        for line in lines {
            place.petal(&line.replace('F', name)).names(&[name]);
        }
        assert_eq!(fs::read(path).unwrap(), content, "{name} was changed");
    }
    for line in ["check", "info", "verify", "insert"] {
        place.petal(&format!("{line} nowhere")).names(&["nowhere"]);
        place.petal(&format!("{line} .")).trouble();
    }
    assert!(!place.path("out").exists());
}

#[test]
fn every_flip_of_the_header_is_noticed() {
    let place = place();
    let bytes = fs::read(place.path("filter")).unwrap();
    for position in 0..256 {
        let mut flipped = bytes.clone();
        flipped[position] ^= 0x04;
        place.file("flipped", &flipped);
        place.petal("verify flipped").names(&["flipped"]);
    }
}

#[test]
fn unlike_filters_are_not_combined() {
    let place = place();
    place.file("secret", b"0123456789abcdef");
    let others = [
        ("--kind split_block", "kind"),
        ("--capacity 200", "bits"),
        ("--bits 2048 --hashes 5", "bits"),
        ("--seed 1", "seed"),
        ("--hash xxh64", "hash"),
        ("--secret-file secret", "hash"),
        ("--kind bloom", "kind"),
    ];
    for (options, difference) in others {
        place.petal(&format!("build {options} -o other keys")).quiet();
        for line in ["merge filter other -o out", "intersect other filter -o out"] {
            place.petal(line).names(&["filter", "other", difference]);
        }
        let estimate = place.petal("estimate filter other");
        assert_eq!((estimate.status, estimate.stderr.lines().count()), (2, 1), "{estimate:?}");
        assert!(estimate.stderr.contains("filter and other: ") && estimate.stderr.contains(difference), "{estimate:?}");
    }
    assert!(!place.path("out").exists());
}

#[test]
fn external_hashes_take_no_bytes() {
    let place = place();
    let spec = Spec { hash: HashFunction::External, ..Spec::with_capacity(100, 0.01).unwrap() };
    let mut filter = petal::Filter::new(&spec).unwrap();
    filter.insert_hash(42).unwrap();
    filter.save(&place.path("external")).unwrap();
    place.petal("check external keys").names(&["external", "hashes only"]);
    place.petal("insert external keys").names(&["external", "hashes only"]);
    place.petal("verify external").quiet();
    assert_eq!(info(&place.path("external"))["hash"], "external");
    assert_eq!(info(&place.path("external"))["insertions"], 1);
}

#[test]
fn a_filter_that_was_not_closed_says_so() {
    let place = place();
    let mut bytes = fs::read(place.path("filter")).unwrap();
    let state = petal::format::STATE_OFFSET;
    bytes[state..state + 5].copy_from_slice(b"DIRTY");
    place.file("unclean", &bytes);
    let lines = [
        "insert unclean keys",
        "verify unclean",
        "merge filter unclean -o out",
        "fold unclean --fpr 0.9 -o out",
        "resize unclean --capacity 1k -o out",
        "estimate unclean filter",
    ];
    for line in lines {
        place.petal(line).names(&["unclean", "not closed", "build it again", "petal help mark-clean"]);
    }
    assert_eq!(fs::read(place.path("unclean")).unwrap(), bytes);
    // It can still be asked and described.
    let check = place.petal("check -c unclean keys");
    assert_eq!((check.status, &check.stdout[..]), (0, &b"100\n"[..]));
    assert!(check.stderr.starts_with("petal: warning: unclean: "), "{check:?}");
    assert!(place.petal("info unclean").text().contains("a writer has it open"));
    assert_eq!(info(&place.path("unclean"))["unclean"], true);
    assert!(!place.path("out").exists());
}

#[test]
fn a_second_writer_is_kept_out() {
    let place = place();
    let options = petal::OpenOptions { mode: petal::Mode::Write, ..petal::OpenOptions::default() };
    let writer = petal::open(&place.path("filter"), &options).unwrap();
    place.petal("insert filter keys").names(&["filter", "writing"]);
    drop(writer);
    place.petal("insert filter keys").quiet();
}

#[test]
fn inputs_that_cannot_be_read() {
    let place = place();
    fs::create_dir(place.path("folder")).unwrap();
    let before = fs::read(place.path("filter")).unwrap();
    for keys in ["nowhere", "folder", "keys nowhere", "- -"] {
        for line in ["build --capacity 10 -o out", "check filter", "insert filter", "dedup --capacity 10"] {
            let last = keys.split(' ').next_back().unwrap().replace('-', "standard input");
            place.petal(&format!("{line} {keys}")).names(&[&last]);
        }
    }
    assert_eq!(fs::read(place.path("filter")).unwrap(), before);
    assert_eq!(place.names(), ["filter", "folder", "keys"]);
}

#[test]
fn outputs_that_cannot_be_written() {
    let place = place();
    fs::create_dir(place.path("folder")).unwrap();
    place.petal("build -o nowhere/out keys").names(&["nowhere/out"]);
    place.petal("build -o folder keys").names(&["folder", "directory"]);
    place.petal("build -o keys/out keys").names(&["keys/out"]);
    place.petal("merge filter filter -o folder").names(&["folder"]);
    place.petal("fold filter --fpr 0.9 -o nowhere/out").names(&["nowhere/out"]);
    assert_eq!(place.names(), ["filter", "folder", "keys"]);
}

#[test]
fn messages_begin_with_the_file() {
    let place = place();
    place.file("e", b"no filter");
    assert_eq!(place.petal("verify e").trouble(), "e: the bytes do not start like a Petal image");
    place.petal("info e").names(&["e: the bytes do not start like a Petal image; ", "--format F", "petal formats"]);
    assert_eq!(place.petal("info nowhere").trouble(), "nowhere: the file does not exist (error 2)");
    assert_eq!(place.petal("verify .").trouble(), ".: is a directory");
}
