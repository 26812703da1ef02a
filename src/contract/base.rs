//! The base of every kind ([`Base`]). `in_place` says how an image in place is written.

use super::in_place::Marks;
use crate::blocks::probe::{Probe, ProbeKernel};
use crate::contract::{Base, Capabilities, Handle, Row, Sizes};
use crate::error::{Error, Result, Status, error};
use crate::format::{Geometry, Header};
use crate::hash::Hasher;
use crate::simd::{self, Instructions};
use crate::spec::{MAX_PARAMETERS, Number, Parameter, Setting, Spec};
use crate::storage::{Access, Words};
use core::sync::atomic::{AtomicU64, Ordering};

impl Base {
    /// Puts the parts together. The header's `unclean` says in which state the image was when it was opened.
    pub(crate) fn new(row: &'static Row, header: Header, hasher: Hasher, words: Words) -> Base {
        let hasher = hasher.with_own(row.hashing.own);
        let hasher = if (row.hashing.takes_whole)(&header.geometry) { hasher.whole() } else { hasher };
        Base {
            row,
            at_once: words.is_own(),
            header,
            hasher,
            words,
            instructions: simd::best(),
            writing: false,
            marks: Marks::default(),
            insertions: AtomicU64::new(0),
        }
    }

    /// This base with another instruction set.
    pub(crate) fn with_instructions(mut self, instructions: Instructions) -> Base {
        self.instructions = instructions;
        self
    }

    /// What the library knows of the kind.
    #[inline]
    pub fn row(&self) -> &'static Row {
        self.row
    }

    /// The instruction set of the inner loops.
    #[inline]
    pub fn instructions(&self) -> Instructions {
        self.instructions
    }

    /// The header, which describes the image.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The shape of the payload.
    pub fn geometry(&self) -> &Geometry {
        &self.header.geometry
    }

    /// The hash function with its seed or secret.
    pub fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    /// The payload.
    pub fn words(&self) -> &Words {
        &self.words
    }

    /// `found`, what a kind made of the geometry, if it is something.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt) if the kind knows no such geometry.
    pub(crate) fn known<T>(&self, found: Option<T>) -> Result<T> {
        found.ok_or_else(|| self.foreign_geometry())
    }

    /// Refuses a payload in which a bit from this one on is set.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    pub(crate) fn check_zero_from(&self, bits: u64) -> Result<()> {
        match crate::bits::is_zero_from(self.words.shared(), bits) {
            true => Ok(()),
            false => Err(error!(Corrupt, "the payload has bits set after its last one, {bits} ({})", self.row.name)),
        }
    }

    /// Whether the words are the filter's own memory.
    #[inline]
    pub(crate) fn is_own(&self) -> bool {
        self.words.is_own()
    }

    /// The payload, ready to be changed. In an image in place all regions are marked first.
    ///
    /// # Errors
    /// [`Status::UnsupportedByHandle`](crate::Status::UnsupportedByHandle) if the image is open for reading or to be
    /// shared; the errors of [`Base::mark`], and the system's.
    #[inline]
    pub(crate) fn writable(&mut self) -> Result<&mut [u64]> {
        if !self.at_once {
            self.begin_writing()?;
            while let Some(word) = self.first_unmarked() {
                self.mark(word)?;
            }
        }
        self.words.exclusive().ok_or_else(|| Status::Internal.into())
    }

    /// [`Base::writable`] as bytes.
    ///
    /// # Errors
    /// As [`Base::writable`].
    pub(crate) fn writable_bytes(&mut self) -> Result<&mut [u8]> {
        self.writable()?;
        self.words.exclusive_bytes().ok_or_else(|| Status::Internal.into())
    }

    /// The payload, ready to be changed, if that takes no preparation.
    #[inline]
    pub(crate) fn writable_at_once(&mut self) -> Option<&mut [u64]> {
        if self.at_once { self.words.exclusive() } else { None }
    }

    /// Whether [`Base::writable_at_once`] gives the payload now.
    #[inline]
    pub(crate) fn is_at_once(&self) -> bool {
        self.at_once
    }

    /// Allows or ends changes through [`Base::writable_at_once`] to an image in place. The regions of such a change
    /// have to be marked.
    pub(crate) fn allow_at_once(&mut self, allow: bool) {
        self.at_once = allow || self.is_own();
    }

    /// Whether keys may be inserted through a shared reference. They may in the filter's own memory, and in an image
    /// that was opened to be shared.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported).
    pub(crate) fn check_shared(&self) -> Result<()> {
        match self.words.in_place() {
            None | Some(Access::Share) => Ok(()),
            Some(_) => Err(self.refusal()),
        }
    }

    /// The capabilities of this filter: those of its kind with the filter's parameters, without those that the memory
    /// does not allow.
    pub fn capabilities(&self) -> Capabilities {
        let all = self.capabilities_in_memory();
        match self.words.in_place() {
            None => all,
            Some(Access::Write) => all.without(Capabilities::RESIZING).without(Capabilities::SHARING),
            Some(Access::Share) => all.without(Capabilities::WRITING),
            Some(Access::Read) => all.without(Capabilities::WRITING).without(Capabilities::SHARING),
        }
    }

    /// Refuses an operation that the kind or the memory does not allow.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported), saying whether kind or memory is the reason.
    pub(crate) fn check_capability(&self, operation: &str, capability: Capabilities) -> Result<()> {
        if self.capabilities().contains(capability) {
            return Ok(());
        }
        self.check_kind(operation, capability)?;
        if Capabilities::RESIZING.contains(capability) {
            return Err(error!(
                UnsupportedByHandle,
                "an image in place keeps its size; to {operation} it, open it as a copy (mode load)"
            ));
        }
        Err(self.refusal())
    }

    /// The capabilities that this filter would have in its own memory: those of its kind with the filter's parameters.
    pub fn capabilities_in_memory(&self) -> Capabilities {
        self.row.capabilities_of(self.geometry())
    }

    /// Refuses an operation that no filter of the kind with these parameters can do.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported).
    pub(crate) fn check_kind(&self, operation: &str, capability: Capabilities) -> Result<()> {
        match self.capabilities_in_memory().contains(capability) {
            true => Ok(()),
            false => Err(self.unsupported(operation)),
        }
    }

    /// The error for an operation that the kind cannot do, or cannot do with this filter's choices.
    #[cold]
    pub fn unsupported(&self, operation: &str) -> Error {
        let Row { name, ref varying, .. } = *self.row;
        let what = self.row.handle().plural();
        if (varying.lacks)(self.geometry()) == Capabilities::NONE {
            return error!(Unsupported, "{what} of the kind {name} cannot {operation}");
        }
        let choice = self.row.parameters.iter().find_map(|parameter| {
            let chosen = parameter.choices().get(self.geometry().parameter(parameter)? as usize)?;
            Some((parameter.name, *chosen))
        });
        let (parameter, chosen) = choice.unwrap_or_default();
        error!(Unsupported, "{what} of the kind {name} with {parameter} = {chosen} cannot {operation}")
    }

    /// The identity that two filters must share to combine: kind, layout, the identity of the geometry, and hash
    /// function with its seed or secret.
    pub fn compatibility_id(&self) -> [u8; 16] {
        self.header.compatibility_id(&(self.row.identity)(self.geometry()))
    }

    /// The spec that makes an empty filter compatible with this one, or builds this one anew. The secret key is
    /// missing, because it is not kept.
    pub fn spec(&self) -> Spec {
        let Header { kind, hash, identifier, capacity, false_positive_rate, .. } = &self.header;
        // A filter that grew is compatible with the one that it was before.
        let geometry = (self.row.identity)(self.geometry());
        let mut parameters = [Setting::default(); MAX_PARAMETERS];
        let stored =
            self.row.parameters.iter().filter_map(|parameter| Some((parameter, self.geometry().parameter(parameter)?)));
        for (setting, (parameter, value)) in parameters.iter_mut().zip(stored) {
            *setting = Setting { id: parameter.id(), value: parameter.value_of_word(value) };
        }
        let (false_positive_rate, bits, hashes) = match self.row.sizes {
            Sizes::Multiples(_) => (0.0, geometry.bits, geometry.hashes),
            Sizes::ByKeys => (*false_positive_rate, 0, 0),
        };
        Spec {
            kind: Some(*kind),
            capacity: self.row.room.made_for.map_or(*capacity, |made_for| made_for(&geometry)),
            false_positive_rate,
            bits,
            hashes,
            hash: *hash,
            seed: if hash.is_keyed() { 0 } else { *identifier },
            secret: None,
            kernel: self.instructions.kernel(),
            parameters,
        }
    }

    /// The error for an image, or a spec, of a kind that has another type of handle.
    #[cold]
    pub(crate) fn other_handle(&self, wanted: Handle) -> Error {
        let (name, handle, wanted) = (self.row.name, self.row.handle(), wanted.name());
        let (kind_of, one) = (handle.name(), handle.with_article());
        error!(Unsupported, "{name} is a kind of {kind_of}, not of {wanted}: make it or open it as {one}")
    }

    /// The error for a header whose geometry the kind cannot have.
    #[cold]
    pub(crate) fn foreign_geometry(&self) -> Error {
        let (name, geometry) = (self.row.name, self.geometry());
        error!(Corrupt, "the header's geometry is not one of a {name} filter: {geometry:?}")
    }

    /// The error for a filter without room for another key.
    #[cold]
    pub(crate) fn full(&self) -> Error {
        let (keys, name, handle) = (self.count(), self.row.name, self.row.handle().name());
        if self.is_own() {
            return error!(Full, "the {name} {handle} is full: it holds {keys} keys");
        }
        error!(Full, "the image of a {name} {handle} is full: it holds {keys} keys; a copy (mode load) may grow")
    }

    /// The reason why an image in place is not changed, and how to open it so that it can be.
    #[cold]
    pub(crate) fn refusal(&self) -> Error {
        let Some(image) = self.words.image() else {
            return error!(UnsupportedByHandle, "the compact form is only read: copy the filter to change it");
        };
        match image.access() {
            Access::Read if image.is_inherited() => {
                error!(
                    UnsupportedByHandle,
                    "the image was opened by another process, before a fork; to change it, open it in this one"
                )
            }
            Access::Read => {
                error!(
                    UnsupportedByHandle,
                    "the image is open for reading; to change it, open it for writing (mode write), or \
                    to be shared (mode share)"
                )
            }
            Access::Share => {
                error!(
                    UnsupportedByHandle,
                    "the image is open to be shared, for shared insertion; for all else open it for \
                    writing (mode write)"
                )
            }
            Access::Write => {
                error!(
                    UnsupportedByHandle,
                    "the image is open for one writer; for shared insertion open it to be shared (mode \
                    share)"
                )
            }
        }
    }

    /// How many keys were inserted so far, as far as this handle knows.
    pub fn count(&self) -> u64 {
        self.header.count.saturating_add(self.insertions.load(Ordering::Relaxed))
    }

    /// Sets the count of keys that were offered.
    pub(crate) fn set_count(&mut self, keys: u64) {
        self.header.count = keys;
        *self.insertions.get_mut() = 0;
    }

    /// Sets the false-positive rate at capacity.
    pub(crate) fn promise(&mut self, false_positive_rate: f64) {
        self.header.false_positive_rate = false_positive_rate;
    }

    /// Sets the capacity, of a filter that was resized.
    pub(crate) fn set_capacity(&mut self, keys: u64) {
        self.header.capacity = keys;
    }

    /// Counts keys that were removed.
    pub(crate) fn subtract_count(&mut self, keys: u64) {
        let count = self.count();
        self.set_count(count.saturating_sub(keys));
    }

    /// Counts keys that were offered.
    #[inline]
    pub(crate) fn add_count(&mut self, keys: u64) {
        self.header.count = self.header.count.saturating_add(keys);
    }

    /// Whether the layout version is all that keeps another filter of the kind from being combined with this one.
    pub(crate) fn differs_in_layout_only(&self, other: &Base) -> bool {
        let (header, layout_version) = (other.header.clone(), self.header.layout_version);
        let identity = (other.row.identity)(other.geometry());
        Header { layout_version, ..header }.compatibility_id(&identity) == self.compatibility_id()
    }

    /// Counts keys that were offered, while others use the filter.
    pub(crate) fn add_count_shared(&self, keys: u64) {
        let add = |now: u64| Some(now.saturating_add(keys));
        // The closure always gives a sum.
        let _ = self.insertions.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// The words of the payload that a single key needs, and how to find the key in them.
    pub(crate) fn probe<'a>(&'a self, kernel: ProbeKernel, words: &'a [AtomicU64]) -> Probe<'a> {
        Probe { kernel, words, insertions: self.is_own().then_some(&self.insertions) }
    }

    /// Notes that nobody marked the payload clean, because the filter took in keys of an unclean one.
    pub(crate) fn taint(&mut self) {
        self.header.unclean = true;
    }

    /// A copy in its own memory. The copy of an image in place is checked against the image's checksums.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`]; [`Status::Corrupt`].
    pub fn copy(&self) -> Result<Base> {
        let mut header = Header { count: self.count_now(), ..self.header.clone() };
        let words = if self.is_own() {
            self.words.copy()?
        } else {
            let mut words = Words::zeroed(self.words.bytes())?;
            let mut rest = words.exclusive().unwrap_or_default();
            header.unclean = self.for_each_region(self.stays_unclean(), |bytes, _| {
                let (place, after) = core::mem::take(&mut rest).split_at_mut(bytes.len() / 8);
                for (word, bytes) in place.iter_mut().zip(bytes.as_chunks().0) {
                    *word = u64::from_le_bytes(*bytes);
                }
                rest = after;
                Ok(())
            })?;
            words
        };
        Ok(Base::new(self.row, header, self.hasher.clone(), words).with_instructions(self.instructions))
    }

    /// Lengthens a payload in the filter's own memory by zeros, to the length of a geometry that is no smaller. An
    /// error leaves everything as it was.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory), [`Status::TooLarge`](crate::Status::TooLarge).
    pub(crate) fn lengthen(&mut self, geometry: Geometry) -> Result<()> {
        if geometry.payload_bytes > self.words.bytes() {
            self.words.lengthen(geometry.payload_bytes)?;
        }
        self.header.geometry = geometry;
        Ok(())
    }

    /// Takes over another payload and its geometry, and returns the old ones.
    pub(crate) fn replace(&mut self, geometry: Geometry, words: Words) -> (Geometry, Words) {
        (core::mem::replace(&mut self.header.geometry, geometry), core::mem::replace(&mut self.words, words))
    }
}

/// Names the first difference between two filters, if they cannot be combined.
pub(crate) fn check_compatible(a: &Base, b: &Base) -> Result<()> {
    if a.compatibility_id() == b.compatibility_id() {
        return Ok(());
    }
    let (ga, gb) = ((a.row.identity)(a.geometry()), (b.row.identity)(b.geometry()));
    let (row, other_row) = (a.row, b.row);
    let (a, b) = (&a.header, &b.header);
    // Sizes follow from the capacities, so the message names the capacities too.
    let differ_in_size = |what: &str, x: u64, y: u64| {
        let (capacity, other) = (a.capacity, b.capacity);
        let why = "filters of one capacity and rate, or of one number of bits and hashes, have one size";
        if capacity == other || capacity == 0 || other == 0 {
            return error!(Incompatible, "the filters differ in {what}: {x} and {y}: {why}");
        }
        error!(Incompatible, "the filters differ in {what}: {x} for {capacity} keys and {y} for {other}: {why}")
    };
    Err(if a.kind != b.kind {
        error!(Incompatible, "the filters differ in kind: {} and {}", row.name, other_row.name)
    } else if a.layout_version != b.layout_version {
        let (layout, other) = (a.layout_version, b.layout_version);
        error!(Incompatible, "the filters differ in layout version: {layout} and {other}")
    } else if ga.bits != gb.bits {
        differ_in_size("bits", ga.bits, gb.bits)
    } else if ga.hashes != gb.hashes {
        differ_in_size("hashes", ga.hashes.into(), gb.hashes.into())
    } else if a.hash != b.hash {
        error!(Incompatible, "the filters differ in hash: {} and {}", a.hash, b.hash)
    } else if a.identifier != b.identifier {
        error!(Incompatible, "the filters differ in seed or secret: {:#x} and {:#x}", a.identifier, b.identifier)
    } else if let Some((name, x, y)) = differing_parameter(row, &ga, &gb) {
        error!(Incompatible, "the filters differ in {name}: {x} and {y}")
    } else {
        let differing = ga.words.iter().zip(&gb.words).find(|(x, y)| x != y);
        let (x, y) = differing.map_or((0, 0), |(x, y)| (*x, *y));
        differ_in_size("size", x, y)
    })
}

/// The first parameter in which two geometries of a kind differ, and its values.
fn differing_parameter(row: &Row, a: &Geometry, b: &Geometry) -> Option<(&'static str, Chosen, Chosen)> {
    row.parameters.iter().find_map(|parameter| {
        let (x, y) = (a.parameter(parameter)?, b.parameter(parameter)?);
        let chosen = |word| Chosen(parameter, word);
        (x != y).then(|| (parameter.name, chosen(x), chosen(y)))
    })
}

/// The value of a parameter in a geometry's word: its name, or the number.
struct Chosen(&'static Parameter, u64);

impl core::fmt::Display for Chosen {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.0.choices().get(self.1 as usize) {
            Some(name) => f.write_str(name),
            None => Number(self.0.value_of_word(self.1)).fmt(f),
        }
    }
}
