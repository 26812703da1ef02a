//! What changes in place, in steps that are the same in every run, and what must hold for the image when a writer died
//! in one of them.

use petal::{Image, Mode, OpenOptions, Result};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Something that changes in place.
pub trait Subject: Send + Sync {
    fn name(&self) -> &str;

    /// The image before the first step.
    fn image(&self) -> Vec<u8>;

    /// How many steps there are.
    fn steps(&self) -> u64;

    /// How many steps include every sort of step.
    fn watched(&self) -> u64;

    /// The child takes these steps one after the other. The first number of `progress` counts the steps that returned,
    /// and the second says before which step the child stops itself.
    fn act(&self, path: &Path, steps: std::ops::Range<u64>, progress: &[AtomicU64; 4]);

    /// Checks an image whose writer died after the step `done` had returned, and before the next one had: the image
    /// opens, and says that it is unclean; no step that returned is lost; the step under way can be taken again; and
    /// the image can be vouched for. `Err` says what does not hold.
    fn check(&self, image: &[u8], done: u64) -> std::result::Result<(), String>;
}

/// A handle of any sort, and `World`: what else its steps need.
pub struct Of<H, World> {
    pub name: String,
    /// How the image is opened to be changed.
    pub mode: Mode,
    pub steps: u64,
    /// How many steps include every sort of step.
    pub watched: u64,
    pub new: Box<dyn Fn() -> (H, World) + Send + Sync>,
    /// Takes a step, for the first time or after a writer died in it.
    pub step: fn(&mut H, &mut World, u64) -> Result<()>,
    /// Whether a step can be taken again after a writer died in it.
    pub is_repeated: fn(&H, u64) -> bool,
    /// Whether a reader sees only whole steps. Otherwise only whoever changes or copies an unclean image does.
    pub reads_whole: bool,
    /// What is lost of an image, compared with handles that took all steps before the one under way, and this step too.
    pub lost: fn(&Seen<H>) -> Option<String>,
}

/// An image and what it may be.
pub struct Seen<'a, H> {
    pub image: &'a H,
    pub before: &'a H,
    pub after: &'a H,
    /// The steps that returned.
    pub done: u64,
}

impl<H: Image, World> Of<H, World> {
    /// A handle in its own memory that has taken `steps` steps, and its world.
    fn after(&self, steps: u64) -> (H, World) {
        let (mut handle, mut world) = (self.new)();
        (0..steps).for_each(|step| (self.step)(&mut handle, &mut world, step).unwrap());
        (handle, world)
    }
}

impl<H: Image + Send + Sync, World> Subject for Of<H, World> {
    fn name(&self) -> &str {
        &self.name
    }

    fn image(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let put = &mut |piece: &[u8]| {
            bytes.extend_from_slice(piece);
            Ok(())
        };
        self.after(0).0.serialize_to(put).unwrap();
        bytes
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn watched(&self) -> u64 {
        self.watched
    }

    fn act(&self, path: &Path, steps: std::ops::Range<u64>, progress: &[AtomicU64; 4]) {
        let options = OpenOptions { mode: self.mode, ..OpenOptions::default() };
        let mut handle: H = petal::open_as(path, &options).unwrap();
        let mut world = (self.new)().1;
        let [done, stops, ..] = progress;
        for step in steps {
            if step == stops.load(Ordering::SeqCst) {
                crate::tracer::stop();
            }
            (self.step)(&mut handle, &mut world, step).unwrap();
            done.store(step + 1, Ordering::SeqCst);
        }
        // The parent kills it here if it did not before.
        loop {
            std::thread::park();
        }
    }

    fn check(&self, image: &[u8], done: u64) -> std::result::Result<(), String> {
        let (before, mut world) = self.after(done);
        let after = self.after(done + 1).0;
        let mut buffer = Buffer::new(image);
        let lost = |image: &H, when: &str| {
            let seen = Seen { image, before: &before, after: &after, done };
            (self.lost)(&seen).map_or(Ok(()), |lost| Err(format!("{when}: {lost}")))
        };
        let shown = |when: &'static str| move |error: petal::Error| format!("{when}: {:?}: {error}", error.status());

        let read: H = buffer.open(Mode::Read).map_err(shown("opened for reading"))?;
        let is_unclean = read.base().header().unclean;
        if done > 0 && !is_unclean {
            return Err("the image says that it is clean".into());
        }
        match read.verify() {
            Err(error) if error.status() == petal::Status::Unclean && is_unclean => {}
            Ok(()) if !is_unclean => {}
            outcome => return Err(format!("verifying gives {outcome:?}")),
        }
        if self.reads_whole {
            lost(&read, "reading")?;
        }
        drop(read);
        let copy: H = buffer.open(Mode::Load).map_err(shown("loaded"))?;
        lost(&copy, "loading")?;
        drop(copy);

        // The next writer takes the step again.
        let mut next: H = buffer.open(self.mode).map_err(shown("opened again"))?;
        lost(&next, "opening again")?;
        let is_repeated = (self.is_repeated)(&next, done);
        if is_repeated {
            (self.step)(&mut next, &mut world, done).map_err(shown("the step again"))?;
        }
        drop(next);
        let lost = |image: &H, when: &str| match is_repeated {
            true => {
                let seen = Seen { image, before: &after, after: &after, done: done + 1 };
                (self.lost)(&seen).map_or(Ok(()), |lost| Err(format!("{when}: {lost}")))
            }
            false => lost(image, when),
        };
        let mut next: H = buffer.open(Mode::Write).map_err(shown("opened to be vouched for"))?;
        lost(&next, "the step again")?;
        if is_unclean && !next.base().stays_unclean() {
            return Err("a later writer made the image clean".into());
        }
        next.mark_clean().map_err(shown("vouching"))?;
        drop(next);
        let last: H = buffer.open(Mode::Load).map_err(shown("loaded at last"))?;
        last.verify().map_err(shown("verified at last"))?;
        lost(&last, "at last")
    }
}

/// An image in memory that begins at a multiple of 8 bytes.
struct Buffer {
    words: Vec<u64>,
    length: usize,
}

impl Buffer {
    fn new(bytes: &[u8]) -> Buffer {
        let word = |eight: &[u8]| {
            let mut word = [0; 8];
            word[..eight.len()].copy_from_slice(eight);
            u64::from_ne_bytes(word)
        };
        Buffer { words: bytes.chunks(8).map(word).collect(), length: bytes.len() }
    }

    fn open<H: Image>(&mut self, mode: Mode) -> Result<H> {
        let start = NonNull::new(self.words.as_mut_ptr()).unwrap().cast();
        // SAFETY: the words outlive every handle: each one is dropped before the next one is opened.
        unsafe { petal::open_in_buffer_as(start, self.length, &OpenOptions { mode, ..OpenOptions::default() }) }
    }
}
