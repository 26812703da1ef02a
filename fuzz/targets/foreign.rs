//! The input is the name of a format, a line's end, and the bytes of a filter of another system, of which nothing is
//! believed. What is imported is looked up in every way, changed, exported and imported again, saved as an image and
//! opened. Nothing may panic, and all of it must agree.

#![no_main]

use libfuzzer_sys::fuzz_target;
use petal::interop::{self, Format, ImportOptions};
use petal::{Answers, Filter, HashFunction, Image, Keys, OpenOptions};
use petal_fuzz::exercise::image;

const KEYS: [u64; 12] = [0, 1, 2, 7, 1 << 32, u64::MAX, 1 << 63, 0x9e37_79b9_7f4a_7c15, 3, 99, 12345, 0xffff_ffff];

fuzz_target!(|bytes: &[u8]| {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return };
    let (name, bytes) = (&bytes[..end], &bytes[end + 1..]);
    let Some(format) = core::str::from_utf8(name).ok().and_then(|name| interop::find(name).ok()) else { return };
    interop::recognise(bytes);
    // The second time with what a caller may have to say.
    let said = ImportOptions { bits: 8 * bytes.len() as u64, hashes: 5, ..ImportOptions::default() };
    for options in [ImportOptions::default(), said] {
        if let Ok(filter) = format.import(bytes, &options) {
            use_all(filter, format, bytes, &options);
        }
    }
});

/// The largest image that is looked at. An empty filter of DataSketches says in 24 bytes how large it is.
const LARGEST: u64 = 1 << 24;

fn use_all(mut filter: Filter, format: &Format, bytes: &[u8], options: &ImportOptions) {
    if filter.serialized_size() > LARGEST {
        return;
    }
    let found = look_up(&filter, bytes);
    filter.statistics();
    let _ = filter.cardinality();
    let exported = export(&filter, format);
    if let Some(exported) = &exported {
        // Bytes that mean nothing, which a format may let follow, are not given back.
        assert!(exported.len() <= bytes.len());
        let again = format.import(exported, options).expect("what goes out comes in");
        assert_eq!(look_up(&again, bytes), found);
        assert_eq!(export(&again, format).as_ref(), Some(exported));
    }
    let saved = image(&filter);
    let loaded: Filter = petal::load(&saved, &OpenOptions::default()).expect("what is saved opens");
    assert_eq!(look_up(&loaded, bytes), found);
    assert_eq!(export(&loaded, format), exported);
    for key in KEYS {
        if filter.insert_u64(key).is_ok() {
            assert!(filter.contains_u64(key));
        }
    }
    let _ = filter.merge(&loaded);
    let _ = filter.clear();
}

/// What is said of some keys, one by one and in one call. Where keys are byte strings, some are pieces of the input,
/// because clubcards know keys by the bytes that they begin with.
fn look_up(filter: &Filter, input: &[u8]) -> Vec<bool> {
    let external = filter.base().hasher().function() == HashFunction::External;
    let keys = if external { Keys::Hashes(&KEYS) } else { Keys::U64(&KEYS) };
    let one = |key: &u64| if external { filter.contains_hash(*key) } else { filter.contains_u64(*key) };
    let mut found = together(filter, &keys, KEYS.iter().map(one).collect());
    if filter.base().hasher().takes_whole() {
        let pieces = || (0..input.len().min(PIECES)).flat_map(|from| LENGTHS.map(|length| (from, from + length)));
        let pieces: Vec<&[u8]> = pieces().filter_map(|(from, end)| input.get(from..end)).collect();
        let ends = pieces.iter().scan(0, |end, piece| {
            *end += piece.len() as u64;
            Some(*end)
        });
        let (bytes, offsets) = (pieces.concat(), core::iter::once(0).chain(ends).collect::<Vec<u64>>());
        let keys = Keys::Bytes { bytes: &bytes, offsets: &offsets };
        found.extend(together(filter, &keys, pieces.iter().map(|piece| filter.contains(piece)).collect()));
    }
    found
}

/// How far into the input pieces of it begin, and how long they are.
const PIECES: usize = 256;
const LENGTHS: [usize; 3] = [32, 33, 40];

/// One call has to say the same of keys.
fn together(filter: &Filter, keys: &Keys, found: Vec<bool>) -> Vec<bool> {
    let mut each = vec![9; found.len()];
    let mut answers = Answers { bytes: Some(&mut each), ..Answers::default() };
    filter.contains_batch(keys, &mut answers).expect("keys in the form that the filter takes");
    assert!(found.iter().zip(each).all(|(one, each)| u8::from(*one) == each));
    found
}

fn export(filter: &Filter, format: &Format) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let written = format.export(filter, None, &mut |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    });
    written.is_ok().then_some(bytes)
}
