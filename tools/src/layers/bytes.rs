//! The functions of C that take bytes, and the verbs of batches, for Go.

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

/// `bindings/go/bytes.h`: a function for each one of C that has a pointer to bytes, and one for all batches.
pub fn file(root: &Path) -> Result<Generated, String> {
    let mut out = HEAD.to_owned();
    let (mut verbs, mut cases) = (Vec::new(), String::new());
    for (_, text) in headers::texts(root)? {
        for function in headers::functions(&text) {
            out += &wrapper(&function).unwrap_or_default();
            if let Some((verb, case)) = batch(&function) {
                cases += &case;
                verbs.push(verb);
            }
        }
    }
    let _ = writeln!(
        out,
        "\n/* The verbs of batches. A name has the type of the verb's handle, or none if that is a filter. */\n\
         typedef enum {{\n\t{}\n}} petal_go_verb;",
        verbs.join(",\n\t")
    );
    let _ = writeln!(
        out,
        "\n/* `given` are the numbers that come with the keys, or the bits of doubles. */\n\
         static inline petal_status petal_go_run(petal_go_verb verb, void *handle, const petal_keys *keys,\n\t\t\
         const uint64_t *given, petal_answers *answers, petal_error *error) {{\n\tswitch (verb) {{\n{cases}\t}}\n\t\
         return PETAL_ERR_INTERNAL;\n}}"
    );
    out += "\n#endif\n";
    Ok(("bindings/go/bytes.h".into(), out))
}

/// The verb of a function that takes a batch of keys, and its case among the verbs.
fn batch(function: &Function) -> Option<(String, String)> {
    let verb = function.name.strip_prefix("petal_")?.strip_suffix("_batch")?;
    let types: Vec<&str> = function.parameters.iter().map(|p| p.ty.as_str()).collect();
    let given = match types[..] {
        [_, "const petal_keys *", "petal_answers *", "petal_error *"] => "",
        [_, "const petal_keys *", "const uint64_t *", "petal_answers *", "petal_error *"] => "given, ",
        [_, "const petal_keys *", "const double *", "petal_answers *", "petal_error *"] => "(const double *)given, ",
        _ => return None,
    };
    let name = format!("PETAL_GO_{}", verb.trim_start_matches("filter_").to_uppercase());
    let case = format!("\tcase {name}:\n\t\treturn {}(handle, keys, {given}answers, error);\n", function.name);
    Some((name, case))
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
