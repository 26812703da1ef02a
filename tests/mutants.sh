#!/bin/sh
# mutants.sh [SHARD/SHARDS] [--since COMMIT] [FILE...]: changes the core's code, one small change at a time, and looks
# whether the tests notice. Without files it takes all of src/; with --since it takes those that came after a commit, so
# that `mutants.sh 0/16 --since COMMIT` is a sixteenth of what new kinds have. A shard is a part of the mutants, such as
# 0/64; the parts together are all.
#
# cargo-mutants lists the changes. tests/mutants plants all of them in a copy of the core, each behind a question, so
# that one compilation has them; then each meets the tests that reach it, those of its own kind first, until one fails.
# JOBS=2 tries two at once. TESTS="plan wire" leaves only these groups of the tests that come last. What survives is
# compared with tests/mutants-allowed.txt, which says of each known survivor why it cannot matter. What stands in
# constants and what returns another hidden type cannot be chosen later: the end names how many there are, and
# target/mutation/left_out lists them.
# Needs cargo-mutants (cargo install cargo-mutants).
set -eu
cd "$(dirname "$0")/.."
command -v cargo-mutants >/dev/null || {
    echo "mutants.sh needs cargo-mutants: cargo install --locked cargo-mutants" >&2
    exit 1
}
shard=0/1
case ${1-} in
[0-9]*/[0-9]*)
    shard=$1
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
mkdir -p "$work/tree"

# shellcheck disable=SC2086 # A list of words.
cargo mutants -p petal --no-shuffle --list --json --shard "$shard" $files >"$work/list.json"
git ls-files --cached --others --exclude-standard | while IFS= read -r file; do
    if [ -f "$file" ]; then echo "$file"; fi
done >"$work/files"
cargo run --locked --quiet -p petal-mutants -- "$work"
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
