//! The modules of the core and what they use, read from the source: every line points downwards, or there is no
//! drawing.

use super::svg::{Anchor, GREY, INK, LIGHT, Svg};
use crate::uses;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const WIDTH: f64 = 860.0;
const BOX: (f64, f64) = (92.0, 30.0);
const STEP: f64 = 74.0;

/// Which modules each module uses, tests and documentation apart.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// Draws the modules in layers: each stands above all that it uses. Lines that follow from others are left out.
///
/// # Errors
/// The modules of a circle, if there is one; what the system says of a file.
pub fn draw(root: &Path) -> Result<String, String> {
    let uses = read(&root.join("src"))?;
    let mut levels = BTreeMap::new();
    for module in uses.keys() {
        level(module, &uses, &mut levels, &mut Vec::new())?;
    }
    let top = levels.values().copied().max().unwrap_or(0);
    let mut places = BTreeMap::new();
    let mut svg = Svg::new(WIDTH, 80.0 + STEP * (top + 1) as f64);
    svg.title((20.0, 26.0), "Modules of the core: each uses only what stands below it");
    for row in 0..=top {
        let modules: Vec<&String> = levels.iter().filter(|(_, level)| **level == row).map(|(name, _)| name).collect();
        let gap = WIDTH / modules.len() as f64;
        for (i, module) in modules.into_iter().enumerate() {
            places.insert(module, (gap * (i as f64 + 0.5), 50.0 + STEP * (top - row) as f64));
        }
    }
    for (module, used) in &uses {
        for other in used.iter().filter(|other| !follows(module, other, &uses)) {
            let ((x, y), (to_x, to_y)) = (places[module], places[other]);
            svg.line((x, y + BOX.1), (to_x, to_y), GREY, 0.8);
        }
    }
    for (module, (x, y)) in &places {
        svg.rect((x - BOX.0 / 2.0, *y), BOX, LIGHT, INK);
        svg.text((*x, y + 20.0), 14.0, Anchor::Middle, &format!("fill=\"{INK}\""), module);
    }
    let bottom = 62.0 + STEP * (top + 1) as f64;
    svg.remark(
        (20.0, bottom),
        Anchor::Start,
        "Lines that follow from others are left out. `make figures` reads the source.",
    );
    Ok(svg.finish())
}

/// How many modules stand below this one in the longest chain.
fn level(
    module: &str,
    uses: &Uses,
    levels: &mut BTreeMap<String, usize>,
    above: &mut Vec<String>,
) -> Result<usize, String> {
    if let Some(level) = levels.get(module) {
        return Ok(*level);
    }
    if above.iter().any(|name| name == module) {
        return Err(format!("the modules use each other in a circle: {} -> {module}", above.join(" -> ")));
    }
    above.push(module.to_owned());
    let mut least = 0;
    for other in uses.get(module).into_iter().flatten() {
        least = least.max(level(other, uses, levels, above)? + 1);
    }
    above.pop();
    levels.insert(module.to_owned(), least);
    Ok(least)
}

/// Whether `module` uses another module that uses `other`, directly or not.
fn follows(module: &str, other: &str, uses: &Uses) -> bool {
    let reaches = |from: &str| {
        let (mut open, mut seen) = (vec![from.to_owned()], BTreeSet::new());
        while let Some(next) = open.pop() {
            if next == other {
                return true;
            }
            if seen.insert(next.clone()) {
                open.extend(uses.get(&next).into_iter().flatten().cloned());
            }
        }
        false
    };
    uses[module].iter().filter(|between| *between != other).any(|between| reaches(between))
}

/// What the modules of the core use of each other.
fn read(source: &Path) -> Result<Uses, String> {
    let files = uses::read(&source.join("lib.rs"))?;
    let modules = uses::folders(&files).remove(source).unwrap_or_default();
    Ok(modules.into_iter().map(|(module, used)| (module, used.into_keys().collect())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use petal::registry;
    use std::fs;
    use std::path::PathBuf;

    #[test]
    fn circles_are_named() {
        let uses = |pairs: &[(&str, &str)]| {
            let mut uses = Uses::new();
            for (from, to) in pairs {
                uses.entry((*from).to_owned()).or_default().insert((*to).to_owned());
                uses.entry((*to).to_owned()).or_default();
            }
            uses
        };
        let line = uses(&[("a", "b"), ("b", "c"), ("a", "c")]);
        assert_eq!(level("a", &line, &mut BTreeMap::new(), &mut Vec::new()), Ok(2));
        assert!(follows("a", "c", &line) && !follows("a", "b", &line));
        let circle = uses(&[("a", "b"), ("b", "c"), ("c", "a")]);
        let found = level("a", &circle, &mut BTreeMap::new(), &mut Vec::new()).unwrap_err();
        assert!(found.ends_with("a -> b -> c -> a"), "{found}");
    }

    /// Whoever looks for a kind opens the folder that has its name.
    #[test]
    fn every_kind_is_one_folder() {
        let source = crate::root().join("src");
        let folders = [("kinds", registry::FILTERS), ("kinds", registry::MAPS), ("kinds", registry::FOREIGN)];
        for (folder, rows) in folders.into_iter().chain([("sketch", registry::SKETCHES), ("", registry::OWN)]) {
            for row in rows {
                let head = source.join(folder).join(row.name).join("mod.rs");
                let text = fs::read_to_string(&head).unwrap_or_default();
                assert!(text.contains("pub const ROW: Row"), "{} has no row", head.display());
            }
        }
    }

    /// A file of the core has one idea, and that has room in 500 lines.
    #[test]
    fn no_file_is_longer_than_500_lines() {
        let mut files = Vec::new();
        collect(&crate::root().join("src"), &mut files);
        for file in files {
            let lines = fs::read_to_string(&file).unwrap().lines().count();
            assert!(lines <= 500, "{} has {lines} lines", file.display());
        }
    }

    fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
}
