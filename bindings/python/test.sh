#!/bin/sh
# test.sh BUILD_DIRECTORY WORK_DIRECTORY: tests the Python package, which build.sh makes in WORK_DIRECTORY. PYTHON names
# another Python.
#
# The package is tested twice: with pytest alone, and with NumPy, pyarrow, Polars, pandas and DuckDB. Without Python
# 3.11, its headers or pip's packages the script says so, and what it leaves out.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
work=$2
python=${PYTHON-python3}

not_run() {
    echo "python: not run: $1"
    exit 0
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    not_run "there is no Python 3.11 or newer"
headers=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
[ -e "$headers/Python.h" ] || not_run "$python has no Python.h"
mkdir -p "$work"
work=$(cd "$work" && pwd)
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
passed=0
failed=0

# tested NAME PYTHON ARGUMENT...: runs pytest, shows what fails and what is left out, and counts.
tested() {
    name=$1
    with=$2
    shift 2
    echo "-- $name"
    status=0
    begun=$(date +%s)
    "$with" -m pytest -q -rs -p no:cacheprovider "$@" >"$work/pytest.log" 2>&1 || status=$?
    echo "   $(($(date +%s) - begun)) s"
    now=$(sed -n 's/^.*\b\([0-9][0-9]*\) passed.*$/\1/p' "$work/pytest.log" | tail -n 1)
    bad=$(sed -n 's/^.*\b\([0-9][0-9]*\) failed.*$/\1/p' "$work/pytest.log" | tail -n 1)
    [ "$status" = 0 ] || [ -n "$bad" ] || bad=1
    if [ "$status" = 0 ]; then grep '^SKIPPED' "$work/pytest.log" || true; else cat "$work/pytest.log"; fi
    passed=$((passed + ${now:-0}))
    failed=$((failed + ${bad:-0}))
}

# environment NAME PACKAGE...: an environment with these packages, made anew unless it has them.
environment() {
    place=$work/$1
    shift
    if [ ! -x "$place/bin/python" ] || [ "$(cat "$place/packages" 2>/dev/null)" != "$*" ]; then
        rm -rf "$place"
        "$python" -m venv "$place" >"$work/pip.log" 2>&1 || return 1
        "$place/bin/python" -m pip install -q "$@" >>"$work/pip.log" 2>&1 || return 1
        echo "$*" >"$place/packages"
    fi
}

environment alone pytest || not_run "pip cannot get pytest: $(tail -n 1 "$work/pip.log")"
if ! PYTHON=$python CFLAGS=-Werror "$here/build.sh" "$build" "$work"; then
    echo "0 passed, 1 failed"
    exit 1
fi
export PETAL_COMMAND="$work/prefix/bin/petal" PYTHONPATH="$work"
tested "with pytest alone" "$work/alone/bin/python" "$here/tests"
if environment libraries pytest numpy pyarrow polars pandas duckdb mypy; then
    tested "with NumPy, pyarrow, Polars, pandas, DuckDB and mypy" "$work/libraries/bin/python" "$here/tests"
else
    echo "python: not run: with libraries, which pip cannot get: $(tail -n 1 "$work/pip.log")"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
