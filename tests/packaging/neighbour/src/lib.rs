//! An independent Rust library that shares a program with Petal.

/// Panics, catches that, and returns 1 if it was caught.
#[unsafe(no_mangle)]
pub extern "C" fn neighbour_panic_and_recover() -> i32 {
    let caught = std::panic::catch_unwind(|| {
        let word = std::hint::black_box(String::from("the neighbour panics on purpose"));
        panic!("{word}");
    });
    i32::from(caught.is_err())
}
