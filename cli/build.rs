//! The version resource of petal.exe, for Windows.

#[path = "../capi/resource.rs"]
mod resource;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../capi/resource.rs");
    if let Some(object) = resource::compile("petal.exe", "The command petal") {
        println!("cargo::rustc-link-arg-bin=petal={}", object.display());
    }
}
