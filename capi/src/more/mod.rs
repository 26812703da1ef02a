//! petal_more.h: rarer functions of filters, for programs that need them. petal.h has the conventions.

pub mod across;
pub mod times;
pub mod excluded;
pub mod frequent;
pub mod partial;
pub mod rejuvenate;
pub mod stored;
pub mod expected;
