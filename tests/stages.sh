#!/bin/sh
# stages.sh first|more: what `make test` runs, and what `make test-more` runs: two lanes of the Makefile's targets, one
# on each core, because a stage mostly keeps one core busy. A lane ends at the first target that fails, or goes on with
# `make -k`; what a target said is printed when it ends.
#
# Reports how long each took and its budget, and sums up. A stage over its budget has not failed: find out why, and mend
# it or raise the budget, but `make test` stays below 12 minutes and both together below 45.
#
# The first lane compiles in cargo's profiles for tests, the second in the profile `release` of the package, so that
# neither waits for the other's lock.
set -eu
cd "$(dirname "$0")/.."

# A line each: the budget in seconds on two cores, where nothing was compiled before, and the target with its arguments.
case ${1-} in
first)
    command="make test"
    lane_1="700 test-rust PART=first"
    lane_2="400 test-c PART=first
200 test-go PART=first
60 test-package PART=first"
    ;;
more)
    command="make test-more"
    lane_1="350 test-lint
650 test-rust PART=more
450 test-neon
350 test-fuzz
450 test-sanitizers"
    # Python's tests come first, while nobody else configures or installs what `make test` has built.
    lane_2="180 test-python PART=more
400 test-c PART=more
400 test-package PART=more
60 test-musl
130 test-node
120 test-registries PART=sample
20 release DRY=1
450 test-go PART=more
60 test-sqlite
500 test-redis SERVERS=some
110 test-postgresql PART=more
300 test-interop"
    ;;
*)
    echo "usage: stages.sh first|more" >&2
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

# lane: runs the stages that it reads, and leaves for each what it said, and then SECONDS BUDGET STATUS CPU_SECONDS.
lane() {
    while read -r budget stage; do
        echo "== $stage begins"
        start=$(date +%s)
        status=0
        # What runs must not read the list of stages. A stage is words: a target and its arguments.
        # shellcheck disable=SC2086
        (
            ${MAKE:-make} --no-print-directory $stage </dev/null >"$work/$stage.log" 2>&1
            status=$?
            times >"$work/$stage.times"
            exit $status
        ) || status=$?
        # What the stage's processes took is the second line: 1m2.5s 0m0.5s, for them and for the system.
        processor=$(sed -n 2p "$work/$stage.times" | awk -F '[ms ]+' '{ print int($1 * 60 + $2 + $3 * 60 + $4) }')
        echo "$(($(date +%s) - start)) $budget $status $processor" >"$work/$stage.ending"
        mv "$work/$stage.ending" "$work/$stage.ended"
        [ $status -eq 0 ] || [ -n "$goes_on" ] || return
    done
}

# beside SECONDS BUDGET: both numbers, with a mark if the first is larger.
beside() {
    if [ "$1" -gt "$2" ]; then echo "$1 s of $2 s, OVER BUDGET"; else echo "$1 s of $2 s"; fi
}

# say: prints what has ended and was not reported yet. One process says everything, so that lines stay whole.
say() {
    for ended in "$work"/*.ended; do
        [ -e "$ended" ] || continue
        stage=$(basename "$ended" .ended)
        read -r seconds budget status processor <"$ended"
        rm "$ended"
        cat "$work/$stage.log"
        rm "$work/$stage.log"
        quiet=0
        if [ "$status" -ne 0 ]; then
            echo "== $stage FAILED after $seconds s"
            failed="$failed $stage"
            continue
        fi
        took="$stage $(beside "$seconds" "$budget"), $processor CPU-s"
        echo "== $took"
        summary="$summary==     $took
"
        [ "$seconds" -le "$budget" ] || over=$((over + 1))
    done
}

# progress: the last line of what each stage that runs has said, once a minute where no stage ends.
progress() {
    quiet=$((quiet + 1))
    [ $((quiet % 60)) -eq 0 ] || return 0
    for log in "$work"/*.log; do
        [ -e "$log" ] || continue
        echo "== after $(($(date +%s) - begun)) s, $(basename "$log" .log): $(tail -n 1 "$log" | cut -c 1-100)"
    done
}

failed=
summary=
over=0
quiet=0
begun=$(date +%s)
echo "$lane_1" | lane &
first=$!
echo "$lane_2" | lane &
second=$!
while kill -0 $first 2>/dev/null || kill -0 $second 2>/dev/null; do
    sleep 1
    say
    progress
done
say
seconds=$(($(date +%s) - begun))
if [ -n "$failed" ]; then
    echo "== $command: FAILED after $seconds s:$failed"
    exit 1
fi
echo "== $command: all stages passed, in $seconds s"
printf '%s' "$summary"
[ $over -eq 0 ] || echo "== $command: $over of them took longer than their budgets in tests/stages.sh"
