//! Golden files. Each kind has one archive in the format tar, so that every language and every shell can read it.

use petal::{Handle, Row};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Mutex;

/// The files of an archive, with their names.
pub type Files = BTreeMap<String, Vec<u8>>;

/// The archive of a kind. Archives of maps, of sketches, and of kinds that are alone in their handle have their own
/// folders.
fn archive(row: &Row) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden");
    let folder = match row.handle() {
        Handle::Filter => folder,
        Handle::Map => folder.join("maps"),
        Handle::Sketch => folder.join("sketches"),
        Handle::Router | Handle::Aggregate | Handle::Digest | Handle::Index => folder.join("own"),
    };
    folder.join(format!("{}.tar", row.name))
}

/// The golden files of a kind; there are none before the kind has an archive.
pub fn files(row: &Row) -> Files {
    let path = archive(row);
    if !path.exists() {
        return Files::new();
    }
    let mut files = Files::new();
    for entry in tar::Archive::new(File::open(&path).unwrap()).entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().to_str().unwrap().to_string();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        assert!(files.insert(name, bytes).is_none(), "{} has a name twice", path.display());
    }
    files
}

/// Writes an archive whose bytes depend on its files alone. A test that reads meanwhile finds the whole old archive.
fn write(row: &Row, files: &Files) {
    let path = archive(row);
    let unfinished = path.with_extension("unfinished");
    let mut archive = tar::Builder::new(File::create(&unfinished).unwrap());
    for (name, bytes) in files {
        let mut header = tar::Header::new_ustar();
        header.set_mode(0o644);
        header.set_size(bytes.len() as u64);
        archive.append_data(&mut header, name, &bytes[..]).unwrap();
    }
    archive.into_inner().unwrap().sync_all().unwrap();
    std::fs::rename(unfinished, path).unwrap();
}

/// Compares bytes with the committed ones. `PETAL_UPDATE=1` adds new files and never changes an old one, because what a
/// release has written must open for ever.
#[track_caller]
pub fn check(row: &Row, name: &str, written: &[u8]) {
    // Without the lock two tests that add to one archive would each drop the file of the other.
    static ADDING: Mutex<()> = Mutex::new(());
    let is_committed = |files: &Files| files.get(name).map(|committed| committed == written);
    if let Some(is_same) = is_committed(&files(row)) {
        assert!(is_same, "{name} is written with other bytes now");
        return;
    }
    assert!(std::env::var_os("PETAL_UPDATE").is_some(), "{name} is missing: run with PETAL_UPDATE=1");
    let _alone = ADDING.lock().unwrap();
    let mut all = files(row);
    all.insert(name.to_string(), written.to_vec());
    write(row, &all);
}
