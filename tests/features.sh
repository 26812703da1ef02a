#!/bin/sh
# features.sh [all]: builds by choice compile without a warning: those of no kind, of one, of no instruction set, and
# the core with serde. With `all` those of each feature of the core by itself too, which takes some minutes.
set -eu
cd "$(dirname "$0")/.."

lints() {
    echo "== features: ${1:-none}"
    cargo clippy --quiet --locked -p petal-capi --no-default-features --features "$1" -- -D warnings
}

lints ''
lints petal_core/blocked,petal_core/avx2
lints petal_core/kinds
echo "== features: serde"
cargo clippy --quiet --locked -p petal --all-targets --features serde -- -D warnings
[ "${1-}" = all ] || exit 0
lints petal_core/kinds
for feature in $(sed -n '/^\[features\]/,/^\[dependencies\]/s/^\([a-z0-9_]*\) = .*/\1/p' Cargo.toml); do
    lints "petal_core/$feature"
done
