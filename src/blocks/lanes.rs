//! What a kernel is written over that has one text for AVX2 and AVX-512: [`four`](super::four) and
//! [`eight`](super::eight) have the same operations by the same names, over four numbers and over eight. The text is a
//! macro, because the compiler has to know in each function for which instructions it is.

/// Functions over vectors, compiled for these instructions: a line each, and what it does.
macro_rules! operations {
    ($features:literal; $($(#[$doc:meta])* $name:ident($($argument:ident: $of:ty),*) -> $result:ty = $body:expr;)*) => {
        $(
            $(#[$doc])*
            #[inline]
            #[target_feature(enable = $features)]
            pub fn $name($($argument: $of),*) -> $result {
                $body
            }
        )*
    };
}

/// Defines the modules `avx2` and `avx512` by a macro, which takes the names of the vectors' module and of the
/// instructions.
macro_rules! for_lanes {
    ($kernel:ident) => {
        /// The kernel for AVX2: four keys are a vector.
        #[cfg(feature = "avx2")]
        pub(crate) mod avx2 {
            $kernel!(four, "avx2,bmi1,bmi2,lzcnt,popcnt");
        }

        /// The kernel for AVX-512: eight keys are a vector.
        #[cfg(feature = "avx512")]
        pub(crate) mod avx512 {
            $kernel!(eight, "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt");
        }
    };
}

pub(crate) use {for_lanes, operations};

#[cfg(test)]
#[cfg(any(feature = "avx2", feature = "avx512"))]
mod tests {
    use crate::bits::mix;
    use crate::simd::{Kernel, choose};

    /// Numbers of all lengths. Some are 0, some are alike, and some have their highest bit.
    fn number(i: u64, lane: usize) -> u64 {
        let random = mix(i << 8 | lane as u64);
        match random % 8 {
            0 => 0,
            1 => 64 + random / 8 % 2,
            _ => mix(random) >> (random >> 40 & 63),
        }
    }

    macro_rules! kernel {
        ($lanes:ident, $features:literal) => {
            use super::number;
            use crate::blocks::$lanes::*;

            #[target_feature(enable = $features)]
            pub fn check() {
                const ALL: Numbers = [u64::MAX; WIDTH];
                for i in 0..4000 {
                    let [a, b, c] = [0, 1, 2].map(|j| core::array::from_fn(|lane| number(3 * i + j, lane)));
                    let (x, y) = (load(&a), load(&b));
                    let each =
                        |of: &dyn Fn(u64, u64) -> u64| -> Numbers { core::array::from_fn(|lane| of(a[lane], b[lane])) };
                    let [small, other] = [a, b].map(|numbers| numbers.map(|number| number >> 1));
                    let some = |of: &dyn Fn(usize) -> bool| -> u8 {
                        (0..WIDTH).fold(0, |all, lane| all | u8::from(of(lane)) << lane)
                    };
                    let (p, q) = (load(&small), load(&other));
                    assert_eq!(lane_bits(less(p, q)), some(&|lane| small[lane] < other[lane]));
                    assert_eq!(lane_bits(within(x, q)), some(&|lane| a[lane] < other[lane]));
                    assert_eq!(lane_bits(negative(x)), some(&|lane| a[lane] >> 63 == 1));
                    assert_eq!(lane_bits(equal(x, y)), some(&|lane| a[lane] == b[lane]));
                    assert_eq!(lane_bits(lacks(x, y)), some(&|lane| a[lane] & b[lane] == 0));
                    assert_eq!(nonzero(x), some(&|lane| a[lane] != 0));
                    assert_eq!(has_any(x, y), (0..WIDTH).any(|lane| a[lane] & b[lane] != 0));
                    assert!(!has_any(x, load(&a.map(|number| !number))));
                    let bit = c.map(|number| 1 << (number % 64));
                    assert_eq!(lane_bits(has(x, load(&bit))), some(&|lane| a[lane] & bit[lane] != 0));
                    assert_eq!(numbers(min(p, q)), core::array::from_fn(|lane| small[lane].min(other[lane])));
                    assert_eq!(numbers(max(p, q)), core::array::from_fn(|lane| small[lane].max(other[lane])));
                    let mask = less(p, q);
                    let chosen = |yes: &Numbers, no: &Numbers| -> Numbers {
                        core::array::from_fn(|lane| if small[lane] < other[lane] { yes[lane] } else { no[lane] })
                    };
                    assert_eq!(numbers(choose(mask, x, y)), chosen(&a, &b));
                    assert_eq!(numbers(keep(mask, x)), chosen(&a, &[0; WIDTH]));
                    assert_eq!(numbers(clear(mask, x)), chosen(&[0; WIDTH], &a));
                    assert_eq!(numbers(and_not(x, y)), each(&|x, y| x & !y));
                    assert_eq!(numbers(right_each(x, y)), each(&|x, y| if y < 64 { x >> y } else { 0 }));
                    assert_eq!(numbers(left_each(x, y)), each(&|x, y| if y < 64 { x << y } else { 0 }));
                    assert_eq!(numbers(multiply(x, y)), each(&u64::wrapping_mul));
                    let halves = right(x, 32);
                    assert_eq!(numbers(multiply_small(halves, y)), each(&|x, y| (x >> 32).wrapping_mul(y)));
                    assert_eq!(numbers(high_halves(x)), each(&|x, _| x >> 32 | x >> 32 << 32));
                    assert_eq!(numbers(with_low_halves(x, y)), each(&|x, y| x >> 32 << 32 | y & 0xffff_ffff));
                    assert_eq!(numbers(lengths(x)), each(&|x, _| u64::from(64 - x.leading_zeros())));
                    assert_eq!(numbers(count_ones(x)), each(&|x, _| x.count_ones().into()));
                    let bytes = a.map(u64::to_le_bytes);
                    let at = core::array::from_fn(|lane| c[lane] % (8 * WIDTH as u64 - 15));
                    let eight = |from: u64| -> u64 {
                        let bytes = bytes.as_flattened()[from as usize..].first_chunk().expect("eight bytes");
                        u64::from_le_bytes(*bytes)
                    };
                    // SAFETY: there are sixteen bytes from each of these places on.
                    let [first, second] = unsafe { read_pairs(bytes.as_ptr().cast(), &at) };
                    assert_eq!([numbers(first), numbers(second)], [at.map(eight), at.map(|at| eight(at + 8))]);
                }
                assert_eq!(numbers(choose(NO_LANE, load(&ALL), all(0))), [0; WIDTH]);
            }
        };
    }

    for_lanes!(kernel);

    #[test]
    fn operations_do_what_they_say() {
        #[cfg(feature = "avx2")]
        if choose(Kernel::Avx2).is_ok() {
            // SAFETY: the processor has these instructions.
            unsafe { avx2::check() };
        }
        #[cfg(feature = "avx512")]
        if choose(Kernel::Avx512).is_ok() {
            // SAFETY: the processor has these instructions.
            unsafe { avx512::check() };
        }
    }
}
