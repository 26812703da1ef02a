#!/bin/sh
# requirements.sh build|demo|test: checks that what this needs is here.
#
# As root, or with CI=true, it installs what is missing with apt-get. Otherwise it prints the one command that does,
# and fails. Rust is never installed for you. The packages' names are Debian's.
set -u
here=$(cd "$(dirname "$0")" && pwd)
what=${1:-build}
missing=

has() {
    command -v "$1" >/dev/null 2>&1
}

# need PACKAGES TEST...: what provides it, and the command that succeeds when it is here.
need() {
    packages=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $packages"
}

compiles() {
    has "$1" && echo "#include <$2>" | "$1" -E -x "$3" -
}

has_libclang() {
    for file in ${LIBCLANG_PATH:+"$LIBCLANG_PATH"/*} \
        /usr/lib/llvm-*/lib/* /usr/lib/*/* /usr/lib64/* /usr/local/lib/*; do
        case $file in
        */libclang.so* | */libclang-[0-9]*.so*) return 0 ;;
        esac
    done
    return 1
}

has_clang_runtime() {
    has clang-19 && ls "$(clang-19 -print-resource-dir)"/lib/*/libclang_rt.tsan*.a
}

needed_to_build() {
    need "gcc libc6-dev" compiles cc stdio.h c
    need binutils has objcopy
    need cmake has cmake
}

check() {
    missing=
    needed_to_build
    case $what in
    build) ;;
    demo)
        need pkg-config has pkg-config
        ;;
    test)
        need pkg-config has pkg-config
        need g++ compiles c++ cstdint c++
        need libgtest-dev compiles c++ gtest/gtest.h c++
        need valgrind has valgrind
        need "clang-19 libclang-rt-19-dev" has_clang_runtime
        need libclang-19-dev has_libclang
        ;;
    *)
        echo "usage: requirements.sh build|demo|test" >&2
        exit 2
        ;;
    esac
}

# Rust first: nothing else helps without it.
wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$here/../Cargo.toml" | head -n 1)
if ! has cargo || ! has rustc; then
    echo "Rust $wanted or newer is needed, but cargo and rustc are not on the PATH:" \
        "install it from https://rustup.rs" >&2
    exit 1
fi
found=$(rustc --version | cut -d ' ' -f 2)
if [ "$(printf '%s\n' "$wanted" "${found%%-*}" | sort -V | head -n 1)" != "$wanted" ]; then
    echo "Rust $wanted or newer is needed, this is $found: run \`rustup update stable\`" >&2
    exit 1
fi

if [ "$what" = test ] && ! { has cargo-clippy && has cargo-fmt; }; then
    echo "\`make test\` also needs rustfmt and clippy: run \`rustup component add rustfmt clippy\`" >&2
    exit 1
fi

check
# What can be done without: the demo's word list, for which the names of the files under /usr stand in, and what the
# test of NEON needs, which says so where it is not run.
wished=
if [ "$what" = demo ] && [ ! -e /usr/share/dict/words ]; then
    wished=wamerican
fi
if [ "$what" = test ] && [ "$(uname -m)" = x86_64 ] &&
    ! { has aarch64-linux-gnu-g++ && { has qemu-aarch64 || has qemu-aarch64-static; }; }; then
    wished="g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
fi
[ -n "$missing$wished" ] || exit 0

sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
install="${sudo:+sudo }apt-get install -y --no-install-recommends"
if has apt-get && { [ "$(id -u)" = 0 ] || { [ "${CI-}" = true ] && has sudo; }; }; then
    echo "installing$missing${wished:+ $wished}: apt-get, this may take some minutes"
    $sudo apt-get update -qq
    if [ -n "$missing" ]; then
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
    fi
    if [ -n "$wished" ]; then
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $wished ||
            echo "$wished cannot be had; \`make $what\` goes on without"
    fi
    check
fi
[ -n "$missing" ] || exit 0
echo "\`make $what\` needs more than is installed here. This installs it (Debian's names):" >&2
echo "  $install$missing" >&2
exit 1
