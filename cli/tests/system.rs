//! What the system refuses: permissions and full disks. Where the tests run as root, the command runs as nobody.

#![cfg(target_os = "linux")]

mod common;

use common::{Place, Run, command, lines, run};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

const NOBODY: u32 = 65534;

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// Runs the command in `place` as a user who has no special rights.
fn unprivileged(place: &Place, line: &str) -> Run {
    if !is_root() {
        return place.petal(line);
    }
    // The build's folder may be closed to others.
    let petal = place.path(".petal-under-test");
    if !petal.exists() {
        fs::copy(env!("CARGO_BIN_EXE_petal"), &petal).unwrap();
        fs::set_permissions(&petal, Permissions::from_mode(0o755)).unwrap();
    }
    run(Command::new(petal).args(line.split_whitespace()).current_dir(place.folder()).uid(NOBODY).gid(NOBODY), b"")
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn permissions_are_respected() {
    let place = Place::new();
    set_mode(place.folder(), 0o755);
    place.file("keys", lines(0..100));
    place.file("secret", lines(0..100));
    place.petal("build -o filter keys").quiet();
    place.petal("build -o closed keys").quiet();
    fs::create_dir(place.path("folder")).unwrap();
    for name in ["keys", "secret", "filter", "closed", "folder"] {
        if is_root() {
            chown(place.path(name), Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    set_mode(&place.path("secret"), 0);
    set_mode(&place.path("closed"), 0);
    set_mode(&place.path("filter"), 0o444);
    set_mode(&place.path("folder"), 0o555);
    let before = fs::read(place.path("filter")).unwrap();
    unprivileged(&place, "build -o out secret").names(&["secret", "ermission denied"]);
    unprivileged(&place, "check filter secret").names(&["secret", "ermission denied"]);
    unprivileged(&place, "build --key-file secret -o out keys").names(&["--key-file secret", "ermission denied"]);
    for line in ["check closed keys", "info closed", "verify closed", "merge filter closed -o folder/out"] {
        unprivileged(&place, line).names(&["closed", "denies access"]);
    }
    unprivileged(&place, "insert filter keys").names(&["filter", "denies access"]);
    unprivileged(&place, "build -o folder/out keys").names(&["folder/out", "denies access"]);
    unprivileged(&place, "check filter keys").quiet();
    assert_eq!(fs::read(place.path("filter")).unwrap(), before);
    assert_eq!(fs::read_dir(place.path("folder")).unwrap().count(), 0);
    set_mode(&place.path("folder"), 0o755);
}

#[test]
fn a_full_standard_output_is_trouble() {
    let place = Place::new();
    place.file("keys", lines(0..1000));
    place.petal("build -o filter keys").quiet();
    let lines = [
        "build keys",
        "check filter keys",
        "check -c filter keys",
        "check -c --json filter keys",
        "info filter filter",
        "info --json filter",
        "kinds",
        "kinds --json",
        "dedup --capacity 1k keys",
        "merge filter filter",
        "merge --json -o merged filter filter",
        "insert --json filter keys",
        "verify filter filter",
        "sync filter",
        "plan --keys 1k --fpr 0.1",
        "estimate filter filter",
        "--help",
        "--version",
    ];
    for line in lines {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = command()
            .args(line.split(' '))
            .current_dir(place.folder())
            .stdin(Stdio::null())
            .stdout(full)
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {stderr}");
        assert!(stderr.starts_with("petal: standard output: No space left"), "{line}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{line}: {stderr}");
    }
}

/// A file system of 128 KiB, where it can be mounted.
struct Small(Place);

impl Small {
    fn mount() -> Option<Small> {
        let place = Place::new();
        fs::create_dir(place.path("small")).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=128k", "tmpfs"])
            .arg(place.path("small"))
            .stderr(Stdio::null())
            .status();
        match mounted {
            Ok(status) if status.success() => Some(Small(place)),
            _ => None,
        }
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path("small")).status();
    }
}

#[test]
fn a_full_disk_leaves_what_was_there() {
    let Some(small) = Small::mount() else {
        eprintln!("no file system can be mounted here; the full disk was not tested");
        return;
    };
    let place = &small.0;
    place.file("few", lines(0..1000));
    place.file("many", lines(0..200_000));
    place.petal("build -o small/filter few").quiet();
    let before = fs::read(place.path("small/filter")).unwrap();
    place.petal("build -o small/filter many").names(&["small/filter", "no space"]);
    place.petal("build -o small/other many").names(&["small/other", "no space"]);
    assert_eq!(fs::read(place.path("small/filter")).unwrap(), before);
    assert_eq!(fs::read_dir(place.path("small")).unwrap().count(), 1);
    place.petal("verify small/filter").quiet();
}
