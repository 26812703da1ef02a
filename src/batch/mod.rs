//! Many keys at once. [`keys`] has the keys that callers hand in, [`key_list`] collects such keys, [`ring`] hashes and
//! fetches them ahead, and [`answers`] takes what a kind says of each key. [`records`] has what the builder hands to a
//! kind that is built from all of its keys, [`shards`] divides the records, and [`workers`] solves them on threads.

pub mod answers;
#[cfg(target_arch = "x86_64")]
pub mod groups;
pub mod key_list;
pub mod keys;
pub mod records;
pub mod ring;
pub mod shards;
pub mod workers;
