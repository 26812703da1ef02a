//! What is done with finished filters: `info`, `verify`, `merge`, `intersect`, `fold`, `resize`, `estimate`; and
//! `kinds`, `plan` and the generated documents.

mod common;

use clap::CommandFactory;
use common::{NOTHING, Place, able, info, kinds, lines, petal};
use petal::Capabilities as Can;
use petal::registry;
use serde_json::Value;
use std::fs;
use std::process::Command;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// Excluded keys are not in the filter, and a key on both sides is named.
#[test]
fn build_excludes_keys() {
    let place = Place::new();
    let keys = |is_wanted: fn(u32) -> bool| -> Vec<u8> {
        (0..20_000).filter(|key| is_wanted(*key)).flat_map(|key| format!("{key}\n").into_bytes()).collect()
    };
    place.file("members", keys(|key| key % 50 == 0));
    place.file("some", keys(|key| key % 50 != 0 && key < 7000));
    place.file("others", keys(|key| key % 50 != 0 && key >= 7000));
    place.file("all", keys(|_| true));
    place.petal("build --exclude some --exclude others -o set members").quiet();
    assert_eq!(place.petal("check --count set all").text(), "400\n");
    assert_eq!(place.petal("check --count set members").text(), "400\n");
    let info = json(&place.petal("info --json set").text());
    assert_eq!((info["kind"].as_str(), info["insertions"].as_u64()), (Some("exact_set"), Some(400)));
    // A pipe, a rate for non-members, threads and a limit.
    place
        .petal_on(
            "build --exclude - --fpr 0.001 --threads 2 --memory-limit 1MiB -o rare members",
            &keys(|key| key % 50 != 0),
        )
        .quiet();
    assert_eq!(place.petal("check --count rare all").text(), "400\n");
    for (line, message) in [
        ("build --exclude all -o wrong members", "a key is a member and excluded too: "),
        ("build --kind fuse --exclude some -o wrong members", "--exclude: fuse takes no excluded keys"),
        ("build --exclude nothing -o wrong members", "nothing"),
    ] {
        let run = place.petal(line);
        assert!(run.status == 2 && run.stderr.contains(message), "{line}: {}", run.stderr);
    }
    assert!(!place.names().contains(&"wrong".to_string()));
}

/// A file of all keys, with the members among them; partitions by prefixes; and updates, whose deltas are small.
#[test]
fn build_takes_universes_and_updates() {
    let place = Place::new();
    let bytes = |name: &str| fs::read(place.path(name)).unwrap();
    let key = |i: u32| format!("{}:{i}\n", ["A1", "B2", "C3"][i as usize % 3]).into_bytes();
    let keys =
        |is_wanted: fn(u32) -> bool| -> Vec<u8> { (0..20_000).filter(|i| is_wanted(*i)).flat_map(key).collect() };
    place.file("members", keys(|i| i % 3 == 0 && i % 50 == 0 || i % 3 == 1));
    place.file("newer", keys(|i| i % 3 == 0 && i % 50 == 0 || i % 3 == 1 || i == 5));
    place.file("all", keys(|_| true));
    place.file("valid", keys(|i| !(i % 3 == 0 && i % 50 == 0 || i % 3 == 1)));
    let expected = keys(|i| i % 3 == 0 && i % 50 == 0 || i % 3 == 1).iter().filter(|byte| **byte == b'\n').count();
    for prefix in ["", "--partition-prefix 2 "] {
        place.petal(&format!("build {prefix}--universe all -o set members")).quiet();
        assert_eq!(place.petal("check --count set all").text(), format!("{expected}\n"));
        place.petal(&format!("build {prefix}--exclude valid -o same members")).quiet();
        assert_eq!(bytes("set"), bytes("same"));
        place.petal(&format!("build {prefix}--universe all --update set -o new newer")).quiet();
        assert_eq!(place.petal("check --count new all").text(), format!("{}\n", expected + 1));
        place.petal("delta set new -o delta").quiet();
        place.petal("patch set delta -o patched").quiet();
        assert_eq!(bytes("patched"), bytes("new"));
        assert!(bytes("delta").len() < 200, "{}", bytes("delta").len());
        place.petal("verify new").quiet();
    }
    // The last ones have partitions.
    assert!(bytes("set").len() < 1500, "{}", bytes("set").len());
    for (line, message) in [
        ("build --partition-prefix 3 --universe all --update set -o wrong newer", "prefixes of different lengths"),
        ("build --kind fuse --universe all -o wrong members", "--universe: fuse takes no excluded keys"),
        ("build --kind bloom --update set -o wrong members", "--update: bloom is not brought up to date"),
        ("build --kind fuse --partition-prefix 2 -o wrong members", "--partition-prefix: fuse takes no parameter"),
        ("build --partition-prefix 2 --exclude all -o wrong members", "a key is a member and excluded too: "),
        ("build --partition-prefix 65 --exclude all -o wrong members", "--partition-prefix"),
    ] {
        let run = place.petal(line);
        assert!(run.status == 2 && run.stderr.contains(message), "{line}: {}", run.stderr);
    }
    assert!(!place.names().contains(&"wrong".to_string()));
}

/// NonMembers that are asked for often are hardly ever found, and a key on both sides is named.
#[test]
fn build_knows_frequent_non_members() {
    let place = Place::new();
    let keys = |from: u32, count: u32| -> Vec<u8> {
        (from..from + count).flat_map(|key| format!("{key}\n").into_bytes()).collect()
    };
    place.file("members", keys(0, 20_000));
    place.file("log", [keys(50_000, 3000), keys(50_000, 1000)].concat());
    let weighed: String = (50_000..53_000).map(|key| format!("  {}.5 {key}\n", key % 7)).collect();
    place.file("weighed", weighed);
    for options in ["--frequent log", "--frequent log --frequent log", "--frequent weighed --weights"] {
        place.petal(&format!("build {options} --set frequent_share=0.9 --fpr 0.001 -o fewer members")).quiet();
        assert_eq!(place.petal("check --count fewer members").text(), "20000\n", "{options}");
        // The exit status says whether any key was found.
        let found = String::from_utf8(place.petal("check --count fewer log").stdout).unwrap();
        let found: u32 = found.trim().parse().unwrap();
        assert!(found < 20, "{options}: {found}");
        let info = json(&place.petal("info --json fewer").text());
        assert_eq!((info["kind"].as_str(), info["insertions"].as_u64()), (Some("stacked"), Some(20_000)));
    }
    place.petal_on("build --frequent - --threads 2 --memory-limit 1MiB -o piped members", &keys(50_000, 3000)).quiet();
    place.file("wrong", b"x 7\n");
    place.file("none", b"0 7\n");
    for (line, message) in [
        ("build --frequent members -o no members", "a key is a member and a frequent non-member too: "),
        ("build --kind fuse --frequent log -o no members", "--frequent: fuse takes no frequent non-members"),
        ("build --frequent wrong --weights -o no members", "is not a weight from 2^-60 to 2^60"),
        ("build --frequent none --weights -o no members", "is not a weight from 2^-60 to 2^60"),
        ("build --frequent log --exclude log -o no members", "cannot be used with"),
        ("build --weights -o no members", "--frequent"),
        ("build --frequent log --set frequent_share=2 -o no members", "frequent_share = 2"),
    ] {
        let run = place.petal(line);
        assert!(run.status == 2 && run.stderr.contains(message), "{line}: {}", run.stderr);
    }
    assert!(!place.names().contains(&"no".to_string()));
}

/// Of a filter of 2^40 bits they take minutes.
#[test]
fn info_without_statistics_reads_the_header_only() {
    let place = Place::new();
    place.file("keys", lines(0..10));
    place.petal("build --fpr 0.01 -o small keys").quiet();
    let text = place.petal("info --no-statistics small").text();
    assert!(text.contains("false_positive_rate") && !text.contains("statistics"), "{text}");
    let text = place.petal("info --no-statistics --json small").text();
    assert!(json(&text)["statistics"].is_null() && json(&text)["insertions"] == 10, "{text}");
}

#[test]
fn info_has_all_its_keys() {
    let place = Place::new();
    place.file("keys", lines(0..1000));
    for kind in kinds() {
        place.petal(&format!("build --kind {} --fpr 0.01 --hash xxh64 --seed 7 -o filter keys", kind.name)).quiet();
        let text = place.petal("info --json filter").text();
        let info = json(&text);
        let names = [
            "file",
            "kind",
            "hash",
            "seed",
            "format_version",
            "layout_version",
            "hashes",
            "capacity",
            "insertions",
            "bits",
            "bytes",
            "bits_per_key",
            "false_positive_rate",
            "unclean",
            "parameters",
            "remembers",
            "statistics",
        ];
        let object = info.as_object().unwrap();
        assert_eq!(object.len(), names.len(), "{text}");
        // In this order too, and on one line.
        let places: Vec<usize> = names.iter().map(|name| text.find(&format!("\"{name}\":")).expect(name)).collect();
        assert!(places.is_sorted() && text.lines().count() == 1, "{text}");
        assert_eq!((info["kind"].as_str(), info["hash"].as_str()), (Some(kind.name), Some("xxh64")));
        assert_eq!((info["file"].as_str(), info["unclean"].as_bool()), (Some("filter"), Some(false)));
        let number = |name: &str| info[name].as_f64().expect(name);
        assert_eq!((number("seed"), number("capacity"), number("insertions")), (7.0, 1000.0, 1000.0));
        assert_eq!(number("bytes"), fs::metadata(place.path("filter")).unwrap().len() as f64);
        assert_eq!(number("bits_per_key"), number("bits") / 1000.0);
        assert_eq!(number("false_positive_rate"), 0.01);
        let statistics = |name: &str| info["statistics"][name].as_f64().expect(name);
        let can = |what| kind.capabilities.contains(what);
        let known = |name: &str| !info["statistics"][name].is_null();
        // What the kind does not have is null here, and no line for people.
        let plain = place.petal("info filter").text();
        for (name, what) in [("count_estimate", Can::ESTIMATE), ("saturated", Can::COUNT), ("room", Can::GROW)] {
            assert_eq!(
                (known(name), plain.contains(&format!("\n  {name}  "))),
                (can(what), can(what)),
                "{name}: {info}"
            );
        }
        assert!(!can(Can::ESTIMATE) || (900.0..1100.0).contains(&statistics("count_estimate")));
        let omissions = &info["statistics"]["expected_omissions"];
        assert_eq!(omissions.is_null(), !kind.capabilities.contains(Can::INSERT));
        assert!(omissions.as_f64().unwrap_or(0.0) <= number("insertions") * statistics("false_positive_rate") * 1.2);
        // What counts down, and what grows, comes to its rate later than to its capacity.
        let least = if can(Can::MAY_LOSE_KEYS) || can(Can::GROW) { 1e-5 } else { 0.002 };
        assert!(
            (0.005..1.0).contains(&statistics("fill")) && (least..0.02).contains(&statistics("false_positive_rate"))
        );
        let (remembers, loses) = (&info["remembers"], can(Can::AGE));
        assert_eq!((remembers.is_object(), plain.contains("\nremembers\n")), (loses, loses), "{info}");
        if loses {
            assert_eq!(remembers["keys"].is_null(), can(Can::MAY_LOSE_KEYS), "{info}");
            let rates = remembers["false_negative_rates"].as_array().unwrap();
            assert!(rates.is_sorted_by_key(|rate| rate["rate"].as_f64()) && rates[4]["rate"].as_f64() > Some(0.5));
        }
        assert!((1e-17..1e-15).contains(&statistics("false_positive_rate_floor")));
        for parameter in kind.parameters.iter().filter(|parameter| parameter.word.is_some()) {
            assert!(!info["parameters"][parameter.name].is_null(), "{}", parameter.name);
        }
        // The lines for people name the same things.
        for name in names.iter().filter(|name| !matches!(**name, "file" | "unclean" | "parameters" | "remembers")) {
            assert!(plain.lines().any(|line| line.starts_with(name)), "{name}: {plain}");
        }
    }
}

#[test]
fn what_is_not_known_is_null() {
    let place = Place::new();
    place.petal_on("build --kind bloom --bits 64 --hashes 4 -o filter", &lines(0..10_000)).quiet();
    let full = info(&place.path("filter"));
    for name in ["capacity", "false_positive_rate", "bits_per_key"] {
        assert!(full[name].is_null(), "{name}: {full}");
    }
    let full = &full["statistics"];
    assert!(full["count_estimate"].is_null(), "{full}");
    assert_eq!((full["fill"].as_f64(), full["false_positive_rate"].as_f64()), (Some(1.0), Some(1.0)));
    assert!(place.petal("info filter").text().contains("too full to tell"));
    let estimate = place.petal("estimate filter filter").text();
    assert!(estimate.ends_with("-: a filter is too full to tell\n"), "{estimate}");
    let pair = json(&place.petal("estimate --json filter filter").text());
    assert!(pair["first_count"].is_null() && pair["jaccard"].is_null(), "{pair}");
}

#[test]
fn verify_finds_a_flipped_bit() {
    let place = Place::new();
    place.file("keys", lines(0..1000));
    place.petal("build -o filter keys").quiet();
    assert_eq!(place.petal("verify filter").text(), "filter: OK\n");
    let mut bytes = fs::read(place.path("filter")).unwrap();
    let last = bytes.len() - 1;
    for position in [256, 700, last] {
        bytes[position] ^= 0x10;
        place.file("flipped", &bytes);
        place.petal("verify flipped").names(&["flipped"]);
        // Nothing is made of it either.
        for line in [
            "merge filter flipped -o out",
            "intersect flipped filter -o out",
            "fold flipped --fpr 0.9 -o out",
            "resize flipped --capacity 1k -o out",
        ] {
            place.petal(line).names(&["flipped"]);
        }
        place.petal("estimate filter flipped").names(&["flipped"]);
        bytes[position] ^= 0x10;
    }
    assert_eq!(place.names(), ["filter", "flipped", "keys"]);
}

#[test]
fn merge_is_the_union_and_intersect_holds_what_all_hold() {
    for kind in able(Can::MERGE | Can::INTERSECT) {
        let place = Place::new();
        place.file("a", lines(0..3000));
        place.file("b", lines(2000..5000));
        place.file("c", lines(2500..6000));
        // As often as they are in the three, for kinds that count, in which copies may take room.
        place.file("all", [lines(0..3000), lines(2000..5000), lines(2500..6000)].concat());
        for name in ["a", "b", "c", "all"] {
            place
                .petal(&format!("build --kind {} --capacity 10k --fpr 0.001 -o {name}.petal {name}", kind.name))
                .quiet();
        }
        place.petal("merge a.petal b.petal c.petal -o union").quiet();
        let union = petal::load(&fs::read(place.path("union")).unwrap(), &petal::OpenOptions::default()).unwrap();
        let all = petal::load(&fs::read(place.path("all.petal")).unwrap(), &petal::OpenOptions::default()).unwrap();
        assert!(union.equals(&all), "{}", kind.name);
        assert_eq!(info(&place.path("union"))["insertions"], 9500);
        assert_eq!(place.petal("merge a.petal b.petal c.petal").quiet(), fs::read(place.path("union")).unwrap());
        place.petal("intersect a.petal b.petal c.petal -o common").quiet();
        assert_eq!(place.petal_on("check common", &lines(2500..3000)).quiet(), lines(2500..3000));
        // One key that is in it, so that the count is never the failure of having found none.
        let others = [&b"2500\n"[..], &lines(0..2000)].concat();
        let found: u32 = place.petal_on("check -c common", &others).text().trim().parse().expect("a count");
        assert!(found < 20, "{}: {found}", kind.name);
        // An input may be the output.
        place.petal("merge a.petal b.petal c.petal -o a.petal").quiet();
        assert_eq!(fs::read(place.path("a.petal")).unwrap(), fs::read(place.path("union")).unwrap());
    }
}

#[test]
fn fold_goes_as_far_as_the_rate_allows() {
    for kind in able(Can::FOLD) {
        let place = Place::new();
        place.file("keys", lines(0..2000));
        let line = format!("build --kind {} --capacity 64k --set foldable=1 -o filter keys", kind.name);
        place.petal(&line).quiet();
        let folded = place.petal("fold filter --fpr 0.02 -o small");
        assert_eq!((folded.status, folded.stdout.len()), (0, 0), "{folded:?}");
        assert!(folded.stderr.starts_with("petal: folded by "), "{folded:?}");
        let (before, after) = (info(&place.path("filter")), info(&place.path("small")));
        let factor = before["bits"].as_u64().unwrap() / after["bits"].as_u64().unwrap();
        assert!(factor >= 16, "{}: {factor}", kind.name);
        assert!(after["statistics"]["false_positive_rate"].as_f64().unwrap() < 0.025, "{after}");
        assert_eq!(place.petal("check filter keys").quiet(), lines(0..2000));
        assert_eq!(place.petal("check small keys").quiet(), lines(0..2000));
        // What is small enough already is not folded, and nothing is written.
        let none = place.petal("fold small --fpr 0.02 -o smaller");
        assert_eq!((none.status, none.stdout.len()), (1, 0));
        assert!(none.stderr.contains("nothing to fold") && none.stderr.contains("--fpr 0.02"), "{none:?}");
        assert!(!place.path("smaller").exists());
    }
}

#[test]
fn resize_gives_room_and_takes_it_back() {
    for kind in able(Can::RESIZE) {
        let place = Place::new();
        place.file("keys", lines(0..1000));
        place.file("more", lines(500..2000));
        place.petal(&format!("build --kind {} --capacity 1k -o filter keys", kind.name)).quiet();
        let room = place.petal("resize filter --capacity 3k -o roomy");
        assert_eq!((room.status, room.stdout.len()), (0, 0), "{room:?}");
        assert!(room.stderr.starts_with("petal: room for "), "{room:?}");
        let (before, after) = (info(&place.path("filter")), info(&place.path("roomy")));
        assert!(after["capacity"].as_u64().unwrap() >= 3000 && before["capacity"] == 1000, "{after}");
        assert_eq!(before["statistics"]["false_positive_rate"], after["statistics"]["false_positive_rate"]);
        place.petal("insert roomy more").quiet();
        assert_eq!(place.petal("check roomy keys").quiet(), lines(0..1000));
        assert_eq!(place.petal("check roomy more").quiet(), lines(500..2000));
        place.petal("merge roomy filter -o both").quiet();
        // As small as what is there allows, and in its own place.
        assert_eq!(place.petal("resize filter --capacity 4k -o filter").status, 0);
        assert_eq!(place.petal("-q resize filter --capacity 1 -o filter").quiet(), b"");
        assert_eq!(info(&place.path("filter"))["bytes"], before["bytes"]);
        assert_eq!(place.petal("check filter keys").quiet(), lines(0..1000));
        place.petal("resize filter --capacity 1e18 -o none").names(&["filter", "capacity"]);
        assert!(!place.path("none").exists());
    }
}

/// The columns of a line of `estimate`.
fn row(text: &str, name: &str) -> [f64; 3] {
    let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in {text}"));
    let mut numbers = line[name.len()..].split_whitespace().map(|number| number.parse().expect("a number"));
    std::array::from_fn(|_| numbers.next().expect("three numbers"))
}

#[test]
fn estimates_stand_with_their_intervals() {
    let overlaps = |row: &&petal::Row| {
        let spec = petal::Spec { kind: Some(row.kind), ..petal::Spec::with_capacity(10, 0.1).unwrap() };
        petal::Filter::new(&spec).is_ok_and(|filter| filter.kind().as_overlap().is_some())
    };
    for kind in able(Can::ESTIMATE).filter(overlaps) {
        let place = Place::new();
        place.file("a", lines(0..6000));
        place.file("b", lines(4000..9000));
        place.file("c", lines(20_000..25_000));
        for name in ["a", "b", "c"] {
            place.petal(&format!("build --kind {} --capacity 10k -o {name}.petal {name}", kind.name)).quiet();
        }
        let text = place.petal("estimate a.petal b.petal").text();
        let truths = [
            ("a.petal", 6000.0),
            ("b.petal", 5000.0),
            ("union", 9000.0),
            ("intersection", 2000.0),
            ("Jaccard", 2000.0 / 9000.0),
            ("differences", 7000.0),
        ];
        for (name, truth) in truths {
            let [value, low, high] = row(&text, name);
            assert!(low < value && value < high, "{text}");
            // The interval has 1.96 standard errors to either side; 4.5 must do.
            assert!((value - truth).abs() < 2.3 * (high - value), "{}: {truth} in {text}", kind.name);
        }
        // Nothing in common: the raw value may be on either side of zero, and its interval holds it.
        let [_, low, high] = row(&place.petal("estimate a.petal c.petal").text(), "intersection");
        assert!(low < 0.0 && high > 0.0);
        place.file("empty", b"");
        place.petal(&format!("build --kind {} --capacity 10k -o empty.petal empty", kind.name)).quiet();
        let nothing = place.petal("estimate empty.petal empty.petal").text();
        assert_eq!(row(&nothing, "union"), [0.0; 3]);
        assert_eq!(row(&nothing, "Jaccard"), [0.0; 3]);
    }
}

#[test]
fn negative_estimates_are_shown() {
    // Tries filters of disjoint keys until an intersection comes out below zero: about every second one does.
    let place = Place::new();
    let negative = (0..40).any(|seed| {
        for (name, range) in [("a", 0..500), ("b", 500..1000)] {
            place.file(name, lines(range));
            place.petal(&format!("build --capacity 1000 --seed {seed} -o {name}.petal {name}")).quiet();
        }
        row(&place.petal("estimate a.petal b.petal").text(), "intersection")[0] < 0.0
    });
    assert!(negative);
}

#[test]
fn kinds_are_those_of_the_registry() {
    let text = petal(["kinds"]).text();
    for row in registry::all().chain(registry::SKETCHES) {
        assert!(text.lines().any(|line| line.split(' ').next() == Some(row.name)), "{text}");
        assert!(text.contains(row.summary));
        for parameter in row.parameters {
            assert!(text.contains(&format!("--set {}=", parameter.name)) && text.contains(parameter.summary));
        }
    }
    // One of filters, one of maps, one of sketches.
    assert_eq!(text.matches("(default)").count(), 3);
}

/// The kinds of a plan that fit.
fn fits(plan: &Value) -> Vec<Value> {
    plan["proposals"].as_array().unwrap().iter().filter(|one| one["reason"].is_null()).cloned().collect()
}

/// The kind that a line of a plan's table is of: what stands after the mark.
fn kind_of(line: &str) -> Option<&str> {
    line.get(2..).filter(|_| line.starts_with(' ') || line.starts_with('*'))?.split(' ').next()
}

/// The kind to take is marked; kinds that can do the same stand together; refusals are only for those who ask.
#[test]
fn plan_marks_and_groups() {
    // The rate is 1 % by default, and a rate may be in percent.
    let plan = petal(["plan", "--keys", "1M"]).text();
    for options in ["--fpr 0.01", "--fpr 1%"] {
        assert_eq!(petal(format!("plan --keys 1M {options}").split(' ')).text(), plan);
    }
    let marked = |text: &str| -> Vec<String> {
        text.lines().filter_map(|line| line.strip_prefix("* ")?.split(' ').next().map(String::from)).collect()
    };
    let cases = [
        ("--keys 1M", "blocked"),
        ("--keys 100M --memory 128MiB", "blocked"),
        ("--keys 1M --remove", "cuckoo"),
        ("--keys 1M --remove --in-place", "d_left"),
        ("--keys 1M --growing", "scalable"),
        ("--keys 1M --static", "ribbon"),
        ("--window 1M", "rotating"),
        ("--keys 1M --universe 1M", "exact_bits"),
        ("--keys 1M --static --fpr 0.001 --universe 100M", "exact_set"),
        ("--keys 1M --static --frequent 0.9", "stacked"),
    ];
    for (options, kind) in cases {
        let line = format!("plan {options}");
        assert_eq!(marked(&petal(line.split(' ')).text()), [kind], "{options}");
        let json = json(&petal(format!("{line} --json").split(' ')).text());
        assert_eq!(json["recommended"], kind, "{options}");
    }
    // Each kind that fits has one line, below a heading, and those of one heading can do the same.
    let mut of_heading: Vec<(&str, Vec<bool>)> = Vec::new();
    for line in plan.lines().skip(1).take_while(|line| !line.is_empty()) {
        let Some(row) = kind_of(line).and_then(registry::find_name) else {
            of_heading.push((line, Vec::new()));
            continue;
        };
        let can = [Can::INSERT, Can::REMOVE, Can::COUNT, Can::GROW].map(|one| row.capabilities.contains(one));
        let group = of_heading.last_mut().expect("a heading");
        // What grows may remove too.
        assert!(group.1.is_empty() || group.1 == can || can[3] && group.1[3], "{plan}");
        group.1 = can.to_vec();
    }
    assert!(of_heading.len() > 3 && of_heading.iter().all(|(_, can)| !can.is_empty()), "{plan}");
    // Refusals.
    assert!(!plan.contains("fuse") && plan.contains("-v says why"), "{plan}");
    let verbose = petal(["plan", "--keys", "1M", "-v"]).text();
    assert!(verbose.contains("\nfuse: ") && verbose.starts_with(plan.split("\n\n").next().unwrap()), "{verbose}");
}

/// What is asked of filters as a whole leaves just the kinds that can.
#[test]
fn plan_takes_uses() {
    let wishes = [("--shared", Can::INSERT_SHARED), ("--merge", Can::MERGE), ("--in-place", Can::NONE)];
    for (options, needed) in wishes {
        let plan = json(&petal(format!("plan --static --keys 1M {options} --json").split(' ')).text());
        let fits = fits(&plan);
        let unasked =
            |row: &petal::Row| row.capabilities.contains(Can::AGE) || row.capabilities.contains(Can::MAY_LOSE_KEYS);
        let able = able(needed).filter(|row| !unasked(row));
        let able: Vec<&str> = match options {
            "--in-place" => {
                able.filter(|row| row.is_made_empty() && !row.form.moves_entries).map(|row| row.name).collect()
            }
            _ => able.map(|row| row.name).collect(),
        };
        assert_eq!(fits.len(), able.len(), "{options}");
        for fit in &fits {
            assert!(able.contains(&fit["kind"].as_str().unwrap()), "{options}: {fit}");
            assert!(fit["also"].as_array().unwrap().contains(&options[2..].into()), "{options}: {fit}");
        }
        let bytes: Vec<u64> = fits.iter().map(|fit| fit["bytes"].as_u64().unwrap()).collect();
        assert!(bytes.is_sorted(), "{options}");
    }
}

#[test]
fn plan_agrees_with_build() {
    let place = Place::new();
    let plan = json(&place.petal("plan --static --keys 10k --fpr 0.005 --json").text());
    assert_eq!((plan["keys"].as_u64(), plan["false_positive_rate"].as_f64()), (Some(10_000), Some(0.005)));
    assert_eq!(plan["proposals"].as_array().unwrap().len(), registry::FILTERS.len());
    let fits = fits(&plan);
    // Those that forget or lose keys are for those who ask for it.
    let unasked =
        |row: &&petal::Row| row.capabilities.contains(Can::AGE) || row.capabilities.contains(Can::MAY_LOSE_KEYS);
    assert_eq!(fits.len(), kinds().filter(|row| !unasked(row)).count());
    let bytes: Vec<u64> = fits.iter().map(|fit| fit["bytes"].as_u64().unwrap()).collect();
    assert!(!bytes.is_empty() && bytes.is_sorted());
    place.file("keys", lines(0..10_000));
    for fit in &fits {
        let kind = fit["kind"].as_str().unwrap();
        assert!(
            fit["false_positive_rate"].as_f64().unwrap() <= 0.005 && fit["lines_per_lookup"].as_f64().unwrap() >= 1.0
        );
        place.petal(&format!("build --kind {kind} --fpr 0.005 -o filter keys")).quiet();
        let info = info(&place.path("filter"));
        // Where the keys decide the length, the plan is a bound.
        let is_bound = registry::find_name(kind).unwrap().building.most_bytes.is_some();
        let (built, planned) = (info["bytes"].as_u64().unwrap(), fit["bytes"].as_u64().unwrap());
        let least = if is_bound { planned - planned / 32 - 512 } else { planned };
        assert!((least..=planned).contains(&built), "{kind}: {built} bytes, planned {planned}");
        let (built, planned) = (info["bits_per_key"].as_f64().unwrap(), fit["bits_per_key"].as_f64().unwrap());
        let apart = if is_bound { 0.01 } else { 0.0 };
        assert!((built / planned - 1.0).abs() <= apart, "{kind}: {built} bits per key, planned {planned}");
    }
    // The table shows the same.
    let table = place.petal("plan --static --keys 10k --fpr 0.005").text();
    for fit in &fits {
        let line = table.lines().find(|line| kind_of(line) == fit["kind"].as_str()).expect("a line");
        assert!(line.contains(&fit["bytes"].to_string()), "{line}");
    }
}

#[test]
fn plan_draws_what_it_says() {
    let place = Place::new();
    assert_eq!(place.petal("plan --static --keys 10k --plot kinds.svg").text(), "");
    let svg = fs::read_to_string(place.path("kinds.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && svg.contains("10000 keys"));
    assert!(svg.contains("the least there is: 6.6 bits per key at 1 %"));
    // The picture ends at 24 bits, which kinds with wide counters take at any rate: it names these.
    let from = svg.find("Not drawn: ").expect("some need more");
    let names: Vec<&str> = svg[from..].lines().next().unwrap().split([':', ',', ';']).map(str::trim).collect();
    let plan = json(&place.petal("plan --static --keys 10k --fpr 0.01 --json").text());
    for fit in fits(&plan) {
        let is_drawn = !names.contains(&fit["kind"].as_str().unwrap());
        let line = format!(
            "{}: {:.1} bits per key at 1 %",
            fit["kind"].as_str().unwrap(),
            fit["bits_per_key"].as_f64().unwrap()
        );
        assert_eq!(svg.contains(&line), is_drawn, "{line}");
        assert!(is_drawn || fit["bits_per_key"].as_f64() > Some(20.0), "{line}");
    }
    // The picture and the table; kinds that will not do are in neither.
    let table = place.petal("plan -v --keys 10k --fpr 0.01 --plot kinds.svg").text();
    let svg = fs::read_to_string(place.path("kinds.svg")).unwrap();
    assert!(
        table.contains("\nfuse: ")
            && table.contains("\n  bloom ")
            && svg.contains("bloom: ")
            && !svg.contains("fuse: ")
    );
    place.petal("plan --keys 10k --plot missing/kinds.svg").names(&["--plot missing/kinds.svg"]);
}

#[test]
fn plan_keeps_to_memory_and_says_why_not() {
    let memory = json(&petal(["plan", "--keys", "1M", "--memory", "1MiB", "--json"]).text());
    assert_eq!(memory["memory"], 1 << 20);
    for fit in fits(&memory) {
        assert!(fit["bytes"].as_u64().unwrap() <= 1 << 20);
    }
    let rates: Vec<f64> = fits(&memory).iter().map(|fit| fit["false_positive_rate"].as_f64().unwrap()).collect();
    assert!(!rates.is_empty() && rates.is_sorted());
    // Each wish leaves just the kinds that fulfil it; a kind that cannot insert does only where all keys are known.
    let wishes = [
        ("", Can::INSERT),
        ("--remove", Can::INSERT | Can::REMOVE),
        ("--remove --may-lose-keys", Can::INSERT | Can::REMOVE),
        ("--count", Can::INSERT | Can::COUNT),
        ("--growing", Can::INSERT | Can::GROW),
        ("--static", Can::NONE),
        ("--static --count", Can::COUNT),
        ("--window 1M", Can::INSERT | Can::AGE),
        ("--window 1M --may-lose-keys", Can::INSERT | Can::AGE),
    ];
    for (options, needed) in wishes {
        let ages = needed.contains(Can::AGE);
        let keys = if ages { "" } else { "--keys 1M" };
        let run = petal(format!("plan {keys} --fpr 0.01 --json {options}").split_whitespace());
        let plan = json(std::str::from_utf8(&run.stdout).unwrap());
        // Nobody gets a kind that forgets or loses keys without asking for it.
        let is_welcome = |row: &petal::Row| {
            let loses = row.capabilities.contains(Can::MAY_LOSE_KEYS);
            row.capabilities.contains(Can::AGE) == ages && (!loses || options.contains("lose"))
        };
        let able = able(needed).filter(|row| is_welcome(row)).count();
        assert_eq!(fits(&plan).len(), able, "{options}");
        assert_eq!(run.status, i32::from(able == 0), "{options}");
        for other in plan["proposals"].as_array().unwrap().iter().filter(|one| !one["reason"].is_null()) {
            let reason = other["reason"].as_str().unwrap();
            let known = ["cannot", "universe", "not asked for", "may lose keys"];
            assert!(known.iter().any(|known| reason.contains(known)), "{other}");
        }
    }
    // Those that count so far, and those that do not say how far they do.
    let often = petal("plan --keys 1M --fpr 0.01 --times 200 --json".split_whitespace()).text();
    let often = json(&often);
    assert!(often["times"] == 200 && !fits(&often).is_empty(), "{often}");
    let counts = |one: &&Value| one["reason"].as_str().is_some_and(|reason| reason.contains("times = 200"));
    assert_eq!(
        fits(&often).len() + often["proposals"].as_array().unwrap().iter().filter(counts).count(),
        able(Can::INSERT | Can::COUNT).count()
    );
    let none = petal(["plan", "--keys", "1G", "--memory", "1kB"]);
    assert_eq!(none.status, 1);
    let text = String::from_utf8(none.stdout).unwrap();
    assert!(text.starts_with("No kind fits:\n") && text.contains("memory = 1000 bytes"), "{text}");
}

/// The man pages and completions, as packages install them.
fn documents() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_petal-documents")).arg(folder.path()).status().unwrap();
    assert!(status.success());
    folder
}

#[test]
fn help_and_documents_are_of_one_source() {
    let help = petal(["--help"]).text();
    let short = petal(["build", "-h"]).text();
    assert!(help.contains("Exit status:\n  0  success\n  1  ") && short.contains("--bits-per-key"));
    assert_eq!(petal(["--version"]).text(), format!("petal {}\n", env!("CARGO_PKG_VERSION")));
    let folder = documents();
    let document = |name: &str| fs::read_to_string(folder.path().join(name)).expect(name);
    let overview = document("petal.1");
    let completions = ["petal.bash", "_petal", "petal.fish"].map(document);
    let command = petal_cli::args::Cli::command();
    for subcommand in command.get_subcommands().map(clap::Command::get_name) {
        assert!(help.contains(&format!("  {subcommand} ")), "{subcommand}");
        let page = format!("petal-{subcommand}(1)").replace('-', "\\-");
        assert!(overview.contains(&page), "{subcommand}");
        assert!(completions.iter().all(|text| text.contains(subcommand)), "{subcommand}");
        assert_eq!(petal(["help", subcommand]).text(), petal([subcommand, "--help"]).text());
    }
    // The completions know the kinds.
    assert!(completions.iter().all(|text| kinds().all(|row| text.contains(row.name))));
    let bash = folder.path().join("petal.bash");
    if let Ok(status) = Command::new("bash").arg("-n").arg(bash).status() {
        assert!(status.success());
    }
}

/// Every subcommand has a page with examples and its exit status; and what the examples say can be said.
#[test]
fn examples_are_of_this_command() {
    let folder = documents();
    let mut command = petal_cli::args::Cli::command();
    let mut names = Vec::new();
    for one in command.get_subcommands() {
        names.push(one.get_name().to_string());
        names.extend(one.get_subcommands().map(|two| format!("{} {}", one.get_name(), two.get_name())));
    }
    for name in names.iter().map(String::as_str).chain(["petal"]) {
        let page = petal_cli::manual::page(name).expect(name);
        let file =
            if name == "petal" { String::from("petal.1") } else { format!("petal-{}.1", name.replace(' ', "-")) };
        let text = fs::read_to_string(folder.path().join(&file)).expect(name);
        assert!(text.contains(&format!(".TH {} 1", file.trim_end_matches(".1"))), "{text}");
        for section in ["SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "\"EXIT STATUS\""] {
            assert_eq!(text.matches(&format!(".SH {section}")).count(), 1, "{section} of {file}");
        }
        let help = petal(name.split(' ').filter(|word| *word != "petal").chain(["--help"])).text();
        assert!(!page.examples.is_empty() && help.contains("\nExit status:\n  0  "), "{name}");
        for (_, commands) in &page.examples {
            // Each is on its own line, which no terminal breaks.
            for command in commands {
                let line = format!("    $ {command}");
                assert!(line.len() <= 80 && help.lines().any(|of_help| of_help == line), "{line}");
            }
            let how = &commands.join("; ");
            let commands: Vec<&str> =
                how.split(['|', ';', '&']).filter_map(|part| part.trim().strip_prefix("petal ")).collect();
            assert!(!commands.is_empty(), "{how}");
            for line in commands {
                let words = line.split_whitespace().take_while(|word| !matches!(*word, "<" | ">" | "2>"));
                let parsed = command.try_get_matches_from_mut(std::iter::once("petal").chain(words));
                assert!(parsed.is_ok(), "{how}: {parsed:?}");
                assert!(name == "petal" || line.starts_with(name) || how.contains(&format!("petal {name} ")), "{how}");
            }
        }
    }
    assert_eq!(petal_cli::manual::PAGES.len(), names.len() + 1);
}

/// A filter that grew has the bits of its keys, and not those of its first capacity.
#[test]
fn bits_per_key_are_of_the_keys_that_are_there() {
    let place = Place::new();
    place.file("keys", lines(0..60_000));
    for row in kinds().filter(|row| row.overfill == petal::Overfill::Grows) {
        place.petal(&format!("build --kind {} --capacity 10 --fpr 0.01 -o filter keys", row.name)).quiet();
        let info = info(&place.path("filter"));
        let [bits, per_key] = [&info["bits"], &info["bits_per_key"]].map(|number| number.as_f64().unwrap());
        assert!((bits / per_key / 60_000.0 - 1.0).abs() < 0.02 && per_key < 100.0, "{}: {info}", row.name);
    }
}

/// Keys that were inserted without being counted are not reported as none.
#[test]
fn what_was_not_counted_is_unknown() {
    for row in able(Can::INSERT_SHARED) {
        let place = Place::new();
        place.petal(&format!("build --kind {} --capacity 1000 -o filter {NOTHING}", row.name)).quiet();
        assert_eq!(info(&place.path("filter"))["insertions"], 0);
        let options = petal::OpenOptions { mode: petal::Mode::Share, ..petal::OpenOptions::default() };
        let filter = petal::open(&place.path("filter"), &options).unwrap();
        (0..1000_u32).for_each(|key| _ = filter.insert_shared(key.to_string().as_bytes()).unwrap());
        drop(filter);
        let info = info(&place.path("filter"));
        assert!(info["insertions"].is_null(), "{}: {info}", row.name);
        let text = place.petal("info filter").text();
        assert!(text.contains("insertions             unknown: keys that many insert at once"), "{text}");
    }
}

/// Hashes that a program made go where the program's keys went.
#[test]
fn hashes_are_keys() {
    let place = Place::new();
    let spec = petal::Spec { hash: petal::HashFunction::External, ..petal::Spec::with_capacity(100, 1e-6).unwrap() };
    let mut filter = petal::Filter::new(&spec).unwrap();
    [42, u64::MAX].iter().for_each(|hash| _ = filter.insert_hash(*hash).unwrap());
    filter.save(&place.path("external")).unwrap();
    assert_eq!(
        place.petal_on("check --hashes external", b"42\n43\n0xffffffffffffffff\n").quiet(),
        b"42\n0xffffffffffffffff\n"
    );
    place.petal_on("insert --hashes external", b"43\n").quiet();
    assert_eq!(place.petal_on("check -c --hashes external", b"42\n43\n44\n").quiet(), b"2\n");
    place.petal_on("check external", b"42\n").names(&["external", "hashes only", "--hashes"]);
    place.petal_on("check --hashes external", b"1\nx\n").names(&["record 2", "not a hash"]);
    place.petal_on("check --hashes external", b"18446744073709551616\n").names(&["record 1", "not a hash"]);
    // Keys and their hashes are the same to a filter that hashes.
    place.file("keys", lines(0..100));
    place.petal("build --kind quotient --fpr 1e-6 -o filter keys").quiet();
    let hasher = petal::Spec::default().hasher().unwrap();
    let hashes: String =
        (0..100).map(|key: u32| format!("{}\n", hasher.hash_bytes(key.to_string().as_bytes()).unwrap())).collect();
    assert_eq!(place.petal_on("check -c --hashes filter", hashes.as_bytes()).quiet(), b"100\n");
    assert!(
        place.petal_on("count --hashes filter", hashes.as_bytes()).text().lines().all(|line| line.starts_with("1\t"))
    );
    assert_eq!(place.petal_on("remove --hashes filter", hashes.as_bytes()).text().split(' ').next(), Some("100"));
    place.petal("build --format guava -o guava keys").quiet();
    place.petal_on("check --format guava --hashes guava", b"1\n").names(&["--hashes", "whole"]);
}

/// Filters of other systems that take keys whole take them in hexadecimal digits too, of any length.
#[test]
fn whole_keys_are_given_in_digits() {
    let place = Place::new();
    let formats = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/formats/clubcard/exceptions");
    std::fs::copy(format!("{formats}-v4.bin"), place.path("clubcard")).unwrap();
    let keys = std::fs::read_to_string(format!("{formats}.keys")).unwrap();
    let hex = |key: &str| key.bytes().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n";
    let digits: String = keys.lines().map(hex).collect();
    let check = "check --format clubcard --hex-digests clubcard";
    assert_eq!(place.petal_on(check, digits.as_bytes()).text(), digits);
    let run = place.petal_on("check --format clubcard --count clubcard", digits.as_bytes());
    assert_eq!((run.status, &run.stdout[..]), (1, &b"0\n"[..]));
    place.petal("import clubcard clubcard -o image").quiet();
    assert_eq!(place.petal_on("check --hex-digests image", digits.as_bytes()).text(), digits);
    for odd in [&digits[..5], "0g\n"] {
        place.petal_on(check, odd.as_bytes()).names(&["record 1", "pairs of hexadecimal digits"]);
    }
    place.petal("export image clubcard -o none").names(&["clubcard", "only read"]);
    // Digits are bytes here, and not the text that they are.
    place.file("digits", &digits);
    place.petal("build --format guava -o guava digits").quiet();
    let run = place.petal_on("check --format guava --hex-digests guava", digits.as_bytes());
    assert_eq!((run.status, run.stdout.len()), (1, 0));
    let twice: String = digits.lines().map(hex).collect();
    assert_eq!(place.petal_on("check --format guava --hex-digests guava", twice.as_bytes()).text(), twice);
}

/// `--hex-digests` reads digests from their digits, for filters that were built with it and no others.
#[test]
fn digests_are_keys() {
    use petal::Image;
    let place = Place::new();
    let digest = |i: u64, bytes: usize| -> Vec<u8> {
        let word = |j: u64| xxhash(i, j).to_be_bytes();
        (0..8).flat_map(word).take(bytes).collect()
    };
    let text = |from: u64, to: u64, bytes: usize| -> String {
        let digits = |i: u64| digest(i, bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        (from..to).map(|i| digits(i) + "\n").collect()
    };
    let (keys, others) = (text(0, 300, 32), text(300, 400, 32));
    place.file("keys", &keys);
    place.petal("build --hex-digests --fpr 1e-6 -o filter keys").quiet();
    let filter: petal::Filter = petal::open(&place.path("filter"), &petal::OpenOptions::default()).unwrap();
    assert_eq!(filter.base().header().hash, petal::HashFunction::Digest);
    assert_eq!((filter.base().header().identifier, filter.base().header().capacity), (256, 300));
    assert!((0..300).all(|i| filter.contains(&digest(i, 32))));
    drop(filter);
    assert_eq!(
        place.petal_on("check --hex-digests filter", keys.to_uppercase().as_bytes()).text(),
        keys.to_uppercase()
    );
    assert_eq!(place.petal_on("check -v -c --hex-digests filter", others.as_bytes()).quiet(), b"100\n");
    // A pipe does not say how long digests are before it is read. A part of the keys comes with `insert`.
    place.petal_on("build --hex-digests --seed 256 --fpr 1e-6 -o piped", keys.as_bytes()).quiet();
    assert_eq!(std::fs::read(place.path("piped")).unwrap(), std::fs::read(place.path("filter")).unwrap());
    place.petal_on("build --hex-digests --fpr 1e-6 -o none", keys.as_bytes()).names(&["--seed"]);
    place.file("some", text(0, 100, 32));
    place.petal("build --hex-digests --fpr 1e-6 --capacity 300 -o grown some").quiet();
    place.petal_on("insert --hex-digests grown", text(100, 300, 32).as_bytes()).quiet();
    assert_eq!(std::fs::read(place.path("grown")).unwrap(), std::fs::read(place.path("filter")).unwrap());
    // A text that is no digest of this length is refused, with its place.
    place.petal_on("check --hex-digests filter", text(0, 1, 16).as_bytes()).names(&["record 1", "32 digits", "64"]);
    place.petal_on("insert --hex-digests filter", format!("{keys}{}", &others[..63]).as_bytes()).names(&[
        "record 301",
        "63 digits",
        "64",
    ]);
    let letters = others[..64].replace(|digit: char| digit.is_ascii_digit(), "g");
    place.petal_on("check --hex-digests filter", letters.as_bytes()).names(&["record 1", "hexadecimal"]);
    place.petal_on("check filter", keys.as_bytes()).names(&["digests of 256 bits", "--hex-digests"]);
    place.petal_on("check --hashes filter", b"1\n").names(&["--hex-digests"]);
    for digits in [30, 33, 63, 130] {
        place.file("uneven", "a".repeat(digits) + "\n");
        place.petal("build --hex-digests -o none uneven").names(&["--hex-digests", &format!("{digits} digits")]);
    }
    place.file("empty", "");
    place.petal("build --hex-digests -o none empty").names(&["--seed"]);
    place.petal("build --hex-digests --seed 256 -o none empty").quiet();
    place.petal("build --hex-digests --seed 250 -o none keys").names(&["--seed", "250"]);
    place.petal("build --hex-digests --kind blocked -o none keys").names(&["--hex-digests", "blocked"]);
    place.petal("build --hex-digests --hash xxh64 -o none keys").names(&["--hash"]);
    place.petal("build --kind bloom -o plain keys").quiet();
    place.petal_on("check --hex-digests plain", keys.as_bytes()).names(&["plain", "xxh3", "not digests"]);
}

/// Word `j` of digest `i`.
fn xxhash(i: u64, j: u64) -> u64 {
    let hasher = petal::Hasher::new(petal::HashFunction::Xxh3, j, None).unwrap();
    hasher.hash_u64(i).unwrap()
}

/// Keys of a filter that has grown are as new ones, and the filter is wrong less often.
#[test]
fn keys_are_rejuvenated() {
    let place = Place::new();
    place.file("keys", lines(0..50_000));
    place.file("some", lines(0..20_000));
    let mut kinds = 0;
    for row in able(Can::REJUVENATE) {
        kinds += 1;
        place.petal(&format!("build --kind {} --capacity 100 -o filter keys", row.name)).quiet();
        let before = info(&place.path("filter"))["statistics"]["false_positive_rate"].as_f64().unwrap();
        let said = place.petal("rejuvenate --json filter some").text();
        let said: serde_json::Value = serde_json::from_str(&said).unwrap();
        let [changed, unchanged] = [&said["rejuvenated"], &said["unchanged"]].map(|number| number.as_u64().unwrap());
        assert!(changed > 5000 && changed + unchanged == 20_000, "{}: {said}", row.name);
        let after = info(&place.path("filter"));
        assert!(after["statistics"]["false_positive_rate"].as_f64().unwrap() < 0.95 * before, "{before}: {after}");
        assert_eq!((&after["insertions"], &after["unclean"]), (&50_000.into(), &false.into()));
        // What is new already stays, and every key is there.
        assert_eq!(place.petal("rejuvenate filter some").text(), "0 rejuvenated, 20000 unchanged\n");
        assert_eq!(place.petal("rejuvenate -q filter some").text(), "");
        assert_eq!(place.petal("check -vc filter keys").stdout, b"0\n");
        place.petal("verify filter").text();
        // Some that were read before trouble are as new ones, and the command says how many.
        place.petal(&format!("build --kind {} --capacity 100 -o filter keys", row.name)).quiet();
        let hasher = petal::Spec::default().hasher().unwrap();
        let mut hashes: String = (0..20_000)
            .map(|key: u32| format!("{}\n", hasher.hash_bytes(key.to_string().as_bytes()).unwrap()))
            .collect();
        hashes.push_str("x\n");
        let message = place.petal_on("rejuvenate --hashes filter", hashes.as_bytes()).trouble();
        assert!(message.contains("not a hash") && message.ends_with(" keys were rejuvenated)"), "{message}");
        let count: u64 = message.rsplit("after ").next().unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!(count > 4000 && count <= changed, "{message}");
        place.petal("verify filter").text();
    }
    assert!(kinds > 0);
    for row in able(Can::INSERT).filter(|row| !row.capabilities.contains(Can::REJUVENATE)) {
        place.petal(&format!("build --kind {} --capacity 100000 -o filter some", row.name)).quiet();
        place.petal("rejuvenate filter some").names(&["filter", row.name, "rejuvenate"]);
    }
}

/// A message says that there are too many distinct keys for the capacity, with both numbers.
#[test]
fn too_many_distinct_keys_are_told() {
    let place = Place::new();
    place.file("keys", lines(0..30_000));
    for (kind, capacity) in [("cuckoo", 10_000), ("vector_quotient", 10_000)] {
        let capacity_told = format!("--capacity {capacity}: ");
        let line = format!("build --kind {kind} --capacity {capacity} -o out keys");
        let message = place.petal(&line).trouble();
        assert!(message.starts_with(&capacity_told) && message.contains("30000"), "{message}");
        assert!(!message.contains(" 1 times") && !message.contains(" 0 of it"), "{message}");
    }
}

/// A rate that is too low for a kind of levels is named as it was given, with the least one, which works.
#[test]
fn the_least_rate_is_named_and_works() {
    let place = Place::new();
    place.file("keys", lines(0..500));
    for line in [
        "dedup -q keys",
        "dedup -q --window 100 keys",
        "build --kind scalable -o out keys",
        "build --kind scalable --set tightening=0.5 -o out keys",
        "build --kind rotating --set generations=9 -o out keys",
        "build --kind rotating --set clock=steps -o out keys",
    ] {
        let message = place.petal(&format!("{line} --fpr 1e-12")).trouble();
        let least = message.split(" is below ").nth(1).and_then(|rest| rest.split([',', ' ']).next());
        let least: f64 = least.and_then(|least| least.parse().ok()).unwrap_or_else(|| panic!("{line}: {message}"));
        assert!(message.starts_with("false_positive_rate = 1e-12 is below"), "{line}: {message}");
        assert!(place.petal(&format!("{line} --fpr {least:e}")).status == 0, "{line}: {least:e}");
        let lower = least * (1.0 - 1e-9);
        place.petal(&format!("{line} --fpr {lower:e}")).names(&["false_positive_rate", "is below"]);
    }
}
