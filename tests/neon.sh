#!/bin/sh
# neon.sh [CARGO_TARGET]: the tests of kernels, hashing, images and shared insertion, and of petal_inline.h, as aarch64
# programs in qemu-user: what src/simd/neon.rs and the inlined probes do on the processors that they are for.
#
# Needs rustup, g++-aarch64-linux-gnu and qemu-user (`make test` installs them where it may). Where they are not, it says
# so and does nothing.
set -eu
cd "$(dirname "$0")/.."
triple=aarch64-unknown-linux-gnu

not_run() {
    echo "neon: not run: $1"
    exit 0
}

case $(uname -m) in
aarch64 | arm64) not_run "this machine is one, so all other tests were run with NEON" ;;
esac
for tool in rustup aarch64-linux-gnu-g++ qemu-aarch64; do
    command -v $tool >/dev/null || not_run "there is no $tool (Debian: g++-aarch64-linux-gnu qemu-user)"
done
rustup target add $triple || not_run "rustup cannot get $triple"

CARGO_TARGET_DIR=${1:-${CARGO_TARGET_DIR:-target}}
CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
export CARGO_TARGET_DIR CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER
cargo test --locked --target $triple -p petal --lib --test kernels --test format --test hash --test shared

echo "neon: petal_inline.h, with NEON and as plain code"
cargo build --locked --target $triple -p petal-capi
programs=$CARGO_TARGET_DIR/$triple/debug
for language in "gcc -std=c99 ctest/inline.c" "g++ -std=c++17 -Wold-style-cast ctest/inline_cxx17.cpp"; do
    for flags in -DPETAL_NEON -DPETAL_INLINE_PORTABLE; do
        # shellcheck disable=SC2086 # Words.
        aarch64-linux-gnu-$language $flags -O2 -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror -Iinclude -Ictest \
            "$programs/libpetal.a" -lpthread -ldl -lm -o "$programs/inline"
        qemu-aarch64 -L /usr/aarch64-linux-gnu "$programs/inline"
    done
done
echo "4 passed, 0 failed"
