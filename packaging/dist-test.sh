#!/bin/bash
# dist-test.sh CARGO_TARGET_DIRECTORY FOLDER: tries the archives that packaging/dist.sh wrote into FOLDER, each unpacked
# into a folder of its own: what they ask of the system, and programs that CMake and pkg-config link with them. Programs
# for another processor run in qemu-user, those for musl by its loader, and those for glibc in a chroot of bullseye too,
# as root where mmdebstrap is there and finds it. What cannot be run is skipped by name.
set -uo pipefail
LC_ALL=C
export LC_ALL
root=$(cd "$(dirname "$0")/.." && pwd)
target=$(cd "$1" && pwd)
dist=$(cd "$2" && pwd)
unset DESTDIR PKG_CONFIG_PATH LD_LIBRARY_PATH CARGO_TARGET_DIR MAKEFLAGS MAKELEVEL MFLAGS
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
log=$work/log
. "$root/tests/packaging/checks.sh"
floor=2.17
has() { command -v "$1" >/dev/null; }

awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$root/README.md" >"$work/readme.c"
mkdir "$work/cmake"
cat >"$work/cmake/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.16)
project(program LANGUAGES C)
find_package(petal REQUIRED)
foreach(library petal petal_static)
  add_executable(with_${library} ../readme.c)
  target_link_libraries(with_${library} PRIVATE petal::${library})
endforeach()
CMAKE

# How the programs of a target are compiled and run.
settings() {
    runner= emulated= cc=
    case $1 in
    *-windows) cc=x86_64-w64-mingw32-gcc ;;
    "$(uname -m)"-linux-gnu) cc=cc ;;
    "$(uname -m)"-linux-musl) cc=musl-gcc ;;
    *-linux-gnu)
        cc=${1%%-*}-linux-gnu-gcc
        runner="qemu-${1%%-*} -L /usr/${1%%-*}-linux-gnu"
        emulated=1
        ;;
    *)
        runner=qemu-${1%%-*}
        emulated=1
        ;;
    esac
    [ -z "$emulated" ] || has "${runner%% *}" || runner=none
}

sums() {
    (cd "$dist" && sha256sum --check --quiet SHA256SUMS) && (cd "$place" && sha256sum --check --quiet SHA256SUMS)
}
layout() {
    for file in include/petal.h include/petal.hpp lib/libpetal.a lib/pkgconfig/petal.pc \
        lib/cmake/petal/petalConfig.cmake share/doc/petal/LICENSE-MIT share/doc/petal/LICENSE-APACHE \
        share/doc/petal/LICENSES-THIRD-PARTY share/man/man1/petal.1; do
        [ -s "$place/$file" ] || { echo "no $file"; return 1; }
    done
}
no_path_inside() { ! grep -rlaF -e "$root/" -e "$target/" -e "${CARGO_HOME:-$HOME/.cargo}/" -e "$HOME/" "$place"; }
# Every symbol of glibc that the library and the command ask for has a version.
above_floor() {
    objdump -T "$place/lib/libpetal.so" "$place/bin/petal" | grep -o 'GLIBC_[0-9.]*' | sort -uV >"$work/asked"
    cat "$work/asked"
    [ -s "$work/asked" ] && [ "$( (echo "GLIBC_$floor" && cat "$work/asked") | sort -V | tail -n 1)" = "GLIBC_$floor" ]
}
no_compiler_needed() {
    readelf -dW "$place/lib/libpetal.so" "$place/bin/petal" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        sort -u >"$work/needs"
    cat "$work/needs"
    ! grep -vE '^(libc\.so(\.6)?|libm\.so\.6|libpthread\.so\.0|libdl\.so\.2|librt\.so\.1|libutil\.so\.1|ld-linux.*)$' \
        "$work/needs"
}
answers() {
    said=$("$@") || return
    [ "$said" = "apple: maybe
pear: no" ] || { echo "it says: $said"; return 1; }
}
# run PROGRAM ARGUMENT...: with the library of the archive.
run() {
    # shellcheck disable=SC2086 # a command and its arguments
    if [ -n "$emulated" ]; then
        $runner -E LD_LIBRARY_PATH="$place/lib" "$@"
    else
        LD_LIBRARY_PATH=$place/lib "$@"
    fi
}
by_pkg_config() {
    PKG_CONFIG_PATH=$place/lib/pkgconfig
    export PKG_CONFIG_PATH
    # shellcheck disable=SC2046 # lists of words
    "$cc" "$work/readme.c" -o "$work/shared" $(pkg-config --cflags --libs petal) &&
        "$cc" "$work/readme.c" -o "$work/static" $(pkg-config --cflags --libs petal-static) || return
    [ "$runner" = none ] || { answers run "$work/static" && answers run "$work/shared"; }
}
by_cmake() {
    local cross=
    [ -z "$emulated" ] || cross="-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=${one%%-*}"
    rm -rf "$work/built"
    # shellcheck disable=SC2086 # lists of words
    cmake -S "$work/cmake" -B "$work/built" $cross -DCMAKE_C_COMPILER="$cc" -Dpetal_DIR="$place/lib/cmake/petal" &&
        cmake --build "$work/built" || return
    [ "$runner" = none ] ||
        { answers run "$work/built/with_petal_static" && answers run "$work/built/with_petal"; }
}
run_command() {
    seq 1000 | run "$place/bin/petal" build -o "$work/seen.petal" &&
        echo 17 | run "$place/bin/petal" check "$work/seen.petal" && run "$place/bin/petal" redis --help >/dev/null
}

# A system with glibc 2.31, and a compiler older than this one.
bullseye() {
    local tar=$target/packages/bullseye.tar
    mkdir -p "$target/packages"
    [ -s "$tar" ] ||
        mmdebstrap --variant=minbase --include=gcc,libc6-dev,pkg-config bullseye "$tar" >"$work/said" 2>&1 ||
        { rm -f "$tar" && return 1; }
    rm -rf "$work/bullseye" && mkdir "$work/bullseye" && tar --extract --file "$tar" --directory "$work/bullseye"
}
in_bullseye() {
    cp -R "$place" "$work/bullseye/petal" && cp "$work/readme.c" "$work/bullseye/" &&
        chroot "$work/bullseye" /bin/sh -ec '
        export PKG_CONFIG_PATH=/petal/lib/pkgconfig LD_LIBRARY_PATH=/petal/lib
        cc /readme.c -o /shared $(pkg-config --cflags --libs petal)
        cc /readme.c -o /static $(pkg-config --cflags --libs petal-static)
        /shared && /static
        seq 1000 | /petal/bin/petal build -o /tmp/seen.petal && echo 17 | /petal/bin/petal check /tmp/seen.petal'
}

tried=
for archive in "$dist"/petal-"$version"-*.tar.gz; do
    one=$(basename "$archive" .tar.gz)
    one=${one#"petal-$version-"}
    of="$one: "
    tried="$tried $one"
    place="$work/a folder/$one"
    mkdir -p "$place"
    must "it unpacks" tar --extract --file "$archive" --directory "$place" --strip-components=1
    # pkg-config's flags are used unquoted, as users write them.
    mv "$place" "$work/$one"
    place=$work/$one
    settings "$one"
    check "sums are right" sums
    check "headers, libraries, packages and licences lie where they should" layout
    check "nothing in it names the folders of whoever built it" no_path_inside
    case $one in
    *-gnu)
        check "no symbol is newer than glibc $floor" above_floor
        check "it needs the C library alone" no_compiler_needed
        ;;
    *-musl) check "it needs the C library alone" no_compiler_needed ;;
    esac
    if [ -z "$cc" ] || ! has "$cc"; then
        echo "skipped: ${of}programs: there is no compiler${cc:+ $cc}"
    else
        [ "$runner" != none ] || echo "skipped: ${of}running programs: there is no emulator"
        case $one in
        *-windows) echo "skipped: ${of}programs: \`make test-windows\` tests the same package under Wine" ;;
        *)
            check "programs by pkg-config, shared and static" by_pkg_config
            check "programs by CMake, shared and static" by_cmake
            ;;
        esac
    fi
    case $one in
    *-windows) continue ;;
    *) [ "$runner" = none ] || check "the command runs, with petal redis" run_command ;;
    esac
    if [ "$one" = "$(uname -m)-linux-gnu" ]; then
        if [ "$(id -u)" = 0 ] && has mmdebstrap && bullseye; then
            check "programs and the command run in Debian 11, with its compiler" in_bullseye
        else
            echo "skipped: ${of}Debian 11: this takes root, mmdebstrap and a mirror that has it"
        fi
    fi
done
of=

# --- The same sizes on every C library -------------------------------------------------------------------------------

# sizes TARGET: what the command proposes for many numbers of keys and rates.
sizes() {
    settings "$1"
    for keys in 1 17 1000 123457 1000000 987654321; do
        for rate in 0.3 0.01 0.001 0.0000123; do
            run "$work/$1/bin/petal" plan --json --keys $keys --fpr $rate || return
        done
    done
}
same_sizes() {
    sizes "$1" >"$work/sizes-$1" && [ -s "$work/sizes-$first" ] && cmp "$work/sizes-$first" "$work/sizes-$1"
}
first=
for one in $tried; do
    case $one in *-windows) continue ;; esac
    settings "$one"
    [ "$runner" != none ] || continue
    if [ -z "$first" ]; then
        first=$one
        must "$one: sizes are computed" eval 'sizes "$one" >"$work/sizes-$one"'
    else
        check "sizes on $one are those on $first" same_sizes "$one"
    fi
done
[ -n "$tried" ] || { echo "dist-test: $dist has no archive of version $version" >&2; exit 1; }
finish
