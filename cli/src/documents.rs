//! `petal-documents FOLDER`: writes the man pages and the shell completions, of the very command line that `petal`
//! reads.

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use petal_cli::args::Cli;
use petal_cli::manual::{self, GROUPS};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let Some(folder) = env::args_os().nth(1).map(PathBuf::from) else {
        return Err(io::Error::other("usage: petal-documents FOLDER"));
    };
    fs::create_dir_all(&folder)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut Cli::command(), "petal", &folder)?;
    }
    // `petal help` has no page.
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    write_pages(&command, "", &folder)?;
    write_page(command, "petal", &folder.join("petal.1"))
}

/// The man pages of a command's subcommands, and of theirs; `parents` are the names above them, each with a space.
fn write_pages(command: &clap::Command, parents: &str, folder: &Path) -> io::Result<()> {
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        let name = format!("{parents}{}", subcommand.get_name());
        write_pages(subcommand, &format!("{name} "), folder)?;
        let spoken = format!("petal {name}");
        let file = spoken.replace(' ', "-");
        let page = subcommand.clone().disable_help_subcommand(true).bin_name(spoken).display_name(file.clone());
        write_page(page, &name, &folder.join(format!("{file}.1")))?;
    }
    Ok(())
}

/// The man page of a command: what its options are, then examples and the exit status.
fn write_page(command: clap::Command, name: &str, file: &Path) -> io::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let has_subcommands = command.has_subcommands();
    let about = |one: &clap::Command| one.get_about().map(ToString::to_string).unwrap_or_default();
    let abouts: BTreeMap<String, String> =
        command.get_subcommands().map(|one| (one.get_name().to_owned(), about(one))).collect();
    let man = Man::new(command.version(version)).source(format!("petal {version}")).manual("Petal");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    let Some(of_manual) = manual::page(name) else {
        return Err(io::Error::other(format!("src/manual.txt has no page {name}")));
    };
    let mut more = Roff::new();
    if name == "petal" {
        more.control("SH", ["COMMANDS"]);
        for (heading, names) in GROUPS {
            more.control("SS", [*heading]);
            for name in *names {
                more.control("TP", []).text([roman(format!("petal-{name}(1)"))]);
                more.text([roman(abouts.get(*name).map_or("", String::as_str))]);
            }
        }
    } else if has_subcommands {
        man.render_subcommands_section(&mut page)?;
    }
    more.control("SH", ["EXAMPLES"]);
    for (what, commands) in &of_manual.examples {
        more.text([roman(format!("{what}:"))]).control("PP", []).control("RS", ["4"]).control("nf", []);
        for command in commands {
            more.text([roman(*command)]);
        }
        more.control("fi", []).control("RE", []).control("PP", []);
    }
    more.control("SH", ["EXIT STATUS"]);
    for (number, lines) in manual::statuses(of_manual) {
        more.control("TP", []).text([bold(number.to_string())]);
        for (i, line) in lines.into_iter().enumerate() {
            if i > 0 {
                more.control("br", []);
            }
            more.text([roman(line)]);
        }
    }
    if name != "petal" {
        more.control("SH", ["SEE ALSO"]).text([bold("petal"), roman("(1)")]);
    }
    more.to_writer(&mut page)?;
    fs::write(file, page)
}
