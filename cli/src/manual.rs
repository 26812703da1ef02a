//! The parts of help and man pages beyond the options: what the subcommands are for, examples, and the exit status.

/// The end of a subcommand's page.
pub struct Page {
    /// The name of the subcommand, or `petal` for the whole command.
    pub name: &'static str,
    /// The examples: what each one does, and its commands.
    pub examples: &'static [(&'static str, &'static str)],
    /// What the exit status means; `None` for a command that has subcommands.
    pub status: Option<Status>,
}

/// What the exit status means.
#[derive(Clone, Copy, PartialEq)]
pub struct Status {
    /// When it is 0.
    pub zero: &'static str,
    /// When it is 1, if it ever is.
    pub one: Option<&'static str>,
    /// When it is 2.
    pub two: &'static str,
}

const ERROR: &str = "an error";
const SUCCESS: Status = Status { zero: "success", one: None, two: ERROR };
const SELECTED: Status = Status { zero: "a key was selected", one: Some("no key was selected"), two: ERROR };
const FOUND: Status = Status { zero: "a row was found", one: Some("no row was found"), two: ERROR };
const FILES: Status =
    Status { zero: "success with every file", one: None, two: "an error with a file; the others are still read" };

/// What the subcommands are for: the order of help, man page and docs/command.md.
pub const GROUPS: &[(&str, &[&str])] = &[
    ("Choose a kind and a size", &["plan", "kinds"]),
    ("Make a filter and use it", &["build", "check", "insert", "remove", "count", "rejuvenate", "dedup"]),
    ("Look at filters and their files", &["info", "estimate", "hashes", "verify", "mark-clean"]),
    ("Make one filter of others", &["merge", "intersect", "fold", "resize"]),
    ("Send filters in few bytes", &["pack", "unpack", "delta", "patch"]),
    ("Work with other systems' filters", OTHERS),
    ("Find what differs between two sets", &["diff", "sync", "sketch"]),
    ("Use other structures", &["map", "digest", "index"]),
];

const OTHERS: &[&str] =
    if cfg!(feature = "redis") { &["formats", "import", "export", "redis"] } else { &["formats", "import", "export"] };

/// All pages.
pub const PAGES: &[Page] = &[
    Page {
        name: "petal",
        examples: &[
            (
                "A filter of a word list, with one false positive in a thousand",
                "petal build --fpr 0.001 -o words.petal words.txt",
            ),
            ("The lines of a text that certainly are not in the list", "petal check -v words.petal text.txt"),
            ("The distinct lines of a stream, in 12 MB", "petal dedup --capacity 10M < stream.log"),
            ("Which kind of filter for a hundred million keys in 128 MiB", "petal plan --keys 100M --memory 128MiB"),
            (
                "A map from names to numbers, and the number of a name",
                "petal map build -o m ids.tsv; echo ann | petal map get m",
            ),
        ],
        status: None,
    },
    Page {
        name: "build",
        examples: &[
            ("One false positive in a thousand", "petal build --fpr 0.001 -o words.petal words.txt"),
            (
                "The names of files, which may have newlines in them, from a pipe",
                "find . -print0 | petal build -0 --capacity 1M -o files.petal",
            ),
            (
                "The second field of a table of comma-separated values",
                "petal build --field 2 --delimiter , -o users.petal users.csv",
            ),
            (
                "Keys from strangers, hashed under a secret key",
                "head -c 16 /dev/urandom > secret; petal build --key-file secret -o keyed.petal keys.txt",
            ),
            ("A filter for a program that uses Guava", "petal build --format guava --fpr 0.01 -o words.bf words.txt"),
            (
                "With room to grow, to be folded later",
                "petal build --capacity 1e6 --set foldable=1 -o roomy.petal few.txt",
            ),
        ],
        status: Some(SUCCESS),
    },
    Page {
        name: "check",
        examples: &[
            ("The lines that may be in the filter", "petal check words.petal text.txt"),
            ("How many lines certainly are not in the filter", "petal check -vc words.petal text.txt"),
            (
                "Whether a password is among the leaked ones",
                "printf '%s\\n' \"$password\" | petal check -q leaked.petal",
            ),
            (
                "The requests in a log that come from known addresses, the first field",
                "petal check --field 1 addresses.petal access.log",
            ),
            ("Compressed keys", "zcat keys.gz | petal check words.petal"),
            ("Keys that a program hashed", "petal check --hashes seen.petal hashes.txt"),
        ],
        status: Some(SELECTED),
    },
    Page {
        name: "insert",
        examples: &[
            ("Add the keys of a file", "petal insert words.petal more.txt"),
            ("Add keys as they come", "tail -f access.log | petal insert --field 1 addresses.petal"),
        ],
        status: Some(SUCCESS),
    },
    Page {
        name: "remove",
        examples: &[
            ("Take out the keys of a file", "petal remove users.petal gone.txt"),
            ("How many were there, for a program", "petal remove --json users.petal gone.txt | jq .removed"),
        ],
        status: Some(SUCCESS),
    },
    Page {
        name: "rejuvenate",
        examples: &[
            (
                "The keys that a lookup found and the store behind the filter has",
                "petal check users.petal asked.txt | sort | comm -12 - stored.txt > found; \
                 petal rejuvenate users.petal found",
            ),
            (
                "How many were rejuvenated, for a program",
                "petal rejuvenate --json users.petal found.txt | jq .rejuvenated",
            ),
        ],
        status: Some(SUCCESS),
    },
    Page {
        name: "count",
        examples: &[
            ("Into another filter, with their counts", "petal count a.petal keys.txt | petal insert --counts b.petal"),
            ("The keys that came ten times or more", "sort -u names.txt | petal count log.petal | awk '$1 >= 10'"),
            ("For a program", "petal count --json users.petal some.txt"),
        ],
        status: Some(Status {
            zero: "one of the keys may be there",
            one: Some("none of the keys is there"),
            two: ERROR,
        }),
    },
    Page {
        name: "dedup",
        examples: &[
            ("The distinct lines of a stream", "petal dedup --capacity 10M < stream.log"),
            (
                "The first line of each user, with one loss in a million",
                "petal dedup --capacity 1e6 --fpr 1e-6 -f 3 log",
            ),
            ("However many lines come", "petal dedup --kind scalable --capacity 1M < stream.log"),
            ("The report for a program", "petal dedup --json --capacity 1M log > distinct 2> report.json"),
        ],
        status: Some(SUCCESS),
    },
    Page {
        name: "info",
        examples: &[
            ("What a file is", "petal info words.petal"),
            ("The false-positive rates of many", "petal info --json *.petal | jq .statistics.false_positive_rate"),
            ("A filter from elsewhere", "ssh host cat words.petal | petal info -"),
        ],
        status: Some(FILES),
    },
    Page {
        name: "verify",
        examples: &[
            ("Every file of a folder", "petal verify data/*.petal"),
            ("Nothing unless there is trouble", "petal verify -q words.petal"),
        ],
        status: Some(FILES),
    },
    Page {
        name: "mark-clean",
        examples: &[(
            "After an insertion that Ctrl-C ended: mark the file clean, and insert again",
            "petal mark-clean words.petal && petal insert words.petal more.txt",
        )],
        status: Some(FILES),
    },
    Page {
        name: "merge",
        examples: &[("One filter of many", "petal merge -o all.petal monday.petal tuesday.petal wednesday.petal")],
        status: Some(SUCCESS),
    },
    Page {
        name: "intersect",
        examples: &[("The keys that both hold", "petal intersect -o common.petal monday.petal tuesday.petal")],
        status: Some(SUCCESS),
    },
    Page {
        name: "fold",
        examples: &[("As small as one in a hundred allows", "petal fold --fpr 0.01 -o small.petal roomy.petal")],
        status: Some(Status {
            zero: "a smaller filter was written",
            one: Some("there is nothing to fold, and nothing was written"),
            two: ERROR,
        }),
    },
    Page {
        name: "resize",
        examples: &[
            ("With room for twenty million keys", "petal resize --capacity 20M -o roomy.petal full.petal"),
            ("In its own place", "petal resize --capacity 20M -o seen.petal seen.petal"),
            ("As small as its keys allow", "petal resize --capacity 1 -o small.petal roomy.petal"),
        ],
        status: Some(SUCCESS),
    },
    Page {
        name: "estimate",
        examples: &[
            ("How many distinct keys one holds", "petal estimate words.petal"),
            ("How much two have in common", "petal estimate monday.petal tuesday.petal"),
            ("The same for a program", "petal estimate --json monday.petal tuesday.petal | jq .jaccard.value"),
        ],
        status: Some(Status { zero: "success", one: None, two: "two filters cannot be compared, or another error" }),
    },
    Page {
        name: "pack",
        examples: &[("To another machine", "petal pack seen.petal | ssh host 'petal unpack - -o seen.petal'")],
        status: Some(SUCCESS),
    },
    Page {
        name: "unpack",
        examples: &[("Of at most 10 MiB", "petal unpack --limit 10MiB seen.packed -o seen.petal")],
        status: Some(SUCCESS),
    },
    Page {
        name: "delta",
        examples: &[("What came since yesterday", "petal delta yesterday.petal today.petal -o day.delta")],
        status: Some(SUCCESS),
    },
    Page {
        name: "patch",
        examples: &[("Up to date again", "petal patch seen.petal day.delta -o seen.petal")],
        status: Some(SUCCESS),
    },
    Page {
        name: "import",
        examples: &[
            ("A filter that Guava wrote", "petal import guava seen.bf -o seen.petal; petal check seen.petal keys.txt"),
            (
                "A filter whose bytes do not say its size",
                "petal import libbloom_1 --bits 9585 --hashes 7 array -o seen.petal",
            ),
        ],
        status: Some(SUCCESS),
    },
    Page {
        name: "export",
        examples: &[
            ("Back as the bytes that it came from", "petal export seen.petal guava -o seen.bf"),
            (
                "Keys into another system's filter",
                "petal import spark f -o f.petal; petal insert f.petal more.txt; petal export f.petal spark -o f",
            ),
        ],
        status: Some(SUCCESS),
    },
    Page {
        name: "formats",
        examples: &[
            ("All formats", "petal formats"),
            ("Those that filters can be made in", "petal formats --json | jq -r 'select(.create).name'"),
        ],
        status: Some(SUCCESS),
    },
    Page {
        name: "hashes",
        examples: &[
            ("How many different numbers are stored", "petal hashes fixed.petal | wc -l"),
            (
                "The numbers that two filters have in common",
                "petal hashes a.petal | sort > a; petal hashes b.petal | sort | comm -12 a -",
            ),
        ],
        status: Some(SUCCESS),
    },
    Page {
        name: "kinds",
        examples: &[
            ("All kinds and their parameters", "petal kinds"),
            ("Those that can be folded", "petal kinds --json | jq -r 'select(.capabilities | index(\"fold\")).name'"),
        ],
        status: Some(SUCCESS),
    },
    Page {
        name: "map",
        examples: &[
            (
                "A map of a table, and the value of a key",
                "petal map build -o m.petal ids.tsv; petal map get m.petal names.txt",
            ),
            ("What a map is", "petal map build -o m.petal ids.tsv; petal info m.petal"),
            (
                "A map that takes keys later",
                "petal map build --kind approximator --capacity 1M -o m.petal first.tsv; \
                 petal map put m.petal more.tsv",
            ),
            (
                "A map whose values change",
                "petal map build --kind mutable_bloomier -o m.petal ids.tsv; petal map replace m.petal changed.tsv",
            ),
        ],
        status: None,
    },
    Page {
        name: "map build",
        examples: &[
            ("From lines of key, tab and value", "petal map build -o ids.petal ids.tsv"),
            ("The line numbers of a list", "awk '{ print $0 \"\\t\" NR }' words.txt | petal map build -o lines.petal"),
            ("One absent key in a million gets a value", "petal map build --fpr 1e-6 -d , -o prices.petal prices.csv"),
        ],
        status: Some(SUCCESS),
    },
    Page {
        name: "map get",
        examples: &[
            ("The values of keys", "petal map get ids.petal names.txt"),
            ("The names that have no value", "petal map get -v ids.petal names.txt"),
            ("The value of one name, for a program", "echo ann | petal map get --json ids.petal | jq .value"),
        ],
        status: Some(SELECTED),
    },
    Page {
        name: "map put",
        examples: &[
            ("The greatest value that was ever seen of each key", "petal map put most.petal today.tsv"),
            ("Under a secret", "petal map put --key-file secret most.petal today.tsv"),
        ],
        status: Some(SUCCESS),
    },
    Page {
        name: "map replace",
        examples: &[
            ("Prices that change, of goods that do not", "petal map replace prices.petal changed.tsv"),
            ("One price", "printf 'tea\\t295\\n' | petal map replace prices.petal"),
        ],
        status: Some(SUCCESS),
    },
    Page {
        name: "diff",
        examples: &[
            ("What changed between two lists, in any order", "petal diff yesterday.txt today.txt"),
            ("The keys that only the second list has", "petal diff old.txt new.txt | sed -n 's/^> //p'"),
            ("What a file of keys has that a sketch of another machine has not", "petal diff theirs.petal keys.txt"),
        ],
        status: Some(Status {
            zero: "nothing differs",
            one: Some("something differs"),
            two: "more keys differ than sketches can list, or another error",
        }),
    },
    Page {
        name: "sync",
        examples: &[
            (
                "What another machine has, and what it lacks",
                "peer='ssh HOST petal sync users.txt --peer -'; petal sync users.txt --peer \"$peer\"",
            ),
            (
                "Add what is missing on both sides",
                "peer='ssh HOST petal sync users.txt --exchange --peer -'; \
                 petal sync users.txt --exchange --peer \"$peer\"",
            ),
            ("Over a connection, the side that waits", "petal sync users.txt --listen 10.0.0.1:7000"),
            ("And the side that connects", "petal sync users.txt --connect 10.0.0.1:7000"),
        ],
        status: Some(Status {
            zero: "nothing differs, or with --exchange this side has got what it lacked",
            one: Some("something differs"),
            two: ERROR,
        }),
    },
    Page {
        name: "digest",
        examples: &[(
            "Which file of a folder has some bytes",
            "petal digest make -o src.digest src; petal digest find src.digest -e excerpt.bin",
        )],
        status: None,
    },
    Page {
        name: "digest make",
        examples: &[
            ("A twentieth of the bytes of a folder", "petal digest make --bytes-per-byte 0.05 -o src.digest src"),
            ("A stream", "zcat log.gz | petal digest make --cut content --capacity 1G -o digest -"),
        ],
        status: Some(SUCCESS),
    },
    Page {
        name: "digest find",
        examples: &[
            ("Bytes of a file", "petal digest find src.digest --excerpt-file excerpt.bin"),
            ("A text of 63 bytes or more", "petal digest find src.digest \"$(cat paragraph.txt)\""),
        ],
        status: Some(Status { zero: "an excerpt was found", one: Some("no excerpt was found"), two: ERROR }),
    },
    Page {
        name: "index",
        examples: &[(
            "Which files of a folder have a text",
            "petal index build --format files -o src.index src; petal index search src.index 'unsafe fn'",
        )],
        status: None,
    },
    Page {
        name: "index build",
        examples: &[
            ("Fingerprints in chemfp's text format", "petal index build -o molecules.index molecules.fps"),
            (
                "Documents with terms, one in a thousand by chance",
                "petal index build --format terms --fpr 0.001 -o docs.index docs.tsv",
            ),
        ],
        status: Some(SUCCESS),
    },
    Page {
        name: "index search",
        examples: &[
            (
                "Fingerprints that are similar to those of a file",
                "petal index search --at-least 0.7 --queries queries.fps molecules.index",
            ),
            ("Documents that have two terms", "petal index search docs.index apple pear"),
            (
                "The files that may have one of a hundred texts",
                "petal index search --queries texts.txt src.index | cut -f 2 | sort -u",
            ),
        ],
        status: Some(FOUND),
    },
    Page {
        name: "index top",
        examples: &[("The ten nearest", "petal index top -k 10 --queries queries.fps molecules.index")],
        status: Some(FOUND),
    },
    Page {
        name: "index info",
        examples: &[("Width, rows and names", "petal index info molecules.index")],
        status: Some(SUCCESS),
    },
    Page {
        name: "index export",
        examples: &[("All rows as FPS", "petal index export molecules.index > molecules.fps")],
        status: Some(SUCCESS),
    },
    Page {
        name: "sketch",
        examples: &[(
            "What two lists do not have in common",
            "petal sketch build --capacity 100 -o a.petal a.txt; petal sketch build --capacity 100 -o b.petal b.txt; \
             petal sketch subtract -o d.petal a.petal b.petal; petal sketch list d.petal",
        )],
        status: None,
    },
    Page {
        name: "sketch build",
        examples: &[
            (
                "For up to a thousand differences",
                "sort -u users.txt | petal sketch build --capacity 1000 -o users.petal",
            ),
            (
                "Of numbers, which are listed as they are",
                "seq 1000 | petal sketch build --numbers --capacity 10 -o s.petal",
            ),
            (
                "Of whole keys of 40 bytes, which are listed in hexadecimal",
                "petal sketch build --kind riblt --set key_bytes=40 --capacity 9 -o s ids",
            ),
            (
                "Of keys with values, so that other values are differences too",
                "petal sketch build --values --capacity 10 -o prices.petal prices.tsv",
            ),
        ],
        status: Some(SUCCESS),
    },
    Page {
        name: "sketch insert",
        examples: &[("Keys that are new in the set", "petal sketch insert users.petal new.txt")],
        status: Some(SUCCESS),
    },
    Page {
        name: "sketch remove",
        examples: &[("Keys that are gone from the set", "petal sketch remove users.petal gone.txt")],
        status: Some(SUCCESS),
    },
    Page {
        name: "sketch get",
        examples: &[
            ("Which of some keys differ", "petal sketch get changed.petal some.txt"),
            ("One key", "echo ann | petal sketch get changed.petal"),
        ],
        status: Some(Status {
            zero: "the sketch can say it of every key",
            one: Some("it cannot say it of some key"),
            two: ERROR,
        }),
    },
    Page {
        name: "sketch subtract",
        examples: &[("What is different since", "petal sketch subtract -o changed.petal today.petal yesterday.petal")],
        status: Some(SUCCESS),
    },
    Page {
        name: "sketch merge",
        examples: &[("Parts of a set", "petal sketch merge -o all.petal first.petal second.petal")],
        status: Some(SUCCESS),
    },
    Page {
        name: "sketch list",
        examples: &[
            ("The differences", "petal sketch list changed.petal"),
            ("For a program", "petal sketch list --json changed.petal | jq .number"),
        ],
        status: Some(Status {
            zero: "everything is listed",
            one: Some("the sketch holds more than it can list"),
            two: ERROR,
        }),
    },
    Page {
        name: "sketch import",
        examples: &[(
            "A sketch of minisketch over elements of 32 bits",
            "petal sketch import minisketch --set field_bits=32 -o b.petal b.bin",
        )],
        status: Some(SUCCESS),
    },
    Page {
        name: "sketch export",
        examples: &[("The bytes that minisketch reads", "petal sketch export -o ours.bin ours.petal minisketch")],
        status: Some(SUCCESS),
    },
    #[cfg(feature = "redis")]
    Page {
        name: "redis",
        examples: &[
            ("A set over 64 keys of a cluster", "petal redis build --url 10.0.0.1:6379 --shards 64 seen urls.txt"),
            (
                "A filter that is built from all of its keys, as a key",
                "petal build --kind ribbon -o seen.petal urls.txt; petal redis import seen seen.petal",
            ),
        ],
        status: None,
    },
    #[cfg(feature = "redis")]
    Page {
        name: "redis build",
        examples: &[
            ("One key, with one false positive in a thousand", "petal redis build --fpr 0.001 seen urls.txt"),
            ("Through a socket, from a pipe", "zcat urls.gz | petal redis build --url unix:///run/redis.sock seen"),
            ("For clients of RedisBloom", "petal redis build --type bf --fpr 0.001 seen urls.txt"),
            (
                "Shards that are to be one filter in a file",
                "petal redis build --shards 16 --mergeable seen urls.txt; \
                 petal redis merge --shards 16 seen -o seen.petal",
            ),
        ],
        status: Some(SUCCESS),
    },
    #[cfg(feature = "redis")]
    Page {
        name: "redis check",
        examples: &[
            ("Whether all keys are there", "petal redis check --shards 64 seen urls.txt"),
            ("The lines whose keys are not there", "petal redis check -v --shards 64 seen urls.txt"),
            ("How many are not, for a program", "petal redis check --json seen urls.txt | jq .missing"),
        ],
        status: Some(Status { zero: "all keys were found", one: Some("some keys are missing"), two: ERROR }),
    },
    #[cfg(feature = "redis")]
    Page {
        name: "redis merge",
        examples: &[
            ("One filter of all shards", "petal redis merge --shards 16 seen -o seen.petal"),
            ("With what a file has", "petal redis merge today yesterday.petal -o both.petal"),
        ],
        status: Some(SUCCESS),
    },
    #[cfg(feature = "redis")]
    Page {
        name: "redis export",
        examples: &[
            ("A key", "petal redis export seen -o seen.petal"),
            ("All shards, a file each", "petal redis export --shards 16 seen -o seen.{}.petal"),
        ],
        status: Some(SUCCESS),
    },
    #[cfg(feature = "redis")]
    Page {
        name: "redis import",
        examples: &[
            ("A key", "petal redis import seen seen.petal"),
            ("Shards, as they were exported", "petal redis import --shards 16 seen seen.{}.petal"),
        ],
        status: Some(SUCCESS),
    },
    Page {
        name: "plan",
        examples: &[
            ("For a rate", "petal plan --keys 1M --fpr 1%"),
            ("Why other kinds will not do", "petal plan --keys 1M -v"),
            ("For many threads, in a file in place", "petal plan --keys 1M --shared --in-place"),
            ("The most accurate for a memory", "petal plan --keys 100M --memory 128MiB"),
            ("For keys that do not change", "petal plan --static --keys 100M --fpr 0.001"),
            ("The most accurate for 1 MB on the wire", "petal plan --keys 1M --wire 1MB --memory 10MB"),
            ("A picture of all kinds that will do", "petal plan --static --keys 100M --plot kinds.svg"),
            ("For sessions that come and go", "petal plan --remove --keys 1M --fpr 0.01"),
        ],
        status: Some(Status { zero: "some kind fits", one: Some("no kind fits"), two: ERROR }),
    },
];

/// The page of a subcommand.
pub fn page(name: &str) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.name == name)
}

/// The commands of an example, one a line: a command that a narrow terminal wrapped could not be copied.
pub fn commands(how: &'static str) -> impl Iterator<Item = &'static str> {
    how.split("; ")
}

/// What the exit status means, in words: each status with its lines.
pub fn statuses(page: &Page) -> Vec<(u8, Vec<String>)> {
    let error = format!("{ERROR}, with a line on standard error");
    if let Some(status) = page.status {
        let two = if status.two == ERROR { &error } else { status.two };
        let all = [(0, Some(status.zero)), (1, status.one), (2, Some(two))];
        return all.into_iter().filter_map(|(number, words)| Some((number, vec![words?.to_owned()]))).collect();
    }
    let is_all = page.name == "petal";
    let own = |name: &'static str| if is_all { Some(name) } else { name.strip_prefix(page.name)?.strip_prefix(' ') };
    let ones = meanings().into_iter().filter_map(|(names, status)| {
        let names: Vec<&str> = names.into_iter().filter_map(own).collect();
        status.one.filter(|_| !names.is_empty()).map(|one| format!("{}: {one}", names.join(", ")))
    });
    let mut errors = vec![error];
    if is_all {
        errors.push(String::from("(without the line if nobody reads the output any more, as after `| head`)"));
    }
    vec![(0, vec![String::from(SUCCESS.zero)]), (1, ones.collect()), (2, errors)]
}

/// The subcommands whose exit status says more than success, those with the same meanings together.
pub fn meanings() -> Vec<(Vec<&'static str>, Status)> {
    let mut all: Vec<(Vec<&str>, Status)> = Vec::new();
    for page in PAGES {
        let Some(status) = page.status.filter(|status| *status != SUCCESS) else { continue };
        match all.iter_mut().find(|(_, same)| *same == status) {
            Some((names, _)) => names.push(page.name),
            None => all.push((vec![page.name], status)),
        }
    }
    all
}

/// The table of exit statuses in docs/command.md.
pub fn status_table() -> String {
    let row = |names: &str, Status { zero, one, two }: Status| {
        format!("| {names} | {zero} | {} | {two} |\n", one.unwrap_or("")).replace("|  |", "| |")
    };
    let rows = meanings().into_iter().map(|(names, status)| row(&format!("`{}`", names.join("`, `")), status));
    let rows: String = rows.collect();
    format!("| subcommand | 0 | 1 | 2 |\n|---|---|---|---|\n{rows}{}", row("others", SUCCESS))
}

/// The end of a subcommand's long help.
pub fn after_help(name: &str) -> String {
    let Some(page) = page(name) else { return String::new() };
    let examples = page.examples.iter().map(|(what, how)| {
        let commands: String = commands(how).map(|command| format!("    $ {command}\n")).collect();
        format!("  {what}:\n{commands}")
    });
    let examples: String = examples.collect();
    let status = statuses(page).into_iter().map(|(number, lines)| format!("  {number}  {}\n", lines.join("\n     ")));
    let status: String = status.collect();
    format!("Examples:\n{examples}\nExit status:\n{}", status.trim_end())
}
