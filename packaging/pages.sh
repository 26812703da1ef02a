#!/bin/sh
# pages.sh [write]: the first pages that package registries show, made from packaging/first-page.md, and the licences
# beside what is published from a folder of its own: Go and pip take no file from above it. Without `write` the
# committed files are compared with what would be written.
set -eu
cd "$(dirname "$0")/.."
status=0

# The address is that of the manifest, which crates and documentation have too.
address=$(sed -n 's/^repository = "\(.*\)"$/\1/p' Cargo.toml)

# page LANGUAGE: the parts for it, with absolute links.
page() {
    awk -v language="$1" '
        /^<!-- for: / { wanted = index($0, " " language " ") > 0; next }
        wanted' packaging/first-page.md | sed "s#]: \.\./#]: $address/blob/main/#"
}

# put FILE: standard input is what the file should be.
put() {
    if [ "$write" = write ]; then
        cat >"$1"
    else
        cmp -s - "$1" && return
        echo "$1 is not what packaging/pages.sh writes: run \`packaging/pages.sh write\`" >&2
        return 1
    fi
}

write=${1-}
page rust | put src/README.md || status=1
page javascript | put bindings/wasm/README.md || status=1
page python | put bindings/python/README.md || status=1
page go | put bindings/go/README.md || status=1
for module in bindings/go bindings/go/bloom bindings/python integrations/redis/go; do
    for licence in LICENSE-MIT LICENSE-APACHE; do
        put "$module/$licence" <"$licence" || status=1
    done
done
for path in $(sed -n 's/^\[.*\]: \.\.\/\([^#]*\).*/\1/p' packaging/first-page.md); do
    [ -e "$path" ] || {
        echo "packaging/first-page.md has a link to $path, which is not there" >&2
        status=1
    }
done
exit $status
