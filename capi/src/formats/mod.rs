//! petal_formats.h: other forms of a filter: the bytes of other systems' filters, and compact forms inside another
//! system's file. petal.h has the conventions.

pub mod interop;
pub mod compact;
