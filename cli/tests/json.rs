//! What `--json` prints: one value on a line, under the names of the library's structs, and numbers as numbers.

mod common;

use common::{Place, Run, lines};
use serde_json::Value;
use std::fs;

/// The values on the lines of a text.
fn values(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

/// The only value that a successful run prints.
fn value(run: Run) -> Value {
    let text = run.text();
    let mut all = values(&text);
    assert_eq!(all.len(), 1, "{text}");
    all.remove(0)
}

/// A folder with 1000 keys, and a filter of them that has room for 2000.
fn place() -> Place {
    let place = Place::new();
    place.file("keys", lines(0..1000));
    place.petal("build --capacity 2000 --set foldable=1 -o filter keys").quiet();
    place
}

#[test]
fn what_was_written_is_described() {
    let place = place();
    let info = |name: &str| value(place.petal(&format!("info --json {name}")));
    let built = value(place.petal("build --json --capacity 2000 --set foldable=1 -o built keys"));
    assert_eq!(built, info("built"));
    assert_eq!((built["file"].as_str(), built["insertions"].as_u64()), (Some("built"), Some(1000)));
    assert_eq!(value(place.petal("merge --json filter built -o merged")), info("merged"));
    assert_eq!(value(place.petal("intersect filter built -o common --json")), info("common"));
    let mut folded = value(place.petal("--json fold filter --fpr 0.9 -o small"));
    let factor = folded.as_object_mut().unwrap().remove("factor").unwrap();
    assert!(factor.as_u64().unwrap() >= 2);
    assert_eq!(folded, info("small"));
    place.petal("build --kind quotient --capacity 2000 -o table keys").quiet();
    assert_eq!(value(place.petal("resize --json table --capacity 5000 -o table")), info("table"));
    let none = place.petal("fold --json built --fpr 1e-9 -o nothing");
    let unchanged = values(std::str::from_utf8(&none.stdout).unwrap()).remove(0);
    assert_eq!((none.status, unchanged["factor"].as_u64()), (1, Some(1)));
    assert!(unchanged["file"].is_null() && unchanged["reason"].as_str().unwrap().contains("--fpr"));
    let mut inserted = value(place.petal_on("insert --json built", &lines(1000..1300)));
    assert_eq!(inserted.as_object_mut().unwrap().remove("inserted").unwrap(), 300);
    assert_eq!(inserted, info("built"));
    assert_eq!(inserted["insertions"], 1300);
    // The filter itself has standard output.
    let filter = fs::read(place.path("filter")).unwrap();
    assert_eq!(place.petal("merge filter filter -o -").quiet().len(), filter.len());
    for line in ["merge --json filter filter", "build --json keys", "fold --json --fpr 0.9 filter"] {
        place.petal(line).names(&["--json", "-o FILE"]);
    }
}

#[test]
fn a_line_for_each_file() {
    let place = place();
    let text = place.petal("info --json filter filter").text();
    let all = values(&text);
    assert_eq!((all.len(), &all[0]), (2, &all[1]));
    place.file("foreign", b"x");
    let run = place.petal("verify --json filter foreign filter nowhere");
    let all = values(std::str::from_utf8(&run.stdout).unwrap());
    assert_eq!((run.status, run.stderr.lines().count(), all.len()), (2, 2, 4));
    let verdicts: Vec<(&str, bool)> =
        all.iter().map(|one| (one["file"].as_str().unwrap(), one["ok"].as_bool().unwrap())).collect();
    assert_eq!(verdicts, [("filter", true), ("foreign", false), ("filter", true), ("nowhere", false)]);
    for one in &all {
        assert_eq!(one["error"].is_null(), one["ok"].as_bool().unwrap(), "{one}");
    }
    let one = value(place.petal("mark-clean --json filter"));
    assert_eq!((one["file"].as_str(), one["ok"].as_bool()), (Some("filter"), Some(true)));
}

#[test]
fn a_line_for_each_pair() {
    let place = place();
    let estimate = |value: &Value| {
        let [low, middle, high] = ["low", "value", "high"].map(|name| value[name].as_f64().expect(name));
        assert!(low < middle && middle < high && value["standard_error"].as_f64().is_some(), "{value}");
        middle
    };
    let one = value(place.petal("estimate --json filter"));
    assert_eq!(one["file"], "filter");
    assert!((900.0..1100.0).contains(&estimate(&one["count_estimate"])));
    place.petal_on("build --capacity 2000 --set foldable=1 -o other", &lines(500..1500)).quiet();
    place.petal("merge filter other -o all").quiet();
    let text = place.petal("estimate --json filter other all").text();
    let pairs = values(&text);
    let names: Vec<(&str, &str)> =
        pairs.iter().map(|pair| (pair["first"].as_str().unwrap(), pair["second"].as_str().unwrap())).collect();
    assert_eq!(names, [("filter", "other"), ("filter", "all"), ("other", "all")]);
    let truths = [
        ("first_count", 1000.0),
        ("second_count", 1000.0),
        ("union_count", 1500.0),
        ("intersection_count", 500.0),
        ("difference_count", 1000.0),
    ];
    for (name, truth) in truths {
        let value = estimate(&pairs[0][name]);
        assert!((value - truth).abs() < 100.0, "{name}: {value}");
    }
    assert!((0.2..0.5).contains(&estimate(&pairs[0]["jaccard"])));
    // For people there is a table of the same.
    let table = place.petal("estimate filter other all").text();
    assert_eq!(table.lines().count(), 1 + 3 + 3 * 4);
    assert!(table.contains("\nother, all: Jaccard "), "{table}");
}

#[test]
fn counts_and_reports() {
    let place = place();
    let counts = value(place.petal_on("check --json -c filter", &lines(900..1100)));
    let selected = counts["selected"].as_u64().unwrap();
    assert!((100..120).contains(&selected), "{counts}");
    assert_eq!((counts["file"].as_str(), counts["records"].as_u64()), (Some("filter"), Some(200)));
    assert_eq!(counts["invert"], false);
    let absent = value(place.petal_on("check -vc --json filter", &lines(900..1100)));
    assert_eq!((absent["selected"].as_u64(), absent["invert"].as_bool()), (Some(200 - selected), Some(true)));

    let input = lines(0..5000).repeat(2);
    let run = place.petal_on("dedup --json --capacity 5000", &input);
    let report = values(&run.stderr).remove(0);
    let number = |name: &str| report[name].as_u64().expect(name);
    assert_eq!((run.status, number("lines"), number("capacity")), (0, 10_000, 5000));
    assert_eq!(number("passed") as usize, run.stdout.iter().filter(|byte| **byte == b'\n').count());
    assert_eq!(number("passed") + number("dropped"), 10_000);
    let lost = |name: &str| report["lost"][name].as_f64().expect(name);
    let truth = 5000.0 - number("passed") as f64;
    assert!(lost("low") <= truth && truth <= lost("high") && lost("low") <= lost("value"), "{report}");
    assert!((0.008..0.012).contains(&report["false_positive_rate"].as_f64().unwrap()));
    // Full: nobody knows.
    let run = place.petal_on("dedup --json --capacity 10", &input);
    let report = values(&run.stderr).remove(0);
    assert!(report["lost"]["value"].is_null(), "{report}");
    assert_eq!(report["lost"]["high"].as_f64(), report["dropped"].as_f64());
    assert_eq!(place.petal_on("dedup -q --json --capacity 10", &input).stderr, "");
}

#[test]
fn kinds_have_their_parameters() {
    let text = common::petal(["kinds", "--json"]).text();
    let kinds = values(&text);
    let rows = || petal::registry::all().chain(petal::registry::SKETCHES);
    assert_eq!(kinds.len(), rows().count());
    for (value, row) in kinds.iter().zip(rows()) {
        assert_eq!(value["handle"].as_str(), Some(row.handle().name()));
        assert_eq!((value["name"].as_str(), value["summary"].as_str()), (Some(row.name), Some(row.summary)));
        let capabilities = value["capabilities"].as_array().unwrap();
        let count = petal::Capabilities::ALL.iter().filter(|(_, one)| row.capabilities.contains(*one)).count();
        assert_eq!(capabilities.len(), count);
        let parameters = value["parameters"].as_array().unwrap();
        assert_eq!(parameters.len(), row.parameters.len());
        for (value, parameter) in parameters.iter().zip(row.parameters) {
            assert_eq!(value["name"], parameter.name);
            assert_eq!(value["maximum"].as_f64(), Some(parameter.bounds().1));
            assert_eq!(value["choices"].is_array(), value["default_value"].is_string(), "{value}");
        }
    }
    let default = |kind: &&Value| kind["is_default"].as_bool().unwrap();
    let defaults: Vec<&str> = kinds.iter().filter(default).filter_map(|kind| kind["handle"].as_str()).collect();
    assert_eq!(defaults, ["filter", "map", "sketch"]);
}
