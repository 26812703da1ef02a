//! What a Rust programmer tries who has read nothing of Petal: keys and paths of the types that are at hand, the calls
//! that the standard library's types have, and names.

use petal::{
    Builder, BuilderOptions, Filter, HashFunction, Kernel, KeyList, KindId, Map, MapBuilder, Mode, OpenOptions, Sketch,
    Spec, Status, registry,
};
use std::borrow::Cow;
use std::error::Error;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

type Outcome = Result<(), Box<dyn Error>>;

/// A kind of filter that removes and counts.
fn counting() -> Result<Filter, petal::Error> {
    Filter::new(&Spec { kind: Some(KindId::COUNTING), capacity: 1000, ..Spec::default() })
}

/// A key of this program's own.
struct Name(String);

impl AsRef<[u8]> for Name {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

#[test]
fn keys_are_what_lends_bytes() -> Outcome {
    let mut seen = Filter::with_capacity(1000, 1e-6)?;
    let (text, bytes) = (String::from("a string"), vec![1, 2, 3]);
    seen.insert("pear")?;
    seen.insert(b"apple")?;
    seen.insert(&text)?;
    seen.insert(text.clone())?;
    seen.insert(text.as_str())?;
    seen.insert(&bytes)?;
    seen.insert(&bytes[..2])?;
    seen.insert(bytes.clone())?;
    seen.insert([1, 2, 3, 4])?;
    seen.insert([5; 4])?;
    seen.insert(7u32.to_le_bytes())?;
    seen.insert(Cow::Borrowed(&b"borrowed"[..]))?;
    seen.insert(Box::<[u8]>::from(&b"boxed"[..]))?;
    seen.insert(Rc::<[u8]>::from(&b"counted"[..]))?;
    seen.insert(Arc::new([9u8, 9]).as_slice())?;
    seen.insert(Name("named".into()))?;
    let mut buffer = Vec::from("a buffer");
    seen.insert(&mut buffer)?;
    buffer.clear();
    for name in ["pear", "apple", "a string", "borrowed", "boxed", "counted", "named", "a buffer"] {
        assert!(seen.contains(name) && seen.contains_checked(name)?, "{name}");
    }
    assert!(seen.contains(&bytes) && seen.contains([1, 2]) && seen.contains([1, 2, 3, 4]) && seen.contains([9, 9]));
    assert!(seen.contains(7u32.to_le_bytes()) && seen.contains([5; 4]) && !seen.contains("plum"));
    // A number is the key of its little-endian bytes.
    seen.insert_u64(11)?;
    assert!(seen.contains(11u64.to_le_bytes()));
    Ok(())
}

#[test]
fn every_verb_takes_such_keys() -> Outcome {
    let name = String::from("pear");
    let mut cart = counting()?;
    assert!(cart.insert(&name)?);
    cart.insert_times("pear", 2)?;
    assert_eq!((cart.count(&name)?, cart.count("plum")?), (3, 0));
    assert!(cart.remove("pear")?);
    assert_eq!(cart.remove_times(name, 5)?, 2);
    assert!(!cart.contains("pear"));

    let shared = Filter::with_capacity(1000, 0.01)?;
    std::thread::scope(|scope| {
        let inserting = scope.spawn(|| shared.insert_shared("plum").map(drop));
        inserting.join().expect("no panic")
    })?;
    assert!(shared.contains("plum"));

    let prices = Map::from_entries(&Spec::default(), [("apple", 3), ("pear", 5)])?;
    assert_eq!((prices.get("pear")?, prices.get(String::from("apple"))?), (Some(5), Some(3)));
    let mut builder = MapBuilder::new(&Spec::default(), BuilderOptions::default())?;
    builder.put("apple", 3)?;
    builder.put_all([(vec![1, 2, 3], 4)])?;
    assert_eq!(builder.finish()?.get([1, 2, 3])?, Some(4));

    let (mut ours, mut theirs) = (Sketch::new(&Spec::default())?, Sketch::new(&Spec::default())?);
    ["apple", "pear", "plum"].iter().try_for_each(|key| ours.insert(key))?;
    ["apple", "pear"].iter().try_for_each(|key| theirs.insert(key))?;
    ours.remove("pear")?;
    theirs.remove("pear")?;
    ours.subtract(&theirs)?;
    assert_eq!(ours.list()?.listed[0].number, ours.number_of("plum")?);
    Ok(())
}

#[test]
fn paths_are_what_std_takes() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path: PathBuf = folder.path().join("seen.petal");
    let text: &str = path.to_str().expect("a path in UTF-8");
    let mut seen = Filter::with_capacity(1000, 0.01)?;
    seen.insert("pear")?;
    seen.save(text)?;
    seen.save(&path)?;
    seen.save(String::from(text))?;
    assert!(Filter::open(text)?.contains("pear"));
    assert!(Filter::open(&path)?.contains("pear"));
    assert!(Filter::open(path.as_os_str())?.contains("pear"));
    assert!(petal::open(Path::new(text), &OpenOptions::default())?.contains("pear"));
    assert!(petal::open_as::<Filter>(text, &OpenOptions::default())?.contains("pear"));

    let mut writer = Filter::open_with(text, &OpenOptions { mode: Mode::Write, ..OpenOptions::default() })?;
    writer.insert("plum")?;
    writer.sync()?;
    drop(writer);
    let opened = Filter::open(path.clone())?;
    opened.verify()?;
    assert!(opened.contains("plum"));

    let missing = Filter::open(folder.path().join("missing")).unwrap_err();
    assert_eq!(missing.status(), Status::NotFound);
    assert_eq!(Map::open(text).unwrap_err().status(), Status::Unsupported);

    let mut builder = Builder::new(&Spec::default(), BuilderOptions::default())?;
    builder.add("apple")?;
    builder.save(text)?;
    assert!(Filter::open(text)?.contains("apple"));
    Ok(())
}

#[test]
fn bytes_come_and_go() -> Outcome {
    let mut seen = Filter::with_capacity(1000, 0.01)?;
    seen.insert("pear")?;
    let bytes: Vec<u8> = seen.to_bytes()?;
    assert!(Filter::load(&bytes)?.contains("pear"));
    assert!(Filter::load(&bytes[..])?.equals(&seen));
    assert!(Filter::load(bytes.clone())?.to_bytes()? == bytes);
    assert_eq!(Filter::load(&bytes[..100]).unwrap_err().status(), Status::Truncated);
    assert_eq!(Filter::load("no image").unwrap_err().status(), Status::Foreign);

    let secret = Spec { hash: HashFunction::SipHash13, secret: Some([7; 16]), ..Spec::default() };
    let mut keyed = Filter::new(&secret)?;
    keyed.insert("pear")?;
    let options = OpenOptions { secret: secret.secret, ..OpenOptions::default() };
    assert!(!Filter::load_with(keyed.to_bytes()?, &options)?.contains("plum"));

    let folder = tempfile::tempdir()?;
    seen.save(folder.path().join("seen"))?;
    assert_eq!(std::fs::read(folder.path().join("seen"))?, bytes);
    Ok(())
}

#[test]
fn a_copy_can_fail_and_is_no_clone() -> Outcome {
    let mut seen = counting()?;
    seen.insert("pear")?;
    let copy = seen.copy()?;
    seen.remove("pear")?;
    assert!(copy.contains("pear") && !seen.contains("pear"));
    let map = Map::from_entries(&Spec::default(), [("pear", 5)])?;
    assert_eq!(map.copy()?.get("pear")?, Some(5));
    Ok(())
}

#[test]
fn iterators_of_keys_are_inserted() -> Outcome {
    let text = "apple\npear\napple\n";
    let mut seen = Filter::with_capacity(1000, 1e-6)?;
    assert_eq!(seen.insert_all(text.lines())?, 2);
    assert_eq!(seen.insert_all(text.lines().map(String::from))?, 0);
    assert_eq!(seen.insert_all(text.as_bytes().lines().map_while(Result::ok))?, 0);
    assert_eq!(seen.insert_all(&["pear", "plum"])?, 1);
    assert_eq!(seen.insert_all((0..1000u32).map(u32::to_le_bytes))?, 1000);
    assert!((0..1000u32).all(|i| seen.contains(i.to_le_bytes())));
    assert!(!seen.contains(1000u32.to_le_bytes()));
    assert_eq!(seen.insert_all(Vec::<String>::new())?, 0);

    // The same keys give the same bits, whichever way they come.
    let mut single = Filter::with_capacity(1000, 1e-6)?;
    for key in text.lines().chain(["plum"]) {
        single.insert(key)?;
    }
    (0..1000u32).try_for_each(|i| single.insert(i.to_le_bytes()).map(drop))?;
    assert!(single.equals(&seen));

    // A kind of digests takes keys whole.
    let spec = Spec { kind: Some(KindId::BLOOM), hash: HashFunction::Digest, seed: 256, ..Spec::default() };
    let mut digests = Filter::new(&Spec { capacity: 100, ..spec })?;
    assert_eq!(digests.insert_all([[1; 32], [2; 32], [1; 32]])?, 2);
    assert!(digests.contains([2; 32]) && !digests.contains([3; 32]));
    Ok(())
}

/// What no `Extend` could say: which key was refused, with those before it inserted.
#[test]
fn inserting_all_can_fail() -> Outcome {
    let fuse = Spec { kind: Some(KindId::FUSE), ..Spec::default() };
    let mut built = Filter::from_keys(&fuse, ["apple"])?;
    assert_eq!(built.insert_all(["pear"]).unwrap_err().status(), Status::Unsupported);

    let spec = Spec { kind: Some(KindId::EXACT_BITS), capacity: 100, ..Spec::default() };
    let mut numbers = Filter::new(&spec)?;
    let keys = [&1u64.to_le_bytes()[..], &2u64.to_le_bytes(), b"three", &4u64.to_le_bytes()];
    assert_eq!(numbers.insert_all(keys).unwrap_err().status(), Status::OutOfRange);
    assert!(numbers.contains_u64(1) && numbers.contains_u64(2) && !numbers.contains_u64(4));
    Ok(())
}

#[test]
fn a_filter_is_collected_with_its_spec() -> Outcome {
    let words: Vec<String> = "the apple and the pear".split(' ').map(String::from).collect();
    for kind in [KindId::FUSE, KindId::RIBBON, KindId::BLOCKED, KindId::SCALABLE] {
        let spec = Spec { kind: Some(kind), false_positive_rate: 1e-6, ..Spec::default() };
        let filter = Filter::from_keys(&spec, &words)?;
        assert!(words.iter().all(|word| filter.contains(word)) && !filter.contains("plum"), "{kind}");
    }
    let mut builder = Builder::new(&Spec::default(), BuilderOptions::default())?;
    builder.add_all(words)?;
    builder.add("plum")?;
    assert_eq!(builder.key_count(), 6);
    assert!(builder.finish()?.contains("plum"));
    Ok(())
}

#[test]
fn names_are_parsed_and_written() -> Outcome {
    assert_eq!("fuse".parse::<KindId>()?, KindId::FUSE);
    assert_eq!(format!("{} {}", KindId::BLOCKED, KindId::SPLIT_BLOCK), "blocked split_block");
    assert_eq!("fues".parse::<KindId>().unwrap_err().status(), Status::UnknownValue);
    for row in registry::every().chain(registry::OWN) {
        assert_eq!((row.name.parse::<KindId>()?, row.kind.to_string()), (row.kind, row.name.to_owned()));
    }
    for function in HashFunction::ALL.into_iter().chain(HashFunction::OF_KINDS) {
        assert_eq!(function.to_string().parse::<HashFunction>()?, function);
    }
    for mode in Mode::ALL {
        assert_eq!(mode.to_string().parse::<Mode>()?, mode);
    }
    for kernel in Kernel::ALL {
        assert_eq!(kernel.to_string().parse::<Kernel>()?, kernel);
    }
    let error = "append".parse::<Mode>().unwrap_err();
    assert_eq!(error.message(), "mode = append is not one of read, write, share, load");
    Ok(())
}

#[test]
fn lists_of_keys_are_batches() -> Outcome {
    let mut seen = Filter::with_capacity(1000, 1e-6)?;
    let mut keys = KeyList::new();
    assert!(keys.is_empty() && keys.keys().is_empty());
    keys.push("apple")?;
    keys.push(String::new())?;
    keys.push([1, 2, 3])?;
    seen.insert_batch(&keys.keys(), None).outcome?;
    assert!(seen.contains("apple") && seen.contains("") && seen.contains([1, 2, 3]));

    let asked = KeyList::of(["apple", "pear"])?;
    let mut found = [0; 2];
    let mut answers = petal::Answers { bytes: Some(&mut found), ..petal::Answers::default() };
    seen.contains_batch(&asked.keys(), &mut answers)?;
    assert_eq!((found, asked.len()), ([1, 0], 2));
    keys.clear();
    assert_eq!(keys.keys().len(), 0);
    Ok(())
}

/// Handles go to other threads, and errors go where errors go.
#[test]
fn types_have_what_std_asks_for() {
    fn is_shared<T: Send + Sync + std::fmt::Debug>() {}
    fn is_value<T: Copy + Eq + std::hash::Hash + std::fmt::Debug + std::fmt::Display + std::str::FromStr>() {}
    fn is_error<T: Error + Send + Sync + 'static>() {}
    is_shared::<Filter>();
    is_shared::<Map>();
    is_value::<KindId>();
    is_value::<HashFunction>();
    is_error::<petal::Error>();
}
