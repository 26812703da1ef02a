//! Words of payloads that no key made, with right checksums, for every kind: what opens holds its state to its bounds,
//! and then grows no more than a filter of its kind.

use crate::common::{Buffer, Case, each, filled, hash_of, image, is_soak, layouts, mix, share_of};
use crate::format::seal;
use crate::interop;
use petal::{Capabilities, Filter, Image, Mode, OpenOptions, Overfill, Spec, load};

const HEADER: usize = 256;
/// Words in a line, and in the state that a kind keeps after its places.
const LINE: usize = 8;
/// How many keys come after the words were forged.
const MORE: u64 = 40;

/// What replaces a word.
fn hostile(word: u64) -> impl Iterator<Item = u64> {
    let powers = [1, 7, 16, 31, 32, 53, 62, 63].map(|power| 1_u64 << power);
    let near = [word.wrapping_sub(1), word.wrapping_add(1), !word, word | 1 << 63];
    [0, 1, u64::MAX, u64::MAX - 1].into_iter().chain(powers).chain(near).filter(move |other| *other != word)
}

/// A filter whose image is forged, and how keys go into it.
struct Subject {
    name: String,
    spec: Option<Spec>,
    filter: Filter,
}

impl Subject {
    fn of(case: &Case) -> Subject {
        let room = Spec { capacity: 60, ..case.spec() };
        // More than its capacity, where that makes it grow or forget.
        let keys = match case.row.overfill {
            Overfill::Grows | Overfill::Forgets => 300,
            Overfill::RateRises | Overfill::Refuses | Overfill::IsBuilt => 50,
        };
        Subject { name: case.name(), spec: Some(room), filter: filled(&room, 0..keys) }
    }

    /// Whether it keeps state among its places too, because it grows, forgets or can be resized.
    fn has_state_everywhere(&self) -> bool {
        let row = self.filter.base().row();
        let changes = self.filter.capabilities().contains(Capabilities::RESIZE);
        matches!(row.overfill, Overfill::Grows | Overfill::Forgets) || changes
    }

    /// The places of the words that are forged.
    fn words(&self, payload: usize) -> Vec<usize> {
        let last = payload / 8 - LINE..payload / 8;
        if !self.has_state_everywhere() {
            return last.collect();
        }
        // The first lines and the last two, and a sample of those between.
        let every = if is_soak() { 1 } else { (payload / 8 / 32).max(1) };
        (0..payload / 8)
            .filter(|word| *word < 2 * LINE || word + 2 * LINE >= payload / 8 || word % every == 0)
            .collect()
    }

    /// Inserts keys, and moves time on, whatever is refused.
    fn go_on(&self, filter: &mut Filter) {
        for i in 0..MORE {
            let key = 1_000_000 + i;
            let _ = match &self.spec {
                Some(spec) => filter.insert_hash(hash_of(spec, key)),
                None => filter.insert(format!("key {key}").as_bytes()),
            };
            if filter.serialized_size() > 64 << 20 {
                return;
            }
            if i % 16 == 0 {
                let _ = filter.advance(1);
                let _ = filter.remove_hash(mix(i));
            }
        }
        let _ = (filter.advance(u64::MAX), filter.statistics(), petal::estimate(filter));
        let _ = filter.kind().as_grow().map(|grow| grow.room());
    }

    /// The most bytes that an unforged filter comes to, with room for a growth that comes early.
    fn most_bytes(&self) -> u64 {
        let mut other = self.filter.copy().unwrap();
        let before = self.filter.serialized_size();
        self.go_on(&mut other);
        let mut twice = self.filter.copy().unwrap();
        let _ = twice.merge(&self.filter);
        6 * other.serialized_size().max(before).max(twice.serialized_size()) + 4096
    }

    /// Opens, copies and merges an image in every way, and goes on with each.
    fn use_image(&self, what: &str, bytes: &[u8], most: u64) {
        let hold = |filter: &Filter, how: &str| {
            let bytes = filter.serialized_size();
            assert!(bytes <= most, "{what}, {how}: {bytes} bytes, at most {most}");
        };
        let go_on_with = |mut filter: Filter, how: &str| {
            self.go_on(&mut filter);
            hold(&filter, how);
            let mut other = self.filter.copy().unwrap();
            if other.merge(&filter).is_ok() {
                self.go_on(&mut other);
                hold(&other, "merged");
            }
        };
        if let Ok(loaded) = load(bytes, &OpenOptions::default()) {
            go_on_with(loaded, "loaded");
        }
        for mode in [Mode::Read, Mode::Write] {
            Buffer::of(bytes).open(mode, None, |opened| {
                let Ok(opened) = opened else { return };
                let mut other = self.filter.copy().unwrap();
                if other.merge(opened).is_ok() {
                    go_on_with(other, "merged from an open one");
                }
                if let Ok(copy) = opened.copy() {
                    go_on_with(copy, "copied");
                }
                self.go_on(opened);
                if let Ok(copy) = opened.copy() {
                    go_on_with(copy, "copied after insertions");
                }
            });
        }
    }
}

fn subjects() -> Vec<Subject> {
    let cases = share_of(layouts(), 40, "every_word_of_state_is_held_to_its_bounds");
    let mut subjects: Vec<Subject> = cases.iter().map(Subject::of).collect();
    let foreign = interop::filters().into_iter().map(|(name, filter)| Subject { name, spec: None, filter });
    subjects.extend(foreign.filter(|subject| is_soak() || subject.has_state_everywhere()));
    subjects.retain(|subject| subject.filter.serialized_size() <= 64 << 10);
    subjects
}

/// Nothing that opens with a forged word grows beyond what its kind does, panics, or goes on for ever.
#[test]
#[ignore = "slow: make test-all"]
fn every_word_of_state_is_held_to_its_bounds() {
    for subject in subjects() {
        let whole = image(&subject.filter);
        let payload = subject.filter.base().geometry().payload_bytes as usize;
        let most = subject.most_bytes();
        for word in subject.words(payload) {
            let at = HEADER + 8 * word;
            let was = u64::from_le_bytes(whole[at..at + 8].try_into().unwrap());
            // Half of the values for words that are hardly state.
            let is_state = word + LINE >= payload / 8;
            let all = hostile(was).enumerate().filter(|(i, _)| is_soak() || is_state || (i + word) % 2 == 0);
            for (_, other) in all {
                let mut forged = whole.clone();
                forged[at..at + 8].copy_from_slice(&other.to_le_bytes());
                seal(&mut forged);
                let what = format!("{}, word {word} is {other:#x}", subject.name);
                subject.use_image(&what, &forged, most);
            }
        }
        // The first two words of the state together.
        for other in hostile(0) {
            let mut forged = whole.clone();
            let end = HEADER + payload;
            for word in forged[end - 8 * LINE..end].chunks_mut(8).take(2) {
                word.copy_from_slice(&other.to_le_bytes());
            }
            seal(&mut forged);
            subject.use_image(&format!("{}, the state is {other:#x}", subject.name), &forged, most);
        }
    }
}

/// A compact form with damage that only its checksum shows is not copied, however large it is, and does not come into a
/// union.
#[test]
fn damaged_forms_are_not_copied() {
    each(share_of(layouts(), 40, "damaged_forms_are_not_copied"), Case::name, |case| {
        let spec = Spec { capacity: 4000, ..case.spec() };
        let filter = filled(&spec, 0..case.room_for(4000, 4000));
        let Ok(length) = filter.compact_size() else { return };
        let mut form = vec![0; length];
        filter.serialize_compact(&mut form).unwrap();
        let payload = filter.base().geometry().payload_bytes as usize;
        for place in [0, payload / 2, payload - 64, payload - 56, payload - 1] {
            let mut damaged = form.clone();
            damaged[place] ^= 0x55;
            let options =
                petal::CompactOptions { hash: spec.hash, seed: spec.seed, secret: spec.secret, verify: false };
            crate::compact::opened(&damaged, &options, |opened| {
                let Ok(opened) = opened else { return };
                let error = opened.copy().err().unwrap_or_else(|| panic!("{}: byte {place}", case.name()));
                assert_eq!(error.status(), petal::Status::Corrupt, "{}: {error}", case.name());
                let written = opened.serialize_to(&mut |_| Ok(())).unwrap_err();
                assert_eq!(written.status(), petal::Status::Corrupt, "{}: {written}", case.name());
                let mut other = filter.copy().unwrap();
                assert!(other.merge(&opened).is_err(), "{}: byte {place}", case.name());
            });
        }
    });
}
