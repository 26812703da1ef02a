#!/bin/sh
# run.sh BUILD WORK [--soak] [WORD]... | --bench [ROWS]: tests the extension for PostgreSQL, over the library that
# `make` built in BUILD. WORK keeps what was compiled. Ends with the line "N passed, M failed".
#
# The server is a copy of this system's, in a folder of its own with its own data, which answers on a socket there and
# nowhere else. Nothing is installed into the system, and at the end nothing is left. PG_CONFIG names another
# PostgreSQL.
#
# pg_regress compares what the files of tests/sql print with tests/expected, and the checks of tests/suite follow. With
# WORDs only checks that have one of these words in their names, and with --soak longer ones. With --bench the figures
# of bench/bench.sh instead.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=$1
mkdir -p "$2"
work=$(cd "$2" && pwd)
shift 2
pg_config=${PG_CONFIG-pg_config}
# What a make above says is not for the extension's makefile.
unset MAKEFLAGS MFLAGS MAKELEVEL

not_run() {
    echo "postgresql: not run: $1"
    exit 0
}

# Whether the server and what extensions are compiled with are here.
look_around() {
    command -v "$pg_config" >/dev/null || not_run "there is no $pg_config"
    programs=$("$pg_config" --bindir)
    libraries=$("$pg_config" --pkglibdir)
    shared=$("$pg_config" --sharedir)
    [ -x "$programs/postgres" ] || not_run "there is no $programs/postgres"
    [ -e "$("$pg_config" --pgxs)" ] || not_run "PostgreSQL's files for extensions are not installed"
    for command in python3 pkg-config make cc; do
        command -v "$command" >/dev/null || not_run "there is no $command"
    done
}

# as_server COMMAND...: as the user of the server, who is never root.
as_server() {
    if [ -n "$user" ]; then runuser -u "$user" -- "$@"; else "$@"; fi
}

choose_user() {
    user=
    [ "$(id -u)" = 0 ] || return 0
    command -v runuser >/dev/null || not_run "the server does not run as root, and there is no runuser"
    user=nobody
    if id postgres >/dev/null 2>&1; then user=postgres; fi
}

# At every end. Where a step before the tests has failed, its log is all there is to show.
clean() {
    status=$?
    [ -z "$step" ] || { cat "$work/$step.log"; echo "0 passed, 1 failed"; }
    if [ -e "$home/data/postmaster.pid" ]; then
        (cd "$home" && as_server "$server/pg_ctl" -D "$home/data" -m immediate stop) >/dev/null 2>&1 || true
    fi
    rm -rf "$home"
    exit $status
}

# The extension, compiled in a copy of its sources, so that no objects lie in the tree.
compile() {
    rm -rf "$work/prefix" "$work/extension"
    step=install
    cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" 2>&1
    mkdir "$work/extension"
    cp -R "$here/Makefile" "$here/exports.map" "$here/src" "$here/tests" "$work/extension"
    cp "$here"/*.control "$here"/*.sql "$work/extension"
    # What somebody compiled there may be older than the sources.
    find "$work/extension" \( -name '*.o' -o -name '*.bc' \) -delete
    PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name petal-static.pc)")
    export PKG_CONFIG_PATH
    step='make'
    make -C "$work/extension" -j 2 PG_CONFIG="$pg_config" COPT=-Werror >"$work/make.log" 2>&1
}

# PostgreSQL finds its other files from where its programs are, so that these folders keep their places.
copy_server() {
    server=$home/pg$programs
    mkdir -p "$server" "$home/pg$libraries" "$home/pg$shared"
    cp -p "$programs/postgres" "$programs/initdb" "$programs/pg_ctl" "$server"
    cp -R "$libraries/." "$home/pg$libraries"
    cp -R "$shared/." "$home/pg$shared"
    step=make-install
    make -C "$work/extension" install PG_CONFIG="$pg_config" DESTDIR="$home/pg" >"$work/make-install.log" 2>&1
}

start_server() {
    mkdir "$home/data" "$home/socket" "$home/files"
    chmod 755 "$home"
    [ -z "$user" ] || chown "$user" "$home/data" "$home/socket" "$home/files"
    cd "$home"
    step=initdb
    as_server "$server/initdb" -D "$home/data" -U postgres -A trust --encoding=UTF8 --locale=C --no-sync \
        >"$work/initdb.log" 2>&1
    cat >>"$home/data/postgresql.conf" <<SETTINGS
listen_addresses = ''
unix_socket_directories = '$home/socket'
unix_socket_permissions = 0700
fsync = off
jit = off
wal_level = logical
max_wal_size = 4GB
autovacuum = off
SETTINGS
    step=start
    as_server "$server/pg_ctl" -D "$home/data" -l "$home/socket/log" -w start >"$work/start.log" 2>&1
    step=
    export PGHOST="$home/socket" PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
}

# The files of tests/sql, whose answers are in tests/expected.
regress() {
    status=0
    make -C "$work/extension" installcheck PG_CONFIG="$pg_config" >"$work/installcheck.log" 2>&1 || status=$?
    names=$(sed -n 's/^REGRESS = //p' "$here/Makefile")
    for name in $names; do
        if grep -Eq "^(test|ok [0-9]+ +-) $name .*ok|^ok [0-9]+ +- $name " "$work/installcheck.log"; then
            echo "ok: $name"
            passed=$((passed + 1))
        else
            echo "FAILED: $name"
            failed=$((failed + 1))
        fi
    done
    [ "$status" = 0 ] && return
    if [ -e "$work/extension/regression.diffs" ]; then
        cat "$work/extension/regression.diffs"
    else
        cat "$work/installcheck.log"
    fi
    [ "$failed" -gt 0 ] || failed=1
}

# What docs/sql.md shows.
page() {
    as_server "$programs/createdb" page
    if python3 "$here/../sql_page.py" postgresql "$programs/psql" -XAtq -d page -v ON_ERROR_STOP=1 \
        >"$work/page.log" 2>&1; then
        echo "ok: docs/sql.md"
        passed=$((passed + 1))
    else
        echo "FAILED: docs/sql.md"
        cat "$work/page.log"
        failed=$((failed + 1))
    fi
}

# The checks in Python, which say what they did and count in their last line.
suite() {
    status=0
    PETAL_PREFIX=$work/prefix PETAL_HOME=$home PETAL_EXTENSION=$here PETAL_SHARED=$home/pg$shared \
        PETAL_PROGRAMS=$programs PETAL_PYTHON=$work/../python PYTHONDONTWRITEBYTECODE=1 \
        python3 "$here/tests/suite" "$@" >"$work/suite.log" 2>&1 || status=$?
    sed '$d' "$work/suite.log"
    counts=$(tail -n 1 "$work/suite.log")
    case $counts in
    *" passed, "*" failed")
        passed=$((passed + ${counts%% passed*}))
        counts=${counts#* passed, }
        failed=$((failed + ${counts%% failed*}))
        ;;
    *)
        echo "$counts"
        failed=$((failed + 1))
        ;;
    esac
    [ "$status" = 0 ] || [ "$failed" -gt 0 ] || failed=1
}

look_around
choose_user
home=$(mktemp -d /tmp/petal-XXXXXX)
server=$home/pg$programs
step=
trap clean EXIT
trap 'step=; exit 129' HUP
trap 'step=; exit 130' INT
trap 'step=; exit 143' TERM
compile
copy_server
start_server
passed=0
failed=0
if [ "${1-}" = --bench ]; then
    shift
    "$programs/psql" -Xqc "CREATE EXTENSION petal"
    "$here/bench/bench.sh" "$programs/psql" "$@"
    exit 0
fi
if [ $# = 0 ]; then
    regress
    page
fi
suite "$@"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
