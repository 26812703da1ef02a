#!/bin/bash
# registries.sh CARGO_TARGET_DIRECTORY [sample]: what would be published at the registries of crates, of npm and of Go's
# modules is made and used from there, each by a program in an empty folder: the one of its first page. Nothing is
# published. With `sample` the crate is only checked, and the npm package has one of its four modules.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
target=$(cd "$1" && pwd)
part=${2-}
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
log=$work/log
. "$root/tests/packaging/checks.sh"
cd "$root" || exit

# program LANGUAGE PAGE: the program on a first page.
program() {
    awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } /^```/ { on = 0 } on' "$2"
}

# answers COMMAND...: it says what the first pages promise.
answers() {
    said=$("$@") || return
    [ "$said" = "apple: true
pear: false" ] || { echo "it says: $said"; return 1; }
}

check "the first pages and licences are what packaging/pages.sh writes" packaging/pages.sh
check "addresses and versions agree" packaging/addresses.sh

# --- The crate -------------------------------------------------------------------------------------------------------

crate() {
    cargo package --locked -p petal --no-verify --allow-dirty --target-dir "$work/target" >"$work/said" 2>&1
    status=$?
    cat "$work/said"
    [ $status = 0 ] && ! grep warning "$work/said" &&
        tar --extract --file "$work/target/package/petal-$version.crate" --directory "$work" &&
        grep "^readme = " "$work/petal-$version/Cargo.toml" && cmp src/README.md "$work/petal-$version/src/README.md"
}
check "the crate is packed without a warning" crate

crate_used() (
    mkdir -p "$work/rust/src"
    program rust src/README.md >"$work/rust/src/main.rs"
    cat >"$work/rust/Cargo.toml" <<MANIFEST
[package]
name = "program"
version = "0.0.0"
edition = "2024"

[dependencies]
petal = { path = "../petal-$version" }

[workspace]
MANIFEST
    cd "$work/rust" && CARGO_TARGET_DIR=$target/registries && export CARGO_TARGET_DIR || return
    if [ "$part" = sample ]; then cargo check --quiet; else answers cargo run --quiet; fi
)
check "a program compiles with the packed crate, and runs unless this is a sample" crate_used

released=$(sed '/^#/d' packaging/released.txt)
if [ -z "$released" ]; then
    echo "skipped: cargo semver-checks: packaging/released.txt names no commit, because nothing is released"
elif ! command -v cargo-semver-checks >/dev/null; then
    echo "skipped: cargo semver-checks is not here: cargo install --locked cargo-semver-checks"
elif [ "$part" != sample ]; then
    check "the crate's interface has not changed more than its version says" \
        cargo semver-checks --package petal --baseline-rev "$released"
fi

# --- The package for npm ---------------------------------------------------------------------------------------------

wasm() {
    bindings/wasm/build.sh "$target" ${part:+petal-simd}
}
npm_used() (
    mkdir -p "$work/javascript/home"
    npm pack --silent --pack-destination "$work" ./bindings/wasm && cd "$work/javascript" || return
    program js "$root/bindings/wasm/README.md" >hello.mjs
    export HOME="$work/javascript/home"
    npm init --yes --silent >/dev/null &&
        npm install --offline --no-audit --no-fund "$work/petal-filter-petal-$version.tgz" &&
        answers node hello.mjs || return
    for file in LICENSE-MIT LICENSE-APACHE README.md js/index.d.ts; do
        [ -s "node_modules/@petal-filter/petal/$file" ] || { echo "no $file"; return 1; }
    done
)
if ! command -v npm >/dev/null; then
    echo "skipped: the package for npm: there is no Node.js with npm"
elif [ ! -d "$(rustc --print target-libdir --target wasm32-unknown-unknown)" ]; then
    echo "skipped: the package for npm: rustup target add wasm32-unknown-unknown"
else
    check "the modules for WebAssembly are compiled" wasm
    check "npm packs the package, and a program in an empty home has it from there" npm_used
fi

# --- Go's modules ----------------------------------------------------------------------------------------------------

address=$(sed -n 's/^repository = "https:\/\/\(.*\)"$/\1/p' Cargo.toml)

# in_go MODULE: an empty module in an empty home, with the modules from their files alone.
in_go() {
    rm -rf "$work/go" && mkdir -p "$work/go/home" && cd "$work/go" || return
    cache=$(go env GOCACHE)
    export HOME=$work/go/home GOPROXY=file://$work/proxy GONOSUMDB=* GONOSUMCHECK=1 GOFLAGS=-modcacherw GOWORK=off \
        GOCACHE="$cache" GOMODCACHE="$work/go/home/modules" CGO_ENABLED=0 GOSUMDB=off
    go mod init example.com/try && go get "$1@v$version"
}
go_used() (
    in_go "$address/bindings/go" || return
    program go "$root/bindings/go/README.md" >main.go
    go mod tidy && go build -o try . && answers ./try || return
    for file in LICENSE-MIT LICENSE-APACHE README.md; do
        [ -s "$HOME/modules/$address/bindings/go@v$version/$file" ] || { echo "no $file"; return 1; }
    done
)
go_bloom() (
    in_go "$address/bindings/go/bloom" || return
    cat >main.go <<PROGRAM
package main

import (
	"fmt"

	"$address/bindings/go/bloom"
)

func main() {
	seen := bloom.NewWithEstimates(1_000_000, 0.01)
	seen.AddString("apple")
	fmt.Println("apple:", seen.TestString("apple"))
	fmt.Println("pear:", seen.TestString("pear"))
}
PROGRAM
    go build -o try . && answers ./try || return
    for file in LICENSE-MIT LICENSE-APACHE; do
        [ -s "$HOME/modules/$address/bindings/go/bloom@v$version/$file" ] || { echo "no $file"; return 1; }
    done
)
if ! command -v go >/dev/null; then
    echo "skipped: Go's modules: there is no go"
else
    must "Go makes its modules from tags" bash packaging/go-modules.sh "$work/proxy"
    check "a program in an empty home builds with packages filter and view" go_used
    check "a program in an empty home builds with package bloom" go_bloom
fi
finish
