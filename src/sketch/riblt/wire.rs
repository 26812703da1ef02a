//! Coded symbols as bytes: the stream that one side sends to another. docs/format.md has the format.

use super::symbols::BESIDE_KEY;
use crate::contract::key_shape::{KeyShape, KeyWords, MAX_KEY_BYTES};
use crate::error::{Result, error};
use crate::hash::{HashFunction, Hasher};

/// The bytes before the first symbol.
pub const HEADER: usize = 16;
/// The most bytes of a symbol: a key, a hash, and a count.
pub const MOST: usize = MAX_KEY_BYTES + 8 + MAX_COUNT;
/// The most bytes of a count.
const MAX_COUNT: usize = 10;

const MAGIC: [u8; 4] = *b"PSTR";
const VERSION: u8 = 1;

/// A symbol in words.
pub type Symbol = [u64; MAX_KEY_BYTES / 8 + BESIDE_KEY];

/// The header of the stream of a sketch with these keys and this hasher.
pub fn header(shape: KeyShape, hasher: &Hasher) -> [u8; HEADER] {
    let mut bytes = [0; HEADER];
    bytes[..4].copy_from_slice(&MAGIC);
    bytes[4] = VERSION;
    bytes[5] = hasher.function() as u32 as u8;
    bytes[6] = if shape.is_whole() { shape.bytes() as u8 } else { 0 };
    bytes[8..].copy_from_slice(&hasher.identifier().to_le_bytes());
    bytes
}

/// Refuses the header of a stream that is not for such a sketch.
///
/// # Errors
/// [`Status::Foreign`](crate::Status::Foreign), [`Status::NewerVersion`](crate::Status::NewerVersion);
/// [`Status::Incompatible`](crate::Status::Incompatible), naming the first difference.
pub fn check_header(bytes: &[u8; HEADER], shape: KeyShape, hasher: &Hasher) -> Result<()> {
    let ours = header(shape, hasher);
    if bytes[..4] != MAGIC {
        return Err(error!(Foreign, "the bytes are not a stream of coded symbols"));
    }
    if bytes[4] != VERSION || bytes[7] != 0 {
        let (version, flags) = (bytes[4], bytes[7]);
        return Err(error!(NewerVersion, "the stream has version {version} and flags {flags:#x}; 1 and 0 are known"));
    }
    if bytes[5] != ours[5] {
        let theirs = HashFunction::from_number(bytes[5].into());
        let theirs = theirs.map_or("one that is not known", HashFunction::name);
        let ours = hasher.function();
        return Err(error!(Incompatible, "the stream and the sketch differ in hash: {theirs} and {ours}"));
    }
    if bytes[6] != ours[6] {
        let (theirs, ours) = (bytes[6], ours[6]);
        return Err(error!(Incompatible, "the stream and the sketch differ in key_bytes: {theirs} and {ours}"));
    }
    if bytes[8..] != ours[8..] {
        return Err(error!(Incompatible, "the stream and the sketch differ in seed or secret"));
    }
    Ok(())
}

/// How many of `keys` keys are in a symbol on average, rounded towards 0. For symbol 0 it is 0, because the count of
/// that symbol is what says how many keys there are.
fn expected(keys: i64, index: u64) -> i64 {
    match index {
        0 => 0,
        _ => (2 * i128::from(keys) / (i128::from(index) + 2)) as i64,
    }
}

/// Writes a symbol, and returns its length. `keys` is the count of symbol 0. `None` if there is no room.
pub fn write(symbol: &[u64], shape: KeyShape, index: u64, keys: i64, buffer: &mut [u8]) -> Option<usize> {
    let [key @ .., hash, count] = symbol else { return None };
    let difference = (*count as i64).wrapping_sub(expected(keys, index));
    // Small numbers of either sign become small ones.
    let mut folded = (difference << 1 ^ difference >> 63) as u64;
    let (mut bytes, mut length) = ([0; MAX_COUNT], 0);
    loop {
        bytes[length] = folded as u8 & 0x7f;
        folded >>= 7;
        length += 1;
        if folded == 0 {
            break;
        }
        bytes[length - 1] |= 0x80;
    }
    // Nothing is written unless all of the symbol fits.
    let before = shape.bytes() + 8;
    let place = buffer.get_mut(..before + length)?;
    place[..shape.bytes()].copy_from_slice(&KeyShape::padded(key)[..shape.bytes()]);
    place[shape.bytes()..before].copy_from_slice(&hash.to_le_bytes());
    place[before..].copy_from_slice(&bytes[..length]);
    Some(before + length)
}

/// The symbol at the start of the bytes, and its length; `None` if the bytes end before the symbol does. `keys` is the
/// count of symbol 0.
///
/// # Errors
/// [`Status::Corrupt`](crate::Status::Corrupt) for a count that no stream has.
pub fn read(bytes: &[u8], shape: KeyShape, index: u64, keys: i64) -> Result<Option<(Symbol, usize)>> {
    let Some((key, rest)) = bytes.split_at_checked(shape.bytes()) else { return Ok(None) };
    let Some((hash, rest)) = rest.split_first_chunk::<8>() else { return Ok(None) };
    let (mut folded, mut length) = (0_u64, 0);
    for byte in rest.iter().take(MAX_COUNT) {
        let bits = u64::from(byte & 0x7f);
        // A last byte of 0 adds nothing, and the tenth byte has a single bit of the 64.
        if length > 0 && *byte == 0 || length == MAX_COUNT - 1 && *byte > 1 {
            return Err(error!(
                Corrupt,
                "the count of coded symbol {index} is not the shortest form of a 64-bit number"
            ));
        }
        folded |= bits << (7 * length);
        length += 1;
        if byte & 0x80 == 0 {
            let difference = (folded >> 1) as i64 ^ -((folded & 1) as i64);
            let mut words = KeyWords::default();
            KeyShape::read(key, &mut words);
            let mut symbol = Symbol::default();
            symbol[..shape.words()].copy_from_slice(&words[..shape.words()]);
            symbol[shape.words()] = u64::from_le_bytes(*hash);
            symbol[shape.words() + 1] = difference.wrapping_add(expected(keys, index)) as u64;
            return Ok(Some((symbol, shape.bytes() + 8 + length)));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::mix;

    /// Symbols with any counts come back, and no shorter bytes are symbols.
    #[test]
    fn symbols_come_back() {
        let counts = [0, 1, -1, 63, 64, -64, -65, 1 << 40, i64::MAX, i64::MIN];
        for (i, count) in counts.into_iter().enumerate() {
            for (shape, keys) in
                [(KeyShape::NUMBERS, 0), (KeyShape::whole(13).unwrap(), -7), (KeyShape::whole(64).unwrap(), i64::MAX)]
            {
                let mut symbol: Vec<u64> = (0..shape.words() as u64 + 1).map(mix).collect();
                if shape.bytes() == 13 {
                    symbol[1] &= (1 << 40) - 1;
                }
                symbol.push(count as u64);
                for index in [0, 1, i as u64, 1 << 50, u64::MAX] {
                    let mut bytes = [0xff; MOST];
                    let length = write(&symbol, shape, index, keys, &mut bytes).unwrap();
                    assert!(write(&symbol, shape, index, keys, &mut bytes[..length - 1].to_vec()).is_none());
                    let (found, used) = read(&bytes, shape, index, keys).unwrap().unwrap();
                    assert_eq!((&found[..symbol.len()], used), (&symbol[..], length), "{count} at {index}");
                    assert!((0..length).all(|end| read(&bytes[..end], shape, index, keys).unwrap().is_none()));
                }
            }
        }
    }

    /// A count has one form.
    #[test]
    fn other_forms_of_counts_are_refused() {
        for count in [&[0x80, 0][..], &[0xff, 0x80, 0], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]] {
            let bytes = [&[1; 16][..], count].concat();
            assert!(read(&bytes, KeyShape::NUMBERS, 3, 5).is_err(), "{count:?}");
        }
    }
}
