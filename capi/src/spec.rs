//! SPECS
//!
//! A `petal_spec` says what filter to make. All zeros but `struct_size` is a whole spec: the
//! default kind, for a million keys, at a false-positive rate of 1 %.
//!
//!     petal_spec spec = {.struct_size = sizeof(petal_spec)};
//!     spec.capacity = 5000000;
//!     spec.false_positive_rate = 0.001;
//!     petal_filter *filter;
//!     petal_status status = petal_filter_new(&spec, &filter, NULL);

use crate::boundary::{self, boundary};
use crate::kinds::petal_kind;
use crate::status::{petal_error, petal_status};
use petal_core::{HashFunction, Kernel, KindId, MAX_PARAMETERS, Result, Setting, Spec, Status, parameter_of};
use std::ffi::c_char;

/// A hash function: one of `PETAL_HASH_*`. Since 0.1.
pub type petal_hash_function = u32;

/// XXH3, 64 bits, seeded: the default. Not for keys that somebody hostile chooses.
pub const PETAL_HASH_XXH3: petal_hash_function = 1;
/// XXH64, seeded: what Parquet's filters use, with seed 0.
pub const PETAL_HASH_XXH64: petal_hash_function = 2;
/// SipHash-1-3 under a secret 128-bit key: for keys that somebody hostile may choose.
pub const PETAL_HASH_SIPHASH13: petal_hash_function = 3;
/// You hash: the filter takes 64-bit hashes only. They must be uniform in all bits.
pub const PETAL_HASH_EXTERNAL: petal_hash_function = 4;
/// That of another system's format, over whole keys: only filters that `petal_filter_import()` or `petal_format_spec()`
/// give have it.
pub const PETAL_HASH_FORMAT: petal_hash_function = 5;
/// XXPH3, the preview of XXH3 that RocksDB's filters use: no seed, and not for maps.
pub const PETAL_HASH_XXPH3: petal_hash_function = 6;
/// None: keys are integers below the filter's `bits`, `uint64_t` or their eight little-endian bytes. Only kinds whose
/// `petal_kind_info` has `takes_integers` have it, and these have no other.
pub const PETAL_HASH_IDENTITY: petal_hash_function = 7;

/// SipHash-2-4 under a key of 128 bits, which BIP 158 makes public: not for maps.
pub const PETAL_HASH_SIPHASH24: petal_hash_function = 8;

const _: () = {
    assert!(PETAL_HASH_XXH3 == HashFunction::Xxh3 as u32 && PETAL_HASH_XXH64 == HashFunction::Xxh64 as u32);
    assert!(PETAL_HASH_SIPHASH13 == HashFunction::SipHash13 as u32);
    assert!(PETAL_HASH_EXTERNAL == HashFunction::External as u32);
    assert!(PETAL_HASH_FORMAT == HashFunction::Format as u32);
    assert!(PETAL_HASH_XXPH3 == HashFunction::Xxph3 as u32);
    assert!(PETAL_HASH_IDENTITY == HashFunction::Identity as u32);
    assert!(PETAL_HASH_SIPHASH24 == HashFunction::SipHash24 as u32);
};

/// An instruction set that the inner loops are written for. All of them do the same to the same bytes. Since 0.1.
pub type petal_kernel = u32;

/// The best that the processor has; chosen once, when the first filter is made.
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

/// How many parameters that only some kinds take a spec holds.
pub const PETAL_MAX_PARAMETERS: usize = 8;

const _: () = assert!(PETAL_MAX_PARAMETERS == MAX_PARAMETERS);

/// A parameter that only some kinds take, and its value; `petal_spec_set()` fills it in. Since 0.1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_setting {
    /// The parameter's id; 0 is an unused place.
    pub id: u32,
    /// 0.
    pub reserved: u32,
    /// The value.
    pub value: f64,
}

/// What filter to make. A capacity and a false-positive rate, or exact bits and hashes, say how large it is.
/// Since 0.1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_spec {
    /// sizeof(petal_spec).
    pub struct_size: usize,
    /// One of `PETAL_KIND_*`; 0 is the default kind.
    pub kind: petal_kind,
    /// One of `PETAL_HASH_*`; 0 is `PETAL_HASH_XXH3`.
    pub hash: petal_hash_function,
    /// How many distinct keys it is sized for; 0 is a million, or unknown where `bits` is set.
    pub capacity: u64,
    /// The greatest false-positive rate at capacity, inside (0, 1) and not below capacity / 2^64; 0 is 0.01 unless
    /// `bits` is set.
    pub false_positive_rate: f64,
    /// The exact number of bits instead of a rate.
    pub bits: u64,
    /// The exact number of bits that a key sets, with `bits`; 0 is the best for `bits` and `capacity`.
    pub hashes: u32,
    /// One of `PETAL_KERNEL_*`, to compare them; 0 is the best that the processor has.
    pub kernel: petal_kernel,
    /// The seed of `PETAL_HASH_XXH3` and `PETAL_HASH_XXH64`; your tag for `PETAL_HASH_EXTERNAL`, so that
    /// filters over different hashes are not merged. A seed is not a secret.
    pub seed: u64,
    /// The secret key of `PETAL_HASH_SIPHASH13` or `PETAL_HASH_SIPHASH24`, not all zeros. It is never stored in a file.
    pub key: [u8; 16],
    /// What only this kind takes.
    pub parameters: [petal_setting; PETAL_MAX_PARAMETERS],
}

// SAFETY: numbers, arrays of numbers and nullable pointers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_spec {
    const FIRST_SIZE: usize = 200;
}

impl petal_spec {
    /// The seed of a spec that hashes with XXH3; `None` for others, and where there may be something to be refused. Looks
    /// at one field after the other, and copies none.
    ///
    /// # Safety
    /// NULL, or a struct with its size set.
    #[inline(always)]
    pub(crate) unsafe fn plain_seed(spec: *const petal_spec) -> Option<u64> {
        // SAFETY: the caller's promise; the size comes first, and says that the rest is there.
        unsafe {
            if spec.is_null() || (&raw const (*spec).struct_size).read() != size_of::<petal_spec>() {
                return None;
            }
            let spec = &*spec;
            let reserved = spec.parameters.iter().fold(0, |all, setting| all | setting.reserved);
            let is_plain = (spec.hash == 0 || spec.hash == PETAL_HASH_XXH3)
                && u128::from_ne_bytes(spec.key) == 0
                && spec.kernel == 0
                && reserved == 0;
            is_plain.then_some(spec.seed)
        }
    }

    /// The core's spec.
    pub(crate) fn to_core(self) -> Result<Spec> {
        let reserved = self.parameters.iter().fold(0, |all, setting| all | setting.reserved);
        if reserved != 0 {
            return Err(boundary::error(
                Status::UnknownValue,
                format_args!("reserved = {reserved} of a setting is not 0"),
            ));
        }
        Ok(Spec {
            kind: (self.kind != 0).then_some(KindId(self.kind)),
            capacity: self.capacity,
            false_positive_rate: self.false_positive_rate,
            bits: self.bits,
            hashes: self.hashes,
            hash: HashFunction::from_number(self.hash)?,
            seed: self.seed,
            key: (self.key != [0; 16]).then_some(self.key),
            kernel: Kernel::from_number(self.kernel)?,
            parameters: self.parameters.map(|setting| Setting { id: setting.id, value: setting.value }),
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
            key: spec.key.unwrap_or_default(),
            parameters: spec.parameters.map(|Setting { id, value }| petal_setting { id, reserved: 0, value }),
        }
    }

    /// Reads the caller's spec; NULL was refused.
    pub(crate) unsafe fn get(spec: *const petal_spec) -> Result<Spec> {
        // SAFETY: the caller's promise.
        unsafe { boundary::read(spec) }?.to_core()
    }
}

/// Sets a parameter that the spec's kind takes, by name; set the kind first. The value is checked when the filter is
/// made. `PETAL_ERR_UNKNOWN_VALUE` if the kind does not know the name. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_spec_set(
    spec: *mut petal_spec,
    name: *const c_char,
    value: f64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, name], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let (core, name) = unsafe { (petal_spec::get(spec)?, boundary::name(name)?) };
        // SAFETY: as above.
        unsafe { set(spec, core, parameter_of(&core, name)?, value) }
    })
}

/// Sets a parameter of the spec's kind to one of its named choices, such as "derivation" of `PETAL_KIND_BLOOM` to
/// "enhanced_double"; set the kind first. A parameter that takes a number is given its digits. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_spec_set_choice(
    spec: *mut petal_spec,
    name: *const c_char,
    choice: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, name, choice], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let (core, name, choice) = unsafe { (petal_spec::get(spec)?, boundary::name(name)?, boundary::name(choice)?) };
        let parameter = parameter_of(&core, name)?;
        // SAFETY: as above.
        unsafe { set(spec, core, parameter, parameter.parse(choice)?) }
    })
}

/// # Safety
/// `spec` was read successfully.
unsafe fn set(spec: *mut petal_spec, mut core: Spec, parameter: &petal_core::Parameter, value: f64) -> Result<()> {
    core.set(parameter, value)?;
    // SAFETY: the size was looked at when the spec was read.
    unsafe { (&raw mut (*spec).parameters).write_unaligned(petal_spec::of_core(&core).parameters) };
    Ok(())
}

/// Reads a parameter of a spec back: as set, or its default. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_spec_get(
    spec: *const petal_spec,
    name: *const c_char,
    value: *mut f64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, name, value], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let (core, name) = unsafe { (petal_spec::get(spec)?, boundary::name(name)?) };
        let found = core.real_parameter(parameter_of(&core, name)?)?;
        // SAFETY: as above.
        unsafe { value.write(found) };
        Ok(())
    })
}

/// The size in bytes of the image, header and payload, of the filter that a spec describes: what
/// `petal_filter_new_in_buffer()` needs. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_spec_image_size(
    spec: *const petal_spec,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, size], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let bytes = petal_core::image_size(&unsafe { petal_spec::get(spec)? })?;
        // SAFETY: as above.
        unsafe { size.write(bytes) };
        Ok(())
    })
}

/// How many of `keys` distinct keys the filter that a spec describes takes for known on average, when they are inserted
/// one after the other, or refuses where it is full: new keys of which an insertion says that they were not new. A model
/// checker that explores only what is new omits so many states. The sum of the false-positive rates before each key.
/// `PETAL_ERR_UNSUPPORTED` for a kind that is built from its keys. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_spec_expected_omissions(
    spec: *const petal_spec,
    keys: u64,
    omissions: *mut f64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, omissions], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let expected = petal_core::expected_omissions(&unsafe { petal_spec::get(spec)? }, keys)?;
        // SAFETY: as above.
        unsafe { omissions.write(expected) };
        Ok(())
    })
}

/// The exact false-positive rate of the filter that a spec describes once `keys` distinct keys are in it. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_spec_expected_false_positive_rate(
    spec: *const petal_spec,
    keys: u64,
    false_positive_rate: *mut f64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, false_positive_rate], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let core = unsafe { petal_spec::get(spec)? };
        let rate = petal_core::expected_false_positive_rate(&core, keys)?;
        // SAFETY: as above.
        unsafe { false_positive_rate.write(rate) };
        Ok(())
    })
}
