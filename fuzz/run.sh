#!/bin/sh
# run.sh replay: runs every target over the committed corpus, the same inputs on every machine, and makes sure that a
# planted bug is found (planted.sh). This is what `make test` does.
#
# run.sh explore [SECONDS]: looks for what is not known yet, for SECONDS (60) on each target, from a seed that the clock
# gives; even from one seed libFuzzer finds other inputs on other machines. What takes a new path is added to
# fuzz/corpus/TARGET.tar, and so is what made a target fail, as found-*: commit both.
#
# corpus.sh says what the committed corpus of a target is.
#
# Stable Rust and a C++ compiler are all it takes: the compiler's own coverage pass, and libFuzzer, which the crate
# libfuzzer-sys compiles. `BINARY FILE` repeats one input.
set -eu
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$(dirname "$0")/../target}
mkdir -p "$CARGO_TARGET_DIR"
CARGO_TARGET_DIR=$(cd "$CARGO_TARGET_DIR" && pwd)
export CARGO_TARGET_DIR
cd "$(dirname "$0")"
work=$CARGO_TARGET_DIR/fuzz
# What libFuzzer takes for a hang, in seconds: long enough that no load looks like one.
hang=300

# run_target TARGET ARGUMENTS...: runs one target with a line of progress now and then.
run_target() {
    target=$1
    shift
    log=$work/$target.log
    "$work/bin/$target" "$@" -timeout=$hang -rss_limit_mb=4096 -close_fd_mask=1 \
        -artifact_prefix="$work/found/$target/found-" >"$log" 2>&1 &
    pid=$!
    waited=0
    while kill -0 $pid 2>/dev/null; do
        sleep 1
        waited=$((waited + 1))
        [ $((waited % 15)) -ne 0 ] || echo "$target: $(grep '^#[0-9]' "$log" | tail -n 1 | cut -c 1-70)"
    done
    if wait $pid; then
        echo "$target: passed, $(grep '^#[0-9]' "$log" | tail -n 1 | cut -c 1-70)"
    else
        grep -v '^#[0-9]' "$log" | tail -n 60
        echo "$target: FAILED; the whole log is $log"
        return 1
    fi
}

# Stops at the first input that fails.
replay_target() {
    log=$work/$1.log
    if "$work/bin/$1" -timeout=$hang -rss_limit_mb=4096 "$work/corpus/$1"/* >"$log" 2>&1; then
        echo "$1: passed, $(grep -c '^Executed' "$log") committed inputs"
    else
        tail -n 60 "$log"
        echo "$1: FAILED at $(grep '^Running' "$log" | tail -n 1 | cut -d ' ' -f 2); the whole log is $log"
        return 1
    fi
}

explore_target() {
    rm -rf "$work/new/$1"
    mkdir -p "$work/new/$1"
    corpus=$work/corpus/$1
    status=0
    run_target "$1" -max_total_time="$2" "$work/new/$1" "$corpus" || status=1
    # Keeps only those new inputs that cover something new.
    ls "$corpus" >"$work/$1.before"
    "$work/bin/$1" -merge=1 -timeout=$hang -close_fd_mask=1 "$corpus" "$work/new/$1" >>"$work/$1.log" 2>&1 || status=1
    for failing in "$work/found/$1"/found-*; do
        [ ! -e "$failing" ] || cp "$failing" "$corpus/"
    done
    added=$(ls "$corpus" | comm -13 "$work/$1.before" -)
    # shellcheck disable=SC2086 # Names without spaces.
    [ -z "$added" ] || (here=$PWD && cd "$corpus" && "$here/corpus.sh" add "$1" $added)
    echo "$1: $(echo "$added" | grep -c .) inputs added to fuzz/corpus/$1.tar"
    return $status
}

case ${1-} in
--replay)
    replay_target "$2"
    exit
    ;;
--explore)
    explore_target "$2" "$3"
    exit
    ;;
replay | explore) ;;
*)
    echo "usage: run.sh replay | run.sh explore [SECONDS]" >&2
    exit 2
    ;;
esac

targets=$(cd targets && ls | sed -n 's/\.rs$//p')
echo "fuzz: building (some minutes the first time)"
profile=release
[ "$1" = explore ] || profile=replay
# shellcheck disable=SC2086 # Names without spaces.
./build.sh $profile "$work/bin" $targets
[ "$1" = explore ] || ./planted.sh build

rm -rf "$work"/*.passed "$work/found"
{
    for target in $targets; do
        mkdir -p "$work/found/$target"
        ./corpus.sh unpack "$target" "$work/corpus/$target" >&2
        echo "./run.sh --$1 $target ${2:-60} && touch '$work/$target.passed'"
    done
    [ "$1" = explore ] || echo "./planted.sh run && touch '$work/planted.passed'"
} >"$work/tasks"
all=$(wc -l <"$work/tasks")
tr '\n' '\0' <"$work/tasks" | xargs -0 -n 1 -P "$(getconf _NPROCESSORS_ONLN)" sh -c || true

passed=$(find "$work" -maxdepth 1 -name '*.passed' | wc -l)
echo "$passed passed, $((all - passed)) failed"
[ "$passed" -eq "$all" ]
