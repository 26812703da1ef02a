//! Plain code: the specification of the other files.

/// Products bit by bit, without branches.
pub(super) struct Portable;

// SAFETY: plain code runs everywhere.
unsafe impl super::Carryless for Portable {
    type Wide = u128;

    #[inline(always)]
    unsafe fn product(a: u64, b: u64) -> u128 {
        let mut product = 0;
        for at in 0..64 {
            product ^= (u128::from(b) << at) & u128::from(a >> at & 1).wrapping_neg();
        }
        product
    }

    #[inline(always)]
    unsafe fn sum(a: u128, b: u128) -> u128 {
        a ^ b
    }

    #[inline(always)]
    unsafe fn reduced(product: u128, modulus: u64) -> u64 {
        // SAFETY: plain code runs everywhere.
        let (once, twice) = unsafe {
            let once = Self::product((product >> 64) as u64, modulus);
            (once, Self::product((once >> 64) as u64, modulus))
        };
        (product ^ once ^ twice) as u64
    }
}

super::loops!(Portable);
