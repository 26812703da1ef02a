//! petal-mutants WORK: plants the mutants of WORK/list.json (what `cargo mutants --list --json` says) in the copy of
//! the core in WORK/tree, compiles that once, and runs the tests that meet each mutant until one fails. WORK/survivors
//! then has the names of those that no test finds, WORK/left_out those that cannot stand behind a question.

mod plant;
mod run;

use plant::Region;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

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
            let planted = plant::plant(text, &mutants);
            fs::write(self.work.join("tree").join(file), planted.text)?;
            all.regions.insert(file.to_string(), planted.regions);
            all.left_out.extend(planted.left_out);
        }
        Ok(all)
    }

    /// What cargo says, in JSON, of the copy.
    fn cargo(&self, arguments: &str) -> io::Result<(bool, Vec<Value>)> {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        command.args(arguments.split(' ')).args(["--locked", "--profile", "mutants", "-p", "petal", "--lib", "-q"]);
        let target = fs::canonicalize(&self.work)?.join("target");
        command.arg("--message-format=json").env("CARGO_TARGET_DIR", target);
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
            .unwrap_or_default()
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
    let tree = mutants.work.join("tree");
    let mut originals = BTreeMap::new();
    for number in 1..=mutants.list.len() {
        let file = mutants.text(number, "file");
        originals.insert(file, fs::read_to_string(tree.join(file))?);
    }
    prepare(&tree)?;

    // The compiler names some that do not compile, and after these are gone perhaps others.
    let mut wrong = HashSet::new();
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
    };
    let out: HashSet<usize> = planted.left_out.into_iter().collect();
    let numbers = (1..=mutants.list.len()).filter(|number| !wrong.contains(number) && !out.contains(number));
    let numbers: Vec<usize> = numbers.collect();
    println!("mutants: {} planted; compiling the tests", numbers.len());
    let (compiles, messages) = mutants.cargo("test --no-run --test suite")?;
    assert!(compiles, "what `cargo check` compiles");
    let program = |message: &Value| message["executable"].as_str().map(PathBuf::from);
    let programs: Vec<PathBuf> = messages.iter().filter_map(program).collect();
    let survivors = run::run(&mutants, &programs, &numbers)?;
    let names =
        |of: &mut dyn Iterator<Item = usize>| of.map(|m| format!("{}\n", mutants.text(m, "name"))).collect::<String>();
    fs::write(mutants.work.join("survivors"), names(&mut survivors.iter().copied()))?;
    fs::write(mutants.work.join("left_out"), names(&mut out.iter().copied()))?;
    let (planted, survive) = (numbers.len(), survivors.len());
    println!("mutants: {planted} planted, {} found, {survive} survive", planted - survive);
    println!(
        "mutants: {} do not compile, {} stand where all is constant (left_out names them)",
        wrong.len(),
        out.len()
    );
    Ok(())
}

/// Gives the copy the switch.
fn prepare(tree: &Path) -> io::Result<()> {
    let root = tree.join("src/lib.rs");
    let text = fs::read_to_string(&root)?;
    fs::write(&root, format!("#![allow(warnings)]\n{text}\nmod mutants_switch;\nuse mutants_switch::mutant;\n"))?;
    fs::write(tree.join("src/mutants_switch.rs"), include_str!("switch.rs"))
}
