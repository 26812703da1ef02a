//! Byte keys of a batch that are collected one by one.

use crate::batch::keys::Keys;
use crate::error::{Result, error};

/// Byte keys, one after the other in memory, for the calls that take many keys at once: [`KeyList::keys`] gives them as
/// [`Keys`].
///
/// ```
/// use petal::{Answers, Filter, KeyList};
/// let mut seen = Filter::with_capacity(1000, 0.001)?;
/// seen.insert_all(["apple", "pear"])?;
///
/// let asked = KeyList::of(["pear", "plum"])?;
/// let mut found = [0; 2];
/// seen.contains_batch(&asked.keys(), &mut Answers { bytes: Some(&mut found), ..Answers::default() })?;
/// assert_eq!(found, [1, 0]);
/// # Ok::<(), petal::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct KeyList {
    bytes: Vec<u8>,
    /// Where each key begins, and where the last one ends; empty without keys.
    offsets: Vec<u64>,
}

impl KeyList {
    /// An empty list, which takes no memory yet.
    pub const fn new() -> KeyList {
        KeyList { bytes: Vec::new(), offsets: Vec::new() }
    }

    /// A list of all of these keys, borrowed or owned, of any type that lends its bytes.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn of(keys: impl IntoIterator<Item: AsRef<[u8]>>) -> Result<KeyList> {
        let mut list = KeyList::new();
        keys.into_iter().try_for_each(|key| list.push(key))?;
        Ok(list)
    }

    /// Adds a key at the end.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory). The list then stays as it was.
    #[inline]
    pub fn push(&mut self, key: impl AsRef<[u8]>) -> Result<()> {
        self.push_bytes(key.as_ref())
    }

    fn push_bytes(&mut self, key: &[u8]) -> Result<()> {
        // The first key also takes the place where it begins.
        if self.bytes.try_reserve(key.len()).is_err() || self.offsets.try_reserve(2).is_err() {
            return Err(error!(OutOfMemory, "{} bytes of a key could not be had", key.len()));
        }
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        self.bytes.extend_from_slice(key);
        self.offsets.push(self.bytes.len() as u64);
        Ok(())
    }

    /// The keys, in the order in which they came.
    pub fn keys(&self) -> Keys<'_> {
        Keys::Bytes { bytes: &self.bytes, offsets: &self.offsets }
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes all keys out, and keeps the memory for others.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.offsets.clear();
    }
}
