//! The functions of C that several handles have, for the classes of C++.

use super::{headers, read};
use crate::Generated;
use std::path::Path;

const HEAD: &str = "\
// Written by `make layers` from the headers: change those, not this. Part of petal.hpp.
#ifndef PETAL_HPP_CALLS
#define PETAL_HPP_CALLS

#include \"errors.hpp\"

";

const START: &str = "
namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

namespace detail {

/// The functions of the C API for a handle, by the names that handles share.
template <class Handle>
struct calls;
";

const END: &str = "
}  // namespace detail

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_CALLS
";

/// The parts of petal.hpp that call what handles have in common.
const PARTS: [&str; 3] = ["images", "builders", "wire"];

/// `bindings/cpp/petal/calls.hpp`: what these parts call, of which not every handle has all.
pub fn file(root: &Path) -> Result<Generated, String> {
    let called = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned);
    let mut shared = Vec::new();
    for part in PARTS {
        let text = read(&root.join(format!("bindings/cpp/petal/{part}.hpp")))?;
        shared.extend(text.split("Calls::").skip(1).filter_map(called));
    }
    shared.sort_unstable();
    shared.dedup();
    let texts = headers::texts(root)?;
    let all: Vec<_> = texts.iter().map(|(header, text)| (header, headers::functions(text))).collect();
    let is_there = |name: &str| all.iter().flat_map(|(_, functions)| functions).any(|function| function.name == name);
    let (mut includes, mut structs) = (String::new(), String::new());
    for (header, functions) in &all {
        let names = |end| functions.iter().filter_map(move |function| function.name.strip_suffix(end));
        for handle in names("_serialized_size").chain(names("_key_count")) {
            structs += &format!("\ntemplate <>\nstruct calls<{handle}> {{\n");
            for name in shared.iter().filter(|name| is_there(&format!("{handle}_{name}"))) {
                structs += &format!("  static constexpr auto {name} = {handle}_{name};\n");
            }
            structs += "};\n";
        }
        if functions.iter().any(|function| structs.contains(&format!(" = {};", function.name))) {
            includes += &format!("#include <{header}>\n");
        }
    }
    Ok(("bindings/cpp/petal/calls.hpp".into(), format!("{HEAD}{includes}{START}{structs}{END}")))
}
