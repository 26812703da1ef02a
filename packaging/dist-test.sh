#!/bin/bash
# dist-test.sh CARGO_TARGET_DIRECTORY FOLDER: tries the archives that packaging/dist.sh wrote into FOLDER, each unpacked
# into a folder of its own: what they ask of the system, and programs that CMake and pkg-config link with them. Programs
# for another processor run in qemu-user, those for musl by its loader, those for Windows in Wine, and those for glibc
# in a chroot of bullseye too, as root where mmdebstrap is there and finds it. What cannot be run is skipped by name. In
# the end all of them, and this system's own C library, have to give filters the same sizes.
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
. "$root/packaging/targets.sh"

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

sums() {
    (cd "$dist" && sha256sum --check --quiet SHA256SUMS) && (cd "$place" && sha256sum --check --quiet SHA256SUMS)
}
layout() {
    local shared=lib/libpetal.so
    [ -z "$suffix" ] || shared="bin/petal.dll lib/libpetal.dll.a lib/petal.def"
    for file in "bin/petal$suffix" $shared include/petal.h include/petal.hpp lib/libpetal.a \
        lib/pkgconfig/petal.pc lib/cmake/petal/petalConfig.cmake share/doc/petal/LICENSE-MIT \
        share/doc/petal/LICENSE-APACHE share/doc/petal/LICENSES-THIRD-PARTY share/man/man1/petal.1; do
        [ -s "$place/$file" ] || { echo "no $file"; return 1; }
    done
}
no_path_inside() { ! grep -rlaF -e "$root/" -e "$target/" -e "${CARGO_HOME:-$HOME/.cargo}/" -e "$HOME/" "$place"; }
# Every symbol of glibc that the library and the command ask for has a version.
above_floor() {
    "$(tool "$one" objdump)" -T "$place/lib/libpetal.so" "$place/bin/petal" | grep -o 'GLIBC_[0-9.]*' |
        sort -uV >"$work/asked"
    cat "$work/asked"
    [ -s "$work/asked" ] && [ "$( (echo "GLIBC_$floor" && cat "$work/asked") | sort -V | tail -n 1)" = "GLIBC_$floor" ]
}
# needs FILE...: the libraries that they name.
needs() {
    if [ -n "$suffix" ]; then
        "$(tool "$one" objdump)" -p "$@" | sed -n 's/^.*DLL Name: //p'
    else
        readelf -dW "$@" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
    fi | sort -u
}
# only NAMES FILE...: they need no other libraries than these.
only() {
    local names=$1
    shift
    needs "$@" >"$work/needs"
    cat "$work/needs"
    ! grep -qvixE "($names)" "$work/needs"
}
needs_system() {
    case $one in
    *-gnu)
        only 'lib(c|m|pthread|dl|rt|util)\.so\.[0-9]|ld-linux.*' "$place/lib/libpetal.so" "$place/bin/petal"
        ;;
    *-musl) only 'libc\.so' "$place/lib/libpetal.so" && only '' "$place/bin/petal" ;;
    *)
        local of_all='kernel32|ntdll|userenv|ws2_32|dbghelp|msvcrt|advapi32|bcrypt|bcryptprimitives|api-ms-win-.*'
        only "($of_all)\.dll" "$place/bin/petal.dll" &&
            only "($of_all|crypt32|secur32|ncrypt)\.dll" "$place/bin/petal.exe"
        ;;
    esac
}
# The shared library has every function of the headers, and no other.
exported() {
    "$root/capi/symbols.sh" map >"$work/in_map"
    if [ -n "$suffix" ]; then
        "$(tool "$one" objdump)" -p "$place/bin/petal.dll" | sed -n '/^\[Ordinal\/Name Pointer\] Table/,/^$/p' |
            grep -o '[^ ]*$' | sed -n '/^petal_/p'
    else
        "$(tool "$one" objdump)" -T "$place/lib/libpetal.so" | awk '/ g .* [.]text/ { print $NF }'
    fi | sort >"$work/in_library"
    [ -s "$work/in_map" ] && diff -u "$work/in_map" "$work/in_library"
}
answers() {
    said=$("$@") || return
    [ "$said" = "apple: maybe
pear: no" ] || { echo "it says: $said"; return 1; }
}
# run PROGRAM ARGUMENT...: with the library of the archive.
run() { "${runner[@]}" "$@" | tr -d '\r'; }
by_pkg_config() {
    PKG_CONFIG_LIBDIR=$place/lib/pkgconfig
    export PKG_CONFIG_LIBDIR
    # shellcheck disable=SC2046 # lists of words
    "$cc" "$work/readme.c" -o "$work/shared$suffix" $(pkg-config --cflags --libs petal) &&
        "$cc" "$work/readme.c" -o "$work/static$suffix" $(pkg-config --cflags --libs petal-static) || return
    ! runs || { answers run "$work/static$suffix" && answers run "$work/shared$suffix"; }
}
by_cmake() {
    rm -rf "$work/built"
    cmake -S "$work/cmake" -B "$work/built" "${cross[@]}" -DCMAKE_C_COMPILER="$cc" \
        -Dpetal_DIR="$place/lib/cmake/petal" && cmake --build "$work/built" || return
    ! runs ||
        { answers run "$work/built/with_petal_static$suffix" && answers run "$work/built/with_petal$suffix"; }
}
run_command() {
    seq 1000 | run "$place/bin/petal$suffix" build -o "$work/seen.petal" &&
        echo 17 | run "$place/bin/petal$suffix" check "$work/seen.petal" &&
        run "$place/bin/petal$suffix" redis --help >/dev/null
}
# Filters have the same sizes with every C library, whose functions may differ in the last digit: the sizes with the
# first archive are what the others are compared with.
sizes() {
    PKG_CONFIG_LIBDIR=$place/lib/pkgconfig
    export PKG_CONFIG_LIBDIR
    # shellcheck disable=SC2046 # lists of words
    "$cc" "$root/tests/packaging/sizes.c" -o "$work/sizes$suffix" $(pkg-config --cflags --libs petal) &&
        run "$work/sizes$suffix" >"$work/sizes-$one" && tail -n 1 "$work/sizes-$one" || return
    [ -s "$work/sizes.txt" ] || cp "$work/sizes-$one" "$work/sizes.txt"
    diff "$work/sizes.txt" "$work/sizes-$one" | head || return
    # glibc has other functions for processors without fused multiplication.
    case $one in "$(uname -m)"-linux-gnu) ;; *) return ;; esac
    GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-AVX2 run "$work/sizes$suffix" >"$work/sizes-$one" || return
    diff "$work/sizes.txt" "$work/sizes-$one" | head
}

in_bullseye() {
    cp -R "$place" "$work/bullseye/petal" && cp "$work/readme.c" "$root/tests/packaging/sizes.c" "$work/bullseye/" &&
        chroot "$work/bullseye" /bin/sh -ec '
        export PKG_CONFIG_PATH=/petal/lib/pkgconfig LD_LIBRARY_PATH=/petal/lib
        cc /readme.c -o /shared $(pkg-config --cflags --libs petal)
        cc /readme.c -o /static $(pkg-config --cflags --libs petal-static)
        /shared && /static
        cc /sizes.c -o /sizes $(pkg-config --cflags --libs petal) && /sizes >/of-sizes
        seq 1000 | /petal/bin/petal build -o /tmp/seen.petal && echo 17 | /petal/bin/petal check /tmp/seen.petal' &&
        cmp "$work/sizes.txt" "$work/bullseye/of-sizes"
}


tried=
for archive in "$dist"/petal-"$version"-*.tar.gz; do
    [ -e "$archive" ] || break
    one=$(basename "$archive" .tar.gz)
    one=${one#"petal-$version-"}
    of="$one: "
    tried=1
    # pkg-config's flags are used unquoted, as users write them.
    place=$work/$one
    mkdir "$place"
    must "it unpacks" tar --extract --file "$archive" --directory "$place" --strip-components=1
    settings "$one"
    check "sums are right" sums
    check "headers, libraries, packages and licences lie where they should" layout
    check "nothing in it names the folders of whoever built it" no_path_inside
    case $one in *-gnu) check "no symbol is newer than glibc $floor" above_floor ;; esac
    check "it needs what every such system has" needs_system
    check "the library has the functions of the headers" exported
    runs || echo "skipped: ${of}running programs: there is no emulator"
    if [ -z "$cc" ] || ! has "$cc"; then
        echo "skipped: ${of}programs: there is no compiler${cc:+ $cc}"
    else
        check "programs by pkg-config, shared and static" by_pkg_config
        check "programs by CMake, shared and static" by_cmake
        ! runs || check "filters have the sizes that they have elsewhere" sizes
    fi
    ! runs || check "the command runs, with petal redis" run_command
    if [ "$one" = aarch64-linux-gnu ] && [ "${runner[0]-}" = qemu-aarch64 ]; then
        if files_of bullseye libc6; then
            runner[2]=$system
            check "the command runs with the C library of Debian 11" run_command
        else
            echo "skipped: ${of}the C library of Debian 11: this takes mmdebstrap and a mirror that has it"
        fi
    fi
    if [ "$one" = "$(uname -m)-linux-gnu" ]; then
        if [ "$(id -u)" = 0 ] && debian_11 "$work/bullseye"; then
            check "programs, the command and sizes in Debian 11, with its compiler" in_bullseye
        else
            echo "skipped: ${of}Debian 11: this takes root, mmdebstrap and a mirror that has it"
        fi
    fi
done
of=
[ -n "$tried" ] || { echo "dist-test: $dist has no archive of version $version" >&2; exit 1; }
finish
