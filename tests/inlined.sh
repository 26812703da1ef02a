#!/bin/sh
# inlined.sh [FEATURE...]: no closure of an inner loop stays a function, in the least that a Rust program may ask of the
# compiler: no optimisation across the parts of a crate, and many parts. A vector in an array that goes through such a
# call goes through memory, and a lookup takes several times as long. Without features all kinds are compiled.
#
# What is called once a batch or once a group of keys may stay: it is named below, with the reason.
set -eu
cd "$(dirname "$0")/.."
[ "$(uname -m)" = x86_64 ] || { echo "skipped: the inner loops looked at are those of x86-64"; exit 0; }
target=${CARGO_TARGET_DIR:-target}/inlined
[ $# -eq 0 ] || choice="--no-default-features --features instructions,$(echo "$@" | tr ' ' ,)"

CARGO_TARGET_DIR=$target CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=2 \
    CARGO_PROFILE_RELEASE_CODEGEN_UNITS=256 RUSTFLAGS="${RUSTFLAGS-} -C symbol-mangling-version=v0" \
    cargo build --quiet --release --locked -p petal ${choice-}

# Rounds of a driver, each for a group of keys; what a batch prepares; entries of a kernel's table.
allowed='::(many|contains_many)(::<.*>)?::\{closure'
allowed="$allowed|layout::chain::avx512::contains::\{closure|FnOnce<.*>>::call_once|core::ops::drop::Drop>::drop"

nm --defined-only "$target"/release/libpetal.rlib 2>/dev/null | sed -n 's/^[0-9a-f]* [tT] //p' | c++filt |
    sed 's/\[[0-9a-f]\{16\}\]//g' | sort -u >"$target/functions"
kernels=$(grep -cE '::(avx2|avx512)::' "$target/functions" || true)
[ "$kernels" -gt 20 ] || { echo "$kernels functions of kernels were found, which are too few"; exit 1; }
called=$(grep -E '::(avx2|avx512)::' "$target/functions" | grep -E '\{closure|^<?core::iter' |
    grep -vE "$allowed" || true)
if [ -n "$called" ]; then
    echo "closures and iterators of inner loops that stay calls:"
    echo "$called" | cut -c 1-300
    exit 1
fi
echo "$kernels functions of kernels, and none of their closures is one"
