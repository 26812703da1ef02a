//! The functions of C that all handles with an image have, for the classes of C++.

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

/// The functions of the C API for a handle with an image, by the names that such handles share.
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

/// `bindings/cpp/petal/calls.hpp`: what `image_owner` in images.hpp calls, of which not every handle has all.
pub fn file(root: &Path) -> Result<Generated, String> {
    let images = read(&root.join("bindings/cpp/petal/images.hpp"))?;
    let called = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned);
    let mut shared: Vec<String> = images.split("Calls::").skip(1).filter_map(called).collect();
    shared.sort_unstable();
    shared.dedup();
    let (mut includes, mut structs) = (String::new(), String::new());
    for (header, text) in headers::texts(root)? {
        let functions = headers::functions(&text);
        let is_there = |name: &str| functions.iter().any(|function| function.name == name);
        let handles = functions.iter().filter_map(|function| function.name.strip_suffix("_serialized_size"));
        for handle in handles {
            includes += &format!("#include <{header}>\n");
            structs += &format!("\ntemplate <>\nstruct calls<{handle}> {{\n");
            for name in shared.iter().filter(|name| is_there(&format!("{handle}_{name}"))) {
                structs += &format!("  static constexpr auto {name} = {handle}_{name};\n");
            }
            structs += "};\n";
        }
    }
    Ok(("bindings/cpp/petal/calls.hpp".into(), format!("{HEAD}{includes}{START}{structs}{END}")))
}
