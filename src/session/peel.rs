//! The elements of a difference of coded symbols.

use super::set::Elements;
use crate::contract::key_shape::KeyShape;
use crate::error::{Result, error};
use crate::sketch::riblt::peeler::Peeler;
use crate::storage::try_vec;

/// What a difference holds: the elements with the count 1, and those with the count -1.
pub struct Peeled {
    /// Elements of the first set only.
    pub ours: Vec<u64>,
    /// Elements of the other set only.
    pub theirs: Vec<u64>,
}

/// Refuses symbols that no set has, because some of their keys are there a negative number of times. Not every such
/// sketch shows that.
///
/// # Errors
/// [`Status::Contradiction`](crate::Status::Contradiction); [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub fn check_set(of: &Elements, symbols: &[u64]) -> Result<()> {
    let width = of.symbol_words();
    let all = symbols.get(width - 1).copied().unwrap_or(0);
    // Each symbol has some of the keys of the first one, and a symbol without keys is empty.
    let is_of_set = |symbol: &[u64]| match symbol[width - 1] {
        0 => symbol.iter().all(|word| *word == 0),
        count => count <= all && count <= i64::MAX as u64,
    };
    let mut peeler = Peeler::new(shape_of(of)?);
    peeler.extend(symbols.len() / width, |words| {
        words.copy_from_slice(symbols);
        Ok(())
    })?;
    peeler.admit_all(&of.hasher);
    if symbols.chunks_exact(width).all(is_of_set) && peeler.found().all(|(_, count)| count == 1) {
        return Ok(());
    }
    Err(error!(Contradiction, "the sketch is no set: keys were subtracted or removed that it had not"))
}

/// How elements lie in symbols.
fn shape_of(of: &Elements) -> Result<KeyShape> {
    match of.key_bytes {
        8 => Ok(KeyShape::NUMBERS),
        bytes => KeyShape::whole(bytes as u64).ok_or_else(|| error!(Internal, "keys of {bytes} bytes")),
    }
}

/// Takes apart a difference of `symbols` symbols, which `fill` writes into zeros. `None` unless every symbol ends up
/// empty. Work and memory are bounded by the number of symbols, whatever they hold.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory), and the errors of `fill`.
pub fn peel(of: &Elements, symbols: usize, fill: impl FnOnce(&mut [u64]) -> Result<()>) -> Result<Option<Peeled>> {
    let mut peeler = Peeler::new(shape_of(of)?);
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
