//! Reads the table of verbs (`verbs.txt`), for the tests of each layer.
#![allow(dead_code, reason = "each test program walks some columns")]

use std::collections::BTreeSet;
use std::path::Path;

/// A verb of a handle, or a function without one.
pub struct Verb {
    /// The function of C.
    pub c: String,
    /// The forms of keys that C has too.
    pub forms: Vec<&'static str>,
    /// The name without that of the handle.
    pub name: String,
    /// The name for callers of Rust.
    pub rust: Layer,
    /// The class, if the handle has one, and its function.
    pub cpp: Layer,
    /// The type, if the handle has one, and its method.
    pub go: Layer,
    /// The type, if the handle has one, and its method, with the package before both, for each package in pure Go.
    pub pure_go: Layer,
    /// The class, if the handle has one, and its method; or a function of the module.
    pub python: Layer,
    /// A subcommand, and perhaps an option.
    pub command: Layer,
    /// Commands of the module.
    pub redis: Layer,
}

/// How a layer names a verb.
pub enum Layer {
    /// By these names.
    Named(Vec<String>),
    /// Not at all, and the table says why.
    Lacks(String),
}

impl Layer {
    /// The names.
    pub fn names(&self) -> &[String] {
        match self {
            Layer::Named(names) => names,
            Layer::Lacks(_) => &[],
        }
    }
}

/// The table.
pub struct Table {
    /// The verbs, in its order.
    pub verbs: Vec<Verb>,
    lines: Vec<String>,
}

impl Table {
    /// Reads the table, and holds it to its own rules: every reason is one that the table lists, and each listed reason
    /// is used.
    pub fn read(root: &Path) -> Table {
        let text = std::fs::read_to_string(root.join("tests/verbs/verbs.txt")).expect("the table of verbs");
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let reasons: BTreeSet<&str> = lines
            .iter()
            .filter_map(|line| line.strip_prefix("# -")?.split_once(": "))
            .map(|(reason, why)| {
                assert!(why.ends_with('.') && why.len() > 20, "-{reason} is no sentence: {why}");
                reason
            })
            .collect();
        let mut verbs = Vec::new();
        let (mut prefix, mut class, mut kind, mut python) = ("", "", "", "");
        for line in lines.iter().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            if line.starts_with('[') {
                let mut words = line.split(' ').skip(1);
                prefix = words.next().and_then(|word| word.strip_suffix('*')).expect("the first words of functions");
                (class, kind, python) = ("", "", "");
                for word in words {
                    match word.split_once(':') {
                        Some(("C++", name)) => class = name,
                        Some(("Go", name)) => kind = name,
                        Some(("Python", name)) => python = name,
                        _ => panic!("{word} in {line}"),
                    }
                }
                continue;
            }
            let columns: Vec<&str> = line.split("  ").map(str::trim).filter(|column| !column.is_empty()).collect();
            let columns: [&str; 9] =
                columns[..].try_into().unwrap_or_else(|_| panic!("{} columns: {line}", columns.len()));
            verbs.push(Verb::of(prefix, [class, kind, python], columns));
        }
        let used: BTreeSet<&str> = verbs.iter().flat_map(Verb::reasons).collect();
        assert_eq!(used, reasons, "reasons that are used, and those that are listed");
        Table { verbs, lines }
    }

    /// What a line of this name lists.
    pub fn listed(&self, name: &str) -> Vec<&str> {
        let start = format!("# {name}: ");
        let line = self.lines.iter().find_map(|line| line.strip_prefix(&start));
        line.unwrap_or_else(|| panic!("no line `{name}`")).split(' ').collect()
    }
}

impl Verb {
    fn of(prefix: &str, [class, kind, python_class]: [&str; 3], columns: [&str; 9]) -> Verb {
        let [name, forms, rust, cpp, go, pure_go, python, command, redis] = columns;
        let form = |letter| match letter {
            'u' => "u64",
            'h' => "hash",
            'b' => "batch",
            _ => panic!("the forms {forms} of {name}"),
        };
        let c = format!("{prefix}{name}");
        // Other layers name what they return, so they have no get_ before it.
        let name = name.strip_prefix("get_").unwrap_or(name);
        let camel: String = name.split('_').map(capital).collect();
        let go_name = if go == "=" { &camel } else { go };
        let bare = go_name.rsplit('.').next().unwrap_or_default().to_owned();
        let in_class = |word: &str| match word.strip_prefix("::") {
            Some(free) => if free == "=" { name } else { free }.to_owned(),
            None if word.contains("::") || class.is_empty() => word.to_owned(),
            None => format!("{class}::{word}"),
        };
        let of_type = |name: &str| match name.contains('.') || kind.is_empty() {
            true => name.to_owned(),
            false => format!("{kind}.{name}"),
        };
        let in_python = |word: &str| match word.strip_prefix("::") {
            Some(free) => if free == "=" { name } else { free }.to_owned(),
            None if word.contains('.') || python_class.is_empty() => word.to_owned(),
            None => format!("{python_class}.{word}"),
        };
        let of_package = |name: &str| if name.contains('.') { name.to_owned() } else { format!("{name}.{bare}") };
        let module = |name: &str| format!("petal.{}", name.replace('_', ""));
        // Functions without a handle have their first words in C++ too.
        let snake = match class.is_empty() {
            true => format!("{}{name}", prefix.trim_start_matches("petal_")),
            false => name.to_owned(),
        };
        Verb {
            c,
            forms: forms.chars().filter(|letter| *letter != '.').map(form).collect(),
            name: name.to_owned(),
            rust: layer(rust, name, str::to_owned),
            cpp: layer(cpp, &snake, in_class),
            go: layer(go, &camel, of_type),
            pure_go: layer(pure_go, name, of_package),
            python: layer(python, name, in_python),
            command: match command.starts_with('-') {
                true => layer(command, name, str::to_owned),
                false => Layer::Named(vec![if command == "=" { name } else { command }.to_owned()]),
            },
            redis: layer(redis, name, module),
        }
    }

    fn reasons(&self) -> impl Iterator<Item = &str> {
        let layers = [&self.rust, &self.cpp, &self.go, &self.pure_go, &self.python, &self.command, &self.redis];
        layers.into_iter().filter_map(|layer| match layer {
            Layer::Lacks(reason) => Some(&**reason),
            Layer::Named(_) => None,
        })
    }

    /// The functions of C.
    pub fn functions(&self) -> impl Iterator<Item = String> {
        std::iter::once(self.c.clone()).chain(self.forms.iter().map(|form| format!("{}_{form}", self.c)))
    }
}

fn layer(column: &str, same: &str, name: impl Fn(&str) -> String) -> Layer {
    match column.strip_prefix('-') {
        Some(reason) => Layer::Lacks(reason.to_owned()),
        None => Layer::Named(column.split(' ').map(|word| name(if word == "=" { same } else { word })).collect()),
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}
