//! The drawings of the documents.

mod growing;
mod image;
mod kinds;
mod layouts;
mod modules;
mod remembered;
mod svg;

use crate::Generated;
use petal::Capabilities;
use petal::plan::{Goal, Request};

/// All of them, as they should be.
///
/// # Errors
/// What the library says of the filters that are drawn; a circle among the modules of the core.
pub fn files() -> Result<Vec<Generated>, String> {
    Ok(vec![
        ("docs/figures/layouts.svg", layouts::draw().map_err(|error| error.to_string())?),
        ("docs/figures/image.svg", image::draw()),
        ("docs/figures/kinds.svg", kinds::all()),
        ("docs/figures/removing.svg", kinds::removing()),
        ("docs/figures/growing.svg", growing::draw().map_err(|error| error.to_string())?),
        ("docs/figures/remembered.svg", remembered::draw().map_err(|error| error.to_string())?),
        ("docs/figures/modules.svg", modules::draw(&crate::root())?),
        ("docs/figures/rates.svg", rates(Capabilities::NONE, true)?),
        ("docs/figures/removing-rates.svg", rates(Capabilities::REMOVE, false)?),
    ])
}

/// What `petal plan --keys 1M --plot FILE` draws, with `--static` or without, of kinds that can do something.
fn rates(capabilities: Capabilities, is_static: bool) -> Result<String, String> {
    let goal = Goal::FalsePositiveRate(petal::DEFAULT_FALSE_POSITIVE_RATE);
    petal_cli::plot::svg(&Request { keys: 1_000_000, goal, capabilities, is_static, universe: 0, times: 0 })
}
