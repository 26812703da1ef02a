#!/bin/sh
# run.sh CARGO_TARGET_DIRECTORY [speed]: integrations/leveldb, installed, with Debian's LevelDB: databases of 10^6 keys,
# written and read through LevelDB's own policy and Petal's, and the reads are counted. With `speed` the policies are
# timed instead.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
. "$here/../lib.sh"
target=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CC=${CC:-cc}
CXX=${CXX:-c++}
unset LD_LIBRARY_PATH

echo '#include <leveldb/c.h>' | $CC -E - >/dev/null 2>&1 || skip "there is no LevelDB (Debian: libleveldb-dev)"
install_package() {
    cmake -S "$root" -B "$work/build" -DPETAL_CARGO_TARGET_DIR="$target" -DPETAL_BUILD_CLI=OFF -DPETAL_LEVELDB=ON &&
        cmake --build "$work/build" && cmake --install "$work/build" --prefix "$work/prefix"
}
check "libpetal_leveldb is built and installed" install_package
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name petal-leveldb.pc)")
export PKG_CONFIG_PATH
# Unquoted where they are used: pkg-config prints separate arguments.
flags="$(pkg-config --cflags --libs petal-leveldb) -Wl,-rpath,$(pkg-config --variable=libdir petal)"
compile() {
    $CC -std=c11 -O2 -Wall -Wextra -Werror "$here/program.c" -o "$work/program" $flags &&
        $CXX -std=c++17 -O2 -Wall -Wextra -Werror "$here/filters.cc" -o "$work/filters" $flags -lpthread
}
check "a program in C and one in C++ compile with pkg-config" compile
if [ "${2-}" = speed ]; then
    "$work/filters" speed
    exit
fi
needs_no_leveldb() {
    ! ldd "$(pkg-config --variable=libdir petal)/libpetal.so" | grep leveldb
}
check "libpetal.so itself does not need LevelDB" needs_no_leveldb
check "a program in C writes and reads a database" "$work/program" "$work/c" 1
check "also with filters of the blocked form" "$work/program" "$work/c_blocked" 2
mkdir "$work/databases"
if "$work/filters" "$work/databases" 1000000 >"$work/said"; then :; else failed=$((failed + 1)); fi
grep -v ' passed, ' "$work/said"
passed=$((passed + $(grep -c '^ok: ' "$work/said")))
finish
