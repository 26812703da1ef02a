//! The other libraries, each at its best. A library gets a fast hash function where the caller may choose one, and huge
//! pages (see `huge.rs`). All are compiled into this program with the same settings. Operations that a library lacks
//! are left out.
//!
//! | name | what it is | its hash function |
//! |---|---|---|
//! | fastbloom | classic Bloom filter | foldhash |
//! | bloomfilter | classic Bloom filter | SipHash-1-3, fixed |
//! | broomfilter | 512-bit blocks | XXH3, fixed |
//! | sbbf-rs | 256-bit split blocks, Parquet's layout, AVX2 | foldhash |
//! | libbloom | classic Bloom filter in C | MurmurHash2, fixed |

use crate::keys::{Buffer, Form};
use crate::libbloom;
use crate::subject::{Operation, Size, Subject, one_by_one};
use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// The operations of another library's filter on one key.
trait Peer: Send + Sync + Sized {
    const NAME: &'static str;
    /// The number of cache lines that a lookup of a present key touches; 0 stands for a line a bit.
    const LINES: f64 = 0.0;
    /// An empty filter.
    fn new(size: &Size) -> Option<Self>;
    fn bits(&self) -> u64;
    fn hashes(&self) -> f64;
    fn address(&self) -> Option<usize> {
        None
    }
    fn insert_u64(&mut self, key: u64) -> bool;
    fn insert_bytes(&mut self, key: &[u8]) -> bool;
    fn contains_u64(&self, key: u64) -> bool;
    fn contains_bytes(&self, key: &[u8]) -> bool;
}

/// Another library's filter of one size.
struct Other<P> {
    size: Size,
    peer: P,
}

impl<P: Peer> Subject for Other<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn kernel(&self) -> &'static str {
        "own"
    }

    fn bits(&self) -> u64 {
        self.peer.bits()
    }

    fn address(&self) -> Option<usize> {
        self.peer.address()
    }

    fn clear(&mut self) {
        // Some filters cannot be cleared, but all can be made again.
        self.peer = P::new(&self.size).expect("what was made once can be made again");
    }

    fn insert(&mut self, keys: &Buffer, _: bool, answers: &mut [u8]) {
        let peer = &mut self.peer;
        match keys.form() {
            Form::U64 => one_by_one(keys.numbers().iter(), answers, |key| peer.insert_u64(*key)),
            Form::Strings => one_by_one(keys.strings(), answers, |key| peer.insert_bytes(key)),
        };
    }

    fn contains(&self, keys: &Buffer, _: bool, answers: &mut [u8]) -> u64 {
        let peer = &self.peer;
        match keys.form() {
            Form::U64 => one_by_one(keys.numbers().iter(), answers, |key| peer.contains_u64(*key)),
            Form::Strings => one_by_one(keys.strings(), answers, |key| peer.contains_bytes(key)),
        }
    }

    fn lines(&self, operation: Operation) -> f64 {
        match (P::LINES, operation) {
            // A classic filter at its best is half full, so an absent key costs 1 + 1/2 + 1/4 + ... probes.
            (0.0, Operation::Miss) => 2.0 - 2.0_f64.powf(1.0 - self.peer.hashes()),
            (0.0, _) => self.peer.hashes(),
            (lines, _) => lines,
        }
    }
}

/// fastbloom.
type Fast = fastbloom::BloomFilter<FixedState>;

impl Peer for Fast {
    const NAME: &'static str = "fastbloom";

    fn new(size: &Size) -> Option<Fast> {
        let builder = fastbloom::BloomFilter::with_num_bits(size.bits() as usize).hasher(FixedState::default());
        Some(builder.expected_items(size.n as usize))
    }

    fn bits(&self) -> u64 {
        self.num_bits() as u64
    }

    fn hashes(&self) -> f64 {
        self.num_hashes().into()
    }

    fn address(&self) -> Option<usize> {
        Some(self.as_slice().as_ptr().addr())
    }

    fn insert_u64(&mut self, key: u64) -> bool {
        self.insert(&key)
    }

    fn insert_bytes(&mut self, key: &[u8]) -> bool {
        self.insert(key)
    }

    fn contains_u64(&self, key: u64) -> bool {
        self.contains(&key)
    }

    fn contains_bytes(&self, key: &[u8]) -> bool {
        self.contains(key)
    }
}

/// bloomfilter, whose filters each have one type of key.
enum Bloomfilter {
    U64(bloomfilter::Bloom<u64>),
    Bytes(bloomfilter::Bloom<[u8]>),
}

impl Peer for Bloomfilter {
    const NAME: &'static str = "bloomfilter";

    fn new(size: &Size) -> Option<Bloomfilter> {
        let (bytes, n) = ((size.bits() / 8) as usize, size.n as usize);
        let seed = &std::array::from_fn(|i| i as u8);
        match size.form {
            Form::U64 => bloomfilter::Bloom::new_with_seed(bytes, n, seed).ok().map(Bloomfilter::U64),
            Form::Strings => bloomfilter::Bloom::new_with_seed(bytes, n, seed).ok().map(Bloomfilter::Bytes),
        }
    }

    fn bits(&self) -> u64 {
        match self {
            Bloomfilter::U64(filter) => filter.len(),
            Bloomfilter::Bytes(filter) => filter.len(),
        }
    }

    fn hashes(&self) -> f64 {
        f64::from(match self {
            Bloomfilter::U64(filter) => filter.number_of_hash_functions(),
            Bloomfilter::Bytes(filter) => filter.number_of_hash_functions(),
        })
    }

    fn address(&self) -> Option<usize> {
        Some(match self {
            Bloomfilter::U64(filter) => filter.as_slice().as_ptr().addr(),
            Bloomfilter::Bytes(filter) => filter.as_slice().as_ptr().addr(),
        })
    }

    fn insert_u64(&mut self, key: u64) -> bool {
        if let Bloomfilter::U64(filter) = self {
            filter.set(&key);
        }
        true
    }

    fn insert_bytes(&mut self, key: &[u8]) -> bool {
        if let Bloomfilter::Bytes(filter) = self {
            filter.set(key);
        }
        true
    }

    fn contains_u64(&self, key: u64) -> bool {
        matches!(self, Bloomfilter::U64(filter) if filter.check(&key))
    }

    fn contains_bytes(&self, key: &[u8]) -> bool {
        matches!(self, Bloomfilter::Bytes(filter) if filter.check(key))
    }
}

/// The blocked filter of broomfilter, which takes byte strings only.
struct Broom {
    filter: broomfilter::BlockedFilter,
    bits: u64,
}

impl Peer for Broom {
    const NAME: &'static str = "broomfilter";
    const LINES: f64 = 1.0;

    fn new(size: &Size) -> Option<Broom> {
        let bits = size.bits();
        Some(Broom { filter: broomfilter::BlockedFilter::new(bits as usize, size.n as usize).ok()?, bits })
    }

    fn bits(&self) -> u64 {
        self.bits
    }

    fn hashes(&self) -> f64 {
        1.0
    }

    fn insert_u64(&mut self, key: u64) -> bool {
        self.insert_bytes(&key.to_le_bytes())
    }

    fn insert_bytes(&mut self, key: &[u8]) -> bool {
        self.filter.insert(key);
        true
    }

    fn contains_u64(&self, key: u64) -> bool {
        self.contains_bytes(&key.to_le_bytes())
    }

    fn contains_bytes(&self, key: &[u8]) -> bool {
        self.filter.contains(key)
    }
}

/// sbbf-rs, which takes hashes, and sizes in whole bits a key.
struct Split {
    filter: sbbf_rs_safe::Filter,
    hash: FixedState,
}

impl Peer for Split {
    const NAME: &'static str = "sbbf-rs";
    const LINES: f64 = 1.0;

    fn new(size: &Size) -> Option<Split> {
        let filter = sbbf_rs_safe::Filter::new(1, size.bits() as usize);
        Some(Split { filter, hash: FixedState::default() })
    }

    fn bits(&self) -> u64 {
        self.filter.as_bytes().len() as u64 * 8
    }

    fn hashes(&self) -> f64 {
        8.0
    }

    fn address(&self) -> Option<usize> {
        Some(self.filter.as_bytes().as_ptr().addr())
    }

    fn insert_u64(&mut self, key: u64) -> bool {
        self.filter.insert_hash(self.hash.hash_one(key))
    }

    fn insert_bytes(&mut self, key: &[u8]) -> bool {
        self.filter.insert_hash(self.hash.hash_one(key))
    }

    fn contains_u64(&self, key: u64) -> bool {
        self.filter.contains_hash(self.hash.hash_one(key))
    }

    fn contains_bytes(&self, key: &[u8]) -> bool {
        self.filter.contains_hash(self.hash.hash_one(key))
    }
}

impl Peer for libbloom::Filter {
    const NAME: &'static str = "libbloom";

    fn new(size: &Size) -> Option<libbloom::Filter> {
        libbloom::Filter::new(size.n, size.bits_per_key)
    }

    fn bits(&self) -> u64 {
        self.bits()
    }

    fn hashes(&self) -> f64 {
        self.hashes()
    }

    fn address(&self) -> Option<usize> {
        Some(self.address())
    }

    fn insert_u64(&mut self, key: u64) -> bool {
        self.insert(&key.to_le_bytes())
    }

    fn insert_bytes(&mut self, key: &[u8]) -> bool {
        self.insert(key)
    }

    fn contains_u64(&self, key: u64) -> bool {
        self.contains(&key.to_le_bytes())
    }

    fn contains_bytes(&self, key: &[u8]) -> bool {
        self.contains(key)
    }
}

/// A filter of fastbloom at a size.
pub fn fastbloom(size: &Size) -> Option<Box<dyn Subject>> {
    make::<Fast>(size)
}

/// All libraries that can have a filter of this size.
pub fn all(size: &Size) -> Vec<Box<dyn Subject>> {
    let made = [
        make::<Fast>(size),
        make::<Bloomfilter>(size),
        make::<Broom>(size),
        make::<Split>(size),
        make::<libbloom::Filter>(size),
    ];
    made.into_iter().flatten().collect()
}

fn make<P: Peer + 'static>(size: &Size) -> Option<Box<dyn Subject>> {
    Some(Box::new(Other { size: *size, peer: P::new(size)? }))
}
