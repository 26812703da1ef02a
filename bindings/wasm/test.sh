#!/bin/sh
# test.sh: the package in Node.js and in Chromium, over the modules that build.sh made.
set -eu
cd "$(dirname "$0")"
# What the tests need comes by the lock file alone.
npm ci --silent --no-audit --no-fund
npx tsc --project test/tsconfig.json
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
node --expose-gc --test test/*.test.mjs >"$log" 2>&1 || status=$?
# What failed is shown, and then how many there were.
[ "$status" = 0 ] || cat "$log"
passed=$(sed -n 's/^# pass //p' "$log")
failed=$(sed -n 's/^# fail //p' "$log")
[ -n "$passed" ] || cat "$log"
echo "${passed:-0} passed, ${failed:-1} failed"
exit "$status"
