#!/bin/sh
# billion.sh PETAL [KIND [KEYS [DIRECTORY [OPTION...]]]]: builds a filter of KEYS keys (10^9 by default) with PETAL
# build, verifies its file, looks all keys up and 10^8 others, and says what all that took: time, peak memory, peak
# temporary disk, bits per key, and the false-positive rate. KIND is fuse by default; OPTIONs go to `petal build`, and
# are --fpr 0.00390625 --memory-limit 2GiB --threads 2 if there are none. Files are made in DIRECTORY (or the temporary
# one), which has to have room for 17.3 bytes a key, and removed at the end. Needs Linux, whose /proc says what a
# process has, and GNU seq.
#
# For the kind exact_set the keys are a universe, of which one in a hundred is a member and the others are excluded. All
# members have to be found, and none of the excluded keys that are looked up. The default OPTIONs then have no --fpr.
set -eu
LC_ALL=C
export LC_ALL
petal=$1
kind=${2:-fuse}
keys=${3:-1000000000}
work=$(mktemp -d "${4:-${TMPDIR:-/tmp}}/petal-billion.XXXXXX")
feed=
trap 'rm -rf "$work"; [ -z "$feed" ] || kill "$feed" 2>/dev/null || true' EXIT
trap 'exit 1' INT TERM
if [ $# -gt 4 ]; then
    shift 4
elif [ "$kind" = exact_set ]; then
    set -- --memory-limit 2GiB --threads 2
else
    set -- --fpr 0.00390625 --memory-limit 2GiB --threads 2
fi
filter=$work/filter
absent=100000000
universe=$keys
if [ "$kind" = exact_set ]; then
    keys=$((universe / 100))
    [ $absent -le $((universe - keys)) ] || absent=$((universe - keys))
    mkfifo "$work/excluded"
    seq $((keys + 1)) "$universe" >"$work/excluded" &
    feed=$!
    set -- --exclude "$work/excluded" "$@"
fi

now() { date +%s.%N; }
# since START: the seconds since then.
since() { echo "$1 $(now)" | awk '{ printf "%.1f", $2 - $1 }'; }

# Temporary files have no names, so they are found by the command's descriptors.
watch() {
    memory=0
    disk=0
    while kill -0 "$1" 2>/dev/null; do
        memory=$(awk '/^VmHWM:/ { print $2 }' "/proc/$1/status" 2>/dev/null || true) && [ -n "$memory" ] || break
        blocks=0
        for file in "/proc/$1/fd/"*; do
            case $(readlink "$file" || true) in
            "$work"/*"(deleted)") blocks=$((blocks + $(stat -Lc %b "$file" 2>/dev/null || echo 0))) ;;
            esac
        done
        [ $blocks -le $disk ] || disk=$blocks
        echo "$memory $((disk / 2))" >"$work/peaks"
        sleep 0.2
    done
}

echo "petal build --kind $kind $*, $keys keys of $universe"
start=$(now)
seq "$keys" | "$petal" build --quiet --kind "$kind" "$@" --temporary-directory "$work" -o "$filter" - &
build=$!
watch $build
wait $build
feed=
seconds=$(since "$start")
read -r memory disk <"$work/peaks"
bytes=$(wc -c <"$filter")
echo "$seconds $memory $disk $bytes $keys $universe" | awk '{
    printf "built in %.1f s (%.0f ns a key), peak memory %.2f GB, peak temporary disk %.2f GB\n", $1, $1 * 1e9 / $6,
        $2 * 1024 / 1e9, $3 * 1024 / 1e9
    printf "%d bytes, %.4f bits per key\n", $4, $4 * 8 / $5
}'

start=$(now)
"$petal" verify --quiet "$filter"
echo "verified in $(since "$start") s"

start=$(now)
found=$(seq "$keys" | "$petal" check --count "$filter" -)
[ "$found" -eq "$keys" ] || { echo "only $found of $keys keys were found" >&2; exit 1; }
echo "all $keys keys found in $(since "$start") s"

start=$(now)
found=$(seq $((keys + 1)) $((keys + absent)) | "$petal" check --count "$filter" - || true)
echo "$found $absent $(since "$start")" | awk '{
    printf "%d of %d other keys found, %.5f %%, in %.1f s\n", $1, $2, 100 * $1 / $2, $3
}'
[ "$kind" != exact_set ] || [ "$found" -eq 0 ] || { echo "excluded keys were found" >&2; exit 1; }
