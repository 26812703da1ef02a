#!/bin/sh
# zig-cc.sh: the C compiler and linker of `make dist`: zig's, for the system in PETAL_ZIG_TARGET, such as
# x86_64-linux-gnu.2.17, whose C library it brings along. PETAL_ZIG is the program zig.
#
# cc and rustc give options that zig has other words for: the target, which is Rust's name of it, goes; and zig turns
# checks on that no other compiler has by default.
set -eu
count=$#
while [ "$count" -gt 0 ]; do
    argument=$1
    shift
    count=$((count - 1))
    case $argument in
    --target=*) ;;
    *) set -- "$@" "$argument" ;;
    esac
done
exec "$PETAL_ZIG" cc -target "$PETAL_ZIG_TARGET" -fno-sanitize=undefined -g0 "$@"
