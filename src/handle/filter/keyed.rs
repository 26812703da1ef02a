//! Filters that take keys whole: their format hashes keys in its own way, or the keys are digests.

use super::Filter;
use crate::batch::answers::Answers;
use crate::batch::keys::{Keys, WholeKeys};
use crate::batch::ring::Taken;
use crate::contract::{KeyedKind, Kind};
use crate::error::{Error, Result, Status, error};
use crate::hash::Hasher;

impl Filter {
    /// The kind, if it takes keys whole. Other kinds pay a comparison for this question.
    #[inline]
    pub(super) fn keyed(&self) -> Option<&dyn KeyedKind> {
        if self.hasher.takes_whole() { self.kind.as_keyed() } else { None }
    }

    /// Whether a key may have been inserted, or the reason why this cannot be answered.
    ///
    /// # Errors
    /// [`Status::ExternalHash`] or [`Status::SecretMissing`] if the key cannot be hashed; [`Status::OutOfRange`] for a
    /// key that is no integer, or no digest, where keys are.
    #[inline]
    pub fn contains_checked(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        self.check_contains(key.as_ref())
    }

    fn check_contains(&self, key: &[u8]) -> Result<bool> {
        match self.keyed() {
            Some(kind) => {
                self.hasher.check_whole(key.len())?;
                Ok(kind.contains_key(key))
            }
            None => Ok(self.contains_hash(self.hasher.hash_key(key)?)),
        }
    }

    /// Whether a key that has no 64-bit hash may have been inserted; `None` if only a hash could say, or if a digest
    /// has another length. Kept out of line, so that the path of keys with a hash stays short.
    #[inline(never)]
    pub fn contains_whole(&self, key: &[u8]) -> Option<bool> {
        let kind = self.keyed()?;
        self.hasher.check_whole(key.len()).ok()?;
        Some(kind.contains_key(key))
    }

    /// Inserts a key that has no 64-bit hash; `refusal` says why it has none.
    #[cold]
    #[inline(never)]
    pub(super) fn insert_whole(&mut self, key: &[u8], refusal: Status) -> Result<bool> {
        match self.kind.as_keyed_mut() {
            Some(kind) => {
                self.hasher.check_whole(key.len())?;
                kind.insert_key(key)
            }
            None => Err(self.hasher.explain(refusal, key.len())),
        }
    }
}

/// Looks keys up. On an error every answer is true.
pub(super) fn contains(kind: &dyn KeyedKind, hasher: &Hasher, keys: &Keys, answers: &mut Answers) -> Result<()> {
    (answers.true_count, answers.done) = (0, 0);
    match answers.check(keys.len()).and_then(|()| WholeKeys::of(keys, hasher)) {
        Ok(whole) => kind.contains_keys(&whole, answers),
        Err(error) => {
            answers.fill(true, keys.len());
            return Err(error);
        }
    }
    answers.done = keys.len();
    Ok(())
}

/// Inserts keys in order.
pub(super) fn insert(kind: &mut dyn Kind, hasher: &Hasher, keys: &Keys, mut answers: Option<&mut Answers>) -> Taken {
    if let Some(answers) = &mut answers {
        (answers.true_count, answers.done) = (0, 0);
    }
    let room = answers.as_ref().map_or(Ok(()), |answers| answers.check(keys.len()));
    let whole = match room.and_then(|()| WholeKeys::of(keys, hasher)) {
        Ok(whole) => whole,
        Err(error) => return Taken::none(error),
    };
    let Some(kind) = kind.as_keyed_mut() else { return Taken::none(Status::Internal.into()) };
    let taken = kind.insert_keys(&whole, answers.as_deref_mut());
    if let Some(answers) = answers {
        answers.done = taken.keys;
    }
    taken
}

/// The error for a hash that is given to a filter that takes keys whole.
#[cold]
pub(super) fn needs_keys() -> Error {
    error!(Unsupported, "the filter takes keys whole, and no hashes")
}
