#!/bin/sh
# addresses.sh: whatever names the project's address or version says the same as the workspace's Cargo.toml.
set -eu
cd "$(dirname "$0")/.."
status=0

# same WHAT SAID EXPECTED
same() {
    [ "$2" = "$3" ] || {
        echo "$1 says \`$2\`, and Cargo.toml \`$3\`" >&2
        status=1
    }
}

# value FILE KEY: the first line `key = "value"` of a manifest.
value() {
    sed -n "s/^$2 = \"\(.*\)\"\$/\1/p" "$1" | head -n 1
}

# field KEY: that of the npm package, wherever it stands in the file.
field() {
    sed -n "s/^ *\"$1\": \"\(.*\)\",*\$/\1/p" bindings/wasm/package.json | head -n 1
}

address=$(value Cargo.toml repository)
version=$(value Cargo.toml version)
same "the homepage" "$(value Cargo.toml homepage)" "$address"
for module in $(git ls-files '*go.mod'); do
    folder=${module%/go.mod}
    path=$(sed -n 's/^module //p' "$module")
    # What is only a test needs no address.
    case $path in */*) same "$module" "$path" "${address#https://}/$folder" ;; esac
done
same "the repository of package.json" "$(field url)" "git+$address.git"
same "the homepage of package.json" "$(field homepage)" "$address"
same "the version of package.json" "$(field version)" "$version"
same "the version of the module for Redis" "$(value integrations/redis/Cargo.toml version)" "$version"
python=bindings/python/pyproject.toml
same "the version of the Python package" "$(value $python version)" "$version"
same "the repository of the Python package" "$(value $python Repository)" "$address"
exit $status
