#!/bin/sh
# run.sh BUILD [WORD]...: tests the module that `make redis` built there on real servers, which run in folders of their
# own: through Unix sockets, but for replicas, which take whatever port is free. With WORDs only checks that have one of
# them in their names. Prints one line a check, and at the end "N passed, M failed".
#
# With --bench the figures of docs/redis.md instead, as the rows of its tables.
#
# With the Python package `redis` (redis-py) from where pip finds it, its bf() is asked as well.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for command in redis-server python3; do
    command -v "$command" >/dev/null || { echo "SKIPPED: there is no $command"; exit 77; }
done
python=python3
if ! python3 -c "import redis" 2>/dev/null; then
    if python3 -m venv "$work/venv" >/dev/null 2>&1 &&
        "$work/venv/bin/pip" install -q --disable-pip-version-check "redis>=5,<9" >/dev/null 2>&1; then
        python=$work/venv/bin/python
    else
        echo "SKIPPED: redis-py's bf(), because pip does not find the package redis"
    fi
fi
# What is tested is what is installed.
cmake --install "$build" --component redis --prefix "$work/prefix" >/dev/null || exit
suite=$here/suite
[ "${1:-}" = --bench ] && suite=$here/suite/bench.py
PYTHONDONTWRITEBYTECODE=1 "$python" "$suite" "$work/prefix" "$work" "$@"
