//! The functions of C that take bytes, for Go.

use super::headers::{self, Function, Parameter};
use crate::Generated;
use std::fmt::Write as _;
use std::path::Path;

const HEAD: &str = "\
/*
 * Written by `make layers` from the headers: change those, not this.
 *
 * The functions that take bytes, with pointers to uint8_t instead of void. Memory behind a void pointer may hold Go
 * pointers, so at each call cgo would scan the whole object that a key is part of. It would also refuse a key that lies
 * in a struct next to a pointer.
 */
#ifndef PETAL_GO_BYTES_H
#define PETAL_GO_BYTES_H
";

/// `bindings/go/bytes.h`: a function for each one of C that has a pointer to bytes.
pub fn file(root: &Path) -> Result<Generated, String> {
    let mut out = HEAD.to_owned();
    for (_, text) in headers::texts(root)? {
        for function in headers::functions(&text) {
            out += &wrapper(&function).unwrap_or_default();
        }
    }
    out += "\n#endif\n";
    Ok(("bindings/go/bytes.h".into(), out))
}

/// The function for one with a pointer to bytes; `None` for all others.
fn wrapper(function: &Function) -> Option<String> {
    let Function { returns, name, parameters, .. } = function;
    let verb = name.strip_prefix("petal_")?;
    // A context is handed back to a callback as it came, and an array of pointers is no bytes.
    let is_bytes = |p: &Parameter| p.ty.ends_with("void *") && p.name != "context";
    if !parameters.iter().any(is_bytes) {
        return None;
    }
    let declared = parameters.iter().map(|p| {
        let ty = if is_bytes(p) { p.ty.replace("void", "uint8_t") } else { p.ty.to_owned() };
        format!("{ty}{}", p.name)
    });
    let mut out = "\n".to_owned();
    let head = format!("static inline {returns}petal_go_{verb}(");
    headers::wrap(&mut out, &head, &declared.collect::<Vec<_>>(), ") {", "\t\t", 4);
    let passed = parameters.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", ");
    let _ = writeln!(out, "\treturn {name}({passed});\n}}");
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_bytes_and_the_rest_stays() {
        let text = "/** Inserts. */\npetal_status petal_filter_insert(petal_filter *filter, const void *key,\n  \
                    size_t length, bool *is_new);\n\
                    petal_status petal_filter_sync(petal_filter *filter, petal_error *error);\n\
                    petal_status petal_x(petal_write_callback write, void *context);\n";
        let expected = "\nstatic inline petal_status petal_go_filter_insert(petal_filter *filter, const uint8_t *key, \
                        size_t length,\n\t\tbool *is_new) {\n\t\
                        return petal_filter_insert(filter, key, length, is_new);\n}\n";
        let functions = headers::functions(text);
        assert_eq!(functions[0].comment, "Inserts.");
        assert_eq!(functions.iter().map(wrapper).collect::<Vec<_>>(), [Some(expected.to_owned()), None, None]);
    }
}
