//! What may be done with the bytes of an image.

/// Whether an image may be changed in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The image is only read.
    Read,
    /// One writer changes the image where it lies.
    Write,
    /// Keys are inserted where the image lies, by any number of threads and processes at the same time.
    Share,
}

impl Access {
    /// Whether bytes are changed in place.
    pub fn is_writing(self) -> bool {
        self != Access::Read
    }
}
