#!/bin/sh
# abi.sh: the headers have the ABI that capi/petal.abi describes, and abidiff notices what would break a program.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$root/capi/abi.sh" check

# planted WHAT SED_SCRIPT: a copy of the headers with this change is refused.
planted() {
    rm -rf "$work/include"
    cp -r "$root/include" "$work/include"
    sed -i "$2" "$work/include/petal.h"
    if cmp -s "$root/include/petal.h" "$work/include/petal.h"; then
        echo "abi.sh: $1 could not be planted" >&2
        exit 1
    fi
    if PETAL_INCLUDE=$work/include "$root/capi/abi.sh" check >"$work/log" 2>&1; then
        echo "abi.sh: nobody notices $1" >&2
        exit 1
    fi
    grep -q "Functions changes summary" "$work/log" || { cat "$work/log" >&2; exit 1; }
}
# Both fields have the same type.
planted "two exchanged fields" '/^typedef struct petal_spec {/,/^}/{
s/^  petal_kind kind;/  petal_hash_function hash_;/
s/^  petal_hash_function hash;/  petal_kind kind;/
s/hash_;/hash;/
}'
planted "a wider field" '/^typedef struct petal_error {/,/^}/s/int32_t os_error/int64_t os_error/'
planted "another type of a parameter" 's/\(petal_filter_with_capacity(uint\)64_t/\132_t/'
planted "a function that went" '/^uint32_t petal_version_number/d'
echo "the ABI is that of capi/petal.abi; four planted changes are noticed"
