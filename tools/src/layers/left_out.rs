//! The functions of handles that a build leaves out, as `capi` compiles them instead.

use super::headers::{Function, Parameter, functions};
use super::read;
use std::fmt::Write as _;
use std::path::Path;

const MAPS: &str = "bloomier, retrieval, approximator or mutable_bloomier";

/// The features of `capi` that bring functions: the feature, the header, what the names of its functions begin with,
/// and what the message of a refusal names.
const FEATURES: [(&str, &str, &str, &str); 10] = [
    ("map", "map", "petal_map_", MAPS),
    ("map", "wire", "petal_map_", MAPS),
    ("map", "inline", "petal_map_", MAPS),
    ("sketch", "sketch", "petal_sketch_", "iblt, riblt or pinsketch"),
    ("riblt", "sketch", "petal_stream_", "riblt"),
    ("session", "session", "petal_", "session"),
    ("router", "router", "petal_", "router"),
    ("aggregate", "aggregate", "petal_", "aggregate"),
    ("digest", "digest", "petal_", "digest"),
    ("index", "index", "petal_", "index"),
];

/// `capi/src/left_out.rs`, from the headers.
pub fn text(root: &Path, template: &str) -> Result<String, String> {
    let mut out = String::new();
    for (feature, header, start, brings) in FEATURES {
        let header = read(&root.join(format!("include/petal_{header}.h")))?;
        let _ = write!(out, "\n#[cfg(not(feature = \"{feature}\"))]\nleft_out! {{ \"{brings}\":\n");
        for function in functions(&header).iter().filter(|function| function.name.starts_with(start)) {
            let _ = writeln!(out, "    {}", line(function));
        }
        out += "}\n";
    }
    Ok(template.replace("{functions}\n", &out))
}

/// A function as the macro takes it.
fn line(function: &Function) -> String {
    let error = function.parameters.last().is_some_and(|last| last.name == "error");
    let count = function.parameters.len() - usize::from(error);
    let arguments: Vec<_> = function.parameters[..count].iter().map(rust).collect();
    let error = if error { " error" } else { "" };
    let (returns, value) = match function.returns.trim_end() {
        "petal_status" => ("petal_status", "LEFT_OUT"),
        "void" => ("()", "()"),
        // A failed lookup never says that a key is absent.
        "bool" => ("bool", if function.name.contains("_contains") { "true" } else { "false" }),
        // PETAL_SESSION_TURN_FAILED.
        "petal_session_turn" => ("u32", "3"),
        count => (number(count), "0"),
    };
    format!("{}({};{error}) -> {returns} = {value};", function.name, arguments.join(", "))
}

/// The Rust type of a parameter. Pointers of all kinds are passed alike.
fn rust(parameter: &Parameter) -> &'static str {
    if parameter.is_pointer() { "Any" } else { number(parameter.ty.trim_end()) }
}

/// The Rust type of a C type that is no pointer. Those of the headers' own are `uint32_t`.
fn number(c: &str) -> &'static str {
    match c {
        "bool" => "bool",
        "double" => "f64",
        "size_t" => "usize",
        "intptr_t" => "isize",
        "int64_t" => "i64",
        "uint64_t" => "u64",
        _ => "u32",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_keep_their_place() {
        let header = "petal_status petal_x_put(petal_x *x, double rate, petal_session_role role, petal_error *error);\n\
                      void petal_x_free(petal_x *x);\nuint64_t petal_x_count(const petal_x *x, size_t of);\n\
                      bool petal_x_contains_u64(const petal_x *x, uint64_t key);";
        let lines: Vec<_> = functions(header).iter().map(line).collect();
        let expected = [
            "petal_x_put(Any, f64, u32; error) -> petal_status = LEFT_OUT;",
            "petal_x_free(Any;) -> () = ();",
            "petal_x_count(Any, usize;) -> u64 = 0;",
            "petal_x_contains_u64(Any, u64;) -> bool = true;",
        ];
        assert_eq!(lines, expected);
    }
}
