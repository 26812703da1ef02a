//! What clang makes of a header, as Rust code that compiles only where the C API's own source agrees.
//!
//! bindgen asks clang for sizes, alignments, offsets and values and writes them down as literals next to its own Rust
//! types; here the literals are kept and the types thrown away, so that the same names mean those of the source.

use crate::source::Section;
use quote::{format_ident, quote};
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use syn::{Expr, ExprLit, ForeignItem, Item, Lit, Type};

/// The Rust source of the comparison: `HEADER` and `SOURCE`, the names on both sides; `MACROS`, names and values of the
/// constants that only the header has; and a module that does not compile unless everything else agrees.
///
/// # Errors
/// What clang says about the header, or that there is no libclang.
pub fn checks(header: &str, includes: &Path, source: &[Section]) -> Result<String, String> {
    let builder = bindgen::builder()
        .header_contents("all.h", header)
        .clang_arg(format!("-I{}", includes.display()))
        // The plain code of petal_inline.h, whose own macros and structs are no part of the interface.
        .clang_arg("-DPETAL_INLINE_PORTABLE")
        .allowlist_item("(petal|PETAL)_.*")
        .blocklist_item("(petal_inline|PETAL_INLINE)_.*|PETAL_([A-Z]+_)?H")
        .generate_comments(false)
        .derive_copy(false)
        .derive_debug(false)
        .formatter(bindgen::Formatter::None);
    // bindgen panics where it finds no libclang.
    let bindings =
        catch_unwind(AssertUnwindSafe(|| builder.generate())).map_err(|_| "libclang is needed".to_owned())?;
    let bindings = syn::parse_file(&bindings.map_err(|e| e.to_string())?.to_string()).map_err(|e| e.to_string())?;

    let items = || source.iter().flat_map(|section| &section.items);
    let mut ours: Vec<String> = items().map(|item| item.name.clone()).collect();
    let (mut theirs, mut macros, mut code) = (Vec::new(), Vec::new(), Vec::new());
    for item in bindings.items {
        match item {
            // Layout, with clang's numbers.
            Item::Const(c) if c.ident == "_" => code.push(quote!(#c)),
            Item::Const(c) if ours.iter().any(|name| c.ident == name) => {
                let (name, value) = (&c.ident, &c.expr);
                let is_float = matches!(&*c.ty, Type::Path(p) if p.path.is_ident("f64"));
                let as_type = if is_float { format_ident!("f64") } else { format_ident!("i64") };
                code.push(quote!(
                    const _: () = assert!(#name as #as_type == #value as #as_type, stringify!(#name));
                ));
                theirs.push(name.to_string());
            }
            Item::Const(c) => macros.push((c.ident.to_string(), literal(&c.expr))),
            // `fn(A) -> B` with the body `|it| it` compiles only if A and B are one type.
            Item::Type(t) => {
                let (name, ty) = (&t.ident, &t.ty);
                code.push(quote!(const _: fn(#name) -> #ty = |it| it;));
                theirs.push(name.to_string());
            }
            Item::Struct(s) => {
                let (name, opaque) = (&s.ident, s.fields.iter().any(|f| matches!(&f.ident, Some(i) if i == "_unused")));
                theirs.push(name.to_string());
                if !opaque {
                    let fields: Vec<_> = s.fields.iter().map(|f| &f.ident).collect();
                    let types = s.fields.iter().map(|f| &f.ty);
                    // The pattern has no `..`: a field that the header lacks does not compile either.
                    code.push(quote! {
                        const _: fn(&#name) = |it| { let #name { #(#fields),* } = it; #(let _: &#types = #fields;)* };
                    });
                }
            }
            Item::ForeignMod(block) => {
                for function in block.items {
                    let ForeignItem::Fn(f) = function else { continue };
                    let (name, result) = (&f.sig.ident, &f.sig.output);
                    let arguments = f.sig.inputs.iter().map(|a| match a {
                        syn::FnArg::Typed(a) => &*a.ty,
                        syn::FnArg::Receiver(_) => unreachable!("C has no methods"),
                    });
                    code.push(quote!(const _: unsafe extern "C" fn(#(#arguments),*) #result = #name;));
                    theirs.push(name.to_string());
                }
            }
            _ => {}
        }
    }
    ours.sort();
    theirs.sort();
    let modules = source.iter().filter_map(|section| section.path.as_ref().filter(|_| !section.items.is_empty()));
    let imports: String = modules.map(|path| format!("use petal_capi::{path}*;\n")).collect();
    let code: String = code.iter().map(|check| format!("{check}\n")).collect();
    let mut out = String::new();
    _ = writeln!(out, "pub const HEADER: &[&str] = &{theirs:?};\npub const SOURCE: &[&str] = &{ours:?};");
    _ = writeln!(out, "pub const MACROS: &[(&str, &str)] = &{macros:?};");
    _ = writeln!(
        out,
        "#[allow(unused_imports, clippy::all)]\nmod compiled {{\nuse petal_capi::*;\n{imports}{code}\n}}"
    );
    Ok(out)
}

/// A literal as C writes it.
fn literal(value: &Expr) -> String {
    match value {
        Expr::Lit(ExprLit { lit: Lit::ByteStr(it), .. }) => {
            format!("\"{}\"", String::from_utf8_lossy(&it.value()).trim_end_matches('\0'))
        }
        other => quote!(#other).to_string().replace(' ', ""),
    }
}
