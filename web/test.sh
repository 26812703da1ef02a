#!/bin/sh
# test.sh PAGE PETAL [PICTURES]: the built page in a headless Chromium, beside the command petal. PICTURES is a folder
# for pictures of the page in both themes and two widths.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
PAGE=$1 PETAL=$2 PICTURES=${3-}
export PAGE PETAL PICTURES
(cd "$here/../bindings/wasm" && { [ -d node_modules/playwright-core ] || npm ci --silent --no-audit --no-fund; })
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
node --test "$here"/test/*.test.mjs >"$log" 2>&1 || status=$?
# What failed is shown, and then how many there were.
[ "$status" = 0 ] || cat "$log"
passed=$(sed -n 's/^# pass //p' "$log")
failed=$(sed -n 's/^# fail //p' "$log")
[ -n "$passed" ] || cat "$log"
echo "${passed:-0} passed, ${failed:-1} failed"
exit "$status"
