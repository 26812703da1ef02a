//! The functions that only some kinds have: `PETAL_CAN_*` says which.

pub mod remove;
pub mod combine;
pub mod estimate;
