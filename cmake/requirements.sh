#!/bin/sh
# requirements.sh build|demo|test|test-more|interop|windows|redis|test-redis|test-postgresql|sqlite|test-sqlite|
# wasm|test-wasm|test-web: checks that what this needs is here, and otherwise says what is missing, with the one command
# that installs it.
#
# `make`, `make redis`, `make sqlite` and `make wasm` never install anything. `make demo` and the tests install what is
# missing with apt-get if they may: as root, with CI=true or with INSTALL=1 (then through sudo), and never with
# INSTALL=0. Rust and Node.js are never installed for you. The packages' names are Debian's.
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

check() {
    missing=
    case $what in
    wasm | test-wasm | test-web) ;;
    *)
        need "gcc libc6-dev" compiles cc stdio.h c
        need binutils has objcopy
        need cmake has cmake
        ;;
    esac
    if [ "$what" = test-more ]; then
        need valgrind has valgrind
        need "clang-19 libclang-rt-19-dev" has_clang_runtime
        need libclang-19-dev has_libclang
    fi
    case $what in
    build) ;;
    demo)
        need pkg-config has pkg-config
        ;;
    test | test-more)
        need pkg-config has pkg-config
        need g++ compiles c++ cstdint c++
        need libgtest-dev compiles c++ gtest/gtest.h c++
        need abigail-tools has abidiff
        ;;
    interop)
        need g++ compiles c++ cstdint c++
        need python3 has python3
        ;;
    windows)
        need g++-mingw-w64-x86-64 has x86_64-w64-mingw32-g++
        need libgtest-dev compiles c++ gtest/gtest.h c++
        need pkg-config has pkg-config
        need "wine wine64" has wine
        ;;
    redis)
        need libclang-dev has_libclang
        ;;
    test-redis)
        need libclang-dev has_libclang
        need redis-server has redis-server
        need python3 has python3
        ;;
    test-postgresql)
        need pkg-config has pkg-config
        need python3 has python3
        ;;
    sqlite)
        need libsqlite3-dev compiles cc sqlite3ext.h c
        ;;
    test-sqlite)
        need libsqlite3-dev compiles cc sqlite3ext.h c
        need sqlite3 has sqlite3
        need python3 has python3
        ;;
    wasm) ;;
    test-wasm) ;;
    test-web)
        need chromium has chromium
        ;;
    *)
        echo "usage: requirements.sh build|demo|test|test-more|interop|windows|redis|test-redis|test-postgresql|\
sqlite|test-sqlite|wasm|test-wasm|test-web" >&2
        exit 2
        ;;
    esac
}

case $what in
build) command="\`make\`" ;;
interop | windows) command="\`make test-$what\`" ;;
*) command="\`make $what\`" ;;
esac
check

# Rust is missing most often, so it is looked for before anything is installed; but all that is missing is named
# together.
wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$here/../Cargo.toml" | head -n 1)
rust=
if ! has cargo || ! has rustc; then
    rust="Rust $wanted or newer, but cargo and rustc are not on the PATH: install it from https://rustup.rs"
else
    found=$(rustc --version | cut -d ' ' -f 2)
    if [ "$(printf '%s\n' "$wanted" "${found%%-*}" | sort -V | head -n 1)" != "$wanted" ]; then
        rust="Rust $wanted or newer, and this is $found: run \`rustup update stable\`"
    elif case $what in wasm | test-wasm | test-web) ;; *) false ;; esac &&
        ! ls "$(rustc --print sysroot)"/lib/rustlib/wasm32-unknown-unknown/lib/libstd-* >/dev/null 2>&1; then
        rust="Rust's library for WebAssembly: run \`rustup target add wasm32-unknown-unknown\`"
    elif [ "$what" = test-more ] && ! { has cargo-clippy && has cargo-fmt; }; then
        rust="rustfmt and clippy: run \`rustup component add rustfmt clippy\`"
    fi
fi
[ -z "$rust" ] || echo "$command needs $rust" >&2
node=
if case $what in test-wasm | test-web) ;; *) false ;; esac &&
    ! { has npm && [ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ]; }; then
    node="Node.js 20 or newer with npm"
    echo "$command needs $node" >&2
fi

# What can be done without: the demo's word list, for which the names of the files under /usr stand in, and what is
# needed by tests that say so where they are not run.
wished=
if [ "$what" = demo ] && [ ! -e /usr/share/dict/words ]; then
    wished=wamerican
fi
if [ "$what" = test-more ] && [ "$(uname -m)" = x86_64 ] &&
    ! { has aarch64-linux-gnu-g++ && { has qemu-aarch64 || has qemu-aarch64-static; }; }; then
    wished="g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
fi
if [ "$what" = test-more ] && [ "$(uname -m)" = x86_64 ] && ! has musl-gcc; then
    wished="$wished musl-tools"
fi
# The owners of other formats and interfaces, one line each: the programs that tests/interop asks, and says so where it
# cannot.
if [ "$what" = interop ]; then
    wish() {
        packages=$1
        shift
        "$@" >/dev/null 2>&1 || wished="$wished $packages"
    }
    wish libbloom-dev compiles cc bloom.h c
    wish shadowsocks-libev has ss-server
    wish curl has curl
    wish "libleveldb-dev libsnappy-dev" compiles cc leveldb/c.h c
    wish librocksdb-dev compiles cc rocksdb/c.h c
    wish golang-github-dcso-bloom-cli has bloom
    wish squid test -x /usr/sbin/squid
    wish default-jdk-headless has javac
    wish python3-venv python3 -c "import venv, ensurepip"
fi
# The browser, without which its test is skipped, and what measures the sizes of modules.
if [ "$what" = test-wasm ]; then
    has chromium || wished="$wished chromium"
    has brotli || wished="$wished brotli"
fi
# What pip needs to make an environment.
if [ "$what" = test-redis ] && ! python3 -c "import venv, ensurepip" >/dev/null 2>&1; then
    wished=python3-venv
fi

# The server, without which its extension is not tested, and the files that extensions are compiled with.
if [ "$what" = test-postgresql ]; then
    config=${PG_CONFIG-pg_config}
    [ -x "$("$config" --bindir 2>/dev/null)/postgres" ] || wished="$wished postgresql"
    [ -e "$("$config" --pgxs 2>/dev/null)" ] || wished="$wished postgresql-server-dev-all"
fi

root=false
sudo="sudo "
if [ "$(id -u)" = 0 ]; then
    root=true
    sudo=
fi
may_install() {
    case $what in build | redis | sqlite | wasm) return 1 ;; esac
    [ -z "$rust" ] && has apt-get || return 1
    case ${INSTALL-} in
    0) return 1 ;;
    1) $root || has sudo ;;
    *) $root || { [ "${CI-}" = true ] && has sudo; } ;;
    esac
}

if [ -n "$missing$wished" ] && may_install; then
    echo "installing$missing${wished:+ $wished}: apt-get, this may take some minutes"
    $sudo apt-get update -qq
    if [ -n "$missing" ]; then
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
    fi
    if [ -n "$wished" ]; then
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $wished ||
            echo "$wished cannot be had; $command goes on without"
    fi
    check
fi
if [ -n "$missing" ]; then
    echo "$command needs packages; on Debian: ${sudo}apt-get install -y --no-install-recommends$missing" >&2
fi
[ -z "$missing$rust$node" ]
