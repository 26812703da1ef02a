#!/bin/sh
# Makes what is installed from the archive that cargo builds:
#
#   link.sh [-u SYMBOL]... RAW_ARCHIVE OUTPUT_DIRECTORY [VERSION]
#
# The raw archive carries the whole Rust standard library with global names, so two such archives in one program
# clash, or share half of each other. Here it becomes ONE object in which only `petal_*` is global. From that object
# are made OUTPUT_DIRECTORY/libpetal.a and libpetal.so.VERSION with its two links. The symbols kept are those of
# petal.map, and each -u SYMBOL (for test builds that export more). VERSION is the workspace's unless given.
#
# Tools: CC (cc), LD (GNU ld), OBJCOPY and AR, by default those that CC itself uses. LDFLAGS is used for libpetal.so.
# UNWINDER is an archive with the unwinder, where that is not one of the system's libraries.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

fail() {
    echo "link.sh: $*" >&2
    exit 1
}

extra=
while getopts u: option; do
    case $option in
    u) extra="$extra $OPTARG" ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] && [ $# -le 3 ] || fail "usage: link.sh [-u SYMBOL]... RAW_ARCHIVE OUTPUT_DIRECTORY [VERSION]"
raw=$1
out=$2
version=${3:-$(sed -n 's/^version = "\(.*\)"$/\1/p' "$here/../Cargo.toml" | head -n 1)}
[ -n "$version" ] || fail "no version in $here/../Cargo.toml"
soname=libpetal.so.${version%%.*}
[ -f "$raw" ] || fail "$raw does not exist; cargo build --release --locked -p petal-capi makes it"

# CC may be a command with arguments, so it is expanded unquoted. The other tools follow it, also in cross builds.
CC=${CC:-cc}
command -v ${CC%% *} >/dev/null || fail "no C compiler: $CC (set CC, or install gcc)"
tool() {
    path=$($CC -print-prog-name="$1" 2>/dev/null) || path=$1
    if command -v "$path" >/dev/null; then echo "$path"; else echo "$2"; fi
}
LD=${LD:-$(tool ld.bfd ld)}
OBJCOPY=${OBJCOPY:-$(tool objcopy objcopy)}
AR=${AR:-$(tool ar ar)}
for name in "$LD" "$OBJCOPY" "$AR"; do
    command -v "$name" >/dev/null || fail "$name is missing (set LD, OBJCOPY, AR, or install binutils)"
done
"$LD" --help | grep -q force-group-allocation ||
    fail "$LD does not know --force-group-allocation: set LD to GNU ld (binutils 2.29 or newer)"

symbols="$(sed -n 's/^ *\(petal_[a-z0-9_]*\);.*$/\1/p' "$here/petal.map")$extra"
roots=
for symbol in $symbols; do
    roots="$roots -u $symbol"
done
mkdir -p "$out"
object=$out/petal.o
trap 'rm -f "$object" "$object.whole" "$out/extra.map"' EXIT

# 1. One object: what the roots reach, and nothing else. --force-group-allocation dissolves the COMDAT groups; left
#    whole, the personality reference of one archive replaces that of the other, and the first panic crashes.
"$LD" -r --gc-sections --force-group-allocation $roots -o "$object.whole" "$raw" ${UNWINDER:+"$UNWINDER"}

# 2. Every name but petal_* becomes local; LLVM's bitcode copies and the debug information go.
"$OBJCOPY" --wildcard --keep-global-symbol='petal_*' -R .llvmbc -R .llvmcmd --strip-unneeded "$object.whole" "$object"

# 3. The archive. D: no times and no user ids, so equal input gives equal bytes.
rm -f "$out/libpetal.a"
"$AR" rcsD "$out/libpetal.a" "$object"

# 4. The shared library. nodelete: Rust's thread-local destructors may run after a dlclose.
set -- "-Wl,--version-script,$here/petal.map"
if [ -n "$extra" ]; then
    { echo 'PETAL_TEST { global:'; printf ' %s;' $extra; echo '};'; } >"$out/extra.map"
    set -- "$@" "-Wl,--version-script,$out/extra.map"
fi
$CC -shared -o "$out/libpetal.so.$version" "$object" "$@" -Wl,-soname,"$soname" \
    -Wl,-z,nodelete -Wl,-z,relro -Wl,-z,now -Wl,-z,defs -Wl,-z,noexecstack ${LDFLAGS-} \
    -Wl,--as-needed -lpthread -ldl -lm
ln -sf "libpetal.so.$version" "$out/$soname"
ln -sf "$soname" "$out/libpetal.so"
