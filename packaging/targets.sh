# targets.sh: what dist.sh and dist-test.sh know of the systems that archives are made for. They read it with `.` when
# they have set $root and $target, the target directory of cargo.
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
