//! `petal redis merge`, `export` and `import`: filters and maps of servers, as images in chunks.

use super::{Set, unexpected};
use crate::args;
use crate::args::redis::Type;
use crate::failure::{Failure, Outcome};
use crate::file_name::name;
use crate::image_file::{self, Handle, open_sound};
use crate::info::{Summary, print_json};
use crate::output::Destination;
use crate::progress::Progress;
use crate::stdio::check_standard_input;
use ::redis::Value;
use petal::interop::{self, ImportOptions};
use petal::{Image, Mode, OpenOptions};
use std::path::{Path, PathBuf};

/// The bytes of a chunk. A server runs other clients' commands between chunks.
const CHUNK: usize = 1 << 20;

pub fn merge(args: &args::redis::Merge, common: args::Common) -> Outcome {
    let destination = Destination::new(args.output.output.as_deref(), common.json)?;
    check_standard_input(args.filters.iter().map(PathBuf::as_path))?;
    let mut set = Set::open_whole(&args.of)?;
    let mut progress = Progress::new("merging", None);
    let mut filter = None;
    for shard in 0..set.types.len() {
        let key = set.shards.key(shard);
        let one = image_file::filter(Path::new(&key), fetched(&mut set, shard, &mut progress)?)?;
        let Some(whole) = &mut filter else {
            filter = Some(one);
            continue;
        };
        petal::Filter::merge(whole, &one)
            .map_err(|error| Failure::new(format_args!("{} and {key}: {error}", set.shards.key(0))))?;
    }
    let mut filter = filter.ok_or_else(|| Failure::new("the set has no shards"))?;
    for path in &args.filters {
        let other = open_sound(path, Mode::Read)?;
        filter
            .merge(&other)
            .map_err(|error| Failure::new(format_args!("{} and {}: {error}", set.shards.key(0), name(path))))?;
    }
    drop(progress);
    if let Some(why) = image_file::overfull(&filter) {
        return Err(Failure::new(format_args!(
            "{why}: shards that petal redis build --mergeable made have room for all keys; petal redis export and petal \
             merge make this one all the same"
        )));
    }
    destination.write(&filter)?;
    if common.json {
        print_json(&Summary::of(destination.path(), &filter))?;
    }
    Ok(0)
}

pub fn export(args: &args::redis::Export, common: args::Common) -> Outcome {
    let path = args.output.as_deref();
    let files = Files::new("-o", path.unwrap_or(Path::new("-")), args.of.shards)?;
    let mut destinations = Vec::new();
    for shard in 0..files.count {
        destinations.push(Destination::new(Some(&files.path(shard)), common.json)?);
    }
    let mut set = Set::open_whole(&args.of)?;
    let mut progress = Progress::new("exporting", None);
    for (shard, destination) in destinations.iter().enumerate() {
        let image = fetched(&mut set, shard, &mut progress)?;
        destination.write(&image)?;
        if common.json {
            print_json(&Summary::of(destination.path(), &image))?;
        }
    }
    Ok(0)
}

pub fn import(args: &args::redis::Import, common: args::Common) -> Outcome {
    let files = Files::new("FILE", &args.file, args.to.shards)?;
    let secret = args.secret.secret_file.as_deref();
    check_standard_input(secret.into_iter().chain([&*args.file]))?;
    let key = image_file::secret(&args.secret)?;
    let open = |path: &Path| {
        let image = image_file::open_any(path, Mode::Read, key)?;
        image_file::refuse_unclean(path, &image)?;
        Ok::<Handle, Failure>(image)
    };
    let mut images = Vec::new();
    for shard in 0..files.count {
        images.push((files.path(shard), open(&files.path(shard))?));
    }
    let mut set = Set::open(&args.to)?;
    if let Some(there) = set.types.iter().position(Option::is_some).filter(|_| !args.replace) {
        let key = set.shards.key(there);
        return Err(Failure::new(format_args!("{key}: is there: --replace puts the file in its place")));
    }
    let total = images.iter().map(|(_, image)| image.base().header().image_bytes()).sum();
    let mut progress = Progress::new("importing", Some(total));
    let digits = key.map(|key| super::build::hexadecimal(&key));
    for (shard, (path, image)) in images.iter().enumerate() {
        let sent = put(&mut set, shard, image, digits.as_deref(), args.replace, &mut progress);
        sent.map_err(|failure| match files.count {
            1 => failure,
            count => Failure::new(format_args!("{failure} (after {shard} of {count} shards)")),
        })?;
        if common.json {
            print_json(&Summary::of(path, image))?;
        }
    }
    Ok(0)
}

/// The complete, verified image of a shard. For a filter of `BF.*` or `CF.*`, the image that its chunks make.
fn fetched(set: &mut Set, shard: usize, progress: &mut Progress) -> Outcome<Handle> {
    let key = set.shards.key(shard);
    // The bytes of one format are never those of the other.
    let (command, formats): (_, &[&str]) = match set.types[shard] {
        Some(Type::Bf) => ("BF.SCANDUMP", &["redisbloom", "valkey_chain"]),
        Some(Type::Cf) => ("CF.SCANDUMP", &["redisbloom_cuckoo"]),
        _ => ("PETAL.EXPORT", &[]),
    };
    let (mut image, mut iterator) = (Vec::new(), 0);
    loop {
        let reply = set.command(shard, &[command.as_bytes(), key.as_bytes(), i64::to_string(&iterator).as_bytes()])?;
        let (next, chunk) = match &reply {
            Value::Array(words) => match &words[..] {
                [Value::Int(next), Value::BulkString(chunk)] => (*next, &chunk[..]),
                [Value::Int(0), Value::Nil] => (0, &[][..]),
                _ => return Err(unexpected(&key, &reply)),
            },
            _ => return Err(unexpected(&key, &reply)),
        };
        if next == 0 {
            break;
        }
        image.try_reserve(chunk.len()).map_err(|_| Failure::new(format_args!("{key}: out of memory")))?;
        image.extend_from_slice(chunk);
        progress.add(chunk.len() as u64);
        iterator = next;
    }
    if image.is_empty() {
        return Err(Failure::new(format_args!("{key}: holds nothing, and {command} gives nothing of such a filter")));
    }
    let import = |name: &&str| {
        interop::find(name).and_then(|format| format.import(&image, &ImportOptions::default())).map(Handle::Filter)
    };
    let opened = match formats {
        [] => petal::load_as(&image, &OpenOptions { mode: Mode::Read, ..OpenOptions::default() }),
        [first, others @ ..] => others.iter().fold(import(first), |opened, name| opened.or_else(|_| import(name))),
    };
    opened.map_err(|error| {
        Failure::new(format_args!("{key}: {error}: the image was changed meanwhile, or is damaged; try again"))
    })
}

/// Makes a key from an image. The command fills a second key first, which replaces the shard's key when it is complete.
fn put(
    set: &mut Set,
    shard: usize,
    image: &Handle,
    secret: Option<&str>,
    replace: bool,
    progress: &mut Progress,
) -> Outcome<()> {
    let (key, beside) = (set.shards.key(shard), set.shards.beside(shard));
    // An interrupted import may have left the second key.
    set.command(shard, &[b"UNLINK", beside.as_bytes()])?;
    let sent = put_beside(set, shard, image, secret, progress);
    let named = sent.and_then(|()| {
        let command: &[u8] = if replace { b"RENAME" } else { b"RENAMENX" };
        match set.command(shard, &[command, beside.as_bytes(), key.as_bytes()])? {
            Value::Int(0) => {
                Err(Failure::new(format_args!("{key}: is there now: --replace puts the file in its place")))
            }
            _ => Ok(()),
        }
    });
    named.inspect_err(|_| {
        // The command reports the first failure; a failure to clean up adds nothing.
        let _ = set.command(shard, &[b"UNLINK", beside.as_bytes()]);
    })
}

fn put_beside(
    set: &mut Set,
    shard: usize,
    image: &Handle,
    secret: Option<&str>,
    progress: &mut Progress,
) -> Outcome<()> {
    let beside = set.shards.beside(shard);
    let (mut chunk, mut end, mut outcome) = (Vec::new(), 0, Ok(()));
    let mut send = |chunk: &mut Vec<u8>| {
        end += chunk.len() as u64;
        let iterator = (1 + end).to_string();
        let mut words: Vec<&[u8]> = vec![b"PETAL.IMPORT", beside.as_bytes(), iterator.as_bytes(), chunk];
        if let Some(secret) = secret {
            words.extend([&b"SECRET"[..], secret.as_bytes()]);
        }
        set.command(shard, &words)?;
        progress.add(chunk.len() as u64);
        chunk.clear();
        Ok(())
    };
    let written = image.serialize_to(&mut |mut bytes| {
        while !bytes.is_empty() && outcome.is_ok() {
            let (now, later) = bytes.split_at(bytes.len().min(CHUNK - chunk.len()));
            chunk.extend_from_slice(now);
            bytes = later;
            if chunk.len() == CHUNK {
                outcome = send(&mut chunk);
            }
        }
        if outcome.is_ok() { Ok(()) } else { Err(petal::Status::Callback.into()) }
    });
    outcome?;
    written?;
    if chunk.is_empty() { Ok(()) } else { send(&mut chunk) }
}

/// The files of a set's shards.
struct Files<'a> {
    pattern: &'a Path,
    count: usize,
}

impl<'a> Files<'a> {
    /// The files of a path pattern. Errors call the argument `what`.
    fn new(what: &str, pattern: &'a Path, shards: Option<u32>) -> Outcome<Files<'a>> {
        let count = shards.unwrap_or(1) as usize;
        let files = Files { pattern, count };
        if count > 1 && files.path(0) == files.path(1) {
            return Err(Failure::new(format_args!(
                "{what} {}: has no {{}} in it, which is the number of each of the {count} shards",
                crate::file_name::shown(pattern)
            )));
        }
        Ok(files)
    }

    /// The file of a shard.
    fn path(&self, shard: usize) -> PathBuf {
        match self.pattern.to_str() {
            Some(pattern) => PathBuf::from(pattern.replace("{}", &shard.to_string())),
            // A name that is not UTF-8 cannot contain the placeholder `{}`.
            None => self.pattern.to_path_buf(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_numbered() {
        let files = Files::new("-o", Path::new("a/{}.petal"), Some(12)).expect("a number");
        assert_eq!((files.count, files.path(11)), (12, PathBuf::from("a/11.petal")));
        assert!(Files::new("-o", Path::new("one.petal"), Some(2)).is_err());
        let one = Files::new("-o", Path::new("one.petal"), Some(1)).expect("one file");
        assert_eq!((one.count, one.path(0)), (1, PathBuf::from("one.petal")));
    }
}
