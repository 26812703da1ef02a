//! Keys in and out: `build`, `check`, `insert` and `dedup` over every form of input.

mod common;

use common::{Place, able, command, info, keeps_keys, kinds, lines};
use petal::{Builder, BuilderOptions, Capabilities, Overfill, Sizes, Spec};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

#[test]
fn every_built_key_is_found_and_few_others() {
    for kind in kinds().filter(|row| keeps_keys(row)) {
        let place = Place::new();
        place.file("keys", lines(0..20_000));
        place.file("others", lines(20_000..60_000));
        place.petal(&format!("build --kind {} --fpr 0.02 -o filter keys", kind.name)).quiet();
        assert_eq!(place.petal("check filter keys").quiet(), lines(0..20_000), "{}", kind.name);
        let absent = place.petal("check -v filter keys");
        assert_eq!((absent.status, absent.stdout.len()), (1, 0), "{}", kind.name);
        let found: f64 = place.petal("check -c filter others").text().trim().parse().expect("a count");
        let rate = info(&place.path("filter"))["statistics"]["false_positive_rate"].as_f64().unwrap();
        let (mean, variance) = (rate * 40_000.0, rate * (1.0 - rate) * 40_000.0);
        assert!((found - mean).abs() < 4.5 * variance.sqrt(), "{}: {found} of {mean}", kind.name);
        // A kind that grows holds back a part of the rate for later, and one whose tags have 8 or 16 bits has bits to
        // spare: both have lower rates.
        let least = if kind.capabilities.contains(Capabilities::GROW) { 2e-4 } else { 0.004 };
        assert!((least..0.0215).contains(&rate), "{}: {rate}", kind.name);
        let maybe = place.petal("check filter others").quiet();
        let absent = place.petal("check -v filter others").quiet();
        assert_eq!(maybe.len() + absent.len(), lines(20_000..60_000).len(), "{}", kind.name);
        assert_eq!(maybe.iter().filter(|byte| **byte == b'\n').count() as f64, found);
    }
}

#[test]
fn all_ways_in_make_the_same_filter() {
    let place = Place::new();
    place.file("keys", lines(0..5000));
    place.file("first", lines(0..2000));
    // Without its last newline.
    place.file("second", &lines(2000..5000)[..lines(2000..5000).len() - 1]);
    let expected = place.petal("build keys").quiet();
    assert_eq!(place.petal_on("build --capacity 5000", &lines(0..5000)).quiet(), expected);
    assert_eq!(place.petal_on("build --capacity 5k -", &lines(0..5000)).quiet(), expected);
    assert_eq!(place.petal("build first second").quiet(), expected);
    assert_eq!(place.petal_on("build --capacity 5000 first -", &lines(2000..5000)).quiet(), expected);
    place.petal("build -o filter keys").quiet();
    assert_eq!(fs::read(place.path("filter")).unwrap(), expected);
    // Standard input that is a file is read twice too, and from where it stands.
    let redirected = command().arg("build").stdin(fs::File::open(place.path("keys")).unwrap()).output().expect("petal");
    assert_eq!(redirected.stdout, expected);
    let nul: Vec<u8> = lines(0..5000).iter().map(|byte| if *byte == b'\n' { 0 } else { *byte }).collect();
    place.file("ended", &nul);
    assert_eq!(place.petal("build -0 ended").quiet(), expected);
    assert_eq!(place.petal("build -0 --set foldable=0 --seed 0 --kind blocked --fpr 0.01 ended").quiet(), expected);
}

#[test]
fn standard_input_is_read_from_where_it_stands() {
    let place = Place::new();
    place.file("keys", lines(0..100));
    // As the shell's `read` does, which takes the first line and leaves the file there.
    let mut keys = fs::File::open(place.path("keys")).unwrap();
    keys.read_exact(&mut [0; b"0\n".len()]).unwrap();
    let status = command().args(["build", "-o", "filter", "-"]).current_dir(place.folder()).stdin(keys).status();
    assert!(status.expect("petal").success());
    let info = info(&place.path("filter"));
    assert_eq!((info["capacity"].as_u64(), info["insertions"].as_u64()), (Some(99), Some(99)));
}

/// Whatever the order of the keys, the threads and the memory, and whether the keys are kept or go by.
#[test]
fn every_kind_is_built_as_by_a_builder() {
    let place = Place::new();
    place.file("keys", [lines(0..150_000), lines(500..600)].concat());
    // What forgets takes keys in their order, which a builder does not keep.
    for kind in kinds().filter(|row| row.overfill != Overfill::Forgets) {
        let spec = Spec { kind: Some(kind.kind), ..Spec::with_capacity(150_100, 0.01).unwrap() };
        let mut builder = Builder::new(&spec, BuilderOptions::default()).unwrap();
        for key in (0..150_000).chain(500..600) {
            builder.add(key.to_string().as_bytes()).unwrap();
        }
        builder.save(&place.path("expected")).unwrap();
        let expected = fs::read(place.path("expected")).unwrap();
        for options in ["", "--threads 3", "--memory-limit 1MiB -T .", "--threads 2 --memory-limit 2M"] {
            let line = format!("build --kind {} --fpr 0.01 --capacity 150100 {options} keys", kind.name);
            assert!(place.petal(&line).quiet() == expected, "{line}");
        }
    }
    assert_eq!(place.names(), ["expected", "keys"]);
}

#[test]
fn bounds_of_the_work_are_checked() {
    let place = Place::new();
    place.file("keys", lines(0..10));
    place.petal("build --memory-limit 1000k -o filter keys").names(&["--memory-limit", "at least 1MiB"]);
    place.petal("build --temporary-directory . -o filter keys").names(&["--memory-limit"]);
    place.petal("build --threads 0 -o filter keys").names(&["--threads", "0"]);
    for kind in kinds().filter(|row| !row.is_made_empty()) {
        let line = format!("build --kind {} --memory-limit 2M -T nowhere -o filter keys", kind.name);
        place.petal(&line).names(&["nowhere"]);
    }
    assert_eq!(place.names(), ["keys"]);
}

/// Nothing is counted first where all hashes are kept.
#[test]
fn kept_keys_come_from_a_pipe_without_a_capacity() {
    let place = Place::new();
    for kind in kinds().filter(|row| !(row.is_made_empty() && row.is_canonical)) {
        place.petal_on(&format!("build --kind {} -o filter", kind.name), &lines(0..1000).repeat(2)).quiet();
        let info = info(&place.path("filter"));
        // Where copies take room the capacity has some for them.
        let capacity = info["capacity"].as_u64().unwrap();
        let forgets = kind.overfill == Overfill::Forgets;
        // A window is one of records, which are counted.
        assert!(
            capacity == 1000 && !forgets
                || kind.room.copies.is_some() && capacity > 1000
                || forgets && capacity == 2000,
            "{info}"
        );
        assert_eq!(info["insertions"], 2000);
        let found = place.petal_on("check filter", &lines(0..1000)).quiet();
        assert!(found == lines(0..1000) || !keeps_keys(kind) && found.len() > lines(0..980).len(), "{}", kind.name);
    }
}

/// What a kind cannot do is refused by its name, before the keys are read.
#[test]
fn what_a_kind_cannot_do_is_refused() {
    let place = Place::new();
    place.file("keys", lines(0..10));
    for kind in kinds() {
        place.petal(&format!("build --kind {} -o filter keys", kind.name)).quiet();
        let before = fs::read(place.path("filter")).unwrap();
        let can =
            |name| kind.capabilities.contains(petal::Capabilities::ALL.iter().find(|one| one.0 == name).unwrap().1);
        for verb in ["insert", "remove", "count", "merge", "intersect", "fold", "resize", "estimate"] {
            let line = match verb {
                "merge" | "intersect" => format!("{verb} filter filter"),
                "fold" => String::from("fold --fpr 0.9 filter"),
                "resize" => String::from("resize --capacity 1k filter"),
                _ => format!("{verb} filter"),
            };
            if !can(verb) && verb == "fold" {
                let run = place.petal(&line);
                assert!(run.status == 1 && run.stderr.contains(&format!("{} cannot fold", kind.name)), "{run:?}");
            } else if !can(verb) {
                place.petal(&line).names(&["filter", kind.name, "cannot", verb]);
            }
        }
        assert_eq!(fs::read(place.path("filter")).unwrap(), before);
    }
}

#[test]
fn a_pipe_needs_no_capacity() {
    let place = Place::new();
    // An exact geometry needs no count.
    let info = {
        place.petal_on("build --kind bloom --bits 1000 --hashes 3 -o filter", &lines(0..10)).quiet();
        info(&place.path("filter"))
    };
    assert_eq!(
        (info["bits"].as_u64(), info["hashes"].as_u64(), info["insertions"].as_u64()),
        (Some(1000), Some(3), Some(10))
    );
    assert!(info["capacity"].is_null() && info["false_positive_rate"].is_null());
}

#[test]
fn records_are_bytes() {
    let place = Place::new();
    let input = b"plain\n\xff\xfe\x00binary\n\nwith return\r\n  spaces \nno newline at the end";
    place.file("keys", input);
    place.petal("build --fpr 1e-6 -o filter keys").quiet();
    assert_eq!(info(&place.path("filter"))["insertions"], 6);
    assert_eq!(place.petal("check filter keys").quiet(), [&input[..], b"\n"].concat());
    // Each of these is another key.
    let others = b"Plain\nbinary\nwith return\nspaces\n\r\nno newline at the end\r\n\xff\xfe\n";
    assert_eq!(place.petal_on("check -v filter", others).quiet(), others);
    // With -0 newlines belong to the keys.
    place.file("ended", b"a\nb\0\0c");
    place.petal("build -0 --fpr 1e-6 -o filter ended").quiet();
    assert_eq!(info(&place.path("filter"))["insertions"], 3);
    assert_eq!(place.petal("check -0 filter ended").quiet(), b"a\nb\0\0c\0");
    // As sort and grep call it.
    assert_eq!(place.petal("check -z filter ended").quiet(), b"a\nb\0\0c\0");
    assert_eq!(place.petal_on("check -v filter", b"a\nb\nc\n\n").quiet(), b"a\nb\n");
}

#[test]
fn empty_input_and_empty_lines() {
    let place = Place::new();
    place.file("empty", b"");
    place.petal("build -o filter empty").quiet();
    let nothing = info(&place.path("filter"));
    assert_eq!((nothing["insertions"].as_u64(), nothing["capacity"].as_u64()), (Some(0), Some(1)));
    assert_eq!(nothing["statistics"]["false_positive_rate"], 0.0);
    assert_eq!(place.petal("check filter empty").status, 1);
    assert_eq!(place.petal_on("check -c filter", b"a\n").stdout, b"0\n");
    // The empty key is a key.
    assert_eq!(place.petal_on("check filter", b"\n").status, 1);
    place.petal_on("insert filter", b"\n").quiet();
    assert_eq!(place.petal_on("check filter", b"\n\n").quiet(), b"\n\n");
    assert_eq!(
        place.petal_on("dedup --capacity 10", b"").stderr,
        "petal: 0 lines, 0 passed, 0 dropped; no line was lost\n"
    );
    assert_eq!(place.petal_on("dedup --capacity 10", b"\n\n\n").stdout, b"\n");
}

#[test]
fn records_of_every_length_around_a_block() {
    // Blocks are 2^20 bytes; one byte of the buffer is kept for a missing separator.
    let place = Place::new();
    let mut input = Vec::new();
    for length in [10 << 20, 0, 1, (1 << 20) - 2, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3, (1 << 21) - 1] {
        input.extend((0..length).map(|i| b'a' + ((i * 31 + length) % 25) as u8));
        input.push(b'\n');
    }
    place.file("keys", &input);
    place.petal("build --fpr 1e-9 -o filter keys").quiet();
    assert_eq!(info(&place.path("filter"))["insertions"], 9);
    assert!(place.petal("check filter keys").quiet() == input);
    assert!(place.petal_on("check filter", &input[..input.len() - 1]).quiet() == input);
    assert!(place.petal_on("dedup --capacity 10 --fpr 1e-9", &input).stdout == input);
    // A byte less, or one more, is another key.
    assert_eq!(place.petal_on("check -c filter", &input[1..(10 << 20) + 1]).stdout, b"0\n");
}

#[test]
fn exit_status_is_that_of_grep() {
    let place = Place::new();
    place.file("keys", lines(0..10));
    place.petal("build --fpr 1e-9 -o filter keys").quiet();
    let cases: [(&str, &[u8], i32, &[u8]); 8] = [
        ("check filter", b"1\nx\n", 0, b"1\n"),
        ("check filter", b"x\n", 1, b""),
        ("check -v filter", b"1\nx\n", 0, b"x\n"),
        ("check -v filter", b"1\n", 1, b""),
        ("check -c filter", b"1\nx\n2\n", 0, b"2\n"),
        ("check -c filter", b"x\n", 1, b"0\n"),
        ("check -vc filter", b"1\nx\n2\n", 0, b"1\n"),
        ("check -vc filter - keys", b"y\n", 0, b"1\n"),
    ];
    for (line, input, status, output) in cases {
        let run = place.petal_on(line, input);
        assert_eq!((run.status, &run.stdout[..], &*run.stderr), (status, output, ""), "{line}");
    }
    place.petal_on("check nowhere", b"1\n").names(&["nowhere"]);
    place.petal_on("check filter nowhere", b"1\n").names(&["nowhere"]);
}

#[test]
fn answers_to_a_slow_input_come_at_once() {
    let place = Place::new();
    place.file("keys", b"a\nb\n");
    place.petal("build --fpr 1e-9 -o filter keys").quiet();
    for line in [&["check", "filter"][..], &["dedup", "--capacity", "10"]] {
        let mut child = command()
            .args(line)
            .current_dir(place.folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("petal");
        let mut stdin = child.stdin.take().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (answers, answer) = std::sync::mpsc::channel();
        let reader = std::thread::spawn(move || {
            let mut line = String::new();
            while stdout.read_line(&mut line).unwrap() > 0 {
                answers.send(std::mem::take(&mut line)).unwrap();
            }
        });
        for key in ["a\n", "b\n"] {
            stdin.write_all(key.as_bytes()).unwrap();
            // Without a flush the answer would not come before the end of the input, however long one waits.
            let answer = answer.recv_timeout(std::time::Duration::from_secs(60));
            assert_eq!(answer.as_deref(), Ok(key));
        }
        drop(stdin);
        reader.join().unwrap();
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn insert_adds_in_place() {
    let place = Place::new();
    place.file("keys", lines(0..1000));
    place.petal("build --capacity 2000 -o filter keys").quiet();
    place.file("more", lines(1000..1500));
    place.petal_on("insert filter more -", &lines(1500..2000)).quiet();
    assert_eq!(info(&place.path("filter"))["insertions"], 2000);
    assert_eq!(place.petal("verify filter").text(), "filter: OK\n");
    assert_eq!(place.petal_on("check filter", &lines(0..2000)).quiet(), lines(0..2000));
    // The same bits as with all keys in one call.
    place.file("all", lines(0..2000));
    place.petal("build -o whole all").quiet();
    assert_eq!(fs::read(place.path("filter")).unwrap(), fs::read(place.path("whole")).unwrap());
    // Past the capacity the command warns, and inserts.
    let over = place.petal_on("insert filter", &lines(2000..4000));
    assert_eq!(over.status, 0);
    assert!(
        over.stderr.starts_with("petal: warning: about ") && over.stderr.contains("the capacity of 2000"),
        "{over:?}"
    );
}

/// Ends a process by a signal. Windows has none, and ends a process.
fn interrupt(child: &mut std::process::Child, signal: &str) {
    if cfg!(unix) {
        let id = child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
    } else {
        child.kill().unwrap();
    }
    assert!(!child.wait().unwrap().success());
}

#[test]
fn an_interrupted_insertion_can_be_vouched_for() {
    for signal in ["INT", "KILL"] {
        let place = Place::new();
        place.file("keys", lines(0..1000));
        place.file("more", lines(1000..1500));
        place.petal("build --fpr 1e-9 --capacity 2000 -o filter keys").quiet();
        let mut insert = command();
        insert.args(["insert", "filter"]).current_dir(place.folder()).stdin(Stdio::piped());
        // Whatever runs the tests in the background may have had SIGINT ignored, and children inherit that.
        // SAFETY: the closure makes one system call and touches no memory.
        #[cfg(unix)]
        unsafe {
            use std::os::unix::process::CommandExt;
            insert.pre_exec(|| {
                libc::signal(libc::SIGINT, libc::SIG_DFL);
                Ok(())
            });
        }
        let mut child = insert.spawn().expect("petal");
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&lines(1000..1500)).unwrap();
        // It waits for more once these are in the file.
        while place.petal("check -qv filter more").status != 1 {
            assert!(child.try_wait().unwrap().is_none(), "the insertion ended by itself");
        }
        interrupt(&mut child, signal);
        place.petal("verify filter").names(&["filter", "petal help mark-clean"]);
        place.petal("insert filter more").names(&["filter", "petal help mark-clean"]);
        assert_eq!(info(&place.path("filter"))["unclean"], true);
        assert_eq!(place.petal("mark-clean filter").text(), "filter: clean\n");
        assert_eq!(place.petal("verify filter").text(), "filter: OK\n");
        assert_eq!(place.petal_on("check filter", &lines(0..1500)).quiet(), lines(0..1500));
        assert_eq!(place.petal("mark-clean filter filter").text(), "filter: clean\nfilter: clean\n");
        place.petal("insert filter more").quiet();
    }
}

/// What is damaged is not made clean.
#[test]
fn vouch_takes_no_damage() {
    let place = Place::new();
    place.file("keys", lines(0..1000));
    place.petal("build -o filter keys").quiet();
    let mut bytes = fs::read(place.path("filter")).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    place.file("damaged", &bytes);
    place.file("foreign", b"something else");
    for name in ["damaged", "foreign", "nowhere"] {
        place.petal(&format!("mark-clean {name}")).names(&[name]);
    }
    assert_eq!(fs::read(place.path("damaged")).unwrap(), bytes);
}

#[test]
fn build_says_so_when_the_keys_are_too_many() {
    let place = Place::new();
    let over = place.petal_on("build --capacity 100 -o filter", &lines(0..200));
    assert_eq!(over.status, 0);
    assert!(over.stderr.contains("more than the capacity of 100: the false-positive rate is now 0."), "{over:?}");
    // Repeats are no keys more.
    place.petal_on("build --capacity 100 -o filter", &lines(0..100).repeat(50)).quiet();
    assert_eq!(info(&place.path("filter"))["insertions"], 5000);
}

#[test]
fn sizes_in_every_form() {
    let place = Place::new();
    place.file("keys", lines(0..1000));
    for kind in kinds() {
        let build = |size: &str| {
            place.petal(&format!("build --kind {} {size} -o filter keys", kind.name)).quiet();
            info(&place.path("filter"))
        };
        let by_rate = build("--fpr 0.001");
        assert_eq!((by_rate["kind"].as_str(), by_rate["false_positive_rate"].as_f64()), (Some(kind.name), Some(0.001)));
        assert!(by_rate["statistics"]["false_positive_rate"].as_f64().unwrap() < 0.0015);
        if kind.room.is_power_of_two {
            continue;
        }
        let by_bits_per_key = build("--bits-per-key 12.3");
        let bits = by_bits_per_key["bits"].as_u64().unwrap();
        match kind.sizes {
            Sizes::Multiples(unit) => {
                assert!(bits <= 12_300 && bits + unit > 12_300, "{} {bits}", kind.name);
                // As many as the keys need, where a filter may be full or forgets.
                let units = match kind.overfill {
                    Overfill::Refuses | Overfill::Forgets => 12_300,
                    Overfill::RateRises | Overfill::Grows | Overfill::IsBuilt => 50,
                };
                assert_eq!(build(&format!("--bits {}", units * unit))["bits"].as_u64(), Some(units * unit));
            }
            Sizes::ByKeys => {
                assert!((6000..=12_300).contains(&bits), "{} {bits}", kind.name);
                let bits = build("--bits 9000")["bits"].as_u64().unwrap();
                assert!((4000..=9000).contains(&bits), "{} {bits}", kind.name);
            }
        }
    }
    let partitioned = {
        place
            .petal("build --kind bloom --set partitioned=1 --set derivation=double --seed 0xff -o filter keys")
            .quiet();
        info(&place.path("filter"))
    };
    assert_eq!((partitioned["parameters"]["partitioned"].as_u64(), partitioned["seed"].as_u64()), (Some(1), Some(255)));
    assert_eq!(partitioned["parameters"]["derivation"], "double");
}

#[test]
fn a_secret_key_is_needed_again() {
    let place = Place::new();
    place.file("keys", lines(0..1000));
    place.file("secret", b"0123456789abcdef");
    place.file("hex", b"30313233343536373839616263646566\n");
    place.file("other", b"0123456789abcdeF");
    place.petal("build --secret-file secret -o filter keys").quiet();
    let keyed = info(&place.path("filter"));
    assert_eq!(keyed["hash"], "siphash13");
    // What identifies the key is not the key.
    assert!(keyed["seed"].as_u64().is_some_and(|identifier| identifier != 0));
    let bytes = fs::read(place.path("filter")).unwrap();
    assert!(!bytes.windows(16).any(|window| window == b"0123456789abcdef"), "the key is in the file");
    place.petal("build --hash siphash13 --secret-file hex -o again keys").quiet();
    assert_eq!(fs::read(place.path("again")).unwrap(), bytes);
    assert_eq!(place.petal("check -c --secret-file hex filter keys").text(), "1000\n");
    place.petal_on("insert --secret-file secret filter", b"one more\n").quiet();
    place.petal("check filter keys").names(&["filter", "--secret-file"]);
    place.petal("insert filter keys").names(&["filter", "--secret-file"]);
    place.petal("check --secret-file other filter keys").names(&["filter", "--secret-file", "identifier"]);
    // What needs no keys needs no secret.
    place.petal("verify filter").quiet();
    place.petal("merge filter again -o both").quiet();
}

#[test]
fn dedup_passes_each_line_once() {
    let place = Place::new();
    let input = lines(0..10_000).repeat(3);
    let run = place.petal_on("dedup --capacity 10k --fpr 1e-9", &input);
    assert_eq!(run.status, 0);
    assert_eq!(run.stdout, lines(0..10_000));
    assert!(
        run.stderr.starts_with("petal: 30000 lines, 10000 passed, 20000 dropped; of these an expected "),
        "{}",
        run.stderr
    );
    let nul = place.petal_on("dedup -0 --capacity 10", b"a\0b\na\0a");
    assert_eq!(nul.stdout, b"a\0b\na\0");
    assert!(nul.stderr.contains("3 lines, 2 passed, 1 dropped"), "{}", nul.stderr);
    let none = place.petal_on("dedup --capacity 100", &lines(0..50));
    assert_eq!(none.stderr, "petal: 50 lines, 50 passed, 0 dropped; no line was lost\n");
}

/// The last lines are remembered, and the estimate of what was lost is true however many came before.
#[test]
fn dedup_remembers_a_window() {
    let place = Place::new();
    for kind in petal::registry::FILTERS.iter().filter(|row| row.overfill == Overfill::Forgets) {
        let is_certain = kind.losses.window.is_some();
        let dedup = format!("dedup --kind {} --window 1000", kind.name);
        // What comes again within the window is dropped, and passes again after it.
        let near = place.petal_on(&format!("{dedup} --fpr 1e-6"), &[lines(0..1000), lines(0..1000)].concat());
        let passed = near.stdout.iter().filter(|byte| **byte == b'\n').count();
        // What may lose keys lets some pass again.
        assert!(
            near.status == 0 && if is_certain { near.stdout == lines(0..1000) } else { (1000..1200).contains(&passed) }
        );
        let far = place.petal_on(&format!("{dedup} --fpr 1e-6"), &lines(0..20_000).repeat(2));
        assert_eq!(far.stdout, lines(0..20_000).repeat(2), "{}", kind.name);
        assert!(far.stderr.contains("; no line was lost"), "{}", far.stderr);
        let lossy = place.petal_on(&format!("{dedup} --fpr 0.05 --json"), &lines(0..100_000));
        let report: serde_json::Value = serde_json::from_str(&lossy.stderr).unwrap();
        let [dropped, value] = [&report["dropped"], &report["lost"]["value"]].map(|number| number.as_f64().unwrap());
        assert!(dropped > 1000.0 && dropped < 5000.0, "{report}");
        assert!((value - dropped).abs() < 4.5 * (1.1 * dropped).sqrt(), "{report}");
        place.petal_on(&format!("dedup --kind {} --capacity 10", kind.name), b"").names(&[kind.name, "--window"]);
    }
    place.petal_on("dedup --kind bloom --window 10", b"").names(&["bloom", "--window"]);
    assert_eq!(place.petal_on("dedup --window 10", b"a\nb\na\n").stdout, b"a\nb\n");
}

/// A filter that remembers the last keys remembers the last ones of its input, from a file and from a pipe.
#[test]
fn build_remembers_the_last_keys_of_its_input() {
    let place = Place::new();
    place.file("keys", lines(0..10_000));
    for kind in petal::registry::FILTERS.iter().filter(|row| row.overfill == Overfill::Forgets) {
        let build = format!("build --kind {} --capacity 1000 --fpr 1e-4 -o last.petal", kind.name);
        for run in [place.petal(&format!("{build} keys")), place.petal_on(&build, &lines(0..10_000))] {
            assert_eq!(run.status, 0, "{}: {}", kind.name, run.stderr);
            // Who may lose keys loses few of the youngest.
            let found = place.petal_on("check --count last.petal", &lines(9500..10_000)).stdout;
            let found: usize = String::from_utf8(found).unwrap().trim().parse().unwrap();
            let least = if kind.losses.window.is_some() { 500 } else { 450 };
            assert!(found >= least, "{}: {found} of the last 500 keys are found", kind.name);
        }
    }
}

/// Without a capacity the filter grows, and what it lost is estimated as truly.
#[test]
fn dedup_grows_with_its_lines() {
    let place = Place::new();
    let run = place.petal_on("dedup --json --fpr 0.05", &lines(0..400_000));
    let report: serde_json::Value = serde_json::from_str(&run.stderr).unwrap();
    let [dropped, value] = [&report["dropped"], &report["lost"]["value"]].map(|number| number.as_f64().unwrap());
    assert!(report["capacity"].is_null() && report["false_positive_rate"].as_f64().unwrap() < 0.05, "{report}");
    assert!(dropped > 1000.0 && (value - dropped).abs() < 4.5 * (1.1 * dropped).sqrt(), "{report}");
    for kind in kinds().filter(|row| row.is_made_empty() && row.overfill == Overfill::Grows) {
        let twice = [lines(0..5000), lines(0..5000)].concat();
        let run = place.petal_on(&format!("dedup --kind {} --fpr 1e-6", kind.name), &twice);
        assert_eq!((run.status, run.stdout), (0, lines(0..5000)), "{}", kind.name);
    }
}

/// A filter from a pipe whose keys nobody counted grows with them, and keeps its rate.
#[test]
fn what_comes_from_a_pipe_grows() {
    let place = Place::new();
    place.petal_on("build --fpr 0.02 -o filter", &lines(0..300_000)).quiet();
    let info = info(&place.path("filter"));
    assert!(info["statistics"]["false_positive_rate"].as_f64().unwrap() < 0.02, "{info}");
    assert_eq!(place.petal_on("check -c filter", &lines(0..300_000)).quiet(), b"300000\n");
}

#[test]
fn dedup_estimates_what_it_lost() {
    // All lines are distinct, so whatever was dropped was lost. Sized for a third of them.
    let place = Place::new();
    let run = place.petal_on("dedup --capacity 20k --fpr 0.02", &lines(0..60_000));
    let mut messages = run.stderr.lines();
    let words: Vec<&str> =
        messages.next().unwrap().split([' ', ';', ',', ')']).filter(|word| !word.is_empty()).collect();
    let after = |word: &str| words[words.iter().rposition(|other| *other == word).unwrap() + 1].parse::<f64>().unwrap();
    let number = |i: usize| words[i].parse::<f64>().unwrap();
    let (all, passed, dropped) = (number(1), number(3), number(5));
    assert_eq!(all, 60_000.0);
    assert_eq!(passed + dropped, all);
    assert_eq!(run.stdout.iter().filter(|byte| **byte == b'\n').count() as f64, passed);
    let expected = after("expected");
    let (low, high) = (after("interval:"), after("to"));
    // The interval is two standard errors wide to either side; 4.5 must do.
    assert!(low < expected && expected < high && dropped > 1000.0);
    assert!((expected - dropped).abs() < 2.3 * (high - expected).max(expected - low), "{words:?}");
    let warning = messages.next().unwrap();
    assert!(warning.starts_with("petal: warning: ") && warning.contains("--capacity 20000"), "{warning}");
}

#[test]
fn a_reader_that_has_enough_is_told_nothing() {
    let place = Place::new();
    place.file("keys", lines(0..200_000));
    place.petal("build -o filter keys").quiet();
    for line in ["check filter keys", "dedup --capacity 200k keys"] {
        let mut child = command()
            .args(line.split(' '))
            .current_dir(place.folder())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("petal");
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert_eq!(first, "0\n");
        // The pipe is closed now, long before the end.
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(2), 0), "{line}");
    }
    // A filter of which half was read.
    let mut child = command()
        .args(["build", "keys"])
        .current_dir(place.folder())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("petal");
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(2), 0));
}

#[test]
fn an_output_is_never_one_of_the_inputs() {
    let place = Place::new();
    place.file("keys", lines(0..10));
    place.petal("build -o keys keys").names(&["-o keys", "KEYS"]);
    place.petal("build -o ./keys keys").names(&["-o ./keys", "KEYS"]);
    assert_eq!(fs::read(place.path("keys")).unwrap(), lines(0..10));
    place.petal("build -o filter keys").quiet();
    let before = fs::read(place.path("filter")).unwrap();
    place.petal("insert filter filter").names(&["filter", "one of the files to read"]);
    assert_eq!(fs::read(place.path("filter")).unwrap(), before);
}

#[test]
fn a_rebuilt_file_leaves_readers_their_mapping() {
    let place = Place::new();
    place.file("old", lines(0..1000));
    place.file("new", lines(5000..9000));
    place.petal("build --fpr 1e-6 -o filter old").quiet();
    // This process maps the file; the command is another one.
    let options = petal::OpenOptions { mode: petal::Mode::Read, ..petal::OpenOptions::default() };
    let mapped = petal::open(&place.path("filter"), &options).unwrap();
    let rebuilt = place.petal("build --fpr 1e-6 -o filter new");
    if cfg!(windows) && rebuilt.status == 2 {
        // Windows may refuse, and then nothing changes.
        rebuilt.names(&["-o filter", "denies access"]);
        mapped.verify().unwrap();
        assert_eq!(info(&place.path("filter"))["capacity"], 1000);
        assert_eq!(place.names(), ["filter", "new", "old"]);
        return;
    }
    rebuilt.quiet();
    let found = |key: u32| mapped.contains(key.to_string().as_bytes());
    assert!((0..1000).all(found));
    assert!((5000..9000).filter(|key| found(*key)).count() < 5);
    mapped.verify().unwrap();
    let reopened = petal::open(&place.path("filter"), &options).unwrap();
    assert!((5000..9000).all(|key: u32| reopened.contains(key.to_string().as_bytes())));
    assert_eq!(info(&place.path("filter"))["capacity"], 4000);
    assert_eq!(place.names(), ["filter", "new", "old"]);
}

/// The file of a filter that grew is replaced when nothing maps it any more, so commands keep each other out by a file.
#[cfg(windows)]
#[test]
fn two_commands_never_change_a_growing_filter_at_once() {
    use std::os::windows::fs::OpenOptionsExt;
    let place = Place::new();
    place.file("keys", lines(0..5000));
    place.petal("build --kind scalable --capacity 100 -o filter keys").quiet();
    let before = fs::read(place.path("filter")).unwrap();
    let other = fs::File::options().create(true).write(true).share_mode(0).open(place.path(".petal-lock-filter"));
    place.petal("insert filter keys").names(&["filter", "open for writing"]);
    assert_eq!(fs::read(place.path("filter")).unwrap(), before);
    drop(other.unwrap());
    place.file("more", lines(5000..50_000));
    assert_eq!(place.petal("insert filter more").quiet(), b"");
    place.petal("verify filter").quiet();
    assert_eq!(place.petal("check filter more").quiet(), lines(5000..50_000));
    assert_eq!(place.names(), ["filter", "keys", "more"]);
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_opened_once() {
    let place = Place::new();
    let made = std::process::Command::new("mkfifo").arg(place.path("pipe")).status().expect("mkfifo");
    assert!(made.success());
    // Without a capacity the filter grows.
    for (options, grows) in [("--capacity 5000", false), ("", true)] {
        let path = place.path("pipe");
        let writer = std::thread::spawn(move || fs::write(path, lines(0..5000)));
        place.petal(&format!("build {options} -o filter pipe")).quiet();
        writer.join().unwrap().unwrap();
        let filter = info(&place.path("filter"));
        assert_eq!((filter["insertions"].as_u64(), filter["kind"] == "scalable"), (Some(5000), grows), "{filter}");
    }
}

/// Whatever is inserted beyond the capacity, in place or not: all keys are found, and the rate holds.
#[test]
fn kinds_that_grow_grow_in_their_file() {
    for kind in able(Capabilities::GROW) {
        let place = Place::new();
        place.file("keys", lines(0..1000));
        place.petal(&format!("build --kind {} --fpr 0.01 -o filter keys", kind.name)).quiet();
        place.file("more", lines(1000..30_000));
        let inserted: serde_json::Value =
            serde_json::from_str(&place.petal("insert --json filter more").text()).unwrap();
        assert_eq!((inserted["inserted"].as_u64(), inserted["insertions"].as_u64()), (Some(29_000), Some(30_000)));
        assert!(inserted["statistics"]["false_positive_rate"].as_f64().unwrap() < 0.012, "{inserted}");
        assert_eq!(place.petal("verify filter").text(), "filter: OK\n");
        assert_eq!(place.petal_on("check filter", &lines(0..30_000)).quiet(), lines(0..30_000));
        // What fits goes into the file as it is.
        let room = inserted["statistics"]["room"].as_u64().unwrap() as u32;
        assert!(room > 10, "{room}");
        let before = info(&place.path("filter"));
        // Windows may refuse to replace a file that is open.
        let file = cfg!(unix).then(|| fs::File::open(place.path("filter")).unwrap());
        place.petal_on("insert filter", &lines(30_000..30_010)).quiet();
        let length = file.map(|file| file.metadata().unwrap().len());
        assert!(length.is_none_or(|length| Some(length) == before["bytes"].as_u64()));
        assert_eq!(info(&place.path("filter"))["bytes"], before["bytes"]);
        let passed = place.petal_on(&format!("dedup --kind {} --capacity 100", kind.name), &lines(0..10_000).repeat(2));
        assert!(passed.status == 0 && !passed.stderr.contains("warning"), "{}", passed.stderr);
        let count = passed.stdout.iter().filter(|byte| **byte == b'\n').count();
        assert!((9_850..=10_000).contains(&count), "{count}");
        assert_eq!(place.names(), ["filter", "keys", "more"]);
    }
}

#[test]
fn keys_are_removed_and_counted() {
    for kind in able(Capabilities::INSERT | Capabilities::REMOVE | Capabilities::COUNT) {
        let place = Place::new();
        place.file("keys", [lines(0..1000), lines(0..500)].concat());
        place.petal(&format!("build --kind {} --fpr 1e-6 -o filter keys", kind.name)).quiet();
        let counts = place.petal_on("count filter", b"1\n700\nx\n1\n").quiet();
        assert_eq!(counts, b"2\t1\n1\t700\n0\tx\n2\t1\n", "{}", kind.name);
        assert_eq!(
            place.petal_on("count --json filter", b"1\nx\n").text(),
            "{\"key\":\"1\",\"count\":2}\n{\"key\":\"x\",\"count\":0}\n"
        );
        assert_eq!(place.petal_on("count -q filter", b"x\n1\n").text(), "");
        assert_eq!(place.petal_on("count filter", b"x\n").status, 1);
        assert_eq!(place.petal_on("remove filter", &lines(400..1100)).text(), "600 removed, 100 certainly not there\n");
        assert_eq!(place.petal_on("check -v filter", &lines(0..1000)).quiet(), lines(500..1000));
        assert_eq!(place.petal_on("count filter", b"450\n10\n").quiet(), b"1\t450\n2\t10\n");
        let removed: serde_json::Value =
            serde_json::from_str(&place.petal_on("remove --json filter", b"450\n450\n").text()).unwrap();
        assert_eq!((removed["removed"].as_u64(), removed["absent"].as_u64()), (Some(1), Some(1)), "{removed}");
        assert_eq!(removed["insertions"], 899);
        // With counts, as `petal count` and `uniq -c` write them.
        let build = format!("build --counts --kind {} --fpr 1e-6 -o counted", kind.name);
        place.petal_on(&build, b"2\t1\n  1 b c\n").quiet();
        place.petal_on("insert --counts counted", b"2\tb c\n0\tx\n").quiet();
        let counts = place.petal_on("count counted", b"1\nb c\nx\n").quiet();
        assert_eq!(counts, b"2\t1\n3\tb c\n0\tx\n", "{}", kind.name);
        let removed = place.petal_on("remove --counts counted", b"2 b c\n3 1\n").text();
        assert_eq!(removed, "4 removed, 1 certainly not there\n");
        place.petal_on("insert --counts counted", b"one\n").names(&["record 1", "count and key"]);
        place.petal_on("insert --counts counted", b"1 a\n-1 a\n").names(&["record 2", "-1"]);
        assert_eq!(place.petal("verify filter").text(), "filter: OK\n");
        place.petal("remove filter filter").names(&["filter", "one of the files to read"]);
        if kind.overfill == Overfill::Refuses {
            // It counts as far as it has room, and no count is cut off.
            continue;
        }
        // The reported limit of counting is the true one.
        let filter = petal::load(&fs::read(place.path("filter")).unwrap(), &petal::OpenOptions::default()).unwrap();
        let greatest = filter.kind().as_count().unwrap().greatest_count();
        assert!(place.petal("count --help").text().contains(&format!("{greatest} for {}", kind.name)));
        place.petal_on("insert filter", &b"often\n".repeat(greatest.min(100_000) as usize + 5)).quiet();
        assert_eq!(place.petal_on("count filter", b"often\n").text(), format!("{greatest}\toften\n"));
        assert_ne!(info(&place.path("filter"))["statistics"]["saturated"], 0);
    }
}

/// Of a kind whose keys are integers the records are decimal numbers.
#[test]
fn integers_are_decimal_numbers() {
    let place = Place::new();
    for kind in petal::registry::FILTERS.iter().filter(|row| row.hashing.universe.is_some()) {
        let build = format!("build --kind {} -o filter", kind.name);
        place.petal_on(&build, b"1\n").names(&[kind.name, "--bits"]);
        place.petal_on(&format!("{build} --bits 1000"), b"0\n999\n7\n").quiet();
        let check = |keys: &[u8]| place.petal_on("check filter", keys);
        assert_eq!(check(b"0\n7\n8\n999\n1000\n18446744073709551615\n").text(), "0\n7\n999\n");
        place.petal_on("remove filter", b"7\n8\n").quiet();
        assert_eq!(check(b"0\n7\n999\n").text(), "0\n999\n");
        place.petal_on("insert filter", b"1000\n").names(&["1000", "universe"]);
        for wrong in ["seven", "-1", "18446744073709551616", "1.5", ""] {
            place.petal_on("check filter", format!("{wrong}\n").as_bytes()).names(&["record 1", "integer"]);
        }
        place.petal_on(&format!("{build} --bits 10 --hash xxh64"), b"1\n").names(&["xxh64", kind.name]);
        let plan = place.petal("plan --keys 1000 --fpr 0.01 --universe 5000").text();
        assert!(plan.lines().nth(2).unwrap().starts_with(&format!("* {} ", kind.name)), "{plan}");
    }
}
