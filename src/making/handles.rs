//! How a handle is made, opened and saved by calls of its own type, so that a program names the handle and imports no
//! trait.

use super::builder::{Builder, BuilderOptions};
use super::create;
use crate::error::Result;
use crate::handle::filter::Filter;
#[cfg(doc)]
use crate::spec::KindId;
use crate::spec::Spec;

/// The calls of handles about their bytes. Each handle is given with its word.
macro_rules! bytes_of {
    ($($handle:ident $word:literal,)*) => {$(
        impl $handle {
            #[doc = concat!("Opens the image of ", $word, " in a file, in place and for reading. Takes constant time,")]
            /// and touches only the header; the file is mapped as long as the handle lives.
            ///
            /// # Errors
            /// As [`open_as`](crate::open_as).
            pub fn open(path: impl AsRef<std::path::Path>) -> Result<$handle> {
                Self::open_with(path, &crate::OpenOptions::default())
            }

            #[doc = concat!("Opens the image of ", $word, " in a file, as `options` say: for reading, for writing, to")]
            /// be shared, or to be copied; with the secret key of a keyed hash function.
            ///
            /// # Errors
            /// As [`open_as`](crate::open_as).
            pub fn open_with(path: impl AsRef<std::path::Path>, options: &crate::OpenOptions) -> Result<$handle> {
                // Compiled here, and not once more in each program.
                fn open_path(path: &std::path::Path, options: &crate::OpenOptions) -> Result<$handle> {
                    crate::open_as(path, options)
                }
                open_path(path.as_ref(), options)
            }

            #[doc = concat!("Copies the image of ", $word, " out of `bytes`, at any alignment, into new memory, and")]
            /// checks all of it. Linear in the bytes.
            ///
            /// # Errors
            /// As [`load_as`](crate::load_as).
            pub fn load(bytes: impl AsRef<[u8]>) -> Result<$handle> {
                Self::load_with(bytes, &crate::OpenOptions::default())
            }

            #[doc = concat!("[`", stringify!($handle), "::load`] with the secret of a keyed hash function. The mode")]
            /// of the options says nothing here.
            ///
            /// # Errors
            /// As [`load_as`](crate::load_as).
            pub fn load_with(bytes: impl AsRef<[u8]>, options: &crate::OpenOptions) -> Result<$handle> {
                fn load_bytes(bytes: &[u8], options: &crate::OpenOptions) -> Result<$handle> {
                    crate::load_as(bytes, options)
                }
                load_bytes(bytes.as_ref(), options)
            }

            #[doc = concat!("The image as bytes: those that [`", stringify!($handle), "::load`] takes, and that")]
            #[doc = concat!("[`", stringify!($handle), "::save`] writes to a file. Linear in the payload; see")]
            /// [`Image::to_bytes`](crate::Image::to_bytes).
            ///
            /// # Errors
            /// As [`Image::to_bytes`](crate::Image::to_bytes).
            pub fn to_bytes(&self) -> Result<Vec<u8>> {
                crate::Image::to_bytes(self)
            }

            /// Writes the image to a file in one step: at every moment the path names the old file or the whole new
            /// one. Linear in the payload; the bytes are on the disk when this returns.
            ///
            /// # Errors
            /// As [`Image::save`](crate::Image::save).
            pub fn save(&self, path: impl AsRef<std::path::Path>) -> Result<()> {
                crate::Image::save(self, path)
            }

            /// A copy in memory of its own. There is no `Clone`, because a copy can fail: see
            /// [`Image::copy`](crate::Image::copy).
            ///
            /// # Errors
            /// As [`Image::copy`](crate::Image::copy).
            pub fn copy(&self) -> Result<$handle> {
                crate::Image::copy(self)
            }

            /// Writes what was changed in a file that is open for changes to the disk, and makes the image clean; see
            /// [`Image::sync`](crate::Image::sync). Dropping the handle does the same, but cannot say what went wrong.
            ///
            /// # Errors
            /// As [`Image::sync`](crate::Image::sync).
            pub fn sync(&mut self) -> Result<()> {
                crate::Image::sync(self)
            }

            /// Reads the payload and checks it against its checksums; see [`Image::verify`](crate::Image::verify).
            ///
            /// # Errors
            /// As [`Image::verify`](crate::Image::verify).
            pub fn verify(&self) -> Result<()> {
                crate::Image::verify(self)
            }
        }
    )*};
}

pub(super) use bytes_of;

bytes_of! {
    Filter "a filter",
}

impl Filter {
    /// An empty filter in its own memory, which a spec describes.
    ///
    /// # Errors
    /// As [`create_as`](crate::create_as): also for a kind that is made from all of its keys, which
    /// [`Filter::from_keys`] and a [`Builder`] take.
    pub fn new(spec: &Spec) -> Result<Filter> {
        create::create_as(spec)
    }

    /// An empty filter of the default kind for `capacity` distinct keys. With that many keys its false-positive rate, a
    /// share inside (0, 1), is at most `false_positive_rate`.
    ///
    /// ```
    /// let mut seen = petal::Filter::with_capacity(1_000_000, 0.01)?;
    /// seen.insert("apple")?;
    /// assert!(seen.contains("apple"));
    /// # Ok::<(), petal::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::FalsePositiveRate`](crate::Status::FalsePositiveRate) for a rate outside (0, 1), and the errors of
    /// [`Filter::new`].
    pub fn with_capacity(capacity: u64, false_positive_rate: f64) -> Result<Filter> {
        Filter::new(&Spec::with_capacity(capacity, false_positive_rate)?)
    }

    /// A filter of all of these keys, of any kind: also of one that is made from all of its keys, such as
    /// [`KindId::FUSE`]. A spec without a capacity gets that of the distinct keys. This stands where other collections
    /// have [`FromIterator`], which can neither take a spec nor fail. It takes eight bytes of memory for each key
    /// meanwhile; a [`Builder`] can have a limit, use several threads and say how far it is.
    ///
    /// ```
    /// use petal::{Filter, KindId, Spec};
    /// let spec = Spec { kind: Some(KindId::FUSE), false_positive_rate: 0.001, ..Spec::default() };
    /// let stop_words = Filter::from_keys(&spec, "the a of and".split(' '))?;
    /// assert!(stop_words.contains("of"));
    /// # Ok::<(), petal::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Builder::new`], [`Builder::add`] and [`Builder::finish`].
    pub fn from_keys(spec: &Spec, keys: impl IntoIterator<Item: AsRef<[u8]>>) -> Result<Filter> {
        let mut builder = Builder::new(spec, BuilderOptions::default())?;
        builder.add_all(keys)?;
        builder.finish()
    }
}
