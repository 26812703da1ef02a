//! The elements of a difference of coded symbols.

use super::set::Elements;
use crate::contract::key_shape::KeyShape;
use crate::error::{Result, error};
use crate::kinds::riblt::peeler::Peeler;
use crate::storage::try_vec;

/// What a difference holds: the elements with the count 1, and those with the count -1.
pub struct Peeled {
    /// Elements of the first set only.
    pub ours: Vec<u64>,
    /// Elements of the other set only.
    pub theirs: Vec<u64>,
}

/// Takes a difference of so many symbols apart, which `fill` writes into zeros. `None` unless every symbol ends empty.
/// Work and memory are bounded by the number of symbols, whatever they hold.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory), and the errors of `fill`.
pub fn peel(of: &Elements, symbols: usize, fill: impl FnOnce(&mut [u64]) -> Result<()>) -> Result<Option<Peeled>> {
    let shape = match of.key_bytes {
        8 => KeyShape::NUMBERS,
        bytes => KeyShape::whole(bytes as u64).ok_or_else(|| error!(Internal, "keys of {bytes} bytes"))?,
    };
    let mut peeler = Peeler::new(shape);
    peeler.extend(symbols, fill)?;
    if !peeler.admit_all(&of.hasher) || !peeler.is_complete() {
        return Ok(None);
    }
    let words = peeler.found().len() * of.words();
    let (mut ours, mut theirs) = (try_vec(words)?, try_vec(words)?);
    for (element, count) in peeler.found() {
        if count == 1 { &mut ours } else { &mut theirs }.extend_from_slice(element);
    }
    Ok(Some(Peeled { ours, theirs }))
}
