//! The drawings of the documents, and the tables in the pages of kinds.

mod bits;
mod growing;
mod image;
mod kinds;
mod known;
mod layouts;
mod modules;
mod remembered;
mod svg;

use crate::Generated;
use petal::plan::{Goal, Request};
use petal::{Capabilities, registry};

/// All of them, as they should be.
///
/// # Errors
/// What the library says of the filters that are drawn; a circle of files ([`crate::uses`]).
pub fn files() -> Result<Vec<Generated>, String> {
    crate::uses::check(&crate::root())?;
    let mut files = vec![
        ("docs/figures/layouts.svg".to_owned(), layouts::draw().map_err(|error| error.to_string())?),
        ("docs/figures/image.svg".to_owned(), image::draw()),
        ("docs/figures/kinds.svg".to_owned(), kinds::all()),
        ("docs/figures/maps.svg".to_owned(), kinds::maps()),
        ("docs/figures/built.svg".to_owned(), kinds::built()),
        ("docs/figures/removing.svg".to_owned(), kinds::removing()),
        ("docs/figures/growing-kinds.svg".to_owned(), kinds::growing()),
        ("docs/figures/forgetting.svg".to_owned(), kinds::forgetting()),
        ("docs/figures/growing.svg".to_owned(), growing::draw().map_err(|error| error.to_string())?),
        ("docs/figures/remembered.svg".to_owned(), remembered::draw().map_err(|error| error.to_string())?),
        ("docs/figures/known.svg".to_owned(), known::draw().map_err(|error| error.to_string())?),
        ("docs/figures/modules.svg".to_owned(), modules::draw(&crate::root())?),
        ("docs/figures/rates.svg".to_owned(), rates(Capabilities::NONE, true)?),
        ("docs/figures/removing-rates.svg".to_owned(), rates(Capabilities::REMOVE, false)?),
    ];
    for row in registry::all().chain(registry::SKETCHES) {
        files.push((format!("docs/figures/kinds/{}.svg", row.name), bits::draw(row)?));
    }
    files.extend(crate::pages::files(&crate::root())?);
    Ok(files)
}

/// What `petal plan --keys 1M --plot FILE` draws, with `--static` or without, of kinds that can do something.
fn rates(capabilities: Capabilities, is_static: bool) -> Result<String, String> {
    let goal = Goal::FalsePositiveRate(petal::DEFAULT_FALSE_POSITIVE_RATE);
    petal_cli::plot::svg(&Request {
        keys: 1_000_000,
        goal,
        capabilities,
        is_static,
        universe: 0,
        frequent: 0.0,
        non_members: 0,
        times: 0,
    })
}
