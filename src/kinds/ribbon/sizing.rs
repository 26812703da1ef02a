//! The sizes and the false-positive rate of the bumped ribbon.
//!
//! Dillinger, Hübschle-Schneider, Sanders and Walzer, "Fast Succinct Retrieval and Approximate Membership Using
//! Ribbon", 2022. A shard of n keys has a first layer with fewer slots than keys. The keys that do not fit into a
//! bucket of slots are bumped to another layer, and so on. So nearly every slot is taken, and nearly all overhead is
//! the metadata that says which part of a bucket was bumped.

/// The most keys of an average shard.
pub const SHARD_KEYS: u64 = 1 << 18;

/// The most shards.
pub const MAX_SHARDS: u64 = u32::MAX as u64;

/// How many shards `keys` keys are divided into; none without keys.
pub fn shards(keys: u64) -> u64 {
    keys.div_ceil(SHARD_KEYS).min(MAX_SHARDS)
}

/// The number of coefficients of a key, and the sizes that depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// The coefficients of a key, w.
    pub bits: u32,
    /// The logarithm of the number of slots of a bucket, B.
    pub bucket_bits: u32,
    /// A layer has `keys - keys >> overload` slots to start in.
    pub overload: u32,
    /// The first places of the second and of the third class, counted from the end of a bucket. A bucket bumps its
    /// third class, its last two classes, or all.
    pub classes: [u32; 2],
    /// Up to this many keys have all of their rows in one place.
    pub dense: u64,
}

impl Width {
    /// 64 coefficients, for the faster lookups.
    pub const NARROW: Width = Width { bits: 64, bucket_bits: 7, overload: 4, classes: [90, 111], dense: 44 };
    /// 128 coefficients, for a quarter of the metadata.
    pub const WIDE: Width = Width { bits: 128, bucket_bits: 9, overload: 5, classes: [379, 454], dense: 100 };

    /// The sizes for `bits` coefficients, if there are any.
    pub fn of(bits: u32) -> Option<Width> {
        [Width::NARROW, Width::WIDE].into_iter().find(|width| width.bits == bits)
    }

    /// How many slots a layer of `keys` keys has to start in: at least 1.
    pub fn starts(&self, keys: u64) -> u64 {
        (keys - (keys >> self.overload)).max(1)
    }

    /// How many slots the keys that no layer took have to start in, at attempt number `attempt`. Few keys get fewer
    /// slots than there are keys, because their rows reach far enough. Many keys get more slots than there are keys.
    /// Each further attempt adds slots.
    pub fn base(&self, keys: u64, attempt: u32) -> u64 {
        let (least, more) = match keys <= self.dense {
            true => (keys.saturating_sub(u64::from(self.bits / 8)), u64::from(self.bits / 4)),
            false => (keys + (keys >> 4), keys >> 3),
        };
        least.max(1) + more * u64::from(attempt)
    }

    /// How many buckets `starts` slots make.
    pub fn buckets(&self, starts: u64) -> u64 {
        starts.div_ceil(1 << self.bucket_bits)
    }
}

/// The width that pays for values of `bits` bits. With the narrow one, metadata would be a large part of short values.
pub fn width(bits: u32) -> Width {
    if bits <= 4 { Width::WIDE } else { Width::NARROW }
}

/// The slots to expect of a shard of `keys` keys. The number of free slots was counted in shards of uniform hashes.
pub fn expected_slots(width: &Width, keys: u64) -> u64 {
    let free = 6 + (keys >> if width.bits == Width::NARROW.bits { 15 } else { 12 });
    keys + free.min(keys / 16)
}

/// The bytes of metadata to expect of the layers of a shard after the first.
pub fn expected_metadata(width: &Width, keys: u64) -> u64 {
    (width.buckets(keys / 16)).div_ceil(4)
}
