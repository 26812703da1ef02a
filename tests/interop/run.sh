#!/bin/sh
# run.sh CARGO_TARGET_DIRECTORY [NAME]...: asks the owners of other formats and interfaces whether Petal keeps to them.
#
# Each folder here that has a run.sh is one owner; those whose NAMEs are given, or all, are run with the directory as
# their argument. A run.sh prints one line a check and at the end "N passed, M failed". Where its owner is not installed
# and cannot be had it says what is missing and ends with status 77: that is said here again, and is no failure.
# `make test-interop` installs the owners first where it may (cmake/requirements.sh).
set -u
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
target=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- $(cd "$here" && ls -d */ | tr -d /)

failed=
skipped=
for name in "$@"; do
    [ -x "$here/$name/run.sh" ] || continue
    echo "-- interop: $name"
    "$here/$name/run.sh" "$target"
    case $? in
    0) ;;
    77) skipped="$skipped $name" ;;
    *) failed="$failed $name" ;;
    esac
done
[ -z "$skipped" ] || echo "== test-interop: SKIPPED, because what they ask, or some of it, cannot be had:$skipped"
[ -z "$failed" ] || echo "== test-interop: FAILED:$failed"
[ -z "$failed" ]
