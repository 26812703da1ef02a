//! Runs the tests that meet a mutant, the likely and the quick ones first.

use crate::Mutants;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

/// The groups of the suite that ask every kind, or the one that PETAL_KIND names.
const SHARED: [&str; 21] = [
    "across",
    "ageing",
    "builder",
    "built",
    "compact",
    "conformance",
    "corners",
    "estimate",
    "facets",
    "forged_state",
    "format",
    "growing",
    "hostile",
    "in_place",
    "map_changes",
    "maps",
    "plan",
    "refusals",
    "shared",
    "state_machine",
    "sweep",
];

/// The processor time that a test may take without a mutant, first among the tests of a kind, then among all. A slower
/// one says nothing.
const LONGEST: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(60)];

/// A test, and the one kind that it asks, if not all.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Test {
    program: PathBuf,
    name: String,
    kind: Option<String>,
}

impl Test {
    fn new(program: &Path, name: &str, kind: Option<String>) -> Test {
        Test { program: program.into(), name: name.into(), kind }
    }

    fn group(&self) -> &str {
        self.name.split("::").next().unwrap_or_default()
    }
}

/// A test without a mutant: how long it took, and which mutants it meets.
struct Met {
    test: Test,
    took: Duration,
    mutants: HashSet<usize>,
}

/// The mutants that no test finds; WORK/survivors has their names. Each meets the quick tests of its folder first.
pub fn run(mutants: &Mutants, programs: &[PathBuf], numbers: &[usize]) -> io::Result<Vec<usize>> {
    let mut names = Vec::new();
    for program in programs {
        let list = Command::new(program).arg("--list").output()?.stdout;
        let list = String::from_utf8_lossy(&list);
        names.extend(list.lines().filter_map(|line| Some((program.clone(), line.strip_suffix(": test")?.to_string()))));
    }
    let folder_of = |number: &usize| module(mutants.text(*number, "file"));
    let folders: BTreeSet<String> = numbers.iter().map(folder_of).collect();
    let mut left = Vec::new();
    let mut rest: HashSet<Test> = names.iter().map(|(program, name)| Test::new(program, name, None)).collect();
    if folders.iter().all(|folder| folder.starts_with("kinds::")) {
        rest.retain(|test| !SHARED.contains(&test.group()));
    }
    // TESTS: the groups that the others are taken from.
    if let Ok(groups) = std::env::var("TESTS") {
        rest.retain(|test| groups.split_whitespace().any(|group| group == test.group()));
    }
    for folder in &folders {
        let kind = folder.strip_prefix("kinds::");
        let called = folder.rsplit("::").next().unwrap_or_default();
        let near = names.iter().filter_map(|(program, name)| {
            let test = Test::new(program, name, None);
            if kind.is_some() && SHARED.contains(&test.group()) {
                return Some(Test { kind: kind.map(str::to_string), ..test });
            }
            // Groups are called as the kind or the folder, or begin with that name.
            (test.group().starts_with(called) || name.starts_with(&format!("{folder}::"))).then_some(test)
        });
        let near: Vec<Test> = near.collect();
        let of_folder: Vec<usize> = numbers.iter().copied().filter(|number| folder_of(number) == *folder).collect();
        println!("mutants: {} of {folder} meet their own tests: {}", of_folder.len(), near.len());
        let (met, slow) = look(mutants, &near, LONGEST[0]);
        near.iter().for_each(|test| _ = rest.remove(test));
        rest.extend(slow);
        left.extend(survivors(mutants, &of_folder, &met));
        mutants.put("survivors", &left)?;
    }
    println!("mutants: {} meet the other tests: {}", left.len(), rest.len());
    let (met, slow) = look(mutants, &Vec::from_iter(rest), LONGEST[1]);
    slow.iter().for_each(|test| println!("mutants: {} fails without a mutant, or takes too long", test.name));
    left = survivors(mutants, &left, &met);
    mutants.put("survivors", &left)?;
    Ok(left)
}

/// What these tests meet, and those that fail or take longer.
fn look(mutants: &Mutants, tests: &[Test], longest: Duration) -> (Vec<Met>, Vec<Test>) {
    let (met, slow) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    each(tests.len(), "tests looked at", |at, worker| match meet(mutants, &tests[at], worker, longest) {
        Some(found) => met.lock().unwrap().push(found),
        None => slow.lock().unwrap().push(tests[at].clone()),
    });
    (met.into_inner().unwrap(), slow.into_inner().unwrap())
}

/// The module of a file that tests are of: a kind, or a folder.
fn module(file: &str) -> String {
    let parts: Vec<&str> = file.trim_start_matches("src/").trim_end_matches(".rs").split('/').collect();
    parts[..parts.len().min(2)].join("::")
}

/// Runs a test, with a mutant or noting in a file which ones it meets, for at most `most`: whether the test passes.
/// Processor time counts, so that a busy machine does not matter. A process that only waits ends much later.
fn passes(mutants: &Mutants, test: &Test, variable: (&str, &str), most: Duration) -> bool {
    let limits = format!("ulimit -c 0; ulimit -v 6000000; ulimit -t {}; exec \"$0\" \"$@\"", most.as_secs() + 1);
    let mut command = Command::new("sh");
    command.args(["-c", &limits]).arg(&test.program).args(["--include-ignored", "--exact", &test.name]);
    command.args(["--test-threads", "1", "-q"]);
    command.current_dir(mutants.work.join("tree")).env(variable.0, variable.1);
    if let Some(kind) = &test.kind {
        command.env("PETAL_KIND", kind);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("a shell");
    let end = Instant::now() + 60 * most;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if Instant::now() < end => thread::sleep(Duration::from_millis(2)),
            _ => {
                let _ = (child.kill(), child.wait());
                return false;
            }
        }
    }
}

/// Which mutants a test meets. A test that fails without a mutant says nothing.
fn meet(mutants: &Mutants, test: &Test, worker: usize, longest: Duration) -> Option<Met> {
    let file = fs::canonicalize(&mutants.work).ok()?.join(format!("met{worker}"));
    let _ = fs::remove_file(&file);
    let begin = Instant::now();
    let passes = passes(mutants, test, ("PETAL_MUTANTS_MET", file.to_str()?), longest);
    let took = begin.elapsed();
    let numbers = fs::read_to_string(&file).unwrap_or_default();
    let numbers = numbers.lines().filter_map(|line| line.parse().ok()).collect();
    passes.then(|| Met { test: test.clone(), took, mutants: numbers })
}

/// Those of the mutants that none of the tests finds.
fn survivors(mutants: &Mutants, left: &[usize], tests: &[Met]) -> Vec<usize> {
    // How often each test was the one that found a mutant of a file.
    let wins: Mutex<HashMap<(&str, usize), u32>> = Mutex::default();
    let found = Mutex::new(Vec::new());
    each(left.len(), "mutants tried", |at, _| {
        let number = left[at];
        let file = mutants.text(number, "file");
        let mut meeting: Vec<usize> = (0..tests.len()).filter(|&test| tests[test].mutants.contains(&number)).collect();
        {
            let wins = wins.lock().unwrap();
            let worth = |test: &usize| {
                let won = wins.get(&(file, *test)).copied().unwrap_or(0);
                (0.02 + f64::from(won)) / (0.02 + tests[*test].took.as_secs_f64())
            };
            meeting.sort_by(|a, b| worth(b).total_cmp(&worth(a)));
        }
        let name = number.to_string();
        let most = |test: usize| 2 * tests[test].took + Duration::from_secs(1);
        let finds = |test: &usize| !passes(mutants, &tests[*test].test, ("PETAL_MUTANT", &name), most(*test));
        match meeting.iter().copied().find(finds) {
            Some(test) => *wins.lock().unwrap().entry((file, test)).or_default() += 1,
            None => {
                println!("mutants: {} passes {}", mutants.text(number, "name"), meeting.len());
                found.lock().unwrap().push(number);
            }
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort_unstable();
    found
}

/// Does something for all numbers below a count, as many at once as JOBS says (or one), and says how far it is.
fn each(count: usize, what: &str, job: impl Fn(usize, usize) + Sync) {
    let jobs = std::env::var("JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(1);
    let next = AtomicUsize::new(0);
    let begin = Instant::now();
    let work = |worker| {
        loop {
            let at = next.fetch_add(1, Relaxed);
            if at >= count {
                return;
            }
            if at > 0 && at.is_multiple_of(100) {
                println!("mutants: {at} of {count} {what} in {} s", begin.elapsed().as_secs());
            }
            job(at, worker);
        }
    };
    thread::scope(|scope| (0..jobs).for_each(|worker| drop(scope.spawn(move || work(worker)))));
}
