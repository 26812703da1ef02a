//! How a call ended: a number, an error, and answers of more than one number.

use core::cell::RefCell;
use core::sync::atomic::{AtomicU64, Ordering};
use petal::{Error, Result};

/// How many numbers a call answers at most.
const ANSWERS: usize = 24;

static ANSWER: [AtomicU64; ANSWERS] = [const { AtomicU64::new(0) }; ANSWERS];

thread_local! {
    static FAILURE: RefCell<Option<Error>> = const { RefCell::new(None) };
}

/// Runs a call. What it returns is the call's number, and an error its status.
pub fn run(body: impl FnOnce() -> Result<i32>) -> i32 {
    match body() {
        Ok(number) => number,
        Err(error) => {
            let status = error.status() as i32;
            FAILURE.set(Some(error));
            status
        }
    }
}

/// Sets one of the numbers that the call answers.
pub fn answer(place: usize, number: u64) {
    ANSWER[place].store(number, Ordering::Relaxed);
}

/// Sets one of the numbers to a fraction.
pub fn answer_real(place: usize, number: f64) {
    answer(place, number.to_bits());
}

/// Sets two of the numbers to the address and the length of a text that stays.
pub fn answer_text(place: usize, text: &'static str) {
    answer(place, text.as_ptr() as u64);
    answer(place + 1, text.len() as u64);
}

/// Where the answers lie, as many numbers of 64 bits.
#[unsafe(no_mangle)]
pub extern "C" fn petal_answers() -> *const AtomicU64 {
    ANSWER.as_ptr()
}

/// Where the message of the last error lies. The first answer is its length.
#[unsafe(no_mangle)]
pub extern "C" fn petal_message() -> *const u8 {
    FAILURE.with_borrow(|failure| {
        let message = failure.as_ref().map_or("", Error::message);
        answer(0, message.len() as u64);
        message.as_ptr()
    })
}
