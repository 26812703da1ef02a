//! petal-mutants WORK: copies the files that WORK/files lists to WORK/tree, plants the mutants of WORK/list.json (what
//! `cargo mutants --list --json` says) there, compiles that once, and runs the tests that meet each mutant until one
//! fails. WORK/survivors then has the names of those that no test finds, WORK/left_out those that cannot stand behind a
//! question, WORK/wrong those that do not compile. A later run writes and compiles only what differs.

mod plant;
mod run;

use plant::Region;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{fs, io};

/// The head of the core, which also gets the switch.
const HEAD: &str = "src/lib.rs";

/// The mutants, and where they live.
pub struct Mutants {
    work: PathBuf,
    list: Vec<Value>,
}

impl Mutants {
    fn text(&self, number: usize, field: &str) -> &str {
        self.list[number - 1][field].as_str().expect("a text")
    }

    /// Plants all but some in the copy, whose files have the texts `originals`: where each is, and which cannot be.
    fn plant(&self, originals: &BTreeMap<&str, String>, without: &HashSet<usize>) -> io::Result<Plantation> {
        let mut all = Plantation::default();
        for (&file, text) in originals {
            let of_file = |&number: &usize| self.text(number, "file") == file && !without.contains(&number);
            let numbers = (1..=self.list.len()).filter(of_file);
            let mutants: Vec<_> = numbers.map(|number| (number, &self.list[number - 1])).collect();
            let mut planted = plant::plant(text, &mutants);
            if file == HEAD {
                planted.text.push_str("mod mutants_switch;\nuse mutants_switch::mutant;\n");
            }
            self.write(file, planted.text.as_bytes())?;
            all.regions.insert(file.to_string(), planted.regions);
            all.left_out.extend(planted.left_out);
        }
        Ok(all)
    }

    /// Writes a file of the copy, unless it is there, so that cargo compiles only what differs.
    fn write(&self, file: &str, text: &[u8]) -> io::Result<()> {
        let path = self.work.join("tree").join(file);
        if fs::read(&path).ok().as_deref() == Some(text) {
            return Ok(());
        }
        fs::create_dir_all(path.parent().expect("a folder"))?;
        fs::write(path, text)
    }

    /// Writes the names of some mutants to a file beside the copy.
    fn put(&self, file: &str, numbers: &[usize]) -> io::Result<()> {
        let lines: String = numbers.iter().map(|&number| format!("{}\n", self.text(number, "name"))).collect();
        fs::write(self.work.join(file), lines)
    }

    /// What cargo says, in JSON, of the copy.
    fn cargo(&self, arguments: &str) -> io::Result<(bool, Vec<Value>)> {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        command.args(arguments.split(' ')).args(["--locked", "--profile", "quick", "-p", "petal", "--lib", "-q"]);
        let target = fs::canonicalize(&self.work)?.join("target");
        command.arg("--message-format=json").env("CARGO_TARGET_DIR", target).env("RUSTFLAGS", "--cap-lints=allow");
        let output = command.current_dir(self.work.join("tree")).stderr(Stdio::inherit()).output()?;
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok((output.status.success(), lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()))
    }
}

#[derive(Default)]
struct Plantation {
    regions: BTreeMap<String, Vec<Region>>,
    left_out: Vec<usize>,
}

impl Plantation {
    /// The mutants that a compiler's error is about: those in whose own text it is, else those beside which.
    fn guilty(&self, error: &Value) -> Vec<usize> {
        let main = spans(error).into_iter().filter(|span| span["is_primary"] == true).collect::<Vec<_>>();
        let notes = error["children"].as_array().into_iter().flatten().flat_map(spans);
        let all = spans(error).into_iter().chain(notes).collect::<Vec<_>>();
        let looks = [(&main, true), (&all, true), (&main, false), (&all, false)];
        looks
            .into_iter()
            .flat_map(|(spans, own)| spans.iter().map(move |span| self.at(span, own)))
            .find(|m| !m.is_empty())
            .unwrap_or_else(|| main.iter().flat_map(|span| self.guard_after(span)).collect())
    }

    /// The first guard after a span: that of a match whose value is there.
    fn guard_after(&self, span: &Value) -> Option<usize> {
        let regions = self.regions.get(span["file_name"].as_str()?)?.iter();
        let end = span["byte_end"].as_u64()? as usize;
        let after = regions.filter(|region| region.guard && region.bytes.start >= end);
        Some(after.min_by_key(|region| region.bytes.start)?.mutant)
    }

    /// The mutants of the smallest region around a span.
    fn at(&self, span: &Value, own: bool) -> Vec<usize> {
        let byte = |name: &str| span[name].as_u64().unwrap_or(0) as usize;
        let (start, end) = (byte("byte_start"), byte("byte_end"));
        let regions = self.regions.get(span["file_name"].as_str().unwrap_or_default());
        let around = |region: &&Region| region.own == own && region.bytes.start <= start && end <= region.bytes.end;
        let around: Vec<_> = regions.into_iter().flatten().filter(around).collect();
        let least = around.iter().map(|region| region.bytes.len()).min();
        around.iter().filter(|region| Some(region.bytes.len()) == least).map(|region| region.mutant).collect()
    }
}

/// Where a message is, at the outermost place if a macro is there.
fn spans(message: &Value) -> Vec<&Value> {
    fn outermost(mut span: &Value) -> &Value {
        while let Value::Object(outer) = &span["expansion"] {
            span = &outer["span"];
        }
        span
    }
    message["spans"].as_array().into_iter().flatten().map(outermost).collect()
}

fn main() -> io::Result<()> {
    let work = PathBuf::from(std::env::args_os().nth(1).expect("petal-mutants WORK"));
    let list = serde_json::from_slice(&fs::read(work.join("list.json"))?)?;
    let mutants = Mutants { work, list };
    let all = 1..=mutants.list.len();
    let mut originals = BTreeMap::from([(HEAD, fs::read_to_string(HEAD)?)]);
    for number in all.clone() {
        let file = mutants.text(number, "file");
        originals.insert(file, fs::read_to_string(file)?);
    }
    for file in fs::read_to_string(mutants.work.join("files"))?.lines().filter(|&file| !originals.contains_key(file)) {
        mutants.write(file, &fs::read(file)?)?;
    }
    mutants.write("src/mutants_switch.rs", include_bytes!("switch.rs"))?;

    // The compiler names some that do not compile, and after these are gone perhaps others.
    let known = fs::read_to_string(mutants.work.join("wrong")).unwrap_or_default();
    let known: HashSet<&str> = known.lines().collect();
    let mut wrong: HashSet<usize> = all.clone().filter(|&m| known.contains(mutants.text(m, "name"))).collect();
    let planted = loop {
        let planted = mutants.plant(&originals, &wrong)?;
        let (compiles, messages) = mutants.cargo("check")?;
        if compiles {
            break planted;
        }
        let errors = messages.iter().map(|message| &message["message"]).filter(|message| message["level"] == "error");
        let before = wrong.len();
        wrong.extend(errors.clone().flat_map(|error| planted.guilty(error)));
        if wrong.len() == before {
            errors.for_each(|error| eprintln!("{}", error["rendered"].as_str().unwrap_or_default()));
            return Err(io::Error::other("the copy does not compile, and no mutant explains it"));
        }
        println!("mutants: {} do not compile", wrong.len());
        mutants.put("wrong", &all.clone().filter(|number| wrong.contains(number)).collect::<Vec<_>>())?;
    };
    mutants.put("left_out", &planted.left_out)?;
    let is_planted = |number: &usize| !wrong.contains(number) && !planted.left_out.contains(number);
    let numbers: Vec<usize> = all.filter(is_planted).collect();
    println!("mutants: {} planted; compiling the tests", numbers.len());
    let (compiles, messages) = mutants.cargo("test --no-run -p petal-suite --test suite")?;
    assert!(compiles, "what `cargo check` compiles");
    let program = |message: &Value| message["executable"].as_str().map(PathBuf::from);
    let programs: Vec<PathBuf> = messages.iter().filter_map(program).collect();
    let survive = run::run(&mutants, &programs, &numbers)?.len();
    let (planted, out) = (numbers.len(), planted.left_out.len());
    println!("mutants: {planted} planted, {} found, {survive} survive", planted - survive);
    println!("mutants: {} do not compile, {out} cannot be chosen later (left_out names them)", wrong.len());
    Ok(())
}
