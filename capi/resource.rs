// The version resource of petal.dll and petal.exe: what Windows shows as the details of the file. Build scripts
// include this file.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles the resource of a file with this name, if the target is Windows with mingw-w64. Returns an object to link.
/// `windres` is part of mingw-w64; where there is none, cargo prints a warning and the file has no resource.
pub fn compile(file: &str, description: &str) -> Option<PathBuf> {
    println!("cargo::rerun-if-env-changed=WINDRES");
    let is = |name, value| env::var(name).as_deref() == Ok(value);
    if !is("CARGO_CFG_TARGET_OS", "windows") || !is("CARGO_CFG_TARGET_ENV", "gnu") {
        return None;
    }
    let folder = PathBuf::from(env::var_os("OUT_DIR")?);
    let (source, object) = (folder.join("version.rc"), folder.join("version.o"));
    let version = env::var("CARGO_PKG_VERSION").ok()?;
    fs::write(&source, script(file, description, &version)).ok()?;
    let architecture = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    let tools = match env::var("WINDRES") {
        Ok(tool) => vec![tool],
        Err(_) => vec![format!("{architecture}-w64-mingw32-windres"), "windres".to_owned()],
    };
    if tools.iter().any(|tool| run(tool, &source, &object)) {
        return Some(object);
    }
    println!("cargo::warning={file} has no version resource: {} cannot be run", tools.join(" and "));
    None
}

fn run(tool: &str, source: &Path, object: &Path) -> bool {
    let status = Command::new(tool).args(["-O", "coff", "-i"]).arg(source).arg("-o").arg(object).status();
    status.is_ok_and(|status| status.success())
}

/// The source of the resource. A file type of 1 is a program, and 2 a library.
fn script(file: &str, description: &str, version: &str) -> String {
    let mut numbers = version.split(['.', '-', '+']).map(|part| part.parse::<u16>().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    let numbers = format!("{},{},{},0", next(), next(), next());
    let kind = if file.ends_with(".dll") { 2 } else { 1 };
    let values = [
        ("CompanyName", "The Petal developers"),
        ("FileDescription", description),
        ("FileVersion", version),
        ("InternalName", "petal"),
        ("LegalCopyright", "MIT or Apache-2.0"),
        ("OriginalFilename", file),
        ("ProductName", "Petal"),
        ("ProductVersion", version),
    ];
    let values: String = values.iter().map(|(name, value)| format!("VALUE \"{name}\", \"{value}\"\n")).collect();
    format!(
        "1 VERSIONINFO\nFILEVERSION {numbers}\nPRODUCTVERSION {numbers}\nFILEOS 0x40004\nFILETYPE {kind}\nBEGIN\n\
         BLOCK \"StringFileInfo\"\nBEGIN\nBLOCK \"040904B0\"\nBEGIN\n{values}END\nEND\n\
         BLOCK \"VarFileInfo\"\nBEGIN\nVALUE \"Translation\", 0x409, 1200\nEND\nEND\n"
    )
}
