//! The payload of a filter: 64-bit words, wherever they live.

use super::owned::Owned;
use super::{Access, AnyBytes, ImageBytes};
use crate::error::{Result, error};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};

/// Words in their own memory, inside an image, or in a caller's bytes that are only read.
///
/// Readers see atomic words, because another handle, thread or process may be inserting into the same ones; a filter
/// that has its words to itself sees plain ones.
pub struct Words {
    base: NonNull<u64>,
    length: usize,
    home: Home,
}

/// What keeps the words alive. Dropping it gives them back.
enum Home {
    Owned {
        memory: Owned,
    },
    Image(ImageBytes),
    /// All of the bytes, of which the words are the first.
    Borrowed(AnyBytes<'static>),
}

// SAFETY: the words are reached by value, through atomics or `&mut self`; neither memory nor mappings belong to a
// thread.
unsafe impl Send for Words {}
// SAFETY: threads that share the words reach them through atomics only, which is all that `&self` gives.
unsafe impl Sync for Words {}

impl Words {
    /// `bytes` zero bytes, a multiple of 8, in their own memory.
    ///
    /// # Errors
    /// [`Status::TooLarge`](crate::Status::TooLarge) past the address space,
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn zeroed(bytes: u64) -> Result<Words> {
        let length = isize::try_from(bytes)
            .map_err(|_| error!(TooLarge, "{bytes} bytes are more than the address space holds"))?;
        let memory = Owned::zeroed(length as usize)?;
        Ok(Words { base: memory.base().cast(), length: length as usize / 8, home: Home::Owned { memory } })
    }

    /// `length` words at `base` inside `image`, which made sure of that.
    fn in_image(base: NonNull<u64>, length: usize, image: ImageBytes) -> Words {
        Words { base, length, home: Home::Image(image) }
    }

    /// The `length` words at `base`, the first of `all`, which made sure of that.
    fn borrowed(base: NonNull<u64>, length: usize, all: AnyBytes<'static>) -> Words {
        Words { base, length, home: Home::Borrowed(all) }
    }

    /// A copy in its own memory.
    pub fn copy(&self) -> Result<Words> {
        self.copy_with(self.bytes())
    }

    /// A copy in its own memory, with room for `bytes` bytes.
    fn copy_with(&self, bytes: u64) -> Result<Words> {
        let mut copy = Words::zeroed(bytes)?;
        for (to, from) in copy.owned_mut().iter_mut().zip(self.shared()) {
            *to = from.load(Ordering::Relaxed);
        }
        Ok(copy)
    }

    /// How many bytes the words have.
    pub fn bytes(&self) -> u64 {
        self.length as u64 * 8
    }

    /// The words as readers see them.
    #[inline]
    pub fn shared(&self) -> &[AtomicU64] {
        // SAFETY: `length` aligned words from `base` are readable while `home` lives; atomics are written through only
        // where `Base::check_shared` says that the words are writable.
        unsafe { core::slice::from_raw_parts(self.base.cast().as_ptr(), self.length) }
    }

    /// The words for whoever has them alone; `None` if they may not be changed.
    #[inline]
    pub fn exclusive(&mut self) -> Option<&mut [u64]> {
        match &self.home {
            Home::Image(image) if image.access() != Access::Write => None,
            Home::Borrowed(_) => None,
            _ => Some(self.owned_mut()),
        }
    }

    /// The bytes of the words for whoever has them alone; `None` if they may not be changed.
    pub(crate) fn exclusive_bytes(&mut self) -> Option<&mut [u8]> {
        let words = self.exclusive()?;
        // SAFETY: the words are `8 * len` initialised bytes, borrowed for as long as the slice lives.
        Some(unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len() * 8) })
    }

    /// Gives up all but the first `bytes` bytes, a multiple of 8, of words in their own memory. Pages of the system
    /// that were not touched never took memory.
    pub(crate) fn shorten(&mut self, bytes: u64) {
        if self.is_own() {
            self.length = self.length.min((bytes / 8) as usize);
        }
    }

    /// Lengthens the words, in their own memory, by zeros: to `bytes` bytes, a multiple of 8, and no fewer than there
    /// are. Where the system can move pages, large words are not copied, so this takes hardly any time. Nothing has
    /// changed on an error.
    ///
    /// # Errors
    /// The errors of [`Words::zeroed`].
    pub(crate) fn lengthen(&mut self, bytes: u64) -> Result<()> {
        if let (Home::Owned { memory }, Ok(length)) = (&mut self.home, isize::try_from(bytes)) {
            let (kept, old) = (self.length, memory.length() / 8);
            if memory.lengthen(length as usize) {
                (self.base, self.length) = (memory.base().cast(), length as usize / 8);
                // What [`Words::shorten`] gave up was not zero.
                self.owned_mut()[kept..old].fill(0);
                return Ok(());
            }
        }
        *self = self.copy_with(bytes)?;
        Ok(())
    }

    fn owned_mut(&mut self) -> &mut [u64] {
        // In a caller's buffer no other handle of the process uses the words, by that caller's promise. A mapped file
        // has one writer, by its lock; its readers have their own mappings, at other addresses. SAFETY: the words are
        // writable (`exclusive` asks, the others made them), aligned, alive while `home` is, and borrowed through `&mut
        // self`, and nobody else has references to them, as said.
        unsafe { core::slice::from_raw_parts_mut(self.base.as_ptr(), self.length) }
    }

    /// Whether the words are the filter's own memory.
    #[inline]
    pub fn is_own(&self) -> bool {
        matches!(self.home, Home::Owned { .. })
    }

    /// How the bytes may be used that the words lie in; `None` for words in their own memory.
    pub fn in_place(&self) -> Option<Access> {
        match &self.home {
            Home::Owned { .. } => None,
            Home::Image(image) => Some(image.access()),
            Home::Borrowed(_) => Some(Access::Read),
        }
    }

    /// The image that the words lie in, if they do.
    pub(crate) fn image(&self) -> Option<&ImageBytes> {
        match &self.home {
            Home::Image(image) => Some(image),
            Home::Owned { .. } | Home::Borrowed(_) => None,
        }
    }

    /// The bytes that the words are the beginning of, if they are a caller's and not an image.
    pub(crate) fn borrowed_from(&self) -> Option<AnyBytes<'_>> {
        match &self.home {
            Home::Borrowed(all) => Some(*all),
            Home::Owned { .. } | Home::Image(_) => None,
        }
    }

    /// `bytes` bytes, a multiple of 8, in their own memory, as `read` fills them in; it returns how many there were.
    ///
    /// # Errors
    /// [`Status::Truncated`](crate::Status::Truncated) if there were fewer, and the errors of `read`.
    pub(crate) fn read(bytes: u64, read: impl FnOnce(&mut [u8]) -> Result<usize>) -> Result<Words> {
        let mut words = Words::zeroed(bytes)?;
        let memory = words.owned_mut();
        // SAFETY: the words are `8 * len` initialised bytes, borrowed for as long as the slice lives.
        let target = unsafe { core::slice::from_raw_parts_mut(memory.as_mut_ptr().cast::<u8>(), memory.len() * 8) };
        let read = read(target)?;
        if read as u64 != bytes {
            return Err(error!(Truncated, "the image goes on for {bytes} bytes, only {read} of them are there"));
        }
        Ok(words)
    }
}

/// Gives words, which others may be changing, as little-endian bytes, a buffer at a time.
pub fn for_each_chunk(words: &[AtomicU64], mut give: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut bytes = [0_u8; 8192];
    for words in words.chunks(bytes.len() / 8) {
        give(copy_words(words, &mut bytes))?;
    }
    Ok(())
}

/// Copies words, which others may be changing, into `bytes`, which has room for them; returns the part that was filled.
pub fn copy_words<'a>(words: &[AtomicU64], bytes: &'a mut [u8]) -> &'a [u8] {
    for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
    }
    &bytes[..8 * words.len()]
}

impl ImageBytes {
    /// The payload of `length` bytes that starts at `offset`.
    ///
    /// # Errors
    /// [`Status::Truncated`](crate::Status::Truncated) if the image ends before that.
    pub fn into_words(self, offset: usize, length: usize) -> Result<Words> {
        let end = offset.checked_add(length).filter(|end| *end <= self.length);
        if end.is_none() || !offset.is_multiple_of(8) || !length.is_multiple_of(8) {
            return Err(error!(
                Truncated,
                "the image has {} bytes, its payload ends at {offset} + {length}", self.length
            ));
        }
        // SAFETY: `offset` lies inside the image.
        let base = unsafe { self.base.add(offset) };
        Ok(Words::in_image(base.cast(), length / 8, self))
    }
}

impl AnyBytes<'_> {
    /// The first `length` bytes, a multiple of 8, as the payload of a filter that is only read. It keeps the bytes from
    /// which it was opened.
    ///
    /// # Errors
    /// [`Status::Misaligned`](crate::Status::Misaligned) unless they start at a multiple of 8;
    /// [`Status::Truncated`](crate::Status::Truncated) if there are fewer.
    ///
    /// # Safety
    /// The bytes stay readable, and nobody writes to them, until the words are dropped.
    pub unsafe fn into_words(self, length: usize) -> Result<Words> {
        if !self.start.cast::<AtomicU64>().is_aligned() {
            return Err(error!(Misaligned, "the bytes at {:?} are not aligned to 8", self.start));
        }
        if length > self.length || !length.is_multiple_of(8) {
            return Err(error!(Truncated, "the payload has {length} bytes, only {} are there", self.length));
        }
        // SAFETY: the caller promises that the bytes stay readable, and nobody writes to them, until the words are
        // dropped.
        let all = unsafe { AnyBytes::new(self.start, self.length) };
        Ok(Words::borrowed(self.start.cast(), length / 8, all))
    }
}
