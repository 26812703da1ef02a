//! Filters that need only a layout or a table. Each module here turns a value that finds keys in words into a whole
//! kind with all facets.

pub mod bit_filter;
pub mod fingerprint_filter;
pub mod grown;
