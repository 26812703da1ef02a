#!/bin/sh
# run.sh BUILD WORK [soak]: tests petal_sqlite.so, which `make sqlite` built in BUILD, as it is installed: in Debian's
# sqlite3, in Python, compiled into C programs, and in Node.js. PETAL_COMMAND is the command `petal`. With `soak` there
# are 10^5 damaged blobs, and better-sqlite3 is compiled if WORK does not have it yet.
#
# Prints one line a check, and at the end "N passed, M failed"; what is left out is named.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
build=$(cd "$1" && pwd)
mkdir -p "$2"
kept=$(cd "$2" && pwd)
soak=${3-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log
. "$root/tests/packaging/checks.sh"

# many: counts the checks of a program that ends with "N passed, M failed".
many() {
    of="$1: "
    shift
    status=0
    "$@" >"$log" 2>&1 || status=$?
    grep -v '^[0-9]* passed, [0-9]* failed$' "$log" | sed "s/^\(ok\|FAILED\|skipped\): /\1: $of/" || true
    counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$log" | tail -n 1)
    passed=$((passed + ${counts% *}))
    failed=$((failed + ${counts#* }))
    if [ "$status" != 0 ] && [ "${counts#* }" = 0 ]; then
        failed=$((failed + 1))
        echo "FAILED: ${of}ended with status $status"
    fi
    of=
}

installed() {
    cmake --install "$build" --component sqlite --prefix "$work/prefix" &&
        extension=$(find "$work/prefix" -name 'petal_sqlite.*') && [ -n "$extension" ]
}
exports_two_names() {
    nm -D --defined-only "$extension" | awk '{ print $3 }' | sort >"$work/names"
    printf 'sqlite3_extension_init\nsqlite3_petalsqlite_init\n' | diff "$work/names" -
}
# Nothing of SQLite is linked: the program that loads it hands it over.
links_no_sqlite() {
    ! readelf -d "$extension" | grep 'NEEDED.*sqlite'
}
# compile PROGRAM FLAG...: the program that has the functions compiled in. $sqlite is what to link instead of the
# system's SQLite.
compile() {
    program=$1
    shift
    # shellcheck disable=SC2086 # a list of words
    cc -std=c11 -g -Wall -Wextra -Werror -Wno-missing-field-initializers "$@" -DSQLITE_CORE -I"$root/include" \
        "$here/embedded.c" "$here/../petal_sqlite.c" "$build/lib/libpetal.a" -o "$work/$program" \
        -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=posix_memalign,--wrap=petal_filter_verify \
        -Wl,--wrap=petal_builder_finish -Wl,--gc-sections ${sqlite:--lsqlite3} -lpthread -ldl -lm
}
# compile_loader: the program that loads petal_sqlite.so as others do. The soak has it with a newer SQLite too.
compile_loader() {
    # shellcheck disable=SC2086 # a list of words
    cc -std=c11 -g -Wall -Wextra -Werror "$@" "$here/loaded.c" -o "$work/loader" ${sqlite:--lsqlite3} -lpthread -ldl -lm
}
embedded() {
    times=3000
    [ -z "$soak" ] || times=100000
    many "compiled in" "$work/plain" plain
    many "compiled in" "$work/plain" refuse
    many "compiled in" "$work/plain" damage "$times" 1
}
sanitized() {
    if ! compile sanitized -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined >"$log" 2>&1; then
        echo "skipped: the sanitizers: $(tail -n 1 "$log")"
        return
    fi
    many "sanitizers" "$work/sanitized" plain
    many "sanitizers" "$work/sanitized" refuse
    many "sanitizers" "$work/sanitized" damage "$times" 2
}
# Memcheck sees what the library, which no sanitizer was compiled into, reads of the blobs.
memcheck() {
    if ! command -v valgrind >/dev/null; then
        echo "skipped: valgrind: it is not on the PATH"
        return
    fi
    many "valgrind" valgrind -q --error-exitcode=9 --leak-check=full "$work/plain" damage $((times / 10)) 3
}

must "petal_sqlite is installed" installed
check "it has the names of two entry points, and no other" exports_two_names
check "it links nothing of SQLite" links_no_sqlite
must "it is compiled into a program" compile plain -O2
embedded
must "a program that loads it is compiled" compile_loader
many "loaded" "$work/loader" "$extension"
sanitized
memcheck

# A Python that loads extensions, which not every build does.
python=
for one in ${PYTHON-} python3 /usr/bin/python3; do
    if "$one" -c 'import sqlite3; sqlite3.connect("").enable_load_extension(True)' 2>/dev/null; then
        python=$one
        break
    fi
done
if [ -n "$python" ]; then
    # The Python package is next to WORK, if `make test-python` made it.
    many "Python" env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$kept/../python" "$python" "$here/suite.py" \
        "$extension" "$build/lib" "$work"
else
    echo "skipped: Python: its sqlite3 loads no extensions"
fi

for sql in "$here"/../examples/*.sql; do
    name=$(basename "$sql" .sql)
    says_what_it_should() {
        (cd "$work" && sqlite3 -batch -bail -cmd ".load $extension" :memory: <"$sql") >"$work/said" 2>&1 || true
        sed -n 's/^-- > //p' "$sql" | diff - "$work/said"
    }
    check "sqlite3: examples/$name.sql prints what it says" says_what_it_should
done

check "sqlite3: docs/sql.md prints what it says" sh -c 'cd "$1" &&
    python3 "$2/../../sql_page.py" sqlite sqlite3 -batch -bail -cmd ".load $3" :memory:' sh "$work" "$here" "$extension"

# better-sqlite3 is compiled with its own SQLite, which takes minutes.
node_checks() {
    if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
        echo "skipped: better-sqlite3: there is no Node.js with npm"
        return
    fi
    if [ ! -e "$kept/node/ready" ]; then
        if [ -z "$soak" ]; then
            echo "skipped: better-sqlite3: make test-sqlite PART=soak compiles it"
            return
        fi
        rm -rf "$kept/node" && mkdir "$kept/node"
        headers=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
        [ ! -e "$headers/include/node/node.h" ] || export npm_config_nodedir="$headers"
        if ! npm install --prefix "$kept/node" --no-audit --no-fund better-sqlite3@12 >"$log" 2>&1; then
            echo "skipped: better-sqlite3: it cannot be compiled: $(grep -m 1 -i 'err' "$log" || tail -n 1 "$log")"
            return
        fi
        touch "$kept/node/ready"
    fi
    # Its SQLite is newer than most systems' is.
    newer=$(find "$kept/node/node_modules/better-sqlite3" -name sqlite3.c | head -n 1)
    if [ -n "$soak" ] && [ -n "$newer" ]; then
        cc -O1 -w -c -DSQLITE_THREADSAFE=1 "$newer" -o "$work/sqlite3.o"
        sqlite=$work/sqlite3.o
        check "it is compiled into a program with a newer SQLite" compile newer -O2 -I"$(dirname "$newer")"
        check "a program that loads it is compiled with a newer SQLite" compile_loader -I"$(dirname "$newer")"
        many "loaded by a newer SQLite" "$work/loader" "$extension"
        many "with a newer SQLite" "$work/newer" plain
        many "with a newer SQLite" "$work/newer" refuse
        many "with a newer SQLite" "$work/newer" damage 3000 4
    fi
    many "better-sqlite3" env NODE_PATH="$kept/node/node_modules" node "$here/better.cjs" "$extension"
}
node_checks
finish
