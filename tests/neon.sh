#!/bin/sh
# neon.sh [CARGO_TARGET]: the tests of kernels, hashing, golden images and shared insertion, and of petal_inline.h, as
# aarch64 programs in qemu-user: what the kernels in files called neon.rs and the inlined probes do on the processors
# that they are for.
#
# Needs g++-aarch64-linux-gnu, qemu-user and Rust's standard library for aarch64 (`make test` installs the packages
# where it may, and rustup gets the library). Where one of them cannot be had, it says so and does nothing.
set -eu
cd "$(dirname "$0")/.."
triple=aarch64-unknown-linux-gnu

not_run() {
    echo "neon: not run: $1"
    exit 0
}

# Asked of rustc, not of rustup: another toolchain may be the one on the PATH, and the library there without a network.
has_library() {
    [ -d "$(rustc --print target-libdir --target $triple)" ]
}

case $(uname -m) in
aarch64 | arm64) not_run "this machine is one, so all other tests were run with NEON" ;;
esac
for compiler in gcc g++; do
    command -v aarch64-linux-gnu-$compiler >/dev/null ||
        not_run "there is no aarch64-linux-gnu-$compiler (Debian: g++-aarch64-linux-gnu)"
done
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) ||
    not_run "there is no qemu-aarch64 (Debian: qemu-user)"
if ! has_library; then
    command -v rustup >/dev/null || not_run "rustc has no $triple, and there is no rustup to get it"
    rustup target add $triple || not_run "rustup cannot get $triple"
    has_library || not_run "rustup has got $triple, but not for the rustc on the PATH"
fi

CARGO_TARGET_DIR=${1:-${CARGO_TARGET_DIR:-target}}
CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="$qemu -L /usr/aarch64-linux-gnu"
export CARGO_TARGET_DIR CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER
# This also builds the library for the C programs below: alone it would have other features, and be compiled a second
# time.
packages="-p petal-suite -p petal-capi"
cargo build --locked --profile test --target $triple $packages --lib --test emulated
cargo test --locked --target $triple $packages --test emulated -- kernels:: format::golden hash:: shared::

echo "neon: petal_inline.h, with NEON and as plain code"
programs=$CARGO_TARGET_DIR/$triple/debug
passed=0

# probes CODE COMPILER ARGUMENT...: compiles a test of the inlined probes and runs it; it fails where it is not CODE.
probes() {
    code=$1
    compiler=aarch64-linux-gnu-$2
    shift 2
    $compiler "$@" "-DPETAL_INLINE_EXPECTED=\"$code\"" -O2 -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror \
        -Iinclude -Ictest "$programs/libpetal.a" -lpthread -ldl -lm -o "$programs/inline"
    $qemu -L /usr/aarch64-linux-gnu "$programs/inline"
    passed=$((passed + 1))
}
probes NEON gcc -std=c99 ctest/inline.c
probes plain gcc -std=c99 -DPETAL_INLINE_PORTABLE ctest/inline.c
probes NEON gcc -std=c99 ctest/inline_kinds.c
probes plain gcc -std=c99 -DPETAL_INLINE_PORTABLE ctest/inline_kinds.c
probes NEON g++ -std=c++17 -Wold-style-cast ctest/inline_cxx17.cpp
probes plain g++ -std=c++17 -Wold-style-cast -DPETAL_INLINE_PORTABLE ctest/inline_cxx17.cpp
echo "$passed passed, 0 failed"
