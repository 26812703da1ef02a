//! Files of libbloom 2: "libbloom2", the size of the struct as 16 bits, the struct, and the bit array. What follows is
//! not looked at: libbloom does not shorten a file that it writes over.

use crate::{MAJOR, bloom};
use core::ffi::{c_char, c_int};
use core::mem::{MaybeUninit, offset_of};
use core::ptr;
use libc::size_t;

const MAGIC: [u8; 9] = *b"libbloom2";
const STRUCT_SIZE: [u8; 2] = (size_of::<bloom>() as u16).to_le_bytes();

/// The most bytes that one system call reads or writes.
const PIECE: size_t = 1 << 30;

/// A file that is closed at the end.
struct File(c_int);

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: the descriptor is this value's own.
        unsafe { libc::close(self.0) };
    }
}

impl File {
    /// Opens a file, if there is a name and one can be opened.
    ///
    /// # Safety
    /// `name` ends with a NUL.
    unsafe fn open(name: *const c_char, flags: c_int) -> Option<File> {
        // SAFETY: the caller promises that `name` ends with a NUL; the mode is what a file that is made gets.
        let descriptor = unsafe { libc::open(name, flags | libc::O_CLOEXEC, 0o644) };
        (descriptor >= 0).then_some(File(descriptor))
    }

    /// Calls `step` with what is left of `length` bytes until nothing is or a call fails, and returns how
    /// many were done.
    fn repeat(length: size_t, step: impl Fn(size_t, size_t) -> isize) -> size_t {
        let mut done = 0;
        while done < length {
            match usize::try_from(step(done, (length - done).min(PIECE))) {
                Ok(0) | Err(_) => break,
                Ok(more) => done += more,
            }
        }
        done
    }

    /// Whether all of `length` bytes were written.
    ///
    /// # Safety
    /// `length` bytes are readable at `bytes`.
    unsafe fn write(&self, bytes: *const u8, length: size_t) -> bool {
        // SAFETY: the caller promises that `length` bytes are readable at `bytes`.
        let step = |done, more| unsafe { libc::write(self.0, bytes.add(done).cast(), more) };
        File::repeat(length, step) == length
    }

    /// Reads `length` bytes. Whether all of them were read.
    ///
    /// # Safety
    /// `length` bytes are writable at `bytes`.
    unsafe fn read(&self, bytes: *mut u8, length: size_t) -> bool {
        // SAFETY: the caller promises that `length` bytes are writable at `bytes`.
        let step = |done, more| unsafe { libc::read(self.0, bytes.add(done).cast(), more) };
        File::repeat(length, step) == length
    }
}

/// Whether `name` is not NULL.
///
/// # Safety
/// `name` is NULL or ends with a NUL.
unsafe fn is_name(name: *const c_char) -> bool {
    // SAFETY: the caller promises that `name` is NULL or ends with a NUL.
    !name.is_null() && unsafe { *name } != 0
}

/// Writes a filter to a file, over what is there: 0, or 1 if it could not be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloom_save(bloom: *mut bloom, filename: *mut c_char) -> c_int {
    // SAFETY: a filter is NULL or has its size, and its array has as many bytes as it says if it is ready.
    unsafe {
        // A filter that never was ready is a struct alone. Of another that is not ready the array is gone.
        if !is_name(filename) || bloom.is_null() || (*bloom).ready == 0 && (*bloom).bytes != 0 {
            return 1;
        }
        let Some(file) = File::open(filename, libc::O_WRONLY | libc::O_CREAT) else {
            return 1;
        };
        // The address of the array in this process concerns nobody, and readers do not look at it.
        let mut image = MaybeUninit::<bloom>::uninit();
        ptr::copy_nonoverlapping(bloom, image.as_mut_ptr(), 1);
        (&raw mut (*image.as_mut_ptr()).bf).write(ptr::null_mut());
        let saved = file.write(MAGIC.as_ptr(), MAGIC.len())
            && file.write(STRUCT_SIZE.as_ptr(), STRUCT_SIZE.len())
            && file.write(image.as_ptr().cast(), size_of::<bloom>())
            && file.write((*bloom).bf, (*bloom).bytes as size_t);
        (!saved).into()
    }
}

/// Reads a filter from a file into a struct, of which nothing is freed before: 0, or why it could not be.
///
/// 1 without a name, 2 for a NULL struct, 3 where the file cannot be opened; 4 and 5 where its first nine bytes are
/// missing or others, 6 and 7 the size of the struct, 8 where the struct is cut off, 9 for one of another major
/// version, 10 without memory, 11 where bits are missing. These are libbloom's; it trusts the rest. 12, which it does
/// not have, is for a file that says more bits than bytes hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloom_load(bloom: *mut bloom, filename: *mut c_char) -> c_int {
    // SAFETY: a name ends with a NUL, and a filter has its size and is nobody else's meanwhile.
    unsafe {
        if !is_name(filename) {
            return 1;
        }
        if bloom.is_null() {
            return 2;
        }
        bloom.write_bytes(0, 1);
        let Some(file) = File::open(filename, libc::O_RDONLY) else {
            return 3;
        };
        let failure = fill(bloom, &file);
        if failure != 0 {
            libc::free((*bloom).bf.cast());
            (*bloom).bf = ptr::null_mut();
            (*bloom).ready = 0;
        }
        failure
    }
}

/// What comes after opening. On a failure `bf` is NULL or to be freed.
///
/// # Safety
/// `bloom` points to zeros of a filter's size.
unsafe fn fill(bloom: *mut bloom, file: &File) -> c_int {
    let (mut magic, mut size) = ([0; MAGIC.len()], [0; STRUCT_SIZE.len()]);
    // SAFETY: the arrays and the struct have the sizes that are read. All bytes are values of its fields; `bf` is set
    // before anybody looks at it. The array is as long as it is asked for.
    unsafe {
        if !file.read(magic.as_mut_ptr(), magic.len()) {
            return 4;
        }
        if magic != MAGIC {
            return 5;
        }
        if !file.read(size.as_mut_ptr(), size.len()) {
            return 6;
        }
        if size != STRUCT_SIZE {
            return 7;
        }
        let whole = file.read(bloom.cast(), size_of::<bloom>());
        (*bloom).bf = ptr::null_mut();
        if !whole {
            return 8;
        }
        if (*bloom).major != MAJOR {
            return 9;
        }
        let Ok(bytes) = size_t::try_from((*bloom).bytes) else {
            return 10;
        };
        if (*bloom).bits.div_ceil(8) > (*bloom).bytes {
            return 12;
        }
        // Pages that the file does not fill are never touched, so a size that is a lie costs nothing.
        (*bloom).bf = libc::malloc(bytes).cast();
        if (*bloom).bf.is_null() {
            return 10;
        }
        if file.read((*bloom).bf, bytes) { 0 } else { 11 }
    }
}

const _: () = assert!(offset_of!(bloom, bf) + size_of::<*mut u8>() == size_of::<bloom>());
