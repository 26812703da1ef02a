#!/bin/sh
# planted.sh build | run, which run.sh calls: does the decoder target find a bug? In a copy of the sources the check
# that a payload is as long as its bits need is taken out; then one of the committed inputs must make the target fail.
set -eu
cd "$(dirname "$0")"
work=$CARGO_TARGET_DIR/fuzz

case ${1-} in
build)
    echo "planted: building with the check of the payload's length taken out"
    copy=$(mktemp -d)
    trap 'rm -rf "$copy"' EXIT
    # Links to everything but what changes.
    for entry in ../*; do
        ln -s "$(cd .. && pwd)/$(basename "$entry")" "$copy"
    done
    rm "$copy/src" "$copy/fuzz"
    cp -R ../src "$copy/src"
    mkdir "$copy/fuzz"
    cp -R Cargo.toml Cargo.lock build.sh src targets "$copy/fuzz"
    check='Geometry::of_bits(self.bits, self.hashes, self.words).is_ok_and(|expected| expected == \*self)'
    if [ "$(grep -c "^ *$check\$" "$copy/src/format/header.rs")" -ne 1 ]; then
        echo "planted: the check is no longer where this script looks for it, in src/format/header.rs" >&2
        exit 1
    fi
    sed -i "s/^ *$check\$/true/" "$copy/src/format/header.rs"
    "$copy/fuzz/build.sh" replay "$work/planted" decoder
    ;;
run)
    log=$work/planted.log
    if "$work/planted/decoder" -timeout=300 -artifact_prefix="$work/planted-" \
        "$work/corpus/decoder"/* >"$log" 2>&1; then
        echo "planted: FAILED, no committed input finds the bug"
        exit 1
    fi
    if ! grep -q 'panicked at\|deadly signal' "$log"; then
        tail -n 20 "$log"
        echo "planted: FAILED for another reason"
        exit 1
    fi
    echo "planted: passed, the bug was found: $(grep -A 1 'panicked at' "$log" | tail -n 1)"
    ;;
*)
    echo "usage: planted.sh build | run" >&2
    exit 2
    ;;
esac
