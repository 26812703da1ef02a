//! What the exit status says: each status that the manual has for a subcommand, in a run, and the tables of
//! docs/command.md. What the subcommands are for: each stands once in the help, under one heading.
#![cfg(unix)]

mod common;

use clap::CommandFactory;
use common::{Place, petal};
use petal_cli::args::Cli;
use petal_cli::manual::{GROUPS, PAGES, status_table};
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The files that the runs use: filters, a filter of another size, another system's filter, and one of each structure.
const FILES: &str = "
seq 1000 > keys; seq 2000 > more; : > none; head -c 4096 /dev/zero > damaged; mkdir tree; seq 5000 > tree/file
petal build -o f keys; petal build -o larger more; petal build --capacity 1k --set foldable=1 -o a keys; cp a b
petal build --kind counting --capacity 1k -o counting keys
petal build --kind quotient --capacity 1k -o quotient keys; petal build --kind aleph --capacity 100 -o aleph keys
petal build --format guava -o guava keys; petal import guava guava -o imported
petal insert b more; petal pack a -o packed; petal delta a b -o delta
printf 'a\\t1\\n' > values; petal map build -o map values
petal map build --kind approximator --capacity 10 -o joined values
petal map build --kind mutable_bloomier -o changing values
petal sketch build --numbers --capacity 10 -o empty none; petal sketch build --numbers --capacity 10 -o full keys
petal sketch build --kind pinsketch --set field_bits=32 --numbers --capacity 10 -o pins none
petal sketch export pins minisketch -o minisketch
petal digest make -o digest tree/file; printf 'x\\tapple\\n' > terms; petal index build --format terms -o index terms
printf '#FPS1\\n#num_bits=64\\n' > fps; petal index build -o no_rows fps
printf 'ff00000000000000\\tone\\n' >> fps; petal index build -o rows fps
";

/// Runs: the status, and the command line.
const RUNS: &[(i32, &str)] = &[
    (0, "plan --keys 10"),
    (1, "plan --keys 10 --growing --count --merge --in-place"),
    (2, "plan --keys 0"),
    (0, "kinds"),
    (2, "kinds >&-"),
    (0, "build -o x keys"),
    (2, "build -o x missing"),
    (0, "check f keys"),
    (1, "check -v f keys"),
    (2, "check damaged keys"),
    (0, "insert x keys"),
    (2, "insert damaged keys"),
    (0, "remove counting none"),
    (2, "remove f keys"),
    (0, "count counting keys"),
    (1, "count counting none"),
    (2, "count f keys"),
    (0, "rejuvenate aleph keys"),
    (2, "rejuvenate f keys"),
    (0, "dedup keys"),
    (2, "dedup missing"),
    (0, "info f a"),
    (2, "info f missing a"),
    (0, "estimate a b"),
    (2, "estimate f larger"),
    (0, "hashes quotient"),
    (2, "hashes f"),
    (0, "verify f a"),
    (2, "verify f damaged a"),
    (0, "mark-clean f a"),
    (2, "mark-clean f damaged a"),
    (0, "merge -o x a b"),
    (2, "merge -o x f larger"),
    (0, "intersect -o x a b"),
    (2, "intersect -o x f larger"),
    (0, "fold --fpr 0.9 -o x a"),
    (1, "fold --fpr 1e-9 -o x a"),
    (2, "fold --fpr 0.9 -o x damaged"),
    (0, "resize --capacity 4k -o x quotient"),
    (2, "resize --capacity 4k -o x f"),
    (0, "pack -o x f"),
    (2, "pack -o x damaged"),
    (0, "unpack -o x packed"),
    (2, "unpack -o x keys"),
    (0, "delta -o x a b"),
    (2, "delta -o x f larger"),
    (0, "patch -o x a delta"),
    (2, "patch -o x larger delta"),
    (0, "formats"),
    (2, "formats >&-"),
    (0, "import guava guava -o x"),
    (2, "import guava none -o x"),
    (0, "export imported guava -o x"),
    (2, "export f guava -o x"),
    (0, "diff keys keys"),
    (1, "diff keys more"),
    (2, "diff empty full"),
    (0, "sync keys --peer 'petal sync keys --peer -'"),
    (0, "sync mine --exchange --peer 'petal sync keys --exchange --peer -'"),
    (1, "sync keys --peer 'petal sync more --peer -'"),
    (2, "sync keys --peer false"),
    (0, "sketch build --capacity 10 -o x keys"),
    (2, "sketch build --capacity 10 -o x missing"),
    (0, "sketch insert --numbers x keys"),
    (2, "sketch insert f keys"),
    (0, "sketch remove x keys"),
    (2, "sketch remove f keys"),
    (0, "sketch get --numbers empty keys"),
    (1, "sketch get --numbers full keys"),
    (2, "sketch get f keys"),
    (0, "sketch subtract -o x empty empty"),
    (2, "sketch subtract -o x empty f"),
    (0, "sketch merge -o x empty empty"),
    (2, "sketch merge -o x empty f"),
    (0, "sketch list empty"),
    (1, "sketch list full"),
    (2, "sketch list f"),
    (0, "sketch import minisketch --set field_bits=32 -o x minisketch"),
    (2, "sketch import minisketch -o x missing"),
    (0, "sketch export pins minisketch -o x"),
    (2, "sketch export empty minisketch -o x"),
    (0, "map build -o x values"),
    (2, "map build -o x keys"),
    (0, "map get --field 1 map values"),
    (1, "map get map none"),
    (2, "map get f keys"),
    (0, "map put joined values"),
    (2, "map put map values"),
    (0, "map replace changing values"),
    (2, "map replace map values"),
    (0, "digest make -o x tree"),
    (2, "digest make -o x missing"),
    (0, "digest find digest \"$(seq 3000 3040)\""),
    (1, "digest find digest \"$(seq 8000 8040)\""),
    (2, "digest find f \"$(seq 3000 3040)\""),
    (0, "index build --format terms -o x terms"),
    (2, "index build --format terms -o x missing"),
    (0, "index search index apple"),
    (1, "index search index fig plum pear"),
    (2, "index search f apple"),
    (0, "index top rows ff00000000000000"),
    (1, "index top no_rows ff00000000000000"),
    (2, "index top index apple"),
    (0, "index info index"),
    (2, "index info f"),
    (0, "index export index"),
    (2, "index export f"),
];

fn shell(line: &str, place: &Place, path: &str) -> (i32, String) {
    let mut bash = Command::new("bash");
    let output = bash.args(["-c", line]).current_dir(place.folder()).env("PATH", path).output().expect("bash");
    (output.status.code().expect("no signal"), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn every_status_that_the_manual_has_is_that_of_a_run() {
    let (bin, place) = (tempfile::TempDir::new().expect("a folder"), Place::new());
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_petal"), bin.path().join("petal")).expect("a link");
    let path = format!("{}:{}", bin.path().display(), env::var("PATH").unwrap_or_default());
    let (status, errors) = shell(&format!("set -e\n{FILES}"), &place, &path);
    assert_eq!(status, 0, "{errors}");
    place.file("mine", "1\n");
    let mut ran = BTreeSet::new();
    for (status, line) in RUNS {
        let (found, errors) = shell(&format!("petal {line}"), &place, &path);
        assert_eq!(found, *status, "petal {line}: {errors}");
        assert!(*status < 2 || errors.starts_with("petal: "), "petal {line}: {errors}");
        let name = |words: usize| line.split(' ').take(words).collect::<Vec<&str>>().join(" ");
        ran.insert((if PAGES.iter().any(|page| page.name == name(2)) { name(2) } else { name(1) }, *status));
    }
    // What a server answers is tested with one (integrations/redis/tests).
    let documented = PAGES.iter().filter(|page| !page.name.starts_with("redis ")).flat_map(|page| {
        let statuses = page.status.iter().flat_map(|status| [Some(0), status.one.map(|_| 1), Some(2)]);
        statuses.flatten().map(|status| (page.name.to_owned(), status))
    });
    assert_eq!(ran, documented.collect());
}

/// The status of the command without a subcommand, of help and of a wrong command line.
#[test]
fn help_is_asked_for_or_an_error() {
    for (status, line) in [(0, "--help"), (0, "help"), (0, "--version"), (2, ""), (2, "nonsense"), (2, "map")] {
        assert_eq!(petal(line.split_whitespace()).status, status, "petal {line}");
    }
}

fn document() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder above");
    fs::read_to_string(root.join("docs/command.md")).expect("docs/command.md")
}

#[test]
fn the_document_has_the_statuses() {
    // `petal redis` is a choice of the build.
    let redis = |line: &&str| cfg!(feature = "redis") || !line.starts_with("| `redis");
    let document: String = document().lines().filter(redis).map(|line| format!("{line}\n")).collect();
    assert!(document.contains(&status_table()), "docs/command.md lacks this table:\n{}", status_table());
}

/// Every subcommand stands in one group, and in it in the help and in docs/command.md.
#[test]
fn groups_have_every_subcommand_once() {
    let command = Cli::command();
    let mut there: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
    there.sort_unstable();
    grouped.sort_unstable();
    assert_eq!(grouped, there);
    let (help, document) = (petal(["--help"]).text(), document());
    let mut lines = help.lines().skip_while(|line| *line != format!("{}:", GROUPS[0].0));
    for (heading, names) in GROUPS {
        assert_eq!(lines.next(), Some(&*format!("{heading}:")));
        for name in *names {
            let line = lines.next().expect("a line");
            let about = line.strip_prefix(&format!("  {name:<10}  ")).unwrap_or_else(|| panic!("{name}: {line}"));
            // No terminal breaks the line.
            assert!(!about.is_empty() && line.len() <= 80, "{line}");
        }
        assert_eq!(lines.next(), Some(""));
        // `petal redis` is a choice of the build, and always in the document.
        let names: Vec<String> =
            names.iter().filter(|name| **name != "redis").map(|name| format!("`{name}`")).collect();
        let row = format!("| {} | {}", heading.to_lowercase(), names.join(", "));
        assert!(document.to_lowercase().contains(&row), "docs/command.md lacks this row: {row}");
    }
    assert_eq!(lines.next(), Some("Options:"));
}
