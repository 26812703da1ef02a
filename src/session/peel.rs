//! The elements of a difference of coded symbols.

use super::set::Elements;
use crate::error::Result;
use crate::kinds::riblt::symbols::Indices;
use crate::storage::try_vec;

/// The most steps for each symbol. A step computes one index of an element. A sound difference of m symbols takes some
/// 4 ln m + 2 steps for each element.
const STEPS: usize = 128;

/// What a difference holds: the elements with the count 1, and those with the count -1.
pub struct Peeled {
    /// Elements of the first set only.
    pub ours: Vec<u64>,
    /// Elements of the other set only.
    pub theirs: Vec<u64>,
}

/// Takes a difference apart. `None` unless every symbol ends empty. Work and memory are bounded by the number of
/// symbols, whatever they hold.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory); [`Status::KeyMissing`](crate::Status::KeyMissing).
pub fn peel(of: &Elements, mut words: Vec<u64>) -> Result<Option<Peeled>> {
    let (width, size) = (of.symbol_words(), of.words());
    let count = words.len() / width;
    let (mut ours, mut theirs) = (try_vec(count * size)?, try_vec(count * size)?);
    let mut queue = try_vec::<usize>(count)?;
    for symbol in 0..count {
        if alone(of, &words[symbol * width..][..width])?.is_some() {
            queue.push(symbol);
        }
    }
    let (mut steps, mut taken, mut element) = (count.saturating_mul(STEPS), 0, [0; 8]);
    while let Some(symbol) = queue.pop() {
        let Some((hash, sign)) = alone(of, &words[symbol * width..][..width])? else { continue };
        element[..size].copy_from_slice(&words[symbol * width..][..size]);
        let mut indices = Indices::of(hash).take_while(|index| *index < count as u64);
        let before = indices.clone().take_while(|index| *index < symbol as u64).count();
        steps = steps.saturating_sub(before);
        // A forged symbol may hold an element that does not belong there.
        if indices.clone().nth(before) != Some(symbol as u64) {
            return Ok(None);
        }
        if taken == count || steps == 0 {
            return Ok(None);
        }
        taken += 1;
        if sign == 1 { &mut ours } else { &mut theirs }.extend_from_slice(&element[..size]);
        for index in &mut indices {
            let other = &mut words[index as usize * width..][..width];
            other.iter_mut().zip(&element[..size]).for_each(|(sum, word)| *sum ^= word);
            other[width - 2] ^= hash;
            other[width - 1] = other[width - 1].wrapping_sub(sign as u64);
            steps = steps.saturating_sub(1);
            if alone(of, other)?.is_some() {
                if queue.len() == queue.capacity() {
                    // Sound symbols come into the queue at most once each.
                    return Ok(None);
                }
                queue.push(index as usize);
            }
        }
    }
    Ok(words.iter().all(|word| *word == 0).then_some(Peeled { ours, theirs }))
}

/// The hash and the sign of the element that is alone in a symbol, if the symbol's words say so.
fn alone(of: &Elements, symbol: &[u64]) -> Result<Option<(u64, i64)>> {
    let (element, beside) = symbol.split_at(of.words());
    let sign = beside[1] as i64;
    if sign != 1 && sign != -1 {
        return Ok(None);
    }
    let hash = of.hash(element)?;
    Ok((hash == beside[0]).then_some((hash, sign)))
}
