#!/bin/sh
# features.sh [all]: builds by choice compile without a warning: those of no kind, and of one, with serde. With `all`
# also that of all kinds without an instruction set, and those of each feature of the core by itself, which takes some
# minutes.
set -eu
cd "$(dirname "$0")/.."

lints() {
    echo "== features: ${1:-none}"
    cargo clippy --quiet --locked -p petal-capi --no-default-features --features "$1" -- -D warnings
}

lints ''
lints petal_core/blocked,petal_core/avx2,petal_core/serde
[ "${1-}" = all ] || exit 0
lints petal_core/kinds
for feature in $(sed -n '/^\[features\]/,/^\[dependencies\]/s/^\([a-z0-9_]*\) = .*/\1/p' Cargo.toml); do
    lints "petal_core/$feature"
done
