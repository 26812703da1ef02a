//! Secret keys of filters that hash with one: as words of commands, and new ones.

use crate::server::{Argument, Context, Refusal};
use petal::Secret;

/// The secret key of an argument in 32 hexadecimal digits, or a new key for NEW.
///
/// # Errors
/// [`Refusal::Said`] for anything else.
pub fn of(context: &Context, word: Option<&Argument>) -> Result<Secret, Refusal> {
    let word = word.ok_or(NO_KEY)?;
    if word.is("NEW") {
        return Ok(context.random());
    }
    let (digits, []) = word.bytes().as_chunks::<2>() else { return Err(NO_KEY) };
    let byte = |digits: &[u8; 2]| {
        let [high, low] = digits.map(|digit| char::from(digit).to_digit(16));
        Some((high? * 16 + low?) as u8)
    };
    let bytes = digits.iter().map(byte).collect::<Option<Vec<u8>>>().ok_or(NO_KEY)?;
    bytes.try_into().map_err(|_| NO_KEY)
}

/// Keeps the secret keys of a command whose options begin at this position out of the server's logs, as far as the
/// server can.
pub fn hide(context: &Context, arguments: &[Argument], options: usize) {
    let pairs = arguments.windows(2).enumerate().skip(options);
    // NEW is no secret, and whoever reads the log may want to know of it.
    pairs
        .filter(|(_, pair)| pair[0].is("SECRET") && !pair[1].is("NEW"))
        .for_each(|(position, _)| context.redact(position + 1));
}

/// The digits of a key.
pub fn digits(key: &Secret) -> String {
    key.iter().map(|byte| format!("{byte:02x}")).collect()
}

const NO_KEY: Refusal = Refusal::Said("ERR the secret key is not NEW or 32 hexadecimal digits");
