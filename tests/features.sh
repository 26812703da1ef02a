#!/bin/sh
# features.sh [all]: checks that builds by choice compile without a warning: with no kind, with one, and without
# instruction sets. With `all`, also with each single feature of the core, which takes some minutes.
set -eu
cd "$(dirname "$0")/.."

lints() {
    echo "== features: ${1:-none}"
    cargo clippy --quiet --locked -p petal-capi --no-default-features --features "$1" -- -D warnings
}

lints ''
lints petal_core/blocked,petal_core/avx2
lints petal_core/kinds
[ "${1-}" = all ] || exit 0
for feature in $(sed -n '/^\[features\]/,/^\[dependencies\]/s/^\([a-z0-9_]*\) = .*/\1/p' Cargo.toml); do
    lints "petal_core/$feature"
done
