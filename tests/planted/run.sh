#!/bin/sh
# run.sh [WORD...]: plants the faults of faults.txt in a copy of the tree, all of them or those with one of these words
# in their names, and checks whether the tests that name no kind (conformance, facets, ageing, growing, maps, sweep)
# find each.
#
# Every fault stands behind a question, so the copy is compiled once; PETAL_PLANTED says which fault a process has. The
# groups of tests run one after the other, and the first group that finds the fault ends the search.
# Without one all of these tests must pass, and with each at least one must fail.
set -eu
cd "$(dirname "$0")/../.."
work=${CARGO_TARGET_DIR:-target}/planted
tests="conformance:: facets:: ageing:: maps:: map_changes:: sweep:: shared:: estimate:: growing::"
# A fault may make a loop endless.
seconds=600

rm -rf "$work/tree"
mkdir -p "$work/tree"
work=$(cd "$work" && pwd)
git ls-files --cached --others --exclude-standard | while IFS= read -r file; do
    if [ -f "$file" ]; then echo "$file"; fi
done >"$work/files"
tar -cf - -T "$work/files" | tar -xf - -C "$work/tree"
faults=$PWD/tests/planted/faults.txt
cd "$work/tree"

# Puts each fault where its text is, and writes the names of all into a file.
awk -v names="$work/names" '
    BEGIN { RS = ""; FS = "\n" }
    $1 ~ /^#/ { next }
    {
        number++
        file = $2
        text = $3
        fault = $4
        for (i = 5; i <= NF; i++) fault = fault "\n" $i
        all = ""
        RS = "\n"
        while ((getline line <file) > 0) all = all line "\n"
        close(file)
        RS = ""
        place = index(all, text)
        if (place == 0 || index(substr(all, place + 1), text) > 0) {
            print "planted: the text of \"" $1 "\" is not in " file " exactly once" >"/dev/stderr"
            failed = 1
            next
        }
        question = "(if crate::planted(" number ") { " fault " } else { " text " })"
        all = substr(all, 1, place - 1) question substr(all, place + length(text))
        printf "%s", all >file
        close(file)
        print number, $1 >names
    }
    END { exit failed }
' "$faults"
cat >>src/lib.rs <<'END'

/// Whether this process has the fault with this number.
fn planted(fault: u32) -> bool {
    static FAULT: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    let read = || std::env::var("PETAL_PLANTED").ok().and_then(|fault| fault.parse().ok());
    *FAULT.get_or_init(|| read().unwrap_or(0)) == fault
}
END
# What stands behind a question stands in brackets that it might not need.
export CARGO_TARGET_DIR="$work/target" RUSTFLAGS="-A warnings"
cargo test --locked --quiet -p petal-suite --test suite --profile quick --no-run
program=$(cargo test --locked -p petal-suite --test suite --profile quick --no-run 2>&1 | sed -n 's/.*(\(.*\))$/\1/p')

# try NUMBER: runs one group of tests after the other with a fault, up to the first group that finds the fault.
try() {
    for group in $tests; do
        PETAL_PLANTED=$1 timeout $seconds "$program" "$group" --include-ignored >"$work/$1.log" 2>&1 || return
    done
}

if ! try 0; then
    cat "$work/0.log"
    echo "planted: the tests fail without a fault" >&2
    exit 1
fi
planted=0
found=0
while read -r number name; do
    wanted=$([ $# -gt 0 ] || echo yes)
    for word in "$@"; do
        case $name in *"$word"*) wanted=yes ;; esac
    done
    [ -n "$wanted" ] || continue
    planted=$((planted + 1))
    outcome=0
    try "$number" || outcome=$?
    if [ $outcome -eq 0 ]; then
        echo "NOT FOUND  $name"
        continue
    fi
    found=$((found + 1))
    finders=$(sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$work/$number.log" | tr '\n' ' ')
    if [ $outcome -eq 124 ]; then finders="does not end, $finders"; fi
    echo "found      $name: $finders"
done <"$work/names"
echo "$planted planted, $found found"
[ $planted -eq $found ]
