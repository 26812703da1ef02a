//! Makes the man pages and the shell completions, of the very command line that the program reads. They go to the
//! folder that `PETAL_CLI_DOCUMENTS` names, in the build of a package, and otherwise beside cargo's other products.

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

#[path = "src/args.rs"]
mod args;
#[allow(dead_code, reason = "only what the command line needs is used here")]
#[path = "src/numbers.rs"]
mod numbers;

fn main() -> io::Result<()> {
    for input in ["build.rs", "src/args.rs", "src/numbers.rs"] {
        println!("cargo::rerun-if-changed={input}");
    }
    println!("cargo::rerun-if-env-changed=PETAL_CLI_DOCUMENTS");
    let folder = env::var_os("PETAL_CLI_DOCUMENTS").or_else(|| env::var_os("OUT_DIR")).map(PathBuf::from);
    let Some(folder) = folder else { return Ok(()) };
    fs::create_dir_all(&folder)?;
    let mut command = args::Cli::command();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut command, "petal", &folder)?;
    }
    command.build();
    for subcommand in command.get_subcommands() {
        let name = format!("petal-{}", subcommand.get_name());
        let subcommand = subcommand.clone().bin_name(name.replace('-', " ")).display_name(name.clone());
        let mut page = Vec::new();
        man(subcommand).render(&mut page)?;
        fs::write(folder.join(format!("{name}.1")), page)?;
    }
    overview(command, &folder.join("petal.1"))
}

fn man(command: clap::Command) -> Man {
    let version = env!("CARGO_PKG_VERSION");
    Man::new(command.version(version)).source(format!("petal {version}")).manual("Petal")
}

/// petal(1): what all subcommands share, and examples.
fn overview(command: clap::Command, file: &Path) -> io::Result<()> {
    let man = man(command);
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_subcommands_section(&mut page)?;
    let mut more = Roff::new();
    more.control("SH", ["EXAMPLES"]);
    for (what, how) in EXAMPLES {
        more.text([roman(*what)]).control("PP", []).control("RS", ["4"]).control("nf", []);
        more.text([roman(*how)]).control("fi", []).control("RE", []).control("PP", []);
    }
    more.control("SH", ["EXIT STATUS"]).text([roman(args::EXIT_STATUS)]);
    more.to_writer(&mut page)?;
    fs::write(file, page)
}

const EXAMPLES: &[(&str, &str)] = &[
    (
        "A filter of a word list, with one false positive in a thousand:",
        "petal build --fpr 0.001 -o words.petal words.txt",
    ),
    ("The lines of a text that certainly are not in it:", "petal check -v words.petal text.txt"),
    (
        "The names of files, which may have newlines in them:",
        "find . -print0 | petal build -0 --capacity 1M -o files.petal",
    ),
    ("The distinct lines of a stream, in 12 MB:", "petal dedup --capacity 10M < stream.log"),
    ("Which kind of filter for a hundred million keys in 128 MiB:", "petal plan --keys 100M --memory 128MiB"),
];
