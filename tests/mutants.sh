#!/bin/sh
# mutants.sh [SHARD/SHARDS] [--since COMMIT] [FILE...]: changes the core's code, one small change at a time, and looks
# whether the tests notice. Without files it takes all of src/; with --since it takes those that came after a commit, so
# that `mutants.sh 0/16 --since COMMIT` is a sixteenth of what new kinds have. A shard is a part of the mutants, such as
# 0/64; the parts together are all.
#
# First each change meets the quick tests of the core; those that survive meet all of its tests, the slow ones included.
# What survives both is compared with tests/mutants-allowed.txt, which says of each known survivor why it cannot matter.
# Needs cargo-mutants (cargo install cargo-mutants).
set -eu
cd "$(dirname "$0")/.."
command -v cargo-mutants >/dev/null || {
    echo "mutants.sh needs cargo-mutants: cargo install --locked cargo-mutants" >&2
    exit 1
}
shard=
case ${1-} in
[0-9]*/[0-9]*)
    shard="--shard $1"
    shift
    ;;
esac
files=
if [ "${1-}" = --since ]; then
    came=$(git diff --name-only --diff-filter=A "$2" -- 'src/*.rs')
    [ -n "$came" ] || {
        echo "mutants: no file of src/ came after $2"
        exit 0
    }
    shift 2
    # shellcheck disable=SC2086 # Names without spaces.
    set -- $came "$@"
fi
for file in "$@"; do files="$files -f $file"; done
work=${CARGO_TARGET_DIR:-target}/mutation
rm -rf "$work"
mkdir -p "$work"

# survivors FOLDER: what was missed or ran out of time, one a line.
survivors() {
    cat "$1/mutants.out/missed.txt" "$1/mutants.out/timeout.txt"
}

# Exit status 2 says that there are survivors, 3 that some timed out: both are looked at below.
# shellcheck disable=SC2086 # Lists of words.
cargo mutants -p petal --no-shuffle $shard $files -o "$work/quick" || [ $? -ge 2 ]
survivors "$work/quick" >"$work/survivors"
if [ -s "$work/survivors" ]; then
    echo "mutants: $(wc -l <"$work/survivors") survived the quick tests; the slow ones now"
    set --
    while IFS= read -r name; do
        set -- "$@" --re "^$(printf '%s' "$name" | sed 's/[^a-zA-Z0-9_ /:<>]/\\&/g')\$"
    done <"$work/survivors"
    # shellcheck disable=SC2086 # A list of words.
    cargo mutants -p petal --no-shuffle --no-config --profile mutants $files "$@" -o "$work/slow" \
        -- --package petal || [ $? -ge 2 ]
    survivors "$work/slow" >"$work/survivors"
fi
# Lines move; what was changed in which function does not.
sed -E 's/:[0-9]+:[0-9]+:/:/' "$work/survivors" | sort -u >"$work/names"
sed -nE 's/^([^#].*) # .*/\1/p' tests/mutants-allowed.txt | sort -u >"$work/allowed"
unknown=$(comm -23 "$work/names" "$work/allowed")
if [ -n "$unknown" ]; then
    echo "mutants: these survived, and tests/mutants-allowed.txt does not say why they may:"
    echo "$unknown"
    exit 1
fi
echo "mutants: every survivor is known"
