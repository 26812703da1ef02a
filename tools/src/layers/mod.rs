//! The layers above the core that follow from a table: what each handle with an image has in C and in Go, the packed
//! forms of filters and maps, Go's forms of keys, its methods that only call C, and its calls of C that take bytes or
//! batches, the calls that C++'s classes share, its forms that throw, and the calls with NULL. `make layers` writes
//! them, and a test holds what is committed to what it writes.
//!
//! A new handle is a line of [`HANDLES`]; a new verb of images is a function in the two templates in `tools/layers`.
//! What is not alike in all handles is written by hand, beside the generated file.

mod bytes;
mod calls;
mod cpp;
mod forms;
mod headers;
mod left_out;
mod null;
mod prose;
mod throwing;

use crate::Generated;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// A handle whose image functions are generated.
struct Handle {
    name: &'static str,
    article: &'static str,
    plural: &'static str,
    /// What stands above the section of its images in the header.
    introduction: &'static str,
    /// What `describe` says in the fields whose meaning depends on the handle.
    describe: &'static str,
    /// What a copy leaves out, if anything.
    copy: &'static str,
    /// In which modes it opens, for Go, and the name of the receiver of Go's methods.
    modes: &'static str,
    receiver: &'static str,
}

const EVERY_MODE: &str = "for reading, for writing or as a copy.";

const HANDLES: [Handle; 6] = [
    Handle {
        name: "aggregate",
        article: "an",
        plural: "aggregates",
        introduction: "The image of an aggregate has the same parts as that of a filter. It opens in each mode but \
                       `PETAL_OPEN_SHARE`.",
        describe: "`hashes` is the number of counters of an entry, `bits` the number of bits of all memories, and \
                   `insertions` the number of participants that are aggregated.",
        copy: "",
        modes: EVERY_MODE,
        receiver: "a",
    },
    Handle {
        name: "digest",
        article: "a",
        plural: "digests",
        introduction: "The image of a digest has the same parts as that of a filter. It opens in each mode but \
                       `PETAL_OPEN_SHARE`.",
        describe: "`hashes` is the number of bits of an entry, `bits` the number of bits of the filter, and `insertions` \
                   and `capacity` count bytes of data.",
        copy: "The copy has no open payload.",
        modes: EVERY_MODE,
        receiver: "d",
    },
    Handle {
        name: "index",
        article: "an",
        plural: "indexes",
        introduction: "The image of an index has the same parts as that of a filter. It opens in each mode but \
                       `PETAL_OPEN_SHARE`.",
        describe: "`bits` is the number of bits that there is room for in rows. `capacity` counts rows, and `insertions` \
                   counts the rows that were not removed.",
        copy: "",
        modes: EVERY_MODE,
        receiver: "x",
    },
    Handle {
        name: "map",
        article: "a",
        plural: "maps",
        introduction: "The image of a map has the same parts as that of a filter. A map opens for reading \
                       (`PETAL_OPEN_READ`) or as a copy (`PETAL_OPEN_LOAD`). If its kind can change (MAPS: CHANGING), \
                       it also opens for one writer (`PETAL_OPEN_WRITE`). The functions refuse other modes with \
                       `PETAL_ERR_UNSUPPORTED`; no map opens with `PETAL_OPEN_SHARE`. The image of a filter does not \
                       open as a map, nor the other way round: the message of `PETAL_ERR_UNSUPPORTED` says what the \
                       image is.",
        describe: "`hashes` is the number of cells of a key, and `bits` is the number of bits of all cells.",
        copy: "",
        modes: "for reading, as a copy, or, if its kind can change, for writing. Returns [ErrUnsupported] for other \
                modes.",
        receiver: "m",
    },
    Handle {
        name: "router",
        article: "a",
        plural: "routers",
        introduction: "The image of a router has the same parts as that of a filter: its keys, its edges, and what \
                       came in and went out over them. It opens in each mode but `PETAL_OPEN_SHARE`.",
        describe: "`hashes` is the number of bits that a key sets, `bits` the number of bits of a level, and `insertions` \
                   the number of insertions less that of removals.",
        copy: "",
        modes: EVERY_MODE,
        receiver: "r",
    },
    Handle {
        name: "sketch",
        article: "a",
        plural: "sketches",
        introduction: "The image of a sketch has the same parts as that of a filter. It opens in each mode but \
                       `PETAL_OPEN_SHARE`.",
        describe: "`hashes` is the number of cells of a number, `bits` the number of bits of all cells, and `insertions` \
                   the number of insertions less that of removals.",
        copy: "",
        modes: EVERY_MODE,
        receiver: "s",
    },
];

/// The handles that are packed, and what is said of one and not of the other.
const PACKED: [[(&str, &str); 6]; 2] = [
    [
        ("{handle}", "filter"),
        ("{another}", "a map"),
        ("{HANDLES}", "FILTERS"),
        ("{introduction}", "The packed forms of filters, and what changed between two states of one."),
        (
            "{pack}",
            "If nobody inserts meanwhile, `petal_filter_packed_size()` says how many bytes the form has. Threads may \
             insert meanwhile: the form has every key whose insertion happened before, and may be larger. Take \
             `petal_filter_pack_to()` then.",
        ),
        ("{delta}", "A filter that grows may have grown."),
    ],
    [
        ("{handle}", "map"),
        ("{another}", "a filter"),
        ("{HANDLES}", "MAPS"),
        ("{introduction}", "Maps take packed forms and deltas as filters do."),
        ("{pack}", ""),
        ("{delta}", ""),
    ],
];

/// All files of the layers.
pub fn files(root: &Path) -> Result<Vec<Generated>, String> {
    let template = |name: &str| read(&root.join("tools/layers").join(name));
    let (image, wire, go) = (template("image.rs.txt")?, template("wire.rs.txt")?, template("image.go.txt")?);
    let rust = |from: &str, template: &str, words: &[(&str, &str)]| {
        let text = prose::wrapped(&filled(template, words), 120);
        let text = formatted(&["rustfmt", "--edition", "2024", "--config-path", "rustfmt.toml"], &text, root)?;
        Ok::<_, String>(format!(
            "// Written by `make layers` from tools/layers/{from}: change that, not this.\n\n{text}"
        ))
    };
    let mut files = Vec::new();
    for handle in &HANDLES {
        let name = handle.name;
        let (capital, upper) = (name[..1].to_uppercase() + &name[1..], handle.plural.to_uppercase());
        let one = format!("{} {name}", handle.article);
        let words = [
            ("{handle}", name),
            ("{Handle}", &capital),
            ("{a_handle}", &one),
            ("{HANDLES}", &upper),
            ("{introduction}", handle.introduction),
            ("{describe}", handle.describe),
            ("{copy}", handle.copy),
            ("{go_modes}", handle.modes),
            ("{r}", handle.receiver),
        ];
        files.push((format!("capi/src/{name}/image.rs"), rust("image.rs.txt", &image, &words)?));
        let text = prose::wrapped(&filled(&go, &words), 120);
        files.push((format!("bindings/go/{name}_image.go"), format!("{GO_HEAD}{text}")));
    }
    for words in &PACKED {
        files.push((format!("capi/src/wire/{}.rs", words[0].1), rust("wire.rs.txt", &wire, words)?));
    }
    let text = left_out::text(root, &template("left_out.rs.txt")?)?;
    files.push(("capi/src/left_out.rs".into(), format!("{LEFT_OUT_HEAD}{text}")));
    files.push(bytes::file(root)?);
    files.push(calls::file(root)?);
    files.push(cpp::file(root)?);
    files.push(forms::file(root)?);
    files.push(null::file(root)?);
    files.extend(throwing::files(root)?);
    Ok(files)
}

const LEFT_OUT_HEAD: &str = "// Written by `make layers` from the headers and tools/layers/left_out.rs.txt: change those, \
                             not this.\n\n";
const GO_HEAD: &str = "// Code generated by `make layers` from tools/layers/image.go.txt. DO NOT EDIT.\n\n";

/// A template with words in the place of their names.
fn filled(template: &str, words: &[(&str, &str)]) -> String {
    words.iter().fold(template.to_owned(), |text, (name, word)| text.replace(name, word))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The text as a formatter of the toolchain gives it back.
fn formatted(command: &[&str], text: &str, root: &Path) -> Result<String, String> {
    use std::io::Write as _;
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", command[0]);
    let mut child = Command::new(command[0])
        .args(&command[1..])
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error))?;
    // The formatter reads everything before it writes.
    child.stdin.take().expect("it is piped").write_all(text.as_bytes()).map_err(|error| failed(&error))?;
    let output = child.wait_with_output().map_err(|error| failed(&error))?;
    if !output.status.success() {
        return Err(failed(&output.status));
    }
    String::from_utf8(output.stdout).map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_placeholder_is_left() {
        for (path, text) in files(&crate::root()).unwrap() {
            assert!(!text.contains("{handle") && !text.contains("{go_"), "{path}");
        }
    }
}
