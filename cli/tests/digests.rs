//! `petal digest`: which file of many has an excerpt, and where.

mod common;

use common::{Place, info, lines};

/// Excerpts are found in their file, in both cuts; non-members are not, and the exit status is that of grep.
#[test]
fn excerpts_are_found_in_their_file() {
    let place = Place::new();
    place.file("one", lines(0..20_000));
    place.file("two", lines(20_000..40_000));
    let excerpt = lines(30_000..30_060);
    let at = lines(20_000..30_000).len();
    place.file("excerpt", &excerpt);
    place.file("non-member", lines(50_000..50_060));
    let hex: String = excerpt.iter().map(|byte| format!("{byte:02X}")).collect();
    place.petal("digest make -o fixed.digest one two").quiet();
    place.petal("verify fixed.digest").text();
    assert_eq!(place.petal("digest find fixed.digest -e excerpt").text(), format!("two\t{at}\n"));
    assert_eq!(place.petal(&format!("digest find fixed.digest --hex {hex}")).text(), format!("two\t{at}\n"));
    let both = place.petal("digest find fixed.digest -e non-member -e excerpt");
    assert_eq!(both.text(), format!("2\ttwo\t{at}\n"));
    assert_eq!(place.petal("digest find fixed.digest -e non-member").status, 1);
    assert_eq!(place.petal("digest find -q fixed.digest -e excerpt").text(), "");

    place.petal("digest make --cut content --bytes-per-byte 0.2 -o content.digest one two").quiet();
    let text = place.petal("digest find content.digest -e excerpt").text();
    let range = text.strip_prefix("two\t").and_then(|rest| rest.trim_end().split_once('-')).unwrap();
    let (from, to): (usize, usize) = (range.0.parse().unwrap(), range.1.parse().unwrap());
    assert!((from..=to).contains(&at) && to - from < 256, "{text}");
    assert_eq!(place.petal("digest find content.digest -e non-member").status, 1);

    let json = place.petal("digest find --json fixed.digest -e excerpt").text();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["matches"][0]["file"], &json["matches"][0]["offset"]), (&"two".into(), &at.into()));
    let said = info(&place.path("fixed.digest"));
    assert_eq!((&said["kind"], &said["parameters"]["payloads"]), (&"digest".into(), &2.into()));
    let made = place.petal("digest make --json -o other.digest one").text();
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    assert_eq!((&made["files"], &made["shortest_excerpt"]), (&1.into(), &63.into()));
}

/// A folder stands for its files, in the order of their names; a stream needs a capacity.
#[test]
fn folders_and_streams() {
    let place = Place::new();
    for folder in ["tree", "tree/b"] {
        std::fs::create_dir(place.path(folder)).unwrap();
    }
    place.file("tree/b/deep", lines(0..5_000));
    place.file("tree/a", lines(5_000..10_000));
    place.petal("digest make -o tree.digest tree").quiet();
    place.file("excerpt", lines(2_000..2_100));
    let at = lines(0..2_000).len();
    assert_eq!(place.petal("digest find tree.digest -e excerpt").text(), format!("tree/b/deep\t{at}\n"));

    let refused = place.petal_on("digest make -o s.digest -", &lines(0..5_000));
    assert!(refused.status == 2 && refused.stderr.contains("--capacity N"), "{}", refused.stderr);
    place.petal_on("digest make --capacity 30000 -o s.digest -", &lines(0..5_000)).quiet();
    assert_eq!(place.petal("digest find s.digest -e excerpt").text(), format!("standard input\t{at}\n"));
    // Without ids an answer says only that it is there.
    place.petal("digest make --set payloads=0 -o none.digest tree").quiet();
    assert!(place.petal("digest find none.digest -e excerpt").text().starts_with("-\t"));
}

/// What is wrong is said in a line, with the exit status 2.
#[test]
fn what_is_wrong_is_said() {
    let place = Place::new();
    place.file("a", lines(0..5_000));
    place.petal("digest make -o a.digest a").quiet();
    place.petal("build -o filter.petal a").quiet();
    for (line, words) in [
        ("digest find a.digest short", "an excerpt of 5 bytes is shorter than 63"),
        ("digest find a.digest", "no excerpt was given"),
        ("digest find a.digest --hex 123", "--hex 123: is no even number of hexadecimal digits"),
        ("digest find a.digest --hex zz", "--hex zz"),
        ("digest find filter.petal short", "not of digest"),
        ("digest make -o b.digest absent", "absent"),
        ("digest make -o a a", "is one of the FILES too"),
        ("digest make --levels 5 -o b.digest a", "--levels: levels = 5"),
        ("digest make --bytes-per-byte 9 -o b.digest a", "--bytes-per-byte: bytes_per_byte = 9"),
        ("digest make --levels 2 --set levels=2 -o b.digest a", "--levels: is set twice"),
        ("digest make --set payloads=1 -o b.digest a a.digest", "the 1 payloads"),
    ] {
        let said = place.petal(line);
        assert!(said.status == 2 && said.stderr.contains(words), "{line}: {}", said.stderr);
    }
    // A warning comes with chance matches: a filter of few bits says yes to everything.
    place.file("long", lines(0..100_000));
    place.petal("digest make --bytes-per-byte 0.001 --set payloads=0 -o full.digest long").quiet();
    place.file("excerpt", lines(70_000_000..70_000_010));
    let said = place.petal("digest find full.digest -e excerpt");
    assert!(said.status == 0 && said.stderr.contains("by chance"), "{}", said.stderr);
}
