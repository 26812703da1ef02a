//! The licences of the crates that are linked into the library and the command, as they are installed with Petal's.
//! Cargo says which crates these are, and their folders have the texts.

use crate::Generated;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Crates are listed for one platform, so that the file is the same whoever writes it.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

const OPENING: &str = "\
Petal itself is licensed under MIT or Apache 2.0: see LICENSE-MIT and LICENSE-APACHE.
This file lists what else is compiled into the library and the command, each with its licence.
It is written by `make licences`.

Both contain parts of the Rust standard library, copyright The Rust Project Developers, licensed under
MIT or Apache 2.0; the Rust distribution has the licences of what that library is made of.
";

/// A crate that is linked in.
struct Crate {
    name: String,
    version: String,
    /// An SPDX expression.
    licence: String,
    folder: PathBuf,
}

/// The file as it should be.
///
/// # Errors
/// Says which command failed, or which crate has no text of its licence.
pub fn file(root: &Path) -> Result<Generated, String> {
    let crates = known(root)?;
    let library = linked(root, "petal-capi")?;
    let command = linked(root, "petal-cli")?;
    let mut text = OPENING.to_owned();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (title, names) in [("libpetal", &library), ("the command petal", &command)] {
        text += &format!("\nIn {title}:\n\n");
        for linked in crates.iter().filter(|known| names.contains(&format!("{} v{}", known.name, known.version))) {
            let Crate { name, version, licence, folder } = linked;
            text += &format!("  {name} {version}: {licence}\n");
            let users = texts.entry(licence_text(folder)?).or_default();
            let user = format!("{name} {version}");
            if !users.contains(&user) {
                users.push(user);
            }
        }
    }
    let mut texts: Vec<_> = texts.into_iter().map(|(licence, users)| (users, licence)).collect();
    texts.sort();
    for (users, licence) in texts {
        text += &format!("\n{}\n{}\n\n{}\n", "-".repeat(80), users.join(", "), licence.trim());
    }
    Ok(("LICENSES-THIRD-PARTY".to_owned(), text))
}

/// What cargo says, run in the folder of the tree.
pub fn cargo(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(arguments)
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

/// Every crate of other people that the workspace may use, by name.
fn known(root: &Path) -> Result<Vec<Crate>, String> {
    let metadata = cargo(root, &["metadata", "--locked", "--format-version=1", "--filter-platform", PLATFORM])?;
    let metadata: Value = serde_json::from_str(&metadata).map_err(|error| error.to_string())?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let mut crates = Vec::new();
    for package in packages.iter().filter(|package| !package["source"].is_null()) {
        let text = |key: &str| package[key].as_str().unwrap_or("?").to_owned();
        let folder = Path::new(&text("manifest_path")).parent().map(Path::to_owned).unwrap_or_default();
        crates.push(Crate { name: text("name"), version: text("version"), licence: text("license"), folder });
    }
    crates.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(crates)
}

/// The crates whose code is linked into a package, each as `name vVERSION`.
fn linked(root: &Path, package: &str) -> Result<BTreeSet<String>, String> {
    let what = ["tree", "--locked", "-p", package, "--all-features", "-e", "normal,no-proc-macro"];
    let names = cargo(root, &[what.as_slice(), &["--target", PLATFORM, "--prefix", "none"]].concat())?;
    Ok(names.lines().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect())
}

/// The text of a crate's licence: where it may be chosen, MIT.
fn licence_text(folder: &Path) -> Result<String, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<String> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    files.sort();
    let named = |part: &str| files.iter().find(|file| file.to_ascii_uppercase().starts_with(part));
    let file = ["LICENSE-MIT", "LICENCE-MIT", "LICENSE", "LICENCE", "COPYING"].into_iter().find_map(named);
    let file = file.ok_or_else(|| format!("{} has no licence", folder.display()))?;
    let text = fs::read_to_string(folder.join(file)).map_err(|error| format!("{file}: {error}"))?;
    Ok(text.replace('\r', ""))
}
