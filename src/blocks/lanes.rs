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
