#!/bin/sh
# Makes what is installed on Windows (mingw-w64) and macOS from the libraries that cargo builds:
#
#   plain.sh RAW_ARCHIVE OUTPUT_DIRECTORY VERSION
#
# The shared library lies next to RAW_ARCHIVE. It exports what petal.map lists. The static library is cargo's without
# debugging information. Unlike that of link.sh, it has Rust's standard library with global names: the linkers of these
# systems cannot hide them. So two archives made by Rust in one program clash there, unless one Rust made both.
#
# Tools: CC (cc), STRIP, AR and NM, by default those that CC itself uses.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

fail() {
    echo "plain.sh: $*" >&2
    exit 1
}

[ $# -eq 3 ] || fail "usage: plain.sh RAW_ARCHIVE OUTPUT_DIRECTORY VERSION"
raw=$1
built=$(dirname "$raw")
out=$2
version=$3
CC=${CC:-cc}
tool() {
    path=$($CC -print-prog-name="$1" 2>/dev/null) || path=$1
    if command -v "$path" >/dev/null; then echo "$path"; else echo "$1"; fi
}
STRIP=${STRIP:-$(tool strip)}
AR=${AR:-$(tool ar)}
NM=${NM:-$(tool nm)}
mkdir -p "$out"
# copy FROM TO OPTION: strips a copy. What the tools say about bitcode, which they cannot read, matters only if they
# fail.
copy() {
    cp "$1" "$2.new"
    "$STRIP" "$3" "$2.new" >"$out/strip.log" 2>&1 || fail "$STRIP cannot strip $1: $(cat "$out/strip.log")"
    rm "$out/strip.log"
    mv "$2.new" "$2"
}

if [ -f "$built/petal.dll" ]; then
    # The list for linkers that make their own import library, such as MSVC's.
    {
        echo "LIBRARY petal.dll"
        echo "EXPORTS"
        "$here/symbols.sh" map | sed 's/^/    /'
    } >"$out/petal.def"
    "$NM" -g --defined-only "$built/libpetal.dll.a" 2>/dev/null |
        sed -n 's/.* __imp_\(petal_.*\)$/    \1/p' | LC_ALL=C sort |
        { echo "LIBRARY petal.dll"; echo "EXPORTS"; cat; } | cmp -s - "$out/petal.def" ||
        fail "petal.dll does not export what petal.map lists"
    copy "$built/petal.dll" "$out/petal.dll" --strip-all
    # GNU strip cannot take members without a section, which rustc leaves where it compiled in parts.
    cp "$raw" "$out/raw.a"
    "$AR" t "$out/raw.a" 2>/dev/null | grep '\.dwo$' | xargs -r "$AR" d "$out/raw.a" >/dev/null 2>&1
    copy "$out/raw.a" "$out/libpetal.a" --strip-debug
    rm "$out/raw.a"
    cp "$built/libpetal.dll.a" "$out/libpetal.dll.a"
elif [ -f "$built/libpetal.dylib" ]; then
    copy "$built/libpetal.dylib" "$out/libpetal.$version.dylib" -x
    copy "$raw" "$out/libpetal.a" -S
    ln -sf "libpetal.$version.dylib" "$out/libpetal.${version%%.*}.dylib"
    ln -sf "libpetal.${version%%.*}.dylib" "$out/libpetal.dylib"
else
    fail "neither petal.dll nor libpetal.dylib is beside $raw"
fi
