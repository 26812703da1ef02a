//! What the Rust source of the C API exports, in the order in which it is written.

use quote::ToTokens;
use std::path::Path;

/// A module of the C API: a section of the header.
pub struct Section {
    /// Its `//!` lines; those of the root are the chapter before all sections.
    pub text: Vec<String>,
    /// Its path below the root, `None` where it is private.
    pub path: Option<String>,
    /// What it exports.
    pub items: Vec<Item>,
    /// C of its own: the file beside the module whose name ends in `.h`.
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
    add(&parse(&folder.join("lib.rs")), &folder, Some(String::new()), String::new(), &mut sections);
    sections
}

fn parse(file: &Path) -> syn::File {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// Adds a section for a module, then one for each module that it declares, whose files are in `folder`.
fn add(module: &syn::File, folder: &Path, path: Option<String>, c: String, sections: &mut Vec<Section>) {
    let here = sections.len();
    sections.push(Section { text: documentation(&module.attrs), path: path.clone(), items: Vec::new(), c });
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
                add(&module, &inside, path, c, sections);
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
