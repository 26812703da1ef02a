//! Bob Jenkins's lookup3 (2006, in the public domain): `hashlittle`, one of the three hash functions of HBase's
//! filters.

use super::little_endian::padded_u64;

/// Mixes three words, between two blocks of a key.
#[inline]
fn mix([mut a, mut b, mut c]: [u32; 3]) -> [u32; 3] {
    for (first, second) in [(4, 6), (16, 19)] {
        a = a.wrapping_sub(c) ^ c.rotate_left(first);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(second);
        a = a.wrapping_add(c);
        let third = if first == 4 { 8 } else { 4 };
        c = c.wrapping_sub(b) ^ b.rotate_left(third);
        b = b.wrapping_add(a);
    }
    [a, b, c]
}

/// The last step, whose result is the third word.
#[inline]
fn finish([mut a, mut b, mut c]: [u32; 3]) -> u32 {
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

/// The words after twelve more bytes. Fewer bytes count as if zeros followed them.
#[inline]
fn absorb([a, b, c]: [u32; 3], block: &[u8]) -> [u32; 3] {
    let (low, high) = (padded_u64(block), padded_u64(block.get(8..).unwrap_or_default()));
    [a.wrapping_add(low as u32), b.wrapping_add((low >> 32) as u32), c.wrapping_add(high as u32)]
}

/// `hashlittle`. O(length of the key). The low 32 bits of the length are mixed in.
#[inline]
pub(crate) fn jenkins_lookup3(key: &[u8], seed: u32) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(key.len() as u32).wrapping_add(seed);
    // The last block has 1 to 12 bytes. A key without bytes has no block, and its words are not mixed.
    let Some(whole) = key.len().checked_sub(1).map(|last| last / 12) else { return start };
    let (blocks, last) = key.split_at(12 * whole);
    let words = blocks.as_chunks::<12>().0.iter().fold([start; 3], |words, block| mix(absorb(words, block)));
    finish(absorb(words, last))
}

#[cfg(test)]
mod tests {
    use super::super::smhasher::verification;
    use super::*;

    /// The values of the author's own test (`driver5` of lookup3.c), and SMHasher's.
    #[test]
    fn it_is_the_function_of_lookup3() {
        assert_eq!(jenkins_lookup3(b"", 0), 0xdead_beef);
        assert_eq!(jenkins_lookup3(b"Four score and seven years ago", 0), 0x1777_0551);
        assert_eq!(jenkins_lookup3(b"Four score and seven years ago", 1), 0xcd62_8161);
        assert_eq!(verification(|key, seed| jenkins_lookup3(key, seed).to_le_bytes()), 0x3d83_917a);
    }
}
