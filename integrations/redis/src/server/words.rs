//! The bytes of a filter's words, as what writes and reads whole strings needs them.

use petal::storage::Words;

/// The bytes of words in memory of their own.
pub fn bytes(words: &Words) -> &[u8] {
    let words = words.shared();
    // SAFETY: as many initialised bytes as the words have, borrowed as long as they are. Values of the module change
    // through `&mut` only, and no insertion beside others is ever asked for.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

/// The bytes of words in memory of their own, to be changed.
pub fn bytes_mut(words: &mut Words) -> &mut [u8] {
    let words = words.exclusive().unwrap_or_default();
    // SAFETY: as many initialised bytes as the words have, borrowed as long as they are; any bytes are words.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}
