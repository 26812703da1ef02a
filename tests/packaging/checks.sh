# checks.sh: what the scripts of this folder share; they read it with `.` when they have set $root and $log. $of is
# printed before each check's name.
passed=0
failed=0
of=

# check NAME COMMAND...: counts the command, and shows what it said if it failed.
check() {
    name=$1
    shift
    if "$@" >"$log" 2>&1; then
        passed=$((passed + 1))
        echo "ok: $of$name"
    else
        failed=$((failed + 1))
        echo "FAILED: $of$name"
        sed 's/^/    /' "$log"
    fi
}

finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
    exit
}

# Nothing can be checked without these: they end the run when they fail.
must() {
    before=$failed
    check "$@"
    [ "$failed" = "$before" ] || finish
}

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
number=$(echo "$version" | awk -F '[.-]' '{ print $1 * 10000 + $2 * 100 + $3 }')
