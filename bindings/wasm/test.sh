#!/bin/sh
# test.sh [short TARGET]: the package in Node.js and in Chromium, over the modules that build.sh made. Without Chromium
# its test is skipped, and a line says so.
#
# `test.sh short` compiles two of the four modules below TARGET and tests them in Node.js. That takes no npm, no network
# and no Chromium: the declarations, the packed package and the browser are left out. Without Node.js or without Rust's
# library for WebAssembly it says so and does nothing.
set -eu
cd "$(dirname "$0")"
triple=wasm32-unknown-unknown

not_run() {
    echo "wasm: not run: $1"
    exit 0
}

has_library() {
    [ -d "$(rustc --print target-libdir --target $triple)" ]
}

if [ "${1-}" = short ]; then
    version=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)
    [ "$version" -ge 20 ] || not_run "there is no Node.js 20 or newer"
    has_library || { command -v rustup && rustup target add $triple; } >/dev/null 2>&1 || true
    has_library || not_run "rustc has no $triple, and rustup cannot get it"
    # One module of each build, and one of each set of instructions.
    for module in petal-simd reader; do
        ./build.sh "$2" $module
    done
    export PETAL_MODULES="petal-simd.wasm reader.wasm"
    tests="test/build.test.mjs test/golden.test.mjs test/petal.test.mjs test/reader.test.mjs"
    echo "wasm: not run: types.ts and package.test.mjs, which \`make test-wasm\` runs"
else
    # What the tests need comes by the lock file alone.
    npm ci --silent --no-audit --no-fund
    npx tsc --project test/tsconfig.json
    tests=$(echo test/*.test.mjs)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
# shellcheck disable=SC2086 # a list of files
node --expose-gc --test --test-reporter=tap $tests >"$log" 2>&1 || status=$?
# What failed is shown, and then how many there were.
[ "$status" = 0 ] || cat "$log"
passed=$(sed -n 's/^# pass //p' "$log")
failed=$(sed -n 's/^# fail //p' "$log")
skipped=$(sed -n 's/^# skipped //p' "$log")
[ -n "$passed" ] || cat "$log"
if [ "${skipped:-0}" != 0 ]; then
    sed -n 's/^ *ok [0-9]* - \(.*\) # SKIP \(.*\)/wasm: skipped: \1: \2/p' "$log" | sort -u
fi
echo "${passed:-0} passed, ${failed:-1} failed"
exit "$status"
