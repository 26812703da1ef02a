//! Petal as a WebAssembly module: functions of numbers and addresses, which the JavaScript package calls.
//!
//! A function that can fail returns a number below 0, a status; [`outcome`] has the message. Other results are
//! numbers above, and what [`outcome::answer`] wrote. The caller puts keys and images into memory of
//! [`memory::petal_allocate`]. There are no threads, so nothing here waits.

#[cfg(feature = "making")]
mod changing;
mod handles;
#[cfg(feature = "making")]
mod making;
mod many;
mod memory;
mod opening;
mod outcome;
#[cfg(feature = "planning")]
mod planning;
mod reading;
