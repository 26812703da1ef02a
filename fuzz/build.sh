#!/bin/sh
# build.sh PROFILE FOLDER TARGET...: compiles targets with coverage counters, in one of cargo's profiles, and puts them
# into a folder.
set -eu
profile=$1
folder=$2
shift 2
cd "$(dirname "$0")"
RUSTFLAGS="${RUSTFLAGS-} --cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares"
export RUSTFLAGS
# With --target the flags are for the targets only, and not for what runs while they are compiled.
host=$(rustc -vV | sed -n 's/^host: //p')
mkdir -p "$folder"
# All in one call, so that they are compiled in parallel.
features=
for target in "$@"; do [ "$target" != arguments ] || features=command; done
# shellcheck disable=SC2046 # Names without spaces.
cargo build --profile "$profile" --locked --quiet --target "$host" --features "$features" $(printf -- '--bin %s ' "$@")
for target in "$@"; do cp "$CARGO_TARGET_DIR/$host/$profile/$target" "$folder/$target"; done
