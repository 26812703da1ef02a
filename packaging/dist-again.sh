#!/bin/bash
# dist-again.sh CARGO_TARGET_DIRECTORY FOLDER TARGET...: makes archives a second time, from a copy of the sources in
# another folder, with another home, cargo's files elsewhere and another time zone, and compares their bytes with those
# that packaging/dist.sh wrote into FOLDER from the same sources.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
target=$(cd "$1" && pwd)
dist=$(cd "$2" && pwd)
shift 2
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
log=$work/log
. "$root/tests/packaging/checks.sh"
. "$root/packaging/targets.sh"

mkdir -p "$work/elsewhere/petal" "$work/home" "$work/cargo"
(cd "$root" && git ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
    tar --create --null --files-from=-) | tar --extract --directory "$work/elsewhere/petal"
for file in registry git config config.toml; do
    [ ! -e "${CARGO_HOME:-$HOME/.cargo}/$file" ] || ln -s "${CARGO_HOME:-$HOME/.cargo}/$file" "$work/cargo/"
done
again() (
    export RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}"
    export PETAL_ZIG="${PETAL_ZIG:-$target/dist/zig-$zig_version/ziglang/zig}"
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
    export SOURCE_DATE_EPOCH HOME="$work/home" CARGO_HOME="$work/cargo" TZ=Asia/Kathmandu
    unset ZIG_GLOBAL_CACHE_DIR
    umask 077
    [ -x "$PETAL_ZIG" ] || unset PETAL_ZIG
    "$work/elsewhere/petal/packaging/dist.sh" "$work/target" "$work/archives" "$1"
)
# same TARGET: and otherwise the files that differ.
same() {
    local archive=petal-$version-$1.tar.gz folder
    cmp "$dist/$archive" "$work/archives/$archive" && return
    for folder in "$dist" "$work/archives"; do
        rm -rf "$work/of" && mkdir "$work/of" && tar --extract --file "$folder/$archive" --directory "$work/of"
        (cd "$work/of" && find . -type f -exec sha256sum {} + | sort -k 2) >"$work/sums-$(basename "$folder")"
    done
    diff "$work/sums-$(basename "$dist")" "$work/sums-archives"
    return 1
}
for one in "$@"; do
    of="$one: "
    must "it is made again, elsewhere" again "$one"
    check "the archive has the same bytes" same "$one"
done
of=
finish
