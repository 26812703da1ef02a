//! SHA-384, the checksum of formats that end in one: SHA-512 with another start, of which the first 48 bytes stay
//! (FIPS 180-4, 6.4 and 6.5). And SHA-256 (6.2), with which a format hashes its keys.

/// Bytes of a block, and of the result.
const BLOCK: usize = 128;
pub const BYTES: usize = 48;

/// The start: the first 64 bits of the fractional parts of the square roots of the ninth to sixteenth prime.
const START: [u64; 8] = [
    0xcbbb_9d5d_c105_9ed8,
    0x629a_292a_367c_d507,
    0x9159_015a_3070_dd17,
    0x152f_ecd8_f70e_5939,
    0x6733_2667_ffc0_0b31,
    0x8eb4_4a87_6858_1511,
    0xdb0c_2e0d_64f9_8fa7,
    0x47b5_481d_befa_4fa4,
];

/// The constants of the rounds: the same of the cube roots of the first 80 primes.
const ROUNDS: [u64; 80] = [
    0x428a_2f98_d728_ae22,
    0x7137_4491_23ef_65cd,
    0xb5c0_fbcf_ec4d_3b2f,
    0xe9b5_dba5_8189_dbbc,
    0x3956_c25b_f348_b538,
    0x59f1_11f1_b605_d019,
    0x923f_82a4_af19_4f9b,
    0xab1c_5ed5_da6d_8118,
    0xd807_aa98_a303_0242,
    0x1283_5b01_4570_6fbe,
    0x2431_85be_4ee4_b28c,
    0x550c_7dc3_d5ff_b4e2,
    0x72be_5d74_f27b_896f,
    0x80de_b1fe_3b16_96b1,
    0x9bdc_06a7_25c7_1235,
    0xc19b_f174_cf69_2694,
    0xe49b_69c1_9ef1_4ad2,
    0xefbe_4786_384f_25e3,
    0x0fc1_9dc6_8b8c_d5b5,
    0x240c_a1cc_77ac_9c65,
    0x2de9_2c6f_592b_0275,
    0x4a74_84aa_6ea6_e483,
    0x5cb0_a9dc_bd41_fbd4,
    0x76f9_88da_8311_53b5,
    0x983e_5152_ee66_dfab,
    0xa831_c66d_2db4_3210,
    0xb003_27c8_98fb_213f,
    0xbf59_7fc7_beef_0ee4,
    0xc6e0_0bf3_3da8_8fc2,
    0xd5a7_9147_930a_a725,
    0x06ca_6351_e003_826f,
    0x1429_2967_0a0e_6e70,
    0x27b7_0a85_46d2_2ffc,
    0x2e1b_2138_5c26_c926,
    0x4d2c_6dfc_5ac4_2aed,
    0x5338_0d13_9d95_b3df,
    0x650a_7354_8baf_63de,
    0x766a_0abb_3c77_b2a8,
    0x81c2_c92e_47ed_aee6,
    0x9272_2c85_1482_353b,
    0xa2bf_e8a1_4cf1_0364,
    0xa81a_664b_bc42_3001,
    0xc24b_8b70_d0f8_9791,
    0xc76c_51a3_0654_be30,
    0xd192_e819_d6ef_5218,
    0xd699_0624_5565_a910,
    0xf40e_3585_5771_202a,
    0x106a_a070_32bb_d1b8,
    0x19a4_c116_b8d2_d0c8,
    0x1e37_6c08_5141_ab53,
    0x2748_774c_df8e_eb99,
    0x34b0_bcb5_e19b_48a8,
    0x391c_0cb3_c5c9_5a63,
    0x4ed8_aa4a_e341_8acb,
    0x5b9c_ca4f_7763_e373,
    0x682e_6ff3_d6b2_b8a3,
    0x748f_82ee_5def_b2fc,
    0x78a5_636f_4317_2f60,
    0x84c8_7814_a1f0_ab72,
    0x8cc7_0208_1a64_39ec,
    0x90be_fffa_2363_1e28,
    0xa450_6ceb_de82_bde9,
    0xbef9_a3f7_b2c6_7915,
    0xc671_78f2_e372_532b,
    0xca27_3ece_ea26_619c,
    0xd186_b8c7_21c0_c207,
    0xeada_7dd6_cde0_eb1e,
    0xf57d_4f7f_ee6e_d178,
    0x06f0_67aa_7217_6fba,
    0x0a63_7dc5_a2c8_98a6,
    0x113f_9804_bef9_0dae,
    0x1b71_0b35_131c_471b,
    0x28db_77f5_2304_7d84,
    0x32ca_ab7b_40c7_2493,
    0x3c9e_be0a_15c9_bebc,
    0x431d_67c4_9c10_0d4c,
    0x4cc5_d4be_cb3e_42b6,
    0x597f_299c_fc65_7e2a,
    0x5fcb_6fab_3ad6_faec,
    0x6c44_198c_4a47_5817,
];

/// A checksum of bytes that come in pieces.
pub struct Sha384 {
    state: [u64; 8],
    block: [u8; BLOCK],
    /// Bytes so far.
    length: u128,
}

impl Sha384 {
    pub fn new() -> Sha384 {
        Sha384 { state: START, block: [0; BLOCK], length: 0 }
    }

    pub fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let from = (self.length % BLOCK as u128) as usize;
            let (piece, rest) = bytes.split_at(bytes.len().min(BLOCK - from));
            self.block[from..from + piece.len()].copy_from_slice(piece);
            self.length += piece.len() as u128;
            if from + piece.len() == BLOCK {
                self.compress();
            }
            bytes = rest;
        }
    }

    /// One bit, zeros, and the number of bits in the last 16 bytes of a block.
    pub fn finish(mut self) -> [u8; BYTES] {
        let bits = 8 * self.length;
        self.update(&[0x80]);
        while self.length % BLOCK as u128 != BLOCK as u128 - 16 {
            self.update(&[0]);
        }
        self.update(&bits.to_be_bytes());
        let mut result = [0; BYTES];
        result.as_chunks_mut().0.iter_mut().zip(self.state).for_each(|(to, word): (&mut [u8; 8], _)| {
            *to = word.to_be_bytes();
        });
        result
    }

    fn compress(&mut self) {
        let mut words = [0; 80];
        for (word, bytes) in words.iter_mut().zip(self.block.as_chunks().0) {
            *word = u64::from_be_bytes(*bytes);
        }
        for i in 16..80 {
            let (early, late) = (words[i - 15], words[i - 2]);
            let first = early.rotate_right(1) ^ early.rotate_right(8) ^ early >> 7;
            let second = late.rotate_right(19) ^ late.rotate_right(61) ^ late >> 6;
            words[i] = first.wrapping_add(second).wrapping_add(words[i - 16]).wrapping_add(words[i - 7]);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = self.state;
        for (word, constant) in words.into_iter().zip(ROUNDS) {
            let choice = e & f ^ !e & g;
            let majority = a & b ^ a & c ^ b & c;
            let low = e.rotate_right(14) ^ e.rotate_right(18) ^ e.rotate_right(41);
            let high = a.rotate_right(28) ^ a.rotate_right(34) ^ a.rotate_right(39);
            let sum = h.wrapping_add(low).wrapping_add(choice).wrapping_add(constant).wrapping_add(word);
            (h, g, f, e) = (g, f, e, d.wrapping_add(sum));
            (d, c, b, a) = (c, b, a, sum.wrapping_add(high).wrapping_add(majority));
        }
        for (state, word) in self.state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *state = state.wrapping_add(word);
        }
    }
}

/// The start of SHA-256: the first 32 bits of the fractional parts of the square roots of the first eight primes.
const START_256: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// SHA-256 of some bytes. Its constants are the first halves of the first 64 of [`ROUNDS`].
pub fn sha256(bytes: &[u8]) -> [u32; 8] {
    let mut state = START_256;
    let mut block = [0; 64];
    let (blocks, rest) = bytes.as_chunks();
    blocks.iter().for_each(|block| compress_256(&mut state, block));
    block[..rest.len()].copy_from_slice(rest);
    block[rest.len()] = 0x80;
    if rest.len() >= 56 {
        compress_256(&mut state, &block);
        block = [0; 64];
    }
    block[56..].copy_from_slice(&(8 * bytes.len() as u64).to_be_bytes());
    compress_256(&mut state, &block);
    state
}

#[inline(never)]
fn compress_256(state: &mut [u32; 8], block: &[u8; 64]) {
    let mut words = [0_u32; 64];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for i in 16..64 {
        let (early, late) = (words[i - 15], words[i - 2]);
        let first = early.rotate_right(7) ^ early.rotate_right(18) ^ early >> 3;
        let second = late.rotate_right(17) ^ late.rotate_right(19) ^ late >> 10;
        words[i] = first.wrapping_add(second).wrapping_add(words[i - 16]).wrapping_add(words[i - 7]);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, constant) in words.into_iter().zip(ROUNDS) {
        let choice = e & f ^ !e & g;
        let majority = a & b ^ a & c ^ b & c;
        let low = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let high = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let constant = (constant >> 32) as u32;
        let sum = h.wrapping_add(low).wrapping_add(choice).wrapping_add(constant).wrapping_add(word);
        (h, g, f, e) = (g, f, e, d.wrapping_add(sum));
        (d, c, b, a) = (c, b, a, sum.wrapping_add(high).wrapping_add(majority));
    }
    for (state, word) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *state = state.wrapping_add(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The examples of FIPS 180-4's SHA-384, and a length at each side of a block's end against pieces.
    #[test]
    fn the_standard_s_examples_and_pieces() {
        let of = |bytes: &[u8]| {
            let mut sum = Sha384::new();
            sum.update(bytes);
            hex(&sum.finish())
        };
        assert_eq!(
            of(b"abc"),
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"
        );
        assert_eq!(
            of(b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrst\
                 nopqrstu"),
            "09330c33f71147e83d192fc782cd1b4753111b173b3b05d22fa08086e3b0f712fcc7c71a557e2db966c3e9fa91746039"
        );
        for length in [0, 111, 112, 127, 128, 129, 1000] {
            let bytes: Vec<u8> = (0..length).map(|i| i as u8).collect();
            let mut pieces = Sha384::new();
            bytes.chunks(7).for_each(|piece| pieces.update(piece));
            assert_eq!(hex(&pieces.finish()), of(&bytes), "{length}");
        }
    }
    /// The examples of FIPS 180-4's SHA-256, and a length at each side of the last block's end. The sums of the latter
    /// are those of coreutils' sha256sum.
    #[test]
    fn the_standard_s_examples_of_sha_256() {
        let of = |bytes: &[u8]| sha256(bytes).iter().map(|word| format!("{word:08x}")).collect::<String>();
        assert_eq!(of(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(
            of(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
        for (length, sum) in [
            (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
            (56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
            (63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"),
            (64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
            (65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"),
            (119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"),
            (120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"),
            (200, "c2a908d98f5df987ade41b5fce213067efbcc21ef2240212a41e54b5e7c28ae5"),
        ] {
            assert_eq!(of(&vec![b'a'; length]), sum, "{length}");
        }
    }
}
