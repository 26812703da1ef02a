//! MD5 (Rivest, RFC 1321, 1992), from which Squid's cache digests take the places of keys. It protects against nobody.

use super::little_endian::u32_of;

/// By how many bits each of the four steps of a round rotates.
const ROTATIONS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The first 32 bits of the fraction of |sin(i + 1)|, for step i (RFC 1321, 3.4).
const SINES: [u32; 64] = [
    0xd76a_a478,
    0xe8c7_b756,
    0x2420_70db,
    0xc1bd_ceee,
    0xf57c_0faf,
    0x4787_c62a,
    0xa830_4613,
    0xfd46_9501,
    0x6980_98d8,
    0x8b44_f7af,
    0xffff_5bb1,
    0x895c_d7be,
    0x6b90_1122,
    0xfd98_7193,
    0xa679_438e,
    0x49b4_0821,
    0xf61e_2562,
    0xc040_b340,
    0x265e_5a51,
    0xe9b6_c7aa,
    0xd62f_105d,
    0x0244_1453,
    0xd8a1_e681,
    0xe7d3_fbc8,
    0x21e1_cde6,
    0xc337_07d6,
    0xf4d5_0d87,
    0x455a_14ed,
    0xa9e3_e905,
    0xfcef_a3f8,
    0x676f_02d9,
    0x8d2a_4c8a,
    0xfffa_3942,
    0x8771_f681,
    0x6d9d_6122,
    0xfde5_380c,
    0xa4be_ea44,
    0x4bde_cfa9,
    0xf6bb_4b60,
    0xbebf_bc70,
    0x289b_7ec6,
    0xeaa1_27fa,
    0xd4ef_3085,
    0x0488_1d05,
    0xd9d4_d039,
    0xe6db_99e5,
    0x1fa2_7cf8,
    0xc4ac_5665,
    0xf429_2244,
    0x432a_ff97,
    0xab94_23a7,
    0xfc93_a039,
    0x655b_59c3,
    0x8f0c_cc92,
    0xffef_f47d,
    0x8584_5dd1,
    0x6fa8_7e4f,
    0xfe2c_e6e0,
    0xa301_4314,
    0x4e08_11a1,
    0xf753_7e82,
    0xbd3a_f235,
    0x2ad7_d2bb,
    0xeb86_d391,
];

/// The words before the first block.
const START: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];

/// The words after one more block.
fn step(state: [u32; 4], block: &[u8; 64]) -> [u32; 4] {
    let [mut a, mut b, mut c, mut d] = state;
    for i in 0..64 {
        let (mixed, word) = match i / 16 {
            0 => (d ^ (b & (c ^ d)), i),
            1 => (c ^ (d & (b ^ c)), 5 * i + 1),
            2 => (b ^ c ^ d, 3 * i + 5),
            _ => (c ^ (b | !d), 7 * i),
        };
        let word = u32_of(&block[4 * (word % 16)..]);
        let sum = a.wrapping_add(mixed).wrapping_add(SINES[i]).wrapping_add(word);
        (a, d, c, b) = (d, c, b, b.wrapping_add(sum.rotate_left(ROTATIONS[i / 16][i % 4])));
    }
    [state[0].wrapping_add(a), state[1].wrapping_add(b), state[2].wrapping_add(c), state[3].wrapping_add(d)]
}

/// MD5 of a byte followed by the bytes of a key. O(length of the key); allocates no memory.
pub(crate) fn md5_after(first: u8, key: &[u8]) -> [u8; 16] {
    let length = key.len() as u64 + 1;
    // The message: the byte, the key, 0x80, zeros, and the length in bits, up to a multiple of 64 bytes.
    let blocks = (length + 9).div_ceil(64);
    let mut state = START;
    for number in 0..blocks {
        let mut block = [0; 64];
        for (i, byte) in block.iter_mut().enumerate() {
            let at = 64 * number + i as u64;
            *byte = match at.checked_sub(1) {
                None => first,
                Some(at) if at < length - 1 => key[at as usize],
                Some(at) if at == length - 1 => 0x80,
                Some(_) => 0,
            };
        }
        if number == blocks - 1 {
            block[56..].copy_from_slice(&length.wrapping_mul(8).to_le_bytes());
        }
        state = step(state, &block);
    }
    let mut digest = [0; 16];
    for (to, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *to = word.to_le_bytes();
    }
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test suite of RFC 1321, A.5, without the digest of no bytes.
    #[test]
    fn it_is_the_published_function() {
        let texts = [
            ("a", 0x0cc1_75b9_c0f1_b6a8_31c3_99e2_6977_2661_u128),
            ("abc", 0x9001_5098_3cd2_4fb0_d696_3f7d_28e1_7f72),
            ("message digest", 0xf96b_697d_7cb7_938d_525a_2f31_aaf1_61d0),
            ("abcdefghijklmnopqrstuvwxyz", 0xc3fc_d3d7_6192_e400_7dfb_496c_ca67_e13b),
            (
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                0xd174_ab98_d277_d9f5_a561_1c2c_9f41_9d9f,
            ),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                0x57ed_f4a2_2be3_c955_ac49_da2e_2107_b67a,
            ),
        ];
        for (text, digest) in texts {
            let bytes = text.as_bytes();
            assert_eq!(md5_after(bytes[0], &bytes[1..]), digest.to_be_bytes(), "{text}");
        }
    }
}
