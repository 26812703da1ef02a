//! Plain code: the specification of the other files.

/// Products four bits at a time.
pub(super) struct Portable;

// SAFETY: plain code runs everywhere.
unsafe impl super::Carryless for Portable {
    type Wide = u128;
    /// The products with all polynomials of four terms.
    type Factor = [u128; 16];

    #[inline(always)]
    unsafe fn factor(a: u64) -> [u128; 16] {
        let mut multiples = [0; 16];
        multiples[1] = u128::from(a);
        for i in 1..8 {
            multiples[2 * i] = multiples[i] << 1;
            multiples[2 * i + 1] = multiples[2 * i] ^ u128::from(a);
        }
        multiples
    }

    #[inline(always)]
    unsafe fn times(a: &[u128; 16], b: u64) -> u128 {
        // Two halves, which do not wait for each other.
        let (mut low, mut high) = (0, 0);
        for at in (0..32).step_by(4).rev() {
            low = low << 4 ^ a[(b >> at & 15) as usize];
            high = high << 4 ^ a[(b >> (at + 32) & 15) as usize];
        }
        low ^ high << 32
    }

    #[inline(always)]
    unsafe fn sum(a: u128, b: u128) -> u128 {
        a ^ b
    }

    /// The modulus has few terms. The second round reduces what the first one moves above the field.
    #[inline(always)]
    unsafe fn reduced(product: u128, modulus: u64) -> u64 {
        let times_modulus = |above: u64| {
            let (mut terms, mut sum) = (modulus, 0);
            while terms != 0 {
                sum ^= u128::from(above) << terms.trailing_zeros();
                terms &= terms - 1;
            }
            sum
        };
        let once = times_modulus((product >> 64) as u64);
        let twice = times_modulus((once >> 64) as u64);
        (product ^ once ^ twice) as u64
    }
}

super::loops!(Portable);
