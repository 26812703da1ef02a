#!/bin/sh
# aarch64.sh [CARGO_TARGET] [rust|c|package]...: the whole Rust suite, the C tests and the package for aarch64 Linux, in
# qemu-user. `make soak-aarch64` runs it; tests/neon.sh has the part that `make test` takes. It takes some hours.
#
# Needs g++-aarch64-linux-gnu, qemu-user, pkg-config and Rust's standard library for aarch64.
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)
triple=aarch64-unknown-linux-gnu
target=$(realpath -m "${1:-target}")
[ $# = 0 ] || shift
parts=${*:-rust c package}

fail() {
    echo "aarch64: $1" >&2
    exit 1
}

command -v aarch64-linux-gnu-g++ >/dev/null || fail "there is no aarch64-linux-gnu-g++ (Debian: g++-aarch64-linux-gnu)"
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) || fail "there is no qemu-aarch64 (Debian: qemu-user)"
[ -d "$(rustc --print target-libdir --target $triple)" ] || rustup target add $triple || fail "rustc has no $triple"
libraries=/usr/aarch64-linux-gnu
# Programs that a test starts are for aarch64 too: the kernel runs them by itself where binfmt_misc knows them.
QEMU_LD_PREFIX=$libraries
export QEMU_LD_PREFIX
unset CARGO_TARGET_DIR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cross="-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc"
prefix=$work/petal

emulated() { LD_LIBRARY_PATH='' "$qemu" -L "$libraries" -E LD_LIBRARY_PATH="$prefix/lib" "$@"; }

# The package is built once; only the tests of the package need the command.
command=OFF
case " $parts " in *" package "*) command=ON ;; esac
build_package() {
    [ ! -d "$prefix" ] || return 0
    echo "aarch64: building the package"
    cmake -S . -B "$work/build" $cross -DPETAL_CARGO_TARGET=$triple -DPETAL_BUILD_CLI=$command \
        -DPETAL_CARGO_TARGET_DIR="$target/aarch64" >"$work/log"
    cmake --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    cmake --install "$work/build" --prefix "$prefix" >/dev/null
}

# The tests keep their checks and are optimised as little as those for Windows, so that they compile quickly. Two run at
# a time, because some take gigabytes.
rust() {
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="$qemu -L $libraries" \
        cargo test --locked --profile quick --no-fail-fast --target $triple --target-dir "$target" \
        -p petal -p petal-suite --lib --test suite -- --include-ignored --test-threads 2
}

# This leaves out the tests of the machine that compiles (symbols, ABI, coverage), and oom, which replaces functions of
# the C library. Memory limits would hold for the emulator as well, so wire_damage is told to set none.
c() {
    build_package
    for library in a so; do
        cmake -S ctest -B "$work/ctest-$library" $cross -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ \
            "-DCMAKE_CROSSCOMPILING_EMULATOR=$qemu;-L;$libraries;-E;LD_LIBRARY_PATH=$prefix/lib" \
            "-DPETAL_TEST_LIBRARY=$prefix/lib/libpetal.$library;m;dl;pthread" >"$work/log"
        cmake --build "$work/ctest-$library" --parallel "$(nproc)" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
        (cd "$work/ctest-$library" && PETAL_TEST_SCALE=4 PETAL_TEST_SANITIZER=1 \
            ctest --parallel "$(nproc)" --no-tests=error --output-on-failure \
                -E '^c\.(symbols|abi|coverage|given\.oom)$')
    done
}

# ran PROGRAM shared|static
ran() {
    linked=static
    if aarch64-linux-gnu-readelf -dW "$1" | grep -q 'NEEDED.*libpetal'; then linked=shared; fi
    [ "$linked" = "$2" ] || fail "$1 is $linked"
    said=$(emulated "$1")
    [ "$said" = "$number" ] || fail "$1 says version $said instead of $number"
    echo "aarch64: ok: $3, $2"
}

package() {
    build_package
    number=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1 |
        awk -F '[.-]' '{ print $1 * 10000 + $2 * 100 + $3 }')
    PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig
    export PKG_CONFIG_LIBDIR
    for linked in shared static; do
        suffix=
        [ $linked = shared ] || suffix=_static
        for consumer in consumer:petal consumer_cpp:cpp; do
            rm -rf "$work/consumer"
            cmake -S "tests/packaging/${consumer%:*}" -B "$work/consumer" $cross \
                -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_PREFIX_PATH="$prefix" \
                -DPETAL_LIBRARY="petal::${consumer#*:}$suffix" >"$work/log"
            cmake --build "$work/consumer" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
            ran "$work/consumer/consumer" $linked "CMake, ${consumer#*:}"
        done
        name=petal
        [ $linked = shared ] || name=petal-static
        aarch64-linux-gnu-gcc tests/packaging/consumer/consumer.c -o "$work/program" \
            $(pkg-config --cflags --libs $name)
        ran "$work/program" $linked "pkg-config"
    done
    aarch64-linux-gnu-gcc -O2 tests/packaging/small.c -o "$work/small" $(pkg-config --cflags --libs petal-static)
    (cd "$work" && emulated ./small)
    printf 'alice\nbob\n' >"$work/keys"
    (cd "$work" && emulated petal/bin/petal build -o keys.petal keys &&
        emulated petal/bin/petal check keys.petal keys | cmp - keys && emulated petal/bin/petal verify keys.petal)
    echo "aarch64: ok: a program that saves and opens, and the command"
}

for part in $parts; do
    case $part in
    rust | c | package) $part ;;
    *) fail "there is no part $part" ;;
    esac
done
echo "aarch64: passed: $parts"
