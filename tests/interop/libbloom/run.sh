#!/bin/sh
# run.sh CARGO_TARGET_DIRECTORY [speed]: compat/libbloom compared with Debian's libbloom 1.6. One program, compiled
# against the owner's header, has to print the same over both libraries; shadowsocks-libev's ss-server has to work over
# Petal's. With `speed` their single calls are timed instead, in turn.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
. "$here/../lib.sh"
target=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CC=${CC:-cc}
unset LD_LIBRARY_PATH

echo '#include <bloom.h>' | $CC -E - >/dev/null 2>&1 || skip "there is no libbloom (Debian: libbloom-dev)"
(cd "$root" && cmake/cargo.sh build --locked --release -p petal-libbloom1 -p petal-libbloom2 --target-dir "$target") ||
    exit 1
ours=$work/lib
mkdir "$ours"
cp "$target/release/libbloom1.so" "$ours/libbloom.so.1"
cp "$target/release/libbloom2.so" "$ours/libbloom.so.2"

compile() {
    $CC -std=c11 -O2 -Wall -Wextra -Werror -no-pie "$here/$1.c" -o "$work/$1" -lbloom -lm
}

if [ "${2-}" = speed ]; then
    compile speed || exit 1
    for round in 1 2 3; do
        for entries in 10000 1000000; do
            echo "$entries entries, libbloom: $("$work/speed" $entries)"
            echo "$entries entries, Petal:    $(LD_LIBRARY_PATH=$ours "$work/speed" $entries)"
        done
    done
    exit
fi

names_of() {
    nm -D --defined-only "$1" | awk '{ print $3 }' | LC_ALL=C sort
}
exports() {
    names_of "$(ldd "$work/compare" | awk '$1 == "libbloom.so.1" { print $3 }')" >"$work/theirs" &&
        names_of "$ours/libbloom.so.1" | diff "$work/theirs" - &&
        ! readelf -d "$ours/libbloom.so.1" | grep VERDEF &&
        readelf -d "$ours/libbloom.so.1" | grep 'soname: \[libbloom.so.1\]'
}
exports_of_2() {
    names_of "$ours/libbloom.so.2" | tr '\n' ' ' | tee "$work/names" &&
        [ "$(cat "$work/names")" = "bloom_add bloom_check bloom_free bloom_init bloom_init2 bloom_load bloom_merge \
bloom_print bloom_reset bloom_save bloom_version murmurhash2 " ] &&
        readelf -d "$ours/libbloom.so.2" | grep 'soname: \[libbloom.so.2\]'
}
# None of our functions calls what a panic begins with, so no panic can reach C.
no_panics() {
    objdump -d --no-show-raw-insn "$ours/libbloom.so.$1" >"$work/code" && grep -q "<bloom_add>:$" "$work/code" &&
        awk '/^[0-9a-f]+ </ { ours = $2 ~ /bloom|murmur|petal/; name = $2 }
            ours && /(call|jmp).*panic/ { print name, $0; found = 1 }
            END { exit found }' "$work/code"
}
same() {
    "$work/compare" >"$work/theirs" && LD_LIBRARY_PATH=$ours "$work/compare" >"$work/ours" || return 1
    lines=$(wc -l <"$work/theirs")
    echo "$lines lines"
    [ "$lines" -gt 60000 ] && diff "$work/theirs" "$work/ours"
}
check "a program compiles against libbloom's header" compile compare
check "libbloom.so.1 has its soname and its symbols, without versions" exports
check "libbloom.so.2 has its soname and its symbols" exports_of_2
check "libbloom.so.1 calls nothing that panics" no_panics 1
check "libbloom.so.2 calls nothing that panics" no_panics 2
check "a program prints the same over libbloom and over Petal" same

if command -v ss-server >/dev/null && command -v ss-local >/dev/null && command -v curl >/dev/null; then
    check "ss-server serves, and refuses what it has seen, over Petal" python3 "$here/shadowsocks.py" "$ours"
else
    echo "SKIPPED: ss-server over Petal: there is no shadowsocks-libev or no curl"
fi
finish
