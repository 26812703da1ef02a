//! Names of files in messages and in JSON.

use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Display;
use std::path::Path;

/// Whether a path stands for standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name of an input file in messages.
pub fn name(path: &Path) -> impl Display + '_ {
    if is_standard(path) { shown(Path::new("standard input")) } else { shown(path) }
}

/// The name of a file in messages, on one line. Control characters, and bytes that are not UTF-8, are escaped.
pub fn shown(path: &Path) -> String {
    let mut shown = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        shown.push_str(&visible(chunk.valid()));
        chunk.invalid().iter().for_each(|byte| shown.push_str(&format!("\\x{byte:02x}")));
    }
    shown
}

/// The name of a file in JSON, which has only text. U+FFFD stands for bytes that are not UTF-8; `file_bytes` then has
/// the bytes of the name in hexadecimal.
#[derive(Debug, Serialize)]
pub struct FileName {
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_bytes: Option<String>,
}

impl FileName {
    /// The name of the file at a path; `-` is standard input or output.
    pub fn of(path: &Path) -> FileName {
        FileName { file: path.display().to_string(), file_bytes: file_bytes(path) }
    }
}

/// The bytes of a name that is not UTF-8, in hexadecimal.
pub fn file_bytes(path: &Path) -> Option<String> {
    hexadecimal(path.as_os_str().as_encoded_bytes())
}

/// Bytes that are not UTF-8, in hexadecimal.
pub fn hexadecimal(bytes: &[u8]) -> Option<String> {
    match std::str::from_utf8(bytes) {
        Ok(_) => None,
        Err(_) => Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
    }
}

/// A text with control characters as escapes. A terminal would obey control characters, and names of files and keys may
/// contain any.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            '\t' => shown.push_str("\\t"),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            letter if letter.is_ascii_control() => shown.push_str(&format!("\\x{:02x}", letter as u32)),
            letter if letter.is_control() => shown.push_str(&format!("\\u{{{:x}}}", letter as u32)),
            letter => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}
