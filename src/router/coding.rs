//! A level as bytes: nothing, its bits, or the gaps between its set bits in Rice's code, whichever is shortest.
//!
//! | bytes | what |
//! |---|---|
//! | 1 | 0: no bit is set; 255: the bits follow; 1 + r: gaps follow, with r low bits each |
//! | `bits` / 8 | the bits, for 255 |
//! | 8 | how many bits are set, for gaps |
//! | any | the gaps: for each set bit, in ascending order, how many unset bits come since the last set one |
//!
//! A gap g has g >> r ones, a zero, and the r low bits of g, the lowest first. Bits fill bytes from the lowest one on,
//! and zeros fill the last byte.

use crate::error::{Result, error};

/// No bit is set.
const EMPTY: u8 = 0;
/// The bits follow.
const BITS: u8 = 255;
/// The most low bits of a gap.
const MOST_LOW: u32 = 56;

/// Adds a level to a message.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub fn write(level: &[u64], message: &mut Vec<u8>) -> Result<()> {
    let ones: u64 = level.iter().map(|word| u64::from(word.count_ones())).sum();
    if ones == 0 {
        return raw(message, &[EMPTY]);
    }
    let bits = 64 * level.len() as u64;
    // Rice's best parameter is near the logarithm of 0.69 times the mean gap.
    let guess = (bits / ones).max(1).ilog2();
    let lengths =
        (guess.saturating_sub(2)..=(guess + 1).min(MOST_LOW)).map(|low| (length_of_gaps(level, ones, low), low));
    let (length, low) = lengths.min().unwrap_or((u64::MAX, 0));
    if length.div_ceil(8).saturating_add(8) >= bits / 8 {
        raw(message, &[BITS])?;
        return level.iter().try_for_each(|word| raw(message, &word.to_le_bytes()));
    }
    raw(message, &[1 + low as u8])?;
    raw(message, &ones.to_le_bytes())?;
    let mut writer = BitWriter { message, pending: 0, count: 0 };
    for gap in gaps(level) {
        let mut units = gap >> low;
        while units > 0 {
            let now = units.min(32) as u32;
            writer.put((1 << now) - 1, now)?;
            units -= u64::from(now);
        }
        writer.put(0, 1)?;
        writer.put(gap & ((1 << low) - 1), low)?;
    }
    writer.finish()
}

/// XORs the level that comes next into `level`.
///
/// # Errors
/// [`Status::Truncated`](crate::Status::Truncated), and [`Status::Corrupt`](crate::Status::Corrupt) for bytes that are
/// not a level of this size.
pub fn read(bytes: &mut &[u8], level: &mut [u64]) -> Result<()> {
    let [coding] = take(bytes)?;
    match coding {
        EMPTY => Ok(()),
        BITS => level.iter_mut().try_for_each(|word| take(bytes).map(|taken| *word ^= u64::from_le_bytes(taken))),
        _ if u32::from(coding - 1) <= MOST_LOW => read_gaps(bytes, level, u32::from(coding - 1)),
        _ => Err(error!(Corrupt, "a level with the coding {coding}, which is none of 0 to 57 and 255")),
    }
}

fn read_gaps(bytes: &mut &[u8], level: &mut [u64], low: u32) -> Result<()> {
    let ones = u64::from_le_bytes(take(bytes)?);
    let bits = 64 * level.len() as u64;
    let beyond = || error!(Corrupt, "a level sets a bit after its last one, {}", bits - 1);
    if ones == 0 || ones > bits {
        return Err(error!(Corrupt, "a level has gaps for {ones} bits, and 1 to {bits} can be set"));
    }
    let mut reader = BitReader { bytes, at: 0 };
    let mut next = 0_u64;
    for _ in 0..ones {
        let mut units = 0;
        while reader.bit()? {
            units += 1;
        }
        // A run of ones is no longer than the message, and is checked before it is shifted.
        let gap = (units <= bits >> low).then(|| units << low).ok_or_else(beyond)? | reader.bits(low)?;
        let position = next.checked_add(gap).filter(|position| *position < bits).ok_or_else(beyond)?;
        level[(position / 64) as usize] ^= 1 << (position % 64);
        next = position + 1;
    }
    if !reader.at.is_multiple_of(8) && reader.bits(8 - (reader.at % 8) as u32)? != 0 {
        return Err(error!(Corrupt, "the last byte of a level has a bit set after the last gap"));
    }
    *bytes = &bytes[reader.at / 8..];
    Ok(())
}

/// The gaps between the set bits.
fn gaps(level: &[u64]) -> impl Iterator<Item = u64> {
    let mut next = 0;
    let ones = level.iter().enumerate().flat_map(|(i, word)| {
        let mut rest = *word;
        core::iter::from_fn(move || {
            (rest != 0).then(|| {
                let position = 64 * i as u64 + u64::from(rest.trailing_zeros());
                rest &= rest - 1;
                position
            })
        })
    });
    ones.map(move |position| {
        let gap = position - next;
        next = position + 1;
        gap
    })
}

/// The bits of all gaps with `low` low bits each.
fn length_of_gaps(level: &[u64], ones: u64, low: u32) -> u64 {
    ones * (u64::from(low) + 1) + gaps(level).map(|gap| gap >> low).sum::<u64>()
}

/// Adds bytes to a message.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub fn raw(message: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    if message.try_reserve(bytes.len()).is_err() {
        return Err(error!(OutOfMemory, "a message of {} bytes could not be had", message.len() + bytes.len()));
    }
    message.extend_from_slice(bytes);
    Ok(())
}

/// The next bytes.
///
/// # Errors
/// [`Status::Truncated`](crate::Status::Truncated).
pub fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    let Some((taken, rest)) = bytes.split_first_chunk() else {
        return Err(error!(Truncated, "{N} more bytes of the message should follow, {} do", bytes.len()));
    };
    *bytes = rest;
    Ok(*taken)
}

/// Bits that fill bytes from the lowest one on.
struct BitWriter<'a> {
    message: &'a mut Vec<u8>,
    pending: u64,
    count: u32,
}

impl BitWriter<'_> {
    /// Writes the lowest bits of a number, at most 56.
    fn put(&mut self, bits: u64, count: u32) -> Result<()> {
        self.pending |= bits << self.count;
        self.count += count;
        while self.count >= 8 {
            raw(self.message, &[self.pending as u8])?;
            self.pending >>= 8;
            self.count -= 8;
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        if self.count > 0 { raw(self.message, &[self.pending as u8]) } else { Ok(()) }
    }
}

/// Bits out of bytes.
struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl BitReader<'_> {
    fn bit(&mut self) -> Result<bool> {
        let byte = self.bytes.get(self.at / 8);
        let byte = byte.ok_or_else(|| error!(Truncated, "the gaps of a level go on after its last byte"))?;
        let bit = byte >> (self.at % 8) & 1 == 1;
        self.at += 1;
        Ok(bit)
    }

    fn bits(&mut self, count: u32) -> Result<u64> {
        let mut bits = 0;
        for i in 0..count {
            bits |= u64::from(self.bit()?) << i;
        }
        Ok(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;
    use crate::bits::mix;

    fn level(words: usize, fill: f64) -> Vec<u64> {
        let mut level = vec![0; words];
        for bit in 0..64 * words as u64 {
            if mix(bit.wrapping_mul(77) + 5) as f64 / u64::MAX as f64 <= fill {
                level[(bit / 64) as usize] |= 1 << (bit % 64);
            }
        }
        level
    }

    /// Levels of any fill come back, and take no more than their bits and hardly more than their entropy.
    #[test]
    fn levels_come_back() {
        for words in [1, 2, 16, 64, 300] {
            for fill in [0.0, 1e-4, 0.001, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.9, 1.0] {
                let level = level(words, fill);
                let mut message = Vec::new();
                write(&level, &mut message).unwrap();
                assert!(message.len() <= 1 + 8 * words);
                let ones: u32 = level.iter().map(|word| word.count_ones()).sum();
                let p = f64::from(ones) / (64 * words) as f64;
                if words == 300 && p > 0.0 && p < 0.2 {
                    let entropy = -(p * p.log2() + (1.0 - p) * (1.0 - p).log2()) * (64 * words) as f64 / 8.0;
                    assert!(message.len() as f64 <= 10.0 + 1.06 * entropy, "{fill}: {} {entropy}", message.len());
                }
                let mut back = vec![0; words];
                let mut rest = &message[..];
                read(&mut rest, &mut back).unwrap();
                assert!(rest.is_empty());
                assert_eq!(back, level);
                for length in 0..message.len() {
                    let status = read(&mut &message[..length], &mut vec![0; words]).unwrap_err().status();
                    assert_eq!(status, Status::Truncated);
                }
            }
        }
    }

    /// A sender may choose any coding, even one that this library never takes.
    #[test]
    fn the_longest_low_parts_are_read() {
        for low in [0, 1, 55, 56] {
            let gap = if low == 0 { [0x1f, 0, 0, 0, 0, 0, 0, 0] } else { u64::to_le_bytes(5 << 1) };
            let gap = if low == 1 { [0x0b, 0, 0, 0, 0, 0, 0, 0] } else { gap };
            let bytes = [&[1 + low][..], &1_u64.to_le_bytes(), &gap[..(1 + usize::from(low)).div_ceil(8)]].concat();
            let mut level = [0];
            read(&mut &bytes[..], &mut level).unwrap();
            assert_eq!(level, [1 << 5], "{low}");
        }
        let full = [&[1][..], &64_u64.to_le_bytes(), &[0; 8]].concat();
        let mut level = [0];
        read(&mut &full[..], &mut level).unwrap();
        assert_eq!(level, [u64::MAX]);
    }

    /// Bytes that are not a level are refused, and no bytes panic or set a bit outside of the level.
    #[test]
    fn foreign_bytes_are_refused() {
        let refused = |bytes: &[u8], words: usize| read(&mut &bytes[..], &mut vec![0; words]).unwrap_err().status();
        let with_gaps = |low: u8, ones: u64, gaps: &[u8]| [&[1 + low][..], &ones.to_le_bytes(), gaps].concat();
        assert_eq!(refused(&[58, 0, 0], 1), Status::Corrupt);
        assert_eq!(refused(&[254], 1), Status::Corrupt);
        assert_eq!(refused(&with_gaps(0, 0, &[0]), 1), Status::Corrupt);
        assert_eq!(refused(&with_gaps(0, 65, &[0; 80]), 1), Status::Corrupt);
        assert_eq!(refused(&with_gaps(0, u64::MAX, &[0; 80]), 1), Status::Corrupt);
        assert_eq!(refused(&with_gaps(0, 1, &[0xfe; 1]), 1), Status::Corrupt);
        assert_eq!(refused(&with_gaps(0, 1, &[0xff; 30]), 1), Status::Truncated);
        assert_eq!(refused(&with_gaps(56, 1, &[0xff, 0, 0, 0, 0, 0, 0, 0, 0]), 1), Status::Corrupt);
        assert_eq!(refused(&with_gaps(56, 1, &[0xfe; 9]), 1), Status::Corrupt);
        assert_eq!(refused(&with_gaps(0, 65, &[0; 8]), 1), Status::Corrupt);
        // 256 units of 2^56 bits are 2^64, and not 0.
        assert_eq!(refused(&with_gaps(56, 1, &[&[0xff; 32][..], &[0; 8]].concat()), 1), Status::Corrupt);
        let mut random = 1;
        for _ in 0..10_000 {
            let bytes: [u8; 24] = core::array::from_fn(|_| {
                random = mix(random + 1);
                random as u8
            });
            let _ = read(&mut &bytes[..], &mut [0; 2]);
            let _ = read(&mut &with_gaps(bytes[0] % 57, u64::from(bytes[1] % 130), &bytes)[..], &mut [0; 2]);
        }
    }
}
