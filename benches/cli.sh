#!/bin/sh
# cli.sh PETAL [MEGABYTES [DIRECTORY]]: what `petal build` costs on a large file of keys, compared with `wc -l` and
# `sort -u` of the same file: seconds, processor seconds, and peak memory, also beyond the filter. The file, of 1000 MB
# by default, is made in DIRECTORY (or the temporary one) and removed at the end. Needs GNU time; the file is in the
# page cache for all.
set -eu
LC_ALL=C
export LC_ALL
petal=$1
megabytes=${2:-1000}
work=$(mktemp -d "${3:-${TMPDIR:-/tmp}}/petal-cli.XXXXXX")
trap 'rm -rf "$work"' EXIT
keys=$work/keys
filter=$work/filter
time=$(command -v time) || { echo "GNU time is needed (Debian: time)" >&2; exit 2; }

# Distinct lines of 20 bytes in no order: the multiples of a number without the factors 2 and 5, modulo 10^10.
echo "making $megabytes MB of keys ..." >&2
awk -v count=$((megabytes * 50000)) 'BEGIN {
    modulus = 10000000000
    for (i = x = 0; i < count; i++) {
        x = (x + 3819660113) % modulus
        printf "key-%010.0f-test\n", x
    }
}' >"$keys"

# run NAME COMMAND...: prints what it took, and keeps its peak memory in $peak (KiB).
run() {
    name=$1
    shift
    "$time" -o "$work/time" -f '%e %U %S %M' "$@" >"$work/output"
    read -r seconds user system peak <"$work/time"
    echo "$seconds $user $system $lines $peak" | awk -v name="$name" '{
        printf "%-34s %8.2f s %8.2f s %9.1f M/s %9d KiB\n", name, $1, $2 + $3, $4 / ($1 > 0 ? $1 : 0.01) / 1e6, $5
    }'
}

lines=$(wc -l <"$keys")
echo "$lines lines, $(wc -c <"$keys") bytes"
printf '%-34s %10s %10s %13s %13s\n' command time CPU lines memory
run 'wc -l' wc -l "$keys"
run 'sort -u' sort -u -T "$work" "$keys"
for kind in $("$petal" kinds --json | sed -n '/"made_from":"entries"/!s/^{"name":"\([a-z_]*\)".*/\1/p'); do
    run "petal build --kind $kind" "$petal" build --kind "$kind" -o "$filter" "$keys"
    bytes=$(wc -c <"$filter")
    echo "    the filter is $((bytes / 1024)) KiB; beyond it $((peak - bytes / 1024)) KiB"
    run "petal build --capacity, $kind" "$petal" build --kind "$kind" --capacity "$lines" -o "$filter" "$keys"
    run "petal check -c, $kind" "$petal" check -c "$filter" "$keys"
    [ "$(cat "$work/output")" = "$lines" ] || { echo "a key is missing" >&2; exit 1; }
done
run 'petal dedup' "$petal" dedup --capacity "$lines" "$keys"
