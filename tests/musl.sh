#!/bin/sh
# musl.sh [CARGO_TARGET]: C programs that musl-gcc links with the package made for x86_64-unknown-linux-musl, statically
# and with libpetal.so. The package is compiled in a hurry: what is tested here is the C library below it.
#
# Needs musl-tools and Rust's standard library for musl (`make test` installs the package where it may, and rustup gets
# the library). Where one of them cannot be had, it says so and does nothing.
set -eu
cd "$(dirname "$0")/.."
triple=x86_64-unknown-linux-musl

not_run() {
    echo "musl: not run: $1"
    exit 0
}

has_library() {
    [ -d "$(rustc --print target-libdir --target $triple)" ]
}

[ "$(uname -m)" = x86_64 ] || not_run "this machine is no x86-64"
command -v musl-gcc >/dev/null || not_run "there is no musl-gcc (Debian: musl-tools)"
has_library || { command -v rustup && rustup target add $triple; } >/dev/null 2>&1 || true
has_library || not_run "rustc has no $triple, and rustup cannot get it"

target=$(realpath -m "${1:-${CARGO_TARGET_DIR:-target}}")
unset CARGO_TARGET_DIR
CARGO_PROFILE_RELEASE_LTO=off
CARGO_PROFILE_RELEASE_OPT_LEVEL=0
CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
export CARGO_PROFILE_RELEASE_LTO CARGO_PROFILE_RELEASE_OPT_LEVEL CARGO_PROFILE_RELEASE_CODEGEN_UNITS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake -S . -B "$work/build" -DPETAL_CARGO_TARGET=$triple -DCMAKE_C_COMPILER=musl-gcc -DPETAL_BUILD_CLI=OFF \
    -DPETAL_CARGO_TARGET_DIR="$target/musl" >"$work/log"
cmake --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --install "$work/build" --prefix "$work/petal" >/dev/null
lib=$work/petal/lib

passed=0
# program NAME FILE NEEDS ARGUMENT...: compiles a test, checks which libraries it needs, and runs it.
program() {
    name=$1
    file=$2
    needs=$3
    shift 3
    musl-gcc -std=c99 -O1 -Wall -Wextra -Werror -I"$work/petal/include" -Ictest "$file" -o "$work/$name" "$@"
    needed=$(readelf -dW "$work/$name" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ')
    [ "$needed" = "$needs" ] || { echo "musl: $name needs $needed instead of $needs"; exit 1; }
    (cd "$work" && "./$name")
    passed=$((passed + 1))
}
for file in tests/packaging/small.c ctest/saving.c ctest/session.c; do
    name=$(basename "$file" .c)
    program "$name" "$file" "" -static "$lib/libpetal.a" -Wl,--gc-sections -lm
    program "$name" "$file" "libc.so libpetal.so.0 " -L"$lib" -lpetal -Wl,-rpath,"$lib"
done
echo "$passed passed, 0 failed"
