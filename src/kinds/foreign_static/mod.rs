//! The kind `foreign_static`: a filter that another system made once from all of its keys, looked up in the table as
//! its owner wrote it. [`tables`] has the forms of such tables; [`crate::interop`] reads them.
//!
//! Nothing is made in this kind, and no key is added: whoever has the keys can make a `fuse` filter of them.

pub mod tables;

use crate::batch::answers::Answers;
use crate::batch::keys::WholeKeys;
use crate::batch::ring::{self, Batch, GROUP, Taken};
use crate::blocks::Measure;
use crate::contract::{Base, Hashing, KeyedKind, Kind, Overfill, Payload, Row, Sizes, Structure, over_base};
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT, image_bytes};
use crate::hash::HashFunction;
use crate::spec::{Domain, KindId, Parameter};
use crate::storage::try_box;
use core::sync::atomic::AtomicU64;
use tables::{FORMS, Form, NAMES};

/// The system whose table it is.
pub const FORM: Parameter = Parameter {
    name: "form",
    summary: "the system whose table the filter holds",
    default: 0.0,
    domain: Domain::Choice(&NAMES),
    word: Some(0),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::FOREIGN_STATIC,
    name: "foreign_static",
    summary: "a filter that another system made of all of its keys, for looking keys up",
    parameters: &[&FORM],
    structure: Structure::Filter { open },
    sizes: Sizes::Multiples(8),
    hashes: (0, u32::MAX),
    geometry: |_, _| Err(error!(Unsupported, "foreign_static filters come from other systems' bytes only")),
    lines_per_lookup: |geometry| 3.0_f64.min((geometry.payload_bytes / PAYLOAD_UNIT) as f64),
    false_positive_rate: |geometry, keys| form_of(geometry).map_or(1.0, |form| form.expected_rate(keys)),
    overfill: Overfill::IsBuilt,
    hashing: Hashing { some_hash_keys_themselves: true, ..Hashing::BASE },
    ..Row::BASE
};

/// The geometry of a table of `bytes` bytes: its form's number, and the words whose meaning the form defines. `None` if
/// the form has no table of this size.
pub fn of(bytes: u64, words: [u64; 8]) -> Option<Geometry> {
    let payload_bytes = bytes.checked_next_multiple_of(PAYLOAD_UNIT).filter(|bytes| image_bytes(*bytes).is_some())?;
    let geometry = Geometry { bits: bytes.checked_mul(8)?, hashes: 0, words, payload_bytes };
    form_of(&geometry).map(|_| geometry)
}

fn form_of(geometry: &Geometry) -> Option<Box<dyn Form>> {
    let row = FORMS.get(usize::try_from(geometry.words[0]).ok()?)?;
    (row.open)(geometry)
}

/// A static filter of another system over a payload.
struct ForeignStatic {
    base: Base,
    form: Box<dyn Form>,
}

fn open(base: Base) -> Result<Box<dyn Kind>> {
    let geometry = *base.geometry();
    let is_own = base.header().hash == HashFunction::Format;
    let form = form_of(&geometry)
        .filter(|form| form.takes_keys() == is_own && of(geometry.bits / 8, geometry.words) == Some(geometry));
    let form = base.known(form)?;
    Ok(try_box(ForeignStatic { base, form })?)
}

impl ForeignStatic {
    fn words(&self) -> &[AtomicU64] {
        self.base.words().shared()
    }
}

impl Payload for ForeignStatic {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        if !self.form.is_sound(self.words()) {
            let form = NAMES[self.base.geometry().words[0] as usize];
            return Err(error!(Corrupt, "the parts of the table do not fit together as those of {form} do"));
        }
        self.base.check_zero_from(self.base.geometry().bits)
    }
}

impl Kind for ForeignStatic {
    fn contains_hash(&self, hash: u64) -> bool {
        self.form.contains(self.words(), hash)
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        let words = self.words();
        let ahead = ring::ahead(words.len(), 3);
        let fetch = |_: &(), hash| self.form.fetch(words, hash);
        ring::rolling(&mut (), ahead, batch, fetch, ring::nothing, |(), hash| self.form.contains(words, hash));
    }

    /// Places are cells, and every key has one to itself. Most tables do not say how many keys there are.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        progress(self.base.words().bytes());
        let keys = self.base.count_now();
        Measure::of_cells(keys, self.form.cells(), self.form.rate(self.words(), keys))
    }

    fn as_keyed(&self) -> Option<&dyn KeyedKind> {
        Some(self)
    }
}

/// Only where the form takes keys whole are they given here.
impl KeyedKind for ForeignStatic {
    fn contains_key(&self, key: &[u8]) -> bool {
        self.form.contains_key(self.words(), key)
    }

    fn contains_keys(&self, keys: &WholeKeys, answers: &mut Answers) {
        for start in (0..keys.len()).step_by(GROUP) {
            let count = GROUP.min(keys.len() - start);
            let is_there = |i: usize| keys.with(start + i, |key| self.contains_key(key));
            answers.take(start, (0..count).map(|i| u64::from(is_there(i)) << i).sum(), count);
        }
    }

    fn insert_key(&mut self, _key: &[u8]) -> Result<bool> {
        Err(self.base.unsupported("insert"))
    }

    fn insert_keys(&mut self, _keys: &WholeKeys, _answers: Option<&mut Answers>) -> Taken {
        Taken::none(self.base.unsupported("insert"))
    }
}
