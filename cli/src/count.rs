//! `petal count`.

use crate::args;
use crate::failure::Outcome;
use crate::image_file;
use crate::keys::{Inputs, RECORDS, Room};
use crate::output::Text;
use crate::progress::Progress;
use petal::{Answers, Capabilities, Image, Mode};
use serde::Serialize;
use std::ops::ControlFlow;

/// The count of a key, as JSON.
#[derive(Serialize)]
struct Counted<'a> {
    key: &'a str,
    count: u64,
}

pub fn run(args: &args::KeysOfFilter, common: args::Common) -> Outcome {
    let secret = args.secret.secret_file.as_deref();
    let inputs = Inputs::new(&args.keys, secret.into_iter().chain([&*args.filter]))?
        .with_hashes(args.hashes)
        .with_digests(args.hex_digests);
    let filter = image_file::open(&args.filter, Mode::Read, image_file::secret(&args.secret)?)?;
    image_file::require(&args.filter, &filter, (Capabilities::COUNT, "count"))?;
    image_file::refuse_keys(&args.filter, &filter, &inputs)?;
    image_file::warn_if_unclean(&args.filter, &filter);
    let hasher = filter.base().hasher();
    let mut text = Text::new()?;
    let mut some = false;
    let (mut room, mut counts) = (Room::new(), [0; RECORDS]);
    inputs.for_each(&mut Progress::new("counting", inputs.length()).beside_output(), |batch| {
        let keys = batch.keys(hasher, &mut room)?;
        let counts = &mut counts[..keys.len()];
        let answers = &mut Answers { counts: Some(&mut *counts), ..Answers::default() };
        filter.count_batch(&keys, answers)?;
        some |= answers.true_count > 0;
        for (i, count) in counts.iter().enumerate() {
            match (common.json, common.quiet) {
                (true, _) => text.json(&Counted { key: batch.text(i)?, count: *count })?,
                // The exit status says whether at least one key is there.
                (false, true) => {}
                (false, false) => {
                    text.write(format_args!("{count}\t"))?;
                    text.bytes(batch.key(i))?;
                    text.bytes(batch.separator())?;
                }
            }
        }
        if batch.last_of_block {
            text.flush()?;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    text.flush()?;
    Ok(u8::from(!some))
}
