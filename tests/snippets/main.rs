//! Every C and C++ snippet that a document or a header shows is compiled without a warning, linked with `libpetal.a`,
//! and run in an empty folder: it must end with status 0, and print what the text says that it prints.
//!
//! Snippets are the fences ```` ```c ```` and ```` ```cpp ```` in all Markdown files outside `target` and `build`, and
//! what stands indented by four in a comment of a header. A new one is a new test, without a word here.
//!
//! What has no `main` is a fragment, and stands in the middle of `prelude.c` or `prelude.cpp`, which say which names it
//! may use. A fence can say more in an HTML comment in the line before it:
//!
//! - `<!-- snippet: no_run REASON -->`: it is compiled and not run.
//! - `<!-- snippet: no_compile REASON -->`: it shows something incomplete. The reason is printed.
//!
//! A fence ```` ```text ```` that follows, with at most a line of prose between, is what the snippet prints.

mod extract;

use extract::{Language, Snippet, Use};
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};
use std::sync::LazyLock;

/// What a snippet is compiled against, found or made once.
struct Kit {
    c: cc::Tool,
    cpp: cc::Tool,
    library: PathBuf,
}

static KIT: LazyLock<Result<Kit, String>> = LazyLock::new(kit);

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("two folders below the root")
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let snippets = extract::all(root());
    for language in [Language::C, Language::Cpp] {
        // If the extraction were broken, nothing would be tested.
        assert!(snippets.iter().any(|snippet| snippet.language == language), "no {language:?} snippet was found");
    }
    let trials = snippets.into_iter().map(|snippet| {
        let name = format!("{} ({:?})", snippet.place, snippet.language);
        Trial::test(name, move || check(&snippet).map_err(Failed::from))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

fn check(snippet: &Snippet) -> Result<(), String> {
    if let Use::Nothing(reason) = &snippet.used {
        println!("{}: not compiled: {reason}", snippet.place);
        return Ok(());
    }
    let kit = KIT.as_ref()?;
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let (tool, file) = match snippet.language {
        Language::C => (&kit.c, folder.path().join("snippet.c")),
        Language::Cpp => (&kit.cpp, folder.path().join("snippet.cpp")),
    };
    let program = folder.path().join("snippet");
    std::fs::write(&file, snippet.program()).map_err(|e| e.to_string())?;
    let standard = if snippet.language == Language::C { "-std=c99" } else { "-std=c++17" };
    let mut compiler = tool.to_command();
    compiler
        .args([standard, "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-Wno-unused-but-set-variable"])
        .args(["-I", "include", "-I", "bindings/cpp"])
        .arg(&file)
        .arg(&kit.library)
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .current_dir(root());
    succeeds(&mut compiler, "it does not compile").map_err(|why| format!("{why}\n{}", snippet.program()))?;
    if let Use::Compiled(reason) = &snippet.used {
        println!("{}: not run: {reason}", snippet.place);
        return Ok(());
    }
    let run = succeeds(Command::new(&program).current_dir(folder.path()), "it fails")?;
    let printed = String::from_utf8_lossy(&run.stdout);
    match &snippet.output {
        Some(expected) if *expected != printed => Err(format!("it prints\n{printed}and the text says\n{expected}")),
        _ => Ok(()),
    }
}

/// What the command printed; where it fails, `what` and all that it said.
fn succeeds(command: &mut Command, what: &str) -> Result<Output, String> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    Err(format!("{what} ({}):\n{}", output.status, String::from_utf8_lossy(&text)))
}

/// Finds the compilers, and has cargo make `libpetal.a` in the profile of the tests. This builds it with the packages
/// of tests/rust.sh and a test, because alone it would ask crates for other features, and the core would be compiled
/// once more.
fn kit() -> Result<Kit, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let mut build = Command::new(cargo);
    build
        .args(["build", "--locked", "--profile", "test", "--lib", "--test", "snippets", "-p", "petal-capi"])
        .args(["-p", "petal-suite", "-p", "petal-cli", "-p", "petal-snippets", "-p", "petal-tools"])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(root());
    let built = succeeds(&mut build, "cargo does not make libpetal.a")?;
    let messages = String::from_utf8_lossy(&built.stdout);
    let library = messages.split('"').find(|text| text.ends_with("libpetal.a")).ok_or("cargo names no libpetal.a")?;

    let version = succeeds(Command::new("rustc").arg("-vV"), "rustc does not say its version")?;
    let version = String::from_utf8_lossy(&version.stdout);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc names no host")?;
    let compiler = |cpp| {
        let mut build = cc::Build::new();
        build.cargo_metadata(false).target(host).host(host).opt_level(1).cpp(cpp);
        build.try_get_compiler().map_err(|e| e.to_string())
    };
    Ok(Kit { c: compiler(false)?, cpp: compiler(true)?, library: library.into() })
}
