//! Filters that need only a layout or a table. Each module here makes a whole kind, with all facets, of a value that
//! finds keys in words.

pub mod bit_filter;
pub mod fingerprint_filter;
pub mod grown;
