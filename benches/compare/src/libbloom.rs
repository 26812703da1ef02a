//! libbloom, the C library of Debian's packages libbloom-dev and libbloom1, loaded at run time if it is installed.

use libloading::Library;
use std::ffi::{c_double, c_int, c_void};
use std::sync::OnceLock;

/// `struct bloom` of libbloom.so.1, as its header defines it.
#[repr(C)]
struct Bloom {
    entries: c_int,
    error: c_double,
    bits: c_int,
    bytes: c_int,
    hashes: c_int,
    bits_per_entry: c_double,
    field: *mut u8,
    ready: c_int,
    // A later release with the same soname may have more members.
    reserve: [u64; 16],
}

/// The functions of the library that the benchmark calls.
struct Functions {
    init: unsafe extern "C" fn(*mut Bloom, c_int, c_double) -> c_int,
    add: unsafe extern "C" fn(*mut Bloom, *const c_void, c_int) -> c_int,
    check: unsafe extern "C" fn(*const Bloom, *const c_void, c_int) -> c_int,
    free: unsafe extern "C" fn(*mut Bloom),
    _library: Library,
}

/// The library, or the reason why it is missing.
fn functions() -> &'static Result<Functions, String> {
    static FUNCTIONS: OnceLock<Result<Functions, String>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        // SAFETY: the library has no initialisers, and the types are those of its header.
        unsafe {
            let library = Library::new("libbloom.so.1").map_err(|error| error.to_string())?;
            let missing = |error: libloading::Error| error.to_string();
            Ok(Functions {
                init: *library.get(b"bloom_init\0").map_err(missing)?,
                add: *library.get(b"bloom_add\0").map_err(missing)?,
                check: *library.get(b"bloom_check\0").map_err(missing)?,
                free: *library.get(b"bloom_free\0").map_err(missing)?,
                _library: library,
            })
        }
    })
}

/// The reason why there is no libbloom, if there is none.
pub fn missing() -> Option<&'static str> {
    functions().as_ref().err().map(String::as_str)
}

/// A filter of libbloom.
pub struct Filter {
    functions: &'static Functions,
    bloom: Box<Bloom>,
}

// SAFETY: lookups only read, and everything else takes `&mut self`.
unsafe impl Send for Filter {}
// SAFETY: lookups only read, and everything else takes `&mut self`.
unsafe impl Sync for Filter {}

impl Filter {
    /// A filter for `n` keys, or `None` without the library or beyond its limits (1000 keys to 2^31 bits).
    pub fn new(n: u64, bits_per_key: f64) -> Option<Filter> {
        let functions = functions().as_ref().ok()?;
        let entries = c_int::try_from(n).ok().filter(|n| *n >= 1000)?;
        if n as f64 * bits_per_key >= f64::from(c_int::MAX) {
            return None;
        }
        // libbloom takes a rate, and has -ln(rate) / ln(2)^2 bits a key.
        let rate = (-bits_per_key * std::f64::consts::LN_2.powi(2)).exp();
        let (field, reserve) = (std::ptr::null_mut(), [0; 16]);
        let empty = Bloom {
            entries: 0,
            error: 0.0,
            bits: 0,
            bytes: 0,
            hashes: 0,
            bits_per_entry: 0.0,
            field,
            ready: 0,
            reserve,
        };
        let mut bloom = Box::new(empty);
        // SAFETY: `bloom` is a `struct bloom` for the library to fill.
        let failed = unsafe { (functions.init)(&mut *bloom, entries, rate) } != 0;
        (!failed).then_some(Filter { functions, bloom })
    }

    /// Bits of payload.
    pub fn bits(&self) -> u64 {
        self.bloom.bits as u64
    }

    /// The number of bits that a key sets.
    pub fn hashes(&self) -> f64 {
        self.bloom.hashes.into()
    }

    /// The address of the payload.
    pub fn address(&self) -> usize {
        self.bloom.field.addr()
    }

    pub fn insert(&mut self, key: &[u8]) -> bool {
        // SAFETY: an initialised `struct bloom`, and a key of that length.
        unsafe { (self.functions.add)(&mut *self.bloom, key.as_ptr().cast(), key.len() as c_int) == 0 }
    }

    pub fn contains(&self, key: &[u8]) -> bool {
        // SAFETY: as above; lookups do not write.
        unsafe { (self.functions.check)(&*self.bloom, key.as_ptr().cast(), key.len() as c_int) == 1 }
    }
}

impl Drop for Filter {
    fn drop(&mut self) {
        // SAFETY: initialised once in `new`, freed once here.
        unsafe { (self.functions.free)(&mut *self.bloom) }
    }
}
