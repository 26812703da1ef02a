# What the run.sh of the folders here share: `. ../lib.sh`.

passed=0
failed=0

# skip WHAT: ends the test, because WHAT is not here.
skip() {
    echo "SKIPPED: $*"
    exit 77
}

# needs COMMAND...: ends the test where one of the commands is not here.
needs() {
    for command in "$@"; do
        command -v "$command" >/dev/null || skip "there is no $command"
    done
}

# check NAME COMMAND...: counts the command, and shows what it said if it failed. Needs $work, a folder.
check() {
    name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
        echo "ok: $name"
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
        tail -n 50 "$work/log" | sed 's/^/    /'
    fi
}

# finish: the last line, and whether all is well.
finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
    exit
}
