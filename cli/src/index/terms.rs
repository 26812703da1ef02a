//! What the rows of an index stand for, and the names of rows. The attachment of an index has both: texts that end with
//! NUL, the first for the contents, and the others for the names in the order of ids.

use crate::failure::{Failure, Outcome};
use petal::Hasher;

/// What rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Bits that the caller made.
    Fingerprints,
    /// The terms of documents.
    Terms,
    /// All sequences of this many bytes of files.
    Grams(usize),
}

impl Contents {
    /// The attachment with these names, each followed by NUL.
    pub fn attachment(self, names: &[u8]) -> Vec<u8> {
        let mut attachment = match self {
            Contents::Fingerprints => b"fingerprints\0".to_vec(),
            Contents::Terms => b"terms\0".to_vec(),
            Contents::Grams(length) => format!("grams {length}\0").into_bytes(),
        };
        attachment.extend_from_slice(names);
        attachment
    }

    /// The contents that an attachment names, and the names. Another program's attachment names nothing, and rows are
    /// fingerprints without names.
    pub fn of(attachment: &[u8]) -> (Contents, Vec<&[u8]>) {
        let mut texts: Vec<&[u8]> = attachment.split(|byte| *byte == 0).collect();
        // The last piece is what follows the last NUL.
        texts.pop();
        let first = texts.first().and_then(|first| std::str::from_utf8(first).ok()).unwrap_or_default();
        let contents = match first.split_once(' ') {
            Some(("grams", length)) => {
                length.parse().ok().filter(|length| (3..=8).contains(length)).map(Contents::Grams)
            }
            None if first == "fingerprints" => Some(Contents::Fingerprints),
            None if first == "terms" => Some(Contents::Terms),
            _ => None,
        };
        match contents {
            Some(contents) => (contents, texts.split_off(1)),
            None => (Contents::Fingerprints, Vec::new()),
        }
    }

    /// The name for messages and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Contents::Fingerprints => "fingerprints",
            Contents::Terms => "terms",
            Contents::Grams(_) => "files",
        }
    }
}

/// The hashes of all sequences of `length` bytes.
pub fn grams(bytes: &[u8], length: usize, hasher: &Hasher) -> Outcome<Vec<u64>> {
    bytes
        .windows(length)
        .map(|gram| hasher.hash_bytes(gram))
        .collect::<Result<_, petal::Status>>()
        .map_err(|status| Failure::from(petal::Error::from(status)))
}

#[cfg(test)]
mod tests {
    use super::Contents;

    #[test]
    fn attachments_tell_contents_and_names() {
        for contents in [Contents::Fingerprints, Contents::Terms, Contents::Grams(5)] {
            for names in [&b""[..], b"one\0two\0\0"] {
                let attachment = contents.attachment(names);
                let (read, found) = Contents::of(&attachment);
                assert_eq!(read, contents);
                assert_eq!(found.len(), names.iter().filter(|byte| **byte == 0).count());
            }
        }
        for other in [&b""[..], b"terms", b"grams 99\0a\0", b"grams x\0", b"\xff\0", b"another\0program\0"] {
            assert_eq!(Contents::of(other), (Contents::Fingerprints, vec![]));
        }
    }
}
