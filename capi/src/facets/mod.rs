//! What only some kinds can: `PETAL_CAN_*` says which.

pub mod remove;
pub mod combine;
pub mod estimate;
