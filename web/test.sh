#!/bin/sh
# test.sh PAGE PETAL [PICTURES]: the built page in a headless Chromium, compared with the command petal. PICTURES is a
# folder for pictures of the page in both themes and two widths.
#
# What is copied from the page is compiled and run, against libpetal.so next to the command. REDIS_MODULE=FILE also runs
# the lines for Redis, in a server with that module.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
PAGE=$1 PETAL=$2 PICTURES=${3-}
LIBRARY=$(dirname "$PETAL")
RUST_TARGET=$(dirname "$LIBRARY")/page
export PAGE PETAL PICTURES LIBRARY RUST_TARGET
(cd "$here/../bindings/wasm" && { [ -d node_modules/playwright-core ] || npm ci --silent --no-audit --no-fund; })
# The folder is named after the profile, but for that of `dev`.
profile=$(basename "$LIBRARY")
[ "$profile" != debug ] || profile=dev
[ -e "$LIBRARY/libpetal.so" ] || (cd "$here/.." && cargo build --quiet --locked --profile "$profile" \
    --target-dir "$(dirname "$LIBRARY")" -p petal-capi)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
node --test --test-reporter=tap "$here"/test/*.test.mjs >"$log" 2>&1 || status=$?
# What failed is shown, and then how many there were.
[ "$status" = 0 ] || cat "$log"
passed=$(sed -n 's/^# pass //p' "$log")
failed=$(sed -n 's/^# fail //p' "$log")
[ -n "$passed" ] || cat "$log"
sed -n 's/^ *ok [0-9]* - \(.*\) # SKIP \(.*\)/web: skipped: \1: \2/p' "$log" | sort -u
echo "${passed:-0} passed, ${failed:-1} failed"
exit "$status"
