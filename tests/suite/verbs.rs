//! The table of verbs (`tests/verbs/verbs.txt`) compared with what each layer has. `cli/tests/verbs.rs` compares the
//! command.

#[path = "../verbs/table.rs"]
mod table;

use petal::Capabilities;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use table::Table;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder above")
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The files below a folder whose names have this end.
fn all_files(folder: &str, end: &str) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![root().join(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.to_string_lossy().ends_with(end) => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    found
}

/// The files that [`all_files`] finds, of which there must be one.
fn files(folder: &str, end: &str) -> Vec<PathBuf> {
    let found = all_files(folder, end);
    assert!(!found.is_empty(), "{folder}: no file ends with {end}");
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The identifiers in a text that come right after `start`.
fn names<'a>(text: &'a str, start: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(start).skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

/// Compares what is there with what the table names, and fails with both differences.
fn same(what: &str, there: &BTreeSet<String>, named: &BTreeSet<String>) {
    let lacking: Vec<&String> = named.difference(there).collect();
    let unheard: Vec<&String> = there.difference(named).collect();
    assert!(
        lacking.is_empty() && unheard.is_empty(),
        "{what}: verbs of tests/verbs/verbs.txt that are not there: {lacking:?}; what is there without a line: \
        {unheard:?}"
    );
}

fn lacks(what: &str, lacking: &[String]) {
    assert!(lacking.is_empty(), "{what} lacks verbs of tests/verbs/verbs.txt: {lacking:?}");
}

/// Each exported function is a verb, and each verb is exported.
#[test]
fn of_c() {
    let map = text("capi/petal.map");
    let there = map.lines().filter_map(|line| line.trim().strip_suffix(';').filter(|name| name.starts_with("petal_")));
    let there: BTreeSet<String> = there.map(str::to_owned).collect();
    let verbs = Table::read(root()).verbs;
    let named: Vec<String> = verbs.iter().flat_map(|verb| verb.functions()).collect();
    let distinct: BTreeSet<String> = named.iter().cloned().collect();
    assert_eq!(named.len(), distinct.len(), "a verb has two lines");
    same("capi/petal.map", &there, &distinct);
}

/// Rust has each verb. Each method of a Rust handle is a verb in some form of keys, or the table lists it as one for
/// Rust only.
#[test]
fn of_rust() {
    let (mut there, mut methods) = (BTreeSet::new(), BTreeSet::new());
    for path in files("src", ".rs") {
        let text = read(&path);
        there.extend(names(&text, "fn ").map(str::to_owned));
        for start in ["impl Filter {\n", "impl Map {\n", "impl Sketch {\n"] {
            for block in text.split(start).skip(1) {
                let block = block.split("\n}\n").next().unwrap_or_default();
                methods.extend(names(block, "\n    pub fn ").map(str::to_owned));
            }
        }
    }
    let table = Table::read(root());
    let wanted: BTreeSet<&String> = table.verbs.iter().flat_map(|verb| verb.rust.names()).collect();
    let lacking: Vec<String> =
        wanted.iter().filter(|name| !there.contains(**name)).map(|name| (*name).clone()).collect();
    lacks("src", &lacking);
    let own: BTreeSet<&str> = table.listed("Rust only").into_iter().collect();
    let mut met = BTreeSet::new();
    let forms = ["_u64", "_hash", "_batch", "_id", "_few", "_whole", "_with", "_at_once"];
    let verb = |method: &str| forms.iter().fold(method.to_owned(), |name, form| name.replace(form, ""));
    let unheard: Vec<&String> = methods
        .iter()
        .filter(|method| !wanted.contains(method) && !wanted.contains(&verb(method)))
        .filter(|method| !own.contains(&***method) || !met.insert(method.as_str()))
        .collect();
    assert!(unheard.is_empty(), "methods of Filter and Map that are no verbs of the table: {unheard:?}");
    assert_eq!(met, own, "methods that are there for Rust only, and those that the table lists");
}

/// A header of C++ with the forms that throw, which it includes, in their places.
fn with_forms(path: &Path) -> String {
    let line = |line: &str| match line.strip_prefix("#include \"throwing/").and_then(|rest| rest.strip_suffix('"')) {
        Some(forms) => read(&path.with_file_name("throwing").join(forms)),
        None => format!("{line}\n"),
    };
    read(path).lines().map(line).collect()
}

/// Every class of petal.hpp with its functions, those of its base included. Free functions have an empty class name.
fn classes() -> BTreeMap<String, BTreeSet<String>> {
    let mut classes = BTreeMap::<String, BTreeSet<String>>::new();
    let mut bases = Vec::new();
    for path in files("bindings/cpp", ".hpp").iter().filter(|path| !path.iter().any(|part| part == "throwing")) {
        let mut inside = String::new();
        for line in with_forms(path).lines() {
            if line.starts_with("};") {
                inside.clear();
            }
            let class = line.strip_prefix("class ").or_else(|| line.strip_prefix("struct "));
            if let Some(class) = class.filter(|class| !class.ends_with(';')) {
                inside =
                    class.trim_start_matches("[[nodiscard]] ").split([' ', ':']).next().unwrap_or_default().to_owned();
                let base = class.split_once(" : public detail::").and_then(|(_, base)| base.split('<').next());
                bases.extend(base.map(|base| (inside.clone(), base.to_owned())));
            }
            // A declaration stands at the margin of its class, and lines further in are calls.
            let margin = if inside.is_empty() { "" } else { "  " };
            let declares = line.strip_prefix(margin).filter(|rest| !rest.starts_with([' ', '/', '#']));
            if let Some((before, _)) = declares.and_then(|rest| rest.split_once('(')) {
                let start = before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |start| start + 1);
                let functions = classes.entry(inside.clone()).or_default();
                functions.insert(before[start..].to_owned());
                if line.contains(" noexcept") {
                    functions.insert(format!("{} noexcept", &before[start..]));
                }
            }
            if line.starts_with("enum class ") {
                classes.entry(String::new()).or_default().extend(names(line, "enum class ").map(str::to_owned));
            }
        }
    }
    for (class, base) in bases {
        let inherited = classes.get(&base).cloned().unwrap_or_default();
        classes.entry(class).or_default().extend(inherited);
    }
    classes
}

/// C++ has each verb. A function that can fail has a form that throws, without `try_` in its name.
#[test]
fn of_cpp() {
    let classes = classes();
    let mut lacking = Vec::new();
    for verb in Table::read(root()).verbs {
        for name in verb.cpp.names() {
            let (class, function) = name.split_once("::").unwrap_or(("", name));
            let there = classes.get(class).unwrap_or_else(|| panic!("there is no class {class}"));
            let has = |function: &str| there.contains(function);
            let tried = function.starts_with("try_") || has(&format!("try_{function}"));
            let plain = function.trim_start_matches("try_");
            // A function that makes an object throws in the constructor, and a function that cannot fail has one form.
            let thrown = has(plain) || function == "make" && has(class);
            let is_handles = has("adopt") || class.ends_with("builder");
            if !thrown || is_handles && !tried && !has(&format!("{plain} noexcept")) {
                lacking.push(format!("{name} ({})", verb.c));
            }
            let batch = format!("{plain}_batch");
            if verb.forms.contains(&"batch") && !classes.values().any(|functions| functions.contains(&batch)) {
                lacking.push(format!("{name}_batch ({}_batch)", verb.c));
            }
        }
    }
    lacks("petal.hpp", &lacking);
}

/// The functions of a Go package, and the methods of its types after their names.
fn package(folder: &str) -> BTreeSet<String> {
    let mut there = BTreeSet::new();
    for path in files(folder, ".go") {
        if path.parent() != Some(&root().join(folder)) || path.to_string_lossy().ends_with("_test.go") {
            continue;
        }
        for line in read(&path).lines() {
            let Some(rest) = line.strip_prefix("func ") else { continue };
            let (receiver, rest) = match rest.strip_prefix('(').and_then(|rest| rest.split_once(") ")) {
                Some((receiver, rest)) => (receiver.rsplit([' ', '*']).next().map(|name| format!("{name}.")), rest),
                None => (None, rest),
            };
            let name = rest.split(['(', '[']).next().unwrap_or_default();
            there.insert(format!("{}{name}", receiver.unwrap_or_default()));
        }
    }
    there
}

/// Package petal has each verb, in each form of keys that C has.
#[test]
fn of_go() {
    let there = package("bindings/go");
    // A verb that makes a handle is a function of the package.
    let has = |name: &str| there.contains(name) || name.split_once('.').is_some_and(|(_, name)| there.contains(name));
    let mut lacking = Vec::new();
    for verb in Table::read(root()).verbs {
        for name in verb.go.names() {
            let forms = verb.forms.iter().map(|form| match *form {
                "u64" => "Uint64",
                "hash" => "Hash",
                _ => "Batch",
            });
            // A spec hashes keys one by one, and a query of many filters takes no numbers, so these have no other
            // forms.
            let forms = forms.map(|form| format!("{name}{form}")).filter(|_| {
                verb.c.starts_with("petal_filter_") && !verb.c.contains("_across")
                    || verb.c.starts_with("petal_map_")
                    || verb.c.starts_with("petal_builder_")
                    || verb.c.starts_with("petal_sketch_")
            });
            lacking.extend([name.clone()].into_iter().chain(forms).filter(|name| !has(name)));
        }
    }
    lacks("package petal", &lacking);
}

/// The functions of Python's module with their parameters, and those of its classes after their names, as its stubs
/// declare them. A test of the package compares the stubs with the module.
fn stubs() -> BTreeMap<String, String> {
    let text = text("bindings/python/petal/_petal.pyi");
    let (mut there, mut bases) = (BTreeMap::<String, String>::new(), Vec::new());
    let mut inside = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(class) = line.strip_prefix("class ") {
            inside = class.split(['(', ':']).next().unwrap_or_default().to_owned();
            let base = class.split_once('(').and_then(|(_, bases)| bases.split([',', ')']).next());
            bases.extend(base.map(|base| (inside.clone(), base.to_owned())));
        }
        let declared = match line.strip_prefix("    ") {
            Some(member) => Some(member).filter(|member| !inside.is_empty() && !member.starts_with(' ')),
            None => Some(line),
        };
        let Some(declared) = declared else { continue };
        let name = match declared.strip_prefix("def ") {
            Some(function) => function.split('(').next(),
            None => declared.split_once(": ").map(|(name, _)| name),
        };
        let Some(name) = name.filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')) else {
            continue;
        };
        // A declaration of several lines ends at the margin where it began.
        let mut whole = declared.to_owned();
        while whole.ends_with(['(', ',']) {
            let Some(next) = lines.next() else { break };
            whole.push_str(next.trim());
        }
        let name = if line.starts_with("    ") { format!("{inside}.{name}") } else { name.to_owned() };
        there.insert(name, whole);
    }
    for (class, base) in bases {
        let inherited: Vec<(String, String)> = there
            .iter()
            .filter_map(|(name, whole)| Some((name.strip_prefix(&format!("{base}."))?, whole)))
            .map(|(name, whole)| (format!("{class}.{name}"), whole.clone()))
            .collect();
        for (name, whole) in inherited {
            there.entry(name).or_insert(whole);
        }
    }
    there
}

/// Python has each verb, for many keys and for hashes too where C does, and each method of its handles is a verb.
#[test]
fn of_python() {
    let there = stubs();
    let table = Table::read(root());
    let (mut lacking, mut named) = (Vec::new(), BTreeSet::new());
    for verb in &table.verbs {
        let names = verb.python.names();
        lacking.extend(names.iter().filter(|name| !there.contains_key(*name)).cloned());
        named.extend(names.iter().cloned());
        let takes = |word: &str| names.iter().any(|name| there.get(name).is_some_and(|whole| whole.contains(word)));
        let of_handle = names.iter().any(|name| name.contains('.')) && !verb.c.starts_with("petal_spec_");
        for (form, word) in [("batch", "keys: _Keys"), ("hash", "hashed: bool")] {
            if of_handle && verb.forms.contains(&form) && !takes(word) {
                lacking.push(format!("{word} in one of {names:?}"));
            }
        }
    }
    lacks("the module petal of Python", &lacking);
    let own: BTreeSet<&str> = table.listed("Python only").into_iter().collect();
    let handles = ["Filter", "Map", "Sketch", "Builder", "MapBuilder"];
    let (mut met, mut unheard) = (BTreeSet::new(), Vec::new());
    for name in there.keys().filter(|name| !named.contains(*name)) {
        let Some((handle, method)) = name.split_once('.') else { continue };
        if !handles.contains(&handle) || method.starts_with('_') {
            continue;
        }
        if own.contains(method) {
            met.insert(method);
        } else {
            unheard.push(name);
        }
    }
    assert!(unheard.is_empty(), "methods of Python that are no verbs of the table: {unheard:?}");
    assert_eq!(met, own, "methods that are there for Python only, and those that the table lists");
}

/// The packages view and filter have the functions that the table names.
#[test]
fn of_pure_go() {
    let packages = ["view", "filter"].map(|name| (name, package(&format!("bindings/go/{name}"))));
    let packages = BTreeMap::from(packages);
    let mut lacking = Vec::new();
    for verb in Table::read(root()).verbs {
        for name in verb.pure_go.names() {
            let (package, function) = name.split_once('.').expect("a package and a function");
            let there = packages.get(package).unwrap_or_else(|| panic!("there is no package {package}"));
            let is_one = |found: &&String| found.rsplit('.').next() == Some(function);
            if !there.iter().any(|found| is_one(&found)) {
                lacking.push(format!("{name} ({})", verb.c));
            }
        }
    }
    lacks("pure Go", &lacking);
}

/// The module has each verb, and its documents name each verb. Each command of the module is a verb.
#[test]
fn of_the_module_for_redis() {
    let sources: String = files("integrations/redis/src", ".rs").iter().map(|path| read(path)).collect();
    let there: BTreeSet<String> = names(&sources, "c\"petal.").map(|name| format!("petal.{name}")).collect();
    let there: BTreeSet<String> =
        there.into_iter().filter(|name| sources.contains(&format!("{name}\", c\""))).collect();
    let table = Table::read(root());
    let own = table.listed("module only").into_iter().map(|name| format!("petal.{name}"));
    let named: BTreeSet<String> = table.verbs.iter().flat_map(|verb| verb.redis.names().to_vec()).chain(own).collect();
    same("the module", &there, &named);
    for document in ["docs/redis.md", "integrations/redis/petal-redis.7"] {
        let text = text(document);
        let unnamed: Vec<String> =
            named.iter().map(|name| name.to_uppercase()).filter(|name| !text.contains(name)).collect();
        lacks(document, &unnamed);
    }
}

/// Every capability has a name in C with the same number, and a verb.
#[test]
fn of_every_capability() {
    let all = Capabilities::ALL.iter().fold(0, |all, (_, capability)| all | capability.0);
    let mut numbers = BTreeMap::new();
    for path in files("include", ".h") {
        for line in read(&path).lines() {
            // MAY_LOSE_KEYS is no ability, so its C name has another prefix.
            let rest = line
                .strip_prefix("#define PETAL_CAN_")
                .or_else(|| line.strip_prefix("#define PETAL_").filter(|rest| rest.starts_with("MAY_LOSE_KEYS ")));
            let Some(rest) = rest else { continue };
            let (name, value) = rest.split_once(' ').expect("a name and a value");
            let value = value.trim_matches(['(', ')']).trim_start_matches("UINT64_C(");
            let (one, shift) = value.split_once("<<").unwrap_or((value, "0"));
            let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
            let number: u64 = digits(one).parse().unwrap_or_else(|_| panic!("{line}"));
            numbers.insert(name.to_lowercase(), number << digits(shift).parse::<u32>().expect("a shift"));
        }
    }
    let named = numbers.values().fold(0, |all, number| all | number);
    assert_eq!(named, all, "the OR of all PETAL_CAN_*, and of Capabilities::ALL: {numbers:x?}");
    let table = Table::read(root());
    let other: BTreeMap<&str, &str> =
        table.listed("capabilities").into_iter().filter_map(|pair| pair.split_once('=')).collect();
    for (name, capability) in Capabilities::ALL {
        assert_eq!(numbers.get(name), Some(&capability.0), "PETAL_CAN_{}", name.to_uppercase());
        let verb = other.get(name).unwrap_or(&name);
        assert!(table.verbs.iter().any(|row| row.name == *verb), "no verb is there for the capability {name}");
    }
}

/// The names that `{a,b}` in a pattern stands for.
fn written_out(pattern: &str) -> Vec<String> {
    match pattern.split_once('{').and_then(|(start, rest)| Some((start, rest.split_once('}')?))) {
        Some((start, (names, end))) => names.split(',').map(|name| format!("{start}{name}{end}")).collect(),
        None => vec![pattern.to_owned()],
    }
}

/// The table of files in the recipe for a handle in ARCHITECTURE: each file is there, and no other file has a sketch.
#[test]
fn of_the_table_of_a_handle() {
    let page = text("ARCHITECTURE.md");
    let recipe =
        page.split("## Adding a handle").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap_or_default();
    let cells = recipe.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let named: Vec<String> =
        cells.flat_map(|cell| cell.split(", `").flat_map(|name| written_out(name.trim_end_matches('`')))).collect();
    assert!(named.len() > 60, "{named:?}");
    let missing: Vec<&String> = named.iter().filter(|name| !root().join(name.as_str()).exists()).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names what is not there: {missing:?}");
    let is_of_sketches = |word: &str| {
        matches!(word, "Sketch" | "SKETCHES" | "SketchKind" | "HandleSketch" | "iblt" | "IBLT" | "riblt" | "Riblt")
            || word.starts_with("petal_sketch")
    };
    let mut unnamed = Vec::new();
    for folder in
        ["src", "capi/src", "cli", "ctest", "bindings", "tests/suite", "tests/header", "fuzz/targets", "tools/src"]
    {
        for end in [".rs", ".c", ".h", ".hpp", ".cpp", ".go"] {
            for path in all_files(folder, end) {
                let place = path.strip_prefix(root()).expect("a file of the tree").to_string_lossy().replace('\\', "/");
                let is_named =
                    named.iter().any(|name| *name == place || name.ends_with('/') && place.starts_with(name));
                let words = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(is_of_sketches);
                if !is_named && words(&read(&path)) {
                    unnamed.push(place);
                }
            }
        }
    }
    assert!(unnamed.is_empty(), "the table in ARCHITECTURE.md lacks {unnamed:?}");
}
