//! The payload of a filter: 64-bit words, wherever they live.

use super::owned::Owned;
use super::{Access, ImageBytes, RawFile};
use crate::error::{Error, Result, error};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};

/// Words in memory of their own, or inside an image.
///
/// Readers see atomic words, because another handle, thread or process may be inserting into the same ones; whoever
/// has the words for himself alone gets plain ones.
pub struct Words {
    base: NonNull<u64>,
    length: usize,
    home: Home,
}

/// Written at once, pieces of this size cost no more than larger ones, and they stay in the cache between the copy, the
/// checksum and the system.
const LARGE_PIECE: usize = 256 << 10;

/// What keeps the words alive. Dropping it gives them back.
enum Home {
    Owned { _memory: Owned },
    Image(ImageBytes),
}

// SAFETY: the words are reached by value, through atomics or `&mut self`; neither memory nor mappings belong to a
// thread.
unsafe impl Send for Words {}
// SAFETY: as above; `&self` gives atomics only.
unsafe impl Sync for Words {}

impl Words {
    /// `bytes` zero bytes, a multiple of 8, in memory of their own.
    ///
    /// # Errors
    /// [`Status::TooLarge`](crate::Status::TooLarge) past the address space,
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn zeroed(bytes: u64) -> Result<Words> {
        let length = isize::try_from(bytes)
            .map_err(|_| error!(TooLarge, "{bytes} bytes are more than the address space holds"))?;
        let memory = Owned::zeroed(length as usize)?;
        Ok(Words { base: memory.base().cast(), length: length as usize / 8, home: Home::Owned { _memory: memory } })
    }

    /// `length` words at `base` inside `image`, which made sure of that.
    pub(super) fn in_image(base: NonNull<u64>, length: usize, image: ImageBytes) -> Words {
        Words { base, length, home: Home::Image(image) }
    }

    /// A copy in memory of its own.
    pub fn copy(&self) -> Result<Words> {
        let mut copy = Words::zeroed(self.bytes())?;
        for (to, from) in copy.owned_mut().iter_mut().zip(self.shared()) {
            *to = from.load(Ordering::Relaxed);
        }
        Ok(copy)
    }

    /// How many bytes they are.
    pub fn bytes(&self) -> u64 {
        self.length as u64 * 8
    }

    /// The words as readers see them.
    #[inline]
    pub fn shared(&self) -> &[AtomicU64] {
        // SAFETY: `length` aligned words from `base` are readable while `home` lives; atomics are written through only
        // where
        // `Base::check_shared` says that the words are writable.
        unsafe { core::slice::from_raw_parts(self.base.cast().as_ptr(), self.length) }
    }

    /// The words for whoever has them alone; `None` if they may not be changed.
    #[inline]
    pub fn exclusive(&mut self) -> Option<&mut [u64]> {
        match &self.home {
            Home::Image(image) if image.access() != Access::Write => None,
            _ => Some(self.owned_mut()),
        }
    }

    fn owned_mut(&mut self) -> &mut [u64] {
        // SAFETY: the words are writable (`exclusive` asks, the others made them), aligned, alive while `home` is, and
        // borrowed through `&mut self`. In a caller's buffer no other handle of the process uses them, by his promise.
        // A mapped file has one writer, by its lock; its readers have mappings of their own, at other addresses.
        unsafe { core::slice::from_raw_parts_mut(self.base.as_ptr(), self.length) }
    }

    /// How the image that they lie in may be used; `None` for memory of their own.
    pub fn in_place(&self) -> Option<Access> {
        self.image().map(ImageBytes::access)
    }

    /// The image that the words lie in, if they do.
    pub(crate) fn image(&self) -> Option<&ImageBytes> {
        match &self.home {
            Home::Image(image) => Some(image),
            Home::Owned { .. } => None,
        }
    }

    /// The same, to be written.
    pub(crate) fn image_mut(&mut self) -> Option<&mut ImageBytes> {
        match &mut self.home {
            Home::Image(image) => Some(image),
            Home::Owned { .. } => None,
        }
    }

    /// Hands out the words as little-endian bytes, a buffer at a time.
    pub fn for_each_chunk(&self, give: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.for_each_piece(&mut [0; 8192], give)
    }

    /// Hands out the words as little-endian bytes, in large pieces as far as there is memory for them. Each byte is read
    /// once, so that what is handed out stays as it is while others insert.
    pub fn for_each_large_piece(&self, give: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut buffer = Vec::new();
        let length = LARGE_PIECE.min(8 * self.length);
        if buffer.try_reserve_exact(length).is_err() {
            return self.for_each_chunk(give);
        }
        buffer.resize(length, 0);
        self.for_each_piece(&mut buffer, give)
    }

    fn for_each_piece(&self, buffer: &mut [u8], mut give: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        for words in self.shared().chunks(buffer.len() / 8) {
            for (to, word) in buffer.chunks_exact_mut(8).zip(words) {
                to.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
            }
            give(&buffer[..8 * words.len()])?;
        }
        Ok(())
    }

    /// `bytes` bytes of a file in memory of their own.
    ///
    /// # Errors
    /// [`Status::Truncated`](crate::Status::Truncated) if the file ends before, and what the system reports.
    pub(crate) fn read(file: &RawFile, offset: u64, bytes: u64) -> Result<Words> {
        let mut words = Words::zeroed(bytes)?;
        let memory = words.owned_mut();
        // SAFETY: the words are `8 * len` initialised bytes, borrowed for as long as the slice lives.
        let target = unsafe { core::slice::from_raw_parts_mut(memory.as_mut_ptr().cast::<u8>(), memory.len() * 8) };
        let read =
            file.read_at(target, offset).map_err(|code| Error::from_os(code, format_args!("reading the image")))?;
        if read as u64 != bytes {
            return Err(error!(Truncated, "the payload has {bytes} bytes, the file only {read} of them"));
        }
        Ok(words)
    }

    /// A copy of `bytes`, a multiple of 8, in memory of its own.
    pub fn from_bytes(bytes: &[u8]) -> Result<Words> {
        let mut words = Words::zeroed(bytes.len() as u64)?;
        for (word, chunk) in words.owned_mut().iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        }
        Ok(words)
    }
}
