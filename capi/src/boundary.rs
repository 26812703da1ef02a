// The one place where C meets Rust: every exported body runs in here. Pointers are checked, panics stop, and errors
// become statuses and messages.

use crate::status::{PETAL_OK, petal_error, petal_status};
use petal_core::{Error, Result, Status};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Once;

pub(crate) use crate::reading::*;

/// Runs the body of an exported function that returns a status.
///
/// `boundary!(error, [read filter, out count], body)`: `error` is the nullable error struct or [`NO_ERROR`], the words
/// before the arguments say what the body gets of them ([`arguments`](crate::arguments)), and `body` is an expression
/// of type `Result<()>` in which `?` works.
macro_rules! boundary {
    ($error:expr, [$($arguments:tt)*], $body:expr) => {
        crate::boundary::run($error, || {
            crate::arguments::arguments!($($arguments)*);
            $body
        })
    };
}
pub(crate) use boundary;

/// Runs the body of an exported function that returns an answer and no status: `otherwise` where it cannot say one.
macro_rules! answer {
    ($otherwise:expr, [$($arguments:tt)*], $body:expr) => {{
        let mut answer = $otherwise;
        let _ = crate::boundary::boundary!(crate::boundary::NO_ERROR, [$($arguments)*], {
            answer = $body;
            Ok(())
        });
        answer
    }};
}
pub(crate) use answer;

/// [`answer`], which is 0 where the function cannot say one.
macro_rules! number {
    ([$($arguments:tt)*], $body:expr) => {
        crate::boundary::answer!(0, [$($arguments)*], $body)
    };
}
pub(crate) use number;

/// Stands for the error struct of a call that has none.
pub(crate) const NO_ERROR: *mut petal_error = ptr::null_mut();

pub(crate) fn run(error: *mut petal_error, body: impl FnOnce() -> Result<()>) -> petal_status {
    silence_panics();
    let caught = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: a pointer to an error struct is NULL or points to one with its size set, by convention.
        unsafe { check_out(error)? };
        body()
    }));
    match caught.unwrap_or_else(|_| Err(Status::Internal.into())) {
        Ok(()) => PETAL_OK,
        Err(failure) => {
            // SAFETY: `error` is NULL or a struct of its size, as above; `write_error` looks at the size again.
            unsafe { write_error(error, &failure) };
            failure.status() as petal_status
        }
    }
}

/// Runs the case that nearly always succeeds, in a straight line; `panicked` gives the result after a panic. A call
/// that `body` cannot serve then goes through [`run`], which also says what is wrong.
///
/// For calls with handles only. A handle comes from a call that went through [`run`], so panics are silenced by then.
#[inline(always)]
pub(crate) fn attempt<T>(body: impl FnOnce() -> T, panicked: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| {
        discard(payload);
        panicked()
    })
}

/// Frees the payload of a panic. Kept out of line, so that the caller keeps no register for it.
#[cold]
#[inline(never)]
fn discard(payload: Box<dyn Any + Send>) {
    drop(payload);
}

/// Keeps this library's panics quiet. The hook belongs to the copy of Rust's runtime inside the library; no other Rust
/// code in the process sees it.
pub(crate) fn silence_panics() {
    static HOOK: Once = Once::new();
    if !HOOK.is_completed() {
        HOOK.call_once(|| {
            // When this source is built into a Rust program, for a test, the hook is that program's.
            if !cfg!(test) {
                #[expect(clippy::disallowed_methods, reason = "a closure that captures nothing takes no memory")]
                std::panic::set_hook(Box::new(|_| {}));
            }
        });
    }
}

// SAFETY: numbers, arrays of numbers and nullable pointers, without padding, its size first.
unsafe impl SizedStruct for petal_error {
    const FIRST_SIZE: usize = 256;
}

/// # Safety
/// As [`read_optional`].
unsafe fn write_error(pointer: *mut petal_error, failure: &Error) {
    // SAFETY: `pointer` is NULL or has as many bytes as its `struct_size` says, as the safety section asks.
    if pointer.is_null() || unsafe { check_out(pointer) }.is_err() {
        return;
    }
    let mut message = [0; crate::status::PETAL_ERROR_MESSAGE_SIZE];
    copy_text(failure.message(), &mut message);
    let status = failure.status() as petal_status;
    // SAFETY: the size was looked at.
    unsafe { write(pointer, petal_error { struct_size: 0, status, os_error: failure.os_error(), message }) };
}
