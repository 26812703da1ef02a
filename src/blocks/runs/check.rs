//! Checks whether words are a table.

use super::code::Code;
use super::{BLOCK, Bytes, FAR, Reader};
use crate::error::{Result, error};

impl<B: Bytes + ?Sized> Reader<'_, B> {
    /// Checks everything that a table promises.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn check(&self) -> Result<()> {
        let table = self.table;
        let wrong = |what: &str, at: u64| error!(Corrupt, "the quotient filter's table is damaged: {what}, at {at}");
        let [taken, fingerprints] = self.state();
        if taken > table.limit() || fingerprints > taken {
            return Err(wrong("more slots are taken than may be", taken));
        }
        let none = || wrong("a run has no end", 0);
        let first = self.offset(0).ok_or_else(none)?;
        let mut after = first;
        let (mut slots, mut numbers, mut runs) = (0, 0, 0_u64);
        for block in 0..table.blocks() {
            let start = block * BLOCK;
            let offset = after.saturating_sub(start);
            if self.stored_offset(start) != offset.min(FAR) {
                return Err(wrong("an offset", start));
            }
            let mut occupieds = self.occupieds(start);
            while occupieds != 0 {
                let quotient = start + u64::from(occupieds.trailing_zeros());
                occupieds &= occupieds - 1;
                let free = after..quotient.max(after);
                if free.clone().any(|slot| self.remainder(slot) != 0 || self.runends(slot) >> (slot % BLOCK) & 1 == 1) {
                    return Err(wrong("a slot that is not taken", free.start));
                }
                let run = self.run_from(after.max(quotient)).ok_or_else(none)?;
                let (mut at, mut last) = (run.start, None);
                while at <= run.end {
                    let entry = self.entry(at, run);
                    let code = Code::of(entry.remainder, entry.count, table.remainder_bits());
                    let is_code = code.slots().iter().zip(at..).all(|(slot, at)| *slot == self.remainder(at));
                    if !is_code || code.slots().len() as u64 != entry.length || last >= Some(entry.remainder) {
                        return Err(wrong("a run", at));
                    }
                    last = Some(entry.remainder);
                    (at, numbers) = (at + entry.length, numbers + 1);
                }
                (slots, runs, after) = (slots + run.left(run.start), runs + 1, run.end + 1);
                if slots > taken {
                    return Err(wrong("more slots are taken than the state says", after));
                }
            }
        }
        // The last run goes on at the beginning of the table as far as the first block says.
        let free = after..(table.slots() + first).max(after);
        let is_free = |slot: u64| self.remainder(slot) == 0 && self.runends(slot) >> (slot % BLOCK) & 1 == 0;
        if after.saturating_sub(table.slots()) != first || !free.clone().all(is_free) {
            return Err(wrong("the slots after the last run", after));
        }
        let ends: u64 = (0..table.blocks()).map(|block| u64::from(self.runends(block * BLOCK).count_ones())).sum();
        if [slots, numbers, ends] != [taken, fingerprints, runs] {
            return Err(wrong("the numbers of slots, fingerprints or runs", slots));
        }
        Ok(())
    }
}
