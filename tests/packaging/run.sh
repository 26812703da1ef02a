#!/bin/sh
# run.sh [CARGO_TARGET_DIRECTORY [once]]: the package as other programs see it. Everything is built and installed for
# real, in a temporary directory. Prints one line a check, and at the end "N passed, M failed". With `once` the package
# is installed and used in each way once, as `make test` does.
set -u
LC_ALL=C
export LC_ALL
unset DESTDIR PKG_CONFIG_PATH LD_LIBRARY_PATH MAKEFLAGS MAKELEVEL MFLAGS
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${1:-$root/target}
part=${2-}
mkdir -p "$target"
target=$(cd "$target" && pwd)
unset CARGO_TARGET_DIR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log
CC=${CC:-cc}
CXX=${CXX:-c++}
limit=12250000 # bytes of libpetal.a: a guard against what slips in, not an aim
. "$here/checks.sh"
soname=libpetal.so.${version%%.*}

say() { echo "-- $*"; }

# --- Building and installing -----------------------------------------------------------------------------------------

say "building the package with CMake (a minute or so the first time)"
build() {
    cmake -S "$root" -B "$work/build" -DPETAL_CARGO_TARGET_DIR="$target" &&
        cmake --build "$work/build"
}
must "the package builds" build
prefix=$work/first
must "it installs into a clean prefix" cmake --install "$work/build" --prefix "$prefix"
libdir=$(dirname "$(find "$prefix" -name libpetal.a)")
under() { echo "$prefix/${libdir#"$work/first/"}"; }
so=$libdir/libpetal.so.$version
archive=$libdir/libpetal.a

layout() {
    for file in $(cd "$root" && echo include/*.h) include/petal.hpp include/petal_view.hpp include/petal/batches.hpp \
        "${libdir#"$prefix/"}/$soname" "${libdir#"$prefix/"}/libpetal.so" \
        share/doc/petal/LICENSE-MIT share/doc/petal/LICENSE-APACHE share/doc/petal/LICENSES-THIRD-PARTY; do
        [ -e "$prefix/$file" ] || { echo "no $file"; return 1; }
    done
    [ "$(readlink "$libdir/$soname")" = "libpetal.so.$version" ] && [ "$(readlink "$libdir/libpetal.so")" = "$soname" ]
}
check "headers, libraries, links and licences lie where they should" layout

# The libraries and the command too: panic messages name source files.
no_path_inside() {
    cargo_home=${CARGO_HOME:-${HOME:-/nonexistent}/.cargo}
    set -- -e "$work/" -e "$root/" -e "$target/" -e "$cargo_home/"
    case ${HOME-} in
    /?*) set -- "$@" -e "$HOME/" ;;
    esac
    ! grep -rlaF "$@" "$prefix"
}
check "nothing that is installed names the folders of whoever built it" no_path_inside

destdir() {
    make -C "$root" install BUILD="$work/make" PREFIX=/opt/petal DESTDIR="$work/staging" CARGO_TARGET_DIR="$target" ||
        return 1
    (cd "$prefix" && find . | sort) >"$work/by_cmake"
    (cd "$work/staging/opt/petal" && find . | sort) >"$work/by_make"
    [ "$(ls "$work/staging")" = opt ] && diff "$work/by_cmake" "$work/by_make"
}
check "make install PREFIX= DESTDIR= gives the same layout, and nothing outside DESTDIR" destdir
# Below /usr Debian has another folder for libraries, and the build then knows only that.
uninstalled() {
    touch "$work/staging/opt/petal/lib/libother.so"
    make -C "$root" install BUILD="$work/make" PREFIX=/usr DESTDIR="$work/system" CARGO_TARGET_DIR="$target" || return 1
    make -C "$root" uninstall BUILD="$work/make" PREFIX=/opt/petal DESTDIR="$work/staging" || return 1
    left=$(cd "$work/staging/opt/petal" && find . ! -type d -o -name petal)
    [ "$left" = ./lib/libother.so ] || { echo "left: $left"; return 1; }
    make -C "$root" uninstall BUILD="$work/make" PREFIX=/usr DESTDIR="$work/system" || return 1
    left=$(find "$work/system" ! -type d)
    [ -z "$left" ] || { echo "left: $left"; return 1; }
}
check "make uninstall removes just that, whatever was installed elsewhere meanwhile" uninstalled

# The loader does not look into this prefix, so installing says what to do; the README's recipe does it.
says_how_to_link() {
    cmake --install "$work/build" --prefix "$prefix" | grep -e "-Wl,-rpath,$libdir"
}
check "installing where the loader does not look says how programs find the library" says_how_to_link
own_prefix() {
    PKG_CONFIG_PATH=$libdir/pkgconfig
    export PKG_CONFIG_PATH
    $CC "$here/consumer/consumer.c" -o "$work/program" $(pkg-config --cflags --libs petal) \
        -Wl,-rpath,"$(pkg-config --variable=libdir petal)" && "$work/program" >/dev/null
}
check "a program linked so runs without LD_LIBRARY_PATH" own_prefix

# --- How programs use it ---------------------------------------------------------------------------------------------

# ran PROGRAM shared|static: runs it, compares the version it prints, and whether it needs libpetal.so.
ran() {
    if readelf -dW "$1" | grep -q "NEEDED.*\[$soname\]"; then linked=shared; else linked=static; fi
    [ "$linked" = "$2" ] || { echo "the program is $linked"; return 1; }
    said=$(LD_LIBRARY_PATH=$(under) "$1") || return 1
    [ "$said" = "$number" ] || { echo "it says version $said instead of $number"; return 1; }
}

# by_cmake shared|static [CONSUMER TARGET]: TARGET is petal or cpp.
by_cmake() {
    rm -rf "$work/consumer"
    if [ "$1" = shared ]; then library=petal::${3-petal}; else library=petal::${3-petal}_static; fi
    cmake -S "$here/${2-consumer}" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" -DPETAL_LIBRARY="$library" &&
        cmake --build "$work/consumer" && ran "$work/consumer/consumer" "$1"
}

# by_pkg_config shared|static PKG_CONFIG_ARGUMENTS [LINKER_FLAGS]: expanded unquoted, as users write it.
by_pkg_config() {
    PKG_CONFIG_PATH=$(under)/pkgconfig
    export PKG_CONFIG_PATH
    cflags=$(pkg-config --cflags $2) && libs=$(pkg-config --libs $2) || return 1
    echo "$cflags $libs"
    rm -f "$work/program"
    $CC $cflags "$here/consumer/consumer.c" -o "$work/program" ${3-} $libs && ran "$work/program" "$1"
}

cxx() {
    $CXX -std=c++17 -Wall -Wextra -pedantic -Werror -I "$prefix/include" "$here/header.cpp" -o "$work/program" \
        "$(under)/libpetal.so" && LD_LIBRARY_PATH=$(under) "$work/program"
}

everybody() {
    check "$1: CMake, petal::petal" by_cmake shared
    check "$1: CMake, petal::petal_static" by_cmake static
    check "$1: pkg-config petal" by_pkg_config shared petal
    check "$1: pkg-config petal-static" by_pkg_config static petal-static
    check "$1: pkg-config --static petal, with cc -static" by_pkg_config static "--static petal" -static
    check "$1: a C++17 program" cxx
    check "$1: CMake, petal::cpp" by_cmake shared consumer_cpp cpp
    check "$1: CMake, petal::cpp_static" by_cmake static consumer_cpp cpp
}

# As docs/installing.md has it; and the packages name -lm themselves.
by_name() {
    $CC -I "$prefix/include" "$here/consumer/consumer.c" -o "$work/program" "$(under)/libpetal.a" -lm -lpthread -ldl &&
        ran "$work/program" static || return 1
    PKG_CONFIG_PATH=$(under)/pkgconfig
    export PKG_CONFIG_PATH
    for package in petal-static "--static petal"; do
        case " $(pkg-config --libs $package) " in
        *" -lm "*) ;;
        *) echo "no -lm in $package"; return 1 ;;
        esac
    done
}

move() {
    mkdir -p "$(dirname "$1")" && mv "$prefix" "$1" && prefix=$1
}

# The README's example, and each of examples/c, as the reader would compile them.
readme() {
    awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$root/README.md" >"$work/readme.c"
    PKG_CONFIG_PATH=$(under)/pkgconfig
    export PKG_CONFIG_PATH
    $CC -std=c99 -Wall -Wextra -Wconversion -pedantic -Werror "$work/readme.c" -o "$work/program" \
        $(pkg-config --cflags --libs petal-static) || return 1
    said=$("$work/program") || return 1
    [ "$said" = "apple: maybe
pear: no" ] || { echo "it printed: $said"; return 1; }
}

if [ "$part" = once ]; then
    everybody "installed"
    check "the README's example compiles and says what it should" readme
    finish
fi

# --- What is missing -------------------------------------------------------------------------------------------------

# requirements WHAT VARIABLE=VALUE...: asks for them where there is no C compiler and no CMake, and apt-get only notes
# that it was called. Prints what was said.
requirements() {
    mkdir -p "$work/poor"
    for tool in cargo rustc cargo-clippy cargo-fmt sh sed head cut sort id uname env dirname; do
        ln -sf "$(command -v $tool)" "$work/poor/$tool"
    done
    printf '#!/bin/sh\necho called "$@" >>"%s/apt-get.log"\n' "$work" >"$work/poor/apt-get"
    printf '#!/bin/sh\n"$@"\n' >"$work/poor/sudo"
    chmod +x "$work/poor/apt-get" "$work/poor/sudo"
    rm -f "$work/apt-get.log"
    what=$1
    shift
    ! (unset CI INSTALL && env "$@" PATH="$work/poor" "$root/cmake/requirements.sh" "$what") 2>&1
}
only_says() {
    said=$(requirements "$@") || return 1
    echo "$said"
    [ "$(echo "$said" | wc -l)" = 1 ] && [ ! -e "$work/apt-get.log" ] &&
        echo "$said" | grep -q "apt-get install .*gcc libc6-dev binutils cmake"
}
installs() {
    requirements "$@"
    grep -q "^called install .* gcc libc6-dev binutils cmake" "$work/apt-get.log"
}
check "plain make installs nothing, and says in one line what would" only_says build CI=true
check "nor does it with INSTALL=1" only_says build INSTALL=1
check "make test and make demo install nothing with INSTALL=0" only_says demo CI=true INSTALL=0
check "they install what is missing with CI=true" installs demo CI=true
check "and with INSTALL=1" installs test INSTALL=1

# --- The artefacts ---------------------------------------------------------------------------------------------------

dynamic() { readelf -dW "$so"; }
has_dynamic() { dynamic | grep -q -- "$1"; }
check "the soname is $soname" has_dynamic "(SONAME).*\[$soname\]"
check "NODELETE is set" has_dynamic "FLAGS_1.*NODELETE"
check "every symbol is bound at load (NOW)" has_dynamic "FLAGS_1.*NOW"
no_textrel() { ! has_dynamic TEXTREL; }
check "no text relocations" no_textrel
stack() {
    readelf -lW "$so" |
        awk '$1 == "GNU_STACK" { found = 1; if ($0 ~ /RWE/) bad = 1 } END { exit !found || bad }'
}
check "the stack is not executable" stack
relro() { readelf -lW "$so" | grep -q GNU_RELRO; }
check "relocations are read-only after loading (RELRO)" relro
needed() {
    non_members=$(dynamic | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -v -E '^(libc\.so\.6|libm\.so\.6|libpthread\.so\.0|libdl\.so\.2|libgcc_s\.so\.1|ld-linux.*|libc\.musl.*)$')
    [ -z "$non_members" ] || { echo "needs $non_members"; return 1; }
}
check "it needs the C library and libgcc_s only" needed

symbols() {
    "$root/capi/symbols.sh" header >"$work/in_header" && "$root/capi/symbols.sh" map >"$work/in_map" || return 1
    nm -D --defined-only "$so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >"$work/in_shared"
    nm -g --defined-only "$archive" | awk 'NF == 3 { print $3 }' | sort >"$work/in_static"
    [ -s "$work/in_map" ] || { echo "petal.map lists nothing"; return 1; }
    for other in header shared static; do
        diff -u "$work/in_map" "$work/in_$other" || return 1
    done
}
check "petal.map, the header, libpetal.so and libpetal.a name the same functions" symbols
no_faults() { ! nm "$archive" "$so" 2>/dev/null | grep plant_fault && ! nm -D "$so" | grep plant_fault; }
check "no planted fault is in the released artefacts" no_faults
small() { size=$(wc -c <"$archive"); echo "libpetal.a has $size bytes, the limit is $limit"; [ "$size" -le "$limit" ]; }
if [ "$(uname -m)" = x86_64 ]; then
    check "only the kernels need more than every x86-64 processor has" "$root/tests/packaging/baseline.sh" \
        "$target/release/libpetal.a"
fi
check "libpetal.a stays below $limit bytes ($(wc -c <"$archive") bytes; libpetal.so $(wc -c <"$so"))" small

# --- Consumers, in the first place and in two others to which the prefix is moved ------------------------------------

say "consumers"
everybody "clean prefix"
check "the static library by its name, with -lm" by_name
check "the README's example compiles and says what it should" readme
move "$work/moved"
everybody "moved prefix"
move "$work/a much/deeper"
check "prefix with a space in its path: CMake, petal::petal" by_cmake shared
check "prefix with a space in its path: CMake, petal::petal_static" by_cmake static
move "$work/moved/again/and/deeper"
everybody "moved again"
rm "$(under)"/libpetal.so*
check "static libraries only: CMake, petal::petal_static" by_cmake static
check "static libraries only: CMake, petal::cpp_static" by_cmake static consumer_cpp cpp
check "static libraries only: pkg-config --static petal" by_pkg_config static "--static petal"

subdirectory() {
    cmake -S "$here/subdirectory" -B "$work/inside" -DPETAL_SOURCE="$root" -DPETAL_CARGO_TARGET_DIR="$target" &&
        cmake --build "$work/inside" || return 1
    for program in with_petal with_petal_static with_cpp with_cpp_static cpp_with_petal cpp_with_petal_static; do
        "$work/inside/$program" || return 1
    done
}
check "add_subdirectory: petal::petal, petal::petal_static, petal::cpp and petal::cpp_static" subdirectory

# The README's lines for FetchContent, with this tree instead of what they would fetch.
fetched() {
    mkdir -p "$work/fetch"
    {
        echo "cmake_minimum_required(VERSION 3.16)"
        echo "project(program LANGUAGES C CXX)"
        echo "set(CMAKE_CXX_STANDARD 17)"
        echo "add_executable(program $here/consumer/consumer.c $here/consumer_cpp/header.cpp)"
        sed -n '/^include(FetchContent)$/,/^```$/p' "$root/README.md" | grep -v '^```$'
    } >"$work/fetch/CMakeLists.txt"
    grep -q FetchContent_MakeAvailable "$work/fetch/CMakeLists.txt" &&
        cmake -S "$work/fetch" -B "$work/fetched" -DFETCHCONTENT_SOURCE_DIR_PETAL="$root" \
            -DPETAL_CARGO_TARGET_DIR="$target" &&
        cmake --build "$work/fetched" && "$work/fetched/program"
}
check "FetchContent, as in the README" fetched

# --- Builds by choice ------------------------------------------------------------------------------------------------

# by_choice NAME KINDS INSTRUCTIONS [OPTION]: builds a library of these, and links choice.c and small.c with it.
by_choice() {
    cmake -S "$root" -B "$work/built-$1" -DPETAL_INSTALL=OFF -DPETAL_CARGO_TARGET_DIR="$target/choice" \
        -DPETAL_KINDS="$2" -DPETAL_INSTRUCTIONS="$3" ${4-} && cmake --build "$work/built-$1" --target petal_link &&
        link_with "$1" "$work/built-$1/lib/libpetal.a"
}

# A call of each function that a build may leave out, all arguments 0, from the list of these functions.
sed -nE '/^    petal_[a-z0-9_]*\(/ {
    s/\b(Any|f64|[iu](64|32|size))([,;])/0\3/g
    s/^ *(.*); error\) -> .*/SAYS_WHY(\1, \&error));/
    s/^ *(.*);\) -> \(\).*/\1);/
    s/^ *(.*);\) -> .* = (.*);$/ANSWERS(\1), \2);/
    p
}' "$root/capi/src/left_out.rs" >"$work/left_out.h"

# link_with NAME ARCHIVE: as `pkg-config --libs petal-static` has it, and stripped.
link_with() {
    for program in choice small; do
        $CC -O2 -s -Wall -Wextra -Werror -I "$root/include" -I "$work" "$here/$program.c" -o "$work/$program-$1" "$2" \
            -Wl,--gc-sections -lm -lpthread -ldl || return 1
    done
}

# at_most BYTES NAME: runs small.c, and limits the size of the program.
at_most() {
    "$work/small-$2" "$work/small.petal" || return 1
    bytes=$(wc -c <"$work/small-$2")
    echo "the program has $bytes bytes, the limit is $1"
    [ "$bytes" -le "$1" ]
}

say "a library of two kinds, compiled in a hurry, and one whose size counts"
two_kinds() {
    CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
        by_choice two "blocked;fuse" "portable;avx2"
}
same_symbols() {
    nm -g --defined-only "$work/built-one/lib/libpetal.a" | awk 'NF == 3 { print $3 }' | sort >"$work/in_choice"
    diff -u "$work/in_map" "$work/in_choice"
}
check "PETAL_KINDS=blocked;fuse builds" two_kinds
what_is_left_out() {
    image=cuckoo-fingerprint_bits_16-bucket_slots_4-semi_sort_0-layout_1
    tar -xf "$root/tests/golden/cuckoo.tar" -C "$work" $image-xxh3.petal $image.compact &&
        "$work/small-two" "$work/small.petal" &&
        "$work/choice-two" 2 "$work/$image-xxh3.petal" "$work/$image.compact"
}
check "what it leaves out answers with a status and a sentence, and the rest works" what_is_left_out
unknown_choice() {
    ! said=$(cmake -S "$root" -B "$work/unknown" -DPETAL_KINDS="blocked;bloomm" 2>&1) &&
        echo "$said" | grep -q "PETAL_KINDS: bloomm is not one of bloom,"
}
check "CMake refuses a kind that it does not know" unknown_choice
check "a library of blocked alone, optimised across crates, builds" by_choice one blocked all -DPETAL_LTO=ON
check "the symbols are the same" same_symbols
check "a program with it has at most 700,000 bytes" at_most 700000 one
check "its shared library has at most 1,400,000 bytes" test "$(wc -c <"$work/built-one/lib/libpetal.so")" -le 1400000
check "a program with all kinds is linked" link_with all "$work/build/lib/libpetal.a"
check "that program stays below 4,350,000 bytes, which is a guard and not an aim" at_most 4350000 all

# --- Two archives made by Rust in one program ------------------------------------------------------------------------

say "building an archive with planted faults, and a neighbour (a minute or so the first time)"
# Compiled in a hurry: nobody looks at its size or speed.
planted() {
    CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
        cargo rustc --release --locked --manifest-path "$root/capi/Cargo.toml" --lib --crate-type staticlib \
        --features planted-faults --target-dir "$target/planted" &&
        "$root/capi/link.sh" -u petal_plant_fault "$target/planted/release/libpetal.a" "$work/planted"
}
check "link.sh keeps an extra symbol for a test build" planted
planted_is_exported() {
    nm -g --defined-only "$work/planted/libpetal.a" | grep -q petal_plant_fault &&
        nm -D --defined-only "$work/planted/libpetal.so" | grep -q petal_plant_fault
}
check "there both libraries export it" planted_is_exported
neighbour() {
    cargo build --release --locked --manifest-path "$here/neighbour/Cargo.toml" --target-dir "$target/neighbour"
}
check "the neighbour builds" neighbour

# two_archives FIRST SECOND: the order decides whose names the linker sees first.
two_archives() {
    $CC "$here/two_archives.c" -o "$work/two" "$1" "$2" -lpthread -ldl -lm && "$work/two"
}
rust_petal=$work/planted/libpetal.a
rust_neighbour=$target/neighbour/release/libneighbour.a
check "two Rust archives in one program, both panic and recover" two_archives "$rust_petal" "$rust_neighbour"
check "the same, linked in the other order" two_archives "$rust_neighbour" "$rust_petal"

# --- Plain cargo -----------------------------------------------------------------------------------------------------

say "plain cargo build where there is no libclang and no cmake"
plain_cargo() {
    mkdir -p "$work/bin"
    for tool in cargo rustc cc ld; do
        ln -sf "$(command -v $tool)" "$work/bin/$tool"
    done
    (cd "$root" && LIBCLANG_PATH=/nonexistent PATH=$work/bin CARGO_PROFILE_DEV_OPT_LEVEL=0 \
        "$work/bin/cargo" build --locked --target-dir "$target/plain")
}
check "cargo build --locked" plain_cargo
plain_dependencies() {
    (cd "$root" && cargo tree --locked -e normal,build --prefix none) >"$work/tree" || return 1
    ! grep -E '^(clang-sys|bindgen|cbindgen|cmake|cc) ' "$work/tree"
}
check "no default member depends on libclang, cbindgen, cmake or a C compiler" plain_dependencies
plain_shared() {
    so=$target/plain/debug/libpetal.so
    has_dynamic "(SONAME).*\[$soname\]" && has_dynamic "FLAGS_1.*NODELETE"
}
check "its libpetal.so has the same soname and NODELETE" plain_shared
# link.sh drops what petal.map does not list, so a function that never reached the header shows only here.
plain_symbols() {
    nm -D --defined-only "$target/plain/debug/libpetal.so" | awk '$3 ~ /^petal_/ { print $3 }' | sort >"$work/in_plain"
    diff -u "$work/in_map" "$work/in_plain"
}
check "it exports the same functions" plain_symbols

# The README's lines for Rust, in a separate package.
rust() {
    cargo new --quiet --vcs none "$work/rust" && cd "$work/rust" || return 1
    cp "$root/Cargo.lock" .
    awk '/^```rust$/ { on = 1; next } /^```$/ { on = 0 } on' "$root/README.md" >src/main.rs
    cargo add --quiet --offline --path "$root" petal &&
        CARGO_PROFILE_DEV_OPT_LEVEL=0 cargo run --quiet --offline --target-dir "$target/plain"
}
rust_says() { said=$(rust) && [ "$said" = "apple: true" ] || { echo "it printed: $said"; return 1; }; }
check "cargo add --path, and the README's example in Rust" rust_says

finish
