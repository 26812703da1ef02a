#!/bin/sh
# symbols.sh: capi/petal.map lists what the headers declare, and what is experimental has its own version node.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$root/capi/symbols.sh" check || { echo "capi/petal.map is not up to date: \`make symbols\`" >&2; exit 1; }

# node NAME: the version node of a function in the map of the copy.
node() { awk -v name="$1;" '/^PETAL_/ { node = $1 } $1 == name { print node }' "$work/petal.map"; }
expect() { [ "$(node "$1")" = "$2" ] || { echo "$1 stands under \`$(node "$1")\`, not under $2" >&2; exit 1; }; }
write() { PETAL_INCLUDE=$work/include PETAL_MAP=$work/petal.map "$root/capi/symbols.sh" write; }

cp -r "$root/include" "$root/capi/petal.map" "$work"
cat >"$work/include/petal_try.h" <<'END'
/*
 * petal_try.h: EXPERIMENTAL, may change in any version.
 */
#include <petal.h>
petal_status petal_try_it(petal_filter *filter);
END
write
expect petal_try_it PETAL_EXPERIMENTAL
expect petal_filter_new PETAL_0.1
# What stays leaves that node, and never comes back to it.
sed -i 's/EXPERIMENTAL, may change/stable, does not change/' "$work/include/petal_try.h"
write
expect petal_try_it PETAL_0.1
echo "petal.map lists what the headers declare"
