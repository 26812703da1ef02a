#!/bin/sh
# windows.sh CARGO_TARGET WORK: the package that CMake makes for mingw-w64, as programs outside the tree use it: found
# by CMake and by pkg-config, linked with petal.dll and with libpetal.a, and run under Wine. tests/windows/run.sh calls
# it with Wine's settings; WORK has what Wine 8 lacks (bcryptprimitives.dll). Prints one line a check, and at the end
# "N passed, M failed". The C and C++ tests are run with this package too.
set -u
LC_ALL=C
export LC_ALL
unset DESTDIR PKG_CONFIG_PATH MAKEFLAGS MAKELEVEL MFLAGS CARGO_PROFILE_DEV_OPT_LEVEL CARGO_PROFILE_DEV_DEBUG
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
target=$1
lent=$2
unset CARGO_TARGET_DIR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log
CC=x86_64-w64-mingw32-gcc
CXX=x86_64-w64-mingw32-g++
. "$here/checks.sh"
of="Windows: "
prefix=$work/first
cross="-DCMAKE_SYSTEM_NAME=Windows -DCMAKE_C_COMPILER=$CC"

# Compiled in a hurry: nobody looks at sizes and speed here.
CARGO_PROFILE_RELEASE_LTO=off
CARGO_PROFILE_RELEASE_OPT_LEVEL=1
CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
export CARGO_PROFILE_RELEASE_LTO CARGO_PROFILE_RELEASE_OPT_LEVEL CARGO_PROFILE_RELEASE_CODEGEN_UNITS

echo "-- building the package for Windows (some minutes the first time)"
build() {
    cmake -S "$root" -B "$work/build" $cross -DPETAL_CARGO_TARGET_DIR="$target" && cmake --build "$work/build"
}
must "the package builds" build
must "it installs" cmake --install "$work/build" --prefix "$prefix"

layout() {
    for file in bin/petal.dll bin/petal.exe lib/libpetal.dll.a lib/libpetal.a lib/petal.def include/petal.h \
        include/petal.hpp lib/cmake/petal/petalConfig.cmake lib/pkgconfig/petal.pc lib/pkgconfig/petal-static.pc; do
        [ -f "$prefix/$file" ] || { echo "no $file"; return 1; }
    done
}
check "programs, libraries, headers and packages lie where they should" layout

symbols() {
    "$root/capi/symbols.sh" map >"$work/in_map"
    x86_64-w64-mingw32-objdump -p "$prefix/bin/petal.dll" | sed -n '/^\[Ordinal\/Name Pointer\] Table/,/^$/p' |
        grep -o 'petal_[a-z0-9_]*$' | sort >"$work/in_dll"
    sed -n 's/^ *\(petal_.*\)$/\1/p' "$prefix/lib/petal.def" >"$work/in_def"
    [ -s "$work/in_map" ] && diff -u "$work/in_map" "$work/in_dll" && diff -u "$work/in_map" "$work/in_def"
}
check "petal.map, petal.def and petal.dll name the same functions" symbols

# What the system has, and nothing of a compiler.
needed() {
    system='kernel32|ntdll|userenv|ws2_32|dbghelp|msvcrt|advapi32|bcrypt|bcryptprimitives|api-ms-win-[a-z0-9-]*'
    non_members=$(x86_64-w64-mingw32-objdump -p "$prefix/bin/petal.dll" | sed -n 's/^.*DLL Name: //p' |
        grep -viE "^($system)\.dll$")
    [ -z "$non_members" ] || { echo "needs $non_members"; return 1; }
}
check "petal.dll needs the system's libraries only" needed

no_path_inside() {
    ! grep -rlaF -e "$work/" -e "$root/" -e "$target/" -e "${HOME:-/nonexistent}/" "$prefix"
}
check "nothing that is installed names the folders of whoever built it" no_path_inside

# wined PROGRAM ARGUMENT...: under Wine, which looks for libraries in the package and in WORK.
wined() {
    status=0
    WINEPATH="Z:$prefix/bin;Z:$lent" timeout 600 wine "$@" >"$work/said" || status=$?
    tr -d '\r' <"$work/said"
    return $status
}

versions() {
    $CC -O1 -Wall -Wextra -Werror "$root/tests/windows/version.c" -o "$work/version.exe" -lversion || return 1
    for file in petal.dll petal.exe; do
        said=$(wined "$work/version.exe" "Z:$prefix/bin/$file") || return 1
        [ "$said" = "$version, $file" ] || { echo "$file has: $said"; return 1; }
    done
}
check "petal.dll and petal.exe have a version resource" versions

# ran PROGRAM shared|static: runs it, compares the version it prints, and whether it needs petal.dll.
ran() {
    linked=static
    if x86_64-w64-mingw32-objdump -p "$1" | grep -q "DLL Name: petal.dll"; then linked=shared; fi
    [ "$linked" = "$2" ] || { echo "the program is $linked"; return 1; }
    said=$(wined "$1") || return 1
    [ "$said" = "$number" ] || { echo "it says version $said instead of $number"; return 1; }
}

# by_cmake shared|static CONSUMER TARGET
by_cmake() {
    rm -rf "$work/consumer"
    if [ "$1" = shared ]; then library=petal::$3; else library=petal::${3}_static; fi
    cmake -S "$here/$2" -B "$work/consumer" $cross -DCMAKE_CXX_COMPILER=$CXX \
        -DCMAKE_PREFIX_PATH="$prefix" -DPETAL_LIBRARY="$library" \
        -DCMAKE_FIND_ROOT_PATH="$prefix" -DCMAKE_EXE_LINKER_FLAGS=-static-libgcc\ -static-libstdc++ &&
        cmake --build "$work/consumer" && ran "$work/consumer/consumer.exe" "$1"
}

# by_pkg_config shared|static PKG_CONFIG_ARGUMENTS [LINKER_FLAGS]
by_pkg_config() {
    PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig
    export PKG_CONFIG_LIBDIR
    cflags=$(pkg-config --cflags $2) && libs=$(pkg-config --libs $2) || return 1
    echo "$cflags $libs"
    rm -f "$work/program.exe"
    $CC $cflags "$here/consumer/consumer.c" -o "$work/program.exe" ${3-} $libs && ran "$work/program.exe" "$1"
}

everybody() {
    check "$1: CMake, petal::petal" by_cmake shared consumer petal
    check "$1: CMake, petal::petal_static" by_cmake static consumer petal
    check "$1: CMake, petal::cpp" by_cmake shared consumer_cpp cpp
    check "$1: CMake, petal::cpp_static" by_cmake static consumer_cpp cpp
    check "$1: pkg-config petal" by_pkg_config shared petal
    check "$1: pkg-config petal-static" by_pkg_config static petal-static
    check "$1: pkg-config --static petal, with gcc -static" by_pkg_config static "--static petal" -static
}
everybody "clean prefix"
mkdir -p "$work/moved" && mv "$prefix" "$work/moved/again" && prefix=$work/moved/again
everybody "moved prefix"

# The header and the library are all there is.
alone() {
    mkdir -p "$work/alone" && cp "$prefix/include/petal.h" "$prefix/bin/petal.dll" "$work/alone" &&
        $CC -I "$work/alone" "$here/consumer/consumer.c" "$work/alone/petal.dll" -o "$work/alone/program.exe" &&
        ran "$work/alone/program.exe" shared
}
check "petal.h and petal.dll alone are enough" alone
by_def() {
    x86_64-w64-mingw32-dlltool -d "$prefix/lib/petal.def" -l "$work/libother.a" &&
        $CC -I "$prefix/include" "$here/consumer/consumer.c" "$work/libother.a" -o "$work/program.exe" &&
        ran "$work/program.exe" shared
}
check "an import library made from petal.def" by_def

# A program that saves and opens, linked statically: what reaches files and threads is in it.
small() {
    $CC -O2 -s -Wall -Wextra -Werror -I "$prefix/include" "$here/small.c" -o "$work/small.exe" \
        $(PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig pkg-config --libs petal-static) && cd "$work" &&
        wined "$work/small.exe" && wc -c <"$work/small.exe"
}
check "a static program saves and opens" small

# The C tests, with a quarter of each long loop. Left out are the tests of what Windows lacks: forks (forks, saving,
# shared, bad_file), replaced functions (oom), and limits, modes and mappings by system calls of Unix (bad_file, image).
# tests/windows has killed writers, two processes and a full disk.
c_test() {
    program=$1
    shift
    $CC -std=c99 -O1 -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror -I"$root/include" -I"$root/ctest" "$@" \
        -o "$work/$program.exe" "$prefix/lib/libpetal.dll.a" -static -lpthread || return 1
    (cd "$work" && PETAL_TEST_SCALE=4 WINEPATH="Z:$prefix/bin;Z:$lent" timeout 600 wine "./$program.exe")
}
for file in "$root"/ctest/*.c; do
    name=$(basename "$file" .c)
    case $name in
    header_* | inline* | forks | saving | shared | bad_file | oom | image) continue ;;
    esac
    check "ctest/$name.c" c_test "$name" "$file"
done
for inlined in inline inline_kinds inline_maps; do
    check "ctest/$inlined.c, SSE2" c_test $inlined -DPETAL_INLINE_EXPECTED='"SSE2"' "$root/ctest/$inlined.c"
    check "ctest/$inlined.c, plain" c_test $inlined -DPETAL_INLINE_PORTABLE -DPETAL_INLINE_EXPECTED='"plain"' \
        "$root/ctest/$inlined.c"
    ! grep -q ' avx2 ' /proc/cpuinfo ||
        check "ctest/$inlined.c, AVX2" c_test $inlined -O2 -mavx2 -DPETAL_INLINE_EXPECTED='"AVX2"' \
            "$root/ctest/$inlined.c"
done

# The tests of petal.hpp, all in one program, with GoogleTest from its source. GNU's compiler has std::thread only in
# its variant for POSIX threads.
gtest=/usr/src/googletest/googletest
cpp_compiled() {
    mkdir -p "$work/cpp"
    for file in "$gtest/src/gtest-all.cc" "$gtest/src/gtest_main.cc" "$root"/bindings/cpp/tests/*.cpp; do
        warnings="-Wall -Wextra -Wconversion -Wshadow -Wold-style-cast -pedantic -Werror"
        case $file in
        */no_exceptions.cpp) warnings="$warnings -fno-exceptions -fno-rtti" ;;
        */without.cpp) warnings="$warnings -fno-exceptions" ;;
        "$gtest"*) warnings=-I$gtest ;;
        esac
        echo "$warnings -c $file -o $work/cpp/$(basename "${file%.*}").o"
    done | xargs -P "$(nproc)" -L 1 $CXX-posix -std=c++20 -O0 -isystem "$gtest/include" -I "$prefix/include"
}
# cpp_test PROGRAM LIBRARY OBJECT...: links and runs.
cpp_test() {
    program=$1
    library=$2
    shift 2
    $CXX-posix "$@" -o "$work/$program.exe" $library -static && (cd "$work" && wined "./$program.exe")
}
if [ -d "$gtest" ] && command -v $CXX-posix >/dev/null; then
    check "the C++ tests compile" cpp_compiled
    static=$(PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig pkg-config --libs petal-static)
    check "C++ without exceptions" cpp_test no_exceptions "$prefix/lib/libpetal.dll.a" "$work/cpp/no_exceptions.o"
    rm -f "$work/cpp/no_exceptions.o"
    check "the C++ tests, shared" cpp_test cpp "$prefix/lib/libpetal.dll.a" "$work"/cpp/*.o
    check "the C++ tests, static" cpp_test cpp_static "$static" "$work"/cpp/*.o
else
    echo "skipped: the C++ tests (Debian: libgtest-dev, g++-mingw-w64-x86-64)"
fi

# A program that links another static library made by Rust gets Petal from petal.dll.
beside() {
    cargo build --release --locked --manifest-path "$here/neighbour/Cargo.toml" --target-dir "$target/neighbour" \
        --target x86_64-pc-windows-gnu &&
        $CC -I "$prefix/include" "$root/tests/windows/beside.c" -o "$work/beside.exe" "$prefix/lib/libpetal.dll.a" \
            "$target/neighbour/x86_64-pc-windows-gnu/release/libneighbour.a" \
            -lkernel32 -lntdll -luserenv -lws2_32 -ldbghelp && ran "$work/beside.exe" shared
}
check "petal.dll beside a static library made by Rust" beside
finish
