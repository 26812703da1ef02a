//! The table of verbs (`tests/verbs/verbs.txt`) compared with the command: its subcommands, their help and
//! docs/command.md.

#[path = "../../tests/verbs/table.rs"]
mod table;

use clap::CommandFactory;
use petal_cli::args::Cli;
use petal_cli::manual;
use std::collections::BTreeSet;
use std::path::Path;
use table::Table;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder above")
}

/// Every subcommand, those of others after their names.
fn subcommands(of: &clap::Command, before: &str, all: &mut BTreeSet<String>) {
    for command in of.get_subcommands() {
        let name = format!("{before}{}", command.get_name());
        if command.get_subcommands().next().is_some() {
            subcommands(command, &format!("{name} "), all);
        } else {
            all.insert(name);
        }
    }
}

#[test]
fn every_verb_is_a_subcommand_and_every_subcommand_is_a_verb() {
    let table = Table::read(root());
    let all = &Cli::command();
    let (mut there, mut lacking) = (BTreeSet::new(), Vec::new());
    subcommands(all, "", &mut there);
    let document = std::fs::read_to_string(root().join("docs/command.md")).expect("docs/command.md");
    let mut named = BTreeSet::new();
    for verb in &table.verbs {
        for name in verb.command.names() {
            let (subcommand, option) = match name.split_once(" --") {
                Some((subcommand, option)) => (subcommand, Some(option)),
                None => (&**name, None),
            };
            let command = subcommand.split(' ').try_fold(all, |command, word| command.find_subcommand(word));
            let takes = |option: &str| {
                command
                    .is_some_and(|command| command.get_arguments().any(|argument| argument.get_long() == Some(option)))
            };
            if !there.contains(subcommand) || !option.is_none_or(takes) {
                lacking.push(format!("petal {name} ({})", verb.c));
            }
            let page = manual::page(subcommand);
            let shown = page.is_some_and(|page| {
                page.examples
                    .iter()
                    .any(|(_, lines)| lines.iter().any(|line| line.contains(&format!("petal {subcommand}"))))
            });
            assert!(shown || !there.contains(subcommand), "the manual shows no example of petal {subcommand}");
            assert!(
                document.contains(&format!("petal {subcommand}")),
                "docs/command.md does not name petal {subcommand}"
            );
            named.insert(subcommand.to_owned());
        }
    }
    assert!(lacking.is_empty(), "the command lacks verbs of tests/verbs/verbs.txt: {lacking:?}");
    let own = table.listed("command only");
    let unheard: Vec<&String> =
        there.difference(&named).filter(|name| !own.iter().any(|own| name.split(' ').next() == Some(own))).collect();
    assert!(unheard.is_empty(), "subcommands without a line in tests/verbs/verbs.txt: {unheard:?}");
}
