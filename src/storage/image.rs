//! A complete image, header and payload, used where it lies.

use super::{Access, Mapping, Process};
use crate::error::{Result, error};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};

/// The bytes of an image in a caller's buffer or a mapped file, as 64-bit words.
pub struct ImageBytes {
    pub(super) base: NonNull<u8>,
    pub(super) length: usize,
    access: Access,
    /// The process that opened the image. In another one, made by a fork, it is only read.
    process: Process,
    file: Option<Mapping>,
}

impl ImageBytes {
    /// An image in a caller's buffer.
    ///
    /// # Errors
    /// [`Status::Misaligned`](crate::Status::Misaligned) unless `base` is a multiple of 8.
    ///
    /// # Safety
    /// `length` bytes from `base` are readable, with [`Access::Write`] also writable, until the value is dropped.
    /// Meanwhile nobody but Petal writes to them, and if Petal may, no other handle of this process uses them.
    pub unsafe fn from_buffer(base: NonNull<u8>, length: usize, access: Access) -> Result<ImageBytes> {
        if !base.cast::<AtomicU64>().is_aligned() {
            return Err(error!(Misaligned, "the buffer at {base:?} is not aligned to 8 bytes"));
        }
        Ok(ImageBytes { base, length, access, process: Process::current(), file: None })
    }

    /// An image in a mapped file.
    pub fn from_mapping(file: Mapping) -> ImageBytes {
        let (access, process) = (file.access(), file.process());
        ImageBytes { base: file.start(), length: file.length(), access, process, file: Some(file) }
    }

    /// How many bytes there are.
    pub fn length(&self) -> usize {
        self.length
    }

    /// How the image may be used: as it was opened, but only for reading in a child of the process that opened it.
    #[inline]
    pub fn access(&self) -> Access {
        if self.is_inherited() { Access::Read } else { self.access }
    }

    /// Whether the image was opened to be changed by a process that this one is a child of.
    #[inline]
    pub fn is_inherited(&self) -> bool {
        self.access.is_writing() && !self.process.is_current()
    }

    /// The mapped file, if it is one.
    pub fn file(&self) -> Option<&Mapping> {
        self.file.as_ref()
    }

    /// The word at `offset`, a multiple of 8 inside the image. It is written only where [`ImageBytes::access`] says so.
    pub fn word(&self, offset: usize) -> &AtomicU64 {
        &self.words_at(offset, 1)[0]
    }

    /// The `count` words from `offset` on, which is a multiple of 8; they lie inside the image. They are written only
    /// where [`ImageBytes::access`] says so.
    pub fn words_at(&self, offset: usize, count: usize) -> &[AtomicU64] {
        let inside = offset <= self.length && count <= (self.length - offset) / 8;
        assert!(offset.is_multiple_of(8) && inside, "words inside the image");
        // SAFETY: the words lie inside the image, which is aligned to 8 bytes and readable while `self` lives.
        unsafe { core::slice::from_raw_parts(self.base.add(offset).cast::<AtomicU64>().as_ptr(), count) }
    }

    /// Makes every byte zero.
    pub fn fill_zero(&self) {
        assert!(self.access().is_writing(), "only a writable image is written");
        for offset in (0..self.length).step_by(8) {
            self.word(offset).store(0, Ordering::Relaxed);
        }
    }

    /// Fills `bytes`, a multiple of 8, from the image's start.
    pub fn read(&self, bytes: &mut [u8]) {
        for (i, chunk) in bytes.chunks_exact_mut(8).enumerate() {
            chunk.copy_from_slice(&self.word(8 * i).load(Ordering::Acquire).to_le_bytes());
        }
    }

    /// Writes `bytes`, a multiple of 8, at `offset`, in order. They are on the disk when it returns.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        self.store(offset, bytes);
        self.flush(offset, offset + bytes.len())
    }

    /// Writes `bytes`, a multiple of 8, at `offset`, in order; they reach the disk some time.
    pub fn store(&self, offset: usize, bytes: &[u8]) {
        assert!(self.access().is_writing(), "only a writable image is written");
        for (i, chunk) in bytes.chunks_exact(8).enumerate() {
            let word = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
            self.word(offset + 8 * i).store(word, Ordering::Release);
        }
    }

    /// Writes the bytes `from..to` to the disk before it returns; a buffer has no disk.
    pub fn flush(&self, from: usize, to: usize) -> Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| file.flush(from, to))
    }
}
