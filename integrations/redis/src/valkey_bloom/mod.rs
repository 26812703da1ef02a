//! valkey-bloom's Bloom filters: the same arguments, replies and errors, and the same bytes. Its commands are `BF.*`,
//! as RedisBloom's are: `redisbloom::bf` has their table, and calls these functions for keys of this type.

mod data_type;
pub mod insert;
pub mod object;
pub mod read;

use crate::server::Refusal;
use crate::server::defaults;
use object::Full;

const NOT_FOUND: Refusal = Refusal::Said("ERR not found");

/// The parameters of a new object.
struct Wanted {
    rate: f64,
    tightening: f64,
    capacity: u64,
    expansion: u32,
    /// The seed; `None` for a random one.
    seed: Option<[u8; 32]>,
}

impl Wanted {
    /// The parameters that a command without options takes.
    fn usual() -> Wanted {
        let (rate, tightening, capacity, expansion) = defaults::object();
        let seed = (!defaults::has_random_seed()).then_some(object::FIXED_SEED);
        Wanted { rate, tightening, capacity, expansion, seed }
    }
}

/// The error for an item that was not added.
fn refusal(full: Full) -> Refusal {
    Refusal::Said(match full {
        Full::NonScaling => "ERR non scaling filter is full",
        Full::Last => "ERR bloom object reached max number of filters",
        Full::Rate => "ERR false positive degrades to 0 on scale out",
        Full::Capacity => "ERR bad capacity",
        Full::Limit => "ERR operation exceeds bloom object memory limit",
        Full::Memory => "ERR Insufficient memory to create filter",
    })
}
