#!/bin/bash
# dist.sh CARGO_TARGET_DIRECTORY FOLDER [TARGET...]: writes petal-VERSION-TARGET.tar.gz for each target into FOLDER, and
# SHA256SUMS. Without a TARGET it makes all that the tools here can make, and names those that it skips.
# packaging/targets.sh lists them.
#
# SOURCE_DATE_EPOCH is the time of all files, by default that of the last commit, and no path of this machine gets into
# them. For Linux the linker is zig, which brings old C libraries along; PETAL_ZIG is the program, and otherwise pip
# gets it into the target directory.
set -euo pipefail
LC_ALL=C
export LC_ALL
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1" "$2"
target=$(cd "$1" && pwd)
out=$(cd "$2" && pwd)
shift 2
. "$root/packaging/targets.sh"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH
unset CARGO_TARGET_DIR DESTDIR MAKEFLAGS MAKELEVEL MFLAGS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# triple TARGET: Rust's name of it.
triple() {
    case $1 in
    *-linux-*) echo "${1%%-*}-unknown-${1#*-}" ;;
    x86_64-windows) echo x86_64-pc-windows-gnu ;;
    *)
        echo "dist: no target $1; there are $all_targets" >&2
        return 2
        ;;
    esac
}

# lacks TARGET: what is missing here, or nothing.
lacks() {
    local name
    name=$(triple "$1")
    if ! [ -d "$(rustc --print target-libdir --target "$name")" ] &&
        ! { has rustup && rustup target add "$name" >/dev/null 2>&1; }; then
        echo "rustup target add $name"
    elif ! has "$(tool "$1" objcopy)"; then
        echo "$(tool "$1" objcopy) (Debian: binutils-${1%%-*}-linux-gnu, for Windows gcc-mingw-w64-x86-64)"
    elif [ "$1" = x86_64-windows ]; then
        has x86_64-w64-mingw32-gcc || echo "x86_64-w64-mingw32-gcc (Debian: gcc-mingw-w64-x86-64)"
    fi
}

# build TARGET: installs its package below $work/TARGET.
build() {
    local name upper folder="petal-$version-$1"
    name=$(triple "$1")
    upper=$(echo "$name" | tr a-z- A-Z_)
    set -- "$1" -DPETAL_CARGO_TARGET="$name" -DPETAL_CARGO_TARGET_DIR="$target/dist" -DPETAL_CLI_REDIS=ON \
        -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_SYSTEM_PROCESSOR="${1%%-*}"
    if [ "$1" = x86_64-windows ]; then
        set -- "$@" -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_C_COMPILER=x86_64-w64-mingw32-gcc
    else
        zig "$1"
        # Rust brings what a program with musl is linked with, and needs only a linker.
        case $1 in *-musl) export "CARGO_TARGET_${upper}_LINKER=rust-lld" ;; esac
        export "CC_${name//-/_}=$root/packaging/zig-cc.sh"
        # The unwinder comes with the library: another system may have another one.
        set -- "$@" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_C_COMPILER="$root/packaging/zig-cc.sh" \
            -DCMAKE_SHARED_LINKER_FLAGS=-lunwind
        export LD OBJCOPY AR
        LD=$(tool "$1" ld.bfd) OBJCOPY=$(tool "$1" objcopy) AR=$(tool "$1" ar)
    fi
    # One program writes the man pages of all packages, if this machine can run it.
    local documents=$target/dist/$(uname -m)-unknown-linux-gnu/release/petal-documents
    [ "$name" = "$(uname -m)-unknown-linux-gnu" ] || [ -x "$documents" ] || documents=
    cmake -S "$root" -B "$work/build-$1" "${@:2}" ${documents:+-DPETAL_DOCUMENTS="$documents"} >"$work/log" ||
        { cat "$work/log"; return 1; }
    cmake --build "$work/build-$1"
    DESTDIR=$work/$1 cmake --install "$work/build-$1" --prefix "/$folder" >/dev/null
    # The linker's own files come with debugging information.
    find "$work/$1/$folder" -type f \( -path '*/bin/*' -o -name '*.so.*' \) -exec "$(tool "$1" strip)" {} +
}

# pack TARGET
pack() {
    local folder="petal-$version-$1"
    (cd "$work/$1/$folder" && find . -type f | sort | xargs sha256sum >"$work/sums" && mv "$work/sums" SHA256SUMS)
    find "$work/$1" -type d -exec chmod 755 {} + -o -perm -u+x -type f -exec chmod 755 {} + \
        -o -type f -exec chmod 644 {} +
    tar --create --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
        --directory "$work/$1" "$folder" | gzip -9 --no-name >"$out/$folder.tar.gz"
    echo "$out/$folder.tar.gz"
}

all=
if [ $# = 0 ]; then
    all=1
    # shellcheck disable=SC2086 # a list of words
    set -- $all_targets
fi
for one in "$@"; do
    triple "$one" >/dev/null
    missing=$(lacks "$one")
    if [ -n "$missing" ]; then
        echo "dist: skipped: $one: it takes $missing" >&2
        [ -n "$all" ] || exit 1
        continue
    fi
    # What a target sets is for it alone.
    (
        build "$one"
        pack "$one"
    )
done
cd "$out" && sha256sum petal-"$version"-*.tar.gz >SHA256SUMS
