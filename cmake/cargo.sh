#!/bin/sh
# cargo.sh ARGUMENT...: runs cargo so that what it compiles does not name the folders of whoever compiles it. Panic
# messages name source files; their paths begin with `petal` here for Petal's own source and with `cargo` for others'.
# CARGO is the cargo to run. Flags in RUSTFLAGS, CARGO_ENCODED_RUSTFLAGS and cargo's configuration are kept.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
home=${HOME:-/nonexistent}

# remap SEPARATOR: the flags. Where several paths match, rustc takes the last: so the outermost folder comes first.
remap() {
    printf '%s' "--remap-path-prefix=$home=home$1--remap-path-prefix=${CARGO_HOME:-$home/.cargo}=cargo$1"
    printf '%s' "--remap-path-prefix=$source=petal"
}

# cargo reads the first of these three that is set, so the flags are added to that one.
unit=$(printf '\037')
if [ -n "${CARGO_ENCODED_RUSTFLAGS-}" ]; then
    export CARGO_ENCODED_RUSTFLAGS="$CARGO_ENCODED_RUSTFLAGS$unit$(remap "$unit")"
elif [ -n "${RUSTFLAGS-}" ]; then
    # Blanks in a path would divide RUSTFLAGS, so its flags move to the other variable.
    CARGO_ENCODED_RUSTFLAGS="$(printf '%s' "$RUSTFLAGS" | tr -s ' \n' "$unit$unit")$unit$(remap "$unit")"
    export CARGO_ENCODED_RUSTFLAGS
else
    # An array on the command line is joined with that of cargo's configuration.
    set -- --config "build.rustflags=['$(remap "','")']" "$@"
fi
exec "${CARGO:-cargo}" "$@"
