//! A caller's bytes at any address, which are only read.

use crate::bits::prefetch;
use core::marker::PhantomData;
use core::ptr::NonNull;
use core::sync::atomic::AtomicU64;

/// Bytes at any address that nobody writes to while this value exists.
#[derive(Clone, Copy)]
pub struct AnyBytes<'a> {
    pub(super) start: NonNull<u8>,
    pub(super) length: usize,
    lives: PhantomData<&'a [u8]>,
}

// SAFETY: nobody writes to the bytes, which belong to no thread.
unsafe impl Send for AnyBytes<'_> {}
// SAFETY: as above.
unsafe impl Sync for AnyBytes<'_> {}

impl<'a> AnyBytes<'a> {
    /// The bytes of a buffer.
    ///
    /// # Safety
    /// `length` bytes from `start`, no more than `isize::MAX`, are readable, and nobody writes to them, for as long as
    /// `'a`.
    pub unsafe fn new(start: NonNull<u8>, length: usize) -> AnyBytes<'a> {
        AnyBytes { start, length, lives: PhantomData }
    }

    /// The bytes of a slice.
    pub fn of(bytes: &'a [u8]) -> AnyBytes<'a> {
        AnyBytes { start: NonNull::from(bytes).cast(), length: bytes.len(), lives: PhantomData }
    }

    /// How many bytes there are.
    #[inline]
    pub fn length(&self) -> usize {
        self.length
    }

    /// The bytes.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        // SAFETY: as many bytes are readable for as long as `'a`, and nobody writes to them.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }

    /// The first `length` bytes, or all if there are fewer.
    #[inline]
    pub fn first(self, length: usize) -> AnyBytes<'a> {
        AnyBytes { length: length.min(self.length), ..self }
    }

    /// The bytes from word `number` on.
    #[inline]
    pub fn from_word(self, number: usize) -> AnyBytes<'a> {
        let at = number.saturating_mul(8).min(self.length);
        // SAFETY: no further than the end.
        AnyBytes { start: unsafe { self.start.add(at) }, length: self.length - at, lives: PhantomData }
    }

    /// The whole words of the bytes, if these start at a multiple of 8.
    #[inline]
    pub fn words(&self) -> Option<&'a [AtomicU64]> {
        let start = self.start.cast::<AtomicU64>();
        // SAFETY: aligned, readable for as long as `'a`; the atomics are only loaded, here and by everyone who gets
        // them from here: `Words::in_place` says that they may not be changed.
        start.is_aligned().then(|| unsafe { core::slice::from_raw_parts(start.as_ptr(), self.length / 8) })
    }

    /// The word with this number, counted from the first byte; 0 if it is not there.
    #[inline]
    pub fn word(&self, number: usize) -> u64 {
        let at = number.checked_mul(8).and_then(|at| self.bytes().get(at..)?.first_chunk());
        at.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Asks for the cache line of the word with this number.
    #[inline]
    pub fn fetch(&self, number: usize) {
        if let Some(byte) = number.checked_mul(8).and_then(|at| self.bytes().get(at)) {
            prefetch(byte);
        }
    }

    /// Asks for the cache line of the last byte.
    #[inline]
    pub fn fetch_last(&self) {
        if let Some(byte) = self.bytes().last() {
            prefetch(byte);
        }
    }

    /// A copy of the words from number `first` on; zeros for those that are not there.
    #[inline]
    pub fn copy<const WORDS: usize>(&self, first: usize) -> [AtomicU64; WORDS] {
        core::array::from_fn(|i| AtomicU64::new(first.checked_add(i).map_or(0, |number| self.word(number))))
    }
}
