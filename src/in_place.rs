//! How an image in place is written, by one handle or by many processes at once, and how it is read meanwhile.
//!
//! The words and what they mean. *Clean*: somebody vouched for exactly these bytes, and they match their checksums.
//! *Dirty*: nobody does. A handle that began from a clean image and changed it vouches for the change when it seals the
//! image; [`Base::vouch`] does so for whatever there is.
//!
//! Before it first changes a region, a handle *marks* it: compares it with its entry in the table of checksums, and
//! makes the entry 0. A region that does not match is not changed, so that no damage gets a new checksum; and only
//! regions whose entry is 0 need one when the image is sealed.

use crate::base::Base;
use crate::error::{Error, Result, Status, error};
use crate::format::{
    self, COUNT_OFFSET, DIRTY, HEADER_LENGTH, Header, REGION_BYTES, REGION_WORDS, SHARING_OFFSET, STATE_OFFSET, Table,
};
use crate::storage::{Access, ImageBytes, Mapping, copy_words, try_vec};
use core::sync::atomic::{AtomicU64, Ordering, fence};

/// In the word that sharers keep: how many they are.
const SHARERS: u64 = 0xffff_ffff;
/// The image was clean when the first of them came, and nobody has died since.
const BEGAN_CLEAN: u64 = 1 << 32;
/// One of those who closed it has changed it.
const CHANGED: u64 = 1 << 33;

/// How many regions are given out at once. Written at once, pieces of this size cost no more than larger ones, and they
/// stay in the cache between the copy, the checksum and the system.
const PIECE: usize = 4;

/// How often a reader looks again at an image that is brought up to date while it reads.
const ATTEMPTS: u32 = 4;

/// Which regions a handle has marked: a bit each.
#[derive(Default)]
pub(crate) struct Marks {
    bits: Vec<AtomicU64>,
    regions: usize,
}

impl Marks {
    fn new(regions: usize) -> Result<Marks> {
        let mut bits: Vec<AtomicU64> = try_vec(regions.div_ceil(64))?;
        bits.resize_with(regions.div_ceil(64), AtomicU64::default);
        Ok(Marks { bits, regions })
    }

    /// Whether the region may be changed. Memory that is not an image in place has no marks, and no regions to mark.
    #[inline]
    fn has(&self, region: usize) -> bool {
        self.bits.get(region / 64).is_none_or(|bits| bits.load(Ordering::Acquire) >> (region % 64) & 1 == 1)
    }

    fn add(&self, region: usize) {
        if let Some(bits) = self.bits.get(region / 64) {
            bits.fetch_or(1 << (region % 64), Ordering::Release);
        }
    }

    fn clear(&self) {
        self.bits.iter().for_each(|bits| bits.store(0, Ordering::Relaxed));
    }

    fn any(&self) -> bool {
        self.bits.iter().any(|bits| bits.load(Ordering::Relaxed) != 0)
    }

    fn first_missing(&self) -> Option<usize> {
        let missing = |(i, bits): (usize, &AtomicU64)| {
            let ones = bits.load(Ordering::Acquire).trailing_ones();
            (ones < 64).then(|| 64 * i + ones as usize)
        };
        self.bits.iter().enumerate().find_map(missing).filter(|region| *region < self.regions)
    }
}

/// What a change in place works on.
#[derive(Clone, Copy)]
struct Place<'a> {
    image: &'a ImageBytes,
    table: Table<'a>,
    payload: &'a [AtomicU64],
}

impl<'a> Place<'a> {
    fn region(&self, region: usize) -> &'a [AtomicU64] {
        let start = region * REGION_WORDS;
        &self.payload[start..self.payload.len().min(start + REGION_WORDS)]
    }

    fn checksum(&self) -> u64 {
        self.image.word(format::CHECKSUM_OFFSET).load(Ordering::Relaxed)
    }

    fn state(&self) -> &'a AtomicU64 {
        self.image.word(STATE_OFFSET)
    }

    /// Whether the image says that it is dirty.
    fn is_marked(&self) -> bool {
        self.state().load(Ordering::Relaxed) != 0
    }

    fn sharing(&self) -> &'a AtomicU64 {
        self.image.word(SHARING_OFFSET)
    }

    fn count(&self) -> &'a AtomicU64 {
        self.image.word(COUNT_OFFSET)
    }

    /// What the image says of itself now.
    fn header(&self) -> Result<Header> {
        let read = |bytes: &mut [u8; HEADER_LENGTH]| {
            self.image.read(bytes);
            Ok(bytes.len())
        };
        Header::read(read).map(|(header, _)| header)
    }

    /// The checksum of the table of a clean image: two sealed images of one payload differ in it if they differ at all.
    /// `None` if the image is dirty.
    fn clean_table(&self) -> Result<Option<u64>> {
        Ok((!self.header()?.dirty).then(|| self.table.own_checksum()))
    }

    /// Refuses to begin with a clean image whose table is damaged: an entry that became 0 by itself would be sealed.
    fn check_table(&self, dirty: bool) -> Result<()> {
        if dirty || self.table.is_sealed(self.checksum()) { Ok(()) } else { Err(damaged_table()) }
    }

    /// Refuses to seal an image whose end was cut off since it was clean, and is zeros now: nobody made its entries 0.
    /// The table's checksum, which nobody writes while the image is dirty, is its last word.
    fn check_end(&self) -> Result<()> {
        if self.table.own_checksum() != 0 { Ok(()) } else { Err(damaged_table()) }
    }

    /// Marks the image dirty, and has that on its disk before anything else.
    fn make_dirty(&self) -> Result<()> {
        let before = self.state().swap(DIRTY, Ordering::Release);
        let written = self.image.flush(STATE_OFFSET, STATE_OFFSET + 8);
        if written.is_err() {
            // Nothing was changed, so nothing is dirty.
            self.state().store(before, Ordering::Release);
        }
        written
    }

    /// Makes a dirty image clean, with this header: its second part on the disk first, then the state.
    fn make_clean(&self, header: &Header) -> Result<()> {
        self.image.write(COUNT_OFFSET, &header.second_part(self.checksum()))?;
        let written = self.image.write(STATE_OFFSET, &[0; 8]);
        if written.is_err() {
            // The disk may have the one or the other. What this process shows is that it did not work.
            self.state().store(DIRTY, Ordering::Release);
            let _ = self.image.flush(STATE_OFFSET, STATE_OFFSET + 8);
        }
        written
    }
}

impl Base {
    /// The image in place, if the words lie in one.
    fn place(&self) -> Option<Place<'_>> {
        let image = self.words.image()?;
        let payload_bytes = self.geometry().payload_bytes;
        let words =
            image.words_at(HEADER_LENGTH + payload_bytes as usize, format::table_bytes(payload_bytes) as usize / 8);
        Some(Place { image, table: Table::new(words, payload_bytes), payload: self.words.shared() })
    }

    fn place_for(&self, access: Access) -> Result<Place<'_>> {
        self.place().filter(|place| place.image.access() == access).ok_or_else(|| self.refusal())
    }

    // ---- Marking -------------------------------------------------------------------------------------------------

    /// A word, if it lies in a region that is not marked: this one.
    #[inline]
    pub(crate) fn unmarked(&self, word: usize) -> Option<usize> {
        if self.marks.has(word / REGION_WORDS) { None } else { Some(word) }
    }

    /// The first word in a region that is not marked, if there is one.
    pub(crate) fn first_unmarked(&self) -> Option<usize> {
        Some(self.marks.first_missing()? * REGION_WORDS)
    }

    /// Marks the region that a word lies in, so that it may be changed.
    ///
    /// Among processes that share the image: whoever makes an entry 0, or finds it 0, has a release fence between that
    /// and the first bit that it sets. Whoever compares a region reads its bits, then passes an acquire fence, and only
    /// then looks at the entry again. If it saw one of those bits, the fences make it see the 0 as well; so an entry
    /// that is still not 0 belongs to bytes that nobody of them changed.
    ///
    /// # Errors
    /// [`Status::Corrupt`] if the region does not match its entry; it is then as it was.
    #[cold]
    pub(crate) fn mark(&self, word: usize) -> Result<()> {
        let Some(place) = self.place() else { return Ok(()) };
        let region = word / REGION_WORDS;
        let entry = &place.table.entries()[region];
        let expected = entry.load(Ordering::Acquire);
        if expected != 0 {
            let words = place.region(region);
            if format::entry_of_words(words) == expected {
                entry.store(0, Ordering::Release);
            } else {
                fence(Ordering::Acquire);
                if entry.load(Ordering::Relaxed) != 0 {
                    return Err(format::differs(region, words.len(), HEADER_LENGTH));
                }
            }
        }
        fence(Ordering::Release);
        self.marks.add(region);
        Ok(())
    }

    /// Marks the image dirty, on its disk too, where this handle has not done so.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if it is not open for one writer; [`Status::Corrupt`] if its table of checksums is
    /// damaged; [`Status::OutOfMemory`]; what the system reports.
    pub(crate) fn begin_writing(&mut self) -> Result<()> {
        match self.words.in_place() {
            None => Ok(()),
            Some(Access::Write) if self.writing => Ok(()),
            _ => {
                self.place_for(Access::Write)?.check_table(self.header.dirty)?;
                self.begin_unchecked()
            }
        }
    }

    /// Whether an image that is open for one writer is marked dirty by this handle.
    #[inline]
    pub(crate) fn has_begun(&self) -> bool {
        self.writing && self.words.in_place() == Some(Access::Write)
    }

    fn begin_unchecked(&mut self) -> Result<()> {
        let place = self.place_for(Access::Write)?;
        let marks = Marks::new(place.table.entries().len())?;
        place.make_dirty()?;
        self.marks = marks;
        self.writing = true;
        Ok(())
    }

    // ---- Sharing -------------------------------------------------------------------------------------------------

    /// Joins those who share the image. In a file they keep count of themselves, each at the gate that [`Mapping`]
    /// holds; in a buffer there are no locks, so nobody knows who is the last, and it stays dirty.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`], and what the system reports.
    pub(crate) fn begin_sharing(&mut self) -> Result<()> {
        let place = self.place_for(Access::Share)?;
        let marks = Marks::new(place.table.entries().len())?;
        let mut dirty = self.header.dirty;
        match place.image.file() {
            None => {
                place.check_table(dirty)?;
                place.make_dirty()?;
            }
            Some(file) => {
                let before = place.sharing().load(Ordering::Relaxed);
                // Whoever finds nobody alive finds the image clean, or left behind by somebody who died.
                let now = match (file.was_alone(), dirty) {
                    (true, true) => 1,
                    (true, false) => 1 | BEGAN_CLEAN,
                    (false, _) => before.wrapping_add(1),
                };
                if file.was_alone() {
                    place.check_table(dirty)?;
                    place.make_dirty()?;
                }
                place.sharing().store(now, Ordering::Release);
                dirty = now & BEGAN_CLEAN == 0;
                file.leave_gate();
            }
        }
        self.header.dirty = dirty;
        self.marks = marks;
        self.writing = true;
        Ok(())
    }

    /// Leaves those who share the image. The last one seals it, if all who came have left in order.
    fn end_sharing(&mut self) -> Result<()> {
        let offered = core::mem::take(self.offered.get_mut());
        let changed = offered > 0 || self.marks.any();
        let place = self.place_for(Access::Share)?;
        let Some(file) = place.image.file() else {
            add_saturating(place.count(), offered);
            return Ok(());
        };
        file.enter_gate()?;
        add_saturating(place.count(), offered);
        let before = place.sharing().load(Ordering::Relaxed);
        let now = before.wrapping_sub((before & SHARERS).min(1)) | if changed { CHANGED } else { 0 };
        place.sharing().store(now, Ordering::Release);
        if !file.is_last() {
            return Ok(());
        }
        if self.header.dirty || now & (SHARERS | BEGAN_CLEAN) != BEGAN_CLEAN || before & SHARERS == 0 {
            place.sharing().store(0, Ordering::Release);
            return Ok(());
        }
        if now & CHANGED == 0 {
            return place.make_clean(&place.header()?);
        }
        place.check_end()?;
        self.header.count = place.count().load(Ordering::Relaxed);
        self.seal()
    }

    // ---- Bringing up to date -------------------------------------------------------------------------------------

    /// Brings an image in place up to date. One that this handle found clean and changed becomes clean again: payload
    /// and table first, then the count, then the state, each on the disk before the next. One that nobody
    /// vouches for, or that others share, comes to the disk and stays dirty. Costs what was changed. Of memory of the
    /// filter's own and of an image that is only read there is nothing to bring.
    ///
    /// # Errors
    /// What the system reports; the image then stays dirty, and another call tries again.
    /// [`Status::Unsupported`] in a child of the process that opened the image to change it.
    pub fn sync(&mut self) -> Result<()> {
        match self.words.in_place() {
            Some(Access::Read) if self.words.image().is_some_and(ImageBytes::is_inherited) => Err(self.refusal()),
            None | Some(Access::Read) => Ok(()),
            Some(Access::Write) => {
                if *self.offered.get_mut() > 0 {
                    self.begin_writing()?;
                    self.header.count = self.count();
                    *self.offered.get_mut() = 0;
                }
                match (self.writing, self.header.dirty) {
                    (false, _) => Ok(()),
                    (true, false) => {
                        self.place_for(Access::Write)?.check_end()?;
                        self.seal()
                    }
                    (true, true) => self.flush(),
                }
            }
            Some(Access::Share) => {
                let place = self.place_for(Access::Share)?;
                let file = place.image.file();
                file.map_or(Ok(()), Mapping::enter_gate)?;
                add_saturating(place.count(), self.offered.swap(0, Ordering::Relaxed));
                file.inspect(|file| file.leave_gate());
                place.image.flush(0, place.image.length())?;
                self.header.count = place.count().load(Ordering::Relaxed);
                Ok(())
            }
        }
    }

    /// Has all bytes on the disk, and leaves the image dirty.
    fn flush(&self) -> Result<()> {
        let place = self.place_for(Access::Write)?;
        place.count().store(self.header.count, Ordering::Release);
        place.image.flush(0, place.image.length())
    }

    /// Gives every marked region its checksum and makes the image clean, for whoever has it alone and vouches for it.
    fn seal(&mut self) -> Result<()> {
        // Whatever becomes of this, a region that is changed later is marked again.
        self.marks.clear();
        let Some(place) = self.place() else { return Ok(()) };
        for (region, entry) in place.table.entries().iter().enumerate() {
            if entry.load(Ordering::Acquire) == 0 {
                entry.store(format::entry_of_words(place.region(region)), Ordering::Release);
            }
        }
        place.table.seal(place.checksum());
        place.image.flush(HEADER_LENGTH, self.header.image_bytes() as usize)?;
        place.make_clean(&self.header)?;
        self.writing = false;
        Ok(())
    }

    /// Declares the bytes as they are now to be right, gives them new checksums, and makes the filter clean. Reads the
    /// whole payload.
    ///
    /// # Errors
    /// [`Status::Unsupported`] for an image that is open for reading or to be shared; what the system reports: the
    /// image is then dirty.
    pub(crate) fn vouch(&mut self) -> Result<()> {
        if self.is_own() {
            self.header.dirty = false;
            return Ok(());
        }
        if !self.writing {
            self.begin_unchecked()?;
        }
        let place = self.place_for(Access::Write)?;
        place.table.clear();
        self.header.count = self.count();
        *self.offered.get_mut() = 0;
        let sealed = self.seal();
        self.header.dirty = sealed.is_err();
        sealed
    }

    /// Makes the bytes of a writable image in place the image of the empty filter that the header describes.
    pub(crate) fn initialise(&mut self) -> Result<()> {
        let header = Header { dirty: true, ..self.header.clone() }.encode();
        let place = self.place_for(Access::Write)?;
        // What can fail comes before the first byte is written.
        let marks = Marks::new(place.table.entries().len())?;
        place.image.fill_zero();
        place.image.store(0, &header);
        self.marks = marks;
        self.writing = true;
        self.seal()
    }

    /// Leaves an image in place as it is, dirty if it was written: for a handle whose state is not to be trusted.
    pub fn abandon(&mut self) {
        self.writing = false;
        *self.offered.get_mut() = 0;
    }

    fn close(&mut self) -> Result<()> {
        match self.words.in_place() {
            Some(Access::Share) if self.writing => self.end_sharing(),
            // It stays dirty, and it is for the system to write.
            Some(Access::Write) if self.writing && self.header.dirty => {
                let place = self.place_for(Access::Write)?;
                place.count().store(self.count(), Ordering::Release);
                Ok(())
            }
            Some(Access::Write) => self.sync(),
            _ => Ok(()),
        }
    }

    // ---- Reading -------------------------------------------------------------------------------------------------

    /// Whether nobody vouches for what this filter holds now: it came from a dirty image, or took in what did, or is
    /// open for reading while another handle changes the image.
    pub fn is_unvouched(&self) -> bool {
        match self.place() {
            Some(place) if place.image.access() == Access::Read => place.header().map_or(true, |header| header.dirty),
            _ => self.header.dirty,
        }
    }

    /// Whether an image of these bytes would say that it is dirty: nobody vouches for them, or not yet.
    pub fn is_dirty(&self) -> bool {
        let marked = self.place().is_some_and(|place| place.is_marked());
        self.header.dirty && self.words.in_place() != Some(Access::Read) || marked
    }

    /// Keys offered as the image says now; of a damaged header what it said before.
    pub fn count_now(&self) -> u64 {
        match self.place() {
            Some(place) if place.image.access() == Access::Read => {
                place.header().map_or(self.header.count, |header| header.count)
            }
            _ => self.count(),
        }
    }

    /// Compares the bytes that are there now with their checksums. Memory of the filter's own has none.
    ///
    /// # Errors
    /// [`Status::Corrupt`], naming the bytes, if a region differs from its checksum, or the header or table does;
    /// [`Status::Dirty`] if all others match but some were touched, or the image or the filter is dirty.
    pub(crate) fn verify(&self, progress: &mut dyn FnMut(u64)) -> Result<()> {
        let Some(place) = self.place() else {
            return if self.header.dirty { Err(Status::Dirty.into()) } else { Ok(()) };
        };
        for _ in 0..ATTEMPTS {
            let before = place.clean_table()?;
            let touched = self.compare(place, progress)?;
            let sealed = place.table.is_sealed(place.checksum());
            fence(Ordering::Acquire);
            let after = place.clean_table()?;
            if before.is_none() || after.is_none() {
                return Err(Status::Dirty.into());
            }
            // Otherwise it was changed and sealed meanwhile; so it was if the table is in order now, or a moment later:
            // sealing what came to the same bytes gives the same table.
            if before == after {
                if sealed && !touched {
                    return Ok(());
                }
                if !sealed && !place.table.is_sealed(place.checksum()) && place.clean_table()? == before {
                    return Err(damaged_table());
                }
            }
        }
        Err(error!(Dirty, "the image is changed again and again while it is read"))
    }

    /// Compares all regions that nobody touched; whether there are others.
    fn compare(&self, place: Place, progress: &mut dyn FnMut(u64)) -> Result<bool> {
        let mut touched = false;
        for (region, entry) in place.table.entries().iter().enumerate() {
            let expected = entry.load(Ordering::Acquire);
            let words = place.region(region);
            if expected == 0 || format::entry_of_words(words) != expected {
                // As in `mark`: an entry that stays belongs to bytes that no writer changed.
                fence(Ordering::Acquire);
                if expected != 0 && entry.load(Ordering::Relaxed) == expected {
                    return Err(format::differs(region, words.len(), HEADER_LENGTH));
                }
                touched = true;
            }
            progress(size_of_val(words) as u64);
        }
        Ok(touched)
    }

    /// Gives a copy of the payload, a few regions at a time, with their entries in the table of checksums. A region of
    /// an image in place that nobody touched is held to its entry first, unless nobody vouches for the filter anyway
    /// (`unvouched`). Whether nobody vouches for what was given.
    ///
    /// # Errors
    /// Those of `give`; [`Status::Corrupt`]; [`Status::OutOfMemory`].
    pub(crate) fn for_each_region(
        &self,
        unvouched: bool,
        give: impl FnMut(&[u8], &[u64]) -> Result<()>,
    ) -> Result<bool> {
        let words = self.words.shared();
        let Some(place) = self.place() else {
            copy_regions(words, |_, _, _| Ok(()), give)?;
            return Ok(unvouched);
        };
        // Others may be changing an image that is only read: its table's checksum tells.
        let reading = !unvouched && place.image.access() == Access::Read;
        let before = if reading { place.clean_table()? } else { None };
        let mut changed = unvouched || reading && before.is_none();
        if !changed && !place.is_marked() && !place.table.is_sealed(place.checksum()) {
            changed = reading && place.clean_table()? != before;
            if !changed && !place.table.is_sealed(place.checksum()) {
                return Err(damaged_table());
            }
        }
        let check = |region: usize, words: &[AtomicU64], found: u64| {
            if changed {
                return Ok(());
            }
            fence(Ordering::Acquire);
            let entry = &place.table.entries()[region];
            let expected = entry.load(Ordering::Relaxed);
            if expected == found {
                return Ok(());
            }
            changed = reading && place.clean_table()? != before;
            // An entry is 0 only in a dirty image; and if that is sealed, its entry is what it was.
            let touched = expected == 0 && place.is_marked();
            if !touched && !changed && entry.load(Ordering::Acquire) != found {
                return Err(format::differs(region, words.len(), HEADER_LENGTH));
            }
            Ok(())
        };
        copy_regions(words, check, give)?;
        Ok(changed)
    }

    /// Holds an image in place that is clean, or was when this handle began, to its checksums, before its bits go into
    /// another filter; whether nobody vouches for them.
    ///
    /// # Errors
    /// [`Status::Corrupt`].
    pub(crate) fn check_vouched(&self) -> Result<bool> {
        let unvouched = self.is_unvouched();
        match self.place() {
            Some(_) if unvouched => Ok(true),
            // This handle or others that share the image have touched the regions whose entries are 0.
            Some(place) if place.image.access() != Access::Read && place.is_marked() => {
                self.compare(place, &mut |_| {}).map(|_| false)
            }
            _ => match self.verify(&mut |_| {}) {
                Err(error) if error.status() == Status::Dirty => Ok(true),
                verified => verified.map(|()| false),
            },
        }
    }
}

impl Drop for Base {
    fn drop(&mut self) {
        // A failure leaves the image dirty, which its next reader sees; `sync` reports it to whoever asks. In a child
        // of the process that opened it the image is only read, and nothing is done.
        let _ = self.close();
    }
}

/// Gives a copy of the words, a few regions at a time, with what their entries in a table of checksums would be.
/// `check` sees each region's number, its words, and the entry of the copy before.
fn copy_regions(
    words: &[AtomicU64],
    mut check: impl FnMut(usize, &[AtomicU64], u64) -> Result<()>,
    mut give: impl FnMut(&[u8], &[u64]) -> Result<()>,
) -> Result<()> {
    let room = (PIECE * REGION_BYTES).min(8 * words.len());
    let mut buffer: Vec<u8> = try_vec(room)?;
    buffer.resize(room, 0);
    for (piece, words) in words.chunks(PIECE * REGION_WORDS).enumerate() {
        let mut entries = [0; PIECE];
        let regions = words.chunks(REGION_WORDS).zip(buffer.chunks_mut(REGION_BYTES)).zip(&mut entries).enumerate();
        for (i, ((words, buffer), found)) in regions {
            *found = format::entry_of(copy_words(words, buffer));
            check(piece * PIECE + i, words, *found)?;
        }
        give(&buffer[..8 * words.len()], &entries[..words.len().div_ceil(REGION_WORDS)])?;
    }
    Ok(())
}

fn damaged_table() -> Error {
    error!(Corrupt, "the table of the payload's checksums is damaged")
}

/// Adds to a count that nobody else changes, or loses a sum to, at the same moment.
fn add_saturating(count: &AtomicU64, keys: u64) {
    let add = |now: u64| Some(now.saturating_add(keys));
    // The closure always gives a sum.
    let _ = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
}

#[cfg(all(test, unix))]
mod tests {
    use crate::format::{REGION_BYTES, tests::READ};
    use crate::storage::tests::FLUSHES_LEFT;
    use crate::{Filter, HashFunction, Mode, OpenOptions, Spec, Status, create, open};
    use std::path::Path;

    const REGIONS: usize = 100;

    fn file(folder: &tempfile::TempDir) -> std::path::PathBuf {
        let bits = 8 * (REGIONS * REGION_BYTES) as u64;
        let path = folder.path().join("filter.petal");
        let spec = Spec { bits, hashes: 6, hash: HashFunction::External, ..Spec::default() };
        create(&spec).unwrap().save(&path).unwrap();
        path
    }

    fn opened(path: &Path, mode: Mode) -> Box<dyn Filter> {
        open(path, &OpenOptions { mode, key: None }).unwrap()
    }

    /// Bytes that `body` reads for checksums of regions.
    fn read_by(body: impl FnOnce()) -> usize {
        let before = READ.get();
        body();
        READ.get() - before
    }

    #[test]
    fn sealing_costs_what_was_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder);
        let one = read_by(|| {
            let mut filter = opened(&path, Mode::Write);
            (0..1000).for_each(|i| assert!(filter.insert_hash(i).is_ok()));
            filter.sync().unwrap();
        });
        assert_eq!(one, 2 * REGION_BYTES, "all of these hashes lie in the first block");
        let shared = read_by(|| {
            let (first, second) = (opened(&path, Mode::Share), opened(&path, Mode::Share));
            first.insert_hash_shared(1).unwrap();
            second.insert_hash_shared(u64::MAX).unwrap();
        });
        assert_eq!(shared, 4 * REGION_BYTES);
        assert_eq!(read_by(|| drop((opened(&path, Mode::Share), opened(&path, Mode::Share)))), 0);
        let all = read_by(|| {
            let mut filter = opened(&path, Mode::Write);
            filter.writable_view().unwrap();
        });
        assert_eq!(all, 2 * REGIONS * REGION_BYTES);
    }

    /// Whichever flush fails, the file is dirty or as it was, the handle knows, and another sync makes it right.
    #[test]
    fn a_sync_that_fails_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder);
        for flushes in 0.. {
            let mut filter = opened(&path, Mode::Write);
            filter.insert_hash(flushes).unwrap();
            FLUSHES_LEFT.set(Some(flushes as u32));
            let synced = filter.sync();
            FLUSHES_LEFT.set(None);
            if synced.is_ok() {
                assert_eq!(flushes, 3, "payload and table, the header's second part, the state");
                return;
            }
            assert_eq!(synced.unwrap_err().status(), Status::Io);
            let reader = opened(&path, Mode::Read);
            assert!(reader.base().is_dirty() && filter.base().is_dirty());
            assert_eq!(reader.verify().unwrap_err().status(), Status::Dirty);
            // What is changed between the two is not lost either.
            filter.insert_hash(u64::MAX - flushes).unwrap();
            filter.sync().unwrap();
            reader.verify().unwrap();
            assert!(reader.contains_hash(flushes) && reader.contains_hash(u64::MAX - flushes));
        }
    }

    /// If the image cannot be marked dirty, nothing is changed.
    #[test]
    fn nothing_begins_before_it_is_on_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder);
        let before = std::fs::read(&path).unwrap();
        let mut filter = opened(&path, Mode::Write);
        FLUSHES_LEFT.set(Some(0));
        assert_eq!(filter.insert_hash(1).unwrap_err().status(), Status::Io);
        assert_eq!(filter.sync().map_err(|error| error.status()), Ok(()));
        drop(filter);
        let share = OpenOptions { mode: Mode::Share, key: None };
        assert_eq!(open(&path, &share).err().unwrap().status(), Status::Io);
        FLUSHES_LEFT.set(None);
        assert!(std::fs::read(&path).unwrap() == before);
        opened(&path, Mode::Read).verify().unwrap();
    }
}
