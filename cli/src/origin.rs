//! What messages say of an input.

use crate::file_name::{is_standard, name, shown};
use std::path::Path;

/// A name for messages, and what the input has.
pub struct Origin {
    /// The name of the input.
    pub name: String,
    /// The file's name for a command line that a message suggests.
    pub argument: String,
    /// What the input has, in the plural.
    pub what: &'static str,
}

impl Origin {
    /// What messages say of the file at a path, which has these things.
    pub fn of(path: &Path, what: &'static str) -> Origin {
        let argument = if is_standard(path) { String::from("FILE") } else { shown(path) };
        Origin { name: name(path).to_string(), argument, what }
    }
}
