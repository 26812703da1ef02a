//! Which files of a crate use which others, read from the source: a name in code leads to the file that defines it,
//! whatever re-exports are between them.
//!
//! The files and folders of one folder use each other in one direction. A folder uses what any file inside it uses. A
//! folder's head (`mod.rs`, `lib.rs`, `main.rs`) is left out among the files of its own folder: it declares them, hands
//! out what they have, chooses among them and has what they share.

use crate::licences::cargo;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::{Attribute, Ident, Item, ItemMod, UseTree, Visibility};

/// Which files each file uses.
pub type Uses = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// Which files and folders of a folder use which others of it, without `.rs`, and two files that show it.
pub type Folder = BTreeMap<String, BTreeMap<String, (PathBuf, PathBuf)>>;

/// Looks for circles in all crates of the workspace and in the module for Redis.
///
/// # Errors
/// The files of a circle; what cargo says; what cannot be read.
pub fn check(root: &Path) -> Result<(), String> {
    for workspace in [root.to_owned(), root.join("integrations/redis")] {
        for crate_root in crate_roots(&workspace)? {
            if let Some(circle) = folders(&read(&crate_root)?).values().find_map(circle) {
                return Err(format!(
                    "files use each other in a circle:\n{}",
                    circle.replace(&format!("{}/", root.display()), "")
                ));
            }
        }
    }
    Ok(())
}

/// The first file of each library, program, test and example of a workspace.
fn crate_roots(workspace: &Path) -> Result<Vec<PathBuf>, String> {
    let known = cargo(workspace, &["metadata", "--offline", "--no-deps", "--format-version=1"])?;
    let known: Value = serde_json::from_str(&known).map_err(|error| error.to_string())?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let targets = list(&known["packages"]).into_iter().flat_map(|package| list(&package["targets"]));
    Ok(targets.filter_map(|target| target["src_path"].as_str().map(PathBuf::from)).collect())
}

/// What the files and folders of each folder use of each other.
pub fn folders(uses: &Uses) -> BTreeMap<PathBuf, Folder> {
    let mut folders: BTreeMap<PathBuf, Folder> = BTreeMap::new();
    let pairs = uses.iter().flat_map(|(file, used)| used.iter().map(move |other| (file, other)));
    for (file, other) in pairs {
        let common: PathBuf =
            file.iter().zip(other).take_while(|(part, of_other)| part == of_other).map(|(part, _)| part).collect();
        let name = |path: &Path| {
            let rest = path.strip_prefix(&common).ok()?;
            let first = rest.iter().next()?.to_str()?;
            (!["mod.rs", "lib.rs", "main.rs"].contains(&first)).then(|| first.trim_end_matches(".rs").to_owned())
        };
        if let (Some(from), Some(to)) = (name(file), name(other))
            && from != to
        {
            let folder = folders.entry(common.clone()).or_default();
            folder.entry(to.clone()).or_default();
            folder.entry(from).or_default().entry(to).or_insert_with(|| (file.clone(), other.clone()));
        }
    }
    folders
}

/// The files of a circle, if there is one in a folder: lines that say which one uses which.
pub fn circle(folder: &Folder) -> Option<String> {
    /// `above` are the names on the way here; below those in `done` there is no circle.
    fn below<'a>(
        name: &'a str,
        folder: &'a Folder,
        above: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
    ) -> Option<Vec<&'a str>> {
        if let Some(at) = above.iter().position(|other| *other == name) {
            return Some(above.split_off(at));
        }
        if !done.contains(name) {
            above.push(name);
            let found = folder[name].keys().find_map(|other| below(other, folder, above, done));
            if found.is_some() {
                return found;
            }
            above.pop();
            done.insert(name);
        }
        None
    }
    let mut done = BTreeSet::new();
    let names = folder.keys().find_map(|name| below(name, folder, &mut Vec::new(), &mut done))?;
    let steps = names.iter().zip(names.iter().cycle().skip(1));
    let lines = steps.map(|(name, other)| {
        let (file, used) = &folder[*name][*other];
        format!("{} uses {}", file.display(), used.display())
    });
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// Reads the crate whose root is this file. Tests inside its files and what is for documentation only count nothing.
///
/// # Errors
/// The file that is not there, or is no Rust.
pub fn read(root: &Path) -> Result<Uses, String> {
    let mut source = Source { modules: Vec::new() };
    let folder = root.parent().ok_or("a crate's root is in a folder")?;
    source.read_file(root, folder, None)?;
    let mut uses = Uses::new();
    for (module, Module { file, imports, paths, .. }) in source.modules.iter().enumerate() {
        let used = uses.entry(file.clone()).or_default();
        let private = imports.iter().filter(|import| !import.is_shown).map(|import| &import.path);
        for path in private.chain(paths) {
            if let Some(Found::Item(other)) = source.resolve(module, path, &mut Vec::new())
                && other != file
            {
                used.insert(other.clone());
            }
        }
    }
    Ok(uses)
}

/// The modules of a crate: the first one is its root.
struct Source {
    modules: Vec<Module>,
}

struct Module {
    file: PathBuf,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    /// Types, functions and what else has a name here.
    items: BTreeSet<String>,
    imports: Vec<Import>,
    /// What code names: the names of each path.
    paths: BTreeSet<Vec<String>>,
}

/// What a `use` brings.
struct Import {
    path: Vec<String>,
    /// What it is called here; `None` for all that is in `path`.
    name: Option<String>,
    /// Whether other modules see it.
    is_shown: bool,
}

/// The names that are being looked for, and in which modules.
type Open = Vec<(usize, String)>;

/// What a path names.
enum Found<'a> {
    Module(usize),
    /// Something in this file.
    Item(&'a PathBuf),
}

impl Source {
    /// Reads a module and those inside it, whose files are in `folder`; returns its number.
    fn read_file(&mut self, file: &Path, folder: &Path, parent: Option<usize>) -> Result<usize, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
        let text = fs::read_to_string(file).map_err(|error| failed(&error))?;
        let parsed = syn::parse_file(&text).map_err(|error| failed(&error))?;
        self.read_module(file, folder, parent, parsed.items)
    }

    fn read_module(
        &mut self,
        file: &Path,
        folder: &Path,
        parent: Option<usize>,
        items: Vec<Item>,
    ) -> Result<usize, String> {
        let (children, items_here, imports, paths) = Default::default();
        let own = self.modules.len();
        self.modules.push(Module { file: file.to_owned(), parent, children, items: items_here, imports, paths });
        for item in items {
            match item {
                _ if is_left_out(attributes(&item)) => {}
                Item::Mod(inner) => {
                    let name = plain(&inner.ident);
                    let child = self.read_inner(file, folder, own, inner)?;
                    self.modules[own].children.insert(name, child);
                }
                Item::Use(item) => {
                    let is_shown = !matches!(item.vis, Visibility::Inherited);
                    import(&item.tree, &mut Vec::new(), is_shown, &mut self.modules[own].imports);
                }
                item => {
                    let module = &mut self.modules[own];
                    module.items.extend(name(&item).map(plain));
                    collect_paths(item.into_token_stream(), &mut module.paths);
                }
            }
        }
        Ok(own)
    }

    /// Reads a module that `file` declares.
    fn read_inner(&mut self, file: &Path, folder: &Path, parent: usize, module: ItemMod) -> Result<usize, String> {
        let name = plain(&module.ident);
        let inside = folder.join(&name);
        if let Some((_, items)) = module.content {
            return self.read_module(file, &inside, Some(parent), items);
        }
        if let Some(path) = path_of(&module.attrs) {
            let named = file.parent().unwrap_or(folder).join(path);
            let inside = named.parent().unwrap_or(folder).to_owned();
            return self.read_file(&named, &inside, Some(parent));
        }
        let alone = folder.join(format!("{name}.rs"));
        let file = if alone.exists() { alone } else { inside.join("mod.rs") };
        self.read_file(&file, &inside, Some(parent))
    }

    /// What a path that stands in this module names, if that is in this crate. `open` are the names that are being
    /// looked for.
    fn resolve(&self, module: usize, path: &[String], open: &mut Open) -> Option<Found<'_>> {
        let (first, mut rest) = path.split_first()?;
        let mut found = match first.as_str() {
            "crate" => Found::Module(0),
            "self" => Found::Module(module),
            "super" => Found::Module(self.modules[module].parent?),
            name => self.look_up(module, name, !rest.is_empty(), open)?,
        };
        while let (Found::Module(within), Some((next, after))) = (&found, rest.split_first()) {
            found = match next.as_str() {
                "super" => Found::Module(self.modules[*within].parent?),
                "self" => Found::Module(*within),
                name => self.look_up(*within, name, !after.is_empty(), open)?,
            };
            rest = after;
        }
        Some(found)
    }

    /// What a name stands for in a module, where a path goes on after the name or ends with it: modules and functions
    /// may have one name.
    fn look_up(&self, module: usize, name: &str, goes_on: bool, open: &mut Open) -> Option<Found<'_>> {
        let here = &self.modules[module];
        let item = || here.items.contains(name).then_some(Found::Item(&here.file));
        let child = || here.children.get(name).map(|child| Found::Module(*child));
        match goes_on {
            true => child().or_else(|| self.imported(module, name, goes_on, open)).or_else(item),
            false => item().or_else(|| self.imported(module, name, goes_on, open)).or_else(child),
        }
    }

    /// What a module imports under a name.
    fn imported(&self, module: usize, name: &str, goes_on: bool, open: &mut Open) -> Option<Found<'_>> {
        let wanted = (module, name.to_owned());
        if open.contains(&wanted) {
            return None;
        }
        open.push(wanted);
        let imports = &self.modules[module].imports;
        let by_name = imports.iter().filter(|import| import.name.as_deref() == Some(name));
        let of_all = imports.iter().filter(|import| import.name.is_none());
        let mut found = None;
        for import in by_name {
            found = found.or_else(|| self.resolve(module, &import.path, open));
        }
        for import in of_all {
            found = found.or_else(|| match self.resolve(module, &import.path, open)? {
                Found::Module(all) => self.look_up(all, name, goes_on, open),
                Found::Item(_) => None,
            });
        }
        open.pop();
        found
    }
}

/// Whether an item is there for tests or for documentation only.
fn is_left_out(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = attribute.meta.to_token_stream().to_string().replace(' ', "");
        ["cfg(test)", "cfg(doc)", "cfg(doctest)"].contains(&text.as_str()) || text.starts_with("cfg(all(test,")
    })
}

/// What `#[path = "..."]` says.
fn path_of(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find(|attribute| attribute.path().is_ident("path")).and_then(|attribute| {
        let text = attribute.meta.require_name_value().ok()?.value.to_token_stream().to_string();
        Some(text.trim_matches('"').to_owned())
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn name(item: &Item) -> Option<&Ident> {
    match item {
        Item::Const(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        Item::Macro(item) => item.ident.as_ref(),
        Item::Static(item) => Some(&item.ident),
        Item::Struct(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        Item::Union(item) => Some(&item.ident),
        _ => None,
    }
}

fn import(tree: &UseTree, path: &mut Vec<String>, is_shown: bool, imports: &mut Vec<Import>) {
    let mut add = |last: Option<&Ident>, name: Option<&Ident>| {
        let mut path = path.clone();
        path.extend(last.map(plain));
        let name = name.map(plain).map(|name| if name == "self" { path[path.len() - 2].clone() } else { name });
        imports.push(Import { path, name, is_shown });
    };
    match tree {
        UseTree::Path(inner) => {
            path.push(plain(&inner.ident));
            import(&inner.tree, path, is_shown, imports);
            path.pop();
        }
        UseTree::Name(leaf) => add(Some(&leaf.ident), Some(&leaf.ident)),
        UseTree::Rename(leaf) => add(Some(&leaf.ident), Some(&leaf.rename)),
        UseTree::Glob(_) => add(None, None),
        UseTree::Group(group) => group.items.iter().for_each(|tree| import(tree, path, is_shown, imports)),
    }
}

/// The paths in code. A name after a dot is a field or a method.
fn collect_paths(tokens: TokenStream, paths: &mut BTreeSet<Vec<String>>) {
    let mut path: Vec<String> = Vec::new();
    // Whether the next name goes on with the path, and whether it is no path's.
    let (mut colons, mut is_member) = (0, false);
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                if colons != 2 {
                    paths.insert(std::mem::take(&mut path));
                }
                if !is_member {
                    path.push(plain(&name));
                }
                (colons, is_member) = (0, false);
            }
            TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
            TokenTree::Punct(mark) => {
                paths.insert(std::mem::take(&mut path));
                // Two dots are a range.
                (colons, is_member) = (0, mark.as_char() == '.' && !is_member);
            }
            TokenTree::Group(group) => {
                paths.insert(std::mem::take(&mut path));
                (colons, is_member) = (0, false);
                collect_paths(group.stream(), paths);
            }
            TokenTree::Literal(_) => (colons, is_member) = (0, false),
        }
    }
    paths.insert(path);
}

/// A name without `r#`.
fn plain(name: &Ident) -> String {
    name.to_string().trim_start_matches("r#").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a crate of these files, below its folder.
    fn said(files: &[(&str, &str)]) -> Option<String> {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("petal-circles-{}-{number}", std::process::id()));
        for (name, text) in files {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let uses = read(&folder.join("lib.rs"));
        fs::remove_dir_all(&folder).unwrap();
        let found = folders(&uses.unwrap()).values().find_map(circle);
        found.map(|circle| circle.replace(&format!("{}/", folder.display()), ""))
    }

    #[test]
    fn a_circle_is_said_with_its_files() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::{self, B}; pub struct A(B); fn f() { b::g() }"),
            ("b.rs", "pub struct B; pub fn g() { crate::c::h::<super::c::C>() }"),
            ("c.rs", "use crate::a; pub struct C; pub fn h<T>() {} fn i(_: a::A) {}"),
        ];
        assert_eq!(said(&files).unwrap(), "a.rs uses b.rs\nb.rs uses c.rs\nc.rs uses a.rs");
        assert_eq!(said(&[files[0], files[1], files[2], ("c.rs", "pub struct C; pub fn h<T>() {}")]), None);
    }

    #[test]
    fn a_folder_uses_what_its_files_use_and_its_head_is_left_out() {
        let head = ("f/mod.rs", "mod x; mod y; pub use x::X; pub struct Shared; pub fn all(_: y::Y) {}");
        let sound = [
            ("lib.rs", "mod f; mod g;"),
            head,
            ("f/x.rs", "use super::Shared; pub struct X(Shared);"),
            ("f/y.rs", "pub struct Y(super::X);"),
            ("g.rs", "pub fn of(_: crate::f::X) {}"),
        ];
        assert_eq!(said(&sound), None);
        let mut circle = sound;
        circle[3].1 = "pub struct Y(super::X); fn f() { crate::g::of(x) }";
        assert_eq!(said(&circle).unwrap(), "f/y.rs uses g.rs\ng.rs uses f/x.rs");
    }

    #[test]
    fn tests_comments_and_texts_use_what_they_like() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            (
                "a.rs",
                "pub struct A; /// [`crate::b::B`]\n pub const T: &str = \"crate::b::B\"; // crate::b::B\n\
              #[cfg(doc)] use crate::b::B; #[cfg(test)] mod tests { use crate::b::B; }",
            ),
            ("b.rs", "pub struct B(crate::a::A);"),
        ];
        assert_eq!(said(&files), None);
    }

    /// A kind uses another one only to hold it as a level or part. Its feature then names the other's.
    #[test]
    fn kinds_use_only_kinds_that_their_features_name() {
        let root = crate::root();
        let known = cargo(&root, &["metadata", "--offline", "--no-deps", "--format-version=1"]).unwrap();
        let known: Value = serde_json::from_str(&known).unwrap();
        let core = known["packages"].as_array().unwrap().iter().find(|package| package["name"] == "petal").unwrap();
        let kinds = root.join("src/kinds");
        let mut refused = Vec::new();
        for (kind, used) in &folders(&read(&root.join("src/lib.rs")).unwrap())[&kinds] {
            // Other folders have what several kinds share, such as levels.
            let Some(named) = core["features"][kind].as_array() else { continue };
            let is_named = |other: &str| named.iter().any(|feature| feature == other);
            for (other, (file, _)) in used {
                if kinds.join(kind).is_dir() && core["features"][other].is_array() && !is_named(other) {
                    refused.push(format!("{} uses {other}, which the feature {kind} does not name", file.display()));
                }
            }
        }
        assert_eq!(refused, Vec::<String>::new());
    }

    #[test]
    fn no_files_use_each_other_in_a_circle() {
        check(&crate::root()).unwrap_or_else(|circle| panic!("{circle}"));
    }
}
