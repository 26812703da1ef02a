//! What the Rust source of the C API exports, in the order in which it is written.

use quote::ToTokens;
use std::path::Path;

/// A module of the C API: a section of a header.
pub struct Section {
    /// The file name of the header.
    pub header: String,
    /// Whether a header begins with it: the root, and each module whose first line names one ("petal_map.h: ..."). What
    /// is inside such a module belongs to the same header.
    pub is_first: bool,
    /// Its `//!` lines; those of a header's first module are the chapter before all sections.
    pub text: Vec<String>,
    /// Its path below the root, `None` where it is private.
    pub path: Option<String>,
    /// What it exports.
    pub items: Vec<Item>,
    /// The module's C code: the file next to it whose name ends in `.h`.
    pub c: String,
}

/// A function, type or constant.
pub struct Item {
    /// Its name, which Rust and C have in common.
    pub name: String,
    /// The type of a constant, or what an alias stands for; otherwise empty.
    pub ty: String,
}

/// Reads `capi/src/lib.rs` under `root` and the modules that it declares; the first section is `lib.rs` itself.
pub fn read(root: &Path) -> Vec<Section> {
    let folder = root.join("capi/src");
    let mut sections = Vec::new();
    add(&parse(&folder.join("lib.rs")), &folder, Some(String::new()), String::new(), "petal.h", &mut sections);
    sections
}

/// The file names of the headers, petal.h first.
pub fn headers(sections: &[Section]) -> Vec<&str> {
    sections.iter().filter(|section| section.is_first).map(|section| section.header.as_str()).collect()
}

/// The header that a module's first line names.
fn named(text: &[String]) -> Option<&str> {
    let name = text.first()?.split_once(": ")?.0;
    (name.starts_with("petal_") && name.ends_with(".h")).then_some(name)
}

fn parse(file: &Path) -> syn::File {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// Adds a section for a module, then one for each module that it declares, whose files are in `folder`.
fn add(module: &syn::File, folder: &Path, path: Option<String>, c: String, header: &str, sections: &mut Vec<Section>) {
    let (here, chapter) = (sections.len(), documentation(&module.attrs));
    let header = named(&chapter).unwrap_or(header).to_owned();
    let is_first = sections.iter().all(|section| section.header != header);
    sections.push(Section {
        header: header.clone(),
        is_first,
        text: chapter,
        path: path.clone(),
        items: Vec::new(),
        c,
    });
    for item in &module.items {
        let (attrs, visibility, name, prefix, ty) = match item {
            syn::Item::Mod(m) if !left_out(&m.attrs) => {
                let (inside, beside) = (folder.join(m.ident.to_string()), folder.join(format!("{}.rs", m.ident)));
                let module = match &m.content {
                    Some((_, items)) => syn::File { shebang: None, attrs: m.attrs.clone(), items: items.clone() },
                    None => parse(&if beside.exists() { beside.clone() } else { inside.join("mod.rs") }),
                };
                let path = path.as_ref().filter(|_| is_public(&m.vis)).map(|path| format!("{path}{}::", m.ident));
                let c = std::fs::read_to_string(beside.with_extension("h")).unwrap_or_default();
                add(&module, &inside, path, c, &header, sections);
                continue;
            }
            syn::Item::Fn(f) if !f.attrs.iter().any(|a| text(a).contains("no_mangle")) => continue,
            syn::Item::Fn(f) => (&f.attrs, &f.vis, &f.sig.ident, "", String::new()),
            syn::Item::Struct(s) => (&s.attrs, &s.vis, &s.ident, "petal_", String::new()),
            syn::Item::Type(t) => (&t.attrs, &t.vis, &t.ident, "petal_", text(&t.ty)),
            syn::Item::Const(c) => (&c.attrs, &c.vis, &c.ident, "PETAL_", text(&c.ty)),
            _ => continue,
        };
        let name = name.to_string();
        if name.starts_with(prefix) && is_public(visibility) && !left_out(attrs) {
            sections[here].items.push(Item { name, ty });
        }
    }
}

fn text(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string()
}

fn is_public(visibility: &syn::Visibility) -> bool {
    matches!(visibility, syn::Visibility::Public(_))
}

/// Tests, and the faults that are planted to prove that tests would notice, are no part of the API.
fn left_out(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().filter(|a| a.path().is_ident("cfg")).map(text).any(|it| {
        // As the tokens are printed: `#[cfg (test)]`.
        it.contains("planted-faults") || it.contains("(test)")
    })
}

fn documentation(attrs: &[syn::Attribute]) -> Vec<String> {
    let lines = attrs.iter().filter(|a| a.path().is_ident("doc")).filter_map(|a| match &a.meta {
        syn::Meta::NameValue(it) => syn::parse2::<syn::LitStr>(it.value.to_token_stream()).ok(),
        _ => None,
    });
    lines.map(|line| line.value().strip_prefix(' ').unwrap_or(&line.value()).trim_end().to_owned()).collect()
}
