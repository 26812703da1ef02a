#!/bin/sh
# features.sh [all]: builds by choice compile without a warning: those of no kind, and of one, with serde. With `all`
# also that of each feature by itself, such as all kinds without an instruction set, and that of all but each one that
# brings functions of C, which takes some minutes.
set -eu
cd "$(dirname "$0")/.."

lints() {
    echo "== features: ${1:-none}"
    cargo clippy --quiet --locked -p petal-capi --no-default-features --features "$1" -- -D warnings
}

# The features of a package.
features() {
    sed -n '/^\[features\]/,/^\[[^f]/s/^\([a-z0-9_]*\) = .*/\1/p' "$1"
}

lints ''
lints petal_core/blocked,petal_core/avx2,petal_core/serde
[ "${1-}" = all ] || exit 0
own=$(features capi/Cargo.toml)
others=$(features Cargo.toml | grep -vxF "$own" | sed 's#^#petal_core/#')
for feature in $own $others; do
    lints "$feature"
done
# A session needs sketches.
maps='map|bloomier|retrieval|approximator|mutable_bloomier'
for absent in session router aggregate digest index "$maps" 'sketch|iblt|riblt|pinsketch|session'; do
    lints "$(echo $others $(echo "$own" | grep -vxE "default|kinds|$absent"))"
done
