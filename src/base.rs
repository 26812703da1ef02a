//! What lies beneath every kind: header, hasher, words, and the protocol by which an image in place is written.

use crate::error::{Error, Result, Status, error};
use crate::format::{self, Geometry, Header};
use crate::hash::Hasher;
use crate::simd::{self, Kernels};
use crate::storage::{Access, ImageBytes, Mapping, Words};

/// What all filters have beneath their kind: a header, a hasher, and the words of the payload.
pub struct Base {
    header: Header,
    hasher: Hasher,
    words: Words,
    /// The inner loops in use.
    kernels: &'static Kernels,
    /// Whether the words may be written without asking further: true at once for memory of the filter's own, and for
    /// a writable image once it is marked dirty.
    writing: bool,
}

impl Base {
    /// Puts the parts together. The header's `dirty` says what the image said when it was opened.
    pub(crate) fn new(header: Header, hasher: Hasher, words: Words) -> Base {
        let writing = words.image().is_none();
        Base { header, hasher, words, kernels: simd::best(), writing }
    }

    /// The same with these kernels.
    pub(crate) fn with_kernels(mut self, kernels: &'static Kernels) -> Base {
        self.kernels = kernels;
        self
    }

    /// The inner loops in use.
    #[inline]
    pub fn kernels(&self) -> &'static Kernels {
        self.kernels
    }

    /// What the image says of itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The shape of the payload.
    pub fn geometry(&self) -> &Geometry {
        &self.header.geometry
    }

    /// The hash function with its seed or key.
    pub fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    /// The payload.
    pub fn words(&self) -> &Words {
        &self.words
    }

    /// The payload, to be changed. An image in place is marked dirty first, on its disk too.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if it is open for reading only, and what the system reports.
    #[inline]
    pub(crate) fn writable(&mut self) -> Result<&mut [u64]> {
        if !self.writing {
            self.begin_writing()?;
        }
        self.words.exclusive().ok_or_else(read_only)
    }

    /// The same, `None` also where writing has not begun.
    #[inline]
    pub(crate) fn writable_at_once(&mut self) -> Option<&mut [u64]> {
        if self.writing { self.words.exclusive() } else { None }
    }

    /// Whether keys may be inserted through a shared reference: into memory of the filter's own, and into an image that
    /// was opened to be shared.
    ///
    /// # Errors
    /// [`Status::Unsupported`].
    pub(crate) fn check_shared(&self) -> Result<()> {
        match self.words.in_place() {
            None | Some(Access::Share) => Ok(()),
            Some(_) => Err(error!(Unsupported, "shared insertion into an image needs it to be opened for sharing")),
        }
    }

    /// Marks an image that is opened to be shared, and stays so until the last one closes it.
    pub(crate) fn begin_sharing(&mut self) -> Result<()> {
        if self.words.image().and_then(ImageBytes::file).is_some_and(|file| !file.was_alone()) {
            // It was marked by those who share it; only what was left behind needs somebody to vouch for it.
            self.header.dirty = false;
        }
        self.begin_writing()
    }

    #[cold]
    fn begin_writing(&mut self) -> Result<()> {
        let dirty = Header { dirty: true, ..self.header.clone() }.encode();
        let before = self.header.encode();
        let image = self.words.image_mut().filter(|image| image.access().is_writing()).ok_or_else(read_only)?;
        let state = format::STATE_OFFSET..format::STATE_OFFSET + 8;
        if let Err(error) = image.write(state.start, &dirty[state.clone()]) {
            // Nothing was written, so nothing is dirty.
            image.store(state.start, &before[state]);
            return Err(error);
        }
        self.writing = true;
        Ok(())
    }

    /// Makes the bytes of a writable image in place the image of the empty filter that the header describes.
    pub(crate) fn initialise(&mut self) -> Result<()> {
        let header = self.header.encode();
        let image = self.words.image_mut().ok_or(Status::Internal)?;
        image.fill_zero();
        image.store(0, &header);
        // Gives the empty payload its checksum.
        self.writable()?;
        self.sync()
    }

    /// Whether the image in place is marked dirty by this handle, or the words are its own.
    pub(crate) fn is_writing(&self) -> bool {
        self.writing
    }

    /// Sets the count of keys that were offered.
    pub(crate) fn set_count(&mut self, keys: u64) {
        self.header.count = keys;
    }

    /// Sets the false-positive rate at capacity.
    pub(crate) fn promise(&mut self, false_positive_rate: f64) {
        self.header.false_positive_rate = false_positive_rate;
    }

    /// Counts keys that were offered.
    #[inline]
    pub(crate) fn add_count(&mut self, keys: u64) {
        self.header.count = self.header.count.saturating_add(keys);
    }

    /// Brings the image in place up to date and marks it clean: payload first, then count and checksum, then the state,
    /// each on the disk before the next. Memory of the filter's own is only marked. A filter that was dirty when it was
    /// opened is taken as it is: whoever asks for this vouches for its payload.
    ///
    /// # Errors
    /// What the system reports; the image then stays dirty.
    pub fn sync(&mut self) -> Result<()> {
        match self.words.in_place() {
            None => {
                self.header.dirty = false;
                Ok(())
            }
            Some(Access::Write) if self.writing || self.header.dirty => self.seal(),
            // Others may be inserting: it stays dirty, with all that was inserted before on its disk.
            Some(Access::Share) => {
                let length = format::HEADER_LENGTH;
                self.words.image().map_or(Ok(()), |image| image.flush(length, image.length()))
            }
            Some(_) => Ok(()),
        }
    }

    fn seal(&mut self) -> Result<()> {
        let header = Header { dirty: false, ..format::sealed(self)? };
        let bytes = header.encode();
        let length = format::HEADER_LENGTH;
        if let Some(image) = self.words.image_mut() {
            image.flush(length, image.length())?;
            image.write(format::MUTABLE_OFFSET, &bytes[format::MUTABLE_OFFSET..])?;
            image.write(format::STATE_OFFSET, &bytes[format::STATE_OFFSET..format::STATE_OFFSET + 8])?;
        }
        self.header = header;
        self.writing = false;
        Ok(())
    }

    /// Leaves an image in place as it is, dirty if it was written: for a handle whose state is not to be trusted.
    pub fn abandon(&mut self) {
        self.writing = false;
    }

    /// A copy in memory of its own.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`].
    pub fn copy(&self) -> Result<Base> {
        Ok(Base::new(self.header.clone(), self.hasher.clone(), self.words.copy()?).with_kernels(self.kernels))
    }

    /// Takes over the payload and the geometry of a smaller filter.
    pub(crate) fn replace(&mut self, geometry: Geometry, words: Words) {
        self.words = words;
        self.header.geometry = geometry;
    }
}

fn read_only() -> Error {
    error!(Unsupported, "the filter is open for reading only, or for shared insertion only")
}

impl Drop for Base {
    fn drop(&mut self) {
        // A failure leaves the image dirty, which its next reader sees; `sync` reports it to whoever asks.
        // One that was dirty when it was opened stays so: nobody has vouched for its payload.
        if !self.writing || self.header.dirty {
            return;
        }
        let _ = match self.words.image().filter(|image| image.access() == Access::Share) {
            // The last one who shares a file brings it up to date. Of a buffer nobody knows whether he is the last.
            Some(image) if !image.file().is_some_and(Mapping::lock_alone) => Ok(()),
            Some(_) => self.seal(),
            None => self.sync(),
        };
    }
}

/// Names the first thing in which two filters differ, if they do.
pub(crate) fn check_compatible(a: &Base, b: &Base) -> Result<()> {
    let (a, b) = (&a.header, &b.header);
    if a.compatibility_id() == b.compatibility_id() {
        return Ok(());
    }
    let (ga, gb) = (&a.geometry, &b.geometry);
    let differ = |what: &str, a: u64, b: u64| error!(Incompatible, "the filters differ in {what}: {a} and {b}");
    Err(if a.kind != b.kind {
        differ("kind", a.kind.0.into(), b.kind.0.into())
    } else if a.layout_version != b.layout_version {
        differ("layout version", a.layout_version.into(), b.layout_version.into())
    } else if ga.bits != gb.bits {
        differ("bits", ga.bits, gb.bits)
    } else if ga.hashes != gb.hashes {
        differ("hashes", ga.hashes.into(), gb.hashes.into())
    } else if a.hash != b.hash {
        error!(Incompatible, "the filters differ in hash: {} and {}", a.hash, b.hash)
    } else if a.identifier != b.identifier {
        error!(Incompatible, "the filters differ in seed or key: {:#x} and {:#x}", a.identifier, b.identifier)
    } else {
        error!(Incompatible, "the filters differ in their kind's parameters: {:x?} and {:x?}", ga.words, gb.words)
    })
}
