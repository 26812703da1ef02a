//! What the child does, and what must hold for the files afterwards, whenever it died and whatever failed.

use petal::{Builder, BuilderOptions, Capabilities, Filter, Image, Keys, Mode, OpenOptions, Spec, Status, Taken};
use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Keys that the filters hold before the child comes.
pub const OLD: u64 = 1000;
/// Keys that it inserts one by one, and as many again in a batch.
const STEP: u64 = 10;
/// Keys that its builder collects: more than the least memory limit holds.
const COLLECTED: u64 = 300_000;

/// What the child reports while it lives, in memory that outlives it.
pub struct Progress<'a>(pub &'a [AtomicU64; 4]);

impl Progress<'_> {
    fn inserted(&self) -> u64 {
        self.0[0].load(Ordering::SeqCst)
    }

    fn insert(&self, keys: u64) {
        self.0[0].fetch_add(keys, Ordering::SeqCst);
    }

    /// The image is vouched for, and has not changed since.
    fn set_in_order(&self, in_order: bool) {
        self.0[1].store(in_order.into(), Ordering::SeqCst);
    }

    fn in_order(&self) -> bool {
        self.0[1].load(Ordering::SeqCst) == 1
    }

    /// All that was inserted is on the disk.
    fn set_synced(&self) {
        self.0[3].store(self.inserted(), Ordering::SeqCst);
    }

    /// How many of the inserted keys a sync had taken in.
    pub fn synced(&self) -> u64 {
        self.0[3].load(Ordering::SeqCst)
    }

    fn save(&self) {
        self.0[2].store(1, Ordering::SeqCst);
    }

    fn saved(&self) -> bool {
        self.0[2].load(Ordering::SeqCst) == 1
    }
}

/// A part of the child's life.
pub struct Scenario {
    pub name: &'static str,
    prepare: fn(&Path),
    pub act: fn(&Path, &Progress),
    check: fn(&Path, &Progress),
    /// Whether the parent meanwhile keeps the file open for sharing.
    accompanied: bool,
}

pub const ALL: [Scenario; 8] = [
    Scenario { name: "write", prepare: old_file, act: write, check: image_in_place, accompanied: false },
    Scenario {
        name: "write_in_a_larger_file",
        prepare: old_embedded_file,
        act: write,
        check: image_in_place,
        accompanied: false,
    },
    Scenario { name: "share", prepare: old_file, act: share, check: image_in_place, accompanied: false },
    Scenario { name: "share_with_another", prepare: old_file, act: share, check: image_in_place, accompanied: true },
    Scenario { name: "share_window", prepare: old_window, act: turn, check: window_in_place, accompanied: false },
    Scenario { name: "save_over", prepare: old_file, act: save, check: saved_file, accompanied: false },
    Scenario { name: "save_new", prepare: |_| {}, act: save, check: saved_file, accompanied: false },
    Scenario { name: "build", prepare: old_file, act: build, check: saved_file, accompanied: false },
];

impl Scenario {
    /// Runs it in a fresh folder: `child` runs [`Scenario::act`] in another process.
    pub fn run(&self, child: impl FnOnce(&Path, &Progress)) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        (self.prepare)(folder);
        let memory = [const { AtomicU64::new(0) }; 4];
        let mut progress = Progress(&memory);
        let shared = crate::memory::create(&folder.join("progress"));
        progress.0 = shared.words();
        let companion = self.accompanied.then(|| {
            let filter = open(&file(folder), Mode::Share).unwrap();
            filter.insert_shared_u64(u64::MAX).unwrap();
            filter
        });
        child(folder, &progress);
        if let Some(filter) = companion {
            filter.insert_shared_u64(u64::MAX - 1).unwrap();
            drop(filter);
            let filter = open(&file(folder), Mode::Read).unwrap();
            assert!([u64::MAX, u64::MAX - 1].iter().all(|key| filter.contains_u64(*key)), "the companion lost a key");
        }
        (self.check)(folder, &progress);
        nothing_is_left(folder);
    }
}

fn file(folder: &Path) -> PathBuf {
    folder.join("filter.petal")
}

/// Where the image starts in a file that holds something else first. A page ends in the part of its header that
/// changes.
const OFFSET: u64 = 3 * 4096 + 3856;

/// Opens the image that a file is, or the one at [`OFFSET`].
pub fn open(path: &Path, mode: Mode) -> petal::Result<Filter> {
    let options = OpenOptions { mode, ..OpenOptions::default() };
    match fs::File::options().read(true).write(true).open(path) {
        Ok(file) if is_embedded(&file) => petal::open_descriptor(file.as_raw_fd(), OFFSET, &options),
        _ => petal::open(path, &options),
    }
}

fn is_embedded(file: &fs::File) -> bool {
    let mut start = [0; 8];
    file.read_exact_at(&mut start, 0).is_ok() && start == [7; 8]
}

fn old_embedded_file(folder: &Path) {
    old_file(folder);
    let mut bytes = vec![7; OFFSET as usize];
    bytes.extend(fs::read(file(folder)).unwrap());
    bytes.extend([7; 100]);
    fs::write(file(folder), bytes).unwrap();
}

fn spec() -> Spec {
    // Large enough for several regions of checksums.
    Spec::with_capacity(300_000, 1e-4).unwrap()
}

fn filled(keys: u64) -> Filter {
    let mut filter = petal::Filter::new(&spec()).unwrap();
    (0..keys).for_each(|key| assert!(filter.insert_u64(key).is_ok()));
    filter
}

fn old_file(folder: &Path) {
    filled(OLD).save(&file(folder)).unwrap();
}

// ---- A window of keys, whose generations turn while it is shared. ---------------------------------------------------

/// How many keys the window remembers.
const WINDOW: u64 = 9;

fn old_window(folder: &Path) {
    let kind =
        petal::registry::all().find(|row| row.losses.window.is_some() && row.capabilities.contains(SHARED_WINDOW));
    let spec = Spec { kind: Some(kind.unwrap().kind), ..Spec::with_capacity(WINDOW, 1e-8).unwrap() };
    let mut filter = petal::Filter::new(&spec).unwrap();
    (0..OLD).for_each(|key| assert!(filter.insert_u64(key).is_ok()));
    filter.save(&file(folder)).unwrap();
}

/// What a filter can do that forgets while many insert.
const SHARED_WINDOW: Capabilities = Capabilities::INSERT_SHARED.with(Capabilities::AGE_SHARED);

fn turn(folder: &Path, progress: &Progress) {
    let Some(mut filter) = twice(|| open(&file(folder), Mode::Share)) else { return };
    for i in 0..3 * STEP {
        let key = OLD + progress.inserted();
        // A step forgets no more than a third of the window early.
        if i == STEP && twice(|| filter.advance_shared(1)).is_none() {
            return;
        }
        if twice(|| filter.insert_shared_u64(key)).is_some() {
            progress.insert(1);
        }
    }
    let _ = twice(|| filter.sync());
}

/// Wherever the child died, no key of the window is missing, and the next writers go on.
fn window_in_place(folder: &Path, progress: &Progress) {
    let path = file(folder);
    let end = OLD + progress.inserted();
    let holds = |filter: &Filter, end: u64, keys: u64| {
        assert!((end - keys..end).all(|key| filter.contains_u64(key)), "a key of the window is missing");
    };
    holds(&open(&path, Mode::Read).unwrap(), end, WINDOW - 2 * WINDOW / 3);
    let filter = open(&path, Mode::Share).unwrap();
    filter.advance_shared(1).unwrap();
    for key in end..end + 3 * WINDOW {
        filter.insert_shared_u64(key).unwrap();
        holds(&filter, key + 1, WINDOW.min(key + 1 - end));
    }
    drop(filter);
    let mut filter = open(&path, Mode::Write).unwrap();
    for key in end + 3 * WINDOW..end + 6 * WINDOW {
        filter.insert_u64(key).unwrap();
        holds(&filter, key + 1, WINDOW);
    }
    assert!((0..100).all(|key| !filter.contains_u64(key)), "what is older is forgotten");
    filter.mark_clean().unwrap();
    drop(filter);
    open(&path, Mode::Load).unwrap().verify().unwrap();
}

// ---- What the child does. A failure is what it may meet; it tries once more, as a program would. --------------------

fn twice<T>(mut act: impl FnMut() -> petal::Result<T>) -> Option<T> {
    act().or_else(|_| act()).ok()
}

fn sync(filter: &mut Filter, progress: &Progress) {
    let synced = twice(|| filter.sync()).is_some();
    progress.set_in_order(synced);
    if synced {
        progress.set_synced();
    }
}

fn write(folder: &Path, progress: &Progress) {
    let Some(mut filter) = twice(|| open(&file(folder), Mode::Write)) else { return };
    for _ in 0..STEP {
        progress.set_in_order(false);
        if twice(|| filter.insert_u64(OLD + progress.inserted())).is_some() {
            progress.insert(1);
        }
    }
    sync(&mut filter, progress);
    let keys: Vec<u64> = (0..STEP).map(|i| OLD + progress.inserted() + i).collect();
    progress.set_in_order(false);
    let Taken { keys: mut done, outcome } = filter.insert_batch(&Keys::U64(&keys), None);
    if outcome.is_err() {
        done += filter.insert_batch(&Keys::U64(&keys[done..]), None).keys;
    }
    progress.insert(done as u64);
    sync(&mut filter, progress);
    // Closing an image that is in order leaves it so.
    drop(filter);
}

fn share(folder: &Path, progress: &Progress) {
    let Some(mut filter) = twice(|| open(&file(folder), Mode::Share)) else { return };
    for _ in 0..STEP {
        if twice(|| filter.insert_shared_u64(OLD + progress.inserted())).is_some() {
            progress.insert(1);
        }
    }
    if twice(|| filter.sync()).is_some() {
        progress.set_synced();
    }
    let keys: Vec<u64> = (0..STEP).map(|i| OLD + progress.inserted() + i).collect();
    if twice(|| filter.insert_shared_batch(&Keys::U64(&keys), None).outcome).is_some() {
        progress.insert(STEP);
    }
    drop(filter);
}

fn save(folder: &Path, progress: &Progress) {
    let filter = filled(2 * OLD);
    if twice(|| filter.save(&file(folder))).is_some() {
        progress.save();
    }
}

fn build(folder: &Path, progress: &Progress) {
    let options = || BuilderOptions {
        memory_limit: Some(petal::MIN_MEMORY_LIMIT),
        temporary_directory: Some(folder.to_owned()),
        ..BuilderOptions::default()
    };
    let Some(mut builder) = twice(|| Builder::new(&spec(), options())) else { return };
    let mut next = 0;
    while next < COLLECTED {
        if twice(|| builder.add_u64(next)).is_none() {
            return;
        }
        next += 1;
    }
    if twice(|| builder.save(&file(folder))).is_some() {
        progress.save();
    }
}

// ---- What must hold afterwards. -------------------------------------------------------------------------------------

/// The file opens; it is clean and matches its checksums, or it is unclean; no key whose insertion had returned is
/// missing; and only vouching makes an unclean file clean.
fn image_in_place(folder: &Path, progress: &Progress) {
    let path = file(folder);
    let filter = open(&path, Mode::Read).unwrap();
    let unclean = filter.base().header().unclean;
    let verified = filter.verify().map_err(|error| error.status());
    assert_eq!(verified, if unclean { Err(Status::Unclean) } else { Ok(()) }, "what the file says of itself");
    assert!(!(unclean && progress.in_order()), "it was in order and is unclean");
    let keys = OLD + progress.inserted();
    assert!((0..keys).all(|key| filter.contains_u64(key)), "a key is missing");
    drop(filter);
    for mode in [Mode::Share, Mode::Write] {
        let mut filter = open(&path, mode).unwrap();
        if mode == Mode::Write {
            filter.insert_u64(keys).unwrap();
            filter.sync().unwrap();
        } else {
            filter.insert_shared_u64(keys).unwrap();
        }
        drop(filter);
        let after = open(&path, Mode::Read).unwrap();
        assert_eq!(after.base().header().unclean, unclean, "{mode:?} handles vouch for nothing");
        assert!(after.contains_u64(keys));
    }
    let mut filter = open(&path, Mode::Write).unwrap();
    filter.mark_clean().unwrap();
    drop(filter);
    let filter = open(&path, Mode::Load).unwrap();
    filter.verify().unwrap();
    assert!((0..=keys).all(|key| filter.contains_u64(key)), "a key is missing after all");
}

/// The path names the complete old file or the complete new one.
fn saved_file(folder: &Path, progress: &Progress) {
    let path = file(folder);
    let old = match petal::open(&path, &OpenOptions { mode: Mode::Load, ..OpenOptions::default() }) {
        Ok(filter) => {
            filter.verify().unwrap();
            assert!((0..OLD).all(|key| filter.contains_u64(key)), "a key is missing");
            let count = filter.base().header().count;
            assert!((0..count).all(|key| filter.contains_u64(key)), "a key is missing");
            assert!([OLD, 2 * OLD, COLLECTED].contains(&count));
            count == OLD
        }
        Err(error) => {
            assert_eq!(error.status(), Status::NotFound);
            true
        }
    };
    assert!(!(old && progress.saved()), "it was saved");
}

/// The next save to the folder removes what the dead left there.
fn nothing_is_left(folder: &Path) {
    filled(1).save(&folder.join("next.petal")).unwrap();
    let known = ["filter.petal", "next.petal", "progress"];
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(known.iter().any(|known| name == *known), "{name:?} was left");
    }
}
