//! The licences of the crates that are linked into what is installed, as they are installed with Petal's.
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
This file lists what else is compiled into what is installed, each with its licence.
It is written by `make licences`.

All of it contains parts of the Rust standard library, copyright The Rust Project Developers, licensed under
MIT or Apache 2.0; the Rust distribution has the licences of what that library is made of.
";

/// A crate that is linked in.
struct Crate {
    name: String,
    version: String,
    /// An SPDX expression.
    licence: String,
    repository: String,
    folder: PathBuf,
}

/// The file as it should be.
///
/// # Errors
/// Says which command failed, or which crate has no text of its licence.
pub fn file(root: &Path) -> Result<Generated, String> {
    let mut text = OPENING.to_owned();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (title, folder, package) in [
        ("libpetal", "", "petal-capi"),
        ("the command petal", "", "petal-cli"),
        ("the module for Redis", "integrations/redis", "petal-redis"),
    ] {
        let folder = root.join(folder);
        let names = linked(&folder, package)?;
        let crates = known(&folder)?;
        text += &format!("\nIn {title}:\n\n");
        for linked in crates.iter().filter(|known| names.contains(&format!("{} v{}", known.name, known.version))) {
            let Crate { name, version, licence, .. } = linked;
            text += &format!("  {name} {version}: {licence}\n");
            let users = texts.entry(licence_text(linked, &crates)?).or_default();
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
    let what = ["metadata", "--locked", "--all-features", "--format-version=1", "--filter-platform", PLATFORM];
    let metadata = cargo(root, &what)?;
    let metadata: Value = serde_json::from_str(&metadata).map_err(|error| error.to_string())?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let mut crates = Vec::new();
    for package in packages.iter().filter(|package| !package["source"].is_null()) {
        let text = |key: &str| package[key].as_str().unwrap_or("?").to_owned();
        let folder = Path::new(&text("manifest_path")).parent().map(Path::to_owned).unwrap_or_default();
        crates.push(Crate {
            name: text("name"),
            version: text("version"),
            licence: text("license"),
            repository: text("repository"),
            folder,
        });
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

/// The text of a crate's licence: where it may be chosen, MIT, and where several hold, all that its folder has. A crate
/// without a text has that of another one of its repository.
fn licence_text(linked: &Crate, crates: &[Crate]) -> Result<String, String> {
    let others = crates.iter().filter(|other| other.repository == linked.repository && other.licence == linked.licence);
    for Crate { folder, .. } in std::iter::once(linked).chain(others) {
        let mut files = Vec::new();
        licence_files(folder, &mut files).map_err(|error| format!("{}: {error}", folder.display()))?;
        files.sort();
        if !linked.licence.contains(" AND ") {
            let named = |part: &&str| {
                let is_named = |file: &&PathBuf| file.parent() == Some(folder) && upper_name(file).starts_with(*part);
                files.iter().find(is_named).cloned()
            };
            let order = ["LICENSE-MIT", "LICENCE-MIT", "LICENSE", "LICENCE", "COPYING"];
            files = order.iter().find_map(named).into_iter().collect();
        }
        if files.is_empty() {
            continue;
        }
        let read = |file: &PathBuf| fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()));
        let texts: Vec<String> = files.iter().map(read).collect::<Result<_, _>>()?;
        return Ok(texts.join("\n").replace('\r', ""));
    }
    Err(format!("{} has no licence", linked.folder.display()))
}

fn upper_name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().to_ascii_uppercase()
}

/// The files below a folder whose names begin with a word for licence.
fn licence_files(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            licence_files(&path, files)?;
        } else if ["LICENSE", "LICENCE", "COPYING"].iter().any(|word| upper_name(&path).starts_with(word)) {
            files.push(path);
        }
    }
    Ok(())
}
