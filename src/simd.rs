//! Instruction sets: which ones this processor has, and which one the inner loops use. That is decided here, once,
//! outside every loop.
//!
//! The inner loops themselves are next to what they compute, in one file for each instruction set: those of the block
//! layouts in [`crate::blocks`], hashing of `u64` keys in [`crate::hash::xxh3`]. In each folder `portable.rs` is the
//! specification: every other file does the same to the same words, and `tests/suite/kernels.rs` compares them. Only
//! these files are compiled for more than the baseline of the target.

use crate::error::{Error, List, Result, error, left_out};
use core::fmt;
use core::str::FromStr;
#[cfg(target_arch = "x86_64")]
use std::sync::OnceLock;

/// An instruction set that kernels are written for. The numbers are those of the C API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
#[non_exhaustive]
pub enum Kernel {
    /// The best that the processor has.
    #[default]
    Best = 0,
    /// Plain code.
    Portable = 1,
    /// x86-64 with AVX2, and with BMI1, BMI2, LZCNT and POPCNT, which came with it or before.
    Avx2 = 2,
    /// x86-64 with AVX-512 F, BW, DQ and VL, and with all that [`Kernel::Avx2`] has.
    Avx512 = 3,
    /// aarch64 with NEON.
    Neon = 4,
}

impl Kernel {
    /// All that can be asked for, in the order of their numbers.
    pub const ALL: [Kernel; 5] = [Kernel::Best, Kernel::Portable, Kernel::Avx2, Kernel::Avx512, Kernel::Neon];

    /// The instruction set with this number.
    ///
    /// # Errors
    /// [`Status::UnknownValue`](crate::Status::UnknownValue).
    pub fn from_number(number: u32) -> Result<Kernel> {
        let found = Kernel::ALL.into_iter().find(|kernel| *kernel as u32 == number);
        found.ok_or_else(|| error!(UnknownValue, "kernel = {number} is not a kernel; 0 (best) to 4 (neon) are known"))
    }

    /// The name: `best`, `portable`, `avx2`, `avx512` or `neon`.
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::Best => "best",
            Kernel::Portable => "portable",
            Kernel::Avx2 => "avx2",
            Kernel::Avx512 => "avx512",
            Kernel::Neon => "neon",
        }
    }

    /// Whether this build leaves out the kernels of this instruction set.
    fn is_left_out(self) -> bool {
        match self {
            Kernel::Best | Kernel::Portable => false,
            Kernel::Avx2 => !cfg!(feature = "avx2"),
            Kernel::Avx512 => !cfg!(feature = "avx512"),
            Kernel::Neon => !cfg!(feature = "neon"),
        }
    }

    /// Whether this build has kernels of this instruction set, and this processor runs them.
    fn is_there(self) -> bool {
        match self {
            Kernel::Best | Kernel::Portable => true,
            #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
            Kernel::Avx2 => has_avx2(),
            #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
            Kernel::Avx512 => {
                has_avx2()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(all(target_arch = "aarch64", feature = "neon"))]
            Kernel::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            _ => false,
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kernel {
    type Err = Error;

    /// The instruction set with this name.
    ///
    /// # Errors
    /// [`Status::UnknownValue`](crate::Status::UnknownValue).
    fn from_str(text: &str) -> Result<Kernel> {
        let found = Kernel::ALL.into_iter().find(|kernel| kernel.name() == text);
        found.ok_or_else(|| error!(UnknownValue, "kernel = {text} is not one of {}", List(&Kernel::ALL)))
    }
}

/// Whether the processor has what [`Kernel::Avx2`] stands for.
#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

/// An instruction set that this processor has. Only this module makes one, after it has looked, so whoever holds one
/// may run the kernels that are written for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instructions(Kernel);

impl Instructions {
    /// Plain code, which every processor runs.
    pub const PORTABLE: Instructions = Instructions(Kernel::Portable);

    /// The instruction set; never [`Kernel::Best`].
    #[inline]
    pub const fn kernel(self) -> Kernel {
        self.0
    }

    /// Whether PDEP, which is in BMI2, takes only a few cycles. On AMD's processors before Zen 3 it takes dozens.
    #[cfg(target_arch = "x86_64")]
    pub fn deposits_quickly(self) -> bool {
        use core::arch::x86_64::__cpuid;
        // A virtual machine asks its host, which takes some microseconds.
        static QUICKLY: OnceLock<bool> = OnceLock::new();
        self.0 != Kernel::Portable
            && *QUICKLY.get_or_init(|| {
                // SAFETY: every x86-64 processor has this instruction. Newer versions of Rust know that.
                #[allow(unused_unsafe)]
                let (maker, signature) = unsafe { (__cpuid(0), __cpuid(1).eax) };
                let family = (signature >> 8 & 0xf) + (signature >> 20 & 0xff);
                // "Auth" of "AuthenticAMD", and "Hygo" of "HygonGenuine", whose processors are of the first Zen
                // generation.
                let [amd, hygon] = [*b"Auth", *b"Hygo"].map(u32::from_le_bytes);
                maker.ebx != hygon && (maker.ebx != amd || family >= 0x19)
            })
    }

    /// Whether the processor has a carryless multiplication (PCLMULQDQ on x86-64, PMULL on aarch64), and these are not
    /// the plain instructions.
    pub fn multiplies_carryless(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.0 != Kernel::Portable && is_x86_feature_detected!("pclmulqdq");
        #[cfg(target_arch = "aarch64")]
        return self.0 != Kernel::Portable && std::arch::is_aarch64_feature_detected!("aes");
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        false
    }
}

impl Instructions {
    /// Whether the processor counts the bits of eight numbers in one instruction (VPOPCNTDQ), and these are the
    /// instructions of AVX-512.
    #[cfg(target_arch = "x86_64")]
    pub fn counts_eight(self) -> bool {
        self.0 == Kernel::Avx512 && is_x86_feature_detected!("avx512vpopcntdq")
    }
}

/// The instruction sets that this processor has and this build has kernels for, the best first; the last is always
/// [`Instructions::PORTABLE`].
pub fn available() -> impl Iterator<Item = Instructions> {
    let best_first = [Kernel::Avx512, Kernel::Avx2, Kernel::Neon, Kernel::Portable];
    best_first.into_iter().filter(|kernel| kernel.is_there()).map(Instructions)
}

/// The best instruction set that this processor has.
pub fn best() -> Instructions {
    available().next().unwrap_or(Instructions::PORTABLE)
}

/// The instruction set of a kernel.
///
/// # Errors
/// [`Status::Unsupported`](crate::Status::Unsupported) if the processor does not have it;
/// [`Status::UnsupportedByBuild`](crate::Status::UnsupportedByBuild) if this build leaves it out.
pub fn choose(kernel: Kernel) -> Result<Instructions> {
    match kernel {
        Kernel::Best => Ok(best()),
        kernel if kernel.is_there() => Ok(Instructions(kernel)),
        kernel if kernel.is_left_out() => {
            let name = kernel.name();
            Err(left_out("kernel", name, name, "PETAL_INSTRUCTIONS"))
        }
        kernel => Err(error!(Unsupported, "kernel = {} is not one that this processor runs", kernel.name())),
    }
}

#[cfg(all(test, target_arch = "aarch64"))]
mod tests {
    use super::*;

    /// The other tests compare the kernels that they find, so this one has to say that NEON is among them.
    #[test]
    fn neon_is_the_best() {
        assert_eq!(best().kernel(), Kernel::Neon);
    }
}
