#!/bin/sh
# targets.sh: the core and the C library compile for the systems that no test here runs on: Windows (mingw) and macOS.
# Says which target is left out because its standard library cannot be had.
set -eu
cd "$(dirname "$0")/.."

has_library() {
    [ -d "$(rustc --print target-libdir --target "$1")" ]
}

for triple in x86_64-pc-windows-gnu aarch64-apple-darwin; do
    if ! has_library $triple; then
        { command -v rustup && rustup target add $triple; } >/dev/null 2>&1 || true
    fi
    if ! has_library $triple; then
        echo "targets: $triple is left out: rustc has no standard library for it, and rustup cannot get one"
        continue
    fi
    echo "== cargo check --target $triple"
    said=$(cargo check --locked --quiet -p petal -p petal-capi --target $triple 2>&1) || {
        echo "$said"
        exit 1
    }
    [ -z "$said" ] || { echo "$said"; echo "targets: $triple has warnings"; exit 1; }
done
