//! Insertions by many threads and processes at the same time, and the turns of the generations that they make.
//!
//! Only one word S ([`super::state`]) changes freely: it has the turns, the keys taken, and the bit T, which says that
//! the oldest generation is being dropped. The other words are bits of the generations, which insertions only set.
//!
//! *An insertion* (1) reads S, which says which generation is the newest, and (2) sets the key's bits there. The
//! insertion (3) confirms the bits with a compare-and-swap of S that counts the key, and that succeeds only while S has
//! as many turns as in (1). If there was a turn meanwhile, the insertion begins again at (1). The bits that it left
//! belong to a key that the older generation then seems to have. Only another thread's turn makes an insertion begin
//! again, so that insertions are lock-free. A key that the newest generation has already is confirmed by reading S
//! again.
//!
//! *A turn* is made by one thread at a time. Threads of a handle take its mutex. Handles of a file take the gate, a
//! lock that the system takes back from a process that dies. The turn (4) sets T, (5) stores zeros in the oldest
//! generation, and (6) with a compare-and-swap adds a turn to S, sets the count of keys to 0 and clears T. No insertion
//! waits for a turn: while another thread makes it, insertions that find the newest generation full put their keys
//! there. That generation then has too many keys: those that come while zeros are stored. The next insertion turns
//! first, whether its key is new or not, because a generation with far too many keys seems to have every key. Only
//! callers that move time on wait for each other.
//!
//! *Why no key of the window is lost.* Zeros are stored in a generation only between (4) and (6). (6) is a release, (1)
//! an acquire, and each change of S is a read-modify-write, so it continues the release sequence. So zeros happen
//! before any bits that are set in that generation as the newest one, and precede them in the order of each word. A
//! thread that is stopped in the middle of (5) still has the lock, and S has not turned; a thread that died there
//! stores no more. So zeros after such bits are those of a later turn, which drops the generation when G - 1 more have
//! followed it.
//!
//! (3) is a release after (2): the bits of a confirmed key were set while its generation was the newest. That
//! generation is dropped after G - 1 whole generations, each of which counted all of its keys by (3), never more than
//! came. So a key whose insertion returned is found for (G - 1) g more new keys, or G - 1 steps, as in a filter with a
//! single user.
//!
//! An insertion that began before a turn and sets its bits after zeros were stored there leaves too many bits but never
//! too few, because it is not confirmed. S has 23 bits of turns. To be confirmed by mistake, an insertion has to stand
//! still for exactly some multiple of [`rounds`](super::state::rounds) turns, more than eight million.
//!
//! *Who learns that a key is new.* One insertion sets the bit with which a generation first has all bits of the key.
//! That insertion had not found the key anywhere before, and reports it as new.
//!
//! *Somebody dies.* Before (4) nothing has begun. Between (4) and (6) T stays set and the lock is free. The next caller
//! that needs room, or moves time on, or has the filter to itself, finds T, stores all zeros again and turns. So a turn
//! that was begun is made in the end, and meanwhile keys go to the newest generation. In a buffer, which has no locks,
//! T itself says that a turn is being made. So a process that died in a turn keeps others from turning until a handle
//! opens the buffer for writing. Keys are still taken and found, while the rate rises.

use super::filter::Rotating;
use super::state::{State, TURNED};
use crate::batch::ring::{Batch, Taken};
use crate::bits;
use crate::contract::{SharedAge, SharedInsert, one_by_one};
use crate::error::{Result, error};
use core::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{PoisonError, TryLockError};

/// The moments at which others may do anything, as tests make them do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// An insertion has read the state, and knows which generations have the key.
    Read,
    /// An insertion has set its bits.
    Set,
    /// A thread holds the lock for turning, and has not yet looked whether a turn is still needed.
    Locked,
    /// The oldest generation is about to be dropped.
    Turning,
}

#[cfg(not(test))]
fn interrupt(_: Moment) {}
#[cfg(test)]
use super::tests::interrupt;

impl Rotating {
    /// The word S.
    fn turned(&self) -> &AtomicU64 {
        &self.base.words().shared()[self.state() + TURNED]
    }

    /// The state, with an acquire: everything that happened before it was written is visible.
    fn state_acquired(&self) -> State {
        self.state_in(self.base.words().shared(), Ordering::Acquire)
    }

    /// In an image in place, a word of a mixed hash in a generation whose region is not marked yet.
    pub(super) fn unmarked_in(&self, generation: usize, hash: u64) -> Option<usize> {
        let (mut found, start) = (None, self.place(generation).start);
        self.layout.visit_words(hash, &mut |word| {
            found = self.base.unmarked(start + word);
            found.is_none()
        });
        found
    }

    /// Marks the regions that an insertion into a generation changes. The caller marked those of the generation that
    /// was the newest before; others may have turned since.
    fn mark_place(&self, generation: usize, hash: u64) -> Result<()> {
        if self.base.is_own() {
            return Ok(());
        }
        while let Some(word) = self.base.unmarked(self.state()).or_else(|| self.unmarked_in(generation, hash)) {
            self.base.mark(word)?;
        }
        // Another thread may have marked the region, as in `change::mark_each`.
        fence(Ordering::Release);
        Ok(())
    }

    /// Marks a generation that is going to be dropped.
    fn mark_generation(&self, generation: usize) -> Result<()> {
        let place = self.place(generation);
        while let Some(word) = self.base.unmarked(self.state()).or_else(|| self.base.unmarked_in(&place)) {
            self.base.mark(word)?;
        }
        fence(Ordering::Release);
        Ok(())
    }

    /// Whether an older generation than the newest, one that is not being dropped, has a mixed hash.
    fn finds_older_than(&self, state: State, hash: u64) -> bool {
        let (newest, count) = (state.newest(self.shape.generations), self.count());
        let kept = count - usize::from(state.is_turning());
        (1..kept).any(|age| self.layout.contains(self.words((newest + count - age) % count), hash))
    }

    /// Inserts a hash while others insert.
    fn insert_beside(&self, hash: u64) -> Result<bool> {
        let hash = bits::mix(hash);
        let (mut answer, mut touches) = (None, self.shape.touch == 1);
        loop {
            let state = self.state_acquired();
            if self.owes_turn(state) && self.turns_on_from(state)? {
                continue;
            }
            let newest = state.newest(self.shape.generations);
            let has_it = self.layout.contains(self.words(newest), hash);
            let new = !has_it && !self.finds_older_than(state, hash);
            let answer = *answer.get_or_insert(new);
            interrupt(Moment::Read);
            let mut changed = false;
            if new || (touches && !has_it) {
                if self.room_in(state) == 0 && self.turns_on_from(state)? {
                    continue;
                }
                self.mark_place(newest, hash)?;
                changed = self.layout.insert_shared(self.words(newest), hash);
                // If an older generation has the key from now on, it has it from this insertion.
                touches = true;
            }
            interrupt(Moment::Set);
            if self.confirm(state, changed) {
                return Ok(answer);
            }
        }
    }

    /// Whether there was no turn since `state`. If the insertion changed bits, this also counts a key for the newest
    /// generation.
    fn confirm(&self, state: State, changed: bool) -> bool {
        // The bits of the generation that were read or set come before this fence.
        fence(Ordering::Acquire);
        let count = |turned: u64| (State::of(turned).turns() == state.turns()).then(|| State::with_keys(turned, 1));
        if !changed {
            return self.state_acquired().turns() == state.turns();
        }
        self.turned().fetch_update(Ordering::AcqRel, Ordering::Acquire, count).is_ok()
    }

    /// Turns the generations on from `state`, unless somebody else is doing so. Returns whether they have turned.
    fn turns_on_from(&self, state: State) -> Result<bool> {
        self.try_turn(state)?;
        Ok(self.state_acquired().turns() != state.turns())
    }

    /// Turns the generations on from `state`, unless somebody else is doing so.
    fn try_turn(&self, state: State) -> Result<()> {
        let _alone = match self.turning.try_lock() {
            Ok(alone) => alone,
            Err(TryLockError::Poisoned(alone)) => alone.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(()),
        };
        interrupt(Moment::Locked);
        match self.base.try_gate() {
            Some(_gate) => self.turn(state).map(drop),
            None => Ok(()),
        }
    }

    /// Turns the generations on from `state`. The caller must hold what allows turning. Returns whether it turned them:
    /// somebody may have done so since or, in a buffer, be doing so.
    fn turn(&self, state: State) -> Result<bool> {
        let (generations, word) = (self.shape.generations, self.turned());
        let oldest = (state.newest(generations) + 1) % self.count();
        self.mark_generation(oldest)?;
        let begin = |turned| {
            let now = State::of(turned);
            let may = now.turns() == state.turns() && (!now.is_turning() || self.base.outlives_sharers());
            may.then(|| State::turning(turned))
        };
        if word.fetch_update(Ordering::AcqRel, Ordering::Relaxed, begin).is_err() {
            return Ok(false);
        }
        interrupt(Moment::Turning);
        for word in self.words(oldest) {
            if word.load(Ordering::Relaxed) != 0 {
                word.store(0, Ordering::Relaxed);
            }
        }
        // The caller alone may turn, so others change nothing but the count of keys.
        let after = state.after(generations);
        word.swap(after, Ordering::AcqRel);
        Ok(true)
    }
}

impl SharedInsert for Rotating {
    fn insert_one_shared(&self, hash: u64) -> Option<bool> {
        self.insert_beside(hash).ok()
    }

    fn insert_many_shared(&self, batch: &mut dyn Batch) -> Taken {
        one_by_one(batch, |hash| self.insert_beside(hash))
    }
}

impl SharedAge for Rotating {
    fn advance_by_shared(&self, steps: u64) -> Result<()> {
        let _alone = self.turning.lock().unwrap_or_else(PoisonError::into_inner);
        let _gate = self.base.gate()?;
        let (generations, outlives) = (self.shape.generations, self.base.outlives_sharers());
        let mut left = steps.min(generations);
        let newest = self.state_acquired().newest_next(generations);
        (1..=left as usize).try_for_each(|age| self.mark_generation((newest + age) % self.count()))?;
        while left > 0 {
            let state = self.state_acquired();
            if state.is_turning() && !outlives {
                return Err(error!(
                    Locked,
                    "somebody who shares the buffer drops its oldest generation, or died while doing so"
                ));
            }
            // A turn that somebody began and died in does not count as one of these steps.
            let is_step = self.turn(state)? && !state.is_turning();
            left -= u64::from(is_step);
        }
        Ok(())
    }
}
