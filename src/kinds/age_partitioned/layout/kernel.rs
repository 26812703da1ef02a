//! The inner loops over many keys, for each instruction set. The keys' hashes are not mixed.

use super::{FOUND, GROUPS, Slices};
use crate::batch::ring::{self, Batch, CHUNK, GROUP};
use crate::bits::{self, mix};
use core::sync::atomic::AtomicU64;

/// The inner loops over many keys for one instruction set.
pub struct Kernel {
    /// Whether each hash of a batch may be in the slices of these words.
    pub contains_many: fn(&Slices, &[AtomicU64], &mut dyn Batch),
    /// Inserts the hashes of a chunk one by one, and if the caller asks says which of them are new.
    pub insert: fn(&Slices, &mut [u64], &[u64], bool) -> Inserted,
}

/// What became of the keys that were inserted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inserted {
    /// How many of the keys set at least one bit.
    pub changed: u64,
    /// Which of the keys were new, if the caller asked.
    pub new: [u64; GROUPS],
}

/// Plain code, which every processor runs.
pub(super) static PORTABLE: Kernel = Kernel { contains_many, insert };

/// Words that nobody else uses, in the form that lookups read.
pub(super) fn as_shared(words: &mut [u64]) -> &[AtomicU64] {
    // SAFETY: atomics of 64 bits lie in memory as numbers do, with the alignment of these words. As long as the slice
    // is borrowed, nobody has the words except through it.
    unsafe { &*(core::ptr::from_mut(words) as *const [AtomicU64]) }
}

/// Whether a hash is new when its turn comes. `end` is where its walk ended before the keys of the chunk were inserted.
pub(super) fn is_new(slices: &Slices, words: &mut [u64], end: u64, hash: u64) -> bool {
    if end == FOUND {
        return false;
    }
    let words = as_shared(words);
    !bits::test(words, end) || !slices.contains(words, mix(hash))
}

/// Answers a batch chunk by chunk; `found` says which keys of a chunk are there.
pub(super) fn by_chunks(batch: &mut dyn Batch, found: impl Fn(&[u64]) -> [u64; GROUPS]) {
    let mut hashes = [0; CHUNK];
    loop {
        let mut count = 0;
        for group in hashes.as_chunks_mut().0 {
            count += batch.next(group);
        }
        if count == 0 {
            return;
        }
        let found = found(&hashes[..count]);
        for (start, found) in (0..count).step_by(GROUP).zip(found) {
            batch.answer(found, GROUP.min(count - start));
        }
    }
}

/// The least number of keys for which taking turns pays when the slices are in the caches.
const IN_TURNS_FROM: usize = 16;

/// Looks keys up in turns, or one by one if they are few and the slices are in the caches.
pub(super) fn contains_many(slices: &Slices, words: &[AtomicU64], batch: &mut dyn Batch) {
    if batch.keys() < IN_TURNS_FROM && !ring::is_far(words.len()) {
        return ring::rolling(&mut (), 0, batch, ring::nothing, ring::nothing, |_, hash| {
            slices.contains(words, mix(hash))
        });
    }
    by_chunks(batch, |hashes| {
        let (mut ends, mut found) = ([0; CHUNK], [0; GROUPS]);
        slices.ends(words, hashes, &mut ends);
        for (i, end) in ends[..hashes.len()].iter().enumerate() {
            found[i / GROUP] |= u64::from(*end == FOUND) << (i % GROUP);
        }
        found
    });
}

/// Inserts the keys one by one, while the lines of later keys are being fetched.
pub(super) fn insert(slices: &Slices, words: &mut [u64], hashes: &[u64], is_asked: bool) -> Inserted {
    let mut ends = [FOUND; CHUNK];
    if is_asked {
        slices.ends(as_shared(words), hashes, &mut ends);
    }
    let ahead = ring::ahead(words.len(), slices.hashes as usize);
    let fetch = |words: &mut [u64], hash: &u64| {
        let (words, hash) = (as_shared(words), mix(*hash));
        (0..slices.hashes).for_each(|age| slices.fetch(words, hash, age));
    };
    hashes.iter().take(ahead).for_each(|hash| fetch(words, hash));
    let mut inserted = Inserted::default();
    for (i, (hash, end)) in hashes.iter().zip(ends).enumerate() {
        if let Some(next) = hashes.get(i + ahead).filter(|_| ahead > 0) {
            fetch(words, next);
        }
        if is_asked {
            inserted.new[i / GROUP] |= u64::from(is_new(slices, words, end, *hash)) << (i % GROUP);
        }
        inserted.changed += u64::from(slices.set(words, mix(*hash)));
    }
    inserted
}
