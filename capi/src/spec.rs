//! SPECS
//!
//! A `petal_spec` says what filter to make. All zeros is a whole spec: the default kind, for a million keys, at a
//! false-positive rate of 1 %.
//!
//!     petal_spec spec = PETAL_SPEC_INIT;
//!     spec.capacity = 5000000;
//!     spec.false_positive_rate = 0.001;
//!     petal_filter *filter;
//!     petal_status status = petal_filter_new(&spec, &filter, NULL);

use crate::arguments::{Fill, Given};
use crate::boundary::{self, boundary};
use crate::status::{petal_error, petal_status};
use petal_core::{HashFunction, Kernel, KindId, MAX_PARAMETERS, Result, Setting, Spec, Status, parameter_of};
use std::ffi::c_char;

/// A kind: one of `PETAL_KIND_*`. 0 is the default kind. These are the kinds of filters; those of maps, sketches and
/// other handles are in the headers of these, and those of other systems' filters in petal_formats.h.
pub type petal_kind = u32;

/// A hash function: one of `PETAL_HASH_*`.
pub type petal_hash_function = u32;

/// XXH3, 64 bits, seeded: the default. Not for keys that somebody hostile chooses.
pub const PETAL_HASH_XXH3: petal_hash_function = 1;
/// XXH64, seeded: what Parquet's filters use, with seed 0.
pub const PETAL_HASH_XXH64: petal_hash_function = 2;
/// SipHash-1-3 under a secret 128-bit key: for keys that somebody hostile may choose.
pub const PETAL_HASH_SIPHASH13: petal_hash_function = 3;
/// Your program hashes: the filter takes 64-bit hashes only. These hashes must be uniform in all bits.
pub const PETAL_HASH_EXTERNAL: petal_hash_function = 4;
/// The hash function of another system's format, over whole keys. Only filters from `petal_filter_import()` and from
/// specs of `petal_format_get_spec()` have it.
pub const PETAL_HASH_FORMAT: petal_hash_function = 5;
/// XXPH3, the preview of XXH3 that RocksDB's filters use: no seed, and not for maps.
pub const PETAL_HASH_XXPH3: petal_hash_function = 6;
/// No hash function: keys are integers below the filter's `bits`, as a `uint64_t` or as its eight little-endian bytes.
/// Kinds with `PETAL_TAKES_INTEGERS` have this one and no other, and no other kind has it.
pub const PETAL_HASH_IDENTITY: petal_hash_function = 7;

/// SipHash-2-4 under a secret of 128 bits, which BIP 158 makes public: not for maps.
pub const PETAL_HASH_SIPHASH24: petal_hash_function = 8;
/// Your program hashes with MD5, SHA or BLAKE3, and keys are the digests. `seed` is the number of bits of a digest: a
/// multiple of 8 from 128 to 512. Fields of the digest are the bits that the key sets. Only for the kind bloom.
pub const PETAL_HASH_DIGEST: petal_hash_function = 9;

const _: () = {
    assert!(PETAL_HASH_XXH3 == HashFunction::Xxh3 as u32 && PETAL_HASH_XXH64 == HashFunction::Xxh64 as u32);
    assert!(PETAL_HASH_SIPHASH13 == HashFunction::SipHash13 as u32);
    assert!(PETAL_HASH_EXTERNAL == HashFunction::External as u32);
    assert!(PETAL_HASH_FORMAT == HashFunction::Format as u32);
    assert!(PETAL_HASH_XXPH3 == HashFunction::Xxph3 as u32);
    assert!(PETAL_HASH_IDENTITY == HashFunction::Identity as u32);
    assert!(PETAL_HASH_SIPHASH24 == HashFunction::SipHash24 as u32);
    assert!(PETAL_HASH_DIGEST == HashFunction::Digest as u32);
};

/// An instruction set for which the library has inner loops. All inner loops do the same to the same bytes.
pub type petal_kernel = u32;

/// The best that the processor has. The library chooses once, when it makes the first filter.
pub const PETAL_KERNEL_BEST: petal_kernel = 0;
/// Plain code, on every processor.
pub const PETAL_KERNEL_PORTABLE: petal_kernel = 1;
/// AVX2 on x86-64.
pub const PETAL_KERNEL_AVX2: petal_kernel = 2;
/// AVX-512 (F, BW, DQ, VL) on x86-64.
pub const PETAL_KERNEL_AVX512: petal_kernel = 3;
/// NEON on aarch64.
pub const PETAL_KERNEL_NEON: petal_kernel = 4;

const _: () = {
    assert!(PETAL_KERNEL_BEST == Kernel::Best as u32 && PETAL_KERNEL_PORTABLE == Kernel::Portable as u32);
    assert!(PETAL_KERNEL_AVX2 == Kernel::Avx2 as u32 && PETAL_KERNEL_AVX512 == Kernel::Avx512 as u32);
    assert!(PETAL_KERNEL_NEON == Kernel::Neon as u32);
};

/// The number of settings in a spec: no kind takes more.
pub const PETAL_MAX_PARAMETERS: usize = 8;

const _: () = assert!(PETAL_MAX_PARAMETERS == MAX_PARAMETERS);

/// A parameter that only some kinds take, and its value; `petal_spec_set()` fills in both. Other structs contain this
/// one, so it has no `struct_size` and never changes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_setting {
    /// The parameter's id; 0 is an unused place.
    pub id: u32,
    /// 0.
    pub reserved: u32,
    /// The value, at most 2^53 if it is an integer.
    pub value: f64,
}

impl petal_setting {
    /// A setting of the core.
    pub(crate) fn of_core(Setting { id, value }: Setting) -> petal_setting {
        petal_setting { id, reserved: 0, value }
    }

    /// The core's form of a setting.
    fn to_core(self) -> Result<Setting> {
        if self.reserved != 0 {
            let message = format_args!("reserved = {} of a setting is not 0", self.reserved);
            return Err(boundary::error(Status::UnknownValue, message));
        }
        Ok(Setting { id: self.id, value: self.value })
    }
}

/// Describes the filter to make. A capacity and a false-positive rate, or exact bits and hashes, give its size.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_spec {
    /// sizeof(petal_spec), or 0 for its size in the first release.
    pub struct_size: usize,
    /// One of `PETAL_KIND_*`; 0 is the default kind.
    pub kind: petal_kind,
    /// One of `PETAL_HASH_*`; 0 is `PETAL_HASH_XXH3`.
    pub hash: petal_hash_function,
    /// The number of distinct keys that the filter has room for; 0 means a million, or unknown if `bits` is set. In
    /// `quotient`, `cuckoo`, `vector_quotient` and `d_left` a key that comes again takes more room, so that a filter
    /// may be full before that number: their parameter `times` says how often each key may come, and the capacity
    /// grows by the room that this takes. At most one filter in a hundred still refuses a copy. A builder without a
    /// capacity makes room for what came.
    pub capacity: u64,
    /// The greatest false-positive rate at capacity, inside (0, 1) and not below capacity / 2^64; 0 means 0.01 unless
    /// `bits` is set. Equal 64-bit hashes add capacity / 2^64 to the rate of any filter. Sizes count this only where it
    /// is above a ten-thousandth of the rate.
    pub false_positive_rate: f64,
    /// The number of bits, instead of a rate. It is exact or a limit: see `bits_unit` of `petal_kind_info`.
    pub bits: u64,
    /// The exact number of bits that a key sets, with `bits`; 0 is the best for `bits` and `capacity`.
    pub hashes: u32,
    /// One of `PETAL_KERNEL_*`, for comparisons; 0 is the best that the processor has.
    pub kernel: petal_kernel,
    /// The seed of `PETAL_HASH_XXH3` and `PETAL_HASH_XXH64`. For `PETAL_HASH_EXTERNAL` it is your tag, which keeps
    /// filters over different hashes from being merged. For `PETAL_HASH_DIGEST` it is the number of bits of a digest. A
    /// seed is not a secret.
    pub seed: u64,
    /// The secret key of `PETAL_HASH_SIPHASH13` or `PETAL_HASH_SIPHASH24`, not all zeros. The library never stores the
    /// secret in a file.
    pub secret: [u8; 16],
    /// The parameters that only this kind takes.
    pub parameters: [petal_setting; PETAL_MAX_PARAMETERS],
}

// SAFETY: numbers, arrays of numbers and nullable pointers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_spec {
    const FIRST_SIZE: usize = 200;
}

impl petal_spec {
    /// The seed of a spec that hashes with XXH3. `None` for other specs, and for specs that may have to be refused.
    /// Reads one field after the other, and copies none.
    ///
    /// # Safety
    /// NULL, or a struct with its size set.
    #[inline(always)]
    pub(crate) unsafe fn plain_seed(spec: *const petal_spec) -> Option<u64> {
        // SAFETY: a spec that is not NULL starts with its size, and `is_whole` says that all fields are there.
        unsafe {
            if spec.is_null() || !boundary::is_whole::<petal_spec>((&raw const (*spec).struct_size).read()) {
                return None;
            }
            let spec = &*spec;
            let reserved = spec.parameters.iter().fold(0, |all, setting| all | setting.reserved);
            let is_plain = (spec.hash == 0 || spec.hash == PETAL_HASH_XXH3)
                && u128::from_ne_bytes(spec.secret) == 0
                && spec.kernel == 0
                && reserved == 0;
            is_plain.then_some(spec.seed)
        }
    }

    /// The core's spec.
    pub(crate) fn to_core(self) -> Result<Spec> {
        let mut parameters = [Setting::default(); PETAL_MAX_PARAMETERS];
        for (to, from) in parameters.iter_mut().zip(self.parameters) {
            *to = from.to_core()?;
        }
        Ok(Spec {
            kind: (self.kind != 0).then_some(KindId(self.kind)),
            capacity: self.capacity,
            false_positive_rate: self.false_positive_rate,
            bits: self.bits,
            hashes: self.hashes,
            hash: HashFunction::from_number(self.hash)?,
            seed: self.seed,
            secret: (self.secret != [0; 16]).then_some(self.secret),
            kernel: Kernel::from_number(self.kernel)?,
            parameters,
        })
    }

    /// The C form of a core spec; `struct_size` stays to be set.
    pub(crate) fn of_core(spec: &Spec) -> petal_spec {
        petal_spec {
            struct_size: size_of::<petal_spec>(),
            kind: spec.kind.map_or(0, |kind| kind.0),
            hash: spec.hash as u32,
            capacity: spec.capacity,
            false_positive_rate: spec.false_positive_rate,
            bits: spec.bits,
            hashes: spec.hashes,
            kernel: spec.kernel as u32,
            seed: spec.seed,
            secret: spec.secret.unwrap_or_default(),
            parameters: spec.parameters.map(petal_setting::of_core),
        }
    }
}

impl Given for petal_spec {
    type Said = Spec;

    fn said(given: Option<petal_spec>, name: &str) -> Result<Spec> {
        given.ok_or_else(|| boundary::null(name))?.to_core()
    }
}

/// Sets a parameter of the spec's kind, by name; set the kind first. Making the filter checks the value. Returns
/// `PETAL_ERR_UNKNOWN_VALUE` if the kind has no such parameter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_spec_set(
    spec: *mut petal_spec,
    name: *const c_char,
    value: f64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, name, fill spec, name name], {
        set(spec, |core| core.set(parameter_of(core, name)?, value))
    })
}

/// Sets a parameter of the spec's kind to one of its named choices, such as "derivation" of `PETAL_KIND_BLOOM` to
/// "enhanced_double"; set the kind first. For a parameter that takes a number, `choice` is its digits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_spec_set_choice(
    spec: *mut petal_spec,
    name: *const c_char,
    choice: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, name, choice, fill spec, name name, name choice], {
        set(spec, |core| {
            let parameter = parameter_of(core, name)?;
            core.set(parameter, parameter.parse(choice)?)
        })
    })
}

/// Changes the parameters of a caller's spec, and leaves its other fields as they are.
fn set(spec: Fill<petal_spec>, set: impl FnOnce(&mut Spec) -> Result<()>) -> Result<()> {
    let given = spec.get()?;
    let mut core = given.to_core()?;
    set(&mut core)?;
    spec.set(petal_spec { parameters: petal_spec::of_core(&core).parameters, ..given });
    Ok(())
}

/// Reads a parameter of a spec: the value that was set, or the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_spec_get(
    spec: *const petal_spec,
    name: *const c_char,
    value: *mut f64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, name, out value, given spec, name name], {
        value.answer(spec.real_parameter(parameter_of(&spec, name)?))
    })
}

/// Writes the size in bytes of the image, header and payload, of the filter that a spec describes.
/// `petal_filter_new_in_buffer()` needs that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_spec_image_size(
    spec: *const petal_spec,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, out size, given spec], size.answer(petal_core::image_size(&spec)))
}
