#!/bin/sh
# The ABI, of which capi/petal.abi is the reviewed description: every function with its version node, and the layout of
# every struct, as abidw of libabigail writes them down.
#
#   abi.sh check    fails, naming what differs, if the headers say something else than capi/petal.abi
#   abi.sh write    rewrites capi/petal.abi
#
# The description is of a library with debug information and with the functions that the headers declare, all of them
# empty. So it takes a second, and does not depend on the inside of Petal. tests/header compiles a check that the real
# library agrees with the headers. PETAL_INCLUDE names another folder of headers, for a test.
set -eu
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
include=${PETAL_INCLUDE-$here/../include}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for tool in abidw abidiff; do
    command -v $tool >/dev/null || { echo "abi.sh: no $tool: install abigail-tools" >&2; exit 1; }
done

for header in "$include"/*.h; do echo "#include \"$header\""; done >"$work/petal.c"
PETAL_INCLUDE=$include "$here/symbols.sh" declarations | sed 's/$/ { __builtin_trap(); }/' >>"$work/petal.c"
include=$(cd "$include" && pwd)
(cd "$work" && ${CC:-cc} -g -gdwarf-4 -O0 -w -fPIC -shared -DPETAL_INLINE_PORTABLE -I "$include" petal.c \
    -o libpetal.so -Wl,-soname,libpetal.so -Wl,--version-script,"$here/petal.map")

describe() {
    abidw --no-architecture --no-show-locs --no-corpus-path --no-comp-dir-path \
        --type-id-style hash --out-file "$1" "$work/libpetal.so"
}
case ${1-} in
check)
    abidiff --harmless --no-architecture --fail-no-debug-info "$here/petal.abi" "$work/libpetal.so" || {
        echo "abi.sh: the ABI is not that of capi/petal.abi. From 1.0 on only additions may be; before, and for" \
            "additions, \`make abi\` and a line in CHANGELOG.md." >&2
        exit 1
    }
    ;;
write) describe "$here/petal.abi" ;;
*) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
