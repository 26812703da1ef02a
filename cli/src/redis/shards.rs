//! The keys of a set, and the shard of an item. All clients of the set must agree on both.

use crate::args;

/// The keys of a set.
#[derive(Clone)]
pub struct Shards {
    name: String,
    /// `None` if the set is one key, which has the set's name.
    count: Option<u32>,
}

impl Shards {
    /// The shards that the command line asks for.
    pub fn new(args: &args::redis::Set) -> Shards {
        Shards { name: args.name.clone(), count: args.shards }
    }

    /// How many shards there are.
    pub fn count(&self) -> usize {
        self.count.unwrap_or(1) as usize
    }

    /// Whether the set is one key with the set's name.
    pub fn is_plain(&self) -> bool {
        self.count.is_none()
    }

    /// The key of a shard. The hash tag of the key is the shard's number, so the shards are spread over the nodes of a
    /// cluster.
    pub fn key(&self, shard: usize) -> String {
        match self.count {
            None => self.name.clone(),
            Some(_) => format!("{}:{{{shard}}}", self.name),
        }
    }

    /// A second key in the slot of a shard, for an incomplete image.
    pub fn beside(&self, shard: usize) -> String {
        let key = self.key(shard);
        format!("{{{}}}:importing:{key}", tag(&key))
    }

    /// The shard of an item.
    pub fn of(&self, item: &[u8]) -> usize {
        match self.count() {
            1 => 0,
            count => crc32(item) as usize % count,
        }
    }

    /// The capacity of each shard, for a set of this capacity: the shard's share, and five standard deviations more,
    /// because a hash spreads keys unevenly.
    pub fn share(&self, capacity: u64) -> u64 {
        match self.count() {
            1 => capacity,
            count => {
                let share = capacity as f64 / count as f64;
                (share + 5.0 * share.sqrt()).ceil() as u64
            }
        }
    }
}

/// The part of a key that decides its slot: the text between the first opening brace and the next closing brace, or the
/// whole key.
fn tag(key: &str) -> &str {
    let inner = key.split_once('{').and_then(|(_, after)| after.split_once('}')).map(|(inner, _)| inner);
    inner.filter(|inner| !inner.is_empty()).unwrap_or(key)
}

/// CRC-32 of IEEE 802.3.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| CRC32[((crc ^ u32::from(*byte)) & 0xff) as usize] ^ (crc >> 8))
}

/// The table of CRC-32: the result of eight shifts for each byte.
const CRC32: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = (byte as u32, 0);
        while bit < 8 {
            crc = (crc >> 1) ^ (0xedb8_8320 * (crc & 1));
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    fn shards(count: Option<u32>) -> Shards {
        Shards { name: String::from("seen"), count }
    }

    /// The items and shards are the same as in the test of the Go package.
    #[test]
    fn an_item_is_where_its_hash_says() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
        assert_eq!(shards(Some(12)).of(b"123456789"), 0xcbf4_3926 % 12);
        assert_eq!((shards(None).of(b"123456789"), shards(Some(1)).of(b"123456789")), (0, 0));
        assert_eq!((shards(None).key(0), shards(Some(1)).key(0)), (String::from("seen"), String::from("seen:{0}")));
        assert_eq!(shards(Some(12)).key(7), "seen:{7}");
    }

    #[test]
    fn shares_have_some_room() {
        assert_eq!((shards(None).share(1000), shards(Some(1)).share(1000)), (1000, 1000));
        assert_eq!(shards(Some(10)).share(1000), 150);
        assert_eq!(shards(Some(4)).share(1), 3);
    }

    #[test]
    fn what_is_not_complete_has_the_same_slot() {
        for (key, expected) in [("a", "a"), ("{b}c", "b"), ("a{b}c", "b"), ("{}a", "{}a"), ("a{b", "a{b")] {
            assert_eq!(tag(key), expected);
        }
        assert_eq!(shards(Some(9)).beside(3), "{3}:importing:seen:{3}");
        assert_eq!(tag(&shards(Some(9)).beside(3)), "3");
        assert_eq!(tag(&shards(None).beside(0)), "seen");
    }
}
