//! Filter policies: filters of sorted tables as LevelDB asks for them. The keys of a data block, or of a whole table,
//! are turned into bytes that the table keeps, and keys are looked up in those bytes where they lie.
//!
//! Each form has a file. A [`Policy`] has no state but its form and its size, so any number of threads may use one.

#[cfg(feature = "blocked")]
mod blocked;
mod leveldb;

use crate::error::{Result, error, left_out};
use core::ffi::CStr;

/// How a filter's bytes are made from keys. The numbers are those of the C API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[non_exhaustive]
pub enum Form {
    /// Those of LevelDB's own policy, bit for bit: databases keep the filters that they have.
    LevelDb = 1,
    /// Those of the kind `blocked`, in its compact form, with XXH3 and whole cache lines.
    #[cfg(feature = "blocked")]
    Blocked = 2,
}

/// The number of the form `blocked`, which a build without that kind leaves out.
pub const BLOCKED: u32 = 2;

impl Form {
    /// Every form that this build has.
    pub const ALL: &[Form] = &[
        Form::LevelDb,
        #[cfg(feature = "blocked")]
        Form::Blocked,
    ];

    /// The form with this number.
    ///
    /// # Errors
    /// [`Status::UnknownValue`](crate::Status::UnknownValue);
    /// [`Status::UnsupportedByBuild`](crate::Status::UnsupportedByBuild).
    pub fn from_number(number: u32) -> Result<Form> {
        Form::ALL.iter().copied().find(|form| *form as u32 == number).ok_or_else(|| match number {
            BLOCKED => left_out("form", "blocked", "blocked", "PETAL_KINDS"),
            _ => error!(
                UnknownValue,
                "form = {number} is not a form of filter policies; 1 (leveldb) and 2 (blocked) are known"
            ),
        })
    }
}

/// What the file of a policy's form says.
macro_rules! of_form {
    ($policy:expr, $($item:tt)*) => {
        match $policy.form {
            Form::LevelDb => leveldb::$($item)*,
            #[cfg(feature = "blocked")]
            Form::Blocked => blocked::$($item)*,
        }
    };
}

/// The most bits per key: LevelDB keeps them as an `int`.
pub const MAX_BITS_PER_KEY: u32 = i32::MAX as u32;

/// A form and a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    form: Form,
    bits_per_key: u32,
}

impl Policy {
    /// A policy of `form` with `bits_per_key`, 1 to [`MAX_BITS_PER_KEY`]; 10 give about one false positive in a
    /// hundred.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange).
    pub fn new(form: Form, bits_per_key: u32) -> Result<Policy> {
        if (1..=MAX_BITS_PER_KEY).contains(&bits_per_key) {
            return Ok(Policy { form, bits_per_key });
        }
        Err(error!(OutOfRange, "bits_per_key = {bits_per_key} is not 1 to {MAX_BITS_PER_KEY}"))
    }

    /// The name that tables keep next to their filters. Filters of another name are not looked at, so equal names mean
    /// equal bytes, for ever.
    pub fn name(&self) -> &'static CStr {
        of_form!(self, NAME)
    }

    /// The size in bytes of a filter of `keys` keys; `None` if memory has no such size.
    pub fn filter_size(&self, keys: usize) -> Option<usize> {
        of_form!(self, size(keys, self.bits_per_key))
    }

    /// Writes the filter of `keys` into `filter`, which is [`Policy::filter_size`] bytes long and is overwritten. A key
    /// may come more than once. O(keys).
    pub fn create<'k>(&self, keys: impl ExactSizeIterator<Item = &'k [u8]>, filter: &mut [u8]) {
        of_form!(self, create(keys, self.bits_per_key, filter))
    }

    /// Whether a key may be among those that a filter was made from. Never false for a key that is in the filter; true
    /// for other keys at the filter's false-positive rate. True for bytes that are not a filter of this form; but in
    /// LevelDB's form no key is in a filter of fewer than two bytes. O(1).
    #[inline]
    pub fn may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        of_form!(self, may_match(key, filter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_per_key_are_those_of_an_int() {
        assert!(Policy::new(Form::LevelDb, 0).is_err());
        assert!(Policy::new(Form::LevelDb, 1 << 31).is_err());
        assert!(Policy::new(Form::LevelDb, (1 << 31) - 1).is_ok());
        assert!(Form::from_number(0).is_err() && Form::from_number(99).is_err());
    }
}
