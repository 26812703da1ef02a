//! `petal sketch get`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::image_file::{self, open_sketch};
use crate::keys::{Inputs, Room};
use crate::output::Text;
use crate::progress::Progress;
use petal::{Image, Keys, Mode, Presence, Sketch};
use serde::Serialize;
use std::ops::ControlFlow;

/// What a sketch says of a key, as JSON.
#[derive(Serialize)]
struct KeyReport<'a> {
    key: &'a str,
    presence: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    sign: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u64>,
}

pub fn get(args: &args::sketch::Get, common: args::Common) -> Outcome {
    let secret = args.secret.secret_file.as_deref();
    let inputs = Inputs::new(&args.keys, secret.into_iter().chain([&*args.sketch]))?.with_hashes(args.numbers.numbers);
    let sketch = open_sketch(&args.sketch, Mode::Read, image_file::secret(&args.secret)?)?;
    image_file::refuse_keys(&args.sketch, &sketch, &inputs)?;
    image_file::warn_if_unclean(&args.sketch, &sketch);
    let has_values = sketch.value_bits() > 0;
    let hasher = sketch.base().hasher().clone();
    let (mut text, mut room, mut unknown) = (Text::new()?, Room::new(), false);
    inputs.for_each(&mut Progress::new("looking up", inputs.length()).beside_output(), |batch| {
        let keys = batch.keys(&hasher, &mut room)?;
        for i in 0..batch.len() {
            let presence = look_up(&sketch, &keys, i).map_err(|error| Failure::at(&args.sketch, &error))?;
            unknown |= presence == Presence::Unknown;
            if common.json {
                text.json(&told(batch.text(i)?, presence, has_values))?;
                continue;
            }
            text.bytes(batch.key(i))?;
            match presence {
                Presence::Absent => text.bytes(b"\t0")?,
                Presence::Unknown => text.bytes(b"\t?")?,
                Presence::Present { sign, value } if has_values => text.write(format_args!("\t{sign:+}\t{value}"))?,
                Presence::Present { sign, .. } => text.write(format_args!("\t{sign:+}"))?,
            }
            text.bytes(batch.separator())?;
        }
        if batch.last_of_block {
            text.flush()?;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    text.flush()?;
    Ok(u8::from(unknown))
}

fn look_up(sketch: &Sketch, keys: &Keys, i: usize) -> petal::Result<Presence> {
    match keys {
        Keys::U64(numbers) => sketch.get_u64(numbers[i]),
        Keys::Hashes(hashes) => sketch.get_hash(hashes[i]),
        Keys::Bytes { bytes, offsets } => sketch.get(&bytes[offsets[i] as usize..offsets[i + 1] as usize]),
        Keys::Bytes32 { bytes, offsets } => sketch.get(&bytes[offsets[i] as usize..offsets[i + 1] as usize]),
        Keys::Digests { bytes, each } => sketch.get(&bytes[i * each..(i + 1) * each]),
    }
}

fn told(key: &str, presence: Presence, has_values: bool) -> KeyReport<'_> {
    match presence {
        Presence::Absent => KeyReport { key, presence: "absent", sign: None, value: None },
        Presence::Unknown => KeyReport { key, presence: "unknown", sign: None, value: None },
        Presence::Present { sign, value } => {
            KeyReport { key, presence: "present", sign: Some(sign), value: has_values.then_some(value) }
        }
    }
}
