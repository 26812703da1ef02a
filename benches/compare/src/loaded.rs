//! Filters of C++ libraries, from a shared library that `make bench` compiles where these are installed
//! (`benches/peers.cpp`). The shared library has the loops over keys.

use crate::keys::{Buffer, Form};
use crate::subject::{Operation, Size, Subject};
use libloading::Library;
use std::ffi::{CStr, c_char, c_void};
use std::path::Path;

/// `struct peer`.
#[repr(C)]
struct Functions {
    name: *const c_char,
    has_insertions: bool,
    make: unsafe extern "C" fn(u64, u64) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    bits: unsafe extern "C" fn(*mut c_void) -> u64,
    address: unsafe extern "C" fn(*mut c_void) -> *const c_void,
    lines: unsafe extern "C" fn(*mut c_void) -> f64,
    insert: unsafe extern "C" fn(*mut c_void, *const u64, usize),
    contains: unsafe extern "C" fn(*mut c_void, *const u64, usize, *mut u8) -> u64,
}

// SAFETY: nobody writes what the pointers point to.
unsafe impl Sync for Functions {}

/// The filters of a library that was loaded, for as long as the program runs.
#[derive(Clone, Copy, Default)]
pub struct Peers(&'static [Functions]);

impl Peers {
    /// Loads the library at `path`.
    ///
    /// # Errors
    /// Says what the system reports.
    pub fn load(path: &Path) -> Result<Peers, String> {
        let failed = |error: libloading::Error| format!("{}: {error}", path.display());
        // SAFETY: the library is that of `benches/peers.cpp`, whose types these are, and is never closed.
        unsafe {
            let library = Box::leak(Box::new(Library::new(path).map_err(failed)?));
            let count = **library.get::<*const usize>(b"petal_bench_peer_count\0").map_err(failed)?;
            let first = *library.get::<*const Functions>(b"petal_bench_peers\0").map_err(failed)?;
            Ok(Peers(std::slice::from_raw_parts(first, count)))
        }
    }

    /// One filter of each library at a size, for keys that are numbers.
    pub fn all(self, size: &Size) -> Vec<Box<dyn Subject>> {
        let made = self.0.iter().filter(|_| size.form == Form::U64);
        made.filter_map(|functions| Some(Box::new(Filter::new(functions, *size)?) as Box<dyn Subject>)).collect()
    }
}

struct Filter {
    functions: &'static Functions,
    size: Size,
    handle: *mut c_void,
}

// SAFETY: only one thread uses a handle at a time. The first lookup may build a filter, so these filters take part only
// in comparisons with one thread.
unsafe impl Send for Filter {}
// SAFETY: as above.
unsafe impl Sync for Filter {}

impl Filter {
    fn new(functions: &'static Functions, size: Size) -> Option<Filter> {
        // SAFETY: any numbers will do.
        let handle = unsafe { (functions.make)(size.n, size.bits()) };
        (!handle.is_null()).then_some(Filter { functions, size, handle })
    }
}

impl Drop for Filter {
    fn drop(&mut self) {
        // SAFETY: made in `new`, freed once.
        unsafe { (self.functions.free)(self.handle) }
    }
}

impl Subject for Filter {
    fn name(&self) -> &'static str {
        // SAFETY: a text that lives as long as the library.
        unsafe { CStr::from_ptr(self.functions.name) }.to_str().unwrap_or("?")
    }

    fn kernel(&self) -> &'static str {
        "own"
    }

    fn has_insertions(&self) -> bool {
        self.functions.has_insertions
    }

    fn bits(&self) -> u64 {
        // SAFETY: a handle of this library.
        unsafe { (self.functions.bits)(self.handle) }
    }

    fn address(&self) -> Option<usize> {
        // SAFETY: as above.
        let address = unsafe { (self.functions.address)(self.handle) };
        (!address.is_null()).then(|| address.addr())
    }

    fn clear(&mut self) {
        *self = Filter::new(self.functions, self.size).expect("what was made once can be made again");
    }

    fn insert(&mut self, keys: &Buffer, _: bool, _: &mut [u8]) {
        let keys = keys.numbers();
        // SAFETY: as above, and `keys` has `keys.len()` numbers.
        unsafe { (self.functions.insert)(self.handle, keys.as_ptr(), keys.len()) }
    }

    fn contains(&self, keys: &Buffer, _: bool, answers: &mut [u8]) -> u64 {
        let keys = keys.numbers();
        let answers = &mut answers[..keys.len()];
        // SAFETY: as above, and room for as many answers.
        unsafe { (self.functions.contains)(self.handle, keys.as_ptr(), keys.len(), answers.as_mut_ptr()) }
    }

    fn lines(&self, _: Operation) -> f64 {
        // SAFETY: as above.
        unsafe { (self.functions.lines)(self.handle) }
    }
}
