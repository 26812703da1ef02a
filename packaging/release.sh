#!/bin/bash
# release.sh CARGO_TARGET_DIRECTORY BUILD [dry]: checks that all that names the version agrees, makes what is published,
# tries each part in a world that has nothing else, and leaves BUILD/release: the files, SHA256SUMS, and MANIFEST, which
# says of which commit they are, and what was skipped because its tools are not here. `dry` only checks what agrees.
# Nothing is published: docs/releasing.md says how a person does that.
set -uo pipefail
LC_ALL=C
export LC_ALL
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit
target=$1
build=$2
part=${3-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log
. tests/packaging/checks.sh
major=${version%%.*}
minor=${version%.*}

# --- What agrees -----------------------------------------------------------------------------------------------------

# A dry run is for a tree that is worked on.
changelog() {
    local first
    first=$(sed -n '/^## /{p;q;}' CHANGELOG.md)
    case $first in
    "## $version: "20[0-9][0-9]-[01][0-9]-[0-3][0-9]) ;;
    "## Unreleased: $minor") [ "$part" = dry ] || { echo "CHANGELOG.md: date $version"; return 1; } ;;
    *) echo "CHANGELOG.md begins with \`$first\`, and not with \`## $version: \` and a date"; return 1 ;;
    esac
}
locks() {
    awk -v version="$version" '
        FNR == 1 { name = "" }
        /^name = / { name = $3 }
        /^version = / && name ~ /^"petal(-|"$)/ { found[FILENAME]++; said = $3; gsub(/"/, "", said)
            if (said != version && said != "0.0.0") { print FILENAME " has " name " " said; bad = 1 } }
        END { for (i = 1; i < ARGC; i++) if (!found[ARGV[i]]) { print ARGV[i] " has no petal"; bad = 1 } exit bad }
    ' Cargo.lock integrations/redis/Cargo.lock fuzz/Cargo.lock || return
    [ "$(grep -c "^ *\"version\": \"$version\",$" bindings/wasm/package-lock.json)" = 2 ] ||
        { echo "bindings/wasm/package-lock.json has another version"; return 1; }
}
header_version() {
    sed -n 's/^#define PETAL_VERSION_\([A-Z]*\) /\1 /p' include/petal.h >"$work/said"
    diff "$work/said" - <<SAID
MAJOR $major
MINOR $(echo "$version" | cut -d . -f 2)
PATCH $(echo "$version" | cut -d . -f 3)
NUMBER $number
STRING "$version"
SAID
}
# A function that came after 0.1 has "Since" in its comment, and lies under the node of that version.
since() {
    awk '/^\/\*\*/ { since = "0.1" }
        match($0, /Since [0-9]+\.[0-9]+/) { since = substr($0, RSTART + 6, RLENGTH - 6) }
        /^[a-z].*[ *]petal_[a-z0-9_]*\(/ { match($0, /petal_[a-z0-9_]*\(/)
            print substr($0, RSTART, RLENGTH - 1), since }' include/*.h | sort -u >"$work/headers"
    awk '/^PETAL/ { node = substr($1, 7) } /^ *petal_/ { sub(/;/, ""); print $1, node }' capi/petal.map |
        sort >"$work/map"
    join "$work/map" "$work/headers" >"$work/both"
    [ "$(wc -l <"$work/both")" = "$(wc -l <"$work/map")" ] || {
        echo "functions of capi/petal.map that no header declares:"
        join -v 1 "$work/map" "$work/headers"
        return 1
    }
    awk -v now="$minor" '
        function order(version, parts) { split(version, parts, "."); return parts[1] * 1000 + parts[2] }
        $2 != "EXPERIMENTAL" && $2 != $3 { print $1 " is under PETAL_" $2 ", and a header says Since " $3; bad = 1 }
        order($3) > order(now) { print $1 ": Since " $3 " is after " now; bad = 1 }
        END { exit bad }' "$work/both"
}
# Package names, and the library itself where it is built.
soname() {
    local file
    for file in libpetal0 libpetal-leveldb0; do
        file=${file%0}$major
        grep -q "^Package: $file\$" packaging/debian/control || { echo "debian/control has no $file"; return 1; }
        [ -e "packaging/debian/$file.install" ] || { echo "there is no debian/$file.install"; return 1; }
    done
    grep -q "libpetal.so.$major libpetal$major " packaging/debian/rules ||
        { echo "debian/rules has another"; return 1; }
    for file in "$build"/lib/libpetal.so.*.*; do
        [ ! -e "$file" ] || readelf -dW "$file" | grep "SONAME.*\[libpetal.so.$major\]" || return
    done
}
# Pages that a person wrote name no version: the command's own come from its manifest.
man_pages() {
    local page
    for page in $(git ls-files '*.[1-8]'); do
        sed -n '/^\.TH/{p;q;}' "$page" | grep -E "^\.TH [A-Z0-9-]+ ${page##*.} \"\"" || { echo "$page"; return 1; }
    done
}
committed() {
    [ -z "$(git status --porcelain)" ] || { git status --short; return 1; }
}
check "addresses and versions agree" packaging/addresses.sh
check "the lists of crates and of npm's packages have the version" locks
check "CHANGELOG.md begins with the version" changelog
check "petal.h has the version" header_version
check "what headers say is since a version lies under that version's node, and none is of a later one" since
check "packages of distributions have the library's soname" soname
check "man pages name no version" man_pages
[ "$part" != dry ] || finish
check "the tree has no changes that are not committed" committed
[ "$failed" = 0 ] || finish

# --- What is published -----------------------------------------------------------------------------------------------

# A skipped part is no failure, but is listed.
made() {
    for goal in test-registries dist test-dist wheels test-wheels test-reproducible test-install test-packages; do
        CARGO_TARGET_DIR=$target ${MAKE:-make} --no-print-directory BUILD="$build" $goal 2>&1 | tee "$work/said"
        [ "${PIPESTATUS[0]}" = 0 ] || { echo "release: make $goal failed, so there is no release" >&2; exit 1; }
        sed -n "s/.*\(skipped: .*\)/make $goal \1/p" "$work/said" >>"$work/skipped"
    done
}
out=$build/release
rm -rf "$out" "$build/dist" "$build/wheels" "$build/packages"
mkdir -p "$out"
out=$(cd "$out" && pwd)
made
gathered() {
    packaging/source.sh "$out" && cp "$build"/dist/*.tar.gz "$out/" || return
    [ ! -d "$build/packages" ] || cp -R "$build/packages" "$out/" || return
    cp -R "$build/wheels" "$out/" || return
    cargo package --quiet --locked -p petal --no-verify --target-dir "$target/package" &&
        cp "$target/package/package/petal-$version.crate" "$out/" || return
    if [ -d bindings/wasm/dist ]; then
        npm pack --silent --pack-destination "$out" ./bindings/wasm || return
    fi
    ! command -v go >/dev/null || packaging/go-modules.sh "$out/go" "$build/dist" || return
    find "$out" -type d -empty -delete
    {
        echo "Petal $version, of commit $(git rev-parse HEAD)"
        echo
        (cd "$out" && find . -type f -printf '%9s  %P\n' | sort -k 2)
        [ ! -s "$work/skipped" ] || { echo; echo "Not there, or not tried:"; sort -u "$work/skipped"; }
    } >"$work/manifest"
    mv "$work/manifest" "$out/MANIFEST" &&
        (cd "$out" && find . -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs sha256sum >SHA256SUMS)
}
check "what is to be published is in $out" gathered
cat "$out/MANIFEST"
finish
