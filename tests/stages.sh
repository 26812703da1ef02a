#!/bin/sh
# stages.sh: what `make test` runs, one target of the Makefile after another, until one fails. Says of each how long it
# took beside its budget, and sums up. A stage over its budget has not failed: find out why, and mend it or raise the
# budget, but the sum stays below 40 minutes, with that of tests/interop/run.sh.
set -eu
cd "$(dirname "$0")/.."

# Stages and their budgets in seconds, on two cores where nothing was compiled before.
stages="test-lint 120
test-rust 480
test-neon 240
test-c 240
test-sanitizers 180
test-fuzz 180
test-package 240
test-go 240"

# beside SECONDS BUDGET: one beside the other, with a mark where it is more.
beside() {
    if [ "$1" -gt "$2" ]; then echo "$1 s of $2 s, OVER BUDGET"; else echo "$1 s of $2 s"; fi
}

summary=
all_seconds=0
all_budgets=0
over=0
while read -r stage budget; do
    start=$(date +%s)
    # What runs must not read the list of stages.
    ${MAKE:-make} --no-print-directory "$stage" </dev/null
    seconds=$(($(date +%s) - start))
    echo "== $stage $(beside $seconds "$budget")"
    summary="$summary==     $stage $(beside $seconds "$budget")
"
    all_seconds=$((all_seconds + seconds))
    all_budgets=$((all_budgets + budget))
    [ $seconds -le "$budget" ] || over=$((over + 1))
done <<END
$stages
END
echo "== make test: all stages passed, in $(beside $all_seconds $all_budgets)"
printf '%s' "$summary"
[ $over -eq 0 ] || echo "== make test: $over of them took longer than their budgets in tests/stages.sh"
