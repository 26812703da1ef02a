//! The drawings of the documents.

mod image;
mod kinds;
mod layouts;
mod modules;
mod svg;

use crate::Generated;

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
    ])
}
