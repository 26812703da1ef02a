#!/bin/bash
# source.sh FOLDER: writes petal-VERSION-source.tar.gz into FOLDER: what builds the library, the command, the module for
# Redis and the filters for LevelDB on Linux without a network, with the crates that these take in vendor/. The
# workspace in it has only the packages that these need, so that no crate of a test or a benchmark comes along. Of
# crates for other systems there is only the manifest, which cargo reads: they are half of all bytes.
set -euo pipefail
LC_ALL=C
export LC_ALL
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 0)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=petal-$version
mkdir "$work/$name"
(cd "$root" && git ls-files -z | while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
    tar --create --null --files-from=-) | tar --extract --directory "$work/$name"
cd "$work/$name"
rm -rf tests/golden tests/formats tests/interop fuzz .ci .cargo
# Dependencies of tests go too: cargo resolves them for every build.
sed -i 's/^members = .*/members = [".", "capi", "cli"]/' Cargo.toml
for manifest in Cargo.toml cli/Cargo.toml integrations/redis/Cargo.toml; do
    awk '/^\[/ { out = /^\[dev-dependencies/ } !out' "$manifest" >"$work/manifest"
    cp "$work/manifest" "$manifest"
done
# cargo drops the versions that nothing needs any more from the lists, and changes no other.
cargo vendor --quiet --sync integrations/redis/Cargo.toml >/dev/null
mkdir .cargo
cat >.cargo/config.toml <<'CONFIG'
[source.crates-io]
replace-with = "vendored"

[source.vendored]
directory = "vendor"
CONFIG
redis=(--manifest-path integrations/redis/Cargo.toml)
tree() {
    cargo tree "$@" --quiet --offline --locked --all-features --edges normal,build --prefix none \
        --target x86_64-unknown-linux-gnu --target aarch64-unknown-linux-gnu --target x86_64-unknown-linux-musl
}
cargo metadata --quiet --offline --format-version 1 >/dev/null
cargo metadata --quiet --offline --format-version 1 "${redis[@]}" >/dev/null
(tree --workspace && tree "${redis[@]}") |
    awk 'NF && $1 !~ /^petal/ { print $1, substr($2, 2) }' | sort -u >"$work/taken"
for crate in vendor/*; do
    is=$(awk -F '"' '/^name = / { name = $2 } /^version = / { print name, $2; exit }' "$crate/Cargo.toml")
    if grep -qxF "$is" "$work/taken"; then
        echo "$is" >>"$work/kept"
    else
        sum=$(sed 's/.*"package":\("[0-9a-f]*"\).*/\1/' "$crate/.cargo-checksum.json")
        find "$crate" -mindepth 1 ! -name Cargo.toml -delete 2>/dev/null || true
        mkdir -p "$crate/src" && touch "$crate/src/lib.rs"
        echo "{\"files\":{},\"package\":$sum}" >"$crate/.cargo-checksum.json"
    fi
done
sort -u "$work/kept" | diff "$work/taken" - || { echo "source: vendor/ has not what is taken" >&2; exit 1; }
for lock in Cargo.lock integrations/redis/Cargo.lock; do
    new=$(grep -c . <(comm -13 <(grep -A1 '^name = ' "$root/$lock" | paste - - - | sort) \
        <(grep -A1 '^name = ' "$lock" | paste - - - | sort)) || true)
    [ "$new" = 0 ] || { echo "source: $lock has $new crates that the tree's has not" >&2; exit 1; }
done
cd "$work"
find "$name" -type d -exec chmod 755 {} + -o -perm -u+x -type f -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
tar --create --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" "$name" |
    gzip -9 --no-name >"$out/$name-source.tar.gz"
echo "$out/$name-source.tar.gz"
