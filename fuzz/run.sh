#!/bin/sh
# run.sh [SECONDS]: builds the fuzz targets and runs each for so long (60), as many at once as there are processors;
# then makes sure that a planted bug is found (planted.sh). Names what it found, and fails if it found anything.
#
# Stable Rust and a C++ compiler are all it takes: the compiler's own coverage pass, and libFuzzer, which the crate
# libfuzzer-sys compiles. Targets start from the committed corpus. What they discover stays in the target folder and
# serves the next run; what makes one fail is left there too, and `BINARY FILE` repeats it.
set -eu
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$(dirname "$0")/../target}
mkdir -p "$CARGO_TARGET_DIR"
CARGO_TARGET_DIR=$(cd "$CARGO_TARGET_DIR" && pwd)
export CARGO_TARGET_DIR
cd "$(dirname "$0")"
work=$CARGO_TARGET_DIR/fuzz

# run.sh --target SECONDS TARGET: one target, with a line of progress now and then.
run_target() {
    mkdir -p "$work/corpus/$2"
    log=$work/$2.log
    echo "$2: running for $1 s from $(find "corpus/$2" -type f | wc -l) seeds"
    "$work/bin/$2" -max_total_time="$1" -timeout=10 -rss_limit_mb=2048 -close_fd_mask=1 -artifact_prefix="$work/$2-" \
        "$work/corpus/$2" "corpus/$2" >"$log" 2>&1 &
    pid=$!
    waited=0
    while kill -0 $pid 2>/dev/null; do
        sleep 1
        waited=$((waited + 1))
        [ $((waited % 15)) -ne 0 ] || echo "$2: $(grep '^#[0-9]' "$log" | tail -n 1 | cut -c 1-70)"
    done
    if wait $pid; then
        echo "$2: passed, $(grep '^#[0-9]' "$log" | tail -n 1 | cut -c 1-70)"
    else
        grep -v '^#[0-9]' "$log" | tail -n 60
        echo "$2: FAILED; the whole log is $log"
        return 1
    fi
}

if [ "${1-}" = --target ]; then
    run_target "$2" "$3"
    exit
fi

seconds=${1:-60}
targets=$(ls corpus)
echo "fuzz: building (some minutes the first time)"
# shellcheck disable=SC2086 # Names without spaces.
./build.sh "$work/bin" $targets
./planted.sh build

rm -f "$work"/*.passed
{
    for target in $targets; do
        echo "./run.sh --target $seconds $target && touch '$work/$target.passed'"
    done
    echo "./planted.sh run && touch '$work/planted.passed'"
} | tr '\n' '\0' | xargs -0 -n 1 -P "$(getconf _NPROCESSORS_ONLN)" sh -c || true

all=$(($(echo "$targets" | wc -w) + 1))
passed=$(find "$work" -maxdepth 1 -name '*.passed' | wc -l)
echo "$passed passed, $((all - passed)) failed"
[ "$passed" -eq "$all" ]
