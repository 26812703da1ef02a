//! The drawings of the documents.

mod image;
mod kinds;
mod layouts;
mod modules;
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
        ("docs/figures/kinds.svg", kinds::draw()),
        ("docs/figures/modules.svg", modules::draw(&crate::root())?),
        ("docs/figures/rates.svg", rates()?),
    ])
}

/// What `petal plan --static --keys 1M --plot docs/figures/rates.svg` draws.
fn rates() -> Result<String, String> {
    let goal = Goal::FalsePositiveRate(petal::DEFAULT_FALSE_POSITIVE_RATE);
    let capabilities = Capabilities::NONE;
    petal_cli::plot::svg(&Request { keys: 1_000_000, goal, capabilities, is_static: true, universe: 0 })
}
