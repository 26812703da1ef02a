//! `petal check`.

use crate::args;
use crate::failure::{Outcome, warn};
use crate::filter_file;
use crate::keys::{Inputs, RECORDS};
use crate::output::Text;
use crate::progress::Progress;
use petal::Mode;

pub fn run(args: &args::Check) -> Outcome {
    let filter = filter_file::open(&args.filter, Mode::Read, filter_file::secret(&args.secret)?)?;
    filter_file::refuse_bytes(&args.filter, &*filter)?;
    if filter.base().header().dirty {
        warn(format_args!("{}: a writer has it open, or did not close it", args.filter.display()));
    }
    let inputs = Inputs::new(&args.keys.files, args.keys.null)?;
    let mut progress = Progress::new("checking", inputs.length());
    if !args.count {
        progress = progress.beside_output();
    }
    let hasher = filter.base().hasher();
    let mut text = Text::new();
    let mut selected = 0_u64;
    let mut hashes = [0; RECORDS];
    let mut found = [false; RECORDS];
    inputs.for_each(&mut progress, |batch| {
        let (hashes, found) = (&mut hashes[..batch.len()], &mut found[..batch.len()]);
        for (hash, key) in hashes.iter_mut().zip(batch.keys()) {
            *hash = hasher.hash_bytes(key).map_err(petal::Error::from)?;
        }
        filter.contains_hashes(hashes, found);
        for (i, found) in found.iter().enumerate() {
            if *found != args.invert {
                selected += 1;
                if !args.count {
                    text.bytes(batch.record(i))?;
                }
            }
        }
        // Whoever waits for the answers of a slow input gets them.
        if batch.last_of_block { text.flush() } else { Ok(()) }
    })?;
    drop(progress);
    if args.count {
        text.line(selected)?;
    }
    text.flush()?;
    Ok(u8::from(selected == 0))
}
