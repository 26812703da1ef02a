#!/bin/sh
# stages.sh [owners]: what `make test` runs: two lanes of the Makefile's targets, beside each other, because much of
# what a stage does has one core busy; with `owners` (`make test OWNERS=1`) also those that ask the owners of other
# formats, and real servers. A lane ends at the first target that fails, but with `make -k` it goes on; what a target
# said is printed when it has ended.
#
# Says of each how long it took beside its budget, and sums up. A stage over its budget has not failed: find out why,
# and mend it or raise the budget, but either lane stays below 40 minutes.
#
# The first lane compiles in cargo's profile `test`, the second in the profile `release` of the package. Where they
# meet, at the end, the sanitizers find the released library compiled.
set -eu
cd "$(dirname "$0")/.."

# The stages of each lane and their budgets in seconds, on two cores where nothing was compiled before.
lane_1="test-lint 180
test-rust 720
test-neon 300
test-fuzz 300
test-sanitizers 480"
lane_2="test-c 420
test-package 450
test-musl 60
test-node 120
test-go 330"

case ${1-} in
'') ;;
owners)
    lane_2="$lane_2
test-redis 300
test-interop 360"
    ;;
*)
    echo "usage: stages.sh [owners]" >&2
    exit 2
    ;;
esac

# make gives its flags of one letter as the first word.
goes_on=
flags=${MAKEFLAGS-}
case " ${flags%% *}" in
' '*[-=]*) ;;
*k*) goes_on=1 ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'trap - HUP INT TERM; rm -rf "$work"; kill 0' HUP INT TERM

# lane: runs the stages that it reads, and leaves of each what it said, and then SECONDS BUDGET STATUS.
lane() {
    while read -r stage budget; do
        echo "== $stage begins"
        start=$(date +%s)
        status=0
        # What runs must not read the list of stages.
        ${MAKE:-make} --no-print-directory "$stage" </dev/null >"$work/$stage.log" 2>&1 || status=$?
        echo "$(($(date +%s) - start)) $budget $status" >"$work/$stage.ending"
        mv "$work/$stage.ending" "$work/$stage.ended"
        [ $status -eq 0 ] || [ -n "$goes_on" ] || return
    done
}

# beside SECONDS BUDGET: one beside the other, with a mark where it is more.
beside() {
    if [ "$1" -gt "$2" ]; then echo "$1 s of $2 s, OVER BUDGET"; else echo "$1 s of $2 s"; fi
}

# say: what has ended and was not said yet. One process says everything, so that lines stay whole.
say() {
    for ended in "$work"/*.ended; do
        [ -e "$ended" ] || continue
        stage=$(basename "$ended" .ended)
        read -r seconds budget status <"$ended"
        rm "$ended"
        cat "$work/$stage.log"
        if [ "$status" -ne 0 ]; then
            echo "== $stage FAILED after $seconds s"
            failed="$failed $stage"
            continue
        fi
        echo "== $stage $(beside "$seconds" "$budget")"
        summary="$summary==     $stage $(beside "$seconds" "$budget")
"
        [ "$seconds" -le "$budget" ] || over=$((over + 1))
    done
}

failed=
summary=
over=0
begun=$(date +%s)
echo "$lane_1" | lane &
first=$!
echo "$lane_2" | lane &
second=$!
while kill -0 $first 2>/dev/null || kill -0 $second 2>/dev/null; do
    sleep 1
    say
done
say
seconds=$(($(date +%s) - begun))
if [ -n "$failed" ]; then
    echo "== make test: FAILED after $seconds s:$failed"
    exit 1
fi
echo "== make test: all stages passed, in $seconds s"
printf '%s' "$summary"
[ $over -eq 0 ] || echo "== make test: $over of them took longer than their budgets in tests/stages.sh"
